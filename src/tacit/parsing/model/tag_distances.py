"""How far apart words stand in a tree, by their tags and the distance between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TagDistances:
    """Distances in a tree by the tags of two words, the left one first, and how far apart they stand."""

    tags: tuple[str, ...]
    table: Array  # (tag, tag, distance - 1)

    def of_sentence(self, tags: Sequence[str]) -> Array:
        """The distances between the words of a sentence: (word, word).

        A tag that is not known has the mean distances of all others; words farther apart than the table
        goes are as far as its end.
        """
        max_apart = self.table.shape[2]
        code_of = {tag: code for code, tag in enumerate(self.tags)}
        full = self._with_unknown()
        codes = np.array([code_of.get(tag, len(self.tags)) for tag in tags], dtype=np.int64)
        left, right = np.triu_indices(len(codes), 1)
        distances = np.zeros((len(codes), len(codes)))
        distances[left, right] = full[
            codes[left], codes[right], np.minimum(right - left, max_apart) - 1
        ]
        return distances + distances.T

    def _with_unknown(self) -> Array:
        """The table with a last tag more, that of all others."""
        rows = np.concatenate([self.table, self.table.mean(axis=0, keepdims=True)])
        return np.concatenate([rows, rows.mean(axis=1, keepdims=True)], axis=1)
