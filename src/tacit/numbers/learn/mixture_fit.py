"""How a mixture of spherical Gaussians is fitted: moments, starts, the best start, EM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.numbers.learn.mixture_em import EMResult, spherical_em
from tacit.numbers.learn.mixture_moments import clustered_mixture, mixture_of_moments
from tacit.numbers.learn.mixture_starts import comparison_rows, held_out_scores
from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.moments.third_moments import NumberMoments
from tacit.numbers.query.gaussian_mixture import e_step

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MixtureSettings:
    """The arguments of `GaussianMixtureMoments` that learning needs."""

    n_components: int
    separate_variances: bool
    em: bool
    reg_covar: float
    max_iter: int
    tol: float


def fit_mixture(rows: Array, settings: MixtureSettings) -> tuple[EMResult, dict[str, Any]]:
    """The mixture of some rows, and diagnostics.

    Parameters
    ----------
    rows : (row, column)
        Without missing cells.
    settings : MixtureSettings
    """
    moments = NumberMoments.of(rows)
    k = settings.n_components
    if k > 1 and not (moments.covariance.diagonal() > 0).any():
        raise ArgumentError(f"n_components={k}, but all rows are equal; use n_components=1")
    starts, diagnostics = _starts(rows, moments, settings)
    name = next(iter(starts))
    if not settings.em:
        return EMResult(starts[name], np.nan, 0, converged=True), {**diagnostics, "start": name}
    if len(starts) > 1:
        name, diagnostics["starts"] = _best_start(rows, starts, settings)
    result = spherical_em(
        rows,
        starts[name],
        separate_variances=settings.separate_variances,
        reg_covar=settings.reg_covar,
        max_iter=settings.max_iter,
        tol=settings.tol,
    )
    return result, {**diagnostics, "start": name}


def _starts(
    rows: Array, moments: NumberMoments, settings: MixtureSettings
) -> tuple[dict[str, SphericalMixture], dict[str, Any]]:
    """The moment estimates and a clustering, by name; EM may start from any of them."""
    k, separate = settings.n_components, settings.separate_variances
    first, diagnostics = mixture_of_moments(moments, k, separate_variances=separate)
    starts = {"own" if separate else "common": first}
    if settings.em and k > 1:
        if separate:
            starts["common"] = mixture_of_moments(moments, k, separate_variances=False)[0]
        clusters = clustered_mixture(rows[comparison_rows(len(rows))], k)
        if clusters.n_components == k:  # else there are fewer distinct rows
            starts["clusters"] = clusters
    regularised = {
        name: replace(start, variances=start.variances + settings.reg_covar)
        for name, start in starts.items()
    }
    return regularised, diagnostics


def _best_start(
    rows: Array, starts: dict[str, SphericalMixture], settings: MixtureSettings
) -> tuple[str, dict[str, float]]:
    """The start with the best held-out log-density after a few steps of EM, and the scores of all."""
    some = rows[comparison_rows(len(rows))]
    log_densities = held_out_scores(
        some,
        {name: e_step(start, some)[1].T for name, start in starts.items()},
        "spherical" if settings.separate_variances else "common",
        reg_covar=settings.reg_covar,
        tol=settings.tol,
    )
    scores = {name: float(values.mean()) for name, values in log_densities.items()}
    return max(scores, key=lambda name: scores[name]), scores
