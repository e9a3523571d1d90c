"""The learners of junction trees, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, run_accelerated_em, run_em
from tacit.core.encoders.given_features import are_given
from tacit.core.input.table import Table
from tacit.core.progress import silent
from tacit.junction.learn.nested import lifted
from tacit.junction.model.shared_tables import Ties
from tacit.junction.structure.junction_tree import JunctionTree
from tacit.messages.em import Expectation, Prior, em_step, normalise_rows
from tacit.messages.online_em import Schedule, best_of_rates, run_stepwise_em
from tacit.trees.learn.em.defaults import (
    FEWEST_PSEUDO_COUNTS,
    GAIN_PER_PARAMETER,
    MOST_PSEUDO_COUNTS,
)
from tacit.trees.learn.learners import BATCHES_PER_PASS, START_STATES, Learnt
from tacit.trees.learn.selection.states import split_table
from tacit.trees.learn.settings import Settings, stopping_rule
from tacit.trees.moments.source import CountedMoments, Moments

Array = NDArray[np.float64]

# Random starts compared with the moment start: on graphs with loops they may be better.
RANDOM_STARTS = 3
# Candidate pseudo-counts, in units of a first estimate, and the rows that comparing them takes.
STRENGTHS = (1.0, 4.0, 16.0, 64.0)
ROWS_FOR_TRIALS = 100
# Starts are compared once a step gains less than this many times the final tolerance.
COARSE = 10.0


@dataclass(frozen=True, eq=False)
class JunctionJob:
    """Data, a junction tree over it and settings: all that a learner needs."""

    table: Table
    junction: JunctionTree
    ties: Ties
    moments: CountedMoments
    spectral_moments: Moments  # for spectral learning: the moments, or their means over positions
    settings: Settings
    report: Callable[[float, str], None]
    lower: JunctionJob | None = (
        None  # the same of a graph with fewer edges, whose result is a start
    )

    def expectation(self, table: Table) -> Expectation:
        """The E-step over the patterns of some rows."""
        return Expectation.of(
            self.ties.layout,
            table.codes,
            table.weights,
            self.settings.n_jobs,
            merge=self.settings.compress,
        )

    @cached_property
    def marginals(self) -> list[Array]:
        """The distribution of each leaf, with half a count more for each category."""
        pairs = self.moments.pairs()
        counts = np.split(pairs.counts.diagonal() + 0.5, pairs.offsets[1:-1])
        return [column_counts / column_counts.sum() for column_counts in counts]

    def prior(self, default_leaf: float, default_hidden: float) -> Prior:
        """The pseudo-counts that the user chose, or the defaults."""
        chosen = self.settings.pseudo_counts
        leaf, hidden = (
            (default_leaf, default_hidden) if isinstance(chosen, str) else (chosen, chosen)
        )
        return Prior(self.ties.prior(self.marginals, leaf, hidden))


def learn_auto(job: JunctionJob) -> Learnt:
    """Moment start of a spanning tree and a few random starts; accelerated MAP-EM from the best.

    A chain of higher order also starts at what was learnt of the one below, which it contains. Held-out rows
    choose the pseudo-counts.
    """
    best = _map_estimate(job)
    more = {
        "starts": best.starts,
        "pseudo_counts": best.choice.pseudo_counts,
        "pseudo_counts_tried": list(best.choice.candidates),
    }
    return _learnt(job, best.fit, more)


@dataclass(frozen=True, eq=False)
class _MapEstimate:
    """The largest posterior that was reached, and from where."""

    fit: EMRun
    choice: _Choice
    starts: list[float]  # objectives


@dataclass(frozen=True, eq=False)
class _Choice:
    """What held-out rows chose of a prior and of starts."""

    pseudo_counts: float
    lifted: bool | None = (
        None  # whether to start at the chain of lower order; None: they did not choose
    )
    candidates: tuple[dict[str, float], ...] = ()


def _map_estimate(job: JunctionJob) -> _MapEstimate:
    """The best of the starts, polished.

    Where parameters are many, the posterior hardly says which start is best: held-out rows say whether it is
    that of the chain of lower order.
    """
    ties, starts = job.ties, _starts(job)
    lower = None if job.lower is None else _map_estimate(job.lower)
    choice = _choose(job, starts, lower)
    if job.lower is not None and lower is not None and choice.lifted is not False:
        kept = [] if choice.lifted else starts
        starts = [*kept, lifted(job.lower.ties, lower.fit.values, ties)]
    prior = job.prior(choice.pseudo_counts, choice.pseudo_counts / 2)
    polished = _polish(job, job.expectation(job.table), prior)
    gain = GAIN_PER_PARAMETER * max(ties.n_parameters, 1)
    runs = [polished(start, COARSE * gain, f"start {n + 1}") for n, start in enumerate(starts)]
    best = max(runs, key=lambda run: run.objective)
    fit = polished(best.values, gain, "polishing")
    return _MapEstimate(fit, choice, [run.objective for run in runs])


def _starts(job: JunctionJob) -> list[Array]:
    """The moment start, and random ones."""
    from tacit.junction.learn.start import skeleton_start

    rng = np.random.default_rng(job.settings.seed)
    pairs, table = job.moments.pairs(), job.table
    first = skeleton_start(
        job.ties, pairs, table.codes, table.weights, most_states=START_STATES, rng=rng
    )
    return [first, *(random_parameters(job.ties, rng) for _ in range(RANDOM_STARTS))]


def _polish(
    job: JunctionJob, expectation: Expectation, prior: Prior
) -> Callable[[Array, float, str], EMRun]:
    """Accelerated MAP-EM from a start until a step gains less than `least` nats."""
    step = em_step(expectation, job.ties, prior)

    def polished(values: Array, least: float, text: str) -> EMRun:
        return run_accelerated_em(
            step,
            values,
            AbsoluteGain(least),
            normalise=lambda parameters: normalise_rows(job.ties, parameters),
            max_iter=job.settings.max_iter,
            progress=_progress(job, text),
        )

    return polished


def _choose(job: JunctionJob, starts: Sequence[Array], lower: _MapEstimate | None) -> _Choice:
    """The pseudo-counts of leaf rows, and the start, that are best on held-out rows."""
    first = _prior_strength(job, starts[0])
    given = job.settings.pseudo_counts
    strengths = [times * first for times in STRENGTHS] if isinstance(given, str) else [given]
    train, validation = split_table(job.table, job.settings.seed, everything=False)
    if (
        (len(strengths) == 1 and lower is None)
        or validation is None
        or train.n_rows < ROWS_FOR_TRIALS
    ):
        return _Choice(strengths[0])
    expectation, score_rows = job.expectation(train), job.expectation(validation)
    gain = COARSE * GAIN_PER_PARAMETER * max(job.ties.n_parameters, 1)
    total = max(score_rows.total_weight, 1e-300)
    of_part = _lifted_from_part(job, train, lower)
    candidates: list[dict[str, float]] = []
    for strength in strengths:
        polished = _polish(job, expectation, job.prior(strength, strength / 2))
        text = f"{strength:.3g} pseudo-counts"
        runs = [polished(start, gain, text) for start in starts[:2]]
        contenders = [(0, max(runs, key=lambda run: run.objective))]
        contenders += [(1, polished(start, gain, text)) for start in of_part]
        for is_lifted, run in contenders:
            score = score_rows(job.ties.values(run.values))[0] / total
            more = {"lower_order": is_lifted} if of_part else {}
            candidates.append({"pseudo_counts": strength, **more, "score": score})
    best = max(candidates, key=lambda candidate: candidate["score"])
    is_best_lifted = bool(best["lower_order"]) if of_part else None
    return _Choice(best["pseudo_counts"], is_best_lifted, tuple(candidates))


def _lifted_from_part(job: JunctionJob, train: Table, lower: _MapEstimate | None) -> list[Array]:
    """What some rows say of the chain of lower order, as a start of this one."""
    if job.lower is None or lower is None:
        return []
    settings = replace(job.settings, pseudo_counts=lower.choice.pseudo_counts)
    part = _map_estimate(replace(job.lower, table=train, settings=settings))
    return [lifted(job.lower.ties, part.fit.values, job.ties)]


def learn_em(job: JunctionJob) -> Learnt:
    """Plain EM from several random starts; the best is kept."""
    ties, settings = job.ties, job.settings
    step = em_step(job.expectation(job.table), ties, job.prior(0.0, 0.0))
    rule = stopping_rule(settings, job.moments.n_rows, GAIN_PER_PARAMETER * ties.n_parameters)
    runs = []
    for number, seed in enumerate(np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)):
        start = random_parameters(ties, np.random.default_rng(seed))
        progress = _progress(job, f"EM {number + 1} of {settings.n_restarts}")
        runs.append(run_em(step, start, rule, max_iter=settings.max_iter, progress=progress))
    best = max(runs, key=lambda run: run.objective)
    table = [
        {"objective": run.objective, "n_steps": run.n_steps, "converged": run.converged}
        for run in runs
    ]
    return _learnt(job, best, {"restarts": table, "n_steps": sum(run.n_steps for run in runs)})


def learn_online_em(job: JunctionJob) -> Learnt:
    """Stepwise EM over small batches of rows, in random order, once for each learning rate."""
    ties, settings, table = job.ties, job.settings, job.table
    size = max(1, math.ceil(table.n_rows / BATCHES_PER_PASS))
    prior = job.prior(MOST_PSEUDO_COUNTS, MOST_PSEUDO_COUNTS / 2)

    def learn(schedule: Schedule, rng: np.random.Generator, start: np.random.Generator) -> EMRun:
        order = rng.permutation(table.n_rows)
        batches = [
            job.expectation(table.take(np.sort(order[first : first + size])))
            for first in range(0, table.n_rows, size)
        ]
        parameters, progress = random_parameters(ties, start), _progress(job, "stepwise EM")
        return run_stepwise_em(batches, ties, prior, parameters, schedule, progress)

    rates, seed = settings.learning_rates, settings.seed
    return _learnt(job, *best_of_rates(learn, rates, settings.max_iter, seed))


def learn_spectral(job: JunctionJob) -> Learnt:
    """Observable operators by singular vectors and linear systems (thesis chapter 5)."""
    from tacit.core.threads import one_blas_thread
    from tacit.junction.learn.spectral import junction_spectral

    job.report(0.1, "counting and factorising")
    if are_given(job.settings.features):
        from tacit.junction.learn.given_features import junction_from_features

        printed = job.settings.preset == "printed"
        factored = junction_from_features(job, printed=printed)
        return Learnt(factored.network, factored.report.as_dict())
    as_printed: dict[str, Any] = {"whiten": False, "cut": 0.0}
    with one_blas_thread():
        factored = junction_spectral(
            job.junction,
            job.spectral_moments,
            n_views=job.settings.n_views,
            features=job.settings.features,
            **(as_printed if job.settings.preset == "printed" else {}),
        )
    return Learnt(factored.network, factored.report.as_dict())


JUNCTION_LEARNERS: dict[str, Callable[[JunctionJob], Learnt]] = {
    "auto": learn_auto,
    "spectral": learn_spectral,
    "em": learn_em,
    "online-em": learn_online_em,
}


def learner_of(learn: str, order: int | None) -> Callable[[JunctionJob], Learnt]:
    """The learner of a graph; independent columns (order 0) get tables, not operators."""
    return learn_auto if order == 0 and learn == "spectral" else JUNCTION_LEARNERS[learn]


def random_parameters(ties: Ties, rng: np.random.Generator) -> Array:
    """Uniform random parameters, normalised by row."""
    return normalise_rows(ties, rng.uniform(0.05, 1.0, ties.size))


def _prior_strength(job: JunctionJob, start: Array) -> float:
    """Pseudo-counts of leaf rows, from their distance to the marginals at the start."""
    spread, apart = 0.0, 0.0
    pseudo = job.ties.prior(job.marginals, 1.0, 0.0)
    for block in job.ties.blocks:
        every = pseudo[block.span]
        if every.any():
            spread += float(every @ (1 - every))
            apart += float(((start[block.span] - every) ** 2).sum())
    ratio = spread / max(apart, 1e-12) - 1
    strength = min(0.7 * ratio, 4 + ratio / 4, job.moments.n_rows / 8)
    return min(max(strength, FEWEST_PSEUDO_COUNTS), MOST_PSEUDO_COUNTS)


def _progress(job: JunctionJob, text: str) -> Callable[[int, float], None] | None:
    if job.report is silent:
        return None

    def report(count: int, objective: float) -> None:
        job.report(1 - 1 / (1 + count / 10), f"{text}, step {count}, {objective:.1f}")

    return report


def _learnt(job: JunctionJob, fit: EMRun, more: dict[str, Any]) -> Learnt:
    diagnostics: dict[str, Any] = {
        "n_parameters": job.ties.n_parameters,
        "objective": fit.objective,
        "n_steps": fit.n_steps,
        "converged": fit.converged,
        "trace": list(fit.trace),
        **more,
    }
    return Learnt(job.ties.tables(fit.values), diagnostics)
