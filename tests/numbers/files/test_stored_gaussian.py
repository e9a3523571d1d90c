"""A stored Gaussian tree still says what it said."""

import json

import pytest

import tacit
from oracles.stored_gaussian import STORED, answers


def test_a_stored_gaussian_tree_says_what_it_said():
    recorded = json.loads(STORED.with_suffix(".json").read_text())
    actual = answers(tacit.load(STORED))
    for what in ("columns", "newick"):
        assert actual[what] == recorded[what]
    for what in ("log_density", "median", "mean"):
        # Machines differ in the last digits of sums.
        assert actual[what] == pytest.approx(recorded[what], rel=1e-7)
    assert actual["shares"] == [pytest.approx(row, rel=1e-7) for row in recorded["shares"]]
