"""How automata are fitted: all at once, or to more and more sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.core.arguments import seed_from
from tacit.errors import DataError, NotAvailableError
from tacit.sequences.automaton_queries import AutomatonQueries
from tacit.sequences.sequence_queries import lengths_from

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.moments.prefixes import PrefixTree

# The share of sequences that is left out to choose by, and the most of them; none where there are few.
HELD_OUT, MOST_HELD_OUT, FEWEST = 0.1, 10_000, 20


class FittedAutomaton(AutomatonQueries):
    """What fits a model to the tree of beginnings of sequences.

    Whatever is learnt follows from the tree, which is the same in whatever order and pieces sequences come.
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
            Not used; lengths may stand here, as hmmlearn has them.
        lengths : (sequence,) integers, optional
            Where X holds all sequences in turn.
        validation : the same as X, optional
            Sequences to choose by, which are then learnt from too. Without them a tenth of X is left out
            where something is to be chosen.
        """
        from tacit.sequences.moments.prefixes import PrefixTree

        self._check_arguments()
        sequences = self._read_new(X, lengths_from(X, y, lengths))
        tree = PrefixTree.of(sequences)
        held_out = None
        if validation is not None:
            held_out = PrefixTree.of(self._read_new(validation, symbols=sequences.symbols))
            if not held_out.n_sequences:
                raise DataError("validation holds no sequence; give some, or leave it away")
        self._learn(tree, held_out)
        self.symbols_ = sequences.symbols
        self.tree_ = tree if held_out is None else tree + held_out
        self._keep_columns(X, sequences)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, lengths: Any = None, symbols: Any = None
    ) -> Self:
        """Learn from more sequences, besides those that were seen before.

        The model is that of `fit` on all of them at once, in whatever pieces they came.

        Parameters
        ----------
        X : sequences
        y : None
            Not used; lengths may stand here.
        lengths : (sequence,) integers, optional
        symbols : sequence of hashables, optional
            All that will ever come, at the first call; by default those of the first chunk. Later ones that
            are not among them are errors, or missing, as `unknown` says.
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
        self._learn(tree, None)
        self.symbols_, self.tree_ = sequences.symbols, tree
        self._keep_columns(X, sequences)
        return self

    # -- what a model has to say ------------------------------------------------------------------

    def _check_arguments(self) -> None:
        """Raise where an argument makes no sense."""
        raise NotImplementedError

    def _learn_from(
        self, tree: PrefixTree, held_out: PrefixTree | None, seed: int, report: Report
    ) -> None:
        """Put what is learnt from one tree, and chosen by another, into attributes."""
        raise NotImplementedError

    def _is_open(self) -> bool:
        """Whether something is to be chosen."""
        raise NotImplementedError

    # -- within -----------------------------------------------------------------------------------

    def _learn(self, tree: PrefixTree, held_out: PrefixTree | None) -> None:
        if not tree.n_sequences:
            raise DataError("there is not a single sequence to learn from; give some")
        if tree.n_symbols == 0:
            raise DataError(
                "all sequences are empty: there is no symbol to learn; give longer ones"
            )
        seed, n = seed_from(self.random_state), tree.n_sequences
        if held_out is None and self._is_open() and n >= FEWEST:
            n_held = min(round(HELD_OUT * n), MOST_HELD_OUT)
            tree, held_out = tree.divided(n_held, np.random.default_rng(seed))
        with self._working() as report:
            self._learn_from(tree, held_out, seed, report)
