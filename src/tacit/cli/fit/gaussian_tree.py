"""`tacit fit gaussian-tree`: a Gaussian or nonparanormal tree."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data


class Transform(StrEnum):
    """What of a number is Gaussian."""

    none = "none"
    normal_scores = "normal-scores"


class Learn(StrEnum):
    """Ways of learning correlations."""

    em = "em"
    distances = "distances"


@unfolded
def gaussian_tree(
    data: Data,
    output: learning.Output,
    structure: learning.Structure = "auto",
    transform: Annotated[
        Transform,
        typer.Option(help="What of a number is Gaussian: itself, or the normal score of its rank."),
    ] = Transform.none,
    shrinkage: Annotated[
        str,
        typer.Option(
            metavar="X|auto", help="From 0, the tree alone, to 1, a Gaussian without a tree."
        ),
    ] = "0",
    learn: Annotated[Learn, typer.Option(help="How correlations are learnt.")] = Learn.em,
    prior: Annotated[
        float, typer.Option(metavar="N", help="Rows without any correlation that are added.")
    ] = 1.0,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column of numbers that are categories. May be repeated."
        ),
    ] = None,
    *,
    rows: learning.Rows,
    running: learning.Running,
) -> None:
    """Learn a tree of Gaussian variables from the table DATA.

    With --transform normal-scores columns of numbers have whatever distribution they have, and their
    ranks hang together as in a Gaussian tree. Categories enter as indicators.

    For example: tacit fit gaussian-tree train.csv -o model.tacit --transform normal-scores
    """
    from tacit import GaussianTree
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    model = GaussianTree(
        structure=structure,
        transform=None if transform is Transform.none else transform.value,
        shrinkage=learning.number_or_auto(shrinkage, float, "--shrinkage"),
        learn=learn.value,
        prior=prior,
        categorical=categorical or "scores",
        **running.arguments(),
    )
    learning.learn_and_save(model, data, output, rows, json=running.json)
