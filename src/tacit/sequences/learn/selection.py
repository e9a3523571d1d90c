"""The number of hidden states, by sequences that are left out."""

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
# Numbers of states in a row that are no better, before the ladder ends. Operators may need several
# dimensions more at once, say for things that come round, and cost little.
PATIENCE, PATIENCE_OF_OPERATORS = 2, 4
POSITIONS_PER_STATE = 25  # at least
LEFT_OUT = 5  # one in so many
FEW_SEQUENCES = 10  # fewer are cut into stretches
STRETCH = 100  # positions of a stretch, fewer where that gives too few stretches
MOST_POSITIONS = 400_000  # that choices are made with


@dataclass(frozen=True, eq=False)
class Choice:
    """The number of states that was chosen, and the table of those that were tried."""

    n_states: int
    candidates: list[dict[str, Any]]


def choose_states(
    learn: Callable[[int], Any],
    ask: Callable[[Any], Array],
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
        From a number of states to a model; a `RankError` ends the ladder, and so does a `DataError`: what
        is kept may be too short where the whole is not.
    ask : callable
        From a model to (sequence,) log-probabilities of sequences that it has not seen.
    n_positions : int
        That the models learn from.
    most : int, optional
        Largest number of states.
    least : int
        States up to which the ladder goes in any case.
    patience : int
        Numbers of states in a row that may be no better.
    report : callable
    """
    limit = max(1, min(n_positions // POSITIONS_PER_STATE, most or LADDER[-1]))
    ladder = [k for k in LADDER if k <= limit]
    logs: dict[int, Array] = {}
    waited = 0
    for place, k in enumerate(ladder):
        report(0.9 * place / len(ladder), f"{k} states")
        try:
            found = np.maximum(ask(learn(k)), IMPOSSIBLE)
        except (RankError, DataError):
            break
        waited = (
            0 if not logs or found.mean() > max(l.mean() for l in logs.values()) else waited + 1
        )
        logs[k] = found
        if waited >= (patience or PATIENCE) and k >= (least or 1):
            break
    if not logs:
        return Choice(1, [])
    best = max(logs, key=lambda k: (logs[k].mean(), -k))
    chosen = next(k for k in sorted(logs) if not surely_better(logs[best], logs[k], None))
    table = [{"n_states": k, "held_out_score": float(each.mean())} for k, each in logs.items()]
    return Choice(chosen, table)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Stretches of positions."""

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
    """What to learn from while choosing, and what is left out: sequences, or stretches of a few.

    Parameters
    ----------
    ends : (sequence + 1,)
    seed : int
        Which sequences are left out.
    """
    firsts, lengths = ends[:-1], np.diff(ends)
    firsts, lengths = firsts[lengths > 0], lengths[lengths > 0]
    rng = np.random.default_rng(seed)
    if len(lengths) >= FEW_SEQUENCES:
        order = rng.permutation(len(lengths))
    else:
        size = int(np.clip(lengths.sum() // (4 * LEFT_OUT), 1, STRETCH))
        parts = [np.arange(f, f + n, size) for f, n in zip(firsts, lengths, strict=True)]
        stops = np.repeat(firsts + lengths, [len(each) for each in parts])
        firsts = np.concatenate(parts)
        lengths = np.minimum(stops - firsts, size)
        order = np.arange(len(lengths))  # stretches in turn
    if lengths.sum() > MOST_POSITIONS:
        order = order[: max(int(MOST_POSITIONS / lengths.mean()), 2)]
    out = order[LEFT_OUT - 1 :: LEFT_OUT]
    out = out if len(out) else order[-1:]
    kept = np.setdiff1d(order, out)
    kept = kept if len(kept) else out
    return Pieces(firsts[kept], lengths[kept]), Pieces(firsts[np.sort(out)], lengths[np.sort(out)])
