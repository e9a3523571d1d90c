"""`tacit predict`: a column from the others, for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import (
    DataOrSequences,
    Json,
    Model,
    Quantiles,
    TableOutput,
    Unknown,
    take_unknown_as_missing,
)

if TYPE_CHECKING:
    from tacit.core.model import Kind


def predict(
    model: Model,
    data: DataOrSequences,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="What to predict.")
    ] = None,
    quantiles: Quantiles = None,
    all_positions: Annotated[
        bool,
        typer.Option("--all-positions", help="Of sequences, every position from those before it."),
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

    For categories this is the most probable one with all probabilities, for numbers the mean and quantiles.
    Cells of the target in DATA are not used; where there are any, the accuracy is reported.
    For sequences it is the number or symbol that comes after each, or at every position (--all-positions); or
    the hidden states (--states): the Viterbi path, and the posterior of each position. For rows --states
    gives the most likely state of each hidden variable, and all probabilities. For mixtures it is the
    component of each row, for classifiers its class.
    """
    from tacit import load
    from tacit.cli.kinds import answers_for, check_can
    from tacit.cli.output import check_table_path

    check_table_path(output)
    fitted = load(model)
    needed = "predict" if fitted.kind == "classifier" else "score"
    kinds: list[Kind] = ["table", "mixture", "sequences", "classifier"]
    check_can(fitted, needed, "columns or symbols to predict", *kinds)
    if states and (all_positions or target is not None or quantiles):
        raise typer.BadParameter(
            "it goes with neither --target nor --quantile nor --all-positions",
            param_hint="--states",
        )
    if unknown_as_missing:
        take_unknown_as_missing(fitted)
    answers = answers_for(fitted)
    if states:
        check_can(fitted, "states", "hidden states that stand for something")
        answers.states(fitted, data).show(output, json=json)
        return
    options: dict[str, Any] = {
        "target": target,
        "quantiles": quantiles,
        "all_positions": all_positions,
    }
    answers.predictions(fitted, data, **options).show(output, json=json)
