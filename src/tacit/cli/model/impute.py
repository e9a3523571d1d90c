"""`tacit impute`: missing cells filled in."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.options import (
    DataOrSequences,
    Json,
    Model,
    TableOutput,
    Unknown,
    number_places,
    take_unknown_as_missing,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


class Numbers(StrEnum):
    """What a missing number becomes."""

    mean = "mean"
    median = "median"


def impute(
    model: Model,
    data: DataOrSequences,
    numbers: Annotated[
        Numbers, typer.Option(help="What a missing number becomes, given the row.")
    ] = Numbers.mean,
    output: TableOutput = None,
    unknown_as_missing: Unknown = False,
    json: Json = False,
) -> None:
    """Fill each missing cell of DATA with its most probable category, or its mean, given the row.

    Columns that the model does not know are left as they are; columns that DATA lacks are added. For hidden
    Markov models DATA holds sequences: each missing symbol or number becomes the most probable one, or its
    mean, given the whole sequence, and there is a row for each position.
    """
    from tacit.cli.answers.table_files import arrow_table
    from tacit.cli.kinds import answers_for, model_that_can
    from tacit.cli.output import check_table_path

    check_table_path(output)
    fitted = model_that_can(model, "impute", "columns to fill in", "table", "imputer", "sequences")
    if unknown_as_missing:
        take_unknown_as_missing(fitted)
    if fitted.kind == "sequences":
        filled, n_filled = answers_for(fitted).filled(fitted, data)
        _show(filled, n_filled, "positions", output, json=json)
        return
    before = arrow_table(data)
    known = {"numbers": numbers.value} if number_places(fitted) else {}
    filled = fitted.impute(data, **known)
    table = _together(before, filled)
    n_filled = sum(_n_missing(before, name) for name in filled.column_names)
    _show(table, n_filled, "rows", output, json=json)


def _show(table: pa.Table, n_filled: int, rows: str, output: Path | None, *, json: bool) -> None:
    """Print or write a table without gaps, and say how many there were."""
    from tacit.cli.output import console, print_json, print_rows, put_table

    if json and output is None:
        print_rows(table)
        return
    put_table(table, output)
    if json:
        print_json({f"n_{rows}": table.num_rows, "n_filled": n_filled, "output": str(output)})
    elif output is not None:
        console().print(
            f"{n_filled} cells of {table.num_rows} {rows} filled, written to {output}", markup=False
        )


def _n_missing(table: pa.Table, name: str) -> int:
    """How many cells of a column are missing: all, if there is no such column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name not in table.column_names:
        return int(table.num_rows)
    column = table.column(name)
    if not pa.types.is_floating(column.type):
        return int(column.null_count)
    return int(pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0)


def _together(before: pa.Table, filled: pa.Table) -> pa.Table:
    """The table with its imputed columns in place; columns that the model does not know stay."""
    import pyarrow as pa

    names = list(dict.fromkeys([*before.column_names, *filled.column_names]))
    known = set(filled.column_names)
    return pa.table({name: (filled if name in known else before).column(name) for name in names})
