"""Fitting of automata: `fit` and `partial_fit`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.core.arguments import seed_from
from tacit.errors import DataError, NotAvailableError
from tacit.sequences.automaton_queries import AutomatonQueries
from tacit.sequences.data.sequences import lengths_from

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.moments.prefixes import PrefixTree

# The fraction of sequences held out for model selection, the most of them, and the fewest that are split.
HELD_OUT, MOST_HELD_OUT, LEAST_SEQUENCES = 0.1, 10_000, 20


class FittedAutomaton(AutomatonQueries):
    """Fits a model to the prefix tree of sequences.

    The tree, and so the model, does not depend on the order and the chunks in which sequences come.
    """

    progress: Any
    random_state: Any

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, validation: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of sequences, array, (X, lengths), frame or path
            See `tacit.sequences.data.read_sequences`; None and NaN are missing. Sequences may be empty.
        y : None
            Not used; or lengths, as in hmmlearn.
        lengths : (sequence,) integers, optional
            If X holds all sequences one after the other.
        validation : the same as X, optional
            Held-out sequences for model selection, which are then learnt from too. Without them a tenth of X
            is held out if there is something to select.
        """
        from tacit.sequences.moments.prefixes import PrefixTree

        self._check_arguments()
        sequences = self._read_new(X, lengths_from(X, y, lengths))
        tree = PrefixTree.of(sequences)
        held_out = None
        if validation is not None:
            held_out = PrefixTree.of(self._read_new(validation, symbols=sequences.symbols))
            if not held_out.n_sequences:
                raise DataError("validation holds no sequence; give some, or leave it out")
        self._learn(tree, held_out, sequences.symbols)
        self.symbols_ = sequences.symbols
        self.tree_ = tree if held_out is None else tree + held_out
        self._set_n_features_in(X, sequences)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, lengths: Any = None, symbols: Any = None
    ) -> Self:
        """Learn from more sequences, besides those of earlier calls.

        The model is that of `fit` on all of them at once, whatever the chunks.

        Parameters
        ----------
        X : sequences
        y : None
            Not used; or lengths, as in hmmlearn.
        lengths : (sequence,) integers, optional
        symbols : sequence of hashables, optional
            All symbols that will ever come, at the first call; by default those of the first chunk. Others
            are errors or missing, as `unknown` says.
        """
        from tacit.sequences.moments.prefixes import PrefixTree

        self._check_arguments()
        before = getattr(self, "tree_", None)
        if before is None and self.__sklearn_is_fitted__():
            raise NotAvailableError(
                "this model came from a file, without the sequences it was learnt from; call fit on all"
            )
        known = symbols if before is None else self.symbols_
        sequences = self._read_new(X, lengths_from(X, y, lengths), known)
        tree = PrefixTree.of(sequences) if before is None else before + PrefixTree.of(sequences)
        self._learn(tree, None, sequences.symbols)
        self.symbols_, self.tree_ = sequences.symbols, tree
        self._set_n_features_in(X, sequences)
        return self

    # -- implemented by models --------------------------------------------------------------------

    def _check_arguments(self) -> None:
        """Raise if an argument is invalid."""
        raise NotImplementedError

    def _learn_from(
        self,
        tree: PrefixTree,
        held_out: PrefixTree | None,
        seed: int,
        report: Report,
        symbols: tuple[Hashable, ...],
    ) -> None:
        """Set the attributes learnt from one tree over some symbols and selected by another."""
        raise NotImplementedError

    def _has_choices(self) -> bool:
        """Whether there is something to select."""
        raise NotImplementedError

    # -- private ----------------------------------------------------------------------------------

    def _learn(
        self, tree: PrefixTree, held_out: PrefixTree | None, symbols: tuple[Hashable, ...] = ()
    ) -> None:
        if not tree.n_sequences:
            raise DataError("there is not a single sequence to learn from; give some")
        if tree.n_symbols == 0:
            raise DataError(
                "all sequences are empty: there is no symbol to learn; give longer ones"
            )
        seed, n = seed_from(self.random_state), tree.n_sequences
        if held_out is None and self._has_choices() and n >= LEAST_SEQUENCES:
            n_held_out = min(round(HELD_OUT * n), MOST_HELD_OUT)
            tree, held_out = tree.divided(n_held_out, np.random.default_rng(seed))
        with self._working() as report:
            self._learn_from(tree, held_out, seed, report, symbols)
