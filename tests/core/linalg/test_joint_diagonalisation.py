"""Joint diagonalisation of symmetric matrices."""

import numpy as np
import pytest

from oracles.python_source import python_source
from tacit.core.linalg.joint_diagonalisation import joint_diagonals
from tacit.core.loops import jacobi as loops


def rotation(rng, k):
    return np.linalg.qr(rng.normal(size=(k, k)))[0]


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_common_eigenvectors_are_found_exactly(k):
    rng = np.random.default_rng(k)
    turn = rotation(rng, k)
    sizes = rng.normal(size=(4, k))
    vectors, diagonals = joint_diagonals((turn * sizes[:, None, :]) @ turn.T)
    assert vectors.T @ vectors == pytest.approx(np.eye(k), abs=1e-12)
    overlap = np.abs(turn.T @ vectors)
    assert overlap == pytest.approx(np.round(overlap), abs=1e-9)
    assert diagonals == pytest.approx(sizes[:, overlap.argmax(axis=0)], abs=1e-9)


def test_matrices_that_cannot_be_diagonal_together_become_as_nearly_so_as_any_rotation_makes_them():
    rng = np.random.default_rng(0)
    matrices = rng.normal(size=(3, 4, 4))
    matrices += matrices.swapaxes(1, 2)
    _, diagonals = joint_diagonals(matrices)
    reached = np.square(diagonals).sum()
    for _ in range(300):
        turn = rotation(rng, 4)
        other = np.einsum("ia,sij,ja->sa", turn, matrices, turn)
        assert np.square(other).sum() <= reached + 1e-9


def test_vectors_do_not_depend_on_the_order_of_axes():
    rng = np.random.default_rng(1)
    matrices = rng.normal(size=(3, 4, 4))
    matrices += matrices.swapaxes(1, 2)
    order = np.array([2, 0, 3, 1])
    one = joint_diagonals(matrices)[0]
    two = joint_diagonals(matrices[:, order][:, :, order])[0]
    assert np.abs(one[order].T @ two) == pytest.approx(np.eye(4), abs=1e-6)


def test_compiled_rotations_agree_with_their_python_source():
    rng = np.random.default_rng(2)
    matrices = rng.normal(size=(2, 3, 3))
    matrices += matrices.swapaxes(1, 2)
    compiled = joint_diagonals(matrices)
    with python_source(loops):
        plain = joint_diagonals(matrices)
    for mine, other in zip(compiled, plain, strict=True):
        assert mine == pytest.approx(other, abs=1e-9)
