"""Operators of symbols from windows, without hidden states: what ``learn="spectral"`` does."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import DataError, RankError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.hmm_task import Task, frequencies, spectrum

if TYPE_CHECKING:
    from tacit.messages.repairs import Repairs
    from tacit.sequences.query.proper_operators import ProperOperators

Told = dict[str, Any]

# Shares of the symbols' frequencies that are tried. Never none: what is cut off at zero was no certain zero.
FALLBACKS = (1e-4, 0.01, 0.03, 0.1, 0.3, 1.0)
USUAL_FALLBACK = 0.03  # where nothing can be left out to choose by


def learn_operators(task: Task, rank: int) -> tuple[ProperOperators, Told]:
    """Operators of a rank, and how much of the symbols' frequencies is mixed into what they say.

    That share is chosen by sequences that are left out, of those that are there.
    """
    from tacit.messages.repairs import Repairs
    from tacit.sequences.learn.selection import left_out

    found, told = _operators(task, rank)
    sequences, scores, repairs = task.sequences, dict[float, float](), Repairs()
    if task.validation is not None:
        scores, repairs = _fallback_scores(found, task.validation)
    elif sequences.n_positions:
        kept, out = (each.of(sequences) for each in left_out(sequences.ends, task.settings.seed))
        with suppress(DataError, RankError):  # what is kept may carry less than the whole
            tried, _ = _operators(Task(kept, task.settings), rank)
            scores, repairs = _fallback_scores(tried, out)
    fallback = max(scores, key=lambda share: (scores[share], share)) if scores else USUAL_FALLBACK
    table = [{"fallback": share, "held_out_score": score} for share, score in scores.items()]
    return replace(found, fallback=fallback), {
        "fallback": fallback,
        "candidates_fallback": table,
        "held_out_repairs": repairs.as_dict(),
        **told,
    }


def _operators(task: Task, rank: int) -> tuple[ProperOperators, Told]:
    from tacit.sequences.learn.spectral.hmm import spectral_hmm
    from tacit.sequences.learn.spectral.longer_windows import RIDGE
    from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
    from tacit.sequences.query.proper_operators import ProperOperators

    counts = task.counts
    shares = frequencies(task)
    if task.reach == 1:
        moments = counts.window_moments()
        operators, told = spectral_hmm(moments, rank), spectrum(moments, rank)
    else:
        windows = task.windows(task.reach)
        directions = leading_directions(windows, 2 * rank + 8, RIDGE)
        operators = spectral_operators(windows, directions, rank, np.ones(counts.n_symbols))
        told = {"singular_values": [float(each) for each in directions.sizes]}
    if task.settings.stationary:
        operators = replace(operators, initial=operators.mean)
    return ProperOperators(operators, shares, 0.0), told


def _fallback_scores(
    found: ProperOperators, sequences: Sequences
) -> tuple[dict[float, float], Repairs]:
    """Mean log-probability of a symbol, for each share of frequencies; and what was negative."""
    codes = sequences.codes
    steps = found.step_logs(codes, sequences.lengths)
    there = codes >= 0
    if not there.any():
        return {}, steps.repairs
    told, usual = np.exp(steps.logs[there]), found.shares[codes[there]]
    scores = {
        share: float(np.log(np.maximum((1 - share) * told + share * usual, 1e-300)).mean())
        for share in FALLBACKS
    }
    return scores, steps.repairs
