"""Hidden Markov models, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from tacit.core.encoders.given_features import are_given
from tacit.errors import ArgumentError, NotAvailableError
from tacit.sequences.data.sequences import examples_of, lengths_from
from tacit.sequences.emissions import EMISSIONS, emission_for, emission_of
from tacit.sequences.emissions.protocol import emits_numbers, emits_symbols
from tacit.sequences.hmm_settings import check_generic, settings_of
from tacit.sequences.hmm_streams import HMMStreams
from tacit.sequences.model_files import HMM_FILE

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.sequences.emissions.protocol import Emission


class HMM(HMMStreams):
    """A hidden Markov model: a chain of hidden states, each of which emits a symbol or numbers.

    The length of a sequence is not modelled.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states (with learn="spectral": the rank of the operators). "auto": the fewest that predict
        held-out sequences as well as any number does.
    learn : {"auto", "spectral", "tensor", "em", "online-em"}
        "auto": as many states as the singular values of the counts support are recovered from windows of
        three symbols, split into `n_states`, and refined by accelerated EM. "tensor": recovery from the
        windows alone, in one pass over the data. "spectral": operators without hidden states (Hsu,
        Kakade & Zhang, 2012); predictions are made proper, see `predict_next_proba`. "em": EM from
        `n_restarts` random starts. "online-em": stepwise EM, a few passes over small batches.
    emissions : str, or dict of str
        What states emit: "categorical" (symbols), "gaussian" (numbers with normal densities),
        "gaussian-mixture", "poisson" or "negative-binomial" (counts), "multinomial" (rows of counts with
        their totals given) or "von-mises" (angles in radians). "auto": "gaussian" if arrays or lists hold
        floats, else "categorical". Numbers are read as by `KernelHMM`, and may be missing too. A dict says
        what each column of a frame emits, independently of the others given the state; columns of one kind
        have a joint density. The frame has a row for each position: a column of the kind "sequence" says to
        which sequence it belongs, one of the kind "time" orders the rows; else those named "sequence" or
        "id", and "time".
    covariance : {"full", "diagonal", "spherical", "tied"}
        Of rows of numbers: whether columns depend on each other within a state. "spherical": independent
        columns of one variance; "tied": all states have the same covariance.
    n_components : int
        Of emissions="gaussian-mixture": Gaussians of each state.
    transitions : {"full", "left-to-right", "linear", "cyclic", "banded"} or (state, next state) array of bool
        The transitions that are possible; all others have probability zero exactly. "left-to-right": to the
        state itself and those after it; "linear": to itself and the next; "cyclic": the same, and from the
        last to the first; "banded": to itself and the states beside it. But for "full", states keep their
        order.
    initial : {"auto", "all", "first"} or (state,) array of bool
        The states that sequences may start in. "auto": the first of "left-to-right" and "linear" chains,
        else all.
    tied : sequence of sequences of int, optional
        Groups of states that emit the same, such as ``[[0, 2], [1, 3]]``.
    durations : None, "table" or "negative-binomial"
        How long states last (hidden semi-Markov models). None: geometric, as transitions to the state itself
        say. "table": a probability for each duration; "negative-binomial": two parameters for each state.
        `transitions_` then lead to another state. The first segment begins at the first position, and the
        last one may go on after the end.
    max_duration : int or "auto"
        Durations with a probability of their own; those beyond have a geometric tail. "auto": as long as
        nearly all segments of a plain model last, up to 500.
    features : int, "auto", str, array, mapping or callable
        What past and future of a position are, with learn="auto", "tensor" and "spectral". An integer:
        indicators of the symbol at each of so many places. One is too few to distinguish more states than
        symbols. "auto": one, and with learn="auto" as many as `n_states` needs. The others are features of
        `reach` places, as for `LatentTree`: "concatenated" (as an integer), "joint" (indicators of strings),
        an array (symbol, feature) in the order of `symbols_`, a mapping of places to such arrays, or a
        callable, which gets a dict of place (-1, -2, ... of a past, 0, 1, ... of a future) to array (row,) of
        symbols and returns an array (row, feature); files do not hold it.
    reach : int
        Symbols of past and of future that `features` see which are not an integer.
    preset : None or "printed"
        "printed" goes with learn="spectral" and a given number of states: LearnHMM of Hsu, Kakade & Zhang
        exactly as in print. Pairs are not scaled, and no frequencies are mixed into predictions. `values`
        are the estimates of the paper; of its conditionals, negative ones are predicted as zero.
    windows : {"auto", "first", "all"}
        Of the printed form: the first three symbols of each sequence, as in the paper ("auto"), or the
        windows of three at all positions, with b_1 from the first symbols.
    stationary : bool
        Whether initial probabilities are the stationary distribution of the transitions.
    pseudo_counts : float or "auto"
        Of the prior of EM: added to each row of initial, transition and emission probabilities, spread
        evenly; for a normal density, as many more numbers. "auto": a few.
    n_restarts : int
        Starts of learn="em".
    tol : float
        EM stops when a step gains less, in nats per position.
    max_iter : int
        Largest number of EM steps of each start.
    learning_rate : float
        Of learn="online-em", above 0.5 and up to 1: batch t has weight ``(t + 2) ** -learning_rate``
        (Liang and Klein 2009).
    negative : {"floor", "nan", "raise"}
        The log-probability of a sequence if operators (learn="spectral") give one of its symbols an
        estimate that is not positive: that of predictions made proper (as printed, 1e-3 of the symbol's
        frequency at such a position), NaN, or an error.
    unknown : {"error", "missing"}
        What queries do with a symbol that was not seen in training.
    n_jobs : int or None
        Threads; the model does not depend on it.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of splits and starts.

    Attributes
    ----------
    initial_, transitions_, emissions_ : arrays
        (state,), (state, next state) and (state, symbol) probabilities; the states most visited first.
    durations_ : DurationTable, NegativeBinomialDurations or None
        How long segments of the states last: `hazards` (state, age) are P(a segment ends | it has lasted so
        long). See `tacit.sequences.model.durations`.
    means_, covariances_ : arrays
        (state, column) and (state, column, column), of emitted numbers.
    symbols_ : tuple
        The symbols in the order of columns of `emissions_`.
    parameters_ : ChainTables, GaussianChain, ... or ProperOperators
        The parameters; their type depends on `emissions`.
    diagnostics_ : dict
        In plain values: singular values, steps, candidates.

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
        emissions: str | Mapping[str, str] = "auto",
        covariance: str = "full",
        n_components: int = 2,
        transitions: Any = "full",
        initial: Any = "auto",
        tied: Any = None,
        durations: str | None = None,
        max_duration: int | str = "auto",
        features: Any = "auto",
        reach: int = 2,
        preset: str | None = None,
        windows: str = "auto",
        stationary: bool = False,
        pseudo_counts: float | str = "auto",
        n_restarts: int = 5,
        tol: float = 5e-7,
        max_iter: int = 300,
        learning_rate: float = 0.6,
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
        self.n_components = n_components
        self.transitions = transitions
        self.initial = initial
        self.tied = tied
        self.durations = durations
        self.max_duration = max_duration
        self.features = features
        self.reach = reach
        self.preset = preset
        self.windows = windows
        self.stationary = stationary
        self.pseudo_counts = pseudo_counts
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.negative = negative
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lengths: Any = None,
        validation: Any = None,
        states: Any = None,
    ) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of sequences, array, (X, lengths), frame or path
            See `tacit.sequences.data.read_sequences`; None and NaN are missing. For numbers see `KernelHMM`.
        y : None
            Not used; or lengths, as in hmmlearn.
        lengths : (sequence,) integers, optional
            If X holds all sequences one after the other.
        validation : the same as X, optional
            Held-out sequences for model selection. Without them a part of X is held out if there is
            something to select, and the model is refitted to all of X at the end.
        states : the same as X, of integers, optional
            The states that are known, from 0 to ``n_states - 1``; -1 and None are not known. States then keep
            their numbers. Of a frame they belong to its rows, in whatever order these are.
        """
        from tacit.sequences.data.known_states import read_states
        from tacit.sequences.learn.fit import fit_hmm

        settings = settings_of(self)
        with self._working() as report:
            X = list(X) if isinstance(X, Iterator) else X
            emission = self._check_learner(emission_for(self.emissions, X))
            lengths = lengths_from(X, y, lengths, rows=emission.numbers)
            data, held_out = emission.read(X, lengths, unknown=self.unknown), None
            emission.check(data)
            emission = emission.bound(data)
            known_states = None
            if states is not None:
                if isinstance(self.n_states, str):
                    raise ArgumentError("states= goes with a number of states; give n_states=")
                rows = getattr(data, "order", None)
                known_states = read_states(states, data.lengths, int(self.n_states), rows)
                check_generic(self, "states=")
            if validation is not None:
                known = data.symbols or data.names
                held_out = emission.read(validation, None, known, self.unknown)
            stream = emission.stream(data, settings)
            fitted = fit_hmm(
                emission, data, stream, held_out, self.n_states, settings, report, known_states
            )
        return self._set_fitted(fitted, X, data, stream)

    def partial_fit(
        self, X: Any, y: Any = None, *, lengths: Any = None, symbols: Any = None
    ) -> Self:
        """Learn from more sequences, besides those of earlier calls.

        Counts of windows of all sequences are kept; they add, so chunks may have any size. So is a random
        sample of sequences, of about a million positions: learn="auto" runs EM on it, and it selects the
        number of states and the weight of frequencies. learn="tensor" and "spectral" with a given number of
        states use the counts, learn="em" the sample alone; learn="online-em" continues with the new
        sequences. Numbers have no counts: models of numbers are learnt from the sample.

        Parameters
        ----------
        X : sequences
        y : None
            Not used.
        lengths : (sequence,) integers, optional
        symbols : sequence of hashables, optional
            All symbols that will ever come, at the first call; by default those of the first chunk. Others
            are errors or missing, as `unknown` says.
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
            learnt = self._emission
            if name != "auto" and emission_for(name, X).name != learnt.name:
                raise NotAvailableError(
                    f"this model was not learnt with emissions={name!r}; call fit"
                )
        settings = settings_of(self)
        emission = self._check_learner(emission_for(name, X) if before is None else learnt)
        lengths = lengths_from(X, y, lengths, rows=emission.numbers)
        known = symbols if before is None else self.symbols_ or self.names_
        data = emission.read(X, lengths, known, self.unknown)
        emission = emission.bound(data)
        with self._working() as report:
            first = before is None
            stream = emission.stream(data, settings) if first else before.joined(data, settings)
            emission.check(stream.data)
            fitted, stream = stream.fitted(emission, self.n_states, settings, report)
        return self._set_fitted(fitted, X, data, stream)

    def _examples(self, X: Any) -> Examples:
        X = list(X) if isinstance(X, Iterator) else X
        emission = self._check_learner(emission_for(self.emissions, X))
        return examples_of(emission.read(X, None, unknown=self.unknown))

    def to_hmmlearn(self) -> Any:
        """The same model as one of hmmlearn.

        Categorical emissions give a ``CategoricalHMM``, others a ``GaussianHMM``, ``GMMHMM``, ``PoissonHMM``
        or ``MultinomialHMM``; there is none for negative binomial ones, angles and columns of several kinds.
        Symbols become their indices in `symbols_`. It scores the same, and its `fit` continues from here.
        """
        from tacit.sequences.files.hmmlearn import hmmlearn_model
        from tacit.sequences.query.hidden_states import segments_of

        learnt = self._with_states("to_hmmlearn")
        if segments_of(learnt) is not None:
            raise NotAvailableError(
                "hmmlearn has no durations of states; fit without durations= for a model that it has"
            )
        return hmmlearn_model(emission_of(learnt), learnt)

    @classmethod
    def from_hmmlearn(cls, model: Any, symbols: Any = None) -> Self:
        """A fitted model of hmmlearn.

        Parameters
        ----------
        model : CategoricalHMM, GaussianHMM, GMMHMM, PoissonHMM or MultinomialHMM
        symbols : sequence of hashables, optional
            The symbols of its integers; the integers themselves by default.
        """
        from tacit.core.input.columns import positional_names
        from tacit.sequences.data.symbols import known_symbols
        from tacit.sequences.files.hmmlearn import parameters_from_hmmlearn

        learnt = parameters_from_hmmlearn(model, list(EMISSIONS.values()))
        emission = emission_of(learnt)
        hmm = cls(learnt.n_states, emissions=emission.name, **emission.arguments(learnt))
        hmm.names_, hmm.symbols_, hmm.n_features_in_ = (), (), 1
        if emits_numbers(emission):
            hmm.n_features_in_ = emission.means(learnt).shape[1]
            hmm.names_ = positional_names(hmm.n_features_in_)
        elif emits_symbols(emission):
            n = emission.probabilities(learnt).shape[1]
            hmm.symbols_ = known_symbols(range(n) if symbols is None else symbols)
            if len(hmm.symbols_) != n:
                raise ArgumentError(f"{len(hmm.symbols_)} symbols for a model of {n}; name each")
        hmm.parameters_ = learnt
        hmm.diagnostics_ = {"learn": "hmmlearn", "n_states": learnt.n_states}
        return hmm

    # -- private ----------------------------------------------------------------------------------

    def _check_learner(self, emission: Emission) -> Emission:
        """The same emission, if it can be learnt as `learn` and `features` say."""
        if emission.numbers and are_given(self.features):
            raise ArgumentError(
                f"features of symbols with emissions={emission.name!r}; give features as an integer, or "
                f'emissions="categorical"'
            )
        if self.learn not in emission.learners:
            raise ArgumentError(
                f"learn={self.learn!r} with emissions={emission.name!r}, which are learnt by "
                f"{', '.join(map(repr, emission.learners))}. KernelHMM has spectral operators of numbers; "
                f'emissions="categorical" takes numbers as symbols'
            )
        return emission
