"""What a hidden Markov model says of whole sequences: surprises, changes, gaps, paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_rows, generator_from
from tacit.errors import ArgumentError
from tacit.sequences.emissions.mixed import Mixed
from tacit.sequences.emissions.protocol import emits_numbers
from tacit.sequences.hmm_forecasts import HMMForecasts
from tacit.sequences.query.hidden_states import smoothed
from tacit.sequences.query.smoothing import (
    ChangePoint,
    change_points,
    change_probabilities,
    drawn_paths,
)
from tacit.sequences.sequence_queries import per_position

Array = NDArray[np.float64]


class HMMSmoothing(HMMForecasts):
    """Log-likelihoods of positions, changes of state, missing values and paths given whole sequences."""

    abilities = HMMForecasts.abilities | {"impute"}

    def can(self, ability: str) -> bool:
        """Whether this model has an ability: operators fill no gaps, nor counts whose totals differ."""
        if ability == "impute" and not (
            self._has_states and self._emission.can_fill(self.parameters_)
        ):
            return False
        return super().can(ability)

    def score_steps(self, X: Any, lengths: Any = None) -> Any:
        """The natural log of the probability, or density, of each position given those before: (time,).

        Low where a position is a surprise. 0 where it is missing; of several numbers those that are there
        count. The sum over a sequence is its `score_samples`.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional

        Returns
        -------
        list of (time,) arrays
            One array for a single sequence, and for all sequences in one array with their lengths.
        """
        self._with_states("score_steps")
        sequences = self._read(X, lengths)
        parts = [self._filtered(evidence).logs for evidence in self._evidence(sequences)]
        return per_position(sequences, np.concatenate([np.zeros(0), *parts]))

    def change_proba(self, X: Any, lengths: Any = None) -> Any:
        """P(state differs from that of the position before | the whole sequence): (time,) for each sequence.

        Zero at the first position; NaN where the sequence is impossible.
        """
        tables = self._with_states("change_proba")
        sequences = self._read(X, lengths)
        parts = [change_probabilities(tables, evidence) for evidence in self._evidence(sequences)]
        return per_position(sequences, np.concatenate([np.zeros(0), *parts]))

    def change_points(
        self, X: Any, lengths: Any = None, *, least: float = 0.0
    ) -> list[ChangePoint] | list[list[ChangePoint]]:
        """Where the most likely path of states changes, with the probability of a change just there.

        A change whose place is uncertain has a small probability at each of several positions; `change_proba`
        shows them.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        least : float
            Changes that are less probable are left out.

        Returns
        -------
        list of lists of ``ChangePoint(position, before, after, probability)``
            One list for a single sequence. Positions count from the start of each sequence.
        """
        tables = self._with_states("change_points")
        if isinstance(least, str) or not 0 <= least <= 1:
            raise ArgumentError(f"least={least!r}; give a probability, from 0 to 1")
        sequences = self._read(X, lengths)
        lists = [
            points
            for evidence in self._evidence(sequences)
            for points in change_points(tables, evidence, float(least))
        ]
        return lists[0] if sequences.single else lists

    def impute(self, X: Any, lengths: Any = None, *, return_proba: bool = False) -> Any:
        """The same sequences with each missing value filled in, given all of its sequence.

        A symbol is the most likely one at its position, a number its mean (of several columns given the
        others of the position, too). Each is filled in by itself: together they need not be the most likely
        sequence. In a sequence that is impossible gaps remain. Multinomial counts get what their row lacks to
        the number of trials, if all rows of the training data had the same.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        return_proba : bool
            Of symbols: whether to return ``(filled, probabilities)``, too: (time, symbol) P(symbol | the
            whole sequence) for each sequence, one for the symbols that are there.

        Returns
        -------
        list of lists of symbols, or of arrays of numbers
            One for a single sequence, and for all sequences in one array with their lengths. Of columns of
            several kinds dicts of columns.
        """
        from tacit.sequences.query.imputation import filled_symbols, symbol_probabilities

        tables, emission = self._with_states("impute"), self._emission
        if return_proba:
            self._symbols_only("impute(return_proba=True)")
        sequences = self._read(X, lengths)
        parts = [smoothed(tables, evidence) for evidence in self._evidence(sequences)]
        posterior = np.concatenate([np.zeros((0, self.n_states_)), *parts])
        if emits_numbers(emission):
            filled = emission.fill(tables, sequences.positions, posterior)
            if isinstance(emission, Mixed):
                frames = per_position(sequences, filled)
                if not isinstance(frames, list):
                    return emission.columns_of(tables, frames)
                return [emission.columns_of(tables, rows) for rows in frames]
            return per_position(sequences, filled[:, 0] if filled.shape[1] == 1 else filled)
        table = self._symbols_only("impute").probabilities(tables)
        probabilities = symbol_probabilities(table, sequences.codes, posterior)
        symbols = filled_symbols(probabilities, self.symbols_)
        rows = per_position(sequences, symbols)
        lists = [row.tolist() for row in rows] if isinstance(rows, list) else rows.tolist()
        return (lists, per_position(sequences, probabilities)) if return_proba else lists

    def sample_states(
        self, X: Any, n_samples: int = 1, lengths: Any = None, *, random_state: Any = None
    ) -> Any:
        """Paths of states drawn from their posterior given the whole sequence: (draw, time) arrays.

        Parameters
        ----------
        X : sequences
        n_samples : int
        lengths : (sequence,) integers, optional
        random_state : int, Generator or None

        Returns
        -------
        list of (draw, time) integers
            One array for a single sequence, and for all sequences in one array with their lengths; -1 in
            sequences that are impossible.
        """
        tables = self._with_states("sample_states")
        check_rows("n_samples", n_samples)
        rng, sequences = generator_from(random_state), self._read(X, lengths)
        parts = [
            drawn_paths(tables, evidence, int(n_samples), rng)
            for evidence in self._evidence(sequences)
        ]
        none = np.zeros((0, int(n_samples)), dtype=np.int32)
        paths = per_position(sequences, np.concatenate([none, *parts]))
        return [path.T for path in paths] if isinstance(paths, list) else paths.T
