"""Categorical emissions: each state has a probability for each symbol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice
from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Many, Record
from tacit.core.files.ranges import probabilities
from tacit.core.progress import Report, silent
from tacit.sequences.data.number_sequences import holds_numbers
from tacit.sequences.emissions.shape_files import DURATIONS, SHAPE
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.query.hidden_states import StateEvidence, drawn_symbols, symbol_evidence
from tacit.sequences.query.proper_operators import ProperOperators

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.emissions.categorical_density import CategoricalRows
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.learn.symbol_stream import Stream
    from tacit.sequences.model.emission_chain import EmissionChain

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# The size "feature" is a tuple: how many features each column has.
CHAIN_TABLES = Record(
    ChainTables,
    Field("initial", ArrayField("state", probabilities)),
    Field("transitions", ArrayField("state state", probabilities)),
    Field("emit", Many(ArrayField("state feature", probabilities), item_sizes="feature")),
    Field("shape", SHAPE, optional=True),
    Field("durations", DURATIONS, optional=True),
)


class Categorical:
    """Probabilities of symbols; with learn="spectral", operators in place of hidden states."""

    name: ClassVar[str] = "categorical"
    numbers: ClassVar[bool] = False
    learners: ClassVar[tuple[str, ...]] = ("auto", "spectral", "tensor", "em", "online-em")
    kinds: ClassVar[tuple[type, ...]] = (ChainTables, ProperOperators)
    record: ClassVar[Mapping[str, Record]] = {"tables": CHAIN_TABLES}

    def is_default_for(self, X: Any) -> bool:
        """Of whatever is not numbers."""
        return not holds_numbers(X)

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Sequences:
        """Sequences of symbols."""
        from tacit.sequences.data.read_sequences import read_sequences

        check_choice("unknown", unknown, ("error", "missing"))
        return read_sequences(X, lengths, symbols=known, unknown=unknown)

    def bound(self, data: Sequences) -> Categorical:
        """The same: models have the symbols themselves."""
        del data
        return self

    def check(self, data: Sequences) -> None:
        """Reading has checked everything."""

    def stream(self, data: Sequences, settings: HMMSettings) -> Stream:
        """Counts of windows, and a sample."""
        from tacit.sequences.learn.symbol_stream import Stream

        return Stream.of(data, settings)

    def search(self, data: Sequences, settings: HMMSettings) -> dict[str, int | None]:
        """Starts with more states where longer windows support them."""
        from tacit.sequences.learn.hmm_learners import least_states
        from tacit.sequences.learn.hmm_task import Task
        from tacit.sequences.learn.selection import PATIENCE, PATIENCE_OF_OPERATORS

        return {
            "most": 1 if data.n_symbols == 1 else None,
            "least": least_states(Task(data, settings)),
            "patience": PATIENCE_OF_OPERATORS if settings.learn == "spectral" else PATIENCE,
        }

    def learn(
        self,
        data: Sequences,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Sequences | None = None,
        stream: Stream | None = None,
        states: NDArray[np.integer] | None = None,
        report: Report | None = None,
    ) -> tuple[ChainTables | ProperOperators, dict[str, Any]]:
        """Tables, or operators, from windows of symbols and EM."""
        if settings.has_shape or states is not None:
            return _learn_shaped(data, n_states, settings, states, report or silent)
        from tacit.sequences.learn.hmm_learners import learn_symbols
        from tacit.sequences.learn.hmm_task import Task

        counts, windows = (None, None) if stream is None else (stream.counts, stream.windows)
        heads = None if stream is None else stream.heads
        task = Task(data, settings, counts, held_out, report or silent, windows, given_heads=heads)
        return learn_symbols(task, n_states)

    def learning_rows(self, data: Sequences, settings: HMMSettings) -> CategoricalRows:
        """The data for the generic learners of chains."""
        from tacit.sequences.emissions.categorical_density import CategoricalRows
        from tacit.sequences.learn.hmm_task import row_counts

        values = np.where(data.codes < 0, np.nan, data.codes)[:, None]
        return CategoricalRows(values, data.n_symbols, row_counts(settings)[2])

    def of_chain(self, chain: EmissionChain) -> ChainTables:
        """The tables that such a chain stands for."""
        emit = (chain.emitted.probabilities,)
        return ChainTables(chain.initial, chain.transitions, emit, chain.shape, chain.durations)

    def refined(self, data: Sequences, start: ChainTables, settings: HMMSettings) -> ChainTables:
        """EM on these sequences."""
        from tacit.sequences.learn.em.hmm import Packed, polished_hmm
        from tacit.sequences.learn.hmm_task import row_counts

        packed = Packed.of(data, start.n_states, settings.n_jobs)
        return polished_hmm(
            start,
            packed,
            gain=settings.tol * packed.n_positions,
            max_iter=settings.max_iter,
            pseudo_counts=row_counts(settings),
            stationary=settings.stationary,
        )[0]

    def evidence(
        self, parameters: ChainTables, positions: NDArray[np.int32], ends: Integers
    ) -> StateEvidence:
        """Probabilities of each symbol."""
        return symbol_evidence(parameters.emit[0], positions, ends)

    def log_probs(self, parameters: ChainTables, data: Sequences) -> Array:
        """By the forward algorithm, without keeping the states of each position."""
        from tacit.sequences.query.hmm_scores import log_likelihoods, log_probs_by_evidence

        if parameters.durations is not None:
            return log_probs_by_evidence(self.evidence, parameters, data)
        return log_likelihoods(parameters, data)

    def sample(
        self, parameters: ChainTables, states: NDArray[np.int32], rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Codes of symbols."""
        return drawn_symbols(parameters.emit[0], states, rng)

    def can_fill(self, parameters: ChainTables) -> bool:
        """By `probabilities`."""
        del parameters
        return True

    def attributes(self, parameters: ChainTables) -> dict[str, Array]:
        """(state, symbol) probabilities."""
        return {"emissions_": parameters.emit[0]}

    def describe(
        self, parameters: ChainTables, labels: Sequence[str], most: int
    ) -> list[list[str]]:
        """The symbols that each state emits most often."""
        orders = np.argsort(-parameters.emit[0], axis=1, kind="stable")[:, :most]
        return [
            [f"{labels[code]} {100 * row[code]:.0f}%" for code in order if row[code] >= 0.005]
            for row, order in zip(parameters.emit[0], orders.tolist(), strict=True)
        ]

    def arguments(self, parameters: ChainTables) -> dict[str, Any]:
        """None."""
        del parameters
        return {}

    def probabilities(self, parameters: ChainTables) -> Array:
        """(state, symbol)."""
        return parameters.emit[0]

    def to_hmmlearn(self, parameters: ChainTables, **arguments: Any) -> Any:
        """A ``CategoricalHMM``."""
        from hmmlearn.hmm import CategoricalHMM

        model = CategoricalHMM(n_features=parameters.emit[0].shape[1], **arguments)
        model.emissionprob_ = parameters.emit[0].copy()
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> ChainTables | None:
        """Of a ``CategoricalHMM``."""
        from tacit.sequences.files.hmmlearn import probability_rows

        if not hasattr(model, "emissionprob_") or hasattr(model, "n_trials"):
            return None
        emit = probability_rows(model.emissionprob_, "emissionprob_")
        return ChainTables(initial, transitions, (emit,))


def _learn_shaped(
    data: Sequences,
    n_states: int,
    settings: HMMSettings,
    states: NDArray[np.integer] | None,
    report: Report,
) -> tuple[ChainTables, dict[str, Any]]:
    """Tables of a chain of some shape, or of states that are known in part."""
    from tacit.sequences.emissions.density_emission import learn_density

    emission = Categorical()
    rows = emission.learning_rows(data, settings)
    chain, diagnostics = learn_density(rows, data.ends, n_states, settings, states, report)
    return emission.of_chain(chain), diagnostics
