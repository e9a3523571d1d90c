"""Strength of the prior and stopping gain of EM, as they measured best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.messages.network import Layout

Array = NDArray[np.float64]

# Pseudo-counts per row of leaf tables that measured best, and half of them for hidden nodes: fewer where the
# rows of leaf tables differ much, more where they are alike (see `prior_strength`).
FEWEST_PSEUDO_COUNTS, MOST_PSEUDO_COUNTS = 1.0, 12.0
# Accelerated EM stops when a step gains less than so many nats per free parameter. With few rows
# steps are cheap and the last of them still help, so that it goes on longer; with many it is the reverse.
GAIN_PER_PARAMETER = 0.005
ROWS_FOR_FULL_GAIN = 5_000
ROWS_THAT_ARE_MANY = 20_000
FEWEST_PARAMETERS = 160  # smaller models stop as if they had so many
# EM on the classes of a star is cheap, and stops when a step gains fewer nats than this.
CLASS_GAIN = 0.2


def prior_strength(layout: Layout, marginals: Array, values: Array, n_rows: float) -> float:
    """Pseudo-counts of leaf rows, from the distances between the rows of the leaf tables and the marginals.

    The Dirichlet distribution with this spread around the marginals has ``spread`` pseudo-counts. Fewer did
    best, on trees of known truth and on real tables: seven tenths, and a quarter of what is beyond nine.
    """
    expected = marginals[layout.leaf_entries]
    deviations = values[: len(expected)] - expected
    spread = float(expected @ (1 - expected)) / max(float(deviations @ deviations), 1e-12) - 1
    # A handful of rows must not drown in pseudo-counts.
    strength = min(0.7 * spread, 4 + spread / 4, n_rows / 8)
    return min(max(strength, FEWEST_PSEUDO_COUNTS), MOST_PSEUDO_COUNTS)


def least_gain(n_rows: float, n_parameters: int) -> float:
    """The gain of a step, in nats, below which EM stops."""
    factor = min(max(n_rows / ROWS_FOR_FULL_GAIN, 0.2), 1.0)
    if n_rows > ROWS_THAT_ARE_MANY:
        factor *= 1 + math.log10(n_rows / ROWS_THAT_ARE_MANY)
    return factor * GAIN_PER_PARAMETER * max(n_parameters, FEWEST_PARAMETERS)
