"""Selection of the number of hidden states on held-out sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report
from tacit.core.selection import IMPOSSIBLE, surely_better
from tacit.errors import DataError, RankError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
# Numbers of states in a row without improvement before the ladder ends. Operators may need several more
# dimensions at once, say for periodic sequences, and cost little.
PATIENCE, PATIENCE_OF_OPERATORS = 2, 4
POSITIONS_PER_STATE = 25  # at least
LEFT_OUT = 5  # one in so many
FEW_SEQUENCES = 10  # fewer are cut into pieces
STRETCH = 100  # positions of a piece, fewer where that gives too few pieces
MOST_POSITIONS = 400_000  # used for selection


@dataclass(frozen=True, eq=False)
class Choice:
    """The selected number of states, and the scores of all candidates."""

    n_states: int
    candidates: list[dict[str, Any]]


def choose_states(
    learn: Callable[[int], Any],
    score: Callable[[Any], Array],
    n_positions: int,
    *,
    most: int | None = None,
    least: int | None = 1,
    patience: int | None = PATIENCE,
    report: Report,
) -> Choice:
    """The fewest states that are not worse than the best number by more than one standard error.

    Parameters
    ----------
    learn : callable
        From a number of states to a model; a `RankError` ends the ladder, and so does a `DataError`: the
        training part may be too short where all sequences are not.
    score : callable
        From a model to (sequence,) log-probabilities of held-out sequences.
    n_positions : int
        Of the training part.
    most : int, optional
        Largest number of states.
    least : int
        States that the ladder reaches in any case.
    patience : int
        Numbers of states in a row without improvement.
    report : callable
    """
    limit = max(1, min(n_positions // POSITIONS_PER_STATE, most or LADDER[-1]))
    ladder = [k for k in LADDER if k <= limit]
    by_states: dict[int, Array] = {}
    waited = 0
    for place, k in enumerate(ladder):
        report(0.9 * place / len(ladder), f"{k} states")
        try:
            scores = np.maximum(score(learn(k)), IMPOSSIBLE)
        except (RankError, DataError):
            break
        waited = (
            0
            if not by_states or scores.mean() > max(l.mean() for l in by_states.values())
            else waited + 1
        )
        by_states[k] = scores
        if waited >= (patience or PATIENCE) and k >= (least or 1):
            break
    if not by_states:
        return Choice(1, [])
    best = max(by_states, key=lambda k: (by_states[k].mean(), -k))
    chosen = next(
        k for k in sorted(by_states) if not surely_better(by_states[best], by_states[k], None)
    )
    table = [
        {"n_states": k, "held_out_score": float(scores.mean())} for k, scores in by_states.items()
    ]
    return Choice(chosen, table)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Consecutive positions, cut out of sequences."""

    firsts: Integers  # (piece,)
    lengths: Integers  # (piece,)

    @property
    def positions(self) -> Integers:
        """All positions of all pieces in turn."""
        before = np.cumsum(self.lengths) - self.lengths
        shifts = np.repeat(self.firsts - before, self.lengths)
        return np.asarray(np.arange(int(self.lengths.sum())) + shifts)

    def of(self, data: Any) -> Any:
        """These pieces of sequences of symbols or of numbers, each a sequence."""
        return data.pieces(self.positions, self.lengths)


def left_out(ends: Integers, seed: int) -> tuple[Pieces, Pieces]:
    """Training and held-out parts for selection: sequences, or pieces where there are few.

    Parameters
    ----------
    ends : (sequence + 1,)
    seed : int
        Of the choice of held-out sequences.
    """
    firsts, lengths = ends[:-1], np.diff(ends)
    firsts, lengths = firsts[lengths > 0], lengths[lengths > 0]
    rng = np.random.default_rng(seed)
    if len(lengths) >= FEW_SEQUENCES:
        order = rng.permutation(len(lengths))
    else:
        size = int(np.clip(lengths.sum() // (4 * LEFT_OUT), 1, STRETCH))
        parts = [np.arange(f, f + n, size) for f, n in zip(firsts, lengths, strict=True)]
        stops = np.repeat(firsts + lengths, [len(part) for part in parts])
        firsts = np.concatenate(parts)
        lengths = np.minimum(stops - firsts, size)
        order = np.arange(len(lengths))  # pieces in turn
    if lengths.sum() > MOST_POSITIONS:
        order = order[: max(int(MOST_POSITIONS / lengths.mean()), 2)]
    held_out = order[LEFT_OUT - 1 :: LEFT_OUT]
    held_out = held_out if len(held_out) else order[-1:]
    training = np.setdiff1d(order, held_out)
    training = training if len(training) else held_out
    held_out = np.sort(held_out)
    return Pieces(firsts[training], lengths[training]), Pieces(firsts[held_out], lengths[held_out])
