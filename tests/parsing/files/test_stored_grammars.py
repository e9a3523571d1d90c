"""Model files of grammars that were written once and stay readable."""

import json

import pytest

import tacit
from oracles.stored_grammars import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_grammar_says_what_it_said(name):
    model = tacit.load(FOLDER / f"{name}.tacit")
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    actual = answers(model)
    assert actual.keys() == recorded.keys()
    assert actual["trees"] == recorded["trees"]
    # Numbers are of single precision.
    assert actual["expected"] == pytest.approx(recorded["expected"], rel=1e-4)
    assert actual["scores"] == pytest.approx(recorded["scores"], rel=1e-4)
