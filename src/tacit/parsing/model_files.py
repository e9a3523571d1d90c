"""What files of parsers and grammars hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array, Arrays, Field, Many, Record
from tacit.core.files.header_values import Value, integer, number, numbers, texts
from tacit.core.files.ranges import (
    ascending,
    below,
    logarithms,
    moderate,
    offsets,
    probabilities,
    within,
)
from tacit.core.files.saved_model import ModelFile, renamed
from tacit.errors import FileFormatError
from tacit.parsing.data.treebank import BRACKET, REST, TAG, GrammarSymbols, Label
from tacit.parsing.model.grammar import LatentGrammar, Lexicon
from tacit.parsing.model.span_ratios import SpanRatios
from tacit.parsing.model.tag_chunks import TagChunker
from tacit.parsing.model.tag_distances import TagDistances
from tacit.parsing.structure.rules import Rules

Codes = NDArray[np.int32]

_FLOATS = (np.float64, np.float32)
_MOST_LABELS = 10**6  # the numbers of three are then one int64

# ------------------------------------------------------------------ parsers that need no treebank

TAG_DISTANCES = Record(
    TagDistances,
    Field("tags", texts(), sizes={"tag": len}),
    Field("table", Array("tag tag distance", moderate)),
)
TAG_CHUNKER = Record(
    TagChunker,
    Field("tags", texts(), sizes={"tag": len}),
    Field("initial", Array("3 tag+1", logarithms, finite=False)),
    Field("transitions", Array("3 tag+1 4", logarithms, finite=False)),
    Field("emissions", Array("3 tag+1", logarithms, finite=False)),
    Field("predicates", Value(sorted, lambda plain: frozenset(texts().from_plain(plain)))),
)
SPAN_RATIOS = Record(
    SpanRatios,
    Field("yields", Array("yield", ascending, dtype=np.uint64, empty=True)),
    Field("of_yields", Array("yield", moderate, empty=True)),
    Field("of_contexts", Array("context", moderate)),
    Field("unseen", number(-1e150, 1e150)),
)


def _upgrade_span_parser(header: dict[str, Any], arrays: Arrays) -> None:
    header["distances"] = {"tags": header.pop("tags")}
    header["chunker"] = {"tags": header.pop("shape_tags"), "predicates": header.pop("predicates")}
    renamed(arrays, {"distances": "distances.table"})
    names = {"first": "initial", "following": "transitions", "emitted": "emissions"}
    for old, new in names.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            arrays[f"chunker.{new}"] = np.log(arrays.pop(old))
    arguments = header.get("arguments")
    if isinstance(arguments, dict) and "longest" in arguments:
        arguments["max_words"] = arguments.pop("longest")


def _upgrade_context_model(header: dict[str, Any], arrays: Arrays) -> None:
    header["ratios"] = {"unseen": header.pop("unseen")}
    header["pseudo_counts"] = header.pop("smoothing")
    arguments = header.get("arguments")
    if isinstance(arguments, dict) and "tol" in arguments:
        arguments["posterior_tol"] = arguments.pop("tol")
    arrays["yields"] = arrays["yields"].view(np.uint64)
    renamed(arrays, {name: f"ratios.{name}" for name in ("yields", "of_yields", "of_contexts")})


SPAN_PARSER_FILE = ModelFile(
    Field("distances_", TAG_DISTANCES),
    Field("chunker_", TAG_CHUNKER),
    upgrade=_upgrade_span_parser,
)
CONTEXT_MODEL_FILE = ModelFile(
    Field("tags_", texts(), sizes={"context": lambda tags: (len(tags) + 2) ** 2}),
    Field("ratios_", SPAN_RATIOS),
    Field("changes_", Value(numbers().to_plain, lambda plain: list(numbers().from_plain(plain)))),
    Field("pseudo_counts", numbers(0)),
    upgrade=_upgrade_context_model,
)

# --------------------------------------------------------------------------------------- grammars


def _labels(plain: Any) -> tuple[Label, ...]:
    labels = tuple(Label(tuple(map(str, chain)), kind) for kind, *chain in plain)
    fits = all(label.kind in (BRACKET, REST, TAG) and label.chain for label in labels)
    if not fits or len(set(labels)) < len(labels) or not len(labels) <= _MOST_LABELS:
        raise FileFormatError("holds labels that are none, or come twice")
    return labels


def _check_rules(triples: Codes, n_labels: int) -> str | None:
    keys = Rules(triples, n_labels).keys
    return None if (keys[1:] > keys[:-1]).all() else "has rules that are not in ascending order"


def _check_lexicon(
    tag_of_label: Codes, pair_label: Codes, pair_word: Codes, tag_word: Any, **_: Any
) -> str | None:
    keys = pair_label.astype(np.int64) * (tag_word.shape[1] - 1) + pair_word
    if (keys[1:] <= keys[:-1]).any() or (tag_of_label[pair_label] < 0).any():
        return "has pairs of labels and words that are not in order"
    return None


def _check_terms(tensors: Any, parents: Any, lefts: Any, rights: Any, **_: Any) -> str | None:
    same = tensors.dtype == parents.dtype == lefts.dtype == rights.dtype
    return None if same else "has tensors and terms of different types"


def _check_coarse(
    start: Any, parents: Any, rules: Rules, first_term: Any, **more: Any
) -> str | None:
    one = start.shape[1] == 1 and np.array_equal(first_term, np.arange(len(rules) + 1))
    if not one or (start < 0).any() or (parents < 0).any():
        return "is no grammar of one state"
    return _check_terms(parents=parents, **more)


GRAMMAR_SYMBOLS = Record(
    GrammarSymbols,
    Field(
        "labels", Value(lambda labels: [[label.kind, *label.chain] for label in labels], _labels)
    ),
    Field("words", texts()),
)
RULES = Record(
    Rules,
    Field("triples", Array("rule 3", below("label"), dtype=np.int32, empty=True)),
    Field("n_labels", integer(1, _MOST_LABELS), sizes={"label": int}),
    check=_check_rules,
)
LEXICON = Record(
    Lexicon,
    Field("tag_of_label", Array("label", below("tag", -1), dtype=np.int32)),
    Field("backoff", Array("label", within(0, 1), dtype=_FLOATS)),
    Field("pair_label", Array("pair", below("label"), dtype=np.int32, empty=True)),
    Field("pair_word", Array("pair", below("word"), dtype=np.int32, empty=True)),
    Field("tag_word", Array("tag word+1", probabilities, dtype=_FLOATS)),
    check=_check_lexicon,
)
_TENSORS = (
    Field("start", Array("label state", moderate, dtype=_FLOATS)),
    Field("total", Array("label state", moderate, dtype=_FLOATS)),
    Field("words", Array("pair state", moderate, dtype=_FLOATS, empty=True)),
    Field("tensors", Array("tensor state state*state", moderate, dtype=_FLOATS, empty=True)),
    Field("dense", Array("rule", below("tensor", -1), dtype=np.int32, empty=True)),
    Field("parents", Array("term state", moderate, dtype=_FLOATS, empty=True)),
    Field("lefts", Array("term state", moderate, dtype=_FLOATS, empty=True)),
    Field("rights", Array("term state", moderate, dtype=_FLOATS, empty=True)),
    Field("first_term", Array("rule+1", offsets("term"), dtype=np.int32)),
)
COARSE = Record(
    LatentGrammar,
    Field("rules", RULES, sizes={"rule": len}),
    Field("lexicon", LEXICON, sizes={"pair": lambda lexicon: len(lexicon.pair_label)}),
    *_TENSORS,
    check=_check_coarse,
)
PART = Record(LatentGrammar, *_TENSORS, make=dict, check=_check_terms)


def _upgrade_grammar(header: dict[str, Any], arrays: Arrays) -> None:
    old = header.pop("grammar")
    symbols = GrammarSymbols(_labels(old["labels"]), tuple(old["words"]))
    header["symbols"] = {"labels": old["labels"], "words": old["words"]}
    header["coarse"] = {"rules": {"n_labels": len(symbols.labels)}, "lexicon": {}}
    arrays["tag_of_label"] = symbols.tag_of_label
    names = ("tag_of_label", "backoff", "pair_label", "pair_word", "tag_word")
    renamed(arrays, {"share": "backoff"})
    renamed(arrays, {name: f"coarse.lexicon.{name}" for name in names})
    renamed(arrays, {"rules": "coarse.rules.triples"})
    parts = range(min(old["n_parts"], len(arrays)))
    header["grammars"] = [{} for _ in parts]
    renamed(arrays, {f"{part}.": f"grammars.{part}." for part in parts})


GRAMMAR_FILE = ModelFile(
    Field(
        "symbols_",
        GRAMMAR_SYMBOLS,
        sizes={
            "label": lambda symbols: len(symbols.labels),
            "word": lambda symbols: len(symbols.words),
            "tag": lambda symbols: len(symbols.tags),
        },
    ),
    Field(
        "coarse_",
        COARSE,
        sizes={
            "rule": lambda grammar: len(grammar.rules),
            "pair": lambda grammar: len(grammar.lexicon.pair_label),
        },
    ),
    Field(
        "grammars_",
        Many(PART),
        get=lambda model: () if model.grammars_ == (model.coarse_,) else model.grammars_,
    ),
    arguments={"features": None},  # functions
    upgrade=_upgrade_grammar,
)
