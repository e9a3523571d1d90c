"""Random tagged sentences of a small grammar."""

from __future__ import annotations

from typing import Any

from tacit.core.arguments import check_rows, generator_from
from tacit.parsing.data.parse_trees import ParseTree
from tacit.toy.arguments import check_size

_MOST_TREES = 10**6

_WORDS = {
    "DET": ("the", "a", "this", "every"),
    "ADJ": ("big", "small", "old", "quick"),
    "NOUN": ("cat", "dog", "house", "tree", "man", "bird"),
    "VERB": ("saw", "likes", "finds", "hears"),
    "ADP": ("in", "near", "of", "with"),
}


def sample_trees(n_samples: int, random_state: Any = None) -> list[ParseTree]:
    """Trees of sentences such as "the cat near a house saw every dog", with universal tags.

    Parameters
    ----------
    n_samples : int
    random_state : int, Generator or None
    """
    check_rows("n_samples", n_samples)
    check_size("trees", n_samples, _MOST_TREES)
    random = generator_from(random_state)

    def word(tag: str) -> ParseTree:
        return ParseTree(tag, (), str(random.choice(_WORDS[tag])))

    def noun_phrase(depth: int) -> ParseTree:
        inner = [word("DET"), *([word("ADJ")] if random.random() < 0.3 else []), word("NOUN")]
        base = ParseTree("NP", tuple(inner))
        if depth > 2 or random.random() < 0.6:
            return base
        phrase = ParseTree("PP", (word("ADP"), noun_phrase(depth + 1)))
        return ParseTree("NP", (base, phrase))

    return [
        ParseTree("S", (noun_phrase(0), ParseTree("VP", (word("VERB"), noun_phrase(0)))))
        for _ in range(n_samples)
    ]


def sample_sentences(n_samples: int, random_state: Any = None) -> list[list[tuple[str, str]]]:
    """The words and tags of `sample_trees`.

    Examples
    --------
    >>> len(sample_sentences(3, random_state=0))
    3
    """
    return [tree.leaves() for tree in sample_trees(n_samples, random_state)]
