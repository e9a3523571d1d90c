"""Kernels of a distance, in bandwidths: their values, their integrals, and the mass below a number.

A kernel here is positive definite, one at distance zero, never negative, and has a finite integral, so that
it is a density too. Of several numbers at once the kernel is the product of those of each number, as
scikit-learn's ``rbf_kernel`` and ``laplacian_kernel`` are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError

Array = NDArray[np.float64]

# Distances up to which a callable is evaluated, and at how many, even in their inverse hyperbolic sine.
_FARTHEST, _N_PLACES = 1e4, 8192
# Negative eigenvalues that a kernel matrix may have, relative to its size, by interpolation and rounding.
_INDEFINITE = 1e-5


@dataclass(frozen=True)
class Kernel:
    """A kernel with a name."""

    name: str

    def values(self, differences: Array) -> Array:
        """The kernel at differences in bandwidths, which are overwritten."""
        return _VALUES[self.name](differences)

    @property
    def integral(self) -> float:
        """Over all differences."""
        return _INTEGRALS[self.name]

    def below(self, differences: Array) -> Array:
        """The fraction of the integral below each difference."""
        tail = _TAILS[self.name](np.abs(differences))
        return np.asarray(np.where(differences > 0, 1 - tail, tail))


@dataclass(frozen=True, eq=False)
class TabulatedKernel:
    """A kernel by its values at some distances, linear between them and zero beyond.

    It can be called like the function that it was made of.
    """

    heights: Array  # (place,)  at `_places`

    name = "tabulated"

    def __call__(self, distances: Any) -> Array:
        """The kernel at some distances."""
        return np.interp(
            np.abs(np.asarray(distances, dtype=np.float64)), _places(), self.heights, right=0.0
        )

    def values(self, differences: Array) -> Array:
        """The kernel at differences in bandwidths; NaN where they are NaN."""
        return self(differences)

    @cached_property
    def _masses(self) -> Array:
        """(place,) the integral from zero."""
        steps = 0.5 * (self.heights[1:] + self.heights[:-1]) * np.diff(_places())
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def integral(self) -> float:
        """Over all differences."""
        return float(2 * self._masses[-1])

    def below(self, differences: Array) -> Array:
        """The fraction of the integral below each difference."""
        places, distances = _places(), np.minimum(np.abs(differences), _FARTHEST)
        left = np.clip(np.searchsorted(places, distances, side="right") - 1, 0, len(places) - 2)
        height = 0.5 * (self.heights[left] + self(distances))
        half = (self._masses[left] + (distances - places[left]) * height) / self.integral
        return np.asarray(0.5 + np.sign(differences) * half)


def _rbf(differences: Array) -> Array:
    np.square(differences, out=differences)
    differences *= -0.5
    return np.exp(differences, out=differences)


def _laplacian(differences: Array) -> Array:
    np.abs(differences, out=differences)
    return np.exp(np.negative(differences, out=differences), out=differences)


def _matern32(differences: Array) -> Array:
    scaled = np.sqrt(3) * np.abs(differences)
    return np.asarray((1 + scaled) * np.exp(-scaled))


def _matern52(differences: Array) -> Array:
    scaled = np.sqrt(5) * np.abs(differences)
    return np.asarray((1 + scaled + scaled * scaled / 3) * np.exp(-scaled))


def _rbf_tail(distances: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(-distances))


def _matern32_tail(distances: Array) -> Array:
    scaled = np.sqrt(3) * distances
    return np.asarray((2 + scaled) * np.exp(-scaled) / 4)


def _matern52_tail(distances: Array) -> Array:
    scaled = np.sqrt(5) * distances
    return np.asarray((8 + 5 * scaled + scaled * scaled) * np.exp(-scaled) / 16)


_VALUES: dict[str, Callable[[Array], Array]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "matern32": _matern32,
    "matern52": _matern52,
}
_INTEGRALS = {
    "rbf": float(np.sqrt(2 * np.pi)),
    "laplacian": 2.0,
    "matern32": 4 / float(np.sqrt(3)),
    "matern52": 16 / (3 * float(np.sqrt(5))),
}
_TAILS: dict[str, Callable[[Array], Array]] = {
    "rbf": _rbf_tail,
    "laplacian": lambda distances: np.asarray(0.5 * np.exp(-distances)),
    "matern32": _matern32_tail,
    "matern52": _matern52_tail,
}
KERNELS = tuple(_VALUES)
RBF = Kernel("rbf")


def kernel_of(kernel: Any) -> Kernel | TabulatedKernel:
    """The kernel that a user named, or gave as a function of the distance in bandwidths.

    Parameters
    ----------
    kernel : str or callable
        One of `KERNELS`, or a function that takes an array of distances, at least zero, and gives one of the
        same shape.

    Raises
    ------
    ArgumentError
        The function is no kernel: not one at zero, negative somewhere, without a finite integral, or not
        positive definite.

    Examples
    --------
    >>> kernel_of("laplacian").below(np.array([0.0, np.log(2)]))
    array([0.5 , 0.75])
    >>> rational = kernel_of(lambda u: 1 / (1 + u**2))
    >>> bool(abs(rational.integral - np.pi) < 1e-3)
    True
    """
    if isinstance(kernel, Kernel | TabulatedKernel):
        return kernel
    if isinstance(kernel, str):
        check_choice("kernel", kernel, KERNELS)
        return Kernel(kernel)
    if not callable(kernel):
        raise ArgumentTypeError(
            f"kernel={shown(kernel)}; give one of {KERNELS}, or a function of the distance in bandwidths"
        )
    problem = problem_with(heights := _heights_by(kernel))
    if problem:
        raise ArgumentError(f"the kernel {problem}; give a function of the distance in bandwidths")
    tabulated = TabulatedKernel(heights)
    if not _is_definite(tabulated):
        raise ArgumentError(
            "the kernel is not positive definite, so that it has no features; "
            f"give one that is, or one of {KERNELS}"
        )
    return tabulated


def _heights_by(kernel: Callable[[Array], Any]) -> Array:
    """The kernel at all places, by the function of a user."""
    try:
        return np.asarray(kernel(_places()), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(
            f"the kernel cannot be computed of an array of distances ({error}); give a function that takes "
            f"an array of distances in bandwidths and returns one of the same shape"
        ) from error


def _places() -> Array:
    return np.sinh(np.linspace(0.0, np.arcsinh(_FARTHEST), _N_PLACES))


def problem_with(heights: Array) -> str | None:
    """What keeps values at `_places` from being a kernel, if anything does."""
    if heights.shape != (_N_PLACES,) or not np.isfinite(heights).all():
        return "does not give a finite number for each distance"
    if abs(heights[0] - 1) > 1e-9:
        return f"is {heights[0]:.6g} at distance zero, not one"
    if (heights < 0).any() or (heights > 1 + 1e-9).any():
        return "is negative or above one somewhere"
    mass = float(np.trapezoid(heights, _places()))
    if heights[-1] * _FARTHEST > 1e-3 * mass:
        return "has no finite integral"
    return None


def _is_definite(kernel: TabulatedKernel) -> bool:
    """Whether kernel matrices of even points, near and far, have no negative eigenvalues."""
    for step in (0.05, 0.2, 0.5, 1.0, 1.7):
        points = step * np.arange(80)
        sizes = np.linalg.eigvalsh(kernel(np.subtract.outer(points, points)))
        if sizes[0] < -_INDEFINITE * len(points):
            return False
    return True
