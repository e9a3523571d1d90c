"""The best link between two sketches of a matrix, against the formulas of the paper."""

import numpy as np
import pytest

from tacit.core.linalg.linker import best_linker


def printed_linker(matrix, right_sketch, left_sketch, rank):
    """Song et al. (2013), equation 6, literally."""
    u_b = np.linalg.svd(right_sketch, full_matrices=False)[0]
    v_a = np.linalg.svd(left_sketch, full_matrices=False)[2].T
    u, s, v = np.linalg.svd(u_b @ u_b.T @ matrix @ v_a @ v_a.T)
    truncated = (u[:, :rank] * s[:rank]) @ v[:rank]
    return np.linalg.pinv(right_sketch) @ truncated @ np.linalg.pinv(left_sketch)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_product_is_that_of_equation_6(seed, rank):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(9, 14))
    right, left = matrix @ rng.normal(size=(14, 4)), rng.normal(size=(3, 9)) @ matrix
    link = best_linker(matrix, right, left, rank)
    expected = right @ printed_linker(matrix, right, left, rank) @ left
    assert link.core @ link.basis.T @ left == pytest.approx(expected, abs=1e-10)
    assert link.rank == rank


def test_theorem_3_holds_when_the_sketches_keep_the_rank():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(9, 3)) @ rng.normal(size=(3, 14))
    right, left = matrix @ rng.normal(size=(14, 3)), rng.normal(size=(3, 9)) @ matrix
    link = best_linker(matrix, right, left, 3)
    assert link.core @ link.basis.T @ left == pytest.approx(matrix, abs=1e-10)


def test_a_sketch_of_zeros_gives_zeros():
    link = best_linker(np.ones((2, 3)), np.zeros((2, 2)), np.ones((1, 3)), 2)
    assert link.rank == 1
    assert not (link.core @ link.basis.T).any()
