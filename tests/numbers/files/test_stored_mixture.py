"""A stored mixture of spherical Gaussians still says what it said."""

import json

import pytest

from oracles.stored_mixture import STORED, answers
from tacit.core.files.load import load


def test_a_stored_mixture_says_what_it_said():
    recorded = json.loads(STORED.with_suffix(".json").read_text())
    actual = answers(load(STORED))
    assert actual["n_iter"] == recorded["n_iter"]
    assert actual["start"] == recorded["start"]
    for what in ("log_density", "chances"):
        # Machines differ in the last digits of sums.
        for one, other in zip(actual[what], recorded[what], strict=True):
            assert one == pytest.approx(other, rel=1e-7, abs=1e-12)
