"""Reads what users pass as X into a `Table`.

What is understood: pandas, polars and pyarrow tables; two-dimensional arrays; lists of rows; lists of dicts;
dicts of columns; paths to CSV (``.csv``, ``.tsv``, also ``.gz``) and Parquet files; a `Table`, which is taken
as it is; and iterables of chunks of any of these, which must be able to be run through more than once.

What a value means:

* Text and booleans are categories, sorted. Categoricals are categories; ordered ones (and Enums)
  keep their order and also levels that no row shows.
* Numbers and dates with at most 20 distinct values are categories (integral ones are shown as integers, dates
  as text); a column with more is cut at quantiles, with a `BinningWarning`. The integers of an array are
  codes, and categories however many there are, unless they differ in nearly every row.
* Text that differs in nearly every row (identifiers, free text) is left out, with an
  `IdentifierWarning`. A categorical column is kept whatever it holds.
* None, NaN, null, NA and NaT are missing; in CSV files also empty cells, ``NA``, ``?`` and their like. In an
  array of signed integers, -1 is missing if nothing in the array is smaller; not, however, where the array
  holds nothing but -1 and 1, which are spins. In frames and lists, -1 is an integer like any other.
* A row may be missing altogether, a column may not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.chunks import Block, Chunks, as_source, check_size
from tacit.core.input.column_kinds import declared
from tacit.core.input.column_matching import matched_places
from tacit.core.input.columns import (
    Observed,
    column_of_levels,
    is_identifier,
    learnt_column,
    minus_one_is_missing,
    observed,
    warn_of_binning,
    warn_of_identifiers,
)
from tacit.core.input.encode import coded
from tacit.core.input.integer_matrices import coded_matrix, observed_cells, read_matrix
from tacit.core.input.sample_weight import as_weights, checked_weights
from tacit.core.input.table import (
    LARGEST_INT16_CARD,
    MISSING,
    Codes,
    Column,
    Schema,
    Table,
    empty_codes,
    listing,
)
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ColumnError, DataError

Floats = NDArray[np.float64]


def read_table(
    X: Any,
    *,
    n_bins: int = 5,
    sample_weight: Any = None,
    columns: Mapping[Any, Any] | None = None,
    cut_integers: bool = False,
) -> Table:
    """The table that X holds, with categories learnt from it.

    Parameters
    ----------
    X : table
        See the top of this module for what is understood.
    n_bins : int
        Into how many bins a column of many floats is cut.
    sample_weight : (row,) numbers, optional
        How much each row counts. A row of weight zero teaches nothing: values that only such rows show are
        missing in the result.
    columns : mapping of column to kind, optional
        What columns are, whatever they look like; see `tacit.core.input.column_kinds`.
    cut_integers : bool
        Whether more than 20 different integers are numbers, which are cut like floats; not those of an array,
        which are codes.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        Where X is no table, is empty, or has a column in which every value is missing.

    Examples
    --------
    >>> table = read_table({"colour": ["red", None, "blue"], "size": [3, 1, 1]})
    >>> table.schema["colour"].categories
    ('blue', 'red')
    >>> table.codes.tolist()
    [[1, 1], [-1, 0], [0, 0]]
    """
    _check_bins(n_bins)
    if isinstance(X, Table) and not columns:
        return _weighed(X, sample_weight)
    source = declared(as_source(X), columns)
    if isinstance(source, Chunks):
        return _read_chunked(source, n_bins, sample_weight, cut_integers=cut_integers)
    check_size(source.n_rows, len(source.names))
    weights = checked_weights(sample_weight, source.n_rows)
    schema, codes = _read_block(source, n_bins, weights, cut_integers=cut_integers)
    schema = replace(schema.labelled(source.labels), ignored=source.ignored)
    _warn(schema)
    return Table(schema, codes, weights)


def _warn(schema: Schema) -> None:
    """Name the columns that were cut into bins, and those that were left out."""
    warn_of_binning(schema)
    warn_of_identifiers(schema.left_out)


def encode(
    X: Any,
    schema: Schema,
    *,
    unknown: str = "error",
    partial: bool = False,
    extras: str | None = None,
    sample_weight: Any = None,
) -> Table:
    """The table that X holds, coded by a schema that is already known.

    Parameters
    ----------
    X : table
        See the top of this module. Columns with names are matched by name, in any order; those of arrays and
        of lists of rows by place.
    schema : Schema
        What the columns can hold.
    unknown : {"error", "missing"}
        What to do with a value that is no category.
    partial : bool
        Whether columns may be absent; all their values are then missing.
    extras : {"error", "typos", "ignore"}, optional
        What to do with columns that the schema does not know: refuse them; refuse those that look like a
        misspelling of an absent one; leave them out. Refused by default, with ``partial=True`` only if they
        look like a misspelling.
    sample_weight : (row,) numbers, optional
        How much each row counts.

    Raises
    ------
    ColumnError, CategoryError, DataError
        Where a column or value is not known, or X is no table.

    Examples
    --------
    >>> schema = read_table({"colour": ["red", "blue"], "size": [3, 1]}).schema
    >>> encode({"colour": ["red", None]}, schema, partial=True).codes.tolist()
    [[1, -1], [-1, -1]]
    """
    if unknown not in {"error", "missing"}:
        raise ArgumentError(f"unknown must be 'error' or 'missing', not {unknown!r}")
    if extras is None:
        extras = "typos" if partial else "error"
    if extras not in {"error", "typos", "ignore"}:
        raise ArgumentError(f"extras must be 'error', 'typos' or 'ignore', not {extras!r}")
    if isinstance(X, Table) and X.schema == schema:
        return _weighed(X, sample_weight)
    blocks = [
        _coded_block(block, schema, unknown, partial=partial, extras=extras) for block in _blocks(X)
    ]
    n_rows = sum(len(codes) for codes in blocks)
    check_size(n_rows, len(schema))
    # Joined column by column: the transposes are contiguous.
    codes = blocks[0] if len(blocks) == 1 else np.concatenate([c.T for c in blocks], axis=1).T
    return Table(schema, codes, checked_weights(sample_weight, n_rows))


def _blocks(X: Any) -> Iterable[Block]:
    """The blocks of X: the chunks that have rows, or X itself."""
    source = as_source(X)
    if isinstance(source, Chunks):
        return source
    check_size(source.n_rows, len(source.names))
    return [source]


def _weighed(table: Table, sample_weight: Any) -> Table:
    """A table that was read before, its weights times those given."""
    check_size(table.n_rows, len(table.schema))
    weights = checked_weights(sample_weight, table.n_rows)
    if weights is None:
        return table
    row_weights = 1.0 if table.weights is None else table.weights
    return Table(table.schema, table.codes, weights * row_weights)


def _check_bins(n_bins: int) -> None:
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 2:
        raise ArgumentError(f"n_bins must be an integer of at least 2, not {shown(n_bins)}")


def _coded_block(
    block: Block, schema: Schema, unknown: str, *, partial: bool, extras: str
) -> Codes:
    """A block coded by a schema."""
    places = matched_places(block, schema, partial=partial, extras=extras)
    if block.matrix is not None and MISSING not in places:
        in_order = places == list(range(block.matrix.shape[1]))
        codes = coded_matrix(
            block.matrix if in_order else block.matrix[:, places],
            schema,
            unknown=unknown,
            minus_one_is_missing=block.minus_one,
        )
        if codes is not None:
            return codes
    out = empty_codes(block.n_rows, schema)
    for target, (place, column) in enumerate(zip(places, schema.columns, strict=True)):
        if place >= 0:
            raw = block.read(place)
            out[:, target] = coded(
                raw, column, unknown=unknown, minus_one_is_missing=block.minus_one
            )
    return out


def _holds_codes(block: Block) -> bool:
    """Whether the cells are those of an array of integers, which are taken for codes."""
    return block.matrix is not None and not block.named


def _read_block(
    block: Block, n_bins: int, weights: Floats | None, *, cut_integers: bool
) -> tuple[Schema, Codes]:
    """Learn and code at once, each column read once."""
    integers_are_codes = not cut_integers or _holds_codes(block)
    everything_counts = weights is None or bool(weights.all())
    if block.matrix is not None and everything_counts:
        table = read_matrix(
            block.matrix,
            block.names,
            minus_one=block.minus_one,
            integers_are_codes=integers_are_codes,
        )
        if table is not None:
            return table
    if block.minus_one:
        # Large integers: what -1 means is known only after all columns were seen.
        schema, _ = _learnt([block], n_bins, weights, cut_integers=cut_integers)
        return schema, _coded_block(block, schema, _lenient(weights), partial=False, extras="error")
    codes: Codes = np.empty((block.n_rows, len(block.names)), dtype=np.int16, order="F")
    columns: list[Column] = []
    left_out = []
    for place, name in enumerate(block.names):
        raw = block.read(place)
        column = column_of_levels(name, raw) if everything_counts else None
        if column is None:
            shown = observed(raw, weights, block.kinds.get(name))
            if is_identifier([shown]):
                left_out.append(name)
                continue
            column = learnt_column(
                name, [shown], n_bins=n_bins, integers_are_codes=integers_are_codes
            )
        if column.card > LARGEST_INT16_CARD and codes.dtype == np.int16:
            codes = codes.astype(np.int32, order="F")
        codes[:, len(columns)] = coded(raw, column, unknown=_lenient(weights))
        columns.append(column)
    check_anything_left(columns, left_out)
    return Schema(tuple(columns), tuple(left_out)), codes[:, : len(columns)]


def check_anything_left(columns: Sequence[Column], left_out: Sequence[str]) -> None:
    """Raise a `DataError` where identifiers and free text are all that a table holds."""
    if not columns:
        raise DataError(
            f"in every column ({listing(left_out)}) nearly every row has a text of its own, as identifiers "
            f'have; make a column categorical (pandas: astype("category")) to keep it'
        )


def _read_chunked(chunks: Chunks, n_bins: int, sample_weight: Any, *, cut_integers: bool) -> Table:
    schema, n_rows = _learnt(chunks, n_bins, sample_weight, cut_integers=cut_integers)
    weights = checked_weights(sample_weight, n_rows)
    codes = empty_codes(n_rows, schema)
    start = 0
    for block in chunks:
        stop = start + block.n_rows
        if stop <= n_rows:
            codes[start:stop] = _coded_block(
                block, schema, _lenient(weights), partial=False, extras="error"
            )
        start = stop
    if start != n_rows:
        raise DataError(
            f"the chunks had {n_rows} rows when they were run through first, and {start} the second time"
        )
    _warn(schema)
    return Table(schema, codes, weights)


def _learnt(
    blocks: Iterable[Block], n_bins: int, sample_weight: Any, *, cut_integers: bool
) -> tuple[Schema, int]:
    """The schema of all blocks together, and how many rows they have."""
    weights = as_weights(sample_weight)
    names: tuple[str, ...] = ()
    labels: tuple[Hashable, ...] = ()
    parts: list[list[Observed]] = []
    values: set[int] = set()  # of arrays of integers, where -1 may be missing
    ignored: tuple[str, ...] = ()
    integers_are_codes = not cut_integers
    n_rows = 0
    for block in blocks:
        places = list(range(len(block.names)))
        if not parts:
            check_size(block.n_rows, len(block.names))
            names, labels, parts = block.names, block.labels, [[] for _ in places]
            ignored, integers_are_codes = block.ignored, integers_are_codes or _holds_codes(block)
        else:
            places = _places_of(names, block)
        these = None if weights is None else weights[n_rows : n_rows + block.n_rows]
        n_rows += block.n_rows
        if these is not None and len(these) < block.n_rows:
            continue  # counted to the end, so that the error can say how many rows there are
        shown = _shown(block, these)
        for column_parts, place in zip(parts, places, strict=True):
            column_parts.append(shown[place])
            if block.minus_one:
                values.update(shown[place].values)
    check_size(n_rows, len(names) or 1)
    checked_weights(sample_weight, n_rows)
    missing = bool(values) and minus_one_is_missing(values)
    parts_of_column = {
        name: values for name, values in zip(names, parts, strict=True) if not is_identifier(values)
    }
    left_out = tuple(name for name in names if name not in parts_of_column)
    columns = tuple(
        learnt_column(
            name,
            column_parts,
            n_bins=n_bins,
            minus_one_is_missing=missing,
            integers_are_codes=integers_are_codes,
        )
        for name, column_parts in parts_of_column.items()
    )
    check_anything_left(columns, left_out)
    return Schema(columns, left_out, ignored).labelled(labels), n_rows


def _shown(block: Block, weights: Floats | None) -> list[Observed]:
    cells = None if block.matrix is None else observed_cells(block.matrix, weights)
    if cells is not None:
        return cells
    return [
        observed(block.read(place), weights, block.kinds.get(name))
        for place, name in enumerate(block.names)
    ]


def _places_of(names: tuple[str, ...], block: Block) -> list[int]:
    """Where the columns of the first chunk stand in a later one."""
    if not block.named and len(block.names) == len(names):
        return list(range(len(names)))
    if set(block.names) == set(names):
        return [block.names.index(name) for name in names]
    not_shared = sorted(set(block.names) ^ set(names))
    raise ColumnError(
        f"all chunks must have the same columns, but {listing(not_shared)} is not in all of them"
    )


def _lenient(weights: Any) -> str:
    """How to treat unknown values of the data that was learnt from: only rows of weight zero have any."""
    return "error" if weights is None else "missing"
