"""Moments of windows: features of windows, and sums in chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.sequences.moments.windows import WindowMoments, windows_of


def numbers(n, seed=0, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def same(one, other):
    return all(
        np.allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-10)
        for name in WindowMoments.__dataclass_fields__
    )


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(0, 6))
def test_merged_moments_are_those_of_all_at_once(lengths, cut):
    features, lengths = numbers(sum(lengths)), np.array(lengths)
    first, n_first = lengths[:cut], int(lengths[:cut].sum())
    together = WindowMoments.of(windows_of(features, lengths, (1, 2)))
    apart = WindowMoments.of(windows_of(features[:n_first], first, (1, 2))) + WindowMoments.of(
        windows_of(features[n_first:], lengths[cut:], (1, 2))
    )
    assert same(together, apart)
    remaining = together - WindowMoments.of(windows_of(features[:n_first], first, (1, 2)))
    assert same(remaining, WindowMoments.of(windows_of(features[n_first:], lengths[cut:], (1, 2))))


def test_windows_hold_the_means_of_their_stretches():
    features = numbers(8)
    windows = windows_of(features, np.array([8]), (1, 2))
    assert windows.positions.tolist() == [3, 4]
    for row, t in enumerate(windows.positions):
        assert windows.middle[row] == pytest.approx(features[t])
        future = [features[t], features[t + 1 : t + 3].mean(axis=0)]
        beyond = [features[t + 1], features[t + 2 : t + 4].mean(axis=0)]
        past = [features[t - 1], features[t - 3 : t - 1].mean(axis=0)]
        assert windows.future[row] == pytest.approx(np.concatenate(future))
        assert windows.beyond[row] == pytest.approx(np.concatenate(beyond))
        assert windows.past[row] == pytest.approx(np.concatenate(past))
    assert windows.firsts[0] == pytest.approx(np.concatenate([features[0], features[1:3].mean(0)]))


def test_no_window_reaches_over_the_end_of_a_sequence():
    features = numbers(7)
    windows = windows_of(features, np.array([4, 3]))
    assert windows.positions.tolist() == [1, 2, 5]
    assert windows.past[2] == pytest.approx(features[4])


def test_windows_with_missing_positions_do_not_count():
    features = numbers(9)
    features[4] = np.nan
    assert windows_of(features, np.array([9])).positions.tolist() == [1, 2, 6, 7]
    # A stretch of two has a mean where one of them is observed.
    positions = windows_of(features, np.array([9]), (1, 2)).positions
    assert 4 not in positions
    assert len(windows_of(numbers(2), np.array([2])).positions) == 0


def test_triples_along_directions_are_those_of_all_features_projected():
    windows = windows_of(numbers(30), np.array([30]), (1, 2))
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    full, projected = WindowMoments.of(windows), WindowMoments.of(windows, left, right)
    truth = np.einsum("xfp,fm,pn->xmn", full.triples, left, right)
    assert projected.triples == pytest.approx(truth, abs=1e-10)


def test_a_weight_of_two_is_a_window_twice():
    windows = windows_of(numbers(12), np.array([12]))
    weights = np.ones(len(windows.positions))
    weights[3] = 2
    weights[5] = 0
    weighted = WindowMoments.of(windows, weights=weights)
    rows = np.repeat(np.arange(len(weights)), weights.astype(int))
    parts = (windows.past, windows.middle, windows.future, windows.beyond)
    again = type(windows)(windows.positions[rows], *(p[rows] for p in parts), windows.firsts)
    assert same(weighted, WindowMoments.of(again))
