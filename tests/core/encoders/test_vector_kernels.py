"""Features of several numbers at once."""

import numpy as np
import pytest
from scipy.stats import laplace, norm
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from tacit.core.encoders.kernel_shapes import RBF, kernel_of
from tacit.core.encoders.kernels import kernel_encoder
from tacit.core.encoders.margins import fit_margin
from tacit.core.encoders.vector_kernels import vector_kernel_encoder
from tacit.errors import ArgumentError, DataError

WIDTHS = np.array([0.7, 1.1])


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, x**2 + 0.5 * rng.normal(size=n)])


@pytest.mark.parametrize(
    ("name", "pairwise"),
    [
        ("rbf", lambda x: rbf_kernel(x, gamma=0.5)),
        ("laplacian", lambda x: laplacian_kernel(x, gamma=1)),
    ],
)
def test_inner_products_of_features_are_the_product_kernel(name, pairwise):
    rows = rows_of(60)
    encoder = vector_kernel_encoder(rows, WIDTHS, 0.0, kernel=kernel_of(name))
    features = encoder.features(rows)
    assert features @ features.T == pytest.approx(pairwise(rows / WIDTHS), abs=1e-7)
    assert encoder.pivot_features @ encoder.inverse == pytest.approx(np.eye(60), abs=1e-4)


def test_one_member_is_a_single_number():
    values = np.sort(np.random.default_rng(0).laplace(size=80))
    margin = fit_margin(values)
    one = kernel_encoder(values, 0.5, 1e-3, margin=margin)
    vector = vector_kernel_encoder(values[:, None], [0.5], 1e-3, margins=[margin])
    points = np.array([-1.0, 0.3, np.nan, 2.0])
    assert vector.features(points[:, None]) == pytest.approx(
        one.features(points), abs=1e-8, nan_ok=True
    )
    assert vector.likelihoods(points[:, None]) == pytest.approx(one.likelihoods(points), abs=1e-8)
    assert vector.total == pytest.approx(one.total)
    assert vector.functional(lambda x: x[:, 0] ** 2) == pytest.approx(one.functional(np.square))


@pytest.mark.parametrize("with_margins", [False, True])
@pytest.mark.parametrize("name", ["rbf", "matern32"])
def test_a_missing_member_is_integrated_out(with_margins, name):
    rows = rows_of(200)
    margins = [fit_margin(column) for column in rows.T] if with_margins else None
    encoder = vector_kernel_encoder(
        rows, [0.5, 0.5], n_features=30, margins=margins, kernel=kernel_of(name)
    )
    grid = np.linspace(-12, 25, 12_001)
    for x in (-1.2, 0.4):
        points = np.column_stack([np.full(len(grid), x), grid])
        integral = np.trapezoid(encoder.likelihoods(points), grid, axis=0)
        (missing,) = encoder.likelihoods(np.array([[x, np.nan]]))
        # The grid cuts off the far tails of rough kernels.
        assert missing == pytest.approx(integral, abs=5e-3 * np.abs(integral).max())
    nothing = encoder.likelihoods(np.full((1, 2), np.nan))
    assert nothing[0] == pytest.approx(encoder.total)


def test_a_member_given_the_other_is_joint_over_marginal():
    rows = rows_of(300)
    encoder = vector_kernel_encoder(rows, [0.4, 0.6], n_features=60)
    mean = encoder.features(rows).mean(axis=0)[None]
    known = np.array([[0.9, np.nan]])
    coefficients = encoder.member_coefficients(mean, 1, known)
    grid = np.linspace(-4, 8, 600)
    found = encoder.members[1].likelihoods(grid) @ coefficients[0]
    joint = encoder.likelihoods(np.column_stack([np.full(600, 0.9), grid])) @ mean[0]
    assert found == pytest.approx(joint / np.trapezoid(joint, grid), abs=1e-6)
    alone = encoder.members[1].likelihoods(grid) @ encoder.member_coefficients(mean, 1)[0]
    expected = norm.pdf(grid[:, None], rows[:, 1], 0.6).mean(axis=1)
    assert alone == pytest.approx(expected, abs=0.02)


def test_wrong_rows_and_bandwidths_are_refused():
    rows = rows_of(20)
    with pytest.raises(ArgumentError, match="each member"):
        vector_kernel_encoder(rows, [1.0])
    with pytest.raises(ArgumentError, match="each member"):
        vector_kernel_encoder(rows, [1.0, 0.0])
    with pytest.raises(ArgumentError, match="single row"):
        vector_kernel_encoder(np.full((3, 2), np.nan), [1.0, 1.0])
    with pytest.raises(DataError, match="2 numbers in each row"):
        vector_kernel_encoder(rows, [1.0, 1.0], kernel=RBF).features(rows[:, 0])


def test_the_density_of_a_product_kernel_is_the_product_of_densities():
    rows = rows_of(3)
    encoder = vector_kernel_encoder(rows, WIDTHS, 0.0, kernel=kernel_of("laplacian"))
    points = rows_of(10, seed=1)
    found = encoder.pivot_densities(points) @ np.ones(len(encoder.pivots))
    expected = sum(
        laplace.pdf(points[:, 0], pivot[0], 0.7) * laplace.pdf(points[:, 1], pivot[1], 1.1)
        for pivot in encoder.numbers
    )
    assert found == pytest.approx(expected)
