"""The learners of a tree's parameters, each by name: the stages joined."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count
from tacit.core.em import (
    EMRun,
    run_accelerated_em,
    run_em,
)
from tacit.core.encoders.given_features import are_given
from tacit.core.input.table import Table
from tacit.core.progress import silent
from tacit.errors import ArgumentError
from tacit.messages.em import (
    Expectation,
    Prior,
    dirichlet_prior,
    em_step,
    normalise_rows,
    random_start,
    smoothed_marginals,
)
from tacit.messages.mixture import Mixture
from tacit.messages.network import Layout, Network, Tables, layout
from tacit.messages.online_em import Schedule, best_of_rates, run_stepwise_em
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.em.classes import ClassExpectation, learn_classes
from tacit.trees.learn.em.defaults import (
    CLASS_GAIN,
    GAIN_PER_PARAMETER,
    MOST_PSEUDO_COUNTS,
    least_gain,
    prior_strength,
)
from tacit.trees.learn.settings import Settings, stopping_rule
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.trees.latent_tree import LatentTree

Array = NDArray[np.float64]

# The moment start finds at most so many states at a node: third moments grow with their cube.
START_STATES = 12
# Further starts of latent classes, by effort.
CLASS_STARTS = {"low": 0, "default": 5, "high": 20}
# Of 20 to 400 batches of stepwise EM, the fewest that came near to the optimum of EM.
BATCHES_PER_PASS = 100


def check_learner(model: LatentTree) -> None:
    """Check the name of the learner, and that it learns as many trees as are wanted."""
    check_choice("learn", model.learn, tuple(model._learners))  # noqa: SLF001
    check_count("n_components", model.n_components, word="auto")
    if not isinstance(model.n_components, str) and model.n_components > 1 and model.learn != "auto":
        raise ArgumentError(
            f"n_components={model.n_components} with learn={model.learn!r}; several trees are learnt by "
            f'learn="auto" only'
        )


@dataclass(frozen=True, eq=False)
class Job:
    """Data, a tree over it and settings: the input of a learner."""

    table: Table
    tree: RootedTree
    n_states: tuple[int, ...]  # (node,)
    moments: CountedMoments
    settings: Settings
    report: Callable[[float, str], None]

    @cached_property
    def layout(self) -> Layout:
        """The position of each table in a flat array."""
        return layout(self.tree, self.n_states)

    @cached_property
    def expectation(self) -> Expectation | ClassExpectation:
        """The E-step over the data's patterns."""
        make = ClassExpectation if self.tree.is_star else Expectation.of
        table, settings = self.table, self.settings
        return make(
            self.layout, table.codes, table.weights, settings.n_jobs, merge=settings.compress
        )

    @cached_property
    def marginals(self) -> Array:
        """The distributions of all leaves, one after the other, smoothed."""
        if isinstance(self.expectation, ClassExpectation):
            return self.expectation.marginals
        counts = self.moments.pairs().counts.diagonal()
        return smoothed_marginals(counts, self.table.schema.cards)

    def prior(self, default_leaf: float, default_hidden: float) -> Prior:
        """The pseudo-counts that the user chose, or the defaults."""
        pseudo_counts = self.settings.pseudo_counts
        leaf, hidden = (
            (default_leaf, default_hidden)
            if isinstance(pseudo_counts, str)
            else (pseudo_counts, pseudo_counts)
        )
        return dirichlet_prior(self.layout, self.marginals, leaf, hidden)


@dataclass(frozen=True, eq=False)
class Learnt:
    """The result of a learner."""

    parameters: Network | Tables | Mixture
    diagnostics: dict[str, Any]

    @property
    def network(self) -> Network:
        """The network that queries run on."""
        parameters = self.parameters
        assert not isinstance(parameters, Mixture)  # several networks
        return parameters.network if isinstance(parameters, Tables) else parameters


def learn_auto(job: Job) -> Learnt:
    """Moment start, probability tables, accelerated MAP-EM over distinct subtree patterns."""
    if isinstance(job.expectation, ClassExpectation):
        return _learn_classes(job, job.expectation)
    from tacit.trees.learn.starts.moments import moment_start

    lay = job.layout
    start = moment_start(
        lay,
        job.moments.pairs(),
        job.table.codes,
        job.table.weights,
        most_states=START_STATES,
        rng=np.random.default_rng(job.settings.seed),
    )
    strength = prior_strength(lay, job.marginals, start, job.moments.n_rows)
    prior = job.prior(strength, strength / 2)
    n_rows = job.moments.n_rows
    stop = stopping_rule(job.settings, n_rows, least_gain(n_rows, lay.n_parameters))
    em_run = run_accelerated_em(
        em_step(job.expectation, lay, prior),
        start,
        stop,
        normalise=lambda values: normalise_rows(lay, values),
        max_iter=job.settings.max_iter,
        progress=_progress_of(job, "EM"),
    )
    return _learnt(job, em_run, {})


def _learn_classes(job: Job, expect: ClassExpectation) -> Learnt:
    """The same for a star, from clusters of rows."""
    pseudo_counts = job.settings.pseudo_counts
    learnt = learn_classes(
        expect,
        pseudo_counts=None if isinstance(pseudo_counts, str) else pseudo_counts,
        least=CLASS_GAIN
        if isinstance(job.settings.tol, str)
        else job.settings.tol * job.moments.n_rows,
        max_iter=job.settings.max_iter,
        n_more_starts=CLASS_STARTS[job.settings.effort],
        seed=job.settings.seed,
        progress=_progress_of(job, "EM"),
    )
    more = {"n_exchanged": learnt.n_exchanged, "pseudo_counts": learnt.strengths.tolist()}
    return _learnt(job, learnt.em_run, more)


def learn_em(job: Job) -> Learnt:
    """Plain EM from several random starts; the best is kept."""
    lay, settings = job.layout, job.settings
    step = em_step(job.expectation, lay, job.prior(0.0, 0.0))
    rule = stopping_rule(settings, job.moments.n_rows, GAIN_PER_PARAMETER * lay.n_parameters)
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)
    runs = []
    for number, seed in enumerate(seeds):
        start = random_start(lay, np.random.default_rng(seed))
        progress = _progress_of(job, f"EM {number + 1} of {settings.n_restarts}")
        runs.append(run_em(step, start, rule, max_iter=settings.max_iter, progress=progress))
    best = max(runs, key=lambda run: run.objective)
    table = [
        {"objective": run.objective, "n_steps": run.n_steps, "converged": run.converged}
        for run in runs
    ]
    return _learnt(job, best, {"restarts": table, "n_steps": sum(run.n_steps for run in runs)})


def learn_online_em(job: Job) -> Learnt:
    """Stepwise EM over small batches of rows, in random order, once for each learning rate."""
    lay, settings, table = job.layout, job.settings, job.table
    size = max(1, math.ceil(table.n_rows / BATCHES_PER_PASS))
    prior = job.prior(MOST_PSEUDO_COUNTS, MOST_PSEUDO_COUNTS / 2)

    def learn(schedule: Schedule, rng: np.random.Generator, start: np.random.Generator) -> EMRun:
        batches, order = [], rng.permutation(table.n_rows)
        for first in range(0, table.n_rows, size):
            part = table.take(np.sort(order[first : first + size]))
            batches.append(Expectation.of(lay, part.codes, part.weights, settings.n_jobs))
        progress = _progress_of(job, "stepwise EM")
        return run_stepwise_em(batches, lay, prior, random_start(lay, start), schedule, progress)

    rates, seed = settings.learning_rates, settings.seed
    return _learnt(job, *best_of_rates(learn, rates, settings.max_iter, seed))


def learn_spectral(job: Job) -> Learnt:
    """Observable operators by singular vectors and linear systems (thesis chapters 4 and 7)."""
    from tacit.trees.learn.spectral.operators import spectral

    job.report(0.1, "counting and factorising")
    if are_given(job.settings.features):
        from tacit.trees.learn.given_features import operators_from_features

        return Learnt(*operators_from_features(job))
    if job.settings.preset == "printed":
        from tacit.trees.learn.spectral.printed import printed_operators

        return Learnt(*printed_operators(job))
    factored = spectral(
        job.tree,
        job.moments,
        job.n_states,
        representation=job.settings.representation,
        n_views=job.settings.n_views,
        features=job.settings.features,
    )
    return Learnt(factored.network, factored.report.as_dict())


def learn_hierarchical(job: Job) -> Learnt:
    """Hierarchical tensor decomposition with the linker on a window of leaves (Song et al. 2013)."""
    from tacit.trees.learn.spectral.hierarchical import hierarchical

    job.report(0.1, "counting and factorising")
    if job.settings.preset == "printed":
        from tacit.trees.learn.spectral.printed import printed_decomposition

        return Learnt(*printed_decomposition(job))
    window, features = job.settings.window, job.settings.features
    if window is None and job.table.weights is not None:
        raise ArgumentError(
            "window=None looks at the rows one by one and ignores weights; give a window, or repeat rows"
        )
    codes = job.table.codes if window is None else None
    tree, moments, n_states = job.tree, job.moments, job.n_states
    factored = hierarchical(tree, moments, n_states, window=window, features=features, codes=codes)
    return Learnt(factored.network, factored.report.as_dict())


def learn_mossel_roch(job: Job) -> Learnt:
    """Explicit tables by eigenvectors of leaf triples (Mossel and Roch 2006)."""
    from tacit.trees.learn.spectral.mossel_roch import mossel_roch

    job.report(0.1, "counting and factorising")
    if job.settings.preset == "printed":
        from tacit.trees.learn.spectral.printed import printed_tables

        return Learnt(*printed_tables(job))
    features, seed = job.settings.features, job.settings.seed
    tree, moments, n_states = job.tree, job.moments, job.n_states
    factored = mossel_roch(tree, moments, n_states, features=features, random_state=seed)
    tables = factored.tables
    if math.isfinite(job.moments.n_rows):
        tables = _without_zeros(job, tables.values)
    return Learnt(tables, factored.report.as_dict())


def learn_tensor(job: Job) -> Learnt:
    """Tables of a star by tensor decomposition of three groups of columns (Anandkumar et al. 2012)."""
    from tacit.trees.learn.spectral.class_views import classes_by_views

    job.report(0.1, "counting and factorising")
    classes = classes_by_views(job.moments, job.n_states[-1], job.settings.features)
    values = np.concatenate([*(table.ravel() for table in classes.tables), classes.weights])
    names = job.table.schema.names
    views = [[names[column] for column in view] for view in classes.views]
    return Learnt(_without_zeros(job, values), {"views": views})


def _without_zeros(job: Job, values: Array) -> Tables:
    """Tables from counts may hold zeros, and one of them would make a row impossible."""
    counts = values * job.moments.n_rows + job.prior(1.0, 1.0).pseudo
    return Tables(job.layout, normalise_rows(job.layout, counts))


LEARNERS: dict[str, Callable[[Job], Learnt]] = {
    "auto": learn_auto,
    "spectral": learn_spectral,
    "hierarchical": learn_hierarchical,
    "mossel-roch": learn_mossel_roch,
    "em": learn_em,
    "online-em": learn_online_em,
}
CLASS_LEARNERS = {**LEARNERS, "tensor": learn_tensor}  # of a star


def _progress_of(job: Job, text: str) -> Callable[[int, float], None] | None:
    """Progress of a run of EM: its length is not known, so the bar approaches its end ever more slowly."""
    if job.report is silent:
        return None

    def report(count: int, objective: float) -> None:
        job.report(1 - 1 / (1 + count / 10), f"{text}, step {count}, {objective:.1f}")

    return report


def _learnt(job: Job, em_run: EMRun, more: dict[str, Any]) -> Learnt:
    diagnostics: dict[str, Any] = {
        "n_parameters": job.layout.n_parameters,
        "objective": em_run.objective,
        "n_steps": em_run.n_steps,
        "converged": em_run.converged,
        "trace": list(em_run.trace),
        **more,
    }
    return Learnt(Tables(job.layout, em_run.values), diagnostics)
