"""EM on mixtures of product distributions, with classes that are taken from where they are not needed.

EM from any start ends at some local best. Often two classes share what one could say, while another class has
columns that still depend on each other: then the first is given up and the second cut in two, across the
direction in which its columns hang together most, found by moments within the class. This is repeated as long
as it pays. Split and merge EM is by Ueda et al. (2000).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.moments.patterns import pattern_blocks
from tacit.polish.climb import Climb, StoppingRule, _warn_unfinished, climb_accelerated
from tacit.polish.tree import Prior, em_step, normalise_rows

if TYPE_CHECKING:
    from tacit.params.tree import Layout
    from tacit.structure.rooted import RootedTree

Array = NDArray[np.float64]
Codes = NDArray[Any]

# Steps before the first exchange of classes and after each, exchanges at most, passes that look for the
# directions, steps that the halves make on their own. Chosen on tables of 200 and 1500 rows.
STEPS_BETWEEN, MOST_EXCHANGES, PASSES, HALF_STEPS = 5, 4, 2, 2
ROWS_LOOKED_AT = 20_000  # of different rows, evenly spaced: to find what to exchange
ROWS_AT_ONCE = 1 << 16
# Rows added to each class before its columns are scaled: rare categories would else be blown up.
PSEUDO_ROWS = 5.0
SHARPNESS = 3.0  # of the cut of a class, in standard deviations along its direction
OWN_PART = 0.9  # of what a column has to do with itself, taken from what it has to do with others


def is_star(tree: RootedTree) -> bool:
    """Whether there is one hidden node, above all leaves."""
    return tree.n_nodes == tree.n_leaves + 1 and tree.n_leaves > 0 and int(tree.copy_of[-1]) < 0


class ClassExpectation:
    """Log-likelihood and expected counts of the tables of a star, over its different rows.

    Does what `Expectation` does for any tree, several times faster.
    """

    def __init__(
        self,
        layout: Layout,
        codes: Codes,
        weights: Array | None = None,
        n_jobs: int = 1,
        *,
        merge: bool = True,
    ) -> None:
        self.layout = layout
        self.n_jobs = n_jobs
        cards = layout.columns[:-1]
        self.codes = np.ascontiguousarray(codes)
        self.weights = np.ones(len(codes)) if weights is None else weights
        if merge:
            self.codes, self.weights = _different_rows(layout, codes, weights)
        self.starts = np.cumsum(cards) - cards  # (column,) its first cell
        self.k = layout.n_states[-1]
        column = np.repeat(np.arange(len(cards)), cards)
        place = np.arange(int(cards.sum())) - self.starts[column]
        steps = cards[column][:, None] * np.arange(self.k)
        # Where the entries of (cell, class) stand in the flat tables.
        self.entries = layout.starts[column][:, None] + steps + place[:, None]
        self.column = column

    @cached_property
    def total_weight(self) -> float:
        """Summed weights of all rows."""
        return float(self.weights.sum())

    def __call__(self, values: Array) -> tuple[float, Array]:
        """The log-likelihood of `values`, and the expected count of every entry."""
        value, counts, mass, _ = self.counted(values)
        out = np.empty(self.layout.size)
        out[self.entries] = counts
        out[-self.k :] = mass
        return value, out

    def counted(self, values: Array, *, members: bool = False) -> tuple[float, Array, Array, Array]:
        """Log-likelihood, counts (cell, class) and (class,), and if asked for memberships (row, class)."""
        from tacit.loops.classes import class_counts

        log_given, log_shares = _log(values[self.entries]), _log(values[-self.k :])
        membership = np.empty((len(self.codes) if members else 0, self.k))

        def part(first: int) -> tuple[float, Array, Array]:
            rows = slice(first, first + ROWS_AT_ONCE)
            counts, mass = np.zeros(log_given.shape), np.zeros(self.k)
            model = (self.starts, log_given, log_shares, counts, mass, membership[rows])
            value = class_counts(self.codes[rows], self.weights[rows], *model)
            return value, counts, mass

        firsts = range(0, max(len(self.codes), 1), ROWS_AT_ONCE)
        if len(firsts) == 1 or self.n_jobs == 1:
            parts = [part(first) for first in firsts]
        else:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                parts = list(pool.map(part, firsts))
        # Summed in the order of the rows, so that the number of threads does not show.
        value, counts, mass = parts[0]
        for more, more_counts, more_mass in parts[1:]:
            value, counts, mass = value + more, counts + more_counts, mass + more_mass
        return value, counts, mass, membership

    def fewer(self, most: int) -> ClassExpectation:
        """The same over at most so many of the rows, evenly spaced, that weigh as much as all."""
        step = -(-len(self.codes) // most)
        if step <= 1:
            return self
        weights = self.weights[::step]
        scale = self.total_weight / max(float(weights.sum()), 1e-300)
        codes = np.ascontiguousarray(self.codes[::step])
        return ClassExpectation(self.layout, codes, weights * scale, merge=False)


def _log(chances: Array) -> Array:
    """Logarithms; of nothing, one so small that it decides."""
    return np.asarray(np.log(np.maximum(chances, 1e-300)))


def _different_rows(layout: Layout, codes: Codes, weights: Array | None) -> tuple[Codes, Array]:
    """The different rows, in the order of their first, and their summed weights."""
    rows, summed, at = [], [], 0
    for block in pattern_blocks(codes, layout.tree, layout.n_states[:-1], weights):
        first = np.empty(len(block.weights), dtype=np.int64)
        n_rows = len(block.row_pattern)
        first[block.row_pattern[::-1]] = np.arange(at + n_rows - 1, at - 1, -1)
        rows.append(codes[first])
        summed.append(block.weights)
        at += n_rows
    return np.ascontiguousarray(np.concatenate(rows)), np.concatenate(summed)


def climb_classes(
    expect: ClassExpectation,
    prior: Prior,
    start: Array,
    stop: StoppingRule,
    *,
    max_iter: int = 1000,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[Climb, int]:
    """Accelerated MAP-EM from a start, classes exchanged on the way; and how many exchanges paid.

    Parameters
    ----------
    expect : ClassExpectation
    prior : Prior
    start : flat tables
    stop : callable
        Tells when the last climb is over.
    max_iter : int
        Steps of all climbs together.
    progress : callable, optional
        Told of the number of steps and the objective.
    """
    lay = expect.layout
    step = em_step(expect, lay, prior)
    made = 0

    def climb(values: Array, most: int) -> Climb:
        def tell(count: int, objective: float) -> None:
            if progress is not None:
                progress(made + count, objective)

        return climb_accelerated(
            step,
            values,
            stop,
            normalise=lambda rows: normalise_rows(lay, rows),
            max_iter=max(min(most, max_iter - made), 1),
            progress=tell,
            warn=False,
        )

    exchanged = 0
    found = Climb(start, -np.inf, 0, converged=False, trace=())
    trace: list[float] = []
    k = lay.n_states[-1]
    if k > 1 and len(expect.codes) > 1:
        looked_at = expect.fewer(ROWS_LOOKED_AT)
        change = exchange if k > 2 else cut_whole
        most = MOST_EXCHANGES if k > 2 else 1
        found = climb(start, STEPS_BETWEEN)
        made, trace = found.n_steps, [*found.trace]
        while exchanged < most and made + STEPS_BETWEEN < max_iter:
            other = climb(change(looked_at, prior, found.values), STEPS_BETWEEN)
            made += other.n_steps
            if not other.objective > found.objective:
                break
            found, exchanged = other, exchanged + 1
            trace += found.trace
    last = climb(found.values, max_iter)
    if not last.converged:
        _warn_unfinished(max_iter)
    steps = made + last.n_steps
    whole = Climb(last.values, last.objective, steps, last.converged, (*trace, *last.trace))
    return whole, exchanged


def exchange(expect: ClassExpectation, prior: Prior, values: Array) -> Array:
    """Flat tables with one class given up and another cut in two: where that costs least, or gains most."""
    from tacit.loops.classes import lost_without

    _, counts, mass, membership = expect.counted(values, members=True)
    given, shares = values[expect.entries], values[-expect.k :]
    log_given, pseudo = _log(given), prior.pseudo[expect.entries]
    own_prior = (pseudo * log_given).sum(axis=0)
    own = (counts * log_given).sum(axis=0) + own_prior
    halves = _halves(expect, prior, given, mass, membership)
    gained = halves.logs - own
    lost = np.zeros(expect.k)
    lost_without(membership, expect.weights, lost)
    # The other classes grow by what is given up, and its tables need no prior.
    lost += expect.total_weight * np.log1p(-np.minimum(shares, 1 - 1e-9)) + own_prior
    net = gained[:, None] - lost
    np.fill_diagonal(net, -np.inf)
    cut, gone = divmod(int(net.argmax()), expect.k)
    given, shares = given.copy(), shares.copy()
    given[:, [cut, gone]] = halves.given[:, [2 * cut, 2 * cut + 1]]
    shares[[cut, gone]] = shares[cut] * halves.shares[2 * cut : 2 * cut + 2]
    out = np.empty(expect.layout.size)
    out[expect.entries] = given
    out[-expect.k :] = shares / shares.sum()
    return out


def cut_whole(expect: ClassExpectation, prior: Prior, values: Array) -> Array:
    """Flat tables of two classes: all rows, cut across the direction in which columns hang together most."""
    given, shares = values[expect.entries], values[-expect.k :]
    whole = np.repeat((given @ shares)[:, None], expect.k, axis=1)
    membership = np.repeat(expect.weights[:, None] / expect.k, expect.k, axis=1)
    halves = _halves(expect, prior, whole, membership.sum(axis=0), membership)
    out = np.empty(expect.layout.size)
    out[expect.entries] = halves.given[:, :2]
    out[-2:] = halves.shares[:2]
    return out


@dataclass(frozen=True, eq=False)
class _Halves:
    """Every class as a mixture of two."""

    given: Array  # (cell, half)  halves 2h and 2h + 1 are of class h
    shares: Array  # (half,)  of the class
    logs: Array  # (class,)  penalised log-likelihood of its members


def _halves(
    expect: ClassExpectation, prior: Prior, given: Array, mass: Array, membership: Array
) -> _Halves:
    """All classes cut across the directions in which their columns hang together, after a few steps of EM."""
    from tacit.loops.classes import half_counts, halve

    k, n_cells = expect.k, len(given)
    directions, spread = _directions(expect, given, mass, membership)
    pseudo = np.repeat(prior.pseudo[expect.entries], 2, axis=1)
    pseudo_shares = np.repeat(prior.pseudo[-k:] / 2, 2)
    steep = SHARPNESS / np.sqrt(np.maximum(spread, 0.1))
    counts, sizes, logs = np.zeros((n_cells, 2 * k)), np.zeros(2 * k), np.zeros(k)
    halve(expect.codes, membership, expect.starts, directions, steep, counts, sizes)
    for _ in range(HALF_STEPS):
        tables, shares = _tables_of(expect, counts + pseudo, sizes + pseudo_shares)
        counts, sizes, logs = np.zeros((n_cells, 2 * k)), np.zeros(2 * k), np.zeros(k)
        model = (expect.starts, _log(tables), _log(shares), counts, sizes, logs)
        half_counts(expect.codes, membership, *model)
        logs += (pseudo * _log(tables)).sum(axis=0).reshape(k, 2).sum(axis=1)
    tables, shares = _tables_of(expect, counts + pseudo, sizes + pseudo_shares)
    return _Halves(tables, shares, logs)


def _tables_of(expect: ClassExpectation, counts: Array, sizes: Array) -> tuple[Array, Array]:
    """Chances of the cells in every half, and shares of the halves, from counts."""
    counts = np.maximum(counts, 1e-300)
    tables = counts / np.add.reduceat(counts, expect.starts, axis=0)[expect.column]
    pairs = np.maximum(sizes, 1e-300).reshape(-1, 2)
    return tables, (pairs / pairs.sum(axis=1, keepdims=True)).ravel()


def _directions(
    expect: ClassExpectation, given: Array, mass: Array, membership: Array
) -> tuple[Array, Array]:
    """The direction (cell, class) along which the columns of a class hang together most, and its variance.

    The first axis of a correspondence analysis within the class, by power steps.
    """
    from tacit.loops.classes import direction_sums

    total = mass + PSEUDO_ROWS
    overall = (given * mass).sum(axis=1, keepdims=True) / max(float(mass.sum()), 1e-300)
    roots = np.sqrt(np.maximum((given * mass + PSEUDO_ROWS * overall) / total, 1e-300))

    def centred(axes: Array) -> Array:
        means = np.add.reduceat(axes * roots, expect.starts, axis=0)
        return np.asarray(axes - roots * means[expect.column])

    # A start with no symmetry of its own.
    axes = centred(np.repeat(np.cos(1.0 + np.arange(len(given)))[:, None], expect.k, axis=1))
    axes /= np.maximum(np.linalg.norm(axes, axis=0), 1e-300)
    spread = np.ones(expect.k)
    for _ in range(PASSES):
        sums, totals = np.zeros(given.shape), np.zeros(expect.k)
        direction_sums(expect.codes, membership, expect.starts, axes / roots, sums, totals)
        image = centred((sums / roots - roots * totals) / total) - axes * (OWN_PART * mass / total)
        spread = 1 + (image * axes).sum(axis=0)
        axes = image / np.maximum(np.linalg.norm(image, axis=0), 1e-300)
    return axes / roots, spread
