"""Values in the header of a model file: how each is written as JSON, and what is accepted back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.errors import ArgumentTypeError, FileFormatError

_LARGEST = 1.7976931348623157e308  # an int may be larger
_SYMBOLS = (str, int, float, bool)


@dataclass(frozen=True)
class Value:
    """A value of the header.

    Parameters
    ----------
    to_plain : callable
        Gives what JSON holds.
    from_plain : callable
        Takes whatever JSON held: returns the value, or raises an error.
    """

    to_plain: Callable[[Any], Any]
    from_plain: Callable[[Any], Any]

    def write(self, value: Any, path: str, arrays: dict[str, Any]) -> Any:
        """The plain value for the header."""
        return self.to_plain(value)

    def read(self, plain: Any, path: str, source: Any, sizes: Mapping[str, Any]) -> Any:
        """The value of the header."""
        return self.from_plain(plain)


def text(*choices: str) -> Value:
    """A text, one of the choices where there are any."""

    def read(plain: Any) -> str:
        if not isinstance(plain, str) or (choices and plain not in choices):
            raise FileFormatError(f"{shown(plain)} is not one of {choices or 'all texts'}")
        return plain

    return Value(str, read)


def texts(*, distinct: bool = True) -> Value:
    """A tuple of texts, none twice.

    Examples
    --------
    >>> texts().from_plain(["a", "b"])
    ('a', 'b')
    """

    def read(plain: Any) -> tuple[str, ...]:
        if not isinstance(plain, list) or not all(isinstance(text, str) for text in plain):
            raise FileFormatError("not a list of texts")
        if distinct and len(set(plain)) < len(plain):
            raise FileFormatError("a text stands there twice")
        return tuple(plain)

    return Value(lambda value: [str(text) for text in value], read)


def integer(least: int = 0, most: int = 2**31 - 1) -> Value:
    """An integer from `least` to `most`."""

    def read(plain: Any) -> int:
        if isinstance(plain, bool) or not isinstance(plain, int) or not least <= plain <= most:
            raise FileFormatError(f"{shown(plain)} is not an integer from {least} to {most}")
        return plain

    return Value(int, read)


def number(least: float = -math.inf, most: float = math.inf) -> Value:
    """A finite number from `least` to `most`."""
    return Value(float, lambda plain: _number(plain, least, most))


def numbers(least: float = -math.inf, most: float = math.inf) -> Value:
    """A tuple of finite numbers from `least` to `most`."""

    def read(plain: Any) -> tuple[float, ...]:
        if not isinstance(plain, list):
            raise FileFormatError("not a list of numbers")
        return tuple(_number(number, least, most) for number in plain)

    return Value(lambda value: [float(number) for number in value], read)


def flag() -> Value:
    """True or false."""
    return Value(bool, lambda plain: _of_type(plain, bool))


def mapping() -> Value:
    """A dict of any plain values."""
    return Value(dict, lambda plain: dict(_of_type(plain, dict)))


def symbols() -> Value:
    """A tuple of symbols: texts, numbers, booleans, None, and tuples of these.

    Examples
    --------
    >>> symbols().to_plain(("a", 3, ("b", 1)))
    ['a', 3, {'tuple': ['b', 1]}]
    """

    def read(plain: Any) -> tuple[Any, ...]:
        read_symbols = tuple(_symbol(symbol) for symbol in _of_type(plain, list))
        if len(set(read_symbols)) < len(read_symbols):
            raise FileFormatError("a symbol stands there twice")
        return read_symbols

    return Value(lambda value: [_plain_symbol(symbol) for symbol in value], read)


def shown(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _of_type(plain: Any, kind: type) -> Any:
    if not isinstance(plain, kind):
        raise FileFormatError(f"{shown(plain)} is not a {kind.__name__}")
    return plain


def _number(plain: Any, least: float, most: float) -> float:
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise FileFormatError(f"{shown(plain)} is not a number")
    if not (abs(plain) <= _LARGEST and least <= plain <= most):
        raise FileFormatError(f"{shown(plain)} is not a number from {least:g} to {most:g}")
    return float(plain)


def _plain_symbol(symbol: Any) -> Any:
    if isinstance(symbol, tuple):
        return {"tuple": [_plain_symbol(part) for part in symbol]}
    if isinstance(symbol, np.generic):
        symbol = symbol.item()
    if symbol is None or isinstance(symbol, _SYMBOLS):
        return symbol
    raise ArgumentTypeError(
        f"the symbol {shown(symbol)} is a {type(symbol).__name__}; files hold text, numbers and tuples of "
        f"them: fit with such symbols to save the model"
    )


def _symbol(plain: Any) -> Any:
    if isinstance(plain, dict):
        if plain.keys() != {"tuple"}:
            raise FileFormatError(f"{shown(plain)} is no symbol")
        return tuple(_symbol(part) for part in _of_type(plain["tuple"], list))
    if plain is None or isinstance(plain, _SYMBOLS):
        if isinstance(plain, float) and not math.isfinite(plain):
            raise FileFormatError(f"{plain} is no symbol: it is not finite")
        return plain
    raise FileFormatError(f"{shown(plain)} is no symbol")
