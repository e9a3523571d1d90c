"""Hidden Markov models of numbers, as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.errors import ArgumentError, DataError
from tacit.sequences.kernel_hmm_queries import ChainQueries
from tacit.sequences.model_files import KERNEL_HMM_FILE

LEARN = ("auto", "spectral")


class KernelHMM(ChainQueries):
    """A model of sequences of numbers: hidden states in turn, each with a density of any shape.

    With nothing given, stretches that are left out in turn choose the number of states, how fine the
    densities are, and whether several models together predict better than one. Nothing is assumed of the
    densities' shapes; missing numbers are summed out.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states (with learn="spectral": the rank of the operators).
    learn : {"auto", "spectral"}
        "auto": a hidden Markov model whose states emit mixtures of bells, normal densities at quantiles of
        the data, coarse ones among fine ones. Positions are clustered by what came before and what comes
        after, and accelerated MAP-EM follows. "spectral": operators from moments of kernel features (Song et
        al., 2010), of several lags where sequences are long enough; no iteration. Densities may be slightly
        negative: they are cut off, and a share of the column's own density is mixed in. Numbers only, not
        rows of them.
    bandwidth : float or "auto"
        "auto" with learn="spectral": by held-out density. A number is a multiple of the median distance of
        two numbers' normal scores there; with learn="auto", of the widths of bells (1 by default).
    n_bells : int or "auto"
        Bells of the finest level; "auto" chooses among 4, 8, 16, 32 and 64 by held-out density.
    n_components : int or "auto"
        Models that are blended, each with its own states. "auto": one where `n_states` is given, else as
        many of the best as are better together, up to five.
    pseudo_counts : float or "auto"
        Added to each row of initial, transition and emission probabilities, spread evenly; "auto": a few.
    max_iter : int
        Largest number of EM steps of each model.
    n_jobs : int or None
        Threads that try settings; the model does not depend on it.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the first clusters.

    Attributes
    ----------
    parameters_ : ChainTables or Operators
        What was learnt. Of a blend, the states of all its parts.
    operators_ : Operators
        The same as operators.
    encoders_ : tuple
        The features of each column.
    n_states_ : int
        Hidden states of all parts together; the rank of operators.
    diagnostics_ : dict
        What was tried and chosen, in plain values: "candidates" (settings with their held-out scores, in
        nats per position), "held_out_score", "n_states", "n_bells" and so on.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> rng = np.random.default_rng(0)
    >>> calm = np.repeat(rng.integers(0, 2, 40), 25)
    >>> series = rng.normal(size=1000) * np.where(calm, 0.5, 3.0)
    >>> model = tacit.KernelHMM(n_states=2).fit(series)
    >>> low, high = model.quantiles(series, [0.05, 0.95])
    >>> bool(low < 0 < high)
    True
    """

    _file = KERNEL_HMM_FILE

    def __init__(
        self,
        n_states: int | str = "auto",
        learn: str = "auto",
        *,
        bandwidth: float | str = "auto",
        n_bells: int | str = "auto",
        n_components: int | str = "auto",
        pseudo_counts: float | str = "auto",
        max_iter: int = 500,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_states = n_states
        self.learn = learn
        self.bandwidth = bandwidth
        self.n_bells = n_bells
        self.n_components = n_components
        self.pseudo_counts = pseudo_counts
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, validation: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of sequences, one sequence, (values, lengths), or frame
            A list holds a sequence in each entry: numbers, or (time, column) rows of numbers. A single array
            of numbers is one sequence; one with two axes, or a frame, is one sequence of rows, whose columns
            are independent given the state. A tuple of an array and of integers holds all sequences in turn,
            and their lengths. NaN and None are missing.
        y : None
            Not used.
        validation : the same, optional
            Sequences to choose by. Without them stretches of 100 positions of X are left out in turn, and
            the model is learnt again from all of X at the end.
        """
        import numpy as np

        from tacit.sequences.data.number_sequences import read_series
        from tacit.sequences.learn.kernel_hmm_selection import learn_chain
        from tacit.sequences.learn.kernel_hmm_spectral import learn_spectral

        settings = self._settings()
        series = read_series(X)
        self._check_numbers(series)
        held_out = None if validation is None else read_series(validation, series.names)
        learning = learn_spectral if self.learn == "spectral" else learn_chain
        with self._working() as report:
            learnt = learning(series, held_out, settings, report)
        self.parameters_ = learnt.parameters
        self.encoders_ = learnt.encoders
        self.fallback_ = learnt.fallback
        self.names_ = series.names
        self.n_features_in_ = series.n_columns
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(series.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.diagnostics_ = {
            "n_sequences": len(series.lengths),
            "n_positions": series.n_positions,
            **learnt.diagnostics,
        }
        return self

    # -- within -----------------------------------------------------------------------------------

    def _settings(self) -> Any:
        """The arguments about learning, checked."""
        from tacit.core.threads import n_threads
        from tacit.sequences.learn.kernel_hmm_selection import ChainSettings

        check_choice("learn", self.learn, LEARN)
        for name in ("n_states", "n_bells", "n_components"):
            value = getattr(self, name)
            if isinstance(value, str):
                check_choice(name, value, ("auto",))
            else:
                check_count(name, value)
        check_number("bandwidth", self.bandwidth, positive=True, word="auto")
        check_number("pseudo_counts", self.pseudo_counts, word="auto")
        check_count("max_iter", self.max_iter)
        if self.learn == "spectral" and self.n_components not in ("auto", 1):
            raise ArgumentError(
                f'n_components={self.n_components} with learn="spectral"; several models are blended by '
                f'learn="auto" only'
            )
        return ChainSettings(
            n_states=self.n_states,
            n_bells=self.n_bells,
            bandwidth=None if isinstance(self.bandwidth, str) else float(self.bandwidth),
            n_components=self.n_components,
            pseudo_counts=(
                None if isinstance(self.pseudo_counts, str) else float(self.pseudo_counts)
            ),
            max_iter=int(self.max_iter),
            n_jobs=n_threads(self.n_jobs) or 1,
            seed=seed_from(self.random_state),
        )

    @staticmethod
    def _check_numbers(series: Any) -> None:
        """Raise where there is nothing to learn from."""
        import numpy as np

        if series.n_positions == 0:
            raise DataError("there is not a single position to learn from; give longer sequences")
        empty = np.flatnonzero(np.isnan(series.values).all(axis=0))
        if len(empty):
            raise DataError(
                f"column {series.names[empty[0]]!r} holds no number at all; leave it out"
            )
