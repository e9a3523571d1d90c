"""How likely sequences are under a hidden Markov model, whatever it emits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NegativeProbabilityError
from tacit.messages.repairs import Repairs
from tacit.sequences.query.hidden_states import StateEvidence, sums_of
from tacit.sequences.query.proper_operators import ProperOperators

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.model.chains import ChainTables

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_ONCE = 1 << 19  # positions that are worked on together
_FEW_AT_ONCE = 1 << 15  # where there is a prediction for each


def evidence_blocks(
    evidence: Callable[[Any, Any, Integers], StateEvidence], learnt: Any, sequences: Any
) -> Iterator[StateEvidence]:
    """What blocks of sequences say of their states.

    Parameters
    ----------
    evidence : callable
        That of the emissions: from parameters, positions and ends.
    learnt : parameters
    sequences : Sequences or Series
    """
    for ends in end_blocks(sequences.ends, _AT_ONCE):
        yield evidence(learnt, sequences.positions[ends[0] : ends[-1]], ends - ends[0])


def log_likelihoods(tables: ChainTables, sequences: Sequences) -> Array:
    """(sequence,) natural logarithms of probabilities; missing symbols are summed out."""
    from tacit.sequences.loops.hmm import score

    logs = np.zeros(len(sequences.lengths))
    emit = np.ascontiguousarray(tables.emit[0].T)
    transitions = np.ascontiguousarray(tables.transitions)
    score(sequences.codes, sequences.ends, tables.initial, transitions, emit, logs)
    return logs


def log_probs_of(
    emission: Emission, learnt: Any, sequences: Any, negative: str = "floor"
) -> tuple[Array, dict[str, int | float]]:
    """(sequence,) natural logs of probabilities or densities, and a record of what was repaired.

    Parameters
    ----------
    emission : Emission
    learnt : parameters of these emissions, or ProperOperators
    sequences : Sequences or Series
    negative : {"floor", "nan", "raise"}
        What a sequence gets if operators give one of its symbols an estimate that is not positive: the
        product of repaired predictions, NaN, or an error.

    Raises
    ------
    NegativeProbabilityError
        There are such sequences, and negative="raise".
    """
    if not isinstance(learnt, ProperOperators):
        return emission.log_probs(learnt, sequences), {}
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
