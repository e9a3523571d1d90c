"""Selection of the number of hidden states on held-out sequences.

Candidates grow: the states of one number are split, and a few steps of EM make the model of the next. That
costs a small part of what a complete fit at each number would, and with many states the likelihood is higher
than after EM from other starts (`benchmarks/hmm_states.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report
from tacit.core.selection import IMPOSSIBLE, surely_better
from tacit.errors import DataError, RankError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Numbers of states: those of the first round; and those between, which are candidates at the end.
COARSE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
BETWEEN = (5, 10, 20, 40)
LADDER = tuple(sorted(COARSE + BETWEEN))
# Numbers of states in a row without a sure improvement before the ladder ends. Operators may need several
# more dimensions at once, say for periodic sequences, and cost little.
PATIENCE, PATIENCE_OF_OPERATORS = 2, 4
POSITIONS_PER_STATE = 25  # at least
# Positions of the training part times squares of numbers of states, summed over the candidates of the first
# round. Larger numbers are skipped.
MOST_WORK = 1 << 30
LEFT_OUT = 5  # one in so many
FEW_SEQUENCES = 10  # fewer are cut into pieces
STRETCH = 100  # positions of a piece, fewer where that gives too few pieces
MOST_POSITIONS = 400_000  # used for selection


@dataclass(frozen=True, eq=False)
class Choice:
    """The selected number of states with its model of the training part, all scores, and what was skipped."""

    n_states: int
    candidates: list[dict[str, Any]]
    skipped: list[int] = field(default_factory=list)  # numbers of states
    model: Any = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """Where models of each number of states come from, and how they are scored.

    Parameters
    ----------
    learn : callable
        From a number of states, and the model of the nearest smaller number or None, to a model. A
        `RankError` ends the ladder, and so does a `DataError`: the training part may be too short where all
        sequences are not.
    score : callable
        From a model to (sequence,) log-probabilities of held-out sequences.
    n_positions : int
        Of the training part.
    most : int, optional
        Largest number of states.
    least : int
        States that the ladder reaches in any case.
    patience : int
        Numbers of states in a row without a sure improvement.
    """

    learn: Callable[[int, Any], Any]
    score: Callable[[Any], Array]
    n_positions: int
    most: int | None = None
    least: int | None = 1
    patience: int | None = PATIENCE

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of states that the training part supports."""
        limit = max(1, min(self.n_positions // POSITIONS_PER_STATE, self.most or LADDER[-1]))
        return tuple(k for k in LADDER if k <= limit)


def choose_states(candidates: Candidates, report: Report) -> Choice:
    """The fewest states that are not worse than the best number by more than one standard error.

    Standard errors are those of differences between the same held-out sequences. The numbers of `COARSE` are
    candidates in turn, until `patience` in a row are not surely better than the best before, or until the
    work of all would be more than `MOST_WORK`; at the end the number below the selected one, too.
    """
    models, scores, skipped = _first_round(candidates, report)
    if not scores:
        return Choice(1, [], skipped)
    chosen = fewest_states(scores)
    between = [k for k in BETWEEN if k < chosen and k in candidates.numbers]
    below = max((k for k in scores if k < chosen), default=chosen)
    if between and between[-1] > below:
        k = between[-1]
        report(0.5, f"{k} states")
        try:
            models[k] = candidates.learn(k, models[below])
            scores[k] = np.maximum(candidates.score(models[k]), IMPOSSIBLE)
            chosen = fewest_states(scores)
        except (RankError, DataError):
            pass
    table = [
        {"n_states": k, "held_out_score": float(rows.mean())} for k, rows in sorted(scores.items())
    ]
    return Choice(chosen, table, skipped, models[chosen])


def _first_round(
    candidates: Candidates, report: Report
) -> tuple[dict[int, Any], dict[int, Array], list[int]]:
    """Models and scores by number of states, and the numbers skipped for their cost."""
    numbers = [k for k in candidates.numbers if k in COARSE]
    least, patience = candidates.least or 1, candidates.patience or PATIENCE
    models: dict[int, Any] = {}
    scores: dict[int, Array] = {}
    model, best, waited, work = None, 1, 0, 0
    for place, k in enumerate(numbers):
        work += candidates.n_positions * k**2
        if k > least and work > MOST_WORK:
            return models, scores, numbers[place:]
        report(0.5 * place / len(numbers), f"{k} states")
        try:
            model = candidates.learn(k, model)
            rows = np.maximum(candidates.score(model), IMPOSSIBLE)
        except (RankError, DataError):
            break
        if not scores or surely_better(rows, scores[best], None):
            best, waited = k, 0
        else:
            waited += 1
        models[k], scores[k] = model, rows
        if waited >= patience and k >= least:
            break
    return models, scores, []


def fewest_states(scores: dict[int, Array]) -> int:
    """The fewest states that are not surely worse than the best.

    Parameters
    ----------
    scores : dict of number of states to (sequence,) held-out log-probabilities
    """
    best = max(scores, key=lambda k: (scores[k].mean(), -k))
    return next(k for k in sorted(scores) if not surely_better(scores[best], scores[k], None))


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
