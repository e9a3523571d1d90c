"""Spectral hidden Markov models of several columns of numbers at once."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm

import tacit
from oracles.chains import population_moments, prefix_values, random_chain, string_probability
from tacit.core.encoders.vector_kernels import vector_kernel_encoder
from tacit.errors import ColumnError, DataError
from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
from tacit.sequences.query.operators import evidence_messages, walked
from tacit.sequences.query.vector_forecasts import log_densities_in_turn


@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_of_vectors_give_exact_sequence_densities(seed):
    chain = random_chain(2, 4, seed)
    atoms = np.array([[-2.0, 0.0], [-0.5, 1.0], [0.3, -1.0], [1.7, 0.4]])
    widths = np.array([0.6, 0.5])
    encoder = vector_kernel_encoder(atoms, widths, 1e-14)
    moments = population_moments(chain, encoder.features(atoms))
    directions = leading_directions(moments, 2)
    operators = spectral_operators(moments, directions, 2, encoder.total, narrow=True)
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(6, 2))
    places[2, 0] = places[4, 1] = np.nan  # one number of a position is missing
    blurred = np.ones((6, 4))
    for column in range(2):
        density = norm.pdf(places[:, column, None], atoms[:, column], widths[column])
        blurred *= np.where(np.isnan(density), 1.0, density)
    messages = evidence_messages(operators, [encoder.likelihoods(places)])
    walk = walked(operators, messages, np.array([6]))
    sign, log_abs = prefix_values(walk)
    truth = [string_probability(chain, blurred[:t] @ chain.emit[0].T) for t in range(1, 7)]
    assert (sign * np.exp(log_abs))[-6:] == pytest.approx(truth, abs=1e-8)
    # Column after column is the same density, where nothing has to be cut off.
    logs, _ = log_densities_in_turn(operators, walk, encoder, places, np.zeros(1))
    assert np.exp(logs[0].sum()) == pytest.approx(truth[-1], rel=1e-3)


SPREADS = np.array([[[1.0, 0.9], [0.9, 1.0]], [[1.0, -0.9], [-0.9, 1.0]]])


def opposite(n, seed=0):
    """Two states that differ in nothing but the sign of a correlation."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random(n) > 0.95) % 2
    normals = rng.normal(size=(n, 2))
    roots = np.linalg.cholesky(SPREADS)
    return np.einsum("tij,tj->ti", roots[states], normals), states


ROWS, STATES = opposite(1500)
LATER, _ = opposite(500, seed=5)


@pytest.fixture(scope="module")
def model():
    return tacit.KernelHMM(2, "spectral", bandwidth=0.3).fit(ROWS)


def true_score(rows):
    """Mean log-density by the forward algorithm."""
    belief, total = np.array([0.5, 0.5]), 0.0
    transition = np.array([[0.95, 0.05], [0.05, 0.95]])
    for row in rows:
        joint = belief * [multivariate_normal(np.zeros(2), s).pdf(row) for s in SPREADS]
        total += np.log(joint.sum())
        belief = joint / joint.sum() @ transition
    return total / len(rows)


def test_what_no_column_shows_alone_is_learnt(model):
    truth = true_score(LATER)
    independent = norm.logpdf(LATER).sum(axis=1).mean()
    score = model.score(LATER) / len(LATER)
    assert independent + 0.5 * (truth - independent) < score < truth
    alone = tacit.KernelHMM(2, "spectral", bandwidth=0.3).fit(ROWS[:, 0])
    assert alone.score(LATER[:, 0]) / len(LATER) == pytest.approx(
        norm.logpdf(LATER[:, 0]).mean(), abs=0.1
    )


def test_the_next_position_has_a_density(model):
    grid = np.linspace(-5, 5, 61)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    past = LATER[:40]
    sequences = [np.vstack([past, point]) for point in points]
    values = np.exp([logs[-1] for logs in model.log_predictive(sequences)]).reshape(61, 61)
    whole = np.trapezoid(np.trapezoid(values, grid, axis=1), grid)
    assert whole == pytest.approx(1.0, abs=0.02)
    # The first column's forecast is the integral over the second.
    places, density = model.predict_next_density(past, grid, target="x0")
    assert np.array_equal(places, grid)
    assert density == pytest.approx(np.trapezoid(values, grid, axis=1), abs=0.01)
    mean = model.expectation(past, target="x1")
    assert abs(mean) < 0.5
    low, high = model.quantiles(past, [0.05, 0.95], target="x1")
    assert low < mean < high


def test_missing_numbers_are_integrated_out(model):
    holes = LATER[:30].copy()
    holes[::3, 0] = np.nan
    holes[::5, 1] = np.nan
    holes[7] = np.nan
    logs = model.log_predictive(holes)
    assert logs[7] == 0
    assert np.isfinite(logs).all()
    partly = np.where(np.random.default_rng(0).random(ROWS.shape) < 0.05, np.nan, ROWS)
    fitted = tacit.KernelHMM(2, "spectral", bandwidth=0.3).fit(partly)
    assert fitted.score(LATER) == pytest.approx(model.score(LATER), rel=0.1)
    never = np.where(np.arange(200)[:, None] % 2 == [0, 1], np.nan, ROWS[:200])
    with pytest.raises(DataError, match="no position has all columns"):
        tacit.KernelHMM(2, "spectral").fit(never)


def test_drawn_rows_have_the_correlation_of_what_is_given(model):
    together = np.flatnonzero(np.convolve(STATES == 0, np.ones(30), "valid") == 30)[0]
    drawn = model.sample(400, 1, given=ROWS[together : together + 30], random_state=0)
    assert drawn.shape == (400, 1, 2)
    assert np.corrcoef(drawn[:, 0].T)[0, 1] > 0.5


def test_files_and_frames(model, tmp_path):
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(again.log_predictive(LATER), model.log_predictive(LATER))
    frame = pd.DataFrame(LATER, columns=["a", "b"])
    fitted = tacit.KernelHMM(2, "spectral", bandwidth=0.4).fit(frame)
    assert fitted.names_ == ("a", "b")
    assert fitted.n_features_in_ == 2
    with pytest.raises(ColumnError, match=r"\['a', 'b'\]"):
        fitted.expectation(frame)
    assert fitted.expectation(frame, target="b", all_positions=True).shape == (500,)
    assert "2 columns" in str(fitted.summary())
