"""Accelerated MAP-EM on chains with explicit durations and emissions of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, refusing_singular, run_accelerated_em
from tacit.sequences.learn.em.emission_chain import (
    DEFAULT_PSEUDO_COUNTS,
    ChainData,
    pseudo_counts_of,
)
from tacit.sequences.model.durations import SegmentCounts
from tacit.sequences.model.emission_chain import EmissionChain, masked_rows
from tacit.sequences.query.segments import expected_segments

if TYPE_CHECKING:
    from tacit.sequences.query.segments import ExpectedSegments

Array = NDArray[np.float64]


def em_step(
    data: ChainData, like: EmissionChain, prior: SegmentCounts, pseudo_counts: float | None = None
) -> Step:
    """One step of MAP-EM on the flat parameters of chains like a given one.

    Parameters
    ----------
    data : ChainData
        Its shape has the transitions that are possible between segments.
    like : EmissionChain
        Has durations.
    prior : SegmentCounts
        Added to the expected endings and stays of segments.
    pseudo_counts : float, optional
        Of initial probabilities and each row of transitions.
    """
    from tacit.core.loops.acceleration import maximise

    k, shape = like.n_states, data.shape
    count = DEFAULT_PSEUDO_COUNTS if pseudo_counts is None else pseudo_counts
    pseudo = pseudo_counts_of(shape, count)
    row_starts = np.arange(k + 1, dtype=np.int64) * k

    def step(values: Array) -> tuple[float, Array, Array]:
        chain = like.of_flat(values)
        expected, log_likelihood = expected_counts(data, chain)
        counts = np.concatenate([expected.initial, expected.transitions.ravel()])
        tables = np.concatenate([chain.initial, chain.transitions.ravel()])
        dirichlet, _ = maximise(counts, pseudo, tables, row_starts)
        posterior = data.grouped(expected.posterior)
        density = data.rows.maximised(posterior, chain.density)
        segments = SegmentCounts(expected.endings, expected.stays) + prior
        assert chain.durations is not None
        objective = log_likelihood + dirichlet + data.rows.log_prior(chain.density)
        objective += prior.log_likelihood(chain.durations.hazards)
        image = EmissionChain(
            masked_rows(counts[:k], shape.initial),
            masked_rows(counts[k:].reshape(k, k), shape.transitions),
            density,
            shape,
            chain.durations.maximised(segments),
        )
        density_masses = density.masses(np.ones(len(posterior)) @ posterior)
        masses = np.concatenate([counts, density_masses, chain.durations.masses(segments)])
        return objective, image.flat, masses

    return step


def expected_counts(data: ChainData, chain: EmissionChain) -> tuple[ExpectedSegments, float]:
    """Expected counts of segments, and the log-likelihood of all sequences."""
    assert chain.segments is not None
    likelihoods, log_scale = data.likelihoods(chain)
    expected = expected_segments(chain.segments, likelihoods, data.ends)
    return expected, float(expected.logs.sum()) + log_scale


def run_em(
    start: EmissionChain,
    data: ChainData,
    prior: SegmentCounts,
    *,
    gain: float,
    max_iter: int,
    pseudo_counts: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[EmissionChain, EMRun]:
    """A chain after EM, until a step gains less than `gain` nats in all; see `em_step`."""

    def valid(values: Array) -> Array:
        return start.of_flat(values).flat

    em_run = run_accelerated_em(
        refusing_singular(em_step(data, start, prior, pseudo_counts)),
        valid(start.flat),
        AbsoluteGain(gain),
        normalise=valid,
        max_iter=max_iter,
        progress=progress,
        warn=False,
    )
    return start.of_flat(em_run.values), em_run
