"""One number that makes probabilities of classes honest: the temperature of the likelihoods."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Range of the temperature. Where all held-out rows are classified without doubt, a lower one gains nothing
# but digits; a higher one gives hardly more than the priors.
COLDEST, HOTTEST = 0.25, 1000.0


@dataclass(frozen=True)
class Calibration:
    """A temperature, and the log loss on held-out rows without and with it, in nats per row."""

    temperature: float = 1.0
    n_rows: int = 0
    log_loss_before: float = math.nan
    log_loss_after: float = math.nan


def class_log_probs(log_likelihoods: Array, log_priors: Array, temperature: float = 1.0) -> Array:
    """Logarithms of P(class | row), with likelihoods to the power of one over a temperature.

    A row that no class can have made gets the priors.

    Parameters
    ----------
    log_likelihoods : (row, class)
        -inf where a class cannot have made a row; NaN counts as that.
    log_priors : (class,)
    """
    possible = np.where(np.isnan(log_likelihoods), -np.inf, log_likelihoods)
    best = possible.max(axis=1, keepdims=True)
    centred = np.where(np.isfinite(best), possible - np.where(np.isfinite(best), best, 0.0), 0.0)
    joint = centred / temperature + log_priors
    log_normalisers = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    # The only classes that can have made a row have prior zero.
    impossible = ~np.isfinite(log_normalisers)
    return np.where(impossible, log_priors, joint - np.where(impossible, 0.0, log_normalisers))


def fit_temperature(
    log_likelihoods: Array, places: NDArray[np.integer], weights: Array | None = None
) -> Calibration:
    """The temperature of the least log loss on held-out rows (Guo et al., 2017), the priors left alone.

    One row's worth of doubt keeps it near one where rows are few: half the square of the logarithm is added
    to the sum of the losses. It is never worse than one on these rows.

    Parameters
    ----------
    log_likelihoods : (row, class)
    places : (row,)
        The class of each row. Rows that their own class cannot have made teach nothing and are left out.
    weights : (row,), optional
    """
    from scipy.optimize import minimize_scalar

    of_true_class = log_likelihoods[np.arange(len(places)), places]
    usable = np.isfinite(of_true_class)
    if weights is not None:
        usable &= weights > 0
    rows, places = log_likelihoods[usable], places[usable]
    if not len(rows):
        return Calibration()
    row_weights = np.ones(len(rows)) if weights is None else weights[usable]
    # As frequent as they are here: the priors of queries may be others.
    frequencies = np.bincount(places, row_weights, minlength=rows.shape[1])
    with np.errstate(divide="ignore"):
        log_priors = np.log(frequencies / frequencies.sum())

    def loss(log_temperature: float) -> float:
        log_probs = class_log_probs(rows, log_priors, math.exp(log_temperature))
        return float(-row_weights @ log_probs[np.arange(len(rows)), places])

    def penalised(log_temperature: float) -> float:
        return loss(log_temperature) + log_temperature**2 / 2

    bounds = math.log(COLDEST), math.log(HOTTEST)
    best = min(
        0.0,
        float(minimize_scalar(penalised, bounds=bounds, method="bounded").x),
        key=penalised,
    )
    total = float(row_weights.sum())
    return Calibration(math.exp(best), len(rows), loss(0.0) / total, loss(best) / total)
