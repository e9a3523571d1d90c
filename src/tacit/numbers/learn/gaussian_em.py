"""EM of Gaussians with missing cells, and maximum-likelihood correlations along the edges of a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, run_accelerated_em
from tacit.numbers.model.gaussian import CorrelationTree, Gaussian
from tacit.numbers.query.gaussian import fill

Array = NDArray[np.float64]

# Gain in nats per row and column below which EM stops.
TOLERANCE = 1e-5
# Of the covariance of standardised columns after an accelerated step.
MIN_EIGENVALUE = 1e-6
# A column is constant if its standard deviation is less than this, relative to its mean,
ROUNDING = 1e-12
# and then gets this standard deviation, relative to its mean (or to one), so that it has a density.
CONSTANT_SCALE = 1e-6


@dataclass(frozen=True, eq=False)
class Fitted:
    """A Gaussian, and the course of EM."""

    gaussian: Gaussian
    trace: tuple[float, ...]  # penalised log-likelihood per row at each accepted step
    converged: bool


def gaussian_em(
    rows: Array,
    weights: Array | None = None,
    *,
    prior: float = 1.0,
    tol: float = TOLERANCE,
    max_iter: int = 300,
) -> Fitted:
    """Mean and covariance of rows with missing cells, by accelerated EM (Dempster, Laird and Rubin 1977).

    Without missing cells this is the mean and the covariance itself, in one step.

    Parameters
    ----------
    rows : (row, coordinate)
        NaN is missing; every coordinate is observed in some row.
    weights : (row,), optional
        How much each row counts.
    prior : float
        Number of additional uncorrelated rows. Keeps the covariance away from singular ones.
    tol : float
        EM stops when a step gains less than this many nats per row and column.
    max_iter : int
        Steps at most.

    Returns
    -------
    Fitted
        Its trace never falls.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [2.0, np.nan], [1.0, 1.0], [3.0, 3.0]])
    >>> gaussian_em(rows, prior=0.0, tol=1e-10).gaussian.mean.round(3)
    array([1.5  , 1.786])
    """
    row_weights = np.ones(len(rows)) if weights is None else weights
    start = independent(rows, row_weights)
    scale = start.scale
    # Standardised, so that `tol` has one meaning for all columns and no digits are lost.
    standard = (rows - start.mean) / scale
    fitted = _standard_em(standard, row_weights, prior, tol, max_iter)
    return Fitted(
        Gaussian(
            start.mean + scale * fitted.gaussian.mean,
            fitted.gaussian.covariance * np.multiply.outer(scale, scale),
        ),
        fitted.trace,
        fitted.converged,
    )


def independent(rows: Array, weights: Array) -> Gaussian:
    """Means and variances of the columns over their observed cells, without correlations."""
    observed = ~np.isnan(rows)
    counts = np.maximum((weights[:, None] * observed).sum(axis=0), 1e-300)
    mean = (weights[:, None] * np.where(observed, rows, 0.0)).sum(axis=0) / counts
    centred = np.where(observed, rows - mean, 0.0)
    variance = (weights[:, None] * centred**2).sum(axis=0) / counts
    constant = np.sqrt(variance) <= ROUNDING * np.abs(mean)
    scale = CONSTANT_SCALE * np.maximum(np.abs(mean), 1.0)
    return Gaussian(mean, np.diag(np.where(constant, scale**2, variance)))


def _standard_em(rows: Array, weights: Array, prior: float, tol: float, max_iter: int) -> Fitted:
    """EM of standardised rows."""
    d = rows.shape[1]
    mass = np.ones(d + d * (d + 1) // 2)
    # Without missing cells the first step leads to the top.
    gain = tol * d if np.isnan(rows).any() else np.inf

    def step(values: Array) -> tuple[float, Array, Array]:
        value, improved = _em_step(_unpack(values, d), rows, weights, prior)
        return value, _pack(improved), mass

    em_run = run_accelerated_em(
        step,
        _pack(Gaussian(np.zeros(d), np.eye(d))),
        AbsoluteGain(gain),
        normalise=lambda values: _feasible(values, d),
        max_iter=max_iter,
    )
    return Fitted(_unpack(em_run.values, d), em_run.trace, em_run.converged)


def _em_step(now: Gaussian, rows: Array, weights: Array, prior: float) -> tuple[float, Gaussian]:
    """The objective per row, and the Gaussian of the next step."""
    total = float(weights.sum())
    filled = fill(now, rows, spread=True, weights=weights)
    value = float(weights @ filled.log_density)
    # The prior's rows lie at the mean, with variances of one and no correlations.
    value -= 0.5 * prior * (now.log_det + float(np.trace(now.precision)))
    mean = weights @ filled.values / total
    centred = filled.values - mean
    second = (weights[:, None] * centred).T @ centred + filled.spread + prior * np.eye(len(mean))
    return value / total, Gaussian(mean, second / (total + prior))


def _pack(gaussian: Gaussian) -> Array:
    """Exponentials of the mean and of the covariance's lower triangle: EM is accelerated in logarithms."""
    lower = gaussian.covariance[np.tril_indices(len(gaussian.mean))]
    return np.asarray(np.exp(np.concatenate([gaussian.mean, lower])))


def _unpack(values: Array, d: int) -> Gaussian:
    """The Gaussian of packed parameters."""
    logs = np.log(values)
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = logs[d:]
    return Gaussian(logs[:d], lower + np.tril(lower, -1).T)


def _feasible(values: Array, d: int) -> Array:
    """Packed parameters with finite logarithms and a positive definite covariance."""
    bounded = np.clip(values, 1e-250, 1e250)
    gaussian = _unpack(bounded, d)
    eigenvalues, vectors = np.linalg.eigh(gaussian.covariance)
    if eigenvalues[0] > MIN_EIGENVALUE:
        return np.asarray(bounded)
    covariance = (vectors * np.maximum(eigenvalues, MIN_EIGENVALUE)) @ vectors.T
    return _pack(Gaussian(gaussian.mean, covariance))


# -- correlations along a tree ---------------------------------------------------------------------


def tree_log_likelihood(tree: CorrelationTree, correlation: Array) -> float:
    """Natural log-likelihood per row of standardised columns with these correlations.

    Without the constant ``-d log(2π) / 2``.
    """
    factor = np.linalg.cholesky(tree.observed)
    inverse = np.linalg.inv(factor)
    half_log_det = float(np.log(np.diag(factor)).sum())
    return -half_log_det - 0.5 * float(np.sum((inverse @ correlation) * inverse))


def tree_step(tree: CorrelationTree, correlation: Array) -> tuple[float, Array, Array]:
    """A step of EM for the correlations along the edges; the hidden nodes are missing.

    Parameters
    ----------
    tree : CorrelationTree
    correlation : (column, column)
        Of the data, with ones on the diagonal.

    Returns
    -------
    value : float
        `tree_log_likelihood` at the tree.
    improved : (node,)
        The correlations of the next tree.
    slope : (node,)
        Derivatives of the value by the inverse hyperbolic tangents of the correlations: by Fisher's identity
        those of the expected log-likelihood of all nodes.
    """
    n, below = tree.n_observed, tree.order[1:]
    above = tree.parent[below]
    every = tree.matrix
    factor = np.linalg.cholesky(every[:n, :n])
    inverse = np.linalg.inv(factor)
    value = -float(np.log(np.diag(factor)).sum()) - 0.5 * float(
        np.sum((inverse @ correlation) * inverse)
    )
    predictor = every[:, :n] @ (
        inverse.T @ inverse
    )  # (node, column)  best linear predictor of each node
    known = predictor @ correlation  # (node, column)  E[node * column]

    def expected(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Array:
        """E[one * other | data] of pairs of nodes: the model's residual, and the predictors."""
        residual = every[ours, theirs] - np.einsum("ij,ij->i", predictor[ours], every[theirs, :n])
        return np.asarray(residual + np.einsum("ij,ij->i", known[ours], predictor[theirs]))

    A, B, C = expected(below, below), expected(below, above), expected(above, above)
    r = tree.correlation[below]
    improved, slope = tree.correlation.copy(), np.zeros(len(tree.parent))
    improved[below] = B / np.sqrt(A * C)
    slope[below] = r + (B - r * C) - r * (A - 2 * r * B + r**2 * C) / (1 - r**2)
    return value, improved, slope


def fit_tree(
    tree: CorrelationTree, correlation: Array, *, tol: float = TOLERANCE, max_iter: int = 200
) -> CorrelationTree:
    """Maximum-likelihood correlations along the edges: a local optimum from a start.

    Unlike distances fitted pair by pair, the likelihood accounts for the noise of all pairs and its
    dependence. Limited-memory BFGS in the inverse hyperbolic tangents of the correlations, with the gradient
    that a step of EM gives.

    Parameters
    ----------
    tree : CorrelationTree
        The start.
    correlation : (column, column)
        Of the data, positive definite, with ones on the diagonal.
    tol : float
        Stops when a step gains less than this many nats per row and column.
    max_iter : int

    Returns
    -------
    CorrelationTree
        Never less likely than the start.
    """
    from scipy.optimize import minimize

    below = tree.order[1:]
    if len(below) == 0:
        return tree

    def at(angles: Array) -> CorrelationTree:
        correlations = tree.correlation.copy()
        correlations[below] = np.tanh(angles)
        return tree.replaced(correlations)

    def loss(angles: Array) -> tuple[float, Array]:
        value, _, slope = tree_step(at(angles), correlation)
        return -value, -slope[below]

    edge = math.atanh(1.0 - 1e-7)  # beyond it rounding errors dominate
    start = np.clip(np.arctanh(tree.correlation[below]), -edge, edge)
    ftol = tol * tree.n_observed / max(1.0, abs(loss(start)[0]))
    optimum = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-edge, edge)] * len(below),
        options={"maxiter": max_iter, "ftol": ftol, "gtol": 0.0},
    )
    polished = at(optimum.x)
    improved = tree_log_likelihood(polished, correlation) >= tree_log_likelihood(tree, correlation)
    return polished if improved else tree
