"""What sequences say of the states of a hidden Markov model, block by block, whatever it emits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.params.gaussian_chain import GaussianChain
from tacit.params.operators import ChainTables
from tacit.polish.hmm import log_likelihoods
from tacit.query.paths import StateEvidence, filtered, sums_of, symbol_evidence
from tacit.query.proper import ProperOperators
from tacit.query.repairs import Repairs

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_ONCE = 1 << 19  # positions that are worked on together
_FEW_AT_ONCE = 1 << 15  # where there is a prediction for each


def evidence_blocks(learnt: ChainTables | GaussianChain, sequences: Any) -> Iterator[StateEvidence]:
    """What blocks of sequences, of symbols or of numbers, say of their states."""
    from tacit.query.gaussian_chain import number_evidence

    for ends in end_blocks(sequences.ends, _AT_ONCE):
        part = slice(ends[0], ends[-1])
        if isinstance(learnt, GaussianChain):
            yield number_evidence(learnt, sequences.values[part], ends - ends[0])
        else:
            yield symbol_evidence(learnt.emit[0], sequences.codes[part], ends - ends[0])


def log_probs_of(
    learnt: ChainTables | GaussianChain | ProperOperators, sequences: Any
) -> tuple[Array, Repairs, int]:
    """(sequence,) natural logs of probabilities or densities, what was repaired, and states begun anew."""
    found, repairs, n_restarts = [np.zeros(0)], Repairs(), 0
    if isinstance(learnt, ChainTables):
        return log_likelihoods(learnt, sequences), repairs, 0
    if isinstance(learnt, GaussianChain):
        found += [filtered(learnt, seen).log_probs() for seen in evidence_blocks(learnt, sequences)]
        return np.concatenate(found), repairs, 0
    for ends in end_blocks(sequences.ends, _FEW_AT_ONCE):
        logs, fixed, again = learnt.step_logs(sequences.codes[ends[0] : ends[-1]], np.diff(ends))
        found.append(sums_of(logs, ends - ends[0]))
        repairs, n_restarts = repairs + fixed, n_restarts + again
    return np.concatenate(found), repairs, n_restarts


def end_blocks(ends: Integers, most: int) -> Iterator[Integers]:
    """The ends of stretches of sequences of about so many positions, at least one sequence each."""
    low, n = 0, len(ends) - 1
    while low < n:
        high = int(np.searchsorted(ends, ends[low] + most, side="right")) - 1
        high = min(max(high, low + 1), n)
        yield ends[low : high + 1]
        low = high
