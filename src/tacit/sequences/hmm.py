"""Hidden Markov models, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.errors import ArgumentError, NotAvailableError
from tacit.sequences.emissions import EMISSIONS, emission_for, emission_of
from tacit.sequences.hmm_forecasts import HMMForecasts
from tacit.sequences.learn.hmm_task import HMMSettings
from tacit.sequences.model_files import HMM_FILE
from tacit.sequences.sequence_queries import lengths_from

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.learn.fit import FittedHMM


class HMM(HMMForecasts):
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
    emissions : str
        What states emit, a name of `tacit.sequences.emissions.EMISSIONS`: "categorical" (symbols) or
        "gaussian" (numbers with normal densities), for example. "auto": "gaussian" where arrays or lists
        hold floats, else "categorical". Numbers are read as `KernelHMM` reads them, and may be missing too.
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
    parameters_ : ChainTables, GaussianChain, ... or ProperOperators
        What was learnt; its type depends on `emissions`.
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

    stream_: Any
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
        from tacit.sequences.learn.fit import fit_hmm

        with self._working() as report:
            settings = self._settings()
            X = list(X) if isinstance(X, Iterator) else X
            emission = self._check_learner(emission_for(self.emissions, X))
            lengths = lengths_from(X, y, lengths, rows=emission.numbers)
            data, held_out = emission.read(X, lengths, unknown=self.unknown), None
            emission.check(data)
            if validation is not None:
                known = data.symbols or data.names
                held_out = emission.read(validation, None, known, self.unknown)
            stream = emission.stream(data, settings)
            found = fit_hmm(emission, data, stream, held_out, self.n_states, settings, report)
        return self._keep(found, X, data, stream)

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
        X = list(X) if isinstance(X, Iterator) else X
        before: Any = getattr(self, "stream_", None)
        if before is None and self.__sklearn_is_fitted__():
            raise NotAvailableError(
                "this model came from a file or another program, without the counts it was learnt from; "
                "call fit on all sequences"
            )
        name = self.emissions
        if before is not None:
            learnt = emission_of(self.parameters_).name
            if name not in ("auto", learnt):
                raise NotAvailableError(
                    f"this model was learnt from other things than emissions={name!r} says; call fit"
                )
            name = learnt
        settings = self._settings()
        emission = self._check_learner(emission_for(name, X))
        lengths = lengths_from(X, y, lengths, rows=emission.numbers)
        known = symbols if before is None else self.symbols_ or self.names_
        data = emission.read(X, lengths, known, self.unknown)
        with self._working() as report:
            first = before is None
            stream = emission.stream(data, settings) if first else before.joined(data, settings)
            emission.check(stream.data)
            found, stream = stream.fitted(emission, self.n_states, settings, report)
        return self._keep(found, X, data, stream)

    def to_hmmlearn(self) -> Any:
        """The same model as a ``CategoricalHMM`` or ``GaussianHMM`` of hmmlearn.

        Symbols become their places in `symbols_`. It scores the same, and `fit` goes on from here.
        """
        from tacit.sequences.files.hmmlearn import hmmlearn_model

        learnt = self._with_states("to_hmmlearn")
        return hmmlearn_model(emission_of(learnt), learnt)

    @classmethod
    def from_hmmlearn(cls, model: Any, symbols: Any = None) -> Self:
        """A fitted ``CategoricalHMM`` or ``GaussianHMM`` of hmmlearn.

        Parameters
        ----------
        model : CategoricalHMM or GaussianHMM
        symbols : sequence of hashables, optional
            What its integers stand for; themselves by default.
        """
        from tacit.core.input.columns import positional_names
        from tacit.sequences.data.symbols import known_symbols
        from tacit.sequences.files.hmmlearn import parameters_from_hmmlearn

        learnt = parameters_from_hmmlearn(model, list(EMISSIONS.values()))
        emission = emission_of(learnt)
        made = cls(learnt.n_states, emissions=emission.name, **emission.arguments(learnt))
        made.names_, made.symbols_, made.n_features_in_ = (), (), 1
        if emission.numbers:
            made.n_features_in_ = emission.means(learnt).shape[1]
            made.names_ = positional_names(made.n_features_in_)
        else:
            n = emission.probabilities(learnt).shape[1]
            made.symbols_ = known_symbols(range(n) if symbols is None else symbols)
            if len(made.symbols_) != n:
                raise ArgumentError(f"{len(made.symbols_)} symbols for a model of {n}; name each")
        made.parameters_ = learnt
        made.diagnostics_ = {"learn": "hmmlearn", "n_states": learnt.n_states}
        return made

    # -- within -----------------------------------------------------------------------------------

    def _keep(self, found: FittedHMM, X: Any, data: Any, stream: Any) -> Self:
        """Take over what was learnt, and what it was learnt from."""
        self.parameters_ = found.parameters
        self.diagnostics_ = found.diagnostics
        self.names_, self.symbols_ = data.names, data.symbols
        self.stream_ = stream
        if data.names:
            self.n_features_in_ = len(data.names)
        else:
            self._keep_columns(X, data)
        return self

    def _check_learner(self, emission: Emission) -> Emission:
        """The same emission, which must be learnt as `learn` says."""
        if self.learn not in emission.learners:
            raise ArgumentError(
                f"learn={self.learn!r} with emissions={emission.name!r}, which are learnt by "
                f"{', '.join(map(repr, emission.learners))}. KernelHMM has spectral operators of numbers; "
                f'emissions="categorical" takes numbers as symbols'
            )
        return emission

    def _settings(self) -> HMMSettings:
        """The arguments about learning, checked."""
        from tacit.core.threads import n_threads

        known = dict.fromkeys(name for each in EMISSIONS.values() for name in each.learners)
        check_choice("learn", self.learn, tuple(known))
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
