"""Mixtures of spherical Gaussians from moments, as a scikit-learn estimator."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.core.arguments import (
    check_choice,
    check_count,
    check_number,
    check_rows,
    generator_from,
)
from tacit.core.model import Model
from tacit.errors import ArgumentError, ConvergenceWarning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.numbers.model.gaussian_mixture import SphericalMixture

    Array = NDArray[np.float64]

VARIANCES = ("own", "common")
WAYS = ("auto", "moments")
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


class GaussianMixtureMoments(DensityMixin, Model):
    """A mixture of spherical Gaussians, from moments of the rows up to the third: no restarts, no seed.

    Its means, weights and variances are an estimate of their own, and a start for scikit-learn's
    `GaussianMixture` (see `as_start`) that does not depend on how k-means falls out.

    Parameters
    ----------
    n_components : int
        At most as many as there are columns: more cannot be told apart by third moments.
    variances : {"own", "common"}
        Whether each component has a variance of its own.
    learn : {"auto", "moments"}
        "auto": the components of the moments, then EM. EM makes a few steps from the components that a
        common variance gives, from those that own variances give, and from clusters of rows around some that
        lie far apart, for rows that no such mixture made; it takes the start from which rows that were left
        out are foretold best.
        "moments": the components of the moments as they are.
    max_iter, tol : int, float
        Of EM: most steps, and the gain of the mean log-likelihood at which it stops.
    reg_covar : float
        Added to the variances in every step of EM.

    Attributes
    ----------
    weights_ : (component,) array
        In descending order after "moments".
    means_ : (component, column) array
    covariances_ : (component,) array
        The variance of each component, as in scikit-learn's ``covariance_type="spherical"``.
    n_iter_ : int
        Steps of EM that led to the result.
    converged_ : bool
    mixture_ : SphericalMixture
        All of these in one value.
    diagnostics_ : dict
        "noise" (the variance within components, from eigenvalues), "eigenvalues" of the covariance,
        "supported_components" (how many stand out from noise), "residual" (the share of the whitened third
        moments that no components explain), "start" (what EM began with: "own", "common" or "clusters").

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-2, 1, (300, 4)), rng.normal(1, 0.5, (100, 4))])
    >>> model = GaussianMixtureMoments(2).fit(X)
    >>> np.round(model.weights_, 2), np.round(np.sqrt(model.covariances_), 1)
    (array([0.75, 0.25]), array([1. , 0.5]))
    """

    kind = "mixture"
    abilities = frozenset({"score", "predict", "sample", "numbers"})

    def __init__(
        self,
        n_components: int = 1,
        *,
        variances: str = "own",
        learn: str = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.variances = variances
        self.learn = learn
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn weights, means and variances.

        Parameters
        ----------
        X : (row, column) array or frame of numbers
            Without gaps.
        y : None
            Not used.

        Raises
        ------
        RankError
            There are more components than columns, or than directions of the rows that stand out.
        """
        from tacit.core.threads import one_blas_thread

        self._check_arguments()
        rows = validate_data(self, X, dtype="float64", ensure_min_samples=max(2, self.n_components))
        with one_blas_thread():  # sums in one order: the same bits for any number of threads
            mixture = self._learnt(rows)
        self._keep(mixture)
        return self

    def score_samples(self, X: Any) -> Array:
        """(row,) Log-density of each row."""
        from tacit.numbers.query.gaussian_mixture import log_density

        return log_density(self._fitted(), self._rows(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-density of the rows."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: Any) -> Array:
        """(row, component) The chance of each component given the row."""
        from tacit.numbers.query.gaussian_mixture import membership

        return membership(self._fitted(), self._rows(X))[1]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(row,) The likeliest component of each row."""
        from tacit.numbers.query.gaussian_mixture import log_joint

        found: NDArray[np.int64] = log_joint(self._fitted(), self._rows(X)).argmax(axis=1)
        return found

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """(row, column) Rows drawn from the mixture.

        Parameters
        ----------
        n_samples : int
        random_state : int, numpy.random.Generator or None
        """
        from tacit.numbers.query.gaussian_mixture import draw

        check_rows("n_samples", n_samples)
        return draw(self._fitted(), n_samples, generator_from(random_state))[0]

    def as_start(
        self, covariance_type: str = "full", X: Any = None, *, random_state: int = 0
    ) -> dict[str, Array]:
        """Arguments that make scikit-learn's `GaussianMixture` start here, instead of with k-means.

        Parameters
        ----------
        covariance_type : {"full", "tied", "diag", "spherical"}
            That of the `GaussianMixture`.
        X : (row, column) array or frame of numbers, optional
            What the `GaussianMixture` will learn from. The k-means start that it would have is then compared
            with the components and with two other runs of k-means, all after a few steps of EM with
            covariances of that form, by how well rows that were left out are foretold. It is the start
            unless another is better by more than `tol` and one and a half standard errors. Give the
            `GaussianMixture` the same `reg_covar`.
        random_state : int
            With `X`: the seed that the `GaussianMixture` would have.

        Returns
        -------
        dict
            With "weights_init", "means_init" and "precisions_init".

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.mixture import GaussianMixture
        >>> X = np.random.default_rng(0).normal(size=(200, 3)) + [[0, 0, 4], [0, 4, 0]] * 100
        >>> start = GaussianMixtureMoments(2).fit(X).as_start("full", X)
        >>> model = GaussianMixture(2, covariance_type="full", **start).fit(X)
        >>> np.round(model.weights_, 2)
        array([0.5, 0.5])
        """
        from tacit.core.threads import one_blas_thread
        from tacit.numbers.learn.mixture_starts import spherical_start, start_for

        check_choice("covariance_type", covariance_type, COVARIANCE_TYPES)
        check_rows("random_state", random_state)
        mixture, found = self._fitted(), None
        if X is not None:
            rows = self._rows(X)
            with one_blas_thread():
                found = start_for(
                    rows,
                    mixture,
                    covariance_type,
                    least_variance=self.reg_covar,
                    tol=self.tol,
                    seed=random_state,
                )
        return spherical_start(mixture, covariance_type) if found is None else found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted mixture to a file that `tacit.load` reads.

        Parameters
        ----------
        path : str or path
            Ends in ``.tacit``.
        """
        from tacit.numbers.saved_mixture import save_spherical

        self._fitted()
        save_spherical(self, path)

    # -- within -----------------------------------------------------------------------------------

    def _check_arguments(self) -> None:
        check_count("n_components", self.n_components)
        check_choice("variances", self.variances, VARIANCES)
        check_choice("learn", self.learn, WAYS)
        check_count("max_iter", self.max_iter)
        check_number("tol", self.tol)
        check_number("reg_covar", self.reg_covar)

    def _learnt(self, rows: Array) -> SphericalMixture:
        """The components of the moments, and what EM makes of them."""
        from tacit.numbers.learn.mixture_starts import rows_to_compare
        from tacit.numbers.model.gaussian_mixture import clustered_mixture, mixture_of_moments
        from tacit.numbers.moments.third_moments import NumberMoments

        own = self.variances == "own"
        moments = NumberMoments.of(rows)
        if not (moments.covariance.diagonal() > 0).any() and self.n_components > 1:
            raise ArgumentError(
                f"n_components={self.n_components}, but all rows are the same; give n_components=1"
            )
        found, report = mixture_of_moments(moments, self.n_components, own_variances=own)
        self.diagnostics_: dict[str, Any] = {**report, "start": self.variances}
        self.n_iter_, self.converged_ = 0, True
        if self.learn == "moments":
            return self._wider(found)
        starts = {self.variances: found}
        if self.n_components > 1:
            if own:
                other, _ = mixture_of_moments(moments, self.n_components, own_variances=False)
                starts["common"] = other
            few = rows_to_compare(len(rows))
            clusters = clustered_mixture(rows[few], self.n_components)
            if clusters.n_components == self.n_components:  # else there are fewer different rows
                starts["clusters"] = clusters
        return self._climbed(rows, {name: self._wider(each) for name, each in starts.items()})

    def _wider(self, mixture: SphericalMixture) -> SphericalMixture:
        """The mixture with `reg_covar` added to its variances."""
        from dataclasses import replace

        return replace(mixture, variances=mixture.variances + self.reg_covar)

    def _climbed(self, rows: Array, starts: dict[str, SphericalMixture]) -> SphericalMixture:
        """EM from the start that foretells rows left out best."""
        from tacit.numbers.learn.mixture_em import climb_spherical

        name = next(iter(starts)) if len(starts) == 1 else self._best(rows, starts)
        found = climb_spherical(
            rows,
            starts[name],
            own_variances=self.variances == "own",
            least_variance=self.reg_covar,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.diagnostics_["start"] = name
        self.n_iter_, self.converged_ = found.n_steps, found.converged
        if not found.converged:
            warnings.warn(
                f"stopped after max_iter={self.max_iter} steps of EM; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found.mixture

    def _best(self, rows: Array, starts: dict[str, SphericalMixture]) -> str:
        """The name of the start that foretells rows left out best."""
        from tacit.numbers.learn.mixture_starts import judged, rows_to_compare
        from tacit.numbers.query.gaussian_mixture import membership

        few = rows[rows_to_compare(len(rows))]
        scores = judged(
            few,
            {name: membership(start, few)[1].T for name, start in starts.items()},
            "spherical" if self.variances == "own" else "common",
            least_variance=self.reg_covar,
            tol=self.tol,
        )
        return max(scores, key=lambda name: float(scores[name].mean()))

    def _keep(self, mixture: SphericalMixture) -> None:
        self.mixture_ = mixture
        self.weights_, self.means_ = mixture.weights, mixture.means
        self.covariances_ = mixture.variances

    def _fitted(self) -> SphericalMixture:
        check_is_fitted(self, "mixture_")
        return self.mixture_

    def _rows(self, X: Any) -> Array:
        rows: Array = validate_data(self, X, dtype="float64", reset=False)
        return rows
