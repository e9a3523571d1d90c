"""The interface between hidden Markov models and their emissions.

Parameters are those of the whole model: initial and transition probabilities, and all emissions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.core.files.fields import Record
    from tacit.core.progress import Report
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.model.emission_chain import EmissionChain
    from tacit.sequences.model.state_density import DensityRows
    from tacit.sequences.query.hidden_states import StateEvidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Emission(Protocol):
    """One kind of emissions; the table of all is `tacit.sequences.emissions.EMISSIONS`."""

    name: ClassVar[str]  # the value of `emissions`
    numbers: ClassVar[bool]  # rows of numbers (`Series`), not symbols (`Sequences`)
    learners: ClassVar[tuple[str, ...]]  # the values of `learn`
    kinds: ClassVar[tuple[type, ...]]  # types of parameters
    record: ClassVar[Mapping[str, Record]]  # what files hold of parameters, by name

    # -- data and learning ----------------------------------------------------------------------

    def is_default_for(self, X: Any) -> bool:
        """Whether ``emissions="auto"`` means this kind where X is learnt from."""
        ...

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Any:
        """Sequences from any input; `known` are the symbols or the names of columns."""
        ...

    def bound(self, data: Any) -> Any:
        """The emission with what reading found in the data: categories of columns of several kinds."""
        ...

    def check(self, data: Any) -> None:
        """Raise a `DataError` if nothing can be learnt from these sequences."""
        ...

    def stream(self, data: Any, settings: HMMSettings) -> Any:
        """What `partial_fit` keeps of a first chunk."""
        ...

    def search(self, data: Any, settings: HMMSettings) -> dict[str, int | None]:
        """Arguments of `choose_states`: which numbers of states are candidates."""
        ...

    def learn(
        self,
        data: Any,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Any = None,
        stream: Any = None,
        states: NDArray[np.integer] | None = None,
        report: Report | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Parameters learnt as `settings` says, and diagnostics; `states` are those known, else -1."""
        ...

    def learning_rows(self, data: Any, settings: HMMSettings) -> DensityRows:
        """The data for the generic learners of chains."""
        ...

    def of_chain(self, chain: EmissionChain) -> Any:
        """The parameters that such a chain stands for."""
        ...

    def refined(self, data: Any, start: Any, settings: HMMSettings) -> Any:
        """Parameters after EM from given ones; None of a kind that has no such EM."""
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
        """Samples the emissions of (draw, time) states: codes, or rows of numbers on one axis more."""
        ...

    def can_fill(self, parameters: Any) -> bool:
        """Whether the model knows what is missing."""
        ...

    def attributes(self, parameters: Any) -> dict[str, Array]:
        """Fitted attributes by name, besides `initial_` and `transitions_`."""
        ...

    def describe(self, parameters: Any, labels: Sequence[str], most: int) -> list[list[str]]:
        """A few words about each state; labels are those of the symbols, or of the columns."""
        ...

    def arguments(self, parameters: Any) -> dict[str, Any]:
        """Arguments of `HMM` that go with these parameters."""
        ...

    # -- exchange with hmmlearn ------------------------------------------------------------------

    def to_hmmlearn(self, parameters: Any, **arguments: Any) -> Any:
        """A model of hmmlearn without initial and transition probabilities; None where it has none."""
        ...

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> Any:
        """Parameters of a fitted model of hmmlearn; None where it emits something else."""
        ...


class SymbolEmission(Emission, Protocol):
    """One kind of emissions of symbols."""

    def probabilities(self, parameters: Any) -> Array:
        """(state, symbol)."""
        ...


class NumberEmission(Emission, Protocol):
    """One kind of emissions of numbers, or of rows of columns of several kinds."""

    def at_position(self, parameters: Any) -> Callable[[Array], tuple[Array, float]]:
        """A function of one row of numbers to likelihoods (state,) and the log of their scale.

        It is called for one observation at a time, so it should be fast. Rows have no gaps. The log is not
        finite where the row is not valid; `evidence` is asked then.
        """
        ...

    def drawn(self, parameters: Any, rows: NDArray[Any]) -> Any:
        """What `HMM.sample` returns of rows of numbers."""
        ...

    def fill(self, parameters: Any, rows: Array, posterior: Array) -> Array:
        """Rows of numbers with expectations in their gaps, given (position, state) probabilities."""
        ...

    def means(self, parameters: Any) -> Array:
        """(state, column)."""
        ...

    def expectation(self, parameters: Any, weights: Array) -> Array:
        """(row, column) means of mixtures of the states with (row, state) weights."""
        ...

    def densities(self, parameters: Any, column: int, grid: Array) -> Array:
        """(state, grid point) the densities of a column."""
        ...

    def quantiles(self, parameters: Any, weights: Array, levels: Array) -> Array:
        """(row, column, level) quantiles of mixtures of the states with (row, state) weights."""
        ...


def emits_symbols(emission: Emission) -> TypeGuard[SymbolEmission]:
    """Whether sequences are of symbols."""
    return not emission.numbers


def emits_numbers(emission: Emission) -> TypeGuard[NumberEmission]:
    """Whether sequences are of numbers, or of rows of columns of several kinds."""
    return emission.numbers
