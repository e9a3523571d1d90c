"""Hidden Markov models of counts."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import poisson

import tacit
from tacit.errors import ArgumentError, DataError, NotAvailableError
from tacit.sequences.data.number_sequences import read_series
from tacit.sequences.emissions.poisson import PoissonDensity, PoissonRows
from tacit.sequences.learn.em.emission_chain import ChainData, em_step
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.shapes import Shape

RATES = np.array([[1.5, 8.0], [9.0, 2.0]])
TRUTH = EmissionChain(
    np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]]), PoissonDensity(RATES)
)


def made(chain=TRUTH):
    model = tacit.HMM(chain.n_states, emissions="poisson")
    model.parameters_, model.symbols_, model.diagnostics_ = chain, (), {}
    model.names_ = tuple(f"x{column}" for column in range(chain.emitted.rates.shape[1]))
    return model


def drawn(n=60, length=25, seed=0):
    return list(made().sample(n, length, random_state=seed))


def joint(path, rows):
    """P(path, rows), of rows with NaN where a count is missing."""
    value = 1.0
    for time, (state, row) in enumerate(zip(path, rows, strict=True)):
        value *= TRUTH.transitions[path[time - 1], state] if time else TRUTH.initial[state]
        known = ~np.isnan(row)
        value *= poisson.pmf(row[known], RATES[state][known]).prod()
    return value


@pytest.mark.parametrize("gap", [False, True])
def test_answers_are_those_of_enumeration(gap):
    rows = np.array([[2.0, 7.0], [8.0, 1.0], [11.0, 3.0], [0.0, 9.0]])
    if gap:
        rows[1] = np.nan
        rows[2, 0] = np.nan
    paths = list(product(range(2), repeat=4))
    weights = np.array([joint(path, rows) for path in paths])
    model = made()
    assert model.score_samples([rows])[0] == pytest.approx(np.log(weights.sum()))
    posterior = [weights @ np.eye(2)[[path[time] for path in paths]] for time in range(4)]
    assert model.posterior(rows) == pytest.approx(np.array(posterior) / weights.sum())
    path, log_prob = model.predict(rows, return_log_probs=True)
    assert tuple(path) == paths[int(weights.argmax())]
    assert log_prob == pytest.approx(np.log(weights.max()))


@pytest.mark.parametrize("pseudo_counts", [0.0, None])
def test_steps_of_em_never_go_downhill_and_maximise_the_prior(pseudo_counts):
    data = read_series(drawn(20, 10))
    data.values[3, 1] = np.nan
    rows = PoissonRows(data.values, 1.0 if pseudo_counts is None else pseudo_counts)
    density = PoissonDensity(np.array([[3.0, 4], [5, 4]]))
    start = EmissionChain(np.full(2, 0.5), np.full((2, 2), 0.5), density)
    step = em_step(ChainData(rows, data.ends, Shape.full(2)), start, pseudo_counts)
    values = start.flat
    objectives = []
    for _ in range(30):
        objective, values, _ = step(values)
        objectives.append(objective)
    assert min(np.diff(objectives)) > -1e-9
    for place in range(6, 10):  # rates: at the end each is the best
        for factor in (0.99, 1.01):
            other = values.copy()
            other[place] *= factor
            assert step(other)[0] < step(values)[0]


@pytest.mark.parametrize("learn", ["auto", "em"])
def test_rates_are_recovered(learn):
    data = drawn(200, 30, seed=1)
    data[0][4, 0] = np.nan
    model = tacit.HMM(2, learn, emissions="poisson").fit(data)
    order = np.argsort(-TRUTH.stationary)
    assert model.rates_ == pytest.approx(RATES[order], rel=0.05)
    assert model.transitions_ == pytest.approx(TRUTH.transitions[np.ix_(order, order)], abs=0.03)
    assert model.score(data) >= made().score(data) - 0.01
    assert model.n_parameters_ == 1 + 2 + 4
    assert model.bic(data) > model.aic(data)


def test_states_are_chosen_and_chunks_are_learnt_from():
    data = drawn(80, 20, seed=1)
    assert tacit.HMM(emissions="poisson").fit(data).n_states_ == 2
    at_once = tacit.HMM(2, emissions="poisson").fit(data)
    parts = tacit.HMM(2, emissions="poisson").partial_fit(data[:30]).partial_fit(data[30:])
    assert parts.rates_ == pytest.approx(at_once.rates_, rel=1e-12)
    stationary = tacit.HMM(2, emissions="poisson", stationary=True).fit(data)
    assert stationary.initial_ @ stationary.transitions_ == pytest.approx(stationary.initial_)


def test_draws_and_predictions_are_those_of_the_mixture():
    model = made()
    rows = model.sample(20_000, 3, random_state=0)
    assert rows.shape == (20_000, 3, 2)
    states = TRUTH.initial @ np.linalg.matrix_power(TRUTH.transitions, 2)
    assert rows[:, 2].mean(axis=0) == pytest.approx(states @ RATES, rel=0.02)
    observed = np.array([[2.0, 7.0], [8.0, 1.0]])
    weights = model.predict_next_states(observed)
    assert model.expectation(observed) == pytest.approx(weights @ RATES)
    grid, density = model.predict_next_density(observed, np.arange(60), target="x1")
    truth = weights @ poisson.pmf(np.arange(60), RATES[:, 1, None])
    assert density == pytest.approx(truth)
    assert model.predict_next_density(observed, [0.5, -1.0], target="x1")[1].tolist() == [0, 0]
    for level, quantile in zip((0.05, 0.5, 0.95), model.quantiles(observed)[1], strict=True):
        assert np.cumsum(truth)[int(quantile)] >= level
        assert quantile == 0 or np.cumsum(truth)[int(quantile) - 1] < level
    assert len(grid) == 60


def test_a_file_holds_everything(tmp_path):
    model = tacit.HMM(2, emissions="poisson").fit(drawn())
    model.save(tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(loaded.rates_, model.rates_)
    assert np.array_equal(loaded.score_samples(drawn()), model.score_samples(drawn()))


def test_what_are_no_counts_is_refused():
    for wrong in ([[0.5, 1.0]], [[-1.0, 2.0]]):
        with pytest.raises(DataError, match="no count"):
            tacit.HMM(2, emissions="poisson").fit(wrong)
    with pytest.raises(ArgumentError, match="learnt by 'auto', 'em'"):
        tacit.HMM(2, "tensor", emissions="poisson").fit([[1, 2, 3]])
    with pytest.raises(NotAvailableError, match="rates_"):
        _ = made().means_
    with pytest.raises(NotAvailableError, match="symbols"):
        made().perplexity([[[1, 2]]])


def test_a_model_of_hmmlearn_is_taken_over():
    other = SimpleNamespace(startprob_=TRUTH.initial, transmat_=TRUTH.transitions, lambdas_=RATES)
    model = tacit.HMM.from_hmmlearn(other)
    assert model.emissions == "poisson"
    assert model.score(drawn()) == pytest.approx(made().score(drawn()))


def test_hmmlearn_scores_the_same():
    pytest.importorskip("hmmlearn", reason="hmmlearn is not installed")
    data = drawn(5, 10)
    theirs = made().to_hmmlearn()
    lengths = [len(sequence) for sequence in data]
    rows = np.concatenate(data).astype(int)
    assert theirs.score(rows, lengths) == pytest.approx(made().score_samples(data).sum())
    assert np.array_equal(theirs.predict(rows, lengths), np.concatenate(made().predict(data)))
