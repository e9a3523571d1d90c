"""How far an estimate is from a known truth, judged on rows drawn from the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError

Array = NDArray[np.float64]


def l1_error(log_prob_true: ArrayLike, log_prob: ArrayLike, sign: ArrayLike | None = None) -> float:
    """The mean of ``|P̂(x) - P(x)| / P(x)`` over rows x drawn from P: the error of Parikh's thesis.

    It estimates the L1 distance between the two distributions, the sum of ``|P̂ - P|`` over all rows there
    could be. So P̂ = 0 everywhere has error 1, a few rows with P̂ far above P dominate it, and it hardly
    minds P̂ that are too small or negative: look at `kl` too.

    Parameters
    ----------
    log_prob_true : (row,)
        Natural log of P at rows drawn from P.
    log_prob : (row,)
        Natural log of the estimate P̂ at the same rows, or of its absolute value; -inf where it is zero.
    sign : (row,), optional
        Signs of the estimate, where it may be negative.

    Returns
    -------
    float
        Not negative; inf if some P̂ is beyond all numbers.

    Examples
    --------
    >>> l1_error(np.log([0.5, 0.5]), np.log([0.25, 0.5]))
    0.25
    """
    truth, estimate = _checked(log_prob_true, log_prob)
    with np.errstate(over="ignore"):
        ratio = np.exp(estimate - truth)
    if sign is not None:
        ratio = ratio * _checked(log_prob_true, sign)[1]
    return float(np.mean(np.abs(ratio - 1.0)))


def kl(log_prob_true: ArrayLike, log_prob: ArrayLike) -> float:
    """The mean of log P(x) - log P̂(x) over rows x drawn from P, in nats per row.

    It estimates the Kullback-Leibler divergence of the estimate from the truth, and may come out slightly
    negative for a good estimate and few rows; it is also how much the held-out log-likelihood falls short.

    Parameters
    ----------
    log_prob_true, log_prob : (row,)
        Natural logs of P and of the estimate, at rows drawn from P. Estimates that can be zero or negative
        must be repaired first; a row with -inf makes the answer inf.

    Examples
    --------
    >>> kl([0.0, -1.0], [-0.5, -1.5])
    0.5
    """
    truth, estimate = _checked(log_prob_true, log_prob)
    return float(np.mean(truth - estimate))


def _checked(log_prob_true: ArrayLike, other: ArrayLike) -> tuple[Array, Array]:
    truth, numbers = _numbers(log_prob_true), _numbers(other)
    if truth.ndim != 1 or truth.shape != numbers.shape or len(truth) == 0:
        raise ArgumentError(
            f"one number per row is needed for truth and estimate, not {truth.shape} and "
            f"{numbers.shape} of them"
        )
    if not np.isfinite(truth).all():
        raise ArgumentError("a row has no finite log-probability under the truth it was drawn from")
    if np.isnan(numbers).any():
        raise ArgumentError("the estimate is NaN at some row; repair it first")
    return truth, numbers


def _numbers(values: ArrayLike) -> Array:
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{shown(values)} is given; give a number for each row") from error
