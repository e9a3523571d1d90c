"""`tacit query`: one conditional distribution."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tacit.cli.options import Given, Json, Model, given_values

_BAR = 30  # characters of the bar that stands for certainty


def query(
    model: Model,
    target: Annotated[
        list[str],
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="What is asked; repeat it for a joint answer."
        ),
    ],
    given: Given = None,
    json: Json = False,
) -> None:
    """The distribution of one column, or of several together, given what is known.

    For example: tacit query model.tacit --given age=old --given "smoker=yes|no" --target cough
    """
    from tacit import load
    from tacit.cli.output import print_json
    from tacit.errors import ArgumentError

    fitted = load(model)
    known = given_values(fitted, given)
    for name in target:
        fitted.schema_.index(name)  # raises with the nearest name where there is none
        if name in known:
            raise ArgumentError(f"{name!r} is both asked for and given")
    answer = fitted.query(target, given=known)
    if json:
        plain = {n: sorted(v) if isinstance(v, set) else v for n, v in known.items()}
        rows = [
            {**dict(zip(target, values, strict=True)), "probability": chance}
            for values, chance in answer.items()
        ]
        print_json({"target": target, "given": plain, "probabilities": rows})
    else:
        _print(target, known, answer)


def _print(target: list[str], known: dict[str, Any], answer: dict[tuple[Any, ...], float]) -> None:
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.output import console

    terms = [f"{n}={'|'.join(sorted(v)) if isinstance(v, set) else v}" for n, v in known.items()]
    condition = f" | {', '.join(terms)}" if terms else ""
    out = console()
    out.print(Text(f"P({', '.join(target)}{condition})"))
    table = Table(box=None, pad_edge=False, show_header=len(target) > 1)
    for name in target:
        table.add_column(Text(name))
    table.add_column("", justify="right")
    table.add_column("")
    for values, chance in answer.items():
        cells = [Text(str(value)) for value in values]
        table.add_row(*cells, f"{chance:.4f}", Text("█" * round(_BAR * chance), style="cyan"))
    out.print(table)
