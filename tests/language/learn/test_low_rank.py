"""Low rank factors of matrices of counts, against numpy and the sums that they must keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.language.learn.block_matrix import BlockMatrix
from tacit.language.learn.low_rank import (
    RELAXATION,
    collapsed_sweep,
    fit_low_rank,
    start_factors,
    sweep,
)
from tacit.language.loops import low_rank as loops


def one_block(dense):
    rows, columns = np.nonzero(dense)
    blocks = np.zeros(dense.shape[0], int), np.zeros(dense.shape[1], int)
    return BlockMatrix.of(rows, columns, *blocks), dense[rows, columns]


def random_blocks(seed, n_blocks, least=0, largest=9):
    """Blocks of random sizes, their rows and columns in random order; the dense matrix, too."""
    rng = np.random.default_rng(seed)
    row_blocks = rng.permutation(np.repeat(np.arange(n_blocks), rng.integers(1, largest, n_blocks)))
    column_blocks = rng.permutation(
        np.repeat(np.arange(n_blocks), rng.integers(1, largest, n_blocks))
    )
    dense = rng.gamma(0.5, size=(len(row_blocks), len(column_blocks)))
    dense *= (row_blocks[:, None] == column_blocks) & (rng.random(dense.shape) < 0.7)
    rows, columns = np.nonzero(dense)
    matrix = BlockMatrix.of(rows, columns, row_blocks, column_blocks, least)
    return matrix, dense[rows, columns], dense


def product(matrix, fitted, shape):
    """The dense product in the old numbers of rows and columns."""
    block_of_row = np.repeat(np.arange(matrix.n_blocks), np.diff(matrix.block_rows))
    block_of_column = np.repeat(np.arange(matrix.n_blocks), np.diff(matrix.block_columns))
    rows, columns = np.nonzero(block_of_row[:, None] == block_of_column)
    out = np.zeros(shape)
    old_rows, old_columns = np.argsort(matrix.row_places), np.argsort(matrix.column_places)
    old_rows = old_rows[(matrix.row_places < 0).sum() :]
    old_columns = old_columns[(matrix.column_places < 0).sum() :]
    out[old_rows[rows], old_columns[columns]] = fitted.at(rows, columns)
    return out


def numpy_sweep(dense, left, right):
    posterior = left[:, None] * right  # (row, column, rank)
    posterior *= (dense / posterior.sum(2))[:, :, None]
    left, right = posterior.sum(1), posterior.sum(0)
    return left, right / right.sum(0)


@pytest.mark.parametrize("n_sweeps", [0, 1, 20])
@pytest.mark.parametrize(("n_blocks", "rank"), [(1, 3), (6, 2), (30, 5)])
def test_sums_are_kept_after_any_number_of_sweeps(n_sweeps, n_blocks, rank):
    matrix, values, dense = random_blocks(n_blocks, n_blocks, least=rank, largest=40)
    fitted = fit_low_rank(matrix, values[matrix.entries], rank, n_sweeps=n_sweeps, random_state=0)
    assert fitted.left.dtype == np.float32
    actual = product(matrix, fitted, dense.shape)
    kept = matrix.row_places >= 0, matrix.column_places >= 0
    assert kept[0].any()
    # Double precision, though factors are of single precision.
    assert actual.sum(1)[kept[0]] == pytest.approx(dense.sum(1)[kept[0]], rel=1e-13, abs=0)
    assert actual.sum(0)[kept[1]] == pytest.approx(dense.sum(0)[kept[1]], rel=1e-13, abs=0)
    assert (actual >= 0).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3))
def test_sums_are_kept_whatever_the_blocks(seed, n_blocks, rank, n_sweeps):
    matrix, values, dense = random_blocks(seed, n_blocks)
    fitted = fit_low_rank(
        matrix, values[matrix.entries], rank, n_sweeps=n_sweeps, random_state=seed
    )
    actual = product(matrix, fitted, dense.shape)
    assert actual.sum(1) == pytest.approx(dense.sum(1), rel=1e-12)
    assert actual.sum(0) == pytest.approx(dense.sum(0), rel=1e-12)


def test_a_sweep_is_that_of_numpy():
    rng = np.random.default_rng(1)
    dense = rng.random((7, 5)) * (rng.random((7, 5)) < 0.8) + 0.01 * np.eye(7, 5)
    dense[6, 0] = 0.5
    matrix, values = one_block(dense)
    left, right = rng.random((7, 3)), rng.random((5, 3))
    actual = sweep(matrix, values, left, right, n_sweeps=2)
    expected = numpy_sweep(dense, *numpy_sweep(dense, left, right))
    # Double precision in and out.
    assert actual[0] == pytest.approx(expected[0], rel=1e-12)
    assert actual[1] == pytest.approx(expected[1], rel=1e-12)


def test_blocks_are_fitted_as_if_each_stood_alone():
    matrix, values, _ = random_blocks(3, 5)
    left, right = start_factors(matrix, 3, 0)
    together = sweep(matrix, values[matrix.entries], left, right, n_sweeps=3)
    for block in range(matrix.n_blocks):
        rows = slice(*matrix.block_rows[block : block + 2])
        columns = slice(*matrix.block_columns[block : block + 2])
        dense = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
        for row in range(rows.start, rows.stop):
            for entry in range(matrix.starts[row], matrix.starts[row + 1]):
                dense[row - rows.start, matrix.columns[entry] - columns.start] = values[
                    matrix.entries[entry]
                ]
        alone = sweep(*one_block(dense), left[rows], right[columns], n_sweeps=3)
        assert np.array_equal(together[0][rows], alone[0])
        assert np.array_equal(together[1][columns], alone[1])


@pytest.mark.parametrize("n_blocks", [1, 12])
def test_results_do_not_depend_on_the_number_of_threads(n_blocks):
    matrix, values, _ = random_blocks(4, n_blocks, largest=60)
    one, three = (
        fit_low_rank(matrix, values[matrix.entries], 4, random_state=0, n_jobs=n) for n in (1, 3)
    )
    assert np.array_equal(one.left, three.left)
    assert np.array_equal(one.right, three.right)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_divergence_never_rises(dtype):
    matrix, values, _ = random_blocks(5, 1, largest=60)
    left, right = (factor.astype(dtype) for factor in start_factors(matrix, 4, 0))
    values = values[matrix.entries]
    actual = []
    for _ in range(30):
        left, right = sweep(matrix, values, left, right, n_sweeps=1)
        actual.append(loops.divergence(matrix.starts, matrix.columns, values, left, right))
    slack = np.finfo(dtype).eps * values.sum()
    assert (np.diff(actual) <= 10 * slack).all()
    assert actual[-1] < actual[0]


@pytest.mark.parametrize("rank", [1, 3])
def test_a_matrix_of_low_rank_is_found_exactly(rank):
    rng = np.random.default_rng(6)
    dense = rng.dirichlet(np.full(12, 0.2), rank).T @ rng.gamma(1.0, size=(rank, 15))
    matrix, values = one_block(dense)
    start = tuple(factor.astype(float) for factor in start_factors(matrix, rank, 2))
    fitted = fit_low_rank(matrix, values, rank, n_sweeps=3000, start=start)
    # EM creeps near zeros.
    assert product(matrix, fitted, dense.shape) == pytest.approx(dense, abs=2e-4 * dense.max())


def test_rank_one_is_the_product_of_the_margins():
    matrix, values, dense = random_blocks(7, 1, largest=30)
    fitted = fit_low_rank(matrix, values[matrix.entries], 1, n_sweeps=1, random_state=0)
    expected = np.outer(dense.sum(1), dense.sum(0)) / dense.sum()
    assert product(matrix, fitted, dense.shape) == pytest.approx(expected, rel=1e-5)


def test_blocks_with_few_rows_or_columns_are_left_out():
    rows = np.array([0, 0, 1, 1, 2, 2, 3])
    columns = np.array([0, 1, 0, 1, 2, 3, 4])
    matrix = BlockMatrix.of(
        rows, columns, np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1, 2]), min_size=1
    )
    assert matrix.n_blocks == 1
    assert matrix.row_places.tolist() == [0, 1, -1, -1]
    assert matrix.column_places.tolist() == [0, 1, -1, -1, -1]
    assert matrix.entries.tolist() == [0, 1, 2, 3]


def test_nothing_to_fit_is_fitted():
    matrix, values, _ = random_blocks(0, 3, least=99)
    fitted = fit_low_rank(matrix, values[matrix.entries], 4, random_state=0)
    assert fitted.left.shape == (0, 4)
    assert fitted.at(np.array([-1]), np.array([-1])).tolist() == [0.0]


def test_mass_that_single_precision_loses_is_given_back():
    matrix, values = one_block(np.array([[1.0, 2.0], [3.0, 4.0]]))
    left = np.array([[1e-25, 0.0], [0.0, 1e-25]], np.float32)
    right = np.array([[1e-25, 0.0], [0.0, 1.0]], np.float32)
    fitted = fit_low_rank(matrix, values, 2, n_sweeps=2, start=(left, right))
    actual = product(matrix, fitted, (2, 2))
    assert actual.sum(1) == pytest.approx([3.0, 7.0], rel=1e-14)
    assert actual.sum(0) == pytest.approx([4.0, 6.0], rel=1e-14)


def numpy_collapsed_sweep(dense, left, right, prior, further=0.0):
    sums = left.sum(0)  # (rank,)
    own = left[:, None] * right
    own *= (dense / own.sum(2))[:, :, None]  # (row, column, rank)  what each entry gave
    fraction = sums / sums.sum()
    rest = np.maximum(left[:, None] - own, 0) + prior * fraction
    other = (np.maximum(right * sums - own, 0) + prior * fraction) / sums
    posterior = rest * other
    posterior *= (dense / posterior.sum(2))[:, :, None]
    right = right * sums
    for at, old in enumerate((left, right)):
        new = posterior.sum(1 - at)
        new = np.maximum(new + further * (new - old), loops.MIN_STEP * new)
        left, right = (new, right) if at == 0 else (left, new)
    return left, right / right.sum(0)


def test_a_collapsed_sweep_is_that_of_numpy():
    rng = np.random.default_rng(10)
    dense = rng.random((7, 5)) * (rng.random((7, 5)) < 0.8) + 0.1 * np.eye(7, 5)
    dense[5:, 0] = 0.5
    matrix, values = one_block(dense)
    left, right = numpy_sweep(dense, rng.random((7, 3)) ** 2, rng.random((5, 3)) ** 2)
    plain = numpy_collapsed_sweep(dense, left, right, 0.05)[0]
    assert (
        plain < left / 3
    ).any()  # some cells fall so fast that the next step must not go further
    actual = collapsed_sweep(matrix, values, left, right, n_sweeps=3, prior=0.05)
    expected = left, right
    for further in (RELAXATION, RELAXATION, 0.0):
        expected = numpy_collapsed_sweep(dense, *expected, 0.05, further)
    assert actual[0] == pytest.approx(expected[0], rel=1e-12)
    assert actual[1] == pytest.approx(expected[1], rel=1e-12)


@pytest.mark.parametrize("rank", [4, 24])
def test_sweeps_apart_keep_sums_and_do_not_depend_on_threads(rank):
    matrix, values, dense = random_blocks(11, 1, largest=60)
    one, three = (
        fit_low_rank(
            matrix, values[matrix.entries], rank, n_collapsed=5, prior=1.0, random_state=0, n_jobs=n
        )
        for n in (1, 3)
    )
    assert np.array_equal(one.left, three.left)
    assert np.array_equal(one.right, three.right)
    actual = product(matrix, one, dense.shape)
    assert actual.sum(1) == pytest.approx(dense.sum(1), rel=1e-13)
    assert actual.sum(0) == pytest.approx(dense.sum(0), rel=1e-13)


def test_held_out_entries_are_predicted_better_by_collapsed_sweeps():
    """Counts of a matrix of low rank, half of them held back."""
    rng = np.random.default_rng(12)
    truth = rng.dirichlet(np.full(40, 0.3), 4).T @ rng.dirichlet(np.full(40, 0.3), 4)
    kept, held = rng.poisson(600 * truth / truth.sum(), (2, 40, 40)).astype(float)
    kept[0], kept[:, 0] = kept[0] + 0.1, kept[:, 0] + 0.1
    matrix, values = one_block(kept)
    logs = []
    for n_collapsed in (0, 30):
        fitted = fit_low_rank(
            matrix,
            values,
            12,
            n_sweeps=30 - n_collapsed,
            n_collapsed=n_collapsed,
            prior=1.0,
            random_state=0,
        )
        said = product(matrix, fitted, kept.shape)
        logs.append((held * np.log(said + 1e-3)).sum())
    assert logs[1] > logs[0]


def test_compiled_loops_agree_with_their_python_source():
    matrix, values, _ = random_blocks(9, 3)
    values = values[matrix.entries]
    start = tuple(factor.astype(float) for factor in start_factors(matrix, 2, 0))
    actual = []
    for compiled in (True, False):
        left, right = start[0].copy(), start[1].copy()
        run = (lambda f: f) if compiled else (lambda f: f.py_func)
        run(loops.sweep_blocks)(
            np.arange(matrix.n_blocks),
            matrix.block_rows,
            matrix.block_columns,
            matrix.starts,
            matrix.columns,
            values,
            matrix.column_starts,
            matrix.column_rows,
            matrix.column_entries,
            left,
            right,
            np.empty(len(values)),
            2,
        )
        sums = np.empty((matrix.n_blocks, 2))
        run(loops.totals)(right, matrix.block_columns[:-1], matrix.block_columns[1:], sums)
        margins = np.empty(len(left))
        run(loops.margins)(left, matrix.block_rows[:-1], matrix.block_rows[1:], sums, margins)
        ratios, proportions, spare = (
            np.empty(len(values)),
            np.empty(len(values)),
            np.empty_like(left),
        )
        common = (left, right, left.sum(0), np.full(2, 0.1), 0.01, 0.8, ratios, proportions)
        places = (matrix.starts, matrix.columns, values)
        run(loops.collapsed_rows)(*places, *common, spare, 0, len(left))
        places = (matrix.column_starts, matrix.column_rows, matrix.column_entries)
        run(loops.collapsed_columns)(*places, *common, 0, len(right))
        margins = np.concatenate([margins, spare.ravel()])
        cells = np.zeros(3)
        rests = np.ones(len(left)), np.ones(len(right))
        rows, columns = np.array([0, 1, -1]), np.array([0, 1, 0])
        run(loops.products)(left, right, *rests, rows, columns, cells)
        gap = run(loops.divergence)(matrix.starts, matrix.columns, values, left, right)
        actual.append(np.concatenate([left.ravel(), right.ravel(), margins, cells, [gap]]))
    assert actual[0] == pytest.approx(actual[1], rel=1e-12)
