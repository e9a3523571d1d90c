"""Moments of features against plain sums, and the laws of adding them."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.encoders import bin_encoder
from tacit.core.encoders.encoders import IndicatorEncoder, grid_encoder, kernel_encoder
from tacit.core.encoders.margins import fit_margin
from tacit.errors import ArgumentError, DataError, TooExpensiveError
from tacit.trees.moments import features as module
from tacit.trees.moments import products
from tacit.trees.moments.feature_rows import projected_features
from tacit.trees.moments.features import FeatureMoments, FeaturePairs, Rows
from tacit.trees.moments.products import Mode
from tacit.trees.moments.source import CountedMoments, Moments

CARDS = (2, 3, 4, 5)
SUBSETS = [s for order in range(1, 5) for s in itertools.permutations(range(4), order)]
SOME = np.random.default_rng(0).normal(size=200) ** 3
ENCODERS = (grid_encoder(-2, 2, 5, 0.8), IndicatorEncoder(3), grid_encoder(-1, 3, 4, 1.0))


def random_codes(n_rows, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, card, size=n_rows) for card in CARDS], axis=1)
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def mixed_columns(n_rows, missing=0.0, seed=0):
    """A column of numbers, one of categories that depend on it, and a second one of numbers."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n_rows)
    columns = [first, np.digitize(first, [-0.5, 0.5]), first**2 + rng.normal(size=n_rows)]
    holes = rng.random((3, n_rows)) < missing
    return [
        np.where(hole, -1 if column.dtype.kind == "i" else np.nan, column)
        for column, hole in zip(columns, holes, strict=True)
    ]


def plain_mean(columns, subset, weights=None):
    """The mean of the outer product of features, row by row."""
    weights = np.ones(len(columns[0])) if weights is None else weights
    total, count = 0.0, 0.0
    features = [ENCODERS[i].features(columns[i]) for i in subset]
    for row, weight in enumerate(weights):
        product = weight
        for factor in features:
            product = np.multiply.outer(product, factor[row])
        if not np.isnan(product).any():
            total, count = total + product, count + weight
    return total / count


def same(one, other, **tolerance):
    assert one.pairs().counts == pytest.approx(other.pairs().counts, **tolerance)
    assert one.pairs().sums == pytest.approx(other.pairs().sums, **tolerance)
    assert one.pairs().weights == pytest.approx(other.pairs().weights, **tolerance)
    assert one.n_rows == pytest.approx(other.n_rows)
    for a, b in zip(one.tables([(0, 1, 2)]), other.tables([(0, 1, 2)]), strict=True):
        assert a == pytest.approx(b, **tolerance)


# ------------------------------------------------------------------------------ indicators


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_moments_of_indicators_are_joint_tables(missing, weighted):
    codes = random_codes(500, missing)
    weights = np.random.default_rng(1).random(500) if weighted else None
    counted = CountedMoments.of(codes, CARDS, weights)
    moments: Moments = FeatureMoments.of(codes, [IndicatorEncoder(n) for n in CARDS], weights)
    ours, theirs = moments.pairs(), counted.pairs()
    assert moments.cards == CARDS
    assert moments.n_rows == pytest.approx(counted.n_rows)
    exact = {"rel": 1e-12, "abs": 1e-15}  # weights are summed in another order
    assert ours.probabilities == pytest.approx(theirs.probabilities, **exact)
    assert ours.supports == pytest.approx(theirs.supports, **exact)
    for i in range(4):
        assert ours.marginal(i) == pytest.approx(theirs.marginal(i), **exact)
    for one, two in zip(moments.tables(SUBSETS), counted.tables(SUBSETS), strict=True):
        assert one == pytest.approx(two, **exact)


def test_counts_of_indicators_are_whole_numbers():
    codes = random_codes(3000, 0.2)
    moments = FeatureMoments.of(codes, [IndicatorEncoder(n) for n in CARDS])
    assert np.array_equal(moments.pairs().counts, CountedMoments.of(codes, CARDS).pairs().counts)


def test_what_no_row_has_is_independent_and_a_column_without_cells_uniform():
    codes = random_codes(200)
    codes[::2, 0] = -1
    codes[1::2, 1] = -1  # the first two never meet
    codes[:, 3] = -1
    counted = CountedMoments.of(codes, CARDS)
    moments = FeatureMoments.of(codes, [IndicatorEncoder(n) for n in CARDS])
    assert moments.pairs().probabilities == pytest.approx(counted.pairs().probabilities, abs=1e-15)
    for one, two in zip(moments.tables(SUBSETS), counted.tables(SUBSETS), strict=True):
        assert one == pytest.approx(two, abs=1e-15)
    assert (0, 1) in moments.unseen
    assert (0, 1, 2) in moments.unseen
    assert (0, 2) not in moments.unseen


# ---------------------------------------------------------------------------- kernel features


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_moment_is_the_mean_over_the_rows_that_have_it(missing, weighted):
    columns = mixed_columns(150, missing)
    weights = np.random.default_rng(1).random(150) if weighted else None
    moments = FeatureMoments.of(columns, ENCODERS, weights)
    subsets = [(0,), (1, 0), (0, 2), (0, 1, 2), (2, 0, 1)]
    for subset, table in zip(subsets, moments.tables(subsets), strict=True):
        assert table == pytest.approx(plain_mean(columns, subset, weights), rel=1e-10, abs=1e-13)


def test_the_second_moments_of_a_column_are_a_whole_matrix():
    columns = mixed_columns(300, 0.2)
    pairs = FeatureMoments.of(columns, ENCODERS).pairs()
    features = ENCODERS[0].features(columns[0][~np.isnan(columns[0])])
    assert pairs.joint(0, 0) == pytest.approx(features.T @ features / len(features), rel=1e-10)
    assert np.abs(np.triu(pairs.joint(0, 0), 1)).max() > 0.01


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_covariances_are_those_of_the_rows_that_have_both_columns(missing):
    columns = mixed_columns(400, missing)
    pairs = FeatureMoments.of(columns, ENCODERS).pairs()
    both = np.column_stack([ENCODERS[0].features(columns[0]), ENCODERS[2].features(columns[2])])
    both = both[~np.isnan(both).any(axis=1)]
    n = ENCODERS[0].size
    expected = np.cov(both.T, bias=True)[:n, n:]
    at = pairs.offsets
    assert pairs.covariances[at[0] : at[1], at[2] :] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_projected_products_are_tables_multiplied_with_matrices(missing):
    rng = np.random.default_rng(3)
    moments = FeatureMoments.of(mixed_columns(200, missing), ENCODERS, rng.random(200))
    a, b = rng.normal(size=(moments.cards[0], 2)), rng.normal(size=(moments.cards[2], 3))
    group = rng.normal(size=(moments.cards[0] * 3, 2))
    nothing = rng.normal(size=(1, 2))
    both = rng.normal(size=(moments.cards[0] + moments.cards[2], 2))
    requests = [
        [Mode(((0,),), a), Mode(((1,),)), Mode(((2,),), b)],
        [Mode(((0, 1),), group), Mode(((2,),), b)],
        [Mode(((2,),)), Mode(((0,),), a)],
        [Mode(((1,),)), Mode(((),), nothing)],
        [Mode(((0,),), a)],
        [Mode(((1,),)), Mode(((0,), (2,)), both)],  # two views, whose means are summed
    ]
    actual = moments.projected(requests)
    three, two, one, single, first, last = moments.tables(
        [(0, 1, 2), (2, 0), (1,), (0,), (1, 0), (1, 2)]
    )
    joint = three.reshape(-1, moments.cards[2])
    expected = [
        np.einsum("xyz,xa,zb->ayb", three, a, b),
        group.T @ joint @ b,
        two @ a,
        np.multiply.outer(one, nothing[0]),
        single @ a,
        np.hstack([first, last]) @ both,
    ]
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-13)


def test_projected_products_of_columns_never_seen_together_are_those_of_their_means():
    columns = mixed_columns(100)
    columns[0][::2] = np.nan
    columns[2][1::2] = np.nan
    moments = FeatureMoments.of(columns, ENCODERS)
    factor = np.random.default_rng(0).normal(size=(moments.cards[2], 2))
    views = np.concatenate([np.random.default_rng(1).normal(size=(3, 2)), factor])
    request = [Mode(((0,),)), Mode(((1, 2),)), Mode(((2,),), factor)]
    actual, in_part = moments.projected([request, [Mode(((0,),)), Mode(((1,), (2,)), views)]])
    means = [moments.pairs().marginal(i) for i in range(3)]
    joint = np.multiply.outer(means[1], means[2]).ravel()
    expected = np.einsum("a,b,c->abc", means[0], joint, means[2] @ factor)
    assert actual == pytest.approx(expected, abs=1e-13)
    mean = moments.pairs().joint(0, 1) @ views[:3]
    assert in_part == pytest.approx(mean + np.outer(means[0], means[2] @ factor), abs=1e-13)
    assert moments.unseen == [(0, 1, 2, 2), (0, 2)]


@pytest.mark.parametrize(
    "encoder",
    [
        grid_encoder(-2, 2, 6, 0.7),
        kernel_encoder(SOME, 0.5, margin=fit_margin(SOME)),
        bin_encoder(SOME, 5),
    ],
)
def test_features_put_in_directions_at_once_are_features_multiplied(encoder):
    values = np.append(np.random.default_rng(1).normal(size=50), np.nan)
    matrix = np.random.default_rng(2).normal(size=(3, encoder.size))
    actual = projected_features(encoder, values, matrix)
    assert actual == pytest.approx(matrix @ encoder.features(values).T, abs=1e-9, nan_ok=True)
    assert np.isnan(actual[:, -1]).all()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_single_precision_is_right_to_seven_digits(missing):
    columns, weights = mixed_columns(3000, missing), np.random.default_rng(1).random(3000)
    single = FeatureMoments.of(columns, ENCODERS, weights, single=True)
    same(single, FeatureMoments.of(columns, ENCODERS, weights), rel=1e-5, abs=1e-3)
    assert single.pairs().counts.dtype == np.float64
    assert (single + single).single


# -------------------------------------------------------------------------------------- laws


@settings(max_examples=25)
@given(st.integers(0, 60), st.integers(0, 60), st.booleans())
def test_moments_of_parts_add_up_to_those_of_all(one, two, weighted):
    columns = mixed_columns(60, 0.2)
    weights = np.random.default_rng(1).random(60) if weighted else None
    cuts = sorted([one, two])
    rows = [Rows(columns, weights).part(slice(*ends)) for ends in zip([0, *cuts], [*cuts, 60])]  # noqa: B905
    parts = [FeatureMoments.of(part.columns, ENCODERS, part.weights) for part in rows]
    together = FeatureMoments.of(columns, ENCODERS, weights)
    same(sum(parts, FeatureMoments.empty(ENCODERS)), together, rel=1e-10, abs=1e-12)
    same(FeatureMoments.streamed(rows, ENCODERS), together, rel=1e-10, abs=1e-12)
    added = parts[0].pairs() + parts[1].pairs() + parts[2].pairs()
    assert isinstance(added, FeaturePairs)
    expected = together.pairs().probabilities
    assert added.probabilities == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_a_weight_counts_a_row_so_many_times():
    columns = mixed_columns(80, 0.2)
    weights = np.random.default_rng(1).integers(0, 4, size=80)
    repeated = [np.repeat(column, weights) for column in columns]
    one, two = (
        FeatureMoments.of(columns, ENCODERS, weights),
        FeatureMoments.of(repeated, ENCODERS),
    )
    same(one, two, rel=1e-10, abs=1e-12)


def test_small_blocks_make_no_difference(monkeypatch):
    columns = mixed_columns(1000, 0.2)
    expected = FeatureMoments.of(columns, ENCODERS)
    expected.pairs()
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 1)
    same(FeatureMoments.of(columns, ENCODERS), expected, rel=1e-10, abs=1e-12)


def test_blocks_are_opened_anew_for_each_pass_and_their_features_dropped():
    columns = mixed_columns(120_000)
    opened = []

    def blocks():
        opened.append(True)
        return (Rows(columns).part(slice(at, at + 20_000)) for at in range(0, 120_000, 20_000))

    moments = FeatureMoments.streamed(blocks, [grid_encoder(-2, 2, 20, 0.2)] * 3)
    tracemalloc.start()
    moments.pairs()
    moments.projected([[Mode(((0,),), np.ones((20, 1))), Mode(((1,),), np.ones((20, 1)))]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(opened) == 2
    assert peak < 40e6  # all features at once would be 58 MB, and their products as much again


def test_no_rows_have_moments_too():
    moments = FeatureMoments.empty(ENCODERS)
    assert moments.n_rows == 0
    assert np.isfinite(moments.pairs().probabilities).all()
    (table,) = moments.tables([(0, 1, 2)])
    total = np.einsum("abc,a,b,c->", table, *(encoder.total for encoder in ENCODERS))
    assert total == pytest.approx(1)


# ------------------------------------------------------------------------------------ errors


def test_what_does_not_fit_is_refused(monkeypatch):
    columns = mixed_columns(30)
    with pytest.raises(ArgumentError, match="only once"):
        FeatureMoments.streamed(iter([columns]), ENCODERS)
    with pytest.raises(DataError, match="2 columns, but 3 encoders"):
        FeatureMoments.of(columns[:2], ENCODERS).pairs()
    with pytest.raises(DataError, match="for 30 rows"):
        FeatureMoments.of(columns, ENCODERS, np.ones(29)).pairs()
    with pytest.raises(DataError, match="negative"):
        FeatureMoments.of(columns, ENCODERS, -np.ones(30)).pairs()
    with pytest.raises(DataError, match="encode both alike"):
        FeatureMoments.empty(ENCODERS) + FeatureMoments.empty(ENCODERS[:2])
    other = (*ENCODERS[:2], grid_encoder(-1, 3, 4, 0.9))
    with pytest.raises(DataError, match="encode both alike"):
        FeatureMoments.empty(ENCODERS).pairs() + FeatureMoments.empty(other).pairs()
    with pytest.raises(DataError, match="array of 1 axes"):
        FeatureMoments.of(np.zeros(3), ENCODERS)
    monkeypatch.setattr(products, "MOST_CELLS", 50)
    with pytest.raises(TooExpensiveError, match="cells together"):
        FeatureMoments.of(columns, ENCODERS).tables([(0, 1, 2)])
    monkeypatch.setattr(module, "MOST_CELLS", 50)
    with pytest.raises(TooExpensiveError, match="use fewer columns or features"):
        FeatureMoments.of(columns, ENCODERS).pairs()


def test_infinite_features_are_refused():
    class Wild:
        size, total = 1, np.ones(1)

        def features(self, values):
            return np.asarray(values)[:, None]

    with (
        np.errstate(invalid="ignore"),
        pytest.raises(DataError, match="infinite or too large"),
    ):
        FeatureMoments.of(np.array([[1.0], [np.inf]]), [Wild()]).pairs()
