"""Arguments and options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tacit.core.input.table import Column, Schema

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
        help="What is known: a category or a number; COLUMN=A|B for one of several categories. "
        "May be repeated.",
    ),
]
Shares = Annotated[
    list[float] | None,
    typer.Option(
        "--quantile",
        "-q",
        metavar="SHARE",
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


def asked_model(path: Path, *, topics: bool = False) -> Any:
    """The model of a file, for the commands of models of tables and sequences, some of topics as well."""
    from tacit import load
    from tacit.errors import NotAvailableError

    fitted = load(path)
    if is_language_model(fitted):
        raise NotAvailableError(
            f"{str(path)!r} holds a {type(fitted).__name__}, a language model; ask it with `tacit lm`"
        )
    if is_parser(fitted):
        raise NotAvailableError(
            f"{str(path)!r} holds a {type(fitted).__name__}, a parser; ask it with `tacit parse`"
        )
    if is_grammar(fitted):
        raise NotAvailableError(
            f"{str(path)!r} holds a {type(fitted).__name__}, a grammar; ask it with `tacit grammar`"
        )
    if is_topic_model(fitted) and not topics:
        raise NotAvailableError(
            f"{str(path)!r} holds a {type(fitted).__name__} of documents; ask it with `tacit topics`"
        )
    return fitted


def model_of_kind(path: Path, is_kind: Callable[[Any], bool], kind: str) -> Any:
    """The model of a file, for commands of one kind of models.

    Raises
    ------
    MissingDataError, FileFormatError, NotAvailableError
        There is no such file, it is none, or holds another model.
    """
    from tacit import load
    from tacit.errors import NotAvailableError

    fitted = load(path)
    if not is_kind(fitted):
        raise NotAvailableError(
            f"{str(path)!r} holds a {type(fitted).__name__}, no {kind}; see `tacit --help`"
        )
    return fitted


def is_language_model(fitted: Any) -> bool:
    """Whether a model is one of words."""
    return hasattr(fitted, "vocabulary_")


def is_parser(fitted: Any) -> bool:
    """Whether a model finds brackets without labels."""
    return bool(fitted.kind == "parser")


def is_grammar(fitted: Any) -> bool:
    """Whether a model finds trees with labels."""
    return bool(fitted.kind == "grammar")


def is_topic_model(fitted: Any) -> bool:
    """Whether a model is one of documents."""
    return hasattr(fitted, "topics_")


def given_values(model: object, given: list[str] | None) -> dict[str, object]:
    """What is known, by column: a number, the text of one category, or a set of texts.

    A column's name and a category may contain ``=`` and ``|``: the longest name that is a column counts, and
    so does the longest category.
    """
    every = given_lists(model, given)
    for name, values in every.items():
        if len(values) > 1 and isinstance(values[0], float):
            raise typer.BadParameter(
                f"{name!r} holds numbers, and only one of them can be given", param_hint="--given"
            )
    return {name: each[0] if len(each) == 1 else set(each) for name, each in every.items()}


def given_lists(model: object, given: list[str] | None) -> dict[str, list[Any]]:
    """What is known, by column: the values that are named, numbers as numbers, all others as text."""
    schema = model.schema_  # type: ignore[attr-defined]
    found: dict[str, list[Any]] = {}
    for text in given or ():
        if "=" not in text:
            raise typer.BadParameter(f"{text!r} is not COLUMN=VALUE", param_hint="--given")
        cuts = [place for place, sign in enumerate(text) if sign == "="]
        known = [cut for cut in cuts if text[:cut] in schema]
        cut = known[-1] if known else cuts[0]
        name, value = text[:cut], text[cut + 1 :]
        column = schema[name]  # raises with the nearest name where there is none
        numbers = holds_numbers(schema, name)
        if name in found:
            once = "once" if numbers else f"{name}=A|B for one of several values"
            raise typer.BadParameter(f"{name!r} is given twice; say {once}", param_hint="--given")
        parts = value.split("|")
        if numbers:
            found[name] = [_number(name, part) for part in parts]
        else:
            found[name] = list(_values(column, parts))
    return found


def holds_numbers(schema: Schema, name: str) -> bool:
    """Whether a column is one of numbers; raises with the nearest name where there is none."""
    return schema.index(name) in getattr(schema, "continuous", ())


def _number(name: str, text: str) -> float:
    from tacit.errors import DataError

    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise DataError(f"column {name!r} holds numbers, and {text!r} is none")
    return found


def _values(column: Column, parts: list[str]) -> list[str]:
    """The parts of a text, those put together again that are one category with a bar in it."""
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
    raise complaints[-1]  # about the shortest part, which is what most people mean
