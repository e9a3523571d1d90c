"""Mixtures of spherical Gaussians from moments, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import DensityMixin
from sklearn.utils.validation import validate_data

from tacit.core.arguments import (
    check_choice,
    check_count,
    check_number,
    check_rows,
    generator_from,
)
from tacit.core.magnitudes import check_magnitudes
from tacit.core.model import Counted, Model, checked_summary
from tacit.errors import ArgumentTypeError, ConvergenceWarning, DataError, RankError
from tacit.numbers.model_files import MIXTURE_FILE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.core.input.examples import Examples
    from tacit.core.summary import Summary
    from tacit.numbers.model.gaussian_mixture import SphericalMixture

    Array = NDArray[np.float64]

VARIANCES = ("own", "common")
LEARNERS = ("auto", "moments")
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


class GaussianMixtureMoments(Counted, DensityMixin, Model):
    """A mixture of spherical Gaussians from moments up to the third, without restarts or seed.

    It is an estimate by itself, and a deterministic start for scikit-learn's `GaussianMixture` (see
    `as_start`).

    Parameters
    ----------
    n_components : int
        At most the number of columns: third moments cannot identify more.
    variances : {"own", "common"}
        Whether each component has its own variance.
    learn : {"auto", "moments"}
        "auto": moments, then EM. A few steps of EM are made from the moment estimate with a common variance,
        from the one with separate variances, and from k-means clusters; the start with the best held-out
        log-density is continued. "moments": the moment estimate as it is.
    max_iter, tol : int, float
        Of EM: largest number of steps, and the gain of the mean log-density per row, in nats, below which it
        stops.
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
        Steps of EM.
    converged_ : bool
    mixture_ : SphericalMixture
        All of these in one value.
    diagnostics_ : dict
        "noise" (the variance within components, from eigenvalues), "eigenvalues" of the covariance,
        "supported_components" (how many stand out from noise), "residual" (the share of the whitened third
        moments that the components do not explain), "start" (of EM: "own", "common" or "clusters") and
        "starts" (their held-out log-densities).

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
    _file = MIXTURE_FILE

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
            Without missing cells.
        y : None
            Not used.

        Raises
        ------
        DataError
            X is no table of finite numbers with two rows or more.
        RankError
            There are more components than rows or columns, or than eigenvalues of the covariance above the
            noise.
        """
        from tacit.core.threads import one_blas_thread
        from tacit.numbers.learn.mixture_fit import MixtureSettings, fit_mixture

        self._check_arguments()
        rows = self._checked_rows(X, ensure_min_samples=2)
        if self.n_components > len(rows):
            raise RankError(
                f"n_components={self.n_components} requested, but the data has n_samples={len(rows)}, fewer "
                f"rows than components; give more rows, or n_components<={len(rows)}"
            )
        settings = MixtureSettings(
            n_components=self.n_components,
            separate_variances=self.variances == "own",
            em=self.learn == "auto",
            reg_covar=self.reg_covar,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        with one_blas_thread():  # sums in one order: the same bits for any number of threads
            result, self.diagnostics_ = fit_mixture(rows, settings)
        self.n_iter_, self.converged_ = result.n_steps, result.converged
        if not result.converged:
            warnings.warn(
                f"EM stopped after max_iter={self.max_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep(result.mixture)
        return self

    def _examples(self, X: Any) -> Examples:
        from sklearn.utils import check_array

        from tacit.core.input.examples import Examples

        rows = _rows_by(lambda: check_array(X, dtype="float64"))
        return Examples(len(rows), lambda chosen: rows[chosen])

    @property
    def n_parameters_(self) -> int:
        """Free parameters: weights, means and variances."""
        self._check_fitted()
        k, d = self.means_.shape
        return int(k - 1 + k * d + (k if self.variances == "own" else 1))

    def score_samples(self, X: Any) -> Array:
        """(row,) natural log-density of each row."""
        from tacit.numbers.query.gaussian_mixture import log_density

        rows = self._rows(X)
        return log_density(self.mixture_, rows)

    def predict_proba(self, X: Any) -> Array:
        """(row, component) P(component | row)."""
        from tacit.numbers.query.gaussian_mixture import e_step

        rows = self._rows(X)
        return e_step(self.mixture_, rows)[1]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(row,) the most likely component of each row."""
        from tacit.numbers.query.gaussian_mixture import log_joint

        rows = self._rows(X)
        components: NDArray[np.int64] = log_joint(self.mixture_, rows).argmax(axis=1)
        return components

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Mapping[Any, float] | None = None,
        random_state: Any = None,
    ) -> Array:
        """(row, column) rows drawn from the mixture.

        Parameters
        ----------
        n_samples : int
        given : mapping of column to number, optional
            Columns that are known: the others are drawn from their conditional distribution. Columns without
            names are 0, 1, ...
        random_state : int, numpy.random.Generator or None
        """
        from tacit.numbers.query.gaussian_mixture import given_row, sample

        check_rows("n_samples", n_samples)
        self._check_fitted()
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        known = given_row(list(names), given)
        return sample(self.mixture_, n_samples, generator_from(random_state), known)[0]

    @checked_summary
    def summary(self) -> Summary:
        """The components, with the columns whose means differ most from those of all rows."""
        from tacit.numbers.summary import mixture_summary

        return mixture_summary(self)

    def as_start(
        self, covariance_type: str = "full", X: Any = None, *, random_state: int = 0
    ) -> dict[str, Array]:
        """Arguments with which scikit-learn's `GaussianMixture` starts here instead of with k-means.

        Parameters
        ----------
        covariance_type : {"full", "tied", "diag", "spherical"}
            That of the `GaussianMixture`.
        X : (row, column) array or frame of numbers, optional
            The training data of the `GaussianMixture`. Its k-means start is then compared with the components
            and with two other runs of k-means, all after a few steps of EM with covariances of that form, by
            held-out log-density. k-means is kept unless another start is better by more than `tol` and one
            and a half standard errors. Give the `GaussianMixture` the same `reg_covar`.
        random_state : int
            With `X`: the seed of the `GaussianMixture`.

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
        from tacit.numbers.learn.mixture_starts import best_start, spherical_start

        check_choice("covariance_type", covariance_type, COVARIANCE_TYPES)
        check_rows("random_state", random_state)
        self._check_fitted()
        start = None
        if X is not None:
            rows = self._rows(X)
            with one_blas_thread():
                start = best_start(
                    rows,
                    self.mixture_,
                    covariance_type,
                    reg_covar=self.reg_covar,
                    tol=self.tol,
                    seed=random_state,
                )
        return spherical_start(self.mixture_, covariance_type) if start is None else start

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        self._keep(self.mixture_)
        self.n_features_in_ = self.means_.shape[1]

    def _check_arguments(self) -> None:
        check_count("n_components", self.n_components)
        check_choice("variances", self.variances, VARIANCES)
        check_choice("learn", self.learn, LEARNERS)
        check_count("max_iter", self.max_iter)
        check_number("tol", self.tol)
        check_number("reg_covar", self.reg_covar)

    def _keep(self, mixture: SphericalMixture) -> None:
        """Set the fitted attributes."""
        self.mixture_ = mixture
        self.weights_, self.means_ = mixture.weights, mixture.means
        self.covariances_ = mixture.variances

    def _rows(self, X: Any) -> Array:
        self._check_fitted()
        return self._checked_rows(X, reset=False)

    def _checked_rows(self, X: Any, **how: Any) -> Array:
        return _rows_by(lambda: validate_data(self, X, dtype="float64", **how))


def _rows_by(check: Callable[[], Any]) -> Array:
    """Rows of finite numbers, as a function of scikit-learn checks them."""
    try:
        rows: Array = check()
    except TypeError as error:
        raise ArgumentTypeError(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise DataError(str(error)) from error
    check_magnitudes(rows, "X")
    return rows
