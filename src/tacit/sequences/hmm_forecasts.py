"""What a fitted hidden Markov model of numbers says of the next ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_count
from tacit.numbers.query.arguments import checked_grid, checked_levels
from tacit.sequences.hmm_queries import HMMQueries
from tacit.sequences.sequence_queries import per_position, per_sequence

Array = NDArray[np.float64]


class HMMForecasts(HMMQueries):
    """Means, quantiles and densities of the next numbers."""

    def expectation(
        self, X: Any, lengths: Any = None, *, all_positions: bool = False, steps: int = 1
    ) -> Any:
        """The mean of the next numbers given those so far, of emitted numbers; see `predict_next_proba`."""
        emission = self._numbers_only("expectation")
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        found = states @ emission.means(self.parameters_)
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
        emission, shares = self._numbers_only("quantiles"), checked_levels(q, ends=False)
        check_count("steps", steps)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        found = emission.quantiles(self.parameters_, states, np.atleast_1d(shares))
        found = found[..., 0] if shares.ndim == 0 else found
        found = found[:, 0] if len(self.names_) == 1 else found
        return per_position(sequences, found) if all_positions else per_sequence(sequences, found)

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
        """The density of the next number given those so far, of emitted numbers; see `predict_next_proba`.

        Parameters
        ----------
        X : sequences
        grid : (place,) numbers, optional
            Where the density is wanted; by default 200 numbers that span most of what the states emit.
        lengths : (sequence,) integers, optional
        target : str, optional
            The column, where there are several.
        all_positions : bool
        steps : int

        Returns
        -------
        grid : (place,) array
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
                emission.quantiles(self.parameters_, np.eye(self.n_states_), np.array([share]))
                for share in (0.001, 0.999)
            )
            places = np.linspace(low[:, column].min(), high[:, column].max(), 200)
        else:
            places = checked_grid(grid)
        sequences = self._read(X, lengths)
        states = self._next_states(sequences, all_positions=bool(all_positions), steps=int(steps))
        found = states @ emission.densities(self.parameters_, column, places)
        arranged = per_position if all_positions else per_sequence
        return places, arranged(sequences, found)
