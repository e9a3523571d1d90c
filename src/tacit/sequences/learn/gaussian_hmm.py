"""Gaussian hidden Markov models: a start from counts of cells, other starts, and EM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.sequences.data.number_sequences import Series, centre_and_spread
from tacit.sequences.data.sequences import some_sequences
from tacit.sequences.learn.cells import cells_for, states_of_cells
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

# Starts of each kind besides the one from cells: a single column has many local optima.
ROUNDS, ROUNDS_OF_SINGLE = 3, 4
# Successive halving: steps of EM on each start, positions, and the number of starts that remain.
RUNGS = ((15, 10_000, 6), (30, 20_000, 2))
ROUGH_RUNGS = ((15, 10_000, 1),)  # where the number of states is selected
# Merge-and-split candidates of the best result; their successive halving, and how far behind (in nats per
# position) one may be then to be continued.
N_REGROUPINGS, REGROUPING_RUNGS, BEHIND = 8, ((15, 10_000, 3), (30, 20_000, 1)), 5e-4
MOST_TURNS = 3  # regroupings in a row
ROUGH = 1e-5  # nats per position below which EM of these rounds ends


def scaled(series: Series) -> tuple[Rows, Array, Array]:
    """Standardised rows, with the mean and standard deviation of each column."""
    centre, spread = centre_and_spread(series.values)
    spread = np.where(spread > 0, spread, 1.0)
    values = np.ascontiguousarray((series.values - centre) / spread)
    return Rows(values, series.ends), centre, spread


def learn_numbers(
    series: Series, n_states: int, settings: HMMSettings, report: Report
) -> tuple[GaussianChain, dict[str, Any]]:
    """A model of `n_states` states, and diagnostics."""
    rows, centre, spread = scaled(series)
    diagonal = settings.covariance == "diagonal"
    rng = np.random.default_rng(settings.seed)
    if settings.learn == "em":
        chain, diagnostics = _best_of(rows, n_states, settings, rng, report)
        return chain.rescaled(centre, spread), diagnostics
    cells, diagnostics = _by_cells(rows, n_states, settings, rng)
    if settings.learn == "tensor":
        return cells.rescaled(centre, spread), diagnostics | {"n_steps": 1}
    rounds = 1 if settings.rough else None
    starts = {"cells": cells} | _random_starts(
        rows, n_states, rng, diagonal=diagonal, rounds=rounds
    )
    if settings.start is not None:
        starts["grown"] = settings.start.rescaled(-centre / spread, 1 / spread)
    remaining, objectives = _halved(
        starts, rows, settings, ROUGH_RUNGS if settings.rough else RUNGS
    )
    ends = {
        name: _polished(start, rows, settings, report=report) for name, start in remaining.items()
    }
    best = max(ends, key=lambda name: ends[name][1].objective)
    if settings.rough:
        return ends[best][0].rescaled(centre, spread), diagnostics
    (chain, em_run), turns = _regrouped(*ends[best], rows, settings, rng)
    diagnostics |= {"start": best, "starts": objectives, "regroupings": turns, **_steps(em_run)}
    return chain.rescaled(centre, spread), diagnostics


def refined_numbers(series: Series, start: GaussianChain, settings: HMMSettings) -> GaussianChain:
    """The model after EM from this one."""
    rows, centre, spread = scaled(series)
    chain, _ = _polished(start.rescaled(-centre / spread, 1 / spread), rows, settings)
    return chain.rescaled(centre, spread)


def _regrouped(
    chain: GaussianChain, em_run: EMRun, rows: Rows, settings: HMMSettings, rng: np.random.Generator
) -> tuple[tuple[GaussianChain, EMRun], list[str]]:
    """The best model by merging and splitting states, and the steps taken."""
    turns: list[str] = []
    while len(turns) < MOST_TURNS:
        expected_counts = expected(chain, _some_rows(rows, REGROUPING_RUNGS[0][1]))
        candidates = regroupings(chain, expected_counts.visits, N_REGROUPINGS, rng)
        if not candidates:
            break
        remaining, objectives = _halved(candidates, rows, settings, REGROUPING_RUNGS)
        name, start = next(iter(remaining.items()))
        few = _some_rows(rows, REGROUPING_RUNGS[-1][1])
        current = _polished(chain, few, settings, max_iter=1)[1].objective
        if objectives[name][-1] < current - BEHIND * len(few.values):
            break
        improved, other = _polished(start, rows, settings)
        if other.objective <= em_run.objective + settings.tol * len(rows.values):
            break
        chain, em_run = improved, other
        turns.append(name)
    return (chain, em_run), turns


def _random_starts(
    rows: Rows,
    n_states: int,
    rng: np.random.Generator,
    *,
    diagonal: bool,
    rounds: int | None = None,
) -> dict[str, GaussianChain]:
    """Starts of several kinds, with different weaknesses."""
    starts = {}
    for place in range(rounds or (ROUNDS_OF_SINGLE if rows.values.shape[1] == 1 else ROUNDS)):
        for kind, beside in (("clusters", False), ("clusters beside neighbours", True)):
            chain = by_clusters(rows, n_states, rng, diagonal=diagonal, beside=beside)
            starts[f"{kind} {place + 1}"] = chain if beside else with_random_transitions(chain, rng)
        for kind, scale in (("rows", 1.0), ("small rows", SMALL)):
            chain = by_rows(rows.filled, n_states, rng, scale=scale, diagonal=diagonal)
            starts[f"{kind} {place + 1}"] = chain
    return starts


def _halved(
    starts: dict[str, GaussianChain], rows: Rows, settings: HMMSettings, rungs: Rungs
) -> tuple[dict[str, GaussianChain], dict[str, list[float]]]:
    """The best starts after a few steps on a part of the rows: successive halving.

    Returns the chains that remain, and the objectives of all starts in each round.
    """
    remaining = dict(starts)
    objectives: dict[str, list[float]] = {name: [] for name in starts}
    for n_steps, most, n_left in rungs:
        subset = _some_rows(rows, most)
        for name, chain in remaining.items():
            remaining[name], em_run = _polished(chain, subset, settings, max_iter=n_steps)
            objectives[name].append(em_run.objective)
        ahead = sorted(remaining, key=lambda name: objectives[name][-1], reverse=True)[:n_left]
        remaining = {name: remaining[name] for name in ahead}
    return remaining, objectives


def _best_of(
    rows: Rows, n_states: int, settings: HMMSettings, rng: np.random.Generator, report: Report
) -> tuple[GaussianChain, dict[str, Any]]:
    """EM from several clusterings of rows; the most likely result."""
    ends: list[tuple[GaussianChain, EMRun]] = []
    for place in range(settings.n_restarts):
        report(place / settings.n_restarts, f"start {place + 1}")
        diagonal = settings.covariance == "diagonal"
        start = by_clusters(rows, n_states, rng, diagonal=diagonal, beside=place > 0)
        ends.append(_polished(start, rows, settings))
    objectives = [em_run.objective for _, em_run in ends]
    chain, em_run = ends[int(np.argmax(objectives))]
    return chain, {"starts": objectives, **_steps(em_run)}


def _steps(em_run: EMRun) -> dict[str, Any]:
    return {
        "n_steps": em_run.n_steps,
        "converged": em_run.converged,
        "objectives": [float(objective) for objective in em_run.trace],
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


def _some_rows(rows: Rows, most: int) -> Rows:
    """Some of the sequences, of about `most` positions; see `some_sequences`."""
    some = some_sequences(rows.ends, most)
    if some is None:
        return rows
    places, ends = some
    return Rows(rows.values[places], ends)


def by_clusters(
    rows: Rows, n_states: int, rng: np.random.Generator, *, diagonal: bool, beside: bool = False
) -> GaussianChain:
    """States from clusters of rows, or of rows together with their neighbours."""
    values = rows.values
    if beside:
        is_missing = np.isnan(values).all(axis=1)
        values = np.hstack([values, neighbours(values, rows.ends)])
        values[is_missing] = np.nan
    codes = cells_of(values, n_states, rng)
    posterior = np.eye(n_states)[codes]
    posterior[codes < 0] = 1 / n_states
    means, covariances = densities(row_sums(rows, posterior, None, diagonal=diagonal), 1.0)
    return even_chain(means, covariances, diagonal=diagonal)


def _by_cells(
    rows: Rows, n_states: int, settings: HMMSettings, rng: np.random.Generator
) -> tuple[GaussianChain, dict[str, Any]]:
    """States from counts of cells in windows of three; densities from their posterior."""
    codes = cells_for(rows.values, n_states, rng)
    tables, posterior, diagnostics = states_of_cells(codes, rows.ends, n_states, settings)
    diagonal = settings.covariance == "diagonal"
    means, covariances = densities(row_sums(rows, posterior, None, diagonal=diagonal), 1.0)
    chain = GaussianChain(tables.initial, tables.transitions, means, covariances, diagonal)
    return chain, diagnostics
