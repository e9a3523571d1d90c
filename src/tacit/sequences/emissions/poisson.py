"""Poisson emissions: counts, whose columns are independent given the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, run_accelerated_em
from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.ranges import probabilities, within
from tacit.core.linalg.cells import cells_of
from tacit.core.progress import Report
from tacit.errors import DataError
from tacit.sequences.emissions.numbers import NumberEmission
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.query.hidden_states import StateEvidence

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

DEFAULT_PSEUDO_COUNTS = 1.0
LEAST_RATE, LARGEST_RATE = 1e-6, 1e12
N_RANDOM = 4  # random starts of learn="auto", besides clusters
SHORT_RUN = 25  # steps after which starts are compared


@dataclass(frozen=True, eq=False)
class PoissonChain:
    """Initial and transition probabilities, and the mean count of each state and column."""

    initial: Array  # (state,)
    transitions: Array  # (state, next state)   rows sum to one
    rates: Array  # (state, column)

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.initial)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        k = self.n_states
        return k - 1 + k * (k - 1) + self.rates.size

    @cached_property
    def stationary(self) -> Array:
        """(state,) how often each state is visited in the long run."""
        return ChainTables(self.initial, self.transitions, ()).stationary

    def ordered(self, order: NDArray[np.integer]) -> PoissonChain:
        """The same model with its states in another order."""
        transitions = self.transitions[np.ix_(order, order)]
        return PoissonChain(self.initial[order], transitions, self.rates[order])

    @property
    def flat(self) -> Array:
        """All parameters in one array, for EM; `of_flat` reads it."""
        return np.concatenate([self.initial, self.transitions.ravel(), self.rates.ravel()])

    @staticmethod
    def of_flat(values: Array, n_states: int) -> PoissonChain:
        """The chain that a flat array holds."""
        initial, transitions, rates = np.split(values, [n_states, n_states * (n_states + 1)])
        k = n_states
        return PoissonChain(initial, transitions.reshape(k, k), rates.reshape(k, -1))


class Poisson(NumberEmission):
    """Counts, with a mean count of each state."""

    name: ClassVar[str] = "poisson"
    learners: ClassVar[tuple[str, ...]] = ("auto", "em")
    kinds: ClassVar[tuple[type, ...]] = (PoissonChain,)
    record: ClassVar[Mapping[str, Record]] = {
        "poisson": Record(
            PoissonChain,
            Field("initial", ArrayField("state", probabilities)),
            Field("transitions", ArrayField("state state", probabilities)),
            Field("rates", ArrayField("state column", within(LEAST_RATE, LARGEST_RATE))),
        )
    }

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Series:
        """Sequences of counts."""
        series = super().read(X, lengths, known, unknown)
        observed = series.values[~np.isnan(series.values)]
        invalid = observed[(observed < 0) | (observed != np.round(observed))]
        if len(invalid):
            raise DataError(
                f"{invalid[0]:g} is no count; emissions='poisson' takes integers from zero on, "
                f"emissions='gaussian' any numbers"
            )
        return series

    def learn(
        self,
        data: Series,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Series | None = None,
        stream: Any = None,
        report: Report | None = None,
    ) -> tuple[PoissonChain, dict[str, Any]]:
        """EM from clusters and random rates ("auto"), or from random rates alone ("em")."""
        del held_out, stream
        rng = np.random.default_rng(settings.seed)
        gain = settings.tol * data.n_positions
        if settings.learn == "em":
            starts = _random_starts(data, n_states, rng, settings.n_restarts)
        else:
            starts = {"clusters": _by_clusters(data, n_states, rng)}
            starts |= _random_starts(data, n_states, rng, N_RANDOM if n_states > 1 else 0)
            short = {
                name: _em(start, data, settings, gain, SHORT_RUN) for name, start in starts.items()
            }
            best = max(short, key=lambda name: short[name][1].objective)
            starts = {best: short[best][0]}
        fits = {}
        for place, (name, start) in enumerate(starts.items()):
            if report is not None:
                report(place / len(starts), f"start {name}")
            fits[name] = _em(start, data, settings, gain, settings.max_iter)
        name = max(fits, key=lambda name: fits[name][1].objective)
        chain, em_run = fits[name]
        return chain, {
            "start": name,
            "starts": {name: fit[1].objective for name, fit in fits.items()},
            "n_steps": em_run.n_steps,
            "converged": em_run.converged,
            "objectives": [float(objective) for objective in em_run.trace],
        }

    def evidence(self, parameters: PoissonChain, positions: Array, ends: Integers) -> StateEvidence:
        """Poisson probabilities; missing counts are summed out."""
        from scipy.special import gammaln

        known = ~np.isnan(positions)
        counts = np.where(known, positions, 0.0)
        logs = counts @ np.log(parameters.rates).T - known @ parameters.rates.T
        log_scales = logs.max(axis=1, initial=-np.inf)
        likelihoods = np.exp(logs - log_scales[:, None])
        return StateEvidence(likelihoods, log_scales - gammaln(counts + 1).sum(axis=1), ends)

    def sample(
        self, parameters: PoissonChain, states: NDArray[np.int32], rng: np.random.Generator
    ) -> Array:
        """Counts, as floats."""
        return rng.poisson(parameters.rates[states]).astype(np.float64)

    def attributes(self, parameters: PoissonChain) -> dict[str, Array]:
        """Mean counts (state, column)."""
        return {"rates_": parameters.rates}

    def describe(
        self, parameters: PoissonChain, labels: Sequence[str], most: int
    ) -> list[list[str]]:
        """The mean count of each column."""
        names = [f"{label} " for label in labels] if len(labels) > 1 else [""]
        return [
            [f"{name}{rate:.3g}" for name, rate in zip(names, rates, strict=True)][:most]
            for rates in parameters.rates
        ]

    def means(self, parameters: PoissonChain) -> Array:
        """(state, column)."""
        return parameters.rates

    def densities(self, parameters: PoissonChain, column: int, grid: Array) -> Array:
        """(state, grid point) probabilities of counts; zero between them."""
        from scipy.special import gammaln

        is_count = (grid >= 0) & (grid == np.round(grid))
        counts, rates = np.where(is_count, grid, 0.0), parameters.rates[:, column, None]
        logs = counts * np.log(rates) - rates - gammaln(counts + 1)
        return np.asarray(np.where(is_count, np.exp(logs), 0.0))

    def quantiles(self, parameters: PoissonChain, weights: Array, levels: Array) -> Array:
        """(row, column, level) the least counts whose cumulative probability reaches the level."""
        from scipy.special import pdtr
        from scipy.stats import poisson

        quantiles = np.full((len(weights), parameters.rates.shape[1], len(levels)), np.nan)
        is_possible = weights.sum(axis=1) > 0
        for column, rates in enumerate(parameters.rates.T):
            low = np.full((int(is_possible.sum()), len(levels)), -1.0)
            high = np.tile(poisson.ppf(levels, rates.max()), (len(low), 1))
            while (high - low > 1).any():
                middle = np.floor(0.5 * (low + high))
                below = pdtr(np.maximum(middle, 0.0)[:, :, None], rates)
                enough = np.einsum("rsm,rm->rs", below, weights[is_possible]) >= levels
                enough &= middle >= 0
                low, high = np.where(enough, low, middle), np.where(enough, middle, high)
            quantiles[is_possible, column] = high
        return quantiles

    def to_hmmlearn(self, parameters: PoissonChain, **arguments: Any) -> Any:
        """A ``PoissonHMM``."""
        from hmmlearn.hmm import PoissonHMM

        model = PoissonHMM(**arguments)
        model.n_features = parameters.rates.shape[1]
        model.lambdas_ = parameters.rates.copy()
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> PoissonChain | None:
        """Of a ``PoissonHMM``."""
        if not hasattr(model, "lambdas_"):
            return None
        rates = np.clip(np.array(model.lambdas_, dtype=np.float64), LEAST_RATE, LARGEST_RATE)
        return PoissonChain(initial, transitions, rates)


# -- learning -------------------------------------------------------------------------------------


def _by_clusters(data: Series, n_states: int, rng: np.random.Generator) -> PoissonChain:
    """States from clusters of square roots of counts, whose variance hardly depends on the rate."""
    codes = cells_of(np.sqrt(data.values), n_states, rng)
    overall = _overall(data)
    rates = np.tile(overall, (n_states, 1))
    for state in range(n_states):
        rows = data.values[codes == state]
        if len(rows):
            sums, known = np.nansum(rows, axis=0), (~np.isnan(rows)).sum(axis=0)
            rates[state] = (sums + overall) / (known + 1)
    return _start(rates, 0.5 * np.eye(n_states) + 0.5 / n_states)


def _random_starts(
    data: Series, n_states: int, rng: np.random.Generator, n: int
) -> dict[str, PoissonChain]:
    """Rates near randomly chosen counts."""
    overall, starts = _overall(data), {}
    filled = np.where(np.isnan(data.values), overall, data.values)
    for place in range(n):
        chosen = filled[rng.choice(len(filled), n_states, replace=len(filled) < n_states)]
        transitions = 0.5 * np.eye(n_states) + 0.5 * rng.dirichlet(np.ones(n_states), n_states)
        starts[f"random {place + 1}"] = _start(0.8 * chosen + 0.2 * overall, transitions)
    return starts


def _overall(data: Series) -> Array:
    """(column,) mean counts."""
    return np.asarray(np.maximum(np.nanmean(data.values, axis=0), LEAST_RATE))


def _start(rates: Array, transitions: Array) -> PoissonChain:
    k = len(rates)
    return PoissonChain(np.full(k, 1 / k), transitions, np.clip(rates, LEAST_RATE, LARGEST_RATE))


def _em(
    start: PoissonChain, data: Series, settings: HMMSettings, gain: float, max_iter: int
) -> tuple[PoissonChain, EMRun]:
    """Accelerated MAP-EM."""
    from tacit.core.loops.acceleration import normalise

    k = start.n_states
    n_tables, row_starts = k * (k + 1), np.arange(k + 1, dtype=np.int64) * k

    def normalised(values: Array) -> Array:
        tables = normalise(values[:n_tables], row_starts)
        rates = np.clip(values[n_tables:], LEAST_RATE, LARGEST_RATE)
        if settings.stationary:
            tables[:k] = PoissonChain.of_flat(np.concatenate([tables, rates]), k).stationary
        return np.concatenate([tables, rates])

    em_run = run_accelerated_em(
        em_step(data, k, settings.pseudo_counts, stationary=settings.stationary),
        normalised(start.flat),
        AbsoluteGain(gain),
        normalise=normalised,
        max_iter=min(max_iter, settings.max_iter),
        warn=False,
    )
    return PoissonChain.of_flat(em_run.values, k), em_run


def em_step(
    data: Series, n_states: int, pseudo_counts: float | None = None, *, stationary: bool = False
) -> Step:
    """One step of MAP-EM on flat parameters.

    Rows of probabilities get pseudo-counts; each rate gets as many more positions with the mean count of its
    column (a gamma prior).
    """
    from tacit.core.loops.acceleration import maximise
    from tacit.sequences.learn.em.stationary import long_run, stationary_transitions
    from tacit.sequences.loops.forward_backward import forward_backward

    k, emission, overall = n_states, Poisson(), _overall(data)
    count = DEFAULT_PSEUDO_COUNTS if pseudo_counts is None else pseudo_counts
    row_starts, n_tables = np.arange(k + 1, dtype=np.int64) * k, k * (k + 1)
    known = (~np.isnan(data.values)).astype(np.float64)
    counts = np.nan_to_num(data.values, nan=0.0)

    def step(values: Array) -> tuple[float, Array, Array]:
        chain = PoissonChain.of_flat(values, k)
        evidence = emission.evidence(chain, data.values, data.ends)
        posterior, logs = np.empty_like(evidence.likelihoods), np.empty(len(evidence.likelihoods))
        expected = np.zeros(n_tables)
        pairs = expected[k:].reshape(k, k)
        tables = chain.initial, np.ascontiguousarray(chain.transitions), evidence.likelihoods
        forward_backward(*tables, data.ends, posterior, logs, expected[:k], pairs)
        dirichlet, tables_after = maximise(
            expected, np.full(n_tables, count / k), values[:n_tables], row_starts
        )
        if stationary:
            transitions = stationary_transitions(expected[:k], pairs, chain.transitions)
            tables_after = np.concatenate([long_run(transitions), transitions.ravel()])
        sums = posterior.T @ counts + count * overall
        visits = posterior.T @ known + count
        rates = np.clip(sums / np.maximum(visits, 1e-12), LEAST_RATE, LARGEST_RATE)
        gamma = count * float((overall * np.log(chain.rates) - chain.rates).sum())
        objective = float(logs.sum() + evidence.log_scales.sum()) + dirichlet + gamma
        masses = np.concatenate([expected, sums.ravel()])
        return objective, np.concatenate([tables_after, rates.ravel()]), masses

    return step
