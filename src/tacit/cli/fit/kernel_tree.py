"""`tacit fit kernel-tree`: a latent tree of numbers and categories."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data


class Learn(StrEnum):
    """Learners of densities."""

    auto = "auto"
    spectral = "spectral"


Learner = Annotated[
    Learn, typer.Option(help="auto: bins with smooth densities; spectral: moments of kernels.")
]
Bandwidth = Annotated[
    str,
    typer.Option(
        metavar="X|auto",
        help="How smooth densities are: in bins, or for spectral in median distances of two rows.",
    ),
]
MetricBandwidth = Annotated[
    str,
    typer.Option(metavar="X|auto", help="The same of the kernels that spectral learns trees with."),
]
KernelName = Annotated[
    str,
    typer.Option(
        "--kernel", metavar="NAME", help="Of spectral: rbf, laplacian, matern32 or matern52."
    ),
]
Bins = Annotated[str, typer.Option(metavar="N|auto", help="Bins of a column of numbers.")]
Features = Annotated[str, typer.Option(metavar="N|auto", help="Most kernel features of a column.")]


class ExpertChoice(StrEnum):
    """Which densities are mixed."""

    auto = "auto"
    tree = "tree"


Experts = Annotated[
    ExpertChoice,
    typer.Option(help="auto: the tree is mixed with Gaussian classes; tree: it stands alone."),
]
Atoms = Annotated[
    bool,
    typer.Option(help="Whether values that many rows share have probabilities."),
]
Continuous = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of numbers though it has 20 or fewer of them. May be repeated.",
    ),
]


@unfolded
def kernel_tree(
    data: Data,
    output: learning.Output,
    structure: learning.Structure = "auto",
    learn: Learner = Learn.auto,
    states: learning.States = "auto",
    components: learning.Components = "auto",
    effort: learning.Effort = learning.EffortName.default,
    bandwidth: Bandwidth = "auto",
    metric_bandwidth: MetricBandwidth = "auto",
    kernel: KernelName = "rbf",
    bins: Bins = "auto",
    features: Features = "auto",
    experts: Experts = ExpertChoice.auto,
    continuous: Continuous = None,
    *,
    atoms: Atoms = True,
    rows: learning.TableRows,
    max_iter: learning.MaxIter = 1000,
    pseudo_counts: learning.PseudoCounts = "auto",
    running: learning.Running,
) -> None:
    """Learn a latent tree of the table DATA whose columns are numbers, categories, or both.

    Columns of more than 20 different numbers keep them: whatever their density is, it is learnt.

    For example: tacit fit kernel-tree train.csv -o model.tacit
    """
    from tacit import KernelTree
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    model = KernelTree(
        n_states=learning.number_or_auto(states, int, "--states"),
        structure=structure,
        learn=learn.value,
        columns=rows.kinds(),
        continuous=continuous or [],
        bandwidth=learning.number_or_auto(bandwidth, float, "--bandwidth"),
        metric_bandwidth=learning.number_or_auto(metric_bandwidth, float, "--metric-bandwidth"),
        kernel=kernel,
        n_features=learning.number_or_auto(features, int, "--features"),
        n_bins=learning.number_or_auto(bins, int, "--bins"),
        n_components=learning.number_or_auto(components, int, "--components"),
        effort=effort.value,
        pseudo_counts=learning.number_or_auto(pseudo_counts, float, "--pseudo-counts"),
        experts=experts.value,
        atoms=atoms,
        max_iter=max_iter,
        **running.arguments(),
    )
    learning.learn_and_save(model, data, output, rows, json=running.json)
