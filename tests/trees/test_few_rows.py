"""What the default learns of a handful of rows."""

import numpy as np
import pytest

import tacit


def copies(n_rows, flipped, rng):
    """Six noisy copies of one hidden bit."""
    hidden = rng.integers(0, 2, n_rows)
    return (hidden[:, None] + (rng.random((n_rows, 6)) < flipped)) % 2


@pytest.mark.parametrize("n_rows", [20, 50])
@pytest.mark.parametrize("flipped", [0.05, 0.2])
def test_strong_dependence_shows_in_a_handful_of_rows(n_rows, flipped):
    rng = np.random.default_rng(0)
    ahead = []
    for _ in range(5):
        train, test = copies(n_rows, flipped, rng), copies(1000, flipped, rng)
        model = tacit.LatentTree(2, "star").fit(train)
        em = tacit.LatentTree(2, "star", learn="em", pseudo_counts=1.0).fit(train)
        rivals = tacit.ChowLiuTree().fit(train).score(test), em.score(test)
        ahead.append(model.score(test) - np.array(rivals))
    # Far ahead of the tree without hidden variables; no worse than EM of five restarts, but for noise.
    assert np.mean(ahead, axis=0)[0] > 0.2
    assert np.mean(ahead, axis=0)[1] > -0.02
