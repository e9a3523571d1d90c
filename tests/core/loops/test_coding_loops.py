"""The compiled loops of coding do what their Python source says."""

import numpy as np
import pytest

from tacit.core.loops.codes import note_cells, relabel, value_masks


def noted(loop, values):
    present = np.zeros((values.shape[1], 256), dtype=bool)
    codes = np.full((len(values) + 1, values.shape[1]), 99, dtype=np.int16, order="F")
    done = loop(values, 1, present, codes)
    return done, present, codes


@pytest.mark.parametrize("n_rows", [1, 300])
def test_noting_cells_agrees_with_its_python_source(n_rows):
    values = np.random.default_rng(0).integers(-1, 255, size=(n_rows, 3))
    done, present, codes = noted(note_cells, values)
    assert done
    for compiled, plain in zip(
        (present, codes), noted(note_cells.py_func, values)[1:], strict=True
    ):
        assert np.array_equal(compiled, plain)
    assert np.array_equal(codes[1:], values)
    assert np.array_equal(codes[0], [99, 99, 99])  # the rows before the block stay as they were
    for column in range(3):
        marked = np.flatnonzero(present[column]) - 1
        assert np.array_equal(marked, np.unique(values[:, column]))


@pytest.mark.parametrize("strange", [-2, 255, 2**62, -(2**62)])
def test_noting_cells_gives_up_at_a_value_that_is_not_small(strange):
    values = np.zeros((5, 2), dtype=np.int64)
    values[3, 1] = strange
    assert not noted(note_cells, values)[0]
    assert not noted(note_cells.py_func, values)[0]


def test_relabelling_agrees_with_its_python_source():
    rng = np.random.default_rng(1)
    codes = np.asfortranarray(rng.integers(-1, 9, size=(40, 3)).astype(np.int16))
    table = rng.integers(-1, 9, size=(3, 10)).astype(np.int16)
    expected = np.array([[table[j, codes[i, j] + 1] for j in range(3)] for i in range(40)])
    plain = codes.copy(order="F")
    relabel(codes, table)
    relabel.py_func(plain, table)
    assert np.array_equal(codes, expected)
    assert np.array_equal(plain, expected)


@pytest.mark.parametrize("n_rows", [0, 1, 300])
def test_masks_mark_the_values_that_columns_hold(n_rows):
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(-1, 63, size=(n_rows, 3)).astype(np.int16))
    masks = value_masks(codes)
    assert np.array_equal(masks, value_masks.py_func(codes))
    for column in range(3):
        expected = {2 ** (int(value) + 1) for value in codes[:, column]}
        assert int(masks[column]) == sum(expected)
