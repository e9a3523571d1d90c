"""Parsers and grammars beside the trees of a treebank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_flag, check_kind
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError
from tacit.parsing.data.grammar_input import prepared_trees, tree_list
from tacit.parsing.query.brackets import LENGTHS, BracketScores, gold_spans, scores_by_length
from tacit.parsing.query.labelled_brackets import LabelledScore, labelled_score

if TYPE_CHECKING:
    from tacit.parsing.constituent_context import ConstituentContextModel
    from tacit.parsing.latent_pcfg import LatentPCFG
    from tacit.parsing.span_parser import SpanParser


def parser_scores(
    model: SpanParser | ConstituentContextModel,
    trees: Any,
    lengths: Sequence[int | None] = LENGTHS,
) -> dict[int | None, BracketScores]:
    """F1 of a parser's brackets against those of a treebank, for sentences of up to so many words each.

    Parameters
    ----------
    model : SpanParser or ConstituentContextModel
    trees : list of ParseTree, or any input of `read_trees`
    lengths : sequence of int or None
        None for sentences of any length.
    """
    from tacit.parsing.constituent_context import ConstituentContextModel
    from tacit.parsing.span_parser import SpanParser

    parsers = (SpanParser, ConstituentContextModel)
    check_kind("model", model, parsers, "a SpanParser or a ConstituentContextModel")
    if not isinstance(lengths, Sequence) or isinstance(lengths, str):
        raise ArgumentTypeError(f"lengths={shown(lengths)}; give a list of numbers of words")
    gold = tree_list(trees)
    brackets = [parse.spans for parse in model.predict(gold)]
    return scores_by_length(brackets, [gold_spans(tree) for tree in gold], lengths)


def grammar_scores(
    model: LatentPCFG, trees: Any, *, given_tags: bool = True, convention: str = "all"
) -> LabelledScore:
    """Labelled precision, recall and F1 of the trees that a grammar gives to the words of others.

    Parameters
    ----------
    model : LatentPCFG
    trees : trees, as `LatentPCFG.fit` takes them
    given_tags : bool
        Whether the grammar is given the tags of the words.
    convention : {"all", "evalb"}
        See `labelled_score`.
    """
    from tacit.parsing.latent_pcfg import LatentPCFG

    check_kind("model", model, LatentPCFG, "a LatentPCFG")
    check_flag("given_tags", given_tags)
    gold = prepared_trees(trees)
    sentences = [
        [(word, tag if given_tags else None) for word, tag in tree.leaves()] for tree in gold
    ]
    return labelled_score(gold, model.predict(sentences), convention=convention)
