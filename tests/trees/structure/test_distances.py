"""Tree metrics: lengths that add up, and which of them the data support."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, norm, rankdata

from oracles.distances import path_lengths
from tacit.errors import ArgumentError, DataError
from tacit.evaluate.trees import robinson_foulds
from tacit.toy import random_topology, random_tree_model
from tacit.trees.moments.source import PairTables
from tacit.trees.structure import distances as metrics
from tacit.trees.structure.distances import (
    covariance_distances,
    discrete_distances,
    gaussian_distances,
    nonparanormal_distances,
)
from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining

seeds = st.integers(0, 2**32 - 1)


def model_of(n_leaves, n_states, n_categories, seed, diagonal=2.0):
    tree = random_topology(n_leaves, n_children=(2, 2), random_state=seed)
    return random_tree_model(
        topology=tree,
        n_states=n_states,
        n_categories=n_categories,
        diagonal=diagonal,
        random_state=seed,
    )


def exact_distances(model, n_states):
    pairs = model.moments.pairs()
    return discrete_distances(pairs.counts, pairs.cards, n_states, n_rows=math.inf)


def counted(codes, cards):
    return PairTables.of(np.asarray(codes), cards).counts


# ------------------------------------------------------------------------------ additivity


@settings(max_examples=30)
@given(seed=seeds, n_states=st.integers(2, 4), more=st.integers(0, 3))
def test_exact_moments_give_lengths_that_add_up_and_the_true_tree(seed, n_states, more):
    model = model_of(10, n_states, n_states + more, seed)
    distances = exact_distances(model, n_states)
    assert distances.supported.all()
    for method in (neighbor_joining, chow_liu_joining):
        tree = method(distances.values, model.names)
        assert path_lengths(tree, model.names) == pytest.approx(distances.values, abs=1e-10)
        assert robinson_foulds(tree, model.topology) == 0


@pytest.mark.parametrize("seed", range(5))
def test_columns_may_have_different_numbers_of_categories(seed):
    cards = np.random.default_rng(seed).integers(3, 7, size=9).tolist()
    model = model_of(9, 3, cards, seed)
    distances = exact_distances(model, 3)
    tree = neighbor_joining(distances.values, model.names)
    assert path_lengths(tree, model.names) == pytest.approx(distances.values, abs=1e-10)
    assert robinson_foulds(tree, model.topology) == 0


@pytest.mark.parametrize("seed", range(5))
def test_with_two_states_no_number_is_needed(seed):
    model = model_of(9, 2, [2, 3, 4, 2, 5, 2, 3, 2, 2], seed)
    distances = exact_distances(model, None)
    tree = neighbor_joining(distances.values, model.names)
    assert path_lengths(tree, model.names) == pytest.approx(distances.values, abs=1e-10)
    assert robinson_foulds(tree, model.topology) == 0


@pytest.mark.parametrize("n_categories", [2, 3, 5])
def test_with_as_many_states_as_categories_it_is_the_determinant(n_categories):
    model = model_of(6, n_categories, n_categories, 0)
    pairs = model.moments.pairs()
    distances = exact_distances(model, n_categories).values
    for i in range(6):
        for j in range(i):
            expected = -math.log(abs(np.linalg.det(pairs.joint(i, j))))
            expected += math.log(pairs.marginal(i).prod() * pairs.marginal(j).prod()) / 2
            assert distances[i, j] == pytest.approx(expected, abs=1e-10)


def test_a_column_with_few_categories_bounds_the_number_of_values_for_all():
    model = model_of(6, 2, [4, 4, 2, 4, 4, 4], 1)
    assert exact_distances(model, 4).values == pytest.approx(exact_distances(model, 2).values)


def added_by_noise(one, other, n_rows):
    """What noise adds to the square of the size of a covariance, but in one of the directions it can have."""
    traces = np.trace(one), np.trace(other)
    freedom = (traces[0] / np.linalg.norm(one) * traces[1] / np.linalg.norm(other)) ** 2
    return (1 - 1 / freedom) * traces[0] * traces[1] / n_rows


@pytest.mark.parametrize("n_values", [None, 1, 2, 3])
@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_distances_of_features_are_what_the_formula_says(n_values, block, monkeypatch):
    monkeypatch.setattr(metrics, "_BLOCK", block)
    rng = np.random.default_rng(0)
    sizes = [3, 4, 3, 5]
    features = rng.normal(size=(500, 15)) @ rng.normal(size=(15, 15))
    covariance = np.cov(features, rowvar=False)
    distances = covariance_distances(covariance, sizes, 500, n_values).values
    starts = np.concatenate([[0], np.cumsum(sizes)])
    spans = [slice(*pair) for pair in pairwise(starts)]

    def length(i, j):
        values = np.linalg.svd(covariance[spans[i], spans[j]], compute_uv=False)
        if n_values is None:
            noise = added_by_noise(*(covariance[spans[k], spans[k]] for k in (i, j)), n_rows=500)
            return -math.log(np.linalg.norm(values) ** 2 - (noise if i != j else 0)) / 2
        return -np.log(values[:n_values]).sum()

    for i in range(4):
        for j in range(i):
            expected = length(i, j) - length(i, i) / 2 - length(j, j) / 2
            assert distances[i, j] == pytest.approx(expected, abs=1e-10)
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()


# ----------------------------------------------------------------------------- from rows


def test_of_two_binary_columns_it_is_the_correlation():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=(300, 3))
    codes[:, 1] ^= codes[:, 0] & (rng.random(300) < 0.8)
    expected = -np.log(np.abs(np.corrcoef(codes, rowvar=False)))
    for n_states in (None, 2, 3):
        distances = discrete_distances(counted(codes, (2, 2, 2)), (2, 2, 2), n_states)
        assert distances.values == pytest.approx(np.minimum(expected, math.log(300) / 2), abs=1e-9)


@given(seed=seeds)
def test_each_pair_is_judged_by_the_rows_that_have_both(seed):
    rng = np.random.default_rng(seed)
    cards = (2, 4, 3)
    codes = np.stack([rng.integers(0, card, size=400) for card in cards], axis=1)
    codes[:, 1] = np.where(rng.random(400) < 0.8, codes[:, 0] + codes[:, 2] % 2, codes[:, 1])
    codes[rng.random(400) < 0.2, 0] = -1
    distances = discrete_distances(counted(codes, cards), cards)
    both = codes[codes[:, 0] >= 0][:, :2]
    one, other = np.eye(2)[both[:, 0]], np.eye(4)[both[:, 1]]
    cross = one.T @ other / len(both) - np.outer(one.mean(axis=0), other.mean(axis=0))
    all_of_other = np.eye(4)[codes[:, 1]]
    covariances = [np.cov(x, rowvar=False, bias=True) for x in (one, all_of_other)]
    # Sizes and noise of single columns by all rows that have them.
    square = np.linalg.norm(cross) ** 2 - added_by_noise(*covariances, n_rows=len(both))
    ratio = square / np.linalg.norm(covariances[0]) / np.linalg.norm(covariances[1])
    assert distances.values[0, 1] == pytest.approx(-math.log(ratio) / 2, abs=1e-9)


@given(seed=seeds)
def test_the_order_of_columns_and_categories_has_no_influence(seed):
    rng = np.random.default_rng(seed)
    model = model_of(6, 3, [3, 4, 5, 3, 4, 3], 0)
    codes = model.sample(200, seed)
    columns = rng.permutation(6)
    moved = codes[:, columns].copy()
    cards = [model.tables.layout.n_states[column] for column in columns]
    for place, card in enumerate(cards):
        moved[:, place] = rng.permutation(card)[moved[:, place]]
    for n_states in (None, 3):
        before = discrete_distances(
            counted(codes, [3, 4, 5, 3, 4, 3]), [3, 4, 5, 3, 4, 3], n_states
        )
        after = discrete_distances(counted(moved, cards), cards, n_states)
        assert after.values == pytest.approx(before.values[np.ix_(columns, columns)], abs=1e-9)
        assert np.array_equal(after.supported, before.supported[np.ix_(columns, columns)])


def test_probabilities_need_the_number_of_rows():
    codes = model_of(5, 2, 3, 0).sample(500, 1)
    counts = counted(codes, (3,) * 5)
    by_counts = discrete_distances(counts, (3,) * 5)
    by_frequencies = discrete_distances(counts / 500, (3,) * 5, n_rows=500)
    assert by_frequencies.values == pytest.approx(by_counts.values, abs=1e-12)
    assert np.array_equal(by_frequencies.supported, by_counts.supported)
    with pytest.raises(ArgumentError, match="n_rows"):
        discrete_distances(counts / 500, (3,) * 5)


def test_the_error_falls_with_the_number_of_rows():
    model = model_of(8, 2, 4, 2)
    truth = exact_distances(model, 2).values
    errors = [
        np.abs(
            discrete_distances(counted(model.sample(n, 0), (4,) * 8), (4,) * 8, 2).values - truth
        ).mean()
        for n in (1000, 100_000)
    ]
    assert errors[1] < errors[0] / 5  # the root of a hundred is ten


# ----------------------------------------------------------------------------- numbers


def numbers_with_gaps(seed, n_rows=300, n=4):
    rng = np.random.default_rng(seed)
    X = 1e6 + rng.normal(size=(n_rows, n)) @ rng.normal(size=(n, n))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_distances_are_logarithms_of_correlations(seed):
    X = numbers_with_gaps(seed)
    distances = gaussian_distances(X)
    for i in range(4):
        for j in range(i):
            both = X[~np.isnan(X[:, [i, j]]).any(axis=1)][:, [i, j]]
            ratio = abs(np.corrcoef(both, rowvar=False)[0, 1])
            if distances.supported[i, j]:
                assert distances.values[i, j] == pytest.approx(-math.log(ratio), abs=1e-9)
            else:
                assert ratio < 5 / math.sqrt(len(both))


def test_normal_scores_are_quantiles_of_ranks():
    X = numbers_with_gaps(0).round(0)  # some are equal
    scores = np.full_like(X, np.nan)
    for column, score in zip(X.T, scores.T, strict=True):
        present = ~np.isnan(column)
        score[present] = norm.ppf(rankdata(column[present]) / (present.sum() + 1))
    expected = gaussian_distances(scores).values
    assert nonparanormal_distances(X).values == pytest.approx(expected, abs=1e-12)


@given(seed=seeds)
def test_increasing_functions_have_no_influence_on_normal_scores(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    bent = np.stack([np.exp(X[:, 0]), X[:, 1] ** 3, 5 + 2 * X[:, 2]], axis=1)
    assert np.array_equal(nonparanormal_distances(bent).values, nonparanormal_distances(X).values)


def test_a_gaussian_chain_has_the_lengths_of_its_correlations():
    rng = np.random.default_rng(0)
    X = np.empty((100_000, 4))
    X[:, 0] = rng.normal(size=len(X))
    for k in range(1, 4):
        X[:, k] = 0.8 * X[:, k - 1] + 0.6 * rng.normal(size=len(X))
    expected = -math.log(0.8) * np.abs(np.subtract.outer(range(4), range(4)))
    assert gaussian_distances(X).values == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("method", [gaussian_distances, nonparanormal_distances])
def test_what_is_no_table_of_numbers_is_refused(method):
    with pytest.raises(DataError, match="axes"):
        method([1.0, 2.0])
    with pytest.raises(DataError, match="infinite"):
        method([[1.0], [np.inf]])


def test_sizes_of_many_categories_are_not_larger_for_their_noise():
    model = model_of(6, 2, 8, 0, diagonal=6.0)
    exact = exact_distances(model, None).values
    distances = [
        discrete_distances(counted(model.sample(1000, seed), (8,) * 6), (8,) * 6).values
        for seed in range(40)
    ]
    # Noise in one direction is left, 1 / 1000 or less; in seven times seven it would be about 7 / 1000.
    assert np.mean(np.exp(-2 * np.array(distances)), axis=0) == pytest.approx(
        np.exp(-2 * exact), abs=3e-3
    )


# -------------------------------------------------------------------------------- support


@pytest.mark.parametrize("cards", [(2,) * 20, (2, 5) * 10, (8,) * 20])
def test_independent_columns_are_rarely_taken_for_dependent(cards):
    rng = np.random.default_rng(0)
    n_wrong = 0
    for _ in range(40):
        codes = np.stack(
            [rng.choice(c, p=np.arange(1, c + 1) * 2 / c / (c + 1), size=400) for c in cards], 1
        )
        distances = discrete_distances(counted(codes, cards), cards)
        n_wrong += distances.supported.sum() > len(cards)
        assert distances.values.max() <= math.log(400) / 2 + math.log(max(cards) - 1) / 2 + 1e-9
    assert n_wrong <= 6  # 2 of 40 are expected; 6 or fewer come out in 99 of 100 cases


def blocks_of_rows(n_rows, between, seed):
    """Two groups of twelve binary columns, each about one hidden column; the two depend on each other."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 2, size=n_rows)
    other = np.where(rng.random(n_rows) < between, one, rng.integers(0, 2, size=n_rows))
    columns = [
        np.where(rng.random(n_rows) < 0.6, hidden, rng.integers(0, 2, size=n_rows))
        for hidden in (one, other)
        for _ in range(12)
    ]
    return discrete_distances(counted(np.stack(columns, axis=1), (2,) * 24), (2,) * 24).supported


def test_blocks_that_depend_on_each_other_as_a_whole_are_linked():
    supported = blocks_of_rows(500, between=0.22, seed=0)
    assert supported[:12, :12].mean() > 0.9
    assert supported[:12, 12:].sum() == 1  # no pair can be told from chance by itself


def test_independent_blocks_are_seldom_linked():
    n_linked = sum(blocks_of_rows(500, 0.0, seed)[:12, 12:].any() for seed in range(40))
    assert n_linked <= 6  # 2 of 40 are expected; 6 or fewer come out in 99 of 100 cases


def test_dependent_columns_are_supported():
    model = model_of(8, 3, 5, 3, diagonal=6.0)
    assert discrete_distances(counted(model.sample(100_000, 0), (5,) * 8), (5,) * 8).supported.all()


def test_a_singular_value_that_is_noise_is_flagged_and_capped():
    model = model_of(8, 2, 4, 0, diagonal=8.0)
    counts = counted(model.sample(2000, 0), (4,) * 8)
    right, too_many = (discrete_distances(counts, (4,) * 8, n_states) for n_states in (2, 4))
    assert right.supported.all()
    assert too_many.supported.mean() < 0.5
    assert too_many.values.max() <= 3 * math.log(2000) / 2


def test_exactly_independent_columns_have_the_largest_distance():
    counts = np.kron(np.ones((2, 2)), np.full((2, 2), 0.25)) + np.kron(
        np.eye(2), 0.5 * np.eye(2) - 0.25
    )
    distances = discrete_distances(counts, (2, 2), n_rows=math.inf)
    assert distances.supported.tolist() == [[True, False], [False, True]]
    assert distances.values[0, 1] == pytest.approx(-math.log(1e-12))


def test_constant_columns_and_those_never_seen_together_are_far_away():
    codes = np.array([[0, 0, -1, 0], [1, 1, -1, 0], [0, -1, 0, 0], [1, -1, 1, 0]] * 100)
    cards = (2, 2, 2, 1)
    for n_states in (None, 2):
        distances = discrete_distances(counted(codes, cards), cards, n_states)
        assert distances.values[0, 1:3].tolist() == pytest.approx([0, 0])
        assert distances.supported[0].tolist() == [True, True, True, False]
        ceiling = math.log(400) / 2
        assert distances.values[3].tolist() == pytest.approx([ceiling, ceiling, ceiling, 0])
        assert distances.values[1, 2] == pytest.approx(ceiling)
        assert not distances.supported[1, 2]


def test_a_chance_finding_in_few_rows_is_not_a_short_distance():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[4:, 0] = np.nan
    X[:4, 0] = X[:4, 1]  # all that is known of the first column
    distances = gaussian_distances(X)
    assert not distances.supported[0, 1]
    assert distances.values[0, 1] > math.log(1000 / 4) / 2 - 1e-9


def test_one_row_supports_nothing():
    distances = discrete_distances(counted([[0, 1, 0]], (2, 2, 2)), (2, 2, 2))
    assert np.array_equal(distances.supported, np.eye(3, dtype=bool))
    assert not distances.values.any()  # the ceiling of one row


def test_the_limit_of_noise_is_that_of_chi_square():
    freedom = np.array([1.0, 2.0, 5.0, 40.0])
    for chance in (1e-2, 1e-4, 1e-6):
        expected = chi2.isf(chance, freedom) / freedom
        assert metrics._chi_square_limit(freedom, chance) == pytest.approx(expected, rel=0.15)


def test_the_limit_has_the_degrees_of_freedom_of_the_categories():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(300):
        codes = np.stack([rng.integers(0, 4, size=500), rng.integers(0, 6, size=500)], axis=1)
        covariance, _ = metrics._indicator_covariances(counted(codes, (4, 6)), (4, 6))
        cross, covariances, other = covariance[:4, 4:], covariance[:4, :4], covariance[4:, 4:]
        ratios.append(500 * (cross**2).sum() / np.trace(covariances) / np.trace(other))
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)
    # Chi-square with 15 degrees of freedom, divided by them: five in a hundred are beyond the limit.
    beyond = np.mean(np.array(ratios) > metrics._chi_square_limit(np.array(15.0), 0.05))
    assert 0.01 < beyond < 0.1


def test_nothing_has_no_distances():
    distances = discrete_distances(np.zeros((0, 0)), ())
    assert distances.values.shape == distances.supported.shape == (0, 0)
    assert gaussian_distances(np.zeros((5, 0))).values.shape == (0, 0)
    assert nonparanormal_distances(np.zeros((0, 2))).supported.tolist() == [
        [True, False],
        [False, True],
    ]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ArgumentError, match="5 categories"):
        discrete_distances(np.zeros((4, 4)), (2, 3))
    with pytest.raises(ArgumentError, match="at least two"):
        discrete_distances(np.zeros((4, 4)), (2, 2), n_states=1)
    with pytest.raises(ArgumentError, match="5 features"):
        covariance_distances(np.zeros((4, 4)), (2, 3), 10)
