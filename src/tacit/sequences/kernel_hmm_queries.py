"""What a fitted model of sequences of numbers can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin

from tacit.core.arguments import check_count, check_rows, generator_from
from tacit.core.model import Model, Scored
from tacit.errors import ArgumentError, ColumnError, FileFormatError, NotAvailableError
from tacit.numbers.query.arguments import checked_grid, checked_levels

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.summary import Summary
    from tacit.messages.node_messages import Messages
    from tacit.messages.repairs import Repairs
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.model.chains import ChainTables, Operators
    from tacit.sequences.query.forecasts import Forecasts
    from tacit.sequences.query.operators import Walk

Array = NDArray[np.float64]
Answer = tuple[Array, dict[str, Any]]  # with a record of what had to be repaired
Function = Callable[[Array], Array]


class ChainQueries(Scored, DensityMixin, Model):
    """Queries of a fitted chain; missing numbers are summed out.

    Sequences come as in `fit`. Answers about positions are a list with an array for each sequence; one array
    for a single sequence, and for sequences that came in one array with their lengths. Answers about what
    comes next have one row for each sequence, none for a single one.
    """

    kind = "sequences"
    abilities = frozenset({"score", "sample", "numbers", "forecast", "singular values"})

    parameters_: ChainTables | Operators
    encoders_: tuple[Encoder, ...]
    names_: tuple[str, ...]
    fallback_: float
    diagnostics_: dict[str, Any]
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know: numbers may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def operators_(self) -> Operators:
        """What was learnt, as operators."""
        from tacit.sequences.model.chains import ChainTables

        self._check_fitted()
        learnt = self.parameters_
        return learnt.operators if isinstance(learnt, ChainTables) else learnt

    @property
    def n_states_(self) -> int:
        """Hidden states; the rank of operators."""
        return self.operators_.rank

    @property
    def n_iter_(self) -> int:
        """Steps that learning took; 1 where it does not go in steps."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    def log_predictive(self, X: Any) -> Any:
        """Natural log of the density of each position given those before it in its sequence.

        0 where nothing was observed. Of a position with several columns it is their joint density.
        """
        series = self._read(X)
        return series.split(self._logs(series)[0])

    def score_samples(self, X: Any, *, return_repairs: bool = False) -> Any:
        """Natural log of the density of each sequence: the sum of `log_predictive`; 0 for an empty one.

        Parameters
        ----------
        X : sequences
        return_repairs : bool
            Whether to return a dict of what had to be repaired of negative densities, too; an empty one
            where none can be negative.
        """
        series = self._read(X)
        logs, repairs = self._logs(series)
        reached = np.concatenate([[0.0], np.cumsum(logs)])
        values = np.diff(reached[series.ends])
        return (values, repairs) if return_repairs else values

    def filter(self, X: Any) -> Any:
        """What is known of the state after each position: (time, state) for each sequence.

        P(state at the position | all up to and with it) of hidden states; of operators, which have none,
        the state vectors that predict what comes next, of value one.
        """
        from tacit.sequences.model.chains import ChainTables
        from tacit.sequences.query.operators import states_now

        series = self._read(X)
        walk, seen = self._walk(series)
        if isinstance(self.parameters_, ChainTables):
            return series.split(states_now(walk, seen))
        return series.split(walk.normalised(walk.before + 1))

    def posterior(self, X: Any) -> Any:
        """P(state at each position | whole sequence), of hidden states: (time, state) for each sequence."""
        from tacit.sequences.learn.em.kernel_hmm import smoothed_states
        from tacit.sequences.learn.kernel_hmm_selection import seen_through
        from tacit.sequences.model.chains import ChainTables

        series = self._read(X)
        if not isinstance(self.parameters_, ChainTables):
            raise NotAvailableError(
                'operators have no hidden states; fit with learn="auto", or ask for filter'
            )
        seen = seen_through(self.encoders_, series)
        return series.split(smoothed_states(self.parameters_, seen))

    def predict_next_density(
        self,
        X: Any,
        grid: ArrayLike | None = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
        return_repairs: bool = False,
    ) -> tuple[Any, ...]:
        """The density of the next number after each sequence, or after each of its beginnings.

        Numbers of NaN at the end of a sequence let one look further ahead.

        Parameters
        ----------
        X : sequences
        grid : (place,) numbers, optional
            Where the density is wanted; by default 200 numbers that span what was seen in training.
        target : str, optional
            The column, where there are several.
        all_positions : bool
            Whether to answer for every position, given those before it.
        return_repairs : bool
            Whether to return a dict of what had to be repaired, too.

        Returns
        -------
        grid : (place,) array
        densities : array or list of arrays
            A row for each sequence; with `all_positions` a row for each position.
        """
        column = self._column(target)
        places = self.encoders_[column].grid() if grid is None else checked_grid(grid)
        densities, repairs = self._told(
            X, column, lambda told: told.densities(places).values, all_positions=all_positions
        )
        return (places, densities, repairs) if return_repairs else (places, densities)

    def expectation(
        self,
        X: Any,
        function: Function | None = None,
        *,
        target: str | None = None,
        all_positions: bool = False,
    ) -> Any:
        """The mean of the next number, or of a function of it; see `predict_next_density`."""
        column = self._column(target)
        return self._told(
            X, column, lambda told: told.expectations(function), all_positions=all_positions
        )[0]

    def quantiles(
        self,
        X: Any,
        q: ArrayLike = (0.05, 0.5, 0.95),
        *,
        target: str | None = None,
        all_positions: bool = False,
    ) -> Any:
        """Quantiles of the next number; see `predict_next_density`.

        Parameters
        ----------
        X : sequences
        q : number or (share,) numbers from 0 to 1
            The last axis of the answer, where it is not a single number.
        target : str, optional
        all_positions : bool
        """
        shares = checked_levels(q)

        def ask(told: Forecasts) -> Array:
            found = told.quantiles(np.atleast_1d(shares))
            return found[:, 0] if shares.ndim == 0 else found

        return self._told(X, self._column(target), ask, all_positions=all_positions)[0]

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
            What came before.
        random_state : int, Generator or None

        Returns
        -------
        (draw, time) array; (draw, time, column) where a position has several columns
        """
        from tacit.messages.node_messages import Messages, message_up
        from tacit.sequences.query.operators import seen_messages

        self._check_fitted()
        check_rows("n_samples", n_samples)
        check_count("length", length)
        rng = generator_from(random_state)
        operators = self.operators_
        n = int(n_samples)
        state = Messages(np.repeat(self._last_state(given)[:, None], n, axis=1))
        out = np.empty((n, length, len(self.names_)))
        for time in range(length):
            known: list[Messages | None] = [None] * len(self.names_)
            for column in range(len(self.names_)):
                told = self._forecasts(state, column, known)
                out[:, time, column] = told.draws(rng.random(n))
                known[column] = self._message(column, out[:, time, column])
            evidence = [
                encoder.likelihoods(out[:, time, column])
                for column, encoder in enumerate(self.encoders_)
            ]
            state = message_up(operators.step, [seen_messages(operators, evidence), state])
            state = Messages(state.values / np.abs(state.values).max(axis=0))
        return out[:, :, 0] if len(self.names_) == 1 else out

    def summary(self) -> Summary:
        """What was learnt, on a page: fit, choices, states with what they emit, transitions."""
        from tacit.messages.node_messages import Messages
        from tacit.sequences.query.summaries import state_sections, summary_of

        self._check_fitted()
        kind = f"{len(self.names_)} column{'' if len(self.names_) == 1 else 's'} of numbers"
        if not self._has_tables:
            title = f"KernelHMM: operators of rank {self.n_states_}, {kind}"
            return summary_of(title, self.diagnostics_, [])
        learnt: Any = self.parameters_
        words = [""] * learnt.n_states
        for column, name in enumerate(self.names_):
            told = self._forecasts(Messages(np.eye(learnt.n_states)), column)
            spans = told.quantiles(np.array([0.05, 0.5, 0.95]))
            label = f"{name} " if len(self.names_) > 1 else ""
            for state, (low, middle, high) in enumerate(spans.tolist()):
                words[state] += (
                    f"{'; ' if column else ''}{label}{low:.3g}, {middle:.3g}, {high:.3g}"
                )
        sections = state_sections(
            learnt.initial, learnt.transitions, learnt.stationary, words, "5%, median, 95%"
        )
        return summary_of(
            f"KernelHMM: {learnt.n_states} states, {kind}", self.diagnostics_, sections
        )

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        if self.fallback_ > 0 and not all(getattr(each, "margin", None) for each in self.encoders_):
            raise FileFormatError("a share of each column's own density, which is not there")

    # -- within -----------------------------------------------------------------------------------

    def _read(self, X: Any) -> Series:
        from tacit.sequences.data.number_sequences import read_series

        self._check_fitted()
        return read_series(X, self.names_)

    def _column(self, target: str | None) -> int:
        self._check_fitted()
        if target is None and len(self.names_) == 1:
            return 0
        if target not in self.names_:
            what = "no target" if target is None else f"target={target!r}"
            raise ColumnError(f"{what}; the columns are {list(self.names_)}: name one of them")
        return self.names_.index(target)

    def _walk(self, series: Series) -> tuple[Walk, Messages]:
        """All sequences walked, and what each position sends."""
        from tacit.sequences.query.operators import seen_messages, walked

        columns = series.values.T
        evidence = [
            np.where(np.isnan(column)[:, None], np.nan, encoder.likelihoods(column))
            for encoder, column in zip(self.encoders_, columns, strict=True)
        ]
        operators = self.operators_
        seen = seen_messages(operators, evidence)
        return walked(operators, seen, series.lengths, restart=not self._has_tables), seen

    @property
    def _has_tables(self) -> bool:
        from tacit.sequences.model.chains import ChainTables

        return isinstance(self.parameters_, ChainTables)

    def _logs(self, series: Series) -> Answer:
        """(position,) log-density of each position given those before it, and what was repaired."""
        walk, _ = self._walk(series)
        if self._has_tables:
            there = ~np.isnan(series.values).all(axis=1)
            _, logs = walk.steps()
            return np.where(there, logs, 0.0), {}
        out, repairs = np.empty(series.n_positions), self._no_repairs()
        for part, told in self._blocks(walk, walk.before, 0):
            out[part] = told.log_densities(series.values[part, 0])
            repairs += told.repairs()
        return out, {**repairs.as_dict(), "n_restarts": walk.n_restarts}

    def _told(
        self, X: Any, column: int, ask: Callable[[Forecasts], Array], *, all_positions: bool
    ) -> tuple[Any, dict[str, Any]]:
        """Answers about what comes next, at the end of each sequence or at all of its positions."""
        series = self._read(X)
        walk, _ = self._walk(series)
        places = walk.before if all_positions else walk.last
        parts, repairs = [], self._no_repairs()
        for _, told in self._blocks(walk, places, column):
            parts.append(ask(told))
            repairs += told.repairs()
        found: Any = np.concatenate(parts)
        if all_positions:
            found = series.split(found)
        elif series.single:
            found = found[0]
        return found, {**repairs.as_dict(), "n_restarts": walk.n_restarts}

    def _blocks(
        self, walk: Walk, places: NDArray[np.int64], column: int
    ) -> Iterator[tuple[slice, Forecasts]]:
        """What is told of a column at some places, a block of them at a time; at least one."""
        from tacit.sequences.query.forecasts import AT_ONCE

        for start in range(0, max(len(places), 1), AT_ONCE):
            part = slice(start, min(start + AT_ONCE, len(places)))
            yield part, self._forecasts(walk.states.at(places[part]), column)

    def _forecasts(
        self, states: Messages, column: int, known: list[Messages | None] | None = None
    ) -> Forecasts:
        from tacit.sequences.query.forecasts import forecasts

        return forecasts(
            self.operators_,
            states,
            column,
            self.encoders_[column],
            fallback=self.fallback_,
            others=known,
        )

    def _message(self, column: int, numbers: Array) -> Messages:
        """What numbers of a column send to their step."""
        from tacit.messages.node_messages import Messages

        likelihoods = self.encoders_[column].likelihoods(numbers)
        return Messages(self.operators_.emit[column].T @ likelihoods.T)

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
