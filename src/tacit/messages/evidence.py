"""What was observed of each row: categories, likelihoods of categories, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError, DataError
from tacit.messages.network import Network

Array = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Coded rows, and likelihood vectors where only something about a cell is known.

    A cell with a code is observed. A cell without one (-1) is missing, unless its leaf stands in `soft`:
    then the row's likelihoods L say that the cell was seen through a noisy channel, and every query
    answers as if P(seen | category x) = L[x]. Their scale matters to `log_prob` only.

    A leaf of features instead of categories (kernel features of a number) has its features in `soft` and is
    listed in `signed`: they may be negative, or all zero.
    """

    codes: Codes  # (row, leaf)  -1 where nothing or only `soft` is known
    soft: Mapping[int, Array] = field(default_factory=dict)  # leaf -> (row, category)
    signed: frozenset[int] = frozenset()  # leaves whose vectors in `soft` may have any sign

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def rows(self, part: slice | NDArray[np.int64]) -> Evidence:
        """The evidence of some of the rows."""
        soft = {leaf: likelihoods[part] for leaf, likelihoods in self.soft.items()}
        return Evidence(self.codes[part], soft, self.signed)

    def without(self, leaves: Iterable[int]) -> Evidence:
        """The same evidence with all cells of some leaves missing."""
        dropped = set(leaves)
        codes = self.codes.copy(order="K")
        codes[:, sorted(dropped)] = -1
        soft = {leaf: likelihoods for leaf, likelihoods in self.soft.items() if leaf not in dropped}
        return Evidence(codes, soft, self.signed - dropped)


def nothing(n_leaves: int, n_rows: int = 1) -> Evidence:
    """Evidence of rows of which nothing was observed."""
    return Evidence(np.full((n_rows, n_leaves), -1, dtype=np.int16, order="F"))


def one_of(categories: Collection[int], n_categories: int) -> Array:
    """Likelihood vector that says no more than that the cell has one of some categories.

    Examples
    --------
    >>> one_of({0, 2}, 4)
    array([1., 0., 1., 0.])
    """
    wrong = sorted(code for code in categories if not 0 <= code < n_categories)
    if wrong or not categories:
        raise ArgumentError(
            f"categories {sorted(categories)}: give at least one code, each from 0 to "
            f"{n_categories - 1}"
        )
    likelihood = np.zeros(n_categories)
    likelihood[list(categories)] = 1.0
    return likelihood


def evidence_row(
    cards: Sequence[int], known: Mapping[int, int | Collection[int] | ArrayLike]
) -> Evidence:
    """One row of evidence from what is known of some leaves.

    Parameters
    ----------
    cards : sequence of int
        Number of categories of each leaf.
    known : mapping of leaf to int, set of int, or likelihoods
        An integer is a category, a set means that the cell has one of these categories, anything else
        is a vector with one likelihood per category.

    Examples
    --------
    >>> row = evidence_row([2, 3, 2], {0: 1, 1: {0, 2}})
    >>> row.codes.tolist(), row.soft[1].tolist()
    ([[1, -1, -1]], [[1.0, 0.0, 1.0]])
    """
    codes = np.full((1, len(cards)), -1, dtype=np.int32, order="F")
    soft = {}
    for leaf, observed in known.items():
        if isinstance(observed, int | np.integer):
            codes[0, leaf] = observed
        elif isinstance(observed, set | frozenset):
            soft[leaf] = one_of(observed, cards[leaf])[None]
        else:
            soft[leaf] = np.asarray(observed, dtype=np.float64)[None]
    return Evidence(codes, soft)


def check_evidence(network: Network, evidence: Evidence) -> None:
    """Raise where evidence does not fit a network.

    Raises
    ------
    DataError
        If the shape, a code or a likelihood vector does not fit the network's leaves.
    """
    tree, codes = network.tree, evidence.codes
    if codes.ndim != 2 or codes.shape[1] != tree.n_leaves:
        raise DataError(
            f"codes have shape {codes.shape}, but the network has {tree.n_leaves} leaves; "
            f"give one column per leaf"
        )
    if not np.issubdtype(codes.dtype, np.integer):
        raise DataError(f"codes are {codes.dtype}; give integers, -1 where a cell is missing")
    if len(codes):
        cards = [len(emit) for emit in network.emit]
        lowest, highest = codes.min(axis=0), codes.max(axis=0)
        wrong = np.flatnonzero((lowest < -1) | (highest >= cards))
        if len(wrong):
            leaf = int(wrong[0])
            code = int(lowest[leaf] if lowest[leaf] < -1 else highest[leaf])
            raise DataError(
                f"code {code} at leaf {tree.names[leaf]!r}, which has {cards[leaf]} categories; "
                f"codes run from 0 to {cards[leaf] - 1}, and -1 is missing"
            )
    if not_soft := sorted(evidence.signed.difference(evidence.soft)):
        raise DataError(f"leaf {not_soft[0]} is listed as signed, but has no vectors in soft")
    for leaf, likelihoods in evidence.soft.items():
        _check_likelihoods(network, evidence, leaf, likelihoods)


def _check_likelihoods(network: Network, evidence: Evidence, leaf: int, likelihoods: Array) -> None:
    if not 0 <= leaf < network.tree.n_leaves:
        raise DataError(
            f"soft evidence for leaf {leaf}; leaves are 0 to {network.tree.n_leaves - 1}"
        )
    name, expected = network.tree.names[leaf], (evidence.n_rows, len(network.emit[leaf]))
    if likelihoods.shape != expected:
        raise DataError(
            f"likelihoods of leaf {name!r} have shape {likelihoods.shape}; give {expected}: one per "
            f"row and category"
        )
    proper = np.isfinite(likelihoods).all(axis=1)
    if leaf in evidence.signed:
        if not proper.all():
            raise DataError(
                f"features of leaf {name!r} in row {int(np.argmin(proper))} are not all finite"
            )
        return
    proper &= (likelihoods >= 0).all(axis=1)
    wrong = np.flatnonzero(~(proper & (likelihoods > 0).any(axis=1)))
    if len(wrong):
        raise DataError(
            f"likelihoods of leaf {name!r} in row {int(wrong[0])} are "
            f"{likelihoods[wrong[0]].tolist()}; give finite numbers, none negative, not all zero"
        )
