"""Rows of numbers and categories as evidence about the leaves of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import BinEncoder
from tacit.errors import NotAvailableError
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.encoders.margins import Margin
    from tacit.core.input.mixed_table import MixedTable
    from tacit.messages.repairs import Repairs
    from tacit.messages.weighted_networks import Learnt

Array = NDArray[np.float64]

# Features of a block of rows: evidence about numbers is as wide as all features together.
BLOCK_BYTES = 1 << 25
# Smallest estimate of operators, relative to the independence model's.
FLOOR = 1e-3
# What a density counts for where an interval has no mass.
_HARDLY_ANY = 1e-16
# Intervals of equal mass into which masked numbers are cut.
N_INTERVALS = 16


def table_blocks(
    table: MixedTable, encoders: Sequence[Encoder]
) -> Iterator[tuple[slice, MixedTable]]:
    """Blocks of rows whose evidence fits into `BLOCK_BYTES`."""
    width = sum(encoders[leaf].size for leaf in table.schema.continuous) + 1
    size = max(256, BLOCK_BYTES // (8 * width))
    for start in range(0, table.n_rows, size):
        part = slice(start, min(start + size, table.n_rows))
        yield part, table if table.n_rows <= size else table.take(part)


def table_evidence(
    table: MixedTable, encoders: Sequence[Encoder], soft: Mapping[int, Array] | None = None
) -> Evidence:
    """Evidence about the leaves: codes of categories, likelihoods of numbers.

    Parameters
    ----------
    table : MixedTable
    encoders : sequence of Encoder
        One for each column.
    soft : mapping of column to array, optional
        Used where the cell is missing: (row, category) likelihoods of categories, (row, 2) ends of intervals
        of numbers.
    """
    codes = np.full((table.n_rows, len(encoders)), -1, dtype=np.int32, order="F")
    likelihoods: dict[int, Array] = dict(soft or {})
    signed = []
    for leaf, encoder in enumerate(encoders):
        values = table.column(leaf)
        if encoder.kind == "indicator":
            codes[:, leaf] = values
        elif leaf in likelihoods:
            likelihoods[leaf] = masses_in(encoder, likelihoods[leaf])
        elif not np.isnan(values).all():
            likelihoods[leaf] = encoder.likelihoods(values)
            signed.append(leaf)
    return Evidence(codes, likelihoods, frozenset(signed))


def masses_in(encoder: Encoder, ends: Array) -> Array:
    """(row, feature) the mass of each feature's density in an interval of each row, its ends included.

    Parameters
    ----------
    encoder : Encoder
    ends : (row, 2)
    """
    if not isinstance(encoder, BinEncoder):
        raise NotAvailableError(
            "intervals are evidence for trees of probability tables; fit with learn='auto'"
        )
    below = encoder.cumulative(np.nextafter(ends[:, 0], -np.inf))
    masses = np.maximum(encoder.cumulative(ends[:, 1]) - below, 0.0)
    nothing = np.flatnonzero(~(masses > 0).any(axis=1))
    if len(nothing):  # so far out the masses are rounding: as at the end that is nearer
        nearer = ends[nothing, np.abs(ends[nothing]).argmin(axis=1)]
        masses[nothing] = encoder.densities(nearer) * _HARDLY_ANY
    return masses


def log_densities(
    learnt: Learnt,
    table: MixedTable,
    encoders: Sequence[Encoder],
    margins: Sequence[Margin | Array] | None = None,
    *,
    soft: Mapping[int, Array] | None = None,
    negative: Any = "floor",
) -> tuple[Array, Repairs]:
    """Natural log of the density (probability, of categories) of what was observed of each row.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    table : MixedTable
    encoders : sequence of Encoder
    margins : sequence of Margin or (category,) array, optional
        The distribution of each column; needed where `learnt` are operators, whose estimates are floored at a
        thousandth of the product of these.
    soft : mapping, optional
        See `table_evidence`.
    negative : {"floor", "nan", "raise"}
        What becomes of estimates that are not positive.
    """
    from tacit.messages.repairs import Repairs

    values, repairs = np.empty(table.n_rows), Repairs()
    for part, rows in table_blocks(table, encoders):
        block_soft = {leaf: likelihoods[part] for leaf, likelihoods in (soft or {}).items()}
        independent = None if margins is None else _independent(rows, margins)
        evidence = table_evidence(rows, encoders, block_soft)
        block = log_prob(learnt, evidence, negative=negative, independent=independent)
        values[part] = block.values
        if independent is not None and negative == "floor":
            np.maximum(block.values, independent + np.log(FLOOR), out=values[part])
        repairs += block.repairs
    return values, repairs


def cell_predictions(
    learnt: Learnt,
    table: MixedTable,
    encoders: Sequence[Encoder],
    leaves: Sequence[int],
    *,
    median: bool = False,
) -> tuple[dict[int, Array], Repairs]:
    """Predictions of the cells of some columns from the other cells of each row.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    table : MixedTable
    encoders : sequence of Encoder
    leaves : sequence of int
    median : bool
        Medians of numbers instead of means.

    Returns
    -------
    dict
        By leaf: (row,) means or medians of numbers, (row, category) probabilities of categories.
    Repairs
    """
    from tacit.messages.conditionals import conditionals
    from tacit.messages.repairs import Repairs
    from tacit.numbers.query.densities import leaf_coefficients

    continuous = [leaf for leaf in leaves if leaf in table.schema.continuous]
    coded = [leaf for leaf in leaves if leaf not in table.schema.continuous]
    parts: dict[int, list[Array]] = {leaf: [] for leaf in leaves}
    repairs = Repairs()
    for _, rows in table_blocks(table, encoders) if leaves else ():
        evidence = table_evidence(rows, encoders)
        # The cell itself has no part in these, so that one pass serves all columns.
        coefficients = leaf_coefficients(learnt, evidence, continuous, encoders)
        for leaf, column in zip(continuous, coefficients, strict=True):
            parts[leaf].append(column.medians() if median else column.expectations())
            repairs += column.repairs()
        beliefs = conditionals(learnt, evidence, coded)
        for leaf, probabilities in zip(coded, beliefs.tables, strict=True):
            parts[leaf].append(probabilities)
        repairs += beliefs.repairs
    return {leaf: np.concatenate(blocks) for leaf, blocks in parts.items()}, repairs


def log_conditionals(
    learnt: Learnt,
    table: MixedTable,
    masked: NDArray[np.bool_],
    encoders: Sequence[Encoder],
    margins: Sequence[Margin | Array],
) -> Array:
    """(row,) Sum of the log-probabilities of the masked cells of a row, each given the others.

    Of a number, the probability of its interval among sixteen of equal mass: the density at a value that
    occurs often has no bound.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    table : MixedTable
    masked : (row, column) array of bool
    encoders : sequence of Encoder
    margins : sequence of Margin or (category,) array
        The distribution of each column; estimates are floored at a thousandth of it.
    """
    from tacit.numbers.data.masking import with_masked
    from tacit.numbers.query.densities import leaf_coefficients

    values = np.zeros(table.n_rows)
    leaves = np.flatnonzero(masked.any(axis=0)).tolist()
    masses_of = {leaf: _interval_masses(encoders[leaf], margins[leaf]) for leaf in leaves}
    for part, rows in table_blocks(table, encoders):
        evidence = table_evidence(with_masked(rows, masked[part]), encoders)
        coefficients = leaf_coefficients(learnt, evidence, leaves, encoders)
        for leaf, column in zip(leaves, coefficients, strict=True):
            is_masked, margin = masked[part, leaf], margins[leaf]
            cells = rows.column(leaf)[is_masked]
            if isinstance(margin, np.ndarray):
                marginal, codes = margin, cells
            else:
                marginal = np.full(N_INTERVALS, 1 / N_INTERVALS)
                codes = (margin.cdf(cells) * N_INTERVALS).astype(np.int64).clip(0, N_INTERVALS - 1)
            masses = np.maximum(column.values[is_masked] @ masses_of[leaf], 0.0)
            masses /= np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
            probabilities = masses[np.arange(len(codes)), codes]
            values[part][is_masked] += np.log(np.maximum(probabilities, FLOOR * marginal[codes]))
    return values


def _interval_masses(encoder: Encoder, margin: Margin | Array) -> Array:
    """(feature, interval) The mass of each feature in intervals of equal mass, or categories."""
    if isinstance(margin, np.ndarray):
        return np.eye(encoder.size)
    cuts = margin.inverse(np.arange(1, N_INTERVALS) / N_INTERVALS)
    below = encoder.cumulative(cuts).T
    return np.diff(below, axis=1, prepend=0.0, append=encoder.total[:, None])


def _independent(table: MixedTable, margins: Sequence[Margin | Array]) -> Array:
    """(row,) Log-density of the observed cells if all columns were independent."""
    total = np.zeros(table.n_rows)
    for leaf, margin in enumerate(margins):
        values = table.column(leaf)
        if isinstance(margin, np.ndarray):
            total += np.log(np.append(np.maximum(margin, 1e-9), 1.0))[values]
        else:
            observed = ~np.isnan(values)
            total[observed] += np.log(margin.density(values[observed]))
    return total
