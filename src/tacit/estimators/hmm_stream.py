"""Sequences that are kept while data stream by: a random sample that does not depend on the chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.data.sequences import Sequences

Integers = NDArray[np.int64]

MOST_KEPT = 1 << 20  # positions


@dataclass(frozen=True, eq=False)
class Kept:
    """Sequences drawn from all that went by, each as likely as any other of its length.

    Every sequence has a random number that follows from its place in the stream; those with the lowest are
    kept, as many as there is room for. However the stream is cut into chunks, the same are kept.
    """

    sequences: Sequences
    places: Integers  # (sequence,)  in the stream
    n_seen: int  # sequences that went by
    seed: int

    @staticmethod
    def of(sequences: Sequences, seed: int) -> Kept:
        """Of the first chunk."""
        empty = Sequences(np.zeros(0, np.int32), np.zeros(0, np.int64), sequences.symbols)
        return Kept(empty, np.zeros(0, np.int64), 0, seed).joined(sequences)

    def joined(self, others: Sequences) -> Kept:
        """With another chunk, coded by the same symbols."""
        n = len(others.lengths)
        both = Sequences(
            np.concatenate([self.sequences.codes, others.codes]),
            np.concatenate([self.sequences.lengths, others.lengths]),
            self.sequences.symbols,
        )
        places = np.concatenate([self.places, self.n_seen + np.arange(n)])
        chosen = np.arange(len(places))
        if both.n_positions > MOST_KEPT:
            order = np.argsort(_mixed(places, self.seed), kind="stable")
            fits = np.cumsum(both.lengths[order]) <= MOST_KEPT
            fits[0] = True
            chosen = np.sort(order[fits])
            both = both.take(chosen)
        return Kept(both, places[chosen], self.n_seen + n, self.seed)


def _mixed(places: Integers, seed: int) -> NDArray[np.uint64]:
    """Numbers of 64 bits that look random (the finish of splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = places.astype(np.uint64) + np.uint64(1) + np.uint64(seed % 2**32) * np.uint64(2**32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
