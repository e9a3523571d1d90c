"""Operators of a homogeneous chain from moments of its windows.

Hsu, Kakade & Zhang (2012), section 3, and Song, Boots, Siddiqi, Gordon & Smola (2010): the state is what past
and future have in common, the coordinates of the future's features along their leading directions. All
windows of all sequences are used, the same ones for pairs and triples: else the estimates are biased where
sequences do not start as they go on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.svd import stacked_svd
from tacit.errors import RankError
from tacit.messages.network import Dense
from tacit.sequences.model.chains import Operators
from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]

# Singular values below this fraction of the largest are rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Directions:
    """The leading directions of past and future, the strongest first."""

    left: Array  # (future, direction)
    right: Array  # (past, direction)
    sizes: Array  # (direction,)   of the products along them; the first may stand for the constant


def leading_directions(moments: WindowMoments, most: int, ridge: float = 0.0) -> Directions:
    """Directions along which past and future are most correlated.

    Parameters
    ----------
    moments : WindowMoments
        Of which the triples have no part.
    most : int
        The largest number of directions.
    ridge : float
        Added to the second moments before both sides are whitened by them, relative to their mean; 0: no
        whitening, as in the paper.
    """
    n = float(moments.n_windows)
    pairs = moments.pairs / n
    if ridge > 0:
        before = _inverse_root(moments.past_past / n, ridge)
        after = _inverse_root(moments.future_future / n, ridge)
        left, sizes, right = stacked_svd(after @ pairs @ before)
        left, right = after @ left, before @ right.T
    else:
        left, sizes, right = stacked_svd(pairs)
        right = right.T
    rank = min(most, int((sizes > _ROUNDING * sizes[0]).sum()))
    return Directions(left[:, :rank], right[:, :rank], sizes[:rank])


def _inverse_root(second: Array, ridge: float) -> Array:
    sizes, vectors = np.linalg.eigh(second)
    padded = np.maximum(sizes, 0.0) + ridge * float(np.mean(sizes))
    return np.asarray((vectors / np.sqrt(padded)) @ vectors.T)


def spectral_operators(
    moments: WindowMoments,
    directions: Directions,
    rank: int,
    total: Array,
    *,
    initial: Array | None = None,
    narrow: bool = False,
) -> Operators:
    """The operators of given rank.

    Parameters
    ----------
    moments : WindowMoments
        Triples along the directions, or over all features.
    directions : Directions
    rank : int
        Of the states; the first so many directions count.
    total : (feature,)
        The features of a cell that is missing.
    start : (future,), optional
        Expected features of a sequence's start; by default the mean over all starts.
    narrow : bool
        Whether the operators, as functions of the observation, are reduced to `rank` dimensions too, as those
        of a hidden Markov model are.

    Raises
    ------
    RankError
        Past and future have less than `rank` directions in common.
    """
    if rank > len(directions.sizes):
        raise RankError(
            f"rank={rank} requested, but past and future have {len(directions.sizes)} directions in common; "
            f"pass a smaller rank, more features, or more data"
        )
    n = float(moments.n_windows)
    left, right = directions.left[:, :rank], directions.right[:, :rank]
    triples = moments.triples / n
    if triples.shape[1:] == moments.pairs.shape:
        triples = np.einsum("xfp,fm,pn->xmn", triples, left, right, optimize=True)
    else:
        triples = triples[:, :rank, :rank]
    sizes = np.einsum("fp,fm,pn->mn", moments.pairs / n, left, right, optimize=True)
    inverse = np.linalg.pinv(
        sizes
    )  # the directions' sizes on its diagonal, if they are of these moments
    steps = np.einsum("xmn,no->xom", triples, inverse)  # (feature, before, after)
    first = moments.first / max(float(moments.n_firsts), 1.0) if initial is None else initial
    state, stop = left.T @ first, moments.past / n @ right @ inverse
    if not narrow:
        return Operators(state, Dense(steps), stop, (np.eye(len(steps)),), (total,))
    emit, core = _narrowed(steps, rank)
    return Operators(state, Dense(core), stop, (emit,), (emit.T @ total,))


def _narrowed(steps: Array, rank: int) -> tuple[Array, Array]:
    """The steps as combinations of `rank` matrices, and the weights of each feature."""
    flat = steps.reshape(len(steps), -1)
    left, _, _ = stacked_svd(flat)
    emit = left[:, :rank]
    core = (emit.T @ flat).reshape(-1, *steps.shape[1:])
    return np.ascontiguousarray(emit), core
