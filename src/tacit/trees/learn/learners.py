"""The learners of a tree's parameters, each by name: the stages joined."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.core.em import (
    AbsoluteGain,
    EMRun,
    RelativeGain,
    StoppingRule,
    run_accelerated_em,
    run_em,
)
from tacit.core.input.table import Table
from tacit.core.progress import silent
from tacit.core.threads import n_threads
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
from tacit.messages.online_em import Schedule, run_stepwise_em
from tacit.messages.patterns import pattern_blocks
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.em.classes import ClassExpectation, learn_classes
from tacit.trees.learn.em.defaults import (
    CLASS_GAIN,
    GAIN_PER_PARAMETER,
    MOST_PSEUDO_COUNTS,
    least_gain,
    prior_strength,
)
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.trees.latent_tree import LatentTree

Array = NDArray[np.float64]

# The moment start looks for at most so many states at a node: third moments grow with their cube.
START_STATES = 12
# Of 20 to 400 batches of stepwise EM, the fewest that came near to where EM ends.
BATCHES_PER_PASS = 100


REPRESENTATIONS = ("auto", "train", "tensor", "matrix")
STOPPING = ("gain", "relative")
RELATIVE_GAIN = 1e-4  # of Parikh's thesis


@dataclass(frozen=True, eq=False)
class Settings:
    """What the user chose about learning; see `LatentTree`."""

    n_views: int = 5
    representation: str = "auto"
    window: int | None = 2
    features: int = 3
    n_restarts: int = 5
    tol: float | str = "auto"
    stopping: str = "gain"
    max_iter: int = 1000
    pseudo_counts: float | str = "auto"
    compress: bool = True
    n_jobs: int = 1
    seed: int = 0


def settings_of(model: LatentTree) -> Settings:
    """The arguments of a model about learning, checked."""
    model._check_policies()  # noqa: SLF001  its own learner
    check_choice("learn", model.learn, tuple(model._learners))  # noqa: SLF001
    check_count("n_components", model.n_components, word="auto")
    if not isinstance(model.n_components, str) and model.n_components > 1 and model.learn != "auto":
        raise ArgumentError(
            f"n_components={model.n_components} with learn={model.learn!r}; several trees are learnt by "
            f'learn="auto" only'
        )
    check_choice("representation", model.representation, REPRESENTATIONS)
    for name in ("n_views", "features", "n_restarts", "max_iter"):
        check_count(name, getattr(model, name))
    check_count("window", model.window, none_is="all leaves")
    check_stopping(model.tol, model.stopping, model.learn)
    check_number("pseudo_counts", model.pseudo_counts, word="auto")
    return Settings(
        n_views=model.n_views,
        representation=model.representation,
        window=model.window,
        features=model.features,
        n_restarts=model.n_restarts,
        tol=model.tol,
        stopping=model.stopping,
        max_iter=model.max_iter,
        pseudo_counts=model.pseudo_counts,
        compress=model.compress,
        n_jobs=n_threads(model.n_jobs) or 1,
        seed=seed_from(model.random_state),
    )


def check_stopping(tol: Any, stopping: Any, learn: str) -> None:
    """Check the arguments that say when EM stops."""
    check_number("tol", tol, positive=True, word="auto")
    check_choice("stopping", stopping, STOPPING)
    if stopping == "relative" and learn != "em":
        raise ArgumentError(f'stopping="relative" with learn={learn!r}; it goes with learn="em"')


def stopping_rule(settings: Settings, n_rows: float, otherwise: float) -> StoppingRule:
    """When EM stops.

    Parameters
    ----------
    settings : Settings
    n_rows : float
    otherwise : float
        Nats of the log-likelihood of all rows, where the user gave no tolerance.
    """
    tol = settings.tol
    if settings.stopping == "relative":
        return RelativeGain(RELATIVE_GAIN if isinstance(tol, str) else tol)
    if isinstance(tol, str):
        return AbsoluteGain(max(otherwise, GAIN_PER_PARAMETER))  # of models without parameters too
    return AbsoluteGain(tol * n_rows)


@dataclass(frozen=True, eq=False)
class Job:
    """Data, a tree over it and settings: all that a learner needs."""

    table: Table
    tree: RootedTree
    n_states: tuple[int, ...]  # (node,)
    moments: CountedMoments
    settings: Settings
    report: Callable[[float, str], None]

    @cached_property
    def layout(self) -> Layout:
        """Where each table stands in a flat array."""
        return layout(self.tree, self.n_states)

    @cached_property
    def expectation(self) -> Expectation | ClassExpectation:
        """The E-step over the data's patterns."""
        if self.tree.is_star:
            return ClassExpectation(
                self.layout,
                self.table.codes,
                self.table.weights,
                self.settings.n_jobs,
                merge=self.settings.compress,
            )
        blocks = pattern_blocks(
            self.table.codes,
            self.tree,
            self.table.schema.cards,
            self.table.weights,
            merge=self.settings.compress,
        )
        return Expectation(self.layout, tuple(blocks), self.settings.n_jobs)

    @cached_property
    def marginals(self) -> Array:
        """The distributions of all leaves, one after the other, smoothed."""
        if isinstance(self.expectation, ClassExpectation):
            return self.expectation.marginals
        counts = self.moments.pairs().counts.diagonal()
        return smoothed_marginals(counts, self.table.schema.cards)

    def prior(self, default_leaf: float, default_hidden: float) -> Prior:
        """The pseudo-counts that the user chose, or the defaults."""
        chosen = self.settings.pseudo_counts
        leaf, hidden = (
            (default_leaf, default_hidden) if isinstance(chosen, str) else (chosen, chosen)
        )
        return dirichlet_prior(self.layout, self.marginals, leaf, hidden)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a learner gives."""

    parameters: Network | Tables | Mixture
    diagnostics: dict[str, Any]

    @property
    def network(self) -> Network:
        """What the queries run on."""
        found = self.parameters
        assert not isinstance(found, Mixture)  # several networks
        return found.network if isinstance(found, Tables) else found


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
    found = run_accelerated_em(
        em_step(job.expectation, lay, prior),
        start,
        stop,
        normalise=lambda values: normalise_rows(lay, values),
        max_iter=job.settings.max_iter,
        progress=_progress_of(job, "polishing"),
    )
    return _learnt(job, found, {})


def _learn_classes(job: Job, expect: ClassExpectation) -> Learnt:
    """The same for a star, from clusters of rows."""
    chosen = job.settings.pseudo_counts
    found = learn_classes(
        expect,
        pseudo_counts=None if isinstance(chosen, str) else chosen,
        least=CLASS_GAIN
        if isinstance(job.settings.tol, str)
        else job.settings.tol * job.moments.n_rows,
        max_iter=job.settings.max_iter,
        progress=_progress_of(job, "polishing"),
    )
    more = {"n_exchanged": found.n_exchanged, "pseudo_counts": found.strengths.tolist()}
    return _learnt(job, found.em_run, more)


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
    """Stepwise EM over small batches of rows, in a random order fixed by the seed."""
    lay, settings, table = job.layout, job.settings, job.table
    # The start has a seed of its own: it shall not depend on how many rows were put in order.
    seeds = np.random.SeedSequence(settings.seed).spawn(2)
    size = max(1, math.ceil(table.n_rows / BATCHES_PER_PASS))
    order = np.random.default_rng(seeds[0]).permutation(table.n_rows)
    batches = []
    for first in range(0, table.n_rows, size):
        part = table.take(np.sort(order[first : first + size]))
        blocks = pattern_blocks(part.codes, job.tree, table.schema.cards, part.weights)
        batches.append(Expectation(lay, tuple(blocks), settings.n_jobs))
    prior = job.prior(MOST_PSEUDO_COUNTS, MOST_PSEUDO_COUNTS / 2)
    schedule = Schedule(n_passes=min(settings.max_iter, Schedule().n_passes))
    start = random_start(lay, np.random.default_rng(seeds[1]))
    found = run_stepwise_em(batches, lay, prior, start, schedule, _progress_of(job, "stepwise EM"))
    return _learnt(job, found, {})


def learn_spectral(job: Job) -> Learnt:
    """Observable operators by singular vectors and linear systems (thesis chapters 4 and 7)."""
    from tacit.trees.learn.spectral.operators import spectral

    job.report(0.1, "counting and factorising")
    found = spectral(
        job.tree,
        job.moments,
        job.n_states,
        representation=job.settings.representation,
        n_views=job.settings.n_views,
        features=job.settings.features,
    )
    return Learnt(found.network, found.report.as_dict())


def learn_hierarchical(job: Job) -> Learnt:
    """Hierarchical tensor decomposition with the linker on a window of leaves (Song et al. 2013)."""
    from tacit.trees.learn.spectral.hierarchical import hierarchical

    job.report(0.1, "counting and factorising")
    window, features = job.settings.window, job.settings.features
    if window is None and job.table.weights is not None:
        raise ArgumentError(
            "window=None looks at the rows one by one and cannot heed weights; give a window, or repeat rows"
        )
    codes = job.table.codes if window is None else None
    found = hierarchical(
        job.tree, job.moments, job.n_states, window=window, features=features, codes=codes
    )
    return Learnt(found.network, found.report.as_dict())


def learn_mossel_roch(job: Job) -> Learnt:
    """Explicit tables by eigenvectors of leaf triples (Mossel and Roch 2006)."""
    from tacit.trees.learn.spectral.mossel_roch import mossel_roch

    job.report(0.1, "counting and factorising")
    features, seed = job.settings.features, job.settings.seed
    found = mossel_roch(job.tree, job.moments, job.n_states, features=features, random_state=seed)
    tables = found.tables
    if math.isfinite(job.moments.n_rows):
        # Tables from counts may hold zeros, and one of them would make a whole row impossible.
        counts = tables.values * job.moments.n_rows + job.prior(1.0, 1.0).pseudo
        tables = Tables(job.layout, normalise_rows(job.layout, counts))
    return Learnt(tables, found.report.as_dict())


def learn_tensor(job: Job) -> Learnt:
    """Tables of a star by tensor decomposition of three groups of columns (Anandkumar et al. 2012)."""
    from tacit.trees.learn.spectral.class_views import classes_by_views

    job.report(0.1, "counting and factorising")
    found = classes_by_views(job.moments, job.n_states[-1], job.settings.features)
    # Tables from counts may hold zeros, and one of them would make a whole row impossible.
    values = np.concatenate([*(each.ravel() for each in found.tables), found.shares])
    counts = values * job.moments.n_rows + job.prior(1.0, 1.0).pseudo
    names = job.table.schema.names
    views = [[names[column] for column in view] for view in found.views]
    return Learnt(Tables(job.layout, normalise_rows(job.layout, counts)), {"views": views})


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
    """Progress of a run of EM: its length is not known, so the bar nears its end ever more slowly."""
    if job.report is silent:
        return None

    def tell(count: int, objective: float) -> None:
        job.report(1 - 1 / (1 + count / 10), f"{text}, step {count}, {objective:.1f}")

    return tell


def _learnt(job: Job, found: EMRun, more: dict[str, Any]) -> Learnt:
    diagnostics: dict[str, Any] = {
        "n_parameters": job.layout.n_parameters,
        "objective": found.objective,
        "n_steps": found.n_steps,
        "converged": found.converged,
        "trace": list(found.trace),
        **more,
    }
    return Learnt(Tables(job.layout, found.values), diagnostics)
