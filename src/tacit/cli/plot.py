"""`tacit plot`: a picture of a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Kind(StrEnum):
    """Pictures that there are."""

    tree = "tree"
    singular_values = "singular-values"


def plot(
    model: Model,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The picture: .svg, .png or .pdf."),
    ],
    kind: Annotated[Kind, typer.Option(help="What is drawn.")] = Kind.tree,
) -> None:
    """Draw the tree of a model, or the singular values behind it."""
    from tacit import load
    from tacit import plot as pictures

    fitted = load(model)
    drawn = pictures.tree if kind is Kind.tree else pictures.singular_values
    save_picture(drawn(fitted), output)


def save_picture(axes: Axes, path: Path) -> None:
    """Write the figure of some axes to a file, whole or not at all, and close it."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from tacit.errors import ArgumentError
    from tacit.files.atomic import atomic_path

    figure = axes.get_figure(root=True)
    assert figure is not None
    known = figure.canvas.get_supported_filetypes()
    kind = path.suffix.lower().removeprefix(".")
    try:
        if kind not in known:
            raise ArgumentError(
                f"{str(path)!r} does not end like a picture; try .svg, .png or .pdf"
            )
        # Text stays text in an SVG file, and the same model gives the same bytes.
        style: Any = {"svg.fonttype": "none", "svg.hashsalt": "tacit"}
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        with atomic_path(path) as temporary, mpl.rc_context(style):
            figure.savefig(temporary, format=kind, dpi=160, metadata=metadata)
    finally:
        plt.close(figure)
