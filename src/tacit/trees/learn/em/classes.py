"""EM on mixtures of product distributions, with exchanges of classes.

The start is clusters of rows (`starts.classes`). EM from there ends at a local optimum: two classes may
describe what one could, while another class has columns that still depend on each other. Then one of the two
is removed and the other class split, across the direction in which its columns are most correlated, by
moments within the class. This is repeated as long as it raises the objective.
Split and merge EM is by Ueda et al. (2000).

The strength of each column's prior is learnt from the expected counts after the first steps.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, run_accelerated_em, warn_unfinished
from tacit.messages.em import smoothed_marginals

if TYPE_CHECKING:
    from tacit.messages.network import Layout

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[Any]

# All of these were chosen on some thirty tables of 120 to 50,000 rows, real and drawn.
# Steps before the prior is learnt, before the first exchange of classes, after each; exchanges at most.
STEPS_TO_CHOOSE = 4  # among starts
STEPS_BEFORE_PRIOR, STEPS_BEFORE_EXCHANGE, STEPS_BETWEEN, MOST_EXCHANGES = 5, 1, 5, 4
# Pseudo-counts of a column's tables: their initial value, their spread around it (standard deviation of the
# logarithm), the most; and those of the class weights.
USUAL_STRENGTH, STRENGTH_SPREAD, MOST_STRENGTH, WEIGHT_STRENGTH = 2.0, 0.8, 50.0, 1.0
# With so many rows, the strength of a column is half its estimate and half that of all columns.
ROWS_FOR_COLUMN_STRENGTH = 50
# With so many rows, half of the usual strength is used: few rows must not drown in pseudo-counts.
ROWS_FOR_USUAL_STRENGTH = 10
MEMORY = 4  # earlier steps that the acceleration uses: more cost more than they save
ROWS_LOOKED_AT = 20_000  # of different rows, evenly spaced: to find clusters, and what to exchange
ROWS_AT_ONCE = 1 << 16
# More starts than the first, see `_finalists`: steps of each, and how many of them go on to the end; they
# are left out where a run of EM may not make many steps.
STEPS_OF_A_START, FINALISTS, FEWEST_STEPS = 8, 3, 200
SAME = 1.0  # nats: two starts that come so near to each other are taken for one


class ClassExpectation:
    """Log-likelihood and expected counts of the tables of a star, over its different rows.

    Does what `Expectation` does for any tree, several times faster. Within, tables stand in one array
    (cell and weight, class); a cell is a category of a column, and the last row holds the class weights.
    """

    def __init__(
        self,
        layout: Layout,
        codes: Codes,
        weights: Array | None = None,
        n_jobs: int = 1,
        *,
        merge: bool = True,
    ) -> None:
        self.layout = layout
        self.n_jobs = n_jobs
        self.codes = np.ascontiguousarray(codes)
        self.weights = np.ones(len(codes)) if weights is None else weights
        if merge:
            from tacit.messages.loops.patterns import different_rows

            first, self.weights = different_rows(self.codes, self.weights)
            self.codes = self.codes[first]
        self.starts, self.entries = _places(layout)

    @cached_property
    def total_weight(self) -> float:
        """Summed weights of all rows."""
        return float(self.weights.sum())

    @cached_property
    def marginals(self) -> Array:
        """(cell,) The distributions of all columns, one after the other, smoothed."""
        from tacit.trees.loops.class_start import cluster_counts

        everybody = np.zeros(len(self.codes), dtype=np.int64)
        counts = cluster_counts(self.codes, self.weights, self.starts, everybody, 1)[0, :-1]
        return smoothed_marginals(counts, self.layout.n_states[:-1])

    def __call__(self, values: Array) -> tuple[float, Array]:
        """The log-likelihood of flat tables, and the expected count of every entry."""
        value, counts = self.counted(values[self.entries])
        return value, self.flat(counts)

    def flat(self, tables: Array) -> Array:
        """Tables as the layout has them."""
        out = np.empty(self.layout.size)
        out[self.entries] = tables
        return out

    def counted(self, tables: Array) -> tuple[float, Array]:
        """Log-likelihood of tables (cell and weight, class), and expected counts of the same shape."""
        from tacit.trees.loops.classes import class_counts

        logs = np.log(np.maximum(tables, 1e-300))
        nobody = np.empty((0, tables.shape[1]))

        def part(first: int) -> tuple[float, Array]:
            rows = slice(first, first + ROWS_AT_ONCE)
            counts = np.zeros(tables.shape)
            model = (self.starts, logs[:-1], logs[-1], counts[:-1], counts[-1], nobody)
            return class_counts(self.codes[rows], self.weights[rows], *model), counts

        firsts = range(0, max(len(self.codes), 1), ROWS_AT_ONCE)
        if len(firsts) == 1 or self.n_jobs == 1:
            parts = [part(first) for first in firsts]
        else:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                parts = list(pool.map(part, firsts))
        # Summed in the order of the rows, so that the number of threads does not show.
        value, counts = parts[0]
        for more, more_counts in parts[1:]:
            value, counts = value + more, counts + more_counts
        return value, counts

    def fewer(self, most: int) -> ClassExpectation:
        """The same over at most so many of the rows, evenly spaced, that weigh as much as all."""
        step = -(-len(self.codes) // most)
        if step <= 1:
            return self
        weights = self.weights[::step]
        scale = self.total_weight / max(float(weights.sum()), 1e-300)
        return ClassExpectation(self.layout, self.codes[::step], weights * scale, merge=False)


@lru_cache(maxsize=64)
def _places(layout: Layout) -> tuple[Integers, Integers]:
    """The first cell of each column and their number; where (cell and weight, class) stand when flat."""
    cards, k = layout.columns[:-1], layout.n_states[-1]
    starts = np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)
    column = np.repeat(np.arange(len(cards)), cards)
    first = layout.starts[column] + np.arange(int(starts[-1])) - starts[column]
    entries = first[:, None] + cards[column][:, None] * np.arange(k)
    weights = np.arange(layout.size - k, layout.size)
    return starts, np.concatenate([entries, weights[None]])


@dataclass(frozen=True, eq=False)
class LearntClasses:
    """The classes that EM learnt."""

    em_run: EMRun  # its values are flat, as the layout has them
    n_exchanged: int
    strengths: Array  # (column,)  pseudo-counts of its tables


def learn_classes(
    expect: ClassExpectation,
    *,
    pseudo_counts: float | None,
    least: float,
    max_iter: int = 1000,
    n_more_starts: int = 0,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> LearntClasses:
    """Classes from clusters of rows, by accelerated MAP-EM with exchanges.

    Parameters
    ----------
    expect : ClassExpectation
    pseudo_counts : float or None
        Of every column's tables and of the class weights; None to learn those of each column.
    least : float
        EM stops when a step gains fewer nats.
    max_iter : int
        Steps of all runs of EM together.
    n_more_starts, seed : int
        Further starts from clusters that are drawn.
    progress : callable, optional
        Called with the number of steps and the objective after each run of EM.
    """
    from tacit.trees.learn.starts.classes import class_starts, drawn_starts
    from tacit.trees.loops.class_prior import prior_strengths
    from tacit.trees.loops.class_prior import pseudo_counts as spread

    few, marginals = expect.fewer(ROWS_LOOKED_AT), expect.marginals
    k, n_columns = expect.layout.n_states[-1], expect.codes.shape[1]
    n_rows = expect.total_weight
    usual = USUAL_STRENGTH * n_rows / (n_rows + ROWS_FOR_USUAL_STRENGTH)
    strength = usual if pseudo_counts is None else pseudo_counts
    weight_strength = WEIGHT_STRENGTH if pseudo_counts is None else pseudo_counts
    strengths = np.full(n_columns, strength)
    pseudo = spread(strengths, marginals, expect.starts, weight_strength, k)
    starts = class_starts(few.codes, few.weights, few.starts, marginals, k, strength)
    tables, made = _likeliest(expect, pseudo, starts, max_iter)
    if pseudo_counts is None and max_iter > made + STEPS_BEFORE_PRIOR:
        first, counts = _run_em(expect, pseudo, tables, least, STEPS_BEFORE_PRIOR)
        tables, made = first.values, made + first.n_steps
        if progress is not None:
            progress(made, first.objective)
        strengths = prior_strengths(
            counts[:-1],
            marginals,
            expect.starts,
            usual,
            STRENGTH_SPREAD,
            MOST_STRENGTH,
            ROWS_FOR_COLUMN_STRENGTH / (ROWS_FOR_COLUMN_STRENGTH + n_rows),
        )
        pseudo = spread(strengths, marginals, expect.starts, weight_strength, k)
    run = partial(run_class_em, expect, pseudo, least=least, max_iter=max_iter, progress=progress)
    finalists = [tables]
    if n_more_starts > 0 and k > 1 and max_iter >= FEWEST_STEPS:
        drawn = drawn_starts(few.codes, few.weights, few.starts, marginals, k, n_more_starts, seed)
        finalists, steps = _finalists(few, pseudo, tables, drawn)
        made = min(made + steps, max_iter - 1)
    ended = [run(tables, made=made) for tables in finalists]
    em_run, n_exchanged = max(ended, key=lambda end: end[0].objective)
    total = made + sum(end.n_steps - made for end, _ in ended)
    values = expect.flat(em_run.values)
    return LearntClasses(replace(em_run, values=values, n_steps=total), n_exchanged, strengths)


def _likeliest(
    expect: ClassExpectation, pseudo: Array, starts: list[Array], max_iter: int
) -> tuple[Array, int]:
    """The tables of the start with the highest objective after a few steps, and the number of steps made."""
    from tacit.trees.loops.class_em import tables_of

    made, best, likeliest = 0, -np.inf, starts[0]
    for counts in starts:
        tables = counts + pseudo
        tables_of(tables, expect.starts, tables)
        if len(starts) == 1 or made + STEPS_TO_CHOOSE >= max_iter:
            return (tables if made == 0 else likeliest), made
        em_run, _ = _run_em(expect, pseudo, tables, 0.0, STEPS_TO_CHOOSE)
        made += em_run.n_steps
        if em_run.objective > best:
            best, likeliest = em_run.objective, em_run.values
    return likeliest, made


def _finalists(
    few: ClassExpectation, pseudo: Array, first: Array, drawn: list[Array]
) -> tuple[list[Array], int]:
    """The tables of the likeliest starts after a few steps, and the number of steps made.

    Those that come near to a better one are left out.
    """
    from tacit.trees.loops.class_em import tables_of

    runs, made = [], 0
    for counts in (None, *drawn):
        tables = first
        if counts is not None:
            tables = counts + pseudo
            tables_of(tables, few.starts, tables)
        runs.append(_run_em(few, pseudo, tables, 0.0, STEPS_OF_A_START)[0])
        made += runs[-1].n_steps
    finalists: list[EMRun] = []
    for run in sorted(runs, key=lambda run: -run.objective):
        is_new = all(abs(run.objective - other.objective) > SAME for other in finalists)
        if is_new and len(finalists) < FINALISTS:
            finalists.append(run)
    return [run.values for run in finalists], made


def run_class_em(
    expect: ClassExpectation,
    pseudo: Array,
    start: Array,
    least: float,
    *,
    max_iter: int = 1000,
    made: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[EMRun, int]:
    """Accelerated MAP-EM from a start with exchanges of classes; and how many exchanges were kept.

    Parameters
    ----------
    expect : ClassExpectation
    pseudo, start : (cell and weight, class)
        Pseudo-counts, and tables.
    least : float
        The last run of EM stops when a step gains fewer nats.
    max_iter, made : int
        Steps of all runs of EM together, and those made before.
    progress : callable, optional
        Called with the number of steps and the objective after each run of EM.
    """
    from tacit.trees.loops.class_exchange import exchanged

    exchanges, values = 0, start
    trace: tuple[float, ...] = ()
    k, few = start.shape[1], expect.fewer(ROWS_LOOKED_AT)
    if k > 2 and made + STEPS_BEFORE_EXCHANGE < max_iter:
        best, _ = _run_em(expect, pseudo, start, least, STEPS_BEFORE_EXCHANGE)
        made, trace = made + best.n_steps, best.trace
        while exchanges < MOST_EXCHANGES and made + STEPS_BETWEEN < max_iter:
            other = exchanged(few.codes, few.weights, few.starts, best.values, pseudo)
            em_run, _ = _run_em(expect, pseudo, other, least, STEPS_BETWEEN)
            made += em_run.n_steps
            if not em_run.objective > best.objective:
                break
            best, exchanges = em_run, exchanges + 1
            trace += best.trace
            if progress is not None:
                progress(made, best.objective)
        values = best.values
    last, _ = _run_em(expect, pseudo, values, least, max(max_iter - made, 1))
    if not last.converged:
        warn_unfinished(max_iter)
    steps = made + last.n_steps
    if progress is not None:
        progress(steps, last.objective)
    return replace(last, n_steps=steps, trace=(*trace, *last.trace)), exchanges


def _run_em(
    expect: ClassExpectation, pseudo: Array, start: Array, least: float, most: int
) -> tuple[EMRun, Array]:
    """EM without exchanges, and expected counts of its last step; tables are (cell and weight, class).

    Small tables are learnt in one compiled call; the steps of large ones divide their rows among threads.
    """
    from tacit.core.loops.acceleration import log_density
    from tacit.trees.loops.class_em import run_em, tables_of

    rows = expect.codes, expect.weights, expect.starts
    if len(expect.codes) <= ROWS_AT_ONCE:
        values, mass, trace, count, converged = run_em(*rows, start, pseudo, least, most, MEMORY)
        em_run = EMRun(values, float(trace[-1]), count, converged, tuple(trace.tolist()))
        return em_run, mass - pseudo

    def normalised(flat: Array) -> Array:
        out = np.empty(start.shape)
        tables_of(flat.reshape(start.shape), expect.starts, out)
        return out.ravel()

    counts = pseudo

    def step(flat: Array) -> tuple[float, Array, Array]:
        nonlocal counts
        value, counts = expect.counted(flat.reshape(start.shape))
        mass = (counts + pseudo).ravel()
        return value + log_density(pseudo.ravel(), flat), normalised(mass), mass

    em_run = run_accelerated_em(
        step,
        start.ravel(),
        AbsoluteGain(least),
        normalise=normalised,
        memory=MEMORY,
        max_iter=most,
        warn=False,
    )
    return replace(em_run, values=em_run.values.reshape(start.shape)), counts
