"""`tacit reproduce`: experiments of the papers, run again."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import Json


class Scale(StrEnum):
    """How much is run."""

    small = "small"
    paper = "paper"


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Experiments, such as fig-4.4.")
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="Show all experiments with the claim of each.")
    ] = False,
    scale: Annotated[
        Scale, typer.Option(help="small ends within two minutes; paper is the whole.")
    ] = Scale.small,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where tables and pictures go.")] = Path(
        "out"
    ),
    json: Json = False,
) -> None:
    """Run experiments of the papers and say whether their claims held."""
    from tacit import experiments
    from tacit.cli.output import console, print_json

    if listing or not names:
        claims = experiments.listing()
        if json:
            print_json(claims)
            return
        out_text = console()
        for name, claim in claims.items():
            out_text.print(f"{name:12}  {claim}", markup=False)
        return
    verdicts = {}
    for name in names:
        verdicts[name] = experiments.run(name, scale=scale.value, out=out)
        if not json:
            console().print(f"{name}: {verdicts[name]}", markup=False)
    if json:
        print_json({name: str(verdict) for name, verdict in verdicts.items()})
