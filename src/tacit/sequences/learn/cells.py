"""Posteriors of hidden states from counts of cells: rows of numbers as symbols, for starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.model.chains import ChainTables

if TYPE_CHECKING:
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST_CELLS, MOST_CELLS = 16, 64
CELL_STEPS = 10  # of EM on the model of cells; EM on the numbers follows
PER_STATE = 8  # cells


def cells_for(values: Array, n_states: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """(position,) as many cells as suit a number of states.

    Parameters
    ----------
    values : (position, column)
        On a common scale; NaN where a number is missing.
    n_states : int
    rng : Generator
    """
    return cells_of(values, int(np.clip(PER_STATE * n_states, FEWEST_CELLS, MOST_CELLS)), rng)


def states_of_cells(
    codes: NDArray[np.int32],
    ends: Integers,
    n_states: int,
    settings: HMMSettings,
) -> tuple[ChainTables, Array, dict[str, Any]]:
    """A model of cells in windows of three, its (position, state) posterior, and diagnostics.

    Parameters
    ----------
    codes : (position,)
        Cells, -1 where they are missing.
    ends : (sequence + 1,)
    n_states : int
    settings : HMMSettings
    """
    from tacit.sequences.learn.em.hmm_search import Search
    from tacit.sequences.learn.hmm_learners import learn_tables
    from tacit.sequences.learn.hmm_task import Task
    from tacit.sequences.query.hidden_states import smoothed, symbol_evidence

    cells = Sequences(codes, np.diff(ends), tuple(range(int(codes.max(initial=0)) + 1)))
    cell_settings = replace(settings, max_iter=min(CELL_STEPS, settings.max_iter))
    search = Search(rounds=((CELL_STEPS, 3), (CELL_STEPS, 1)))
    tables, diagnostics = learn_tables(Task(cells, cell_settings, search=search), n_states)
    posterior = smoothed(tables, symbol_evidence(tables.emit[0], codes, ends))
    return tables, posterior, {"cells": {"n_cells": cells.n_symbols, **diagnostics}}
