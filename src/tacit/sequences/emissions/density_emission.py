"""Emissions of numbers whose states have a `StateDensity`: learning and queries by the generic chain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Record
from tacit.core.progress import Report, silent
from tacit.errors import DataError
from tacit.sequences.data.number_sequences import (
    Series,
    centre_and_spread,
    check_learnable,
    read_series,
)
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.query.hidden_states import StateEvidence

if TYPE_CHECKING:
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.learn.number_stream import NumberSample
    from tacit.sequences.model.state_density import DensityRows

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

DEFAULT_PSEUDO_COUNTS = 1.0  # of the prior of densities


@dataclass(frozen=True, eq=False)
class BySequences:
    """Likelihoods of one row of numbers, as a sequence of one position."""

    emission: DensityEmission
    parameters: Any

    def __call__(self, row: Array) -> tuple[Array, float]:
        """Likelihoods and the log of their scale."""
        evidence = self.emission.evidence(self.parameters, row[None], np.array([0, 1]))
        return evidence.likelihoods[0], float(evidence.log_scales[0])


class DensityEmission(ABC):
    """Reads rows of numbers, learns by EM, answers from the densities; subclasses say which these are."""

    name: ClassVar[str]
    numbers: ClassVar[bool] = True
    learners: ClassVar[tuple[str, ...]] = ("auto", "em")
    kinds: ClassVar[tuple[type, ...]] = (EmissionChain,)
    record: ClassVar[Mapping[str, Record]] = {}
    density: ClassVar[type]  # the `StateDensity`
    density_record: ClassVar[Record]  # what files hold of it

    @abstractmethod
    def rows(self, values: Array, settings: HMMSettings) -> DensityRows:
        """Rows to learn from."""

    def bound(self, data: Any) -> Any:
        """The same: nothing but numbers was found in the data."""
        del data
        return self

    # -- data and learning ----------------------------------------------------------------------

    def is_default_for(self, X: Any) -> bool:
        """Only where a kind says so."""
        del X
        return False

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Series:
        """Sequences of numbers."""
        del unknown  # of symbols only
        return read_series(X, known or None, lengths)

    def check(self, data: Series) -> None:
        """Raise where a column holds no number, or far too small ones."""
        check_learnable(data)

    def stream(self, data: Series, settings: HMMSettings) -> NumberSample:
        """A random sample of the sequences."""
        from tacit.sequences.learn.number_stream import NumberSample

        return NumberSample.of(data, settings.seed)

    def search(self, data: Series, settings: HMMSettings) -> dict[str, int | None]:
        """The usual numbers of states."""
        del data, settings
        return {}

    def learn(
        self,
        data: Series,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Series | None = None,
        stream: Any = None,
        states: NDArray[np.integer] | None = None,
        report: Report | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts from clusters and cells, then EM ("auto"); EM from random rows ("em")."""
        del held_out, stream
        rows = self.rows(data.values, settings)
        return learn_density(rows, data.ends, n_states, settings, states, report or silent)

    def learning_rows(self, data: Series, settings: HMMSettings) -> DensityRows:
        """The data for the generic learners of chains."""
        return self.rows(data.values, settings)

    def of_chain(self, chain: EmissionChain) -> Any:
        """The parameters that such a chain stands for: itself."""
        return chain

    def refined(self, data: Series, start: Any, settings: HMMSettings) -> Any:
        """EM on these numbers; None where they are learnt from on another scale than they are given."""
        from tacit.sequences.learn.em.emission_chain import ChainData, run_em

        rows = self.rows(data.values, settings)
        if rows.finished(start.density) is not start.density:
            return None
        chain, _ = run_em(
            start,
            ChainData(rows, data.ends, settings.shape_for(start.n_states)),
            gain=settings.tol * data.n_positions,
            max_iter=settings.max_iter,
            pseudo_counts=settings.pseudo_counts,
            stationary=settings.stationary,
        )
        return chain

    # -- queries ----------------------------------------------------------------------------------

    def emitted(self, parameters: Any) -> Any:
        """The `StateDensity` of the states."""
        return parameters.emitted

    def evidence(self, parameters: Any, positions: Array, ends: Integers) -> StateEvidence:
        """Likelihoods of the states at each position; what is missing is summed out."""
        from tacit.sequences.loops.gaussian_densities import exponentials

        logs = np.ascontiguousarray(self.emitted(parameters).log_likelihoods(positions))
        log_scales = np.empty(len(logs))
        exponentials(logs, log_scales)
        return StateEvidence(logs, log_scales, ends)

    def at_position(self, parameters: Any) -> Callable[[Array], tuple[Array, float]]:
        """By `evidence`."""
        return BySequences(self, parameters)

    def log_probs(self, parameters: Any, data: Series) -> Array:
        """From likelihoods of positions, block by block."""
        from tacit.sequences.query.hmm_scores import log_probs_by_evidence

        return log_probs_by_evidence(self.evidence, parameters, data)

    def sample(self, parameters: Any, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """(draw, time, column) rows of numbers."""
        return np.asarray(self.emitted(parameters).sample(states, rng))

    def drawn(self, parameters: Any, rows: Array) -> Any:
        """The same, without the last axis of a single column."""
        del parameters
        return rows[:, :, 0] if rows.shape[2] == 1 else rows

    def can_fill(self, parameters: Any) -> bool:
        """Yes."""
        del parameters
        return True

    def fill(self, parameters: Any, rows: Array, posterior: Array) -> Array:
        """Means of mixtures of the states, where columns do not depend on each other within a state."""
        means = self.expectation(parameters, posterior)
        means[~(posterior.sum(axis=1) > 0)] = np.nan
        return np.where(np.isnan(rows), means, rows)

    def attributes(self, parameters: Any) -> dict[str, Any]:
        """Those of the densities."""
        return dict(self.emitted(parameters).attributes)

    def describe(self, parameters: Any, labels: Sequence[str], most: int) -> list[list[str]]:
        """Each column in a few words."""
        described: list[list[str]] = self.emitted(parameters).describe(labels, most)
        return described

    def arguments(self, parameters: Any) -> dict[str, Any]:
        """Those of the densities."""
        return dict(self.emitted(parameters).arguments)

    def means(self, parameters: Any) -> Array:
        """(state, column)."""
        return np.asarray(self.emitted(parameters).means)

    def expectation(self, parameters: Any, weights: Array) -> Array:
        """(row, column)."""
        return np.asarray(self.emitted(parameters).expectation(weights))

    def densities(self, parameters: Any, column: int, grid: Array) -> Array:
        """(state, grid point) densities, or probabilities of integers; zero where none are possible."""
        return np.asarray(self.emitted(parameters).densities(column, grid))

    def quantiles(self, parameters: Any, weights: Array, levels: Array) -> Array:
        """(row, column, level)."""
        return np.asarray(self.emitted(parameters).quantiles(weights, levels))

    # -- exchange with hmmlearn -------------------------------------------------------------------

    def to_hmmlearn(self, parameters: Any, **arguments: Any) -> Any:
        """There is no such model."""
        del parameters, arguments

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> Any:
        """There is no such model."""
        del model, initial, transitions


def learn_density(
    rows: DensityRows,
    ends: Integers,
    n_states: int,
    settings: HMMSettings,
    states: NDArray[np.integer] | None,
    report: Report,
) -> tuple[EmissionChain, dict[str, Any]]:
    """A chain of densities of some rows, and diagnostics."""
    from tacit.sequences.learn.em.emission_chain import ChainData
    from tacit.sequences.learn.emission_chain import learn_chain

    data = ChainData(rows, ends, settings.shape_for(n_states), states)
    chain, diagnostics = learn_chain(data, settings, report)
    return replace(chain, density=rows.finished(chain.density)), diagnostics


def mixture_quantiles(
    below: Callable[[Array], Array],
    low: Array,
    high: Array,
    weights: Array,
    levels: Array,
    steps: int,
) -> Array:
    """(row, level) quantiles of mixtures of numbers, by bisection; NaN where all weights are zero.

    Parameters
    ----------
    below : callable
        From (row, level) numbers to (row, level, state) distribution functions.
    low, high : (level,)
        Numbers between which all quantiles are.
    weights : (row, state)
    levels : (level,)
    steps : int
        Halvings.
    """
    quantiles = np.full((len(weights), len(levels)), np.nan)
    is_possible = weights.sum(axis=1) > 0
    inner = weights[is_possible]
    lows, highs = (np.tile(limits, (len(inner), 1)) for limits in (low, high))
    for _ in range(steps):
        middle = 0.5 * (lows + highs)
        over = np.einsum("rsm,rm->rs", below(middle), inner) > levels
        lows, highs = np.where(over, lows, middle), np.where(over, middle, highs)
    quantiles[is_possible] = 0.5 * (lows + highs)
    return quantiles


def count_quantiles(
    below: Callable[[Array], Array], high: Array, weights: Array, levels: Array
) -> Array:
    """(row, level) the least counts whose probability of less or equal reaches the level."""
    quantiles = np.full((len(weights), len(levels)), np.nan)
    is_possible = weights.sum(axis=1) > 0
    inner = weights[is_possible]
    lows, highs = np.full((len(inner), len(levels)), -1.0), np.tile(high, (len(inner), 1))
    while (highs - lows > 1).any():
        middle = np.floor(0.5 * (lows + highs))
        enough = np.einsum("rsm,rm->rs", below(np.maximum(middle, 0.0)), inner) >= levels
        enough &= middle >= 0
        lows, highs = np.where(enough, lows, middle), np.where(enough, middle, highs)
    quantiles[is_possible] = highs
    return quantiles


def column_names(labels: Sequence[str]) -> list[str]:
    """What stands before the description of each column."""
    return [f"{label} " for label in labels] if len(labels) > 1 else [""]


def strength_of(settings: HMMSettings) -> float:
    """Pseudo-counts of the prior of densities."""
    given = settings.pseudo_counts
    return DEFAULT_PSEUDO_COUNTS if given is None else given


def standardised(values: Array) -> Array:
    """Columns with mean zero and standard deviation one; constant ones are zero."""
    centre, spread = centre_and_spread(values)
    return np.asarray((values - centre) / np.where(spread > 0, spread, 1.0))


def check_counts(values: Array, name: str) -> None:
    """Raise where a number is no count."""
    observed = values[~np.isnan(values)]
    invalid = observed[(observed < 0) | (observed != np.round(observed))]
    if len(invalid):
        raise DataError(
            f"{invalid[0]:g} is no count; emissions={name!r} takes integers from zero on, "
            f"emissions='gaussian' any numbers"
        )
