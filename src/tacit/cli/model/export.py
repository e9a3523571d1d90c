"""`tacit export`: a model in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.options import ComponentNumber, Model

_NEWICK = (".nwk", ".newick", ".tree", ".tre")


def check_newick_path(path: Path) -> None:
    """Raise an `ArgumentError` unless the path is that of a Newick file."""
    from tacit.errors import ArgumentError

    if path.suffix.lower() not in _NEWICK:
        raise ArgumentError(f"trees are written as Newick text; end {str(path)!r} with .nwk")


def export(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .bif file (tables) or a .nwk file (the tree)."
        ),
    ],
    component: ComponentNumber = None,
) -> None:
    """Write a model as a Bayesian network (BIF), or its tree as Newick text.

    Of a mixture, BIF holds the tree of --component, and Newick one tree per line.
    """
    from tacit.cli.answers.trees import trees_of
    from tacit.cli.kinds import model_that_can
    from tacit.core.files.atomic import write_text
    from tacit.errors import ArgumentError, NotAvailableError
    from tacit.trees.model.components import chosen_component

    suffix = output.suffix.lower()
    if suffix != ".bif" and suffix not in _NEWICK:
        raise ArgumentError(
            f"{str(output)!r} is of no known kind; end it with .bif (Bayesian network) or .nwk (tree)"
        )
    fitted = model_that_can(model, "tree", "tree to write", "table")
    if suffix == ".bif":
        if "bif" not in fitted.abilities:
            raise NotAvailableError(
                f"BIF holds probability tables of categories, and a {type(fitted).__name__} has none; "
                f"its tree can be written as .nwk"
            )
        fitted.to_bif(output, component=component)
        return
    every = trees_of(fitted)
    written = every if component is None else [chosen_component(every, component)]
    write_text(output, "".join(f"{tree.topology.to_newick()}\n" for tree in written))
