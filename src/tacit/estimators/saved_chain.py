"""Fitted models of sequences to files and back."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileFormatError
from tacit.files.chains import chain_arrays, chain_from, encoder_arrays, encoders_from
from tacit.files.models import write_model

if TYPE_CHECKING:
    from tacit.estimators.chain_queries import ChainQueries

_NEEDED = {"arguments": dict, "chain": dict, "diagnostics": dict}


def save_chain(model: ChainQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, whole or not at all."""
    from tacit.estimators.saved import _arguments

    arrays, features = encoder_arrays(model.encoders_)
    header = {
        "estimator": type(model).__name__,
        "arguments": _arguments(model),
        "chain": {
            "names": list(model.names_),
            "features": features,
            "fallback": model.fallback_,
        },
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "diagnostics": model.diagnostics_,
    }
    write_model(path, header, arrays | chain_arrays(model.parameters_))


def load_chain(
    kind: type[ChainQueries],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> ChainQueries:
    """The fitted model whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    for key, wanted in _NEEDED.items():
        if not isinstance(header.get(key), wanted):
            raise FileFormatError(
                f"the header of {str(path)!r} lacks {key!r}, or has no {wanted.__name__} there"
            )
    known = set(inspect.signature(kind.__init__).parameters)
    model = kind(**{key: value for key, value in header["arguments"].items() if key in known})
    try:
        chain = header["chain"]
        names = tuple(str(name) for name in chain["names"])
        fallback = float(chain["fallback"])
        features = list(chain["features"])
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"the header of {str(path)!r} is damaged: {error!r}") from error
    encoders = encoders_from(arrays, features)
    if not names or len(encoders) != len(names) or not 0 <= fallback <= 1:
        raise FileFormatError(f"the header of {str(path)!r} is damaged: columns do not fit")
    model.names_, model.encoders_, model.fallback_ = names, encoders, fallback
    model.parameters_ = chain_from(arrays, [encoder.size for encoder in encoders])
    model.n_features_in_ = len(names)
    if header.get("has_feature_names"):
        model.feature_names_in_ = np.array(names, dtype=object)
    model.diagnostics_ = dict(header["diagnostics"])
    return model
