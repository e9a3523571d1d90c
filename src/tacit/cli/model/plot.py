"""`tacit plot`: a picture of a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import ComponentNumber, Given, Model, Picture, given_lists

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Kind(StrEnum):
    """Pictures that there are."""

    tree = "tree"
    singular_values = "singular-values"
    transitions = "transitions"


WhatIsDrawn = Annotated[
    Kind | None,
    typer.Option(help="What is drawn; else the tree, or states and transitions."),
]
DensityOf = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Draw the density of a column instead, or its categories' probabilities.",
    ),
]
StatesOf = Annotated[
    Path | None,
    typer.Option(
        metavar="DATA", help="Draw the hidden states over time of a sequence of this file instead."
    ),
]


def plot(
    model: Model,
    output: Picture,
    kind: WhatIsDrawn = None,
    density: DensityOf = None,
    given: Given = None,
    component: ComponentNumber = None,
    posterior: StatesOf = None,
    sequence: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which sequence of that file.")
    ] = None,
    path: Annotated[
        bool, typer.Option("--path", help="With --posterior, the Viterbi path as well.")
    ] = False,
) -> None:
    """Draw the tree of a model, the density of a column given others, or singular values.

    Of a hidden Markov model or an automaton, its states and transitions, or the posterior of the states
    of a sequence.
    Of topics, their weights and words.
    Of a mixture the heaviest tree is drawn, or that of --component. With --density and --given COLUMN=A|B
    there is one curve for each value, numbers as well.

    For example: tacit plot model.tacit -o income.svg --density income --given "smoker=yes|no"
    """
    from tacit import load
    from tacit.cli.kinds import check_can

    if density is None and given:
        raise typer.BadParameter("it goes with --density", param_hint="--given")
    if posterior is None and sequence is not None:
        raise typer.BadParameter("it goes with --posterior", param_hint="--sequence")
    if posterior is None and path:
        raise typer.BadParameter("it goes with --posterior", param_hint="--path")
    if density is not None and (kind is not None or component is not None):
        raise typer.BadParameter(
            "it goes neither with --kind nor with --component", param_hint="--density"
        )
    picture_kind(output)  # before the work, not after it
    fitted = load(model)
    if posterior is not None:
        if kind is not None:
            raise typer.BadParameter("it does not go with --kind", param_hint="--posterior")
        check_can(fitted, "paths", "hidden states over time (fit hmm)")
        axes = _posterior(fitted, posterior, sequence, path=path)
    elif density is not None:
        check_can(fitted, "predict", "columns with densities", "table")
        axes = _density(fitted, density, given)
    else:
        axes = _picture(fitted, kind, component)
    save_picture(axes, output)


def _picture(fitted: Any, kind: Kind | None, component: int | None) -> Axes:
    """What is drawn of a model by default, or the picture of this name."""
    from tacit import plot as pictures
    from tacit.cli.answers.trees import trees_of
    from tacit.cli.kinds import check_can, not_available
    from tacit.trees.model.components import chosen_component

    if kind is Kind.singular_values:
        check_can(fitted, "singular values", "singular values", fitted.kind)
        return pictures.singular_values(fitted)
    if fitted.kind == "topics" and kind is None and component is None:
        return pictures.topics(fitted)
    if kind is Kind.transitions or (kind is None and fitted.kind == "sequences"):
        check_can(fitted, "transitions", "states with transitions (fit hmm)")
        return pictures.transitions(fitted)
    if "tree" not in fitted.abilities:
        raise not_available(fitted, "has no tree to draw" if kind else "has no picture")
    if component is None:
        return pictures.tree(fitted)
    return pictures.tree(chosen_component(trees_of(fitted), component))


def _posterior(fitted: Any, data: Path, sequence: str | None, *, path: bool) -> Axes:
    """The hidden states over time of a sequence of a file."""
    from tacit import plot as pictures
    from tacit.cli.answers.gaussian_hmm import chosen_numbers
    from tacit.cli.answers.symbol_sequences import chosen_symbols

    chosen = chosen_numbers if fitted.can("numbers") else chosen_symbols
    draw = pictures.states if path else pictures.posterior
    return draw(fitted, chosen(fitted, data, sequence))


def _density(fitted: Any, target: str, given: list[str] | None) -> Axes:
    from tacit import plot as pictures
    from tacit.cli.answers.conditionals import rows_of_given
    from tacit.errors import ArgumentError

    fitted.schema_.index(target)  # raises with the nearest name where there is none
    known = given_lists(fitted, given)
    if target in known:
        raise ArgumentError(f"{target!r} is both drawn and given")
    return pictures.conditional_density(fitted, target, rows_of_given(known) if known else None)


def picture_kind(path: Path) -> str:
    """The picture format of a path, such as svg.

    Raises
    ------
    ArgumentError
        The suffix is not that of a picture.
    DependencyError
        matplotlib is not installed.
    """
    from tacit.errors import ArgumentError
    from tacit.plot.style import pyplot

    pyplot()
    from matplotlib.backend_bases import FigureCanvasBase

    kind = path.suffix.lower().removeprefix(".")
    if kind not in FigureCanvasBase.get_supported_filetypes():
        raise ArgumentError(f"{str(path)!r} does not end like a picture; try .svg, .png or .pdf")
    return kind


def save_picture(axes: Axes, path: Path) -> None:
    """Write the figure of some axes to a file, whole or not at all, and close it."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from tacit.core.files.atomic import atomic_path

    figure = axes.get_figure(root=True)
    assert figure is not None
    try:
        kind = picture_kind(path)
        # Text stays text in an SVG file, and the same model gives the same bytes.
        style: Any = {"svg.fonttype": "none", "svg.hashsalt": "tacit"}
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        with atomic_path(path) as temporary, mpl.rc_context(style):
            figure.savefig(temporary, format=kind, dpi=160, metadata=metadata)
    finally:
        plt.close(figure)
