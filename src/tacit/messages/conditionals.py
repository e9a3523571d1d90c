"""Probabilities of rows and conditionals of single cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError, NegativeProbabilityError
from tacit.messages.evidence import Codes, Evidence, check_evidence, nothing
from tacit.messages.node_messages import Messages, added
from tacit.messages.passes import Inside, Outside, downward, upward
from tacit.messages.repairs import Repairs, distributions
from tacit.messages.weighted_networks import Learnt, Parts, parts_of

Array = NDArray[np.float64]

NEGATIVE = ("floor", "nan", "raise")

# An estimate that is not positive is replaced by this fraction of the independence model's value.
FLOOR = 1e-3

# Least probability of a cell in the independence model: a category never seen must not make the floor -inf.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class LogProb:
    """The natural log of each row's probability, and what had to be repaired."""

    values: Array  # (row,)
    repairs: Repairs


@dataclass(frozen=True, eq=False)
class Beliefs:
    """A distribution for every row and each of some nodes."""

    nodes: tuple[int, ...]  # leaves or hidden nodes, in the order of the query
    tables: tuple[Array, ...]  # per node: (row, category or state), rows sum to one
    repairs: Repairs


@dataclass(frozen=True, eq=False)
class Imputed:
    """Rows without missing cells."""

    codes: Codes  # (row, leaf)
    repairs: Repairs


@one_blas_thread()
def log_prob(
    learnt: Learnt,
    evidence: Evidence,
    *,
    negative: Literal["floor", "nan", "raise"] = "floor",
    floor: float = FLOOR,
    base: Sequence[Array] | None = None,
    independent: Array | None = None,
    block_rows: int | None = None,
) -> LogProb:
    """Natural log of the probability of what was observed of each row.

    Missing cells are summed out, so that a row of which nothing was observed has log 1 = 0.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
    negative : {"floor", "nan", "raise"}
        What becomes of estimates that are not positive. "floor": `floor` times the probability of the
        observed cells if all variables were independent, each cell counting as at least 1e-9.
    floor : float
    base : sequence of (category,) arrays, optional
        Distribution of each leaf in the independence model; by default that of the model.
    independent : (row,) array, optional
        Log-probability of each row in the independence model, where it does not follow from `base`.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    LogProb
        A model of probability tables is never repaired: what it calls impossible has log-probability -inf.

    Raises
    ------
    NegativeProbabilityError
        If an estimate is not positive and ``negative="raise"``.
    """
    if negative not in NEGATIVE:
        raise ArgumentError(f"negative={negative!r} is not known; choose one of {NEGATIVE}")
    if not 0.0 < floor <= 1.0:
        raise ArgumentError(f"floor={floor}; give a number above 0, at most 1")
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    sign, values = np.empty(evidence.n_rows), np.empty(evidence.n_rows)
    for part in parts.blocks(evidence.n_rows, block_rows):
        sign[part], values[part] = parts.values(evidence.rows(part))
    wrong = np.flatnonzero(~(sign > 0))  # a value that overflowed is not positive either
    if parts.has_tables or not len(wrong):
        return LogProb(values, Repairs(n_answers=len(values)))
    repairs = Repairs(
        n_answers=len(values),
        n_negative=int((sign < 0).sum()),
        n_undefined=len(wrong),
        negative_mass=float((sign < 0).sum()),
    )
    if negative == "raise":
        raise NegativeProbabilityError(
            f"{len(wrong)} of {len(values)} rows, the first being row {int(wrong[0])}, have estimates that "
            f'are not positive; use negative="floor" or "nan", or learn probability tables '
            f'(learn="auto" or "em")'
        )
    if negative == "nan":
        values[wrong] = np.nan
    elif independent is not None:
        values[wrong] = independent[wrong] + math.log(floor)
    else:
        marginal = leaf_marginals(learnt) if base is None else base
        values[wrong] = _independent_log_prob(marginal, evidence.rows(wrong)) + math.log(floor)
    return LogProb(values, repairs)


def _independent_log_prob(base: Sequence[Array], evidence: Evidence) -> Array:
    """Log-probability of the observed cells if all variables were independent."""
    log_prob = np.zeros(evidence.n_rows)
    for leaf, marginal in enumerate(base):
        code = evidence.codes[:, leaf]
        # Code -1 is the last entry: a missing cell has probability one.
        cell = np.append(np.maximum(marginal, _LEAST), 1.0)[code]
        if leaf in evidence.soft:
            likelihoods = evidence.soft[leaf]
            least = _LEAST * likelihoods.max(axis=1)
            cell = np.where(code < 0, np.maximum(likelihoods @ marginal, least), cell)
        log_prob += np.log(cell)
    return log_prob


def leaf_marginals(learnt: Learnt) -> tuple[Array, ...]:
    """The distribution of each leaf when nothing was observed."""
    unknown = nothing(parts_of(learnt).n_leaves)
    return tuple(table[0] for table in conditionals(learnt, unknown).tables)


def conditionals(
    learnt: Learnt,
    evidence: Evidence,
    leaves: Sequence[int] | None = None,
    *,
    block_rows: int | None = None,
) -> Beliefs:
    """P(cell | all other cells of its row), for each row and each chosen leaf.

    What is known of the cell itself is not used; missing cells of the others are summed out. All leaves
    together cost one upward and one downward pass over each tree.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
    leaves : sequence of int, optional
        By default all.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Beliefs
        Negative entries are cut off. Where nothing positive is left (for a model of tables: where the
        other cells are impossible) the leaf's distribution without evidence is given.
    """
    return _beliefs(learnt, evidence, leaves, block_rows, include_cell=False)


def marginals(
    learnt: Learnt,
    evidence: Evidence,
    leaves: Sequence[int] | None = None,
    *,
    block_rows: int | None = None,
) -> Beliefs:
    """P(cell | whole row), for each row and each chosen leaf.

    Like `conditionals`, but what is known of the cell itself counts: an observed cell has its category with
    certainty, and its likelihoods weigh one that is known through `Evidence.soft`.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
    leaves : sequence of int, optional
        By default all.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Beliefs
        Repaired like `conditionals`; observed cells are not counted among the answers.
    """
    return _beliefs(learnt, evidence, leaves, block_rows, include_cell=True)


@one_blas_thread()
def _beliefs(
    learnt: Learnt,
    evidence: Evidence,
    leaves: Sequence[int] | None,
    block_rows: int | None,
    *,
    include_cell: bool,
) -> Beliefs:
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    chosen_leaves = tuple(range(parts.n_leaves)) if leaves is None else tuple(leaves)
    check_leaves(parts, chosen_leaves)
    tables = {leaf: np.empty((evidence.n_rows, parts.cards[leaf])) for leaf in chosen_leaves}
    repairs = Repairs()
    for part in parts.blocks(evidence.n_rows, block_rows):
        for cells in cell_estimates(
            parts, evidence.rows(part), chosen_leaves, include_cell=include_cell
        ):
            table, made = cells.distributions(parts)
            tables[cells.leaf][part] = table.T[cells.rows]
            repairs += made
    return Beliefs(chosen_leaves, tuple(tables[leaf] for leaf in chosen_leaves), repairs)


def check_leaves(parts: Parts, leaves: Sequence[int]) -> None:
    """Raise an error for leaves that do not exist or repeat."""
    n_leaves = parts.n_leaves
    if len(set(leaves)) < len(leaves) or any(not 0 <= leaf < n_leaves for leaf in leaves):
        raise ArgumentError(f"leaves {list(leaves)}: give distinct ones, 0 to {n_leaves - 1}")


@dataclass(frozen=True, eq=False)
class Cells:
    """Estimates of the cells of one leaf from all other cells, in the distinct rows of a block.

    With `include_cell`, the evidence on the cell itself counts: observed cells are left out (they are known),
    and `soft_likelihoods` holds the soft evidence on the others.
    """

    leaf: int
    rows: NDArray[np.integer[Any]]  # (row,)  its distinct row
    patterns: NDArray[np.integer[Any]]  # (distinct row,)  of the leaf itself, see `leaf_patterns`
    unsure: NDArray[np.int64] | None  # the distinct rows of the query; None for all
    counts: NDArray[np.int64]  # (distinct row,)  how many rows are like it
    soft_likelihoods: Array  # (category, distinct row), or one number where nothing is known
    estimates: Messages  # (category, distinct row)

    @staticmethod
    def of(inside: Inside, outside: Outside, weight: float, *, include_cell: bool) -> Cells:
        """The cells of a leaf in one component of a mixture."""
        leaf, emit = outside.node, inside.network.emit[outside.node]
        counts, above, soft_likelihoods = inside.patterns.weights, outside.messages, np.ones((1, 1))
        unsure = None
        if include_cell:
            unsure = np.flatnonzero(outside.patterns >= len(emit))
            counts, above = counts[unsure], above.at(unsure)
            if leaf in inside.soft:
                soft_likelihoods = inside.leaf_likelihoods(leaf, outside.patterns[unsure])
        values = emit @ above.values
        values *= soft_likelihoods * weight
        return Cells(
            leaf=leaf,
            rows=inside.patterns.row_pattern,
            patterns=outside.patterns,
            unsure=unsure,
            counts=counts.astype(np.int64),
            soft_likelihoods=soft_likelihoods,
            estimates=Messages(values, above.exponent),
        )

    def plus(self, other: Cells) -> Cells:
        """The same cells with the estimates of another component added."""
        # Every tree numbers the distinct rows in the order in which they appear.
        assert np.array_equal(self.rows, other.rows)
        return replace(self, estimates=added(self.estimates, other.estimates))

    def distributions(self, parts: Parts) -> tuple[Array, Repairs]:
        """Distributions (category, distinct row); an observed cell that counts is certain."""
        estimates, instead = self.estimates.values, np.empty(0)
        if (estimates <= 0).all(axis=0).any():
            instead = _prior(parts, self.leaf)[:, None] * self.soft_likelihoods
            instead = np.where(instead.sum(axis=0) > 0, instead, self.soft_likelihoods)
            instead /= instead.sum(axis=0)
        probabilities, repairs = distributions(estimates, instead, self.counts)
        if self.unsure is None:
            return probabilities, repairs
        # What was observed stays so, however unlikely the model finds it: nothing to repair or count.
        table = np.zeros((len(probabilities), len(self.patterns)))
        sure = np.flatnonzero(self.patterns < len(probabilities))
        table[self.patterns[sure], sure] = 1.0
        table[:, self.unsure] = probabilities
        return table, repairs


def cell_estimates(
    parts: Parts, evidence: Evidence, leaves: Sequence[int], *, include_cell: bool
) -> Iterator[Cells]:
    """Estimates of the cells of each chosen leaf given all other cells, over the rows of one block.

    The values of the components carry their scales along, so that P(cell and others) can be added over
    them before it is brought to sum one.
    """
    sums: dict[int, Cells] = {}
    for number, (weight, network) in enumerate(zip(parts.weights, parts.networks, strict=True)):
        inside = upward(network, evidence)
        for outside in downward(inside, leaves):
            cells = Cells.of(inside, outside, weight, include_cell=include_cell)
            if cells.leaf in sums:
                cells = sums.pop(cells.leaf).plus(cells)
            if number == len(parts.networks) - 1:
                yield cells
            else:
                sums[cells.leaf] = cells


def _prior(parts: Parts, leaf: int) -> Array:
    """The distribution of a leaf when nothing was observed; uniform if that is undefined too."""
    cells = next(cell_estimates(parts, nothing(parts.n_leaves), [leaf], include_cell=False))
    n_categories = parts.cards[leaf]
    estimates = cells.estimates.values[:, :1]
    return distributions(estimates, np.full(n_categories, 1 / n_categories))[0][:, 0]


@one_blas_thread()
def impute(learnt: Learnt, evidence: Evidence, *, block_rows: int | None = None) -> Imputed:
    """The rows with each missing cell set to its most probable category given the row.

    Each cell is filled for itself; `most_likely` fills all cells of a row together. The first of equally
    probable categories is taken. A cell known through `Evidence.soft` is filled too, its likelihoods
    counting.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Imputed
        Codes of the same type as those given, which are left alone.
    """
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    codes = evidence.codes.copy(order="K")
    repairs = Repairs()
    for part in parts.blocks(evidence.n_rows, block_rows):
        rows = evidence.rows(part)
        incomplete = np.flatnonzero((rows.codes < 0).any(axis=0)).tolist()
        for cells in (
            cell_estimates(parts, rows, incomplete, include_cell=True) if incomplete else ()
        ):
            table, made = cells.distributions(parts)
            codes[part, cells.leaf] = table.argmax(axis=0)[cells.rows]
            repairs += made
    return Imputed(codes, repairs)
