"""Bumps on the unit interval integrate to one and together are even."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.encoders.blurred_bins import blurred, blurred_below

PARTS = st.lists(st.floats(0.05, 1.0), min_size=1, max_size=8)
BANDWIDTHS = st.sampled_from([0.0, 0.01, 0.08, 0.5, 3.0])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def cuts_of(parts):
    cuts = np.concatenate([[0.0], np.cumsum(parts)])
    return cuts / cuts[-1]


@given(parts=PARTS, bandwidth=BANDWIDTHS)
def test_weighted_by_their_bins_they_sum_to_one(parts, bandwidth):
    cuts = cuts_of(parts)
    proportions = np.linspace(0, 1, 57)
    assert blurred(proportions, cuts, bandwidth) @ np.diff(cuts) == pytest.approx(
        np.ones(57), abs=1e-7
    )
    below = blurred_below(proportions, cuts, bandwidth) @ np.diff(cuts)
    assert below == pytest.approx(proportions, abs=1e-7)


@given(parts=PARTS, bandwidth=st.sampled_from([0.05, 0.2, 1.0]), share=st.floats(0, 1))
def test_the_mass_below_is_the_integral(parts, bandwidth, share):
    cuts = cuts_of(parts)
    densities = blurred(0.5 * share * (NODES + 1), cuts, bandwidth)
    expected = 0.5 * share * (WEIGHTS @ densities)
    actual = blurred_below(np.array([share]), cuts, bandwidth)[0]
    assert actual == pytest.approx(expected, abs=1e-6)


@given(parts=PARTS, bandwidth=BANDWIDTHS)
def test_the_mass_below_rises_from_nothing_to_one(parts, bandwidth):
    below = blurred_below(np.linspace(0, 1, 33), cuts_of(parts), bandwidth)
    assert below[0] == pytest.approx(np.zeros(len(parts)), abs=1e-9)
    assert below[-1] == pytest.approx(np.ones(len(parts)), abs=1e-7)
    assert (np.diff(below, axis=0) > -1e-12).all()


def test_without_blur_a_density_is_its_bin():
    cuts = np.array([0.0, 0.25, 1.0])
    actual = blurred(np.array([0.1, 0.25, 0.5, np.nan]), cuts, 0.0)
    assert actual[:3].tolist() == [[4, 0], [4, 0], [0, pytest.approx(4 / 3)]]
    assert np.isnan(actual[3]).all()
