"""What is asked of a learner of hidden Markov models of symbols, and what it is to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import DataError
from tacit.sequences.data.sequences import Sequences

if TYPE_CHECKING:
    from tacit.sequences.learn.em.hmm_auto import Search
    from tacit.sequences.moments.ngrams import NgramCounts, TripleMoments
    from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]

USUAL_PSEUDO_COUNTS = (
    1.0,
    1.0,
    5.0,
)  # of each row of initial, transition and emission probabilities


@dataclass(frozen=True)
class HMMSettings:
    """What was asked for, checked."""

    learn: str
    features: (
        int | None
    )  # None: more than one where there are more states than symbols, with "auto"
    covariance: str
    stationary: bool
    pseudo_counts: float | None  # of each row; None: the usual ones
    n_restarts: int
    tol: float  # nats per position
    max_iter: int
    n_jobs: int
    seed: int


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learnt from."""

    sequences: Sequences  # those that EM runs on
    settings: HMMSettings
    given_counts: NgramCounts | None = None  # of these, and of others that are no longer there
    validation: Sequences | None = None
    report: Report = silent
    given_windows: WindowMoments | None = None  # of `features`, of all sequences too
    search: Search | None = None  # how "auto" compares starts

    @cached_property
    def counts(self) -> NgramCounts:
        """Windows of symbols."""
        from tacit.sequences.moments.ngrams import NgramCounts

        if self.given_counts is not None:
            return self.given_counts
        return NgramCounts.of(self.sequences, n_jobs=self.settings.n_jobs)

    def windows(self, reach: int) -> WindowMoments:
        """Windows with longer pasts and futures.

        Raises
        ------
        DataError
            There are none.
        """
        from tacit.sequences.moments.symbol_windows import symbol_windows

        found = self.given_windows
        if found is None:
            found = symbol_windows(self.sequences, reach)
        if not found.n_windows:
            raise DataError(
                f"no {2 * reach + 1} symbols in a row were observed, as features={reach} needs; pass a "
                f"smaller features=, or longer sequences"
            )
        return found

    @property
    def reach(self) -> int:
        """Symbols of past and future that were asked for."""
        return self.settings.features or 1

    def tell(self, step: int, objective: float) -> None:
        """Report a step of EM."""
        share = min(step / max(self.settings.max_iter, 1), 1.0)
        self.report(share, f"step {step}: {objective:.1f} nats")


def frequencies(task: Task) -> Array:
    """(symbol,) shares of all symbols that were seen, with the pseudo-counts of one row."""
    shares = task.counts.singles + row_counts(task.settings)[2] / task.counts.n_symbols
    return np.asarray(shares / shares.sum())


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
        "singular_values": [float(each) for each in views.values],
        "noise": float(views.noise),
        "n_supported": supported_states(moments, min(n_states, n_symbols)),
    }
