"""Topics from moments: whitening, decomposition of the tensor, and the sum of Dirichlet parameters.

Anandkumar, Foster, Hsu, Kakade and Liu (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.core.linalg.tensor_power import Components, components_of, decompose, orthogonal_steps
from tacit.errors import ArgumentError, RankError
from tacit.topics.model.topics import Topics
from tacit.topics.moments.whitened import TopicMoments, Whitened, whitened

Array = NDArray[np.float64]

_ROUNDING = 1e-6  # relative error of the value of a component
# The range of the search for the sum of Dirichlet parameters; its precision is that of the logarithm.
_MIN_ALPHA0, _MAX_ALPHA0, _FACTOR, _PRECISION = 0.01, 100.0, 3.0, 0.1
_N_UPDATES = 8  # of components that start from those of another sum


@dataclass(frozen=True, slots=True, eq=False)
class TopicReport:
    """Diagnostics of the moments and of their decomposition."""

    alpha0: float
    solver: str
    eigenvalues: Array  # (topic + some,)  of pairs of words, descending
    noise: float  # bound of the eigenvalues that counting errors alone produce
    values: Array  # (topic,)  of the components of the whitened tensor, in the order of the topics
    surplus: NDArray[np.bool_]  # (topic,)  mostly noise, or a value too small for any topic
    residual: float  # of the tensor's squares, the part that the components do not explain
    total_weight: float  # sum of the weights before normalisation: near one
    repaired: float  # negative probability that was removed, mean over topics
    n_documents: int

    def as_dict(self) -> dict[str, Any]:
        """As plain numbers, strings and lists."""
        return {
            "alpha0": self.alpha0,
            "solver": self.solver,
            "eigenvalues": self.eigenvalues.tolist(),
            "noise": self.noise,
            "values": self.values.tolist(),
            "surplus": np.flatnonzero(self.surplus).tolist(),
            "residual": self.residual,
            "total_weight": self.total_weight,
            "repaired": self.repaired,
            "n_documents": self.n_documents,
        }


@dataclass(frozen=True, slots=True, eq=False)
class LearntTopics:
    """Topics learnt from moments, with diagnostics."""

    topics: Topics
    report: TopicReport


def topics_of_moments(
    moments: TopicMoments,
    n_topics: int | None = None,
    *,
    alpha0: float | Literal["auto"] = "auto",
    solver: str = "jacobi",
    shrunk: bool = False,
    random_state: int = 0,
) -> LearntTopics:
    """Topics from moments of words, pairs and triples (Anandkumar, Foster, Hsu, Kakade and Liu, 2012).

    The sum of each topic, which is one, determines its scale, sign and weight; negative entries are repaired
    by the nearest distribution. Topics are ordered by weight; surplus ones, no different from noise, come
    last.

    Parameters
    ----------
    moments : TopicMoments
    n_topics : int, optional
        How many topics to keep, the heaviest; by default as many as the moments have directions.
    alpha0 : float or "auto"
        The sum of the Dirichlet parameters, zero for one topic in each document; ``"auto"`` takes the one
        with which the whitened tensor is most nearly a sum of orthogonal components.
    solver : {"jacobi", "power", "simultaneous", "als"}
        See `tacit.core.linalg.tensor_power.decompose`.
    shrunk : bool
        Whether directions are shrunk the more counting errors they may contain. Topics are then nearer to
        the words of all documents and complete real documents better, but recover the topics of simulated
        documents less well.
    random_state : int
        For solvers that draw; the default one does not.
    """
    if alpha0 == "auto":
        # Directions of noise would make documents look like mixtures of more topics.
        n_above = int((np.diag(moments.directions.second) > moments.directions.noise).sum())
        alpha0 = best_alpha0(moments.leading(n_above if n_above > 1 else moments.n_topics))
    if not 0 <= alpha0 < np.inf:
        raise ArgumentError(f"alpha0={alpha0}; give a number that is zero or more, or 'auto'")
    white = whitened(moments, alpha0)
    components = decompose(white.tensor, solver, random_state=random_state)
    return _from_components(moments, white, components, alpha0, solver, n_topics, shrunk)


def best_alpha0(moments: TopicMoments) -> float:
    """The sum of Dirichlet parameters with the smallest relative residual of the tensor.

    A search by factors from one on until the residual grows, then by golden sections. Each decomposition
    starts from the components of the last.
    """
    search = _Alpha0Search(moments)
    step, low, high = np.log(_FACTOR), np.log(_MIN_ALPHA0), np.log(_MAX_ALPHA0)
    middle = 0.0
    sign = -1.0 if search.residual(-step) <= search.residual(step) else 1.0
    while low < middle < high and search.residual(middle + sign * step) < search.residual(middle):
        middle += sign * step
    golden = (np.sqrt(5) - 1) / 2
    low, high = middle - step, middle + step
    while high - low > _PRECISION:
        one, two = high - golden * (high - low), low + golden * (high - low)
        if search.residual(one) <= search.residual(two):
            high = two
        else:
            low = one
    return float(np.exp(0.5 * (low + high)))


class _Alpha0Search:
    """Residuals of the tensor for one sum of Dirichlet parameters after another."""

    def __init__(self, moments: TopicMoments) -> None:
        self.moments = moments
        self.residuals: dict[float, float] = {}
        self.columns: Array | None = None  # (p, topic)  components in the directions of pairs

    def residual(self, log_alpha0: float) -> float:
        """The relative residual, for the logarithm of the sum."""
        key = round(log_alpha0, 9)
        if key not in self.residuals:
            try:
                white = whitened(self.moments, float(np.exp(log_alpha0)))
            except RankError:
                self.residuals[key] = np.inf
                return np.inf
            if self.columns is None:
                components = decompose(white.tensor)
            else:
                turned = np.linalg.solve(white.unwhitening, self.columns)
                left, _, right = np.linalg.svd(turned / np.linalg.norm(turned, axis=0))
                vectors = orthogonal_steps(white.tensor, left @ right, _N_UPDATES)
                components = components_of(white.tensor, vectors)
            self.columns = white.unwhitening @ components.vectors
            self.residuals[key] = components.residual
        return self.residuals[key]


def _from_components(
    moments: TopicMoments,
    white: Whitened,
    components: Components,
    alpha0: float,
    solver: str,
    n_topics: int | None,
    shrunk: bool,
) -> LearntTopics:
    """Topics and weights from the components of the whitened tensor."""
    directions = moments.directions
    scale = directions.scale
    root = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    unwhitening = white.unwhitening * white.signal if shrunk else white.unwhitening
    columns = root[:, None] * (
        directions.basis @ (unwhitening @ components.vectors)
    )  # (word, topic)
    sums = columns.sum(axis=0)
    raw = (columns / np.where(sums == 0, 1.0, sums)).T
    words = np.zeros(raw.shape)
    words[:, scale > 0] = nearest_distributions(raw[:, scale > 0])
    weights = (alpha0 + 1) * sums**2
    total = float(weights.sum())
    min_value = 2 * np.sqrt(alpha0 + 1) / (alpha0 + 2)  # the value of a topic whose weight is one
    noise = np.square(components.vectors[~white.above_noise]).sum(
        axis=0
    )  # how much of a component is noise
    surplus = (components.values < min_value * (1 - _ROUNDING)) | (noise > 0.5)
    order = np.lexsort((-weights, surplus))[:n_topics]
    report = TopicReport(
        alpha0,
        solver,
        directions.values,
        directions.noise,
        components.values[order],
        surplus[order],
        components.residual,
        total,
        float(np.maximum(-raw, 0.0).sum() / len(raw)),
        directions.n_documents,
    )
    return LearntTopics(Topics(words[order], weights[order] / weights[order].sum(), alpha0), report)
