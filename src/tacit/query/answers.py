"""Probabilities of rows and conditionals of single cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, NegativeProbabilityError
from tacit.loops.threads import one_blas_thread
from tacit.params.tree import Network
from tacit.query.evidence import Codes, Evidence, check_evidence, nothing
from tacit.query.passes import Inside, Outside, downward, log_values, row_blocks, upward
from tacit.query.repairs import Repairs, distributions

Array = NDArray[np.float64]

NEGATIVE = ("floor", "nan", "raise")

# What stands for an estimate that is not positive, as a share of the independence model's value.
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

    nodes: tuple[int, ...]  # leaves or hidden nodes, in the order asked
    tables: tuple[Array, ...]  # per node: (row, category or state), rows sum to one
    repairs: Repairs


@dataclass(frozen=True, eq=False)
class Imputed:
    """Rows without missing cells."""

    codes: Codes  # (row, leaf)
    repairs: Repairs


def log_prob(
    network: Network,
    evidence: Evidence,
    *,
    negative: Literal["floor", "nan", "raise"] = "floor",
    floor: float = FLOOR,
    base: Sequence[Array] | None = None,
    block_rows: int | None = None,
) -> LogProb:
    """Natural log of the probability of what was observed of each row.

    Missing cells are summed out, so that a row of which nothing was observed has log 1 = 0.

    Parameters
    ----------
    network : Network
    evidence : Evidence
    negative : {"floor", "nan", "raise"}
        What becomes of estimates that are not positive. "floor": `floor` times the probability of the
        observed cells if all variables were independent, each cell counting as at least 1e-9.
    floor : float
    base : sequence of (category,) arrays, optional
        Distribution of each leaf in the independence model; by default that of the network.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    LogProb
        A network of probability tables is never repaired: what it calls impossible has log-probability -inf.

    Raises
    ------
    NegativeProbabilityError
        If an estimate is not positive and ``negative="raise"``.
    """
    if negative not in NEGATIVE:
        raise ArgumentError(f"negative={negative!r} is not known; choose one of {NEGATIVE}")
    if not 0.0 < floor <= 1.0:
        raise ArgumentError(f"floor={floor}; give a share above 0, at most 1")
    sign, values = log_values(network, evidence, block_rows=block_rows)
    wrong = np.flatnonzero(~(sign > 0))  # a value that overflowed is not positive either
    if network.has_tables or not len(wrong):
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
            f'are not positive; ask with negative="floor" or "nan", or learn probability tables '
            f'(learn="auto" or "em")'
        )
    if negative == "nan":
        values[wrong] = np.nan
    else:
        marginal = leaf_marginals(network) if base is None else base
        independent = _independent_log_prob(marginal, evidence.rows(wrong))
        values[wrong] = independent + math.log(floor)
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


def leaf_marginals(network: Network) -> tuple[Array, ...]:
    """The distribution of each leaf when nothing was observed."""
    return tuple(table[0] for table in conditionals(network, nothing(network.tree.n_leaves)).tables)


def conditionals(
    network: Network,
    evidence: Evidence,
    leaves: Sequence[int] | None = None,
    *,
    block_rows: int | None = None,
) -> Beliefs:
    """P(cell | all other cells of its row), for each row and each leaf asked for.

    What is known of the cell itself is not used; missing cells of the others are summed out. All leaves
    together cost one upward and one downward pass.

    Parameters
    ----------
    network : Network
    evidence : Evidence
    leaves : sequence of int, optional
        By default all.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Beliefs
        Negative entries are cut off. Where nothing positive is left (for a network of tables: where the
        other cells are impossible) the leaf's distribution without evidence is given.
    """
    return _beliefs(network, evidence, leaves, block_rows, own_counts=False)


def marginals(
    network: Network,
    evidence: Evidence,
    leaves: Sequence[int] | None = None,
    *,
    block_rows: int | None = None,
) -> Beliefs:
    """P(cell | whole row), for each row and each leaf asked for.

    Like `conditionals`, but what is known of the cell itself counts: an observed cell has its category with
    certainty, and its likelihoods weigh one that is known through `Evidence.soft`.

    Parameters
    ----------
    network : Network
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
    return _beliefs(network, evidence, leaves, block_rows, own_counts=True)


@one_blas_thread()
def _beliefs(
    network: Network,
    evidence: Evidence,
    leaves: Sequence[int] | None,
    block_rows: int | None,
    *,
    own_counts: bool,
) -> Beliefs:
    check_evidence(network, evidence)
    asked = tuple(range(network.tree.n_leaves)) if leaves is None else tuple(leaves)
    check_leaves(network, asked)
    tables = {leaf: np.empty((evidence.n_rows, len(network.emit[leaf]))) for leaf in asked}
    repairs = Repairs()
    for part in row_blocks(network, evidence.n_rows, block_rows):
        inside = upward(network, evidence.rows(part))
        rows = inside.patterns.row_pattern
        for outside in downward(inside, asked):
            if own_counts:
                table, made = _own_belief(inside, outside)
            else:
                table, made = _cell_belief(inside, outside)
            tables[outside.node][part] = table.T[rows]
            repairs += made
    return Beliefs(asked, tuple(tables[leaf] for leaf in asked), repairs)


def check_leaves(network: Network, leaves: Sequence[int]) -> None:
    """Raise where a leaf is asked for that is not there, or asked for twice."""
    n_leaves = network.tree.n_leaves
    if len(set(leaves)) < len(leaves) or any(not 0 <= leaf < n_leaves for leaf in leaves):
        raise ArgumentError(
            f"leaves {list(leaves)} asked for; give distinct ones, 0 to {n_leaves - 1}"
        )


def _own_belief(inside: Inside, outside: Outside) -> tuple[Array, Repairs]:
    """Distributions (category, distinct row) of a leaf; what is known of the cell itself counts."""
    n_categories = len(inside.network.emit[outside.node])
    unsure = np.flatnonzero(outside.patterns >= n_categories)
    table = np.zeros((n_categories, len(outside.patterns)))
    # What was observed stays so, however unlikely the network finds it: nothing to repair or count.
    sure = np.flatnonzero(outside.patterns < n_categories)
    table[outside.patterns[sure], sure] = 1.0
    table[:, unsure], repairs = _cell_belief(inside, outside, unsure)
    return table, repairs


def _cell_belief(
    inside: Inside, outside: Outside, unsure: NDArray[np.int64] | None = None
) -> tuple[Array, Repairs]:
    """Distributions (category, distinct row) of a leaf from the rest of the row.

    With `unsure` only of these distinct rows, none of which has the cell observed; soft evidence counts then.
    """
    network, leaf = inside.network, outside.node
    counts, values, own = inside.patterns.weights, outside.messages.values, np.ones((1, 1))
    if unsure is not None:
        counts, values = counts[unsure], values.take(unsure, axis=1)
        if leaf in inside.soft:
            own = inside.own_likelihoods(leaf, outside.patterns[unsure])
    estimates = network.emit[leaf] @ values
    estimates *= own
    instead = np.empty(0)
    if (estimates <= 0).all(axis=0).any():
        instead = _prior(network, leaf)[:, None] * own
        instead = np.where(instead.sum(axis=0) > 0, instead, own)
        instead /= instead.sum(axis=0)
    return distributions(estimates, instead, counts.astype(np.int64))


def _prior(network: Network, leaf: int) -> Array:
    """The distribution of a leaf when nothing was observed; uniform if that is undefined too."""
    inside = upward(network, nothing(network.tree.n_leaves))
    n_categories = len(network.emit[leaf])
    outside = next(downward(inside, [leaf]))
    # A tree of one leaf has all its categories for patterns; all get the same here.
    estimates = network.emit[leaf] @ outside.messages.values[:, :1]
    return distributions(estimates, np.full(n_categories, 1 / n_categories))[0][:, 0]


@one_blas_thread()
def impute(network: Network, evidence: Evidence, *, block_rows: int | None = None) -> Imputed:
    """The rows with each missing cell set to its most probable category given the row.

    Each cell is filled for itself; `most_likely` fills all cells of a row together. The first of equally
    probable categories is taken. A cell known through `Evidence.soft` is filled too, its likelihoods
    counting.

    Parameters
    ----------
    network : Network
    evidence : Evidence
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Imputed
        Codes of the same type as those given, which are left alone.
    """
    check_evidence(network, evidence)
    codes = evidence.codes.copy(order="K")
    repairs = Repairs()
    for part in row_blocks(network, evidence.n_rows, block_rows):
        rows = evidence.rows(part)
        wanted = np.flatnonzero((rows.codes < 0).any(axis=0)).tolist()
        if not wanted:
            continue
        inside = upward(network, rows)
        for outside in downward(inside, wanted):
            column = codes[part, outside.node]
            unsure = np.flatnonzero(outside.patterns >= len(network.emit[outside.node]))
            table, made = _cell_belief(inside, outside, unsure)
            best = np.zeros(len(outside.patterns), dtype=column.dtype)
            best[unsure] = table.argmax(axis=0)
            codes[part, outside.node] = np.where(
                column < 0, best[inside.patterns.row_pattern], column
            )
            repairs += made
    return Imputed(codes, repairs)
