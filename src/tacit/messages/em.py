"""EM on a tree of probability tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import Step
from tacit.messages.network import Layout
from tacit.messages.patterns import Patterns, pattern_blocks

Array = NDArray[np.float64]


class Parametrisation(Protocol):
    """How tables are made of parameters: `Layout`, where each entry is one, or `Ties`."""

    @property
    def size(self) -> int:
        """Number of parameters."""
        ...

    @property
    def row_starts(self) -> NDArray[np.int64]:
        """Where each conditional distribution starts among the parameters."""
        ...

    def values(self, parameters: Array) -> Array:
        """The flat tables that parameters make."""
        ...

    def mass(self, counts: Array) -> Array:
        """What expected counts of table entries are as counts of the parameters."""
        ...


class Expectation:
    """Log-likelihood and expected counts of tables, over the patterns of the data.

    Working space is allocated once and used again by every call.
    """

    def __init__(self, layout: Layout, blocks: Sequence[Patterns], n_jobs: int = 1) -> None:
        self.layout = layout
        self.blocks = tuple(blocks)
        self.n_jobs = n_jobs
        self._arguments = [self._prepare(block) for block in self.blocks]
        self._spare: list[tuple[Array, Array]] = []

    @classmethod
    def of(
        cls,
        layout: Layout,
        codes: NDArray[Any],
        weights: Array | None = None,
        n_jobs: int = 1,
        *,
        merge: bool = True,
    ) -> Self:
        """The E-step over the patterns of coded rows; see `Patterns.of`."""
        cards = layout.n_states[: layout.tree.n_leaves]
        blocks = pattern_blocks(codes, layout.tree, cards, weights, merge=merge)
        return cls(layout, tuple(blocks), n_jobs)

    @cached_property
    def total_weight(self) -> float:
        """Summed weights of all rows."""
        return float(sum(block.weights.sum() for block in self.blocks))

    def __call__(self, values: Array) -> tuple[float, Array]:
        """The log-likelihood of `values`, and the expected count of every entry."""
        if len(self._arguments) == 1:
            return self._one(values, 0)
        with ThreadPoolExecutor(self.n_jobs) as pool:
            parts = list(pool.map(lambda b: self._one(values, b), range(len(self.blocks))))
        # Summed in the order of the blocks: the result does not depend on the number of threads.
        log_likelihood = 0.0
        counts = np.zeros(self.layout.size)
        for value, part in parts:
            log_likelihood += value
            counts += part
        return log_likelihood, counts

    def _one(self, values: Array, block: int) -> tuple[float, Array]:
        from tacit.messages.loops.expected_counts import expected_counts

        layout, tree = self.layout, self.layout.tree
        patterns, weights, offsets = self._arguments[block]
        messages, slopes = self._space(int(offsets[-1]))
        counts = np.zeros(layout.size)
        model = (values, layout.starts, layout.columns, layout.widths, tree.n_leaves)
        value = expected_counts(
            model, tree.child_table, patterns, weights, messages, slopes, offsets, counts
        )
        self._spare.append((messages, slopes))
        return value, counts

    def _space(self, size: int) -> tuple[Array, Array]:
        try:
            spare = self._spare.pop()
        except IndexError:  # another thread may have taken the last
            spare = (np.empty(0), np.empty(0))
        return spare if len(spare[0]) >= size else (np.empty(size), np.empty(size))

    def _prepare(
        self, block: Patterns
    ) -> tuple[tuple[object, ...], tuple[object, ...], NDArray[np.int64]]:
        """Arguments of the compiled loop for a block: patterns, weights, working space for messages."""
        layout, n_nodes = self.layout, self.layout.tree.n_nodes
        if layout.rescale.any() or layout.stepwise[:-1].any():
            weights, weight_starts = block.all_weights, block.pattern_starts
        else:
            weights, weight_starts = block.weights, np.zeros(n_nodes + 1, dtype=np.int64)
        offsets = np.zeros(n_nodes + 1, dtype=np.int64)
        np.cumsum(block.n_patterns * layout.widths, out=offsets[1:])
        patterns = (block.n_patterns, block.flat_ids, block.id_starts)
        return patterns, (weights, weight_starts, layout.rescale, layout.stepwise), offsets


def normalise_rows(layout: Parametrisation, values: Array) -> Array:
    """Table rows brought to sum one; rows that are all zero become even."""
    from tacit.core.loops.acceleration import normalise

    rows: Array = normalise(values, layout.row_starts)
    return rows


@dataclass(frozen=True, eq=False)
class Prior:
    """Dirichlet pseudo-counts on every table entry."""

    pseudo: Array  # flat like the tables

    def log_density(self, values: Array) -> float:
        """Logarithm of the prior density at `values`, up to a constant."""
        from tacit.core.loops.acceleration import log_density

        return float(log_density(self.pseudo, values))


def smoothed_marginals(counts: NDArray[np.number], cards: Sequence[int]) -> Array:
    """The distributions of all leaves, one after the other, from how often their categories occur.

    Half a pseudo-count per category keeps unseen categories possible.
    """
    single = counts + 0.5
    sizes = np.array(cards)
    starts = np.cumsum(sizes) - sizes
    frequencies: Array = single / np.repeat(np.add.reduceat(single, starts), sizes)
    return frequencies


def dirichlet_prior(layout: Layout, marginals: Array, leaf: float, hidden: float) -> Prior:
    """Pseudo-counts of every table row: `leaf` spread as the leaf's marginal, `hidden` spread evenly.

    A leaf that a hidden node copies keeps its identity table: its only pseudo-counts are on the diagonal.

    Parameters
    ----------
    layout : Layout
    marginals : (category of every leaf,) array
        The distributions of all leaves, one after the other.
    leaf, hidden : float
        Pseudo-counts per row.
    """
    pseudo = hidden * layout.even
    entries = layout.leaf_entries
    pseudo[: len(entries)] = leaf * marginals[entries]
    pseudo[layout.copy_entries] = 0.0
    pseudo[layout.copy_diagonal] = 1.0
    return Prior(pseudo)


def em_step(
    expect: Callable[[Array], tuple[float, Array]], layout: Parametrisation, prior: Prior
) -> Step:
    """One step of MAP-EM: the penalised log-likelihood of the parameters, the updated ones, their mass."""
    from tacit.core.loops.acceleration import maximise

    def step(values: Array) -> tuple[float, Array, Array]:
        log_likelihood, counts = expect(layout.values(values))
        mass = layout.mass(counts)
        log_prior, updated = maximise(mass, prior.pseudo, values, layout.row_starts)
        return log_likelihood + log_prior, updated, mass

    return step


def random_start(layout: Layout, rng: np.random.Generator) -> Array:
    """Tables with entries drawn evenly and rows that sum to one; copies are copies."""
    values = rng.uniform(0.05, 1.0, layout.size)
    values[layout.copy_entries] = 0.0
    values[layout.copy_diagonal] = 1.0
    return normalise_rows(layout, values)
