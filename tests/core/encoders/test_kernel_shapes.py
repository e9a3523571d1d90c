"""Kernels by name and as functions."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from tacit.core.encoders.kernel_shapes import KERNELS, RBF, kernel_of
from tacit.core.encoders.kernels import kernel_encoder, pivoted_cholesky
from tacit.core.loops.kernel_features import choose_pivots
from tacit.errors import ArgumentError, ArgumentTypeError


def rational(u):
    return 1 / (1 + u**2) ** 2


SHAPES = [*KERNELS, rational]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("rbf", lambda x: rbf_kernel(x, gamma=0.5 / 0.7**2)),
        ("laplacian", lambda x: laplacian_kernel(x, gamma=1 / 0.7)),
        ("matern32", Matern(0.7, nu=1.5)),
        ("matern52", Matern(0.7, nu=2.5)),
    ],
)
def test_kernels_are_those_of_scikit_learn(name, other):
    x = np.random.default_rng(0).normal(size=(20, 1))
    found = kernel_of(name).values(np.subtract.outer(x[:, 0], x[:, 0]) / 0.7)
    assert found == pytest.approx(other(x), abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_integrals_are_those_of_quadrature(shape):
    kernel = kernel_of(shape)

    def height(u):
        return float(kernel.values(np.array([u]))[0]) if isinstance(shape, str) else shape(u)

    whole = 2 * quad(height, 0, np.inf)[0]
    # A callable is linear between its places.
    assert kernel.integral == pytest.approx(whole, rel=1e-8 if isinstance(shape, str) else 1e-5)
    for end in (-3.0, -0.4, 0.0, 0.9, 5.0):
        expected = 0.5 + np.sign(end) * quad(height, 0, abs(end))[0] / whole
        assert kernel.below(np.array([end])) == pytest.approx([expected], abs=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_inner_products_of_features_are_the_kernel(shape):
    x = np.random.default_rng(0).normal(size=60)
    kernel = kernel_of(shape)
    encoder = kernel_encoder(x, 0.5, 0.0, kernel=kernel)
    features = encoder.features(x)
    expected = kernel.values(np.subtract.outer(x, x) / 0.5)
    assert features @ features.T == pytest.approx(expected, abs=1e-5)
    grid = np.linspace(-300, 300, 600_001)  # heavy tails
    whole = np.trapezoid(encoder.likelihoods(grid), grid, axis=0)
    scale = np.abs(encoder.inverse).sum(axis=1)
    assert np.abs(whole - encoder.total).max() < 1e-4 * scale.max()


def test_any_kernel_is_factored_as_the_compiled_loop_factors_the_gaussian():
    x = np.sort(np.random.default_rng(0).normal(size=200))
    places, factor = choose_pivots(x, 0.4, 1e-4, 30)
    again, same = pivoted_cholesky(lambda i: RBF.values((x - x[i]) / 0.4), len(x), 1e-4, 30)
    assert np.array_equal(places, again)
    assert same == pytest.approx(factor, abs=1e-9)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda u: np.maximum(1 - u**2, 0), "positive definite"),  # Epanechnikov
        (lambda u: (u < 1).astype(float), "positive definite"),
        (lambda u: 1 / (1 + u), "finite integral"),
        (lambda u: 2 * np.exp(-u), "at distance zero"),
        (lambda u: np.exp(-u) * np.cos(4 * u), "negative"),
        (lambda u: np.exp(-u)[:5], "each distance"),
    ],
)
def test_functions_that_are_no_kernels_are_refused(function, problem):
    with pytest.raises(ArgumentError, match=problem):
        kernel_of(function)


def test_other_things_are_refused():
    with pytest.raises(ArgumentError, match="laplacian"):
        kernel_of("laplace")
    with pytest.raises(ArgumentTypeError, match="function"):
        kernel_of(3)


@pytest.mark.parametrize("function", [lambda _: "high", lambda one, two: one * two])
def test_a_function_that_takes_no_distances_is_refused(function):
    with pytest.raises(ArgumentTypeError, match="takes an array of distances in bandwidths"):
        kernel_of(function)
