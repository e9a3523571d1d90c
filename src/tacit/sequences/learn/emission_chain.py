"""Hidden Markov models with emissions of any kind and chains of any shape: starts, then accelerated EM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.sequences.learn.cells import cells_for, states_of_cells
from tacit.sequences.learn.em.emission_chain import ChainData, Passes, expected_counts, run_em
from tacit.sequences.learn.starts.emission_chain import (
    by_clusters,
    by_known_states,
    by_rows,
    by_segments,
    of_posterior,
)

if TYPE_CHECKING:
    from tacit.core.em import EMRun
    from tacit.core.progress import Report
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.model.emission_chain import EmissionChain

Array = NDArray[np.float64]
Rungs = tuple[tuple[int, int, int], ...]

N_RANDOM = 4  # starts from random rows, besides those from clusters and cells
# Successive halving: steps of EM on each start, positions, and the number of starts that remain.
RUNGS: Rungs = ((15, 6_000, 3), (30, 20_000, 2))
ROUGH = 1e-5  # nats per position below which EM of these rounds ends


def learn_chain(
    data: ChainData,
    settings: HMMSettings,
    report: Report,
    *,
    passes: Passes = expected_counts,
) -> tuple[EmissionChain, dict[str, Any]]:
    """A chain of the data's shape, and diagnostics.

    Parameters
    ----------
    data : ChainData
    settings : HMMSettings
        `learn` is "auto" (the best of several kinds of starts) or "em" (of random ones).
    report : callable
    passes : callable
        Expected counts of likelihoods; those of a Markov chain by default.
    """
    check_shape(data, settings)
    rng = np.random.default_rng(settings.seed)
    if settings.learn == "em" and data.known is None:
        remaining = {
            f"random {place + 1}": by_rows(data, rng) for place in range(settings.n_restarts)
        }
        objectives: dict[str, list[float]] = {}
    else:
        starts = _starts(data, settings, rng)
        remaining, objectives = _halved(starts, data, settings, passes)
    ends = {}
    for place, (name, start) in enumerate(remaining.items()):
        report(place / len(remaining), f"start {name}")
        ends[name] = _polished(start, data, settings, passes, report=report)
    best = max(ends, key=lambda name: ends[name][1].objective)
    chain, em_run = ends[best]
    objectives = objectives or {name: [end[1].objective] for name, end in ends.items()}
    return chain, {
        "start": best,
        "starts": objectives,
        "n_steps": em_run.n_steps,
        "converged": em_run.converged,
        "objectives": [float(objective) for objective in em_run.trace],
    }


def check_shape(data: ChainData, settings: HMMSettings) -> None:
    """Raise where known states contradict the shape, or initial probabilities cannot be stationary."""
    shape = data.shape
    if settings.stationary and not shape.initial.all():
        raise ArgumentError(
            "stationary=True with sequences that start in some states only; leave one of them out"
        )
    if data.known is None:
        return
    flags = (data.known[:, None] == np.arange(shape.n_states)).astype(np.float64)
    flags[data.known < 0] = 1.0
    logs = expected_counts(
        shape.initial / shape.initial.sum(),
        shape.transitions / shape.transitions.sum(axis=1, keepdims=True),
        flags,
        data.ends,
    )
    impossible = ~(logs.posterior.sum(axis=1) > 0.5)
    if impossible.any():
        position = int(np.argmax(impossible))
        sequence = int(np.searchsorted(data.ends, position, side="right")) - 1
        raise DataError(
            f"the known states of sequence {sequence} are no possible path of the given transitions; "
            f"correct states=, or allow what they need"
        )


def _starts(
    data: ChainData, settings: HMMSettings, rng: np.random.Generator
) -> dict[str, EmissionChain]:
    """Starts of several kinds, with different weaknesses."""
    shape = data.shape
    if data.known is not None and (data.known >= 0).any():
        starts = {"known states": by_known_states(data, rng)}
        return starts
    starts = {"clusters": by_clusters(data, rng)}
    if shape.n_states == 1:
        return starts
    grown = settings.start
    if grown is not None and data.rows.finished(grown.density) is grown.density:
        starts["grown"] = grown
    starts["clusters beside neighbours"] = by_clusters(data, rng, beside=True)
    runs_through = not shape.initial.all() and not np.tril(shape.transitions, -1).any()
    if runs_through:
        starts["segments"] = by_segments(data)
    if shape.n_groups == shape.n_states:
        starts |= _by_cells(data, settings, rng)
    n_random = 0 if settings.rough else N_RANDOM
    return starts | {f"random {place + 1}": by_rows(data, rng) for place in range(n_random)}


def _by_cells(
    data: ChainData, settings: HMMSettings, rng: np.random.Generator
) -> dict[str, EmissionChain]:
    """A start from counts of cells in windows of three, where there are several cells."""
    codes = getattr(data.rows, "cells", None)  # symbols are cells already
    if codes is None:
        codes = cells_for(data.rows.features, data.shape.n_states, rng)
    if codes.max(initial=0) < 1:
        return {}
    plain = replace(settings, learn="auto", features=None, given=None, stationary=False)
    tables, posterior, _ = states_of_cells(codes, data.ends, data.shape.n_states, plain)
    return {"cells": of_posterior(data, posterior, tables.transitions, tables.initial)}


def _halved(
    starts: dict[str, EmissionChain], data: ChainData, settings: HMMSettings, passes: Passes
) -> tuple[dict[str, EmissionChain], dict[str, list[float]]]:
    """The best starts after a few steps on a part of the rows: successive halving.

    Returns the chains that remain, and the objectives of all starts in each round.
    """
    remaining = dict(starts)
    objectives: dict[str, list[float]] = {name: [] for name in starts}
    for n_steps, most, n_left in RUNGS:
        if len(remaining) == 1:
            break
        part = data.some(most)
        for name, chain in remaining.items():
            remaining[name], em_run = _polished(chain, part, settings, passes, max_iter=n_steps)
            objectives[name].append(em_run.objective)
        ahead = sorted(remaining, key=lambda name: objectives[name][-1], reverse=True)[:n_left]
        remaining = {name: remaining[name] for name in ahead}
    return remaining, objectives


def _polished(
    chain: EmissionChain,
    data: ChainData,
    settings: HMMSettings,
    passes: Passes,
    *,
    max_iter: int | None = None,
    report: Report | None = None,
) -> tuple[EmissionChain, EMRun]:
    most = settings.max_iter if max_iter is None else min(max_iter, settings.max_iter)

    def tell(step: int, objective: float) -> None:
        if report is not None:
            report(min(step / most, 1.0), f"step {step}: {objective:.1f} nats")

    tol = settings.tol if max_iter is None else max(settings.tol, ROUGH)
    return run_em(
        chain,
        data,
        gain=tol * data.n_positions,
        max_iter=most,
        pseudo_counts=settings.pseudo_counts,
        stationary=settings.stationary,
        passes=passes,
        progress=tell,
    )
