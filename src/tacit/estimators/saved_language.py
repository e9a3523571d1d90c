"""Fitted language models to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.vocabulary import Vocabulary
from tacit.errors import FileFormatError
from tacit.estimators.saved_header import check_header, common_header, made_from
from tacit.files.models import write_model
from tacit.moments.grams import MOST_ORDER
from tacit.params.grams import GramModel
from tacit.params.kneser_ney import Discounts

if TYPE_CHECKING:
    from tacit.estimators.class_lm import ClassLM
    from tacit.estimators.kneser_ney_lm import BackoffLM

Arrays = Mapping[str, NDArray[Any]]

_ROUNDING = 1e-5  # by which probabilities may exceed one: files of others have few digits
_MODEL = {
    "offsets": np.int64,
    "words": np.int32,
    "suffixes": np.int32,
    "firsts": np.int64,
    "probs": np.float64,
    "backoffs": np.float64,
}


def save_backoff(model: BackoffLM, path: str | os.PathLike[str]) -> None:
    """Write a fitted n-gram model to one file, whole or not at all."""
    header = common_header(model)
    for name in (
        "progress",
        "memory",
        "folder",
        "vocabulary",
    ):  # how it came about, or held in arrays
        header["arguments"].pop(name, None)
    write_model(path, header, {**vocabulary_arrays(model.vocabulary_), **gram_arrays(model.model_)})


def gram_arrays(model: GramModel) -> dict[str, NDArray[Any]]:
    """The arrays of an n-gram model, but for its vocabulary."""
    return {name: getattr(model, name) for name in _MODEL}


def vocabulary_arrays(vocabulary: Vocabulary) -> dict[str, NDArray[Any]]:
    """The arrays of a vocabulary."""
    return {"vocabulary.store": vocabulary.store, "vocabulary.starts": vocabulary.starts}


def load_backoff(
    kind: type[BackoffLM], path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> BackoffLM:
    """The fitted n-gram model whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {})
    model: BackoffLM = made_from(kind, header)
    diagnostics = dict(header["diagnostics"])
    try:
        found = gram_model_from(arrays)
        if "discounts" in diagnostics:
            pairs = zip(diagnostics["discounts"], diagnostics["discount_sources"], strict=True)
            model.discounts_ = [Discounts(tuple(values), source) for values, source in pairs]
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error
    model._keep(found, diagnostics)  # noqa: SLF001  the same room
    return model


def save_classes(model: ClassLM, path: str | os.PathLike[str]) -> None:
    """Write a fitted model of word classes to one file, whole or not at all."""
    header = common_header(model)
    for name in ("progress", "vocabulary"):
        header["arguments"].pop(name, None)
    inner = {**vocabulary_arrays(model.model_.vocabulary), **gram_arrays(model.model_)}
    arrays = {f"classes.{name}": array for name, array in inner.items()}
    own = {"classes": model.classes_, "shares": model.shares_}
    write_model(path, header, {**vocabulary_arrays(model.vocabulary_), **own, **arrays})


def load_classes(
    kind: type[ClassLM], path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> ClassLM:
    """The fitted model of word classes whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {})
    model: ClassLM = made_from(kind, header)
    try:
        vocabulary = vocabulary_from(arrays)
        named = {name: each for name, each in arrays.items() if name.startswith("classes.")}
        inner = gram_model_from(
            {name.removeprefix("classes."): each for name, each in named.items()}
        )
        classes, shares = arrays["classes"], arrays["shares"]
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error
    sizes = {len(vocabulary), len(classes), len(shares)}
    kinds = classes.dtype == np.int64 and shares.dtype == np.float64
    if len(sizes) != 1 or not kinds or classes.min() < 0:
        raise FileFormatError(f"{str(path)!r} is damaged: the classes do not fit the words")
    if not _within(shares, 1 + _ROUNDING) or shares.min() == 0:
        raise FileFormatError(f"{str(path)!r} is damaged: a word has no share of its class")
    if int(classes.max()) + 3 > len(inner.vocabulary):
        raise FileFormatError(f"{str(path)!r} is damaged: a word is in a class that is not there")
    model._keep(vocabulary, classes, shares, inner, dict(header["diagnostics"]))  # noqa: SLF001
    return model


def vocabulary_from(arrays: Arrays) -> Vocabulary:
    """The vocabulary that a file holds."""
    return Vocabulary.of_arrays(arrays["vocabulary.store"], arrays["vocabulary.starts"])


def gram_model_from(arrays: Arrays) -> GramModel:
    """The n-gram model that a file holds; everything that a look-up relies on is checked."""
    for name, kind in _MODEL.items():
        if name not in arrays or arrays[name].dtype != kind or arrays[name].ndim != 1:
            raise FileFormatError(f"the array {name!r} is missing, or of another type")
    model = GramModel(vocabulary_from(arrays), **{name: arrays[name] for name in _MODEL})
    n, n_words, offsets = len(model.words), len(model.vocabulary), model.offsets
    if not 2 <= len(offsets) <= MOST_ORDER + 1:
        raise FileFormatError(f"there are {len(offsets) - 1} orders of n-grams")
    lengths = {len(model.suffixes), len(model.probs), int(offsets[-1])}
    if lengths != {n} or offsets[0] != 0 or offsets[1] != n_words or (np.diff(offsets) < 0).any():
        raise FileFormatError("the arrays of n-grams have different lengths")
    n_contexts = int(offsets[-2])
    firsts = model.firsts
    if len(model.backoffs) != n_contexts or len(firsts) != n_contexts + 1:
        raise FileFormatError("the arrays of contexts have different lengths")
    inner = offsets[:-1]  # where the n-grams of each order begin to be contexts of the next
    if (firsts[inner] != offsets[1:]).any() or (np.diff(firsts) < 0).any():
        raise FileFormatError("the n-grams do not fit their contexts")
    if model.words.min() < 0 or model.words.max() >= n_words:
        raise FileFormatError("an n-gram has a word that is not in the vocabulary")
    shorter = np.repeat(
        offsets[:-1], np.diff(offsets)
    )  # n-grams of lower orders stand before these
    if (model.suffixes >= shorter).any() or model.suffixes.min() < -1:
        raise FileFormatError("an n-gram ends in a longer one")
    rises = np.diff(model.words) > 0
    rises[firsts[(firsts > 0) & (firsts < n)] - 1] = True  # the first word of a context may be any
    if not rises.all():
        raise FileFormatError("the words after a context are not in their order")
    if not (_within(model.probs, 1 + _ROUNDING) and _within(model.backoffs, np.inf)):
        raise FileFormatError("probabilities or weights are not finite, negative, or above one")
    return model


def _within(numbers: NDArray[Any], most: float) -> bool:
    """Whether all numbers are finite, not negative, and not above another."""
    return bool((np.isfinite(numbers) & (numbers >= 0) & (numbers <= most)).all())
