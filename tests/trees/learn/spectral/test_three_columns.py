"""Latent classes of three columns from their joint table."""

import numpy as np
import pytest

from tacit.errors import RankError
from tacit.trees.learn.spectral.three_columns import classes_of_triples


def case(seed, k, cards):
    """Unequal shares, in descending order, and three tables."""
    rng = np.random.default_rng(seed)
    weights = np.sort(rng.uniform(0.3, 2.0, k))[::-1]
    return weights / weights.sum(), [rng.dirichlet(np.full(card, 0.7), k) for card in cards]


def joint_of(weights, tables):
    return np.einsum("h,ha,hb,hc->abc", weights, *tables)


@pytest.mark.parametrize(
    ("k", "cards"),
    [(1, (2, 3, 2)), (2, (2, 2, 2)), (3, (3, 4, 5)), (4, (8, 10, 12)), (4, (4, 6, 4))],
)
@pytest.mark.parametrize("seed", range(4))
def test_the_exact_joint_table_gives_the_exact_classes(seed, k, cards):
    weights, tables = case(seed, k, cards)
    learnt_weights, learnt_tables = classes_of_triples(joint_of(weights, tables), k)
    assert learnt_weights == pytest.approx(weights, abs=1e-8)
    for one, other in zip(learnt_tables, tables, strict=True):
        assert one == pytest.approx(other, abs=1e-8)


def test_counts_give_proper_tables_that_come_nearer():
    weights, tables = case(0, 3, (5, 6, 7))
    exact = joint_of(weights, tables)
    rng = np.random.default_rng(1)
    gaps = []
    for n_rows in (2000, 200_000):
        counts = rng.multinomial(n_rows, exact.ravel()).reshape(exact.shape)
        learnt_weights, learnt_tables = classes_of_triples(counts, 3)
        for rows in (learnt_weights[None], *learnt_tables):
            assert rows.min() >= 0
            assert rows.sum(axis=1) == pytest.approx(1.0)
        gaps.append(np.abs(joint_of(learnt_weights, learnt_tables) - exact).sum())
    assert gaps[1] < gaps[0] / 3


def test_more_classes_than_the_columns_show_are_refused():
    weights, tables = case(0, 2, (4, 4, 4))
    with pytest.raises(RankError, match="give n_states<=2"):
        classes_of_triples(joint_of(weights, tables), 3)
    with pytest.raises(RankError, match="give n_states<=4"):
        classes_of_triples(joint_of(*case(0, 5, (4, 6, 6))), 5)
