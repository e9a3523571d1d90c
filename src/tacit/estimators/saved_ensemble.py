"""Fitted power low rank ensembles to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileFormatError
from tacit.estimators.saved_header import check_header, common_header, made_from
from tacit.estimators.saved_language import gram_arrays, gram_model_from, vocabulary_arrays
from tacit.files.models import write_model
from tacit.params.ensemble import Ensemble, OrderPlan

if TYPE_CHECKING:
    from tacit.estimators.power_low_rank_lm import PowerLowRankLM

Arrays = Mapping[str, NDArray[Any]]

_FACTORS = {
    "rows": np.int64,
    "columns": np.int64,
    "ranks": np.int64,
    "left": np.float32,
    "right": np.float32,
    "left_rest": np.float64,
    "right_rest": np.float64,
    "scales": np.float64,
}


def save_ensemble(model: PowerLowRankLM, path: str | os.PathLike[str]) -> None:
    """Write a fitted ensemble to one file, whole or not at all."""
    header = common_header(model)
    for name in ("progress", "vocabulary", "ranks", "powers", "weights", "random_state"):
        header["arguments"].pop(name, None)
    arrays = {
        **vocabulary_arrays(model.vocabulary_),
        **gram_arrays(model.model_.grams),
        **{f"factors.{name}": _stored(getattr(model.model_, name)) for name in _FACTORS},
    }
    write_model(path, header, arrays)


def load_ensemble(
    kind: type[PowerLowRankLM],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
) -> PowerLowRankLM:
    """The fitted ensemble whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {})
    model: PowerLowRankLM = made_from(kind, header)
    diagnostics = dict(header["diagnostics"])
    try:
        found = _ensemble_from(arrays)
        model.plans_ = {int(at): _plan(plan) for at, plan in diagnostics["plans"].items()}
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error
    model._keep(found, diagnostics)  # noqa: SLF001  the same room
    return model


def _stored(array: NDArray[Any]) -> NDArray[Any]:
    """Files hold no numbers of single precision: their bits are kept as integers."""
    return array.view(np.int32) if array.dtype == np.float32 else array


def _plan(plain: Mapping[str, Any]) -> OrderPlan:
    """A plan from plain values."""
    own: dict[str, Any] = dict(plain)
    for name in ("powers", "ranks", "weights"):
        own[name] = tuple(own[name])
    return OrderPlan(**own)


def _ensemble_from(arrays: Arrays) -> Ensemble:
    """The ensemble that a file holds; everything that a look-up relies on is checked."""
    grams = gram_model_from(arrays)
    own = {}
    for name, kind in _FACTORS.items():
        own[name] = arrays[f"factors.{name}"]
        if kind == np.float32 and own[name].dtype == np.int32:
            own[name] = own[name].view(np.float32)
        if own[name].dtype != kind or own[name].ndim != 1:
            raise FileFormatError(f"the array {name!r} is of another type")
    model = Ensemble(grams, **own)
    n, n_contexts = len(grams), grams.n_contexts
    if {len(model.rows), len(model.ranks), len(model.left_rest), len(model.scales)} != {n_contexts}:
        raise FileFormatError("the arrays of rows have different lengths")
    if len(model.columns) != n or len(model.right_rest) != n:
        raise FileFormatError("the arrays of columns have different lengths")
    # A context's row is multiplied with columns of n-grams as long as itself.
    ranks = np.concatenate([model.ranks, np.zeros(n - n_contexts, np.int64)])
    for places, factor, lengths in (
        (model.rows, model.left, model.ranks),
        (model.columns, model.right, ranks),
    ):
        ends = places + lengths
        if (places < -1).any() or (lengths < 0).any() or (ends[places >= 0] > len(factor)).any():
            raise FileFormatError("a row or column does not lie within its factor")
    for low, high in zip(grams.offsets[:-2], grams.offsets[1:-1], strict=True):
        if len(set(model.ranks[low:high].tolist())) > 1:
            raise FileFormatError("rows of an order have different lengths")
    numbers = (model.left, model.right, model.left_rest, model.right_rest, model.scales)
    if not all(np.isfinite(each).all() for each in numbers):
        raise FileFormatError("factors are not finite")
    return model
