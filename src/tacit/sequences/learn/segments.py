"""Explicit durations of the states, learnt from a plain hidden Markov model of the same emissions.

1. The plain model says how likely each state is at each position, and how long states last.
2. EM with negative binomial durations starts there, from geometric ones.
3. A table of durations starts from the negative binomial ones, which are its prior, too. How strong this
   prior is, the counts of segments say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.learn.em.emission_chain import DEFAULT_PSEUDO_COUNTS, ChainData
from tacit.sequences.learn.em.segments import expected_counts, run_em
from tacit.sequences.model.durations import (
    DurationTable,
    NegativeBinomialDurations,
    SegmentCounts,
    segment_transitions,
    survival,
)
from tacit.sequences.model.emission_chain import EmissionChain, masked_rows

if TYPE_CHECKING:
    from tacit.core.em import EMRun
    from tacit.core.progress import Report
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.model.shapes import Shape
    from tacit.sequences.query.hidden_states import StateEvidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_AGES = 500  # of `max_duration="auto"`
COVERED = 0.99  # of the plain model's segments are no longer than `max_duration="auto"`
# Pseudo-counts of each hazard of a table: at first, and those that are compared.
FIRST_STRENGTH, STRENGTHS = 5.0, (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)
_LEAST_TRANSITION = 1e-3  # EM never raises a zero


def learn_segments(
    data: ChainData,
    plain: Any,
    evidence: Iterable[StateEvidence],
    settings: HMMSettings,
    report: Report,
) -> tuple[EmissionChain, dict[str, Any]]:
    """A chain with explicit durations, and diagnostics.

    Parameters
    ----------
    data : ChainData
        Of the shape of the plain model.
    plain : parameters of any emission
        A plain hidden Markov model of the data.
    evidence : iterable of StateEvidence
        Of the plain model, block by block.
    settings : HMMSettings
    report : callable
    """
    posterior, lengths = _states(plain, evidence)
    n_ages = settings.max_duration or ages_for(lengths, data.ends)
    data = replace(data, shape=segment_shape(data.shape))
    count = DEFAULT_PSEUDO_COUNTS if settings.pseudo_counts is None else settings.pseudo_counts
    hazards = np.clip(1.0 - np.diag(plain.transitions), 1.0 / (100 * n_ages), 1 - 1e-6)
    durations = NegativeBinomialDurations(np.ones(len(hazards)), 1.0 / hazards - 1.0, n_ages)
    chain = _start(data, plain, posterior, durations)
    prior = segment_prior(hazards, n_ages, count)
    chain, em_run = _polished(chain, data, prior, settings, report)
    diagnostics: dict[str, Any] = {"max_duration": n_ages, "negative-binomial": _steps(em_run)}
    if settings.durations == "table":
        mean = durations_of(chain).hazards
        chain = replace(chain, durations=DurationTable(mean))
        strength = FIRST_STRENGTH if settings.pseudo_counts is None else count
        prior = SegmentCounts(strength * mean, strength * (1.0 - mean))
        chain, em_run = _polished(chain, data, prior, settings, report)
        if settings.pseudo_counts is None:
            expected, _ = expected_counts(data, chain)
            strength = likeliest_strength(SegmentCounts(expected.endings, expected.stays), mean)
            prior = SegmentCounts(strength * mean, strength * (1.0 - mean))
            chain, em_run = _polished(chain, data, prior, settings, report)
        diagnostics |= {"prior_strength": strength, "table": _steps(em_run)}
    return replace(chain, density=data.rows.finished(chain.density)), {"durations": diagnostics}


def durations_of(chain: EmissionChain) -> Any:
    """Its explicit durations."""
    assert chain.durations is not None
    return chain.durations


def segment_shape(shape: Shape) -> Shape:
    """The transitions that are possible between segments: to another state, if there is one."""
    transitions = shape.transitions & ~np.eye(shape.n_states, dtype=bool)
    last = ~transitions.any(axis=1)
    transitions[last, last] = True
    return replace(shape, transitions=transitions)


def segment_prior(hazards: Array, n_ages: int, count: float) -> SegmentCounts:
    """So many segments of each state, of geometric durations with (state,) hazards."""
    reached = count * survival(hazards[:, None], n_ages)
    reached[:, -1] /= hazards  # positions of the last age and all beyond
    return SegmentCounts(reached * hazards[:, None], reached * (1.0 - hazards[:, None]))


def likeliest_strength(counts: SegmentCounts, mean: Array) -> float:
    """Of `STRENGTHS`, the pseudo-counts at (state, age) mean hazards that make the counts likeliest.

    Hazards are integrated out under beta densities.
    """
    from scipy.special import betaln

    def evidence(strength: float) -> float:
        ends, stays = strength * mean, strength * (1.0 - mean)
        more = betaln(ends + counts.endings, stays + counts.stays) - betaln(ends, stays)
        return float(more.sum())

    return max(STRENGTHS, key=evidence)


def _start(
    data: ChainData, plain: Any, posterior: Array, durations: NegativeBinomialDurations
) -> EmissionChain:
    shape, smooth = data.shape, _LEAST_TRANSITION / len(durations.sizes)
    return EmissionChain(
        masked_rows(plain.initial + smooth, shape.initial),
        masked_rows(segment_transitions(plain.transitions) + smooth, shape.transitions),
        data.rows.maximised(data.grouped(posterior)),
        shape,
        durations,
    )


def _states(plain: Any, evidence: Iterable[StateEvidence]) -> tuple[Array, Integers]:
    """(position, state) posteriors of the plain model; (segment,) lengths on its most likely paths."""
    from tacit.sequences.query.hidden_states import smoothed, viterbi

    posteriors, lengths = [np.zeros((0, plain.n_states))], [np.zeros(0, np.int64)]
    for block in evidence:
        posteriors.append(smoothed(plain, block))
        lengths.append(run_lengths(viterbi(plain, block)[0], block.ends))
    return np.concatenate(posteriors), np.concatenate(lengths)


def run_lengths(path: NDArray[np.integer], ends: Integers) -> Integers:
    """(segment,) how long the segments of paths of states are."""
    begins = np.ones(len(path) + 1, dtype=bool)
    begins[1:-1] = path[1:] != path[:-1]
    begins[ends] = True
    return np.diff(np.flatnonzero(begins))


def ages_for(lengths: Integers, ends: Integers) -> int:
    """Ages with hazards of their own: as many positions as nearly all segments last."""
    longest = int(np.diff(ends).max(initial=1))
    covered = int(np.ceil(np.quantile(lengths, COVERED))) if len(lengths) else 2
    return int(np.clip(covered, 2, max(min(longest, MOST_AGES), 2)))


def _polished(
    start: EmissionChain,
    data: ChainData,
    prior: SegmentCounts,
    settings: HMMSettings,
    report: Report,
) -> tuple[EmissionChain, EMRun]:
    def tell(step: int, objective: float) -> None:
        report(min(step / settings.max_iter, 1.0), f"durations, step {step}: {objective:.1f} nats")

    return run_em(
        start,
        data,
        prior,
        gain=settings.tol * data.n_positions,
        max_iter=settings.max_iter,
        pseudo_counts=settings.pseudo_counts,
        progress=tell,
    )


def _steps(em_run: EMRun) -> dict[str, Any]:
    return {
        "n_steps": em_run.n_steps,
        "converged": em_run.converged,
        "objectives": [float(objective) for objective in em_run.trace],
    }
