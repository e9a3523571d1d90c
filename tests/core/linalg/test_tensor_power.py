"""Symmetric tensors as sums of third powers."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tacit.core.linalg.tensor_power import components_of, decompose, orthogonal_steps
from tacit.errors import ArgumentError

SOLVERS = ["jacobi", "power", "simultaneous", "als"]


def rotation(rng, k):
    return np.linalg.qr(rng.normal(size=(k, k)))[0]


def summed(values, vectors):
    return np.einsum("c,ic,jc,kc->ijk", values, vectors, vectors, vectors)


def noisy(seed, k, size):
    rng = np.random.default_rng(seed)
    turn = rotation(rng, k)
    noise = rng.normal(size=(k, k, k))
    noise = sum(noise.transpose(order) for order in [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
    noise = noise + noise.transpose(0, 2, 1)
    return summed(rng.uniform(1.0, 4.0, k), turn) + size * noise


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_sums_of_orthogonal_components_are_taken_apart_exactly(solver, k):
    rng = np.random.default_rng(k)
    turn, values = rotation(rng, k), np.sort(rng.uniform(1.0, 4.0, k))[::-1]
    actual = decompose(summed(values, turn), solver)
    # Least squares stop early, and may merge components where they are many.
    close = 1e-4 if solver == "als" else 1e-9
    if solver != "als" or k <= 2:
        assert actual.values == pytest.approx(values, abs=close)
        assert turn.T @ actual.vectors == pytest.approx(np.eye(k), abs=close)
        assert actual.residual < close


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_residual_is_the_fraction_of_squares_that_is_left(solver):
    tensor = noisy(0, 5, 0.05)
    actual = decompose(tensor, solver)
    left = np.square(tensor - summed(actual.values, actual.vectors)).sum() / np.square(tensor).sum()
    assert actual.residual == pytest.approx(left, abs=1e-10)
    assert np.linalg.norm(actual.vectors, axis=0) == pytest.approx(np.ones(5), abs=1e-9)
    assert (np.diff(actual.values) <= 0).all()
    assert (actual.values >= 0).all()


def test_alternating_steps_explain_more_of_a_noisy_tensor_and_stay_orthogonal():
    rng = np.random.default_rng(1)
    tensor = noisy(1, 6, 0.1)
    start = rotation(rng, 6)
    proportions = [
        components_of(tensor, orthogonal_steps(tensor, start, n)).residual for n in (0, 5, 50)
    ]
    assert proportions[0] > proportions[1] >= proportions[2] - 1e-12
    end = orthogonal_steps(tensor, start)
    assert end.T @ end == pytest.approx(np.eye(6), abs=1e-12)


def test_no_rotation_in_a_plane_explains_more_than_the_default_solver():
    tensor = noisy(2, 5, 0.1)
    actual = decompose(tensor)
    for one in range(5):
        for two in range(one):
            for angle in (-0.02, 0.02):
                vectors = actual.vectors.copy()
                a, b = vectors[:, one].copy(), vectors[:, two].copy()
                vectors[:, one] = np.cos(angle) * a + np.sin(angle) * b
                vectors[:, two] = np.cos(angle) * b - np.sin(angle) * a
                assert components_of(tensor, vectors).residual >= actual.residual - 1e-9


def test_small_components_of_noise_do_not_draw_the_large_ones_to_them():
    rng = np.random.default_rng(3)
    turn = rotation(rng, 12)
    values = np.r_[np.full(6, 4.0), np.zeros(6)]
    noise = noisy(4, 12, 0.02) - noisy(4, 12, 0.0)
    actual = decompose(summed(values, turn) + noise)
    overlap = np.abs(turn[:, :6].T @ actual.vectors[:, :6])
    assert overlap.max(axis=0).min() > 0.99


def test_solvers_that_draw_take_a_seed_and_the_default_draws_nothing(monkeypatch):
    tensor = noisy(5, 5, 0.3)
    one, two = (decompose(tensor, "simultaneous", random_state=seed).vectors for seed in (0, 1))
    assert np.abs(one - two).max() > 1e-3
    monkeypatch.setattr(np.random, "default_rng", None)
    decompose(tensor)


def test_the_default_solver_gives_the_same_bits_for_any_number_of_threads():
    tensor = noisy(6, 60, 0.1)
    seen = set()
    for n in (1, 2, 4):
        with threadpool_limits(limits=n):
            actual = decompose(tensor)
        seen.add((actual.vectors.tobytes(), actual.values.tobytes(), actual.residual))
    assert len(seen) == 1


def test_an_unknown_solver_is_refused():
    with pytest.raises(ArgumentError, match="give one of 'jacobi', 'power', 'simultaneous', 'als'"):
        decompose(np.ones((2, 2, 2)), "newton")


def test_a_tensor_of_zeros_has_components_of_no_value():
    actual = decompose(np.zeros((3, 3, 3)))
    assert actual.values.tolist() == [0, 0, 0]
    assert actual.residual == 0
