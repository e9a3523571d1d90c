"""Numbers cut at quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.encoders.bins import binned_column, codes_of_numbers, even_cuts, some_rows

WEIGHTED = st.lists(
    st.tuples(st.floats(-1e9, 1e9), st.floats(0.1, 10)),
    min_size=2,
    max_size=60,
    unique_by=lambda pair: pair[0],
).map(lambda pairs: tuple(np.array(one) for one in zip(*sorted(pairs), strict=True)))


@given(data=WEIGHTED, n_bins=st.integers(2, 8))
def test_no_bin_is_empty_and_edges_ascend(data, n_bins):
    values, weights = data
    column = binned_column("x", values, weights, n_bins)
    assert 2 <= column.card <= n_bins
    assert column.card == len(column.edges) + 1 == len(column.centers)
    assert len(set(column.categories)) == column.card
    assert list(column.edges) == sorted(set(column.edges))
    assert set(column.edges) <= set(values.tolist())
    codes = codes_of_numbers(values, column.edges)
    assert set(codes.tolist()) == set(range(column.card))
    # The center of a bin is one of its own numbers.
    assert codes_of_numbers(np.array(column.centers), column.edges).tolist() == list(
        range(column.card)
    )


@given(data=WEIGHTED, n_bins=st.integers(2, 8))
def test_no_bin_holds_more_than_its_fraction_but_for_its_last_value(data, n_bins):
    values, weights = data
    column = binned_column("x", values, weights, n_bins)
    codes = codes_of_numbers(values, column.edges)
    for place in range(column.card - 1):
        inside = weights[codes == place]
        # Up to rounding of the running sums.
        assert inside[:-1].sum() <= weights.sum() / n_bins * (1 + 1e-9)


def test_equal_weights_give_equal_bins():
    values = np.arange(100.0)
    column = binned_column("x", values, np.ones(100), 4)
    assert np.bincount(codes_of_numbers(values, column.edges)).tolist() == [25, 25, 25, 25]
    assert column.centers == (12.0, 37.0, 62.0, 87.0)


def test_a_value_that_stands_for_most_of_the_data_has_a_bin_of_its_own():
    values, weights = np.arange(30.0), np.ones(30)
    weights[0] = 1000
    assert binned_column("x", values, weights, 5).edges == (0.0,)
    weights[0], weights[-1] = 1, 1000
    assert binned_column("x", values, weights, 5).edges == (28.0,)


def test_labels_have_as_many_digits_as_keep_the_cuts_apart():
    values = np.array([1.0, 1.00001, 1.00002, 2.0])
    column = binned_column("x", values, np.ones(4), 4)
    assert column.categories == ("up to 1", "1 to 1.00001", "1.00001 to 1.00002", "above 1.00002")


@pytest.mark.parametrize(("value", "code"), [(0.9, 0), (1.0, 0), (1.1, 1), (np.nan, -1)])
def test_a_value_on_a_cut_is_below_it(value, code):
    assert codes_of_numbers(np.array([value]), (1.0,)).tolist() == [code]


@given(
    values=st.lists(st.integers(-20, 20), min_size=1, max_size=80),
    n_bins=st.integers(1, 12),
    data=st.data(),
)
def test_even_cuts_lie_between_values_and_leave_no_bin_empty(values, n_bins, data):
    values = np.array(values, dtype=float)
    counts = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    )
    cuts = even_cuts(values, n_bins)
    assert len(cuts) < n_bins
    assert not set(cuts.tolist()) & set(values.tolist())
    held = np.bincount(codes_of_numbers(values, tuple(cuts)), minlength=len(cuts) + 1)
    assert (held > 0).all()
    assert (held >= 0.25 * len(values) / n_bins).all()
    if counts.any():
        weighted = even_cuts(values, n_bins, counts.astype(float))
        assert weighted.tolist() == even_cuts(np.repeat(values, counts), n_bins).tolist()


def test_even_cuts_of_different_values_are_even():
    values = np.random.default_rng(0).permutation(1200).astype(float)
    cuts = even_cuts(np.append(values, np.nan), 12)
    assert np.bincount(codes_of_numbers(values, tuple(cuts))).tolist() == [100] * 12


def test_of_very_many_rows_a_sample_with_both_ends_is_looked_at():
    values = np.random.default_rng(0).normal(size=400_000)
    some, weights = some_rows(values, np.ones(400_000))
    assert len(some) == len(weights) < 200_000
    assert (some.min(), some.max()) == (values.min(), values.max())
    assert np.array_equal(some, some_rows(values)[0])
    counts = np.bincount(codes_of_numbers(values, tuple(even_cuts(values, 10))))
    assert counts == pytest.approx(np.full(10, 40_000), rel=0.03)


def test_a_few_rows_beside_a_frequent_value_are_no_bin():
    values = np.concatenate([[0.0], np.ones(300), np.arange(2.0, 101.0)])
    cuts = even_cuts(values, 10)
    assert cuts[0] == 1.5
    assert np.bincount(codes_of_numbers(values, tuple(cuts)))[0] == 301
