"""All that the code of hidden Markov models knows of what states emit.

Parameters are those of a whole model: initial and transition probabilities, and the emissions of all states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.core.files.fields import Record
    from tacit.core.progress import Report
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.query.hidden_states import StateEvidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Emission(Protocol):
    """One kind of emissions; the table of all is `tacit.sequences.emissions.EMISSIONS`."""

    name: ClassVar[str]  # the value of `emissions`
    numbers: ClassVar[
        bool
    ]  # whether positions hold rows of numbers (`Series`), not symbols (`Sequences`)
    learners: ClassVar[tuple[str, ...]]  # the values of `learn`
    kinds: ClassVar[tuple[type, ...]]  # types of parameters
    record: ClassVar[Mapping[str, Record]]  # what files hold of parameters, by name

    # -- data and learning ----------------------------------------------------------------------

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Any:
        """Sequences from whatever holds them; `known` are the symbols or the names of columns."""
        ...

    def check(self, data: Any) -> None:
        """Raise a `DataError` where nothing can be learnt from these sequences."""
        ...

    def stream(self, data: Any, settings: HMMSettings) -> Any:
        """What `partial_fit` keeps of a first chunk."""
        ...

    def search(self, data: Any, settings: HMMSettings) -> dict[str, int | None]:
        """Arguments of `choose_states`: which numbers of states are tried."""
        ...

    def learn(
        self,
        data: Any,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Any = None,
        stream: Any = None,
        report: Report | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Parameters of some states, from starts by EM as `settings` says; and diagnostics."""
        ...

    # -- queries ----------------------------------------------------------------------------------

    def evidence(self, parameters: Any, positions: NDArray[Any], ends: Integers) -> StateEvidence:
        """Likelihoods of the states at each position."""
        ...

    def log_probs(self, parameters: Any, data: Any) -> Array:
        """(sequence,) natural-log likelihoods of whole sequences."""
        ...

    def sample(
        self, parameters: Any, states: NDArray[np.int32], rng: np.random.Generator
    ) -> NDArray[Any]:
        """What each of (draw, time) states emits: codes of symbols, or with one axis more rows of numbers."""
        ...

    def attributes(self, parameters: Any) -> dict[str, Array]:
        """Fitted attributes by name, besides `initial_` and `transitions_`."""
        ...

    def describe(self, parameters: Any, labels: Sequence[str], most: int) -> list[list[str]]:
        """A few words about each state; labels are those of the symbols, or of the columns."""
        ...

    # -- what comes next, of symbols (`probabilities`) or of numbers (the others) --------------------

    def probabilities(self, parameters: Any) -> Array:
        """(state, symbol)."""
        ...

    def means(self, parameters: Any) -> Array:
        """(state, column)."""
        ...

    def densities(self, parameters: Any, column: int, grid: Array) -> Array:
        """(state, place) the density of a column at each place of a grid."""
        ...

    def quantiles(self, parameters: Any, weights: Array, shares: Array) -> Array:
        """(row, column, share) quantiles of mixtures of the states with (row, state) weights."""
        ...

    def arguments(self, parameters: Any) -> dict[str, Any]:
        """Arguments of `HMM` that go with these parameters."""
        ...

    # -- exchange with hmmlearn ------------------------------------------------------------------

    def to_hmmlearn(self, parameters: Any, **arguments: Any) -> Any:
        """A model of hmmlearn without initial and transition probabilities; None where it has no such."""
        ...

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> Any:
        """Parameters of a fitted model of hmmlearn; None where it emits something else."""
        ...
