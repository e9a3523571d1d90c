"""EM on hidden Markov models with Gaussian emissions.

Columns are expected to be standardised: mean about zero, standard deviation about one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, refusing_singular, run_accelerated_em
from tacit.core.linalg.long_run import long_run
from tacit.sequences.learn.em.stationary import stationary_transitions
from tacit.sequences.model.gaussian_hmm import GaussianChain, GaussianLayout
from tacit.sequences.model.gaussians import UNITS, Gaussians
from tacit.sequences.query.gaussian_emissions import missing_patterns, number_evidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Pseudo-counts of initial probabilities, and of each row of transitions.
STARTS, TRANSITIONS = 2.0, 1.0
# Prior of each state's density: pseudo-counts of its variance, this variance in units of the column's, and
# pseudo-counts of a mean at the column's mean.
SPREADS, SPREAD, CENTRES = 1.0, 0.05, 0.01
# Pseudo-counts of the covariance that states have in common, besides one for each column; the divisor leaves
# them out: the normal density that is nearest to the truth on average divides by that many fewer numbers.
COMMON = 2.0
_LEAST = 1e-8  # the smallest variance, in the same units: columns may be constant within a state


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers of all sequences in turn."""

    values: Array  # (position, column)  NaN where a number is missing
    ends: Integers  # (sequence + 1,)

    @cached_property
    def patterns(self) -> list[tuple[NDArray[np.bool_], Integers]]:
        """Which columns are observed, and the rows where exactly these are."""
        return list(missing_patterns(self.values))

    @cached_property
    def is_observed(self) -> Array | None:
        """(position, column) one where a number is observed, zero elsewhere; None where all are."""
        missing = np.isnan(self.values)
        return (~missing).astype(np.float64) if missing.any() else None

    @cached_property
    def filled(self) -> Array:
        """(position, column) with zeros where a number is missing."""
        return self.values if self.is_observed is None else np.nan_to_num(self.values, nan=0.0)

    @cached_property
    def squares(self) -> Array:
        """(position, column)."""
        return np.square(self.filled)

    @cached_property
    def batches(self) -> Batches | None:
        """The same in batches; None where numbers are missing, or most of it would be padding."""
        from tacit.sequences.loops.gaussian_expectations import BATCH_SIZE

        n_lines = np.sort(np.diff(self.ends))[::-BATCH_SIZE].sum()
        if self.is_observed is not None or not 0 < n_lines * BATCH_SIZE <= 2 * len(self.values):
            return None
        return in_batches(self.values, self.ends)


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows of sequences in blocks of `BATCH_SIZE`, the longest sequences first."""

    columns: Array  # (line, column, sequence of the block)  zero beyond its end
    begins: Integers  # (block + 1,) the lines where blocks start
    lengths: Integers  # (block, sequence of the block)


def in_batches(values: Array, ends: Integers) -> Batches:
    """Sequences in blocks, however much of these is padding."""
    from tacit.sequences.loops.gaussian_expectations import BATCH_SIZE

    lengths = np.diff(ends)
    order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    n_blocks = -(-len(order) // BATCH_SIZE)
    firsts, block_lengths = np.zeros((2, n_blocks * BATCH_SIZE), np.int64)
    firsts[: len(order)], block_lengths[: len(order)] = ends[order], lengths[order]
    block_lengths = block_lengths.reshape(n_blocks, BATCH_SIZE)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(block_lengths[:, 0])])
    columns = np.zeros((begins[-1], BATCH_SIZE, values.shape[1]))
    for block, places in enumerate(firsts.reshape(n_blocks, BATCH_SIZE)):
        times = np.arange(block_lengths[block, 0])[:, None]
        is_inside = times < block_lengths[block]
        columns[begins[block] : begins[block + 1]][is_inside] = values[(places + times)[is_inside]]
    return Batches(np.ascontiguousarray(columns.transpose(0, 2, 1)), begins, block_lengths)


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums of rows, weighted by the posterior of each state.

    With diagonal covariances all sums are per column: numbers may be missing in one and not in another.
    """

    visits: Array  # (state,), or (state, column)
    firsts: Array  # (state, column)
    seconds: Array  # (state, column, column), or (state, column) of squares


def row_sums(rows: Rows, posterior: Array, chain: Gaussians | None, *, diagonal: bool) -> RowSums:
    """Sums for densities of states.

    Parameters
    ----------
    rows : Rows
    posterior : (position, state)
    chain : Gaussians or None
        Imputes missing numbers of a row by their expectation given the others; without it such rows are
        left out.
    diagonal : bool
    """
    if diagonal:
        weights = posterior.T
        if rows.is_observed is None:
            visits = np.repeat(_totals(posterior)[:, None], rows.values.shape[1], axis=1)
        else:
            visits = weights @ rows.is_observed
        return RowSums(visits, weights @ rows.filled, weights @ rows.squares)
    k, d = posterior.shape[1], rows.values.shape[1]
    visits, firsts, seconds = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for observed, places in rows.patterns:
        if not observed.any() or (chain is None and not observed.all()):
            continue
        everything = len(places) == len(posterior)
        responsibilities = posterior if everything else posterior[places]
        values = rows.values if everything else rows.values[places]
        visits += _totals(responsibilities)
        for m in range(k):
            spread = np.zeros((d, d))
            full = values
            if chain is not None and not observed.all():
                full, spread = _completed(chain, m, values, observed)
            weighted = responsibilities[:, m, None] * full
            firsts[m] += weighted.sum(axis=0)
            seconds[m] += weighted.T @ full + responsibilities[:, m].sum() * spread
    return RowSums(visits, firsts, seconds)


def _totals(posterior: Array) -> Array:
    """(state,) sums over positions, as a product: ten times as fast as a sum over long, narrow arrays."""
    return np.ones(len(posterior)) @ posterior


def _completed(
    chain: Gaussians, state: int, values: Array, observed: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Rows with missing numbers replaced by their expectation, and the covariance of these."""
    mean, covariance = chain.means[state], chain.covariances[state]
    missing = ~observed
    inner = covariance[np.ix_(observed, observed)]
    weights = np.linalg.solve(inner, covariance[np.ix_(observed, missing)])  # (observed, missing)
    full = values.copy()
    full[:, missing] = mean[missing] + (values[:, observed] - mean[observed]) @ weights
    spread = np.zeros_like(covariance)
    left = covariance[np.ix_(missing, missing)] - covariance[np.ix_(missing, observed)] @ weights
    spread[np.ix_(missing, missing)] = left
    return full, spread


def _n_common(chain: Gaussians) -> float:
    return COMMON + (1 if chain.diagonal else chain.n_columns)


def densities(
    sums: RowSums, strength: float, chain: Gaussians | None = None
) -> tuple[Array, Array]:
    """Means (state, column) and covariances (state, column, column) of highest posterior density.

    Parameters
    ----------
    sums : RowSums
    strength : float
        Of the prior.
    chain : Gaussians or None
        Whose common covariance enters the prior; without it, only that of columns does.
    """
    d = sums.firsts.shape[1]
    visits = sums.visits if sums.seconds.ndim == 2 else sums.visits[:, None]
    weights, counted = visits + strength * CENTRES, visits + strength * SPREADS
    unseen = counted[:, 0] <= 0
    if not strength:  # states may be empty
        weights, counted = (np.where(counts > 0, counts, 1.0) for counts in (weights, counted))
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


def log_prior(chain: Gaussians, strength: float) -> float:
    """Log of the prior's density of means and covariances, up to a constant.

    Inverse covariances are Wishart with the common covariance as mode.
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
    """Expected counts and sums of rows, and the log-likelihood."""

    log_likelihood: float
    starts: Array  # (state,)
    transitions: Array  # (state, next state)
    visits: Array  # (state,)
    sums: RowSums


def expected(chain: GaussianChain, rows: Rows) -> Expected:
    """Expected counts, and sums for densities."""
    from tacit.sequences.loops.forward_backward import forward_backward
    from tacit.sequences.loops.gaussian_expectations import e_step

    k, d = chain.means.shape
    starts, transitions = np.zeros(k), np.zeros((k, k))
    batches = rows.batches
    if batches is None:
        posterior, logs = np.empty((len(rows.values), k)), np.empty(len(rows.values))
        evidence = number_evidence(chain, rows.values, rows.ends)
        tables = chain.initial, chain.transitions, evidence.likelihoods
        forward_backward(*tables, rows.ends, posterior, logs, starts, transitions)
        sums = row_sums(rows, posterior, chain, diagonal=chain.diagonal)
        log_likelihood = float(logs.sum() + evidence.log_scales.sum())
        return Expected(log_likelihood, starts, transitions, _totals(posterior), sums)
    visits, firsts, seconds = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    log_likelihood = e_step(
        chain.initial,
        chain.transitions,
        chain.means,
        chain.inverse_factors,
        chain.log_sizes,
        chain.diagonal,
        *(batches.columns, batches.begins, batches.lengths),
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


def _compiled_step(
    layout: GaussianLayout, batches: Batches, strength: float, pseudo: Array
) -> Step:
    """The step of `gaussian_step` for batches of sequences, several times as fast."""
    from tacit.sequences.loops.gaussian_em import m_step, unpack_parameters
    from tacit.sequences.loops.gaussian_expectations import e_step

    k, d = layout.n_states, layout.n_columns
    n_tables = k + k * k
    shape = k, d, layout.diagonal, UNITS
    weights = SPREADS, SPREADS * SPREAD, CENTRES, COMMON + (1 if layout.diagonal else d)
    prior = (*(strength * weight for weight in weights), _LEAST)

    def step(values: Array) -> tuple[float, Array, Array]:
        means, whiteners, log_sizes = unpack_parameters(values, shape)
        tables, counts = values[:n_tables], np.zeros(n_tables)
        sums = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        likelihood = e_step(
            *(tables[:k], tables[k:].reshape(k, k)),
            *(means, whiteners, log_sizes, layout.diagonal),
            *(batches.columns, batches.begins, batches.lengths),
            *((counts[:k], counts[k:].reshape(k, k)), sums),
        )
        parts = means, whiteners, log_sizes
        more, image, masses = m_step(values, parts, counts, sums, shape, pseudo, prior)
        return likelihood + more, image, masses

    return step


def gaussian_step(
    layout: GaussianLayout,
    rows: Rows,
    pseudo_counts: float | None = None,
    *,
    stationary: bool = False,
) -> Step:
    """One step of MAP-EM on the flat parameters of a chain; `pseudo_counts` None: the default ones.

    Stationary initial probabilities follow from the transitions, which improve without being optimal.
    """
    from tacit.core.loops.acceleration import maximise

    k = layout.n_states
    n_tables = k + k * k
    strength = 1.0 if pseudo_counts is None else pseudo_counts
    first, others = (STARTS, TRANSITIONS) if pseudo_counts is None else (strength, strength)
    pseudo = np.concatenate([np.full(k, first / k), np.full(k * k, others / k)])

    if rows.batches is not None and not stationary:
        return _compiled_step(layout, rows.batches, strength, pseudo)

    def step(values: Array) -> tuple[float, Array, Array]:
        chain = layout.chain(values)
        expected_counts = expected(chain, rows)
        means, covariances = densities(expected_counts.sums, strength, chain)
        counts = np.concatenate([expected_counts.starts, expected_counts.transitions.ravel()])
        dirichlet, tables = maximise(counts, pseudo, values[:n_tables], layout.row_starts)
        objective = expected_counts.log_likelihood + log_prior(chain, strength) + dirichlet
        initial, transitions = tables[:k], tables[k:].reshape(k, k)
        if stationary:
            initial_counts, transition_counts = counts[:k], counts[k:].reshape(k, k)
            transitions = stationary_transitions(
                initial_counts, transition_counts, chain.transitions
            )
            initial = long_run(transitions)
        improved = GaussianChain(initial, transitions, means, covariances, layout.diagonal)
        masses = layout.masses(chain, expected_counts.visits, counts[k:], counts[:k])
        return objective, layout.flat(improved), masses

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
        normalised = layout.allowed(values)
        if stationary:
            normalised[: layout.n_states] = layout.chain(normalised).stationary
        return normalised

    first = layout.flat(chain)
    n_tables = layout.n_states * (layout.n_states + 1)
    first[:n_tables] = np.maximum(first[:n_tables], 1e-9)
    em_run = run_accelerated_em(
        refusing_singular(gaussian_step(layout, rows, pseudo_counts, stationary=stationary)),
        allowed(first),
        AbsoluteGain(gain),
        normalise=allowed,
        max_iter=max_iter,
        progress=progress,
        warn=False,
    )
    return layout.chain(em_run.values), em_run
