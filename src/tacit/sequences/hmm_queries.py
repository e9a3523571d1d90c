"""Queries of fitted hidden Markov models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_rows, generator_from
from tacit.core.model import checked_summary
from tacit.errors import DataError, NotAvailableError
from tacit.sequences.emissions import emission_of
from tacit.sequences.emissions.protocol import emits_numbers, emits_symbols
from tacit.sequences.query.proper_operators import ProperOperators
from tacit.sequences.sequence_queries import (
    Answer,
    CountedSequences,
    per_position,
    per_sequence,
)

if TYPE_CHECKING:
    from tacit.core.summary import Summary
    from tacit.sequences.emissions.protocol import Emission, NumberEmission, SymbolEmission
    from tacit.sequences.model.chains import Operators
    from tacit.sequences.model.durations import Durations
    from tacit.sequences.query.hidden_states import Filtered, StateEvidence

Array = NDArray[np.float64]


class HMMQueries(CountedSequences):
    """Queries of hidden states and next symbols, and sampling."""

    abilities = CountedSequences.abilities | {"numbers", "states", "paths", "transitions"}

    def can(self, ability: str) -> bool:
        """Whether this model has an ability: operators have no states, numbers no next symbol."""
        if ability == ("numbers" if self.symbols_ else "next"):
            return False
        if ability in ("states", "paths", "transitions") and not self._has_states:
            return False
        return super().can(ability)

    parameters_: Any
    names_: tuple[str, ...]
    emissions: Any
    negative: str

    # -- fitted attributes ------------------------------------------------------------------------

    @property
    def n_states_(self) -> int:
        """Hidden states; the rank of operators."""
        self._check_fitted()
        return int(self.parameters_.n_states if self._has_states else self.parameters_.rank)

    @property
    def n_parameters_(self) -> int:
        """Free parameters; initial probabilities of ``stationary=True`` follow from the transitions."""
        count = int(self._with_states("n_parameters_").n_parameters)
        return count - (self.n_states_ - 1 if self.stationary else 0)

    @property
    def initial_(self) -> Array:
        """(state,) P(first state)."""
        return np.asarray(self._with_states("initial_").initial)

    @property
    def transitions_(self) -> Array:
        """(state, next state) P(next state | state)."""
        return np.asarray(self._with_states("transitions_").transitions)

    @property
    def durations_(self) -> Durations | None:
        """Explicit durations of the states; None where they are geometric."""
        durations: Durations | None = getattr(self._with_states("durations_"), "durations", None)
        return durations

    def __getattr__(self, name: str) -> Any:
        """Fitted attributes of the emissions: `emissions_` of symbols, `means_` of numbers, and so on."""
        attribute = getattr(type(self), name, None)
        if (
            isinstance(attribute, property) and attribute.fget is not None
        ):  # it raised: its own error
            self._check_fitted()
            return attribute.fget(self)
        if not name.endswith("_") or name.startswith("_") or "parameters_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        learnt = self._with_states(name)
        attributes = self._emission.attributes(learnt)
        if name not in attributes:
            raise NotAvailableError(
                f"this HMM has no {name}: it emits {'numbers' if self._emission.numbers else 'symbols'} "
                f"(emissions={self._emission.name!r}) and has {', '.join(attributes)}"
            )
        return attributes[name]

    def __dir__(self) -> Iterable[str]:
        """Names of methods and attributes, with those of the emissions."""
        names = list(super().__dir__())
        learnt = self.__dict__.get("parameters_")
        if learnt is None or not self._has_states:
            return names
        return [*names, *self._emission.attributes(learnt)]

    @property
    def operators_(self) -> Operators:
        """The model of symbols as operators."""
        self._check_fitted()
        self._symbols_only("operators_")
        if self._has_states and self.durations_ is not None:
            raise NotAvailableError(
                "a chain with explicit durations has no operators of its states alone; fit without durations="
            )
        operators: Operators = self.parameters_.operators
        return operators

    # -- queries ----------------------------------------------------------------------------------

    def values(self, X: Any, lengths: Any = None) -> Array:
        """(sequence,) raw values of sequences: those of operators are no probabilities, some may be negative.

        Products of operators, b_inf' B ... b_1 in Hsu, Kakade & Zhang (2012); with hidden states the
        probabilities of the sequences. A missing symbol is summed out.
        """
        from tacit.sequences.loops.automata import values

        self._check_fitted()
        self._symbols_only("values")
        operators, sequences = self.operators_, self._read(X, lengths)
        steps = np.ascontiguousarray(operators.steps)
        initial, stop = map(np.ascontiguousarray, (operators.initial, operators.stop))
        through = steps.sum(axis=0)
        return np.asarray(values(initial, steps, through, stop, sequences.codes, sequences.ends))

    def filter(self, X: Any = ..., lengths: Any = None) -> Any:
        """P(state at each position | all up to and including it): (time, state) for each sequence.

        Without sequences an `OnlineFilter`, which takes one observation at a time.

        Operators (learn="spectral") have no hidden states: they give the state vectors that predict the next
        position, of value one. Rows of zeros follow an impossible symbol.
        """
        if X is ...:
            from tacit.sequences.online_filter import OnlineFilter

            self._with_states("filter without sequences")
            return OnlineFilter(self, self._emission)
        sequences = self._read(X, lengths)
        if self._has_states:
            return self._positions(sequences, lambda evidence: self._filtered(evidence).now)
        walk = self.parameters_.walk(sequences.codes, sequences.lengths)
        return per_position(sequences, walk.normalised(walk.before + 1))

    def posterior(self, X: Any, lengths: Any = None) -> Any:
        """P(state at each position | the whole sequence): (time, state) for each sequence."""
        from tacit.sequences.query.hidden_states import smoothed

        tables = self._with_states("posterior")
        sequences = self._read(X, lengths)
        return self._positions(sequences, lambda evidence: smoothed(tables, evidence))

    def predict(self, X: Any, lengths: Any = None, *, return_log_probs: bool = False) -> Any:
        """The most likely path of states of each sequence (Viterbi).

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        return_log_probs : bool
            Whether to return ``(paths, log_probs)``: (sequence,) natural logs of P(path, sequence), too.

        Returns
        -------
        list of (time,) integers
            One array for a single sequence, and for all sequences in one array with their lengths.
        """
        from tacit.sequences.query.hidden_states import viterbi

        tables = self._with_states("predict")
        sequences = self._read(X, lengths)
        paths, values = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        for evidence in self._evidence(sequences):
            path, value = viterbi(tables, evidence)
            paths.append(path)
            values.append(value)
        states = per_position(sequences, np.concatenate(paths))
        log_probs = per_sequence(sequences, np.concatenate(values))
        return (states, log_probs) if return_log_probs else states

    def predict_next_states(
        self, X: Any, lengths: Any = None, *, all_positions: bool = False, steps: int = 1
    ) -> Any:
        """P(next state | the whole sequence so far); see `predict_next_proba`."""
        self._with_states("predict_next_states")
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        return per_position(sequences, states) if all_positions else per_sequence(sequences, states)

    def perplexity(
        self,
        X: Any,
        lengths: Any = None,
        *,
        ends: bool | None = None,
        return_counts: bool = False,
    ) -> Any:
        """``exp`` of the mean negative natural-log probability of a symbol given those before it.

        See `SequenceModel.perplexity`; ends are not modelled here.
        """
        self._check_fitted()
        self._symbols_only("perplexity")
        return super().perplexity(X, lengths, ends=ends, return_counts=return_counts)

    def sample(
        self, n_samples: int = 1, length: int = 100, *, given: Any = None, random_state: Any = None
    ) -> Any:
        """Sequences drawn from the model, or what may follow one sequence.

        Parameters
        ----------
        n_samples : int
            Number of draws.
        length : int
            Positions of each.
        given : one sequence, optional
            The sequence so far: draws start from the filtered state after it.
        random_state : int, Generator or None

        Returns
        -------
        list of lists of symbols
            Of numbers an array: (draw, time), or (draw, time, column). Of columns of several kinds a list of
            dicts of columns.
        """
        from tacit.sequences.query.hidden_states import drawn_states
        from tacit.sequences.query.proper_operators import drawn_codes

        self._check_fitted()
        check_rows("n_samples", n_samples)
        check_rows("length", length)
        rng, shape = generator_from(random_state), (int(n_samples), int(length))
        if not self._has_states:
            codes: Any = drawn_codes(self.parameters_, self._next_given(given), shape, rng)[0]
        else:
            states = drawn_states(self.parameters_, self._next_given(given), shape, rng)
            codes = self._emission.sample(self.parameters_, states, rng)
        emission = self._emission
        if emits_numbers(emission):
            return emission.drawn(self.parameters_, codes)
        return [[self.symbols_[code] for code in row] for row in codes.tolist()]

    @checked_summary
    def summary(self) -> Summary:
        """The model on a page: fit, candidates, states with what they emit, transitions."""
        from tacit.sequences.query.hidden_states import segments_of
        from tacit.sequences.query.summaries import (
            duration_section,
            state_sections,
            summary_of,
            symbol_profiles,
        )

        learnt, emission = self.parameters_, self._emission
        kind = f"{len(self.symbols_)} symbols" if self.symbols_ else f"{emission.name} emissions"
        if not self._has_states:
            return summary_of(
                f"HMM: operators of rank {learnt.rank}, {kind}", self.diagnostics_, []
            )
        if emits_symbols(emission):
            tables, heading = emission.probabilities(learnt), "more likely than overall"
            descriptions = symbol_profiles(tables, learnt.stationary, self.symbols_)
        else:
            descriptions = [
                ", ".join(phrases) for phrases in emission.describe(learnt, self.names_, 6)
            ]
            heading = "mean ± standard deviation" if emission.name == "gaussian" else "mean"
        sections = state_sections(
            learnt.initial, learnt.transitions, learnt.stationary, descriptions, heading
        )
        segments = segments_of(learnt)
        sections += [] if segments is None else [duration_section(segments)]
        facts = {"free parameters": self.n_parameters_}
        return summary_of(
            f"HMM: {learnt.n_states} states, {kind}", self.diagnostics_, sections, facts
        )

    # -- required by the base class ---------------------------------------------------------------

    def _log_probs(self, sequences: Any) -> Answer:
        from tacit.sequences.query.hmm_scores import log_probs_of

        check_choice("negative", self.negative, ("floor", "nan", "raise"))
        return log_probs_of(self._emission, self.parameters_, sequences, self.negative)

    def _next_probs(self, sequences: Any, *, all_positions: bool, steps: int) -> Answer:
        emission, learnt = self._symbols_only("predict_next_proba"), self.parameters_
        if self._has_states:
            states = self._next_states(sequences, all_positions=all_positions, steps=steps)
            return states @ emission.probabilities(learnt), {}
        walk = learnt.walk(sequences.codes, sequences.lengths)
        places = walk.before if all_positions else walk.last
        probs, repairs = learnt.predictions(learnt.passed(walk.states.at(places), steps - 1))
        return probs, {**repairs.as_dict(), "n_restarts": walk.n_restarts}

    # -- private ----------------------------------------------------------------------------------

    @property
    def _emission(self) -> Emission:
        return emission_of(self.parameters_, self.emissions)

    @property
    def _rows_are_positions(self) -> bool:
        return self._emission.numbers

    @property
    def _has_states(self) -> bool:
        return not isinstance(self.parameters_, ProperOperators)

    def _with_states(self, name: str) -> Any:
        """The parameters, if they have hidden states."""
        self._check_fitted()
        if not self._has_states:
            raise NotAvailableError(
                f'{name} needs hidden states, and operators have none; fit with learn="auto" or "tensor"'
            )
        return self.parameters_

    def _numbers_only(self, name: str) -> NumberEmission:
        self._check_fitted()
        emission = self._emission
        if not emits_numbers(emission):
            raise NotAvailableError(
                f'{name} needs states that emit numbers: fit floats, or with emissions="gaussian"'
            )
        return emission

    def _symbols_only(self, name: str) -> SymbolEmission:
        emission = self._emission
        if not emits_symbols(emission):
            raise NotAvailableError(
                f"{name} needs states that emit symbols; for numbers there are predict_next_density, "
                f"expectation, quantiles and predict_next_states"
            )
        return emission

    def _described(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """A few words about each state; labels are those of the symbols, or of the columns."""
        learnt = self._with_states("transitions_")
        return self._emission.describe(learnt, labels, most)

    def _read(self, X: Any, lengths: Any = None) -> Any:
        self._check_fitted()
        return self._emission.read(X, lengths, self.symbols_ or self.names_, self.unknown)

    def _evidence(self, sequences: Any) -> Iterable[StateEvidence]:
        """Evidence of blocks of sequences."""
        from tacit.sequences.query.hmm_scores import evidence_blocks

        return evidence_blocks(self._emission.evidence, self.parameters_, sequences)

    def _filtered(self, evidence: StateEvidence) -> Filtered:
        from tacit.sequences.query.hidden_states import filtered

        return filtered(self.parameters_, evidence)

    def _positions(self, sequences: Any, query: Callable[[StateEvidence], Array]) -> Any:
        """(position, state) answers of all blocks, split by sequences."""
        parts = [query(evidence) for evidence in self._evidence(sequences)]
        return per_position(sequences, np.concatenate([np.zeros((0, self.n_states_)), *parts]))

    def _next_states(self, sequences: Any, *, all_positions: bool, steps: int) -> Array:
        parts = [np.zeros((0, self.n_states_))]
        for evidence in self._evidence(sequences):
            filtered = self._filtered(evidence)
            parts.append(filtered.before(steps) if all_positions else filtered.after(steps))
        return np.concatenate(parts)

    def _next_given(self, given: Any) -> Array:
        """What draws start from, at the start or after a sequence; see `next_states`. Operators: a vector."""
        from tacit.sequences.query.hidden_states import next_states

        sequences = None if given is None else self._read_one(given)
        if not self._has_states:
            if sequences is None:
                return np.asarray(self.parameters_.operators.initial)
            walk = self.parameters_.walk(sequences.codes, sequences.lengths)
            return np.asarray(walk.normalised(walk.last)[0])
        evidence = None if sequences is None else next(iter(self._evidence(sequences)))
        states = next_states(self.parameters_, evidence)
        if not states.sum() > 0:
            raise DataError("the given sequence is impossible in this model; nothing can follow it")
        return states
