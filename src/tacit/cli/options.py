"""Arguments and options that several commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tacit.core.input.table import Column

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file (.tacit).")]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="A table: .csv, .tsv or .parquet.")]
DataOrSequences = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table (.csv, .tsv, .parquet); of sequences also lines of text, FASTA or PAutomaC.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
TableOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="A .csv, .tsv or .parquet file; without it, print CSV.",
    ),
]
Picture = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="The picture: .svg, .png or .pdf."),
]
TreesOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where trees go; else print them."),
]
Treebank = Annotated[
    Path, typer.Argument(metavar="TREEBANK", help="Trees in brackets, to compare with.")
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        "-g",
        metavar="COLUMN=VALUE",
        help="What is known: a category or a number; COLUMN=A|B for one of several categories, "
        "COLUMN=LOW..HIGH for a number in an interval, of which an end may be left out. May be repeated.",
    ),
]
Quantiles = Annotated[
    list[float] | None,
    typer.Option(
        "--quantile",
        "-q",
        metavar="LEVEL",
        help="A quantile of a column of numbers, such as 0.9. May be repeated.",
    ),
]
ComponentNumber = Annotated[
    int | None,
    typer.Option("--component", metavar="N", min=0, help="Which tree of a mixture, from 0."),
]
Unknown = Annotated[
    bool,
    typer.Option(
        "--unknown-as-missing", help="Take categories that the model never saw as missing."
    ),
]


def given_values(model: Any, given: list[str] | None) -> dict[str, object]:
    """The evidence by column: a number, an interval, the text of one category, or a set of texts.

    A column's name and a category may contain ``=`` and ``|``: the longest name that is a column counts, and
    so does the longest category.
    """
    every = given_lists(model, given)
    for name, values in every.items():
        if len(values) > 1 and isinstance(values[0], float | tuple):
            raise typer.BadParameter(
                f"{name!r} holds numbers, and only one of them can be given", param_hint="--given"
            )
    return {name: named[0] if len(named) == 1 else set(named) for name, named in every.items()}


def given_lists(model: Any, given: list[str] | None) -> dict[str, list[Any]]:
    """The evidence by column: all values, numbers as numbers or intervals, all others as text."""
    schema = model.schema_
    evidence: dict[str, list[Any]] = {}
    for text in given or ():
        if "=" not in text:
            raise typer.BadParameter(f"{text!r} is not COLUMN=VALUE", param_hint="--given")
        cuts = [place for place, sign in enumerate(text) if sign == "="]
        known = [cut for cut in cuts if text[:cut] in schema]
        cut = known[-1] if known else cuts[0]
        name, value = text[:cut], text[cut + 1 :]
        column = schema[name]  # raises with the nearest name where there is none
        numbers = holds_numbers(model, name)
        if name in evidence:
            once = "once" if numbers else f"{name}=A|B for one of several values"
            raise typer.BadParameter(f"{name!r} is given twice; say {once}", param_hint="--given")
        parts = value.split("|")
        if numbers:
            evidence[name] = [_number(name, part) for part in parts]
        else:
            evidence[name] = list(_values(column, parts))
    return evidence


def holds_numbers(model: Any, name: str) -> bool:
    """Whether a column of a model holds numbers; an unknown column raises with the nearest name."""
    place = model.schema_.index(name)
    return place in number_places(model)


def number_places(model: Any) -> tuple[int, ...]:
    """The places of a model's columns of numbers."""
    return tuple(model.schema_.continuous) if model.can("numbers") else ()


def _number(name: str, text: str) -> float | tuple[float, float]:
    """A number, or the ends of an interval."""
    from tacit.errors import DataError

    low, dots, high = text.partition("..")
    if dots:
        ends = (_float(low) if low else -math.inf, _float(high) if high else math.inf)
        if ends[0] <= ends[1] and math.isfinite(min(map(abs, ends))):
            return ends
        raise DataError(
            f"column {name!r} holds numbers, and {text!r} is no interval; give LOW..HIGH, LOW.. or ..HIGH"
        )
    number = _float(text)
    if not math.isfinite(number):
        raise DataError(f"column {name!r} holds numbers, and {text!r} is none")
    return number


def _float(text: str) -> float:
    """The number; NaN where a text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _values(column: Column, parts: list[str]) -> list[str]:
    """The categories of a text that was split at bars; parts of one category with a bar are joined."""
    from tacit.core.input.encode import category_code
    from tacit.errors import CategoryError

    if not parts:
        return []
    complaints = []
    for length in range(len(parts), 0, -1):
        first = "|".join(parts[:length])
        try:
            category_code(column, first)
            return [first, *_values(column, parts[length:])]
        except CategoryError as error:
            complaints.append(error)
    raise complaints[-1]  # about the shortest part, which is the most likely meaning


def take_unknown_as_missing(model: Any) -> None:
    """Make a model treat unknown categories or symbols as missing, if it has that option."""
    for part in model.models_ if model.kind == "classifier" else [model]:
        if "unknown" in part.get_params():
            part.set_params(unknown="missing")
