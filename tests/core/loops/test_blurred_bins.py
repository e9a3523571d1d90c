"""Blurred bins, against an integral and their own source."""

import numpy as np
import pytest

from tacit.core.loops.blurred_bins import blur_bins

CUTS = np.array([0.0, 0.05, 0.3, 0.35, 0.9, 1.0])


def blurred(loop, shares, bandwidth):
    actual = np.full((len(shares), 5), 7.0)
    loop(shares, CUTS, bandwidth, actual)
    return actual


@pytest.mark.parametrize("bandwidth", [0.004, 0.05, 0.4, 2.0])
def test_the_compiled_loop_agrees_with_its_python_source(bandwidth):
    proportions = np.concatenate([np.random.default_rng(0).random(40), [0.0, 1.0, np.nan, 0.3]])
    compiled = blurred(blur_bins, proportions, bandwidth)
    assert compiled == pytest.approx(
        blurred(blur_bins.py_func, proportions, bandwidth), rel=1e-12, abs=1e-12, nan_ok=True
    )
    assert np.isnan(compiled[-2]).all()


@pytest.mark.parametrize("bandwidth", [0.02, 0.2, 1.0])
def test_it_is_the_sum_of_all_reflections(bandwidth):
    proportions = np.linspace(0, 1, 23)
    fine = np.linspace(0, 1, 20001)
    middles, step = 0.5 * (fine[1:] + fine[:-1]), fine[1] - fine[0]
    images = np.concatenate(
        [2.0 * turn + sign * middles for turn in range(-4, 5) for sign in (1, -1)]
    )
    normal = np.exp(-0.5 * np.square((proportions[:, None] - images) / bandwidth))
    normal /= np.sqrt(2 * np.pi) * bandwidth
    kernels = normal.reshape(len(proportions), 18, len(middles)).sum(axis=1)
    for place in range(5):
        inside = (middles > CUTS[place]) & (middles < CUTS[place + 1])
        expected = kernels[:, inside].sum(axis=1) * step / (CUTS[place + 1] - CUTS[place])
        # A kernel ends after six bandwidths, which leaves out 2e-9 of it.
        actual = blurred(blur_bins, proportions, bandwidth)[:, place]
        assert actual == pytest.approx(expected, abs=1e-5)
