"""Mixtures of Laplace distributions: the truth, and estimates against formulas and peers."""

import numpy as np
import pytest
from scipy import integrate, stats

import tacit
from tacit.reproduce.numbers import laplace
from tacit.reproduce.numbers.fig_6_5 import (
    BIC,
    DISCRETE,
    KDE,
    KERNEL,
    METHODS,
    ONE,
    PRINTED,
    SELECTED,
    TWO,
)
from tacit.reproduce.numbers.laplace import (
    STUDY,
    LaplaceCase,
    drawn,
    gaussians,
    grid,
    histogram,
    kernel_estimate,
    learn,
    truth,
)
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Trial


def test_the_truth_is_a_density_with_two_peaks():
    at = lambda y, x: truth(2.0, np.array([[x, y]]))[0]  # noqa: E731
    whole, _ = integrate.dblquad(at, -2, 2, -2, 2, epsabs=1e-6)
    # A quarter of each component lies beyond its centre in both directions; the others reach in.
    inside = 0.5 * (1 - np.exp(-4))
    assert whole == pytest.approx(inside**2, rel=1e-5)
    laplace = stats.laplace(2.0).pdf, stats.laplace(-2.0).pdf
    x, y = 0.7, -1.2
    expected = 0.5 * sum(one(x) * one(y) for one in laplace)
    assert truth(2.0, np.array([[x, y]]))[0] == pytest.approx(expected)


def test_rows_come_from_the_truth():
    rows = drawn(4.0, 40_000, 0)
    assert rows.mean(axis=0) == pytest.approx([0, 0], abs=0.1)  # standard error 0.02
    assert rows.var(axis=0) == pytest.approx([18, 18], rel=0.05)
    assert np.corrcoef(rows.T)[0, 1] == pytest.approx(16 / 18, abs=0.01)
    assert not np.array_equal(drawn(4.0, 50, 0), drawn(4.0, 50, 1))
    assert np.array_equal(drawn(4.0, 50, 0), drawn.__wrapped__(4.0, 50, 0))


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.name)
def test_every_estimate_has_integral_one_and_is_nearer_than_nothing(method):
    rows = drawn(3.0, 400, 0)
    density = learn(method, rows, 0)
    side = np.linspace(-28, 28, 561)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert density(points).sum() * 0.1**2 == pytest.approx(1, abs=0.02)
    actual = perform(Trial(STUDY, LaplaceCase(3.0), 400, 0, method))
    nothing = np.sqrt(np.sum(truth(3.0, grid(3.0)) ** 2))
    assert 0 < actual.distance < nothing
    assert actual.seconds > 0


def test_the_error_is_that_of_the_thesis():
    trial = Trial(STUDY, LaplaceCase(2.0), 300, 1, ONE)
    rows, points = drawn(2.0, 300, 1), grid(2.0)
    normal = stats.multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
    expected = np.sqrt(np.sum((normal.pdf(points) - truth(2.0, points)) ** 2))
    assert perform(trial).distance == pytest.approx(expected, rel=1e-4)


def test_a_kernel_estimate_is_that_of_scipy_at_its_bandwidth(monkeypatch):
    rows, points = drawn(3.0, 100, 0), grid(3.0)[::50]
    monkeypatch.setattr("tacit.reproduce.numbers.laplace.BANDWIDTHS", (0.25,))
    apart = (points[:, None] - rows) / (0.25 * rows.std())
    expected = stats.norm.pdf(apart).prod(axis=2).mean(axis=1) / (0.25 * rows.std()) ** 2
    assert kernel_estimate(rows, 0)(points) == pytest.approx(expected)


def test_a_histogram_counts_rows_in_squares(monkeypatch):
    rows = np.array([[0.0, 0.0], [4.0, 4.0], [0.1, 0.1], [3.9, 0.1], [4.0, 0.0]] * 2)
    monkeypatch.setattr("tacit.reproduce.numbers.laplace.BINS", (2,))
    actual = histogram(rows, 0)(
        np.array([[1.0, 1.0], [3.0, 3.0], [3.0, 1.0], [1.0, 3.0], [5.0, 1.0]])
    )
    assert actual == pytest.approx(np.array([0.4, 0.2, 0.4, 0.0, 0.0]) / 4)


def test_what_is_chosen_is_better_than_what_is_given():
    errors = {
        method.name: np.mean(
            [
                perform(Trial(STUDY, LaplaceCase(4.0), 2000, seed, method)).distance
                for seed in (0, 1)
            ]
        )
        for method in (ONE, TWO, BIC, DISCRETE, KDE, KERNEL)
    }
    assert errors["Gaussians by BIC"] < errors["2 Gaussians"] < errors["Gaussian"]
    assert errors["kernel tree, Tacit"] == min(errors.values())


def test_bic_can_choose_one_component():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    normal = stats.multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
    points = grid(1.0)[::100]
    # scikit-learn adds 1e-6 to variances.
    assert gaussians(rows, None, 0)(points) == pytest.approx(normal.pdf(points), rel=1e-4)


def test_the_printed_tree_has_rank_2_and_the_median_bandwidth_or_one_that_held_out_rows_select(
    monkeypatch,
):
    rows, points = drawn(3.0, 300, 0), grid(3.0)[::40]
    table = {"x": rows[:, 0], "y": rows[:, 1]}
    at_points = {"x": points[:, 0], "y": points[:, 1]}
    thesis = tacit.KernelTree(2, preset="printed")
    assert learn(PRINTED, rows, 0)(points) == pytest.approx(thesis.fit(table).density(at_points))
    training, held_out = laplace._parts(rows, 0)
    scores = {
        multiple: tacit.KernelTree(2, preset="printed", bandwidth=multiple)
        .fit({"x": training[:, 0], "y": training[:, 1]})
        .score({"x": held_out[:, 0], "y": held_out[:, 1]})
        for multiple in (1.0, 0.3, 0.01)
    }
    assert max(scores, key=scores.get) == 0.3
    monkeypatch.setattr(laplace, "MULTIPLES", tuple(scores))
    selected = tacit.KernelTree(2, preset="printed", bandwidth=0.3).fit(table)
    assert learn(SELECTED, rows, 0)(points) == pytest.approx(selected.density(at_points))
