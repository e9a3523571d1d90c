"""`tacit predict`: a column from the others, for every row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import (
    DataOrSequences,
    Json,
    Model,
    Shares,
    TableOutput,
    Unknown,
    asked_model,
    holds_numbers,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def predict(
    model: Model,
    data: DataOrSequences,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="What to predict.")
    ] = None,
    shares: Shares = None,
    each: Annotated[
        bool, typer.Option("--each", help="Of sequences, every position from those before it.")
    ] = False,
    states: Annotated[
        bool,
        typer.Option(
            "--states", help="The hidden state behind every position of sequences, or behind rows."
        ),
    ] = False,
    output: TableOutput = None,
    unknown_as_missing: Unknown = False,
    json: Json = False,
) -> None:
    """Predict the column TARGET in each row, given the row's other cells.

    Of categories the most probable one and all probabilities are told, of numbers the mean and quantiles.
    Cells of the target in DATA are not used; where there are any, it is told how well they were predicted.
    Of sequences it is what comes after each that is predicted, number or symbol, or every one (--each); or
    the hidden states (--states): the most likely path, and the probabilities given the whole sequence. Of
    rows --states tells their classes: the likeliest state of each hidden variable, and all probabilities.
    """
    from tacit.cli.answers.number_sequences import is_chain
    from tacit.cli.output import check_table_path

    check_table_path(output)
    fitted = asked_model(model)
    if states and (each or target is not None or shares):
        raise typer.BadParameter(
            "it goes with neither --target nor --quantile nor --each", param_hint="--states"
        )
    if unknown_as_missing and not is_chain(fitted):
        fitted.set_params(unknown="missing")
    if states:
        from tacit.cli.answers.states import states_of

        columns, said = states_of(fitted, data)
        name = "state" if "state" in columns else next(iter(columns))
    else:
        columns, said, name = _predicted(fitted, data, target, shares, each=each)
    _put(columns, said, name, output, json=json)


def _predicted(
    fitted: Any, data: Path, target: str | None, shares: list[float] | None, *, each: bool
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A table's columns, the same for JSON, and which of the columns was predicted."""
    from tacit.cli.answers.gaussian_hmm import predicted_numbers, shows_numbers
    from tacit.cli.answers.number_sequences import is_chain, predicted_sequences
    from tacit.cli.answers.symbol_sequences import is_symbolic, predicted_symbols
    from tacit.errors import ArgumentError

    if is_chain(fitted) or shows_numbers(fitted):
        tell = predicted_sequences if is_chain(fitted) else predicted_numbers
        return *tell(fitted, data, target, shares, each=each), target or fitted.names_[0]
    if is_symbolic(fitted):
        if target is not None or shares:
            raise ArgumentError(
                "it is the next symbol that is predicted; leave --target and --quantile out"
            )
        return *predicted_symbols(fitted, data, each=each), "next"
    if target is None:
        raise typer.BadParameter("name a column", param_hint="--target")
    if each:
        raise ArgumentError(f"--each is for sequences, and {type(fitted).__name__} is of rows")
    if holds_numbers(fitted.schema_, target):
        return *_numbers(fitted, data, target, shares), target
    if shares:
        raise ArgumentError(f"column {target!r} holds categories; --quantile is for numbers")
    return *_categories(fitted, data, target), target


def _put(
    columns: dict[str, Any], said: dict[str, Any], target: str, output: Path | None, *, json: bool
) -> None:
    """Write and print what was predicted."""
    import pyarrow as pa

    from tacit.cli.output import console, print_json, put_table

    if json:
        print_json({"target": target, **said})
        if output is None:
            return
    put_table(pa.table(columns), output)
    if output is None or json:
        return
    told = ""
    if "right" in said:
        told = f"; {said['right']} of {said['known']} known values right"
    elif "known" in said:
        told = (
            f"; {said['known']} known values, mean absolute error {said['mean_absolute_error']:.4g}"
        )
    n_rows = len(columns[target])
    console().print(f"{n_rows} rows written to {output}{told}", markup=False)


def _categories(fitted: Any, data: Path, target: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The most probable category and the probabilities of all; the same for JSON."""
    column = fitted.schema_[target]
    chances = fitted.predict_proba(data, target=target)
    best = chances.argmax(axis=1)
    categories = [str(category) for category in column.categories]
    columns: dict[str, Any] = {target: [column.categories[code] for code in best]}
    if len({type(value) for value in column.categories}) > 1:
        columns[target] = [str(value) for value in columns[target]]
    for place, category in enumerate(categories):
        columns[f"P({target}={category})"] = chances[:, place]
    rows = [dict(zip(categories, row, strict=True)) for row in chances.tolist()]
    said = {"predicted": columns[target], "probabilities": rows}
    codes = _cells(fitted, data, target)
    known = codes >= 0
    if known.any():
        said |= {"known": int(known.sum()), "right": int((codes == best)[known].sum())}
    return columns, said


def _numbers(
    fitted: Any, data: Path, target: str, shares: list[float] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mean and quantiles; the same for JSON, with the errors of the median and of the mean."""
    from tacit.cli.answers.conditionals import checked_shares
    from tacit.cli.answers.number_sequences import SHARES, number_errors, told_numbers

    asked = checked_shares(shares, SHARES)
    means = fitted.expectation(data, target)
    quantiles = fitted.quantiles(data, target, [*asked, 0.5])
    columns, said = told_numbers(target, asked, means, quantiles)
    said |= number_errors(_cells(fitted, data, target), means, quantiles[:, -1])
    return columns, said


def _cells(fitted: Any, data: Path, target: str) -> NDArray[Any]:
    """What DATA says of the target: codes, -1 where it is missing, or numbers, NaN where it is."""
    from tacit.core.input.mixed_table import MixedSchema
    from tacit.core.input.read_mixed_table import encode_mixed
    from tacit.core.input.read_table import encode

    schema, unknown = fitted.schema_, fitted.unknown
    if isinstance(schema, MixedSchema):
        return encode_mixed(data, schema, unknown=unknown, partial=True).column(target)
    table = encode(data, schema, unknown=unknown, partial=True)
    return table.codes[:, schema.index(target)]
