"""Shortest projective trees, against all trees and against trees that the distances come from."""

from functools import cache

import numpy as np
import pytest

from tacit.errors import ArgumentError, DataError, TooExpensiveError
from tacit.parsing.loops import projective as loops
from tacit.parsing.structure.branching import random_branching
from tacit.parsing.structure.projective import projective_tree


@cache
def bracketings(start, stop):
    """Every binary bracketing of some words, as frozen sets of spans."""
    if stop - start == 1:
        return (frozenset(),)
    return tuple(
        left | right | {(start, stop)}
        for split in range(start + 1, stop)
        for left in bracketings(start, split)
        for right in bracketings(split, stop)
    )


def split_of(spans, start, stop):
    return next(
        f for f in range(start + 1, stop)
        if (f - start == 1 or (start, f) in spans) and (stop - f == 1 or (f, stop) in spans)
    )  # fmt: skip


def tree_length(distances, spans, extra=None):
    """The length of a tree, edge by edge, with the means as the thesis writes them."""
    n = len(distances)
    everyone = set(range(n))

    def mean(one, other):
        return np.mean([distances[a, b] for a in one for b in other])

    def groups(span):
        """The two groups of words behind the node of a span, or the word itself."""
        start, stop = span
        if stop - start == 1:
            return [{start}]
        middle = split_of(spans, start, stop)
        return [set(range(start, middle)), set(range(middle, stop))]

    def edge(one, other):
        if len(one) == len(other) == 1:
            return mean(one[0], other[0])
        if len(one) == 1 or len(other) == 1:
            (leaf,), (a, b) = sorted((one, other), key=len)
            return 0.5 * (mean(leaf, a) + mean(leaf, b) - mean(a, b))
        (a, b), (g, h) = one, other
        crossing = mean(a, g) + mean(a, h) + mean(b, g) + mean(b, h)
        return 0.25 * (crossing - 2 * mean(a, b) - 2 * mean(g, h))

    top = split_of(spans, 0, n)
    total = edge(groups((0, top)), groups((top, n)))
    for start, stop in spans - {(0, n)}:
        middle = split_of(spans, start, stop)
        outside = everyone - set(range(start, stop))
        left, right = set(range(start, middle)), set(range(middle, stop))
        total += edge(groups((start, middle)), [right, outside])
        total += edge(groups((middle, stop)), [left, outside])
    return total + (0 if extra is None else sum(extra[span] for span in spans))


def path_distances(n, spans, random):
    """Distances along a tree with random lengths, whose top edge is one edge."""
    distances = np.zeros((n, n))
    nodes = [(i, i + 1) for i in range(n)] + [span for span in spans if span != (0, n)]
    for start, stop in nodes:
        inside = np.zeros(n, dtype=bool)
        inside[start:stop] = True
        length = random.uniform(0.1, 2)
        distances[np.ix_(inside, ~inside)] += length
        distances[np.ix_(~inside, inside)] += length
    return distances


def undirected(n, spans):
    """The splits of a tree without a root, but those of single words."""
    sides = {frozenset(range(a, b)) if a > 0 else frozenset(range(b, n)) for a, b in spans}
    return {side for side in sides if 1 < len(side) < n - 1}


@pytest.mark.parametrize("n", range(2, 8))
@pytest.mark.parametrize("with_extra", [False, True])
def test_the_shortest_of_all_trees_is_found(n, with_extra):
    random = np.random.default_rng(n)
    for _ in range(4):
        distances = random.uniform(0, 3, (n, n))
        distances += distances.T
        extra = random.normal(size=(n + 1, n + 1)) if with_extra and n > 2 else None
        every = {spans: tree_length(distances, spans, extra) for spans in bracketings(0, n)}
        free = projective_tree(distances, extra=extra)
        assert free.length == pytest.approx(min(every.values()))
        assert every[frozenset(free.spans)] == pytest.approx(free.length)
        for top in range(1, n):
            ours = projective_tree(distances, top, extra)
            lengths = sorted(every[spans] for spans in every if split_of(spans, 0, n) == top)
            assert ours.length == pytest.approx(lengths[0])
            assert every[frozenset(ours.spans)] == pytest.approx(ours.length)
            assert split_of(set(ours.spans), 0, n) == top
            second = lengths[1] - lengths[0] if len(lengths) > 1 else np.inf
            assert ours.margin == pytest.approx(second, abs=1e-9)


@pytest.mark.parametrize("n", [5, 6, 8, 13, 20, 29, 40])
def test_distances_along_a_tree_give_the_tree_back(n):
    random = np.random.default_rng(n)
    for _ in range(3):
        spans = random_branching(n, random)
        distances = path_distances(n, spans, random)
        top = split_of(set(spans), 0, n)
        actual = projective_tree(distances, top)
        assert sorted(actual.spans) == sorted(spans)
        assert actual.margin > 1e-6
        # Without the top bracket, the tree is the same up to where it hangs.
        assert undirected(n, projective_tree(distances).spans) == undirected(n, spans)


def test_what_is_added_to_all_distances_of_a_word_changes_nothing():
    random = np.random.default_rng(0)
    distances = random.uniform(0, 3, (9, 9))
    distances += distances.T
    own = random.uniform(0, 5, 9)
    one, other = projective_tree(distances, 4), projective_tree(distances + own[:, None] + own, 4)
    assert one.spans == other.spans
    assert other.margin == pytest.approx(one.margin)


def test_few_words_have_one_tree():
    assert projective_tree(np.zeros((0, 0))).spans == projective_tree(np.zeros((1, 1))).spans == []
    two = projective_tree(np.array([[0, 4], [4, 0.0]]))
    assert (two.spans, two.length, two.margin) == ([(0, 2)], 4.0, np.inf)


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="no square table"):
        projective_tree(np.zeros((2, 3)))
    with pytest.raises(DataError, match="finite, and the same"):
        projective_tree(np.array([[0, 1], [2, 0.0]]))
    with pytest.raises(ArgumentError, match="from 1 to 3"):
        projective_tree(np.zeros((4, 4)), top=4)
    with pytest.raises(DataError, match="extra has the shape"):
        projective_tree(np.zeros((4, 4)), extra=np.zeros((4, 4)))
    with pytest.raises(TooExpensiveError, match="500 words would take about 38 s and 425 MB"):
        projective_tree(np.zeros((500, 500)))


def test_the_compiled_loop_agrees_with_its_python_source(monkeypatch):
    random = np.random.default_rng(1)
    distances = random.uniform(0, 3, (6, 6))
    distances += distances.T
    extra = random.normal(size=(7, 7))
    compiled = loops.shortest_tree(distances, extra, 0)
    for name in ("_mean", "_fill_span", "_part", "_whole", "_trace"):
        monkeypatch.setattr(loops, name, getattr(loops, name).py_func)
    plain = loops.shortest_tree.py_func(distances, extra, 0)
    assert compiled[0].tolist() == plain[0].tolist()
    assert compiled[1:] == pytest.approx(plain[1:], rel=1e-12)
