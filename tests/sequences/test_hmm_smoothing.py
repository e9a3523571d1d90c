"""Surprises, changes, gaps and paths of whole sequences, against the sum over all paths of states."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, poisson

import tacit
from tacit.errors import ArgumentError, NotAvailableError
from tacit.sequences.emissions.poisson import PoissonDensity
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.gaussian_hmm import GaussianChain

INITIAL = np.array([0.5, 0.3, 0.2])
TRANSITIONS = np.array([[0.7, 0.2, 0.1], [0.0, 0.6, 0.4], [0.3, 0.1, 0.6]])
K = 3
SYMBOLS = ("a", "b", "c", "d")
EMIT = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.5, 0.2, 0.2], [0.05, 0.05, 0.6, 0.3]])
MEANS = np.array([[0.0, 1.0], [2.0, -1.0], [4.0, 0.5]])
COVARIANCES = np.array([[[1.0, 0.5], [0.5, 2.0]], [[2.0, -0.8], [-0.8, 1.0]], [[0.5, 0], [0, 1.0]]])
RATES = np.array([[1.0, 6.0], [5.0, 2.0], [9.0, 9.0]])
CHAINS = {
    "categorical": ChainTables(INITIAL, TRANSITIONS, (EMIT,)),
    "gaussian": GaussianChain(INITIAL, TRANSITIONS, MEANS, COVARIANCES, diagonal=False),
    "diagonal": GaussianChain(INITIAL, TRANSITIONS, MEANS, COVARIANCES * np.eye(2), diagonal=True),
    "single": GaussianChain(
        INITIAL, TRANSITIONS, MEANS[:, :1], COVARIANCES[:, :1, :1], diagonal=False
    ),
    "poisson": EmissionChain(INITIAL, TRANSITIONS, PoissonDensity(RATES)),
}
nan = np.nan
ROWS = np.array([[0.5, nan], [1.0, 2.0], [nan, nan], [4.0, 1.0], [nan, 3.0]])
DATA = {
    "categorical": ["a", None, "b", "c", None],
    "gaussian": ROWS - 0.3 * np.isfinite(ROWS),
    "diagonal": ROWS - 0.3,
    "single": ROWS[:, 0] - 0.3,
    "poisson": np.round(2 * ROWS),
}


def made(name):
    chain = CHAINS[name]
    kind = "gaussian" if name in ("diagonal", "single") else name
    model = tacit.HMM(K, emissions=kind)
    model.parameters_, model.diagnostics_ = chain, {}
    model.symbols_ = SYMBOLS if name == "categorical" else ()
    n = 0 if name == "categorical" else len(np.atleast_2d(np.array(DATA[name]).T))
    model.names_ = tuple(f"x{column}" for column in range(n))
    return model


def emitted(name, state, x):
    """P(x | state), of what is there of x."""
    if name == "categorical":
        return 1.0 if x is None else EMIT[state, SYMBOLS.index(x)]
    x = np.atleast_1d(x)
    known = np.isfinite(x)
    if not known.any():
        return 1.0
    if name == "poisson":
        return poisson.pmf(x[known], RATES[state][known]).prod()
    chain = CHAINS[name]
    inner = chain.covariances[state][np.ix_(known, known)]
    return multivariate_normal.pdf(x[known], chain.means[state][known], inner)


def enumerated(name, sequence):
    """All paths, and P(path, sequence) of each."""
    paths = list(product(range(K), repeat=len(sequence)))
    weights = []
    for path in paths:
        value = INITIAL[path[0]]
        for before, after in pairwise(path):
            value *= TRANSITIONS[before, after]
        for state, x in zip(path, sequence, strict=True):
            value *= emitted(name, state, x)
        weights.append(value)
    return np.array(paths), np.array(weights)


NAMES = pytest.mark.parametrize("name", list(CHAINS))


@NAMES
def test_scores_of_steps_are_ratios_of_likelihoods_of_prefixes(name):
    model, sequence = made(name), DATA[name]
    likelihoods = [enumerated(name, sequence[:n])[1].sum() for n in range(1, len(sequence) + 1)]
    expected = np.diff(np.log([1.0, *likelihoods]))
    (steps,) = model.score_steps([sequence])
    assert steps == pytest.approx(expected, abs=1e-10)
    assert steps.sum() == pytest.approx(model.score_samples([sequence])[0])


@NAMES
def test_probabilities_of_changes_are_sums_over_paths(name):
    model, sequence = made(name), DATA[name]
    paths, weights = enumerated(name, sequence)
    changes = (paths[:, 1:] != paths[:, :-1]) * weights[:, None] / weights.sum()
    (changing,) = model.change_proba([sequence])
    assert changing == pytest.approx(np.array([0.0, *changes.sum(axis=0)]), abs=1e-12)
    best = paths[int(weights.argmax())]
    (points,) = model.change_points([sequence])
    assert [(p.position, p.before, p.after) for p in points] == [
        (t, best[t - 1], best[t]) for t in range(1, len(best)) if best[t] != best[t - 1]
    ]
    assert [p.probability for p in points] == pytest.approx([changing[p.position] for p in points])
    most = max(p.probability for p in points)
    (strict,) = model.change_points([sequence], least=most)
    assert [p.probability for p in strict] == [most]


@pytest.mark.parametrize("name", ["gaussian", "diagonal", "single", "poisson"])
def test_missing_numbers_are_means_over_all_paths(name):
    model, sequence = made(name), DATA[name]
    (filled,) = model.impute([sequence])
    paths, weights = enumerated(name, sequence)
    posterior = [np.bincount(paths[:, t], weights, K) / weights.sum() for t in range(len(paths[0]))]
    rows, shown = np.array(sequence).reshape(5, -1), filled.reshape(5, -1)
    for t, row in enumerate(rows):
        known = np.isfinite(row)
        assert np.array_equal(shown[t][known], row[known])
        expected = np.zeros(len(row))
        for state, weight in enumerate(posterior[t]):
            if name == "poisson":
                mean = RATES[state]
            else:
                chain = CHAINS[name]
                mean, spread = chain.means[state].copy(), chain.covariances[state]
                if known.any() and not known.all():
                    slope = spread[np.ix_(~known, known)] @ np.linalg.inv(
                        spread[np.ix_(known, known)]
                    )
                    mean[~known] += slope @ (row[known] - mean[known])
            expected += weight * mean
        assert shown[t][~known] == pytest.approx(expected[~known], abs=1e-9)


def test_missing_symbols_are_the_likeliest_over_all_paths():
    model, sequence = made("categorical"), DATA["categorical"]
    (filled,), (probabilities,) = model.impute([sequence], return_proba=True)
    for t, symbol in enumerate(sequence):
        masses = []
        for other in SYMBOLS:
            there = [*sequence[:t], other, *sequence[t + 1 :]]
            masses.append(
                enumerated("categorical", there)[1].sum() if symbol in (None, other) else 0.0
            )
        assert probabilities[t] == pytest.approx(np.array(masses) / sum(masses), abs=1e-12)
        assert filled[t] == SYMBOLS[int(np.argmax(masses))]


@NAMES
def test_drawn_paths_follow_the_posterior_of_whole_paths(name):
    model, sequence = made(name), DATA[name]
    paths, weights = enumerated(name, sequence)
    n = 20_000
    (drawn,) = model.sample_states([sequence], n, random_state=0)
    assert drawn.shape == (n, len(sequence))
    places = (drawn * K ** np.arange(len(sequence))[::-1]).sum(axis=1)
    frequencies = np.bincount(places, minlength=len(paths)) / n
    assert frequencies == pytest.approx(weights / weights.sum(), abs=4 * np.sqrt(0.25 / n))
    assert frequencies[weights == 0].max(initial=0.0) == 0.0
    again = model.sample_states([sequence], n, random_state=0)[0]
    assert np.array_equal(again, drawn)


@NAMES
@pytest.mark.parametrize("steps", [1, 3])
def test_forecasts_some_steps_ahead_are_mixtures_of_what_states_emit(name, steps):
    model, sequence = made(name), DATA[name][:4]
    paths, weights = enumerated(name, sequence)
    last = np.bincount(paths[:, -1], weights, K) / weights.sum()
    states = last @ np.linalg.matrix_power(TRANSITIONS, steps)
    assert model.predict_next_states([sequence], steps=steps)[0] == pytest.approx(states)
    if name == "categorical":
        probs = model.predict_next_proba([sequence], steps=steps)[0]
        assert probs == pytest.approx(states @ EMIT)
        return
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = np.atleast_2d(model.quantiles([sequence], levels, steps=steps)[0])
    for column, row in enumerate(quantiles):
        if name == "poisson":
            below, through = (
                [states @ poisson.cdf(q - less, RATES[:, column]) for q in row] for less in (1, 0)
            )
            assert (np.array(below) < levels).all()
            assert (np.array(through) >= levels).all()
            continue
        chain = CHAINS[name]
        spread = np.sqrt(chain.covariances[:, column, column])
        standard = (row[:, None] - chain.means[:, column]) / spread
        cumulative = [states @ multivariate_normal.cdf(z[:, None]) for z in standard]
        assert cumulative == pytest.approx(levels, abs=1e-4)


@NAMES
def test_what_follows_a_prefix_is_drawn_from_its_forecast(name):
    model, prefix = made(name), DATA[name][:4]
    drawn = model.sample(4000, 2, given=prefix, random_state=1)
    if name == "categorical":
        counts = np.array([[row[1] == symbol for row in drawn] for symbol in SYMBOLS]).mean(axis=1)
        probs = model.predict_next_proba([prefix], steps=2)[0]
        assert counts == pytest.approx(probs, abs=0.04)
        return
    for t in range(2):
        mean = model.expectation([prefix], steps=t + 1)[0]
        assert np.asarray(drawn)[:, t].mean(axis=0) == pytest.approx(mean, abs=0.25)


@NAMES
def test_answers_come_in_the_form_of_the_sequences(name):
    model, sequence = made(name), DATA[name]
    two = [sequence, sequence[:2]]
    for query in ("score_steps", "change_proba", "impute", "change_points"):
        answers = getattr(model, query)(two)
        assert len(answers) == 2
        if query != "change_points":
            assert [len(answer) for answer in answers] == [5, 2]
    assert [paths.shape for paths in model.sample_states(two, 4)] == [(4, 5), (4, 2)]
    assert model.bic(two) > -2 * model.score_samples(two).sum() < model.aic(two)
    assert str(model.summary())
    if name != "categorical":  # one array is one sequence
        assert model.score_steps(sequence).shape == (5,)
        assert model.impute(sequence).shape == np.shape(sequence)
        assert model.sample_states(sequence, 4).shape == (4, 5)
        assert model.change_points(sequence) == model.change_points([sequence])[0]
    with pytest.raises(ArgumentError, match="least"):
        model.change_points(two, least=2.0)


def test_impossible_sequences_have_no_answer():
    model = made("categorical")
    model.parameters_ = ChainTables(
        np.array([1.0, 0, 0]), np.eye(3), (np.array([[1.0, 0, 0, 0], EMIT[1], EMIT[2]]),)
    )
    two = [["a", "b", None], ["a", None]]
    assert model.score_steps([]) == model.impute([]) == model.sample_states([]) == []
    assert np.isneginf(model.score_steps(two)[0][1:]).all()
    assert np.isnan(model.change_proba(two)[0]).all()
    assert model.impute(two) == [["a", "b", None], ["a", "a"]]
    assert (model.sample_states(two, 3)[0] == -1).all()
    assert (model.sample_states(two, 3)[1] == 0).all()


def test_operators_have_no_states_to_answer_by():
    texts = [list("aabbab"), list("abab"), list("bbaab")] * 3
    operators = tacit.HMM(2, "spectral").fit(texts)
    for query in ("score_steps", "change_proba", "change_points", "impute", "sample_states"):
        with pytest.raises(NotAvailableError, match="hidden states"):
            getattr(operators, query)(texts)
    assert not operators.can("impute")
    with pytest.raises(NotAvailableError, match="symbols"):
        made("poisson").impute([DATA["poisson"]], return_proba=True)
