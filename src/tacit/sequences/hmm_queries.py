"""What a fitted hidden Markov model can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_count, check_rows, generator_from
from tacit.errors import DataError, NotAvailableError
from tacit.numbers.query.arguments import checked_shares
from tacit.sequences.model.chains import ChainTables, Operators
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.sequence_queries import (
    Answer,
    CountedSequences,
    per_position,
    per_sequence,
)

if TYPE_CHECKING:
    from tacit.sequences.query.hidden_states import Filtered, StateEvidence
    from tacit.sequences.query.proper_operators import ProperOperators

Array = NDArray[np.float64]


class HMMQueries(CountedSequences):
    """Queries of hidden states, of what comes next, and draws."""

    abilities = CountedSequences.abilities | {"numbers", "states", "paths", "transitions"}

    def can(self, ability: str) -> bool:
        """Whether this model can do something: operators have no states, numbers no next symbol."""
        if ability == ("numbers" if self.symbols_ else "next"):
            return False
        if ability in ("states", "paths", "transitions") and not self._has_tables:
            return False
        return super().can(ability)

    parameters_: ChainTables | GaussianChain | ProperOperators
    names_: tuple[str, ...]
    negative: str

    # -- what was learnt --------------------------------------------------------------------------

    @property
    def n_states_(self) -> int:
        """Hidden states; the rank of operators."""
        self._check_fitted()
        learnt = self.parameters_
        return learnt.n_states if isinstance(learnt, ChainTables | GaussianChain) else learnt.rank

    @property
    def n_parameters_(self) -> int:
        """Free parameters of the tables or densities."""
        return self._tables("n_parameters_").n_parameters

    @property
    def initial_(self) -> Array:
        """(state,) P(first state)."""
        return self._tables("initial_").initial

    @property
    def transitions_(self) -> Array:
        """(state, next state) P(next state | state)."""
        return self._tables("transitions_").transitions

    @property
    def emissions_(self) -> Array:
        """(state, symbol) P(symbol | state)."""
        learnt = self._tables("emissions_")
        if isinstance(learnt, GaussianChain):
            raise NotAvailableError("states emit numbers here; look at means_ and covariances_")
        return learnt.emit[0]

    @property
    def means_(self) -> Array:
        """(state, column) of emitted numbers."""
        return self._gaussian("means_").means

    @property
    def covariances_(self) -> Array:
        """(state, column, column) of emitted numbers."""
        return self._gaussian("covariances_").covariances

    @property
    def operators_(self) -> Operators:
        """What was learnt of symbols, as operators."""
        self._check_fitted()
        learnt = self.parameters_
        if isinstance(learnt, GaussianChain):
            raise NotAvailableError(
                "states emit numbers here: there is no operator for each symbol"
            )
        return learnt.operators

    # -- queries ----------------------------------------------------------------------------------

    def filter(self, X: Any, lengths: Any = None) -> Any:
        """P(state at each position | all up to and with it): (time, state) for each sequence.

        Nothing that comes later is looked at. Of operators (learn="spectral"), which have no hidden states,
        the state vectors that predict what comes next, of value one. Rows of zeros follow what is impossible.
        """
        sequences = self._read(X, lengths)
        if self._has_tables:
            return self._positions(sequences, lambda seen: self._filtered(seen).now)
        walk = self._proper.walk(sequences.codes, sequences.lengths)
        return per_position(sequences, walk.normalised(walk.before + 1))

    def posterior(self, X: Any, lengths: Any = None) -> Any:
        """P(state at each position | the whole sequence): (time, state) for each sequence."""
        from tacit.sequences.query.hidden_states import smoothed

        tables = self._tables("posterior")
        sequences = self._read(X, lengths)
        return self._positions(sequences, lambda seen: smoothed(tables, seen))

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

        tables = self._tables("predict")
        sequences = self._read(X, lengths)
        paths, values = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        for seen in self._evidence(sequences):
            path, value = viterbi(tables, seen)
            paths.append(path)
            values.append(value)
        found = per_position(sequences, np.concatenate(paths))
        log_probs = per_sequence(sequences, np.concatenate(values))
        return (found, log_probs) if return_log_probs else found

    def predict_next_states(
        self, X: Any, lengths: Any = None, *, all_positions: bool = False, steps: int = 1
    ) -> Any:
        """P(next state | the whole sequence so far); see `predict_next_proba`."""
        self._tables("predict_next_states")
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        found = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        return per_position(sequences, found) if all_positions else per_sequence(sequences, found)

    def expectation(
        self, X: Any, lengths: Any = None, *, all_positions: bool = False, steps: int = 1
    ) -> Any:
        """The mean of the next numbers given those so far, of emitted numbers; see `predict_next_proba`."""
        means = self._gaussian("expectation").means
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        found = states @ means
        found = found[:, 0] if len(self.names_) == 1 else found
        return per_position(sequences, found) if all_positions else per_sequence(sequences, found)

    def quantiles(
        self,
        X: Any,
        q: ArrayLike = (0.05, 0.5, 0.95),
        lengths: Any = None,
        *,
        all_positions: bool = False,
        steps: int = 1,
    ) -> Any:
        """Quantiles of the next numbers given those so far, of emitted numbers; see `predict_next_proba`.

        Parameters
        ----------
        X : sequences
        q : number or (share,) numbers between 0 and 1
        lengths : (sequence,) integers, optional
        all_positions : bool
        steps : int

        Returns
        -------
        (sequence, share) array, of several columns (sequence, column, share)
            Without the last axis for a single number.
        """
        from tacit.sequences.query.gaussian_emissions import next_quantiles

        learnt, shares = self._gaussian("quantiles"), checked_shares(q, ends=False)
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        found = next_quantiles(learnt, states, np.atleast_1d(shares))
        found = found[..., 0] if shares.ndim == 0 else found
        found = found[:, 0] if len(self.names_) == 1 else found
        return per_position(sequences, found) if all_positions else per_sequence(sequences, found)

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
        if isinstance(self.parameters_, GaussianChain):
            raise NotAvailableError("states emit numbers here, whose densities have no perplexity")
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
            What came before: the state after it is filtered, and simulated on from there.
        random_state : int, Generator or None

        Returns
        -------
        list of lists of symbols
            Of emitted numbers an array: (draw, time), or (draw, time, column).
        """
        from tacit.sequences.query.gaussian_emissions import drawn_rows
        from tacit.sequences.query.hidden_states import drawn_states, drawn_symbols
        from tacit.sequences.query.proper_operators import drawn_codes

        self._check_fitted()
        check_rows("n_samples", n_samples)
        check_rows("length", length)
        rng, shape = generator_from(random_state), (int(n_samples), int(length))
        learnt = self.parameters_
        if isinstance(learnt, GaussianChain):
            states = drawn_states(learnt, self._next_given(given), shape, rng)
            rows = drawn_rows(learnt, states, rng)
            return rows[:, :, 0] if len(self.names_) == 1 else rows
        if isinstance(learnt, ChainTables):
            states = drawn_states(learnt, self._next_given(given), shape, rng)
            codes = drawn_symbols(learnt.emit[0], states, rng)
        else:
            codes, _ = drawn_codes(learnt, self._next_given(given), shape, rng)
        return [[self.symbols_[code] for code in row] for row in codes.tolist()]

    # -- what the base class asks -----------------------------------------------------------------

    def _log_probs(self, sequences: Any) -> Answer:
        from tacit.sequences.learn.hmm_evidence import log_probs_of

        check_choice("negative", self.negative, ("floor", "nan", "raise"))
        return log_probs_of(self.parameters_, sequences, self.negative)

    def _next_probs(self, sequences: Any, *, all_positions: bool, steps: int) -> Answer:
        learnt = self.parameters_
        if isinstance(learnt, GaussianChain):
            raise NotAvailableError(
                "states emit numbers here; ask predict_next_states for their weights, expectation or sample"
            )
        if isinstance(learnt, ChainTables):
            states = self._next_states(sequences, all_positions=all_positions, steps=steps)
            return states @ learnt.emit[0], {}
        walk = learnt.walk(sequences.codes, sequences.lengths)
        places = walk.before if all_positions else walk.last
        found, repairs = learnt.predictions(learnt.passed(walk.states.at(places), steps - 1))
        return found, {**repairs.as_dict(), "n_restarts": walk.n_restarts}

    # -- within -----------------------------------------------------------------------------------

    @property
    def _rows_are_positions(self) -> bool:
        return isinstance(self.parameters_, GaussianChain)

    @property
    def _has_tables(self) -> bool:
        return isinstance(self.parameters_, ChainTables | GaussianChain)

    @property
    def _proper(self) -> ProperOperators:
        learnt = self.parameters_
        assert not isinstance(learnt, ChainTables | GaussianChain)
        return learnt

    def _tables(self, what: str) -> ChainTables | GaussianChain:
        """What was learnt, where that is hidden states."""
        self._check_fitted()
        learnt = self.parameters_
        if not isinstance(learnt, ChainTables | GaussianChain):
            raise NotAvailableError(
                f'{what} needs hidden states, and operators have none; fit with learn="auto" or "tensor"'
            )
        return learnt

    def _gaussian(self, what: str) -> GaussianChain:
        self._check_fitted()
        learnt = self.parameters_
        if not isinstance(learnt, GaussianChain):
            raise NotAvailableError(
                f'{what} is there where states emit numbers: fit with emissions="gaussian"'
            )
        return learnt

    def _read(self, X: Any, lengths: Any = None) -> Any:
        self._check_fitted()
        if not isinstance(self.parameters_, GaussianChain):
            return super()._read(X, lengths)
        from tacit.sequences.data.number_sequences import read_series

        return read_series(X if lengths is None else (X, np.asarray(lengths)), self.names_)

    def _evidence(self, sequences: Any) -> Iterable[StateEvidence]:
        """What blocks of sequences say of their states."""
        from tacit.sequences.learn.hmm_evidence import evidence_blocks

        return evidence_blocks(self._tables("this"), sequences)

    def _filtered(self, seen: StateEvidence) -> Filtered:
        from tacit.sequences.query.hidden_states import filtered

        return filtered(self._tables("this"), seen)

    def _positions(self, sequences: Any, ask: Callable[[StateEvidence], Array]) -> Any:
        """(position, state) answers of all blocks, split by sequences."""
        parts = [ask(seen) for seen in self._evidence(sequences)]
        return per_position(sequences, np.concatenate([np.zeros((0, self.n_states_)), *parts]))

    def _next_states(self, sequences: Any, *, all_positions: bool, steps: int) -> Array:
        parts = [np.zeros((0, self.n_states_))]
        for seen in self._evidence(sequences):
            found = self._filtered(seen)
            parts.append(found.before(steps) if all_positions else found.after(steps))
        return np.concatenate(parts)

    def _next_given(self, given: Any) -> Array:
        """(state,) what comes after a sequence, or at the start: probabilities, or a vector of operators."""
        if given is None:
            if self._has_tables:
                return self._tables("sample").initial
            return self._proper.operators.initial
        sequences = self._read_one(given)
        if not self._has_tables:
            walk = self._proper.walk(sequences.codes, sequences.lengths)
            return np.asarray(walk.normalised(walk.last)[0])
        states = self._next_states(sequences, all_positions=False, steps=1)[0]
        if not states.sum() > 0:
            raise DataError("what is given is impossible in this model; nothing can follow it")
        return np.asarray(states)
