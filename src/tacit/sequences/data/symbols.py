"""Symbols of sequences: their order and their codes.

A symbol is any hashable value. ``None``, NaN, null, ``pandas.NA`` and ``NaT`` mark a missing symbol. NumPy
scalars become Python scalars.
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
from tacit.core.limits import shown
from tacit.errors import ArgumentError, CategoryError, DataError
from tacit.sequences.data.sequences import Codes, Integers, Sequences

Symbols = tuple[Hashable, ...]

_UNKNOWN = -2
# Integers in a range below this are offset to codes without sorting; some of these may not occur.
_SHORT_RANGE = 2**16
_MANY = 1 << 18  # from this many positions on, a compiled pass is faster


def merged_symbols(*parts: Iterable[Hashable]) -> Symbols:
    """The union of several sets of symbols, in the order that they have when read at once.

    Numbers come first, then text, bytes, dates and tuples, each sorted; then all others in order of
    appearance. The symbols of a stream can thus be learnt chunk by chunk.

    Examples
    --------
    >>> merged_symbols(("b", "c"), ("a", 3, "b"))
    (3, 'a', 'b', 'c')
    """
    plain = dict.fromkeys(_plain(symbol) for symbol in chain.from_iterable(parts))
    return tuple(sorted((symbol for symbol in plain if not _is_missing(symbol)), key=_order))


def _order(symbol: Any) -> tuple[Any, ...]:
    """Sort key of a symbol; constant for types without an order."""
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
        return (4, tuple(_order(part) for part in symbol))
    return (5,)


def _plain(symbol: Any) -> Any:
    if not isinstance(symbol, np.generic):
        return symbol
    value = symbol.item()
    if isinstance(symbol, np.datetime64 | np.timedelta64) and isinstance(value, int):
        return symbol  # finer than Python's times
    return value


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
    """The distinct values of all positions, with codes; missing ones are among them or have code -1.

    Raises
    ------
    DataError
        A value is infinite, complex, or cannot be a symbol.
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
    """The elements of an array as Python objects; times stay those of NumPy."""
    return list(values) if values.dtype.kind in "Mm" else list(values.tolist())


def _distinct_integers(values: NDArray[Any]) -> Distinct:
    if len(values) and values.dtype.kind != "b":
        low, high = int(values.min()), int(values.max())
        if high - low < _SHORT_RANGE and max(-low, high) < 2**31:
            codes = values.astype(np.int32)
            return Distinct(list(range(low, high + 1)), codes - np.int32(low) if low else codes)
    distinct = raw_from_numpy(values, "sequence")
    assert isinstance(distinct, Distinct)
    return distinct


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
    symbols = [_plain(value) for value in places]
    for value in symbols:
        if isinstance(value, float) and math.isinf(value):
            raise DataError(
                "a sequence holds inf; a symbol is a finite number: give None where one is missing"
            )
    return Distinct(symbols, codes)


def _not_hashable_text(values: Sequence[Any]) -> str:
    for place, value in enumerate(values):
        try:
            hash(value)
        except TypeError:
            return (
                f"position {place} (of all sequences in turn) holds a {type(value).__name__}, "
                f"{shown(value)}; a symbol can be hashed: text, a number, a tuple. Are the sequences "
                f"nested once too often?"
            )
    return "a symbol can be hashed: text, a number, a tuple"


def characters_in(text: str) -> Distinct:
    """The distinct characters of a text, with codes."""
    points = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    distinct = distinct_in(points)
    return Distinct([chr(point) for point in distinct.values], distinct.codes)


def learn_symbols(distinct: Distinct) -> tuple[Codes, Symbols]:
    """The symbols that occur, in order, and the codes by them."""
    used = _used(distinct)
    symbols = merged_symbols(
        value for value, is_used in zip(distinct.values, used[:-1].tolist(), strict=True) if is_used
    )
    places = {symbol: code for code, symbol in enumerate(symbols)}
    table = [
        -1 if _is_missing(value) or not is_used else places[value]
        for value, is_used in zip(distinct.values, used[:-1].tolist(), strict=True)
    ]
    return _recode(np.array([*table, -1], dtype=np.int32), distinct.codes), symbols


def _used(distinct: Distinct) -> NDArray[np.bool_]:
    """Mask of the values that occur; the last entry is for code -1."""
    used = np.zeros(len(distinct.values) + 1, dtype=np.bool_)
    if len(distinct.codes) < _MANY:
        used[distinct.codes] = True
    else:  # eight times as fast, once numba is loaded
        from tacit.core.loops.codes import mark_used

        mark_used(distinct.codes, used)
    return used


def _recode(table: Codes, codes: NDArray[Any]) -> Codes:
    """New codes from a table whose last entry is for code -1; without a copy where none changes."""
    if np.array_equal(table[:-1], np.arange(len(table) - 1)) and table[-1] == -1:
        return codes.astype(np.int32, copy=False)
    new_codes: Codes = table[codes]
    return new_codes


def known_symbols(symbols: Any) -> Symbols:
    """The symbols as a tuple: at least one, without duplicates.

    Raises
    ------
    ArgumentError
        Otherwise.
    """
    if isinstance(symbols, np.ndarray):
        symbols = symbols.tolist()
    known = tuple(_plain(symbol) for symbol in symbols)
    if not known:
        raise ArgumentError("symbols is empty; give at least one, or None to learn them")
    if len(set(known)) < len(known) or any(_is_missing(symbol) for symbol in known):
        raise ArgumentError(
            f"symbols must differ and not be missing, which these are not: {listing(known)}"
        )
    return known


def encoded(distinct: Distinct, lengths: Integers, symbols: Symbols, unknown: str) -> Codes:
    """Codes by known symbols.

    A value that is not a symbol itself is looked up by its text ("1" for 1, 1 for "1"), because files hold
    only text. The integer -1 is missing, unless it is a symbol.

    Raises
    ------
    CategoryError
        A symbol is not known, and unknown is "error".
    """
    places = {symbol: code for code, symbol in enumerate(symbols)}
    by_text = {str(symbol): code for symbol, code in places.items() if not isinstance(symbol, str)}
    table = np.empty(len(distinct.values) + 1, dtype=np.int32)
    table[-1] = -1
    for place, value in enumerate(distinct.values):
        code = places.get(value, _UNKNOWN)
        if code == _UNKNOWN:
            code = by_text.get(value, _UNKNOWN) if isinstance(value, str) else _UNKNOWN
        if code == _UNKNOWN and isinstance(value, int | float):
            code = places.get(shown(value), _UNKNOWN)  # Python cannot write every integer
        if code == _UNKNOWN and (_is_missing(value) or unknown == "missing" or value == -1):
            code = -1
        table[place] = code
    codes = _recode(table, distinct.codes)
    if (table == _UNKNOWN).any():
        unknown_positions = np.flatnonzero(codes == _UNKNOWN)
        if len(unknown_positions):
            raise CategoryError(
                _unknown_text(distinct, lengths, symbols, int(unknown_positions[0]))
            )
    return codes


def _unknown_text(distinct: Distinct, lengths: Integers, symbols: Symbols, position: int) -> str:
    ends = np.cumsum(lengths)
    sequence = int(np.searchsorted(ends, position, side="right"))
    place = position - int(ends[sequence] - lengths[sequence])
    value = distinct.values[distinct.codes[position]]
    guess = did_you_mean(value, symbols) if isinstance(value, str) else "."
    if isinstance(value, str) and len(value) > 1 and set(value) <= set(symbols):
        guess = "; a sequence of characters is given as [list(text)]."
    return (
        f"sequence {sequence} holds {shown(value)} at position {place}, which is not one of the "
        f"{len(symbols)} known symbols{guess} They are {listing(symbols)}; unknown='missing' takes others as "
        f"missing"
    )


def recoded(sequences: Sequences, symbols: Symbols, unknown: str) -> Sequences:
    """The same sequences, coded by other symbols."""
    if symbols == sequences.symbols:
        return sequences
    distinct = Distinct(list(sequences.symbols), sequences.codes)
    codes = encoded(distinct, sequences.lengths, symbols, unknown)
    return Sequences(codes, sequences.lengths, symbols, sequences.single, sequences.joined)
