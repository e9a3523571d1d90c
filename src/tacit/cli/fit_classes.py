"""`tacit fit classes`: groups of rows of a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli import learning
from tacit.cli.options import Data, Json

FEWEST_COLUMNS = 3  # two could be of any classes


class Learn(StrEnum):
    """Ways of learning the tables of classes."""

    auto = "auto"
    tensor = "tensor"
    spectral = "spectral"
    hierarchical = "hierarchical"
    mossel_roch = "mossel-roch"
    em = "em"
    online_em = "online-em"


def classes(
    data: Data,
    output: learning.Output,
    number: Annotated[
        str, typer.Option("--classes", "-k", metavar="N|auto", help="How many classes.")
    ] = "auto",
    learn: Annotated[Learn, typer.Option(help="How tables are learnt.")] = Learn.auto,
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
    """Learn latent classes from the table DATA: rows fall into groups within which columns are independent.

    Numbers are cut into bins. `tacit predict --states` tells the class of each row.

    For example: tacit fit classes train.csv -k 4 -o classes.tacit
    """
    from tacit import LatentClass
    from tacit.files.models import check_suffix

    check_suffix(output)  # before the work, not after it
    model = LatentClass(
        n_states=learning.number_or_auto(number, int, "--classes"),
        learn=learn.value,
        n_restarts=restarts,
        tol=tol,
        max_iter=max_iter,
        pseudo_counts=learning.number_or_auto(pseudo_counts, float, "--pseudo-counts"),
        n_bins=bins,
        n_jobs=jobs,
        progress=True,
        random_state=seed,
    )
    learning.learn_and_save(
        model, data, output, validation=validation, drop=drop, json=json, fewest=FEWEST_COLUMNS
    )
