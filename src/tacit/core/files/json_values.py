"""Values as strict JSON, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.errors import ArgumentTypeError, FileFormatError

_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_MOST_LEVELS = 100  # lists and dicts inside each other; far from what Python's stack holds


def to_json(value: Any) -> str:
    """The JSON text of plain values, ASCII only; `from_json` reads it back.

    Numbers of NumPy become those of Python, arrays and tuples become lists, keys become text. JSON has no
    infinities: ``inf`` is written as ``{"$float": "inf"}``, and a key that begins with ``$`` gets one more.

    Raises
    ------
    ArgumentTypeError
        Where something is neither text, number, boolean, None, nor a list or dict of these, or where more
        than 100 lists and dicts are inside each other.

    Examples
    --------
    >>> to_json({"n": np.int64(3), "kept": (0.5, math.inf)})
    '{"n": 3, "kept": [0.5, {"$float": "inf"}]}'
    """
    return json.dumps(_plain(value), allow_nan=False)


def from_json(text: str | bytes) -> Any:
    """The values that `to_json` wrote; a `FileFormatError` where the text is not JSON."""
    try:
        return _restored(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"not JSON: {error}") from error


def _plain(value: Any, level: int = 0) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if level > _MOST_LEVELS and isinstance(value, list | tuple | Mapping):
        raise ArgumentTypeError(
            f"files hold at most {_MOST_LEVELS} lists and dicts inside each other, but here are more"
        )
    if isinstance(value, list | tuple):
        return [_plain(item, level + 1) for item in value]
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, level + 1) for key, item in value.items()}
    raise ArgumentTypeError(
        f"{value!r} cannot be written to a file: it is a {type(value).__name__}, "
        f"not text, a number, a list or a dict"
    )


def _key(key: Any) -> str:
    text = str(key)
    return f"${text}" if text.startswith("$") else text


def _restored(value: Any, level: int = 0) -> Any:
    if not isinstance(value, list | dict):
        return value
    if isinstance(value, dict) and set(value) == {"$float"}:
        return _FLOATS[value["$float"]] if value["$float"] in list(_FLOATS) else value
    if level > _MOST_LEVELS:
        raise FileFormatError(f"more than {_MOST_LEVELS} lists and dicts are inside each other")
    if isinstance(value, list):
        return [_restored(item, level + 1) for item in value]
    return {key.removeprefix("$"): _restored(item, level + 1) for key, item in value.items()}
