"""Hidden Markov models from data: the steps of `HMM.fit` in order.

1. The emissions read the data (`tacit.sequences.emissions`).
2. The number of states is selected on held-out sequences, unless it is given (`learn/selection.py`).
3. The emissions learn a model of so many states: starts from moments or clusters (`learn/starts`,
   `learn/spectral`), then EM (`learn/em`).
4. Explicit durations of the states start from there (`learn/segments.py`).
5. States are ordered, those most visited first, unless the shape of the chain or known states number them;
   `diagnostics_` records the steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.sequences.learn.growth import Growth
from tacit.sequences.learn.selection import Candidates, Choice, choose_states, left_out
from tacit.sequences.query.hidden_states import StateEvidence, filtered
from tacit.sequences.query.hmm_scores import evidence_blocks, log_probs_of
from tacit.sequences.query.proper_operators import ProperOperators

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

GROWING = ("auto", "em")  # learners by EM: models of more states grow from those of fewer
BY_ITSELF = 6  # up to so many states the learner's own starts are candidates, too
ROUGH = 10.0  # times `tol`, during selection


@dataclass(frozen=True, eq=False)
class FittedHMM:
    """Parameters and diagnostics."""

    parameters: Any
    diagnostics: dict[str, Any]


def fit_hmm(
    emission: Emission,
    data: Any,
    stream: Any,
    held_out: Any,
    n_states: int | str,
    settings: HMMSettings,
    report: Report,
    states: NDArray[np.integer] | None = None,
) -> FittedHMM:
    """A hidden Markov model.

    Parameters
    ----------
    emission : Emission
    data : Sequences or Series
        Sequences for EM and selection.
    stream : Stream or NumberSample
        Counts of these, and of earlier sequences of `partial_fit`.
    held_out : Sequences or Series or None
        For selection.
    n_states : int or "auto"
    settings : HMMSettings
    report : callable
    states : (position,) integers, optional
        Those that are known, -1 elsewhere.
    """
    diagnostics: dict[str, Any] = {"learn": settings.learn, **stream.sizes}
    if isinstance(n_states, str):
        choice = _selected_states(emission, data, held_out, settings, report)
        n_states = choice.n_states
        if _grows(settings):
            settings = replace(settings, start=choice.model)
        diagnostics |= {"candidates": choice.candidates, "skipped": choice.skipped}
    learnt, more = _learn(
        emission,
        data,
        int(n_states),
        settings,
        held_out=held_out,
        stream=stream,
        states=states,
        report=report,
    )
    diagnostics |= {"n_states": int(n_states), **more}
    if not isinstance(learnt, ProperOperators):
        has_order = settings.has_shape and settings.shape_for(int(n_states)).is_ordered
        if states is None and not has_order:
            learnt = learnt.ordered(np.argsort(-learnt.stationary, kind="stable"))
        diagnostics["unvisited_states"] = unvisited(learnt, stream.sizes)
    return FittedHMM(learnt, diagnostics)


def _learn(
    emission: Emission,
    data: Any,
    n_states: int,
    settings: HMMSettings,
    *,
    states: NDArray[np.integer] | None = None,
    report: Report = silent,
    **more: Any,
) -> tuple[Any, dict[str, Any]]:
    """Parameters of so many states, with explicit durations where the settings say so."""
    learnt, diagnostics = emission.learn(
        data, n_states, settings, states=states, report=report, **more
    )
    if settings.durations is None or n_states == 1:
        return learnt, diagnostics
    from tacit.sequences.learn.em.emission_chain import ChainData
    from tacit.sequences.learn.segments import learn_segments

    rows, shape = emission.learning_rows(data, settings), settings.shape_for(n_states)
    chain, lasting = learn_segments(
        ChainData(rows, data.ends, shape, states),
        learnt,
        evidence_blocks(emission.evidence, learnt, data),
        settings,
        report,
    )
    return emission.of_chain(chain), diagnostics | lasting


def _selected_states(
    emission: Emission, data: Any, held_out: Any, settings: HMMSettings, report: Report
) -> Choice:
    """The number of states, selected on held-out sequences."""
    training, scored = data, held_out
    if held_out is None:
        training, scored = (pieces.of(data) for pieces in left_out(data.ends, settings.seed))
    unobserved = emission.numbers and np.isnan(training.positions).all(axis=0)
    if np.all(unobserved):
        return Choice(1, [])  # all numbers are in the other part
    growth = Growth(emission, training, held_out, settings, BY_ITSELF)
    quick = replace(settings, tol=ROUGH * settings.tol)

    def learn(k: int, smaller: Any) -> Any:
        if _grows(settings):
            return growth.learn(k, smaller)
        return _learn(emission, training, k, quick, held_out=held_out)[0]

    candidates = Candidates(
        learn,
        lambda learnt: log_probs_of(emission, learnt, scored)[0],
        training.n_positions,
        **emission.search(training, settings),
    )
    choice = choose_states(candidates, report)
    # a column that was not observed may be anywhere: no start for EM on all sequences
    return replace(choice, model=None) if np.any(unobserved) else choice


def _grows(settings: HMMSettings) -> bool:
    """Whether models of more states grow from those of fewer; splits know nothing of shapes and durations."""
    return settings.learn in GROWING and not settings.has_shape and settings.durations is None


def unvisited(learnt: Any, sizes: dict[str, int]) -> list[int]:
    """States that less than half a position is expected to be in."""
    n_positions = sizes["n_positions"]
    length = int(np.clip(n_positions / max(sizes["n_sequences"], 1), 1, 1000))
    return np.flatnonzero(_visits(learnt, length) * n_positions < 0.5).tolist()


def _visits(learnt: Any, length: int) -> Array:
    """(state,) how many of the first positions of a sequence are expected to be in each state."""
    if learnt.segments is not None:
        flags = np.ones((length, learnt.n_states))
        missing = StateEvidence(flags, np.zeros(length), np.array([0, length]))
        return np.asarray(filtered(learnt, missing).now.mean(axis=0))
    state, visits = learnt.initial, np.zeros(learnt.n_states)
    for _ in range(length):
        visits += state
        state = state @ learnt.transitions
    return visits / length
