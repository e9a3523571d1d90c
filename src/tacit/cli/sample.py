"""`tacit sample`: rows drawn from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.options import Given, Json, Model, TableOutput, given_values


def sample(
    model: Model,
    n: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many rows.")] = 10,
    given: Given = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed draws the same rows.")
    ] = None,
    output: TableOutput = None,
    json: Json = False,
) -> None:
    """Draw rows from the model, or from what it expects given something known."""
    from tacit import load
    from tacit.cli.output import check_table_path, console, print_json, print_rows, put_table
    from tacit.errors import NotAvailableError

    check_table_path(output)
    fitted = load(model)
    known = given_values(fitted, given)
    several = [name for name, value in known.items() if isinstance(value, set)]
    if several and hasattr(fitted, "gaussian_"):
        raise NotAvailableError(
            f"{type(fitted).__name__} draws given one value of each column; give one of {several[0]!r}"
        )
    table = fitted.sample(n, given=known, random_state=seed, like="pyarrow")
    if json and output is None:
        print_rows(table)
        return
    put_table(table, output)
    if json:
        print_json({"n_rows": table.num_rows, "output": str(output)})
    elif output is not None:
        console().print(f"{table.num_rows} rows written to {output}", markup=False)
