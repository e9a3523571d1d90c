"""What files of language models hold."""

from __future__ import annotations

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
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.language_queries import LanguageModel
from tacit.language.model.backoff import Discounts, GramModel
from tacit.language.model.ensemble import Ensemble, OrderPlan
from tacit.language.moments.ngram_counts import MAX_ORDER

Integers = NDArray[np.int64]
Ids = NDArray[np.int32]

_probability = within(0, 1 + 1e-5)  # ARPA files of others have few digits


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
GRAMS = Record(
    GramModel,
    Field("vocabulary", VOCABULARY, sizes={"word": len}),
    Field("words", Array("gram", below("word"), dtype=np.int32)),
    Field("suffixes", Array("gram", below("gram", -1), dtype=np.int32)),
    Field("probs", Array("gram", _probability)),
    Field("offsets", Array("order+1", offsets("gram"), dtype=np.int64)),
    Field("firsts", Array("context+1", places("gram"), dtype=np.int64)),
    Field("backoffs", Array("context", not_negative, moderate, empty=True)),
    check=_is_trie,
)
ENSEMBLE = Record(
    Ensemble,
    Field("grams", GRAMS, sizes={"gram": len, "context": lambda grams: grams.n_contexts}),
    Field("rows", Array("context", dtype=np.int64, empty=True)),
    Field("ranks", Array("context", dtype=np.int64, empty=True)),
    Field("columns", Array("gram", dtype=np.int64)),
    Field("left", Array("*", dtype=np.float32, empty=True)),
    Field("right", Array("*", dtype=np.float32, empty=True)),
    Field("left_rest", Array("context", moderate, empty=True)),
    Field("right_rest", Array("gram", moderate)),
    Field("scales", Array("context", moderate, empty=True)),
    check=_has_factors,
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


BACKOFF_FILE = ModelFile(
    Field("model_", GRAMS),
    Field("discounts_", Many(DISCOUNTS), optional=True),
    arguments=_LEFT_OUT,
    upgrade=_upgrade_backoff,
)
CLASS_FILE = ModelFile(
    Field("model_", GRAMS, sizes={"class": lambda model: len(model.vocabulary) - 2}),
    Field("vocabulary_", VOCABULARY, sizes={"word": len}),
    Field("classes_", Array("word", below("class"), dtype=np.int64)),
    Field("word_given_class_", Array("word", _probability, within(1e-300, np.inf))),
    arguments=_LEFT_OUT,
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
