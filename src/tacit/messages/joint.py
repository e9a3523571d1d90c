"""Joint conditionals of several cells of a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.errors import TooExpensiveError
from tacit.messages.conditionals import check_leaves
from tacit.messages.evidence import Evidence, check_evidence, nothing
from tacit.messages.repairs import Repairs, distributions
from tacit.messages.weighted_networks import Learnt, Parts, parts_of

Array = NDArray[np.float64]

# Default limit on the entries of a joint table: 400 megabytes.
MAX_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class JointBelief:
    """A joint distribution of several leaves for every row."""

    leaves: tuple[int, ...]
    table: Array  # (row, category of the first leaf, of the second, ...), each row sums to one
    repairs: Repairs


@one_blas_thread()
def joint_conditional(
    learnt: Learnt,
    evidence: Evidence,
    leaves: Sequence[int],
    *,
    max_cells: int = MAX_CELLS,
    block_rows: int | None = None,
) -> JointBelief:
    """P(several cells together | all other cells of their row), for each row.

    What is known of the cells themselves is not used; missing cells of the others are summed out.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
    leaves : sequence of int
        The axes of the table, in this order.
    max_cells : int
        Largest table to make.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    JointBelief
        Repaired like `conditionals`, but for the table as a whole.

    Raises
    ------
    TooExpensiveError
        If the table would have more than `max_cells` entries.
    """
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    chosen_leaves = tuple(leaves)
    check_leaves(parts, chosen_leaves)
    shape = tuple(parts.cards[leaf] for leaf in chosen_leaves)
    n_cells = math.prod(shape)
    if evidence.n_rows * n_cells > max_cells:
        raise TooExpensiveError(
            f"the joint table of {len(shape)} leaves has {n_cells} entries for each of {evidence.n_rows} "
            f"rows, more than max_cells={max_cells}; use fewer rows or leaves, or `conditionals`"
        )
    sign, log_abs = _cell_values(parts, evidence, chosen_leaves, shape, block_rows)
    largest = log_abs.max(axis=1, initial=-math.inf, keepdims=True)
    estimates = sign * np.exp(log_abs - np.where(np.isfinite(largest), largest, 0.0))
    instead = np.empty(0)
    if (estimates <= 0).all(axis=1).any():
        prior, size = _cell_values(parts, nothing(parts.n_leaves), chosen_leaves, shape, None)
        instead, _ = distributions((prior * np.exp(size)).T, np.full(n_cells, 1 / n_cells))
    table, repairs = distributions(np.ascontiguousarray(estimates.T), instead)
    return JointBelief(chosen_leaves, table.T.reshape(evidence.n_rows, *shape), repairs)


def _cell_values(
    parts: Parts,
    evidence: Evidence,
    leaves: tuple[int, ...],
    shape: tuple[int, ...],
    block_rows: int | None,
) -> tuple[Array, Array]:
    """Sign and log of the absolute value of each row with each combination of the leaves' categories.

    Every combination is a row of its own; subtrees without any of the leaves have the same few patterns
    in all of them, so that the repetition costs little there.
    """
    n_cells = math.prod(shape)
    n_lines = evidence.n_rows * n_cells
    sign, log_abs = np.empty(n_lines), np.empty(n_lines)
    for part in parts.blocks(n_lines, block_rows):
        row, cell = np.divmod(np.arange(part.start, part.stop), n_cells)
        lines = evidence.rows(row)
        if leaves:  # codes count before soft evidence
            lines.codes[:, list(leaves)] = np.column_stack(np.unravel_index(cell, shape))
        sign[part], log_abs[part] = parts.values(lines)
    return sign.reshape(-1, n_cells), log_abs.reshape(-1, n_cells)
