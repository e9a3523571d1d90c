"""A stored mixture of spherical Gaussians still says what it said."""

import json

import pytest

from oracles.stored_mixture import STORED, answers
from tacit.core.files.load import load


def test_a_stored_mixture_says_what_it_said():
    said = json.loads(STORED.with_suffix(".json").read_text())
    found = answers(load(STORED))
    assert found["n_iter"] == said["n_iter"]
    assert found["start"] == said["start"]
    for what in ("log_density", "chances"):
        # Machines differ in the last digits of sums.
        for one, other in zip(found[what], said[what], strict=True):
            assert one == pytest.approx(other, rel=1e-7, abs=1e-12)
