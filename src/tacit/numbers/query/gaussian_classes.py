"""Densities and conditionals of classes of rows, for rows with missing cells; all exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tacit.numbers.model.gaussian_classes import GaussianClasses
from tacit.numbers.query.gaussian import fill, sample

Array = NDArray[np.float64]
Codes = NDArray[np.integer]
Soft = Mapping[int, Array]  # (row, category) likelihoods, by column of categories

_LOG_TWO_PI = float(np.log(2 * np.pi))
_LEAST = 1e-300


def log_joint(
    classes: GaussianClasses, numbers: Array, codes: Codes, soft: Soft | None = None
) -> Array:
    """(row, component) natural log of weight times density of what was observed of each row.

    Parameters
    ----------
    classes : GaussianClasses
    numbers : (row, number)
        NaN is missing.
    codes : (row, column of categories)
        -1 is missing.
    soft : mapping of column of categories to (row, category) likelihoods, optional
        Used where the cell is missing.
    """
    joint = np.tile(classes.log_weights, (len(numbers), 1))
    for column, table in enumerate(classes.tables):
        padded = np.vstack([np.log(table.T), np.zeros(len(table))])  # the last for -1
        joint += padded[codes[:, column]]
        if soft is not None and column in soft:
            likelihoods = np.log(np.maximum(soft[column] @ table.T, _LEAST))
            joint += np.where(codes[:, column, None] < 0, likelihoods, 0.0)
    if numbers.shape[1] == 0:
        return joint
    if classes.is_diagonal:
        return joint + _log_independent(classes, numbers)
    for component, gaussian in enumerate(classes.gaussians):
        joint[:, component] += fill(gaussian, numbers).log_density
    return joint


def _log_independent(classes: GaussianClasses, numbers: Array) -> Array:
    """(row, component) sums of the log-densities of observed numbers, each for itself."""
    logs = np.empty((len(numbers), classes.n_components))
    deviations = np.sqrt(classes.covariances)
    for component, (mean, deviation) in enumerate(zip(classes.means, deviations, strict=True)):
        cells = -0.5 * ((numbers - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * _LOG_TWO_PI
        logs[:, component] = np.nansum(cells, axis=1)
    return logs


@dataclass(frozen=True, eq=False)
class ClassesGiven:
    """What the components say of rows, and of some coordinates that are missing there.

    A part is a component, or a point of one: see `numbers.query.intervals`.
    """

    joint: Array  # (row, part)  see `log_joint`
    means: Array  # (row, part, target)  conditional; of no use where the target is observed
    deviations: Array  # (row, part, target)
    component: NDArray[np.integer] | None = None  # (part,); None where parts are the components

    @property
    def weights(self) -> Array:
        """(row, part) P(part | row)."""
        return posterior(self.joint)

    def of_components(self, n_components: int) -> Array:
        """(row, component) P(component | row)."""
        if self.component is None:
            return self.weights
        return np.asarray(self.weights @ np.eye(n_components)[self.component])

    def at_parts(self, table: Array) -> Array:
        """(part, ...) the rows of a table of components."""
        return table if self.component is None else table[self.component]

    @classmethod
    def of(
        cls,
        classes: GaussianClasses,
        numbers: Array,
        codes: Codes,
        soft: Soft | None,
        targets: Sequence[int],
    ) -> ClassesGiven:
        """That of some rows; see `log_joint`. `targets` are coordinates of numbers."""
        if not targets or classes.is_diagonal:
            joint = log_joint(classes, numbers, codes, soft)
            shape = (len(numbers), classes.n_components, len(targets))
            means = np.broadcast_to(classes.means[:, targets], shape)
            if classes.is_diagonal:
                deviations = np.broadcast_to(np.sqrt(classes.covariances[:, targets]), shape)
            else:
                deviations = np.empty(shape)
            return cls(joint, means, deviations)
        joint = log_joint(classes, numbers[:, :0], codes, soft)
        means = np.empty((*joint.shape, len(targets)))
        deviations = np.empty_like(means)
        for component, gaussian in enumerate(classes.gaussians):
            filled = fill(gaussian, numbers, variances=True)
            joint[:, component] += filled.log_density
            means[:, component] = filled.values[:, targets]
            deviations[:, component] = np.sqrt(np.maximum(filled.variances[:, targets], 0.0))
        return cls(joint, means, deviations)


def posterior(joint: Array) -> Array:
    """(row, component) P(component | row) from logarithms of joint densities."""
    return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))


def sampled_rows(
    classes: GaussianClasses,
    numbers: Array,
    codes: Codes,
    rng: np.random.Generator,
    soft: Soft | None = None,
) -> tuple[Array, Codes]:
    """The rows with missing cells drawn from their joint conditional distribution."""
    chosen = drawn_codes(posterior(log_joint(classes, numbers, codes, soft)), rng)
    numbers, codes = numbers.copy(), codes.copy()
    for component in np.unique(chosen) if numbers.shape[1] else ():
        rows = np.flatnonzero(chosen == component)
        if classes.is_diagonal:
            spread = np.sqrt(classes.covariances[component])
            drawn = classes.means[component] + spread * rng.standard_normal(numbers[rows].shape)
            numbers[rows] = np.where(np.isnan(numbers[rows]), drawn, numbers[rows])
        else:
            numbers[rows] = sample(classes.gaussians[component], numbers[rows], rng)
    for column, table in enumerate(classes.tables):
        chances = table[chosen] * (soft or {}).get(column, 1.0)
        drawn = drawn_codes(chances, rng)
        codes[:, column] = np.where(codes[:, column] < 0, drawn, codes[:, column])
    return numbers, codes


def drawn_codes(chances: Array, rng: np.random.Generator) -> Codes:
    """(row,) a code drawn from each row of chances, which need not sum to one."""
    below = np.cumsum(chances, axis=1)
    levels = rng.random((len(chances), 1)) * below[:, -1:]
    return np.asarray((below <= levels).sum(axis=1).clip(max=chances.shape[1] - 1))
