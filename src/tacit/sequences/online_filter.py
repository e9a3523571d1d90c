"""Filtering of one observation at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_count
from tacit.errors import DataError, NotAvailableError
from tacit.numbers.query.arguments import checked_levels
from tacit.sequences.query.hidden_states import ahead

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.hmm_queries import HMMQueries

Array = NDArray[np.float64]

_LARGE = 1e50  # numbers that are read with care: their squares may overflow


class OnlineFilter:
    """The states of a hidden Markov model given one observation after the other: what `HMM.filter()` makes.

    An update costs some microseconds, whatever came before. The filter keeps the parameters that the model
    has when it is made; several filters of one model, and copies, do not influence each other.

    Attributes
    ----------
    state : (state,) array
        P(state | all observations so far), of the position of the last one; before the first the initial
        probabilities. Zeros after an observation that is impossible.
    log_likelihood : float
        The natural log of the probability, or density, of all observations so far.
    last_log_likelihood : float
        That of the last observation given those before it: low where it is a surprise.
    n_updates : int
        Observations so far, missing ones too.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.HMM(n_states=2).fit([list("aabbbaabbb"), list("bbbaaabb"), list("aaabbbaa")])
    >>> online = model.filter()
    >>> for symbol in "aab":
    ...     probabilities = online.update(symbol)
    >>> bool(abs(online.log_likelihood - model.score_samples([list("aab")])[0]) < 1e-12)
    True
    >>> online.predict_next_proba().shape
    (2,)
    """

    def __init__(self, model: HMMQueries, emission: Emission) -> None:
        self._model, self._emission = model, emission
        self._parameters = model.parameters_
        self._transitions = np.ascontiguousarray(self._parameters.transitions)
        self._codes: dict[Hashable, int] = {}
        self._likelihoods: Callable[[Array], tuple[Array, float]] | None = None
        self._row = np.empty(max(len(model.names_), 1))
        self._table: Array = np.zeros((0, 0))
        if emission.numbers:
            self._likelihoods = emission.at_position(self._parameters)
        else:
            self._codes = {symbol: code for code, symbol in enumerate(model.symbols_)}
            self._table = np.ascontiguousarray(emission.probabilities(self._parameters).T)
        self.reset()

    def reset(self) -> Self:
        """Forget all observations: a new sequence starts."""
        self.state = self._before = np.array(self._parameters.initial, dtype=np.float64)
        self.log_likelihood, self.last_log_likelihood, self.n_updates = 0.0, 0.0, 0
        return self

    def copy(self) -> OnlineFilter:
        """A filter that goes on from the same observations by itself."""
        twin = copy.copy(self)
        twin._row = self._row.copy()  # noqa: SLF001
        return twin

    def update(self, x: Any) -> Array:
        """P(state | all observations so far and this one): (state,).

        Parameters
        ----------
        x : symbol, number or row of numbers
            None or NaN where it is missing. A symbol that was not seen in training is an error or missing, as
            the model's `unknown` says.
        """
        evidence = self._of_numbers(x) if self._emission.numbers else self._of_symbol(x)
        if evidence is None:  # missing
            state, step = self._before, 0.0
        else:
            likelihoods, log_scale = evidence
            state = self._before * likelihoods
            total = float(state.sum())
            step = (math.log(total) if total > 0 else -math.inf) + log_scale
            state /= total if total > 0 else 1.0
        self.state, self._before = state, state @ self._transitions
        self.last_log_likelihood = step
        self.log_likelihood += step
        self.n_updates += 1
        return state

    def next_states(self, steps: int = 1) -> Array:
        """P(state `steps` positions later | all observations so far): (state,)."""
        check_count("steps", steps)
        return ahead(self._parameters, self._before, int(steps) - 1)

    def predict_next_proba(self, steps: int = 1) -> Array:
        """P(symbol `steps` positions later | all observations so far), in the order of `symbols_`."""
        if self._emission.numbers:
            raise NotAvailableError(
                "predict_next_proba needs symbols; for numbers there are expectation and quantiles"
            )
        return np.asarray(self.next_states(steps) @ self._table.T)

    def expectation(self, steps: int = 1) -> Any:
        """The mean of the numbers `steps` positions later: a number, or (column,)."""
        self._numbers_only("expectation")
        means = self.next_states(steps) @ self._emission.means(self._parameters)
        return float(means[0]) if len(means) == 1 else means

    def quantiles(self, q: ArrayLike = (0.05, 0.5, 0.95), steps: int = 1) -> Any:
        """Quantiles of the numbers `steps` positions later: (level,), or (column, level)."""
        self._numbers_only("quantiles")
        levels = checked_levels(q, ends=False)
        states = self.next_states(steps)[None]
        quantiles = self._emission.quantiles(self._parameters, states, np.atleast_1d(levels))[0]
        quantiles = quantiles[..., 0] if levels.ndim == 0 else quantiles
        return quantiles[0] if len(quantiles) == 1 else quantiles

    # -- private ----------------------------------------------------------------------------------

    def _numbers_only(self, name: str) -> None:
        if not self._emission.numbers:
            raise NotAvailableError(
                f"{name} needs numbers; for symbols there is predict_next_proba"
            )

    def _of_symbol(self, x: Any) -> tuple[Array, float] | None:
        """Likelihoods of a symbol; None where it is missing."""
        try:
            code = self._codes.get(x, -2)
        except TypeError:  # not hashable: an error below
            code = -2
        if code == -2:
            code = -1 if x is None else int(self._model._read([[x]]).codes[0])  # noqa: SLF001
        return None if code < 0 else (self._table[code], 0.0)

    def _of_numbers(self, x: Any) -> tuple[Array, float] | None:
        """Likelihoods of a number, or of a row of numbers; None where all are missing."""
        row = self._row
        if x is None:
            return None
        try:
            row[:] = x
        except (TypeError, ValueError) as error:
            raise DataError(self._wrong(x)) from error
        if len(row) > 1 and np.shape(x) != row.shape:
            raise DataError(self._wrong(x))
        assert self._likelihoods is not None
        if all(abs(number) < _LARGE for number in row.tolist()):
            likelihoods, log_scale = self._likelihoods(row)
            if math.isfinite(log_scale):
                return likelihoods, log_scale
        return self._checked(row)

    def _checked(self, row: Array) -> tuple[Array, float] | None:
        """The same of a row with gaps, or of one that reading refuses."""
        if np.isnan(row).all():
            return None
        values = row[None] if len(row) > 1 else row
        series = self._model._read([values.copy()])  # noqa: SLF001
        ends = np.array([0, 1], dtype=np.int64)
        evidence = self._emission.evidence(self._parameters, series.values, ends)
        return evidence.likelihoods[0], float(evidence.log_scales[0])

    def _wrong(self, x: Any) -> str:
        n = len(self._row)
        wanted = "a number" if n == 1 else f"{n} numbers"
        return f"update got {x!r:.80}; give {wanted}, with NaN or None where one is missing"
