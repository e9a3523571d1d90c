"""Stored automata still say what they said."""

import json

import pytest

import tacit
from oracles.stored_automata import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_automaton_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    recorded = json.loads(path.with_suffix(".json").read_text())
    now = answers(tacit.load(path))
    assert now.keys() == recorded.keys()
    for key, value in recorded.items():
        # Machines differ in the last digits of sums.
        expected = (
            [pytest.approx(row, rel=1e-7, abs=1e-9) for row in value] if key != "radius" else None
        )
        assert now[key] == (expected if expected is not None else pytest.approx(value, rel=1e-7))
