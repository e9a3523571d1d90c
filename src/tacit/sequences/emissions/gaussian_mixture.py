"""Mixtures of Gaussians in each state: densities of any shape of rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.header_values import text
from tacit.core.files.ranges import covariances, moderate, probabilities
from tacit.core.linalg.cells import cells_of
from tacit.errors import ArgumentError
from tacit.sequences.emissions.density_emission import DensityEmission, column_names, strength_of
from tacit.sequences.emissions.gaussian_density import GaussianDensity, GaussianRows
from tacit.sequences.model.emission_chain import EmissionChain, masked_rows

if TYPE_CHECKING:
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

FORMS = ("full", "diagonal", "spherical")
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class GaussianMixtureDensity:
    """Weights, means and covariances of the components of each state."""

    kind: ClassVar[str] = "gaussian-mixture"

    weights: Array  # (state, component)  rows sum to one
    components: GaussianDensity  # those of the first state come first

    @staticmethod
    def of(weights: Array, means: Array, spreads: Array, form: str) -> GaussianMixtureDensity:
        """Of arrays (state, component), (state, component, column) and (state, component, column, column)."""
        d = means.shape[-1]
        inner = GaussianDensity(means.reshape(-1, d), spreads.reshape(-1, d, d), form)
        return GaussianMixtureDensity(weights, inner)

    @property
    def n_states(self) -> int:
        """Number of densities."""
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        """Numbers of a row."""
        return self.components.n_columns

    @property
    def n_components(self) -> int:
        """Of each state."""
        return int(self.weights.shape[1])

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return int(self.weights.size) - self.n_states + self.components.n_parameters

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state)."""
        return self.mixed(self.components.log_likelihoods(values))[0]

    def mixed(self, logs: Array) -> tuple[Array, Array]:
        """(position, state) log-densities of those of components, and the posterior of these."""
        k, c = self.weights.shape
        joint = logs.reshape(-1, k, c) + np.log(np.maximum(self.weights, _LEAST))
        top = joint.max(axis=2)
        scaled = np.exp(joint - top[:, :, None])
        sums = scaled.sum(axis=2)
        return np.log(sums) + top, scaled / sums[:, :, None]

    def ordered(self, order: NDArray[np.integer]) -> GaussianMixtureDensity:
        """The densities of some states."""
        c = self.n_components
        places = (np.asarray(order)[:, None] * c + np.arange(c)).ravel()
        return GaussianMixtureDensity(self.weights[order], self.components.ordered(places))

    @property
    def flat(self) -> Array:
        """Weights, and those of the components."""
        return np.concatenate([self.weights.ravel(), self.components.flat])

    def of_flat(self, values: Array) -> GaussianMixtureDensity:
        """The nearest valid densities."""
        weights, components = np.split(values, [self.weights.size])
        rows = weights.reshape(self.weights.shape)
        return GaussianMixtureDensity(
            masked_rows(rows, np.ones(rows.shape, bool)), self.components.of_flat(components)
        )

    def masses(self, visits: Array) -> Array:
        """Expected counts of components, and information on these."""
        counts = (visits[:, None] * self.weights).ravel()
        return np.concatenate([counts, self.components.masses(counts)])

    def _component_weights(self, weights: Array) -> Array:
        """(row, component of a state) of (row, state) weights."""
        return np.asarray((weights[:, :, None] * self.weights).reshape(len(weights), -1))

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Rows of numbers."""
        below = np.cumsum(self.weights, axis=1)[:, :-1]
        chosen = (rng.random(states.shape)[..., None] >= below[states]).sum(axis=-1)
        return self.components.sample(states * self.n_components + chosen, rng)

    @property
    def means(self) -> Array:
        """(state, column)."""
        return self.expectation(np.eye(self.n_states))

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures."""
        return np.asarray(self._component_weights(weights) @ self.components.means)

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point)."""
        inner = self.components.densities(column, grid)
        return np.asarray(self._component_weights(np.eye(self.n_states)) @ inner)

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level)."""
        return self.components.quantiles(self._component_weights(weights), levels)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """Weight and means of the heaviest components."""
        names = column_names(labels)
        means = self.components.means.reshape(self.n_states, self.n_components, -1)
        orders = np.argsort(-self.weights, axis=1, kind="stable")[:, :most]
        return [
            [
                f"{100 * weights[c]:.0f}% at "
                + " ".join(f"{n}{m:.3g}" for n, m in zip(names, centres[c], strict=True))
                for c in order
            ]
            for weights, centres, order in zip(self.weights, means, orders.tolist(), strict=True)
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """(state, component), (state, component, column) and (state, component, column, column)."""
        shape = (*self.weights.shape, self.n_columns)
        spreads = self.components.covariances.reshape(*shape, self.n_columns)
        return {
            "weights_": self.weights,
            "means_": self.components.means.reshape(shape),
            "covariances_": spreads,
        }

    @property
    def arguments(self) -> dict[str, Any]:
        """The form of the covariances, and the number of components."""
        return {"covariance": self.components.form, "n_components": self.n_components}


def _record(weights: Array, means: Array, covariances: Array, form: str) -> GaussianMixtureDensity:
    return GaussianMixtureDensity.of(weights, means, covariances, form)


class GaussianMixtureRows:
    """Numbers to learn from, standardised; the prior is that of Gaussians for each component.

    Parameters
    ----------
    inner : GaussianRows
    n_components : int
        Of each state.
    strength : float
        Pseudo-counts of the weights of each component.
    """

    log_constant = 0.0

    def __init__(self, inner: GaussianRows, n_components: int, strength: float) -> None:
        self.inner, self.n_components, self.strength = inner, n_components, strength
        self._last: tuple[GaussianMixtureDensity, Array] | None = None

    @property
    def features(self) -> Array:
        """The standardised numbers."""
        return self.inner.features

    def log_likelihoods(self, density: GaussianMixtureDensity) -> Array:
        """(position, state)."""
        logs, posterior = density.mixed(self.inner.log_likelihoods(density.components))
        self._last = density, posterior  # the M-step that follows needs it
        return logs

    def maximised(
        self, posterior: Array, density: GaussianMixtureDensity | None = None
    ) -> GaussianMixtureDensity:
        """Weights, means and covariances by one step of EM inside the states."""
        k, c = posterior.shape[1], self.n_components
        if density is None:
            within, strength = self._parts(posterior), max(self.strength, 1.0)
        else:
            if self._last is None or self._last[0] is not density:
                self.log_likelihoods(density)
            assert self._last is not None
            within, strength = self._last[1], self.strength
        joint = posterior[:, :, None] * within
        counts = joint.sum(axis=0) + strength
        inner = None if density is None else density.components
        components = self.inner.maximised(joint.reshape(-1, k * c), inner)
        return GaussianMixtureDensity(masked_rows(counts, np.ones((k, c), bool)), components)

    def _parts(self, posterior: Array) -> Array:
        """(position, state, component) clusters of the rows of each state."""
        k, c = posterior.shape[1], self.n_components
        within = np.full((len(posterior), k, c), 1.0 / c)
        likeliest = np.where(posterior.max(axis=1) > 0, posterior.argmax(axis=1), -1)
        for state in range(k):
            rows = np.flatnonzero(likeliest == state)
            features = self.inner.features[rows]
            if len(rows) < c or np.isnan(features).all():
                continue
            codes = cells_of(features, c, np.random.default_rng(state))
            within[rows, state] = np.where(codes[:, None] >= 0, np.eye(c)[codes], 1.0 / c)
        return within

    def log_prior(self, density: GaussianMixtureDensity) -> float:
        """Dirichlet densities of weights, and those of Gaussians."""
        logs = np.log(np.maximum(density.weights, _LEAST))
        return self.strength * float(logs.sum()) + self.inner.log_prior(density.components)

    def taken(self, places: NDArray[np.integer]) -> GaussianMixtureRows:
        """Some of the rows."""
        return GaussianMixtureRows(self.inner.taken(places), self.n_components, self.strength)

    def finished(self, density: GaussianMixtureDensity) -> GaussianMixtureDensity:
        """The densities of the numbers as they were; the heaviest components first."""
        components = self.inner.finished(density.components)
        mixed = GaussianMixtureDensity(density.weights, components)
        order = np.argsort(-density.weights, axis=1, kind="stable")
        places = (np.arange(mixed.n_states)[:, None] * mixed.n_components + order).ravel()
        weights = np.take_along_axis(density.weights, order, axis=1)
        return GaussianMixtureDensity(weights, components.ordered(places))


class GaussianMixture(DensityEmission):
    """A mixture of Gaussians in each state."""

    name: ClassVar[str] = "gaussian-mixture"
    density: ClassVar[type] = GaussianMixtureDensity
    density_record: ClassVar[Record] = Record(
        GaussianMixtureDensity,
        Field("weights", ArrayField("group component", probabilities)),
        Field(
            "means",
            ArrayField("group component column", moderate),
            get=lambda density: density.attributes["means_"],
        ),
        Field(
            "covariances",
            ArrayField("group component column column", covariances),
            get=lambda density: density.attributes["covariances_"],
        ),
        Field("form", text(*FORMS), get=lambda density: density.components.form),
        make=_record,
    )

    def fill(self, parameters: Any, rows: Array, posterior: Array) -> Array:
        """Conditional means given the numbers of the position that are there."""
        from tacit.sequences.query.gaussian_emissions import expected_rows
        from tacit.sequences.query.imputation import filled_rows

        density: GaussianMixtureDensity = self.emitted(parameters)
        filled, gaps = rows.copy(), np.flatnonzero(np.isnan(rows).any(axis=1))
        if not len(gaps):
            return filled
        expected = expected_rows(density.components, rows[gaps])
        inner = density.mixed(density.components.log_likelihoods(rows[gaps]))[1]
        weights = (posterior[gaps][:, :, None] * inner).reshape(len(gaps), -1)
        filled[gaps] = filled_rows(rows[gaps], expected, weights)
        return filled

    def rows(self, values: Array, settings: HMMSettings) -> GaussianMixtureRows:
        """Numbers to learn from."""
        if settings.covariance not in FORMS:
            raise ArgumentError(
                f"covariance={settings.covariance!r} with emissions={self.name!r}, which has "
                f"{', '.join(map(repr, FORMS))}"
            )
        strength = strength_of(settings)
        inner = GaussianRows(values, settings.covariance, strength)
        return GaussianMixtureRows(inner, settings.n_components, strength)

    def to_hmmlearn(self, parameters: EmissionChain, **arguments: Any) -> Any:
        """A ``GMMHMM``."""
        from hmmlearn.hmm import GMMHMM

        density: GaussianMixtureDensity = self.emitted(parameters)
        values = density.attributes
        name = {"diagonal": "diag"}.get(density.components.form, density.components.form)
        model = GMMHMM(n_mix=density.n_components, covariance_type=name, **arguments)
        model.n_features = density.n_columns
        model.weights_, model.means_ = density.weights.copy(), values["means_"].copy()
        variances = np.diagonal(values["covariances_"], axis1=2, axis2=3)
        model.covars_ = {
            "full": values["covariances_"],
            "diag": variances,
            "spherical": variances[:, :, 0],
        }[name].copy()
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> EmissionChain | None:
        """Of a ``GMMHMM``; a covariance that is tied within each state becomes a full one."""
        from tacit.sequences.files.hmmlearn import probability_rows

        if not hasattr(model, "weights_") or not hasattr(model, "means_"):
            return None
        weights = probability_rows(model.weights_, "weights_")
        means = np.array(model.means_, dtype=np.float64)
        spreads, d = np.array(model.covars_, dtype=np.float64), means.shape[-1]
        name = getattr(model, "covariance_type", "diag")
        if name == "spherical":
            spreads = np.broadcast_to(spreads.reshape(means.shape[:2])[..., None], means.shape)
        if name in ("spherical", "diag"):
            spreads = spreads[..., None] * np.eye(d)
        elif name == "tied":
            spreads = spreads[:, None]
        spreads = np.broadcast_to(spreads, (*means.shape, d)).copy()
        form = {"diag": "diagonal", "tied": "full"}.get(name, name)
        density = GaussianMixtureDensity.of(weights, means, spreads, form)
        return EmissionChain(initial, transitions, density)
