"""Fitted Gaussian trees to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.mixed import MixedSchema
from tacit.data.scores import Scores
from tacit.errors import ArgumentError, FileFormatError
from tacit.files.models import write_model
from tacit.files.networks import topology_from_json, topology_to_json
from tacit.params.gaussian import Gaussian

if TYPE_CHECKING:
    from tacit.estimators.gaussian_queries import GaussianQueries

_NEEDED = {
    "arguments": dict,
    "schema": list,
    "scores": dict,
    "topology": dict,
    "diagnostics": dict,
}


def save_gaussian(model: GaussianQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted Gaussian tree to one file, whole or not at all."""
    from tacit.estimators.saved import _arguments

    arrays, plain = model.scores_.to_arrays()
    arguments = _arguments(model)
    categorical = model.get_params(deep=False)["categorical"]
    if not isinstance(categorical, str):
        arguments["categorical"] = [str(name) for name in categorical]
    header = {
        "estimator": type(model).__name__,
        "arguments": arguments,
        "schema": model.schema_.to_json(),
        "scores": plain,
        "topology": topology_to_json(model.topology_),
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "diagnostics": model.diagnostics_,
    }
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
    import inspect

    for key, wanted in _NEEDED.items():
        if not isinstance(header.get(key), wanted):
            raise FileFormatError(
                f"the header of {str(path)!r} lacks {key!r}, or has no {wanted} there"
            )
    known = set(inspect.signature(kind.__init__).parameters)
    model = kind(**{key: value for key, value in header["arguments"].items() if key in known})
    model.schema_ = MixedSchema.from_json(header["schema"])
    model.scores_ = Scores.from_arrays(model.schema_, arrays, header["scores"])
    model.gaussian_ = _gaussian(arrays, len(model.scores_.names))
    model.topology_ = topology_from_json(header["topology"])
    if set(model.topology_.observed) != set(model.scores_.names):
        raise FileFormatError(f"the leaves of the tree in {str(path)!r} are not the columns")
    model.n_features_in_ = len(model.schema_)
    if header.get("has_feature_names"):
        model.feature_names_in_ = np.array(model.schema_.names, dtype=object)
    model.diagnostics_ = dict(header["diagnostics"])
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
