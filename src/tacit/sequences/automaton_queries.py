"""Queries of fitted automata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_rows, generator_from
from tacit.sequences.sequence_queries import Answer, SequenceModel

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.query.automata import MixedAutomaton, NodePredictions, NodeScores, State
    from tacit.sequences.query.mean_automata import MeanAutomaton

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class AutomatonQueries(SequenceModel):
    """Queries of a model of where sequences end: the probabilities of all sequences sum to one."""

    abilities = SequenceModel.abilities | {"ends"}

    predictor_: MixedAutomaton | MeanAutomaton
    _models_ends = True

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Any = None,
        max_length: int = 1000,
        random_state: Any = None,
    ) -> list[list[Any]]:
        """Sequences drawn from the model, or what may follow one sequence.

        Parameters
        ----------
        n_samples : int
            Number of draws.
        given : one sequence, optional
            The sequence so far; draws hold what follows it.
        max_length : int
            Draws that have not ended after so many symbols are cut off.
        random_state : int, Generator or None
        """
        from tacit.sequences.query.automata import drawn

        self._check_fitted()
        check_rows("n_samples", n_samples)
        check_rows("max_length", max_length)
        state = tuple(
            np.repeat(array, int(n_samples), axis=0) for array in self._state_after(given)
        )
        codes, lengths = drawn(
            self.predictor_, state, int(max_length), generator_from(random_state)
        )
        symbols = [self.symbols_[code] for code in codes.tolist()]
        ends = np.cumsum(lengths).tolist()
        return [symbols[end - size : end] for end, size in zip(ends, lengths.tolist(), strict=True)]

    # -- required by the base class ---------------------------------------------------------------

    def _log_probs(self, sequences: Any) -> Answer:
        scores, places = self._scored(sequences)
        return scores.log_strings[places[_last(sequences)]], _repairs(scores)

    def _log_prefixes(self, sequences: Any) -> Answer:
        scores, places = self._scored(sequences)
        return scores.log_prefixes[places[_last(sequences)]], _repairs(scores)

    def _next_probs(self, sequences: Any, *, all_positions: bool, steps: int) -> Answer:
        from tacit.sequences.moments.prefixes import PrefixTree
        from tacit.sequences.query.automata import ahead, node_predictions, walked_levels

        tree, places = PrefixTree.placed(sequences)
        repairs: dict[str, Any] = {}
        if steps == 1:
            predictions = node_predictions(self.predictor_, tree)
            probs, repairs = predictions.probs, _repairs(predictions)
        else:
            probs = np.empty((tree.n_nodes, self.predictor_.n_symbols + 1))
            for level, state in walked_levels(self.predictor_, tree):
                probs[level] = ahead(self.predictor_, state, steps)
        at = _before(sequences) if all_positions else _last(sequences)
        return np.asarray(probs[places[at]]), repairs

    # -- private ----------------------------------------------------------------------------------

    def _scored(self, sequences: Sequences) -> tuple[NodeScores, Integers]:
        """Scores of all prefixes of these sequences, and the node of each place."""
        from tacit.sequences.moments.prefixes import PrefixTree
        from tacit.sequences.query.automata import node_scores

        tree, places = PrefixTree.placed(sequences)
        return node_scores(self.predictor_, tree), places

    def _state_after(self, given: Any) -> State:
        from tacit.sequences.moments.prefixes import PrefixTree
        from tacit.sequences.query.automata import walked_levels

        if given is None:
            return self.predictor_.begin(1)
        *_, (_, state) = walked_levels(self.predictor_, PrefixTree.of(self._read_one(given)))
        return tuple(array[-1:] for array in state)


def _repairs(answers: NodeScores | NodePredictions) -> dict[str, Any]:
    return {**answers.repairs.as_dict(), "n_restarts": answers.n_broken}


def _last(sequences: Sequences) -> Integers:
    """(sequence,) the place after each."""
    return np.asarray(np.cumsum(sequences.lengths + 1) - 1)


def _before(sequences: Sequences) -> Integers:
    """(position,) the place before each."""
    sequence = np.repeat(np.arange(len(sequences.lengths)), sequences.lengths)
    return np.arange(sequences.n_positions) + sequence
