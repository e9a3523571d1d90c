"""EM for classes of rows with Gaussian numbers and independent categories, cells missing or not.

The logarithm of the density of a component is linear in features of a row: the numbers, their products and
indicators of the categories. So a step of EM over rows without gaps is two products of matrices, whatever the
number of components. A missing category has no indicator, and so has a missing number where covariances are
diagonal; elsewhere missing numbers have their conditional means and covariances in each component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, run_em
from tacit.core.linalg.kmeans import kmeans
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.model.gaussian_classes import GaussianClasses
from tacit.numbers.query.gaussian import fill, sample
from tacit.numbers.query.gaussian_classes import log_joint

Array = NDArray[np.float64]
Codes = NDArray[np.integer]

# EM stops when a step gains less than this many nats per row; more steps gained nothing on held-out rows.
TOLERANCE = 1e-3
MAX_STEPS = 100
# Steps over rows with gaps, which start from rows whose gaps were drawn: so many, and fewer where these rows,
# times components, times the square of the number of columns, are more.
GAP_STEPS, GAP_WORK = 6, 3_000_000
# Pseudo-counts of a category in a component, in rows.
TABLE_ROWS = 1.0
# Standard deviations of a column below which no component goes, in any direction.
FINEST = 1e-3
_SWEEPS = 20  # of k-means
_LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Rows:
    """Coordinates of rows, standardised."""

    numbers: Array  # (row, number)  NaN is missing
    codes: Codes  # (row, column of categories)  -1 is missing
    cards: tuple[int, ...]
    weights: Array  # (row,)
    floor: Array  # (number,)  smallest variances

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """(row, number)."""
        return np.isnan(self.numbers)

    @cached_property
    def indicators(self) -> Array:
        """(row, category of any column)."""
        blocks = [
            (self.codes[:, j, None] == np.arange(card)).astype(np.float64)
            for j, card in enumerate(self.cards)
        ]
        return np.hstack([np.empty((len(self.codes), 0)), *blocks])

    def take(self, rows: NDArray[Any]) -> Rows:
        """Some of the rows, by number or mask."""
        return replace(
            self, numbers=self.numbers[rows], codes=self.codes[rows], weights=self.weights[rows]
        )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Expected sums over rows, by component."""

    mass: Array  # (component,)
    observed: Array  # (component, number)  rows that have the number, or expect it
    first: Array  # (component, number)
    second: Array  # (component, number, number), or (component, number)
    counts: Array  # (component, category of any column)

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(
            self.mass + other.mass,
            self.observed + other.observed,
            self.first + other.first,
            self.second + other.second,
            self.counts + other.counts,
        )


@dataclass(frozen=True, eq=False)
class _Prior:
    """What is known of the covariances of components before any row."""

    rows: float
    scale: Array  # (number, number), or (number,)
    floor: Array  # (number,)

    @classmethod
    def of(
        cls, pooled: Gaussian, n_components: int, floor: Array, rows: float, *, diagonal: bool
    ) -> _Prior:
        """That of Fraley and Raftery (2007): the pooled covariance, less where components are many."""
        d = len(floor)
        shrunk = pooled.covariance * n_components ** (-2.0 / max(d, 1))
        return cls(rows, np.diag(shrunk).copy() if diagonal else shrunk, floor)

    def covariances(self, sums: _Sums, means: Array) -> Array:
        """The most probable covariances."""
        if self.scale.ndim == 1:
            spread = sums.second - sums.observed * means**2
            return np.maximum(
                (spread + self.rows * self.scale) / (sums.observed + self.rows), self.floor
            )
        outer = means[:, :, None] * means[:, None, :]
        spread = sums.second - sums.mass[:, None, None] * outer + self.rows * self.scale
        return _lifted(spread / (sums.mass + self.rows)[:, None, None], self.floor)

    def log_density(self, classes: GaussianClasses) -> float:
        """Of covariances and tables, up to a constant."""
        value = 0.0
        for table in classes.tables:
            value += TABLE_ROWS / table.shape[1] * float(np.log(table).sum())
        covariances = classes.covariances
        if covariances.shape[1] == 0:
            return value
        if classes.is_diagonal:
            terms = self.scale / covariances + np.log(covariances)
            return value - 0.5 * self.rows * float(terms.sum())
        _, log_dets = np.linalg.slogdet(covariances)
        traces = np.einsum("kij,ji->k", np.linalg.inv(covariances), self.scale)
        return value - 0.5 * self.rows * float((traces + log_dets).sum())


def _lifted(covariances: Array, floor: Array) -> Array:
    """The nearest covariances, in likelihood, with no variance below the floor in any direction."""
    scale = np.sqrt(floor)
    whitened = covariances / (scale[:, None] * scale)
    try:  # much faster than eigenvalues, and nearly always enough
        np.linalg.cholesky(whitened - np.eye(len(floor)))
    except np.linalg.LinAlgError:
        pass
    else:
        return covariances
    values, vectors = np.linalg.eigh(0.5 * (whitened + whitened.transpose(0, 2, 1)))
    low = values[:, :1] < 1.0 if values.shape[1] else values
    if not low.any():
        return covariances
    lifted = (vectors * np.maximum(values, 1.0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    lifted = 0.5 * (lifted + lifted.transpose(0, 2, 1)) * (scale[:, None] * scale)
    return np.where(low[:, :, None], lifted, covariances)


class _Complete:
    """Rows whose features are known: without gaps, or with diagonal covariances."""

    def __init__(self, rows: Rows, *, diagonal: bool) -> None:
        numbers = np.where(rows.absent, 0.0, rows.numbers)
        n, d = numbers.shape
        self.d, self.diagonal, self.weights = d, diagonal, rows.weights
        self.pairs = np.triu_indices(d)
        self.features = np.empty((n, 3 * d if diagonal else d + len(self.pairs[0])))
        self.features[:, :d] = numbers
        if diagonal:
            np.square(numbers, out=self.features[:, d : 2 * d])
            self.features[:, 2 * d :] = ~rows.absent
        else:
            for place, (i, j) in enumerate(zip(*self.pairs, strict=True)):
                np.multiply(numbers[:, i], numbers[:, j], out=self.features[:, d + place])
        self.indicators = rows.indicators

    def log_joint(self, classes: GaussianClasses) -> Array:
        """(row, component)."""
        constant = classes.log_weights.copy()
        means, covariances = classes.means, classes.covariances
        if self.diagonal:
            ends = -0.5 * (np.log(covariances) + means**2 / covariances + _LOG_TWO_PI)
            slopes = np.hstack([means / covariances, -0.5 / covariances, ends])
        else:
            precision = np.linalg.inv(covariances)
            linear = np.einsum("kij,kj->ki", precision, means)
            quadratic = -precision[:, self.pairs[0], self.pairs[1]]
            quadratic[:, self.pairs[0] == self.pairs[1]] *= 0.5
            slopes = np.hstack([linear, quadratic])
            _, log_dets = np.linalg.slogdet(covariances)
            constant -= 0.5 * ((means * linear).sum(axis=1) + log_dets + self.d * _LOG_TWO_PI)
        joint = self.features @ slopes.T + constant
        if self.indicators.shape[1]:
            joint += self.indicators @ np.log(np.hstack(classes.tables)).T
        return np.asarray(joint)

    def sums(self, posterior: Array, classes: GaussianClasses | None = None) -> _Sums:
        """Expected sums, from (row, component) posteriors times weights; nothing needs the classes."""
        totals, d = posterior.T @ self.features, self.d
        mass = posterior.sum(axis=0)
        if self.diagonal:
            second, observed = totals[:, d : 2 * d], totals[:, 2 * d :]
        else:
            second = np.empty((len(mass), d, d))
            second[:, self.pairs[0], self.pairs[1]] = totals[:, d:]
            second[:, self.pairs[1], self.pairs[0]] = totals[:, d:]
            observed = np.broadcast_to(mass[:, None], (len(mass), d))
        return _Sums(mass, observed, totals[:, :d], second, posterior.T @ self.indicators)


class _Gappy:
    """Rows with missing numbers, where covariances are full."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.weights = rows.weights

    def log_joint(self, classes: GaussianClasses) -> Array:
        """(row, component)."""
        return log_joint(classes, self.rows.numbers, self.rows.codes)

    def sums(self, posterior: Array, classes: GaussianClasses) -> _Sums:
        """Expected sums, from (row, component) posteriors times weights."""
        mass = posterior.sum(axis=0)
        first, second = np.zeros_like(classes.means), np.zeros_like(classes.covariances)
        for component, gaussian in enumerate(classes.gaussians):
            weights = posterior[:, component]
            filled = fill(gaussian, self.rows.numbers, spread=True, weights=weights)
            first[component] = weights @ filled.values
            second[component] = (filled.values * weights[:, None]).T @ filled.values + filled.spread
        observed = np.broadcast_to(mass[:, None], first.shape)
        return _Sums(mass, observed, first, second, posterior.T @ self.rows.indicators)


def fit_classes(
    rows: Rows,
    n_components: int,
    rng: np.random.Generator,
    *,
    diagonal: bool,
    pooled: Gaussian,
    prior_rows: float,
    start: GaussianClasses | None = None,
) -> GaussianClasses:
    """Classes of standardised rows by EM.

    Parameters
    ----------
    rows : Rows
    n_components : int
    rng : Generator
        Of the start, by k-means.
    diagonal : bool
    pooled : Gaussian
        Mean and covariance of all numbers, which the prior of the components follows from.
    prior_rows : float
        How many rows that prior counts for.
    start : GaussianClasses, optional
        Instead of k-means.
    """
    prior = _Prior.of(pooled, n_components, rows.floor, prior_rows, diagonal=diagonal)
    gaps = np.asarray(rows.absent.any(axis=1))
    if start is None:
        filled = rows
        if gaps.any():
            filled = replace(rows, numbers=sample(pooled, rows.numbers, rng))
        whole = [_Complete(filled if not diagonal else rows, diagonal=diagonal)]
        start = _improved(whole, _start(filled, n_components, prior, rng), prior, rows, MAX_STEPS)
        if diagonal or not gaps.any():
            return start
    parts: list[_Complete | _Gappy] = []
    if diagonal or not gaps.all():
        parts.append(_Complete(rows if diagonal else rows.take(~gaps), diagonal=diagonal))
    if not diagonal and gaps.any():
        parts.append(_Gappy(rows.take(gaps)))
    n_steps = MAX_STEPS
    if gaps.any() and not diagonal:
        work = int(gaps.sum()) * n_components * len(rows.floor) ** 2
        n_steps = min(GAP_STEPS, max(GAP_WORK // work, 1))
    return _improved(parts, start, prior, rows, n_steps)


def _start(
    rows: Rows, n_components: int, prior: _Prior, rng: np.random.Generator
) -> GaussianClasses:
    """The classes of a clustering of complete rows."""
    joint = np.hstack([rows.numbers, rows.indicators]).astype(np.float32)
    clusters = kmeans(joint, n_components, rng, max_iter=_SWEEPS, weights=rows.weights)
    posterior = (clusters.labels[:, None] == np.arange(n_components)) * rows.weights[:, None]
    part = _Complete(rows, diagonal=prior.scale.ndim == 1)
    return _maximised(part.sums(posterior), prior, rows.cards)


def _maximised(sums: _Sums, prior: _Prior, cards: Sequence[int]) -> GaussianClasses:
    """The M-step."""
    means = sums.first / np.maximum(sums.observed, 1e-10)
    weights = np.maximum(sums.mass, 1e-10)
    return GaussianClasses(
        weights / weights.sum(),
        means,
        prior.covariances(sums, means),
        _tables_from(sums.counts, cards),
    )


def _tables_from(counts: Array, cards: Sequence[int]) -> tuple[Array, ...]:
    """Tables of the columns of categories, from (component, category of any column) counts."""
    tables, start = [], 0
    for card in cards:
        block = counts[:, start : start + card] + TABLE_ROWS / card
        tables.append(block / block.sum(axis=1, keepdims=True))
        start += card
    return tuple(tables)


def single_class(rows: Rows, gaussian: Gaussian) -> GaussianClasses:
    """One class with a given Gaussian of the numbers; its categories have their frequencies in the rows."""
    return GaussianClasses(
        np.ones(1),
        gaussian.mean[None],
        _lifted(gaussian.covariance[None], rows.floor),
        _tables_from(rows.weights[None] @ rows.indicators, rows.cards),
    )


def _improved(
    parts: Sequence[_Complete | _Gappy],
    start: GaussianClasses,
    prior: _Prior,
    rows: Rows,
    n_steps: int,
) -> GaussianClasses:
    """The classes after EM from a start."""
    total = float(rows.weights.sum())

    def step(values: Array) -> tuple[float, Array, Array]:
        classes = _unpacked(values, start)
        value, sums = prior.log_density(classes), None
        for part in parts:
            joint = part.log_joint(classes)
            top = joint.max(axis=1, keepdims=True)
            posterior = np.exp(joint - top)
            mass = posterior.sum(axis=1, keepdims=True)
            value += float(part.weights @ (top + np.log(mass))[:, 0])
            posterior *= part.weights[:, None] / mass
            new = part.sums(posterior, classes)
            sums = new if sums is None else sums + new
        assert sums is not None
        return value / total, _packed(_maximised(sums, prior, rows.cards)), _NO_MASS

    run = run_em(
        step, _packed(start), AbsoluteGain(TOLERANCE), max_iter=max(n_steps, 1), warn=False
    )
    return _unpacked(run.values, start)


_NO_MASS = np.empty(0)  # plain steps do not use it


def _packed(classes: GaussianClasses) -> Array:
    arrays = (classes.weights, classes.means, classes.covariances, *classes.tables)
    return np.concatenate([array.ravel() for array in arrays])


def _unpacked(values: Array, like: GaussianClasses) -> GaussianClasses:
    arrays, place = [], 0
    for array in (like.weights, like.means, like.covariances, *like.tables):
        arrays.append(values[place : place + array.size].reshape(array.shape))
        place += array.size
    return GaussianClasses(arrays[0], arrays[1], arrays[2], tuple(arrays[3:]))
