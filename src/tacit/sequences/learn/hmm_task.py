"""Settings of learners of hidden Markov models, and the data of those of symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import DataError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.model.shapes import Shape

if TYPE_CHECKING:
    from tacit.sequences.learn.em.hmm_search import Search
    from tacit.sequences.moments.ngrams import NgramCounts, TripleMoments
    from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]

# Of each row of initial, transition and emission probabilities.
USUAL_PSEUDO_COUNTS = (1.0, 1.0, 5.0)


@dataclass(frozen=True)
class HMMSettings:
    """The arguments of `HMM`, checked."""

    learn: str
    features: int | None  # None: with "auto" as many as `n_states` needs, else one
    covariance: str
    stationary: bool
    pseudo_counts: float | None  # of each row; None: the default ones
    n_restarts: int
    tol: float  # nats per position
    max_iter: int
    n_jobs: int
    seed: int
    given: Any = None  # features of past and future in place of indicators
    preset: str | None = None
    windows: str = (
        "all"  # of the printed form: "first" three symbols of each sequence, or "all" windows
    )
    learning_rate: float = 0.6  # of stepwise EM
    transitions: Any = "full"  # a name of `tacit.sequences.model.shapes.TRANSITIONS`, or flags
    initial: Any = "auto"  # a name of `INITIAL`, or flags
    tied: Any = None  # groups of states that emit the same
    n_components: int = 2  # Gaussians of a mixture in each state
    durations: str | None = None  # "table" or "negative-binomial"; None: geometric
    max_duration: int | None = None  # ages with hazards of their own; None: as the data say
    has_shape: bool = False  # whether transitions or initial states are restricted, or states tied
    rough: bool = False  # whether few starts will do: the number of states is selected
    start: Any = None  # parameters of one more start: the model grown by this selection

    @property
    def has_windows(self) -> bool:
        """Whether pasts and futures are longer than a symbol, or have features of their own."""
        return self.given is not None or (self.features or 1) > 1

    def shape_for(self, n_states: int) -> Shape:
        """The shape of a chain of so many states."""
        return Shape.of(self.transitions, n_states, self.initial, self.tied)


@dataclass(frozen=True, eq=False)
class Task:
    """Sequences with their counts, and settings."""

    sequences: Sequences  # for EM
    settings: HMMSettings
    given_counts: NgramCounts | None = None  # of these and earlier ones
    validation: Sequences | None = None
    report: Report = silent
    given_windows: WindowMoments | None = None  # the same of longer windows
    search: Search | None = None  # how "auto" compares starts
    given_heads: NgramCounts | None = None  # counts of the first three symbols of each sequence

    @cached_property
    def counts(self) -> NgramCounts:
        """Windows of symbols."""
        from tacit.sequences.moments.ngrams import NgramCounts

        if self.given_counts is not None:
            return self.given_counts
        return NgramCounts.of(self.sequences, n_jobs=self.settings.n_jobs)

    @cached_property
    def heads(self) -> NgramCounts:
        """Counts of the first three symbols of each sequence."""
        return self.given_heads if self.given_heads is not None else head_counts(self.sequences)

    def windows(self, reach: int) -> WindowMoments:
        """Windows with longer pasts and futures.

        Raises
        ------
        DataError
            There are none.
        """
        windows = self.given_windows
        if windows is None:
            windows = windows_of_symbols(self.sequences, reach, self.settings.given)
        if not windows.n_windows:
            name = "features" if self.settings.given is None else "reach"
            raise DataError(
                f"no {2 * reach + 1} symbols in a row were observed, as {name}={reach} needs; pass a "
                f"smaller {name}=, or longer sequences"
            )
        return windows

    @property
    def reach(self) -> int:
        """Symbols of past and future."""
        return self.settings.features or 1

    def progress(self, step: int, objective: float) -> None:
        """Report a step of EM."""
        done = min(step / max(self.settings.max_iter, 1), 1.0)
        self.report(done, f"step {step}: {objective:.1f} nats")


def head_counts(sequences: Sequences) -> NgramCounts:
    """Counts of the first three symbols of each sequence, and of nothing else."""
    from tacit.sequences.moments.ngrams import NgramCounts

    lengths = np.minimum(sequences.lengths, 3)
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = np.repeat(sequences.ends[:-1], lengths) + within
    return NgramCounts.of(sequences.pieces(places, lengths))


def windows_of_symbols(sequences: Sequences, reach: int, given: Any) -> WindowMoments:
    """Windows with longer pasts and futures, of indicators or of features that the user gives."""
    from tacit.sequences.moments.symbol_windows import given_windows, symbol_windows

    if given is None:
        return symbol_windows(sequences, reach)
    return given_windows(sequences, reach, given)


def frequencies(task: Task) -> Array:
    """(symbol,) frequencies of symbols, with the pseudo-counts of one row."""
    counts = task.counts.singles + row_counts(task.settings)[2] / task.counts.n_symbols
    return np.asarray(counts / counts.sum())


def row_counts(settings: HMMSettings) -> tuple[float, float, float]:
    """Pseudo-counts of each row of initial, transition and emission probabilities."""
    count = settings.pseudo_counts
    return USUAL_PSEUDO_COUNTS if count is None else (count, count, count)


def spectrum(moments: TripleMoments, n_states: int) -> dict[str, Any]:
    """Singular values of pairs at distance two, scaled by frequencies, and how many stand above noise."""
    from tacit.sequences.learn.spectral.hmm import shared_views, supported_states

    n_symbols = len(moments.one)
    views = shared_views(moments, min(2 * n_states + 8, n_symbols))
    return {
        "singular_values": [float(value) for value in views.values],
        "noise": float(views.noise),
        "n_supported": supported_states(moments, min(n_states, n_symbols)),
    }
