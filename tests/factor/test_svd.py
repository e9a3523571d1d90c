"""Decompositions of stacks of matrices."""

import numpy as np
import pytest

from tacit.factor.svd import stacked_svd


@pytest.mark.parametrize("shape", [(3, 4, 6), (2, 5, 3), (4, 4), (2, 3, 1, 4)])
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
