"""`tacit structure`: the tree over the columns of a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.options import Data, Json

if TYPE_CHECKING:
    from tacit.trees.learn.selection.structures import LearntStructure


class Method(StrEnum):
    """Methods of structure learning."""

    refined_joining = "refined-joining"
    neighbor_joining = "neighbor-joining"
    chow_liu_joining = "chow-liu-joining"
    recursive_grouping = "recursive-grouping"
    chow_liu_grouping = "chow-liu-grouping"
    chow_liu = "chow-liu"
    hidden_chow_liu = "hidden-chow-liu"
    star = "star"


class Metric(StrEnum):
    """Metrics of distances between columns."""

    discrete = "discrete"
    gaussian = "gaussian"
    nonparanormal = "nonparanormal"
    kernel = "kernel"


TreeOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="A .nwk file; without it, print the tree."),
]
TreePicture = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw the tree: .svg, .png or .pdf.")
]
Distances = Annotated[
    Metric,
    typer.Option(
        help="Distances of categories, of numbers, of the numbers' normal scores, or of both by kernels."
    ),
]
Supported = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="K",
        help="Hidden states that distances allow for; without it, what the data support.",
    ),
]


def structure(
    data: Data,
    output: TreeOutput = None,
    method: Annotated[
        Method, typer.Option(help="How the tree is learnt.")
    ] = Method.refined_joining,
    picture: TreePicture = None,
    metric: Distances = Metric.discrete,
    states: Supported = None,
    drop: learning.Drop = None,
    bins: learning.Bins = 5,
    jobs: learning.Jobs = None,
    json: Json = False,
) -> None:
    """Learn the tree over the columns of the table DATA, without parameters.

    For example: tacit structure train.csv -o tree.nwk --plot tree.svg

    Parameters of it: tacit fit tree train.csv --structure tree.nwk -o m.tacit
    """
    from tacit.cli.answers.table_files import without
    from tacit.cli.model.export import check_newick_path
    from tacit.cli.model.plot import picture_kind, save_picture
    from tacit.core.files.atomic import write_text
    from tacit.trees.learn.selection.structures import structure_and_distances

    if output is not None:  # before the work, not after it
        check_newick_path(output)
    if picture is not None:
        picture_kind(picture)
    learnt = structure_and_distances(
        without(data, drop) if drop else data,
        method.value,
        n_states=states,
        metric=metric.value,
        n_bins=bins,
        n_jobs=jobs,
        progress=True,
    )
    if output is not None:
        write_text(output, learnt.topology.to_newick() + "\n")
    if picture is not None:
        from tacit import plot

        save_picture(plot.tree(learnt.topology), picture)
    _report(learnt, method.value, output, json=json)


def _report(learnt: LearntStructure, method: str, output: Path | None, *, json: bool) -> None:
    """Report what was learnt: in a line, in JSON, or the tree itself if it was not written to a file."""
    from tacit.cli.output import console, print_json

    topology = learnt.topology
    if json:
        record: dict[str, Any] = {
            "method": method,
            "n_columns": len(topology.observed),
            "n_hidden": len(topology.hidden),
            "n_unsupported": learnt.n_unsupported,
            "newick": topology.to_newick(),
        }
        print_json(record if output is None else {"tree": str(output), **record})
    elif output is None:
        typer.echo(topology.to_newick())
    else:
        hidden = len(topology.hidden)
        console().print(
            f"{method}: {len(topology.observed)} columns, {hidden} hidden node"
            f"{'' if hidden == 1 else 's'}{_unsupported(learnt)}; written to {output}",
            markup=False,
        )


def _unsupported(learnt: LearntStructure) -> str:
    """A note on distances that the data do not support, if the method uses distances."""
    if learnt.distances is None:
        return ""
    n_pairs = learnt.distances.values.shape[0] * (learnt.distances.values.shape[0] - 1) // 2
    return f", {learnt.n_unsupported} of {n_pairs} distances unsupported"
