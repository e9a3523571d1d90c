"""Filtering of one observation at a time."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_count
from tacit.errors import ArgumentError, NotAvailableError
from tacit.numbers.query.arguments import checked_levels
from tacit.sequences.emissions.mixed import Mixed
from tacit.sequences.emissions.protocol import emits_numbers, emits_symbols
from tacit.sequences.online_positions import position_reader
from tacit.sequences.query.steps import remaining_duration, steps_of

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission, NumberEmission
    from tacit.sequences.hmm_queries import HMMQueries

Array = NDArray[np.float64]


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
        self._emission, self._parameters = emission, model.parameters_
        self._steps = steps_of(self._parameters)
        self._likelihoods = position_reader(model, emission)
        self.reset()

    def reset(self) -> Self:
        """Forget all observations: a new sequence starts."""
        self._belief = self._before = self._steps.first.copy()
        self.state = self._steps.states(self._belief)
        self.log_likelihood, self.last_log_likelihood, self.n_updates = 0.0, 0.0, 0
        return self

    def copy(self) -> OnlineFilter:
        """A filter that goes on from the same observations by itself."""
        twin = copy.copy(self)
        twin._likelihoods = self._likelihoods.copy()  # noqa: SLF001
        return twin

    def update(self, x: Any) -> Array:
        """P(state | all observations so far and this one): (state,).

        Parameters
        ----------
        x : symbol, number or row of numbers
            None or NaN where it is missing. A symbol that was not seen in training is an error or missing, as
            the model's `unknown` says. Of columns of several kinds a dict by column, or the cells in the
            order of `names_`.
        """
        evidence = self._likelihoods(x)
        if evidence is None:  # missing
            belief, step = self._before, 0.0
        else:
            likelihoods, log_scale = evidence
            belief = self._before * likelihoods
            total = float(belief.sum())
            step = (math.log(total) if total > 0 else -math.inf) + log_scale
            belief /= total if total > 0 else 1.0
        self._belief, self._before = belief, self._steps.after(belief)
        self.state = self._steps.states(belief)
        self.last_log_likelihood = step
        self.log_likelihood += step
        self.n_updates += 1
        return self.state

    def next_states(self, steps: int = 1) -> Array:
        """P(state `steps` positions later | all observations so far): (state,)."""
        check_count("steps", steps)
        return self._steps.states_later(self._before, int(steps) - 1)

    def elapsed(self) -> Array:
        """P(state, how long it has lasted | all observations so far): (state, duration), from 1 on.

        Of models with explicit durations; the last duration stands for all beyond, too.
        """
        if self._belief.ndim == 1:
            raise NotAvailableError(
                "elapsed goes with explicit durations: fit with durations=; else it does not matter how "
                "long a state has lasted"
            )
        return np.array(self._belief.T)

    def remaining_duration(self, most: int = 20) -> Array:
        """P(the present state goes on for just 0, 1, ... positions | all observations so far); (most + 1,).

        The last one: for `most` positions or more. NaN before the first observation.
        """
        check_count("most", most)
        if not self.n_updates:
            return np.full(int(most) + 1, np.nan)
        return remaining_duration(self._steps, self._belief, int(most))

    def predict_next_proba(self, steps: int = 1, *, target: str | None = None) -> Array:
        """P(symbol `steps` positions later | all observations so far), in the order of `symbols_`.

        Of columns of several kinds P(category of one of them), the `target` if several hold categories.
        """
        emission = self._emission
        if isinstance(emission, Mixed):
            table = emission.probabilities_of(self._parameters.emitted, target)
            return np.asarray(self.next_states(steps) @ table)
        if not emits_symbols(emission):
            raise NotAvailableError(
                "predict_next_proba needs symbols; for numbers there are expectation and quantiles"
            )
        if target is not None:
            raise ArgumentError(f"target={target!r} goes with columns of several kinds")
        return np.asarray(self.next_states(steps) @ emission.probabilities(self._parameters))

    def expectation(self, steps: int = 1) -> Any:
        """The mean of the numbers `steps` positions later: a number, or (column,).

        That of categories is NaN, that of angles a direction.
        """
        emission = self._numbers_only("expectation")
        means = emission.expectation(self._parameters, self.next_states(steps)[None])[0]
        return float(means[0]) if len(means) == 1 else means

    def quantiles(self, q: ArrayLike = (0.05, 0.5, 0.95), steps: int = 1) -> Any:
        """Quantiles of the numbers `steps` positions later: (level,), or (column, level)."""
        emission = self._numbers_only("quantiles")
        levels = checked_levels(q, ends=False)
        states = self.next_states(steps)[None]
        quantiles = emission.quantiles(self._parameters, states, np.atleast_1d(levels))[0]
        quantiles = quantiles[..., 0] if levels.ndim == 0 else quantiles
        return quantiles[0] if len(quantiles) == 1 else quantiles

    # -- private ----------------------------------------------------------------------------------

    def _numbers_only(self, name: str) -> NumberEmission:
        emission = self._emission
        if not emits_numbers(emission):
            raise NotAvailableError(
                f"{name} needs numbers; for symbols there is predict_next_proba"
            )
        return emission
