"""How long states last: explicit durations of segments, in place of geometric ones.

A duration is given by its hazards: the probability that a segment ends, given how many positions it has
lasted. Those of the last age hold beyond it too, so that durations have a geometric tail and none is
impossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.long_run import long_run

Array = NDArray[np.float64]

DURATION_KINDS = ("table", "negative-binomial")
MOST_DURATION = 10_000
LEAST_HAZARD = 1e-12  # and the most is as far from one
_UNDERFLOW = 1e-280  # survival probabilities below are not divided by
# Parameters of negative binomial durations, for numbers that are finite.
SIZES, MEANS = (1e-3, 1e4), (1e-6, 1e6)


class Durations(Protocol):
    """Distributions of the durations of the states."""

    kind: ClassVar[str]  # the value of `durations` of `HMM`

    @property
    def hazards(self) -> Array:
        """(state, age) P(a segment ends here | it has lasted age + 1 positions)."""
        ...

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        ...

    def ordered(self, order: NDArray[np.integer]) -> Self:
        """The same with states in another order."""
        ...

    # -- for accelerated EM -----------------------------------------------------------------------

    @property
    def flat(self) -> Array:
        """All parameters in one array of positive numbers, on whose logarithms EM extrapolates."""
        ...

    def of_flat(self, values: Array) -> Self:
        """The nearest valid durations to what a flat array holds."""
        ...

    def masses(self, counts: SegmentCounts) -> Array:
        """(parameter,) information on each flat parameter."""
        ...

    def maximised(self, counts: SegmentCounts) -> Self:
        """The likeliest durations, or at least likelier ones than these."""
        ...


@dataclass(frozen=True, eq=False)
class SegmentCounts:
    """How many segments ended at each age, and how many went on: those that were cut off count until then."""

    endings: Array  # (state, age)
    stays: Array  # (state, age)

    def __add__(self, other: SegmentCounts) -> SegmentCounts:
        return SegmentCounts(self.endings + other.endings, self.stays + other.stays)

    def log_likelihood(self, hazards: Array) -> float:
        """Natural log of the probability of such segments; hazards are (state, age)."""
        h = np.clip(hazards, LEAST_HAZARD, 1.0)
        log_stays = np.log1p(-np.minimum(h, 1.0 - LEAST_HAZARD))
        return float((self.endings * np.log(h)).sum() + (self.stays * log_stays).sum())


@dataclass(frozen=True, eq=False)
class DurationTable:
    """A hazard for each state and age.

    Examples
    --------
    >>> DurationTable(np.array([[0.0, 1.0], [0.5, 0.5]])).hazards.shape
    (2, 2)
    """

    kind: ClassVar[str] = "table"

    hazards: Array  # (state, age)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return int(self.hazards.size)

    def ordered(self, order: NDArray[np.integer]) -> DurationTable:
        """The same with states in another order."""
        return DurationTable(self.hazards[order])

    @property
    def flat(self) -> Array:
        """Hazards, and what they lack to one."""
        return np.concatenate([self.hazards.ravel(), 1.0 - self.hazards.ravel()])

    def of_flat(self, values: Array) -> DurationTable:
        """The nearest valid durations to what a flat array holds."""
        ends, stays = values.reshape(2, *self.hazards.shape)
        total = ends + stays
        hazards = np.divide(ends, total, out=np.full(total.shape, 0.5), where=total > 0)
        return DurationTable(np.clip(hazards, LEAST_HAZARD, 1.0 - LEAST_HAZARD))

    def masses(self, counts: SegmentCounts) -> Array:
        """(parameter,) information on each flat parameter."""
        return np.concatenate([counts.endings.ravel(), counts.stays.ravel()])

    def maximised(self, counts: SegmentCounts) -> DurationTable:
        """Relative counts at each age (Kaplan and Meier's estimate); those never reached stay as they are."""
        total = counts.endings + counts.stays
        hazards = np.divide(counts.endings, total, out=self.hazards.copy(), where=total > 0)
        return DurationTable(np.clip(hazards, LEAST_HAZARD, 1.0 - LEAST_HAZARD))


@dataclass(frozen=True, eq=False)
class NegativeBinomialDurations:
    """Durations are one more than a negative binomial number; size 1 is geometric.

    Beyond `max_duration` the hazard stays as it is there.

    Examples
    --------
    >>> durations = NegativeBinomialDurations(np.array([1.0]), np.array([3.0]), 4)
    >>> durations.hazards.round(3).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    kind: ClassVar[str] = "negative-binomial"

    sizes: Array  # (state,)
    means: Array  # (state,) of the duration less one, before the tail is replaced
    max_duration: int

    @cached_property
    def hazards(self) -> Array:
        """(state, age)."""
        return negative_binomial_hazards(self.sizes, self.means, self.max_duration)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return 2 * len(self.sizes)

    def ordered(self, order: NDArray[np.integer]) -> NegativeBinomialDurations:
        """The same with states in another order."""
        return NegativeBinomialDurations(self.sizes[order], self.means[order], self.max_duration)

    @property
    def flat(self) -> Array:
        """Sizes and means."""
        return np.concatenate([self.sizes, self.means])

    def of_flat(self, values: Array) -> NegativeBinomialDurations:
        """The nearest valid durations to what a flat array holds."""
        sizes, means = np.split(values, 2)
        return NegativeBinomialDurations(
            np.clip(sizes, *SIZES), np.clip(means, *MEANS), self.max_duration
        )

    def masses(self, counts: SegmentCounts) -> Array:
        """(parameter,) information on each flat parameter: roughly, the segments that ended."""
        return np.tile(counts.endings.sum(axis=1), 2)

    def maximised(self, counts: SegmentCounts) -> NegativeBinomialDurations:
        """Sizes and means of higher likelihood, by steps in their logarithms."""
        from scipy.optimize import minimize

        sizes, means = self.sizes.copy(), self.means.copy()
        bounds = [tuple(np.log(limits)) for limits in (SIZES, MEANS)]
        for state in range(len(sizes)):
            own = SegmentCounts(counts.endings[state : state + 1], counts.stays[state : state + 1])
            weight = float(own.endings.sum() + own.stays.sum())
            if weight <= 0:
                continue

            def loss(logs: Array, own: SegmentCounts = own, weight: float = weight) -> float:
                size, mean = np.exp(logs)[:, None]
                hazards = negative_binomial_hazards(size, mean, self.max_duration)
                return -own.log_likelihood(hazards) / weight

            first = np.log([sizes[state], means[state]])
            result = minimize(loss, first, method="L-BFGS-B", bounds=bounds)
            if result.fun < loss(first):
                sizes[state], means[state] = np.exp(result.x)
        return NegativeBinomialDurations(sizes, means, self.max_duration)


def negative_binomial_hazards(sizes: Array, means: Array, n_ages: int) -> Array:
    """(state, age) hazards of one more than negative binomial numbers.

    Where hardly anything survives they are those of a geometric tail from there.
    """
    from scipy.special import betainc, gammaln

    size, mean = sizes[:, None], means[:, None]
    more = np.arange(n_ages, dtype=np.float64)  # the duration less one
    log_exactly = (
        gammaln(more + size)
        - gammaln(size)
        - gammaln(more + 1)
        + size * np.log(size / (size + mean))
        + more * np.log(mean / (size + mean))
    )
    at_least = np.ones((len(sizes), n_ages))
    at_least[:, 1:] = betainc(more[1:], size, mean / (size + mean))
    falling = 1.0 - (more + size) / (more + 1) * mean / (size + mean)
    hazards = np.where(
        at_least > _UNDERFLOW, np.exp(log_exactly) / np.maximum(at_least, _UNDERFLOW), falling
    )
    return np.clip(hazards, LEAST_HAZARD, 1.0 - LEAST_HAZARD)


def survival(hazards: Array, n: int) -> Array:
    """(state, duration) P(duration >= 1), P(duration >= 2), ..., n of them."""
    stays = 1.0 - extended(hazards, n)[:, : n - 1]
    return np.asarray(np.cumprod(np.hstack([np.ones((len(hazards), 1)), stays]), axis=1))


def duration_probabilities(hazards: Array, n: int) -> Array:
    """(state, duration) P(duration = 1), P(duration = 2), ..., n of them."""
    return survival(hazards, n) * extended(hazards, n)


def extended(hazards: Array, n: int) -> Array:
    """(state, age) hazards of the first n ages."""
    return hazards[:, np.minimum(np.arange(n), hazards.shape[1] - 1)]


def mean_durations(hazards: Array) -> Array:
    """(state,) the mean number of positions of a segment, with its tail."""
    at_least = survival(hazards, hazards.shape[1])
    tail = at_least[:, -1] / np.maximum(hazards[:, -1], LEAST_HAZARD)
    return np.asarray(at_least[:, :-1].sum(axis=1) + tail)


def duration_quantiles(hazards: Array, levels: Array) -> Array:
    """(state, level) the least durations whose cumulative probability reaches the level."""
    n_ages = hazards.shape[1]
    longer = survival(hazards, n_ages + 1)[:, 1:]  # P(duration > 1), ...
    out = np.empty((len(hazards), len(levels)))
    for place, level in enumerate(levels):
        reached = longer <= 1.0 - level + 1e-12
        within = reached.any(axis=1)
        last = np.maximum(longer[:, -1], 1e-300)
        log_stay = np.log1p(-np.clip(hazards[:, -1], LEAST_HAZARD, 1.0 - LEAST_HAZARD))
        with np.errstate(divide="ignore"):
            beyond = n_ages + np.ceil((np.log(max(1.0 - level, 1e-300)) - np.log(last)) / log_stay)
        out[:, place] = np.where(within, reached.argmax(axis=1) + 1, beyond)
    return out


@dataclass(frozen=True, eq=False)
class SegmentChain:
    """A chain of segments: the state of the next one, and how long each lasts.

    The first segment begins at the first position. The last one may go on after the end.
    """

    initial: Array  # (state,) of the first segment
    transitions: Array  # (state, state of the next segment)
    durations: Durations

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.initial)

    @property
    def segments(self) -> SegmentChain:
        """Itself; of other chains their segments."""
        return self

    @cached_property
    def hazards(self) -> Array:
        """(age, state) as the loops need them."""
        return np.ascontiguousarray(self.durations.hazards.T)

    @cached_property
    def stationary(self) -> Array:
        """(state,) how many of all positions are in each state in the long run."""
        visits = long_run(self.transitions) * mean_durations(self.durations.hazards)
        return np.asarray(visits / visits.sum())

    def readout(self, steps: int) -> Array:
        """(age, state, state later) P(state some steps later | age and state now)."""
        n_ages, k = self.hazards.shape
        ends = self.hazards[:, :, None]
        next_age = np.minimum(np.arange(n_ages) + 1, n_ages - 1)
        states = np.tile(np.eye(k), (n_ages, 1, 1))
        for _ in range(steps):
            states = (1.0 - ends) * states[next_age] + ends * (self.transitions @ states[0])
        return np.asarray(states, dtype=np.float64)


def segment_transitions(transitions: Array) -> Array:
    """(state, state of the next segment) from the transitions of a plain chain.

    A state that nothing follows is followed by itself.
    """
    rows = transitions * ~np.eye(len(transitions), dtype=bool)
    last = rows.sum(axis=1) == 0
    rows[last, last] = 1.0
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
