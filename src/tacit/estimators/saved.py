"""Fitted models to files and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileFormatError
from tacit.estimators.saved_header import check_header, common_header, made_from, put_columns
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

Arrays = Mapping[str, NDArray[Any]]

# The estimators that model files may hold: where the class stands, and what loads it from a header and
# arrays. Nothing else is ever made from a file.
_LOADERS = {
    "BackoffLM": ("kneser_ney_lm", "saved_language", "load_backoff"),
    "ChowLiuTree": ("chow_liu", "saved", "load_tree"),
    "ClassLM": ("class_lm", "saved_language", "load_classes"),
    "ConstituentContextModel": ("constituent_context", "saved_parser", "load_context_model"),
    "FactorialHMM": ("chains", "saved_junction", "load_junction"),
    "GaussianMixtureMoments": ("gaussian_mixture", "saved_spherical", "load_spherical"),
    "GaussianTree": ("gaussian_tree", "saved_gaussian", "load_gaussian"),
    "HMM": ("hmm", "saved_hmm", "load_hmm"),
    "HigherOrderHMM": ("chains", "saved_junction", "load_junction"),
    "KernelHMM": ("kernel_hmm", "saved_chain", "load_chain"),
    "KernelTree": ("kernel_tree", "saved_kernel", "load_kernel_tree"),
    "KneserNeyLM": ("kneser_ney_lm", "saved_language", "load_backoff"),
    "LatentClass": ("latent_tree", "saved", "load_tree"),
    "LatentJunctionTree": ("junction", "saved_junction", "load_junction"),
    "LatentPCFG": ("latent_pcfg", "saved_grammar", "load_grammar"),
    "LatentTree": ("latent_tree", "saved", "load_tree"),
    "MixedLM": ("mixed_lm", "saved_mixture", "load_mixture"),
    "PowerLowRankLM": ("power_low_rank_lm", "saved_ensemble", "load_ensemble"),
    "ProbabilisticAutomaton": ("probabilistic_automaton", "saved_automata", "load_automaton"),
    "SpanParser": ("span_parser", "saved_parser", "load_parser"),
    "TopicModel": ("topic_model", "saved_topics", "load_topics"),
    "WeightedAutomaton": ("automata", "saved_automata", "load_automaton"),
}


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
    return fitted_from(path, *read_model(path))


def fitted_from(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> Any:
    """The fitted model of a header and arrays; the path is for messages."""
    name = header["estimator"]
    if name not in _LOADERS:
        raise FileFormatError(
            f"{str(path)!r} holds a {name!r}, which this version does not know; "
            f"it knows {sorted(_LOADERS)}"
        )
    home, loading, function = _LOADERS[name]
    kind = getattr(import_module(f"tacit.estimators.{home}"), name)
    loader = getattr(import_module(f"tacit.estimators.{loading}"), function)
    return loader(kind, path, header, arrays)


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
    from tacit.data.table import Schema

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
