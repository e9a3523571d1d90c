"""k-means: what is apart is told apart, and the centres are the means of their clusters."""

import numpy as np

from tacit.core.linalg.kmeans import kmeans, nearest_centres


def three_groups(n=300):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], n // 3)
    means = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return group, (means[group] + rng.normal(size=(n, 2))).astype(np.float32)


def test_groups_that_are_apart_are_found():
    group, rows = three_groups()
    labels, centres = kmeans(rows, 3, np.random.default_rng(1), max_iter=20)
    assert len({(g, h) for g, h in zip(group, labels, strict=True)}) <= 5  # nearly one to one
    for cluster in range(3):
        mean = rows[labels == cluster].mean(axis=0)
        assert np.allclose(centres[cluster], mean, atol=0.05)


def test_every_row_has_the_label_of_its_nearest_centre():
    _, rows = three_groups()
    centres = rows[:4].copy()
    gaps = np.square(rows[:, None] - centres).sum(axis=2)
    assert np.array_equal(nearest_centres(rows, centres), gaps.argmin(axis=1))


def test_a_weight_of_two_counts_as_two_rows():
    _, rows = three_groups()
    weights = np.random.default_rng(2).integers(1, 4, len(rows))
    again = np.repeat(rows, weights, axis=0)
    every = np.arange(3) * 100
    places = np.concatenate([[0], np.cumsum(weights)[:-1]])[every]
    one = kmeans(
        rows,
        3,
        np.random.default_rng(3),
        max_iter=20,
        weights=weights.astype(float),
        candidates=every,
        candidate_weights=np.ones(3),
    )
    two = kmeans(again, 3, np.random.default_rng(3), max_iter=20, candidates=places)
    assert np.array_equal(np.repeat(one.labels, weights), two.labels)
    assert np.allclose(one.centres, two.centres, atol=1e-5)


def test_no_rows_have_no_labels():
    labels, _ = kmeans(np.empty((0, 2), np.float32), 2, np.random.default_rng(0), max_iter=3)
    assert len(labels) == 0
