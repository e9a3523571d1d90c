"""`tacit fit gaussian-tree`: a Gaussian or nonparanormal tree."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data


class Margins(StrEnum):
    """Distributions of columns of numbers."""

    normal_scores = "normal-scores"
    gaussian = "gaussian"


class Learn(StrEnum):
    """Learners of correlations."""

    em = "em"
    distances = "distances"


@unfolded
def gaussian_tree(
    data: Data,
    output: learning.Output,
    structure: learning.Structure = "auto",
    margins: Annotated[
        Margins,
        typer.Option(help="Distribution of a column of numbers: any, from its ranks, or Gaussian."),
    ] = Margins.normal_scores,
    shrinkage: Annotated[
        str,
        typer.Option(
            metavar="X|auto", help="From 0, the tree alone, to 1, a Gaussian without a tree."
        ),
    ] = "auto",
    learn: Annotated[Learn, typer.Option(help="How correlations are learnt.")] = Learn.em,
    prior: Annotated[
        float, typer.Option(metavar="N", help="Number of additional uncorrelated rows.")
    ] = 1.0,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column of numbers that are categories. May be repeated."
        ),
    ] = None,
    *,
    rows: learning.TableRows,
    running: learning.Running,
) -> None:
    """Learn a tree of Gaussian variables from the table DATA.

    By default columns of numbers may have any distribution, and their normal scores are Gaussian; with
    --margins gaussian the numbers themselves are. Categories enter as indicators.

    For example: tacit fit gaussian-tree train.csv -o model.tacit --shrinkage 0
    """
    from tacit import GaussianTree
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    model = GaussianTree(
        structure=structure,
        margins=margins.value,
        shrinkage=learning.number_or_auto(shrinkage, float, "--shrinkage"),
        learn=learn.value,
        prior=prior,
        categorical=categorical or "scores",
        columns=rows.kinds(),
        **running.arguments(),
    )
    learning.learn_and_save(model, data, output, rows, json=running.json)
