"""`tacit plot`: a picture of a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import (
    ComponentNumber,
    Given,
    Model,
    Picture,
    asked_model,
    given_lists,
    is_topic_model,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Kind(StrEnum):
    """Pictures that there are."""

    tree = "tree"
    singular_values = "singular-values"
    transitions = "transitions"


WhatIsDrawn = Annotated[
    Kind | None,
    typer.Option(help="What is drawn; else the tree, or the states and moves of a chain."),
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
) -> None:
    """Draw the tree of a model, the density of a column given others, or singular values.

    Of a hidden Markov model or an automaton, its states and moves, or what a sequence says of the states.
    Of topics, their weights and words.
    Of a mixture the heaviest tree is drawn, or the one asked for. With --density and --given COLUMN=A|B
    there is one curve for each value, numbers as well.

    For example: tacit plot model.tacit -o income.svg --density income --given "smoker=yes|no"
    """
    from tacit.cli.answers.number_sequences import check_of_rows
    from tacit.errors import NotAvailableError

    if density is None and given:
        raise typer.BadParameter("it goes with --density", param_hint="--given")
    if posterior is None and sequence is not None:
        raise typer.BadParameter("it goes with --posterior", param_hint="--sequence")
    if density is not None and (kind is not None or component is not None):
        raise typer.BadParameter(
            "it goes neither with --kind nor with --component", param_hint="--density"
        )
    picture_kind(output)  # before the work, not after it
    fitted = asked_model(model, topics=True)
    if is_topic_model(fitted):
        axes = _topics(fitted, kind, asked=density or posterior)
    elif hasattr(fitted, "symbols_"):
        if density is not None or component is not None or kind is Kind.tree:
            check_of_rows(fitted)  # says what there is
        axes = _chain(fitted, kind, posterior, sequence)
    else:
        check_of_rows(fitted)
        if kind is Kind.transitions or posterior is not None:
            raise NotAvailableError(
                f"{type(fitted).__name__} is a model of rows; states over time are those of sequences "
                f"(fit hmm)"
            )
        axes = (
            _rows(fitted, kind, component) if density is None else _density(fitted, density, given)
        )
    save_picture(axes, output)


def _rows(fitted: Any, kind: Kind | None, component: int | None) -> Axes:
    """The picture of a model of rows: a tree of it, or singular values."""
    from tacit import plot as pictures
    from tacit.cli.answers.trees import trees_of
    from tacit.trees.model.components import chosen_component

    if kind is Kind.singular_values:
        return pictures.singular_values(fitted)
    if component is None:
        return pictures.tree(fitted)
    return pictures.tree(chosen_component(trees_of(fitted), component))


def _chain(fitted: Any, kind: Kind | None, posterior: Path | None, sequence: str | None) -> Axes:
    """The picture of a model of sequences with hidden states, or of an automaton."""
    from tacit import plot as pictures
    from tacit.cli.answers.gaussian_hmm import chosen_numbers, shows_numbers
    from tacit.cli.answers.symbol_sequences import chosen_symbols

    if posterior is not None:
        if kind is not None:
            raise typer.BadParameter("it does not go with --kind", param_hint="--posterior")
        chosen = chosen_numbers if shows_numbers(fitted) else chosen_symbols
        return pictures.posterior(fitted, chosen(fitted, posterior, sequence))
    if kind is Kind.singular_values:
        return pictures.singular_values(fitted)
    return pictures.transitions(fitted)


def _topics(fitted: Any, kind: Kind | None, *, asked: Any) -> Axes:
    """The picture of topics, or of the eigenvalues of pairs of words, where no other one is asked for."""
    from tacit import plot as pictures
    from tacit.errors import NotAvailableError

    if asked or kind not in (None, Kind.singular_values):
        raise NotAvailableError(
            f"{type(fitted).__name__} has two pictures: topics with their weights and words, and with --kind "
            f"singular-values how many topics pairs of words show"
        )
    return pictures.singular_values(fitted) if kind else pictures.topics(fitted)


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
    """What kind of picture a path ends like, such as svg.

    Raises
    ------
    ArgumentError
        It does not end like a picture.
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
