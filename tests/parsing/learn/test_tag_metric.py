"""The metric of words: exact covariances of a latent tree give additive distances, and so the tree."""

import numpy as np
import pytest

from tacit.errors import ArgumentError, DataError, RankError
from tacit.parsing.data.word_vectors import WordVectors
from tacit.parsing.learn.tag_metric import kernel_weights, smoothed_covariances, spectral_distances
from tacit.parsing.learn.word_vectors import learn_word_vectors
from tacit.parsing.moments.tag_pairs import TagPairs
from tacit.parsing.structure.branching import random_branching
from tacit.parsing.structure.projective import projective_tree


def latent_covariances(n, spans, m, p, random):
    """E[w_i w_j^T] of a linear latent tree whose nodes are the brackets, with m-dimensional states."""
    order = sorted(spans, key=lambda s: s[0] - s[1])
    maps, second = {}, {}
    parent = {}
    for span in [*order[1:], *((i, i + 1) for i in range(n))]:
        above = [s for s in order if s[0] <= span[0] and span[1] <= s[1] and s != span]
        parent[span] = min(above, key=lambda s: s[1] - s[0])
    noise = random.normal(size=(m, m))
    second[order[0]] = noise @ noise.T + np.eye(m)
    for span in order[1:]:
        maps[span] = random.normal(size=(m, m))
        second[span] = maps[span] @ second[parent[span]] @ maps[span].T + np.eye(m)
    for i in range(n):
        maps[(i, i + 1)] = random.normal(size=(p, m))

    def up(node, top):
        """The map from a node above to this one."""
        product = np.eye(m)
        steps = []
        while node != top:
            steps.append(maps[node])
            node = parent[node]
        for step in reversed(steps):
            product = step @ product
        return product

    actual = np.zeros((n, n, p, p))
    for i in range(n):
        for j in range(i + 1, n):
            meet = min((s for s in order if s[0] <= i and j < s[1]), key=lambda s: s[1] - s[0])
            actual[i, j] = up((i, i + 1), meet) @ second[meet] @ up((j, j + 1), meet).T
            actual[j, i] = actual[i, j].T
    return actual


@pytest.mark.parametrize("n", [5, 9, 14])
def test_exact_covariances_of_a_latent_tree_give_the_tree(n):
    random = np.random.default_rng(n)
    spans = random_branching(n, random)
    covariances = latent_covariances(n, spans, m=2, p=4, random=random)
    covariances[range(n), range(n)] = np.eye(4)  # of no influence
    distances = spectral_distances(covariances[:, :, None], rank=2)[:, :, 0]
    left = max((stop for start, stop in spans if start == 0 and stop < n), default=1)
    top = left if (left, n) in spans or left == n - 1 else 1
    assert sorted(projective_tree(distances, top).spans) == sorted(spans)


def test_distances_are_logarithms_of_the_leading_singular_values():
    covariances = np.diag([8.0, 2.0, 0.5])[None, None, None]
    assert spectral_distances(covariances, 2)[0, 0, 0] == pytest.approx(-np.log(16))
    assert spectral_distances(covariances, 3)[0, 0, 0] == pytest.approx(-np.log(8))


def test_the_kernel_is_that_of_the_thesis():
    weights = kernel_weights(3, 0.4)
    assert np.diag(weights).tolist() == [1, 1, 1]
    assert weights[0, 1] == pytest.approx(1 - (1 / 3) / 0.4)
    assert weights[0, 2] == 0
    assert np.array_equal(weights, weights.T)


def test_covariances_are_weighted_means_over_distances():
    random = np.random.default_rng(0)
    pairs = TagPairs(
        ("N", "V"), random.integers(20, 50, (2, 2, 4)), random.normal(size=(2, 2, 4, 3, 3))
    )
    pairs.counts[1, 0], pairs.products[1, 0] = 0, 0
    smooth, weights = smoothed_covariances(pairs, 0.4)
    kernel = kernel_weights(4, 0.4)
    for at in range(4):
        total = sum(kernel[at, d] * pairs.products[0, 1, d] for d in range(4))
        weight = sum(kernel[at, d] * pairs.counts[0, 1, d] for d in range(4))
        assert np.allclose(smooth[0, 1, at], total / weight)
        assert weights[0, 1, at] == pytest.approx(weight)
    assert np.isnan(smooth[1, 0]).all()
    distances = spectral_distances(smooth, 2)
    seen = [distances[t, u] for t, u in ((0, 0), (0, 1), (1, 1))]
    assert np.allclose(distances[1, 0], np.mean(seen, axis=0))


def test_few_pairs_are_smoothed_more_widely():
    pairs = TagPairs.empty("N", 2, longest=30)
    pairs.counts[0, 0, 0], pairs.products[0, 0, 0] = 100, 100 * np.eye(2)
    smooth, weights = smoothed_covariances(pairs, 0.2)
    assert np.allclose(smooth, np.eye(2))
    assert weights.min() >= 20


def test_wrong_settings_are_refused():
    pairs = TagPairs.empty("N", 2, longest=3)
    with pytest.raises(ArgumentError, match="must be positive"):
        smoothed_covariances(pairs, 0.0)
    with pytest.raises(RankError, match="rank=3 of covariances of 2 features"):
        spectral_distances(pairs.products, 3)
    with pytest.raises(DataError, match="nothing can be learnt"):
        spectral_distances(np.full(pairs.products.shape, np.nan), 1)


def test_word_vectors_are_canonical_directions_of_rooted_counts():
    random = np.random.default_rng(3)
    text = [[(word, "T") for word in random.choice(list("abcd"), 5)] for _ in range(60)]
    names = ["<unk>", *"abcd"]
    counts = np.zeros((5, 4, 5))  # word, place, neighbour
    often = np.zeros(5)
    for sentence in text:
        ids = [names.index(word) for word, _ in sentence]
        for i, word in enumerate(ids):
            often[word] += 1
            for order, place in enumerate((-2, -1, 1, 2)):
                if 0 <= i + place < len(ids):
                    counts[word, order, ids[i + place]] += 1
    scale = np.maximum(often, 1) ** -0.25
    left = np.linalg.svd((np.sqrt(counts) * scale[:, None, None] * scale).reshape(5, 20))[0][:, :2]
    truth = left[1:] / np.linalg.norm(left[1:], axis=1, keepdims=True)
    rows = learn_word_vectors(text, 2).of_words("abcd")
    assert np.allclose(rows @ rows.T, truth @ truth.T)


def test_words_in_like_places_have_like_vectors():
    random = np.random.default_rng(0)
    kinds = [["red", "blue", "green"], ["cat", "dog", "cow"], ["runs", "sits", "eats"]]
    text = [[(kind[random.integers(3)], "T") for kind in kinds] for _ in range(500)]
    vectors = learn_word_vectors(text, 3)
    rows = vectors.of_words([word for kind in kinds for word in kind])
    alike = np.abs(rows @ rows.T)
    same = np.kron(np.eye(3), np.ones((3, 3))) > 0
    assert alike[same].min() > 0.9
    assert alike[~same].max() < 0.5
    assert isinstance(vectors, WordVectors)
    assert learn_word_vectors(text, 50).n_features == 9  # words that occur twice
    with pytest.raises(DataError, match="no word occurs twice"):
        learn_word_vectors([[("red", "T"), ("cat", "T")]], 50)
