"""`tacit sample`: rows drawn from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.options import Json, Model, TableOutput, asked_model, given_values

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
    from tacit.cli.answers.gaussian_hmm import drawn_numbers, shows_numbers
    from tacit.cli.answers.number_sequences import drawn_sequences, is_chain
    from tacit.cli.answers.symbol_sequences import drawn_symbols, is_lines, is_symbolic, put_drawn
    from tacit.cli.output import check_table_path, give_table
    from tacit.errors import NotAvailableError

    if not is_lines(output):
        check_table_path(output)
    fitted = asked_model(model)
    if is_symbolic(fitted):
        put_drawn(drawn_symbols(fitted, n, length, given, seed), fitted, output, json=json)
        return
    check_table_path(output)
    if shows_numbers(fitted):
        table = drawn_numbers(fitted, n, length, given, seed)
    elif is_chain(fitted):
        if given:
            raise NotAvailableError("sequences are drawn from their start; leave --given out")
        table = drawn_sequences(fitted, n, length or 100, seed)
    elif length is not None:
        raise NotAvailableError(f"{type(fitted).__name__} draws rows; leave --length out")
    else:
        known = given_values(fitted, given)
        several = [name for name, value in known.items() if isinstance(value, set)]
        if several and hasattr(fitted, "gaussian_"):
            raise NotAvailableError(
                f"{type(fitted).__name__} draws given one value of each column; give one of "
                f"{several[0]!r}"
            )
        table = fitted.sample(n, given=known, random_state=seed, like="pyarrow")
    give_table(table, output, json=json)
