"""The sample of sequences of numbers that `partial_fit` keeps, and the model of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import DataError
from tacit.sequences.data.mixed_columns import MixedSeries, joint_categories
from tacit.sequences.data.number_sequences import Series
from tacit.sequences.learn.fit import FittedHMM, fit_hmm
from tacit.sequences.learn.selection import Pieces
from tacit.sequences.learn.symbol_stream import MOST_POSITIONS, Kept, lowest

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.learn.hmm_task import HMMSettings

Integers = NDArray[np.int64]

_FEW_COLUMNS = 4  # as many positions as of symbols up to so many columns; fewer with more


@dataclass(frozen=True, eq=False)
class NumberSample:
    """A random sample of all sequences so far, all of them as long as there is room; see `Sample`.

    Moments of numbers would need cells, and these the scale of numbers to come. A sample does not: it does
    not depend on the chunks, and nothing is lost as long as everything fits.
    """

    series: Series
    kept: Kept
    n_positions: int  # of all sequences so far
    seed: int

    @staticmethod
    def of(series: Series, seed: int) -> NumberSample:
        """Of the first chunk."""
        none = series.pieces(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return NumberSample(none, Kept.next(0, seed), 0, seed).joined(series)

    @property
    def places(self) -> Integers:
        """(sequence,) in the stream."""
        return self.kept.places

    @property
    def data(self) -> Series:
        """The sample."""
        return self.series

    @property
    def sizes(self) -> dict[str, int]:
        """Of all sequences so far."""
        return {
            "n_sequences": self.kept.n_seen,
            "n_positions": self.n_positions,
            "n_columns": self.series.n_columns,
        }

    def fitted(
        self, emission: Emission, n_states: int | str, settings: HMMSettings, report: Report
    ) -> tuple[FittedHMM, NumberSample]:
        """A model of the sample; diagnostics count all sequences so far."""
        fit = fit_hmm(emission, self.series, self, None, n_states, settings, report)
        diagnostics = fit.diagnostics | {"n_kept": self.series.n_positions}
        return FittedHMM(fit.parameters, diagnostics), self

    def joined(self, others: Series, settings: HMMSettings | None = None) -> NumberSample:
        """With another chunk of the same columns."""
        del settings
        more = Kept.next(len(others.lengths), self.seed, self.kept.n_seen)
        return self._with(self.series, others, more, others.n_positions)

    def merged(self, other: NumberSample) -> NumberSample:
        """With the sample of another stream of the same columns, as if that had followed this one.

        Categories that only one of them has seen are those of both.

        Raises
        ------
        DataError
            Its columns are others.
        """
        these, others = self.series, other.series
        if these.names != others.names:
            raise DataError(
                f"the two models have different columns: {shown(list(these.names))} and "
                f"{shown(list(others.names))}"
            )
        if isinstance(these, MixedSeries) and isinstance(others, MixedSeries):
            categories = joint_categories(these.categories, others.categories)
            these, others = these.recoded(categories), others.recoded(categories)
        return self._with(these, others, other.kept, other.n_positions)

    def _with(self, these: Series, others: Series, more: Kept, n_positions: int) -> NumberSample:
        n_old, kept = len(self.places), self.kept + more
        lengths = np.concatenate([these.lengths, others.lengths])
        most = MOST_POSITIONS * _FEW_COLUMNS // max(others.n_columns, _FEW_COLUMNS)
        chosen = lowest(kept.numbers, lengths, most)
        parts = (
            _taken(these, chosen[chosen < n_old]),
            _taken(others, chosen[chosen >= n_old] - n_old),
        )
        values = np.concatenate(
            [part.values for part in parts if part.n_positions] or [others.values]
        )
        return NumberSample(
            replace(these, values=values, lengths=lengths[chosen]),
            kept.of(chosen),
            self.n_positions + n_positions,
            self.seed,
        )


def _taken(series: Series, chosen: Integers) -> Series:
    """Some of the sequences, in their order."""
    if len(chosen) == len(series.lengths):
        return series
    pieces: Series = Pieces(series.ends[:-1][chosen], series.lengths[chosen]).of(series)
    return pieces
