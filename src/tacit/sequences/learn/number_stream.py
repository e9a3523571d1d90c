"""Sequences of numbers that are kept while data stream by, and the model of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.number_sequences import Series
from tacit.sequences.learn.hmm_selection import Pieces
from tacit.sequences.learn.symbol_stream import MOST_KEPT, lowest, mixed

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.learn.fit import FittedHMM
    from tacit.sequences.learn.hmm_learners import HMMSettings

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

    def joined(self, others: Series) -> KeptNumbers:
        """With another chunk of the same columns."""
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


def fit_kept(
    kept: KeptNumbers, n_states: int | str, settings: HMMSettings, report: Report
) -> FittedHMM:
    """A model of what was kept; what is told counts everything that went by."""
    from tacit.sequences.learn.fit import FittedHMM, fit_numbers

    found = fit_numbers(kept.series, None, n_states, settings, report)
    told = found.diagnostics | {"n_sequences": kept.n_seen, "n_positions": kept.n_positions}
    told["n_kept"] = kept.series.n_positions
    return FittedHMM(found.parameters, told)
