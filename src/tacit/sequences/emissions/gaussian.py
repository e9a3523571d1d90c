"""Gaussian emissions: numbers, or rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.header_values import flag
from tacit.core.files.ranges import covariances, moderate, probabilities
from tacit.core.progress import Report, silent
from tacit.sequences.data.number_sequences import Series, holds_numbers
from tacit.sequences.emissions.numbers import NumberEmission
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.gaussian_emissions import drawn_rows, next_quantiles, number_evidence
from tacit.sequences.query.hidden_states import StateEvidence

if TYPE_CHECKING:
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

GAUSSIAN_HMM = Record(
    GaussianChain,
    Field("initial", ArrayField("state", probabilities)),
    Field("transitions", ArrayField("state state", probabilities)),
    Field("means", ArrayField("state column", moderate)),
    Field("covariances", ArrayField("state column column", covariances)),
    Field("diagonal", flag()),
)


class Gaussian(NumberEmission):
    """Normal densities, with a covariance of the columns or with independent columns."""

    name: ClassVar[str] = "gaussian"
    learners: ClassVar[tuple[str, ...]] = ("auto", "tensor", "em")
    kinds: ClassVar[tuple[type, ...]] = (GaussianChain,)
    record: ClassVar[Mapping[str, Record]] = {"gaussian": GAUSSIAN_HMM}

    def is_default_for(self, X: Any) -> bool:
        """Of arrays and lists of floats."""
        return holds_numbers(X)

    def learn(
        self,
        data: Series,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Series | None = None,
        stream: Any = None,
        report: Report | None = None,
    ) -> tuple[GaussianChain, dict[str, Any]]:
        """Starts from cells and clusters, then EM."""
        from tacit.sequences.learn.gaussian_hmm import learn_numbers

        del held_out, stream  # not used for numbers
        return learn_numbers(data, n_states, settings, report or silent)

    def evidence(
        self, parameters: GaussianChain, positions: Array, ends: Integers
    ) -> StateEvidence:
        """Normal densities; missing numbers are integrated out."""
        return number_evidence(parameters, positions, ends)

    def sample(
        self, parameters: GaussianChain, states: NDArray[np.int32], rng: np.random.Generator
    ) -> Array:
        """Rows of normal numbers."""
        return drawn_rows(parameters, states, rng)

    def attributes(self, parameters: GaussianChain) -> dict[str, Array]:
        """Means (state, column) and covariances (state, column, column)."""
        return {"means_": parameters.means, "covariances_": parameters.covariances}

    def describe(
        self, parameters: GaussianChain, labels: Sequence[str], most: int
    ) -> list[list[str]]:
        """Mean and standard deviation of each column."""
        deviations = np.sqrt(np.diagonal(parameters.covariances, axis1=1, axis2=2))
        names = [f"{label} " for label in labels] if len(labels) > 1 else [""]
        return [
            [f"{name}{m:.3g} ± {s:.2g}" for name, m, s in zip(names, *row, strict=True)][:most]
            for row in zip(parameters.means, deviations, strict=True)
        ]

    def arguments(self, parameters: GaussianChain) -> dict[str, Any]:
        """Whether columns are independent."""
        return {"covariance": "diagonal" if parameters.diagonal else "full"}

    def means(self, parameters: GaussianChain) -> Array:
        """(state, column)."""
        return parameters.means

    def densities(self, parameters: GaussianChain, column: int, grid: Array) -> Array:
        """(state, grid point) normal densities."""
        means = parameters.means[:, column, None]
        variances = parameters.covariances[:, column, column, None]
        logs = -0.5 * (np.log(2 * np.pi * variances) + np.square(grid - means) / variances)
        return np.asarray(np.exp(logs))

    def quantiles(self, parameters: GaussianChain, weights: Array, levels: Array) -> Array:
        """(row, column, level) of mixtures."""
        return next_quantiles(parameters, weights, levels)

    def to_hmmlearn(self, parameters: GaussianChain, **arguments: Any) -> Any:
        """A ``GaussianHMM``."""
        from hmmlearn.hmm import GaussianHMM

        diagonal, covariances = parameters.diagonal, parameters.covariances
        model = GaussianHMM(covariance_type="diag" if diagonal else "full", **arguments)
        model.n_features = parameters.n_columns
        model.means_ = parameters.means.copy()
        # hmmlearn takes diagonal covariances in another shape than it gives them
        model.covars_ = (
            np.diagonal(covariances, axis1=1, axis2=2).copy() if diagonal else covariances
        )
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> GaussianChain | None:
        """Of a ``GaussianHMM``."""
        if not hasattr(model, "means_") or hasattr(model, "weights_"):
            return None
        means = np.array(model.means_, dtype=np.float64)
        d = means.shape[1]
        # (state, column, column) for every covariance type, except diagonals of old versions
        covariances = np.array(model.covars_, dtype=np.float64)
        if covariances.ndim == 2:
            covariances = covariances[:, :, None] * np.eye(d)
        if len(covariances) == d * len(means):
            covariances = covariances[::d]  # fitted spherical ones are repeated for each column
        diagonal = getattr(model, "covariance_type", "full") in ("diag", "spherical")
        per_state = np.broadcast_to(covariances, (len(means), d, d)).copy()
        return GaussianChain(initial, transitions, means, per_state, diagonal)
