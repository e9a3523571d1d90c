"""EM by small batches, stopped by rows that were held out: for trees with many states.

Full steps of EM overfit a model with many states. Steps after small batches are noisy and end in models that
generalise better; held-out rows say when to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import ahead
from tacit.messages.em import Prior, normalise_rows
from tacit.trees.learn.em.many_states import ManyStatesExpectation

if TYPE_CHECKING:
    from tacit.messages.network import Layout

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
Watch = Callable[[Array | Singles], float]
Progress = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class BatchSchedule:
    """How large batches are, and the weight of a batch against all before it: smaller pass by pass."""

    n_batches: int = 50
    few_batches: int = 16  # of a model so large that its arrays cost more than a batch
    large: int = 500_000  # entries of such a model
    fewest_rows: int = 200  # of a batch
    first: float = 0.5
    decay: float = 0.85
    least: float = 0.05
    most_passes: int = 25
    patience: int = 3  # passes without a gain after which EM stops

    def size(self, turn: int) -> float:
        """The weight of a batch in a pass."""
        return max(self.first * self.decay**turn, self.least)


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The best parameters of a run of EM by held-out rows, and the step that gave them."""

    values: Array
    score: float  # mean log-likelihood of the held-out rows; NaN where there were none
    count: int  # passes or steps


@dataclass(frozen=True, eq=False)
class Rows:
    """The training data: coded rows, their weights and the tables' layout and prior."""

    layout: Layout
    codes: NDArray[Any]
    weights: Array | None
    prior: Prior
    n_jobs: int = 1
    stop: Event = field(default_factory=Event)  # set from another thread to cancel

    def go_on(self) -> None:
        """Raise where nobody waits for the result any more."""
        if self.stop.is_set():
            raise CancelledError


def run_minibatch_em(
    rows: Rows,
    start: Array,
    watch: Watch | None,
    rng: np.random.Generator,
    *,
    schedule: BatchSchedule | None = None,
    n_passes: int | None = None,
    progress: Progress | None = None,
) -> Watched:
    """Passes over the rows in small batches; the tables of the best pass.

    Parameters
    ----------
    rows : Rows
    start : flat tables
    watch : callable or None
        The mean log-likelihood of held-out rows under flat tables. Without it `n_passes` are made.
    rng : numpy.random.Generator
        Of the batches, which are drawn anew in each pass.
    schedule : BatchSchedule, optional
    n_passes : int, optional
        The number of passes, where there are no held-out rows.
    progress : callable, optional
        Called with the number of passes made and the score.
    """
    from tacit.core.loops.acceleration import blend

    schedule = BatchSchedule() if schedule is None else schedule
    layout, prior = rows.layout, rows.prior
    total = float(len(rows.codes) if rows.weights is None else rows.weights.sum())
    most = schedule.most_passes if n_passes is None else n_passes
    best: tuple[Array | Singles, float, int] = (start, watch(start) if watch else np.nan, 0)
    values: Array | Singles = start
    mean: Array = np.zeros(0)
    space: list[Any] = []
    for turn in range(1, most + 1):
        size = schedule.size(turn - 1)
        for batch in _batches(rows, schedule, rng, space):
            rows.go_on()
            if batch.total_weight > 0:
                _, counts = batch(values)
                # The first batch is the mean so far.
                weight, mean = (size, mean) if len(mean) else (1.0, np.zeros(layout.size))
                scale = total / batch.total_weight
                values = np.empty(layout.size, dtype=np.float32)
                blend(counts, scale, weight, prior.pseudo, layout.row_starts, mean, values)
        score = watch(values) if watch else np.nan
        if progress is not None:
            progress(turn, score)
        if watch is None or score > best[1]:
            best = values, score, turn
        elif turn - best[2] >= schedule.patience:
            break
    values, score, turn = best
    if values is start:
        return Watched(start, score, turn)
    return Watched(normalise_rows(layout, values.astype(np.float64)), score, turn)


def _batches(
    rows: Rows, schedule: BatchSchedule, rng: np.random.Generator, space: list[Any] | None = None
) -> Iterator[ManyStatesExpectation]:
    """The batches of one pass; the patterns of the next are numbered while one is worked on."""
    n_rows = len(rows.codes)
    small = rows.layout.size < schedule.large
    n_batches = schedule.n_batches if small else min(schedule.n_batches, schedule.few_batches)
    size = max(-(-n_rows // n_batches), schedule.fewest_rows)
    order = rng.permutation(n_rows)
    parts = np.array_split(order, max(1, round(n_rows / size)))

    def prepare(part: NDArray[np.int64]) -> ManyStatesExpectation:
        codes = rows.codes[np.sort(part)]
        weights = None if rows.weights is None else rows.weights[np.sort(part)]
        return ManyStatesExpectation(rows.layout, codes, weights, rows.n_jobs, space)

    return ahead(map(prepare, parts))


def run_watched_em(
    rows: Rows,
    start: Array,
    watch: Watch | None,
    *,
    most_steps: int = 20,
    every: int = 2,
    patience: int = 2,
    n_steps: int | None = None,
    progress: Progress | None = None,
) -> Watched:
    """Full steps of EM as long as held-out rows gain; the tables of the best step.

    Parameters
    ----------
    rows, start, watch
        See `run_minibatch_em`.
    most_steps : int
    every : int
        Steps between two evaluations on the held-out rows.
    patience : int
        Evaluations without a gain after which EM stops.
    n_steps : int, optional
        The number of steps, where there are no held-out rows.
    progress : callable, optional
        Called with the number of steps made and the score.
    """
    most = most_steps if n_steps is None else n_steps
    best = Watched(start, watch(start) if watch else np.nan, 0)
    if most == 0:
        return best
    expect = ManyStatesExpectation(rows.layout, rows.codes, rows.weights, rows.n_jobs)
    values = start
    for step in range(1, most + 1):
        rows.go_on()
        _, counts = expect(values)
        values = normalise_rows(rows.layout, counts + rows.prior.pseudo)
        if watch is None:
            best = Watched(values, np.nan, step)
        elif step % every == 0:
            score = watch(values)
            if progress is not None:
                progress(step, score)
            if score > best.score:
                best = Watched(values, score, step)
            elif step - best.count >= every * patience:
                break
    return best
