"""Symbols as plain values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.errors import ArgumentTypeError, FileFormatError

_SYMBOLS = (str, int, float, bool)


def symbols_to_json(symbols: tuple[Any, ...]) -> list[Any]:
    """Symbols as plain values; tuples of them become objects with their entries.

    Examples
    --------
    >>> symbols_to_json(("a", 3, ("b", 1)))
    ['a', 3, {'tuple': ['b', 1]}]
    """
    return [_plain(each) for each in symbols]


def _plain(symbol: Any) -> Any:
    if isinstance(symbol, tuple):
        return {"tuple": [_plain(each) for each in symbol]}
    if symbol is None or isinstance(symbol, _SYMBOLS):
        return symbol
    if isinstance(symbol, np.generic):
        return symbol.item()
    raise ArgumentTypeError(
        f"the symbol {symbol!r} is a {type(symbol).__name__}; files hold text, numbers and tuples of them: "
        f"fit with such symbols to save the model"
    )


def symbols_from_json(plain: Any) -> tuple[Any, ...]:
    """What `symbols_to_json` wrote."""
    if not isinstance(plain, list):
        raise FileFormatError("the symbols of the header are no list")
    return tuple(_symbol(each) for each in plain)


def _symbol(plain: Any) -> Any:
    if isinstance(plain, dict):
        return tuple(_symbol(each) for each in plain["tuple"])
    return plain
