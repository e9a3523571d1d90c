"""Fitted mixtures of spherical Gaussians to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from, put_columns
from tacit.core.files.model_files import write_model
from tacit.errors import ArgumentError, FileFormatError
from tacit.numbers.model.gaussian_mixture import SphericalMixture

if TYPE_CHECKING:
    from tacit.numbers.gaussian_mixture import GaussianMixtureMoments

_ARRAYS = ("weights", "means", "variances")


def save_spherical(model: GaussianMixtureMoments, path: str | os.PathLike[str]) -> None:
    """Write a fitted mixture to one file, whole or not at all."""
    d = model.n_features_in_
    names = getattr(model, "feature_names_in_", [f"x{place}" for place in range(d)])
    header = {
        **common_header(model),
        "names": [str(name) for name in names],
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
    }
    write_model(path, header, {name: getattr(model.mixture_, name) for name in _ARRAYS})


def load_spherical(
    kind: type[GaussianMixtureMoments],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> GaussianMixtureMoments:
    """The fitted mixture whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"names": list, "n_iter": int, "converged": bool})
    for name in _ARRAYS:
        array = arrays.get(name)
        if array is None or array.dtype != np.float64 or not np.isfinite(array).all():
            raise FileFormatError(f"the array {name!r} of {str(path)!r} is missing or damaged")
    model: GaussianMixtureMoments = made_from(kind, header)
    try:
        mixture = SphericalMixture(*(arrays[name] for name in _ARRAYS))
    except ArgumentError as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error
    names = [str(name) for name in header["names"]]
    if mixture.means.shape[1] != len(names) or not (mixture.variances > 0).all():
        raise FileFormatError(f"{str(path)!r} is damaged: no mixture over {len(names)} columns")
    model._keep(mixture)  # noqa: SLF001  the same room
    put_columns(model, header, names)
    model.n_iter_, model.converged_ = header["n_iter"], header["converged"]
    return model
