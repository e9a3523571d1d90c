"""Gaussian emissions: numbers, or rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.header_values import flag
from tacit.core.files.ranges import covariances, moderate, probabilities
from tacit.core.progress import Report, silent
from tacit.sequences.data.number_sequences import Series, holds_numbers
from tacit.sequences.emissions.density_emission import DensityEmission, strength_of
from tacit.sequences.emissions.gaussian_density import (
    GAUSSIAN_DENSITY,
    GaussianDensity,
    GaussianRows,
)
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.gaussian_emissions import number_evidence
from tacit.sequences.query.hidden_states import StateEvidence

if TYPE_CHECKING:
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Parameters = GaussianChain | EmissionChain

GAUSSIAN_HMM = Record(
    GaussianChain,
    Field("initial", ArrayField("state", probabilities)),
    Field("transitions", ArrayField("state state", probabilities)),
    Field("means", ArrayField("state column", moderate)),
    Field("covariances", ArrayField("state column column", covariances)),
    Field("diagonal", flag()),
)
_FAST = ("full", "diagonal")  # covariances that have a learner of their own


@dataclass(frozen=True, eq=False)
class NormalLikelihoods:
    """Normal densities of one row of numbers without gaps."""

    whiteners: Array  # (state * column, column)
    centres: Array  # (state * column,)  whitened means
    log_peaks: Array  # (state,)

    def __call__(self, row: Array) -> tuple[Array, float]:
        """Likelihoods and the log of their scale."""
        whitened = self.whiteners @ row
        whitened -= self.centres
        whitened *= whitened
        squares = whitened.reshape(len(self.log_peaks), -1).sum(axis=1)
        logs = self.log_peaks - 0.5 * squares
        log_scale = float(logs.max())
        logs -= log_scale
        return np.exp(logs), log_scale


class Gaussian(DensityEmission):
    """Normal densities; covariances full, diagonal, spherical, or one of all states."""

    name: ClassVar[str] = "gaussian"
    learners: ClassVar[tuple[str, ...]] = ("auto", "tensor", "em")
    kinds: ClassVar[tuple[type, ...]] = (GaussianChain, EmissionChain)
    record: ClassVar[Mapping[str, Record]] = {"gaussian": GAUSSIAN_HMM}
    density: ClassVar[type] = GaussianDensity
    density_record: ClassVar[Record] = GAUSSIAN_DENSITY

    def is_default_for(self, X: Any) -> bool:
        """Of arrays and lists of floats."""
        return holds_numbers(X)

    def rows(self, values: Array, settings: HMMSettings) -> GaussianRows:
        """Numbers to learn from."""
        return GaussianRows(values, settings.covariance, strength_of(settings))

    def learn(
        self,
        data: Series,
        n_states: int,
        settings: HMMSettings,
        *,
        held_out: Series | None = None,
        stream: Any = None,
        states: NDArray[np.integer] | None = None,
        report: Report | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts from cells and clusters, then EM."""
        from tacit.sequences.learn.gaussian_hmm import learn_numbers

        if settings.has_shape or states is not None or settings.covariance not in _FAST:
            return super().learn(data, n_states, settings, states=states, report=report)
        del held_out, stream  # not used for numbers
        return learn_numbers(data, n_states, settings, report or silent)

    def refined(self, data: Series, start: Parameters, settings: HMMSettings) -> Any:
        """EM on these numbers; None with covariances of the generic learner."""
        from tacit.sequences.learn.gaussian_hmm import refined_numbers

        if isinstance(start, EmissionChain):
            return super().refined(data, start, settings)
        return refined_numbers(data, start, settings)

    def emitted(self, parameters: Parameters) -> GaussianDensity:
        """Normal densities of the states."""
        if isinstance(parameters, EmissionChain):
            density: GaussianDensity = parameters.emitted
            return density
        form = "diagonal" if parameters.diagonal else "full"
        return GaussianDensity(parameters.means, parameters.covariances, form)

    def evidence(self, parameters: Parameters, positions: Array, ends: Integers) -> StateEvidence:
        """Normal densities; missing numbers are integrated out."""
        if isinstance(parameters, GaussianChain):
            return number_evidence(parameters, positions, ends)
        return super().evidence(parameters, positions, ends)

    def at_position(self, parameters: Parameters) -> NormalLikelihoods:
        """Normal densities of one row of numbers."""
        density = self.emitted(parameters)
        (k, d), whiteners = density.means.shape, density.inverse_factors
        return NormalLikelihoods(
            whiteners.reshape(k * d, d),
            np.einsum("kij,kj->ki", whiteners, density.means).ravel(),
            -density.log_sizes - 0.5 * d * np.log(2 * np.pi),
        )

    def fill(self, parameters: Parameters, rows: Array, posterior: Array) -> Array:
        """Conditional means given the numbers of the position that are there."""
        from tacit.sequences.query.gaussian_emissions import expected_rows
        from tacit.sequences.query.imputation import filled_rows

        filled, gaps = rows.copy(), np.flatnonzero(np.isnan(rows).any(axis=1))
        expected = expected_rows(self.emitted(parameters), rows[gaps])
        filled[gaps] = filled_rows(rows[gaps], expected, posterior[gaps])
        return filled

    def to_hmmlearn(self, parameters: Parameters, **arguments: Any) -> Any:
        """A ``GaussianHMM``."""
        from hmmlearn.hmm import GaussianHMM

        density = self.emitted(parameters)
        names = {"diagonal": "diag"}
        model = GaussianHMM(covariance_type=names.get(density.form, density.form), **arguments)
        model.n_features = density.n_columns
        model.means_ = density.means.copy()
        # hmmlearn takes covariances in other shapes than it gives them
        variances = np.diagonal(density.covariances, axis1=1, axis2=2)
        model.covars_ = {
            "full": density.covariances,
            "diagonal": variances,
            "spherical": variances[:, 0],
            "tied": density.covariances[0],
        }[density.form].copy()
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> Parameters | None:
        """Of a ``GaussianHMM``."""
        if not hasattr(model, "means_") or hasattr(model, "weights_"):
            return None
        means = np.array(model.means_, dtype=np.float64)
        d = means.shape[1]
        # (state, column, column) for every covariance type, except diagonals of old versions
        spreads = np.array(model.covars_, dtype=np.float64)
        if spreads.ndim == 2:
            spreads = spreads[:, :, None] * np.eye(d)
        if len(spreads) == d * len(means):
            spreads = spreads[::d]  # fitted spherical ones are repeated for each column
        form = getattr(model, "covariance_type", "full")
        per_state = np.broadcast_to(spreads, (len(means), d, d)).copy()
        if form in ("spherical", "tied"):
            return EmissionChain(initial, transitions, GaussianDensity(means, per_state, form))
        return GaussianChain(initial, transitions, means, per_state, form == "diag")
