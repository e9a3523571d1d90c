"""What classes of rows say where numbers are known to lie in intervals.

One interval in a class is integrated exactly; several, where covariances are full, by quasi Monte Carlo: the
intervals are drawn from one after the other, each given those before it (Geweke, Hajivassiliou and Keane),
at the points of a lattice that is shifted eight times. The shifts tell the error, and points are added until
it is small. Every point is a row with plain numbers, so all other queries are the same as ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

from tacit.errors import ArgumentError, IntegrationWarning
from tacit.numbers.query.gaussian import fill
from tacit.numbers.query.gaussian import sample as sample_gaussian
from tacit.numbers.query.gaussian_classes import ClassesGiven, drawn_codes, log_joint

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.numbers.model.experts import Expert
    from tacit.numbers.model.gaussian import Gaussian

Array = NDArray[np.float64]
Soft = Mapping[int, Array]

# Of the probability of the intervals, relative: the error that is aimed at, and the one that is reported.
AIM, REPORTED = 1e-3, 1e-2
SHIFTS = 8
POINTS = (64, 256, 1024)  # of each shift
POINTS_OF_ONE = 256  # of a single interval, which needs no shifts
MOST_ATOMIC = 8  # columns that are given as intervals with atoms in them
# A class with less of the mass than this, as a logarithm, is left out; so is a point.
_LEAST = -25.0
_FARTHEST = 40.0  # standard deviations from the middle, where there is no mass left
# Rows that are proposed for draws within several intervals, at least, and for each draw.
_PROPOSALS, _PROPOSALS_PER_DRAW = 4096, 8
_PRIMES = (
    2,
    3,
    5,
    7,
    11,
    13,
    17,
    19,
    23,
    29,
    31,
    37,
    41,
    43,
    47,
    53,
    59,
    61,
    67,
    71,
    73,
    79,
    83,
    89,
)


@dataclass(frozen=True, eq=False)
class _Case:
    """A class in which some of the intervals hold an atom, and the others a number beside the atoms."""

    component: int
    log_joint: float  # of the class, what is observed, and where the atoms are
    at_atoms: tuple[int, ...]  # columns of numbers
    inside: tuple[int, ...]  # the others
    low: Array  # (inside,) coordinates
    high: Array


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Points of the intervals of a case, with the logarithm of the mass that each stands for."""

    case: _Case
    rows: Array  # (point, number)
    log_masses: Array  # (point,)
    variance: float  # of the sum of the masses, relative to exp(case.log_joint)


def classes_within(
    expert: Expert, table: MixedTable, soft: Soft, intervals: Soft, targets: Sequence[int]
) -> ClassesGiven:
    """What the classes of an expert say of a row, and of some coordinates, given intervals of others.

    Parameters
    ----------
    expert : Expert
    table : MixedTable
        One row, in which the numbers that are given as intervals are missing.
    soft : mapping of column of categories to (1, category) likelihoods
    intervals : mapping of column of numbers to (1, 2) ends
    targets : sequence of int
        Columns of numbers.
    """
    joint, means, deviations, classes = [], [], [], []
    for nodes in _all_nodes(expert, table, soft, intervals):
        component = nodes.case.component
        if expert.classes.is_diagonal:
            mean = np.broadcast_to(expert.classes.means[component, targets], (1, len(targets)))
            spread = expert.classes.covariances[component, targets][None]
        else:
            filled = fill(expert.classes.gaussians[component], nodes.rows, variances=True)
            mean, spread = filled.values[:, targets], filled.variances[:, targets]
        joint.append(nodes.case.log_joint + nodes.log_masses)
        means.append(mean)
        deviations.append(np.sqrt(np.maximum(spread, 0.0)))
        classes.append(np.full(len(nodes.log_masses), component))
    return ClassesGiven(
        np.concatenate(joint)[None],
        np.concatenate(means)[None],
        np.concatenate(deviations)[None],
        np.concatenate(classes),
    )


def sampled_within(
    expert: Expert,
    table: MixedTable,
    n: int,
    rng: np.random.Generator,
    soft: Soft,
    intervals: Soft,
) -> tuple[Array, NDArray[np.integer]]:
    """Rows drawn given one row of evidence and intervals: (draw, number) coordinates, (draw, table) codes.

    Several intervals are drawn by resampling of proposals, at least 4,096.
    """
    every = list(_all_nodes(expert, table, soft, intervals))
    masses = np.array([nodes.case.log_joint + logsumexp(nodes.log_masses) for nodes in every])
    chosen = drawn_codes(np.exp(masses - logsumexp(masses))[None].repeat(n, axis=0), rng)
    classes, (_, known_codes) = expert.classes, expert.coordinates(table)
    numbers = np.empty((n, classes.means.shape[1]))
    codes = np.tile(known_codes, (n, 1))
    for place in np.unique(chosen):
        case, draws = every[place].case, np.flatnonzero(chosen == place)
        numbers[draws] = _drawn_numbers(expert, case, table, len(draws), rng)
        for column, chances in enumerate(classes.tables):
            allowed = chances[case.component] * soft.get(column, np.ones((1, 1)))[0]
            for number in intervals:
                if number in expert.atoms.columns and expert.code_of_atoms(number) == column:
                    allowed = allowed * _allowed(expert, case, number, intervals[number][0])
            drawn = drawn_codes(np.tile(allowed, (len(draws), 1)), rng)
            codes[draws, column] = np.where(codes[draws, column] < 0, drawn, codes[draws, column])
    return numbers, codes


def _allowed(expert: Expert, case: _Case, column: int, ends: Array) -> Array:
    """(code,) which codes of a column with atoms are possible in a case."""
    atoms = expert.atoms.of_column[column]
    inside = (atoms >= ends[0]) & (atoms <= ends[1]) & (column in case.at_atoms)
    return np.append(column not in case.at_atoms, inside).astype(np.float64)


def _drawn_numbers(
    expert: Expert, case: _Case, table: MixedTable, n: int, rng: np.random.Generator
) -> Array:
    """(draw, number) coordinates: the intervals first, then all that is missing given them."""
    known = expert.coordinates(table)[0]
    if expert.classes.is_diagonal:
        rows = np.tile(known, (n, 1))
        mean = expert.classes.means[case.component]
        deviation = np.sqrt(expert.classes.covariances[case.component])
        free = mean + deviation * rng.standard_normal(rows.shape)
        for column, low, high in zip(case.inside, case.low, case.high, strict=True):
            ends = (np.array([low, high]) - mean[column]) / deviation[column]
            inside, _ = _truncated(np.full(n, ends[0]), np.full(n, ends[1]), rng.random(n))
            free[:, column] = mean[column] + deviation[column] * inside
        return np.where(np.isnan(rows), free, rows)
    gaussian = expert.classes.gaussians[case.component]
    n_proposals = n if len(case.inside) < 2 else max(_PROPOSALS, _PROPOSALS_PER_DRAW * n)
    uniforms = rng.random((n_proposals, len(case.inside)))
    rows, log_masses = _points(gaussian, known[0], case, uniforms)
    if n_proposals > n:
        rows = rows[drawn_codes(np.exp(log_masses - log_masses.max())[None].repeat(n, axis=0), rng)]
    return sample_gaussian(gaussian, rows, rng)


def _all_nodes(expert: Expert, table: MixedTable, soft: Soft, intervals: Soft) -> Iterator[_Nodes]:
    """The points of all cases with a noticeable part of the mass; a warning where their sum is unsure."""
    known = expert.coordinates(table)[0][0]
    every: list[_Nodes] = []
    best = -np.inf
    for case in sorted(_cases(expert, table, soft, intervals), key=lambda one: -one.log_joint):
        if case.log_joint < best + _LEAST:  # an upper bound of its mass
            break
        nodes = _nodes(expert, known, case)
        every.append(nodes)
        best = max(best, case.log_joint + float(logsumexp(nodes.log_masses)))
    with np.errstate(divide="ignore"):
        errors = [
            nodes.case.log_joint - best + 0.5 * float(np.log(nodes.variance)) for nodes in every
        ]
    error = float(np.sqrt(np.exp(2.0 * np.array(errors)).sum()))
    masses = [nodes.case.log_joint - best + float(logsumexp(nodes.log_masses)) for nodes in every]
    mass = float(np.exp(masses).sum())
    if error > REPORTED * mass:
        warnings.warn(
            f"the probability of {len(intervals)} intervals together is known to {error / mass:.1%}; "
            "give fewer or wider ones",
            IntegrationWarning,
            stacklevel=2,
        )
    for nodes in every:
        keep = nodes.case.log_joint + nodes.log_masses > best + _LEAST - np.log(len(nodes.rows))
        if keep.any():
            yield _Nodes(nodes.case, nodes.rows[keep], nodes.log_masses[keep], nodes.variance)


def _cases(expert: Expert, table: MixedTable, soft: Soft, intervals: Soft) -> Iterator[_Case]:
    """All classes, and all ways to have atoms in the intervals or not."""
    classes, continuous = expert.classes, expert.scores.schema.continuous
    joint = log_joint(classes, *expert.coordinates(table), soft)[0]
    logs = _log_chances(expert, intervals)
    atomic = [column for column in intervals if (column, True) in logs]
    if len(atomic) > MOST_ATOMIC:
        raise ArgumentError(
            f"{len(atomic)} intervals hold values that have a probability; give at most {MOST_ATOMIC} such"
        )
    for pattern in product((False, True), repeat=len(atomic)):
        at_atoms = tuple(column for column, is_at in zip(atomic, pattern, strict=True) if is_at)
        beside = tuple(column for column in intervals if column not in at_atoms)
        total = joint + sum(logs[column, column in at_atoms] for column in intervals)
        ends = [expert.scores.scores(continuous[j], intervals[j][0]) for j in beside]
        low, high = np.array(ends).reshape(-1, 2).T
        for component in range(classes.n_components):
            yield _Case(component, float(total[component]), at_atoms, beside, low, high)


def _log_chances(expert: Expert, intervals: Soft) -> dict[tuple[int, bool], Array]:
    """(component,) log-probabilities to be beside the atoms, and at one in the interval, by column."""
    logs = {}
    for column, ends in intervals.items():
        chances = expert.table_of_atoms(column)
        if chances is None:
            logs[column, False] = np.zeros(expert.classes.n_components)
            continue
        atoms = expert.atoms.of_column[column]
        inside = np.flatnonzero((atoms >= ends[0, 0]) & (atoms <= ends[0, 1]))
        logs[column, False] = np.log(chances[:, 0])
        if len(inside):
            logs[column, True] = np.log(chances[:, 1 + inside].sum(axis=1))
    return logs


def _nodes(expert: Expert, known: Array, case: _Case) -> _Nodes:
    """The points of a case: one where nothing is to be integrated, more where their sum is unsure."""
    if not case.inside:
        return _Nodes(case, known[None], np.zeros(1), 0.0)
    if expert.classes.is_diagonal:
        mean = expert.classes.means[case.component, case.inside]
        deviation = np.sqrt(expert.classes.covariances[case.component, case.inside])
        low, high = (case.low - mean) / deviation, (case.high - mean) / deviation
        _, masses = _truncated(low, high, np.full(len(low), 0.5))
        log_mass = np.log(np.maximum(masses, 1e-300)).sum(keepdims=True)
        return _Nodes(case, known[None], log_mass, 0.0)
    gaussian = expert.classes.gaussians[case.component]
    if len(case.inside) == 1:
        uniforms = ((np.arange(POINTS_OF_ONE) + 0.5) / POINTS_OF_ONE)[:, None]
        rows, log_masses = _points(gaussian, known, case, uniforms)
        return _Nodes(case, rows, log_masses - np.log(POINTS_OF_ONE), 0.0)
    for n in POINTS:
        uniforms = lattice(n, len(case.inside))
        rows, log_masses = _points(gaussian, known, case, uniforms)
        by_shift = np.exp(log_masses).reshape(SHIFTS, n).mean(axis=1)
        error = float(by_shift.std(ddof=1)) / np.sqrt(SHIFTS)
        if error <= AIM * by_shift.mean():
            break
    return _Nodes(case, rows, log_masses - np.log(len(rows)), error**2)


def lattice(n: int, d: int) -> Array:
    """(shift * point, dimension) points of the unit cube that fill it evenly, eight times.

    Examples
    --------
    >>> lattice(4, 2).shape
    (32, 2)
    """
    steps = np.sqrt(
        np.resize(np.array(_PRIMES, dtype=np.float64), d) + np.arange(d) // len(_PRIMES)
    )
    points = np.arange(1, n + 1)[:, None] * (steps % 1.0)
    shifts = np.random.default_rng(0).random((SHIFTS, 1, d))
    shifted = (points + shifts) % 1.0
    return np.asarray(1.0 - np.abs(2.0 * shifted - 1.0)).reshape(-1, d)  # smooth at the ends


def _points(gaussian: Gaussian, known: Array, case: _Case, uniforms: Array) -> tuple[Array, Array]:
    """Rows with points of the intervals filled in, and the logarithm of the mass of each draw."""
    inside, observed = np.array(case.inside, dtype=np.int64), np.flatnonzero(~np.isnan(known))
    covariance = gaussian.covariance
    gain = np.linalg.solve(
        covariance[np.ix_(observed, observed)], covariance[np.ix_(observed, inside)]
    ).T
    mean = gaussian.mean[inside] + gain @ (known - gaussian.mean)[observed]
    rest = covariance[np.ix_(inside, inside)] - gain @ covariance[np.ix_(observed, inside)]
    scale = np.sqrt(np.diagonal(rest))
    # The narrowest come first: what is drawn later has little left to differ by.
    masses = ndtr((case.high - mean) / scale) - ndtr((case.low - mean) / scale)
    order = np.argsort(masses, kind="stable")
    factor = np.linalg.cholesky(rest[np.ix_(order, order)])
    low, high = (case.low - mean)[order], (case.high - mean)[order]
    steps, log_masses = np.zeros(uniforms.shape), np.zeros(len(uniforms))
    for place in range(len(order)):
        shift = steps[:, :place] @ factor[place, :place]
        size = factor[place, place]
        steps[:, place], mass = _truncated(
            (low[place] - shift) / size, (high[place] - shift) / size, uniforms[:, place]
        )
        log_masses += np.log(np.maximum(mass, 1e-300))
        np.clip(steps[:, place], -_FARTHEST, _FARTHEST, out=steps[:, place])
    rows = np.tile(known, (len(uniforms), 1))
    rows[:, inside[order]] = mean[order] + steps @ factor.T
    return rows, log_masses


def _truncated(low: Array, high: Array, uniforms: Array) -> tuple[Array, Array]:
    """Standard normal numbers between two ends by their distribution function, and the mass between them."""
    flip = (
        low > 0
    )  # in the upper tail, look from above: masses there are small numbers, not nearly one
    below = ndtr(np.where(flip, -high, low))
    above = ndtr(np.where(flip, -low, high))
    level = np.where(flip, 1.0 - uniforms, uniforms)
    with np.errstate(divide="ignore"):
        drawn = ndtri(below + level * (above - below))
    drawn = np.where(flip, -drawn, drawn)
    # Where the mass is below the smallest number, the end that is nearer to the middle.
    nearest = np.where(flip, low, np.minimum(high, 0.0))
    drawn = np.where(np.isfinite(drawn), drawn, nearest)
    return np.clip(drawn, low, high), above - below
