"""What the headers of all model files have in common."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from tacit.errors import FileFormatError


def common_header(model: Any) -> dict[str, Any]:
    """What the file of any fitted model says, whatever else it says: plain values."""
    return {
        "estimator": type(model).__name__,
        "arguments": _arguments(model),
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "diagnostics": model.diagnostics_,
    }


def check_header(
    path: str | os.PathLike[str], header: Mapping[str, Any], needed: Mapping[str, type]
) -> None:
    """Raise where a header lacks something, or has something else in its place.

    Parameters
    ----------
    path : str or path
        The file, for the message.
    header : mapping
    needed : mapping of key to type
        What there must be besides the arguments and the diagnostics.

    Raises
    ------
    FileFormatError
    """
    expected = {"arguments": dict, "diagnostics": dict, **needed}
    missing = sorted(expected.keys() - header.keys())
    if missing:
        raise FileFormatError(f"the header of {str(path)!r} lacks {missing}")
    for key, kind in expected.items():
        if not isinstance(header[key], kind):
            raise FileFormatError(
                f"the header of {str(path)!r} is damaged: {key!r} is a {type(header[key]).__name__}"
            )


def made_from(kind: type[Any], header: Mapping[str, Any], **others: Any) -> Any:
    """An estimator with the arguments of a header, those that this version knows; nothing is learnt yet.

    Parameters
    ----------
    kind : type
        The class of the estimator.
    header : mapping
    others
        Arguments that files do not hold as such; heeded where the estimator has them.
    """
    known = set(inspect.signature(kind.__init__).parameters)
    given = {**header["arguments"], **others}
    return kind(**{key: value for key, value in given.items() if key in known})


def put_columns(model: Any, header: Mapping[str, Any], names: Sequence[str]) -> None:
    """Give a model the names of its columns and the diagnostics, as a header has them."""
    model.n_features_in_ = len(names)
    if header.get("has_feature_names"):
        model.feature_names_in_ = np.array(names, dtype=object)
    model.diagnostics_ = dict(header["diagnostics"])


def _arguments(model: Any) -> dict[str, Any]:
    """The estimator's arguments that are plain values; a tree given as an object is in the topology."""
    plain: dict[str, Any] = {}
    for key, value in model.get_params(deep=False).items():
        if isinstance(value, Mapping):
            if all(isinstance(count, Integral) for count in value.values()):
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
