"""Sequences of numbers that are kept while data stream by, and the model of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.number_sequences import Series
from tacit.sequences.learn.fit import FittedHMM, fit_hmm
from tacit.sequences.learn.selection import Pieces
from tacit.sequences.learn.symbol_stream import MOST_KEPT, lowest, mixed

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.learn.hmm_task import HMMSettings

Integers = NDArray[np.int64]

_FEW_COLUMNS = 4  # with which as many positions are kept as of symbols; fewer of more columns


@dataclass(frozen=True, eq=False)
class KeptNumbers:
    """Sequences drawn from all that went by, all of them as long as there is room; see `Kept`.

    Moments of numbers would need cells, and these the scale and the spread of what is still to come. A sample
    needs neither: it does not depend on the chunks, and nothing is lost as long as everything fits.
    """

    series: Series
    places: Integers  # (sequence,)  in the stream
    n_seen: int  # sequences that went by
    n_positions: int  # their positions
    seed: int

    @staticmethod
    def of(series: Series, seed: int) -> KeptNumbers:
        """Of the first chunk."""
        none = Series(series.values[:0], np.zeros(0, np.int64), series.names)
        return KeptNumbers(none, np.zeros(0, np.int64), 0, 0, seed).joined(series)

    @property
    def data(self) -> Series:
        """The sample."""
        return self.series

    @property
    def sizes(self) -> dict[str, int]:
        """Of all that went by."""
        return {
            "n_sequences": self.n_seen,
            "n_positions": self.n_positions,
            "n_columns": self.series.n_columns,
        }

    def fitted(
        self, emission: Emission, n_states: int | str, settings: HMMSettings, report: Report
    ) -> tuple[FittedHMM, KeptNumbers]:
        """A model of what was kept; what is told counts everything that went by."""
        found = fit_hmm(emission, self.series, self, None, n_states, settings, report)
        told = found.diagnostics | {"n_kept": self.series.n_positions}
        return FittedHMM(found.parameters, told), self

    def joined(self, others: Series, settings: HMMSettings | None = None) -> KeptNumbers:
        """With another chunk of the same columns."""
        del settings
        n_old, n_new = len(self.places), len(others.lengths)
        places = np.concatenate([self.places, self.n_seen + np.arange(n_new)])
        lengths = np.concatenate([self.series.lengths, others.lengths])
        most = MOST_KEPT * _FEW_COLUMNS // max(others.n_columns, _FEW_COLUMNS)
        chosen = lowest(mixed(places, self.seed), lengths, most)
        parts = (
            _taken(self.series, chosen[chosen < n_old]),
            _taken(others, chosen[chosen >= n_old] - n_old),
        )
        values = np.concatenate(
            [each.values for each in parts if each.n_positions] or [others.values]
        )
        return KeptNumbers(
            Series(values, lengths[chosen], self.series.names),
            places[chosen],
            self.n_seen + n_new,
            self.n_positions + others.n_positions,
            self.seed,
        )


def _taken(series: Series, which: Integers) -> Series:
    """Some of the sequences, in their order."""
    if len(which) == len(series.lengths):
        return series
    found: Series = Pieces(series.ends[:-1][which], series.lengths[which]).of(series)
    return found
