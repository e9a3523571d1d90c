"""Fitted trees to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
    from tacit.trees.tree_model import TreeModel

Arrays = Mapping[str, NDArray[Any]]


def save(model: TreeModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted tree of categories to one file, whole or not at all."""
    model._check_fitted()  # noqa: SLF001  the same room
    write_tree(model, path, {}, {})


def write_tree(
    model: TreeModel, path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
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


def _trees(model: TreeModel) -> dict[str, Any]:
    """The rooted tree that the arrays follow, or those of all components."""
    if isinstance(model.parameters_, Mixture):
        return {"trees": [tree_to_json(part.tree) for part in model.parameters_.parts]}
    return {"tree": tree_to_json(model.tree_)}


def load_tree(
    kind: type[TreeModel],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
) -> TreeModel:
    """The fitted tree of categories whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    from tacit.core.input.table import Schema

    check_tree_header(path, header)
    model: TreeModel = made_from(kind, header)
    model.schema_ = Schema.from_json(header["schema"])
    put_tree(model, header, arrays, model.schema_.cards)
    return model


def check_tree_header(path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
    """Raise a `FileFormatError` where the header of a tree lacks something, see `check_header`."""
    tree = ("trees", list) if header["format"] == MIXTURE_FORMAT else ("tree", dict)
    check_header(path, header, {"schema": list, "topology": dict, **dict([tree])})


def put_tree(
    model: TreeModel, header: Mapping[str, Any], arrays: Arrays, cards: Sequence[int]
) -> None:
    """Give a model, whose schema is known, the tree and the parameters that a file holds.

    Parameters
    ----------
    model : TreeModel
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
