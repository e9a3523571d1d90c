"""`tacit query`: one conditional distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import (
    Given,
    Json,
    Model,
    Quantiles,
    given_lists,
    given_values,
    holds_numbers,
)

if TYPE_CHECKING:
    from tacit.cli.answers.conditionals import Answer

_BAR = 30  # characters of the bar that stands for certainty
_PLACES = 21  # of a density that is printed


def query(
    model: Model,
    target: Annotated[
        list[str],
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column; repeat it for a joint distribution of categories.",
        ),
    ],
    given: Given = None,
    quantiles: Quantiles = None,
    density: Annotated[
        bool, typer.Option("--density", help="Print the density of a column of numbers, too.")
    ] = False,
    json: Json = False,
) -> None:
    """The distribution of one column, or of several together, given what is known.

    For a column of categories these are their probabilities, for a column of numbers its mean and quantiles.

    For example: tacit query model.tacit --given age=old --given "smoker=yes|no" --target cough
    """
    from tacit.cli.answers.conditionals import category_answer
    from tacit.cli.kinds import model_that_can
    from tacit.errors import ArgumentError

    fitted = model_that_can(model, "predict", "columns to query", "table")
    known = given_lists(fitted, given)
    given_values(fitted, given)  # raises where several numbers are given
    for name in target:
        if name in known:
            raise ArgumentError(f"{name!r} is both --target and --given")
    numbers = [name for name in target if holds_numbers(fitted, name)]
    if not numbers:
        if density or quantiles:
            raise ArgumentError(
                f"column {target[0]!r} holds categories; --density and --quantile are for numbers"
            )
        _print_categories(target, known, category_answer(fitted, target, known), json=json)
        return
    if len(target) > 1:
        raise ArgumentError(
            f"column {numbers[0]!r} holds numbers, which have no joint table; query it alone"
        )
    _show_number(fitted, numbers[0], known, quantiles, density=density, json=json)


def _print_categories(
    target: list[str],
    known: Mapping[str, Sequence[Any]],
    answer: dict[tuple[Any, ...], float],
    *,
    json: bool,
) -> None:
    from tacit.cli.output import print_json

    if json:
        rows = [
            {**dict(zip(target, values, strict=True)), "probability": probability}
            for values, probability in answer.items()
        ]
        print_json({"target": target, "given": _plain(known), "probabilities": rows})
        return
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.output import console

    out = console()
    out.print(Text(f"P({', '.join(target)}{_condition(known)})"))
    table = Table(box=None, pad_edge=False, show_header=len(target) > 1)
    for name in target:
        table.add_column(Text(name))
    table.add_column("", justify="right")
    table.add_column("")
    for values, probability in answer.items():
        cells = [Text(str(value)) for value in values]
        table.add_row(
            *cells, f"{probability:.4f}", Text("█" * round(_BAR * probability), style="cyan")
        )
    out.print(table)


def _show_number(
    fitted: Any,
    target: str,
    known: Mapping[str, Sequence[Any]],
    quantiles: list[float] | None,
    *,
    density: bool,
    json: bool,
) -> None:
    from tacit.cli.answers.conditionals import QUANTILES, answer_within, is_interval, number_answer
    from tacit.cli.answers.predictions import checked_levels
    from tacit.cli.output import print_json
    from tacit.errors import ArgumentError

    if any(is_interval(values) for values in known.values()):
        if density or quantiles:
            raise ArgumentError(
                "with an interval, the mean and the quantiles from 5% to 95% are answered; "
                "leave out --density and --quantile"
            )
        answer = answer_within(fitted, target, known)
    else:
        levels = checked_levels(quantiles, QUANTILES)
        places = None if json else _PLACES
        answer = number_answer(fitted, target, known, levels, n_places=places)
    if not json:
        _print_number(target, known, answer, density=density)
        return
    facts: dict[str, Any] = {
        "target": target,
        "given": _plain(known),
        "mean": answer.mean,
        "quantiles": {str(level): value for level, value in answer.quantiles.items()},
    }
    if answer.atoms:
        facts["atoms"] = {f"{atom:.12g}": mass for atom, mass in answer.atoms.items()}
    if density:
        facts["density"] = {"grid": answer.grid, "values": answer.density}
    print_json(facts)


def _print_number(
    target: str, known: Mapping[str, Sequence[Any]], answer: Answer, *, density: bool
) -> None:
    """Print the mean and the quantiles, and the density as horizontal bars."""
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.answers.predictions import percent
    from tacit.cli.output import console
    from tacit.numbers.query.arguments import atom_summary

    out = console()
    out.print(Text(f"{target}{_condition(known)}"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("mean", f"{answer.mean:.6g}")
    for level, value in answer.quantiles.items():
        table.add_row(percent(level), f"{value:.6g}")
    for name, mass in atom_summary(list(answer.atoms), list(answer.atoms.values())).items():
        table.add_row(name, f"{mass:.4f}")
    out.print(table)
    if not density:
        return
    picture = Table(box=None, pad_edge=False)
    for heading in (Text(target), "density"):
        picture.add_column(heading, justify="right")
    picture.add_column("")
    top = float(answer.density.max()) or 1.0
    for place, value in zip(answer.grid.tolist(), answer.density.tolist(), strict=True):
        bar = Text("█" * round(_BAR * value / top), style="cyan")
        picture.add_row(f"{place:.4g}", f"{value:.4g}", bar)
    out.print()
    out.print(picture)


def _plain(known: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {
        name: values[0] if len(values) == 1 else sorted(values) for name, values in known.items()
    }


def _condition(known: Mapping[str, Sequence[Any]]) -> str:
    terms = [f"{name}={'|'.join(map(_value, sorted(values)))}" for name, values in known.items()]
    return f" | {', '.join(terms)}" if terms else ""


def _value(value: Any) -> str:
    """A value as it may be given."""
    if isinstance(value, tuple):
        return "..".join(_value(end) if math.isfinite(end) else "" for end in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
