"""The strings of a Hankel matrix that users give: prefixes for its rows, suffixes for its columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from tacit.core.arguments import did_you_mean
from tacit.core.limits import shown
from tacit.errors import ArgumentError

Word = tuple[int, ...]


@dataclass(frozen=True)
class Strings:
    """Prefixes and suffixes, as codes of symbols."""

    prefixes: tuple[Word, ...]
    suffixes: tuple[Word, ...]

    @property
    def longest(self) -> int:
        """Symbols of the longest string that a Hankel block holds: prefix, symbol, suffix."""
        return max(map(len, self.prefixes)) + 1 + max(map(len, self.suffixes))

    @property
    def sizes(self) -> dict[str, int]:
        """How many there are."""
        return {"prefixes": len(self.prefixes), "suffixes": len(self.suffixes)}


def is_length(basis: Any) -> bool:
    """Whether an argument is the length of strings, or "auto", and not prefixes and suffixes."""
    return isinstance(basis, Integral) or (isinstance(basis, str) and basis == "auto")


def check_strings(basis: Any) -> None:
    """Raise an `ArgumentError` unless an argument holds two lists of strings, each of them once."""
    is_pair = _is_list(basis) and len(basis) == 2
    if not is_pair or not all(_is_list(side) and len(side) for side in basis):
        raise ArgumentError(
            f"basis={shown(basis)}; give an integer, 'auto', or two lists of strings, "
            f"(prefixes, suffixes), neither of them empty"
        )
    for name, side in zip(("prefixes", "suffixes"), basis, strict=True):
        strings = [_symbols_of(string, name) for string in side]
        if len(set(strings)) < len(strings):
            twice = next(string for string in strings if strings.count(string) > 1)
            raise ArgumentError(f"the {name} of basis have {list(twice)} twice; give each once")


def read_strings(basis: Any, symbols: Sequence[Hashable]) -> Strings:
    """The prefixes and suffixes of an argument, by the codes of the symbols.

    Examples
    --------
    >>> read_strings((["", "ab"], [["b"]]), ("a", "b"))
    Strings(prefixes=((), (0, 1)), suffixes=((1,),))
    """
    check_strings(basis)
    codes = {symbol: code for code, symbol in enumerate(symbols)}

    def coded(string: Any) -> Word:
        for symbol in string:
            if symbol not in codes:
                guess = did_you_mean(symbol, symbols).removesuffix(".")
                raise ArgumentError(
                    f"a string of basis has the symbol {symbol!r}, which no sequence has{guess}"
                )
        return tuple(codes[symbol] for symbol in string)

    prefixes, suffixes = (tuple(coded(string) for string in side) for side in basis)
    return Strings(prefixes, suffixes)


def _is_list(strings: Any) -> bool:
    return isinstance(strings, Sequence) and not isinstance(strings, str)


def _symbols_of(string: Any, name: str) -> tuple[Hashable, ...]:
    if not isinstance(string, Iterable):
        raise ArgumentError(
            f"the {name} of basis have {string!r}; give every string as a list of symbols, or as text"
        )
    return tuple(string)
