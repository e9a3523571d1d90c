"""Queries of fitted models of sequences of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_count, check_function, check_rows, generator_from
from tacit.errors import ArgumentError, NotAvailableError
from tacit.numbers.query.arguments import checked_grid, checked_levels
from tacit.sequences.data.sequences import lengths_from
from tacit.sequences.kernel_hmm_rows import ChainRows

if TYPE_CHECKING:
    from tacit.messages.node_messages import Messages
    from tacit.messages.repairs import Repairs
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.query.forecasts import Forecasts
    from tacit.sequences.query.operators import Walk

Array = NDArray[np.float64]
Answer = tuple[Array, dict[str, Any]]  # with a record of repairs
Function = Callable[[Array], Array]


class ChainQueries(ChainRows):
    """Queries of a fitted chain; missing numbers are integrated out.

    Sequences come as in `fit`. Answers about positions are a list with an array for each sequence; one array
    for a single sequence, and for sequences that came in one array with their lengths. Forecasts have
    one row for each sequence; a single sequence has no such axis.
    """

    kind = "sequences"
    abilities = frozenset({"score", "sample", "numbers", "forecast", "singular values"})

    diagnostics_: dict[str, Any]
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: numbers may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def n_states_(self) -> int:
        """Hidden states; the rank of operators."""
        return self.operators_.rank

    @property
    def n_iter_(self) -> int:
        """Iterations of learning; 1 if it is not iterative."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    def log_predictive(self, X: Any, lengths: Any = None) -> Any:
        """Natural log of the density of each position given those before it in its sequence.

        0 where nothing was observed. Of a position with several columns it is their joint density.
        """
        series = self._read(X, lengths)
        return series.split(self._logs(series)[0])

    def score_samples(self, X: Any, lengths: Any = None, *, return_repairs: bool = False) -> Any:
        """Natural log of the density of each sequence: the sum of `log_predictive`; 0 for an empty one.

        Parameters
        ----------
        X : sequences
        lengths : (sequence,) integers, optional
            Lengths of the sequences if X is one array of them.
        return_repairs : bool
            Whether to return a dict of repairs of negative densities, too; empty if none can be negative.
        """
        series = self._read(X, lengths)
        logs, repairs = self._logs(series)
        reached = np.concatenate([[0.0], np.cumsum(logs)])
        values = np.diff(reached[series.ends])
        return (values, repairs) if return_repairs else values

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """The mean of `score_samples`; `y` is not used, or holds lengths as in hmmlearn."""
        return float(np.mean(self.score_samples(X, lengths_from(X, y, lengths, rows=True))))

    def filter(self, X: Any, lengths: Any = None) -> Any:
        """P(state at each position | all up to and including it): (time, state) for each sequence.

        Operators have no hidden states: they give the state vectors, of value one, that predict the next
        position.
        """
        from tacit.sequences.query.operators import states_now

        series = self._read(X, lengths)
        walk, evidence = self._walk(series)
        if self._has_tables:
            return series.split(states_now(walk, evidence))
        return series.split(walk.normalised(walk.before + 1))

    def posterior(self, X: Any, lengths: Any = None) -> Any:
        """P(state at each position | the whole sequence): (time, state) for each sequence."""
        from tacit.sequences.learn.em.kernel_hmm import smoothed_states
        from tacit.sequences.learn.kernel_hmm_selection import observed_features
        from tacit.sequences.model.chains import ChainTables

        series, learnt = self._read(X, lengths), self.parameters_
        if not isinstance(learnt, ChainTables):
            problem = "operators have no hidden states"
            raise NotAvailableError(f'{problem}; fit with learn="auto", or use filter')
        return series.split(smoothed_states(learnt, observed_features(self.encoders_, series)))

    def predict_next_density(
        self,
        X: Any,
        grid: ArrayLike | None = None,
        lengths: Any = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
        return_repairs: bool = False,
    ) -> tuple[Any, ...]:
        """The density of the next number after each sequence, or after each of its prefixes.

        NaN at the end of a sequence look further ahead.

        Parameters
        ----------
        X : sequences
        grid : (point,) numbers, optional
            Where to evaluate the density; by default 200 numbers that span the training data.
        lengths : (sequence,) integers, optional
        target : str, optional
            The column, if there are several.
        all_positions : bool
            Whether to answer for every position, given those before it.
        return_repairs : bool
            Whether to return a dict of repairs, too.

        Returns
        -------
        grid : (point,) array
        densities : array or list of arrays
            A row for each sequence; with `all_positions` a row for each position.
        """
        column = self._column(target)
        points = self._encoder(column).grid() if grid is None else checked_grid(grid)
        densities, repairs = self._ask(
            self._read(X, lengths),
            column,
            lambda next_: next_.densities(points).values,
            all_positions=all_positions,
        )
        return (points, densities, repairs) if return_repairs else (points, densities)

    def expectation(
        self,
        X: Any,
        function: Function | None = None,
        lengths: Any = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
    ) -> Any:
        """The mean of the next number, or of a function of it; see `predict_next_density`."""
        check_function(function)
        column = self._column(target)
        return self._ask(
            self._read(X, lengths),
            column,
            lambda next_: next_.expectations(function),
            all_positions=all_positions,
        )[0]

    def quantiles(
        self,
        X: Any,
        q: ArrayLike = (0.05, 0.5, 0.95),
        lengths: Any = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
    ) -> Any:
        """Quantiles of the next number; see `predict_next_density`.

        Parameters
        ----------
        X : sequences
        q : number or (level,) numbers from 0 to 1
            The last axis of the answer, if it is not a single number.
        lengths : (sequence,) integers, optional
        target : str, optional
        all_positions : bool
        """
        levels = checked_levels(q)

        def query(forecasts: Forecasts) -> Array:
            quantiles = forecasts.quantiles(np.atleast_1d(levels))
            return quantiles[:, 0] if levels.ndim == 0 else quantiles

        return self._ask(
            self._read(X, lengths), self._column(target), query, all_positions=all_positions
        )[0]

    def sample(
        self, n_samples: int = 1, length: int = 100, *, given: Any = None, random_state: Any = None
    ) -> Array:
        """Sequences drawn from the model, or what may follow one sequence.

        Parameters
        ----------
        n_samples : int
            Number of draws.
        length : int
            Positions of each.
        given : one sequence, optional
            The sequence so far.
        random_state : int, Generator or None

        Returns
        -------
        (draw, time) array; (draw, time, column) with several columns
        """
        from tacit.messages.node_messages import Messages, message_up

        self._check_fitted()
        check_rows("n_samples", n_samples)
        check_count("length", length)
        rng = generator_from(random_state)
        operators = self.operators_
        n = int(n_samples)
        state = Messages(np.repeat(self._last_state(given)[:, None], n, axis=1))
        out = np.full((n, length, len(self.names_)), np.nan)
        for time in range(length):
            known: list[Messages | None] = [None] * len(self.names_)
            for column in range(len(self.names_)):
                forecasts = self._forecasts(state, column, known, out[:, time])
                out[:, time, column] = forecasts.draws(rng.random(n))
                if self._vector is None:
                    known[column] = self._message(column, out[:, time, column])
            state = message_up(operators.step, [self._evidence(out[:, time]), state])
            state = Messages(state.values / np.abs(state.values).max(axis=0))
        return out[:, :, 0] if len(self.names_) == 1 else out

    # -- private ----------------------------------------------------------------------------------

    def _logs(self, series: Series) -> Answer:
        """(position,) log-density of each position given those before it, and repairs."""
        from tacit.sequences.query.vector_forecasts import log_densities_in_turn

        walk, _ = self._walk(series)
        if self._has_tables:
            is_observed = ~np.isnan(series.values).all(axis=1)
            _, logs = walk.steps()
            return np.where(is_observed, logs, 0.0), {}
        out, repairs = np.empty(series.n_positions), self._no_repairs()
        if self._vector is not None:
            weight = np.array([self.fallback_])
            logs, repairs = log_densities_in_turn(
                self.operators_, walk, self._vector, series.values, weight
            )
            return logs[0], {**repairs.as_dict(), "n_restarts": walk.n_restarts}
        for part, forecasts in self._blocks(walk, walk.before, 0):
            out[part] = forecasts.log_densities(series.values[part, 0])
            repairs += forecasts.repairs()
        return out, {**repairs.as_dict(), "n_restarts": walk.n_restarts}

    def _ask(
        self,
        series: Series,
        column: int,
        query: Callable[[Forecasts], Array],
        *,
        all_positions: bool,
    ) -> tuple[Any, dict[str, Any]]:
        """Answers to a query of forecasts, at the end of each sequence or at all of its positions."""
        walk, _ = self._walk(series)
        places = walk.before if all_positions else walk.last
        parts, repairs = [], self._no_repairs()
        for _, forecasts in self._blocks(walk, places, column):
            parts.append(query(forecasts))
            repairs += forecasts.repairs()
        answers: Any = np.concatenate(parts)
        if all_positions:
            answers = series.split(answers)
        elif series.single:
            answers = answers[0]
        return answers, {**repairs.as_dict(), "n_restarts": walk.n_restarts}

    def _blocks(
        self, walk: Walk, places: NDArray[np.int64], column: int
    ) -> Iterator[tuple[slice, Forecasts]]:
        """Forecasts of a column at some places, block by block; at least one block."""
        from tacit.sequences.query.forecasts import AT_ONCE

        for start in range(0, max(len(places), 1), AT_ONCE):
            part = slice(start, min(start + AT_ONCE, len(places)))
            yield part, self._forecasts(walk.states.at(places[part]), column)

    def _forecasts(
        self,
        states: Messages,
        column: int,
        known: list[Messages | None] | None = None,
        rows: Array | None = None,
    ) -> Forecasts:
        """Forecasts given other columns of the same position: their messages, and their numbers."""
        from tacit.sequences.query.forecasts import forecasts, next_features
        from tacit.sequences.query.vector_forecasts import member_forecasts

        vector = self._vector
        if vector is not None:
            next_ = next_features(self.operators_, states, 0, vector.total)
            return member_forecasts(*next_, vector, column, fallback=self.fallback_, others=rows)
        return forecasts(
            self.operators_,
            states,
            column,
            self.encoders_[column],
            fallback=self.fallback_,
            others=known,
        )

    def _last_state(self, given: Any) -> Array:
        if given is None:
            return self.operators_.initial
        series = self._read(given)
        if len(series.lengths) != 1:
            raise ArgumentError(f"given holds {len(series.lengths)} sequences; give one")
        walk, _ = self._walk(series)
        return np.asarray(walk.normalised(walk.last)[0])

    @staticmethod
    def _no_repairs() -> Repairs:
        from tacit.messages.repairs import Repairs

        return Repairs()
