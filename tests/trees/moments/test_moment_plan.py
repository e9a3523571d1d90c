"""What a plan says before any row is read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ArgumentError, TooExpensiveError
from tacit.trees.moments.plan import MomentPlan


def test_a_set_requested_again_in_another_order_is_planned_once():
    plan = MomentPlan.of((2, 3, 4), [(0, 2), (1,), (2, 0), (2, 1, 0), (0, 2)])
    assert plan.subsets == ((0, 2), (1,), (2, 1, 0))
    assert plan.offsets.tolist() == [0, 8, 11, 35]
    assert plan.n_cells == 35


def test_all_pairs_come_after_the_single_columns():
    plan = MomentPlan.all_pairs((2, 3, 4))
    assert plan.subsets == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    assert plan.offsets.tolist() == [0, 2, 5, 9, 15, 23, 35]


def test_large_tables_and_columns_with_many_categories_are_counted_by_rows():
    plan = MomentPlan.of((4, 16, 17, 16, 16), [(0, 1), (0, 2), (1, 3), (1, 3, 4), (0, 1, 3)])
    assert plan.by_bits.tolist() == [True, False, True, False, False]


def test_an_empty_plan_has_no_cells():
    plan = MomentPlan.of((4, 4), [])
    assert plan.subsets == ()
    assert plan.n_cells == 0


@pytest.mark.parametrize("subset", [(), (0, 0), (0, 3), (-1, 0)])
def test_what_is_not_a_set_of_columns_is_refused(subset):
    with pytest.raises(ArgumentError, match="is not a set of columns"):
        MomentPlan.of((2, 2, 2), [(0, 1), subset])


def test_an_absurd_table_is_refused_with_its_size():
    with pytest.raises(TooExpensiveError, match=r"1e\+08 cells, of the columns \(1, 2\)"):
        MomentPlan.of((2, 10_000, 10_000), [(0,), (1, 2)])


def test_a_table_beyond_all_integers_is_refused_too():
    with pytest.raises(TooExpensiveError):
        MomentPlan.of((30_000,) * 6, [tuple(range(6))])


def test_subsets_may_be_rows_of_an_array():
    plan = MomentPlan.of((2, 3, 4), np.array([[0, 1], [1, 2]]))
    assert plan.subsets == ((0, 1), (1, 2))


@given(st.data())
def test_the_flat_array_is_cut_into_tables_of_any_mix_of_shapes(data: st.DataObject) -> None:
    cards = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    columns = st.lists(st.integers(0, len(cards) - 1), min_size=1, max_size=3, unique=True)
    plan = MomentPlan.of(cards, data.draw(st.lists(columns, min_size=1, max_size=8)))
    cells = np.arange(plan.n_cells)
    tables = plan.tables(cells)
    assert [table.shape for table in tables] == [
        tuple(cards[column] for column in subset) for subset in plan.subsets
    ]
    assert np.array_equal(np.concatenate([table.ravel() for table in tables]), cells)
