"""Sequences of symbols read from any supported input.

The input may be:

* a list of sequences, each a list, tuple or array of symbols;
* one sequence: a list or array of symbols. A list of strings is one sequence of words; for sequences of
  characters give ``[list(text) for text in texts]``;
* all sequences one after the other with `lengths`, as in hmmlearn: X an array, a column or a list. A tuple
  ``(X, lengths)`` means the same;
* an array with two axes, or a frame: each row is a sequence;
* a column of lists (Arrow, pandas, polars);
* a frame with a row for each symbol, in the column ``symbol``; the column ``sequence`` says to which sequence
  it belongs;
* an iterable of sequences, which is read once;
* a path to a file, see `tacit.sequences.data.sequence_files`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.chunks import check_size
from tacit.core.input.values import Distinct
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, DataError, SymbolWarning
from tacit.sequences.data.fasta import SUFFIXES as FASTA_SUFFIXES
from tacit.sequences.data.fasta import read_fasta
from tacit.sequences.data.sequence_files import (
    TABLE_SUFFIXES,
    opened_text,
    parsed_pautomac,
    plain_suffix,
    table_in,
    text_lines,
)
from tacit.sequences.data.sequences import Integers, Sequences, sum_of_lengths
from tacit.sequences.data.symbols import (
    characters_in,
    distinct_in,
    encoded,
    known_symbols,
    learn_symbols,
    objects_in,
    recoded,
)

_FORMS = (
    "give a list of sequences, (X, lengths), an array with a sequence in each row, a frame with a column "
    "'sequence', or a path"
)

_MANY = 10  # this many strings that all differ are hardly the words of one sequence

# All positions in turn, the length of each sequence, and whether X was one sequence, not a list.
Flat = tuple[Distinct, Integers, bool]


def read_sequences(
    X: Any,
    lengths: Any = None,
    *,
    symbols: Any = None,
    unknown: str = "error",
    sequence: str | None = None,
    symbol: str | None = None,
) -> Sequences:
    """Sequences of symbols, as codes, from any supported input.

    None, NaN, null, ``pandas.NA`` and ``NaT`` are missing: their code is -1. So is the integer -1 where
    `symbols` are given and it is not one of them; otherwise it is a symbol like any other. Floats that are
    all integral are integers. Sequences may have length zero.

    Parameters
    ----------
    X : sequences in any form
        See the top of this module.
    lengths : (sequence,) integers, optional
        The length of each sequence; X then holds all of them one after the other.
    symbols : sequence of hashables, optional
        The symbols by code. By default they are learnt: numbers, then text, then dates and tuples, each
        sorted; then all others in order of appearance.
    unknown : {"error", "missing"}
        What to do with a symbol that is not one of `symbols`.
    sequence, symbol : str, optional
        Columns of a frame or file with a row for each symbol: the sequence, and the symbol. The defaults are
        "sequence" and "symbol" where X has such columns. Sequences come in order of appearance; within them
        the order of the rows is kept.

    Raises
    ------
    DataError
        X is empty or of an unsupported form, or lengths do not fit.
    CategoryError
        A symbol is not known; the message says where, and which is nearest.

    Examples
    --------
    >>> sequences = read_sequences([list("ACCA"), [], list("TA")])
    >>> sequences.symbols, sequences.codes.tolist(), sequences.lengths.tolist()
    (('A', 'C', 'T'), [0, 1, 1, 0, 2, 0], [4, 0, 2])
    >>> read_sequences([[3], [7], [3]], lengths=[2, 1]).codes.tolist()
    [0, 1, 0]
    """
    if unknown not in {"error", "missing"}:
        raise ArgumentError(f"unknown must be 'error' or 'missing', not {unknown!r}")
    known = None if symbols is None else known_symbols(symbols)
    if lengths is None and _has_lengths(X):
        X, lengths = X
    if isinstance(X, str | Path):
        X = _in_file(Path(X))
    if isinstance(X, Sequences):
        if lengths is not None:
            raise ArgumentError("these are sequences already; leave lengths out")
        return X if known is None else recoded(X, known, unknown)
    if lengths is not None:
        distinct, counts, single = _with_lengths(X, lengths)
    else:
        distinct, counts, single = _flat(X, sequence, symbol)
    joined = lengths is not None
    if known is not None:
        return Sequences(encoded(distinct, counts, known, unknown), counts, known, single, joined)
    if len(counts) == 0:
        raise DataError(f"there is no sequence to learn from; {_FORMS}")
    codes, ordered = learn_symbols(distinct)
    if not ordered:
        raise DataError(
            f"no symbol to learn from in {len(counts)} sequences of {len(codes)} positions: "
            f"all are empty or missing; give longer ones"
        )
    if single:
        _warn_of_texts(codes, ordered)
    return Sequences(codes, counts, ordered, single, joined)


def _warn_of_texts(codes: NDArray[np.int32], symbols: tuple[Any, ...]) -> None:
    """Warn where the words of one sequence are more likely texts, each a sequence of characters."""
    longest = max((len(symbol) for symbol in symbols if isinstance(symbol, str)), default=0)
    if len(codes) >= _MANY and len(symbols) == len(codes) and longest > 1:
        warnings.warn(
            f"all {len(codes)} strings of this list differ, and each is taken as a symbol; for sequences of "
            f"characters give [list(text) for text in texts]",
            SymbolWarning,
            stacklevel=4,
        )


def _has_lengths(X: Any) -> bool:
    """Whether this is a tuple (symbols, lengths); each entry of a list is a sequence."""
    if not (isinstance(X, tuple) and len(X) == 2) or not _is_nested(X[0]):
        return False
    first, lengths = X
    if isinstance(first, list) and not _is_column(first):
        return False
    if isinstance(lengths, np.ndarray):
        return lengths.ndim == 1 and lengths.dtype.kind in "iu"
    return isinstance(lengths, list | tuple) and all(
        isinstance(length, int | np.integer) and not isinstance(length, bool) for length in lengths
    )


def _is_column(values: list[Any]) -> bool:
    """Whether a list holds symbols, all bare or all in lists of one."""
    nested = [isinstance(value, list | np.ndarray) for value in values]
    return not any(nested) or (all(nested) and all(len(value) == 1 for value in values))


def _is_nested(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | tuple)


def _is_one_sequence(values: Sequence[Any]) -> bool:
    """Whether a list holds symbols, not sequences."""
    return not any(
        isinstance(value, bytes | list | tuple | Iterator) or _is_nested(value) for value in values
    )


def _in_file(path: Path) -> Any:
    """The contents of a file, in one of the other forms."""
    suffix = plain_suffix(path)
    if suffix in FASTA_SUFFIXES:
        return _Texts(letters for _, letters in read_fasta(path))
    if ".pautomac" in path.name.lower():
        with opened_text(path) as file:
            codes, lengths, n_symbols = parsed_pautomac(file.read(), str(path))
        return Sequences(codes, lengths, tuple(range(n_symbols)))
    if suffix in TABLE_SUFFIXES:
        return table_in(path)
    return list(text_lines(path))


class _Texts(list[str]):
    """Strings, each a sequence of characters."""


def _flat(X: Any, sequence: str | None, symbol: str | None) -> Flat:
    if isinstance(X, _Texts):
        return _from_sequences(X)
    if isinstance(X, np.ndarray):
        return _from_array(X)
    if isinstance(X, list | tuple):
        return _from_list(X)
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        raise ArgumentTypeError(f"Sparse data is not supported, every cell is a symbol; {_FORMS}")
    if isinstance(X, Mapping | AbstractSet | bytes):
        raise ArgumentTypeError(f"sequences were expected, not {type(X).__name__!r}; {_FORMS}")
    from tacit.core.input.frames import is_frame, is_series

    if is_frame(X):
        return _from_frame(X, sequence, symbol)
    if is_series(X):
        return _from_series(X)
    if hasattr(X, "__array__"):
        return _from_array(np.asarray(X))
    if not isinstance(X, Iterable):
        raise ArgumentTypeError(f"sequences were expected, not {type(X).__name__!r}; {_FORMS}")
    return _from_list(list(X))


def _from_frame(X: Any, sequence: str | None, symbol: str | None) -> Flat:
    from tacit.core.input.frames import cells, frame_columns, is_text_or_objects, only_column
    from tacit.sequences.data.sequence_frames import SEQUENCE, from_lists, from_long, is_long

    columns = frame_columns(X)
    assert columns is not None
    if is_long([str(name) for name in columns[0]], sequence, symbol):
        distinct, counts = from_long(X, sequence, symbol)
        return distinct, counts, False
    only = only_column(X)
    if only is not None and (only[0] == SEQUENCE or from_lists(only[1]) is not None):
        column = only[1]
        if from_lists(column) is not None or not is_text_or_objects(column):
            return _from_series(column)
        return _from_sequences(column.to_pylist() if hasattr(column, "to_pylist") else list(column))
    return _from_array(cells(X))


def _from_series(X: Any) -> Flat:
    from tacit.core.input.frames import is_text_or_objects
    from tacit.sequences.data.sequence_frames import column_values, from_lists

    lists = from_lists(X)
    if lists is not None:
        return lists[0], lists[1], False
    if is_text_or_objects(X):
        return _from_list(X.to_pylist() if hasattr(X, "to_pylist") else list(X))
    return _single(column_values(X))


def _from_array(X: NDArray[Any]) -> Flat:
    X = _unmasked(X)
    if X.ndim == 2:
        n_rows, width = X.shape
        if width == 0:
            check_size(n_rows, width)
        return distinct_in(np.ascontiguousarray(X).ravel()), np.full(n_rows, width), False
    if X.ndim != 1:
        raise DataError(
            f"an array of shape {X.shape} holds no sequences; each row of an array with two axes is one"
        )
    if X.dtype.kind in "OUS":
        return _from_list(X.tolist())
    return _single(distinct_in(X))


def _unmasked(X: NDArray[Any]) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        mask, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
        X[mask] = None
    return X


def _single(distinct: Distinct) -> Flat:
    return distinct, np.array([len(distinct.codes)], dtype=np.int64), True


def _from_list(X: Sequence[Any]) -> Flat:
    """A list of sequences, or of the symbols of one."""
    if len(X) and _is_one_sequence(X):
        return _single(distinct_in(X))
    return _from_sequences(X)


def _from_sequences(X: Sequence[Any]) -> Flat:
    """A list of sequences; strings are sequences of characters."""
    if all(isinstance(sequence, str) for sequence in X):
        counts = np.fromiter(map(len, X), dtype=np.int64, count=len(X))
        return characters_in("".join(X)), counts, False
    if all(map(_has_one_axis, X)):
        parts: Sequence[Any] = X
    else:
        parts = [_symbols(sequence, number) for number, sequence in enumerate(X)]
    counts = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    kinds = {sequence.dtype.kind if isinstance(sequence, np.ndarray) else "" for sequence in parts}
    if kinds <= {"i", "b", "f"} or kinds == {"u"}:
        return distinct_in(np.concatenate(parts)), counts, False
    lists = [
        objects_in(sequence) if isinstance(sequence, np.ndarray) else sequence for sequence in parts
    ]
    return distinct_in(list(chain.from_iterable(lists))), counts, False


def _has_one_axis(sequence: Any) -> bool:
    kind = type(sequence)
    return kind is list or kind is tuple or (kind is np.ndarray and sequence.ndim == 1)


def _symbols(sequence: Any, number: int) -> Sequence[Any] | NDArray[Any]:
    """The symbols of one sequence, as a list, tuple or array with one axis."""
    if isinstance(sequence, list | tuple | str):
        return sequence
    if isinstance(sequence, bytes):
        return sequence.decode("latin-1")
    if isinstance(sequence, Mapping | AbstractSet) or not isinstance(sequence, Iterable):
        actual = "missing" if sequence is None else f"a {type(sequence).__name__}, {sequence!r:.60}"
        raise DataError(
            f"sequence {number} is {actual}; give a list, an array or a string for each sequence: [] where "
            f"there is nothing, None inside a sequence where a symbol is missing"
        )
    if hasattr(sequence, "to_pylist"):
        return list(sequence.to_pylist())
    symbols = _unmasked(np.asarray(sequence)) if hasattr(sequence, "__array__") else list(sequence)
    if isinstance(symbols, np.ndarray):
        if symbols.ndim == 2 and symbols.shape[1] == 1:
            symbols = symbols[:, 0]
        if symbols.ndim != 1:
            raise DataError(
                f"sequence {number} has shape {symbols.shape}; a sequence of symbols has one axis"
            )
    return symbols


def _with_lengths(X: Any, lengths: Any) -> Flat:
    counts = _counts(lengths)
    distinct = distinct_in(_column(X))
    total = sum_of_lengths(counts)
    if total != len(distinct.codes):
        raise DataError(
            f"lengths sum to {total}, but X holds {len(distinct.codes)} symbols in turn; give "
            f"lengths that sum to them, or a list of sequences without lengths"
        )
    return distinct, counts.astype(np.int64), False


def _counts(lengths: Any) -> NDArray[Any]:
    try:
        counts = np.asarray(lengths)
    except ValueError as error:
        raise DataError(f"lengths must be integers in one row: {error}") from error
    if counts.ndim == 0:
        counts = counts[None]
    is_integral = counts.dtype.kind in "iu" or len(counts) == 0
    if counts.ndim != 1 or not is_integral or (counts < 0).any():
        raise DataError(
            f"lengths must be integers of at least zero, one for each sequence, not {shown(lengths)}"
        )
    return counts


def _column(X: Any) -> NDArray[Any] | list[Any]:
    """All symbols, from an array, a column, or a list of symbols or of lists of one."""
    if isinstance(X, str | bytes | Mapping | AbstractSet):
        raise ArgumentTypeError(
            f"with lengths, X holds all symbols in turn; this is a {type(X).__name__!r}"
        )
    if not isinstance(X, np.ndarray | list | tuple):
        from tacit.core.input.frames import cells, is_frame

        X = cells(X) if is_frame(X) else X
    if hasattr(X, "__array__") and not hasattr(X, "to_pylist"):
        symbols = _unmasked(X if isinstance(X, np.ndarray) else np.asarray(X))
        if symbols.ndim == 2 and symbols.shape[1] == 1:
            symbols = symbols[:, 0]
        if symbols.ndim != 1:
            raise DataError(
                f"with lengths, X holds all symbols in turn: (n,) or (n, 1), not {symbols.shape}; leave "
                f"lengths out where each row is a sequence"
            )
        return symbols
    if not isinstance(X, Iterable):
        raise ArgumentTypeError(
            f"with lengths, X holds all symbols in turn; this is a {type(X).__name__!r}"
        )
    values = X.to_pylist() if hasattr(X, "to_pylist") else list(X)
    if not _is_column(values):
        raise DataError(
            "X is a list of sequences, so lengths has no meaning; leave it out, or give one list of all "
            "symbols in turn"
        )
    return [value[0] if isinstance(value, list | np.ndarray) else value for value in values]
