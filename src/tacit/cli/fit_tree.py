"""`tacit fit tree`: a latent tree of categories."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli import learning
from tacit.cli.options import Data, Json


class Learn(StrEnum):
    """Ways of learning a tree's parameters."""

    auto = "auto"
    spectral = "spectral"
    hierarchical = "hierarchical"
    mossel_roch = "mossel-roch"
    em = "em"
    online_em = "online-em"


def tree(
    data: Data,
    output: learning.Output,
    structure: learning.Structure = "auto",
    learn: Annotated[Learn, typer.Option(help="How parameters are learnt.")] = Learn.auto,
    states: learning.States = "auto",
    components: learning.Components = "auto",
    validation: learning.Validation = None,
    drop: learning.Drop = None,
    restarts: learning.Restarts = 5,
    tol: learning.Tolerance = 1e-4,
    max_iter: learning.MaxIter = 1000,
    pseudo_counts: learning.PseudoCounts = "auto",
    bins: learning.Bins = 5,
    seed: learning.Seed = 0,
    jobs: learning.Jobs = None,
    json: Json = False,
) -> None:
    """Learn a latent tree from the table DATA; numbers are cut into bins.

    For example: tacit fit tree train.csv -o model.tacit
    """
    from tacit import LatentTree
    from tacit.files.models import check_suffix

    check_suffix(output)  # before the work, not after it
    model = LatentTree(
        n_states=learning.number_or_auto(states, int, "--states"),
        structure=structure,
        learn=learn.value,
        n_components=learning.number_or_auto(components, int, "--components"),
        n_restarts=restarts,
        tol=tol,
        max_iter=max_iter,
        pseudo_counts=learning.number_or_auto(pseudo_counts, float, "--pseudo-counts"),
        n_bins=bins,
        n_jobs=jobs,
        progress=True,
        random_state=seed,
    )
    learning.learn_and_save(model, data, output, validation=validation, drop=drop, json=json)
