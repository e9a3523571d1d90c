"""Stepwise EM: tables are estimated from a running mean of the expected counts of small batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
