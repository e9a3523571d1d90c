"""Numbers that are known to lie in intervals, compared with integrals of the joint density."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal

import tacit
from tacit.errors import ArgumentError, IntegrationWarning, NotAvailableError
from tacit.numbers.query.intervals import lattice

GROUPS = ("a", "b")


def made_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    x = rng.normal(size=n) + group
    y = 0.8 * x + 0.5 * rng.normal(size=n)
    z = np.where(rng.random(n) < 0.3, 0.0, np.exp(0.5 * y + 0.3 * rng.normal(size=n)))
    return {"x": x, "y": y, "z": z, "group": np.array(GROUPS, dtype=object)[group]}


@pytest.fixture(scope="module", params=["auto", "tree"])
def model(request):
    fitted = tacit.KernelTree(n_components=1, blend=False, experts=request.param).fit(
        made_rows(400)
    )
    assert (fitted.experts_ is None) == (request.param == "tree")
    return fitted


def density(model, **columns):
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    table = {
        name: np.broadcast_to(
            np.asarray(column, dtype=object if name == "group" else float), shape
        ).ravel()
        for name, column in columns.items()
    }
    return model.density(table).reshape(shape)


def test_one_interval_is_integrated_out(model):
    grid = np.linspace(0.2, 1.1, 4001)
    masses = [trapezoid(density(model, x=grid, group=group), grid) for group in GROUPS]
    answer = model.query("group", given={"x": (0.2, 1.1)})
    expected = np.array(masses) / sum(masses)
    assert list(answer.values()) == pytest.approx(expected, rel=2e-3)


def test_open_ends_reach_to_infinity(model):
    grid = 1.5 + np.geomspace(1e-9, 1e6, 40_001)
    masses = [trapezoid(density(model, x=grid, group=group), grid) for group in GROUPS]
    for interval in ((1.5, None), [1.5, np.inf]):
        answer = model.query("group", given={"x": interval})
        assert list(answer.values()) == pytest.approx(np.array(masses) / sum(masses), rel=3e-3)


def test_several_intervals_are_integrated_with_a_small_error(model):
    x, y = np.linspace(-0.5, 1.0, 401), np.linspace(0.0, 0.8, 401)
    masses = []
    for group in GROUPS:
        values = density(model, x=x[:, None], y=y, group=group)
        masses.append(trapezoid(trapezoid(values, y, axis=1), x))
    answer = model.query("group", given={"x": (-0.5, 1.0), "y": (0.0, 0.8)})
    assert list(answer.values()) == pytest.approx(np.array(masses) / sum(masses), rel=5e-3)


def test_atoms_in_an_interval_count(model):
    grid = np.linspace(1e-9, 0.9, 4001)
    masses = [
        trapezoid(density(model, z=grid, group=group), grid)
        + float(density(model, z=[0.0], group=group)[0])
        for group in GROUPS
    ]
    answer = model.query("group", given={"z": (0, 0.9)})
    below = -np.geomspace(1e6, 1e-9, 4001)
    beyond = trapezoid(density(model, z=below, group="a"), below)
    assert beyond < 0.05
    assert list(answer.values()) == pytest.approx(np.array(masses) / sum(masses), rel=3e-3)
    without = model.query("group", given={"z": (1e-9, 0.9)})
    assert without["a"] != pytest.approx(answer["a"], abs=1e-4)


def test_numbers_given_an_interval_have_the_right_distribution(model):
    x = np.linspace(0.2, 1.1, 301)
    y = np.linspace(-6, 8, 2801)
    joint = trapezoid(density(model, x=x[:, None], y=y), x, axis=0)
    joint /= trapezoid(joint, y)
    answer = model.query("y", given={"x": (0.2, 1.1)})
    assert answer["mean"] == pytest.approx(trapezoid(joint * y, y), abs=0.03)  # far tails
    below = np.concatenate([[0.0], np.cumsum(0.5 * (joint[1:] + joint[:-1]) * np.diff(y))])
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert np.interp(answer[f"{level:.0%}"], y, below) == pytest.approx(level, abs=6e-3)


def test_draws_lie_in_the_intervals_and_have_the_right_distribution(model):
    given = {"x": (0.2, 1.1), "z": (0.0, 0.9)}
    n = 4000
    drawn = model.sample(n, given=given, random_state=0)
    assert min(drawn["x"]) >= 0.2
    assert max(drawn["x"]) <= 1.1
    z = np.array(drawn["z"], dtype=float)
    assert ((z >= 0) & (z <= 0.9)).all()
    answer = model.query("y", given=given)
    y = np.array(drawn["y"], dtype=float)
    assert y.mean() == pytest.approx(answer["mean"], abs=4 * y.std() / np.sqrt(n) + 0.01)
    for level in (0.25, 0.5, 0.75):
        assert np.mean(y <= answer[f"{level:.0%}"]) == pytest.approx(level, abs=0.035)
    groups = model.query("group", given=given)
    share = np.mean(np.array(drawn["group"], dtype=object) == "a")
    assert share == pytest.approx(groups["a"], abs=0.035)


def test_points_and_intervals_agree_in_the_limit(model):
    at = model.query("y", given={"x": 0.7})
    assert model.query("y", given={"x": (0.7, 0.7)}) == at
    # The densities of the tree jump where its bins end.
    narrow = model.query("y", given={"x": (0.7 - 1e-7, 0.7 + 1e-7)})
    assert list(narrow.values()) == pytest.approx(list(at.values()), abs=1e-3)


def test_what_is_no_interval_is_refused(model):
    for wrong in ((2, 1), (None, None), (np.nan, 1.0), ("a", 3), (1, 2, 3), {1.0, 2.0}):
        with pytest.raises((ArgumentError, tacit.errors.DataError), match="'x'"):
            model.query("y", given={"x": wrong})
    with pytest.raises(ArgumentError, match="'y' is the target"):
        model.query("y", given={"y": (0, 1)})
    other = tacit.GaussianTree().fit(made_rows(100))
    with pytest.raises(NotAvailableError, match="KernelTree"):
        other.query("y", given={"x": (0, 1)})
    spectral = tacit.KernelTree(2, learn="spectral").fit(made_rows(200))
    with pytest.raises(NotAvailableError, match="learn='auto'"):
        spectral.query("y", given={"x": (0, 1)})


def one_gaussian(d, correlation, seed=0):
    """A table whose best model is one Gaussian of its numbers."""
    covariance = np.full((d, d), correlation) + (1 - correlation) * np.eye(d)
    rng = np.random.default_rng(seed)
    return covariance, rng.multivariate_normal(np.zeros(d), covariance, 1000)


def test_the_probability_of_a_box_is_that_of_the_multivariate_normal():
    from tacit.core.input.read_mixed_table import read_mixed
    from tacit.numbers.data.normal_scores import Scores
    from tacit.numbers.model.experts import Atoms, Expert
    from tacit.numbers.model.gaussian_classes import GaussianClasses
    from tacit.numbers.query.intervals import classes_within

    covariance, rows = one_gaussian(4, 0.6)
    table = read_mixed(dict(zip("abcd", rows.T, strict=True)))
    classes = GaussianClasses(np.ones(1), np.zeros((1, 4)), covariance[None], ())
    expert = Expert("", Scores(table.schema, (None,) * 4), classes, Atoms((np.empty(0),) * 4))
    low, high = np.array([-0.5, 0.2, -2.0]), np.array([0.4, 2.5, 0.1])
    known = table.take(np.zeros(1, dtype=np.int64))
    known.numbers[0, :3] = np.nan
    x = known.numbers[0, 3]
    intervals = {place: np.array([[low[place], high[place]]]) for place in range(3)}
    given = classes_within(expert, known, {}, intervals, [])
    log_mass = float(np.logaddexp.reduce(given.joint[0]))
    gain = covariance[:3, 3] / covariance[3, 3]
    rest = covariance[:3, :3] - np.outer(gain, covariance[3, :3])
    inside = multivariate_normal.cdf(
        high, gain * x, rest, lower_limit=low, abseps=1e-9, releps=1e-9, maxpts=10**6
    )
    expected = inside * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    assert np.exp(log_mass) == pytest.approx(expected, rel=2e-3)


def test_boxes_that_are_known_badly_are_reported(monkeypatch, model):
    if model.experts_ is None:
        pytest.skip("a tree needs no points")
    given = {"x": (-2.0, -1.9), "y": (1.9, 2.0), "z": (0.1, 5.0)}
    model.query("group", given=given)
    monkeypatch.setattr("tacit.numbers.query.intervals.POINTS", (1,))
    with pytest.warns(IntegrationWarning, match="3 intervals together is known to"):
        model.query("group", given=given)


def test_intervals_that_contradict_each_other_have_finite_answers(model):
    given = {"x": (-9.0, -8.9), "y": (8.9, 9.0), "z": (1e5, None)}
    assert sum(model.query("group", given=given).values()) == pytest.approx(1.0)
    assert np.isfinite(list(model.query("y", given={"x": (1e6, None)}).values())).all()


def test_lattices_fill_the_cube_evenly():
    points = lattice(256, 3)
    assert ((points >= 0) & (points <= 1)).all()
    assert points.mean(axis=0) == pytest.approx(0.5, abs=2e-3)
    assert (points[:, 0] * points[:, 1] * points[:, 2]).mean() == pytest.approx(0.125, abs=2e-3)
