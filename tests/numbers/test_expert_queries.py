"""Every query of a mixture of a tree and experts, compared with sums and integrals of its joint density."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import logsumexp

import tacit
from oracles.edited_files import edited
from tacit.core.files.container import read_file
from tacit.errors import FileFormatError

GROUPS = ("a", "b", "c")


def made_rows(n, seed=0):
    """Skewed and correlated numbers, two columns of categories."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    x = rng.normal(size=n) + 2.0 * (group == 2)
    y = np.exp(0.7 * x + 0.3 * rng.normal(size=n))
    sure = rng.random(n) < 0.8
    return {
        "x": x,
        "y": y,
        "group": np.array(GROUPS, dtype=object)[group],
        "high": np.where(sure, x > 0.5, rng.random(n) < 0.5).astype(str).astype(object),
    }


@pytest.fixture(scope="module")
def model():
    rows = made_rows(400)
    rows["x"][::11] = np.nan
    rows["group"][::13] = None
    fitted = tacit.KernelTree(n_components=1, blend=False).fit(rows)
    assert fitted.experts_ is not None
    assert fitted.experts_.weights[0] > 0.01  # all parts are asked
    return fitted


@pytest.fixture(scope="module")
def some():
    return made_rows(6, seed=1)


def wide(low, high, n=20_001):
    """Places that are dense between two numbers and go far beyond them."""
    middle, reach = 0.5 * (low + high), 0.5 * (high - low)
    return middle + reach * np.sinh(np.linspace(-12, 12, n)) / np.sinh(3.0)


def repeated(rows, place, **columns):
    """One row as many times as columns have entries, which replace its own."""
    n = len(next(iter(columns.values())))
    plain = {name: np.repeat(column[place : place + 1], n) for name, column in rows.items()}
    return plain | columns


def test_a_missing_number_is_integrated_out(model, some):
    grid = wide(-4.0, 6.0)
    for place in range(3):
        dense = model.density(repeated(some, place, x=grid))
        gap = model.density(repeated(some, place, x=np.array([np.nan])))[0]
        assert trapezoid(dense, grid) == pytest.approx(gap, rel=2e-3)  # bins have kinks


def test_a_missing_category_is_summed_out(model, some):
    for place in range(6):
        every = model.score_samples(repeated(some, place, group=np.array(GROUPS, dtype=object)))
        gap = model.score_samples(repeated(some, place, group=np.array([None], dtype=object)))[0]
        assert logsumexp(every) == pytest.approx(gap, abs=1e-9)
    nothing = {name: column for name, column in made_rows(1).items() if name == "x"}
    nothing["x"] = np.array([np.nan])
    assert model.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-9)


def test_conditional_densities_are_joint_ones_over_the_evidence(model, some):
    grid = np.array([0.2, 0.9, 2.0, 5.5])
    _, densities = model.conditional_density(some, "y", grid)
    for place in range(6):
        joint = model.density(repeated(some, place, y=grid))
        rest = model.density(repeated(some, place, y=np.array([np.nan])))[0]
        assert densities[place] == pytest.approx(joint / rest, rel=1e-8)


def test_quantiles_invert_the_distribution_function(model, some):
    levels = np.array([0.03, 0.3, 0.5, 0.9])
    numbers = model.quantiles(some, "y", levels)
    assert (np.diff(numbers, axis=1) > 0).all()
    for place in range(3):
        row = repeated(some, place, y=np.array([np.nan]))
        for level, number in zip(levels, numbers[place], strict=True):
            below = np.concatenate([number - np.geomspace(1e6, 1e-9, 20_001), [number]])
            _, dense = model.conditional_density(row, "y", below)
            # The tree's distribution function is linear between 400 places.
            assert trapezoid(dense[0], below) == pytest.approx(level, abs=4e-3)
    ends = model.quantiles(some, "y", [0.0, 1.0])
    assert np.isfinite(ends).all()


def test_means_are_integrals(model, some):
    grid = wide(-4.0, 6.0)
    inside = (grid > -12) & (grid < 14)
    means = model.expectation(some, "x")
    squares = model.expectation(some, "x", np.square)
    _, dense = model.conditional_density(some, "x", grid[inside])
    for place in range(6):
        mean = trapezoid(dense[place] * grid[inside], grid[inside])
        square = trapezoid(dense[place] * grid[inside] ** 2, grid[inside])
        assert means[place] == pytest.approx(mean, abs=0.02)  # far tails are counted by neither
        assert squares[place] == pytest.approx(square, abs=0.1)
    assert np.array_equal(model.predict(some, "x"), means)


def test_probabilities_are_ratios_of_densities(model, some):
    chances = model.predict_proba(some, "group")
    for place in range(6):
        joint = model.density(repeated(some, place, group=np.array(GROUPS, dtype=object)))
        assert chances[place] == pytest.approx(joint / joint.sum(), rel=1e-8)
    assert list(model.predict(some, "group")) == [GROUPS[code] for code in chances.argmax(axis=1)]
    in_turn = model.predict_proba(some)
    assert in_turn[:, :3] == pytest.approx(chances)


def test_joint_probabilities_and_queries_are_sums_of_densities(model, some):
    together = model.predict_proba(some, ["group", "high"], joint=True)
    for place in range(3):
        joint = np.array(
            [
                [
                    model.density(
                        repeated(
                            some,
                            place,
                            group=np.array([group], dtype=object),
                            high=np.array([high], dtype=object),
                        )
                    )[0]
                    for high in ("False", "True")
                ]
                for group in GROUPS
            ]
        )
        assert together[place] == pytest.approx(joint / joint.sum(), rel=1e-8)
    answer = model.query(["group", "high"], given={"x": some["x"][0], "y": some["y"][0]})
    assert list(answer.values()) == pytest.approx(together[0].ravel())


def test_likelihoods_of_categories_weigh_densities(model, some):
    rows = {**some, "group": np.array([None] * 6, dtype=object)}
    soft = {"group": np.tile([[0.5, 0.0, 2.0]], (6, 1))}
    actual = np.exp(model.score_samples(rows, soft=soft))
    for place in range(6):
        joint = model.density(repeated(some, place, group=np.array(GROUPS, dtype=object)))
        assert actual[place] == pytest.approx(0.5 * joint[0] + 2.0 * joint[2], rel=1e-8)
    marginals = model.marginals(rows, soft=soft)["group"]
    joint = model.density(repeated(some, 0, group=np.array(GROUPS, dtype=object)))
    weighed = joint * soft["group"][0]
    assert marginals[0] == pytest.approx(weighed / weighed.sum(), rel=1e-8)
    seen = model.marginals(some)["group"]
    assert seen[0] == pytest.approx([float(some["group"][0] == group) for group in GROUPS])
    number = model.query("x", given={"group": {"a", "c"}})
    parts = [model.query("x", given={"group": group})["mean"] for group in "ac"]
    assert min(parts) < number["mean"] < max(parts)


@pytest.mark.parametrize("given", [{}, {"group": "c", "y": 1.0}, {"group": {"a", "c"}}])
def test_samples_have_the_distribution_that_quantiles_and_probabilities_say(model, given):
    n = 6000
    drawn = model.sample(n, given=given, random_state=0)
    asked = model.query("x", given=given)
    for name, level in (("5%", 0.05), ("25%", 0.25), ("50%", 0.5), ("75%", 0.75), ("95%", 0.95)):
        below = np.mean(np.asarray(drawn["x"], dtype=float) <= asked[name])
        assert below == pytest.approx(level, abs=4.5 * np.sqrt(level * (1 - level) / n) + 2e-3)
    chances = model.query("high", given=given)
    share = np.mean(np.asarray(drawn["high"]) == "True")
    assert share == pytest.approx(chances["True"], abs=0.03)
    if "y" in given:
        assert (np.asarray(drawn["y"]) == given["y"]).all()
    if "group" in given:
        assert set(drawn["group"]) <= set(given["group"])


def test_gaps_are_filled_with_means_medians_and_likeliest_categories(model, some):
    gaps = {name: column.copy() for name, column in some.items()}
    gaps["x"][::2], gaps["group"][1:3] = np.nan, None
    filled = model.impute(gaps)
    assert filled["x"][::2] == pytest.approx(model.expectation(gaps, "x")[::2])
    assert np.array_equal(filled["x"][1::2], some["x"][1::2])
    assert list(filled["group"][1:3]) == list(model.predict(gaps, "group")[1:3])
    medians = model.impute(gaps, numbers="median")["x"]
    assert medians[::2] == pytest.approx(model.quantiles(gaps, "x", 0.5)[::2], rel=1e-6)


def test_rows_are_answered_each_for_itself(model, some):
    order = np.array([3, 0, 5, 1, 4, 2])
    mixed = {name: column[order] for name, column in some.items()}
    assert model.score_samples(mixed) == pytest.approx(model.score_samples(some)[order])
    assert model.expectation(mixed, "y") == pytest.approx(model.expectation(some, "y")[order])


def test_the_tree_alone_says_hidden_states(model, some):
    posteriors = model.posterior(some)
    assert posteriors
    assert all(p.sum(axis=1) == pytest.approx(1.0) for p in posteriors.values())


def test_files_hold_the_experts(model, some, tmp_path):
    path = tmp_path / "m.tacit"
    model.save(path)
    again = tacit.load(path)
    assert np.array_equal(again.score_samples(some), model.score_samples(some))
    assert np.array_equal(again.quantiles(some, "y"), model.quantiles(some, "y"))
    assert str(again.summary()) == str(model.summary())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weights", lambda array: array * 2),
        ("members.0.classes.weights", lambda array: -array),
        ("members.0.classes.means", lambda array: array[:, :1].copy()),
        ("members.0.classes.means", lambda array: array * np.nan),
        ("members.0.classes.tables.0.probabilities", np.zeros_like),
    ],
)
def test_edited_experts_are_refused(model, tmp_path, name, change):
    path = tmp_path / "m.tacit"
    model.save(path)
    edited(path)
    tacit.load(path)
    _, arrays = read_file(path)
    edited(path, {f"experts.{name}": change(arrays[f"experts.{name}"])})
    with pytest.raises(FileFormatError, match="experts"):
        tacit.load(path)


def test_experts_without_covariances_or_margins_are_refused(model, tmp_path):
    path = tmp_path / "m.tacit"
    model.save(path)
    _, arrays = read_file(path)
    spread = [
        name
        for name in arrays
        if name.startswith("experts.members.0.classes.") and "varianc" in name
    ]
    edited(path, dict.fromkeys(spread))
    with pytest.raises(FileFormatError, match="covariances"):
        tacit.load(path)


def test_files_of_before_there_were_experts_answer_like_the_tree(model, some, tmp_path):
    path = tmp_path / "m.tacit"
    model.save(path)
    _, arrays = read_file(path)
    edited(path, {name: None for name in arrays if name.startswith("experts.")}, experts=None)
    old = tacit.load(path)
    assert old.experts_ is None
    posteriors = model.posterior(some)
    for name, values in old.posterior(some).items():
        assert np.array_equal(values, posteriors[name])
    assert not np.allclose(old.score_samples(some), model.score_samples(some))
