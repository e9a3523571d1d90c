"""Columns of different kinds side by side: frames, answers, learning, files."""

import datetime as dt
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal, poisson

import tacit
from tacit.errors import (
    ArgumentError,
    CategoryError,
    ColumnError,
    DataError,
    NotAvailableError,
    TacitError,
)
from tacit.sequences.data.mixed_columns import read_mixed
from tacit.sequences.emissions.categorical_density import CategoricalDensity
from tacit.sequences.emissions.gaussian_density import GaussianDensity
from tacit.sequences.emissions.mixed_density import MixedDensity
from tacit.sequences.emissions.poisson import PoissonDensity
from tacit.sequences.model.emission_chain import EmissionChain

KINDS = {"state": "categorical", "speed": "gaussian", "clicks": "poisson", "slope": "gaussian"}
EMIT = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
MEANS, RATES = np.array([[0.0, 2.0], [3.0, 1.0]]), np.array([2.0, 9.0])
SPREADS = np.array([[[1.0, 0.3], [0.3, 0.5]], [[0.5, -0.1], [-0.1, 2.0]]])
DENSITY = MixedDensity(
    (
        CategoricalDensity(EMIT, ("bike", "car", 3)),
        GaussianDensity(MEANS, SPREADS),
        PoissonDensity(RATES[:, None]),
    ),
    (np.array([0]), np.array([1, 3]), np.array([2])),
    tuple(KINDS),
)
CHAIN = EmissionChain(np.array([0.6, 0.4]), np.array([[0.85, 0.15], [0.25, 0.75]]), DENSITY)


def made():
    model = tacit.HMM(2, emissions=KINDS)
    model.parameters_, model.diagnostics_ = CHAIN, {}
    model.symbols_, model.names_ = (), tuple(KINDS)
    return model


def drawn(n=60, length=20, seed=0):
    return made().sample(n, length, random_state=seed)


def test_a_frame_is_read_by_its_sequences_and_times():
    frame = pl.DataFrame(
        {
            "id": ["b", "a", "b", "a", "b"],
            "time": [dt.date(2024, 1, day) for day in (3, 2, 1, 1, 2)],
            "speed": [3.0, 20.0, 1.0, None, 2.0],
            "state": ["x", "y", None, "x", "y"],
            "unused": [0] * 5,
        }
    )
    series = read_mixed(frame, {"state": "categorical", "speed": "gaussian"})
    assert series.lengths.tolist() == [3, 2]
    assert series.names == ("state", "speed")
    assert series.categories == (("x", "y"), None)
    expected = [[np.nan, 1], [1, 2], [0, 3], [0, np.nan], [1, 20]]
    assert np.array_equal(series.values, expected, equal_nan=True)
    for other in (frame.to_pandas(), frame.to_arrow(), frame.to_dict(as_series=False)):
        again = read_mixed(other, {"state": "categorical", "speed": "gaussian"})
        assert np.array_equal(again.values, series.values, equal_nan=True)
    named = frame.rename({"id": "who", "time": "when"})
    roles = {"who": "sequence", "when": "time", "state": "categorical", "speed": "gaussian"}
    assert np.array_equal(read_mixed(named, roles).values, series.values, equal_nan=True)
    single = read_mixed(frame.drop("id"), {"speed": "gaussian"})
    assert single.single
    assert single.lengths.tolist() == [5]
    assert read_mixed(frame.drop("id", "time"), {"speed": "gaussian"}, [2, 3]).joined


def emitted(rows, time, state):
    """P(what is there of the row | state)."""
    code = rows["state"][time]
    value = 1.0 if code is None else EMIT[state, ("bike", "car", 3).index(code)]
    if rows["clicks"][time] is not None:
        value *= poisson.pmf(rows["clicks"][time], RATES[state])
    cells = [rows["speed"][time], rows["slope"][time]]
    there = [place for place, cell in enumerate(cells) if cell is not None]
    if there:
        known = np.array([cells[place] for place in there])
        spread = SPREADS[state][np.ix_(there, there)]
        value *= multivariate_normal.pdf(known, MEANS[state][there], spread)
    return value


def posteriors(rows, n):
    """P(rows), and (time, state) P(state | rows), of the first n rows, from all paths."""
    joint = np.zeros((n, 2))
    for path in product(range(2), repeat=n):
        weight = CHAIN.initial[path[0]] * np.prod(
            [CHAIN.transitions[pair] for pair in pairwise(path)]
        )
        weight *= np.prod([emitted(rows, time, state) for time, state in enumerate(path)])
        joint[np.arange(n), path] += weight
    return joint[0].sum(), joint / joint[0].sum()


def some_rows(gap):
    rows = {name: column[:4] for name, column in drawn(1)[0].items()}
    if gap:
        rows["state"][1], rows["speed"][2], rows["clicks"][1] = None, None, None
        rows["speed"][1] = rows["slope"][1] = rows["state"][3] = None
    return rows


@pytest.mark.parametrize("gap", [False, True])
def test_answers_are_those_of_enumeration(gap):
    rows, model = some_rows(gap), made()
    likelihood, posterior = posteriors(rows, 4)
    assert model.score_samples([rows])[0] == pytest.approx(np.log(likelihood))
    assert model.posterior(rows) == pytest.approx(posterior)
    ahead = posterior[3] @ CHAIN.transitions
    assert model.predict_next_proba(rows) == pytest.approx(ahead @ EMIT)
    expected = model.expectation(rows)
    assert np.isnan(expected[0])
    assert expected[[1, 3]] == pytest.approx(ahead @ MEANS)
    assert expected[2] == pytest.approx(ahead @ RATES)
    quantiles = model.quantiles(rows)
    assert quantiles.shape == (4, 3)
    assert np.isnan(quantiles[0]).all()
    grid, density = model.predict_next_density(rows, np.arange(40), target="clicks")
    assert density == pytest.approx(ahead @ poisson.pmf(grid, RATES[:, None]))


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("form", [dict, tuple, np.array])
def test_rows_are_filtered_one_at_a_time(gap, form):
    rows, model = some_rows(gap), made()
    online, before = model.filter(), 0.0
    for time in range(4):
        cells = {name: column[time] for name, column in rows.items()}
        if form is dict:
            state = online.update(cells | {"time": time})
        else:
            values = list(cells.values())
            state = online.update(tuple(values) if form is tuple else np.array(values, object))
        likelihood, posterior = posteriors(rows, time + 1)
        assert state == pytest.approx(posterior[-1], abs=1e-12)
        assert online.last_log_likelihood == pytest.approx(np.log(likelihood) - before)
        before = np.log(likelihood)
    for steps in (1, 3):
        assert online.predict_next_proba(steps) == pytest.approx(
            model.predict_next_proba(rows, steps=steps)
        )
        for own, whole in (
            (online.expectation(steps), model.expectation(rows, steps=steps)),
            (online.quantiles(0.9, steps), model.quantiles(rows, 0.9, steps=steps)),
        ):
            assert own == pytest.approx(whole, nan_ok=True)
    twin = online.copy()
    twin.update(None)
    assert twin.state == pytest.approx(online.next_states())
    assert online.n_updates == 4


def test_rows_that_the_model_does_not_know_are_refused_and_change_nothing():
    online = made().filter()
    row = {"state": "car", "speed": 1.0, "clicks": 3, "slope": 0.5}
    state = online.update(row)
    wrong = [
        (CategoryError, "'tram'", row | {"state": "tram"}),
        (DataError, "no count", row | {"clicks": 0.5}),
        (DataError, "no count", row | {"clicks": -1, "speed": None}),
        (DataError, "does not hold numbers", row | {"speed": "fast"}),
        (TacitError, "inf", row | {"speed": np.inf}),
        (ColumnError, "slope", {"state": "car", "speed": 1.0, "clicks": 3}),
        (DataError, "in this order", ("car", 1.0)),
        (DataError, "in this order", "cars"),
        (DataError, "in this order", 1.0),
    ]
    for error, message, x in wrong:
        with pytest.raises(error, match=message):
            online.update(x)
    assert online.state is state
    assert online.n_updates == 1
    lenient = made().set_params(unknown="missing").filter()
    assert lenient.update(row | {"state": "tram"}) == pytest.approx(
        made().filter().update(row | {"state": None})
    )
    # far from both states: the likelihoods of the columns pull apart beyond what floats hold
    far = {"state": None, "speed": -60.0, "clicks": 2000, "slope": 2.0}
    whole = {name: [cell] for name, cell in far.items()}
    assert made().filter().update(far) == pytest.approx(made().filter(whole)[0])


def test_gaps_are_filled_by_means_and_likeliest_categories():
    rows, model = some_rows(gap=True), made()
    _, posterior = posteriors(rows, 4)
    (filled,) = model.impute([rows])
    for name, column in rows.items():
        for time, cell in enumerate(column):
            if cell is not None:
                assert filled[name][time] == cell
    for time in (1, 3):
        likeliest = int((posterior[time] @ EMIT).argmax())
        assert filled["state"][time] == ("bike", "car", 3)[likeliest]
    assert filled["clicks"][1] == pytest.approx(posterior[1] @ RATES)
    assert filled["slope"][1] == pytest.approx(posterior[1] @ MEANS[:, 1])
    away = rows["slope"][2] - MEANS[:, 1]
    given = MEANS[:, 0] + SPREADS[:, 0, 1] / SPREADS[:, 1, 1] * away
    assert filled["speed"][2] == pytest.approx(posterior[2] @ given)
    assert model.impute(rows) == filled
    joined = {name: column * 2 for name, column in rows.items()}
    whole = model.impute(joined, lengths=[4, 4])
    assert whole["clicks"] == pytest.approx(filled["clicks"] * 2)
    assert whole["state"] == filled["state"] * 2
    assert model.can("impute")


def test_samples_are_frames_that_are_learnt_from(tmp_path):
    data = drawn(80)
    for table in data[:20]:
        table["speed"][3] = None
        table["state"][5] = None
    model = tacit.HMM(2, emissions=KINDS).fit(data)
    assert model.score(data) >= made().score(data) - 0.01 * 20
    emitted = model.columns_
    order = np.argsort(emitted["speed"]["means_"])
    assert emitted["state"]["categories_"] == (3, "bike", "car")
    assert emitted["state"]["emissions_"][order] == pytest.approx(EMIT[:, [2, 0, 1]], abs=0.08)
    assert emitted["clicks"]["rates_"][order, 0] == pytest.approx(RATES, rel=0.1)
    assert model.n_parameters_ == 3 + 4 + 2 + 10
    assert model.bic(data) > model.aic(data)
    assert "clicks" in str(model.summary())
    assert "bike" in str(model.summary())
    model.save(tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    assert loaded.emissions == KINDS
    assert np.array_equal(loaded.score_samples(data), model.score_samples(data))
    assert loaded.sample(2, 5, random_state=0) == model.sample(2, 5, random_state=0)
    continued = model.sample(3, 2, given=data[0], random_state=0)
    assert list(continued[0]) == list(KINDS)
    halves = tacit.HMM(2, emissions=KINDS).partial_fit(data[:40]).partial_fit(data[40:])
    assert halves.score(data) == pytest.approx(model.score(data), rel=1e-9)


def test_fitted_models_read_sequences_and_times_by_the_columns_that_were_named(tmp_path):
    rng = np.random.default_rng(0)
    frame = {"state": list("ab" * 20), "speed": rng.normal(size=40)}
    kinds = {"state": "categorical", "speed": "gaussian"}
    shuffled = rng.permutation(40)
    named = frame | {"who": np.repeat([0, 1], 20), "when": np.tile(np.arange(20), 2)}
    named = {name: np.asarray(column)[shuffled] for name, column in named.items()}
    model = tacit.HMM(2, emissions={"who": "sequence", "when": "time", **kinds}, max_iter=5)
    model.fit(named)
    model.save(tmp_path / "m.tacit")
    first = int(named["who"][0])
    rows = [slice(0, 20), slice(20, 40)][:: 1 if first == 0 else -1]
    parts = [{name: column[part] for name, column in frame.items()} for part in rows]
    for other in (model, tacit.load(tmp_path / "m.tacit")):
        assert other.score_samples(named) == pytest.approx(other.score_samples(parts), rel=1e-12)
        assert np.isfinite(other.score(other.sample(2, 3, given=parts[0], random_state=0)))
    halves = tacit.HMM(2, emissions=model.emissions, max_iter=5).partial_fit(named)
    assert halves.partial_fit(named).diagnostics_["n_sequences"] == 4


def test_shapes_known_states_and_selection_go_with_columns_of_several_kinds():
    data = drawn(40)
    known = [[0 if speed < 1.0 else -1 for speed in table["speed"]] for table in data]
    model = tacit.HMM(3, emissions=KINDS, transitions="cyclic").fit(data, states=known)
    assert model.transitions_[0, 2] == 0
    assert tacit.HMM(emissions=KINDS).fit(data).n_states_ == 2
    named = {name: "gaussian-mixture" if name == "speed" else kind for name, kind in KINDS.items()}
    others = tacit.HMM(2, emissions=named, n_components=2, covariance="diagonal").fit(data)
    assert others.columns_["speed"]["weights_"].shape == (2, 2)


def test_what_is_no_table_of_these_columns_is_refused():
    data = drawn(4, 6)
    model = tacit.HMM(2, emissions=KINDS).fit(data)
    with pytest.raises(CategoryError, match="'tram'"):
        model.score([data[0] | {"state": ["tram"] * 6}])
    lenient = tacit.HMM(2, emissions=KINDS, unknown="missing").fit(data)
    lenient.score([data[0] | {"state": ["tram"] * 6}])
    with pytest.raises(ColumnError, match="clicks"):
        model.score([{name: data[0][name] for name in ("state", "speed", "slope")}])
    with pytest.raises(DataError, match="no count"):
        model.score([data[0] | {"clicks": [0.5] * 6}])
    with pytest.raises(DataError, match="does not hold numbers"):
        model.score([data[0] | {"speed": ["fast"] * 6}])
    with pytest.raises(ArgumentError, match="emissions"):
        tacit.HMM(2, emissions={"state": "colours"}).fit(data)
    with pytest.raises(ArgumentError, match="no column"):
        tacit.HMM(2, emissions={"id": "sequence"}).fit(data)
    with pytest.raises(ArgumentError, match="target"):
        model.predict_next_proba(data, target="speed")
    numbers = tacit.HMM(2, emissions={"speed": "gaussian"}).fit(data)
    with pytest.raises(NotAvailableError, match="no column"):
        numbers.predict_next_proba(data)
    symbols = tacit.HMM(1).fit([list("ab")])
    with pytest.raises(ArgumentError, match="several kinds"):
        symbols.predict_next_proba([list("a")], target="x")


def test_attributes_of_a_column_are_those_of_all_components():
    rng = np.random.default_rng(0)
    rows = {"a": rng.normal(size=80), "b": 50 + rng.normal(size=80)}
    kinds = dict.fromkeys(rows, "gaussian-mixture")
    model = tacit.HMM(2, emissions=kinds, n_components=2).fit(rows)
    (part,) = model.parameters_.density.parts
    for place, name in enumerate(rows):
        column = model.columns_[name]
        assert np.array_equal(column["weights_"], part.weights)
        assert np.array_equal(column["means_"], part.attributes["means_"][..., place])
        assert abs(column["means_"] - 50 * place).max() < 10


def test_an_impossible_row_has_probability_zero_whatever_the_question():
    parts = tuple(CategoricalDensity(np.eye(2), tuple(names)) for names in ("xy", "uv"))
    density = MixedDensity(parts, (np.array([0]), np.array([1])), ("a", "b"))
    model = tacit.HMM(2, emissions={"a": "categorical", "b": "categorical"})
    model.parameters_ = EmissionChain(np.full(2, 0.5), np.full((2, 2), 0.5), density)
    model.symbols_, model.names_, model.diagnostics_ = (), ("a", "b"), {}
    rows = {"a": ["x", "x"], "b": ["u", "v"]}
    assert model.score(rows) == -np.inf
    assert model.predict(rows, return_log_probs=True)[1] == -np.inf
    assert model.score_steps(rows).tolist() == [np.log(0.5), -np.inf]
    assert not model.posterior(rows).any()


@pytest.mark.parametrize("lengths", [[1.5, 58.5], [[30], [30]], "ab", [30, "30"], [30, 31]])
def test_lengths_of_rows_are_checked(lengths):
    rows = {"speed": [1.0, 2.0, 4.0] * 20}
    with pytest.raises(DataError, match=r"give (the length|lengths)"):
        read_mixed(rows, {"speed": "gaussian"}, lengths)


def test_a_frame_of_a_list_is_one_sequence():
    rows = {"speed": [1.0, 2.0, 4.0, 5.0], "id": [1, 2, 1, 2]}
    assert read_mixed([rows], {"speed": "gaussian"}).lengths.tolist() == [2, 2]
    with pytest.raises(DataError, match="frame 1 of the list holds 2 sequences; give one frame"):
        read_mixed([rows | {"id": [1] * 4}, rows], {"speed": "gaussian"})


def test_times_that_are_text_are_to_be_parsed():
    rows = {"speed": [1.0, 2.0], "time": ["2020-01-02", "2020-01-01"]}
    with pytest.raises(
        DataError, match=r"column 'time' holds times that are neither .* parse them"
    ):
        read_mixed(rows, {"speed": "gaussian"})


def test_numbers_whose_squares_vanish_are_refused_as_those_of_one_kind_are():
    rows = {"speed": [1e-200, 2e-200] * 10, "state": list("xy") * 10}
    with pytest.raises(DataError, match="column 'speed' holds no number larger than 2e-200"):
        tacit.HMM(2, emissions={"speed": "gaussian", "state": "categorical"}).fit(rows)


@pytest.mark.parametrize("has_ids", [True, False])
def test_known_states_belong_to_the_rows_of_a_frame_in_whatever_order(has_ids):
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(2, size=60), 5)
    frame = {"time": np.tile(np.arange(30), 10), "speed": rng.normal(5.0 * states)}
    if has_ids:
        frame = {"id": np.repeat(np.arange(10), 30), **frame}
    else:
        frame["time"] = np.arange(300)
    known = np.where(rng.random(300) < 0.5, states, -1)
    order = rng.permutation(300)
    shuffled = {name: column[order] for name, column in frame.items()}
    models = [
        tacit.HMM(2, emissions={"speed": "gaussian"}).fit(table, states=given)
        for table, given in ((frame, known), (shuffled, known[order]))
    ]
    for model in models:
        assert model.columns_["speed"]["means_"][:, 0] == pytest.approx([0, 5], abs=0.3)
    means = [model.columns_["speed"]["means_"] for model in models]
    assert means[0] == pytest.approx(means[1], abs=1e-6)
    if has_ids:  # by sequence, each in the order of its rows
        owners = shuffled["id"]
        parts = [known[order][owners == owner] for owner in dict.fromkeys(owners.tolist())]
        again = tacit.HMM(2, emissions={"speed": "gaussian"}).fit(shuffled, states=parts)
        assert again.columns_["speed"]["means_"] == pytest.approx(means[1], abs=1e-12)
