"""The checks of the protocol of densities, for every kind of emissions of the generic chain."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

import tacit
from tacit.sequences.emissions import EMISSIONS
from tacit.sequences.emissions.categorical_density import CategoricalDensity, CategoricalRows
from tacit.sequences.emissions.gaussian_density import GaussianDensity, GaussianRows
from tacit.sequences.emissions.gaussian_mixture import GaussianMixtureDensity, GaussianMixtureRows
from tacit.sequences.emissions.multinomial import MultinomialDensity, MultinomialRows
from tacit.sequences.emissions.negative_binomial import (
    NegativeBinomialDensity,
    NegativeBinomialRows,
)
from tacit.sequences.emissions.poisson import PoissonDensity, PoissonRows
from tacit.sequences.emissions.von_mises import VonMisesDensity, VonMisesRows
from tacit.sequences.learn.em.emission_chain import ChainData, em_step, start_chain
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.shapes import Shape

SPREADS = np.array([[[1.0, 0.4], [0.4, 0.5]], [[0.5, -0.2], [-0.2, 2.0]]])
MEANS = np.array([[-1.0, 2.0], [1.5, 0.0]])
FOUR = np.array([[-2.0, 0], [0, 1], [2, 0], [3, -2]])
EYES = np.repeat(np.eye(2)[None], 4, axis=0)

DENSITIES = {
    "categorical": CategoricalDensity(np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])),
    "gaussian": GaussianDensity(MEANS, SPREADS),
    "gaussian diagonal": GaussianDensity(MEANS, SPREADS * np.eye(2), "diagonal"),
    "gaussian spherical": GaussianDensity(
        MEANS, np.array([0.5, 2.0])[:, None, None] * np.eye(2), "spherical"
    ),
    "gaussian tied": GaussianDensity(MEANS, SPREADS[[0, 0]], "tied"),
    "gaussian-mixture": GaussianMixtureDensity(
        np.array([[0.4, 0.6], [0.7, 0.3]]), GaussianDensity(FOUR, SPREADS[[0, 1, 0, 1]])
    ),
    "gaussian-mixture diagonal": GaussianMixtureDensity(
        np.array([[0.4, 0.6], [0.7, 0.3]]), GaussianDensity(FOUR, EYES, "diagonal")
    ),
    "poisson": PoissonDensity(np.array([[1.5, 4.0], [5.0, 2.0]])),
    "negative-binomial": NegativeBinomialDensity(
        np.array([[1.5, 4.0], [5.0, 2.0]]), np.array([[2.0, 5.0], [4.0, 30.0]])
    ),
    "multinomial": MultinomialDensity(np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]), 4),
    "von-mises": VonMisesDensity(
        np.array([[0.5, -2.0], [3.0, 1.0]]), np.array([[2.0, 0.7], [5.0, 30.0]])
    ),
}
ROWS = {
    "categorical": lambda values, strength: CategoricalRows(values, 3, strength),
    "gaussian": lambda values, strength: GaussianRows(values, "full", strength),
    "gaussian diagonal": lambda values, strength: GaussianRows(values, "diagonal", strength),
    "gaussian spherical": lambda values, strength: GaussianRows(values, "spherical", strength),
    "gaussian tied": lambda values, strength: GaussianRows(values, "tied", strength),
    "gaussian-mixture": lambda values, strength: GaussianMixtureRows(
        GaussianRows(values, "full", strength), 2, strength
    ),
    "gaussian-mixture diagonal": lambda values, strength: GaussianMixtureRows(
        GaussianRows(values, "diagonal", strength), 2, strength
    ),
    "poisson": PoissonRows,
    "negative-binomial": NegativeBinomialRows,
    "multinomial": MultinomialRows,
    "von-mises": VonMisesRows,
}
TRANSITIONS = np.array([[0.85, 0.15], [0.25, 0.75]])
EVERY = pytest.mark.parametrize("kind", DENSITIES)


def chain_of(kind):
    return EmissionChain(np.array([0.6, 0.4]), TRANSITIONS, DENSITIES[kind])


def model_of(kind):
    density = DENSITIES[kind]
    model = tacit.HMM(2, emissions=density.kind, **density.arguments)
    model.parameters_, model.diagnostics_ = chain_of(kind), {}
    model.symbols_, model.names_ = (), tuple(f"x{c}" for c in range(density.n_columns))
    return model


def rows_of(kind, n=40, seed=0, gaps=False):
    """(sequence, time, column) drawn rows, with gaps if wanted."""
    rng = np.random.default_rng(seed)
    states = (np.cumsum(rng.random((n, 12)) < 0.2, axis=1) + rng.integers(2, size=(n, 1))) % 2
    values = DENSITIES[kind].sample(states.astype(np.int32), rng)
    if gaps:
        values[rng.random(values.shape) < 0.1] = np.nan
        values[1, 3] = np.nan
    return values


def all_rows(kind, n_columns):
    """Every row of small counts that has a probability worth counting."""
    if kind == "multinomial":
        return np.array([row for row in product(range(5), repeat=3) if sum(row) == 4], float)
    most = 3 if kind == "categorical" else 80
    return np.array(list(product(range(most), repeat=n_columns)), dtype=np.float64)


def likelihoods(density, values):
    return np.exp(density.log_likelihoods(np.atleast_2d(np.asarray(values, dtype=np.float64))))


@EVERY
def test_likelihoods_sum_or_integrate_to_one(kind):
    density = DENSITIES[kind]
    if kind in ("categorical", "poisson", "negative-binomial", "multinomial"):
        totals = likelihoods(density, all_rows(kind, density.n_columns)).sum(axis=0)
        assert totals == pytest.approx(np.ones(2), abs=1e-6)
        return
    end = np.pi if kind == "von-mises" else 14.0
    for state in range(2):
        total = dblquad(
            lambda y, x, state=state: likelihoods(density, [x, y])[0, state],
            *(-end, end, -end, end),
            epsabs=1e-5,
        )[0]
        assert total == pytest.approx(1.0, abs=1e-4)


@EVERY
def test_what_is_missing_is_summed_out(kind):
    density = DENSITIES[kind]
    nothing = np.full((1, density.n_columns), np.nan)
    assert density.log_likelihoods(nothing) == pytest.approx(np.zeros((1, 2)), abs=1e-12)
    if kind == "categorical":
        return
    if kind == "multinomial":  # given the total of what is there
        row = likelihoods(density, [1, np.nan, 3])
        probs = density.probabilities[:, [0, 2]]
        probs = probs / probs.sum(axis=1, keepdims=True)
        assert row[0] == pytest.approx(4 * probs[:, 0] * probs[:, 1] ** 3)
        return
    one = likelihoods(density, [1.0, np.nan])[0]
    if kind in ("poisson", "negative-binomial"):
        summed = likelihoods(density, [[1.0, count] for count in range(200)]).sum(axis=0)
    else:
        end = np.pi if kind == "von-mises" else 30.0
        summed = [
            quad(lambda y, s=s: likelihoods(density, [1.0, y])[0, s], -end, end, points=[0])[0]
            for s in range(2)
        ]
    assert one == pytest.approx(np.asarray(summed), rel=1e-6)
    assert one == pytest.approx(density.densities(0, np.array([1.0]))[:, 0])


@EVERY
def test_samples_have_the_means_and_the_distribution(kind):
    density, rng = DENSITIES[kind], np.random.default_rng(0)
    states = np.repeat(np.arange(2, dtype=np.int32), 20_000).reshape(2, 20_000)
    drawn = density.sample(states, rng)
    assert drawn.shape == (2, 20_000, density.n_columns)
    if kind == "categorical":
        for state in range(2):
            rates = np.bincount(drawn[state, :, 0].astype(int), minlength=3) / 20_000
            assert rates == pytest.approx(density.probabilities[state], abs=0.015)
        return
    if kind == "von-mises":
        means = np.arctan2(np.sin(drawn).mean(axis=1), np.cos(drawn).mean(axis=1))
    else:
        means = drawn.mean(axis=1)
    assert means == pytest.approx(density.means, abs=0.08)
    assert density.expectation(np.eye(2)) == pytest.approx(density.means)
    levels = np.array([0.1, 0.5, 0.9])
    quantiles = density.quantiles(np.array([[0.5, 0.5], [0.0, 0.0]]), levels)
    assert np.isnan(quantiles[1]).all()
    both = drawn.reshape(-1, density.n_columns)
    for column in range(density.n_columns):
        for level, quantile in zip(levels, quantiles[0, column], strict=True):
            assert (both[:, column] <= quantile + 1e-9).mean() >= level - 0.015
            assert (both[:, column] < quantile).mean() <= level + 0.015


@EVERY
def test_flat_parameters_are_read_back(kind):
    density = DENSITIES[kind]
    again = density.of_flat(density.flat)
    values = rows_of(kind, 5)[0]
    assert again.log_likelihoods(values) == pytest.approx(density.log_likelihoods(values))
    assert (density.flat > 0).all()
    assert density.masses(np.array([3.0, 5.0])).shape == density.flat.shape
    turned = density.ordered(np.array([1, 0, 1]))
    expected = density.log_likelihoods(values)[:, [1, 0, 1]]
    assert turned.log_likelihoods(values) == pytest.approx(expected)


@EVERY
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_steps_of_em_never_go_downhill(kind, strength):
    values = rows_of(kind, 12, gaps=True).reshape(-1, DENSITIES[kind].n_columns)
    rows = ROWS[kind](values, strength)
    data = ChainData(rows, np.arange(13) * 12, Shape.full(2))
    posterior = np.random.default_rng(2).dirichlet(np.ones(2), len(values))
    chain = start_chain(data, posterior)
    step, flat, objectives = em_step(data, chain, strength), chain.flat, []
    for _ in range(25):
        objective, flat, masses = step(flat)
        objectives.append(objective)
        assert masses.shape == flat.shape
    assert min(np.diff(objectives)) > -1e-7
    part = rows.taken(np.arange(60))
    density = chain.of_flat(flat).density
    whole = rows.log_likelihoods(density)
    assert part.log_likelihoods(density) == pytest.approx(whole[:60])
    finished = rows.finished(density)  # likelihoods differ by terms that states have in common
    truth = finished.log_likelihoods(values)
    apart = (truth[:, 0] - truth[:, 1]) - (whole[:, 0] - whole[:, 1])
    assert apart == pytest.approx(np.zeros(len(values)), abs=1e-8)


@EVERY
def test_the_m_step_is_a_maximum(kind):
    values = rows_of(kind, 20).reshape(-1, DENSITIES[kind].n_columns)
    rows = ROWS[kind](values, 1.0)
    data = ChainData(rows, np.arange(21) * 12, Shape.full(2))
    chain = start_chain(data, np.random.default_rng(2).dirichlet(np.ones(2), len(values)))
    step, flat = em_step(data, chain, 1.0), chain.flat
    for _ in range(400):
        _, flat, _ = step(flat)
    best = step(flat)[0]
    for place in range(6, len(flat)):
        for factor in (0.999, 1.001):
            other = flat.copy()
            other[place] *= factor
            assert step(other)[0] <= best + 1e-7


@EVERY
@pytest.mark.parametrize("gap", [False, True])
def test_answers_are_those_of_enumeration(kind, gap):
    if kind == "categorical":
        pytest.skip("symbols have answers of their own")
    rows = rows_of(kind, 1, seed=5)[0, :4]
    if gap:
        rows[1] = np.nan
        rows[2, 0] = np.nan
    emitted = likelihoods(DENSITIES[kind], rows)
    chain, paths, weights = chain_of(kind), list(product(range(2), repeat=4)), []
    for path in paths:
        weight = chain.initial[path[0]] * emitted[0, path[0]]
        for time in range(1, 4):
            weight *= TRANSITIONS[path[time - 1], path[time]] * emitted[time, path[time]]
        weights.append(weight)
    weights, model = np.array(weights), model_of(kind)
    assert model.score_samples([rows])[0] == pytest.approx(np.log(weights.sum()))
    posterior = [weights @ np.eye(2)[[path[time] for path in paths]] for time in range(4)]
    assert model.posterior(rows) == pytest.approx(np.array(posterior) / weights.sum())
    assert tuple(model.predict(rows)) == paths[int(weights.argmax())]
    ahead = np.array([weights[[path[3] == state for path in paths]].sum() for state in range(2)])
    ahead = ahead / weights.sum() @ TRANSITIONS
    assert model.predict_next_states(rows) == pytest.approx(ahead)
    expected = DENSITIES[kind].expectation(ahead[None])[0]
    assert model.expectation(rows) == pytest.approx(expected)
    column = model.names_[0]
    grid, density = model.predict_next_density(rows, [0.0, 1.0, 2.0], target=column)
    assert density == pytest.approx(ahead @ DENSITIES[kind].densities(0, grid))


@EVERY
def test_default_fits_recover_the_states_and_files_hold_them(kind, tmp_path):
    if kind == "categorical":
        pytest.skip("symbols have learners of their own")
    density = DENSITIES[kind]
    data = list(rows_of(kind, 60, gaps=True))
    model = tacit.HMM(2, emissions=density.kind, **density.arguments).fit(data)
    truth = model_of(kind)
    assert model.score(data) >= truth.score(data) - 0.02 * 12
    assert model.n_parameters_ == 3 + density.n_parameters
    assert model.bic(data) > model.aic(data)
    assert "states" in str(model.summary())
    model.save(tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(loaded.score_samples(data), model.score_samples(data))
    for name, value in EMISSIONS[density.kind].attributes(model.parameters_).items():
        assert np.array_equal(getattr(loaded, name), value)
        assert name in dir(loaded)
    assert np.array_equal(loaded.sample(2, 5, random_state=0), model.sample(2, 5, random_state=0))
    chunks = tacit.HMM(2, emissions=density.kind, **density.arguments)
    chunks.partial_fit(data[:30]).partial_fit(data[30:])
    assert chunks.score(data) == pytest.approx(model.score(data), rel=1e-9)
