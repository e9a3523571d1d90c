"""The most probable values of all hidden and missing variables together, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.hidden_states import Completion
from tacit.messages.mixture import COMPONENT, Mixture
from tacit.messages.weighted_networks import Learnt, parts_of

States = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Assignment:
    """A value of every variable, hidden ones too, for each row."""

    rows: Any  # the table without missing cells, of the caller's kind
    hidden: Mapping[str, States]  # (row,) the state of each hidden variable
    log_prob: NDArray[
        np.float64
    ]  # (row,) of the row and its hidden states together; -inf if impossible


def hidden_by_name(learnt: Learnt, completion: Completion) -> dict[str, States]:
    """The hidden states of completed rows, by the names that `posterior_by_name` gives them.

    Of a mixture, ``"component"`` is the tree that each row is from; the hidden nodes of the other trees have
    no state in that row, and are -1.
    """
    states: dict[str, States] = {}
    prefix = ""
    if isinstance(learnt, Mixture):
        states[COMPONENT] = completion.component
    for number, network in enumerate(parts_of(learnt).networks):
        if isinstance(learnt, Mixture):
            prefix = f"{number}/"
        chosen = completion.component == number
        for place, node in enumerate(network.tree.hidden):
            column = np.where(chosen, completion.hidden[:, place], -1)
            states[prefix + network.tree.names[node]] = column.astype(np.int32)
    return states
