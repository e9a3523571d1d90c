"""The steps of `LatentTree.fit`: read, select structure, select states, learn, keep."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.chunks import has_names, kind_of_table
from tacit.core.input.read_table import encode, read_table
from tacit.core.input.table import Column, Schema
from tacit.core.progress import silent
from tacit.core.threads import one_blas_thread
from tacit.messages.mixture import Mixture
from tacit.messages.network import Tables
from tacit.trees.learn.learners import CLASS_LEARNERS, Job, Learnt, check_learner, learn_auto
from tacit.trees.learn.selection.candidates import (
    ROWS_FOR_TRIALS,
    Task,
    part_of,
    select_states,
    select_structure,
    select_trees,
    trial_data,
)
from tacit.trees.learn.selection.combination import few_are_enough, select_mixture
from tacit.trees.learn.selection.members import Simple
from tacit.trees.learn.selection.mixtures import Forest, retrained
from tacit.trees.learn.selection.states import (
    N_FOLDS,
    ROWS_FOR_FOLDS,
    check_supported,
    known_states,
    other_folds,
    selected_states,
    state_counts,
)
from tacit.trees.learn.selection.structures import given_topology
from tacit.trees.learn.settings import check_n_states, settings_of
from tacit.trees.model.components import topology_of
from tacit.trees.moments.column_order import content_order, tree_with_leaves, with_leaves
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.input.table import Table
    from tacit.core.progress import Report
    from tacit.messages.network import Network
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.files.bif import BifTree
    from tacit.trees.latent_tree import LatentTree
    from tacit.trees.structure.topology import Topology
    from tacit.trees.tree_model import TreeModel

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Selected:
    """A learnt model, and its heaviest tree."""

    learnt: Learnt
    topology: Topology
    tree: RootedTree
    trials: Callable[[], Sequence[Trial]]  # learnt when they are needed

    def with_leaves(self, names: tuple[str, ...]) -> Selected:
        """The same with the columns in another order."""

        def trials() -> list[Trial]:
            return [
                replace(one, parameters=_turned(one.parameters, names)) for one in self.trials()
            ]

        learnt = replace(self.learnt, parameters=_turned(self.learnt.parameters, names))
        topology = self.topology
        if topology.observed == self.tree.names[: self.tree.n_leaves]:
            topology = replace(topology, observed=names)
        return Selected(learnt, topology, tree_with_leaves(self.tree, names), trials)


@dataclass(frozen=True, eq=False)
class Trial:
    """The same kind of model learnt without some rows, which evaluate it."""

    parameters: Network | Tables | Mixture
    held_out: Rows | None  # row numbers in the table; None for the user's validation rows


def _turned(
    parameters: Network | Tables | Mixture, names: tuple[str, ...]
) -> Network | Tables | Mixture:
    assert isinstance(parameters, Tables | Mixture)  # by learn="auto"
    return with_leaves(parameters, names)


def fit_tree(
    model: LatentTree, X: Any, sample_weight: Any, validation: Any, report: Report
) -> None:
    """Read the table, learn a tree of it, and give the model its fitted attributes."""
    check_learner(model)
    check_n_states(model.n_states)
    settings = settings_of(model)
    table = read_table(
        X,
        n_bins=model.n_bins,
        sample_weight=sample_weight,
        columns=model.columns,
        cut_integers=True,
    )
    schema = table.schema
    held_out = None if validation is None else encode(validation, schema, unknown="missing")
    moments = CountedMoments.of(table.codes, schema.cards, table.weights, settings.n_jobs)
    task = Task(
        table=table,
        moments=moments,
        validation=held_out,
        topology=_given_topology(model, table, moments),
        n_states=model.n_states,
        n_components=model.n_components,
        settings=settings,
        n_jobs=None if model.n_jobs is None else settings.n_jobs,
        report=report,
    )
    selected = learn_tree(task) if model.learn == "auto" else learn_by(model.learn, task)
    needed = table.weights is not None or not selected.tree.is_star
    counts = moments.pairs().counts if needed else None
    keep(model, X, table, counts, selected.topology, selected.tree, selected.learnt)


def _given_topology(model: LatentTree, table: Table, moments: CountedMoments) -> Topology | None:
    """The tree that the user gave or named; None where it is to be selected."""
    structure = model.structure
    if isinstance(structure, str) and structure == "auto":
        if model.learn == "auto":
            return None
        structure = "hidden-chow-liu"
    return given_topology(structure, moments, table.schema.names)


def learn_tree(task: Task) -> Selected:
    """Structure, numbers of states and parameters by learn="auto".

    Candidates are learnt from part of the rows and compared on held-out rows; then everything is learnt again
    from all rows, unless all but the user's validation rows were used already. The columns are taken in an
    order that their content decides (`moments.column_order`).
    """
    table, names = task.table, task.table.schema.names
    if table.weights is not None and 0 < np.count_nonzero(table.weights) < table.n_rows:
        return _learnt_without_idle(task)
    order = content_order(table)
    if order == tuple(range(len(order))):
        return _learnt_in_order(task)
    table = table.select(order)
    ordered = replace(
        task,
        table=table,
        moments=CountedMoments.of(
            table.codes, table.schema.cards, table.weights, task.settings.n_jobs
        ),
        validation=None if task.validation is None else task.validation.select(order),
    )
    return _learnt_in_order(ordered).with_leaves(names)


def _learnt_without_idle(task: Task) -> Selected:
    """The same as if rows without weight were not there."""
    table = task.table
    assert table.weights is not None
    counted = np.flatnonzero(table.weights)
    table = table.take(counted)
    selected = learn_tree(
        replace(
            task,
            table=table,
            moments=CountedMoments.of(
                table.codes, table.schema.cards, table.weights, task.settings.n_jobs
            ),
        )
    )

    def trials() -> list[Trial]:
        return [
            one if one.held_out is None else replace(one, held_out=counted[one.held_out])
            for one in selected.trials()
        ]

    return replace(selected, trials=trials)


def _learnt_in_order(task: Task) -> Selected:
    return _select_and_learn(task) if task.is_open else learn_by("auto", task)


@one_blas_thread()  # once for all: changing the number of threads often costs more than the work
def _select_and_learn(task: Task) -> Selected:
    data, held_out = trial_data(task)
    record: dict[str, Any] = {"n_rows_tried_with": data.table.n_rows}
    if task.is_free and data.held_out is not None:
        few = few_are_enough(task, data, record)
        n_states = None if few is None else few.n_states
        topology, methods = select_structure(task, data, record, n_states)
        forest = select_mixture(task, data, topology, methods, record, few)
        alone = forest.trees[0]
        if len(forest.trees) == 1 and isinstance(alone, Simple) and alone.structure == "tree":
            states = alone.tables.layout.n_states
            return _learn_with(task, topology, states, learn_auto, record)
    else:
        topology, methods = select_structure(task, data, record)
        selected = select_states(task, data, topology, record)
        if isinstance(selected, tuple):
            return _learn_with(task, topology, selected, learn_auto, record)
        forest = select_trees(task, data, selected, methods)
    trials = _forest_trials(forest, held_out)
    if data.table.n_rows < task.table.n_rows:
        every = replace(data, table=task.table, held_out=task.validation, others=())
        forest = retrained(every, forest, part_of(task.report, 0.9, 1.0))
    return _of_forest(task, forest, topology, record, trials)


def _forest_trials(forest: Forest, held_out: tuple[Rows, ...]) -> list[Trial]:
    """The forest without each fold's held-out rows."""
    if not held_out:
        return [Trial(_mixture(forest), None)]
    return [
        Trial(_mixed(forest, [tree.parts[fold] for tree in forest.trees]), rows)
        for fold, rows in enumerate(held_out)
    ]


def learn_by(learn: str, task: Task) -> Selected:
    """Parameters by the learner of a name, on the tree of the task; numbers of states if they are open."""
    topology, table = task.topology, task.table
    assert topology is not None
    tree = topology.rooted(table.schema.names)
    known = known_states(task.n_states, topology, tree)
    states = state_counts(tree, table.schema.cards, known)
    record: dict[str, Any] = {}
    if states is None:
        others = other_folds(table, task.validation, task.settings.seed)
        states, record, _ = selected_states(
            table, task.validation, tree, known, learn, task.settings, task.report, others
        )
    named = known if isinstance(task.n_states, Mapping | str) else ()
    check_supported(tree, states, learn, table, named)
    return _learn_with(task, topology, states, CLASS_LEARNERS[learn], record)


def _learn_with(
    task: Task,
    topology: Topology,
    states: tuple[int, ...],
    learner: Callable[[Job], Learnt],
    record: Mapping[str, Any],
) -> Selected:
    tree = topology.rooted(task.table.schema.names)
    job = Job(task.table, tree, states, task.moments, task.settings, task.report)
    learnt = learner(job)
    learnt.diagnostics.update(record)
    return Selected(learnt, topology, tree, partial(few_trials, job, task.validation, learnt))


def few_trials(job: Job, validation: Table | None, learnt: Learnt) -> list[Trial]:
    """Trees with few states, one for each fold of the rows that is left out; one fold where rows are many."""
    table = job.table
    if validation is not None or table.n_rows < ROWS_FOR_TRIALS:
        return [Trial(learnt.parameters, None)]
    order = np.random.default_rng(job.settings.seed).permutation(table.n_rows)
    n_parts = N_FOLDS if table.n_rows <= ROWS_FOR_FOLDS else 1
    trials = []
    for part in range(n_parts):
        held_out = np.sort(order[part::N_FOLDS])
        training = table.take(np.setdiff1d(order, held_out))
        moments = CountedMoments.of(training.codes, training.schema.cards, training.weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final tree has given them already
            learnt_again = learn_auto(replace(job, table=training, moments=moments, report=silent))
        trials.append(Trial(learnt_again.parameters, held_out))
    return trials


def _of_forest(
    task: Task,
    forest: Forest,
    topology: Topology,
    record: Mapping[str, Any],
    trials: Sequence[Trial],
) -> Selected:
    """A forest as one tree or a mixture."""
    tables = [trained.tables for trained in forest.trees]
    tree = tables[int(np.argmax(forest.weights))].tree
    diagnostics = {
        "n_parameters": sum(part.layout.n_parameters for part in tables),
        "n_steps": sum(trained.n_iterations for trained in forest.trees),
        "held_out_score": forest.score,
        "trees": [
            {**trained.as_dict(), "weight": float(weight)}
            for trained, weight in zip(forest.trees, forest.weights, strict=True)
        ],
        **record,
    }
    if tree is not topology.rooted(task.table.schema.names):
        topology = topology_of(tree)
    return Selected(Learnt(_mixture(forest), diagnostics), topology, tree, lambda: trials)


def _mixture(forest: Forest) -> Tables | Mixture:
    """One tree, or a mixture of several."""
    return _mixed(forest, [trained.tables for trained in forest.trees])


def _mixed(forest: Forest, tables: Sequence[Tables]) -> Tables | Mixture:
    return tables[0] if len(tables) == 1 else Mixture.of(forest.weights, tables)


def keep(
    model: TreeModel,
    X: Any,
    table: Table | MixedTable,
    counts: NDArray[Any] | None,
    topology: Topology,
    tree: RootedTree,
    learnt: Learnt,
) -> None:
    """Give a model its fitted attributes.

    Of a mixture, `topology` and `tree` are those of any component; those of the heaviest are kept. `counts`
    are those of all pairs of columns; None where they were not needed.
    """
    if isinstance(learnt.parameters, Mixture):
        heaviest = learnt.parameters.parts[learnt.parameters.heaviest].tree
        if heaviest is not tree:
            topology, tree = topology_of(heaviest), heaviest
    kind = kind_of_table(X)
    model.schema_ = table.schema
    model.topology_, model.tree_ = topology, tree
    model.parameters_ = learnt.parameters
    model.n_features_in_ = len(table.schema)
    if has_names(X, kind, table.schema):
        model.feature_names_in_ = np.array(table.schema.names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    model.diagnostics_ = {
        "n_rows": table.n_rows,
        "kind_of_table": kind,
        "gaps": gaps_of(table),
        "fingerprint": fingerprint(cast("Table", table) if counts is None else counts),
        **learnt.diagnostics,
    }


def gaps_of(table: Table | MixedTable) -> list[int]:
    """How many cells of each column are missing."""
    missing = getattr(table, "missing", None)
    missing = cast("Table", table).codes < 0 if missing is None else missing
    return [int(count) for count in np.sum(missing, axis=0)]


def put_network(model: TreeModel, network: BifTree) -> None:
    """Give a model the fitted attributes of a Bayesian network."""
    columns = (Column(name, tuple(network.categories[name]), "ordered") for name in network.names)
    model.schema_ = Schema(tuple(columns))
    model.topology_, model.tree_ = network.topology, network.tables.tree
    model.parameters_ = network.tables
    model.n_features_in_ = len(network.names)
    model.feature_names_in_ = np.array(network.names, dtype=object)
    model.diagnostics_ = {"learn": "bif", "kind_of_table": "dict"}


def fingerprint(data: Table | NDArray[Any]) -> str:
    """A text of 16 hexadecimal digits that depends on the pair counts of all columns.

    The order of the rows does not matter, nor how they were cut into chunks. It detects accidental changes of
    the data; it is no protection against forgery.

    Parameters
    ----------
    data : Table or (a, b) array
        Rows without weights, or their pair counts.
    """
    # A product with fixed numbers instead of all counts, which may be many.
    if isinstance(data, np.ndarray):
        folded = data @ np.arange(1, len(data) + 1, dtype=data.dtype)
    else:
        from tacit.trees.loops.counting import fold_pairs

        cards = np.array(data.schema.cards, dtype=np.int64)
        folded = np.zeros(int(cards.sum()), dtype=np.int64)
        fold_pairs(data.codes.T, np.cumsum(cards) - cards, folded)
    return hashlib.blake2b(folded.tobytes(), digest_size=8).hexdigest()
