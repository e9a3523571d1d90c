"""Starts of Gaussian mixtures, chosen by how well they foretell rows that were left out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.numbers.learn.mixture_forms import components_of, foretold, weighted_sums
from tacit.numbers.query.gaussian_mixture import membership

if TYPE_CHECKING:
    from tacit.numbers.model.gaussian_mixture import SphericalMixture

Array = NDArray[np.float64]

# Runs of k-means beside scikit-learn's.
N_CLUSTERINGS = 2
MOST_SWEEPS = 100
# Steps of EM from each start, before they are compared.
STEPS_TO_COMPARE = 10
# More rows than this are not looked at to compare them.
ROWS_TO_COMPARE = 4000
# A start is better than scikit-learn's if it foretells rows better by more than so many standard errors.
BETTER = 1.5


def rows_to_compare(n_rows: int) -> NDArray[np.int64]:
    """Which rows starts are compared on, in an order that means nothing; the same every time."""
    return np.random.default_rng(0).permutation(n_rows)[:ROWS_TO_COMPARE]


def judged(
    rows: Array, starts: Mapping[str, Array], form: str, *, least_variance: float, tol: float
) -> dict[str, Array]:
    """(row,) log-densities of rows left out, by EM from each start.

    Parameters
    ----------
    rows : (row, column)
        In an order that means nothing.
    starts : dict of (component, row) arrays
        How much each row belongs to each component.
    form : str
        Of the covariances.
    least_variance, tol : float
        Of EM.
    """
    how: dict[str, Any] = {"least_variance": least_variance, "tol": tol}
    centred = rows - rows.mean(axis=0)
    return {
        name: foretold(centred, chances, form, max_iter=STEPS_TO_COMPARE, **how)
        for name, chances in starts.items()
    }


def usual_start(rows: Array, n_components: int, seed: int) -> Array:
    """(component, row) the clusters of k-means that a `GaussianMixture` with a seed starts from."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        labels = KMeans(n_components, n_init=1, random_state=seed).fit(rows).labels_
    return _as_chances(labels, n_components)


def other_clusters(rows: Array, usual: Array) -> list[Array]:
    """(component, row) clusters of k-means from other seeds, where they are different."""
    centred = rows - rows.mean(axis=0)
    found = {_between(centred, usual): usual}
    for seed in range(N_CLUSTERINGS):
        rng = np.random.default_rng(seed)
        cells = cells_of(centred, len(usual), rng, most_sweeps=MOST_SWEEPS)
        chances = _as_chances(cells, len(usual))
        found.setdefault(_between(centred, chances), chances)
    return list(found.values())[1:]


def _as_chances(labels: NDArray[np.int32], n_components: int) -> Array:
    return np.asarray((np.arange(n_components)[:, None] == labels).astype(np.float64))


def _between(centred: Array, chances: Array) -> str:
    """The squares between clusters, to nine digits: whatever they are called, and whatever their order."""
    mass = np.maximum(chances.sum(axis=1), 1.0)
    return f"{(np.square(chances @ centred).sum(axis=1) / mass).sum():.9e}"


def start_for(
    rows: Array,
    mixture: SphericalMixture,
    form: str,
    *,
    least_variance: float,
    tol: float,
    seed: int,
) -> dict[str, Array] | None:
    """A start for scikit-learn's `GaussianMixture`, or None where covariances are singular.

    The clusters that it would start from are taken unless the components of the moments, or other clusters,
    foretell rows left out better, by more than `tol` and `BETTER` standard errors: what few rows say of two
    optima that are equally good is chance.

    Parameters
    ----------
    rows : (row, column)
    mixture : SphericalMixture
        Of the moments.
    form : str
        One of scikit-learn's.
    least_variance, tol : float
        Of EM.
    seed : int
        Of the `GaussianMixture`.
    """
    few = rows_to_compare(len(rows))
    usual = usual_start(rows, mixture.n_components, seed)
    starts = {"usual": usual[:, few], "moments": membership(mixture, rows[few])[1].T}
    for place, each in enumerate(other_clusters(rows[few], starts["usual"])):
        starts[f"clusters {place}"] = each
    scores = judged(rows[few], starts, form, least_variance=least_variance, tol=tol)
    chosen = _chosen(scores, "usual", tol)
    seen, chances = rows, usual
    if chosen == "moments":
        chances = membership(mixture, rows)[1].T
    elif chosen != "usual":
        seen, chances = rows[few], starts[chosen]
    middle = seen.mean(axis=0)
    try:
        found = components_of(weighted_sums(seen - middle, chances, form), form, least_variance)
    except np.linalg.LinAlgError:
        return None
    return {
        "weights_init": found.weights,
        "means_init": middle + found.means,
        "precisions_init": found.precisions(form),
    }


def _chosen(scores: dict[str, Array], usual: str, tol: float) -> str:
    """The best start, if it is better than the usual one."""
    means = {name: float(each.mean()) for name, each in scores.items()}
    least = means[usual]
    if np.isfinite(least):  # else covariances are singular from there
        better = [
            name
            for name, each in scores.items()
            if np.isfinite(means[name])
            and means[name] > least + max(tol, BETTER * _error(each - scores[usual]))
        ]
        return max(better, key=lambda name: means[name], default=usual)
    return max(means, key=lambda name: means[name])


def _error(differences: Array) -> float:
    """The standard error of their mean."""
    return float(differences.std() / np.sqrt(len(differences)))


def spherical_start(mixture: SphericalMixture, form: str) -> dict[str, Array]:
    """The mixture as it is, as a start for scikit-learn's `GaussianMixture` with covariances of a form."""
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
