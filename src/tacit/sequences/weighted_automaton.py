"""Weighted automata, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_flag, check_number
from tacit.core.model import checked_summary
from tacit.errors import ArgumentError
from tacit.sequences.automaton_fitting import FittedAutomaton
from tacit.sequences.data.strings import check_strings, is_length, read_strings
from tacit.sequences.model_files import WEIGHTED_AUTOMATON_FILE

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.core.summary import Summary
    from tacit.sequences.learn.weighted_automata import WeightedSettings
    from tacit.sequences.model.automata import Automaton
    from tacit.sequences.model.chains import Operators
    from tacit.sequences.moments.prefixes import PrefixTree

Array = NDArray[np.float64]

STATISTICS = ("auto", "string", "prefix", "substring")


class WeightedAutomaton(FittedAutomaton):
    """A weighted automaton learnt from a Hankel matrix, with predictions that are always probabilities.

    Values of strings are products of matrices, one for each symbol. They come from one singular value
    decomposition of counts, without any iteration (Balle et al., 2014), and may be slightly negative.
    Predictions are therefore clipped, normalised at each position, and mixed with n-grams; lost states are
    restarted. Settings are selected by held-out sequences.

    Parameters
    ----------
    rank : int or "auto"
        Length of the automaton's states.
    statistics : {"auto", "string", "prefix", "substring"}
        What is counted of a string: sequences equal to it, sequences that begin with it, or occurrences.
    basis : int, "auto" or (prefixes, suffixes)
        Strings on each side of the Hankel matrix: so many of the most frequent ones, or given ones, each a
        list of symbols (or a text of characters); the empty one counts only if it is among them.
    scaled : bool or "auto"
        Whether rows and columns are scaled by how frequent their strings are.
    mixing : float or "auto"
        The weight of the n-grams in predictions.
    max_length : int
        Of the most frequent strings on each side.
    unknown : {"error", "missing"}
        What queries do with a symbol that was not seen in training.
    n_jobs : int or None
        Threads of matrix products.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the held-out sequences.

    Attributes
    ----------
    automaton_ : Automaton
        The weights.
    spectral_radius_ : float
        The largest size of an eigenvalue of the sum of all steps. From one on, values of long strings
        explode (predictions do not: they are normalised at each position).
    singular_values_ : array
        Of the Hankel matrix, as many as the rank; ``diagnostics_["singular_values"]`` has those that
        were cut, too.
    symbols_ : tuple
    tree_ : PrefixTree
        Of the training sequences; not stored in files.
    diagnostics_ : dict
        In plain values: settings, candidates, "stable" (whether the spectral radius is below one).

    Examples
    --------
    >>> from tacit.sequences.weighted_automaton import WeightedAutomaton
    >>> model = WeightedAutomaton(rank=2).fit([list("ab"), list("abab"), [], list("ababab")] * 8)
    >>> model.predict_next_proba(["a"]).round(1).tolist()  # a, b, end
    [0.0, 1.0, 0.0]
    """

    _file = WEIGHTED_AUTOMATON_FILE

    def __init__(
        self,
        rank: int | str = "auto",
        statistics: str = "auto",
        *,
        basis: int | str | tuple[Any, Any] = "auto",
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

    # -- fitted attributes ------------------------------------------------------------------------

    @property
    def automaton_(self) -> Automaton:
        """The weights."""
        from tacit.sequences.query.automata import MixedAutomaton

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
        return self.automaton_.spectral_radius

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
        from tacit.sequences.loops.automata import values

        sequences, automaton = self._read(X, lengths), self.automaton_
        return np.asarray(
            values(
                automaton.initial,
                automaton.steps,
                automaton.through,
                automaton.stop,
                sequences.codes,
                sequences.ends,
            )
        )

    @checked_summary
    def summary(self) -> Summary:
        """The model on a page: fit, candidates, singular values."""
        from tacit.core.summary import Section
        from tacit.sequences.query.summaries import summary_of

        values = [float(value) for value in self.diagnostics_.get("singular_values", [])][:20]
        rows = [[n + 1, value, n < self.rank_] for n, value in enumerate(values)]
        spectrum = Section("singular values", columns=["", "value", "kept"], rows=rows)
        title = f"WeightedAutomaton: rank {self.rank_}, {len(self.symbols_)} symbols"
        return summary_of(title, self.diagnostics_, [spectrum])

    # -- private ----------------------------------------------------------------------------------

    def _check_arguments(self) -> None:
        self._settings()

    def _has_choices(self) -> bool:
        settings = self._settings()
        selectable = (
            settings.rank,
            settings.statistics,
            settings.basis,
            settings.scaled,
            settings.mixing,
        )
        return None in selectable

    def _learn_from(
        self,
        tree: PrefixTree,
        held_out: PrefixTree | None,
        seed: int,
        report: Report,
        symbols: tuple[Hashable, ...],
    ) -> None:
        from tacit.sequences.learn.weighted_automata import default_settings, learn_weighted

        del seed  # nothing is drawn
        settings = self._settings()
        if not is_length(self.basis):
            settings = replace(settings, basis=read_strings(self.basis, symbols))
        if held_out is None:
            settings = default_settings(tree, settings)
        learnt = learn_weighted(tree, held_out, settings, report)
        self.predictor_ = learnt.predictor
        chosen, radius = learnt.choice, learnt.predictor.automaton.spectral_radius
        self.singular_values_ = learnt.singular_values[: chosen.rank]
        trees = [tree] if held_out is None else [tree, held_out]
        self.diagnostics_ = {
            "n_sequences": sum(tree.n_sequences for tree in trees),
            "n_positions": sum(tree.n_positions for tree in trees),
            "rank": chosen.rank,
            "singular_values": learnt.singular_values.tolist(),
            "n_kept": chosen.rank,
            "statistics": chosen.statistics,
            "basis": chosen.plain_basis,
            "scaled": chosen.scaled,
            "mixing": chosen.mixing,
            "spectral_radius": radius,
            "stable": radius < 1,
            "held_out_score": max(
                (float(candidate["held_out"]) for candidate in learnt.candidates), default=None
            ),
            "candidates": list(learnt.candidates),
        }

    def _settings(self) -> WeightedSettings:
        """The arguments about learning, checked."""
        from tacit.sequences.learn.weighted_automata import WeightedSettings

        check_count("rank", self.rank, word="auto")
        basis: Any = self.basis
        if is_length(basis):
            check_count("basis", basis, word="auto")
        else:
            check_strings(basis)
            basis = 1  # read once the symbols are known
        check_choice("statistics", self.statistics, STATISTICS)
        check_number("mixing", self.mixing, word="auto")
        check_count("max_length", self.max_length)
        if not isinstance(self.mixing, str) and self.mixing > 1:
            raise ArgumentError(f"mixing={self.mixing}; give a weight from 0 to 1")
        check_flag("scaled", self.scaled, word="auto")

        def or_none(value: Any) -> Any:
            return None if isinstance(value, str) and value == "auto" else value

        return WeightedSettings(
            or_none(self.rank),
            or_none(self.statistics),
            or_none(basis),
            or_none(self.scaled),
            or_none(self.mixing),
            int(self.max_length),
        )
