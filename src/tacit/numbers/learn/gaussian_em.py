"""Gaussians made likelier: EM for tables with missing cells, and correlations along the edges of a tree."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ConvergenceWarning
from tacit.numbers.model.gaussian import CorrelationTree, Gaussian
from tacit.numbers.query.gaussian import fill

Array = NDArray[np.float64]

# Steps gain less than this many nats per row and column at the end.
TOLERANCE = 1e-5
# Of a covariance of standardised columns that EM may leap to.
LEAST_EIGENVALUE = 1e-6
# Numbers that differ by less than this share of their size are the same,
ROUNDING = 1e-12
# and get this share of it (or of one) as their standard deviation, so that they have a density.
CONSTANT_SCALE = 1e-6


@dataclass(frozen=True, eq=False)
class Fitted:
    """A Gaussian, and how it was come by."""

    gaussian: Gaussian
    trace: tuple[float, ...]  # penalised log-likelihood per row at each step that was kept
    converged: bool


def gaussian_em(
    rows: Array,
    weights: Array | None = None,
    *,
    prior: float = 1.0,
    tol: float = TOLERANCE,
    max_iter: int = 100,
) -> Fitted:
    """Mean and covariance of rows with missing cells, by EM (Dempster, Laird and Rubin 1977).

    Without missing cells this is the mean and the covariance itself, in one step.

    Parameters
    ----------
    rows : (row, coordinate)
        NaN is missing; every coordinate is there in some row.
    weights : (row,), optional
        How much each row counts.
    prior : float
        As many rows more without any correlation. It keeps the covariance away from singular ones.
    tol : float
        EM ends when a step gains less than this many nats per row and column.
    max_iter : int
        Rounds of two steps and a leap.

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
    each = np.ones(len(rows)) if weights is None else weights
    start = independent(rows, each)
    scale = start.scale
    # In units of standard deviations, around the means: the same for all columns, and no digits are lost.
    standard = (rows - start.mean) / scale
    found = _standard_em(standard, each, prior, tol, max_iter)
    return Fitted(
        Gaussian(
            start.mean + scale * found.gaussian.mean,
            found.gaussian.covariance * np.multiply.outer(scale, scale),
        ),
        found.trace,
        found.converged,
    )


def independent(rows: Array, weights: Array) -> Gaussian:
    """Means and variances of the columns, each over the rows that have it; nothing is correlated."""
    there = ~np.isnan(rows)
    counts = np.maximum((weights[:, None] * there).sum(axis=0), 1e-300)
    mean = (weights[:, None] * np.where(there, rows, 0.0)).sum(axis=0) / counts
    apart = np.where(there, rows - mean, 0.0)
    variance = (weights[:, None] * apart**2).sum(axis=0) / counts
    constant = np.sqrt(variance) <= ROUNDING * np.abs(mean)
    scale = CONSTANT_SCALE * np.maximum(np.abs(mean), 1.0)
    return Gaussian(mean, np.diag(np.where(constant, scale**2, variance)))


def _standard_em(rows: Array, weights: Array, prior: float, tol: float, max_iter: int) -> Fitted:
    """EM of rows that have mean zero and variance one, as far as they are there."""
    d = rows.shape[1]
    complete = not np.isnan(rows).any()
    here = Gaussian(np.zeros(d), np.eye(d))
    value, there = _em_step(here, rows, weights, prior)
    trace = [value]
    for _ in range(max_iter):
        further, beyond = _em_step(there, rows, weights, prior)
        trace.append(further)
        if complete or further - value < tol * d:
            return Fitted(there, tuple(trace), converged=True)
        here = _leap(here, there, beyond)
        value, there = _em_step(here, rows, weights, prior)
        if value < further:  # too far
            value, there = _em_step(here := beyond, rows, weights, prior)
        trace.append(value)
    warnings.warn(
        f"EM stopped after max_iter={max_iter} rounds, before a step gained less than tol={tol} nats "
        f"per row and column; give more rounds or a larger tol",
        ConvergenceWarning,
        stacklevel=3,
    )
    return Fitted(here, tuple(trace), converged=False)


def _em_step(now: Gaussian, rows: Array, weights: Array, prior: float) -> tuple[float, Gaussian]:
    """What EM makes larger, per row, and the Gaussian that it goes to."""
    total = float(weights.sum())
    found = fill(now, rows, spread=True, weights=weights)
    value = float(weights @ found.log_density)
    # Of the prior's rows: the mean, and variances of one without correlations.
    value -= 0.5 * prior * (now.log_det + float(np.trace(now.precision)))
    mean = weights @ found.values / total
    apart = found.values - mean
    second = (weights[:, None] * apart).T @ apart + found.spread + prior * np.eye(len(mean))
    return value / total, Gaussian(mean, second / (total + prior))


def _leap(here: Gaussian, there: Gaussian, beyond: Gaussian) -> Gaussian:
    """Where two steps of EM lead if they are followed farther (Varadhan and Roland 2008)."""
    first = there.mean - here.mean, there.covariance - here.covariance
    change = (
        beyond.mean - there.mean - first[0],
        beyond.covariance - there.covariance - first[1],
    )
    size = math.sqrt(sum(float(np.sum(each**2)) for each in first))
    bend = math.sqrt(sum(float(np.sum(each**2)) for each in change))
    reach = size / max(bend, 1e-300)
    if reach <= 1.0 or not math.isfinite(reach * reach):
        return beyond
    mean = here.mean + 2 * reach * first[0] + reach**2 * change[0]
    covariance = here.covariance + 2 * reach * first[1] + reach**2 * change[1]
    smallest = np.linalg.eigvalsh(covariance)[0]
    return Gaussian(mean, covariance) if smallest > LEAST_EIGENVALUE else beyond


# -- correlations along a tree ---------------------------------------------------------------------


def tree_log_likelihood(tree: CorrelationTree, correlation: Array) -> float:
    """Natural log-likelihood per row of standardised columns with these correlations, less a constant.

    The constant, ``d log(2π) / 2``, is that of the number of columns alone.
    """
    factor = np.linalg.cholesky(tree.observed)
    inverse = np.linalg.inv(factor)
    half_log_det = float(np.log(np.diag(factor)).sum())
    return -half_log_det - 0.5 * float(np.sum((inverse @ correlation) * inverse))


def tree_step(tree: CorrelationTree, correlation: Array) -> tuple[float, Array, Array]:
    """A step of EM for the correlations along the edges; hidden nodes are what is missing.

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
    guess = every[:, :n] @ (inverse.T @ inverse)  # (node, column)  best linear guess of each node
    known = guess @ correlation  # (node, column)  E[node * column]

    def expected(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Array:
        """E[one * other | data] of pairs of nodes: what is left of the model's, and the data's."""
        left = every[ours, theirs] - np.einsum("ij,ij->i", guess[ours], every[theirs, :n])
        return np.asarray(left + np.einsum("ij,ij->i", known[ours], guess[theirs]))

    A, B, C = expected(below, below), expected(below, above), expected(above, above)
    r = tree.correlation[below]
    improved, slope = tree.correlation.copy(), np.zeros(len(tree.parent))
    improved[below] = B / np.sqrt(A * C)
    slope[below] = r + (B - r * C) - r * (A - 2 * r * B + r**2 * C) / (1 - r**2)
    return value, improved, slope


def fit_tree(
    tree: CorrelationTree, correlation: Array, *, tol: float = TOLERANCE, max_iter: int = 200
) -> CorrelationTree:
    """The correlations along the edges with the largest likelihood, as far as climbing leads from these.

    Distances that are joined to a tree use each pair for itself; the likelihood weighs all of them as their
    noise, and its dependence, asks for. The climb goes by limited-memory BFGS along the derivatives that a
    step of EM gives, in the inverse hyperbolic tangents of the correlations.

    Parameters
    ----------
    tree : CorrelationTree
        The start.
    correlation : (column, column)
        Of the data, positive definite, with ones on the diagonal.
    tol : float
        The climb ends when a step gains less than this many nats per row and column.
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
        strength = tree.correlation.copy()
        strength[below] = np.tanh(angles)
        return tree.replaced(strength)

    def loss(angles: Array) -> tuple[float, Array]:
        value, _, slope = tree_step(at(angles), correlation)
        return -value, -slope[below]

    edge = math.atanh(1.0 - 1e-7)  # farther out, rounding errors rule
    start = np.clip(np.arctanh(tree.correlation[below]), -edge, edge)
    least = tol * tree.n_observed / max(1.0, abs(loss(start)[0]))
    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-edge, edge)] * len(below),
        options={"maxiter": max_iter, "ftol": least, "gtol": 0.0},
    )
    better = at(found.x)
    improved = tree_log_likelihood(better, correlation) >= tree_log_likelihood(tree, correlation)
    return better if improved else tree
