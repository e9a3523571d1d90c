"""EM to a fixed point: plain steps, and steps with Anderson acceleration.

A *step* takes parameters and returns the objective there, the improved parameters, and the mass (expected
counts) behind each of them. An EM step of any model has this form.
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
    """Decides from the objectives of two successive steps whether EM stops."""

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
class EMRun:
    """The final parameters of a run of EM, its objectives and whether it converged."""

    values: Array
    objective: float  # at the last parameters that were evaluated
    n_steps: int  # evaluations of the step
    converged: bool
    trace: tuple[float, ...]  # the objective after each accepted step


def run_em(
    step: Step,
    start: Array,
    stop: StoppingRule,
    *,
    max_iter: int = 1000,
    progress: Callable[[int, float], None] | None = None,
    warn: bool = True,
) -> EMRun:
    """Plain EM steps until the stopping rule holds."""
    values, trace = start, []
    for count in range(1, max_iter + 1):
        objective, values, _ = step(values)
        trace.append(objective)
        if progress is not None:
            progress(count, objective)
        if count > 1 and stop(trace[-2], objective):
            return EMRun(values, objective, count, converged=True, trace=tuple(trace))
    if warn:
        warn_unfinished(max_iter)
    return EMRun(values, trace[-1], max_iter, converged=False, trace=tuple(trace))


def run_accelerated_em(
    step: Step,
    start: Array,
    stop: StoppingRule,
    *,
    normalise: Callable[[Array], Array],
    memory: int = 8,
    max_iter: int = 1000,
    progress: Callable[[int, float], None] | None = None,
    warn: bool = True,
) -> EMRun:
    """EM with Anderson acceleration in the logarithms of the parameters; the objective never falls.

    Coordinates are weighted by their mass, the metric in which EM steps are gradient steps. The
    first of Anderson's two types took fewer steps on weak models, and fewer with these weights than without;
    mixing above one did not help.

    Parameters
    ----------
    step : callable
    start : (p,) array
        Positive parameters, which are normalised first; entries that are zero stay zero.
    stop : callable
    normalise : callable
        Projects positive parameters onto the constraints (rows that sum to one).
    memory : int
        Number of earlier steps that the extrapolation uses.
    warn : bool
        Whether to warn when `max_iter` steps were not enough; see also `EMRun.converged`.
    """
    from tacit.core.loops.acceleration import extrapolate

    values = normalise(start)
    objective, image, mass = step(values)
    trace = [objective]
    points = np.empty((memory + 1, len(start)))
    images = np.empty_like(points)
    order: list[int] = []  # rows of `points` that hold the last steps, the newest first
    count = 1
    while count < max_iter:
        order = [order[-1] if len(order) > memory else len(order), *order[:memory]]
        guess = extrapolate(values, image, mass, np.array(order), points, images)
        trial = normalise(guess) if len(guess) else image
        trial_objective, trial_image, trial_mass = step(trial)
        count += 1
        if len(order) > 1 and not trial_objective >= objective:
            # The objective fell: take the plain step instead, and forget the earlier steps.
            order, trial = [], image
            if count == max_iter:
                break
            trial_objective, trial_image, trial_mass = step(trial)
            count += 1
        before, objective = objective, trial_objective
        values, image, mass = trial, trial_image, trial_mass
        trace.append(objective)
        if progress is not None:
            progress(count, objective)
        if stop(before, objective):
            return EMRun(image, objective, count, converged=True, trace=tuple(trace))
    if warn:
        warn_unfinished(max_iter)
    return EMRun(image, objective, count, converged=False, trace=tuple(trace))


def refusing_singular(step: Step) -> Step:
    """The step, with the objective -inf where extrapolation went so far that covariances are singular."""

    def refusing(values: Array) -> tuple[float, Array, Array]:
        if not np.isfinite(values).all():
            return -np.inf, values, np.ones_like(values)
        try:
            with np.errstate(over="ignore"):
                objective, image, masses = step(values)
        except np.linalg.LinAlgError:
            return -np.inf, values, np.ones_like(values)
        return (objective if np.isfinite(image).all() else -np.inf), image, masses

    return refusing


def warn_unfinished(max_iter: int) -> None:
    """Warn that EM made `max_iter` steps before its stopping rule held."""
    warnings.warn(
        f"stopped after max_iter={max_iter} steps before the stopping rule held; "
        "raise max_iter or loosen tol",
        ConvergenceWarning,
        stacklevel=4,
    )
