"""Mixtures of language models to files and back: the content of each model under a name of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.files.header import check_header, made_from
from tacit.core.files.load import fitted_from
from tacit.errors import FileFormatError
from tacit.language.language_queries import LanguageModel
from tacit.language.saved import (
    Arrays,
    Content,
    content_of,
    damage_told,
    inner_arrays,
    language_header,
)

if TYPE_CHECKING:
    from tacit.language.mixed_lm import MixedLM


def mixture_content(model: MixedLM) -> Content:
    """The header and the arrays of a mixture, those of all its models included."""
    header = language_header(model)
    header["arguments"]["weights"] = None if model.weights is None else model.weights_.tolist()
    header["models"], arrays = [], {"weights": model.weights_}
    for number, each in enumerate(model.models):
        own, inner = content_of(each)
        header["models"].append(own)
        arrays |= {f"{_prefix(number)}{name}": array for name, array in inner.items()}
    return header, arrays


def load_mixture(
    kind: type[MixedLM], path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> MixedLM:
    """The mixture whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"models": list})
    models = []
    for number, own in enumerate(header["models"]):
        with damage_told(path):
            found = fitted_from(path, dict(own), inner_arrays(arrays, _prefix(number)))
        if not isinstance(found, LanguageModel):
            raise FileFormatError(f"{str(path)!r} is damaged: a part is no language model")
        models.append(found)
    model: MixedLM = made_from(kind, header, models=models)
    with damage_told(path):
        weights = arrays["weights"]
        if weights.dtype != np.float64:
            raise FileFormatError("the weights are of another type")
        model._prepare(weights)  # noqa: SLF001  the same room
    model.diagnostics_ = dict(header["diagnostics"])
    return model


def _prefix(number: int) -> str:
    return f"models.{number}."
