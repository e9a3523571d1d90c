"""What model files hold of the shapes of chains, and of durations of their states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array, Field, OneOf, Record
from tacit.core.files.header_values import flag, integer
from tacit.core.files.ranges import below, within
from tacit.sequences.model.durations import (
    MEANS,
    MOST_DURATION,
    SIZES,
    DurationTable,
    NegativeBinomialDurations,
)
from tacit.sequences.model.shapes import Shape


def _fits(
    initial: NDArray[Any], transitions: NDArray[Any], groups: NDArray[Any], **_: Any
) -> str | None:
    if not initial.any() or not transitions.any(axis=1).all():
        return "allows a state nothing"
    if not np.array_equal(np.unique(groups), np.arange(int(groups.max()) + 1)):
        return "does not number its groups one after the other"
    return None


SHAPE = Record(
    Shape,
    Field("initial", Array("state", dtype=np.bool_)),
    Field("transitions", Array("state state", dtype=np.bool_)),
    Field("groups", Array("state", below("state"), dtype=np.int64)),
    Field("is_ordered", flag()),
    check=_fits,
)
DURATIONS = OneOf(
    **{
        DurationTable.kind: Record(
            DurationTable, Field("hazards", Array("state age", within(0, 1)))
        ),
        NegativeBinomialDurations.kind: Record(
            NegativeBinomialDurations,
            Field("sizes", Array("state", within(*SIZES))),
            Field("means", Array("state", within(*MEANS))),
            Field("max_duration", integer(1, MOST_DURATION)),
        ),
    }
)
