"""Sequences that are kept while data stream by: a random sample that does not depend on the chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.sequences import Sequences

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
        n_old, n_new = len(self.places), len(others.lengths)
        places = np.concatenate([self.places, self.n_seen + np.arange(n_new)])
        lengths = np.concatenate([self.sequences.lengths, others.lengths])
        chosen = lowest(mixed(places, self.seed), lengths, MOST_KEPT)
        old = self.sequences.take(chosen[chosen < n_old])
        new = others.take(chosen[chosen >= n_old] - n_old) if len(chosen) < len(places) else others
        both = Sequences(
            np.concatenate([old.codes, new.codes]), lengths[chosen], self.sequences.symbols
        )
        return Kept(both, places[chosen], self.n_seen + n_new, self.seed)


def lowest(numbers: NDArray[np.uint64], lengths: Integers, most: int) -> Integers:
    """Which sequences have the lowest numbers, as many as have so many positions together; in their order."""
    every = np.arange(len(numbers))
    total = int(lengths.sum())
    if total <= most:
        return every
    # Only a part needs to be sorted: a little more than the share of the lowest that fits.
    few = every[numbers < np.uint64(int(2**64 * min(1.3 * most / total, 0.999)))]
    if int(lengths[few].sum()) < most:
        few = every
    order = few[np.argsort(numbers[few], kind="stable")]
    fits = np.cumsum(lengths[order]) <= most
    fits[0] = True
    return np.sort(order[fits])


def mixed(places: Integers, seed: int) -> NDArray[np.uint64]:
    """Numbers of 64 bits that look random (the finish of splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = places.astype(np.uint64) + np.uint64(1) + np.uint64(seed % 2**32) * np.uint64(2**32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
