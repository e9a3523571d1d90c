"""Operators that predict symbols, made proper: predictions are clipped at zero and mixed with frequencies.

Estimated operators may give negative values, and a state may be lost altogether. Predictions here are always
distributions: negative parts become zero, the others are normalised, and the overall frequencies of the
symbols are mixed in. The probability of a sequence is the product of the predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.messages.node_messages import Messages, message_up
from tacit.messages.repairs import Repairs, distributions
from tacit.sequences.model.chains import Operators
from tacit.sequences.query.operators import Walk, evidence_messages, expected, walked

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StepLogs:
    """Log-probabilities of each symbol of sequences, and repairs."""

    logs: Array  # (position,)
    improper: NDArray[np.bool_]  # (position,)  where the operators' estimate is not positive
    repairs: Repairs
    n_restarts: int  # lost states that were restarted


@dataclass(frozen=True, eq=False)
class ProperOperators:
    """Operators over symbols, and the frequencies mixed into their predictions."""

    operators: Operators  # one column, a feature for each symbol
    frequencies: Array  # (symbol,)  overall
    fallback: float  # the weight of `frequencies` in each prediction

    @property
    def rank(self) -> int:
        """Length of a state."""
        return self.operators.rank

    def predictions(self, states: Messages) -> tuple[Array, Repairs]:
        """(place, symbol) proper predictions of the next symbol from states (rank, place)."""
        return self._made_proper(expected(self.operators, states, 0))

    def _made_proper(self, raw: Array) -> tuple[Array, Repairs]:
        """(place, symbol) distributions from values of the operators."""
        probs, repairs = distributions(raw.T.copy(), self.frequencies)
        mixed = (1 - self.fallback) * probs.T + self.fallback * self.frequencies
        return mixed, repairs

    def walk(self, codes: Codes, lengths: Integers) -> Walk:
        """All sequences walked; lost states are restarted from the mean state."""
        n = len(self.frequencies)
        one_hot = np.vstack([np.eye(n), np.full(n, np.nan)])[codes]  # the last for code -1
        evidence = evidence_messages(self.operators, [one_hot])
        return walked(self.operators, evidence, lengths, restart=True)

    def step_logs(self, codes: Codes, lengths: Integers) -> StepLogs:
        """Log-probability of each symbol given those before it, 0 where it is missing."""
        walk = self.walk(codes, lengths)
        raw = expected(self.operators, walk.states.at(walk.before), 0)
        probs, repairs = self._made_proper(raw)
        at, is_observed = np.arange(len(codes)), codes >= 0
        with np.errstate(divide="ignore"):
            logs = np.where(is_observed, np.log(probs[at, codes]), 0.0)
        return StepLogs(logs, is_observed & ~(raw[at, codes] > 0), repairs, walk.n_restarts)

    def passed(self, states: Messages, steps: int) -> Messages:
        """The states after some positions that are not observed."""
        total = Messages(
            np.repeat(self.operators.total[0][:, None], states.values.shape[1], axis=1)
        )
        for _ in range(steps):
            states = message_up(self.operators.step, [total, states])
        return states


def drawn_codes(
    proper: ProperOperators, state: Array, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Codes, Repairs]:
    """(draw, time) sampled symbols that follow a state, and repairs."""
    n, length = shape
    states = Messages(np.repeat(state[:, None], n, axis=1))
    codes, repairs = np.empty(shape, dtype=np.int32), Repairs()
    for time in range(length):
        probs, step_repairs = proper.predictions(states)
        repairs += step_repairs
        sums = np.cumsum(probs, axis=1)
        left = rng.random(n) * sums[:, -1]
        codes[:, time] = np.minimum((sums <= left[:, None]).sum(axis=1), probs.shape[1] - 1)
        evidence = Messages(proper.operators.emit[0].T[:, codes[:, time]])
        states = message_up(proper.operators.step, [evidence, states])
        value = proper.operators.stop @ states.values
        lost = ~(value > 1e-12 * np.abs(states.values).max(axis=0))
        values = np.where(lost, proper.operators.mean[:, None], states.values)
        states = Messages(values / np.abs(values).max(axis=0))
    return codes, repairs
