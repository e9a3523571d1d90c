"""Stored kernel trees still say what they said."""

import json

import pytest

import tacit
from oracles.stored_kernel import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_kernel_tree_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    said = json.loads(path.with_suffix(".json").read_text())
    found = answers(tacit.load(path))
    assert found.keys() == said.keys()
    for what, value in said.items():
        if what in {"columns", "newick"}:
            assert found[what] == value
        else:
            # Machines differ in the last digits of sums.
            assert found[what] == pytest.approx(value, rel=1e-7, abs=1e-12)
