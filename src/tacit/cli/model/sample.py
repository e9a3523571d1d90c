"""`tacit sample`: rows drawn from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.options import Json, Model, TableOutput

SampleGiven = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        "-g",
        metavar="COLUMN=VALUE",
        help="What is known of a row. May be repeated. Of sequences: what came before, such as "
        '"a b a" of symbols.',
    ),
]


def sample(
    model: Model,
    n: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many rows or sequences.")] = 10,
    length: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Positions of each sequence; else 100. At most, where the model says where sequences end.",
        ),
    ] = None,
    given: SampleGiven = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed draws the same rows.")
    ] = None,
    output: TableOutput = None,
    json: Json = False,
) -> None:
    """Draw rows from the model, or from what it expects given something known; or sequences.

    Sequences of symbols are written in the long form, or with -o FILE.txt as a line for each.
    """
    from tacit.cli.answers.symbol_sequences import is_lines
    from tacit.cli.kinds import answers_for, model_that_can
    from tacit.cli.output import check_table_path

    if not is_lines(output):
        check_table_path(output)
    fitted = model_that_can(model, "sample", "rows or sequences to draw")
    answers_for(fitted).print_sample(fitted, n, length, given, seed, output, json=json)
