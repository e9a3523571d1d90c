"""Symbols of sequences: which there are, in what order, and the codes that stand for them.

A symbol is anything that can be hashed. ``None``, NaN, null, ``pandas.NA`` and ``NaT`` are no symbols: they
say that a symbol is missing. Scalars of NumPy become those of Python.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import did_you_mean
from tacit.core.input.table import listing
from tacit.core.input.values import Distinct, Numbers, distinct_numbers, raw_from_numpy
from tacit.errors import ArgumentError, CategoryError, DataError
from tacit.sequences.data.sequences import Codes, Integers, Sequences

Symbols = tuple[Hashable, ...]

_UNKNOWN = -2
# Integers that lie as close as this are codes by themselves; some of these may then not occur.
_SHORT_RANGE = 2**16
_MANY = 1 << 18  # positions from which a compiled pass pays


def merged_symbols(*parts: Iterable[Hashable]) -> Symbols:
    """All symbols of several sets of them, each once, in the order that they have when read at once.

    Numbers come first, then text, bytes, dates and tuples, each sorted; whatever else there is stays in the
    order in which it was first seen. The symbols of a stream can so be learnt chunk by chunk.

    Examples
    --------
    >>> merged_symbols(("b", "c"), ("a", 3, "b"))
    (3, 'a', 'b', 'c')
    """
    plain = dict.fromkeys(_plain(symbol) for symbol in chain.from_iterable(parts))
    return tuple(sorted((each for each in plain if not _is_missing(each)), key=_order))


def _order(symbol: Any) -> tuple[Any, ...]:
    """What symbols are sorted by; the same for all whose kind has no order of its own."""
    if isinstance(symbol, int | float):
        return (0, symbol)
    for place, kind in enumerate((str, bytes), start=1):
        if isinstance(symbol, kind):
            return (place, symbol)
    if isinstance(symbol, dt.date):
        return (3, symbol.isoformat())
    if isinstance(symbol, np.datetime64):
        return (3, str(symbol))
    if isinstance(symbol, tuple):
        return (4, tuple(_order(each) for each in symbol))
    return (5,)


def _plain(symbol: Any) -> Any:
    if not isinstance(symbol, np.generic):
        return symbol
    found = symbol.item()
    if isinstance(symbol, np.datetime64 | np.timedelta64) and isinstance(found, int):
        return symbol  # finer than the times of Python
    return found


def _is_missing(symbol: Any) -> bool:
    if symbol is None:
        return True
    if isinstance(symbol, float):
        return math.isnan(symbol)
    if isinstance(symbol, np.datetime64 | np.timedelta64):
        return bool(np.isnat(symbol))
    return type(symbol).__name__ in {"NAType", "NaTType"} and type(symbol).__module__.startswith(
        "pandas"
    )


def distinct_in(values: NDArray[Any] | Sequence[Any]) -> Distinct:
    """The different values at all positions, with codes; missing ones are among them or have code -1.

    Raises
    ------
    DataError
        Something infinite, complex, or that cannot be a symbol.
    """
    if isinstance(values, np.ndarray):
        kind = values.dtype.kind
        if kind == "c":
            raise DataError("Complex data not supported: a symbol is a number, text, or the like")
        if kind == "f":
            return _distinct_floats(values)
        if kind in "bi" or (kind == "u" and values.dtype.itemsize < 8):
            return _distinct_integers(values)
        values = objects_in(values)
    return _distinct_objects(values)


def objects_in(values: NDArray[Any]) -> list[Any]:
    """The elements of an array as Python objects; times stay NumPy's own."""
    return list(values) if values.dtype.kind in "Mm" else list(values.tolist())


def _distinct_integers(values: NDArray[Any]) -> Distinct:
    if len(values) and values.dtype.kind != "b":
        low, high = int(values.min()), int(values.max())
        if high - low < _SHORT_RANGE and max(-low, high) < 2**31:
            codes = values.astype(np.int32)
            return Distinct(list(range(low, high + 1)), codes - np.int32(low) if low else codes)
    found = raw_from_numpy(values, "sequence")
    assert isinstance(found, Distinct)
    return found


def _distinct_floats(values: NDArray[Any]) -> Distinct:
    numbers = values.astype(np.float64, copy=False)
    if np.isinf(numbers).any():
        raise DataError(
            "a sequence holds inf; a symbol is a finite number: give NaN where one is missing, "
            "infinity is not among them"
        )
    return distinct_numbers(Numbers(numbers))


def _distinct_objects(values: Sequence[Any]) -> Distinct:
    places: defaultdict[Any, int] = defaultdict()
    places.default_factory = places.__len__
    try:
        codes = np.fromiter(map(places.__getitem__, values), dtype=np.int32, count=len(values))
    except TypeError as error:
        raise DataError(_not_hashable_text(values)) from error
    found = [_plain(value) for value in places]
    for value in found:
        if isinstance(value, float) and math.isinf(value):
            raise DataError(
                "a sequence holds inf; a symbol is a finite number: give None where one is missing"
            )
    return Distinct(found, codes)


def _not_hashable_text(values: Sequence[Any]) -> str:
    for place, value in enumerate(values):
        try:
            hash(value)
        except TypeError:
            return (
                f"position {place} (of all sequences in turn) holds a {type(value).__name__}, {value!r:.60}; "
                f"a symbol can be hashed: text, a number, a tuple. Are the sequences nested once too often?"
            )
    return "a symbol can be hashed: text, a number, a tuple"


def characters_in(text: str) -> Distinct:
    """The different characters of a text, with codes."""
    points = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    found = distinct_in(points)
    return Distinct([chr(point) for point in found.values], found.codes)


def learnt(found: Distinct) -> tuple[Codes, Symbols]:
    """Codes by the symbols that occur, and these in order."""
    used = _used(found)
    symbols = merged_symbols(
        value for value, is_used in zip(found.values, used[:-1].tolist(), strict=True) if is_used
    )
    places = {symbol: code for code, symbol in enumerate(symbols)}
    table = [
        -1 if _is_missing(value) or not is_used else places[value]
        for value, is_used in zip(found.values, used[:-1].tolist(), strict=True)
    ]
    return _looked_up(np.array([*table, -1], dtype=np.int32), found.codes), symbols


def _used(found: Distinct) -> NDArray[np.bool_]:
    """Which values have a position; the last entry is for code -1."""
    used = np.zeros(len(found.values) + 1, dtype=np.bool_)
    if len(found.codes) < _MANY:
        used[found.codes] = True
    else:  # eight times as fast, once numba is there
        from tacit.core.loops.codes import mark_used

        mark_used(found.codes, used)
    return used


def _looked_up(table: Codes, codes: NDArray[Any]) -> Codes:
    """The entries of a table whose last one is for code -1; the codes as they are where it changes none."""
    if np.array_equal(table[:-1], np.arange(len(table) - 1)) and table[-1] == -1:
        return codes.astype(np.int32, copy=False)
    found: Codes = table[codes]
    return found


def known_symbols(symbols: Any) -> Symbols:
    """Given symbols as a tuple: at least one, and each once.

    Raises
    ------
    ArgumentError
        Otherwise.
    """
    if isinstance(symbols, np.ndarray):
        symbols = symbols.tolist()
    given = tuple(_plain(symbol) for symbol in symbols)
    if not given:
        raise ArgumentError("symbols is empty; give at least one, or None to learn them")
    if len(set(given)) < len(given) or any(_is_missing(each) for each in given):
        raise ArgumentError(
            f"symbols must differ and not be missing, which these are not: {listing(given)}"
        )
    return given


def encoded(found: Distinct, lengths: Integers, symbols: Symbols, unknown: str) -> Codes:
    """Codes by symbols that are known.

    What is not found as it is, is looked for by its text ("1" for 1, 1 for "1"), because files know text
    only. The integer -1 is missing, unless it is a symbol.

    Raises
    ------
    CategoryError
        A symbol is not known, and unknown is "error".
    """
    places = {symbol: code for code, symbol in enumerate(symbols)}
    by_text = {str(symbol): code for symbol, code in places.items() if not isinstance(symbol, str)}
    table = np.empty(len(found.values) + 1, dtype=np.int32)
    table[-1] = -1
    for place, value in enumerate(found.values):
        code = places.get(value, _UNKNOWN)
        if code == _UNKNOWN:
            code = by_text.get(value, _UNKNOWN) if isinstance(value, str) else _UNKNOWN
        if code == _UNKNOWN and isinstance(value, int | float):
            code = places.get(str(value), _UNKNOWN)
        if code == _UNKNOWN and (_is_missing(value) or unknown == "missing" or value == -1):
            code = -1
        table[place] = code
    codes = _looked_up(table, found.codes)
    if (table == _UNKNOWN).any():
        strange = np.flatnonzero(codes == _UNKNOWN)
        if len(strange):
            raise CategoryError(_unknown_text(found, lengths, symbols, int(strange[0])))
    return codes


def _unknown_text(found: Distinct, lengths: Integers, symbols: Symbols, position: int) -> str:
    ends = np.cumsum(lengths)
    sequence = int(np.searchsorted(ends, position, side="right"))
    place = position - int(ends[sequence] - lengths[sequence])
    value = found.values[found.codes[position]]
    guess = did_you_mean(value, symbols) if isinstance(value, str) else "."
    if isinstance(value, str) and len(value) > 1 and set(value) <= set(symbols):
        guess = "; a sequence of characters is given as [list(text)]."
    return (
        f"sequence {sequence} holds {value!r} at position {place}, which is not one of the {len(symbols)} "
        f"known symbols{guess} They are {listing(symbols)}; unknown='missing' takes others as missing"
    )


def recoded(sequences: Sequences, symbols: Symbols, unknown: str) -> Sequences:
    """The same sequences, coded by other symbols."""
    if symbols == sequences.symbols:
        return sequences
    found = Distinct(list(sequences.symbols), sequences.codes)
    codes = encoded(found, sequences.lengths, symbols, unknown)
    return Sequences(codes, sequences.lengths, symbols, sequences.single, sequences.joined)
