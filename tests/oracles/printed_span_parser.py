"""Chapter 8 of Parikh (2015) word by word, by loops over all words and all trees; for short texts.

Sentences are lists of (vector, tag); places count from 0, and a bracket is its first and its last word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sentence = Sequence[tuple[Array, str]]
Tree = Any  # a place, or a pair of trees


def kappa(j: int, k: int, x: Sequence[str], a: int, b: int, y: Sequence[str]) -> float:
    """Below equation 8.7, with the absolute value that print leaves out; 0 for two words with themselves."""
    if x[j] != y[a] or x[k] != y[b] or np.sign(j - k) != np.sign(a - b):
        return np.inf
    return 0.0 if j == k else abs(abs(j - k) - abs(a - b)) / (abs(j - k) + abs(a - b))


def covariance(text: Sequence[Sentence], x: Sequence[str], j: int, k: int, gamma: float) -> Array:
    """Algorithm 15, step 1: the kernel average over all pairs of words of all sentences."""
    above, below = 0.0, 0.0
    for sentence in text:
        tags = [tag for _, tag in sentence]
        for a, b in product(range(len(sentence)), repeat=2):
            weight = max(0.0, 1.0 - kappa(j, k, x, a, b, tags) / gamma)
            above = above + weight * np.outer(sentence[a][0], sentence[b][0])
            below += weight
    return np.asarray(above / below)


def log_product(matrix: Array, m: int) -> float:
    """log Lambda_m: of the product of the m largest singular values."""
    return float(np.log(np.linalg.svd(matrix, compute_uv=False)[:m]).sum())


def distances(text: Sequence[Sentence], x: Sequence[str], m: int, gamma: float) -> Array:
    """Equation 8.5 for all pairs of words of a sentence."""
    n = len(x)
    logs = np.array(
        [[log_product(covariance(text, x, j, k, gamma), m) for k in range(n)] for j in range(n)]
    )
    return -logs + np.diag(logs)[:, None] / 2 + np.diag(logs) / 2


# -- the shortest tree --------------------------------------------------------------------------------


def trees(start: int, stop: int) -> Iterator[Tree]:
    """All binary trees over the words from `start` to before `stop`."""
    if stop - start == 1:
        yield start
    for split in range(start + 1, stop):
        yield from product(trees(start, split), trees(split, stop))


def words(tree: Tree) -> list[int]:
    """The words of a tree."""
    return [tree] if isinstance(tree, int) else words(tree[0]) + words(tree[1])


def mean(d: Array, a: list[int], b: list[int]) -> float:
    """The average over all choices of two words."""
    return float(d[np.ix_(a, b)].mean())


def leaf_edge(d: Array, j: int, a: list[int], b: list[int]) -> float:
    """Equation 8.3, averaged."""
    return (mean(d, [j], a) + mean(d, [j], b) - mean(d, a, b)) / 2


def inner_edge(d: Array, a: list[int], b: list[int], g: list[int], h: list[int]) -> float:
    """Equation 8.4, averaged."""
    crossing = mean(d, a, g) + mean(d, a, h) + mean(d, b, g) + mean(d, b, h)
    return (crossing - 2 * mean(d, a, b) - 2 * mean(d, g, h)) / 4


def edge(d: Array, tree: Tree, c: list[int], e: list[int]) -> float:
    """The edge from a tree upwards, where words `c` and `e` are."""
    if isinstance(tree, int):
        return leaf_edge(d, tree, c, e)
    return inner_edge(d, words(tree[0]), words(tree[1]), c, e)


def cost(d: Array, tree: Tree) -> float:
    """Equation 8.6 for the undirected tree: its top is an edge, not a node (figure 8.6 d)."""
    left, right = tree
    n = len(d)
    if n == 2:
        return float(d[0, 1])

    def below(node: Tree) -> float:
        if isinstance(node, int):
            return 0.0
        inside = words(node)
        outside = [i for i in range(n) if i not in inside]
        total = 0.0
        for child, sibling in (node, node[::-1]):
            total += edge(d, child, words(sibling), outside) + below(child)
        return total

    if isinstance(left, int):
        top = leaf_edge(d, left, words(right[0]), words(right[1]))
    else:
        top = edge(d, right, words(left[0]), words(left[1]))
    return top + below(left) + below(right)


def shortest(d: Array, f_top: int) -> Tree:
    """Algorithm 17: the cheapest tree whose top bracket is [0, f_top - 1], [f_top, n - 1]."""
    every = product(trees(0, f_top), trees(f_top, len(d)))
    return min(every, key=lambda tree: cost(d, tree))


def brackets(tree: Tree) -> set[tuple[int, int]]:
    """First word and word after the last of the brackets of two words or more."""
    if isinstance(tree, int):
        return set()
    inside = words(tree)
    return {(min(inside), max(inside) + 1)} | brackets(tree[0]) | brackets(tree[1])


# -- the heuristic of section 8.4.1 -------------------------------------------------------------------


def top_bracket(sentence: Sequence[tuple[str, str]]) -> int:
    """The number of words before the second part, for tags of the Penn Treebank."""

    def is_noun(tag: str) -> bool:
        return tag in ("NN", "NNS", "NNP", "NNPS")

    def is_verb(tag: str) -> bool:
        return tag in ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD")

    tags = [tag for _, tag in sentence]
    marks = {",", ":", "."}
    split = None
    for i, (word, _) in enumerate(sentence):
        if word in (",", ";", ":"):
            verb_before = any(is_verb(tag) for tag in tags[:i])
            noun_then_verb = any(
                is_noun(tags[a]) and is_verb(tags[b])
                for a in range(i + 1, len(tags))
                for b in range(a + 1, len(tags))
            )
            if verb_before and noun_then_verb:
                split = i  # the rightmost one remains
    if split is None:
        split = next(
            (j for j, tag in enumerate(tags) if is_verb(tag) and tag not in ("VBN", "VBG")), None
        )
    spoken = [i for i, tag in enumerate(tags) if tag not in marks]
    before = 1 if split is None else sum(i < split for i in spoken)
    # A tree has words on both sides.
    return min(max(before, 1), max(len(spoken) - 1, 1))
