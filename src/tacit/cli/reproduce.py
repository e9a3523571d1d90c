"""`tacit reproduce`: experiments of the papers, run again."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import Json


class Scale(StrEnum):
    """The scale of an experiment."""

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
    """Run experiments of the papers and say whether their claims held.

    Each writes a table of every run and a picture like the paper's.
    """
    from dataclasses import asdict

    from tacit import reproduce as experiments
    from tacit.cli.output import console, print_json

    text = console()
    if listing or not names:
        claims = experiments.listing()
        if json:
            print_json([{"name": name, "claim": claim} for name, claim in claims])
            return
        width = max(len(name) for name, _ in claims)
        for name, claim in claims:
            text.print(f"{name:{width}}  {claim}", markup=False)
        return
    verdicts = []
    for name in names:
        verdict = experiments.run(name, scale=scale.value, out=out, progress=True)
        verdicts.append(verdict)
        if not json:
            if verdict.table:
                text.print(verdict.table, markup=False)
            text.print(f"{verdict}\n  {verdict.csv}  {verdict.png}", markup=False)
    if json:
        print_json([{**asdict(v), "csv": str(v.csv), "png": str(v.png)} for v in verdicts])
