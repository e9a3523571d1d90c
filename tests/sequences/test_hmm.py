"""Hidden Markov models learnt from sequences, in every way."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from oracles.letters import letters
from tacit.errors import (
    ArgumentError,
    CategoryError,
    DataError,
    NegativeProbabilityError,
    RankError,
)
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.hmm import HMM
from tacit.sequences.learn.selection import left_out
from tacit.sequences.learn.symbol_stream import MOST_POSITIONS, Sample
from tacit.sequences.model.chains import ChainTables
from tacit.toy.chains import HmmModel, repeating_process

TRANSITIONS = np.array([[0.85, 0.1, 0.05], [0.05, 0.8, 0.15], [0.15, 0.1, 0.75]])
EMIT = np.array(
    [
        [0.7, 0.2, 0.05, 0.05, 0.0],
        [0.05, 0.1, 0.7, 0.1, 0.05],
        [0.0, 0.05, 0.05, 0.3, 0.6],
    ]
)
TRUTH = HmmModel(ChainTables(np.array([0.6, 0.3, 0.1]), TRANSITIONS, (EMIT,)), tuple("abcde"))
TRAIN = TRUTH.sample(2000, 12, random_state=0)
TEST = TRUTH.sample(1000, 12, random_state=1)
BEST = float(TRUTH.log_prob(TEST).mean())
LEARNERS = ("auto", "spectral", "tensor", "em", "online-em")


@pytest.fixture(scope="module", params=LEARNERS)
def model(request):
    return HMM(3, request.param, n_restarts=3).fit(TRAIN)


def test_it_comes_close_to_the_truth(model):
    assert BEST - 0.25 < model.score(TEST) < BEST + 0.05  # of about 15 nats for each sequence
    assert model.symbols_ == tuple("abcde")
    assert model.n_states_ == 3
    assert model.diagnostics_["n_sequences"] == 2000
    assert model.diagnostics_["n_positions"] == 24_000
    assert model.n_iter_ >= 1


def test_predictions_are_proper_and_fit_the_scores(model):
    texts = ["", "a", "eeda", "abcab"]
    predictions = model.predict_next_proba(letters(texts), all_positions=True)
    logs = model.score_samples(letters(texts))
    for text, rows, value in zip(texts, predictions, logs, strict=True):
        assert rows.sum(axis=1) == pytest.approx(np.ones(len(text)))
        codes = ["abcde".index(symbol) for symbol in text]
        assert value == pytest.approx(np.log(rows[np.arange(len(text)), codes]).sum())
    assert model.predict_next_proba(letters(texts)).sum(axis=1) == pytest.approx(np.ones(4))


def test_the_same_seed_gives_the_same_model(model):
    again = clone(model).fit(TRAIN)
    assert np.array_equal(again.score_samples(TEST), model.score_samples(TEST))


@pytest.mark.parametrize("learn", ["auto", "tensor", "em", "online-em"])
def test_states_come_in_order_of_how_often_they_are_visited(learn):
    model = HMM(3, learn, n_restarts=1).fit(TRAIN)
    visits = model.parameters_.stationary
    assert (np.diff(visits) <= 1e-12).all()
    assert model.initial_.sum() == pytest.approx(1)
    assert model.transitions_.sum(axis=1) == pytest.approx(np.ones(3))
    assert model.emissions_.sum(axis=1) == pytest.approx(np.ones(3))
    assert model.diagnostics_["unvisited_states"] == []


def test_recovered_tables_are_the_true_ones():
    model = HMM(3, "auto").fit(TRUTH.sample(20_000, 12, random_state=2))
    order = np.argsort(-TRUTH.tables.stationary)
    assert model.emissions_ == pytest.approx(EMIT[order], abs=0.03)
    assert model.transitions_ == pytest.approx(TRANSITIONS[np.ix_(order, order)], abs=0.03)


def test_a_stationary_start_is_that_of_the_moves():
    for learn in ("auto", "em", "tensor", "online-em"):
        model = HMM(2, learn, stationary=True, n_restarts=1).fit(TRAIN)
        assert model.initial_ @ model.transitions_ == pytest.approx(model.initial_, abs=1e-6)
    model.partial_fit(TRAIN)
    assert model.initial_ @ model.transitions_ == pytest.approx(model.initial_, abs=1e-6)
    model = HMM(2, "spectral", stationary=True).fit(TRAIN)
    now, later = (model.predict_next_proba(letters([""]), steps=steps) for steps in (1, 9))
    assert now == pytest.approx(later, abs=1e-6)


def test_diagnostics_of_each_learner():
    diagnostics = HMM(3, "spectral").fit(TRAIN).diagnostics_
    assert len(diagnostics["singular_values"]) >= 3
    assert diagnostics["n_supported"] == 3
    assert diagnostics["held_out_repairs"]["n_answers"] == 400 * 12
    assert diagnostics["fallback"] in {
        row["fallback"] for row in diagnostics["candidates_fallback"]
    }
    diagnostics = HMM(3, "auto").fit(TRAIN).diagnostics_
    assert diagnostics["n_supported"] == 3
    assert (
        diagnostics["singular_values"][2] > diagnostics["noise"] > diagnostics["singular_values"][3]
    )
    assert diagnostics["n_steps"] > 1
    assert diagnostics["converged"]
    diagnostics = HMM(3, "em", n_restarts=2).fit(TRAIN).diagnostics_
    assert len(diagnostics["objectives"]) == 2


# -- streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", ["auto", "spectral", "tensor", "em"])
def test_chunks_of_any_sizes_give_the_same_model(learn):
    one_chunk = HMM(3, learn, n_restarts=1).partial_fit(TRAIN)
    parts = HMM(3, learn, n_restarts=1)
    for cut in (slice(0, 700), slice(700, 701), slice(701, 2000)):
        parts.partial_fit(TRAIN.take(np.arange(2000)[cut]), symbols=tuple("abcde"))
    assert np.array_equal(parts.score_samples(TEST), one_chunk.score_samples(TEST))
    assert parts.diagnostics_["n_sequences"] == 2000
    at_once = HMM(3, learn, n_restarts=1).fit(TRAIN)
    assert at_once.score_samples(TEST) == pytest.approx(one_chunk.score_samples(TEST))


def test_more_data_may_follow_a_fit():
    half = TRAIN.take(np.arange(1000)), TRAIN.take(np.arange(1000, 2000))
    model = HMM(3, "tensor").fit(half[0]).partial_fit(half[1])
    assert np.array_equal(
        model.score_samples(TEST), HMM(3, "tensor").fit(TRAIN).score_samples(TEST)
    )


def test_stepwise_em_goes_on_with_each_chunk():
    model = HMM(3, "online-em")
    scores = [
        model.partial_fit(TRUTH.sample(1000, 12, random_state=seed)).score(TEST)
        for seed in range(10, 16)
    ]
    assert scores[-1] > BEST - 0.2
    assert scores[-1] > scores[0] - 0.02
    assert model.diagnostics_["n_sequences"] == 6000


def test_later_chunks_know_the_symbols_of_the_first():
    model = HMM(2, "tensor").partial_fit(letters(["abab", "aabb", "abba"]))
    with pytest.raises(CategoryError, match="'c'"):
        model.partial_fit(letters(["abc"]))
    lenient = HMM(2, "tensor", unknown="missing").partial_fit(letters(["abab", "aabb", "abba"]))
    assert lenient.partial_fit(letters(["abcab"])).symbols_ == ("a", "b")
    model = (
        HMM(2, "auto")
        .partial_fit(letters(["abab", "aabb"]), symbols="abc")
        .partial_fit(letters(["cab"]))
    )
    assert model.symbols_ == ("a", "b", "c")


def test_the_sequences_kept_do_not_depend_on_the_chunks():
    lengths = np.full(3000, 700)
    codes = np.arange(3000 * 700, dtype=np.int32) % 7
    stream = Sequences(codes, lengths, tuple(range(7)))
    at_once = Sample.of(stream, 3)
    parts = Sample.of(stream.take(np.arange(1800)), 3).joined(stream.take(np.arange(1800, 3000)))
    assert at_once.sequences.n_positions <= MOST_POSITIONS
    assert at_once.sequences.n_positions > MOST_POSITIONS - 700
    assert np.array_equal(at_once.places, parts.places)
    assert np.array_equal(at_once.sequences.codes, parts.sequences.codes)
    assert parts.n_seen == 3000
    assert abs(at_once.places.mean() - 1500) < 150  # from all over the stream
    assert not np.array_equal(Sample.of(stream, 4).places, at_once.places)


# -- choosing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", ["auto", "tensor", "spectral"])
def test_the_number_of_states_is_chosen_by_what_is_left_out(learn):
    model = HMM("auto", learn).fit(TRAIN)
    table = model.diagnostics_["candidates"]
    assert [row["n_states"] for row in table][:3] == [1, 2, 3]
    assert 2 <= model.n_states_ <= 4
    assert model.score(TEST) > BEST - 0.25
    by_others = HMM("auto", learn).fit(TRAIN, validation=TEST)
    assert 2 <= by_others.n_states_ <= 4


def test_symbols_without_any_order_need_one_state():
    rng = np.random.default_rng(5)
    model = HMM().fit(rng.integers(0, 4, (300, 10)))
    assert model.n_states_ == 1
    assert model.score_samples(rng.integers(0, 4, (5, 10))) == pytest.approx(
        10 * np.log(0.25), abs=0.5
    )


@pytest.mark.parametrize("learn", ["auto", "tensor", "spectral"])
def test_too_little_to_choose_by_is_one_state(learn):
    for texts in (["aaa", "a"], ["abab"] * 4):
        model = HMM("auto", learn).fit(letters(texts))
        assert model.n_states_ == 1
        assert np.isfinite(model.score(letters(texts)))
    with pytest.raises(DataError, match="three"):
        HMM("auto", "spectral").fit(letters(["ab", "b"]))


@pytest.mark.parametrize("lengths", [[100], [1000], [3, 500], [7] * 50, [1] * 30, [1]])
def test_what_is_left_out_is_not_learnt_from(lengths):
    ends = np.concatenate([[0], np.cumsum(lengths)])
    training, held_out = left_out(ends, 0)
    assert len(held_out.lengths) > 0
    if len(training.lengths) + len(held_out.lengths) > 1 and ends[-1] > 1:
        together = np.concatenate([training.positions, held_out.positions])
        assert sorted(together.tolist()) == list(range(ends[-1]))
        assert len(held_out.positions) < 0.5 * ends[-1] + 1


# -- more states than symbols ---------------------------------------------------------------------


def test_longer_pasts_and_futures_see_more_states_than_symbols():
    """AAXAAX... or AAYAAY...: six states of three symbols, which triples cannot tell apart."""
    process = repeating_process(2, stationary=True)
    train, test = (process.sample(300, 12, random_state=seed) for seed in (0, 1))
    best = float(process.log_prob(test).mean())
    with pytest.raises(RankError, match=r"at most 3 states.*features"):
        HMM(6, "spectral").fit(train)
    plain = HMM(2, "spectral").fit(train)
    model = HMM(6, "spectral", features=3).fit(train)
    assert model.score(test) == pytest.approx(best, abs=0.1)
    assert plain.score(test) < best - 1
    assert model.predict_next_proba(letters(["AAXAA"]))[0] == pytest.approx([0, 1, 0], abs=0.02)
    assert model.predict_next_proba(letters(["AAYAAYA"]))[0] == pytest.approx([1, 0, 0], abs=0.02)
    chosen = HMM("auto", "spectral", features=3).fit(train)
    assert chosen.n_states_ == 6
    parts = HMM(6, "spectral", features=3)
    for cut in (slice(0, 50), slice(50, 300)):
        parts.partial_fit(train.take(np.arange(300)[cut]))
    assert np.array_equal(parts.score_samples(test), model.score_samples(test))
    with pytest.raises(DataError, match="features=6"):
        HMM(6, "spectral", features=6).fit(train)
    with pytest.raises(RankError, match="at most 7"):
        HMM(8, "spectral", features=3).fit(train)


@pytest.mark.parametrize("learn", ["tensor", "auto"])
def test_longer_pasts_and_futures_recover_hidden_states(learn):
    process = repeating_process(2)
    train, test = (process.sample(500, 24, random_state=seed) for seed in (0, 1))
    best = float(process.log_prob(test).mean())
    model = HMM(6, learn, features=3).fit(train)
    assert model.score(test) > best - 0.1
    assert model.predict_next_proba(letters(["AAXAA"]))[0] == pytest.approx([0, 1, 0], abs=0.02)
    assert "longer 1" in model.diagnostics_["starts"]
    parts = HMM(6, learn, features=3)
    for cut in (slice(0, 50), slice(50, 500)):
        parts.partial_fit(train.take(np.arange(500)[cut]))
    assert parts.score(test) == pytest.approx(model.score(test), abs=1e-9)
    if learn == "auto":
        assert "longer 1" not in HMM(6, features=1).fit(train).diagnostics_["starts"]
        by_itself = HMM(6).fit(train)
        assert by_itself.score(test) == model.score(test)
        assert by_itself.diagnostics_["features"] == 3
        assert HMM(3).fit(train).diagnostics_["features"] == 1
        assert HMM().fit(train).n_states_ == 6
    else:
        with pytest.raises(RankError, match=r"at most 3 states.*features"):
            HMM(6, learn).fit(train)
        with pytest.raises(RankError, match="at most 7"):
            HMM(8, learn, features=3).fit(train)
        with pytest.raises(RankError, match="larger features"):
            HMM(7, learn, features=3).fit(train)
        with pytest.raises(DataError, match="features=12"):
            HMM(6, learn, features=12).fit(train)


@pytest.mark.parametrize("learn", ["tensor", "auto"])
def test_fewer_states_than_symbols_may_look_further_too(learn):
    model = HMM(3, learn, features=2).fit(TRAIN)
    assert BEST - 0.25 < model.score(TEST) < BEST + 0.05


def test_short_sequences_of_more_states_than_symbols_are_learnt_as_before():
    model = HMM(6).fit(letters(["abab", "abba", "bbab"] * 5))
    assert model.diagnostics_["features"] == 1
    assert np.isfinite(model.score(letters(["ab"])))


# -- what is impossible ---------------------------------------------------------------------------


def by_enumeration(model, text):
    """The probability of a text, summed over all paths of states."""
    codes, k = [model.symbols_.index(symbol) for symbol in text], model.n_states_
    total = 0.0
    for path in np.ndindex((k,) * len(codes)):
        value = model.initial_[path[0]] * model.emissions_[path[0], codes[0]]
        for before, now, code in zip(path, path[1:], codes[1:], strict=False):
            value *= model.transitions_[before, now] * model.emissions_[now, code]
        total += value
    return total


@pytest.mark.parametrize("learn", ["auto", "tensor", "em", "online-em"])
def test_only_what_has_probability_zero_is_minus_infinity(learn):
    """Without pseudo-counts: a symbol that never came, moves that never came, states never visited."""
    model = HMM(2, learn, pseudo_counts=0.0, n_restarts=2)
    model.partial_fit(letters(["aabb", "aaab", "abbb", "aabbb"] * 5), symbols="abc")
    texts = ["a", "b", "c", "ab", "ba", "aab", "abab", "acb"]
    truth = np.array([by_enumeration(model, text) for text in texts])
    with np.errstate(divide="ignore"):
        assert model.score_samples(letters(texts)) == pytest.approx(np.log(truth), abs=1e-9)
    assert np.isneginf(model.score_samples(letters(["c", "acb"]))).all()
    assert np.isfinite(model.score_samples(letters(["aabb", "abbb"]))).all()
    with_prior = HMM(2, learn).partial_fit(letters(["aabb", "aaab", "abbb"] * 5), symbols="abc")
    assert np.isfinite(with_prior.score_samples(letters([*texts, "cccc"]))).all()


def test_a_sequence_that_operators_learnt_from_is_possible():
    texts = ["aaaa", "bbbbbb", "cccc", "dddddd", "aaa"] * 3  # never two symbols in one
    model = HMM(3, "spectral").fit(letters(texts))
    assert np.isfinite(model.score_samples(letters(texts))).all()
    assert model.diagnostics_["fallback"] > 0
    declared = HMM(2, "spectral").partial_fit(letters(["abab", "aabb"] * 5), symbols="abc")
    assert np.isfinite(declared.score_samples(letters(["abc"]))).all()


def test_estimates_that_are_not_positive_are_floored_nan_or_raised():
    texts = TRAIN.take(np.arange(30))
    strange = ["".join(symbols) for symbols in product("abcde", repeat=3)]
    floor, nan, strict = (
        HMM(3, "spectral", negative=negative).fit(texts) for negative in ("floor", "nan", "raise")
    )
    proper, values = floor.score_samples(letters(strange)), nan.score_samples(letters(strange))
    is_nan = np.isnan(values)
    assert is_nan.any()
    assert not is_nan.all()
    assert np.isfinite(proper).all()
    assert np.array_equal(values[~is_nan], proper[~is_nan])
    for model in (floor, nan):
        _, repairs = model.score_samples(letters(strange), return_repairs=True)
        assert repairs["n_sequences_not_positive"] == is_nan.sum()
    with pytest.raises(NegativeProbabilityError, match=f"{is_nan.sum()} of 125 sequences"):
        strict.score_samples(letters(strange))
    possible = [list(text) for text, bad in zip(strange, is_nan, strict=True) if not bad]
    assert np.array_equal(strict.score_samples(possible), proper[~is_nan])
    strict.set_params(negative="ignore")
    with pytest.raises(ArgumentError, match="negative"):
        strict.score_samples(possible)


# -- what is given --------------------------------------------------------------------------------


def test_sequences_come_in_many_forms():
    texts = ["abca", "cab", "", "b", "acb", "bcab", "abcab"] * 5
    expected = HMM(2).fit(letters(texts)).score_samples(letters(["abc"]))
    flat = [symbol for text in texts for symbol in text]
    lengths = [len(text) for text in texts]
    for model in (
        HMM(2).fit([list(text) for text in texts]),
        HMM(2).fit((np.array(flat), lengths)),
        HMM(2).fit(np.array(flat), lengths=lengths),
        HMM(2).fit(np.array(flat, dtype=object)[:, None], lengths),
    ):
        assert model.score_samples(letters(["abc"])) == pytest.approx(expected)


def test_missing_symbols_and_short_sequences_are_learnt_from():
    texts = [
        ["a", "a", "a", None, "b", "b"],
        [None],
        [],
        ["a"],
        ["b", "b", None, "b", "b", "b"],
    ] * 20
    for learn in LEARNERS:
        model = HMM(2, learn).fit(letters(texts))
        assert np.isfinite(model.score_samples(letters(texts))).all()
        assert model.score_samples([[None, None]]) == pytest.approx([0.0], abs=1e-9)
    floats = np.array([[0, 1, np.nan], [1, np.nan, 0]] * 20)
    with_nan = HMM(2, emissions="categorical").fit(floats)
    assert with_nan.symbols_ == (0, 1)
    for texts in (["ab", "ba", "aa"] * 10, ["a", "b"] * 10, [["a", None, "b"]] * 10):
        assert np.isfinite(HMM(2).fit(letters(texts)).score(letters(texts)))
        with pytest.raises(DataError, match="three"):
            HMM(2, "tensor").fit(letters(texts))


def test_bad_input_is_refused_with_what_to_do():
    with pytest.raises(DataError, match="no sequence"):
        HMM(2).fit([])
    with pytest.raises(DataError, match="no symbol"):
        HMM(2).fit([[], []])
    with pytest.raises(DataError, match="no symbol"):
        HMM(2, emissions="categorical").fit(np.full((3, 4), np.nan))
    with pytest.raises(DataError, match="lengths sum to 4"):
        HMM(2).fit(np.zeros(5, dtype=int), lengths=[2, 2])
    with pytest.raises(ArgumentError, match="sum to the 5 positions"):
        HMM(2).fit(np.zeros((5, 1), dtype=int), [2, 2])
    with pytest.raises(DataError, match=r"at least zero, .* not \[7, -2\]"):
        HMM(2).fit(np.zeros(5, dtype=int), lengths=[7, -2])
    with pytest.raises(DataError, match="holds inf"):
        HMM(2, emissions="categorical").fit([[1.0, np.inf]])
    for learn in LEARNERS:
        with pytest.raises(RankError, match="one symbol only"):
            HMM(2, learn).fit(letters(["aaaa", "aaa"]))
        assert HMM(1, learn).fit(letters(["aaaa", "aaa"])).score(letters(["aa"])) == pytest.approx(
            0, abs=1e-9
        )
    assert HMM().fit(letters(["aaaa", "aaa"])).n_states_ == 1
    for learn in ("spectral", "tensor"):
        with pytest.raises(RankError, match=r"n_states=3 .* at most 2"):
            HMM(3, learn).fit(letters(["abab", "abba", "bbab"]))
    assert HMM(3, "auto").fit(letters(["abab", "abba", "bbab"])).n_states_ == 3


def test_bad_arguments_are_refused():
    for wrong in (
        {"n_states": 0},
        {"n_states": "many"},
        {"learn": "spectra"},
        {"emissions": "bernoulli"},
        {"covariance": "banded"},
        {"features": 0},
        {"features": "many"},
        {"negative": "ignore"},
        {"pseudo_counts": -1},
        {"tol": 0},
        {"max_iter": 0},
        {"unknown": "ignore"},
        {"n_restarts": 0},
    ):
        with pytest.raises(ArgumentError):
            HMM(**wrong).fit(letters(["abab", "abba", "bbab"]))
    for learn in ("spectral", "online-em"):
        with pytest.raises(ArgumentError, match=r"with emissions=.gaussian"):
            HMM(2, learn).fit(np.zeros((10, 1)))


def test_states_that_are_never_visited_are_reported_and_break_nothing():
    model = HMM(6, "em", n_restarts=1, pseudo_counts=0.0).fit(letters(["ab" * 10] * 5))
    assert np.isfinite(model.score(letters(["abab"])))
    assert model.transitions_.sum(axis=1) == pytest.approx(np.ones(6))
    unvisited = model.diagnostics_["unvisited_states"]
    visits = 100 * model.parameters_.stationary
    assert 0 < len(unvisited) < 6
    assert set(unvisited) == set(np.flatnonzero(visits < 1).tolist())
    assert (
        HMM(2, "em", n_restarts=1).fit(letters(["ab" * 10] * 5)).diagnostics_["unvisited_states"]
        == []
    )


def test_progress_is_reported():
    reports = []
    HMM("auto", progress=lambda fraction, text: reports.append((fraction, text))).fit(
        TRAIN.take(np.arange(200))
    )
    assert reports
    assert all(0 <= fraction <= 1 for fraction, _ in reports)
    assert any("states" in text for _, text in reports)


# -- numbers --------------------------------------------------------------------------------------


NORMAL_TRANSITIONS = np.array([[0.9, 0.05, 0.05], [0.1, 0.85, 0.05], [0.1, 0.1, 0.8]])
MEANS, SPREADS = np.array([100.0, 100.0, 140.0]), np.array([3.0, 20.0, 5.0])


def numbers(n=400, seed=0, n_columns=2):
    """Two states with the same mean and different spreads, one apart."""
    rng = np.random.default_rng(seed)
    states = np.zeros((n, 10), dtype=int)
    states[:, 0] = rng.integers(0, 3, n)
    for t in range(1, 10):
        states[:, t] = [rng.choice(3, p=NORMAL_TRANSITIONS[state]) for state in states[:, t - 1]]
    noise = rng.normal(size=(n, 10, n_columns))
    return list(MEANS[states][..., None] + SPREADS[states][..., None] * noise)


def model_of_numbers():
    """The model that `numbers` are drawn from."""
    tables = SimpleNamespace(
        covariance_type="diag",
        startprob_=np.full(3, 1 / 3),
        transmat_=NORMAL_TRANSITIONS,
        means_=np.repeat(MEANS[:, None], 2, axis=1),
        covars_=np.repeat(SPREADS[:, None] ** 2, 2, axis=1),
    )
    return HMM.from_hmmlearn(tables)


@pytest.mark.parametrize("learn", ["auto", "tensor", "em"])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_states_of_numbers_are_recovered(learn, covariance):
    model = HMM(3, learn, emissions="gaussian", covariance=covariance, n_restarts=2).fit(numbers())
    means = model.means_[:, 0]
    assert model.means_.shape == (3, 2)
    if learn == "auto":
        order = np.argsort(model.covariances_[:, 0, 0])
        assert model.covariances_[order, 0, 0] == pytest.approx([9, 25, 400], rel=0.25)
        assert sorted(means.round(-1)) == [100, 100, 140]
        stay = model.transitions_[order[2], order[2]]
        assert stay == pytest.approx(0.85, abs=0.05)
    # Two states lose 6.6 nats; moments alone see less than EM does.
    others, least = numbers(seed=1), 3.0 if learn == "tensor" else 0.1
    assert model.score(others) > model_of_numbers().score(others) - least
    assert (model.covariances_[:, 0, 1] == 0).all() == (covariance == "diagonal")


def test_restarts_of_one_column_begin_elsewhere():
    model = HMM(3, "em", emissions="gaussian", n_restarts=4, max_iter=3).fit(numbers(60, 0, 1))
    assert len({round(objective, 3) for objective in model.diagnostics_["starts"]}) == 4


def test_the_number_of_states_of_numbers_is_chosen():
    model = HMM(emissions="gaussian", covariance="diagonal").fit(numbers(150))
    assert model.n_states_ in (3, 4)
    assert [row["n_states"] for row in model.diagnostics_["candidates"]][:3] == [1, 2, 3]


def test_numbers_come_in_many_forms_and_may_be_missing():
    rng = np.random.default_rng(3)
    series = np.where(np.arange(300) // 50 % 2 == 0, 0.0, 5.0) + rng.normal(size=300)
    model = HMM(2, emissions="gaussian").fit(series)
    assert np.sort(model.means_[:, 0]) == pytest.approx([0, 5], abs=0.3)
    lengths = HMM(2, emissions="gaussian").fit(series[:, None], [100, 200])
    assert lengths.diagnostics_["n_sequences"] == 2
    assert lengths.score_samples(series[:, None], lengths=[100, 200]).shape == (2,)
    two = np.column_stack([series, series[::-1]])
    model = HMM(2, emissions="gaussian").fit(two, [100, 200])
    assert model.score(two, [100, 200]) == model.score([two[:100], two[100:]])
    gappy = series.copy()
    gappy[::7] = np.nan
    model = HMM(2, emissions="gaussian").fit(gappy)
    assert np.sort(model.means_[:, 0]) == pytest.approx([0, 5], abs=0.3)
    with pytest.raises(DataError, match="single number"):
        HMM(2, emissions="gaussian").fit([[np.nan], []])
    with pytest.raises(DataError, match="infinite"):
        HMM(2, emissions="gaussian").fit([[np.inf, 1.0]])
    with pytest.raises(DataError, match="holds no number"):
        HMM(2, emissions="gaussian").fit(np.column_stack([series, np.full(300, np.nan)]))
    with pytest.raises(ArgumentError, match="300 positions"):
        HMM(2, emissions="gaussian").fit(series[:, None], [100])
