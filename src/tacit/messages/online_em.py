"""Stepwise EM: tables are estimated from a running mean of the expected counts of small batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import EMRun
from tacit.messages.em import Expectation, Parametrisation, Prior, normalise_rows

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Step sizes ``(t + delay) ** -decay`` of Liang and Klein (2009), over several passes.

    Of decays from 0.6 to 0.8, the smallest came nearest to the true model on every tree in our experiments.
    """

    n_passes: int = 20
    decay: float = 0.6
    delay: float = 2.0

    def size(self, t: int) -> float:
        """The weight of batch number t against all before it."""
        return float((t + self.delay) ** -self.decay)


def best_of_rates(
    learn: Callable[[Schedule, np.random.Generator, np.random.Generator], EMRun],
    rates: Sequence[float],
    max_iter: int,
    seed: int,
) -> tuple[EMRun, dict[str, Any]]:
    """One run of stepwise EM for each learning rate; the one with the highest objective, and diagnostics.

    Parameters
    ----------
    learn : callable
        Gets the schedule, and random numbers for the order of the rows and for the start: the start does not
        depend on the number of rows.
    rates : sequence of float
    max_iter : int
        Passes over the data at most.
    seed : int
    """
    seeds = np.random.SeedSequence(seed).spawn(2 * len(rates))
    n_passes = min(max_iter, Schedule().n_passes)
    runs = []
    for number, rate in enumerate(rates):
        order, start = map(np.random.default_rng, seeds[2 * number : 2 * number + 2])
        runs.append(learn(Schedule(n_passes, decay=rate), order, start))
    best = max(range(len(runs)), key=lambda number: runs[number].objective)
    table = [
        {"learning_rate": rate, "objective": run.objective}
        for rate, run in zip(rates, runs, strict=True)
    ]
    return runs[best], {
        "learning_rate": rates[best],
        "learning_rates": table,
        "n_steps": sum(run.n_steps for run in runs),
    }


def run_stepwise_em(
    batches: Sequence[Expectation],
    layout: Parametrisation,
    prior: Prior,
    start: Array,
    schedule: Schedule,
    progress: Callable[[int, float], None] | None = None,
) -> EMRun:
    """Several passes over the batches; the objective is summed over the batches of a pass.

    Each batch's expected counts are scaled to the whole data, and the running mean of them, with the prior's
    pseudo-counts on top, gives the next tables.
    """
    total = sum(batch.total_weight for batch in batches)
    values, mean, trace = start, None, []
    t = 0
    for turn in range(schedule.n_passes):
        objective = prior.log_density(values)
        for batch in batches:
            log_likelihood, counts = batch(layout.values(values))
            objective += log_likelihood
            if batch.total_weight > 0:
                counts *= total / batch.total_weight
                size = schedule.size(t)
                mean = counts if mean is None else (1 - size) * mean + size * counts
                values = normalise_rows(layout, layout.mass(mean) + prior.pseudo)
                t += 1
        trace.append(objective)
        if progress is not None:
            progress(turn + 1, objective)
    return EMRun(values, trace[-1], schedule.n_passes, converged=True, trace=tuple(trace))
