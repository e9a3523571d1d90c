"""`tacit score`: the log-likelihood of rows or sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import DataOrSequences, Json, Model, Unknown, take_unknown_as_missing


def score(
    model: Model,
    data: DataOrSequences,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the logarithm of each row or sequence here.",
        ),
    ] = None,
    unknown_as_missing: Unknown = False,
    json: Json = False,
) -> None:
    """Mean natural-log likelihood of the rows of DATA; of sequences, of their positions or symbols.

    Numbers count with their density. Missing cells and columns are summed out.
    """
    from tacit.cli.kinds import answers_for, model_that_can
    from tacit.cli.output import check_table_path

    check_table_path(output)
    fitted = model_that_can(model, "score", "rows or sequences to score")
    if unknown_as_missing:
        take_unknown_as_missing(fitted)
    answers_for(fitted).print_score(fitted, data, output, json=json)
