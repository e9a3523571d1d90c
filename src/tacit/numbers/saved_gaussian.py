"""Fitted Gaussian trees to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from, put_columns
from tacit.core.files.model_files import write_model
from tacit.errors import ArgumentError, FileFormatError
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.model.gaussian import Gaussian
from tacit.trees.data.mixed_table import MixedSchema
from tacit.trees.files.network_arrays import topology_from_json, topology_to_json

if TYPE_CHECKING:
    from tacit.numbers.gaussian_queries import GaussianQueries

_NEEDED = {"schema": list, "scores": dict, "topology": dict}


def save_gaussian(model: GaussianQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted Gaussian tree to one file, whole or not at all."""
    arrays, plain = model.scores_.to_arrays()
    header = {
        **common_header(model),
        "schema": model.schema_.to_json(),
        "scores": plain,
        "topology": topology_to_json(model.topology_),
    }
    categorical = model.get_params(deep=False)["categorical"]
    if not isinstance(categorical, str):
        header["arguments"]["categorical"] = [str(name) for name in categorical]
    gaussian = {"mean": model.gaussian_.mean, "covariance": model.gaussian_.covariance}
    write_model(path, header, arrays | gaussian)


def load_gaussian(
    kind: type[GaussianQueries],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> GaussianQueries:
    """The fitted Gaussian tree whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, _NEEDED)
    model: GaussianQueries = made_from(kind, header)
    model.schema_ = MixedSchema.from_json(header["schema"])
    model.scores_ = Scores.from_arrays(model.schema_, arrays, header["scores"])
    model.gaussian_ = _gaussian(arrays, len(model.scores_.names))
    model.topology_ = topology_from_json(header["topology"])
    if set(model.topology_.observed) != set(model.scores_.names):
        raise FileFormatError(f"the leaves of the tree in {str(path)!r} are not the columns")
    put_columns(model, header, model.schema_.names)
    return model


def _gaussian(arrays: Mapping[str, NDArray[Any]], size: int) -> Gaussian:
    """The Gaussian of a file, checked."""
    for name, shape in (("mean", (size,)), ("covariance", (size, size))):
        array = arrays.get(name)
        if array is None or array.dtype != np.float64 or array.shape != shape:
            raise FileFormatError(f"the array {name!r} is missing, or is not {shape} floats")
        if not np.isfinite(array).all():
            raise FileFormatError(f"the array {name!r} holds infinities or NaN")
    found = Gaussian(arrays["mean"], arrays["covariance"])
    if not np.array_equal(found.covariance, found.covariance.T):
        raise FileFormatError("the array 'covariance' is not symmetric")
    try:
        found.factor  # noqa: B018 - whether there is one
    except ArgumentError as error:
        raise FileFormatError(f"the array 'covariance' is none: {error}") from error
    return found
