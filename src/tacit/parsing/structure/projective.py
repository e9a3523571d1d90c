"""The shortest binary tree over words in a row, from the distances of all pairs (Parikh 2015, chapter 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError, TooExpensiveError

Array = NDArray[np.float64]
MAX_WORDS = 400  # a quarter of a minute and 220 MB
# Times the fourth power of the number of words: to tell what a refused sentence would cost.
_SECONDS = 6e-10


@dataclass(frozen=True, slots=True)
class ProjectiveTree:
    """The brackets of the shortest tree, its length, and how much longer the next one is."""

    spans: list[tuple[int, int]]  # first word, word after the last; the whole sentence first
    length: float
    margin: float  # inf where there is no other tree with the same split of the whole


def projective_tree(
    distances: Array, top: int | None = None, extra: Array | None = None, max_words: int = MAX_WORDS
) -> ProjectiveTree:
    """The binary tree of least length whose brackets do not cross.

    The tree is one without a root; its length is the sum of its edges, each estimated from the mean
    distances between the four groups of words around it. The edge where it is cut for the whole sentence
    does not change the length, so the split of the whole is best given.

    Parameters
    ----------
    distances : (word, word) array
        Symmetric. What stands on the diagonal has no influence.
    top : int, optional
        How many words come before the split of the whole sentence; the best one unless given. Of equally
        good ones, the leftmost.
    extra : (word + 1, word + 1) array, optional
        Added to the length for each bracket, by its first word and the word after its last.
    max_words : int
        Longer sentences are refused: time grows with the fourth power of the length.

    Raises
    ------
    DataError, ArgumentError, TooExpensiveError

    Examples
    --------
    >>> near = np.array([[0, 1, 3, 3], [1, 0, 3, 3], [3, 3, 0, 1], [3, 3, 1, 0.0]])
    >>> projective_tree(near, top=2).spans
    [(0, 4), (0, 2), (2, 4)]
    """
    table = np.ascontiguousarray(distances, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(f"distances of shape {table.shape} are no square table")
    n_words = len(table)
    off = table[~np.eye(n_words, dtype=bool)]
    if not np.isfinite(off).all() or not np.allclose(table, table.T, equal_nan=True):
        raise DataError("distances must be finite, and the same in both directions")
    if top is not None and not 1 <= top < max(n_words, 2):
        raise ArgumentError(f"top={top}: the split of {n_words} words lies from 1 to {n_words - 1}")
    if n_words > max_words:
        raise TooExpensiveError(
            f"a sentence of {n_words} words would take about {_SECONDS * n_words**4:.0f} s and "
            f"{3.4e-6 * n_words**3:.0f} MB; cut it, or allow more than {max_words}"
        )
    if n_words < 3:
        length = float(table[0, 1]) if n_words == 2 else 0.0
        return ProjectiveTree([(0, 2)] if n_words == 2 else [], length, np.inf)
    from tacit.parsing.loops.projective import shortest_tree

    more = np.zeros((n_words + 1, n_words + 1)) if extra is None else np.asarray(extra, np.float64)
    if more.shape != (n_words + 1, n_words + 1):
        raise DataError(
            f"extra has the shape {more.shape}; {n_words + 1} rows and columns are needed"
        )
    spans, length, second = shortest_tree(table, np.ascontiguousarray(more), top or 0)
    # Equally long trees may differ by rounding.
    return ProjectiveTree(
        [(int(i), int(j)) for i, j in spans], float(length), max(float(second - length), 0.0)
    )
