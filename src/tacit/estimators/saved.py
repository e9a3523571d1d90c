"""Fitted models to files and back."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileFormatError
from tacit.files.models import FORMAT, MIXTURE_FORMAT, read_model, write_model
from tacit.files.networks import (
    mixture_from,
    parameters_arrays,
    parameters_from,
    topology_from_json,
    topology_to_json,
    tree_from_json,
    tree_to_json,
)
from tacit.params.mixture import Mixture

if TYPE_CHECKING:
    from tacit.estimators.latent_tree import LatentTree
    from tacit.estimators.tree_queries import TreeQueries


def estimator_classes() -> dict[str, type[Any]]:
    """The estimators that model files may hold, by name; nothing else is ever made from a file."""
    from tacit.estimators.chains import FactorialHMM, HigherOrderHMM
    from tacit.estimators.chow_liu import ChowLiuTree
    from tacit.estimators.gaussian_tree import GaussianTree
    from tacit.estimators.junction import LatentJunctionTree
    from tacit.estimators.kernel_hmm import KernelHMM
    from tacit.estimators.kernel_tree import KernelTree
    from tacit.estimators.latent_tree import LatentClass, LatentTree

    trees = (LatentTree, LatentClass, ChowLiuTree, GaussianTree, KernelTree)
    graphs = (LatentJunctionTree, HigherOrderHMM, FactorialHMM)
    return {kind.__name__: kind for kind in (*trees, *graphs, KernelHMM)}


def save(model: TreeQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, whole or not at all."""
    model._check_fitted()  # noqa: SLF001  the same room
    header = {
        "estimator": type(model).__name__,
        "arguments": _arguments(model),
        "schema": model.schema_.to_json(),
        "topology": topology_to_json(model.topology_),
        **_trees(model),
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "diagnostics": model.diagnostics_,
    }
    arrays = parameters_arrays(model.parameters_)
    if _is_kernel(type(model)):
        from tacit.estimators.saved_kernel import kernel_parts

        plain, own = kernel_parts(model)
        header, arrays = header | plain, arrays | own
    mixed = isinstance(model.parameters_, Mixture)
    write_model(path, header, arrays, format_number=MIXTURE_FORMAT if mixed else FORMAT)


def _is_kernel(kind: type[Any]) -> bool:
    """Whether models of a kind have features at their leaves."""
    from tacit.estimators.kernel_rows import KernelRows

    return issubclass(kind, KernelRows)


def _trees(model: TreeQueries) -> dict[str, Any]:
    """The rooted tree that the arrays follow, or those of all components."""
    if isinstance(model.parameters_, Mixture):
        return {"trees": [tree_to_json(part.tree) for part in model.parameters_.parts]}
    return {"tree": tree_to_json(model.tree_)}


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted model that a file holds; nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        A file that a model's `save` wrote.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        The file is truncated, foreign, damaged, or of a newer format.

    Examples
    --------
    >>> import tacit, tempfile, pathlib
    >>> model = tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"], ["b", "x"]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.tacit"
    >>> model.save(path)
    >>> tacit.load(path).categories_ == model.categories_
    True
    """
    from tacit.data.table import Schema

    header, arrays = read_model(path)
    kinds = estimator_classes()
    kind = kinds.get(str(header.get("estimator")))
    if kind is None:
        raise FileFormatError(
            f"{str(path)!r} holds a {header.get('estimator')!r}, which this version does not know; "
            f"it knows {sorted(kinds)}"
        )
    if "graph" in header:
        from tacit.estimators.saved_junction import load_junction

        return load_junction(kind, path, header, arrays)
    if "chain" in header:
        from tacit.estimators.saved_chain import load_chain

        return load_chain(kind, path, header, arrays)
    if kind.__name__ == "GaussianTree":
        from tacit.estimators.saved_gaussian import load_gaussian

        return load_gaussian(kind, path, header, arrays)
    _check_header(path, header)
    known = set(inspect.signature(kind.__init__).parameters)
    arguments = {key: value for key, value in header["arguments"].items() if key in known}
    model = kind(**arguments)
    if _is_kernel(kind):
        from tacit.data.mixed import MixedSchema
        from tacit.estimators.saved_kernel import put_kernel_parts

        model.schema_ = MixedSchema.from_json(header["schema"])
        put_kernel_parts(model, header, arrays)
    else:
        model.schema_ = Schema.from_json(header["schema"])
    model.topology_ = topology_from_json(header["topology"])
    _put_parameters(model, header, arrays)
    model.n_features_in_ = len(model.schema_)
    if header.get("has_feature_names"):
        model.feature_names_in_ = np.array(model.schema_.names, dtype=object)
    model.diagnostics_ = dict(header["diagnostics"])
    return model


def _check_header(path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
    """Raise where the header lacks something, or has something else in its place."""
    tree = ("trees", list) if header["format"] == MIXTURE_FORMAT else ("tree", dict)
    expected = {"arguments": dict, "schema": list, "topology": dict, "diagnostics": dict}
    expected |= dict([tree])
    missing = sorted(expected.keys() - header.keys())
    if missing:
        raise FileFormatError(f"the header of {str(path)!r} lacks {missing}")
    for key, kind in expected.items():
        if not isinstance(header[key], kind):
            raise FileFormatError(
                f"the header of {str(path)!r} is damaged: {key!r} is a {type(header[key]).__name__}"
            )


def _put_parameters(
    model: TreeQueries, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Give a model the tree and the parameters that a file holds."""
    cards: Sequence[int] = model.schema_.cards
    if _is_kernel(type(model)):
        cards = [encoder.size for encoder in model.encoders_]
    if header["format"] == MIXTURE_FORMAT:
        trees = [tree_from_json(plain) for plain in header["trees"]]
        mixture = mixture_from(trees, arrays, cards)
        model.tree_, model.parameters_ = trees[mixture.heaviest], mixture
    else:
        model.tree_ = tree_from_json(header["tree"])
        model.parameters_ = parameters_from(model.tree_, arrays, cards)
    if model.tree_.names[: model.tree_.n_leaves] != model.schema_.names:
        raise FileFormatError("the leaves of the tree are not the columns in their order")


def from_bif(path: str | os.PathLike[str], hidden: Iterable[str] | None = None) -> LatentTree:
    """The fitted latent tree that a BIF file holds; see `LatentTree.from_bif`."""
    from tacit.data.table import Column, Schema
    from tacit.estimators.latent_tree import LatentTree
    from tacit.files.bif import read_bif, tree_from_bif

    found = tree_from_bif(read_bif(path), hidden)
    columns = tuple(Column(name, tuple(found.categories[name]), "ordered") for name in found.names)
    tree = found.tables.tree
    states = {
        tree.names[node]: found.tables.layout.n_states[node]
        for node in tree.hidden
        if tree.copy_of[node] < 0
    }
    model = LatentTree(n_states=states or "auto", structure=found.topology)
    model.schema_ = Schema(columns)
    model.topology_, model.tree_ = found.topology, tree
    model.parameters_ = found.tables
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array(found.names, dtype=object)
    model.diagnostics_ = {"learn": "bif", "kind_of_table": "dict"}
    return model


def _arguments(model: TreeQueries) -> dict[str, Any]:
    """The estimator's arguments that are plain values; a tree given as an object is in the topology."""
    plain: dict[str, Any] = {}
    for key, value in model.get_params(deep=False).items():
        if isinstance(value, Mapping):
            plain[key] = {str(name): int(count) for name, count in value.items()}
        elif value is None or isinstance(value, bool | int | float | str):
            plain[key] = value
        elif isinstance(value, np.integer | np.floating):
            plain[key] = value.item()
        elif key == "structure":
            plain[key] = model.topology_.to_newick()
        elif key == "continuous" and len(value):
            plain[key] = [str(name) for name in value]
    return plain
