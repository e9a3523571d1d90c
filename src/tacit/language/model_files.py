"""What files of language models hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array, Arrays, Field, Many, Record
from tacit.core.files.header_values import Value, numbers, text
from tacit.core.files.ranges import (
    below,
    moderate,
    not_negative,
    offsets,
    parts_within,
    places,
    probabilities,
    within,
)
from tacit.core.files.saved_model import InnerModel, ModelFile, renamed
from tacit.errors import FileFormatError
from tacit.language.data.vocabulary import BEGIN, END, UNKNOWN, Vocabulary
from tacit.language.language_queries import LanguageModel
from tacit.language.model.backoff import Discounts, GramModel
from tacit.language.model.ensemble import Ensemble, OrderPlan
from tacit.language.model.sums import ROUNDED, backoff_sums, ensemble_sums
from tacit.language.moments.ngram_counts import MAX_ORDER

Integers = NDArray[np.int64]
Ids = NDArray[np.int32]

_probability = within(0, 1 + 1e-5)  # ARPA files of others have few digits
_SUM = 1e-6  # how far from one the probabilities of a model that was learnt may sum


def _is_trie(
    vocabulary: Vocabulary, offsets: Integers, words: Ids, suffixes: Ids, firsts: Integers, **_: Any
) -> str | None:
    """What is wrong with n-grams whose indices are all within their arrays."""
    if not 2 <= len(offsets) <= MAX_ORDER + 1:
        return f"has {len(offsets) - 1} orders of n-grams"
    if offsets[1] != len(vocabulary) or offsets[-2] != len(firsts) - 1:
        return "has n-grams that do not fit the words or contexts"
    inner = offsets[:-1]  # where the n-grams of each order begin to be contexts of the next
    if (firsts[inner] != offsets[1:]).any():
        return "has n-grams that do not fit their contexts"
    # N-grams of lower orders stand before these.
    if (suffixes >= np.repeat(inner, np.diff(offsets))).any():
        return "has an n-gram that ends in a longer one"
    ascends = words[1:] > words[:-1]
    ascends[firsts[(firsts > 0) & (firsts < len(words))] - 1] = (
        True  # a context's first is any word
    )
    return None if ascends.all() else "has words after a context that are not in order"


def _has_factors(
    grams: GramModel,
    rows: Integers,
    columns: Integers,
    ranks: Integers,
    left: Any,
    right: Any,
    **_: Any,
) -> str | None:
    # A context's row is multiplied with columns of n-grams as long as itself.
    widths = np.concatenate([ranks, np.zeros(len(grams) - len(ranks), np.int64)])
    if not (parts_within(rows, ranks, len(left)) and parts_within(columns, widths, len(right))):
        return "has a row or column that does not lie within its factor"
    for low, high in zip(grams.offsets[:-2], grams.offsets[1:-1], strict=True):
        if high > low and ranks[low:high].min() != ranks[low:high].max():
            return "has rows of one order with different lengths"
    # Rows are as long as the columns of the n-grams that may follow without the first word.
    shorter = np.repeat(grams.offsets[:-2], np.diff(grams.offsets)[1:])
    if (grams.suffixes[grams.offsets[1] :] < shorter).any():
        return "has an n-gram that ends in one two orders below"
    return None


def _grams_that_sum(tolerance: float) -> Callable[..., GramModel]:
    def make(**fields: Any) -> GramModel:
        model = GramModel(**fields)
        _check_sums(backoff_sums(model), tolerance)
        return model

    return make


def _ensemble_that_sums(**fields: Any) -> Ensemble:
    model = Ensemble(**fields)
    _check_sums(ensemble_sums(model), _SUM)
    return model


def _check_sums(sums: NDArray[np.float64], tolerance: float) -> None:
    if not (np.abs(sums - 1) <= tolerance).all():  # also where they are NaN
        raise FileFormatError("has probabilities that do not sum to one after some context")


def _has_classes(
    model_: GramModel, classes_: Integers, word_given_class_: NDArray[np.float64], **_: Any
) -> str | None:
    if np.flatnonzero(classes_ == 0).tolist() != [BEGIN, END]:
        return "has other words in the class of the markers of lines"
    markers = word_given_class_[[BEGIN, END]]
    sums = np.bincount(classes_, word_given_class_, len(model_.vocabulary) - END)
    if (markers != 1).any() or (np.abs(sums[1:] - 1) > _SUM).any():
        return "has classes whose words have probabilities that do not sum to one"
    # Words are in classes, even unknown ones: there are no unknown classes.
    if model_.probs[model_.words == UNKNOWN].any():
        return "has a class for no words"
    return None


# Names of older formats
_ARGUMENT_NAMES = {"least_count": "min_count", "n_starts": "n_restarts"}
_PLAN_NAMES = {"n_starts": "n_restarts", "n_apart": "n_collapsed", "least": "min_size"}


def _plans(plain: Any) -> dict[int, OrderPlan]:
    def plan(fields: dict[str, Any]) -> OrderPlan:
        tuples = {name: tuple(fields[name]) for name in ("powers", "ranks", "weights")}
        return OrderPlan(
            **({_PLAN_NAMES.get(name, name): fields[name] for name in fields} | tuples)
        )

    return {int(order): plan(fields) for order, fields in plain.items()}


VOCABULARY = Record(
    Vocabulary,
    Field("store", Array("byte", dtype=np.uint8)),
    Field("starts", Array("word+1", offsets("byte"), dtype=np.int64)),
    make=Vocabulary.of_arrays,
)
_GRAM_FIELDS = (
    Field("vocabulary", VOCABULARY, sizes={"word": len}),
    Field("words", Array("gram", below("word"), dtype=np.int32)),
    Field("suffixes", Array("gram", below("gram", -1), dtype=np.int32)),
    Field("probs", Array("gram", _probability)),
    Field("offsets", Array("order+1", offsets("gram"), dtype=np.int64)),
    Field("firsts", Array("context+1", places("gram"), dtype=np.int64)),
    Field("backoffs", Array("context", not_negative, moderate, empty=True)),
)
_ENSEMBLE_GRAMS = Record(GramModel, *_GRAM_FIELDS, check=_is_trie)
GRAMS = Record(GramModel, *_GRAM_FIELDS, check=_is_trie, make=_grams_that_sum(_SUM))
ARPA_GRAMS = Record(GramModel, *_GRAM_FIELDS, check=_is_trie, make=_grams_that_sum(ROUNDED))
ENSEMBLE = Record(
    Ensemble,
    Field("grams", _ENSEMBLE_GRAMS, sizes={"gram": len, "context": lambda grams: grams.n_contexts}),
    Field("rows", Array("context", dtype=np.int64, empty=True)),
    Field("ranks", Array("context", dtype=np.int64, empty=True)),
    Field("columns", Array("gram", dtype=np.int64)),
    Field("left", Array("*", not_negative, dtype=np.float32, empty=True)),
    Field("right", Array("*", not_negative, dtype=np.float32, empty=True)),
    Field("left_rest", Array("context", not_negative, moderate, empty=True)),
    Field("right_rest", Array("gram", not_negative, moderate)),
    Field("scales", Array("context", not_negative, moderate, empty=True)),
    check=_has_factors,
    make=_ensemble_that_sums,
)
DISCOUNTS = Record(Discounts, Field("values", numbers(0)), Field("source", text()))

# How a model was learnt, and what arrays hold
_LEFT_OUT = dict.fromkeys(("progress", "memory", "folder", "vocabulary"))


def _upgrade_backoff(header: dict[str, Any], arrays: Arrays) -> None:
    renamed(header["arguments"], _ARGUMENT_NAMES)
    diagnostics = header["diagnostics"]
    if "discounts" in diagnostics:
        pairs = zip(diagnostics["discounts"], diagnostics["discount_sources"], strict=True)
        header["discounts"] = [{"values": values, "source": source} for values, source in pairs]
    header["model"] = _upgraded_grams(arrays, "", "model.")


def _upgrade_classes(header: dict[str, Any], arrays: Arrays) -> None:
    renamed(header["arguments"], _ARGUMENT_NAMES)
    renamed(arrays, {"shares": "word_given_class"})
    header["vocabulary"] = {}
    header["model"] = _upgraded_grams(arrays, "classes.", "model.")


def _upgrade_ensemble(header: dict[str, Any], arrays: Arrays) -> None:
    renamed(header["arguments"], _ARGUMENT_NAMES)
    if header["arguments"].get("preset") == "thesis":
        header["arguments"]["preset"] = "printed"
    header["plans"] = header["diagnostics"]["plans"]
    header["model"] = {"grams": _upgraded_grams(arrays, "", "model.grams.")}
    renamed(arrays, {"factors.": "model."})
    for name in ("model.left", "model.right"):  # bits of single precision
        arrays[name] = arrays[name].view(np.float32)


def _upgraded_grams(arrays: Arrays, old: str, new: str) -> dict[str, Any]:
    names = ("vocabulary.", "offsets", "words", "suffixes", "firsts", "probs", "backoffs")
    renamed(arrays, {old + name: new + name for name in names})
    return {"vocabulary": {}}


def _given_weights(model: Any) -> Any:
    return None if model.weights is None else model.weights_.tolist()


def _backoff_file(grams: Record) -> ModelFile:
    return ModelFile(
        Field("model_", grams),
        Field("discounts_", Many(DISCOUNTS), optional=True),
        arguments=_LEFT_OUT,
        upgrade=_upgrade_backoff,
    )


ARPA_FILE = _backoff_file(ARPA_GRAMS)
KNESER_NEY_FILE = _backoff_file(GRAMS)
CLASS_FILE = ModelFile(
    Field("model_", GRAMS, sizes={"class": lambda model: len(model.vocabulary) - 2}),
    Field("vocabulary_", VOCABULARY, sizes={"word": len}),
    Field("classes_", Array("word", below("class"), dtype=np.int64)),
    Field("word_given_class_", Array("word", _probability, within(1e-300, np.inf))),
    arguments=_LEFT_OUT,
    check=_has_classes,
    upgrade=_upgrade_classes,
)
ENSEMBLE_FILE = ModelFile(
    Field("model_", ENSEMBLE),
    Field("plans_", Value(lambda plans: {at: asdict(plan) for at, plan in plans.items()}, _plans)),
    arguments=_LEFT_OUT | dict.fromkeys(("ranks", "powers", "weights")),
    upgrade=_upgrade_ensemble,
)
MIXED_FILE = ModelFile(
    Field("models", Many(InnerModel(LanguageModel), least=1), sizes={"model": len}),
    Field("weights_", Array("model", probabilities)),
    arguments={**_LEFT_OUT, "weights": _given_weights},
)
