"""What every fitted tree estimator keeps."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.columns import positional_names
from tacit.core.input.table import Column, Schema
from tacit.messages.mixture import Mixture
from tacit.trees.model.components import topology_of

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.input.table import Table
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.files.bif import BifTree
    from tacit.trees.learn.learners import Learnt
    from tacit.trees.structure.topology import Topology
    from tacit.trees.tree_model import TreeModel


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
    from tacit.core.input.decode import kind_of_table

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
        "fingerprint": fingerprint(cast("Table", table) if counts is None else counts),
        **learnt.diagnostics,
    }


def put_network(model: TreeModel, network: BifTree) -> None:
    """Give a model the fitted attributes of a Bayesian network."""
    columns = (Column(name, tuple(network.categories[name]), "ordered") for name in network.names)
    model.schema_ = Schema(tuple(columns))
    model.topology_, model.tree_ = network.topology, network.tables.tree
    model.parameters_ = network.tables
    model.n_features_in_ = len(network.names)
    model.feature_names_in_ = np.array(network.names, dtype=object)
    model.diagnostics_ = {"learn": "bif", "kind_of_table": "dict"}


def has_names(X: Any, kind: str, schema: Schema) -> bool:
    """Whether the columns have names, all of them text; arrays and lists of rows have none."""
    names = schema.names
    if schema.labels != names:
        return False
    if isinstance(X, list | tuple):
        return names != positional_names(len(names))
    return kind != "numpy"


def fingerprint(data: Table | NDArray[Any]) -> str:
    """A text of 16 hexadecimal digits that depends on the pair counts of all columns.

    The order of the rows does not matter, nor how they were cut into chunks. Meant to tell data apart by
    accident, not to withstand somebody who wants two tables to look the same.

    Parameters
    ----------
    data : Table or (a, b) array
        Rows without weights, or their pair counts.
    """
    # One product with fixed numbers instead of all counts: they may be many.
    if isinstance(data, np.ndarray):
        folded = data @ np.arange(1, len(data) + 1, dtype=data.dtype)
    else:
        from tacit.trees.loops.counting import fold_pairs

        cards = np.array(data.schema.cards, dtype=np.int64)
        folded = np.zeros(int(cards.sum()), dtype=np.int64)
        fold_pairs(data.codes.T, np.cumsum(cards) - cards, folded)
    return hashlib.blake2b(folded.tobytes(), digest_size=8).hexdigest()
