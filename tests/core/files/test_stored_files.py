"""Model files of every format that was ever released are still read, and say what they said."""

import json

import pytest

import tacit
from oracles.stored_models import MIXTURES, MODELS, STORED, answers

FILES = sorted(STORED.glob("format-[12]-*.tacit"))


def test_every_format_has_stored_files():
    expected = {f"format-1-{name}" for name in MODELS}
    expected |= {f"format-2-{name}" for name in MIXTURES}
    assert {path.stem for path in FILES} == expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_file_says_what_it_said(path):
    recorded = json.loads(path.with_suffix(".json").read_text())
    actual = answers(tacit.load(path))
    for what in ("columns", "newick", "imputed"):
        assert actual[what] == recorded[what]
    for what in ("log_prob", "predicted"):
        # Machines differ in the last digits of sums.
        assert actual[what] == [pytest.approx(row, rel=1e-9) for row in recorded[what]]


def test_the_trees_of_a_stored_mixture_have_the_weights_that_they_had():
    for name in MIXTURES:
        path = STORED / f"format-2-{name}.tacit"
        recorded = json.loads(path.with_suffix(".json").read_text())
        actual = [[tree.weight, tree.topology.to_newick()] for tree in tacit.load(path).trees_]
        assert actual == recorded["components"]
        assert len(actual) > 1
