"""The steps of `fit` of latent junction trees: read, make the graph, select states, learn, keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.arguments import check_choice, check_count, check_number
from tacit.core.input.read_table import encode
from tacit.core.limits import MOST_MEMORY, memory_bytes
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.junction.learn.given_features import check_junction_features
from tacit.junction.learn.learners import JUNCTION_LEARNERS, JunctionJob
from tacit.junction.learn.presets import check_preset, n_views_of
from tacit.junction.model.shared_tables import tied
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.trees.learn.fit import keep
from tacit.trees.learn.learners import Learnt
from tacit.trees.learn.selection.states import split_table
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

# Candidate numbers of states, in this order as long as the held-out score improves.
CANDIDATES = (2, 3, 4, 6)


def fit_junction_tree(
    model: JunctionEstimator, X: Any, sample_weight: Any, validation: Any
) -> None:
    """Read the table, learn a junction tree of it, and give the model its fitted attributes."""
    settings = settings_of(model)
    table = model._read(X, sample_weight)
    latent = model._latent_graph(table.schema)
    held_out = None if validation is None else encode(validation, table.schema, unknown="missing")
    with model._working() as report:
        task = _Task(model, latent, settings, report)
        states, record = _select_states(task, table, held_out)
        job = _job(task, table, states)
        learnt = JUNCTION_LEARNERS[model.learn](job)
    learnt.diagnostics.update(record)
    _keep(model, X, job, learnt)


@dataclass(frozen=True, eq=False)
class _Task:
    model: JunctionEstimator
    latent: LatentGraph
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
    return Settings(n_views=n_views_of(model), **common_arguments(model))


def hidden_states(
    n_states: Any, latent: LatentGraph, schema: Schema, default: int
) -> dict[str, int]:
    """The number of states of each hidden variable; `default` where it is "auto"."""
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
        raise ArgumentTypeError(f'n_states={value!r}{whose}; give a number or "auto"')
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


def _select_states(
    task: _Task, table: Table, held_out: Table | None
) -> tuple[dict[str, int], dict[str, Any]]:
    """The numbers of states of the hidden variables, and the scores of candidates."""
    n_states, schema = task.model.n_states, table.schema
    if not isinstance(n_states, str):
        return hidden_states(n_states, task.latent, schema, 0), {}
    train = table
    if held_out is None:
        train, held_out = split_table(table, task.settings.seed, everything=False)
    if held_out is None:  # too few rows to choose with
        return hidden_states(n_states, task.latent, schema, CANDIDATES[0]), {}
    candidates: list[dict[str, Any]] = []
    for count in CANDIDATES:
        states = hidden_states(n_states, task.latent, schema, count)
        learnt = JUNCTION_LEARNERS[task.model.learn](_job(task, train, states))
        scores = log_prob(learnt.parameters, Evidence(held_out.codes), negative="floor").values
        candidates.append({"n_states": count, "score": float(np.mean(scores))})
        best = max(candidates, key=lambda candidate: candidate["score"])
        if candidates[-1]["score"] < best["score"]:
            break
    states = hidden_states(n_states, task.latent, schema, best["n_states"])
    return states, {"candidates": candidates}


def _job(task: _Task, table: Table, states: Mapping[str, int]) -> JunctionJob:
    junction, ties = junction_of(task.latent, table.schema, states, task.model.max_memory)
    cards, n_jobs = table.schema.cards, task.settings.n_jobs
    moments = CountedMoments.of(table.codes, cards, table.weights, n_jobs)
    spectral_moments = task.model._spectral_moments(moments)
    return JunctionJob(table, junction, ties, moments, spectral_moments, task.settings, task.report)


def _keep(model: JunctionEstimator, X: Any, job: JunctionJob, learnt: Learnt) -> None:
    """Give the model its fitted attributes."""
    tree = job.junction.tree
    model.junction_ = job.junction
    learnt.diagnostics["treewidth"] = job.junction.treewidth
    keep(model, X, job.table, job.moments.pairs().counts, topology_of(tree), tree, learnt)
