"""What sequences say of the states of a hidden Markov model, block by block, whatever it emits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NegativeProbabilityError
from tacit.messages.repairs import Repairs
from tacit.sequences.learn.em.hmm import log_likelihoods
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.hidden_states import StateEvidence, filtered, sums_of, symbol_evidence
from tacit.sequences.query.proper_operators import ProperOperators

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_ONCE = 1 << 19  # positions that are worked on together
_FEW_AT_ONCE = 1 << 15  # where there is a prediction for each


def evidence_blocks(learnt: ChainTables | GaussianChain, sequences: Any) -> Iterator[StateEvidence]:
    """What blocks of sequences, of symbols or of numbers, say of their states."""
    from tacit.sequences.query.gaussian_emissions import number_evidence

    for ends in end_blocks(sequences.ends, _AT_ONCE):
        part = slice(ends[0], ends[-1])
        if isinstance(learnt, GaussianChain):
            yield number_evidence(learnt, sequences.values[part], ends - ends[0])
        else:
            yield symbol_evidence(learnt.emit[0], sequences.codes[part], ends - ends[0])


def log_probs_of(
    learnt: ChainTables | GaussianChain | ProperOperators, sequences: Any, negative: str = "floor"
) -> tuple[Array, dict[str, int | float]]:
    """(sequence,) natural logs of probabilities or densities, and a record of what was repaired.

    Parameters
    ----------
    learnt : ChainTables, GaussianChain or ProperOperators
    sequences : Sequences or Series
    negative : {"floor", "nan", "raise"}
        What a sequence gets if operators give one of its symbols an estimate that is not positive: the
        product of repaired predictions, NaN, or an error.

    Raises
    ------
    NegativeProbabilityError
        There are such sequences, and negative="raise".
    """
    if isinstance(learnt, ChainTables):
        return log_likelihoods(learnt, sequences), {}
    if isinstance(learnt, GaussianChain):
        found = [filtered(learnt, seen).log_probs() for seen in evidence_blocks(learnt, sequences)]
        return np.concatenate([np.zeros(0), *found]), {}
    logs, improper, repairs, n_restarts = [np.zeros(0)], [np.zeros(0)], Repairs(), 0
    for ends in end_blocks(sequences.ends, _FEW_AT_ONCE):
        told = learnt.step_logs(sequences.codes[ends[0] : ends[-1]], np.diff(ends))
        logs.append(sums_of(told.logs, ends - ends[0]))
        improper.append(sums_of(told.improper.astype(np.float64), ends - ends[0]))
        repairs, n_restarts = repairs + told.repairs, n_restarts + told.n_restarts
    values, wrong = np.concatenate(logs), np.concatenate(improper) > 0
    if wrong.any() and negative == "raise":
        raise NegativeProbabilityError(
            f"{int(wrong.sum())} of {len(wrong)} sequences, the first being number "
            f"{int(wrong.argmax())}, hold symbols whose estimates are not positive; ask with "
            f'negative="floor" or "nan", or learn hidden states (learn="auto")'
        )
    if negative == "nan":
        values[wrong] = np.nan
    return values, {
        **repairs.as_dict(),
        "n_restarts": n_restarts,
        "n_sequences_not_positive": int(wrong.sum()),
    }


def end_blocks(ends: Integers, most: int) -> Iterator[Integers]:
    """The ends of stretches of sequences of about so many positions, at least one sequence each."""
    low, n = 0, len(ends) - 1
    while low < n:
        high = int(np.searchsorted(ends, ends[low] + most, side="right")) - 1
        high = min(max(high, low + 1), n)
        yield ends[low : high + 1]
        low = high
