"""What all emissions of numbers have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.number_sequences import Series, check_learnable, read_series
from tacit.sequences.query.hidden_states import StateEvidence

if TYPE_CHECKING:
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.learn.number_stream import NumberSample

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class NumberEmission:
    """Reading, streams, scores from likelihoods of positions; subclasses add learning and densities."""

    numbers: ClassVar[bool] = True

    def is_default_for(self, X: Any) -> bool:
        """Only where a kind says so."""
        del X
        return False

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Series:
        """Sequences of numbers."""
        del unknown  # of symbols only
        return read_series(X, known or None, lengths)

    def check(self, data: Series) -> None:
        """Raise where a column holds no number, or far too small ones."""
        check_learnable(data)

    def stream(self, data: Series, settings: HMMSettings) -> NumberSample:
        """A random sample of the sequences."""
        from tacit.sequences.learn.number_stream import NumberSample

        return NumberSample.of(data, settings.seed)

    def search(self, data: Series, settings: HMMSettings) -> dict[str, int | None]:
        """The usual numbers of states."""
        del data, settings
        return {}

    def evidence(self, parameters: Any, positions: Array, ends: Integers) -> StateEvidence:
        """Likelihoods of the states at each position."""
        raise NotImplementedError

    def log_probs(self, parameters: Any, data: Series) -> Array:
        """From likelihoods of positions, block by block."""
        from tacit.sequences.query.hidden_states import filtered
        from tacit.sequences.query.hmm_scores import evidence_blocks

        log_probs = [
            filtered(parameters, evidence).log_probs()
            for evidence in evidence_blocks(self.evidence, parameters, data)
        ]
        return np.concatenate([np.zeros(0), *log_probs])

    def arguments(self, parameters: Any) -> dict[str, Any]:
        """None."""
        del parameters
        return {}

    def probabilities(self, parameters: Any) -> Array:
        """Numbers have none."""
        raise NotImplementedError

    def to_hmmlearn(self, parameters: Any, **arguments: Any) -> Any:
        """There is no such model."""
        del parameters, arguments

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> Any:
        """There is no such model."""
        del model, initial, transitions
