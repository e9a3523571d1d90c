"""Model files back to fitted models of whatever class."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from tacit.core.files.container import read_file
from tacit.core.files.saved_model import decoded
from tacit.errors import FileFormatError

Arrays = Mapping[str, NDArray[Any]]

# The estimators that do not declare their fields yet: where the class stands, and what loads it from a header
# and arrays.
_LOADERS = {
    "ChowLiuTree": ("trees.chow_liu_tree", "trees.saved", "load_tree"),
    "FactorialHMM": ("junction.structured_hmms", "junction.saved", "load_junction"),
    "GaussianMixtureMoments": (
        "numbers.gaussian_mixture",
        "numbers.saved_mixture",
        "load_spherical",
    ),
    "GaussianTree": ("numbers.gaussian_tree", "numbers.saved_gaussian", "load_gaussian"),
    "HigherOrderHMM": ("junction.structured_hmms", "junction.saved", "load_junction"),
    "KernelTree": ("numbers.kernel_tree", "numbers.saved_kernel", "load_kernel_tree"),
    "LatentClass": ("trees.latent_class", "trees.saved", "load_tree"),
    "LatentJunctionTree": ("junction.latent_junction_tree", "junction.saved", "load_junction"),
    "LatentTree": ("trees.latent_tree", "trees.saved", "load_tree"),
}


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted model that a file holds; nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        A file that a model's `save` wrote.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        The file is truncated, foreign, damaged, or of a newer format.

    Examples
    --------
    >>> import tacit, tempfile, pathlib
    >>> model = tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"], ["b", "x"]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.tacit"
    >>> model.save(path)
    >>> tacit.load(path).categories_ == model.categories_
    True
    """
    header, arrays = read_file(path)
    if header["estimator"] in _LOADERS:
        return fitted_from(path, header, arrays)
    try:
        return decoded(header, arrays)
    except FileFormatError as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error


def fitted_from(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> Any:
    """The fitted model of a header and arrays; the path is for messages."""
    name = header["estimator"]
    if name not in _LOADERS:
        raise FileFormatError(
            f"{str(path)!r} holds a {name!r}, which this version does not know; "
            f"it knows {sorted(_LOADERS)}"
        )
    home, loading, function = _LOADERS[name]
    kind = getattr(import_module(f"tacit.{home}"), name)
    loader = getattr(import_module(f"tacit.{loading}"), function)
    return loader(kind, path, header, arrays)
