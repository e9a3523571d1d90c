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

Diagnostics = dict[str, Any]

# Candidate weights of the symbols' frequencies. Never zero: an estimate clipped at zero is no certain zero.
FALLBACKS = (1e-4, 0.01, 0.03, 0.1, 0.3, 1.0)
USUAL_FALLBACK = 0.03  # where nothing can be held out


def learn_operators(task: Task, rank: int) -> tuple[ProperOperators, Diagnostics]:
    """Operators of a rank, with a weight of the symbols' frequencies in their predictions.

    The weight is selected on held-out sequences; the printed form has none.
    """
    from tacit.messages.repairs import Repairs
    from tacit.sequences.learn.selection import left_out

    if task.settings.preset == "printed":
        return printed_operators(task, rank)
    operators, diagnostics = _operators(task, rank)
    sequences, scores, repairs = task.sequences, dict[float, float](), Repairs()
    if task.validation is not None:
        scores, repairs = _fallback_scores(operators, task.validation)
    elif sequences.n_positions:
        training, held_out = (
            pieces.of(sequences) for pieces in left_out(sequences.ends, task.settings.seed)
        )
        with suppress(DataError, RankError):  # the training part may support less than all
            candidate, _ = _operators(Task(training, task.settings), rank)
            scores, repairs = _fallback_scores(candidate, held_out)
    fallback = (
        max(scores, key=lambda weight: (scores[weight], weight)) if scores else USUAL_FALLBACK
    )
    table = [{"fallback": weight, "held_out_score": score} for weight, score in scores.items()]
    return replace(operators, fallback=fallback), {
        "fallback": fallback,
        "candidates_fallback": table,
        "held_out_repairs": repairs.as_dict(),
        **diagnostics,
    }


def printed_operators(task: Task, rank: int) -> tuple[ProperOperators, Diagnostics]:
    """The operators b_1, b_inf and B_x of Hsu, Kakade and Zhang (2012), LearnHMM, as printed.

    All are from the first three symbols of each sequence. Or P_21, P_3x1 and the P_1 of b_inf are from all
    windows of three, and the P_1 of b_1 from the first symbols: each is then about the same states. Symbols
    are not scaled by their frequencies.
    """
    from tacit.sequences.learn.spectral.hmm import pair_values, spectral_hmm
    from tacit.sequences.query.proper_operators import ProperOperators

    is_first = task.settings.windows == "first"
    counts = task.heads if is_first else task.counts
    if not counts.triples.total:
        raise DataError(
            f'no window of three symbols was observed with windows="{task.settings.windows}"; give longer '
            f"sequences, or ones whose first symbols are not missing"
        )
    moments = counts.window_moments()
    if is_first:
        moments = replace(moments, first=moments.one)
    return ProperOperators(spectral_hmm(moments, rank, scaled=False), frequencies(task), 0.0), {
        "fallback": 0.0,
        "windows": task.settings.windows,
        "n_windows": int(moments.n_windows),
        "singular_values": pair_values(moments, 2 * rank + 8).tolist(),
    }


def _operators(task: Task, rank: int) -> tuple[ProperOperators, Diagnostics]:
    from tacit.sequences.learn.spectral.hmm import spectral_hmm
    from tacit.sequences.learn.spectral.longer_windows import RIDGE
    from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
    from tacit.sequences.query.proper_operators import ProperOperators

    counts = task.counts
    symbol_frequencies = frequencies(task)
    if not task.settings.has_windows:
        moments = counts.window_moments()
        operators, diagnostics = spectral_hmm(moments, rank), spectrum(moments, rank)
    else:
        windows = task.windows(task.reach)
        directions = leading_directions(windows, 2 * rank + 8, RIDGE)
        operators = spectral_operators(windows, directions, rank, np.ones(counts.n_symbols))
        diagnostics = {"singular_values": [float(size) for size in directions.sizes]}
    if task.settings.stationary:
        operators = replace(operators, initial=operators.mean)
    return ProperOperators(operators, symbol_frequencies, 0.0), diagnostics


def _fallback_scores(
    operators: ProperOperators, sequences: Sequences
) -> tuple[dict[float, float], Repairs]:
    """Mean log-probability of a symbol, for each weight of frequencies; and repairs of negative values."""
    codes = sequences.codes
    steps = operators.step_logs(codes, sequences.lengths)
    is_observed = codes >= 0
    if not is_observed.any():
        return {}, steps.repairs
    predicted, marginal = np.exp(steps.logs[is_observed]), operators.frequencies[codes[is_observed]]
    scores = {
        fallback: float(
            np.log(np.maximum((1 - fallback) * predicted + fallback * marginal, 1e-300)).mean()
        )
        for fallback in FALLBACKS
    }
    return scores, steps.repairs
