"""The steps of `fit` of latent junction trees: read, make the graph, select states, learn, keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_choice, check_count, check_flag, check_number
from tacit.core.input.read_table import encode
from tacit.core.limits import MOST_MEMORY, memory_bytes, shown
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.junction.learn.given_features import check_junction_features
from tacit.junction.learn.learners import JUNCTION_LEARNERS, JunctionJob, learner_of
from tacit.junction.learn.presets import check_preset, n_views_of
from tacit.junction.learn.selection import selected
from tacit.junction.model.shared_tables import tied
from tacit.trees.learn.fit import keep
from tacit.trees.learn.learners import Learnt
from tacit.trees.learn.settings import Settings, check_stopping, common_arguments
from tacit.trees.model.components import topology_of
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.table import Schema, Table
    from tacit.core.progress import Report
    from tacit.junction.latent_junction_tree import JunctionEstimator
    from tacit.junction.model.shared_tables import Ties
    from tacit.junction.structure.graphs import LatentGraph
    from tacit.junction.structure.junction_tree import JunctionTree

# ruff: noqa: SLF001  (the hooks of its own estimators)


def fit_junction_tree(
    model: JunctionEstimator, X: Any, sample_weight: Any, validation: Any
) -> None:
    """Read the table, learn a junction tree of it, and give the model its fitted attributes."""
    settings = settings_of(model)
    table = model._read(X, sample_weight)
    held_out = None if validation is None else encode(validation, table.schema, unknown="missing")
    with model._working() as report:
        task = _Task(model, settings, report)
        chosen = selected(
            partial(_job, task),
            model._latent_graphs(table.schema),
            model.n_states,
            table,
            held_out,
            learn=model.learn,
            seed=settings.seed,
        )
        job = _job(task, table, chosen.latent, chosen.n_states)
        learnt = learner_of(model.learn, chosen.latent.order)(job)
    learnt.diagnostics.update(chosen.record)
    _keep(model, X, chosen.latent, job, learnt)


@dataclass(frozen=True, eq=False)
class _Task:
    model: JunctionEstimator
    settings: Settings
    report: Report


def settings_of(model: JunctionEstimator) -> Settings:
    """The arguments of a model about learning, checked."""
    check_choice("learn", model.learn, tuple(JUNCTION_LEARNERS))
    model._check_policies()
    for name in ("n_restarts", "max_iter"):
        check_count(name, getattr(model, name))
    check_count("n_views", model.n_views, word="auto")
    memory_bytes(model.max_memory, "max_memory")
    check_preset(model)
    check_junction_features(model)
    check_stopping(model.tol, model.stopping, model.learn)
    check_number("pseudo_counts", model.pseudo_counts, word="auto")
    check_flag("homogeneous", getattr(model, "homogeneous", False))
    if isinstance(model.n_states, str):
        check_choice("n_states", model.n_states, ("auto",))
    return Settings(n_views=n_views_of(model), **common_arguments(model))


def hidden_states(
    n_states: Any, latent: LatentGraph, schema: Schema, default: int
) -> dict[str, int]:
    """The number of states of each hidden variable; `default` where it is "auto".

    In a chain of order 0 each has one: hidden variables that join nothing have nothing to tell apart.
    """
    states = _given_states(n_states, latent, schema, default)
    return dict.fromkeys(states, 1) if latent.order == 0 else states


def _given_states(
    n_states: Any, latent: LatentGraph, schema: Schema, default: int
) -> dict[str, int]:
    hidden = [name for name in latent.graph.variables if name not in schema]
    if isinstance(n_states, str):
        check_choice("n_states", n_states, ("auto",))
        return dict.fromkeys(hidden, default)
    if isinstance(n_states, Mapping):
        unknown = [str(name) for name in n_states if name not in hidden]
        missing = [name for name in hidden if name not in n_states]
        if unknown or missing:
            problem = f"names {unknown[0]!r}" if unknown else f"lacks {missing[0]!r}"
            raise ArgumentError(f"n_states {problem}; the hidden variables are {hidden}")
        return {name: _checked_states(n_states[name], name) for name in hidden}
    return dict.fromkeys(hidden, _checked_states(n_states, None))


def _checked_states(value: Any, name: str | None) -> int:
    whose = "" if name is None else f" of {name!r}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentTypeError(f'n_states={shown(value)}{whose}; give a number or "auto"')
    if value < 1:
        raise ArgumentError(f"n_states={value}{whose}; give 1 or more")
    return int(value)


def junction_of(
    latent: LatentGraph,
    schema: Schema,
    states: Mapping[str, int],
    max_memory: int | str = MOST_MEMORY,
) -> tuple[JunctionTree, Ties]:
    """The junction tree of a graph, and which of its tables are shared."""
    cards = dict(zip(schema.names, schema.cards, strict=True))
    return tied(latent.graph, schema.names, {**states, **cards}, latent.shared, max_memory)


def _job(task: _Task, table: Table, latent: LatentGraph, n_states: Any) -> JunctionJob:
    """What a learner needs of a graph and, for a chain of higher order, of those below it."""
    cards, n_jobs = table.schema.cards, task.settings.n_jobs
    moments = CountedMoments.of(table.codes, cards, table.weights, n_jobs)
    spectral_moments = task.model._spectral_moments(moments)
    job = None
    # Only learn="auto" starts from lower orders.
    graphs = list(_with_lower(latent)) if task.model.learn == "auto" else [latent]
    for graph in reversed(graphs):
        states = hidden_states(n_states, graph, table.schema, default=0)
        junction, ties = junction_of(graph, table.schema, states, task.model.max_memory)
        job = JunctionJob(
            table, junction, ties, moments, spectral_moments, task.settings, task.report, job
        )
    assert job is not None
    return job


def _with_lower(latent: LatentGraph | None) -> Iterator[LatentGraph]:
    """A graph, and those that it contains."""
    while latent is not None:
        yield latent
        latent = latent.lower


def _keep(
    model: JunctionEstimator, X: Any, latent: LatentGraph, job: JunctionJob, learnt: Learnt
) -> None:
    """Give the model its fitted attributes."""
    tree = job.junction.tree
    model.junction_ = job.junction
    model._keep_graph(latent)
    learnt.diagnostics["treewidth"] = job.junction.treewidth
    keep(model, X, job.table, job.moments.pairs().counts, topology_of(tree), tree, learnt)
