"""Fitted models of sequences to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from, put_columns
from tacit.core.files.model_files import write_model
from tacit.errors import FileFormatError
from tacit.sequences.files.chain_arrays import (
    chain_arrays,
    chain_from,
    encoder_arrays,
    encoders_from,
)

if TYPE_CHECKING:
    from tacit.sequences.kernel_hmm_queries import ChainQueries


def save_chain(model: ChainQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, whole or not at all."""
    arrays, features = encoder_arrays(model.encoders_)
    header = {
        **common_header(model),
        "chain": {
            "names": list(model.names_),
            "features": features,
            "fallback": model.fallback_,
        },
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
    check_header(path, header, {"chain": dict})
    model: ChainQueries = made_from(kind, header)
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
    put_columns(model, header, names)
    return model
