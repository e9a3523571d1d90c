"""Weighted automata, as scikit-learn estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.estimators.arguments import check_choice, check_count, check_number, seed_from
from tacit.estimators.automaton_queries import AutomatonQueries, held_out_part
from tacit.estimators.sequence_queries import lengths_from

if TYPE_CHECKING:
    from tacit.estimators.weighted_learning import WeightedChoice
    from tacit.params.automata import Automaton
    from tacit.params.operators import Operators

Array = NDArray[np.float64]

STATISTICS = ("auto", "string", "prefix", "substring")
_HELD_OUT, _MOST_HELD_OUT = 0.1, 10_000
_FEWEST = 20  # sequences from which something can be left out to choose by


class WeightedAutomaton(AutomatonQueries):
    """A weighted automaton learnt from a Hankel matrix, with predictions that are always probabilities.

    Values of strings are products of matrices, one for each symbol. They come from one singular value
    decomposition of counts, without any iteration (Balle et al., 2014), and may be slightly negative: what
    comes next is therefore clipped, normalised at each place, and mixed with n-grams; states that got lost
    are begun anew. What is chosen is chosen by how well sequences that were left out are predicted so.

    Parameters
    ----------
    rank : int or "auto"
        Length of the automaton's states.
    statistics : {"auto", "string", "prefix", "substring"}
        What is counted of a string: sequences that are it, that begin with it, or how often it occurs.
    basis : int or "auto"
        Strings on each side of the Hankel matrix: the most frequent ones.
    scaled : bool or "auto"
        Whether rows and columns are scaled by how frequent their strings are.
    mixing : float or "auto"
        The share of the n-grams in predictions.
    max_length : int
        Of the strings on either side.
    unknown : {"error", "missing"}
        What queries do with a symbol that was not seen in training.
    n_jobs : int or None
        Threads of matrix products.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the sequences that are left out to choose by.

    Attributes
    ----------
    automaton_ : Automaton
        The weights.
    spectral_radius_ : float
        The largest size of an eigenvalue of the sum of all steps. From one on, values of long strings
        explode (predictions do not: they are normalised at each place).
    singular_values_ : array
        Of the Hankel matrix, down to the rank.
    symbols_ : tuple
    diagnostics_ : dict
        In plain values: what was chosen and tried, "stable" (whether the spectral radius is below one);
        after a query "repairs".

    Examples
    --------
    >>> from tacit.estimators.automata import WeightedAutomaton
    >>> model = WeightedAutomaton(rank=2).fit(["ab", "abab", "ab", "", "ababab"] * 8)
    >>> model.predict_next_proba(["a"]).round(1).tolist()  # a, b, end
    [[0.0, 1.0, 0.0]]
    """

    def __init__(
        self,
        rank: int | str = "auto",
        statistics: str = "auto",
        *,
        basis: int | str = "auto",
        scaled: bool | str = "auto",
        mixing: float | str = "auto",
        max_length: int = 5,
        unknown: str = "error",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.rank = rank
        self.statistics = statistics
        self.basis = basis
        self.scaled = scaled
        self.mixing = mixing
        self.max_length = max_length
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, validation: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of sequences, array, (X, lengths), frame or path
            See `tacit.data.sequence_reading`; None and NaN are missing. Sequences may be empty.
        y : None
            Not used; lengths may stand here, as hmmlearn has them.
        lengths : (sequence,) integers, optional
            Where X holds all sequences in turn.
        validation : the same as X, optional
            Sequences to choose by, which are then learnt from too. Without them a tenth of X is left out
            where something is to be chosen.
        """
        from tacit.estimators.progress import reporting
        from tacit.estimators.weighted_learning import learn_weighted
        from tacit.loops.threads import limit_threads
        from tacit.moments.prefixes import PrefixTree

        wanted, seed = self._wanted(), seed_from(self.random_state)
        sequences, tree = self._tree_to_learn(X, lengths_from(X, y, lengths))
        held_out = None
        if validation is not None:
            others = self._read_new(validation, symbols=sequences.symbols)
            if not len(others.lengths):
                raise DataError("validation holds no sequence; give some, or leave it away")
            held_out = PrefixTree.of(others)
        elif None in (wanted.rank, wanted.statistics, wanted.basis, wanted.scaled, wanted.mixing):
            wanted, held_out, tree = self._left_out(wanted, sequences, seed)
        with limit_threads(self.n_jobs), reporting(self.progress) as report:
            learnt = learn_weighted(tree, held_out, wanted, report)
        self.symbols_ = sequences.symbols
        self.predictor_ = learnt.predictor
        self.singular_values_ = learnt.singular_values
        chosen = learnt.choice
        self.diagnostics_ = {
            "n_sequences": len(sequences.lengths),
            "n_positions": sequences.n_positions,
            "rank": chosen.rank,
            "statistics": chosen.statistics,
            "basis": chosen.basis,
            "scaled": chosen.scaled,
            "mixing": chosen.mixing,
            "spectral_radius": self.spectral_radius_,
            "stable": self.spectral_radius_ < 1,
            "held_out_score": max(
                (float(each["held_out"]) for each in learnt.candidates), default=None
            ),
            "candidates": list(learnt.candidates),
        }
        return self

    # -- what was learnt --------------------------------------------------------------------------

    @property
    def automaton_(self) -> Automaton:
        """The weights."""
        from tacit.query.automata import MixedAutomaton

        self._check_fitted()
        assert isinstance(self.predictor_, MixedAutomaton)
        return self.predictor_.automaton

    @property
    def rank_(self) -> int:
        """Length of the automaton's states."""
        return self.automaton_.rank

    @property
    def spectral_radius_(self) -> float:
        """The largest size of an eigenvalue of the sum of all steps."""
        from tacit.query.automata import MixedAutomaton

        assert isinstance(self.predictor_, MixedAutomaton)
        return self.predictor_.automaton.spectral_radius

    def as_string(self) -> Operators:
        """Operators whose values are those of whole sequences."""
        return self.automaton_.string

    def as_prefix(self) -> Operators:
        """Operators whose values are those of all sequences that begin with a string."""
        return self.automaton_.prefix

    def as_substring(self) -> Operators:
        """Operators whose values are the expected numbers of times that a string occurs."""
        return self.automaton_.substring

    def values(self, X: Any, lengths: Any = None) -> Array:
        """(sequence,) raw values of whole sequences: no probabilities, some may be negative.

        A missing symbol is summed out.
        """
        sequences = self._read(X, lengths)
        own, out = self.automaton_, []
        for codes in sequences.split(sequences.codes):
            state = own.start
            for code in codes.tolist():
                state = state @ (own.steps[code] if code >= 0 else own.through)
            out.append(float(state @ own.stop))
        return np.array(out)

    # -- within -----------------------------------------------------------------------------------

    def _wanted(self) -> WeightedChoice:
        """The arguments about learning, checked."""
        from tacit.estimators.weighted_learning import WeightedChoice

        for name in ("rank", "basis"):
            value = getattr(self, name)
            if isinstance(value, str):
                check_choice(name, value, ("auto",))
            else:
                check_count(name, value)
        check_choice("statistics", self.statistics, STATISTICS)
        check_number("mixing", self.mixing, word="auto")
        check_count("max_length", self.max_length)
        if not isinstance(self.mixing, str) and self.mixing > 1:
            raise ArgumentError(f"mixing={self.mixing}; give a share from 0 to 1")
        if self.scaled not in (True, False, "auto"):
            raise ArgumentError(f'scaled={self.scaled!r}; give True, False or "auto"')

        def given(value: Any) -> Any:
            return None if isinstance(value, str) and value == "auto" else value

        return WeightedChoice(
            given(self.rank),
            given(self.statistics),
            given(self.basis),
            given(self.scaled),
            given(self.mixing),
            int(self.max_length),
        )

    @staticmethod
    def _left_out(wanted: WeightedChoice, sequences: Any, seed: int) -> Any:
        """What is to be chosen, by which part of the sequences; usual values where there are too few."""
        from dataclasses import replace

        from tacit.estimators.weighted_learning import BASIS, usual_rank
        from tacit.moments.prefixes import PrefixTree

        if len(sequences.lengths) >= _FEWEST:
            rng = np.random.default_rng(seed)
            own, held = held_out_part(sequences, _HELD_OUT, _MOST_HELD_OUT, rng)
            return wanted, PrefixTree.of(held), PrefixTree.of(own)
        tree = PrefixTree.of(sequences)
        filled = replace(
            wanted,
            statistics=wanted.statistics or "substring",
            basis=wanted.basis or BASIS,
            scaled=True if wanted.scaled is None else wanted.scaled,
            mixing=0.3 if wanted.mixing is None else wanted.mixing,
        )
        rank = filled.rank or usual_rank(tree, filled)
        return replace(filled, rank=rank), None, tree
