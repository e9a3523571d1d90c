"""Columns some of whose values have a probability, compared with sums and integrals of the joint density."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

import tacit
from oracles.edited_files import edited
from tacit.errors import ArgumentError, FileFormatError

GROUPS = ("a", "b", "c")


def made_rows(n, seed=0):
    """A spike at zero that depends on the group, a code for what is unknown, and a number without atoms."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    amount = np.exp(0.5 * group + 0.5 * rng.normal(size=n))
    amount[rng.random(n) < 0.15 + 0.25 * group] = 0.0
    age = np.round(40 + 12 * rng.normal(size=n), 1)
    age[rng.random(n) < 0.1] = 99.0
    return {
        "amount": amount,
        "age": age,
        "size": group + 0.5 * amount + 0.5 * rng.normal(size=n),
        "group": np.array(GROUPS, dtype=object)[group],
    }


@pytest.fixture(scope="module")
def rows():
    return made_rows(500)


@pytest.fixture(scope="module")
def some():
    return made_rows(6, seed=1)


@pytest.fixture(scope="module", params=["auto", "tree"])
def model(request, rows):
    gaps = {name: column.copy() for name, column in rows.items()}
    gaps["amount"][::9] = np.nan
    gaps["group"][::13] = None
    fitted = tacit.KernelTree(n_components=1, blend=False, experts=request.param).fit(gaps)
    assert (fitted.experts_ is None) == (request.param == "tree")
    return fitted


def repeated(rows, place, **columns):
    """One row as many times as columns have entries, which replace its own."""
    n = len(next(iter(columns.values())))
    plain = {name: np.repeat(column[place : place + 1], n) for name, column in rows.items()}
    return plain | columns


def beside(atom, low, high, n=40_001):
    """Places that are dense around an atom and go far beyond, without the atom itself."""
    steps = np.geomspace(1e-9, 1e7, n)
    places = np.concatenate([atom - steps[::-1], np.linspace(low, high, n), atom + steps])
    return np.unique(places[places != atom])


def test_atoms_are_found_where_many_rows_share_a_value(model):
    assert {name: atoms.tolist() for name, atoms in model.atoms_.items()} == {
        "amount": [0.0],
        "age": [99.0],
    }


def test_an_atom_has_a_probability_and_all_other_numbers_a_density(model, some):
    grid = beside(0.0, -2.0, 12.0)
    for place in range(4):
        dense = model.density(repeated(some, place, amount=grid))
        at_atom = model.density(repeated(some, place, amount=np.zeros(1)))[0]
        gap = model.density(repeated(some, place, amount=np.array([np.nan])))[0]
        assert trapezoid(dense, grid) + at_atom == pytest.approx(gap, rel=2e-3)  # bins have kinks


def test_conditional_probabilities_of_atoms_are_ratios_of_densities(model, some):
    chances = model.atom_probabilities(some, "amount")
    assert chances.shape == (6, 1)
    for place in range(6):
        at_atom = model.density(repeated(some, place, amount=np.zeros(1)))[0]
        gap = model.density(repeated(some, place, amount=np.array([np.nan])))[0]
        assert chances[place, 0] == pytest.approx(at_atom / gap, rel=1e-8)
    assert model.atom_probabilities(some, "size").shape == (6, 0)
    grid = np.array([0.3, 1.0, 2.5])
    _, densities = model.conditional_density(some, "amount", grid)
    for place in range(6):
        joint = model.density(repeated(some, place, amount=grid))
        rest = model.density(repeated(some, place, amount=np.array([np.nan])))[0]
        assert densities[place] == pytest.approx(joint / rest, rel=1e-8)
    _, at_atom = model.conditional_density(some, "amount", [0.0])
    _, nearly = model.conditional_density(some, "amount", [1e-12])
    assert at_atom == pytest.approx(nearly, rel=1e-4)  # the density beside the atom


def test_quantiles_and_draws_are_atoms_as_often_as_they_should(model, some):
    levels = np.array([0.02, 0.3, 0.6, 0.97])
    chance = model.atom_probabilities(some, "amount")[:, 0]
    numbers = model.quantiles(some, "amount", levels)
    for place in range(6):
        row = repeated(some, place, amount=np.array([np.nan]))
        below = beside(0.0, -2.0, 0.0)
        _, dense = model.conditional_density(row, "amount", below[below < 0])
        under = trapezoid(dense[0], below[below < 0])
        is_atom = (levels > under + 5e-3) & (levels < under + chance[place] - 5e-3)
        beyond = (levels < under - 5e-3) | (levels > under + chance[place] + 5e-3)
        assert (numbers[place][is_atom] == 0.0).all()
        assert (numbers[place][beyond] != 0.0).all()
    given = {"group": "c", "size": 2.0}
    drawn = model.sample(4000, given=given, random_state=0)
    share = float(np.mean(np.array(drawn["amount"], dtype=float) == 0.0))
    expected = model.query("amount", given=given)["= 0"]
    assert share == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(4000))


def test_means_count_atoms(model, some):
    grid = beside(0.0, -2.0, 12.0)
    grid = grid[(grid > -8) & (grid < 20)]
    means = model.expectation(some, "amount")
    _, dense = model.conditional_density(some, "amount", grid)
    shifted = model.expectation(some, "amount", lambda x: x + 100.0)
    for place in range(6):
        assert means[place] == pytest.approx(trapezoid(dense[place] * grid, grid), abs=0.03)
    assert shifted == pytest.approx(means + 100.0, abs=0.01)


def test_an_atom_is_evidence_and_not_the_number_beside_it(model):
    at_zero = model.predict_proba({"amount": [0.0]}, "group")[0]
    nearby = model.predict_proba({"amount": [1e-9]}, "group")[0]
    rows = made_rows(200_000, seed=5)
    is_zero = rows["amount"] == 0.0
    truth = [np.mean(rows["group"][is_zero] == group) for group in GROUPS]
    assert at_zero == pytest.approx(truth, abs=0.08)
    assert abs(at_zero - nearby).max() > 0.1


def test_models_with_atoms_are_kept_in_files(model, some, tmp_path):
    model.save(tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(loaded.score_samples(some), model.score_samples(some))
    assert loaded.atoms_.keys() == model.atoms_.keys()
    for change in (np.array([np.nan]), np.array([0.0, 0.0]), np.array([0.0, 1.0])):
        model.save(tmp_path / "m.tacit")
        edited(tmp_path / "m.tacit", arrays={"encoders_.0.atoms": change})
        with pytest.raises(FileFormatError):
            tacit.load(tmp_path / "m.tacit")


def test_a_column_of_few_numbers_has_only_atoms():
    rng = np.random.default_rng(0)
    rooms = rng.integers(1, 6, 300).astype(float)
    frame = {"rooms": rooms, "price": 100 * rooms + 30 * rng.normal(size=300)}
    model = tacit.KernelTree(columns={"rooms": "number"}).fit(frame)
    assert model.atoms_["rooms"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    chances = model.atom_probabilities({"price": [100.0, 500.0]}, "rooms")
    assert chances.sum(axis=1) == pytest.approx(1.0, abs=0.02)
    assert chances.argmax(axis=1).tolist() == [0, 4]
    assert np.isfinite(model.score_samples({"rooms": [2.5], "price": [250.0]})).all()
    drawn = np.array(model.sample(200, random_state=0)["rooms"])
    assert np.isin(drawn, model.atoms_["rooms"]).mean() > 0.97


def test_a_constant_column_of_numbers_is_one_atom():
    rng = np.random.default_rng(0)
    frame = {"one": np.ones(100), "x": rng.normal(size=100), "y": rng.normal(size=100)}
    model = tacit.KernelTree(columns={"one": "number"}).fit(frame)
    assert model.atom_probabilities({"x": [0.0]}, "one")[0, 0] > 0.97
    assert np.isfinite(model.score_samples({"one": [2.0], "x": [0.0]})).all()
    assert model.predict({"x": [0.3]}, "one")[0] == pytest.approx(1.0, abs=0.05)


def test_without_atoms_shared_values_are_narrow_peaks_of_the_density(rows):
    model = tacit.KernelTree(atoms=False, n_components=1).fit(rows)
    assert model.atoms_ == {}
    places = np.sort(np.append(beside(0.0, -50.0, 200.0), 0.0))
    density = model.conditional_density({"group": ["a", "c"]}, "amount", grid=places)[1]
    assert trapezoid(density, places, axis=1) == pytest.approx(1.0, abs=1e-3)
    (width,) = model.encoders_[0].margin.widths
    near = np.abs(places) < 4 * width
    share = trapezoid(density[:, near], places[near], axis=1)
    for place, group in enumerate("ac"):
        zero = rows["amount"][rows["group"] == group] == 0
        assert share[place] == pytest.approx(zero.mean(), abs=0.08)


def test_without_atoms_a_shared_value_is_evidence_like_any_number():
    rng = np.random.default_rng(0)
    rooms = rng.integers(1, 13, 500).astype(float)
    frame = {"rooms": rooms, "area": 20 * rooms + rng.normal(size=500), "x": rng.normal(size=500)}
    test = {"rooms": np.arange(1.0, 13.0), "x": np.linspace(-1.5, 1.5, 12)}
    model = tacit.KernelTree(atoms=False, columns={"rooms": "number"}).fit(frame)
    assert all(expert.atoms.columns == () for expert in model.experts_.members)
    assert np.abs(model.predict(test, "area") - 20 * test["rooms"]).max() < 2.0


def test_what_is_no_flag_is_refused(rows):
    with pytest.raises(ArgumentError, match="atoms='no'; give True or False"):
        tacit.KernelTree(atoms="no").fit(rows)


def test_summary_and_answers_name_the_atoms(model, rows):
    assert "often 0" in str(model.summary())
    assert "often 99" in str(model.summary())
    answer = model.query("age", given={"group": "a"})
    assert list(answer)[-1] == "= 99"
    share = float(np.mean(rows["age"][rows["group"] == "a"] == 99.0))
    assert answer["= 99"] == pytest.approx(share, abs=0.05)
