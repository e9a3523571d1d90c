"""Densities, means, quantiles and draws of leaves that hold numbers, against sums over all bins."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.feature_population import FeaturePopulation
from oracles.mixtures import cards_of, mixed_joint, random_mixture
from oracles.networks import leaf_joint, random_tables, random_tree, rooted_tree
from tacit.core.encoders.encoders import BinEncoder, IndicatorEncoder, kernel_encoder
from tacit.core.encoders.margins import fit_margin
from tacit.errors import ArgumentError, DataError
from tacit.messages.conditionals import conditionals, log_prob
from tacit.messages.evidence import Evidence
from tacit.messages.weighted_networks import parts_of
from tacit.numbers.query.densities import leaf_coefficients, leaf_means, places_of, sample_rows
from tacit.trees.learn.spectral.operators import spectral

# --------------------------------------------------------------------------------- numbers in bins


def bumps(rng, size, blur=0.4):
    """Bins of a skewed column, blurred."""
    values = rng.gamma(2.0, size=300)
    edges = np.quantile(values, np.arange(1, size) / size)
    return BinEncoder(edges, fit_margin(values), blur / size)


def model_of_bins(seed, blur=0.4):
    """A random mixture of trees; every leaf but the first holds numbers."""
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng, n_components=2, n_leaves=4, most_states=4)
    cards = cards_of(mixture)
    encoders = [IndicatorEncoder(cards[0]), *(bumps(rng, card, blur) for card in cards[1:])]
    return mixture, encoders


def some_rows(encoders, n, seed, missing=0.3):
    """Evidence, and for each row the vectors that enumeration multiplies with."""
    rng = np.random.default_rng(seed)
    codes = np.full((n, len(encoders)), -1)
    codes[:, 0] = rng.integers(0, encoders[0].size, n)
    numbers = rng.gamma(2.0, size=(n, len(encoders)))
    numbers[rng.random(numbers.shape) < missing] = np.nan
    codes[rng.random(n) < missing, 0] = -1
    soft = {leaf: item.likelihoods(numbers[:, leaf]) for leaf, item in enumerate(encoders) if leaf}
    vectors = {**soft, 0: encoders[0].likelihoods(codes[:, 0])}
    return Evidence(codes, soft, frozenset(soft)), vectors


def weighed(joint, vectors, row, leave_out=None):
    """The joint table with what one row says multiplied in."""
    for leaf, item in vectors.items():
        if leaf != leave_out:
            shape = [1] * joint.ndim
            shape[leaf] = -1
            joint = joint * item[row].reshape(shape)
    return joint


def others(joint, leaf):
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis != leaf))


@pytest.mark.parametrize("seed", range(3))
def test_densities_of_rows_are_sums_over_all_bins(seed):
    mixture, encoders = model_of_bins(seed)
    evidence, vectors = some_rows(encoders, 40, seed)
    joint = mixed_joint(mixture)
    expected = [weighed(joint, vectors, row).sum() for row in range(40)]
    actual = log_prob(mixture, evidence)
    assert np.exp(actual.values) == pytest.approx(np.array(expected), rel=1e-10)
    assert actual.repairs.n_negative == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("block_rows", [None, 7])
def test_vectors_at_leaves_are_sums_over_all_bins(seed, block_rows):
    mixture, encoders = model_of_bins(seed)
    evidence, vectors = some_rows(encoders, 20, seed)
    joint = mixed_joint(mixture)
    actual = leaf_coefficients(mixture, evidence, [2, 0, 1], encoders, block_rows=block_rows)
    for leaf, item in zip([2, 0, 1], actual, strict=True):
        expected = np.array([others(weighed(joint, vectors, row, leaf), leaf) for row in range(20)])
        expected /= expected.sum(axis=1, keepdims=True)
        assert item.values == pytest.approx(expected, abs=1e-10)
        assert not item.undefined.any()


def test_a_conditional_density_is_the_joint_density_over_the_marginal_one():
    mixture, encoders = model_of_bins(0)
    evidence, _ = some_rows(encoders, 5, 1)
    (actual,) = leaf_coefficients(mixture, evidence, [2], encoders)
    places = np.array([0.1, 1.0, 2.5, 6.0])
    reports = actual.densities(places)
    for place, values in zip(places, reports.values.T, strict=True):
        likelihoods = np.tile(encoders[2].likelihoods(np.array([place])), (5, 1))
        both = replace(evidence, soft={**evidence.soft, 2: likelihoods})
        alone = evidence.without([2])
        expected = np.exp(log_prob(mixture, both).values - log_prob(mixture, alone).values)
        assert values == pytest.approx(expected, rel=1e-9)
    assert not reports.negative_mass.any()


@pytest.mark.parametrize("blur", [0.0, 0.3])
def test_means_are_integrals_of_the_density(blur):
    mixture, encoders = model_of_bins(1, blur)
    evidence, _ = some_rows(encoders, 4, 2)
    (actual,) = leaf_coefficients(mixture, evidence, [3], encoders)
    places = encoders[3].margin.places
    fine = np.unique(np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(places)]))
    fine = fine[(fine > -5) & (fine < 60)]
    density = actual.densities(fine).values
    for function in (None, lambda x: np.exp(-x * x), np.tanh, lambda x: 1.0 * (x > 2.0)):
        applied = fine if function is None else function(fine)
        expected = np.trapezoid(density * applied, fine, axis=1)
        # Far away lies a little mass more, and a step is somewhere between two places.
        assert actual.expectations(function) == pytest.approx(expected, rel=0.005, abs=0.01)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.lists(st.floats(0.0005, 0.9995), min_size=1, max_size=4))
def test_quantiles_undo_the_integral_of_the_density(seed, shares):
    mixture, encoders = model_of_bins(seed % 5)
    evidence, _ = some_rows(encoders, 2, seed)
    (actual,) = leaf_coefficients(mixture, evidence, [1], encoders)
    asked = np.sort(np.array(shares))
    numbers = actual.quantiles(asked)
    assert (np.diff(numbers, axis=1) >= 0).all()
    for row in range(2):
        reached = encoders[1].cumulative(numbers[row]) @ actual.values[row]
        assert reached == pytest.approx(asked, abs=2e-3)  # on straight lines between places


def test_a_density_integrates_to_one():
    mixture, encoders = model_of_bins(2)
    evidence, _ = some_rows(encoders, 5, 2)
    (actual,) = leaf_coefficients(mixture, evidence, [1], encoders)
    fine = np.linspace(-20, 60, 400_001)
    total = np.trapezoid(actual.densities(fine).values, fine, axis=1)
    assert total == pytest.approx(1.0, abs=2e-4)  # a little lies beyond


# --------------------------------------------------------------------------------- drawn rows


def test_drawn_numbers_have_the_distribution_of_the_model():
    mixture, encoders = model_of_bins(3)
    n = 20_000
    drawn = sample_rows(mixture, n, np.random.default_rng(0), encoders)
    joint = mixed_joint(mixture)
    shares = np.bincount(drawn.columns[0], minlength=encoders[0].size) / n
    assert shares == pytest.approx(others(joint, 0), abs=4 / np.sqrt(n))
    for leaf in (1, 2, 3):
        vector = others(joint, leaf)
        cuts = np.quantile(drawn.columns[leaf], np.linspace(0.02, 0.98, 25))
        reached = encoders[leaf].cumulative(cuts) @ vector
        assert reached == pytest.approx(np.linspace(0.02, 0.98, 25), abs=4 / np.sqrt(n))
    # Two columns together: where the second lies given the half of the first.
    low = drawn.columns[1] < np.median(drawn.columns[1])
    evidence = Evidence(np.full((1, 4), -1))
    below = encoders[1].cumulative(np.array([np.median(drawn.columns[1])]))
    half = Evidence(evidence.codes, {1: below}, frozenset([1]))
    (actual,) = leaf_coefficients(mixture, half, [2], encoders)
    expected = float(actual.quantiles(np.array([0.5]))[0, 0])
    assert np.mean(drawn.columns[2][low] < expected) == pytest.approx(0.5, abs=4 / np.sqrt(n / 2))


def test_drawn_rows_agree_with_what_is_given():
    mixture, encoders = model_of_bins(3)
    codes = np.full((1, 4), -1)
    codes[0, 0] = 1
    soft = {1: encoders[1].likelihoods(np.array([0.3]))}
    known = Evidence(codes, soft, frozenset([1]))
    n = 20_000
    drawn = sample_rows(mixture, n, np.random.default_rng(0), encoders, known)
    assert (drawn.columns[0] == 1).all()
    (actual,) = leaf_coefficients(mixture, known, [2], encoders)
    shares = np.array([0.1, 0.5, 0.9])
    cuts = actual.quantiles(shares)[0]
    reached = (drawn.columns[2][:, None] < cuts).mean(axis=0)
    assert reached == pytest.approx(shares, abs=4 / np.sqrt(n))


# ------------------------------------------------------------------------------------ operators


def atoms(seed, n_states=2):
    """Operators from exact moments of four columns with a few numbers each, far apart for their kernels.

    Kernels that do not overlap are indicators of the numbers, so that enumeration knows all answers.
    """
    rng = np.random.default_rng(seed)
    tree = rooted_tree([4, 4, 5, 5, 5, -1], 4)
    tables = random_tables(rng, tree, (3, 4, 3, 4, n_states, n_states))
    joint = leaf_joint(tables)
    values = [np.cumsum(1 + rng.random(size)) for size in joint.shape]
    encoders = [kernel_encoder(item, 0.05, 1e-12) for item in values]
    states = (*(item.size for item in encoders), n_states, n_states)
    population = FeaturePopulation(joint, values, encoders)
    return spectral(tree, population, states).network, encoders, joint, values


def seen_atoms(encoders, values, places):
    """Evidence of numbers; None where a column is missing."""
    soft = {
        leaf: encoders[leaf].likelihoods(np.array([values[leaf][place]]))
        for leaf, place in enumerate(places)
        if place is not None
    }
    return Evidence(np.full((1, len(encoders)), -1), soft, frozenset(soft))


@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_the_answers_of_enumeration(seed):
    network, encoders, joint, values = atoms(seed)
    evidence = seen_atoms(encoders, values, (1, 2, None, None))
    given_two = joint[1, 2]  # of columns 2 and 3
    peak = 1 / (np.sqrt(2 * np.pi) * 0.05)
    actual = np.exp(log_prob(network, evidence).values)
    assert actual == pytest.approx(given_two.sum() * peak**2, rel=1e-8)
    (third,) = leaf_coefficients(network, evidence, [2], encoders)
    expected = given_two.sum(axis=1) / given_two.sum()
    density = third.densities(values[2]).values[0]
    assert density == pytest.approx(expected * peak, rel=1e-6)
    assert third.expectations() == pytest.approx(expected @ values[2], rel=1e-8)
    square = third.expectations(np.square)
    assert square == pytest.approx(expected @ values[2] ** 2, rel=1e-8)
    median = third.quantiles(np.array([0.5]))[0, 0]
    assert abs(median - values[2][np.searchsorted(np.cumsum(expected), 0.5)]) < 0.1
    assert third.repairs().negative_mass < 1e-6


def test_operators_draw_what_they_say():
    network, encoders, joint, values = atoms(0)
    n = 6000
    drawn = sample_rows(network, n, np.random.default_rng(0), encoders)
    codes = [
        np.abs(np.subtract.outer(column, item)).argmin(axis=1)
        for column, item in zip(drawn.columns, values, strict=True)
    ]
    for one, two in ((0, 1), (1, 3), (2, 3)):
        rest = tuple(axis for axis in range(4) if axis not in {one, two})
        shares = np.zeros((joint.shape[one], joint.shape[two]))
        np.add.at(shares, (codes[one], codes[two]), 1 / n)
        assert shares == pytest.approx(joint.sum(axis=rest), abs=4 * 0.5 / np.sqrt(n))
    given_one = seen_atoms(encoders, values, (2, None, None, None))
    drawn = sample_rows(network, n, np.random.default_rng(0), encoders, given_one)
    second = np.abs(np.subtract.outer(drawn.columns[1], values[1])).argmin(axis=1)
    expected = joint[2].sum(axis=(1, 2)) / joint[2].sum()
    shares = np.bincount(second, minlength=len(expected)) / n
    assert shares == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(n))


def test_what_is_negative_is_cut_off_and_reported():
    network, encoders, _, values = atoms(1)
    (actual,) = leaf_coefficients(
        network, seen_atoms(encoders, values, (0, 0, None, None)), [2], encoders
    )
    wanted = np.array([0.9, -0.2, 0.3])  # of the three numbers, as if it had been estimated
    bent = replace(actual, values=(wanted @ encoders[2].features(values[2]))[None])
    reports = bent.densities(values[2])
    peak = 1 / (np.sqrt(2 * np.pi) * 0.05)
    assert reports.values[0] == pytest.approx(np.array([0.9, 0.0, 0.3]) / 1.2 * peak, rel=1e-4)
    assert reports.negative_mass == pytest.approx(0.2 / 1.4, rel=1e-4)
    assert bent.repairs().negative_mass == pytest.approx(0.2 / 1.4, rel=1e-4)
    assert bent.repairs().n_negative == 1
    # A mean is a linear functional of what was estimated, within the range of the column.
    assert bent.expectations() == pytest.approx(wanted @ values[2], rel=1e-6)
    far = replace(
        actual, values=(np.array([9.0, 0.0, -8.0]) @ encoders[2].features(values[2]))[None]
    )
    low = places_of(encoders[2]).min()
    assert far.expectations() == low


def test_where_nothing_can_be_said_the_column_has_its_own_distribution():
    network, encoders, joint, values = atoms(2)
    soft = {0: np.zeros((2, encoders[0].size))}
    soft[0][1] = encoders[0].likelihoods(values[0][:1])
    evidence = Evidence(np.full((2, 4), -1), soft, frozenset([0]))
    (actual,) = leaf_coefficients(network, evidence, [3], encoders)
    assert actual.undefined.tolist() == [True, False]
    assert actual.repairs().n_undefined == 1
    own = joint.sum(axis=(0, 1, 2))
    assert actual.values[0] == pytest.approx(own @ encoders[3].features(values[3]), abs=1e-9)
    assert leaf_means(network, 3, encoders) == pytest.approx(actual.values[0])
    assert np.isnan(log_prob(network, evidence, negative="nan").values).tolist() == [True, False]
    floor = log_prob(network, evidence, independent=np.array([-7.0, -7.0])).values
    assert floor[0] == pytest.approx(-7.0 + np.log(1e-3))


# --------------------------------------------------------------------------------- what is refused


def test_features_may_be_negative_but_must_be_finite():
    tables = random_tables(
        np.random.default_rng(0), random_tree(np.random.default_rng(0), 3), (2,) * 4
    )
    codes = np.full((1, 3), -1)
    negative = {1: np.array([[-0.5, 0.2]])}
    with pytest.raises(DataError, match="none negative"):
        conditionals(tables, Evidence(codes, negative))
    features = Evidence(codes, negative, frozenset([1]))
    assert conditionals(tables, features).tables[0].sum() == pytest.approx(1.0)
    assert features.rows(slice(0, 1)).signed == {1}
    assert features.without([1]).signed == frozenset()
    with pytest.raises(DataError, match="not all finite"):
        conditionals(tables, Evidence(codes, {1: np.array([[np.nan, 1.0]])}, frozenset([1])))
    with pytest.raises(DataError, match="listed as signed"):
        conditionals(tables, Evidence(codes, {}, frozenset([1])))


def test_wrong_questions_are_refused():
    mixture, encoders = model_of_bins(0)
    evidence, _ = some_rows(encoders, 2, 0)
    (actual,) = leaf_coefficients(mixture, evidence, [1], encoders)
    with pytest.raises(ArgumentError, match=r"1\.5"):
        actual.quantiles(np.array([0.5, 1.5]))
    with pytest.raises(ArgumentError, match="finite"):
        actual.expectations(lambda x: np.full_like(x, np.nan))
    with pytest.raises(ArgumentError, match="shape"):
        actual.expectations(lambda x: x[:3])
    with pytest.raises(ArgumentError, match="distinct"):
        leaf_coefficients(mixture, evidence, [1, 1], encoders)
    assert parts_of(mixture).n_leaves == 4
