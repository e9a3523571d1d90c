"""Bandwidth, rank and views of a kernel tree, tried with held-out rows."""

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
from tacit.messages.network import Chain, Dense, Network
from tacit.messages.passes import log_values
from tacit.numbers.query.evidence import log_conditionals, log_densities
from tacit.trees.learn.selection.states import known_states, state_counts
from tacit.trees.learn.spectral.operators import spectral

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.numbers.learn.kernel_moments import Asked
    from tacit.trees.learn.number_features import FeatureColumns, Split
    from tacit.trees.moments.features import FeatureMoments
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Where the search begins: a multiple of the median distance for a thousand rows, ranks, views.
FIRST_BANDWIDTH, FIRST_RANK, FIRST_VIEWS = 0.4, 3, 10
RANKS = (1, 2, 3, 4, 6, 8, 12, 16)
SMALL_RANK = 8
VIEWS = (1, 3, 5, 10, 20, 50)
STEP = 2**0.5  # between bandwidths
LEAST, MOST = 0.02, 2.0  # bandwidths
# Bandwidths shrink with so much of a power of the rows.
RATE = 0.2

Move = Callable[["Choice"], "Choice | None"]


@dataclass(frozen=True)
class Choice:
    """What is chosen by held-out rows."""

    bandwidth: float  # multiple of the median distance
    rank: int
    n_views: int


@dataclass(frozen=True, eq=False)
class Search:
    """Held-out densities of choices, each tried once."""

    columns: FeatureColumns
    split: Split
    asked: Asked
    found: dict[tuple[Topology, Choice], Array] = field(default_factory=dict)
    known: dict[float, FeatureMoments] = field(default_factory=dict)  # by bandwidth

    @property
    def first(self) -> Choice:
        """Where the search begins."""
        asked, n_rows = self.asked, max(self.split.learning.n_rows, 1)
        bandwidth = FIRST_BANDWIDTH * (n_rows / 1000) ** -RATE
        return Choice(
            float(bandwidth if isinstance(asked.bandwidth, str) else asked.bandwidth),
            int(asked.n_states) if isinstance(asked.n_states, Integral) else FIRST_RANK,
            FIRST_VIEWS if isinstance(asked.n_views, str) else int(asked.n_views),
        )

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """(row, column) Cells of the rows that judge which are asked for, given the others."""
        from tacit.numbers.data.masking import hidden_cells

        assert self.split.judging is not None
        return hidden_cells(self.split.judging, np.random.default_rng(self.asked.settings.seed))

    def _judged(self, network: Network, encoders: Sequence[Encoder]) -> Array:
        """(row,) Log-densities of rows; where columns are many, of hidden cells given the others.

        The joint density of many columns is a product of many estimates that may all be negative, and says
        less of how good the conditionals are.
        """
        rows, margins = self.split.judging, self.columns.margins
        assert rows is not None
        if len(encoders) <= 2:
            return log_densities(network, rows, encoders, margins)[0]
        return log_conditionals(network, rows, self.hidden, encoders, margins)

    def rows(self, topology: Topology, choice: Choice) -> Array:
        """(row,) How likely the rows that judge are."""
        key = topology, choice
        if key not in self.found:
            assert self.split.judging is not None
            columns, asked = self.columns, self.asked
            if choice.bandwidth not in self.known:
                self.known[choice.bandwidth] = columns.moments(
                    self.split.learning, choice.bandwidth
                )
            moments = self.known[choice.bandwidth]
            try:
                network, _ = fitted_operators(topology, moments, choice, asked)
                found = self._judged(network, columns.encoders(choice.bandwidth))
            except (RankError, TooExpensiveError):
                found = np.full(self.split.judging.n_rows, -np.inf)
            self.found[key] = found
        return self.found[key]

    def score(self, topology: Topology, choice: Choice) -> float:
        """Their mean."""
        assert self.split.judging is not None
        weights = self.split.judging.weights
        return float(np.average(self.rows(topology, choice), weights=weights))

    def best_rank(self, topology: Topology, start: Choice) -> Choice:
        """The best of all small ranks: one too many may be worse than two too many."""
        tried = [replace(start, rank=rank) for rank in RANKS if rank <= SMALL_RANK]
        best = max(tried, key=lambda each: self.score(topology, each))
        return self.climb(topology, best, [partial(_next_rank, step=1)])

    def climb(self, topology: Topology, start: Choice, moves: Sequence[Move]) -> Choice:
        """The best choice along a line of moves, as long as each is better than the one before."""
        best = start
        for move in moves:
            while (there := move(best)) is not None:
                if not self.score(topology, there) > self.score(topology, best):
                    break
                best = there
        return best


def chosen_by_rows(
    columns: FeatureColumns, split: Split, topology: Topology, asked: Asked
) -> tuple[Choice, list[dict[str, Any]]]:
    """Bandwidth, rank and views that held-out rows like best, and the record of those tried."""
    search = Search(columns, split, asked)
    best = search.first
    lines: list[Sequence[Move]] = []
    if isinstance(asked.bandwidth, str) and columns.table.schema.continuous:
        lines.append([partial(_scaled, factor=1 / STEP), partial(_scaled, factor=STEP)])
    if isinstance(asked.n_views, str) and len(columns.table.schema) > 2:
        lines.append([partial(_next_views, step=step) for step in (1, -1)])
    open_rank = isinstance(asked.n_states, str)
    if split.judging is None or not (lines or open_rank):
        return best, []
    if open_rank:
        asked.report(0.3, "ranks")
        best = search.best_rank(topology, best)
    for number, line in enumerate([*lines, *lines[:1]]):
        asked.report(0.4 + 0.1 * number, "bandwidth and views")
        best = search.climb(topology, best, line)
    if open_rank:
        best = search.climb(topology, best, [partial(_next_rank, step=step) for step in (1, -1)])
    tried = [
        {**asdict(choice), "score": search.score(topology, choice)} for _, choice in search.found
    ]
    return best, tried


def fitted_operators(
    topology: Topology, moments: FeatureMoments, choice: Choice, asked: Asked
) -> tuple[Network, dict[str, Any]]:
    """The operators of a tree, such that a row of which nothing was observed has density one."""
    tree = topology.rooted(topology.observed)
    known = known_states(asked.n_states, topology, tree)
    states = state_counts(tree, moments.cards, known, choice.rank)
    assert states is not None
    found = spectral(tree, moments, states, n_views=choice.n_views)
    return _normalised(found.network), found.report.as_dict()


def _normalised(network: Network) -> Network:
    """The network with its root scaled; where cells are missing, moments of different rows disagree a bit."""
    sign, log_abs = log_values(network, nothing(network.tree.n_leaves))
    if not (sign[0] > 0 and np.isfinite(log_abs[0])):
        return network
    root, scale = network.nodes[-1], float(np.exp(-log_abs[0]))
    assert isinstance(root, Dense | Chain)
    if isinstance(root, Dense):
        scaled: Dense | Chain = Dense(root.core * scale)
    else:
        scaled = replace(root, start=root.start * scale)
    # In the order that files keep, so that a model gives the same digits before and after.
    emit = tuple(np.ascontiguousarray(each) for each in network.emit)
    return replace(network, emit=emit, nodes=(*network.nodes[:-1], scaled))


def _scaled(choice: Choice, factor: float) -> Choice | None:
    bandwidth = choice.bandwidth * factor
    return replace(choice, bandwidth=bandwidth) if LEAST <= bandwidth <= MOST else None


def _next_rank(choice: Choice, step: int) -> Choice | None:
    rank = _neighbour(RANKS, choice.rank, step)
    return None if rank is None else replace(choice, rank=rank)


def _next_views(choice: Choice, step: int) -> Choice | None:
    views = _neighbour(VIEWS, choice.n_views, step)
    return None if views is None else replace(choice, n_views=views)


def _neighbour(numbers: Sequence[int], number: int, step: int) -> int | None:
    """The next of some ascending numbers after or before one of them."""
    place = numbers.index(number) + step if number in numbers else -1
    return numbers[place] if 0 <= place < len(numbers) else None
