"""Second moments by tags and distance, against sums pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import DataError
from tacit.parsing.data.word_vectors import WordVectors
from tacit.parsing.moments.tag_pairs import TagPairs

VECTORS = WordVectors.of(["a", "b", "<unk>"], [[1, 2], [-1, 0.5], [0.25, 3]])
sentences = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("NVX")), max_size=6), max_size=5
)


@given(sentences)
def test_moments_are_sums_over_pairs(text):
    sums = TagPairs.of(text, VECTORS, "NV", longest=3)
    counts, products = np.zeros((2, 2, 3), int), np.zeros((2, 2, 3, 2, 2))
    for sentence in text:
        rows = VECTORS.of_words([word for word, _ in sentence])
        for i, (_, left) in enumerate(sentence):
            for j, (_, right) in enumerate(sentence):
                if i < j <= i + 3 and left in "NV" and right in "NV":
                    at = "NV".index(left), "NV".index(right), j - i - 1
                    counts[at] += 1
                    products[at] += np.outer(rows[i], rows[j])
    assert np.array_equal(sums.counts, counts)
    assert np.allclose(sums.products, products)


@given(sentences, st.integers(0, 5))
def test_moments_of_halves_add(text, cut):
    halves = [TagPairs.of(part, VECTORS, "NV", longest=3) for part in (text[:cut], text[cut:])]
    whole, both = TagPairs.of(text, VECTORS, "NV", longest=3), halves[0] + halves[1]
    assert np.array_equal(both.counts, whole.counts)
    assert np.allclose(both.products, whole.products)


def test_moments_of_other_tags_do_not_add():
    with pytest.raises(DataError, match="cannot be added"):
        TagPairs.empty("NV", 2) + TagPairs.empty("VN", 2)
