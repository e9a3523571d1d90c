"""A stored Gaussian tree still says what it said."""

import json

import pytest

import tacit
from oracles.stored_gaussian import STORED, answers


def test_a_stored_gaussian_tree_says_what_it_said():
    said = json.loads(STORED.with_suffix(".json").read_text())
    found = answers(tacit.load(STORED))
    for what in ("columns", "newick"):
        assert found[what] == said[what]
    for what in ("log_density", "median", "mean"):
        # Machines differ in the last digits of sums.
        assert found[what] == pytest.approx(said[what], rel=1e-7)
    assert found["shares"] == [pytest.approx(row, rel=1e-7) for row in said["shares"]]
