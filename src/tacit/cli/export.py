"""`tacit export`: a model in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import Model

_NEWICK = (".nwk", ".newick", ".tree", ".tre")


def export(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .bif file (tables) or a .nwk file (the tree)."
        ),
    ],
) -> None:
    """Write a model as a Bayesian network (BIF), or its tree as Newick text."""
    from tacit import load
    from tacit.errors import ArgumentError
    from tacit.files.atomic import write_text

    suffix = output.suffix.lower()
    if suffix != ".bif" and suffix not in _NEWICK:
        raise ArgumentError(
            f"{str(output)!r} is of no known kind; end it with .bif (Bayesian network) or .nwk (tree)"
        )
    fitted = load(model)
    if suffix == ".bif":
        fitted.to_bif(output)
    else:
        write_text(output, fitted.topology_.to_newick() + "\n")
