"""Any tree model as one or more weighted networks, the form that all queries use.

A single tree is a mixture of one. Values of components are added in logarithms, so that nothing under-runs
however many leaves there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.messages.evidence import Evidence, check_evidence
from tacit.messages.mixture import Mixture
from tacit.messages.network import Network, Tables
from tacit.messages.passes import row_blocks, rows_at_once, upward
from tacit.messages.repairs import Repairs, distributions

Array = NDArray[np.float64]

# What queries accept: the engine's form, or a model that converts to it.
Learnt = Network | Tables | Mixture


@dataclass(frozen=True, eq=False)
class Parts:
    """Networks over the same leaves, and their weights."""

    weights: Array  # (component,)
    networks: tuple[Network, ...]  # (component,)

    @property
    def first(self) -> Network:
        """The first network; all have the same leaves."""
        return self.networks[0]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.first.tree.n_leaves

    @cached_property
    def cards(self) -> list[int]:
        """Number of categories of each leaf."""
        return [len(emit) for emit in self.first.emit]

    @property
    def several(self) -> bool:
        """Whether there is more than one network."""
        return len(self.networks) > 1

    @property
    def has_tables(self) -> bool:
        """Whether every hidden node holds probabilities; always so where there are several networks."""
        return all(network.has_tables for network in self.networks)

    @property
    def log_weights(self) -> Array:
        """Natural log of the weights, -inf for a component of weight zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    def blocks(self, n_rows: int, block_rows: int | None) -> Iterator[slice]:
        """Stretches of rows, each small enough for a pass over any of the networks: see `row_blocks`."""
        if block_rows is None:
            block_rows = min(rows_at_once(network) for network in self.networks)
        return row_blocks(self.first, n_rows, block_rows)

    def values(self, evidence: Evidence) -> tuple[Array, Array]:
        """Sign and log of the absolute value of each row, for rows that fit one block."""
        if not self.several:
            return upward(self.first, evidence).values()
        log_prob = np.logaddexp.reduce(self.log_joint(evidence), axis=0)
        return (log_prob > -np.inf).astype(np.float64), log_prob

    def log_joint(self, evidence: Evidence) -> Array:
        """Log of each component's part (component, row) in the probability of the rows of one block."""
        log_values = np.stack([upward(network, evidence).values()[1] for network in self.networks])
        return log_values + self.log_weights[:, None]


def parts_of(learnt: Learnt | Parts) -> Parts:
    """What was learnt as weighted networks."""
    if isinstance(learnt, Mixture):
        return Parts(learnt.weights, learnt.networks)
    if isinstance(learnt, Parts):
        return learnt
    return Parts(np.ones(1), (learnt.network if isinstance(learnt, Tables) else learnt,))


@one_blas_thread()
def component_log_prob(
    learnt: Learnt | Parts, evidence: Evidence, *, block_rows: int | None = None
) -> Array:
    """Natural log of P(row and component), of what was observed of each row.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
        Of probability tables.
    evidence : Evidence
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    (component, row) array
        -inf where a component calls the row impossible. ``np.logaddexp.reduce`` over the components is the
        log-probability of the row.
    """
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    log_probs = np.empty((len(parts.networks), evidence.n_rows))
    for part in parts.blocks(evidence.n_rows, block_rows):
        log_probs[:, part] = parts.log_joint(evidence.rows(part))
    return log_probs


def responsibilities(
    learnt: Learnt | Parts, evidence: Evidence, *, block_rows: int | None = None
) -> tuple[Array, Repairs]:
    """P(component | what was observed of the row), for each row.

    Parameters are those of `component_log_prob`.

    Returns
    -------
    (row, component) array
        Rows sum to one. A row that all components call impossible gets the weights and is counted as
        undefined.
    Repairs
    """
    log_joint = component_log_prob(learnt, evidence, block_rows=block_rows)
    largest = log_joint.max(axis=0)
    joint = np.exp(log_joint - np.where(np.isfinite(largest), largest, 0.0))
    table, repairs = distributions(joint, parts_of(learnt).weights)
    return table.T, repairs
