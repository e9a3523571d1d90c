"""Hidden Markov models of normal numbers: a start from counts of cells, and EM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.sequences.data.number_sequences import Series
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.gaussian_hmm import (
    Rows,
    densities,
    expected,
    polished_gaussian,
    row_sums,
)
from tacit.sequences.learn.starts.gaussian_hmm import (
    SMALL,
    by_rows,
    even_chain,
    neighbours,
    with_random_transitions,
)
from tacit.sequences.learn.starts.regroup import regroupings
from tacit.sequences.model.gaussian_hmm import GaussianChain

if TYPE_CHECKING:
    from tacit.core.em import EMRun
    from tacit.core.progress import Report
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]
Rungs = tuple[tuple[int, int, int], ...]

FEWEST_CELLS, MOST_CELLS = 16, 64
CELL_STEPS = 10  # of EM on the model of cells: what comes after it climbs as fast


PER_STATE = 8  # cells

# Starts of each kind besides the one from cells: optima of a single column are many.
ROUNDS, ROUNDS_OF_SINGLE = 3, 4
# Of EM on each start that is left: steps, positions, and how many starts are left afterwards.
RUNGS = ((15, 10_000, 6), (30, 20_000, 2))
# The best end has its states grouped otherwise in so many ways; how these are given up, and how far behind
# (in nats for each position) one may be then for it to be climbed on with.
WAYS, WAY_RUNGS, BEHIND = 8, ((15, 10_000, 3), (30, 20_000, 1)), 5e-4
MOST_TURNS = 3  # of such regroupings, as long as they are better
ROUGH = 1e-5  # nats for each position below which steps of these climbs end


def scaled(series: Series) -> tuple[Rows, Array, Array]:
    """Rows on a common scale, with the mean and the spread of each column."""
    centre = np.nanmean(series.values, axis=0)
    spread = np.nanstd(series.values, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    values = np.ascontiguousarray((series.values - centre) / spread)
    return Rows(values, series.ends), centre, spread


def learn_numbers(
    series: Series, n_states: int, settings: HMMSettings, report: Report
) -> tuple[GaussianChain, dict[str, Any]]:
    """A model of some states, and how it came about."""
    rows, centre, spread = scaled(series)
    diagonal = settings.covariance == "diagonal"
    rng = np.random.default_rng(settings.seed)
    if settings.learn == "em":
        found, told = _best_of(rows, n_states, settings, rng, report)
        return found.rescaled(centre, spread), told
    cells, told = _by_cells(rows, n_states, settings, rng)
    if settings.learn == "tensor":
        return cells.rescaled(centre, spread), told | {"n_steps": 1}
    starts = {"cells": cells} | _random_starts(rows, n_states, rng, diagonal=diagonal)
    left, tried = _halved(starts, rows, settings, RUNGS)
    ends = {name: _polished(each, rows, settings, report=report) for name, each in left.items()}
    best = max(ends, key=lambda name: ends[name][1].objective)
    (found, em_run), turns = _regrouped(*ends[best], rows, settings, rng)
    told |= {"start": best, "starts": tried, "regroupings": turns, **_steps(em_run)}
    return found.rescaled(centre, spread), told


def _regrouped(
    chain: GaussianChain, em_run: EMRun, rows: Rows, settings: HMMSettings, rng: np.random.Generator
) -> tuple[tuple[GaussianChain, EMRun], list[str]]:
    """The best that is found by grouping states otherwise, and what was done to them in turn."""
    turns: list[str] = []
    while len(turns) < MOST_TURNS:
        told = expected(chain, _first_rows(rows, WAY_RUNGS[0][1]))
        ways = regroupings(chain, told.visits, WAYS, rng)
        if not ways:
            break
        left, tried = _halved(ways, rows, settings, WAY_RUNGS)
        name, start = next(iter(left.items()))
        few = _first_rows(rows, WAY_RUNGS[-1][1])
        here = _polished(chain, few, settings, max_iter=1)[1].objective
        if tried[name][-1] < here - BEHIND * len(few.values):
            break
        found, other = _polished(start, rows, settings)
        if other.objective <= em_run.objective + settings.tol * len(rows.values):
            break
        chain, em_run = found, other
        turns.append(name)
    return (chain, em_run), turns


def _random_starts(
    rows: Rows, n_states: int, rng: np.random.Generator, *, diagonal: bool
) -> dict[str, GaussianChain]:
    """Starts of several kinds, so that what misleads one of them does not mislead all."""
    starts = {}
    for place in range(ROUNDS_OF_SINGLE if rows.values.shape[1] == 1 else ROUNDS):
        for kind, beside in (("clusters", False), ("clusters beside neighbours", True)):
            chain = by_clusters(rows, n_states, rng, diagonal=diagonal, beside=beside)
            starts[f"{kind} {place + 1}"] = chain if beside else with_random_transitions(chain, rng)
        for kind, wide in (("rows", 1.0), ("small rows", SMALL)):
            chain = by_rows(rows.filled, n_states, rng, wide=wide, diagonal=diagonal)
            starts[f"{kind} {place + 1}"] = chain
    return starts


def _halved(
    starts: dict[str, GaussianChain], rows: Rows, settings: HMMSettings, rungs: Rungs
) -> tuple[dict[str, GaussianChain], dict[str, list[float]]]:
    """The starts that are ahead after a few steps on a part of the rows, the worse ones given up on the way.

    Returns where they got, and the objectives of all starts as far as they went.
    """
    left = dict(starts)
    tried: dict[str, list[float]] = {name: [] for name in starts}
    for n_steps, most, n_left in rungs:
        few = _first_rows(rows, most)
        for name, chain in left.items():
            left[name], em_run = _polished(chain, few, settings, max_iter=n_steps)
            tried[name].append(em_run.objective)
        ahead = sorted(left, key=lambda name: tried[name][-1], reverse=True)[:n_left]
        left = {name: left[name] for name in ahead}
    return left, tried


def _best_of(
    rows: Rows, n_states: int, settings: HMMSettings, rng: np.random.Generator, report: Report
) -> tuple[GaussianChain, dict[str, Any]]:
    """EM from several clusterings of rows; the most likely end."""
    found: list[tuple[GaussianChain, EMRun]] = []
    for place in range(settings.n_restarts):
        report(place / settings.n_restarts, f"start {place + 1}")
        diagonal = settings.covariance == "diagonal"
        start = by_clusters(rows, n_states, rng, diagonal=diagonal, beside=place > 0)
        found.append(_polished(start, rows, settings))
    objectives = [em_run.objective for _, em_run in found]
    chain, em_run = found[int(np.argmax(objectives))]
    return chain, {"starts": objectives, **_steps(em_run)}


def _steps(em_run: EMRun) -> dict[str, Any]:
    return {
        "n_steps": em_run.n_steps,
        "converged": em_run.converged,
        "objectives": [float(each) for each in em_run.trace],
    }


def _polished(
    chain: GaussianChain,
    rows: Rows,
    settings: HMMSettings,
    *,
    max_iter: int | None = None,
    report: Report | None = None,
) -> tuple[GaussianChain, EMRun]:
    most = settings.max_iter if max_iter is None else min(max_iter, settings.max_iter)

    def tell(step: int, objective: float) -> None:
        if report is not None:
            report(min(step / most, 1.0), f"step {step}: {objective:.1f} nats")

    return polished_gaussian(
        chain,
        rows,
        gain=(settings.tol if max_iter is None else max(settings.tol, ROUGH)) * len(rows.values),
        max_iter=most,
        pseudo_counts=settings.pseudo_counts,
        stationary=settings.stationary,
        progress=tell,
    )


def _first_rows(rows: Rows, most: int) -> Rows:
    """The first sequences, about so many positions of them; at least one sequence."""
    stop = max(int(np.searchsorted(rows.ends, most, side="right")) - 1, 1)
    if stop >= len(rows.ends) - 1:
        return rows
    return Rows(rows.values[: rows.ends[stop]], rows.ends[: stop + 1])


def by_clusters(
    rows: Rows, n_states: int, rng: np.random.Generator, *, diagonal: bool, beside: bool = False
) -> GaussianChain:
    """States that are clusters of rows, whatever stands around them, or of rows beside their neighbours."""
    values = rows.values
    if beside:
        gone = np.isnan(values).all(axis=1)
        values = np.hstack([values, neighbours(values, rows.ends)])
        values[gone] = np.nan
    codes = cells_of(values, n_states, rng)
    posterior = np.eye(n_states)[codes]
    posterior[codes < 0] = 1 / n_states
    means, covariances = densities(row_sums(rows, posterior, None, diagonal=diagonal), 1.0)
    return even_chain(means, covariances, diagonal=diagonal)


def _by_cells(
    rows: Rows, n_states: int, settings: HMMSettings, rng: np.random.Generator
) -> tuple[GaussianChain, dict[str, Any]]:
    """States from counts of cells in windows of three; densities from where the model of cells has them."""
    from tacit.sequences.learn.em.hmm_auto import Search
    from tacit.sequences.learn.hmm_learners import learn_tables
    from tacit.sequences.learn.hmm_task import Task
    from tacit.sequences.query.hidden_states import smoothed, symbol_evidence

    n_cells = int(np.clip(PER_STATE * n_states, FEWEST_CELLS, MOST_CELLS))
    codes = cells_of(rows.values, n_cells, rng)
    cells = Sequences(codes, np.diff(rows.ends), tuple(range(int(codes.max(initial=0)) + 1)))
    way = replace(settings, max_iter=min(CELL_STEPS, settings.max_iter))
    search = Search(climbs=((CELL_STEPS, 3), (CELL_STEPS, 1)))
    tables, told = learn_tables(Task(cells, way, search=search), n_states)
    posterior = smoothed(tables, symbol_evidence(tables.emit[0], codes, rows.ends))
    diagonal = settings.covariance == "diagonal"
    means, covariances = densities(row_sums(rows, posterior, None, diagonal=diagonal), 1.0)
    chain = GaussianChain(tables.initial, tables.transitions, means, covariances, diagonal)
    told = {"cells": {"n_cells": cells.n_symbols, **told}}
    return chain, told
