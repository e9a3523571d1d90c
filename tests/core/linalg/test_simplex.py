"""Projection onto probability distributions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.core.linalg.simplex import nearest_distributions

vectors = arrays(
    np.float64, st.tuples(st.integers(1, 3), st.integers(1, 5)), elements=st.floats(-5, 5)
)


@given(vectors, st.integers(0, 1000))
def test_no_other_distribution_is_nearer(rows, seed):
    actual = nearest_distributions(rows)
    assert actual.min() >= 0
    assert np.abs(actual.sum(axis=1) - 1).max() < 1e-12
    others = np.random.default_rng(seed).dirichlet(np.ones(rows.shape[1]), size=(20, len(rows)))
    away = np.linalg.norm(rows - actual, axis=1)
    assert (np.linalg.norm(rows - others, axis=2) >= away - 1e-9).all()


@given(st.integers(1, 6), st.integers(0, 1000))
def test_distributions_stay_as_they_are(size, seed):
    rows = np.random.default_rng(seed).dirichlet(np.ones(size), size=4)
    assert np.abs(nearest_distributions(rows) - rows).max() < 1e-12


def test_what_is_not_finite_becomes_uniform():
    rows = np.array([[np.nan, 1.0], [np.inf, 0.0], [2.0, 0.0]])
    assert nearest_distributions(rows).tolist() == [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]
