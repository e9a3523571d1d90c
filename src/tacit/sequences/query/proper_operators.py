"""Operators that predict symbols, made proper: what they say is cut off at zero and mixed with a little else.

Estimated operators may say negative things, and a state may be lost altogether. Predictions here are always
distributions: negative parts become zero, the rest is brought to sum one, and a share of each symbol's
overall frequency is mixed in. The probability of a sequence is the product of the predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.messages.node_messages import Messages, message_up
from tacit.messages.repairs import Repairs, distributions
from tacit.sequences.model.chains import Operators
from tacit.sequences.query.operators import Walk, expected, seen_messages, walked

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StepLogs:
    """What operators say of each symbol of sequences, and what had to be repaired for that."""

    logs: Array  # (position,)
    improper: NDArray[np.bool_]  # (position,)  where the operators' own estimate is not positive
    repairs: Repairs
    n_restarts: int  # states that were lost and begun anew


@dataclass(frozen=True, eq=False)
class ProperOperators:
    """Operators over symbols, and what is mixed into their predictions."""

    operators: Operators  # one column, a feature for each symbol
    shares: Array  # (symbol,)  how frequent each symbol is
    fallback: float  # the share of each prediction that is `shares`

    @property
    def rank(self) -> int:
        """Length of a state."""
        return self.operators.rank

    def predictions(self, states: Messages) -> tuple[Array, Repairs]:
        """(place, symbol) proper predictions of the next symbol from states (rank, place)."""
        return self._made_proper(expected(self.operators, states, 0))

    def _made_proper(self, raw: Array) -> tuple[Array, Repairs]:
        """(place, symbol) distributions from what the operators say."""
        found, repairs = distributions(raw.T.copy(), self.shares)
        mixed = (1 - self.fallback) * found.T + self.fallback * self.shares
        return mixed, repairs

    def walk(self, codes: Codes, lengths: Integers) -> Walk:
        """All sequences walked; states that are lost begin anew from the mean state."""
        n = len(self.shares)
        one_hot = np.vstack([np.eye(n), np.full(n, np.nan)])[codes]  # the last for code -1
        seen = seen_messages(self.operators, [one_hot])
        return walked(self.operators, seen, lengths, restart=True)

    def step_logs(self, codes: Codes, lengths: Integers) -> StepLogs:
        """Log-probability of each symbol given those before it, 0 where it is missing."""
        walk = self.walk(codes, lengths)
        raw = expected(self.operators, walk.states.at(walk.before), 0)
        told, repairs = self._made_proper(raw)
        at, there = np.arange(len(codes)), codes >= 0
        with np.errstate(divide="ignore"):
            logs = np.where(there, np.log(told[at, codes]), 0.0)
        return StepLogs(logs, there & ~(raw[at, codes] > 0), repairs, walk.n_restarts)

    def passed(self, states: Messages, steps: int) -> Messages:
        """The states after some positions at which nothing is seen."""
        total = Messages(
            np.repeat(self.operators.total[0][:, None], states.values.shape[1], axis=1)
        )
        for _ in range(steps):
            states = message_up(self.operators.step, [total, states])
        return states


def drawn_codes(
    proper: ProperOperators, state: Array, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Codes, Repairs]:
    """(draw, time) symbols that follow a state, and what had to be repaired."""
    n, length = shape
    states = Messages(np.repeat(state[:, None], n, axis=1))
    codes, repairs = np.empty(shape, dtype=np.int32), Repairs()
    for time in range(length):
        told, fixed = proper.predictions(states)
        repairs += fixed
        sums = np.cumsum(told, axis=1)
        left = rng.random(n) * sums[:, -1]
        codes[:, time] = np.minimum((sums <= left[:, None]).sum(axis=1), told.shape[1] - 1)
        seen = Messages(proper.operators.emit[0].T[:, codes[:, time]])
        states = message_up(proper.operators.step, [seen, states])
        worth = proper.operators.stop @ states.values
        lost = ~(worth > 1e-12 * np.abs(states.values).max(axis=0))
        values = np.where(lost, proper.operators.mean[:, None], states.values)
        states = Messages(values / np.abs(values).max(axis=0))
    return codes, repairs
