"""`tacit fit classes`: groups of rows of a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data

FEWEST_COLUMNS = 3  # two could be of any classes


class Learn(StrEnum):
    """Learners of the tables of classes."""

    auto = "auto"
    tensor = "tensor"
    spectral = "spectral"
    hierarchical = "hierarchical"
    mossel_roch = "mossel-roch"
    em = "em"
    online_em = "online-em"


@unfolded
def classes(
    data: Data,
    output: learning.Output,
    number: Annotated[
        str, typer.Option("--classes", "-k", metavar="N|auto", help="How many classes.")
    ] = "auto",
    learn: Annotated[Learn, typer.Option(help="How tables are learnt.")] = Learn.auto,
    effort: learning.Effort = learning.EffortName.default,
    *,
    rows: learning.TableRows,
    iterating: learning.Iterating,
    running: learning.Running,
) -> None:
    """Learn latent classes from the table DATA: rows fall into groups within which columns are independent.

    Numbers are cut into bins. `tacit predict --states` gives the class of each row.

    For example: tacit fit classes train.csv -k 4 -o classes.tacit
    """
    from tacit import LatentClass
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    model = LatentClass(
        n_states=learning.number_or_auto(number, int, "--classes"),
        learn=learn.value,
        effort=effort.value,
        columns=rows.kinds(),
        **iterating.arguments(),
        **running.arguments(),
    )
    learning.learn_and_save(model, data, output, rows, json=running.json, fewest=FEWEST_COLUMNS)
