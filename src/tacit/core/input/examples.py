"""Training examples, read once and handed out in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows, sequences or texts; all parts of them know the same categories, symbols or words."""

    n: int
    take: Callable[[NDArray[np.int64]], Any]  # some of them, in a form that `fit` and queries take
