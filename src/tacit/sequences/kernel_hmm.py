"""Hidden Markov models of numbers, as scikit-learn estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.core.model import checked_summary
from tacit.errors import ArgumentError
from tacit.sequences.kernel_hmm_queries import ChainQueries
from tacit.sequences.model_files import KERNEL_HMM_FILE

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.core.summary import Summary

LEARN = ("auto", "spectral")


class KernelHMM(ChainQueries):
    """A hidden Markov model of sequences of numbers, whose states have densities of any shape.

    By default cross-validation selects the number of states, how fine the densities are, and whether a blend
    of several models predicts better than one. Missing numbers are integrated out.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states (with learn="spectral": the rank of the operators).
    learn : {"auto", "spectral"}
        "auto": a hidden Markov model whose states emit mixtures of basis densities, normal ones at
        quantiles of the data, of several widths. Positions are clustered by their past and future, and
        accelerated MAP-EM follows. "spectral": operators from moments of kernel features (Song et al.,
        2010), of several lags if sequences are long enough; no iteration. Densities may be slightly
        negative: they are clipped, and the column's marginal density is mixed in. Several columns have
        features together, with a product of kernels: they need not be independent given the state.
    bandwidth : float or "auto"
        "auto" with learn="spectral": by held-out density. A number is a multiple of the median distance of
        two numbers' normal scores; with learn="auto", of the widths of the basis densities (default 1).
    n_basis : int or "auto"
        Basis densities of the finest level; "auto" selects 4, 8, 16, 32 or 64 by held-out density.
    n_components : int or "auto"
        Models that are blended, each with its own states. "auto": one if `n_states` is given, else up
        to five of the best, as many as predict better together.
    pseudo_counts : float or "auto"
        Added to each row of initial, transition and emission probabilities, spread evenly; "auto": a few.
    max_iter : int
        Largest number of EM steps of each model.
    n_jobs : int or None
        Threads of model selection; the model does not depend on it.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the first clusters.

    Attributes
    ----------
    parameters_ : ChainTables or Operators
        The parameters; of a blend, with the states of all its parts.
    operators_ : Operators
        The same as operators.
    encoders_ : tuple
        The features of each column; by learn="spectral" of several columns, those of all together.
    n_states_ : int
        Hidden states of all parts together; the rank of operators.
    diagnostics_ : dict
        In plain values: "candidates" (settings with their held-out scores, in
        nats per position), "held_out_score", "n_states", "n_basis" and so on.

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
        n_basis: int | str = "auto",
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
        self.n_basis = n_basis
        self.n_components = n_components
        self.pseudo_counts = pseudo_counts
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, validation: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : list of sequences, one sequence, (values, lengths), or frame
            A list holds a sequence in each entry: numbers, or (time, column) rows of numbers. A single array
            of numbers is one sequence; one with two axes, or a frame, is one sequence of rows, whose columns
            are independent given the state (by learn="spectral" they need not be). A tuple of an array and
            of integers holds all sequences one after the other, and their lengths. NaN and None are missing.
        y : None
            Not used; lengths may stand here, as hmmlearn has them.
        lengths : (sequence,) integers, optional
            Lengths of the sequences if X is one array of them.
        validation : the same, optional
            Held-out sequences for model selection. Without them blocks of 100 positions of X are held out in
            turn, and the model is refitted to all of X at the end.
        """
        import numpy as np

        from tacit.sequences.data.number_sequences import check_learnable, read_series
        from tacit.sequences.data.sequences import lengths_from
        from tacit.sequences.learn.kernel_hmm_selection import learn_chain
        from tacit.sequences.learn.kernel_hmm_spectral import learn_spectral

        settings = self._settings()
        series = read_series(X, lengths=lengths_from(X, y, lengths, rows=True))
        check_learnable(series)
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

    @checked_summary
    def summary(self) -> Summary:
        """The model on a page: fit, candidates, states with what they emit, transitions."""
        import numpy as np

        from tacit.messages.node_messages import Messages
        from tacit.sequences.query.summaries import state_sections, summary_of

        kind = f"{len(self.names_)} column{'' if len(self.names_) == 1 else 's'} of numbers"
        if not self._has_tables:
            title = f"KernelHMM: operators of rank {self.n_states_}, {kind}"
            return summary_of(title, self.diagnostics_, [])
        learnt: Any = self.parameters_
        descriptions = [""] * learnt.n_states
        for column, name in enumerate(self.names_):
            forecasts = self._forecasts(Messages(np.eye(learnt.n_states)), column)
            spans = forecasts.quantiles(np.array([0.05, 0.5, 0.95]))
            label = f"{name} " if len(self.names_) > 1 else ""
            for state, (low, middle, high) in enumerate(spans.tolist()):
                descriptions[state] += (
                    f"{'; ' if column else ''}{label}{low:.3g}, {middle:.3g}, {high:.3g}"
                )
        sections = state_sections(
            learnt.initial, learnt.transitions, learnt.stationary, descriptions, "5%, median, 95%"
        )
        return summary_of(
            f"KernelHMM: {learnt.n_states} states, {kind}", self.diagnostics_, sections
        )

    def _examples(self, X: Any) -> Examples:
        from tacit.sequences.data.number_sequences import read_series
        from tacit.sequences.data.sequences import examples_of

        return examples_of(read_series(X))

    # -- private ----------------------------------------------------------------------------------

    def _settings(self) -> Any:
        """The arguments about learning, checked."""
        from tacit.core.threads import n_threads
        from tacit.sequences.learn.kernel_hmm_selection import ChainSettings

        check_choice("learn", self.learn, LEARN)
        for name in ("n_states", "n_basis", "n_components"):
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
            n_basis=self.n_basis,
            bandwidth=None if isinstance(self.bandwidth, str) else float(self.bandwidth),
            n_components=self.n_components,
            pseudo_counts=(
                None if isinstance(self.pseudo_counts, str) else float(self.pseudo_counts)
            ),
            max_iter=int(self.max_iter),
            n_jobs=n_threads(self.n_jobs) or 1,
            seed=seed_from(self.random_state),
        )
