"""Stored automata still say what they said."""

import json

import pytest

import tacit
from oracles.stored_automata import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_automaton_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    said = json.loads(path.with_suffix(".json").read_text())
    found = answers(tacit.load(path))
    assert found.keys() == said.keys()
    for what, value in said.items():
        # Machines differ in the last digits of sums.
        wanted = (
            [pytest.approx(row, rel=1e-7, abs=1e-9) for row in value] if what != "radius" else None
        )
        assert found[what] == (wanted if wanted is not None else pytest.approx(value, rel=1e-7))
