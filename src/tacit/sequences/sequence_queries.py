"""Queries of all fitted models of sequences."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin

from tacit.core.arguments import check_choice, check_count
from tacit.core.model import Counted, Model, Scored
from tacit.errors import ArgumentError, DataError, NotAvailableError
from tacit.sequences.data.sequences import lengths_from

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.sequences.data.sequences import Sequences

Array = NDArray[np.float64]
Answer = tuple[Array, dict[str, Any]]  # with a record of repairs
Integers = NDArray[np.int64]


class Positions(Protocol):
    """Sequences of anything, one after the other: of symbols (`Sequences`), of numbers (`Series`)."""

    @property
    def lengths(self) -> Integers:
        """(sequence,) positions of each."""
        ...

    @property
    def ends(self) -> Integers:
        """(sequence + 1,) where each starts, and where the last one ends."""
        ...

    @property
    def single(self) -> bool:
        """Whether one sequence was given, not a list of them."""
        ...

    @property
    def joined(self) -> bool:
        """Whether all were given in one array, with lengths."""
        ...


class SequenceModel(Scored, DensityMixin, Model):
    """Queries of a fitted model of sequences; missing symbols are summed out.

    Sequences come as in `fit`. Answers about positions are a list with an array for each sequence; one array
    for a single sequence, and for sequences that came in one array with their lengths. Forecasts have
    one row for each sequence; a single sequence has no such axis.

    A model implements `_log_probs` and `_next_probs`, which get sequences that are already read. Both return
    a record of repairs, too.
    """

    kind = "sequences"
    abilities = frozenset({"score", "sample", "next", "singular values"})

    symbols_: tuple[Hashable, ...]
    diagnostics_: dict[str, Any]
    unknown: str = "error"
    n_jobs: int | None = None
    # Whether sequence ends are modelled: the probabilities of all sequences of any length then sum to one.
    _models_ends = False

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: symbols may be text, and may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    @property
    def n_symbols_(self) -> int:
        """Different symbols."""
        self._check_fitted()
        return len(self.symbols_)

    @property
    def n_iter_(self) -> int:
        """Iterations of learning; 1 if it is not iterative."""
        self._check_fitted()
        return max(int(self.diagnostics_.get("n_steps", 1)), 1)

    def score_samples(self, X: Any, lengths: Any = None, *, return_repairs: bool = False) -> Any:
        """Natural log of the probability of each sequence: (sequence,); 0 for an empty one without an end.

        Parameters
        ----------
        X : sequences
            As in `fit`.
        lengths : (sequence,) integers, optional
            If X holds all sequences one after the other.
        return_repairs : bool
            Whether to return a dict of repairs of negative estimates, too; it is empty if none can be
            negative.
        """
        values, repairs = self._log_probs(self._read(X, lengths))
        return (values, repairs) if return_repairs else values

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Mean natural-log probability of a sequence: the mean of `score_samples`.

        Parameters
        ----------
        X : sequences
        y : None
            Not used; or lengths, as in hmmlearn.
        lengths : (sequence,) integers, optional
        """
        self._check_fitted()
        lengths = lengths_from(X, y, lengths, rows=self._rows_are_positions)
        sequences = self._read(X, lengths)
        return float(self._log_probs(sequences)[0].mean()) if len(sequences.lengths) else 0.0

    def perplexity(
        self,
        X: Any,
        lengths: Any = None,
        *,
        ends: bool | None = None,
        return_counts: bool = False,
    ) -> Any:
        """``exp`` of the mean negative natural-log probability of a symbol given those before it.

        Symbols that are missing are summed out and not counted; nor are unknown ones, where
        ``unknown="missing"`` (else they are an error).

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        ends : bool, optional
            Whether the end of each sequence counts as one symbol more; by default if the model has ends.
            Without them prefixes are scored.
        return_counts : bool
            Whether to return a dict of how many symbols, ends, unknown and missing ones there were, too.
        """
        with_ends = self._models_ends if ends is None else bool(ends)
        if with_ends and not self._models_ends:
            raise NotAvailableError(
                f"a {type(self).__name__} does not model where sequences end; leave ends out"
            )
        sequences: Any = self._read(X, lengths)
        n_symbols = int((sequences.codes >= 0).sum())
        n_ends = len(sequences.lengths) if with_ends else 0
        if n_symbols + n_ends == 0:
            raise DataError("there is not a single symbol to score; give longer sequences")
        log_probs = self._log_probs if with_ends == self._models_ends else self._log_prefixes
        n_missing = sequences.n_positions - n_symbols
        perplexity = float(np.exp(-log_probs(sequences)[0].sum() / (n_symbols + n_ends)))
        if not return_counts:
            return perplexity
        n_unknown = self._n_unknown(X, lengths, n_missing)
        counts = {"n_symbols": n_symbols, "n_ends": n_ends, "n_unknown": n_unknown}
        return perplexity, counts | {"n_missing": n_missing - n_unknown}

    def predict_next_proba(
        self,
        X: Any,
        lengths: Any = None,
        *,
        all_positions: bool = False,
        steps: int = 1,
        return_repairs: bool = False,
    ) -> Any:
        """P(next symbol | the whole sequence so far), in the order of `symbols_`.

        In models of where sequences end, the last column is the end.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        all_positions : bool
            Whether to answer at each position, given those before it.
        steps : int
            How far ahead: 1 is the next symbol, 2 the one after it, whatever comes between.
        return_repairs : bool
            See `score_samples`.

        Returns
        -------
        (sequence, symbol) array; without its first axis for a single sequence
            With `all_positions` (time, symbol) for each sequence.
        """
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        probs, repairs = self._next_probs(
            sequences, all_positions=bool(all_positions), steps=int(steps)
        )
        arrange = per_position if all_positions else per_sequence
        answer = arrange(sequences, probs)
        return (answer, repairs) if return_repairs else answer

    # -- implemented by models --------------------------------------------------------------------

    def _log_probs(self, sequences: Any) -> Answer:
        """(sequence,) natural logs of probabilities."""
        raise NotImplementedError

    def _log_prefixes(self, sequences: Any) -> Answer:
        """(sequence,) natural logs of P(prefix), of models of where sequences end."""
        raise NotImplementedError

    def _next_probs(self, sequences: Any, *, all_positions: bool, steps: int) -> Answer:
        """(sequence, symbol) after each sequence, or (position, symbol) given those before."""
        raise NotImplementedError

    @property
    def _rows_are_positions(self) -> bool:
        """Whether each row of an array is a position of one sequence, not a sequence."""
        return False

    # -- private ----------------------------------------------------------------------------------

    def _read(self, X: Any, lengths: Any = None) -> Any:
        """Sequences of a query, with the symbols of the model."""
        from tacit.sequences.data.read_sequences import read_sequences

        self._check_fitted()
        check_choice("unknown", self.unknown, ("error", "missing"))
        return read_sequences(X, lengths, symbols=self.symbols_, unknown=self.unknown)

    def _as_one(self, X: Any) -> Any:
        """A list of one sequence, if X is text or symbols of which some are known."""
        symbols = getattr(self, "symbols_", ())
        if not symbols or not isinstance(X, str | list | tuple | np.ndarray):
            return X
        if isinstance(X, str):
            return [list(X)]
        known = {*symbols, None}
        is_known = [isinstance(symbol, Hashable) and symbol in known for symbol in X]
        return [X] if not is_known or any(is_known) else X

    def _read_one(self, X: Any) -> Any:
        """Reads one sequence: text, symbols, or a list of one sequence."""
        X = self._as_one(X)
        sequences = self._read(X)
        if len(sequences.lengths) != 1:
            raise ArgumentError(f"given holds {len(sequences.lengths)} sequences; give one")
        return sequences

    def _read_new(self, X: Any, lengths: Any = None, symbols: Any = None) -> Sequences:
        """Sequences to learn from; the symbols are those that occur, unless they are given."""
        from tacit.sequences.data.read_sequences import read_sequences

        check_choice("unknown", self.unknown, ("error", "missing"))
        return read_sequences(X, lengths, symbols=symbols, unknown=self.unknown)

    def _examples(self, X: Any) -> Examples:
        from tacit.sequences.data.sequences import examples_of

        return examples_of(self._read_new(X))

    def _n_unknown(self, X: Any, lengths: Any, n_missing: int) -> int:
        """How many of the missing symbols are unknown symbols."""
        if n_missing == 0 or self.unknown != "missing":
            return 0
        return n_missing - int((self._read_new(X, lengths).codes < 0).sum())

    def _set_n_features_in(self, X: Any, sequences: Positions) -> None:
        """Sets `n_features_in_`: the columns of a table of sequences, else one."""
        is_table = getattr(X, "ndim", 1) == 2 and len(X) == len(sequences.lengths)
        self.n_features_in_ = int(X.shape[1]) if is_table else 1


class CountedSequences(Counted, SequenceModel):
    """Models of sequences with a countable number of free parameters: information criteria."""

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's information criterion on X; smaller is better."""
        return 2.0 * self.n_parameters_ - 2.0 * float(self.score_samples(X, lengths).sum())

    def bic(self, X: Any, lengths: Any = None) -> float:
        """The Bayesian information criterion on X, whose positions are counted; smaller is better."""
        sequences = self._read(X, lengths)
        penalty = self.n_parameters_ * np.log(max(sequences.n_positions, 1))
        return float(penalty - 2.0 * self._log_probs(sequences)[0].sum())


def per_position(sequences: Positions, values: NDArray[Any]) -> Any:
    """An array over positions, split into one for each sequence unless these came in one array."""
    if sequences.single or sequences.joined:
        return values
    return [values[first:stop] for first, stop in pairwise(sequences.ends.tolist())]


def per_sequence(sequences: Positions, values: NDArray[Any]) -> Any:
    """An array over sequences; its only entry if a single sequence was given."""
    return values[0] if sequences.single else values
