"""Singular vectors of products that are never formed: against those of the product."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.core.linalg import sparse_svd
from tacit.core.linalg.sparse_svd import product_svd


def some_factors(rng, n=300, a=40, b=30, rank=5):
    """Sparse matrices whose product has a few large singular values."""
    hidden = rng.normal(size=(n, rank))
    left, right = hidden @ rng.normal(size=(rank, a)), hidden @ rng.normal(size=(rank, b))
    left[rng.random(left.shape) < 0.2] = 0
    right[rng.random(right.shape) < 0.2] = 0
    return csr_array(left), csr_array(right), rng.dirichlet(np.ones(n))


@pytest.mark.parametrize("small", [0, 10**9])
def test_leading_directions_are_those_of_the_product(monkeypatch, small):
    monkeypatch.setattr(sparse_svd, "SMALL", small)
    rng = np.random.default_rng(0)
    left, right, weight = some_factors(rng)
    u, s, v = product_svd(left, right, weight, 4, rng)
    whole = left.toarray().T @ (weight[:, None] * right.toarray())
    values = np.linalg.svd(whole, compute_uv=False)
    assert s == pytest.approx(values[:4], rel=1e-6)
    assert u.T @ whole @ v == pytest.approx(np.diag(s), abs=1e-6 * s[0])
    assert u.T @ u == pytest.approx(np.eye(4), abs=1e-10)
    assert v.T @ v == pytest.approx(np.eye(4), abs=1e-10)
    assert np.all(u[np.abs(u).argmax(axis=0), range(4)] > 0)


@pytest.mark.parametrize("small", [0, 10**9])
def test_there_are_no_more_directions_than_rows_or_columns(monkeypatch, small):
    monkeypatch.setattr(sparse_svd, "SMALL", small)
    rng = np.random.default_rng(0)
    left, right, weight = some_factors(rng, n=3, a=5, b=4, rank=3)
    u, s, v = product_svd(left, right, weight, 10, rng)
    assert (u.shape, s.shape, v.shape) == ((5, 3), (3,), (4, 3))
