"""The temperature: the least log loss on the rows that find it, and what happens at the edges."""

import numpy as np
import pytest

from tacit.core.classify.calibration import class_log_probs, fit_temperature


def drawn(seed, temperature, n=4000):
    """Log-likelihoods of three classes that are too certain by a temperature, and the true classes."""
    rng = np.random.default_rng(seed)
    honest = rng.normal(size=(n, 3))
    probs = np.exp(class_log_probs(honest, np.log(np.full(3, 1 / 3))))
    places = (rng.random((n, 1)) > probs.cumsum(axis=1)).sum(axis=1)
    return honest * temperature, places


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_the_temperature_that_was_put_in_is_found(temperature):
    actual = fit_temperature(*drawn(0, temperature))
    assert actual.temperature == pytest.approx(temperature, rel=0.1)
    assert actual.log_loss_after <= actual.log_loss_before


def test_no_temperature_on_a_grid_is_better():
    log_likelihoods, places = drawn(1, 3.0, n=300)
    log_priors = np.log(np.bincount(places) / len(places))
    actual = fit_temperature(log_likelihoods, places)

    def objective(temperature):
        log_probs = class_log_probs(log_likelihoods, log_priors, temperature)
        return -log_probs[np.arange(300), places].sum() + np.log(temperature) ** 2 / 2

    grid = np.geomspace(0.25, 1000, 400)
    assert objective(actual.temperature) <= min(map(objective, grid)) + 1e-6
    after = actual.log_loss_after * 300 + np.log(actual.temperature) ** 2 / 2
    assert after == pytest.approx(objective(actual.temperature))


def test_rows_without_doubt_do_not_freeze_the_temperature():
    log_likelihoods = np.array([[0.0, -np.inf], [-np.inf, 0.0], [0.0, -50.0]])
    actual = fit_temperature(log_likelihoods, np.array([0, 1, 0]))
    assert actual.temperature == pytest.approx(1.0, abs=1e-3)
    assert actual.log_loss_after < 1e-12


def test_rows_that_their_class_cannot_have_made_are_left_out():
    log_likelihoods, places = drawn(2, 2.0, n=200)
    impossible = np.vstack([log_likelihoods, [[-np.inf, 0.0, 0.0], [np.nan, 0.0, 0.0]]])
    actual = fit_temperature(impossible, np.append(places, [0, 0]))
    assert actual == fit_temperature(log_likelihoods, places)
    assert fit_temperature(impossible[-2:], np.array([0, 0])).n_rows == 0


def test_weights_count_like_repeated_rows():
    log_likelihoods, places = drawn(3, 2.0, n=60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    weighted = fit_temperature(log_likelihoods, places, weights.astype(float))
    again = fit_temperature(np.repeat(log_likelihoods, weights, axis=0), np.repeat(places, weights))
    assert weighted.temperature == pytest.approx(again.temperature, rel=1e-6)
    assert weighted.log_loss_after == pytest.approx(again.log_loss_after)


def test_a_row_that_no_class_can_have_made_gets_the_priors():
    log_priors = np.log([0.2, 0.8])
    rows = np.array([[-np.inf, -np.inf], [np.nan, -np.inf], [-np.inf, -3.0]])
    probs = np.exp(class_log_probs(rows, log_priors))
    assert probs == pytest.approx(np.array([[0.2, 0.8], [0.2, 0.8], [0.0, 1.0]]))
    with np.errstate(divide="ignore"):
        certain = class_log_probs(np.array([[0.0, -np.inf]]), np.log([0.0, 1.0]))
    assert np.exp(certain) == pytest.approx(np.array([[0.0, 1.0]]))
