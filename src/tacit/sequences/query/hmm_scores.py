"""Log-likelihoods of sequences under a hidden Markov model, whatever it emits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NegativeProbabilityError
from tacit.messages.repairs import Repairs
from tacit.sequences.query.hidden_states import StateEvidence, filtered, sums_of
from tacit.sequences.query.proper_operators import ProperOperators

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.model.chains import ChainTables

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_ONCE = 1 << 19  # positions of a block
_FEW_AT_ONCE = 1 << 15  # where each position has a prediction
FLOOR = 1e-3  # of the symbol's frequency: a prediction clipped at zero, as in trees


def evidence_blocks(
    evidence: Callable[[Any, Any, Integers], StateEvidence], parameters: Any, sequences: Any
) -> Iterator[StateEvidence]:
    """Evidence of blocks of sequences.

    Parameters
    ----------
    evidence : callable
        That of the emission: of parameters, positions and ends.
    parameters : parameters of this emission
    sequences : Sequences or Series
    """
    for ends in end_blocks(sequences.ends, _AT_ONCE):
        yield evidence(parameters, sequences.positions[ends[0] : ends[-1]], ends - ends[0])


def log_probs_by_evidence(
    evidence: Callable[[Any, Any, Integers], StateEvidence], parameters: Any, sequences: Any
) -> Array:
    """(sequence,) natural logarithms of probabilities or densities, from likelihoods of positions."""
    log_probs = [
        filtered(parameters, block).log_probs()
        for block in evidence_blocks(evidence, parameters, sequences)
    ]
    return np.concatenate([np.zeros(0), *log_probs])


def log_likelihoods(tables: ChainTables, sequences: Sequences) -> Array:
    """(sequence,) natural logarithms of probabilities; missing symbols are summed out."""
    from tacit.sequences.loops.hmm import score

    logs = np.zeros(len(sequences.lengths))
    emit = np.ascontiguousarray(tables.emit[0].T)
    transitions = np.ascontiguousarray(tables.transitions)
    score(sequences.codes, sequences.ends, tables.initial, transitions, emit, logs)
    return logs


def log_probs_of(
    emission: Emission, parameters: Any, sequences: Any, negative: str = "floor"
) -> tuple[Array, dict[str, int | float]]:
    """(sequence,) natural logs of probabilities or densities, and a record of repairs.

    Parameters
    ----------
    emission : Emission
    parameters : parameters of this emission, or ProperOperators
    sequences : Sequences or Series
    negative : {"floor", "nan", "raise"}
        What a sequence gets where operators give one of its symbols an estimate that is not positive: the
        product of repaired predictions, NaN, or an error.

    Raises
    ------
    NegativeProbabilityError
        There are such sequences, and negative="raise".
    """
    if not isinstance(parameters, ProperOperators):
        return emission.log_probs(parameters, sequences), {}
    logs, improper, repairs, n_restarts = [np.zeros(0)], [np.zeros(0)], Repairs(), 0
    for ends in end_blocks(sequences.ends, _FEW_AT_ONCE):
        steps = parameters.step_logs(sequences.codes[ends[0] : ends[-1]], np.diff(ends))
        floors = _floors(parameters, sequences.codes[ends[0] : ends[-1]])
        is_zero = np.isneginf(steps.logs) & steps.improper
        logs.append(sums_of(np.where(is_zero, floors, steps.logs), ends - ends[0]))
        improper.append(sums_of(steps.improper.astype(np.float64), ends - ends[0]))
        repairs, n_restarts = repairs + steps.repairs, n_restarts + steps.n_restarts
    log_probs, not_positive = np.concatenate(logs), np.concatenate(improper) > 0
    if not_positive.any() and negative == "raise":
        raise NegativeProbabilityError(
            f"{int(not_positive.sum())} of {len(not_positive)} sequences, the first being number "
            f"{int(not_positive.argmax())}, hold symbols whose estimates are not positive; ask with "
            f'negative="floor" or "nan", or learn hidden states (learn="auto")'
        )
    if negative == "nan":
        log_probs[not_positive] = np.nan
    return log_probs, {
        **repairs.as_dict(),
        "n_restarts": n_restarts,
        "n_sequences_not_positive": int(not_positive.sum()),
    }


def _floors(parameters: ProperOperators, codes: NDArray[np.int32]) -> Array:
    """(position,) logs of what stands for a prediction that was clipped at zero, where none are mixed in."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(FLOOR * parameters.frequencies[codes]))


def end_blocks(ends: Integers, most: int) -> Iterator[Integers]:
    """Ends of blocks of sequences of at most `most` positions, or of a single sequence."""
    low, n = 0, len(ends) - 1
    while low < n:
        high = int(np.searchsorted(ends, ends[low] + most, side="right")) - 1
        high = min(max(high, low + 1), n)
        yield ends[low : high + 1]
        low = high
