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
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TooExpensiveError
from tacit.moments.plan import MOST_CELLS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# (row, a) features; (row, column) which cells are held, None if all; (row,) weights
Pass = tuple[Array, Flags | None, Array | None]


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """One axis of a result: the joint features of some columns, in a few directions."""

    leaves: tuple[int, ...]
    factor: Array | None = None  # (joint feature of the leaves, direction); None: as they are


@runtime_checkable
class Projecting(Protocol):
    """Moments that project features before they multiply them: much cheaper where features are many."""

    def projected(self, requests: Sequence[Sequence[Mode]]) -> list[Array]:
        """The means of products of projected features, one axis per mode."""
        ...


def view_modes(
    groups: Sequence[tuple[int, ...]], cards: Sequence[int], factor: Array
) -> list[Mode]:
    """One mode for each of several groups whose cells stand one below the other in the factor."""
    widths = [math.prod(cards[leaf] for leaf in group) for group in groups]
    parts = np.split(factor, np.cumsum(widths)[:-1])
    return [Mode(group, part) for group, part in zip(groups, parts, strict=True)]


def summed_products(
    passes: Callable[[], Iterable[Pass]],
    cards: Sequence[int],
    requests: Sequence[Sequence[Mode]],
) -> tuple[list[Array], list[float]]:
    """The sum of each request's products over the rows, and the weight of the rows that have all columns.

    Raises
    ------
    TooExpensiveError
        If the results have more than 50 million cells together.
    """
    plan = _Plan.of(cards, requests)
    sums = [np.zeros((head.size, tail.size)) for head, tail in plan.works]
    supports = [np.zeros(len(tail.modes)) for _, tail in plan.works]
    for features, held, weights in passes():
        values = plan.projections(features)
        for work, (head, tail) in enumerate(plan.works):
            first = head.products(values, len(features))
            if weights is not None:
                first = first * weights[:, None]
            sums[work] += first.T @ values[:, tail.columns]
            supports[work] += _weights(plan, head, tail, held, weights, len(features))
    return plan.sorted_out(sums, supports)


def _weights(
    plan: _Plan, head: _Head, tail: _Tail, held: Flags | None, weights: Array | None, n_rows: int
) -> Array | float:
    """(mode of the tail,) The weight of the rows that have all columns of the head and of this mode."""
    if held is None:
        return float(n_rows if weights is None else weights.sum())
    leaves = [leaf for mode in head.modes for leaf in plan.modes[mode].leaves]
    both = held[:, leaves].all(axis=1).astype(np.float64)
    if weights is not None:
        both *= weights
    last = [held[:, list(plan.modes[mode].leaves)].all(axis=1) for mode in tail.modes]
    return np.asarray(np.array(last) @ both)


@dataclass(frozen=True, eq=False)
class _Head:
    """All modes but the last of some requests."""

    modes: tuple[int, ...]
    spans: tuple[slice, ...]

    @cached_property
    def size(self) -> int:
        return math.prod(span.stop - span.start for span in self.spans)

    def products(self, values: Array, n_rows: int) -> Array:
        """(row, cell) The products of the modes, row by row."""
        out: Array = np.ones((n_rows, 1))
        for place, span in enumerate(self.spans):
            each = values[:, span]
            out = each if place == 0 else (out[:, :, None] * each[:, None]).reshape(n_rows, -1)
        return out


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
    def columns(self) -> slice | NDArray[np.int64]:
        """Where the values of the modes stand; a slice, which copies nothing, where they are neighbours."""
        if all(one.stop == two.start for one, two in zip(self.spans, self.spans[1:], strict=False)):
            return slice(self.spans[0].start, self.spans[-1].stop)
        return np.concatenate([np.arange(span.start, span.stop) for span in self.spans])


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which projections are made, where they stand, and which of them are multiplied."""

    starts: tuple[int, ...]  # (column + 1,)  where each column's features begin
    modes: tuple[Mode, ...]  # distinct
    spans: tuple[slice, ...]  # (mode,)  where its values stand
    n_requests: int
    shapes: tuple[tuple[int, ...], ...]  # (request,)
    works: tuple[tuple[_Head, _Tail], ...]

    @staticmethod
    def of(cards: Sequence[int], requests: Sequence[Sequence[Mode]]) -> _Plan:
        distinct: dict[tuple[tuple[int, ...], int], Mode] = {}
        for request in requests:
            for mode in request:
                distinct.setdefault(_key(mode), mode)
        # Modes of one leaf stand side by side, so that one product makes all of them.
        keys = sorted(distinct, key=lambda key: (len(key[0]), key[0]))
        modes = tuple(distinct[key] for key in keys)
        ends = np.cumsum([_width(mode, cards) for mode in modes], dtype=np.int64).tolist()
        spans = tuple(slice(*each) for each in zip([0, *ends], ends, strict=False))
        place = {key: number for number, key in enumerate(keys)}
        heads: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        for number, request in enumerate(requests):
            *head, last = (place[_key(mode)] for mode in request)
            heads[tuple(head)].append((last, number))
        works = []
        for first, lasts in heads.items():
            own, numbers = zip(*sorted(lasts), strict=True)
            tail = _Tail(own, numbers, tuple(spans[mode] for mode in own))
            works.append((_Head(first, tuple(spans[mode] for mode in first)), tail))
        n_cells = sum(head.size * tail.size for head, tail in works)
        if n_cells > MOST_CELLS:
            raise TooExpensiveError(
                f"the products asked for have {n_cells:.3g} cells together, more than "
                f"{MOST_CELLS:.0e}; use fewer features or smaller sets of columns"
            )
        shapes = tuple(tuple(_width(mode, cards) for mode in request) for request in requests)
        starts = (0, *np.cumsum(cards).tolist())
        return _Plan(starts, modes, spans, len(requests), shapes, tuple(works))

    @cached_property
    def _single(self) -> list[tuple[slice, slice, Array | None]]:
        """Per leaf: its features, where its projections stand, and all its matrices side by side."""
        by_leaf: dict[int, list[int]] = defaultdict(list)
        for number, mode in enumerate(self.modes):
            if len(mode.leaves) == 1:
                by_leaf[mode.leaves[0]].append(number)
        out: list[tuple[slice, slice, Array | None]] = []
        for leaf, numbers in by_leaf.items():
            features = slice(self.starts[leaf], self.starts[leaf + 1])
            span = slice(self.spans[numbers[0]].start, self.spans[numbers[-1]].stop)
            factors = [self.modes[number].factor for number in numbers]
            if len(factors) == 1 and factors[0] is None:
                out.append((features, span, None))
            else:
                eye = np.eye(features.stop - features.start)
                full = [eye if factor is None else factor for factor in factors]
                out.append((features, span, np.concatenate(full, axis=1)))
        return out

    def projections(self, features: Array) -> Array:
        """(row, value) The values of all modes."""
        out = np.empty((len(features), self.spans[-1].stop))
        for columns, span, factor in self._single:
            if factor is None:
                out[:, span] = features[:, columns]
            else:
                np.matmul(features[:, columns], factor, out=out[:, span])
        for mode, span in zip(self.modes, self.spans, strict=True):
            if len(mode.leaves) != 1:
                leaves = tuple(slice(self.starts[x], self.starts[x + 1]) for x in mode.leaves)
                joint = _Head((), leaves).products(features, len(features))
                out[:, span] = joint if mode.factor is None else joint @ mode.factor
        return out

    def sorted_out(
        self, sums: Sequence[Array], supports: Sequence[Array]
    ) -> tuple[list[Array], list[float]]:
        """The sums and weights of the requests, in their order."""
        out: list[Array] = [np.zeros(0)] * self.n_requests
        weights = [0.0] * self.n_requests
        for (_, tail), total, support in zip(self.works, sums, supports, strict=True):
            ends = np.cumsum([span.stop - span.start for span in tail.spans])
            parts = np.split(total, ends[:-1], axis=1)
            for number, part, weight in zip(tail.requests, parts, support.tolist(), strict=True):
                out[number] = part.reshape(self.shapes[number])
                weights[number] = weight
        return out, weights


def _key(mode: Mode) -> tuple[tuple[int, ...], int]:
    """Modes of the same leaves with the same matrix are one."""
    return mode.leaves, 0 if mode.factor is None else id(mode.factor)


def _width(mode: Mode, cards: Sequence[int]) -> int:
    if mode.factor is not None:
        return int(mode.factor.shape[1])
    return math.prod(cards[leaf] for leaf in mode.leaves)
