"""Stored kernel trees still say what they said."""

import json

import pytest

import tacit
from oracles.stored_kernel import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_kernel_tree_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    recorded = json.loads(path.with_suffix(".json").read_text())
    actual = answers(tacit.load(path))
    assert actual.keys() == recorded.keys()
    for what, value in recorded.items():
        if what in {"columns", "newick"}:
            assert actual[what] == value
        else:
            # Machines differ in the last digits of sums.
            assert actual[what] == pytest.approx(value, rel=1e-7, abs=1e-12)
