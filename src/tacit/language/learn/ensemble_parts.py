"""The low rank parts of power low rank ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.language.learn.block_matrix import BlockMatrix
from tacit.language.learn.ensemble_levels import OrderLevel
from tacit.language.learn.low_rank import (
    Factor,
    LowRank,
    collapsed_sweep,
    fit_low_rank,
    start_factors,
    sweep,
    with_exact_sums,
)
from tacit.language.model.ensemble import OrderPlan, Step

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]

# Of the start of slices: sweeps of EM, collapsed sweeps, and their prior.
START_SWEEPS, START_COLLAPSED, START_PRIOR = 5, 15, 6.0


@dataclass(frozen=True, eq=False)
class Slices:
    """The n-grams of an order as a matrix: contexts by n-grams without their first word.

    Above order two it consists of blocks (slices of the tensor), one for each sequence of words between the
    first and the last. Small blocks are left out.
    """

    matrix: BlockMatrix
    places: Integers  # (entry,)  n-grams
    small: Integers  # (n-gram of a small block,)


@dataclass(frozen=True, eq=False)
class Part:
    """One low rank part, fitted from several starts."""

    upper: Step
    lower: Step | None  # None for all that is discounted
    fits: tuple[LowRank, ...]


def slices_of(level: OrderLevel, below: OrderLevel, min_size: int) -> Slices:
    """The matrix of an order; blocks need more than `min_size` rows and columns."""
    observed = np.flatnonzero(level.counts > 0)
    if level.order == 2:
        row_blocks = column_blocks = np.zeros(len(below.table), np.int32)
        min_size = 0
    else:
        row_blocks, column_blocks = below.table.suffixes, below.contexts
    matrix = BlockMatrix.of(
        level.contexts[observed],
        level.table.suffixes[observed],
        row_blocks,
        column_blocks,
        min_size,
    )
    in_blocks = np.zeros(len(observed), bool)
    in_blocks[matrix.entries] = True
    return Slices(matrix, observed[matrix.entries], observed[~in_blocks])


def bounds(plan: OrderPlan) -> list[tuple[Step, Step | None]]:
    """The steps above and below each low rank part of a plan; None below the discount."""
    lower: list[Step | None] = [*plan.steps[2:], None]
    return list(zip(plan.steps[1:], lower, strict=True))[: len(plan.ranks)]


def part_values(level: OrderLevel, upper: Step, lower: Step | None) -> Array:
    """(gram,) the values that a part approximates."""
    values = level.step(upper)
    return values if lower is None else values - level.step(lower)


def fit_part(
    levels: Sequence[OrderLevel],
    order: int,
    slices: Slices,
    plan: OrderPlan,
    at: int,
    seeds: Sequence[np.random.SeedSequence],
    n_jobs: int = 1,
) -> Part:
    """Fit one low rank part of an order's plan from several starts."""
    level = levels[order - 1]
    upper, lower = bounds(plan)[at]
    values = part_values(level, upper, lower)[slices.places]
    fits = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        start = None
        if plan.informed and level.order > 2:
            start = informed_start(levels, order, slices, values, plan.ranks[at], rng, n_jobs)
        fits.append(
            fit_low_rank(
                slices.matrix,
                values,
                plan.ranks[at],
                n_sweeps=plan.n_sweeps,
                n_collapsed=plan.n_collapsed if level.order == 2 else 0,
                prior=plan.prior * level.unit(upper, lower),
                random_state=rng,
                start=start,
                n_jobs=n_jobs,
            )
        )
    return Part(upper, lower, tuple(fits))


def informed_start(
    levels: Sequence[OrderLevel],
    order: int,
    slices: Slices,
    values: Array,
    rank: int,
    rng: np.random.Generator,
    n_jobs: int = 1,
) -> tuple[Factor, Factor]:
    """Factors of all slices, from those of one matrix: first words by last words, summed over the middle.

    A slice has few entries; a few sweeps from here predict unseen ones better than many from a random start.
    """
    from scipy.sparse import csr_matrix

    below, matrix = levels[order - 2], slices.matrix
    n_words = len(levels[0].table)
    rows, columns = _inverse(matrix.row_places), _inverse(matrix.column_places)
    first, last = first_words(levels, order - 1)[rows], below.table.words[columns]
    cells = (np.repeat(first, np.diff(matrix.starts)), last[matrix.columns])
    pairs = csr_matrix((values, cells), (n_words, n_words))  # sums repeated pairs
    pair_rows = np.repeat(np.arange(n_words), np.diff(pairs.indptr))
    one_block = np.zeros(n_words, np.int32)
    all_pairs = BlockMatrix.of(pair_rows, pairs.indices, one_block, one_block)
    sums = pairs.data[all_pairs.entries]
    left, right = start_factors(all_pairs, rank, rng)
    left, right = sweep(all_pairs, sums, left, right, n_sweeps=START_SWEEPS, n_jobs=n_jobs)
    prior = START_PRIOR * (float(np.median(values)) if len(values) else 1.0)
    if all_pairs.n_blocks:
        left, right = collapsed_sweep(
            all_pairs, sums, left, right, n_sweeps=START_COLLAPSED, prior=prior, n_jobs=n_jobs
        )
    # Positive, so that rare words keep some probability.
    return (
        left[all_pairs.row_places[first]] + np.float32(1e-6),
        right[all_pairs.column_places[last]] + np.float32(1e-9),
    )


def first_words(levels: Sequence[OrderLevel], order: int) -> Ids:
    """(gram,) the first word of each n-gram of an order."""
    first = levels[0].table.words
    for level in levels[1:order]:
        first = first[level.contexts]
    return first


def combined(level: OrderLevel, slices: Slices, plan: OrderPlan, parts: Sequence[Part]) -> LowRank:
    """The weighted sum of all low rank parts of an order; starts are averaged."""
    n_rows, n_columns = slices.matrix.shape
    lefts, rights = [np.zeros((n_rows, 0), np.float32)], [np.zeros((n_columns, 0), np.float32)]
    target = np.zeros(len(slices.places))
    for weight, part in zip(plan.weights, parts, strict=True):
        target += weight * part_values(level, part.upper, part.lower)[slices.places]
        for fit in part.fits if weight > 0 else ():
            lefts.append(fit.left * np.float32(weight / len(part.fits)))
            rights.append(fit.right)
    left, right = np.concatenate(lefts, axis=1), np.concatenate(rights, axis=1)
    return with_exact_sums(slices.matrix, target, left, right)


def _inverse(places: Ids) -> Integers:
    """(new number,) the old numbers."""
    numbered = np.flatnonzero(places >= 0)
    old = np.empty(len(numbered), np.int64)
    old[places[numbered]] = numbered
    return old
