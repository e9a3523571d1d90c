"""Fitted power low rank ensembles to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, made_from
from tacit.errors import FileFormatError
from tacit.language.model.ensemble import Ensemble, OrderPlan
from tacit.language.saved import (
    Content,
    damage_told,
    gram_arrays,
    gram_model_from,
    language_header,
    stored,
    typed_arrays,
    vocabulary_arrays,
)

if TYPE_CHECKING:
    from tacit.language.power_low_rank_lm import PowerLowRankLM

Arrays = Mapping[str, NDArray[Any]]

_PREFIX = "factors."
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


def ensemble_content(model: PowerLowRankLM) -> Content:
    """The header and the arrays of an ensemble."""
    header = language_header(model, "ranks", "powers", "weights", "random_state")
    arrays = {
        **vocabulary_arrays(model.vocabulary_),
        **gram_arrays(model.model_.grams),
        **{f"{_PREFIX}{name}": stored(getattr(model.model_, name)) for name in _FACTORS},
    }
    return header, arrays


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
    with damage_told(path):
        found = _ensemble_from(arrays)
        model.plans_ = {int(at): _plan(plan) for at, plan in diagnostics["plans"].items()}
    model._keep(found, diagnostics)  # noqa: SLF001  the same room
    return model


def _plan(plain: Mapping[str, Any]) -> OrderPlan:
    """A plan from plain values."""
    own: dict[str, Any] = dict(plain)
    for name in ("powers", "ranks", "weights"):
        own[name] = tuple(own[name])
    return OrderPlan(**own)


def _ensemble_from(arrays: Arrays) -> Ensemble:
    """The ensemble that a file holds; everything that a look-up relies on is checked."""
    grams = gram_model_from(arrays)
    model = Ensemble(grams, **typed_arrays(arrays, _FACTORS, _PREFIX))
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
