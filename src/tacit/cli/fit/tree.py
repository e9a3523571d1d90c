"""`tacit fit tree`: a latent tree of categories."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from tacit.cli.fit import learning
from tacit.cli.groups import unfolded
from tacit.cli.options import Data


class Learn(StrEnum):
    """Learners of a tree's parameters."""

    auto = "auto"
    spectral = "spectral"
    hierarchical = "hierarchical"
    mossel_roch = "mossel-roch"
    em = "em"
    online_em = "online-em"


@unfolded
def tree(
    data: Data,
    output: learning.Output,
    structure: learning.Structure = "auto",
    learn: Annotated[Learn, learning.HOW_LEARNT] = Learn.auto,
    states: learning.States = "auto",
    components: learning.Components = "auto",
    effort: learning.Effort = learning.EffortName.default,
    *,
    rows: learning.TableRows,
    iterating: learning.Iterating,
    running: learning.Running,
) -> None:
    """Learn a latent tree from the table DATA; numbers are cut into bins.

    For example: tacit fit tree train.csv -o model.tacit
    """
    from tacit import LatentTree
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    model = LatentTree(
        n_states=learning.number_or_auto(states, int, "--states"),
        structure=structure,
        learn=learn.value,
        n_components=learning.number_or_auto(components, int, "--components"),
        effort=effort.value,
        columns=rows.kinds(),
        **iterating.arguments(),
        **running.arguments(),
    )
    learning.learn_and_save(model, data, output, rows, json=running.json)
