"""Starts of EM for Gaussian mixtures, compared by held-out log-density."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.numbers.learn.mixture_forms import (
    held_out_log_densities,
    m_step,
    sufficient_statistics,
)
from tacit.numbers.query.gaussian_mixture import e_step

if TYPE_CHECKING:
    from tacit.numbers.model.gaussian_mixture import SphericalMixture

Array = NDArray[np.float64]

# Runs of k-means beside scikit-learn's.
N_CLUSTERINGS = 2
MAX_SWEEPS = 100
# Steps of EM from each start before the comparison.
EM_STEPS = 10
# Rows that the comparison uses at most.
MAX_ROWS = 4000
# Standard errors by which a start must beat scikit-learn's.
MIN_STANDARD_ERRORS = 1.5


def comparison_rows(n_rows: int) -> NDArray[np.int64]:
    """The rows on which starts are compared, in random order; the same every time."""
    return np.random.default_rng(0).permutation(n_rows)[:MAX_ROWS]


def held_out_scores(
    rows: Array, starts: Mapping[str, Array], form: str, *, reg_covar: float, tol: float
) -> dict[str, Array]:
    """(row,) held-out log-densities after a few steps of EM from each start.

    Parameters
    ----------
    rows : (row, column)
        In random order.
    starts : dict of (component, row) arrays
        Responsibilities.
    form : str
        Of the covariances.
    reg_covar, tol : float
        Of EM.
    """
    centred = rows - rows.mean(axis=0)
    return {
        name: held_out_log_densities(
            centred, responsibilities, form, reg_covar=reg_covar, max_iter=EM_STEPS, tol=tol
        )
        for name, responsibilities in starts.items()
    }


def kmeans_start(rows: Array, n_components: int, seed: int) -> Array:
    """(component, row) the clusters from which a `GaussianMixture` with this seed starts."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        labels = KMeans(n_components, n_init=1, random_state=seed).fit(rows).labels_
    return _one_hot(labels, n_components)


def other_clusterings(rows: Array, first: Array) -> list[Array]:
    """(component, row) clusters of k-means from other seeds, without duplicates of the first."""
    centred = rows - rows.mean(axis=0)
    distinct = {_between(centred, first): first}
    for seed in range(N_CLUSTERINGS):
        rng = np.random.default_rng(seed)
        clusters = cells_of(centred, len(first), rng, most_sweeps=MAX_SWEEPS)
        start = _one_hot(clusters, len(first))
        distinct.setdefault(_between(centred, start), start)
    return list(distinct.values())[1:]


def _one_hot(labels: NDArray[np.int32], n_components: int) -> Array:
    return np.asarray((np.arange(n_components)[:, None] == labels).astype(np.float64))


def _between(centred: Array, clusters: Array) -> str:
    """The sum of squares between clusters to nine digits: it does not depend on labels or their order."""
    counts = np.maximum(clusters.sum(axis=1), 1.0)
    return f"{(np.square(clusters @ centred).sum(axis=1) / counts).sum():.9e}"


def best_start(
    rows: Array, mixture: SphericalMixture, form: str, *, reg_covar: float, tol: float, seed: int
) -> dict[str, Array] | None:
    """A start for scikit-learn's `GaussianMixture`, or None where covariances are singular.

    It is the k-means start that `GaussianMixture` would use, unless the moment estimate or another
    clustering has a held-out log-density better by more than `tol` and `MIN_STANDARD_ERRORS` standard
    errors: between two equally good optima few rows choose by chance.

    Parameters
    ----------
    rows : (row, column)
    mixture : SphericalMixture
        The moment estimate.
    form : str
        One of scikit-learn's covariance types.
    reg_covar, tol : float
        Of EM.
    seed : int
        Of the `GaussianMixture`.
    """
    some = comparison_rows(len(rows))
    kmeans = kmeans_start(rows, mixture.n_components, seed)
    starts = {"k-means": kmeans[:, some], "moments": e_step(mixture, rows[some])[1].T}
    for number, clusters in enumerate(other_clusterings(rows[some], starts["k-means"])):
        starts[f"clusters {number}"] = clusters
    scores = held_out_scores(rows[some], starts, form, reg_covar=reg_covar, tol=tol)
    chosen = _significantly_better(scores, "k-means", tol)
    used, responsibilities = rows, kmeans
    if chosen == "moments":
        responsibilities = e_step(mixture, rows)[1].T
    elif chosen != "k-means":
        used, responsibilities = rows[some], starts[chosen]
    centre = used.mean(axis=0)
    statistics = sufficient_statistics(used - centre, responsibilities, form)
    try:
        components = m_step(statistics, form, reg_covar)
    except np.linalg.LinAlgError:
        return None
    return {
        "weights_init": components.weights,
        "means_init": centre + components.means,
        "precisions_init": components.precisions(form),
    }


def _significantly_better(scores: dict[str, Array], default: str, tol: float) -> str:
    """The best start where it is significantly better than the default, else the default."""
    means = {name: float(values.mean()) for name, values in scores.items()}
    if not np.isfinite(means[default]):  # its covariances are singular
        return max(means, key=lambda name: means[name])
    significant = [
        name
        for name, values in scores.items()
        if np.isfinite(means[name])
        and means[name] - means[default]
        > max(tol, MIN_STANDARD_ERRORS * _standard_error(values - scores[default]))
    ]
    return max(significant, key=lambda name: means[name], default=default)


def _standard_error(differences: Array) -> float:
    return float(differences.std() / np.sqrt(len(differences)))


def spherical_start(mixture: SphericalMixture, form: str) -> dict[str, Array]:
    """The mixture itself as a start for scikit-learn's `GaussianMixture`."""
    d, precisions = mixture.means.shape[1], 1 / mixture.variances
    shaped = {
        "full": precisions[:, None, None] * np.eye(d),
        "tied": np.eye(d) / (mixture.weights @ mixture.variances),
        "diag": np.repeat(precisions[:, None], d, axis=1),
        "spherical": precisions,
    }
    return {
        "weights_init": mixture.weights.copy(),
        "means_init": mixture.means.copy(),
        "precisions_init": shaped[form],
    }
