"""Hidden Markov models, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.errors import ArgumentError, DataError, NotAvailableError
from tacit.sequences.hmm_queries import HMMQueries
from tacit.sequences.learn.hmm_learners import WAYS, HMMSettings
from tacit.sequences.model_files import HMM_FILE
from tacit.sequences.sequence_queries import lengths_from

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.fit import FittedHMM, Stream
    from tacit.sequences.learn.number_stream import KeptNumbers


class HMM(HMMQueries):
    """A hidden Markov model: hidden states in turn, each of which emits a symbol, or normal numbers.

    The number of positions of a sequence is taken as given: nothing says where sequences end.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states (with learn="spectral": the rank of the operators). "auto": the fewest that predict
        sequences which are left out as well as any number does.
    learn : {"auto", "spectral", "tensor", "em", "online-em"}
        "auto": as many states as the singular values of the counts support are recovered from windows of
        three symbols, split to the number wanted, and polished by accelerated EM. "tensor": recovery from
        the windows alone, in one pass over the data. "spectral": operators without hidden states (Hsu,
        Kakade & Zhang, 2012); predictions are made proper, see `predict_next_proba`. "em": EM from
        `n_restarts` random starts. "online-em": stepwise EM, a few passes over small batches.
    emissions : {"auto", "categorical", "gaussian"}
        What states emit: symbols, or numbers with normal densities. "auto": numbers where arrays or lists
        hold floats, symbols otherwise. Numbers are read as `KernelHMM` reads them, learnt by "auto", "tensor"
        or "em", and may be missing too.
    covariance : {"full", "diagonal"}
        Of rows of numbers: whether columns depend on each other within a state.
    features : int or "auto"
        Symbols of past and future that are looked at around a symbol, with learn="auto", "tensor" and
        "spectral". Where there are more states than symbols one is too few to tell them apart. "auto": one,
        and with learn="auto" as many as `n_states` needs.
    stationary : bool
        Whether sequences start anywhere in a long run: initial probabilities then follow from transitions.
    pseudo_counts : float or "auto"
        Of the prior of EM: added to each row of initial, transition and emission probabilities, spread
        evenly; a normal density counts them as so many more numbers. "auto": a few, as measured best.
    n_restarts : int
        Starts of learn="em".
    tol : float
        EM ends where a step gains less, in nats per position.
    max_iter : int
        Largest number of EM steps of each start.
    negative : {"floor", "nan", "raise"}
        What the logarithm of a sequence becomes where operators (learn="spectral") give one of its symbols
        an estimate that is not positive: that of predictions made proper, NaN, or an error.
    unknown : {"error", "missing"}
        What queries do with a symbol that was not seen in training.
    n_jobs : int or None
        Threads; the model does not depend on it.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of splits, starts and choices.

    Attributes
    ----------
    initial_, transitions_, emissions_ : arrays
        (state,), (state, next state) and (state, symbol) probabilities; the states most visited first.
    means_, covariances_ : arrays
        (state, column) and (state, column, column), of emitted numbers.
    symbols_ : tuple
        The symbols in the order of columns of `emissions_`.
    parameters_ : ChainTables, GaussianChain or ProperOperators
        What was learnt.
    diagnostics_ : dict
        In plain values: singular values, steps, what was tried.

    Examples
    --------
    >>> import tacit
    >>> texts = ["aabbbaabbb", "bbbaaabb", "aaabbbaa"]
    >>> model = tacit.HMM(n_states=2).fit([list(text) for text in texts])
    >>> model.symbols_, model.transitions_.shape
    (('a', 'b'), (2, 2))
    >>> model.predict_next_proba(["a", "a", "b"]).shape
    (2,)
    """

    stream_: Stream | KeptNumbers
    _file = HMM_FILE

    def __init__(
        self,
        n_states: int | str = "auto",
        learn: str = "auto",
        *,
        emissions: str = "auto",
        covariance: str = "full",
        features: int | str = "auto",
        stationary: bool = False,
        pseudo_counts: float | str = "auto",
        n_restarts: int = 5,
        tol: float = 5e-7,
        max_iter: int = 300,
        negative: str = "floor",
        unknown: str = "error",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_states = n_states
        self.learn = learn
        self.emissions = emissions
        self.covariance = covariance
        self.features = features
        self.stationary = stationary
        self.pseudo_counts = pseudo_counts
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.negative = negative
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, validation: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of sequences, array, (X, lengths), frame or path
            See `tacit.sequences.data.read_sequences`; None and NaN are missing. Of numbers see `KernelHMM`.
        y : None
            Not used; lengths may stand here, as hmmlearn has them.
        lengths : (sequence,) integers, optional
            Where X holds all sequences in turn.
        validation : the same as X, optional
            Sequences to choose by. Without them a part of X is left out where something is to be chosen,
            and the model is learnt again from all of X at the end.
        """
        from tacit.sequences.learn.fit import Stream, fit_numbers, fit_symbols
        from tacit.sequences.learn.number_stream import KeptNumbers

        X = list(X) if isinstance(X, Iterator) else X
        gaussian = self._shows_numbers(X)
        settings = self._settings(gaussian=gaussian)
        lengths = lengths_from(X, y, lengths, rows=gaussian)
        with self._working() as report:
            if gaussian:
                series = self._read_numbers(X, lengths)
                others = None if validation is None else self._read_numbers(validation)
                found = fit_numbers(series, others, self.n_states, settings, report)
                self._keep(found, series.names, ())
                self.stream_ = KeptNumbers.of(series, settings.seed)
                self.n_features_in_ = series.n_columns
                return self
            data = self._read_new(X, lengths)
            held_out = (
                None if validation is None else self._read_new(validation, None, data.symbols)
            )
            stream = Stream.of(data, settings)
            found = fit_symbols(data, stream, held_out, self.n_states, settings, report)
        self._keep(found, (), data.symbols)
        self.stream_ = stream
        self._keep_columns(X, data)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, lengths: Any = None, symbols: Any = None
    ) -> Self:
        """Learn from more sequences, besides those that were seen before.

        Counts of windows are kept of everything; they add, so chunks may come in any sizes. Besides, a
        random sample of sequences is kept, of about a million positions: learn="auto" polishes with these,
        and number of states and share of frequencies are chosen by them. learn="tensor" and "spectral" with
        a given number of states follow from the counts. learn="em" sees the sample alone, learn="online-em"
        goes on from where it is with the new sequences. Numbers have no counts: of these all is learnt from
        the sample, which is everything up to a million positions.

        Parameters
        ----------
        X : sequences
        y : None
            Not used.
        lengths : (sequence,) integers, optional
        symbols : sequence of hashables, optional
            All that will ever come, at the first call; by default those of the first chunk. Later ones that
            are not among them are errors, or missing, as `unknown` says.
        """
        from tacit.sequences.learn.fit import Stream, fit_stream

        X = list(X) if isinstance(X, Iterator) else X
        before: Any = getattr(self, "stream_", None)
        again = before is not None and self.emissions == "auto"
        gaussian = not self.symbols_ if again else self._shows_numbers(X)
        settings = self._settings(gaussian=gaussian)
        lengths = lengths_from(X, y, lengths, rows=gaussian)
        if before is None and self.__sklearn_is_fitted__():
            raise NotAvailableError(
                "this model came from a file or another program, without the counts it was learnt from; "
                "call fit on all sequences"
            )
        if before is not None and gaussian == bool(self.symbols_):
            raise NotAvailableError(
                f"this model was learnt from other things than emissions={self.emissions!r} says; call fit"
            )
        if gaussian:
            return self._go_on_with_numbers(X, lengths, before, settings)
        data = self._read_new(X, lengths, symbols if before is None else self.symbols_)
        with self._working() as report:
            stream = Stream.of(data, settings) if before is None else before.joined(data, settings)
            found, stream = fit_stream(stream, self.n_states, settings, report)
        self._keep(found, (), data.symbols)
        self.stream_ = stream
        self._keep_columns(X, data)
        return self

    def to_hmmlearn(self) -> Any:
        """The same model as a ``CategoricalHMM`` or ``GaussianHMM`` of hmmlearn.

        Symbols become their places in `symbols_`. It scores the same, and `fit` goes on from here.
        """
        from tacit.sequences.files.hmmlearn import hmmlearn_model

        return hmmlearn_model(self)

    @classmethod
    def from_hmmlearn(cls, model: Any, symbols: Any = None) -> Self:
        """A fitted ``CategoricalHMM`` or ``GaussianHMM`` of hmmlearn.

        Parameters
        ----------
        model : CategoricalHMM or GaussianHMM
        symbols : sequence of hashables, optional
            What its integers stand for; themselves by default.
        """
        from tacit.sequences.files.hmmlearn import taken_over

        made: Self = taken_over(cls, model, symbols)
        return made

    # -- within -----------------------------------------------------------------------------------

    def _shows_numbers(self, X: Any) -> bool:
        """Whether states emit numbers, as `emissions` says, or else what X holds."""
        from tacit.sequences.data.number_sequences import holds_numbers

        check_choice("emissions", self.emissions, ("auto", "categorical", "gaussian"))
        return holds_numbers(X) if self.emissions == "auto" else self.emissions == "gaussian"

    def _keep(self, found: FittedHMM, names: tuple[str, ...], symbols: tuple[Any, ...]) -> None:
        """Take over what was learnt."""
        self.parameters_ = found.parameters
        self.diagnostics_ = found.diagnostics
        self.names_, self.symbols_ = names, symbols
        if hasattr(self, "stream_"):
            del self.stream_

    def _go_on_with_numbers(self, X: Any, lengths: Any, before: Any, settings: HMMSettings) -> Self:
        """Learn from more numbers, besides what was kept of those before."""
        from tacit.sequences.data.number_sequences import read_series
        from tacit.sequences.learn.number_stream import KeptNumbers, fit_kept

        names = None if before is None else self.names_
        series = read_series(X if lengths is None else (X, np.asarray(lengths)), names)
        kept = KeptNumbers.of(series, settings.seed) if before is None else before.joined(series)
        self._check_numbers(kept.series)
        with self._working() as report:
            found = fit_kept(kept, self.n_states, settings, report)
        self._keep(found, kept.series.names, ())
        self.stream_, self.n_features_in_ = kept, series.n_columns
        return self

    def _read_numbers(self, X: Any, lengths: Any = None) -> Series:
        from tacit.sequences.data.number_sequences import read_series

        series = read_series(X if lengths is None else (X, np.asarray(lengths)))
        self._check_numbers(series)
        return series

    def _check_numbers(self, series: Series) -> None:
        gone = np.isnan(series.values).all(axis=0)
        if series.n_positions == 0 or gone.all():
            raise DataError("there is not a single number to learn from; give longer sequences")
        if gone.any():
            name = series.names[int(np.flatnonzero(gone)[0])]
            raise DataError(f"column {name!r} holds no number at all; leave it out")

    def _settings(self, *, gaussian: bool) -> HMMSettings:
        """The arguments about learning, checked."""
        from tacit.core.threads import n_threads

        check_choice("learn", self.learn, WAYS)
        check_choice("covariance", self.covariance, ("full", "diagonal"))
        if isinstance(self.n_states, str):
            check_choice("n_states", self.n_states, ("auto",))
        else:
            check_count("n_states", self.n_states)
        if isinstance(self.features, str):
            check_choice("features", self.features, ("auto",))
        else:
            check_count("features", self.features)
        for name in ("n_restarts", "max_iter"):
            check_count(name, getattr(self, name))
        check_choice("negative", self.negative, ("floor", "nan", "raise"))
        check_number("pseudo_counts", self.pseudo_counts, word="auto")
        check_number("tol", self.tol, positive=True)
        if gaussian and self.learn in ("spectral", "online-em"):
            raise ArgumentError(
                f'learn={self.learn!r} with numbers, which are learnt by "auto", "tensor" or "em"; KernelHMM '
                f'has spectral operators of numbers, and emissions="categorical" takes them as symbols'
            )
        return HMMSettings(
            learn=self.learn,
            features=None if isinstance(self.features, str) else int(self.features),
            covariance=self.covariance,
            stationary=bool(self.stationary),
            pseudo_counts=(
                None if isinstance(self.pseudo_counts, str) else float(self.pseudo_counts)
            ),
            n_restarts=int(self.n_restarts),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            n_jobs=n_threads(self.n_jobs) or 1,
            seed=seed_from(self.random_state),
        )
