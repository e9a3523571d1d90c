"""`tacit fit junction`: a latent graph of low treewidth, or an HMM of higher order or of several chains."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data


class Learn(StrEnum):
    """Learners of a junction tree's parameters."""

    auto = "auto"
    spectral = "spectral"
    em = "em"
    online_em = "online-em"


Graph = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|EDGES",
        help="A file with an edge 'parent -> child' (or 'parent,child', 'parent child') on each line, "
        "GraphML or GML, or the edges themselves: 'h -> x; h -> y'.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="N|auto",
        help="Instead: an HMM of this order, 0 for independent columns; auto: held-out rows choose.",
    ),
]
Chains = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Instead: an HMM of so many hidden chains."),
]
Homogeneous = Annotated[
    bool, typer.Option("--homogeneous", help="All places of an HMM share their parameters.")
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Say what learning would take, and learn nothing.")
]
States = Annotated[
    str,
    typer.Option(metavar="N|auto|NAME=N,...", help="States of all, or of each, hidden variable."),
]


@unfolded
def junction(
    data: Data,
    output: learning.OutputUnlessPlanned = None,
    graph: Graph = None,
    order: Order = None,
    chains: Chains = None,
    homogeneous: Homogeneous = False,
    plan: Plan = False,
    learn: Annotated[Learn, learning.HOW_LEARNT] = Learn.auto,
    states: States = "auto",
    *,
    rows: learning.Rows,
    iterating: learning.Iterating,
    running: learning.Running,
) -> None:
    """Learn the parameters of a graph of observed and hidden variables from the table DATA.

    Variables of the graph that are named like a column are observed, all others are hidden. The columns of
    an HMM are its places in time, in the order of the table.

    For example: tacit fit junction train.csv -o model.tacit --order 2
    """
    from tacit.core.files.container import check_suffix

    if output is None and not plan:
        raise typer.BadParameter("say where the model goes, or --plan", param_hint="--output")
    if output is not None:
        check_suffix(output)  # before the work, not after it
    model = _model(graph, order, chains, homogeneous=homogeneous)
    model.set_params(
        n_states=_states(states),
        learn=learn.value,
        **iterating.arguments(),
        **running.arguments(),
    )
    if plan:
        _print_plan(model.plan(rows.of(data)), json=running.json)
        return
    assert output is not None
    learning.learn_and_save(model, data, output, rows, json=running.json)


def _model(graph: str | None, order: str | None, chains: int | None, *, homogeneous: bool) -> Any:
    """The estimator that the options name."""
    from tacit import FactorialHMM, HigherOrderHMM, LatentJunctionTree
    from tacit.junction.files.graphs import read_graph

    if sum(option is not None for option in (graph, order, chains)) != 1:
        raise typer.BadParameter(
            "give one of --graph, --order and --chains", param_hint="--graph, --order, --chains"
        )
    if order is not None:
        return HigherOrderHMM(_order(order), homogeneous=homogeneous)
    if chains is not None:
        return FactorialHMM(chains, homogeneous=homogeneous)
    if homogeneous:
        raise typer.BadParameter(
            "it goes with --order or --chains; a graph has no places in time",
            param_hint="--homogeneous",
        )
    assert graph is not None
    return LatentJunctionTree(read_graph(graph))


def _order(text: str) -> int | str:
    """A number that is not negative, or auto."""
    order: int | str = learning.number_or_auto(text, int, "--order")
    if isinstance(order, int) and order < 0:
        raise typer.BadParameter(f"{text!r} is negative", param_hint="--order")
    return order


def _states(text: str) -> Any:
    """A number, auto, or a number for each name."""
    if "=" not in text:
        return learning.number_or_auto(text, int, "--states")
    counts = {}
    for part in text.split(","):
        name, _, count = part.rpartition("=")
        try:
            counts[name.strip()] = int(count)
        except ValueError as error:
            raise typer.BadParameter(
                f"{part.strip()!r} is not NAME=N", param_hint="--states"
            ) from error
    return counts


def _print_plan(plan: Any, *, json: bool) -> None:
    from dataclasses import asdict

    from tacit.cli.output import console, print_json

    if json:
        print_json(asdict(plan))
    else:
        console().print(str(plan), markup=False)
