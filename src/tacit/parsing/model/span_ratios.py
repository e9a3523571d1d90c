"""The constituent-context model: the odds of a constituent given the tags inside and around a span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.moments.tag_spans import SpanTable

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpanRatios:
    """How much more likely tags inside and around a span are if it is a constituent: logarithms.

    Binary trees over n words have n - 1 constituents, so that the sums by which probabilities are divided
    are the same for all trees; they are left out.
    """

    yields: NDArray[np.uint64]  # (yield,)  ascending
    of_yields: Array  # (yield,)
    of_contexts: Array  # (context,)
    unseen: float  # for yields that are not there

    def scores(self, table: SpanTable) -> Array:
        """The logarithm of the ratio of each span of some sentences."""
        if not len(self.yields):
            return np.full(len(table.yields), self.unseen) + self.of_contexts[table.contexts]
        places = np.minimum(np.searchsorted(self.yields, table.yields), len(self.yields) - 1)
        known = self.yields[places] == table.yields
        return (
            np.where(known, self.of_yields[places], self.unseen) + self.of_contexts[table.contexts]
        )
