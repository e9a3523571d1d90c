"""Hidden Markov models of sequences that several machines have learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tacit.errors import ArgumentTypeError, DataError, NotAvailableError
from tacit.sequences.emissions import emission_of
from tacit.sequences.hmm_settings import settings_of
from tacit.sequences.hmm_smoothing import HMMSmoothing

if TYPE_CHECKING:
    from tacit.sequences.learn.fit import FittedHMM


class HMMStreams(HMMSmoothing):
    """Models that keep counts and a sample of their sequences, and can be merged."""

    n_states: Any
    learn: str

    def merge(self, other: HMMStreams) -> Self:
        """Learn from the sequences of two models, those of `other` after those of this one.

        What `fit` and `partial_fit` keep is joined, counts of windows and samples of sequences, and a model
        is learnt from it: the one that `fit` learns from all sequences, as long as these fit into the sample
        (about a million positions). Both models were learnt in this process or came as pickles; files do not
        hold what was kept.

        Parameters
        ----------
        other : HMM
            With the same emissions. It is not changed.

        Raises
        ------
        DataError
            The two know different symbols or columns, or counted different windows.
        NotAvailableError
            One of them came from a file, or learns by "online-em", whose batches follow each other.
        """
        if not isinstance(other, HMMStreams):
            raise ArgumentTypeError(f"other is a {type(other).__name__}; give an HMM")
        self._check_fitted()
        other._check_fitted()
        first, second = (getattr(model, "stream_", None) for model in (self, other))
        if first is None or second is None:
            raise NotAvailableError(
                "one of the models came from a file or another program, without the counts it was learnt "
                "from; merge models that were fitted, or pickles of them"
            )
        if "online-em" in (self.learn, other.learn):
            raise NotAvailableError(
                'learn="online-em" goes through one batch after the other; give both another learn='
            )
        emission, others = (emission_of(model.parameters_) for model in (self, other))
        kinds = [(kind.name, getattr(kind, "roles", None)) for kind in (emission, others)]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"the two models have different emissions: {emission.name!r} and {others.name!r}, or other "
                f"kinds of columns"
            )
        settings = settings_of(self)
        with self._working() as report:
            stream = first.merged(second)
            fitted, stream = stream.fitted(
                emission.bound(stream.data), self.n_states, settings, report
            )
        return self._set_fitted(fitted, None, stream.data, stream)

    def _set_fitted(self, fitted: FittedHMM, X: Any, data: Any, stream: Any) -> Self:
        """Set the fitted attributes."""
        self.parameters_ = fitted.parameters
        self.diagnostics_ = fitted.diagnostics
        self.names_, self.symbols_ = data.names, data.symbols
        self.stream_ = stream
        if data.names:
            self.n_features_in_ = len(data.names)
        elif X is not None:
            self._set_n_features_in(X, data)
        return self
