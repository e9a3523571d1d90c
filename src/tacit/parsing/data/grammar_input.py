"""Trees and sentences from what users give to grammars."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError
from tacit.parsing.data.parse_trees import ParseTree, read_trees, without_empties, without_functions


def prepared_trees(source: Any) -> list[ParseTree]:
    """Trees without empty words and functions, from trees or any input of `read_trees`.

    Trees that hold nothing but empty words are left out.
    """
    spoken = map(without_empties, tree_list(source))
    return [without_functions(tree) for tree in spoken if tree is not None]


def tree_list(source: Any) -> list[ParseTree]:
    """Trees as they are, from trees or any input of `read_trees`."""
    trees = source
    if isinstance(source, ParseTree):
        raise ArgumentTypeError("one tree was given; give a list of trees")
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        if not isinstance(source, Iterable):
            raise ArgumentTypeError(
                f"{shown(source)} holds no trees; give a list of trees, of texts in brackets, or a path"
            )
        trees = list(source)
    if isinstance(trees, list) and trees and all(isinstance(item, ParseTree) for item in trees):
        return trees
    return read_trees(trees)


def sentence_list(X: Any) -> list[tuple[list[str], list[str | None]]]:
    """The words and tags of several sentences; see `words_and_tags`."""
    if isinstance(X, str | ParseTree) or not isinstance(X, Iterable):
        raise ArgumentTypeError(f"{shown(X)} is not a list of sentences; give [sentence, ...]")
    return [words_and_tags(sentence) for sentence in X]


def words_and_tags(sentence: Any) -> tuple[list[str], list[str | None]]:
    """The words of a sentence, and the tags that come with them; None for a word without one.

    A tree is a sentence too, whose tags and brackets are not looked at.
    """
    if isinstance(sentence, str):
        sentence = sentence.split()
    elif isinstance(sentence, ParseTree):
        sentence = [word for word, _ in sentence.leaves()]
    elif not isinstance(sentence, Iterable):
        raise ArgumentTypeError(
            f"{shown(sentence)} is no sentence; give text, a list of words, or of (word, tag) pairs"
        )
    words: list[str] = []
    tags: list[str | None] = []
    for item in sentence:
        pair = (item, None) if isinstance(item, str) else item
        word, tag = pair if isinstance(pair, Sequence) and len(pair) == 2 else (None, None)
        if not isinstance(word, str) or not (tag is None or isinstance(tag, str)):
            raise ArgumentTypeError(
                f"{shown(item)} is neither a word nor a pair of a word and a tag; give text"
            )
        words.append(word)
        tags.append(tag)
    return words, tags
