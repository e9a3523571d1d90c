"""EM on hidden Markov models whose states emit normal numbers.

Numbers are expected on a common scale: about zero, and of about one unit of spread in each column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, run_accelerated_em
from tacit.sequences.learn.em.stationary import long_run, stationary_transitions
from tacit.sequences.model.gaussian_hmm import UNITS, GaussianChain, GaussianLayout
from tacit.sequences.query.gaussian_emissions import number_evidence, patterns_of

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Pseudo-counts of initial probabilities, and of each row of transitions.
STARTS, MOVES = 2.0, 1.0
# What the prior says of each state's density: how many numbers it counts like, their variance in units of
# each column's own, and how many numbers say that means are where the column's mean is.
SPREADS, SPREAD, CENTRES = 1.0, 0.05, 0.01
# How many numbers of the spread that states have in common come on top of one for each column, uncounted: the
# normal density that is nearest to the truth on average divides by fewer numbers than were seen, by as many.
COMMON = 2.0
_LEAST = 1e-8  # the smallest variance, in the same units: columns may be constant within a state


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers of all sequences in turn."""

    values: Array  # (position, column)  NaN where a number is missing
    ends: Integers  # (sequence + 1,)

    @cached_property
    def patterns(self) -> list[tuple[NDArray[np.bool_], Integers]]:
        """Which columns are there, and the rows where just these are."""
        return list(patterns_of(self.values))

    @cached_property
    def there(self) -> Array | None:
        """(position, column) one where a number is there, zero elsewhere; None where all are."""
        gone = np.isnan(self.values)
        return (~gone).astype(np.float64) if gone.any() else None

    @cached_property
    def filled(self) -> Array:
        """(position, column) with zeros where a number is missing."""
        return self.values if self.there is None else np.nan_to_num(self.values, nan=0.0)

    @cached_property
    def squares(self) -> Array:
        """(position, column)."""
        return np.square(self.filled)

    @cached_property
    def lanes(self) -> Lanes | None:
        """The same side by side; None where numbers are missing, or most of it would be padding."""
        from tacit.sequences.loops.gaussian_lanes import LANES

        n_lines = np.sort(np.diff(self.ends))[::-LANES].sum()
        if self.there is not None or not 0 < n_lines * LANES <= 2 * len(self.values):
            return None
        return side_by_side(self.values, self.ends)


@dataclass(frozen=True, eq=False)
class Lanes:
    """Rows of some sequences side by side, in blocks, the longest sequences first."""

    columns: Array  # (line, column, lane)  zero where a sequence is over
    begins: Integers  # (block + 1,) the lines where blocks start
    lengths: Integers  # (block, lane)


def side_by_side(values: Array, ends: Integers) -> Lanes:
    """Sequences in blocks, whatever of these is padding."""
    from tacit.sequences.loops.gaussian_lanes import LANES

    lengths = np.diff(ends)
    order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    n_blocks = -(-len(order) // LANES)
    firsts, own = np.zeros((2, n_blocks * LANES), np.int64)
    firsts[: len(order)], own[: len(order)] = ends[order], lengths[order]
    own = own.reshape(n_blocks, LANES)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(own[:, 0])])
    columns = np.zeros((begins[-1], LANES, values.shape[1]))
    for block, places in enumerate(firsts.reshape(n_blocks, LANES)):
        times = np.arange(own[block, 0])[:, None]
        there = times < own[block]
        columns[begins[block] : begins[block + 1]][there] = values[(places + times)[there]]
    return Lanes(np.ascontiguousarray(columns.transpose(0, 2, 1)), begins, own)


@dataclass(frozen=True, eq=False)
class RowSums:
    """Rows of numbers added up, each weighted by how likely each state is there.

    Where columns are independent, all is per column: numbers may be missing in one and not in another.
    """

    visits: Array  # (state,), or (state, column)
    firsts: Array  # (state, column)
    seconds: Array  # (state, column, column), or (state, column) of squares


def row_sums(
    rows: Rows, posterior: Array, chain: GaussianChain | None, *, diagonal: bool
) -> RowSums:
    """Sums for densities of states.

    Parameters
    ----------
    rows : Rows
    posterior : (position, state)
    chain : GaussianChain or None
        Fills in missing numbers of a row from those that are there, in expectation; without it such rows
        are left out.
    diagonal : bool
    """
    if diagonal:
        weights = posterior.T
        if rows.there is None:
            visits = np.repeat(_totals(posterior)[:, None], rows.values.shape[1], axis=1)
        else:
            visits = weights @ rows.there
        return RowSums(visits, weights @ rows.filled, weights @ rows.squares)
    k, d = posterior.shape[1], rows.values.shape[1]
    visits, firsts, seconds = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for there, places in rows.patterns:
        if not there.any() or (chain is None and not there.all()):
            continue
        everything = len(places) == len(posterior)
        shares = posterior if everything else posterior[places]
        own = rows.values if everything else rows.values[places]
        visits += _totals(shares)
        for m in range(k):
            spread = np.zeros((d, d))
            full = own
            if chain is not None and not there.all():
                full, spread = _completed(chain, m, own, there)
            weighted = shares[:, m, None] * full
            firsts[m] += weighted.sum(axis=0)
            seconds[m] += weighted.T @ full + shares[:, m].sum() * spread
    return RowSums(visits, firsts, seconds)


def _totals(posterior: Array) -> Array:
    """(state,) sums over positions, as a product: ten times as fast as a sum over long, narrow arrays."""
    return np.ones(len(posterior)) @ posterior


def _completed(
    chain: GaussianChain, state: int, own: Array, there: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Rows with what is expected in place of what is missing, and the covariance of what is missing."""
    mean, covariance = chain.means[state], chain.covariances[state]
    gone = ~there
    inner = covariance[np.ix_(there, there)]
    weights = np.linalg.solve(inner, covariance[np.ix_(there, gone)])  # (there, gone)
    full = own.copy()
    full[:, gone] = mean[gone] + (own[:, there] - mean[there]) @ weights
    spread = np.zeros_like(covariance)
    left = covariance[np.ix_(gone, gone)] - covariance[np.ix_(gone, there)] @ weights
    spread[np.ix_(gone, gone)] = left
    return full, spread


def _n_common(chain: GaussianChain) -> float:
    return COMMON + (1 if chain.diagonal else chain.n_columns)


def densities(
    sums: RowSums, strength: float, chain: GaussianChain | None = None
) -> tuple[Array, Array]:
    """Means (state, column) and covariances (state, column, column) that are most likely with the prior.

    Parameters
    ----------
    sums : RowSums
    strength : float
        Of the prior.
    chain : GaussianChain or None
        States of which the prior takes their common spread; without it, it only has that of columns.
    """
    d = sums.firsts.shape[1]
    visits = sums.visits if sums.seconds.ndim == 2 else sums.visits[:, None]
    weights, counted = visits + strength * CENTRES, visits + strength * SPREADS
    unseen = counted[:, 0] <= 0
    if not strength:  # states may be nowhere
        weights, counted = (np.where(each > 0, each, 1.0) for each in (weights, counted))
    means = sums.firsts / weights
    prior = strength * SPREADS * SPREAD * np.eye(d)
    if chain is not None:
        prior += strength * _n_common(chain) * chain.common_spread
    if sums.seconds.ndim == 2:
        variances = (sums.seconds - weights * np.square(means) + prior.diagonal()) / counted
        variances[unseen] = 1.0
        return means, np.maximum(variances, _LEAST)[:, :, None] * np.eye(d)
    outer = means[:, :, None] * means[:, None, :]
    spread = sums.seconds - weights[:, :, None] * outer + prior
    covariances = spread / counted[:, :, None]
    covariances[unseen] = np.eye(d)
    return means, 0.5 * (covariances + covariances.transpose(0, 2, 1)) + _LEAST * np.eye(d)


def log_prior(chain: GaussianChain, strength: float) -> float:
    """Log of the prior's density of means and covariances, up to a constant.

    Inverse covariances are Wishart about that of the common spread, which is the likeliest one.
    """
    inverse = chain.inverse_factors
    log_sizes = 2 * float(chain.log_sizes.sum())
    away = (inverse @ chain.means[:, :, None]).ravel()
    spread = SPREADS * (log_sizes + SPREAD * float(inverse.ravel() @ inverse.ravel()))
    if chain.diagonal:
        common = float(np.log(chain.common_spread.diagonal()).sum())
    else:
        common = float(np.linalg.slogdet(chain.common_spread)[1])
    common *= _n_common(chain) * chain.n_states
    return -0.5 * strength * (spread + CENTRES * float(away @ away) - common)


@dataclass(frozen=True, eq=False)
class Expected:
    """What a chain expects of rows of numbers."""

    log_likelihood: float
    starts: Array  # (state,)
    transitions: Array  # (state, next state)
    visits: Array  # (state,)
    sums: RowSums


def expected(chain: GaussianChain, rows: Rows) -> Expected:
    """Expected counts, and sums for densities."""
    from tacit.sequences.loops.forward_backward import forward_backward
    from tacit.sequences.loops.gaussian_lanes import expect_numbers

    k, d = chain.means.shape
    starts, transitions = np.zeros(k), np.zeros((k, k))
    lanes = rows.lanes
    if lanes is None:
        posterior, logs = np.empty((len(rows.values), k)), np.empty(len(rows.values))
        seen = number_evidence(chain, rows.values, rows.ends)
        tables = chain.initial, chain.transitions, seen.likelihoods
        forward_backward(*tables, rows.ends, posterior, logs, starts, transitions)
        sums = row_sums(rows, posterior, chain, diagonal=chain.diagonal)
        log_likelihood = float(logs.sum() + seen.taken.sum())
        return Expected(log_likelihood, starts, transitions, _totals(posterior), sums)
    visits, firsts, seconds = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    log_likelihood = expect_numbers(
        chain.initial,
        chain.transitions,
        chain.means,
        chain.inverse_factors,
        chain.log_sizes,
        chain.diagonal,
        *(lanes.columns, lanes.begins, lanes.lengths),
        *((starts, transitions), (visits, firsts, seconds)),
    )
    squares = np.diagonal(seconds, axis1=1, axis2=2)
    if chain.diagonal:
        sums = RowSums(np.repeat(visits[:, None], d, axis=1), firsts, squares)
    else:
        lower = np.tril(seconds)
        both = lower + lower.transpose(0, 2, 1) - squares[:, :, None] * np.eye(d)
        sums = RowSums(visits, firsts, both)
    return Expected(log_likelihood, starts, transitions, visits, sums)


def _compiled_step(layout: GaussianLayout, lanes: Lanes, strength: float, pseudo: Array) -> Step:
    """The step of `gaussian_step` for sequences side by side, several times as fast."""
    from tacit.sequences.loops.gaussian_em import better_numbers, read_numbers
    from tacit.sequences.loops.gaussian_lanes import expect_numbers

    k, d = layout.n_states, layout.n_columns
    n_tables = k + k * k
    shape = k, d, layout.diagonal, UNITS
    weights = SPREADS, SPREADS * SPREAD, CENTRES, COMMON + (1 if layout.diagonal else d)
    prior = (*(strength * each for each in weights), _LEAST)

    def step(values: Array) -> tuple[float, Array, Array]:
        means, whiteners, log_sizes = read_numbers(values, shape)
        tables, counts = values[:n_tables], np.zeros(n_tables)
        sums = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        likelihood = expect_numbers(
            *(tables[:k], tables[k:].reshape(k, k)),
            *(means, whiteners, log_sizes, layout.diagonal),
            *(lanes.columns, lanes.begins, lanes.lengths),
            *((counts[:k], counts[k:].reshape(k, k)), sums),
        )
        parts = means, whiteners, log_sizes
        more, image, masses = better_numbers(values, parts, counts, sums, shape, pseudo, prior)
        return likelihood + more, image, masses

    return step


def gaussian_step(
    layout: GaussianLayout,
    rows: Rows,
    pseudo_counts: float | None = None,
    *,
    stationary: bool = False,
) -> Step:
    """One step of MAP-EM on the flat numbers of a chain, with so many pseudo-counts (None: the usual ones).

    Stationary initial probabilities follow from the transitions; these get likelier, if not the likeliest.
    """
    from tacit.core.loops.acceleration import maximise

    k = layout.n_states
    n_tables = k + k * k
    strength = 1.0 if pseudo_counts is None else pseudo_counts
    first, others = (STARTS, MOVES) if pseudo_counts is None else (strength, strength)
    pseudo = np.concatenate([np.full(k, first / k), np.full(k * k, others / k)])

    if rows.lanes is not None and not stationary:
        return _compiled_step(layout, rows.lanes, strength, pseudo)

    def step(values: Array) -> tuple[float, Array, Array]:
        chain = layout.chain(values)
        told = expected(chain, rows)
        means, covariances = densities(told.sums, strength, chain)
        counts = np.concatenate([told.starts, told.transitions.ravel()])
        dirichlet, tables = maximise(counts, pseudo, values[:n_tables], layout.row_starts)
        objective = told.log_likelihood + log_prior(chain, strength) + dirichlet
        begun, moved = tables[:k], tables[k:].reshape(k, k)
        if stationary:
            starts, transitions = counts[:k], counts[k:].reshape(k, k)
            moved = stationary_transitions(starts, transitions, chain.transitions)
            begun = long_run(moved)
        better = GaussianChain(begun, moved, means, covariances, layout.diagonal)
        masses = layout.masses(chain, told.visits, counts[k:], counts[:k])
        return objective, layout.flat(better), masses

    return step


def polished_gaussian(
    chain: GaussianChain,
    rows: Rows,
    *,
    gain: float,
    max_iter: int,
    pseudo_counts: float | None = None,
    stationary: bool = False,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[GaussianChain, EMRun]:
    """Accelerated MAP-EM from this chain, until a step gains less than `gain` nats.

    With `stationary` initial probabilities are those of the long run.
    """
    layout = GaussianLayout(chain.n_states, chain.n_columns, chain.diagonal)

    def allowed(values: Array) -> Array:
        found = layout.allowed(values)
        if stationary:
            found[: layout.n_states] = layout.chain(found).stationary
        return found

    first = layout.flat(chain)
    n_tables = layout.n_states * (layout.n_states + 1)
    first[:n_tables] = np.maximum(first[:n_tables], 1e-9)
    found = run_accelerated_em(
        gaussian_step(layout, rows, pseudo_counts, stationary=stationary),
        allowed(first),
        AbsoluteGain(gain),
        normalise=allowed,
        max_iter=max_iter,
        progress=progress,
        warn=False,
    )
    return layout.chain(found.values), found
