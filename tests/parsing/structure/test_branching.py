"""Bracketings that need no learning."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.parsing.structure.branching import (
    left_branching,
    random_branching,
    right_branching,
    top_split,
    tree_of_spans,
)


def sentence(text):
    return [tuple(token.rsplit("/", 1)) for token in text.split()]


@given(st.integers(1, 12), st.booleans(), st.integers(0, 99))
def test_a_bracketing_by_chance_is_a_binary_tree(n_words, trees, seed):
    spans = random_branching(n_words, np.random.default_rng(seed), trees=trees)
    assert len(set(spans)) == len(spans) == n_words - 1
    tree = tree_of_spans([("w", "T")] * n_words, spans)
    if n_words > 1:
        assert all(len(node.children) == 2 for node in tree.nodes() if node.word is None)
        assert sorted((a, b) for _, a, b in tree.spans()) == sorted(spans)


def test_every_tree_is_as_likely_as_any_other():
    random = np.random.default_rng(0)
    seen = Counter(tuple(sorted(random_branching(4, random, trees=True))) for _ in range(5000))
    assert len(seen) == 5
    assert max(abs(count - 1000) for count in seen.values()) < 150  # five standard deviations
    # Of the 58786 trees over 12 words, 16796 have one word to the left of the first split.
    alone = np.mean([(1, 12) in random_branching(12, random, trees=True) for _ in range(2000)])
    assert alone == pytest.approx(16796 / 58786, abs=0.05)


def test_left_and_right_branching():
    assert left_branching(3) == [(0, 3), (0, 2)]
    assert right_branching(3) == [(0, 3), (1, 3)]
    assert right_branching(5, 3) == [(0, 5), (0, 3), (1, 3), (3, 5)]
    assert right_branching(1) == left_branching(1) == []


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("the/DT cat/NN sat/VBD down/RP", 2),
        ("dogs/NNS trained/VBN well/RB may/MD bite/VB", 3),  # no participle
        ("go/VB home/NN", 1),  # a verb in front leaves the first word alone
        ("no/DT verb/NN here/RB", 1),
        ("rain/NN fell/VBD ,/, and/CC he/PRP left/VBD", 2),
        (
            "rain/NN fell/VBD ,/, cats/NNS slept/VBD ,/, dogs/NNS ran/VBD ./.",
            4,
        ),  # the rightmost comma
        (
            "rain/NN ,/, he/PRP said/VBD ,/, fell/VBD",
            2,
        ),  # no noun after the second, no verb before the first
        ("he/PRP left/VBD ,/, who/WP said/VBD", 1),
        ("yes/UH", 1),
        ("./.", 1),
    ],
)
def test_the_top_bracket_is_split_where_the_thesis_says(text, split):
    assert top_split(sentence(text)) == split


def test_a_tree_has_the_brackets_it_was_made_of():
    tree = tree_of_spans(sentence("the/DT cat/NN sat/VBD"), [(0, 2)])
    assert str(tree) == "(X (X (DT the) (NN cat)) (VBD sat))"
    assert str(tree_of_spans(sentence("the/DT cat/NN"), [])) == "(X (DT the) (NN cat))"
