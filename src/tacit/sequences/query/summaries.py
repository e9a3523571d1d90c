"""Pages about fitted models of sequences: fit, what was chosen, states, transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.summary import Section, Summary, profile
from tacit.sequences.model.durations import SegmentChain, duration_quantiles, mean_durations

Array = NDArray[np.float64]

MOST_STATES = 12  # whose transitions are shown
MOST_CANDIDATES = 12
_LIKELY = 0.05  # least probability of the transitions that are shown


def summary_of(
    title: str,
    diagnostics: Mapping[str, Any],
    sections: Sequence[Section],
    facts: Mapping[str, Any] | None = None,
) -> Summary:
    """A page: how the model was learnt, the candidates, then the given sections."""
    plain = {
        name: value
        for name, value in diagnostics.items()
        if isinstance(value, str | int | float) and value is not None
    }
    fit = Section("how it was learnt", facts={**plain, **(facts or {})})
    return Summary(title, [fit, *_choices(diagnostics), *sections])


def _choices(diagnostics: Mapping[str, Any]) -> list[Section]:
    """What was chosen, and the candidates with their held-out scores, the best first."""
    candidates = [
        candidate
        for candidate in diagnostics.get("candidates") or []
        if isinstance(candidate, dict)
    ]
    if not candidates:
        return []
    score = next((name for name in ("held_out_score", "held_out") if name in candidates[0]), None)
    if score is not None:
        candidates = sorted(candidates, key=lambda candidate: -float(candidate[score]))
    shown = candidates[:MOST_CANDIDATES]
    columns = [name for name, value in shown[0].items() if isinstance(value, str | int | float)]
    rows = [[candidate.get(name, "") for name in columns] for candidate in shown]
    more = "" if len(shown) == len(candidates) else f", the best {len(shown)} of {len(candidates)}"
    return [Section(f"candidates by held-out sequences{more}", columns=columns, rows=rows)]


def symbol_profiles(
    probabilities: Array, visits: Array, symbols: Sequence[Any], most: int = 4
) -> list[str]:
    """For each state the symbols that are much more likely in it than overall.

    Parameters
    ----------
    probabilities : (state, symbol)
    visits : (state,)
        How often each state is visited.
    symbols : sequence
    most : int
    """
    overall = {"": visits @ probabilities / max(float(visits.sum()), 1e-300)}
    states = profile({"": probabilities}, overall, {"": symbols}, len(probabilities), most=most)
    return [
        ", ".join(f"{symbol} {100 * p:.0f}% (overall {100 * q:.0f}%)" for _, symbol, p, q in state)
        for state in states
    ]


def duration_section(segments: SegmentChain) -> Section:
    """How many positions each state lasts, and the state after it."""
    hazards = segments.durations.hazards
    means = mean_durations(hazards)
    quantiles = duration_quantiles(hazards, np.array([0.05, 0.5, 0.95]))
    rows = [
        [state, "to the end", *[""] * 3]
        if segments.transitions[state, state] == 1
        else [state, f"{means[state]:.1f}", *(f"{quantile:.0f}" for quantile in quantiles[state])]
        for state in range(segments.n_states)
    ]
    heading = f"durations ({segments.durations.kind})"
    return Section(heading, columns=["state", "mean", "5%", "median", "95%"], rows=rows)


def state_sections(
    initial: Array, transitions: Array, visits: Array, descriptions: Sequence[str], heading: str
) -> list[Section]:
    """The states, and the likely transitions between them.

    Parameters
    ----------
    initial, transitions, visits : arrays
    descriptions : (state,) text
        What each state emits.
    heading : str
        Of the descriptions.
    """
    visited = visits / max(float(visits.sum()), 1e-300)
    rows = [
        [state, f"{100 * visited[state]:.1f}%", f"{100 * initial[state]:.1f}%", descriptions[state]]
        for state in range(len(initial))
    ]
    states = Section("states", columns=["state", "visited", "initial", heading], rows=rows)
    if len(initial) == 1:
        return [states]
    likely_transitions = []
    for state in range(min(len(initial), MOST_STATES)):
        order = np.argsort(-transitions[state], kind="stable")
        likely = [m for m in order.tolist() if transitions[state, m] >= _LIKELY][:6]
        likely_transitions.append(
            [state, ", ".join(f"{m} {100 * transitions[state, m]:.0f}%" for m in likely)]
        )
    return [states, Section("transitions", columns=["from", "to"], rows=likely_transitions)]
