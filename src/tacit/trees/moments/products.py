"""Sums over rows of products of features, each multiplied with a matrix first: one pass for many sets.

The tensor of a node needs the features of three columns in a few directions each. Projected before they are
multiplied, they cost little more than to be formed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TooExpensiveError
from tacit.trees.moments.plan import MOST_CELLS

Array = NDArray[np.float64]
Group = tuple[int, ...]  # columns whose joint features are one view


class Block(Protocol):
    """Some rows, whose features are formed when requested, column by column, and not kept."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def weights(self) -> Array | None:
        """(row,) How often each row counts."""
        ...

    def features(self, column: int) -> Array:
        """(row, feature) The features of a column; zero where missing."""
        ...

    def projected(self, column: int, matrix: Array) -> Array:
        """(direction, row) The features of a column in some directions; zero where missing."""
        ...

    def held(self, columns: Sequence[int]) -> Array | None:
        """(row,) One where a row has all of some columns, else zero; None if all rows have them."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """One axis of a result: the joint features of some columns, in a few directions.

    Several groups of columns may be views of the same: their projections are then summed. Their features are
    stacked in the factor.
    """

    groups: tuple[Group, ...]
    factor: Array | None = None  # (joint feature, direction); None: one group as it is

    def views(self, cards: Sequence[int]) -> list[Mode]:
        """One mode for each group."""
        if self.factor is None:
            return [self]
        widths = [math.prod(cards[leaf] for leaf in group) for group in self.groups]
        parts = np.split(self.factor, np.cumsum(widths)[:-1])
        return [Mode((group,), part) for group, part in zip(self.groups, parts, strict=True)]

    def width(self, cards: Sequence[int]) -> int:
        """Number of directions."""
        if self.factor is not None:
            return int(self.factor.shape[1])
        return math.prod(cards[leaf] for leaf in self.groups[0])


@runtime_checkable
class Projecting(Protocol):
    """Moments that project features before they multiply them: much cheaper where features are many."""

    def projected(self, requests: Sequence[Sequence[Mode]]) -> list[Array]:
        """The means of products of projected features, one axis per mode; only the last may have views."""
        ...


def mean_products(
    passes: Callable[[], Iterable[Block]],
    cards: Sequence[int],
    requests: Sequence[Sequence[Mode]],
    *,
    complete: bool,
) -> list[Array | None]:
    """The mean of each request's products over the rows that have all its columns; None where there are none.

    Parameters
    ----------
    passes : function
        Returns successive blocks of rows.
    cards : (column,)
        Number of features of each column.
    requests
        Per result its modes; only the last may have several views. Each view has a mean of its own.
    complete : bool
        Whether no cell is missing. Then views are summed before they are multiplied.

    Raises
    ------
    TooExpensiveError
        If the results have more than 50 million cells together.
    """
    if complete:
        return _means(passes, cards, requests)
    apart = [[[*head, view] for view in last.views(cards)] for *head, last in requests]
    means = iter(_means(passes, cards, [request for views in apart for request in views]))
    out: list[Array | None] = []
    for views in apart:
        parts = list(islice(means, len(views)))
        present = [part for part in parts if part is not None]
        out.append(np.add.reduce(present) if len(present) == len(parts) else None)
    return out


def _means(
    passes: Callable[[], Iterable[Block]], cards: Sequence[int], requests: Sequence[Sequence[Mode]]
) -> list[Array | None]:
    plan = _Plan.of(cards, requests)
    sums = [np.zeros((head.size, tail.size)) for head, tail in plan.works]
    supports = [np.zeros(len(tail.modes)) for _, tail in plan.works]
    room = np.empty((0, 0))
    for block in passes():
        if room.shape[1] < block.n_rows:
            room = np.empty((plan.spans[-1].stop, block.n_rows))
        values = plan.projections(block, room[:, : block.n_rows])
        for work, (head, tail) in enumerate(plan.works):
            first = _products([values[span] for span in head.spans], block.n_rows)
            if block.weights is not None:
                first = first * block.weights
            sums[work] += first @ values[tail.rows].T
            supports[work] += [plan.support(block, (*head.modes, last)) for last in tail.modes]
    return plan.sorted_out(sums, supports)


@dataclass(frozen=True, eq=False)
class _Head:
    """All modes but the last of some requests."""

    modes: tuple[int, ...]
    spans: tuple[slice, ...]

    @cached_property
    def size(self) -> int:
        return math.prod(span.stop - span.start for span in self.spans)


@dataclass(frozen=True, eq=False)
class _Tail:
    """The last modes of the requests that have the same head."""

    modes: tuple[int, ...]
    requests: tuple[int, ...]
    spans: tuple[slice, ...]

    @cached_property
    def size(self) -> int:
        return sum(span.stop - span.start for span in self.spans)

    @cached_property
    def rows(self) -> slice | NDArray[np.int64]:
        """Where the values of the modes stand; a slice, which copies nothing, where they are neighbours."""
        if all(one.stop == two.start for one, two in pairwise(self.spans)):
            return slice(self.spans[0].start, self.spans[-1].stop)
        return np.concatenate([np.arange(span.start, span.stop) for span in self.spans])


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which projections are made, where they stand, and which of them are multiplied."""

    cards: tuple[int, ...]  # (column,)
    modes: tuple[Mode, ...]  # distinct
    spans: tuple[slice, ...]  # (mode,)  where its values stand
    shapes: tuple[tuple[int, ...], ...]  # (request,)
    works: tuple[tuple[_Head, _Tail], ...]

    @staticmethod
    def of(cards: Sequence[int], requests: Sequence[Sequence[Mode]]) -> _Plan:
        distinct: dict[object, Mode] = {}
        for request in requests:
            for mode in request:
                distinct.setdefault(_key(mode), mode)
        place = {key: number for number, key in enumerate(distinct)}
        modes = tuple(distinct.values())
        ends = np.cumsum([mode.width(cards) for mode in modes], dtype=np.int64).tolist()
        spans = tuple(slice(*bounds) for bounds in zip([0, *ends], ends, strict=False))
        heads: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        for number, request in enumerate(requests):
            *head, last = (place[_key(mode)] for mode in request)
            heads[tuple(head)].append((last, number))
        works = []
        for first, lasts in heads.items():
            last_modes, numbers = zip(*sorted(lasts), strict=True)
            tail = _Tail(last_modes, numbers, tuple(spans[mode] for mode in last_modes))
            works.append((_Head(first, tuple(spans[mode] for mode in first)), tail))
        n_cells = sum(head.size * tail.size for head, tail in works)
        if n_cells > MOST_CELLS:
            raise TooExpensiveError(
                f"the products requested have {n_cells:.3g} cells together, more than "
                f"{MOST_CELLS:.0e}; use fewer features or smaller sets of columns"
            )
        shapes = tuple(tuple(mode.width(cards) for mode in request) for request in requests)
        return _Plan(tuple(cards), modes, spans, shapes, tuple(works))

    def support(self, block: Block, modes: Sequence[int]) -> float:
        """The weight of the rows of a block that have all columns of some modes."""
        columns = [leaf for mode in modes for group in self.modes[mode].groups for leaf in group]
        held = block.held(columns)
        if block.weights is None:
            return float(block.n_rows if held is None else held.sum())
        return float(block.weights.sum() if held is None else block.weights @ held)

    @cached_property
    def _by_group(self) -> dict[Group, tuple[Array | None, list[tuple[slice, slice]]]]:
        """Per group its matrices, one below the other (None: as it is), and where their products go.

        Where: rows of the product, and rows of the values that they are put to or, by later groups, added to.
        """
        pieces: dict[Group, list[tuple[Array | None, slice]]] = defaultdict(list)
        for mode, span in zip(self.modes, self.spans, strict=True):
            for view in mode.views(self.cards):
                pieces[view.groups[0]].append((view.factor, span))
        out: dict[Group, tuple[Array | None, list[tuple[slice, slice]]]] = {}
        for group, members in pieces.items():
            if len(members) == 1 and members[0][0] is None:
                out[group] = None, [(slice(None), members[0][1])]
                continue
            eye = np.eye(math.prod(self.cards[leaf] for leaf in group))
            full = [eye if factor is None else factor for factor, _ in members]
            ends = np.cumsum([0, *(factor.shape[1] for factor in full)]).tolist()
            matrix = np.ascontiguousarray(np.concatenate(full, axis=1).T)
            rows = [slice(*bounds) for bounds in pairwise(ends)]
            out[group] = matrix, list(zip(rows, (span for _, span in members), strict=True))
        return out

    def projections(self, block: Block, out: Array) -> Array:
        """(value, row) The values of all modes, written to `out`."""
        begun = set()
        for group, (matrix, places) in self._by_group.items():
            if matrix is not None and len(group) == 1:
                made = block.projected(group[0], matrix)
            else:
                made = _products([block.features(leaf).T for leaf in group], block.n_rows)
                made = made if matrix is None else matrix @ made
            for rows, span in places:
                if span.start in begun:
                    out[span] += made[rows]
                else:
                    out[span] = made[rows]
                    begun.add(span.start)
        return out

    def sorted_out(self, sums: Sequence[Array], supports: Sequence[Array]) -> list[Array | None]:
        """The means of the requests, in their order."""
        out: list[Array | None] = [None] * len(self.shapes)
        for (_, tail), total, support in zip(self.works, sums, supports, strict=True):
            ends = np.cumsum([span.stop - span.start for span in tail.spans])
            parts = np.split(total, ends[:-1], axis=1)
            for number, part, weight in zip(tail.requests, parts, support.tolist(), strict=True):
                if weight > 0:
                    out[number] = part.reshape(self.shapes[number]) / weight
        return out


def _products(factors: Sequence[Array], n_rows: int) -> Array:
    """(cell, row) Products of (a, row), (b, row), ... in all combinations; of none, a row of ones."""
    if not factors:
        return np.ones((1, n_rows))
    out = factors[0]
    for factor in factors[1:]:
        out = (out[:, None] * factor).reshape(-1, n_rows)
    return out


def _key(mode: Mode) -> object:
    """Modes of the same groups with the same matrix are one."""
    return mode.groups, None if mode.factor is None else id(mode.factor)
