"""Fitted trees to files and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from, put_columns
from tacit.core.files.model_files import FORMAT, MIXTURE_FORMAT, write_model
from tacit.errors import FileFormatError
from tacit.messages.mixture import Mixture
from tacit.trees.files.network_arrays import (
    mixture_from,
    parameters_arrays,
    parameters_from,
    topology_from_json,
    topology_to_json,
    tree_from_json,
    tree_to_json,
)

if TYPE_CHECKING:
    from tacit.trees.latent_tree import LatentTree
    from tacit.trees.tree_queries import TreeQueries

Arrays = Mapping[str, NDArray[Any]]


def save(model: TreeQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted tree of categories to one file, whole or not at all."""
    model._check_fitted()  # noqa: SLF001  the same room
    write_tree(model, path, {}, {})


def write_tree(
    model: TreeQueries, path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> None:
    """Write a fitted tree, and what else its file is to hold: plain values and arrays."""
    mixed = isinstance(model.parameters_, Mixture)
    write_model(
        path,
        {
            **common_header(model),
            "schema": model.schema_.to_json(),
            "topology": topology_to_json(model.topology_),
            **_trees(model),
            **header,
        },
        {**parameters_arrays(model.parameters_), **arrays},
        format_number=MIXTURE_FORMAT if mixed else FORMAT,
    )


def _trees(model: TreeQueries) -> dict[str, Any]:
    """The rooted tree that the arrays follow, or those of all components."""
    if isinstance(model.parameters_, Mixture):
        return {"trees": [tree_to_json(part.tree) for part in model.parameters_.parts]}
    return {"tree": tree_to_json(model.tree_)}


def load_tree(
    kind: type[TreeQueries],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
) -> TreeQueries:
    """The fitted tree of categories whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    from tacit.core.input.table import Schema

    check_tree_header(path, header)
    model: TreeQueries = made_from(kind, header)
    model.schema_ = Schema.from_json(header["schema"])
    put_tree(model, header, arrays, model.schema_.cards)
    return model


def check_tree_header(path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
    """Raise a `FileFormatError` where the header of a tree lacks something, see `check_header`."""
    tree = ("trees", list) if header["format"] == MIXTURE_FORMAT else ("tree", dict)
    check_header(path, header, {"schema": list, "topology": dict, **dict([tree])})


def put_tree(
    model: TreeQueries, header: Mapping[str, Any], arrays: Arrays, cards: Sequence[int]
) -> None:
    """Give a model, whose schema is known, the tree and the parameters that a file holds.

    Parameters
    ----------
    model : TreeQueries
    header, arrays
        As the file has them.
    cards : sequence of int
        How many categories or features each leaf has.
    """
    model.topology_ = topology_from_json(header["topology"])
    if header["format"] == MIXTURE_FORMAT:
        trees = [tree_from_json(plain) for plain in header["trees"]]
        mixture = mixture_from(trees, arrays, cards)
        model.tree_, model.parameters_ = trees[mixture.heaviest], mixture
    else:
        model.tree_ = tree_from_json(header["tree"])
        model.parameters_ = parameters_from(model.tree_, arrays, cards)
    if model.tree_.names[: model.tree_.n_leaves] != model.schema_.names:
        raise FileFormatError("the leaves of the tree are not the columns in their order")
    put_columns(model, header, model.schema_.names)


def from_bif(
    kind: type[LatentTree], path: str | os.PathLike[str], hidden: Iterable[str] | None = None
) -> LatentTree:
    """The fitted latent tree that a BIF file holds; see `LatentTree.from_bif`."""
    from tacit.core.input.table import Column, Schema
    from tacit.trees.files.bif import read_bif, tree_from_bif

    found = tree_from_bif(read_bif(path), hidden)
    columns = tuple(Column(name, tuple(found.categories[name]), "ordered") for name in found.names)
    tree = found.tables.tree
    states = {
        tree.names[node]: found.tables.layout.n_states[node]
        for node in tree.hidden
        if tree.copy_of[node] < 0
    }
    model = kind(n_states=states or "auto", structure=found.topology)
    model.schema_ = Schema(columns)
    model.topology_, model.tree_ = found.topology, tree
    model.parameters_ = found.tables
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array(found.names, dtype=object)
    model.diagnostics_ = {"learn": "bif", "kind_of_table": "dict"}
    return model
