"""The compiled parts of clustering: against plain NumPy and their own source."""

import numpy as np
import pytest

from oracles.python_source import python_source
from tacit.core.loops import kmeans as clusters


def some_rows(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)).astype(np.float32), rng.exponential(size=n), rng


def test_features_are_sums_over_the_categories_that_were_seen():
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(-1, 3, (20, 5)).astype(np.int16))
    leaves, starts = np.array([1, 4]), np.array([0, 3])
    values = rng.normal(size=(6, 2)).astype(np.float32)
    out = np.full((20, 2), 9.0, dtype=np.float32)
    clusters.project(codes, leaves, starts, values, out)
    padded = np.concatenate([values, np.zeros((1, 2))])
    at = np.where(codes[:, leaves] >= 0, codes[:, leaves] + starts, -1)
    assert out == pytest.approx(padded[at].sum(axis=1), abs=1e-6)


def test_first_centres_are_rows_drawn_by_their_squared_distance():
    rows, weights, rng = some_rows()
    draws = rng.random(5)
    centres = np.zeros((5, 4), dtype=np.float32)
    clusters.scatter_centres(rows, weights, draws, centres)
    gaps = np.ones(len(rows))
    for number, draw in enumerate(draws):
        mass = np.cumsum(weights * gaps)
        pick = np.searchsorted(mass, draw * mass[-1])
        assert np.array_equal(centres[number], rows[pick])
        gap = ((rows - rows[pick]).astype(np.float64) ** 2).sum(axis=1)
        gaps = gap if number == 0 else np.minimum(gaps, gap)


def test_rows_without_weight_are_no_centres_and_equal_rows_are_one():
    rows = np.array([[0.0], [5.0], [5.0], [9.0]], dtype=np.float32)
    centres = np.zeros((3, 1), dtype=np.float32)
    clusters.scatter_centres(rows, np.array([0.0, 1, 1, 1]), np.array([0.5, 0.99, 0.5]), centres)
    assert centres[:2].ravel().tolist() == [5.0, 9.0]
    assert centres[2, 0] in rows  # none is far from all: any will do


def test_a_sweep_puts_rows_to_their_nearest_centre():
    rows, weights, rng = some_rows()
    centres = rng.normal(size=(6, 4)).astype(np.float32)
    centres[5] = 99.0  # nobody's
    states = np.full(len(rows), -1, dtype=np.int32)
    sums, mass = np.full((6, 4), 7.0), np.full(6, 7.0)
    offsets = -0.5 * np.einsum("hi,hi->h", centres, centres)
    moved = clusters.sweep(rows, weights, centres.T.copy(), offsets, states, sums, mass)
    nearest = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert moved == len(rows)
    assert np.array_equal(states, nearest)
    assert mass == pytest.approx(np.bincount(nearest, weights, minlength=6))
    for h in range(6):
        assert sums[h] == pytest.approx(weights[nearest == h] @ rows[nearest == h], abs=1e-5)
    states[:3] = (states[:3] + 1) % 5
    assert clusters.sweep(rows, weights, centres.T.copy(), offsets, states, sums, mass) == 3


def test_pairs_with_a_missing_state_do_not_count():
    out = np.ones((2, 3))
    above, own = np.array([0, 0, -1, 1, 1]), np.array([2, 2, 0, -1, 1])
    clusters.count_pairs(above, own, np.array([1.0, 2.0, 4.0, 8.0, 16.0]), out)
    assert out.tolist() == [[1, 1, 4], [1, 17, 1]]


def test_compiled_loops_agree_with_their_python_source():
    def answers():
        rows, weights, rng = some_rows()
        centres = np.zeros((5, 4), dtype=np.float32)
        clusters.scatter_centres(rows, weights, rng.random(5), centres)
        states = np.full(len(rows), -1, dtype=np.int32)
        sums, mass = np.zeros((5, 4)), np.zeros(5)
        offsets = -0.5 * np.einsum("hi,hi->h", centres, centres)
        moved = clusters.sweep(rows, weights, centres.T.copy(), offsets, states, sums, mass)
        codes = rng.integers(-1, 2, (9, 3))
        out = np.empty((9, 4), dtype=np.float32)
        clusters.project(codes, np.array([0, 2]), np.array([0, 2]), rows[:4], out)
        pairs = np.zeros((5, 5))
        clusters.count_pairs(states, states[::-1].copy(), weights, pairs)
        return centres, states, sums, mass, moved, out, pairs

    compiled = answers()
    with python_source(clusters):
        plain = answers()
    for one, other in zip(compiled, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6)
