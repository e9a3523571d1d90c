"""Kernel trees with other kernels than the Gaussian."""

import numpy as np
import pytest

import tacit
from oracles.number_tables import groups, laplaces
from tacit.core.encoders.kernel_shapes import kernel_of
from tacit.errors import ArgumentError


def rational(u):
    return 1 / (1 + u**2) ** 2


KERNELS = ["laplacian", "matern32", "matern52", rational]


def fitted(kernel, **arguments):
    simple = {"n_states": 3, "structure": "star", "bandwidth": 0.4, "blend": False}
    model = tacit.KernelTree(learn="spectral", kernel=kernel, **{**simple, **arguments})
    return model.fit(groups(400))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_density_of_one_column_is_its_kernel_density_estimate(kernel):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=200)
    model = tacit.KernelTree(
        learn="spectral", kernel=kernel, bandwidth=0.5, normal_scores=False, blend=False
    ).fit({"x": x})
    width = model.encoders_[0].bandwidth
    shape = kernel_of(kernel)
    grid = np.linspace(-4, 4, 41)
    each = shape.values(np.subtract.outer(grid, x) / width) / (shape.integral * width)
    found = model.conditional_density({"x": [np.nan]}, "x", grid)[1][0]
    assert found == pytest.approx(each.mean(axis=1), abs=0.01)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_density_of_two_columns_integrates_to_one(kernel):
    model = tacit.KernelTree(3, learn="spectral", kernel=kernel, bandwidth=0.3).fit(laplaces(800))
    grid = np.linspace(-14, 14, 141)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    values = model.density(points).reshape(141, 141)
    whole = np.trapezoid(np.trapezoid(values, grid, axis=1), grid)
    assert whole == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("structure", ["star", "chow-liu"])
def test_conditionals_are_joint_over_marginal_and_files_keep_the_kernel(
    kernel, structure, tmp_path
):
    model = fitted(kernel, structure=structure)
    known = {"peaked": [0.0, 3.0, 6.5], "word": ["a", None, "c"], "weak": [np.nan, 0.5, 1.0]}
    grid, densities = model.conditional_density(known, "plain")
    assert np.trapezoid(densities, grid, axis=1) == pytest.approx(1.0, abs=0.06)
    place = int(densities[1].argmax())
    both = model.score_samples({**known, "plain": [grid[place]] * 3})
    expected = np.exp(both - model.score_samples(known))
    assert densities[1, place] == pytest.approx(expected[1], rel=0.15)
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    table = groups(50, seed=3)
    assert np.array_equal(again.score_samples(table), model.score_samples(table))
    assert np.array_equal(again.quantiles(known, "plain"), model.quantiles(known, "plain"))
    again.fit(groups(400))  # with the kernel of the file
    assert again.score_samples(table) == pytest.approx(model.score_samples(table), abs=1e-6)


def test_kernels_belong_to_spectral_learning():
    with pytest.raises(ArgumentError, match="spectral"):
        tacit.KernelTree(kernel="laplacian").fit(groups(50))
    with pytest.raises(ArgumentError, match="'rbf', 'laplacian'"):
        tacit.KernelTree(learn="spectral", kernel="gauss").fit(groups(50))


def test_bandwidths_of_other_kernels_are_chosen():
    train, test = groups(600), groups(600, seed=1)
    scores = {}
    for kernel in ("rbf", "laplacian"):
        model = tacit.KernelTree(3, "star", "spectral", kernel=kernel, blend=False).fit(train)
        scores[kernel] = model.score(test)
    assert scores["laplacian"] == pytest.approx(scores["rbf"], abs=0.15)


@pytest.mark.parametrize("tolerance", [1, 2.5])
def test_a_tolerance_that_leaves_no_feature_is_refused(tolerance):
    with pytest.raises(ArgumentError, match="leaves no feature; give a number below 1"):
        fitted("rbf", tolerance=tolerance)
