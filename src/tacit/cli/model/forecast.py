"""`tacit forecast`: a picture of a sequence and of its predictive densities."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.options import Data, Model, Picture


def forecast(
    model: Model,
    data: Data,
    output: Picture,
    sequence: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which sequence of DATA to draw.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="Which of several columns to draw."),
    ] = None,
    last: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only so many positions, from the end.")
    ] = None,
    ahead: Annotated[
        int, typer.Option(metavar="N", min=0, help="Positions beyond the end of the sequence.")
    ] = 0,
) -> None:
    """Draw a sequence of DATA over the density that each of its numbers had, given those before it.

    For models of sequences (tacit fit kernel-hmm); for the numbers themselves use tacit predict.
    """
    from tacit import plot
    from tacit.cli.answers.number_sequences import chosen_sequence, target_of
    from tacit.cli.kinds import model_that_can
    from tacit.cli.model.plot import picture_kind, save_picture

    picture_kind(output)  # before the work, not after it
    fitted = model_that_can(model, "forecast", "densities over time (fit kernel-hmm)")
    numbers = chosen_sequence(fitted, data, sequence)
    column = target_of(fitted, target)
    save_picture(plot.forecast(fitted, numbers, target=column, last=last, n_ahead=ahead), output)
