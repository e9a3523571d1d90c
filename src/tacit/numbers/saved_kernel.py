"""Fitted trees of numbers and categories to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import Encoder, IndicatorEncoder, encoder_from_arrays
from tacit.core.encoders.margins import Margin
from tacit.core.files.header import made_from
from tacit.errors import FileFormatError
from tacit.trees.data.mixed_table import MixedSchema
from tacit.trees.saved import check_tree_header, put_tree, write_tree

if TYPE_CHECKING:
    from tacit.numbers.kernel_rows import KernelRows

Array = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]


def save_kernel_tree(model: KernelRows, path: str | os.PathLike[str]) -> None:
    """Write a fitted tree of numbers and categories to one file, whole or not at all."""
    write_tree(model, path, *kernel_parts(model))


def load_kernel_tree(
    kind: type[KernelRows],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
) -> KernelRows:
    """The fitted tree of numbers and categories whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_tree_header(path, header)
    model: KernelRows = made_from(kind, header)
    model.schema_ = MixedSchema.from_json(header["schema"])
    put_kernel_parts(model, header, arrays)
    put_tree(model, header, arrays, [encoder.size for encoder in model.encoders_])
    return model


def kernel_parts(model: KernelRows) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a file holds of a model beyond its tree: plain values for the header, and arrays.

    Arrays are called ``encoder.3.edges`` for column 3, likewise ``margin.3.heights`` where the model has
    operators, and ``blend.mean``.
    """
    arrays: dict[str, NDArray[Any]] = {}
    encoders = []
    for leaf, encoder in enumerate(model.encoders_):
        own, numbers = encoder.to_arrays()
        arrays |= {f"encoder.{leaf}.{name}": array for name, array in own.items()}
        encoders.append(numbers)
    header: dict[str, Any] = {"encoders": encoders}
    if model.margins_ is not None:
        header["margins"] = []
        for leaf, margin in enumerate(model.margins_):
            if isinstance(margin, Margin):
                own, numbers = margin.to_arrays()
            else:
                own, numbers = {"probabilities": margin}, {}
            arrays |= {f"margin.{leaf}.{name}": array for name, array in own.items()}
            header["margins"].append(numbers)
    if model.blend_ is not None:
        arrays |= {f"blend.{name}": array for name, array in model.blend_.to_arrays().items()}
        header["blended"] = True
    return header, arrays


def put_kernel_parts(model: KernelRows, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Give a model, whose columns are known, what `kernel_parts` wrote.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the columns.
    """
    from tacit.numbers.learn.blending import blend_from_arrays

    schema = model.schema_
    for name, array in arrays.items():
        if name.startswith(("encoder.", "margin.", "blend.")) and not _proper(array):
            raise FileFormatError(f"the array {name!r} does not hold finite floats")
    plain = _listed(header, "encoders", len(schema))
    model.encoders_ = tuple(
        _encoder(schema, leaf, _own(arrays, f"encoder.{leaf}."), numbers)
        for leaf, numbers in enumerate(plain)
    )
    model.margins_ = None
    if "margins" in header:
        model.margins_ = tuple(
            _margin(schema, leaf, _own(arrays, f"margin.{leaf}."), numbers)
            for leaf, numbers in enumerate(_listed(header, "margins", len(schema)))
        )
    model.blend_ = None
    if header.get("blended"):
        model.blend_ = blend_from_arrays(schema, _own(arrays, "blend."))


def _proper(array: NDArray[Any]) -> bool:
    return array.dtype == np.float64 and bool(np.isfinite(array).all())


def _own(arrays: Arrays, prefix: str) -> dict[str, Array]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _listed(header: Mapping[str, Any], key: str, length: int) -> list[Mapping[str, Any]]:
    """A list of the header with one object for each column."""
    found = header.get(key)
    if not isinstance(found, list) or len(found) != length:
        raise FileFormatError(
            f"{key!r} of the header is not one entry for each of {length} columns"
        )
    if not all(isinstance(each, dict) for each in found):
        raise FileFormatError(f"{key!r} of the header holds something else than objects")
    return found


def _encoder(
    schema: MixedSchema, leaf: int, arrays: Mapping[str, Array], numbers: Mapping[str, Any]
) -> Encoder:
    found = encoder_from_arrays(arrays, numbers)
    name = schema.names[leaf]
    if isinstance(found, IndicatorEncoder) != (leaf in schema.categorical):
        raise FileFormatError(f"the features of column {name!r} are not of its kind")
    if isinstance(found, IndicatorEncoder) and found.size != schema.cards[leaf]:
        raise FileFormatError(f"column {name!r} has other categories than features")
    return found


def _margin(
    schema: MixedSchema, leaf: int, arrays: Mapping[str, Array], numbers: Mapping[str, Any]
) -> Margin | Array:
    try:
        if leaf in schema.continuous:
            return Margin.from_arrays(arrays, numbers)
        shares = arrays["probabilities"]
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"not the distribution of a column: {error!r}") from error
    if shares.shape != (schema.cards[leaf],):
        raise FileFormatError(f"column {schema.names[leaf]!r} has other categories than shares")
    return shares
