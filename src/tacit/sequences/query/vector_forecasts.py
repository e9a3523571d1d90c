"""Forecasts of positions with several numbers at once, whose features are those of all of them together.

A number of the next position is forecast given those of the same position that are known already. The
density of a position is the product of such forecasts in the order of the columns: each is cut off where it
is negative and brought to integral one, so that the product is a density too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.vector_kernels import VectorKernelEncoder
from tacit.messages.repairs import Repairs
from tacit.numbers.query.densities import Coefficients
from tacit.sequences.model.chains import Operators
from tacit.sequences.query.forecasts import AT_ONCE, Forecasts, next_features
from tacit.sequences.query.operators import Walk

Array = NDArray[np.float64]


def member_forecasts(
    vectors: Array,
    undefined: NDArray[np.bool_],
    encoder: VectorKernelEncoder,
    column: int,
    *,
    fallback: float = 0.0,
    others: Array | None = None,
) -> Forecasts:
    """Forecasts of one column.

    Parameters
    ----------
    vectors : (row, feature)
        The expected features of the next position, of integral one.
    undefined : (row,)
        Where they are those of the mean state.
    encoder : VectorKernelEncoder
    column : int
    fallback : float
        Weight of the column's marginal density.
    others : (row, column), optional
        What is known of the next position; the column itself does not count.
    """
    values = encoder.member_coefficients(vectors, column, others)
    return Forecasts(Coefficients(encoder.members[column], values, undefined), fallback)


def log_densities_in_turn(
    operators: Operators,
    walk: Walk,
    encoder: VectorKernelEncoder,
    rows: Array,
    fallbacks: Array,
) -> tuple[Array, Repairs]:
    """(weight, position) log-densities of the observed numbers of positions given all before; repairs.

    Parameters
    ----------
    operators : Operators
    walk : Walk
        Of the sequences.
    encoder : VectorKernelEncoder
    rows : (position, column)
        The numbers of all positions.
    fallbacks : (weight,)
        Weights of the columns' marginal densities.
    """
    logs, repairs = np.zeros((len(fallbacks), len(rows))), Repairs()
    for start in range(0, len(rows), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        states = walk.states.at(walk.before[part])
        vectors, undefined = next_features(operators, states, 0, encoder.total)
        known = np.full_like(rows[part], np.nan)
        for column in range(encoder.n_members):
            forecasts = member_forecasts(vectors, undefined, encoder, column, others=known)
            logs[:, part] += forecasts.log_densities_with(rows[part, column], fallbacks)
            repairs += forecasts.repairs()
            known[:, column] = rows[part, column]
    return logs, repairs
