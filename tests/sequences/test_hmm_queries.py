"""What hidden Markov models are asked: every answer against enumeration over all paths and strings."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from oracles.letters import letters
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    CategoryError,
    DataError,
    NotAvailableError,
)
from tacit.sequences.data.sequences import lengths_from
from tacit.sequences.hmm import HMM
from tacit.sequences.model.chains import ChainTables, Operators
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.proper_operators import ProperOperators

K, SYMBOLS = 3, ("a", "b")


def random_rows(rng, *shape):
    table = rng.random(shape) + 0.05
    return table / table.sum(axis=-1, keepdims=True)


def made(seed=0, **others):
    rng = np.random.default_rng(seed)
    tables = SimpleNamespace(
        startprob_=random_rows(rng, K),
        transmat_=random_rows(rng, K, K),
        emissionprob_=random_rows(rng, K, 2),
        **others,
    )
    return HMM.from_hmmlearn(tables, SYMBOLS)


MODEL = made()
TEXTS = ["", "a", "b", "ab", "bba", "abab"]


def probability(text):
    """P(text) over all paths; a dot is a missing symbol."""
    total = 0.0
    for path in product(range(K), repeat=len(text)):
        value = 1.0
        for t, state in enumerate(path):
            value *= MODEL.initial_[state] if t == 0 else MODEL.transitions_[path[t - 1], state]
            if text[t] != ".":
                value *= MODEL.emissions_[state, SYMBOLS.index(text[t])]
        total += value
    return total


def read(texts):
    return [[None if symbol == "." else symbol for symbol in text] for text in texts]


def test_scores_are_one_natural_log_for_each_sequence():
    texts = [*TEXTS, "a.b", "..", "."]
    scores = MODEL.score_samples(read(texts))
    assert scores == pytest.approx([np.log(probability(text)) for text in texts], abs=1e-12)
    assert MODEL.score(read(texts)) == pytest.approx(scores.mean())
    assert MODEL.score([]) == 0.0
    assert MODEL.score_samples([]).shape == (0,)


def test_probabilities_of_all_strings_of_a_length_sum_to_one():
    texts = ["".join(symbols) for symbols in product(SYMBOLS, repeat=4)]
    assert np.exp(MODEL.score_samples(letters(texts))).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_what_comes_next_is_a_ratio_of_probabilities(steps):
    def expected(text):
        masses = [probability(text + "." * (steps - 1) + symbol) for symbol in SYMBOLS]
        return np.array(masses) / probability(text)

    probs = MODEL.predict_next_proba(letters(TEXTS), steps=steps)
    assert probs.shape == (len(TEXTS), 2)
    for text, row in zip(TEXTS, probs, strict=True):
        assert row == pytest.approx(expected(text), abs=1e-12)
    for text, rows in zip(
        TEXTS,
        MODEL.predict_next_proba(letters(TEXTS), all_positions=True, steps=steps),
        strict=True,
    ):
        assert rows.shape == (len(text), 2)
        for t, row in enumerate(rows):
            assert row == pytest.approx(expected(text[:t]), abs=1e-12)


def test_answers_about_states_fit_each_other():
    filtered, smoothed = MODEL.filter(letters(TEXTS)), MODEL.posterior(letters(TEXTS))
    paths, values = MODEL.predict(letters(TEXTS), return_log_probs=True)
    for text, now, posterior, path, value in zip(
        TEXTS, filtered, smoothed, paths, values, strict=True
    ):
        assert now.shape == posterior.shape == (len(text), K)
        assert len(path) == len(text)
        assert now[len(text) - 1 :] == pytest.approx(posterior[len(text) - 1 :], abs=1e-12)
        assert value <= np.log(probability(text)) + 1e-12
    assert np.array_equal(MODEL.posterior(letters(TEXTS))[-1], smoothed[-1])
    after = MODEL.predict_next_states(letters(TEXTS))
    assert after[-1] == pytest.approx(filtered[-1][-1] @ MODEL.transitions_, abs=1e-12)
    assert after[0] == pytest.approx(MODEL.initial_)


def test_a_single_sequence_gets_answers_without_a_list():
    model = HMM.from_hmmlearn(
        SimpleNamespace(
            startprob_=MODEL.initial_, transmat_=MODEL.transitions_, emissionprob_=MODEL.emissions_
        )
    )
    assert model.symbols_ == (0, 1)
    one = [0, 1, 1]
    assert model.filter(one).shape == (3, K)
    assert np.array_equal(model.filter([one])[0], model.filter(one))
    path, value = model.predict(one, return_log_probs=True)
    assert path.shape == (3,)
    assert isinstance(float(value), float)
    assert model.predict_next_proba(one).shape == (2,)
    assert model.score_samples(one).shape == (1,)
    as_array = model.score_samples(np.array([[0, 1, 1], [1, 0, 0]]))
    flat = model.score_samples(np.array([0, 1, 1, 1, 0, 0]), lengths=[3, 3])
    pair = model.score_samples((np.array([[0], [1], [1], [1], [0], [0]]), [3, 3]))
    assert as_array == pytest.approx(flat)
    assert as_array == pytest.approx(pair)
    assert model.score(np.array([[0], [1], [1]]), [1, 2]) == model.score([[0], [1, 1]])


def test_perplexity_is_per_symbol_and_counts_what_was_left_out():
    texts = ["ab", "b", ""]
    expected = np.exp(-sum(np.log(probability(text)) for text in texts) / 3)
    assert MODEL.perplexity(letters(texts)) == pytest.approx(expected)
    assert MODEL.perplexity(letters(texts), return_counts=True)[1] == {
        "n_symbols": 3,
        "n_ends": 0,
        "n_unknown": 0,
        "n_missing": 0,
    }
    with pytest.raises(NotAvailableError, match="ends"):
        MODEL.perplexity(letters(texts), ends=True)
    with pytest.raises(DataError, match="single symbol"):
        MODEL.perplexity(letters(["", ""]))
    with pytest.raises(CategoryError, match="'c'"):
        MODEL.perplexity(letters(["abc"]))
    lenient = made().set_params(unknown="missing")
    perplexity, counts = lenient.perplexity([["a", "c", None, "b"]], return_counts=True)
    assert perplexity == pytest.approx(np.exp(-np.log(probability("a..b")) / 2))
    assert counts == {"n_symbols": 2, "n_ends": 0, "n_unknown": 1, "n_missing": 1}


def test_unknown_symbols_are_errors_or_missing():
    with pytest.raises(CategoryError, match="known symbols"):
        MODEL.score_samples(letters(["abx"]))
    lenient = made().set_params(unknown="missing")
    assert lenient.score_samples(letters(["axb"])) == pytest.approx(
        MODEL.score_samples([["a", None, "b"]])
    )


def test_draws_have_the_model_s_distribution_and_follow_what_is_given():
    drawn = MODEL.sample(40_000, 2, random_state=1)
    texts = ["".join(row) for row in drawn]
    for text in ("aa", "ab", "ba", "bb"):
        assert texts.count(text) / 40_000 == pytest.approx(probability(text), abs=0.01)
    follow = MODEL.sample(40_000, 1, given="abab", random_state=2)
    frequency = sum(row == ["a"] for row in follow) / 40_000
    assert frequency == pytest.approx(MODEL.predict_next_proba(letters(["abab"]))[0, 0], abs=0.01)
    assert MODEL.sample(3, 5, random_state=3) == MODEL.sample(3, 5, random_state=3)
    assert MODEL.sample(0, 5) == []
    assert MODEL.sample(2, 0) == [[], []]
    with pytest.raises(ArgumentError, match="2 sequences"):
        MODEL.sample(1, 1, given=letters(["ab", "bb"]))


def test_what_cannot_be_is_minus_infinity_and_nothing_follows_it():
    model = HMM.from_hmmlearn(
        SimpleNamespace(startprob_=[1.0, 0.0], transmat_=np.eye(2), emissionprob_=np.eye(2)), "ab"
    )
    assert model.score_samples(letters(["aa", "ab"])).tolist() == [0.0, -np.inf]
    with pytest.raises(DataError, match="impossible"):
        model.sample(1, 1, given="ab")


def test_queries_need_a_fitted_model():
    for ask in (
        "score_samples",
        "filter",
        "posterior",
        "predict",
        "perplexity",
        "predict_next_proba",
    ):
        with pytest.raises(NotFittedError):
            getattr(HMM(2), ask)(letters(["ab"]))
    with pytest.raises(NotFittedError):
        HMM(2).sample()
    with pytest.raises(NotFittedError):
        _ = HMM(2).initial_


def test_means_are_there_only_where_numbers_are_emitted():
    for name in ("means_", "covariances_"):
        with pytest.raises(NotAvailableError, match="emits symbols"):
            getattr(MODEL, name)
    with pytest.raises(NotAvailableError, match="gaussian"):
        MODEL.expectation(letters(["ab"]))


def test_lengths_may_stand_in_the_second_place_as_in_hmmlearn():
    column = np.zeros((5, 1))
    assert lengths_from(column, [2, 3], None) == [2, 3]
    assert lengths_from(np.zeros(5), [5], None) == [5]
    assert lengths_from([0, 1, 1], [1, 2], None) == [1, 2]
    assert lengths_from(["home", "search", "home"], [1, 2], None) == [1, 2]
    assert lengths_from(np.zeros((5, 2)), np.arange(5), None) is None
    assert lengths_from([[0], [1]], np.arange(2), None) is None
    assert lengths_from(column, None, [5]) == [5]
    assert lengths_from(np.zeros((5, 2)), [5], None, rows=True) == [5]
    assert lengths_from(column, np.arange(5), None) is None  # what is to be predicted of each row
    for wrong in ([2, 2], [2.0, 3.0], [[5]]):
        with pytest.raises(ArgumentError, match="sum to the 5 positions"):
            lengths_from(column, wrong, None)


@pytest.mark.parametrize("fallback", [0.0, 0.25])
def test_exact_operators_answer_as_the_tables_do(fallback):
    """Operators in another basis are the same model; with a fallback each prediction is a mixture."""
    tables = MODEL.parameters_
    rng = np.random.default_rng(4)
    turn = rng.normal(size=(K, K))
    steps = np.linalg.solve(turn, tables.operators.steps @ turn)
    exact = Operators.of_steps(
        tables.initial @ turn, steps, np.linalg.solve(turn, np.ones(K)), np.ones(2)
    )
    frequencies = np.array([0.3, 0.7])
    model = made()
    model.parameters_ = ProperOperators(exact, frequencies, fallback)
    for steps_ahead in (1, 3):
        probs = model.predict_next_proba(letters(TEXTS), steps=steps_ahead)
        expected = MODEL.predict_next_proba(letters(TEXTS), steps=steps_ahead)
        assert probs == pytest.approx((1 - fallback) * expected + fallback * frequencies, abs=1e-9)
    rows = model.predict_next_proba(letters(["abba"]), all_positions=True)[0]
    codes = np.array([0, 1, 1, 0])
    assert model.score_samples(letters(["abba"])) == pytest.approx(
        np.log(rows[np.arange(4), codes]).sum(), abs=1e-9
    )
    if fallback == 0:
        texts = read([*TEXTS, "a.b", ".."])
        assert model.score_samples(texts) == pytest.approx(MODEL.score_samples(texts), abs=1e-9)
    assert model.score_samples(letters(TEXTS), return_repairs=True)[1]["n_restarts"] == 0
    assert model.n_states_ == K
    drawn = model.sample(20_000, 1, given="ab", random_state=0)
    frequency = sum(row == ["a"] for row in drawn) / 20_000
    assert frequency == pytest.approx(model.predict_next_proba(letters(["ab"]))[0, 0], abs=0.02)
    assert [states.shape for states in model.filter(letters(["ab", ""]))] == [(2, K), (0, K)]
    for ask in ("posterior", "predict", "predict_next_states"):
        with pytest.raises(NotAvailableError, match="hidden states"):
            getattr(model, ask)(letters(["ab"]))
    with pytest.raises(NotAvailableError, match="transitions_"):
        _ = model.transitions_


def test_predictions_of_bad_operators_are_repaired_and_recorded():
    bad = Operators.of_steps(np.ones(1), np.array([[[1.5]], [[-0.5]]]), np.ones(1))
    model = made()
    model.parameters_ = ProperOperators(bad, np.array([0.5, 0.5]), 0.1)
    probs = model.predict_next_proba(letters(["a", "b"]))
    assert probs == pytest.approx(np.array([[0.95, 0.05]] * 2))
    values, repairs = model.score_samples(letters(["abab"]), return_repairs=True)
    assert np.isfinite(values).all()
    assert repairs["n_negative"] > 0
    assert repairs["n_restarts"] > 0
    assert len(model.sample(3, 20, random_state=0)) == 3


def test_other_programs_models_are_checked():
    rows = {"startprob_": [0.5, 0.5], "transmat_": np.full((2, 2), 0.5)}
    with pytest.raises(ArgumentTypeError, match="CategoricalHMM"):
        HMM.from_hmmlearn(SimpleNamespace(**rows))
    with pytest.raises(ArgumentTypeError, match="CategoricalHMM"):
        HMM.from_hmmlearn("model")
    with pytest.raises(DataError, match="never visited"):
        HMM.from_hmmlearn(SimpleNamespace(**rows, emissionprob_=[[0.0, 0.0], [0.5, 0.5]]))
    with pytest.raises(DataError, match="no probabilities"):
        HMM.from_hmmlearn(SimpleNamespace(**rows, emissionprob_=[[np.nan, 0.0], [0.5, 0.5]]))
    with pytest.raises(ArgumentError, match="3 symbols"):
        HMM.from_hmmlearn(SimpleNamespace(**rows, emissionprob_=np.full((2, 2), 0.5)), "abc")
    assert isinstance(MODEL.parameters_, ChainTables)


def test_quantiles_of_the_next_numbers_are_those_of_the_mixture_of_states():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    chain = GaussianChain(
        np.array([0.3, 0.7]),
        np.array([[0.9, 0.1], [0.2, 0.8]]),
        np.array([[-1.0, 5.0], [2.0, 4.0]]),
        np.array([[[1.0, 0.3], [0.3, 2.0]], [[0.25, 0.0], [0.0, 9.0]]]),
        False,
    )
    model = HMM(2, emissions="gaussian").fit(rng.normal(size=(30, 2)))
    model.parameters_ = chain
    data, levels = [rng.normal(size=(4, 2)), rng.normal(size=(0, 2))], np.array([0.01, 0.5, 0.9])
    quantiles = model.quantiles(data, levels, steps=2)
    weights = model.predict_next_states(data, steps=2)
    deviations = np.sqrt(np.diagonal(chain.covariances, axis1=1, axis2=2))
    below = norm.cdf(quantiles[:, None], chain.means[..., None], deviations[..., None])
    np.testing.assert_allclose(
        np.einsum("nm,nmcs->ncs", weights, below), np.broadcast_to(levels, (2, 2, 3)), atol=1e-12
    )
    np.testing.assert_allclose(model.quantiles(data, 0.5), model.quantiles(data, [0.5])[..., 0])
    every = model.quantiles(data, levels, all_positions=True)
    assert [rows.shape for rows in every] == [(4, 2, 3), (0, 2, 3)]
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        model.quantiles(data, 1.0)
