"""`tacit predict`: a column from the others, for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Data, Json, Model, TableOutput, Unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def predict(
    model: Model,
    data: Data,
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="What to predict.")
    ],
    output: TableOutput = None,
    unknown_as_missing: Unknown = False,
    json: Json = False,
) -> None:
    """Probabilities of the column TARGET in each row, given the row's other cells.

    Cells of the target in DATA are not used; where there are any, the share that was predicted right is
    told.
    """
    import pyarrow as pa

    from tacit import load
    from tacit.cli.output import check_table_path, console, print_json, put_table

    check_table_path(output)
    fitted = load(model)
    if unknown_as_missing:
        fitted.set_params(unknown="missing")
    column = fitted.schema_[target]
    chances = fitted.predict_proba(data, target=target)
    best = chances.argmax(axis=1)
    categories = [str(category) for category in column.categories]
    columns: dict[str, Any] = {target: [column.categories[code] for code in best]}
    if len({type(value) for value in column.categories}) > 1:
        columns[target] = [str(value) for value in columns[target]]
    for place, category in enumerate(categories):
        columns[f"P({target}={category})"] = chances[:, place]
    right = _right(fitted, data, target, best)
    if json:
        rows = [dict(zip(categories, row, strict=True)) for row in chances.tolist()]
        print_json({"target": target, "predicted": columns[target], "probabilities": rows, **right})
        if output is None:
            return
    put_table(pa.table(columns), output)
    if output is not None and not json:
        told = f"; {right['right']} of {right['known']} known values right" if right else ""
        console().print(f"{len(best)} rows written to {output}{told}", markup=False)


def _right(fitted: Any, data: Any, target: str, best: NDArray[np.int64]) -> dict[str, int]:
    """How many cells of the target are known, and how many of these were predicted."""
    from tacit.data.reading import encode

    table = encode(data, fitted.schema_, unknown=fitted.unknown, partial=True)
    codes = table.codes[:, fitted.schema_.index(target)]
    known = codes >= 0
    if not known.any():
        return {}
    return {"known": int(known.sum()), "right": int((codes == best)[known].sum())}
