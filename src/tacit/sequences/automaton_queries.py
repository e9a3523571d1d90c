"""What a fitted automaton can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_rows, generator_from
from tacit.sequences.sequence_queries import SequenceModel

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.query.automata import MixedAutomaton, Scored, State, Told
    from tacit.sequences.query.mean_automata import MeanAutomaton

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class AutomatonQueries(SequenceModel):
    """Queries of a model that says where sequences end: the probabilities of all sequences sum to one."""

    abilities = SequenceModel.abilities | {"ends"}

    predictor_: MixedAutomaton | MeanAutomaton
    _models_ends = True

    def sample(
        self,
        n: int = 1,
        *,
        given: Any = None,
        max_length: int = 1000,
        random_state: Any = None,
    ) -> list[list[Any]]:
        """Sequences drawn from the model, or what may follow one sequence.

        Parameters
        ----------
        n : int
            Number of draws.
        given : one sequence, optional
            What came before; draws hold what follows it.
        max_length : int
            Draws that have not ended after so many symbols are cut off there.
        random_state : int, Generator or None
        """
        from tacit.sequences.query.automata import drawn

        self._check_fitted()
        check_rows("n", n)
        check_rows("max_length", max_length)
        state = tuple(np.repeat(each, int(n), axis=0) for each in self._state_after(given))
        codes, lengths = drawn(
            self.predictor_, state, int(max_length), generator_from(random_state)
        )
        symbols = [self.symbols_[code] for code in codes.tolist()]
        ends = np.cumsum(lengths).tolist()
        return [symbols[end - size : end] for end, size in zip(ends, lengths.tolist(), strict=True)]

    # -- what the base class asks -----------------------------------------------------------------

    def _log_probs(self, sequences: Any) -> Array:
        found, places = self._scored(sequences)
        return found.log_strings[places[_last(sequences)]]

    def _log_prefixes(self, sequences: Any) -> Array:
        found, places = self._scored(sequences)
        return found.log_prefixes[places[_last(sequences)]]

    def _next_probs(self, sequences: Any, *, every: bool, steps: int) -> Array:
        from tacit.sequences.moments.prefixes import PrefixTree
        from tacit.sequences.query.automata import ahead, told, walked_levels

        tree, places = PrefixTree.placed(sequences)
        if steps == 1:
            found = told(self.predictor_, tree)
            self._keep_repairs(found)
            probs = found.probs
        else:
            probs = np.empty((tree.n_nodes, self.predictor_.n_symbols + 1))
            for level, state in walked_levels(self.predictor_, tree):
                probs[level] = ahead(self.predictor_, state, steps)
        wanted = _before(sequences) if every else _last(sequences)
        return np.asarray(probs[places[wanted]])

    # -- within -----------------------------------------------------------------------------------

    def _scored(self, sequences: Sequences) -> tuple[Scored, Integers]:
        """How likely every beginning of these sequences is, and which each place is."""
        from tacit.sequences.moments.prefixes import PrefixTree
        from tacit.sequences.query.automata import scored

        tree, places = PrefixTree.placed(sequences)
        found = scored(self.predictor_, tree)
        self._keep_repairs(found)
        return found, places

    def _keep_repairs(self, found: Scored | Told) -> None:
        self.diagnostics_["repairs"] = {**found.repairs.as_dict(), "n_restarts": found.n_broken}

    def _state_after(self, given: Any) -> State:
        from tacit.sequences.moments.prefixes import PrefixTree
        from tacit.sequences.query.automata import walked_levels

        if given is None:
            return self.predictor_.begin(1)
        *_, (_, state) = walked_levels(self.predictor_, PrefixTree.of(self._read_one(given)))
        return tuple(each[-1:] for each in state)


def _last(sequences: Sequences) -> Integers:
    """(sequence,) the place after each."""
    return np.asarray(np.cumsum(sequences.lengths + 1) - 1)


def _before(sequences: Sequences) -> Integers:
    """(position,) the place before each."""
    own = np.repeat(np.arange(len(sequences.lengths)), sequences.lengths)
    return np.arange(sequences.n_positions) + own
