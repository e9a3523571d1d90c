"""Fitted language models to files and back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from
from tacit.errors import FileFormatError
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.model.backoff import GramModel
from tacit.language.model.kneser_ney import Discounts
from tacit.language.moments.ngram_counts import MOST_ORDER

if TYPE_CHECKING:
    from tacit.language.class_lm import ClassLM
    from tacit.language.kneser_ney_lm import BackoffLM
    from tacit.language.language_queries import LanguageModel

Arrays = Mapping[str, NDArray[Any]]
Content = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_CLASSES = "classes."  # what names of arrays of the inner model begin with
_WORDS = {"store": np.uint8, "starts": np.int64}
_OF_WORDS = {"classes": np.int64, "shares": np.float64}
_ROUNDING = 1e-5  # by which probabilities may exceed one: files of others have few digits
_MODEL = {
    "offsets": np.int64,
    "words": np.int32,
    "suffixes": np.int32,
    "firsts": np.int64,
    "probs": np.float64,
    "backoffs": np.float64,
}


# The function that gives the header and the arrays of a model, by its class
_CONTENTS = {
    "BackoffLM": ("saved", "backoff_content"),
    "ClassLM": ("saved", "classes_content"),
    "KneserNeyLM": ("saved", "backoff_content"),
    "MixedLM": ("saved_mixture", "mixture_content"),
    "PowerLowRankLM": ("saved_ensemble", "ensemble_content"),
}


def content_of(model: LanguageModel) -> Content:
    """The header and the arrays of the file of any fitted language model."""
    home, function = _CONTENTS[type(model).__name__]
    found: Content = getattr(import_module(f"tacit.language.{home}"), function)(model)
    return found


@contextmanager
def damage_told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Within the block, whatever does not fit is a `FileFormatError` that names the file."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error


def typed_arrays(
    arrays: Arrays, kinds: Mapping[str, type], prefix: str = ""
) -> dict[str, NDArray[Any]]:
    """The arrays of some names, all of one row; their types are checked.

    Files hold no numbers of single precision: their bits are integers there, see `stored`.
    """
    found = {}
    for name, kind in kinds.items():
        array = arrays.get(prefix + name)
        if array is not None and kind is np.float32 and array.dtype == np.int32:
            array = array.view(np.float32)
        if array is None or array.dtype != kind or array.ndim != 1:
            raise FileFormatError(f"the array {prefix + name!r} is missing, or of another type")
        found[name] = array
    return found


def stored(array: NDArray[Any]) -> NDArray[Any]:
    """An array as files hold it."""
    return array.view(np.int32) if array.dtype == np.float32 else array


def language_header(model: LanguageModel, *without: str) -> dict[str, Any]:
    """The header of a language model, without what says how it came about, or what arrays hold."""
    header = common_header(model)
    for name in ("progress", "memory", "folder", "vocabulary", *without):
        header["arguments"].pop(name, None)
    return header


def backoff_content(model: BackoffLM) -> Content:
    """The header and the arrays of an n-gram model."""
    arrays = {**vocabulary_arrays(model.vocabulary_), **gram_arrays(model.model_)}
    return language_header(model), arrays


def gram_arrays(model: GramModel) -> dict[str, NDArray[Any]]:
    """The arrays of an n-gram model, but for its vocabulary."""
    return {name: getattr(model, name) for name in _MODEL}


def vocabulary_arrays(vocabulary: Vocabulary) -> dict[str, NDArray[Any]]:
    """The arrays of a vocabulary."""
    return {f"vocabulary.{name}": getattr(vocabulary, name) for name in _WORDS}


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
    with damage_told(path):
        found = gram_model_from(arrays)
        if "discounts" in diagnostics:
            pairs = zip(diagnostics["discounts"], diagnostics["discount_sources"], strict=True)
            model.discounts_ = [Discounts(tuple(values), source) for values, source in pairs]
    model._keep(found, diagnostics)  # noqa: SLF001  the same room
    return model


def classes_content(model: ClassLM) -> Content:
    """The header and the arrays of a model of word classes."""
    inner = {**vocabulary_arrays(model.model_.vocabulary), **gram_arrays(model.model_)}
    arrays = {f"{_CLASSES}{name}": array for name, array in inner.items()}
    own = {name: getattr(model, f"{name}_") for name in _OF_WORDS}
    return language_header(model), {**vocabulary_arrays(model.vocabulary_), **own, **arrays}


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
    with damage_told(path):
        vocabulary = vocabulary_from(arrays)
        inner = gram_model_from(inner_arrays(arrays, _CLASSES))
        classes, shares = typed_arrays(arrays, _OF_WORDS).values()
        if {len(vocabulary)} != {len(classes), len(shares)}:
            raise FileFormatError("the classes do not fit the words")
        if classes.min() < 0 or int(classes.max()) + 3 > len(inner.vocabulary):
            raise FileFormatError("a word is in a class that is not there")
        if not _within(shares, 1 + _ROUNDING) or shares.min() == 0:
            raise FileFormatError("a word has no share of its class")
    model._keep(vocabulary, classes, shares, inner, dict(header["diagnostics"]))  # noqa: SLF001
    return model


def inner_arrays(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Those arrays whose names begin with something, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def vocabulary_from(arrays: Arrays) -> Vocabulary:
    """The vocabulary that a file holds."""
    found = typed_arrays(arrays, _WORDS, "vocabulary.")
    return Vocabulary.of_arrays(found["store"], found["starts"])


def gram_model_from(arrays: Arrays) -> GramModel:
    """The n-gram model that a file holds; everything that a look-up relies on is checked."""
    model = GramModel(vocabulary_from(arrays), **typed_arrays(arrays, _MODEL))
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
