"""Fitted parsers that need no treebank, to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from
from tacit.core.files.model_files import write_model
from tacit.errors import FileFormatError
from tacit.parsing.learn.constituent_context import SpanRatios
from tacit.parsing.model.tag_chunks import TagShape
from tacit.parsing.model.tag_distances import TagDistances

if TYPE_CHECKING:
    from tacit.parsing.constituent_context import ConstituentContextModel
    from tacit.parsing.span_parser import SpanParser

Arrays = Mapping[str, NDArray[Any]]
_SHAPE = ("first", "following", "emitted")


def save_parser(model: SpanParser, path: str | os.PathLike[str]) -> None:
    """Write the distances and the shape of a fitted parser to one file, whole or not at all."""
    shape = model.shape_  # before the header, to whose diagnostics it may add
    header = {
        **common_header(model),
        "tags": list(model.distances_.tags),
        "shape_tags": list(shape.tags),
        "predicates": sorted(shape.predicates),
    }
    if not isinstance(model.vectors, str):
        header["arguments"].pop("vectors", None)  # they are not needed any more
    arrays = {"distances": model.distances_.table}
    for name in _SHAPE:
        arrays[name] = np.exp(
            getattr(shape, name)
        )  # some are zero, whose logarithms are no numbers
    write_model(path, header, arrays)


def load_parser(
    kind: type[SpanParser], path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> SpanParser:
    """The fitted parser whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"tags": list, "shape_tags": list, "predicates": list})
    model: SpanParser = made_from(kind, header)
    tags = tuple(map(str, header["tags"]))
    table = _numbers(path, arrays, "distances", 3)
    if table.shape[:2] != (len(tags), len(tags)) or not table.shape[2]:
        raise FileFormatError(
            f"{str(path)!r} is damaged: distances of {table.shape}, {len(tags)} tags"
        )
    model.distances_ = TagDistances(tags, table)
    model.shape_ = _shape(path, header, arrays)
    model.diagnostics_ = dict(header["diagnostics"])
    return model


def _shape(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> TagShape:
    tags = tuple(map(str, header["shape_tags"]))
    rows = (3, len(tags) + 1)
    sizes = {"first": rows, "following": (*rows, 4), "emitted": rows}
    found = {name: _numbers(path, arrays, name, len(sizes[name])) for name in _SHAPE}
    if any(found[name].shape != size or found[name].min() < 0 for name, size in sizes.items()):
        raise FileFormatError(f"{str(path)!r} is damaged: its groups do not fit its tags")
    with np.errstate(divide="ignore"):
        first, following, emitted = (np.log(found[name]) for name in _SHAPE)
    predicates = frozenset(map(str, header["predicates"]))
    return TagShape(tags, first, following, emitted, predicates)


def save_context_model(model: ConstituentContextModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted constituent-context model to one file, whole or not at all."""
    ratios = model.ratios_
    header = {
        **common_header(model),
        "tags": list(model.tags_),
        "smoothing": list(map(float, model.smoothing)),
        "changes": list(model.changes_),
        "unseen": ratios.unseen,
    }
    header["arguments"].pop("smoothing", None)
    arrays = {
        "yields": ratios.yields.view(np.int64),
        "of_yields": ratios.of_yields,
        "of_contexts": ratios.of_contexts,
    }
    write_model(path, header, arrays)


def load_context_model(
    kind: type[ConstituentContextModel],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
) -> ConstituentContextModel:
    """The fitted constituent-context model whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"tags": list, "smoothing": list, "changes": list, "unseen": float})
    model: ConstituentContextModel = made_from(kind, header, smoothing=tuple(header["smoothing"]))
    model.tags_ = tuple(map(str, header["tags"]))
    of_yields, of_contexts = (
        _numbers(path, arrays, f"of_{name}", 1) for name in ("yields", "contexts")
    )
    names = arrays.get("yields")
    fits = names is not None and names.dtype == np.int64 and names.shape == of_yields.shape
    if names is None or not fits or len(of_contexts) != (len(model.tags_) + 2) ** 2:
        raise FileFormatError(f"{str(path)!r} is damaged: its arrays do not fit its tags")
    mixed = names.view(np.uint64)
    if np.any(mixed[1:] <= mixed[:-1]):
        raise FileFormatError(f"{str(path)!r} is damaged: the names of its spans do not ascend")
    model.ratios_ = SpanRatios(mixed, of_yields, of_contexts, float(header["unseen"]))
    model.changes_ = [float(change) for change in header["changes"]]
    model.diagnostics_ = dict(header["diagnostics"])
    return model


def _numbers(
    path: str | os.PathLike[str], arrays: Arrays, name: str, n_axes: int
) -> NDArray[np.float64]:
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.ndim != n_axes:
        raise FileFormatError(f"{str(path)!r} is damaged: no numbers {name!r} as they should be")
    if not np.isfinite(found).all():
        raise FileFormatError(f"{str(path)!r} is damaged: {name!r} holds what are no numbers")
    return found
