"""Rows of numbers and categories as evidence about the leaves of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.encoders.margins import Margin
    from tacit.core.input.mixed_table import MixedTable
    from tacit.messages.repairs import Repairs
    from tacit.messages.weighted_networks import Learnt

Array = NDArray[np.float64]

# Features of a block of rows, in bytes: evidence about numbers is as wide as all features together.
BYTES_AT_ONCE = 1 << 25
# What an estimate of operators is at least, as a share of the independence model's.
FLOOR = 1e-3
# Parts of a column in which hidden numbers are looked for.
N_PARTS = 16


def table_blocks(
    table: MixedTable, encoders: Sequence[Encoder]
) -> Iterator[tuple[slice, MixedTable]]:
    """Stretches of rows whose evidence fits into some dozen megabytes."""
    width = sum(encoders[leaf].size for leaf in table.schema.continuous) + 1
    size = max(256, BYTES_AT_ONCE // (8 * width))
    for start in range(0, table.n_rows, size):
        part = slice(start, min(start + size, table.n_rows))
        yield part, table if table.n_rows <= size else table.take(part)


def table_evidence(
    table: MixedTable, encoders: Sequence[Encoder], soft: Mapping[int, Array] | None = None
) -> Evidence:
    """What rows say of the leaves: codes of categories, likelihoods of numbers.

    Parameters
    ----------
    table : MixedTable
    encoders : sequence of Encoder
        One for each column.
    soft : mapping of column to (row, category) array, optional
        Likelihoods of categories, heeded where the cell itself is missing.
    """
    codes = np.full((table.n_rows, len(encoders)), -1, dtype=np.int32, order="F")
    likelihoods: dict[int, Array] = dict(soft or {})
    signed = []
    for leaf, encoder in enumerate(encoders):
        values = table.column(leaf)
        if encoder.kind == "indicator":
            codes[:, leaf] = values
        elif not np.isnan(values).all():
            likelihoods[leaf] = encoder.likelihoods(values)
            signed.append(leaf)
    return Evidence(codes, likelihoods, frozenset(signed))


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
        The distribution of each column for itself; needed where `learnt` are operators. No estimate of
        theirs counts as less than a thousandth of the product of these.
    soft : mapping, optional
        See `table_evidence`.
    negative : {"floor", "nan", "raise"}
        What becomes of estimates that are not positive.
    """
    from tacit.messages.repairs import Repairs

    found, repairs = np.empty(table.n_rows), Repairs()
    for part, rows in table_blocks(table, encoders):
        own = {leaf: each[part] for leaf, each in (soft or {}).items()}
        alone = None if margins is None else _independent(rows, margins)
        evidence = table_evidence(rows, encoders, own)
        told = log_prob(learnt, evidence, negative=negative, independent=alone)
        found[part] = told.values
        if alone is not None and negative == "floor":
            np.maximum(told.values, alone + np.log(FLOOR), out=found[part])
        repairs += told.repairs
    return found, repairs


def cell_answers(
    learnt: Learnt,
    table: MixedTable,
    encoders: Sequence[Encoder],
    leaves: Sequence[int],
    *,
    median: bool = False,
) -> tuple[dict[int, Array], Repairs]:
    """What each row tells of some columns, whatever their own cells are.

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
        # What a cell says of itself has no part in these, so that one pass serves all columns.
        found = leaf_coefficients(learnt, evidence, continuous, encoders)
        for leaf, each in zip(continuous, found, strict=True):
            told = each.quantiles(np.array([0.5]))[:, 0] if median else each.expectations()
            parts[leaf].append(told)
            repairs += each.repairs()
        beliefs = conditionals(learnt, evidence, coded)
        for leaf, probabilities in zip(coded, beliefs.tables, strict=True):
            parts[leaf].append(probabilities)
        repairs += beliefs.repairs
    return {leaf: np.concatenate(each) for leaf, each in parts.items()}, repairs


def log_conditionals(
    learnt: Learnt,
    table: MixedTable,
    hidden: NDArray[np.bool_],
    encoders: Sequence[Encoder],
    margins: Sequence[Margin | Array],
) -> Array:
    """(row,) Log-probabilities of hidden cells, each given the cells that are not hidden, added up.

    Of a number, the probability that it falls where it does among sixteen parts of equal mass: a density
    could be made as high as one likes at values that occur again and again.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    table : MixedTable
    hidden : (row, column) array of bool
    encoders : sequence of Encoder
    margins : sequence of Margin or (category,) array
        Each column's own distribution; no estimate counts as less than a thousandth of it.
    """
    from tacit.numbers.data.masking import without
    from tacit.numbers.query.densities import leaf_coefficients

    found = np.zeros(table.n_rows)
    leaves = np.flatnonzero(hidden.any(axis=0)).tolist()
    coarse = {leaf: _coarse(encoders[leaf], margins[leaf]) for leaf in leaves}
    for part, rows in table_blocks(table, encoders):
        evidence = table_evidence(without(rows, hidden[part]), encoders)
        told = leaf_coefficients(learnt, evidence, leaves, encoders)
        for leaf, each in zip(leaves, told, strict=True):
            asked, margin = hidden[part, leaf], margins[leaf]
            values = rows.column(leaf)[asked]
            if isinstance(margin, np.ndarray):
                shares, parts = margin, values
            else:
                shares = np.full(N_PARTS, 1 / N_PARTS)
                parts = (margin.cdf(values) * N_PARTS).astype(np.int64).clip(0, N_PARTS - 1)
            masses = np.maximum(each.values[asked] @ coarse[leaf], 0.0)
            masses /= np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
            chosen = masses[np.arange(len(parts)), parts]
            found[part][asked] += np.log(np.maximum(chosen, FLOOR * shares[parts]))
    return found


def _coarse(encoder: Encoder, margin: Margin | Array) -> Array:
    """(feature, part) The mass of each feature in parts of equal mass; each category is a part."""
    if isinstance(margin, np.ndarray):
        return np.eye(encoder.size)
    cuts = margin.inverse(np.arange(1, N_PARTS) / N_PARTS)
    below = encoder.cumulative(cuts).T
    return np.diff(below, axis=1, prepend=0.0, append=encoder.total[:, None])


def _independent(table: MixedTable, margins: Sequence[Margin | Array]) -> Array:
    """(row,) Log-density of what was observed if all columns were independent."""
    total = np.zeros(table.n_rows)
    for leaf, margin in enumerate(margins):
        values = table.column(leaf)
        if isinstance(margin, np.ndarray):
            total += np.log(np.append(np.maximum(margin, 1e-9), 1.0))[values]
        else:
            there = ~np.isnan(values)
            total[there] += np.log(margin.density(values[there]))
    return total
