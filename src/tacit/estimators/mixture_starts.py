"""Starts of Gaussian mixtures, chosen by how well they foretell rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.params.gaussian_start import cells_of
from tacit.polish.gaussian_forms import components_of, foretold, weighted_sums
from tacit.query.gaussian_mixture import membership

if TYPE_CHECKING:
    from tacit.params.gaussian_mixture import SphericalMixture

Array = NDArray[np.float64]

# Runs of k-means that are compared with the moments.
N_CLUSTERINGS = 5
MOST_SWEEPS = 100
# Steps of EM from each start, before they are compared.
STEPS_TO_COMPARE = 10
# More rows than this are not looked at to compare them.
ROWS_TO_COMPARE = 4000
# A start is better than the tightest clusters if it foretells rows better by so many standard errors.
BETTER = 0.5


def rows_to_compare(rows: Array) -> Array:
    """Rows that starts are compared on, in an order that means nothing; the same every time."""
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order[:ROWS_TO_COMPARE]]


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


def clusterings(rows: Array, n_components: int) -> list[Array]:
    """(component, row) different clusters of k-means, the tightest first; none where rows are too few."""
    centred = rows - rows.mean(axis=0)
    found: dict[str, tuple[float, Array]] = {}
    for seed in range(N_CLUSTERINGS):
        cells = cells_of(
            centred, n_components, np.random.default_rng(seed), most_sweeps=MOST_SWEEPS
        )
        chances = np.zeros((n_components, len(rows)))
        chances[cells, np.arange(len(rows))] = 1.0
        mass = chances.sum(axis=1)
        if mass.all():
            between = float((np.square(chances @ centred).sum(axis=1) / mass).sum())
            found.setdefault(f"{between:.9e}", (between, chances))
    return [chances for _, chances in sorted(found.values(), key=lambda each: -each[0])]


def start_for(
    rows: Array, mixture: SphericalMixture, form: str, *, least_variance: float, tol: float
) -> dict[str, Array] | None:
    """A start for scikit-learn's `GaussianMixture`, or None where covariances are singular from all.

    The tightest clusters of k-means are the start unless components of the moments, or other clusters,
    foretell rows left out better, by more than `tol` and `BETTER` standard errors.

    Parameters
    ----------
    rows : (row, column)
    mixture : SphericalMixture
        Of the moments.
    form : str
        One of scikit-learn's.
    least_variance, tol : float
        Of EM.
    """
    how: dict[str, Any] = {"least_variance": least_variance, "tol": tol}
    rows = rows_to_compare(rows)
    named = enumerate(clusterings(rows, mixture.n_components))
    starts = {f"clusters {place}": each for place, each in named}
    starts["moments"] = membership(mixture, rows)[1].T
    scores = judged(rows, starts, form, **how)
    middle = rows.mean(axis=0)
    try:
        sums = weighted_sums(rows - middle, starts[_chosen(scores, tol)], form)
        found = components_of(sums, form, least_variance)
    except np.linalg.LinAlgError:
        return None
    return {
        "weights_init": found.weights,
        "means_init": middle + found.means,
        "precisions_init": found.precisions(form),
    }


def _chosen(scores: dict[str, Array], tol: float) -> str:
    """The best start, if it is better than the first."""
    usual = next(iter(scores))
    chosen, most = usual, 0.0
    for name, own in scores.items():
        if np.isfinite(own).all() and np.isfinite(scores[usual]).all():
            gains = own - scores[usual]
            gain, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
        else:
            gain, error = (np.inf if np.isfinite(own).all() else 0.0), 0.0
        if gain > max(most, tol, BETTER * error):
            chosen, most = name, gain
    return chosen


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
