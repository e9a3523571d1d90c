"""Model selection for kernel trees: bandwidth, rank and number of views, by held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RankError, TooExpensiveError
from tacit.messages.evidence import nothing
from tacit.messages.network import Chain, Dense, Network, Pointwise
from tacit.messages.passes import log_values
from tacit.numbers.learn.observed_trees import is_observed, observed_network
from tacit.numbers.query.evidence import log_conditionals, log_densities
from tacit.trees.learn.selection.states import known_states, state_counts
from tacit.trees.learn.spectral.operators import spectral

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.numbers.learn.kernels import KernelOptions
    from tacit.trees.learn.number_features import FeatureColumns, Split
    from tacit.trees.moments.features import FeatureMoments
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# The start of the search: bandwidth (in median distances, for a thousand rows), rank, views.
FIRST_BANDWIDTH, FIRST_RANK, FIRST_VIEWS = 0.4, 3, 10
RANKS = (1, 2, 3, 4, 6, 8, 12, 16)
SMALL_RANK = 8
VIEWS = (1, 3, 5, 10, 20, 50)
STEP = 2**0.5  # between bandwidths
MIN_BANDWIDTH, MAX_BANDWIDTH = 0.02, 2.0
# Bandwidths shrink with this power of the number of rows.
RATE = 0.2

Step = Callable[["Choice"], "Choice | None"]


@dataclass(frozen=True)
class Choice:
    """Bandwidth, rank and number of views."""

    bandwidth: float  # multiple of the median distance
    rank: int
    n_views: int


@dataclass(frozen=True, eq=False)
class Search:
    """Held-out scores of choices, each computed once."""

    columns: FeatureColumns
    split: Split
    options: KernelOptions
    scores: dict[tuple[Topology, Choice], Array] = field(default_factory=dict)
    moments: dict[float, FeatureMoments] = field(default_factory=dict)  # by bandwidth

    @property
    def first(self) -> Choice:
        """The start of the search."""
        options, n_rows = self.options, max(self.split.learning.n_rows, 1)
        bandwidth = FIRST_BANDWIDTH * (n_rows / 1000) ** -RATE
        return Choice(
            float(bandwidth if isinstance(options.bandwidth, str) else options.bandwidth),
            int(options.n_states) if isinstance(options.n_states, Integral) else FIRST_RANK,
            FIRST_VIEWS if isinstance(options.n_views, str) else int(options.n_views),
        )

    @cached_property
    def masked(self) -> NDArray[np.bool_]:
        """(row, column) Cells of the held-out rows that are predicted from the others."""
        from tacit.numbers.data.masking import masked_cells

        assert self.split.judging is not None
        return masked_cells(self.split.judging, np.random.default_rng(self.options.settings.seed))

    def _log_densities(self, network: Network, encoders: Sequence[Encoder]) -> Array:
        """(row,) Log-densities of held-out rows; of three or more columns, of masked cells given the others.

        The joint density of many columns is a product of many estimates, any of which may be negative, and
        says little about the conditionals.
        """
        rows, margins = self.split.judging, self.columns.margins
        assert rows is not None
        if len(encoders) <= 2:
            return log_densities(network, rows, encoders, margins)[0]
        return log_conditionals(network, rows, self.masked, encoders, margins)

    def rows(self, topology: Topology, choice: Choice) -> Array:
        """(row,) Log-densities of the held-out rows."""
        key = topology, choice
        if key not in self.scores:
            assert self.split.judging is not None
            columns, bandwidth = self.columns, choice.bandwidth
            if bandwidth not in self.moments:
                self.moments[bandwidth] = columns.moments(self.split.learning, bandwidth)
            try:
                network, _ = fitted_operators(
                    topology, self.moments[bandwidth], choice, self.options
                )
                scores = self._log_densities(network, columns.encoders(bandwidth))
            except (RankError, TooExpensiveError):
                scores = np.full(self.split.judging.n_rows, -np.inf)
            self.scores[key] = scores
        return self.scores[key]

    def score(self, topology: Topology, choice: Choice) -> float:
        """Their mean."""
        assert self.split.judging is not None
        weights = self.split.judging.weights
        return float(np.average(self.rows(topology, choice), weights=weights))

    def best_rank(self, topology: Topology, start: Choice) -> Choice:
        """The best of all small ranks: one too many may be worse than two too many."""
        candidates = [replace(start, rank=rank) for rank in RANKS if rank <= SMALL_RANK]
        best = max(candidates, key=lambda choice: self.score(topology, choice))
        return self.line_search(topology, best, [partial(_next_rank, step=1)])

    def line_search(self, topology: Topology, start: Choice, steps: Sequence[Step]) -> Choice:
        """The best choice along a line of steps, as long as each improves."""
        best = start
        for step in steps:
            while (new := step(best)) is not None:
                if not self.score(topology, new) > self.score(topology, best):
                    break
                best = new
        return best


def best_choice(
    columns: FeatureColumns, split: Split, topology: Topology, options: KernelOptions
) -> tuple[Choice, list[dict[str, Any]]]:
    """Bandwidth, rank and views with the best held-out score, and the scores of all candidates."""
    search = Search(columns, split, options)
    best = search.first
    lines: list[Sequence[Step]] = []
    if isinstance(options.bandwidth, str) and columns.table.schema.continuous:
        lines.append([partial(_scaled, factor=1 / STEP), partial(_scaled, factor=STEP)])
    if isinstance(options.n_views, str) and len(columns.table.schema) > 2:
        lines.append([partial(_next_views, step=step) for step in (1, -1)])
    open_rank = isinstance(options.n_states, str)
    if split.judging is None or not (lines or open_rank):
        return best, []
    if open_rank:
        options.report(0.3, "ranks")
        best = search.best_rank(topology, best)
    for number, line in enumerate([*lines, *lines[:1]]):
        options.report(0.4 + 0.1 * number, "bandwidth and views")
        best = search.line_search(topology, best, line)
    if open_rank:
        best = search.line_search(
            topology, best, [partial(_next_rank, step=step) for step in (1, -1)]
        )
    return best, [
        {**asdict(choice), "score": search.score(topology, choice)} for _, choice in search.scores
    ]


def fitted_operators(
    topology: Topology, moments: FeatureMoments, choice: Choice, options: KernelOptions
) -> tuple[Network, dict[str, Any]]:
    """The operators of a tree, normalised so that an empty row has density one."""
    tree = topology.rooted(topology.observed)
    known = known_states(options.n_states, topology, tree)
    if is_observed(tree):
        network, record = observed_network(tree, moments, choice.rank)
        return normalised(_by_columns(network, moments, options)), record
    states = state_counts(tree, moments.cards, known, choice.rank)
    assert states is not None
    factored = spectral(tree, moments, states, n_views=choice.n_views)
    network = _by_columns(factored.network, moments, options)
    return normalised(network), factored.report.as_dict()


def _by_columns(network: Network, moments: FeatureMoments, options: KernelOptions) -> Network:
    """The network with a leaf for each column, where there are groups of columns."""
    units = options.units
    return units.network(network, moments.encoders, options.columns) if units.grouped else network


def normalised(network: Network) -> Network:
    """The network with its root scaled: where cells are missing, moments come from different rows."""
    sign, log_abs = log_values(network, nothing(network.tree.n_leaves))
    if not (sign[0] > 0 and np.isfinite(log_abs[0])):
        return network
    root, scale = network.nodes[-1], float(np.exp(-log_abs[0]))
    assert isinstance(root, Dense | Pointwise | Chain)
    if isinstance(root, Dense):
        scaled: Dense | Pointwise | Chain = Dense(root.core * scale)
    elif isinstance(root, Pointwise):
        scaled = Pointwise(root.table * scale)
    else:
        scaled = replace(root, start=root.start * scale)
    # In the memory order of files, so that a loaded model gives the same digits.
    emit = tuple(np.ascontiguousarray(matrix) for matrix in network.emit)
    return replace(network, emit=emit, nodes=(*network.nodes[:-1], scaled))


def _scaled(choice: Choice, factor: float) -> Choice | None:
    bandwidth = choice.bandwidth * factor
    return (
        replace(choice, bandwidth=bandwidth)
        if MIN_BANDWIDTH <= bandwidth <= MAX_BANDWIDTH
        else None
    )


def _next_rank(choice: Choice, step: int) -> Choice | None:
    rank = _neighbour(RANKS, choice.rank, step)
    return None if rank is None else replace(choice, rank=rank)


def _next_views(choice: Choice, step: int) -> Choice | None:
    views = _neighbour(VIEWS, choice.n_views, step)
    return None if views is None else replace(choice, n_views=views)


def _neighbour(numbers: Sequence[int], number: int, step: int) -> int | None:
    """The number after or before one of some ascending numbers."""
    place = numbers.index(number) + step if number in numbers else -1
    return numbers[place] if 0 <= place < len(numbers) else None
