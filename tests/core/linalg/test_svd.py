"""Decompositions of stacks of matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.linalg.svd import stacked_svd


@pytest.mark.parametrize(
    "shape", [(3, 4, 6), (2, 5, 3), (4, 4), (2, 3, 1, 4), (2, 13, 20), (2, 600, 3), (0, 2, 3)]
)
@pytest.mark.parametrize("stubborn", [False, True])
def test_the_parts_give_back_the_matrices(monkeypatch, shape, stubborn):
    matrices = np.random.default_rng(0).normal(size=shape)
    if stubborn:

        def gives_up(*_args, **_settings):
            raise np.linalg.LinAlgError("SVD did not converge")

        expected = np.linalg.svd(matrices, compute_uv=False)
        monkeypatch.setattr(np.linalg, "svd", gives_up)
    else:
        expected = np.linalg.svd(matrices, compute_uv=False)
    left, values, right = stacked_svd(matrices)
    assert values == pytest.approx(expected, rel=1e-12)
    assert (left * values[..., None, :]) @ right == pytest.approx(matrices, rel=1e-10, abs=1e-12)


def test_signs_do_not_depend_on_the_sign_of_the_input():
    matrices = np.random.default_rng(1).normal(size=(5, 3, 3))
    left, _, _ = stacked_svd(matrices)
    other, _, _ = stacked_svd(-matrices)
    assert left == pytest.approx(other, rel=1e-10)
    largest = np.take_along_axis(left, np.abs(left).argmax(axis=1)[:, None, :], axis=1)
    assert (largest > 0).all()


@given(
    st.integers(1, 12), st.integers(1, 30), st.integers(0, 12), st.floats(0, 9), st.integers(0, 99)
)
def test_small_matrices_are_decomposed_as_by_lapack(n_rows, n_columns, rank, decades, seed):
    rng = np.random.default_rng(seed)
    rank = min(rank, n_rows, n_columns)
    matrices = rng.normal(size=(3, n_rows, rank)) * np.logspace(0, -decades, max(rank, 1))[:rank]
    matrices = matrices @ rng.normal(size=(3, rank, n_columns))
    left, values, right = stacked_svd(matrices)
    expected = np.linalg.svd(matrices, compute_uv=False)
    size = max(1.0, expected.max(initial=0.0))
    assert values == pytest.approx(expected, rel=0, abs=1e-13 * size)
    assert (np.diff(values, axis=1) <= 0).all()
    assert left * values[:, None, :] @ right == pytest.approx(matrices, rel=0, abs=1e-13 * size)
    kept = values > 1e-12 * size
    for part, vectors in (("left", left.swapaxes(1, 2)), ("right", right)):
        gram = vectors @ vectors.swapaxes(1, 2)
        apart = np.where(kept[:, :, None] & kept[:, None, :], gram - np.eye(gram.shape[1]), 0.0)
        assert np.abs(apart).max() < 1e-12, part


def test_matrices_of_zeros_and_of_what_is_not_finite():
    left, values, right = stacked_svd(np.zeros((2, 3, 4)))
    assert (values == 0).all()
    assert np.isfinite(left).all()
    assert np.isfinite(right).all()
    with pytest.raises((np.linalg.LinAlgError, ValueError)):
        stacked_svd(np.full((2, 3, 4), np.nan))
