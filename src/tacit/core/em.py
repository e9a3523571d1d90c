"""Climbing to a fixed point: plain steps, and Anderson's acceleration of them.

A *step* takes parameters and returns the objective there, the improved parameters, and the mass (expected
counts) behind each of them. EM is such a step, whatever the model; nothing here knows which.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ConvergenceWarning

Array = NDArray[np.float64]
Step = Callable[[Array], tuple[float, Array, Array]]


class StoppingRule(Protocol):
    """Says whether a gain from one objective to the next is too small to go on."""

    def __call__(self, before: float, after: float) -> bool:
        """Whether to stop."""
        ...


@dataclass(frozen=True, slots=True)
class RelativeGain:
    """Stop when ``|after - before| / mean(|after|, |before|) <= tol``: the papers' rule.

    The objective is the total log-likelihood, so this is looser the more rows there are.
    """

    tol: float

    def __call__(self, before: float, after: float) -> bool:
        """Whether to stop."""
        return abs(after - before) <= self.tol * 0.5 * (abs(after) + abs(before))


@dataclass(frozen=True, slots=True)
class AbsoluteGain:
    """Stop when one step gains less than `gain` nats."""

    gain: float

    def __call__(self, before: float, after: float) -> bool:
        """Whether to stop."""
        return after - before < self.gain


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """Where a climb ended, and how it went."""

    values: Array
    objective: float  # at the last parameters that were evaluated
    n_steps: int  # evaluations of the step
    converged: bool
    trace: tuple[float, ...]  # the objective after each accepted step


def climb(
    step: Step,
    start: Array,
    stop: StoppingRule,
    *,
    max_iter: int = 1000,
    progress: Callable[[int, float], None] | None = None,
    warn: bool = True,
) -> Climb:
    """Plain steps until the rule says stop."""
    values, trace = start, []
    for count in range(1, max_iter + 1):
        objective, values, _ = step(values)
        trace.append(objective)
        if progress is not None:
            progress(count, objective)
        if count > 1 and stop(trace[-2], objective):
            return Climb(values, objective, count, converged=True, trace=tuple(trace))
    if warn:
        warn_unfinished(max_iter)
    return Climb(values, trace[-1], max_iter, converged=False, trace=tuple(trace))


def climb_accelerated(
    step: Step,
    start: Array,
    stop: StoppingRule,
    *,
    normalise: Callable[[Array], Array],
    memory: int = 8,
    max_iter: int = 1000,
    progress: Callable[[int, float], None] | None = None,
    warn: bool = True,
) -> Climb:
    """Steps with Anderson acceleration in the logarithms of the parameters; never downhill.

    Coordinates are weighted by their mass, the metric in which EM steps are gradient steps. Of Anderson's two
    types the first took fewer steps on weak models, and weights fewer than none; mixing above one brought
    nothing.

    Parameters
    ----------
    step : callable
    start : (p,) array
        Positive parameters, which are normalised first; entries that are zero stay zero.
    stop : callable
    normalise : callable
        Brings positive parameters back to where they are allowed (rows that sum to one).
    memory : int
        Number of earlier steps that the extrapolation looks at.
    warn : bool
        Whether to warn where `max_iter` ends the climb; `Climb.converged` tells either way.
    """
    from tacit.core.loops.acceleration import extrapolate

    values = normalise(start)
    objective, image, mass = step(values)
    trace = [objective]
    points = np.empty((memory + 1, len(start)))
    images = np.empty_like(points)
    order: list[int] = []  # where the last steps stand, the newest first
    count = 1
    while count < max_iter:
        order = [order[-1] if len(order) > memory else len(order), *order[:memory]]
        guess = extrapolate(values, image, mass, np.array(order), points, images)
        trial = normalise(guess) if len(guess) else image
        found, trial_image, trial_mass = step(trial)
        count += 1
        if len(order) > 1 and not found >= objective:
            # The extrapolation went downhill: take the plain step, and forget how we got here.
            order, trial = [], image
            if count == max_iter:
                break
            found, trial_image, trial_mass = step(trial)
            count += 1
        before, objective = objective, found
        values, image, mass = trial, trial_image, trial_mass
        trace.append(objective)
        if progress is not None:
            progress(count, objective)
        if stop(before, objective):
            return Climb(image, objective, count, converged=True, trace=tuple(trace))
    if warn:
        warn_unfinished(max_iter)
    return Climb(image, objective, count, converged=False, trace=tuple(trace))


def warn_unfinished(max_iter: int) -> None:
    """Warn that EM ended by its number of steps, before its stopping rule held."""
    warnings.warn(
        f"stopped after max_iter={max_iter} steps before the stopping rule held; "
        "raise max_iter or loosen tol",
        ConvergenceWarning,
        stacklevel=4,
    )
