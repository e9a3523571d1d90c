"""Trees with many states: learnt in small batches, stopped by held-out rows.

A tree with many states at each hidden node fits a real table far better than one with few, if EM starts well
(`starts.clusters`) and stops in time (`em.batches`). Mixtures of them are in `mixtures`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.selection import MARGIN, surely_better
from tacit.messages.em import dirichlet_prior, smoothed_marginals
from tacit.messages.network import Layout, Tables, layout
from tacit.trees.learn.em.batches import Rows, run_minibatch_em, run_watched_em
from tacit.trees.learn.em.many_states import ManyStatesExpectation
from tacit.trees.learn.selection.states import distinguishable_states, state_counts
from tacit.trees.learn.selection.structures import topology_for
from tacit.trees.learn.starts.clusters import clustered_start
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.messages.rooted_tree import RootedTree

Array = NDArray[np.float64]
Report = Callable[[float, str], None]
T = TypeVar("T")

# Candidate numbers of states, compared as long as more are better, and pseudo-counts of every table row.
MANY_STATES = (8, 16, 32, 64)
PSEUDO_COUNTS = (1.0, 0.3, 3.0)
# A hidden node gets at most so many times the states that its branches can distinguish: with a few to
# spare, EM finds better ones.
SLACK = 8
FEWEST_ROWS = 200  # of a subsample that a tree is learnt from


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training data of trees: rows, their moments, and held-out rows; of few rows, several such folds."""

    table: Table
    held_out: Table | None
    seed: int
    n_jobs: int
    pseudo_counts: tuple[float, ...] = PSEUDO_COUNTS  # the candidates
    stop: Event = field(default_factory=Event)  # set to cancel the training of trees
    others: tuple[TrainingData, ...] = ()  # further folds

    @property
    def folds(self) -> tuple[TrainingData, ...]:
        """All folds, the first being this one."""
        return (self, *self.others)

    @cached_property
    def held_out_weights(self) -> Array | None:
        """(held-out row,) The weights of the held-out rows of all folds; None where all count alike."""
        judging = [fold.held_out for fold in self.folds if fold.held_out is not None]
        if all(rows.weights is None for rows in judging):
            return None
        return np.concatenate(
            [np.ones(rows.n_rows) if rows.weights is None else rows.weights for rows in judging]
        )

    @cached_property
    def moments(self) -> CountedMoments:
        """Pair counts of the rows."""
        table = self.table
        return CountedMoments.of(table.codes, table.schema.cards, table.weights, self.n_jobs)

    def tree(self, method: str, fraction: float = 1.0, number: int = 0) -> RootedTree:
        """The tree that a method learns from all rows, or from a random subsample."""
        table, moments = self.table, self.moments
        size = max(round(fraction * table.n_rows), FEWEST_ROWS)
        if fraction < 1.0 and size < table.n_rows:
            rng = np.random.default_rng([self.seed, number])
            part = table.take(np.sort(rng.permutation(table.n_rows)[:size]))
            moments = CountedMoments.of(part.codes, part.schema.cards, part.weights, self.n_jobs)
        names = table.schema.names
        return topology_for(method, moments, names).rooted(names)

    @cached_property
    def marginals(self) -> Array:
        """Smoothed distributions of all columns, one after the other."""
        counts = self.moments.pairs().counts.diagonal()
        return smoothed_marginals(counts, self.table.schema.cards)


@dataclass(frozen=True, eq=False)
class Trained:
    """A learnt tree, its held-out score, and the passes and steps that it took."""

    tables: Tables
    start: Array
    score: float  # mean log-likelihood of the held-out rows
    rows: Array  # (held-out row,) log-likelihood
    number: int
    pseudo_counts: float
    n_passes: int
    n_steps: int
    parts: tuple[Tables, ...] = ()  # (fold,)  learnt without the held-out rows of each fold

    @property
    def n_iterations(self) -> int:
        """Passes in small batches and full steps."""
        return self.n_passes + self.n_steps

    @property
    def n_states(self) -> int:
        """The most states of a hidden node; of those that repeat a column where there are no others."""
        tree, states = self.tables.tree, self.tables.layout.n_states
        free = [states[node] for node in tree.hidden if tree.copy_of[node] < 0]
        return max(free or states[tree.n_leaves :], default=1)

    def as_dict(self) -> dict[str, Any]:
        """The settings and scores, in plain values."""
        return {
            "n_states": self.n_states,
            "pseudo_counts": self.pseudo_counts,
            "n_passes": self.n_passes,
            "n_steps": self.n_steps,
            "score": self.score,
        }

    def again(
        self,
        data: TrainingData,
        *,
        tell: Callable[[str], None] | None = None,
        n_jobs: int | None = None,
    ) -> Trained:
        """The same tree from other rows: as long as held-out rows gain, or in as many steps as before."""
        like = self if data.held_out is None else None
        return train(
            data,
            self.tables.layout,
            self.pseudo_counts,
            self.number,
            like=like,
            tell=tell,
            n_jobs=n_jobs,
        )


def train(
    data: TrainingData,
    lay: Layout,
    pseudo_counts: float,
    number: int = 0,
    *,
    like: Trained | None = None,
    start: Array | None = None,
    tell: Callable[[str], None] | None = None,
    n_jobs: int | None = None,
) -> Trained:
    """One tree: clustered start, passes in small batches, full steps while held-out rows gain.

    Parameters
    ----------
    data : TrainingData
    lay : Layout
        The tree and its numbers of states.
    pseudo_counts : float
        Per table row.
    number : int
        The number of the tree: each has its own random draws.
    like : Trained, optional
        A tree whose numbers of passes and steps are repeated, without held-out rows.
    start : flat tables, optional
        Used instead of the clustered start.
    tell : callable, optional
        Called with a text about the progress.
    n_jobs : int, optional
        Threads, where not as many as the data allows.
    """
    first = _train_once(data, lay, pseudo_counts, number, like, start, tell, n_jobs)
    if like is not None or data.held_out is None:
        return first
    more = [
        _train_once(fold, lay, pseudo_counts, number, None, None, tell, n_jobs)
        for fold in data.others
    ]
    runs = (first, *more)
    rows = np.concatenate([run.rows for run in runs])
    return replace(
        first,
        rows=rows,
        score=float(np.average(rows, weights=data.held_out_weights)) if more else first.score,
        n_passes=int(np.median([run.n_passes for run in runs])),
        n_steps=int(np.median([run.n_steps for run in runs])),
        parts=tuple(run.tables for run in runs),
    )


def _train_once(
    data: TrainingData,
    lay: Layout,
    pseudo_counts: float,
    number: int,
    like: Trained | None,
    start: Array | None,
    tell: Callable[[str], None] | None,
    n_jobs: int | None,
) -> Trained:
    """One tree from the rows of one fold."""
    n_jobs = data.n_jobs if n_jobs is None else n_jobs
    table, held_out = data.table, data.held_out if like is None else None
    seeds = np.random.SeedSequence([data.seed, number]).spawn(2)
    if start is None:
        start = clustered_start(
            lay,
            data.moments.pairs(),
            table.codes,
            table.weights,
            seed=int(seeds[0].generate_state(1)[0]),
            n_jobs=n_jobs,
        )
    prior = dirichlet_prior(lay, data.marginals, pseudo_counts, pseudo_counts)
    rows = Rows(lay, table.codes, table.weights, prior, n_jobs, data.stop)
    judge = None
    if held_out is not None:
        judge = ManyStatesExpectation(lay, held_out.codes, held_out.weights, n_jobs)
    watch = None if judge is None else judge.mean
    minibatch_run = run_minibatch_em(
        rows,
        start,
        watch,
        np.random.default_rng(seeds[1]),
        n_passes=None if like is None else like.n_passes,
        progress=None if tell is None else lambda count, score: tell(f"pass {count}, {score:.3f}"),
    )
    ended = run_watched_em(
        rows, minibatch_run.values, watch, n_steps=None if like is None else like.n_steps
    )
    log_likelihoods = np.zeros(0) if judge is None else judge.rows(ended.values)
    tables = Tables(lay, ended.values)
    return Trained(
        tables,
        start,
        ended.score,
        log_likelihoods,
        number,
        pseudo_counts,
        minibatch_run.count,
        ended.count,
    )


def many_states(tree: RootedTree, cards: Sequence[int], most: int) -> Layout:
    """As many states at each hidden node as requested; fewer where its branches cannot tell so many apart."""
    even = state_counts(tree, cards, {}, most)
    assert even is not None
    bounded = list(even)
    for node in tree.hidden:
        if tree.copy_of[node] < 0:
            bounded[node] = max(1, min(most, SLACK * distinguishable_states(tree, even, node)))
    return layout(tree, tuple(bounded))


def run_parallel(data: TrainingData, works: Sequence[Callable[[], T]]) -> list[T]:
    """The results of several jobs, run in parallel threads.

    Where one fails, or the user interrupts, the others are cancelled.
    """
    with ThreadPoolExecutor(max(min(data.n_jobs, len(works)), 1)) as pool:
        futures = [pool.submit(work) for work in works]
        try:
            return [future.result() for future in futures]
        except BaseException:
            data.stop.set()
            for future in futures:
                future.cancel()
            raise


def run_ahead(data: TrainingData, works: Iterable[Callable[[], T]]) -> Iterator[T]:
    """The results of jobs in order, with the next of them already running.

    Those still running when no more are requested are cancelled.
    """
    futures: deque[Future[T]] = deque()
    try:
        with ThreadPoolExecutor(data.n_jobs) as pool:
            try:
                for work in works:
                    futures.append(pool.submit(work))
                    if len(futures) > data.n_jobs:
                        yield futures.popleft().result()
                while futures:
                    yield futures.popleft().result()
            finally:  # before the pool waits for running jobs
                data.stop.set()
                for future in futures:
                    future.cancel()
    finally:
        data.stop.clear()


def likeliest_states(
    data: TrainingData, tree: RootedTree, report: Report, n_states: Sequence[int] = MANY_STATES
) -> tuple[Trained, list[dict[str, Any]]]:
    """The tree with the number of states and the pseudo-counts with the best held-out score.

    More states are compared, two numbers at a time, as long as they are better. Pseudo-counts are compared
    with the best number, and with larger ones that are about as good: more states want more of them.
    """
    cards, pseudo_counts = data.table.schema.cards, data.pseudo_counts
    candidates: list[Trained] = []
    for place in range(0, len(n_states), 2):
        works = []
        for k in n_states[place : place + 2]:
            tell = _within(report, place / (len(n_states) + 2), f"{k} states, ")
            lay = many_states(tree, cards, k)
            works.append(partial(train, data, lay, pseudo_counts[0], tell=tell, n_jobs=1))
        candidates += run_parallel(data, works)
        if candidates[-1] is not _best(candidates):
            break
    best, works = _best(candidates), []
    weights = data.held_out_weights
    near = [best]
    near += [
        one
        for one in candidates
        if one.n_states > best.n_states and not surely_better(best.rows, one.rows, weights, MARGIN)
    ]
    for one, pseudo in product(near, pseudo_counts[1:]):
        tell = _within(report, len(n_states) / (len(n_states) + 2), f"pseudo-counts {pseudo:g}, ")
        lay, start = one.tables.layout, one.start
        works.append(partial(train, data, lay, pseudo, start=start, tell=tell, n_jobs=1))
    candidates += run_parallel(data, works)
    return _best(candidates), [candidate.as_dict() for candidate in candidates]


def enough_states(
    data: TrainingData, tree: RootedTree, report: Report, n_states: Sequence[int]
) -> tuple[Trained, list[dict[str, Any]]]:
    """The tree with as many states as are better than fewer by `MARGIN` standard errors; the candidates."""
    candidates: list[Trained] = []
    for place, k in enumerate(n_states):
        tell = _within(report, place / len(n_states), f"{k} states, ")
        lay = many_states(tree, data.table.schema.cards, k)
        candidates.append(train(data, lay, data.pseudo_counts[0], tell=tell))
        rows, weights = [one.rows for one in candidates[-2:]], data.held_out_weights
        if place and not surely_better(rows[1], rows[0], weights, MARGIN):
            return candidates[-2], [one.as_dict() for one in candidates]
    return candidates[-1], [one.as_dict() for one in candidates]


def _best(trees: Sequence[Trained]) -> Trained:
    """The first of those with the best score."""
    return max(trees, key=lambda trained: trained.score)


def _within(report: Report, done: float, prefix: str) -> Callable[[str], None]:
    return lambda text: report(done, prefix + text)
