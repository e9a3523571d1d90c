"""Stored models of sequences still say what they said."""

import json

import pytest

import tacit
from oracles.stored_chains import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_model_of_sequences_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    recorded = json.loads(path.with_suffix(".json").read_text())
    now = answers(tacit.load(path))
    assert now.keys() == recorded.keys()
    for key, value in recorded.items():
        # Machines differ in the last digits of sums.
        assert now[key] == pytest.approx(value, rel=1e-7, abs=1e-9)
