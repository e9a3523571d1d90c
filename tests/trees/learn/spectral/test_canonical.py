"""Contrasts and canonical directions: against sums over the joint table and generalised eigenvectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

from oracles.networks import caterpillar, leaf_joint, random_tables, random_tree, rooted_tree
from oracles.population import Population
from tacit.trees.learn.spectral import canonical
from tacit.trees.learn.spectral.canonical import (
    Contrasts,
    canonical_sides,
    edge_sides,
    near_leaves,
    node_features,
)
from tacit.trees.moments.source import PairTables, indicator_correlation


def contrasts_of(pairs):
    joint = pairs.probabilities
    marginals = joint.diagonal().copy()
    return Contrasts.of(indicator_correlation(joint, marginals), marginals, pairs.cards)


def random_case(seed, cards=(2, 4, 3, 1, 2, 5)):
    """A tree, and the exact pair tables of a random model on it."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, len(cards), 3)
    tables = random_tables(rng, tree, (*cards, *[3] * (tree.n_nodes - len(cards))))
    return tree, Population(leaf_joint(tables)).pairs()


def all_values(contrasts):
    """(category of every leaf, contrast of every leaf) block by block."""
    out = np.zeros((sum(map(len, contrasts.values)), contrasts.starts[-1]))
    row = 0
    for leaf, values in enumerate(contrasts.values):
        out[row : row + len(values), contrasts.starts[leaf] : contrasts.starts[leaf + 1]] = values
        row += len(values)
    return out


# -- contrasts ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_contrasts_of_a_leaf_are_uncorrelated_with_mean_zero_and_variance_one(seed):
    _, pairs = random_case(seed)
    contrasts = contrasts_of(pairs)
    assert np.diff(contrasts.starts).tolist() == [card - 1 for card in pairs.cards]
    for leaf, values in enumerate(contrasts.values):
        p = pairs.marginal(leaf)
        assert p @ values == pytest.approx(np.zeros(values.shape[1]), abs=1e-12)
        assert values.T @ (p[:, None] * values) == pytest.approx(np.eye(len(p) - 1), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_correlations_of_contrasts_are_their_mean_products(seed):
    _, pairs = random_case(seed)
    contrasts = contrasts_of(pairs)
    values = all_values(contrasts)
    assert contrasts.correlation == pytest.approx(
        values.T @ pairs.probabilities @ values, abs=1e-12
    )


@pytest.mark.parametrize("unseen", [(0,), (2,), (0, 1), (1, 2), ()], ids=str)
def test_categories_that_never_occur_add_nothing(unseen):
    rng = np.random.default_rng(0)
    occurring = [x for x in range(3) if x not in unseen]
    codes = np.column_stack([rng.choice(occurring, 200), rng.integers(0, 2, 200)])
    pairs = PairTables.of(codes, (3, 2))
    contrasts = contrasts_of(pairs)
    values = all_values(contrasts)
    assert np.isfinite(values).all()
    assert not values[list(unseen)].any()
    assert contrasts.correlation == pytest.approx(
        values.T @ pairs.probabilities @ values, abs=1e-12
    )
    variances = np.linalg.eigvalsh(
        contrasts.correlation[:2, :2]
    )  # one for each seen category but one
    assert variances == pytest.approx([0.0] * len(unseen) + [1.0] * (2 - len(unseen)), abs=1e-12)


def test_a_leaf_that_never_occurs_is_independent_of_all_others():
    codes = np.random.default_rng(0).integers(0, 2, (50, 3))
    codes[:, 1] = -1
    contrasts = contrasts_of(PairTables.of(codes, (2, 4, 2)))
    assert np.isfinite(contrasts.correlation).all()
    assert contrasts.correlation[1:4, 1:4] == pytest.approx(np.eye(3), abs=1e-12)
    assert contrasts.correlation[1:4, [0, 4]] == pytest.approx(np.zeros((3, 2)), abs=1e-12)


def test_columns_are_the_places_of_the_contrasts_of_leaves():
    _, pairs = random_case(0, cards=(2, 4, 1, 3))
    contrasts = contrasts_of(pairs)
    assert contrasts.columns([3, 0]).tolist() == [4, 5, 0]
    assert contrasts.columns([2]).tolist() == []
    assert contrasts.columns([]).tolist() == []


# -- leaves near an edge --------------------------------------------------------------------


def hops(tree, start, avoid):
    """Steps from a node to all leaves that can be reached without the neighbour `avoid`."""
    distances, visited, front = {}, {start, avoid}, [start]
    steps = 0
    while front:
        distances.update((node, steps) for node in front if node < tree.n_leaves)
        around = [[*tree.children[node], int(tree.parent[node])] for node in front]
        front = sorted({other for neighbours in around for other in neighbours} - visited - {-1})
        visited.update(front)
        steps += 1
    return distances


@given(seed=st.integers(0, 10_000), most=st.integers(1, 12), branching=st.integers(2, 5))
def test_near_leaves_are_the_nearest_of_their_side_in_order(seed, most, branching):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12, branching)
    node = int(rng.integers(tree.n_nodes - 1))
    above = int(tree.parent[node])
    for start, avoid, side in (
        (node, above, tree.below[node]),
        (above, node, tree.outside[node]),
    ):
        leaves = near_leaves(tree, start, avoid, most)
        steps = hops(tree, start, avoid)
        assert set(leaves) <= set(side) == set(steps)
        assert len(set(leaves)) == len(leaves)
        assert [steps[leaf] for leaf in leaves] == sorted(steps.values())[:most]


# -- canonical directions -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_canonical_directions_solve_the_generalised_eigenproblem(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200, 9)) @ rng.normal(size=(9, 9))
    correlation = np.corrcoef(rows.T)
    inside, outside = np.array([0, 2, 5, 7]), np.array([1, 3, 4, 6, 8])
    sides = canonical_sides(correlation, inside, outside)
    for inner, other, side in ((inside, outside, sides[0]), (outside, inside, sides[1])):
        between = correlation[np.ix_(inner, other)]
        ours = correlation[np.ix_(inner, inner)] + canonical.RIDGE * np.eye(len(inner))
        theirs = correlation[np.ix_(other, other)] + canonical.RIDGE * np.eye(len(other))
        across = between @ np.linalg.solve(theirs, between.T)
        squares, vectors = eigh(across, ours)
        top = min(len(inner), len(other))
        assert side.columns is inner
        assert side.strength == pytest.approx(np.sqrt(squares[::-1][:top]), abs=1e-9)
        # Directions have length one by the correlation of their side, times how strong they are.
        size = side.weights.T @ ours @ side.weights
        assert size == pytest.approx(np.diag(side.strength**2), abs=1e-9)
        turn = vectors[:, ::-1][:, :top].T @ ours @ side.weights
        assert np.abs(turn) == pytest.approx(np.diag(side.strength), abs=1e-7)


def test_only_the_leading_pairs_are_kept():
    correlation = np.eye(24)
    shared = np.linspace(0.9, 0.1, 12)
    correlation[np.arange(12), np.arange(12, 24)] = shared
    correlation[np.arange(12, 24), np.arange(12)] = shared
    side, _ = canonical_sides(correlation, np.arange(12), np.arange(12, 24))
    assert side.strength == pytest.approx(shared[: canonical.PAIRS] / (1 + canonical.RIDGE))
    assert not side.weights[canonical.PAIRS :].any()


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_side_without_contrasts_has_no_pairs(empty):
    columns = [np.arange(2), np.arange(2, 4)]
    for side in {0: (0,), 1: (1,), 2: (0, 1)}[empty]:
        columns[side] = np.empty(0, dtype=np.int64)
    for side, inner in zip(canonical_sides(np.eye(4), *columns), columns, strict=True):
        assert side.weights.shape == (len(inner), 0)
        assert len(side.strength) == 0


def test_correlations_that_contradict_each_other_do_no_harm():
    """Of pairs counted over different rows: like the first, like the second, yet unlike each other."""
    correlation = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    correlation = np.block([[correlation, np.full((3, 1), 0.3)], [np.full((1, 3), 0.3), np.eye(1)]])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(correlation[:3, :3] + canonical.RIDGE * np.eye(3))
    inside, outside = canonical_sides(correlation, np.arange(3), np.array([3]))
    assert np.isfinite(inside.weights).all()
    assert inside.strength == outside.strength
    assert 0 < inside.strength[0] < 1


@pytest.mark.parametrize("seed", range(3))
def test_every_edge_has_the_sides_below_and_above_it(seed):
    tree, pairs = random_case(seed)
    contrasts = contrasts_of(pairs)
    sides = edge_sides(tree, contrasts)
    assert sorted(sides) == list(range(tree.root))
    for node, (inside, outside) in sides.items():
        assert sorted(inside.columns) == contrasts.columns(tree.below[node]).tolist()
        assert sorted(outside.columns) == contrasts.columns(tree.outside[node]).tolist()
        assert np.array_equal(inside.strength, outside.strength)


# -- features of a node ---------------------------------------------------------------------


def indicators(pairs, leaves):
    return np.concatenate([np.arange(pairs.offsets[i], pairs.offsets[i + 1]) for i in leaves])


@pytest.mark.parametrize("seed", range(3))
def test_features_are_uncorrelated_and_the_first_vary_most(seed):
    tree, pairs = random_case(seed)
    contrasts = contrasts_of(pairs)
    sides = edge_sides(tree, contrasts)
    for node in tree.hidden:
        features = node_features(tree, node, contrasts, sides, pairs.cards)
        assert features.values.dtype == np.float32
        sizes = [pairs.cards[leaf] for leaf in features.leaves]
        assert features.starts.tolist() == [0, *np.cumsum(sizes)[:-1]]
        at = indicators(pairs, features.leaves)
        assert len(at) == len(features.values)
        values = features.values.astype(np.float64)
        marginals = pairs.probabilities.diagonal()[at]
        assert marginals @ values == pytest.approx(np.zeros(values.shape[1]), abs=1e-6)
        spread = values.T @ pairs.probabilities[np.ix_(at, at)] @ values
        variances = spread.diagonal()
        assert spread == pytest.approx(np.diag(variances), abs=1e-5 * variances[0])
        assert (np.diff(variances) <= 1e-6 * variances[0]).all()
        assert values.shape[1] <= canonical.DIMENSIONS


def test_features_are_made_of_all_pairs_of_the_edges_around_the_node():
    """Their variances add up to those of the pairs."""
    tree, pairs = random_case(1, cards=(2, 3, 2, 3))
    contrasts = contrasts_of(pairs)
    sides = edge_sides(tree, contrasts)
    for node in tree.hidden:
        edges = [*tree.children[node], *([node] if node != tree.root else [])]
        total = sum(
            np.trace(s.weights.T @ contrasts.correlation[np.ix_(s.columns, s.columns)] @ s.weights)
            for edge in edges
            for s in sides[edge]
        )
        features = node_features(tree, node, contrasts, sides, pairs.cards)
        at = indicators(pairs, features.leaves)
        values = features.values.astype(np.float64)
        spread = values.T @ pairs.probabilities[np.ix_(at, at)] @ values
        assert np.trace(spread) == pytest.approx(total, rel=1e-4)


def test_of_too_many_pairs_the_strongest_are_taken(monkeypatch):
    monkeypatch.setattr(canonical, "MOST_SOURCES", 3)
    tree, pairs = random_case(2)
    contrasts = contrasts_of(pairs)
    sides = edge_sides(tree, contrasts)
    features = node_features(tree, tree.root, contrasts, sides, pairs.cards)
    # The two sides of an edge are equally strong: up to one more than asked for.
    assert features.values.shape[1] in (3, 4)


def test_constant_columns_are_left_out_of_the_features_of_a_hub():
    """There may be hundreds of them, all with pairs of the same strength: none."""
    rng = np.random.default_rng(0)
    codes = np.zeros((300, 100), dtype=np.int16)
    state = rng.integers(0, 2, 300)
    for leaf in range(4):
        codes[:, 20 * leaf] = np.where(rng.random(300) < 0.9, state, 1 - state)
    tree = rooted_tree([100] * 100 + [-1], 100)
    cards = (2,) * 100
    # Of the other side of an edge, so many leaves are looked at that some are not constant.
    contrasts = contrasts_of(PairTables.of(codes, cards))
    features = node_features(tree, 100, contrasts, edge_sides(tree, contrasts), cards)
    assert features.values.shape[1] <= 8
    assert np.isfinite(features.values).all()
    at = features.starts[np.searchsorted(features.leaves, 20)]
    assert np.abs(np.diff(features.values[at : at + 2, 0])) > 0.1


@pytest.mark.parametrize("n_leaves", [1, 2, 3])
def test_few_columns_have_features_too(n_leaves):
    rng = np.random.default_rng(0)
    cards = (3, 2, 2)[:n_leaves]
    codes = np.column_stack([rng.integers(0, card, 40) for card in cards])
    pairs = PairTables.of(codes, cards)
    contrasts = contrasts_of(pairs)
    tree = rooted_tree([n_leaves] * n_leaves + [-1], n_leaves)
    features = node_features(tree, n_leaves, contrasts, edge_sides(tree, contrasts), cards)
    # Of each edge, two sides of as many pairs as the smaller of them has contrasts.
    assert features.values.shape[1] == {1: 0, 2: 4, 3: 8}[n_leaves]


def test_edges_look_at_no_more_leaves_than_the_nearest():
    tree = caterpillar(100)
    contrasts = contrasts_of(
        PairTables.of(np.random.default_rng(0).integers(0, 2, (9, 100)), (2,) * 100)
    )
    inside, outside = edge_sides(tree, contrasts)[150]
    assert inside.columns.tolist() == [*range(51, 51 - canonical.NEAR, -1)]
    assert outside.columns.tolist() == [*range(52, 52 + canonical.NEAR)]
