"""`tacit impute`: missing cells filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli.options import Data, Json, Model, TableOutput, Unknown

if TYPE_CHECKING:
    import pyarrow as pa


def impute(
    model: Model,
    data: Data,
    output: TableOutput = None,
    unknown_as_missing: Unknown = False,
    json: Json = False,
) -> None:
    """Fill each missing cell of DATA with its most probable value given the row.

    Columns that the model does not know are left as they are; columns that DATA lacks are added.
    """
    from tacit import load
    from tacit.cli.output import check_table_path, console, print_json, print_rows, put_table
    from tacit.cli.tables import arrow_table

    check_table_path(output)
    fitted = load(model)
    if unknown_as_missing:
        fitted.set_params(unknown="missing")
    before = arrow_table(data)
    filled = fitted.impute(data)
    table = _together(before, filled)
    holes = sum(
        before.column(name).null_count if name in before.column_names else before.num_rows
        for name in filled.column_names
    )
    if json and output is None:
        print_rows(table)
        return
    put_table(table, output)
    if json:
        print_json({"n_rows": table.num_rows, "n_filled": holes, "output": str(output)})
    elif output is not None:
        console().print(
            f"{holes} cells of {table.num_rows} rows filled, written to {output}", markup=False
        )


def _together(before: pa.Table, filled: pa.Table) -> pa.Table:
    """The filled columns in the places where they were, among those that the model does not know."""
    import pyarrow as pa

    names = list(dict.fromkeys([*before.column_names, *filled.column_names]))
    known = set(filled.column_names)
    return pa.table({name: (filled if name in known else before).column(name) for name in names})
