"""Fitted grammars to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from
from tacit.core.files.model_files import write_model
from tacit.errors import FileFormatError
from tacit.parsing.data.treebank import BRACKET, REST, TAG, GrammarSymbols, Label
from tacit.parsing.model.grammar import LatentGrammar, Lexicon
from tacit.parsing.structure.rules import Rules

if TYPE_CHECKING:
    from tacit.parsing.latent_pcfg import LatentPCFG

Arrays = Mapping[str, NDArray[Any]]

_OF_GRAMMAR = ("start", "total", "words", "dense", "tensors", "first_term")
_TERMS = ("parents", "lefts", "rights")
_COARSE = "coarse."  # what names of arrays of the grammar with one state begin with


def save_grammar(model: LatentPCFG, path: str | os.PathLike[str]) -> None:
    """Write a fitted grammar to one file, whole or not at all."""
    symbols, lexicon = model.symbols_, model.coarse_.lexicon
    plain: dict[str, Any] = {
        "labels": [[label.kind, *label.chain] for label in symbols.labels],
        "words": list(symbols.words),
        "n_parts": 0 if model.grammars_ == (model.coarse_,) else len(model.grammars_),
    }
    arrays: dict[str, NDArray[Any]] = {
        "rules": model.coarse_.rules.triples,
        "share": lexicon.share,
        "pair_label": lexicon.pair_label,
        "pair_word": lexicon.pair_word,
        "tag_word": lexicon.tag_word,
        **_arrays(model.coarse_, _COARSE),
    }
    for number in range(plain["n_parts"]):
        arrays |= _arrays(model.grammars_[number], f"{number}.")
    write_model(path, {**common_header(model), "grammar": plain}, arrays)


def _arrays(grammar: LatentGrammar, prefix: str) -> dict[str, NDArray[Any]]:
    return {prefix + name: getattr(grammar, name) for name in (*_OF_GRAMMAR, *_TERMS)}


def load_grammar(
    kind: type[LatentPCFG], path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> LatentPCFG:
    """The fitted grammar whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"grammar": dict})
    model: LatentPCFG = made_from(kind, header)
    try:
        symbols = _symbols(header["grammar"])
        rules, lexicon = _rules(arrays, symbols), _lexicon(arrays, symbols)
        model.coarse_ = _grammar(arrays, rules, lexicon, _COARSE)
        numbers = range(int(header["grammar"]["n_parts"]))
        parts = [_grammar(arrays, rules, lexicon, f"{number}.") for number in numbers]
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error!r}") from error
    if model.coarse_.n_states != 1 or len(model.coarse_.parents) != len(rules):
        raise FileFormatError(f"{str(path)!r} lacks the grammar of one state")
    model.symbols_, model.grammars_ = symbols, tuple(parts) or (model.coarse_,)
    model.diagnostics_ = dict(header["diagnostics"])
    return model


def _symbols(plain: Mapping[str, Any]) -> GrammarSymbols:
    labels = tuple(Label(tuple(map(str, chain)), kind) for kind, *chain in plain["labels"])
    words = tuple(map(str, plain["words"]))
    fits = all(label.kind in (BRACKET, REST, TAG) and label.chain for label in labels)
    if not fits or len(set(labels)) < len(labels) or len(set(words)) < len(words):
        raise FileFormatError("the labels or words of the header are none, or come twice")
    return GrammarSymbols(labels, words)


def _codes(arrays: Arrays, name: str, shape: tuple[int, ...], end: int) -> NDArray[np.int32]:
    """An array of codes below `end`, of a shape in which -1 is any length."""
    found = arrays[name]
    fits = found.ndim == len(shape) and all(
        want in (-1, have) for want, have in zip(shape, found.shape, strict=True)
    )
    if found.dtype != np.int32 or not fits:
        raise FileFormatError(f"the array {name!r} has another type or shape than it should")
    if found.size and not (found.min() >= 0 and found.max() < end):
        raise FileFormatError(f"the array {name!r} names what is not there")
    return found


def _numbers(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    found = arrays[name]
    if found.dtype not in (np.float32, np.float64) or found.shape != shape:
        raise FileFormatError(f"the array {name!r} has another type or shape than it should")
    if not np.isfinite(found).all():
        raise FileFormatError(f"the array {name!r} holds what are no numbers")
    return found


def _rules(arrays: Arrays, symbols: GrammarSymbols) -> Rules:
    n_labels = len(symbols.labels)
    rules = Rules(_codes(arrays, "rules", (-1, 3), n_labels), n_labels)
    if np.any(np.diff(rules.keys) <= 0):
        raise FileFormatError("the rules are not in ascending order")
    return rules


def _lexicon(arrays: Arrays, symbols: GrammarSymbols) -> Lexicon:
    n_labels, n_words = len(symbols.labels), len(symbols.words)
    label = _codes(arrays, "pair_label", (-1,), n_labels)
    word = _codes(arrays, "pair_word", label.shape, n_words)
    lexicon = Lexicon(
        symbols.tag_of_label,
        _numbers(arrays, "share", (n_labels,)),
        label,
        word,
        _numbers(arrays, "tag_word", (len(symbols.tags), n_words + 1)),
    )
    keys = label.astype(np.int64) * n_words + word
    if np.any(np.diff(keys) <= 0) or np.any(symbols.tag_of_label[label] < 0):
        raise FileFormatError("the pairs of labels and words are not in order")
    return lexicon


def _grammar(arrays: Arrays, rules: Rules, lexicon: Lexicon, prefix: str) -> LatentGrammar:
    n_rules, n_labels = len(rules), rules.n_labels
    m = arrays[prefix + "start"].shape[1]
    tensors = arrays[prefix + "tensors"]
    dense = arrays[prefix + "dense"]
    first = arrays[prefix + "first_term"]
    n_terms = len(arrays[prefix + "parents"])
    whole = dense.dtype == first.dtype == np.int32
    if not whole or dense.shape != (n_rules,) or first.shape != (n_rules + 1,):
        raise FileFormatError("the arrays of rules have another type or shape than they should")
    if n_rules and not (dense.min() >= -1 and dense.max() < len(tensors)):
        raise FileFormatError("the array 'dense' names tensors that are not there")
    if first[0] != 0 or first[-1] != n_terms or np.any(np.diff(first) < 0):
        raise FileFormatError("the array 'first_term' names terms that are not there")
    kinds = {arrays[prefix + name].dtype for name in ("tensors", *_TERMS)}
    if len(kinds) > 1:
        raise FileFormatError("tensors and terms have different types")
    return LatentGrammar(
        rules,
        lexicon,
        _numbers(arrays, prefix + "start", (n_labels, m)),
        _numbers(arrays, prefix + "total", (n_labels, m)),
        _numbers(arrays, prefix + "words", (len(lexicon.pair_label), m)),
        dense,
        _numbers(arrays, prefix + "tensors", (len(tensors), m, m * m)),
        first,
        *(_numbers(arrays, prefix + name, (n_terms, m)) for name in _TERMS),
    )
