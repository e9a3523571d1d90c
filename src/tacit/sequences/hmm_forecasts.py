"""Forecasts of a hidden Markov model of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_count
from tacit.errors import ArgumentError
from tacit.numbers.query.arguments import checked_grid, checked_levels
from tacit.sequences.emissions.mixed import Mixed
from tacit.sequences.hmm_queries import HMMQueries
from tacit.sequences.sequence_queries import per_position, per_sequence

Array = NDArray[np.float64]


class HMMForecasts(HMMQueries):
    """Means, quantiles and densities of the next numbers."""

    def predict_next_proba(
        self,
        X: Any,
        lengths: Any = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
        steps: int = 1,
        return_repairs: bool = False,
    ) -> Any:
        """P(next symbol | the whole sequence so far), in the order of `symbols_`.

        Of columns of several kinds P(next category of one of them), in the order of its categories.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        target : str, optional
            The column, if several hold categories.
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
        self._check_fitted()
        emission = self._emission
        if not isinstance(emission, Mixed):
            if target is not None:
                raise ArgumentError(f"target={target!r} goes with columns of several kinds")
            return super().predict_next_proba(
                X, lengths, all_positions=all_positions, steps=steps, return_repairs=return_repairs
            )
        probabilities = emission.probabilities_of(self.parameters_.emitted, target)
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        arrange = per_position if all_positions else per_sequence
        answer = arrange(sequences, states @ probabilities)
        return (answer, {}) if return_repairs else answer

    def expectation(
        self, X: Any, lengths: Any = None, *, all_positions: bool = False, steps: int = 1
    ) -> Any:
        """The mean of the next numbers given those so far; see `predict_next_proba`.

        That of categories is NaN, that of angles a direction.
        """
        emission = self._numbers_only("expectation")
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        means = emission.expectation(self.parameters_, states)
        means = means[:, 0] if len(self.names_) == 1 else means
        return per_position(sequences, means) if all_positions else per_sequence(sequences, means)

    def quantiles(
        self,
        X: Any,
        q: ArrayLike = (0.05, 0.5, 0.95),
        lengths: Any = None,
        *,
        all_positions: bool = False,
        steps: int = 1,
    ) -> Any:
        """Quantiles of the next numbers given those so far; see `predict_next_proba`.

        Parameters
        ----------
        X : sequences
        q : number or (level,) numbers between 0 and 1
        lengths : (sequence,) integers, optional
        all_positions : bool
        steps : int

        Returns
        -------
        (sequence, level) array; (sequence, column, level) with several columns
            Without the last axis for a single number.
        """
        emission, levels = self._numbers_only("quantiles"), checked_levels(q, ends=False)
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        quantiles = emission.quantiles(self.parameters_, states, np.atleast_1d(levels))
        quantiles = quantiles[..., 0] if levels.ndim == 0 else quantiles
        quantiles = quantiles[:, 0] if len(self.names_) == 1 else quantiles
        return (
            per_position(sequences, quantiles)
            if all_positions
            else per_sequence(sequences, quantiles)
        )

    def remaining_duration(self, X: Any, lengths: Any = None, *, most: int = 20) -> Any:
        """P(the state at the end of a sequence goes on for just 0, 1, ... positions more | the sequence).

        With explicit durations it depends on how long the state has lasted. Mean and quantiles of whole
        segments: `durations_`.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
        most : int
            The last column says how probable so many positions or more are.

        Returns
        -------
        (sequence, most + 1) array; without its first axis for a single sequence
            Rows sum to one; NaN of sequences that are empty or impossible.
        """
        from tacit.sequences.query.steps import remaining_duration, steps_of

        steps = steps_of(self._with_states("remaining_duration"))
        check_count("most", most)
        sequences = self._read(X, lengths)
        rows = np.full((len(sequences.lengths), int(most) + 1), np.nan)
        place = 0
        for evidence in self._evidence(sequences):
            for part in evidence.split():
                if len(part.log_scales):
                    rows[place] = remaining_duration(steps, steps.belief_after(part), int(most))
                place += 1
        return per_sequence(sequences, rows)

    def predict_next_density(
        self,
        X: Any,
        grid: ArrayLike | None = None,
        lengths: Any = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
        steps: int = 1,
    ) -> tuple[Array, Any]:
        """The density of the next number given those so far; see `predict_next_proba`.

        Parameters
        ----------
        X : sequences
        grid : (point,) numbers, optional
            Where to evaluate the density; by default 200 numbers that span most of what the states emit.
        lengths : (sequence,) integers, optional
        target : str, optional
            The column, if there are several.
        all_positions : bool
        steps : int

        Returns
        -------
        grid : (point,) array
        densities : array or list of arrays
            A row for each sequence; with `all_positions` a row for each position.
        """
        emission = self._numbers_only("predict_next_density")
        check_count("steps", steps)
        if target is not None or len(self.names_) > 1:
            check_choice("target", target, self.names_)
        column = 0 if target is None else self.names_.index(target)
        if grid is None:
            low, high = (
                emission.quantiles(self.parameters_, np.eye(self.n_states_), np.array([level]))
                for level in (0.001, 0.999)
            )
            points = np.linspace(low[:, column].min(), high[:, column].max(), 200)
        else:
            points = checked_grid(grid)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        densities = states @ emission.densities(self.parameters_, column, points)
        arrange = per_position if all_positions else per_sequence
        return points, arrange(sequences, densities)
