"""Cells that are hidden, and whom to believe by what they said of them."""

import numpy as np
import pytest

from oracles.mixed import answering, made_rows
from tacit.core.input.read_mixed_table import read_mixed
from tacit.numbers.data.masking import MaskedCells, masked_cells, with_masked, without_column


def test_weights_are_those_of_independent_errors():
    table = read_mixed(made_rows())
    cells = MaskedCells.of(table)
    rng = np.random.default_rng(0)
    truth = table.numbers
    tree = {j: truth[:, j] + 2.0 * rng.normal(size=len(truth)) for j in range(6)}
    gaussian = {j: truth[:, j] + 1.0 * rng.normal(size=len(truth)) for j in range(6)}
    tree[6] = gaussian[6] = np.full((len(truth), 2), 0.5)
    cells.add(table, np.ones((len(truth), 7), dtype=bool), [tree, gaussian], 1.0)
    # Independent errors with variances 4 and 1 are best joined 1 : 4.
    assert cells.best_weights([0, 1]).weights[:6, 1] == pytest.approx(np.full(6, 0.8), abs=0.05)


def test_few_cells_of_a_column_follow_those_of_all():
    table = read_mixed(made_rows())
    cells = MaskedCells.of(table)
    truth = table.numbers
    tree = {j: truth[:, j] + (0.0 if j == 0 else 9.0) for j in range(6)}
    gaussian = {j: truth[:, j] + (9.0 if j == 0 else 0.0) for j in range(6)}
    tree[6] = gaussian[6] = np.full((len(truth), 2), 0.5)
    hidden = np.ones((len(truth), 7), dtype=bool)
    hidden[2:, 0] = False  # two cells alone
    cells.add(table, hidden, [tree, gaussian], 1.0)
    assert cells.best_weights([0, 1]).weights[:6, 1].min() > 0.7
    every = MaskedCells.of(table)
    every.add(table, np.ones((len(truth), 7), dtype=bool), [tree, gaussian], 1.0)
    assert every.best_weights([0, 1]).weights[0, 1] < 0.2


def test_a_cell_that_is_hidden_several_times_counts_once():
    table = read_mixed(made_rows())
    once, often = MaskedCells.of(table), MaskedCells.of(table)
    reports = answering(table, 1.0)(table)
    other = answering(table, 2.0, seed=1)(table)
    hidden = np.ones((table.n_rows, 7), dtype=bool)
    once.add(table, hidden, [reports, other], 1.0)
    for _ in range(4):
        often.add(table, hidden, [reports, other], 0.25)
    assert often.best_weights([0, 1]).loss == pytest.approx(once.best_weights([0, 1]).loss)
    some = [item.best_weights([0, 1]).weights[:6] for item in (often, once)]
    assert np.array_equal(*some)


def test_cells_are_hidden_only_where_there_are_some_and_never_a_whole_row():
    rows = made_rows(400)
    rows["x0"][::3] = np.nan
    table = read_mixed(rows)
    hidden = masked_cells(table, np.random.default_rng(0))
    assert not (hidden & table.missing).any()
    assert not (hidden | table.missing).all(axis=1).any()
    assert 0.2 < hidden.mean() < 0.35
    left = with_masked(table, hidden)
    assert np.array_equal(left.missing, hidden | table.missing)
    kept = ~left.missing[:, 1]
    assert np.array_equal(left.column(1)[kept], table.column(1)[kept])
    assert not (table.missing & hidden).any()  # the table itself is as it was
    assert without_column(table, 6).missing[:, 6].all()


def test_three_who_answer_are_weighed_together():
    table = read_mixed(made_rows())
    cells = MaskedCells.of(table)
    rng = np.random.default_rng(1)
    reports = [
        {j: column + s * rng.normal(size=len(column)) for j, column in enumerate(table.numbers.T)}
        for s in (2.0, 1.0, 1.0)
    ]
    sure = table.column(6)[:, None] == np.arange(2)
    for item, weight in zip(reports, (0.5, 0.5, 1.0), strict=True):
        item[6] = np.where(sure, weight, 1 - weight)
    cells.add(table, np.ones((table.n_rows, 7), dtype=bool), reports, 1.0)
    all_three = cells.best_weights([0, 1, 2])
    assert all_three.weights[:6] == pytest.approx(np.tile([1 / 9, 4 / 9, 4 / 9], (6, 1)), abs=0.1)
    assert all_three.weights[6] == pytest.approx([0, 0, 1])
    assert all_three.loss < min(cells.best_weights(pair).loss for pair in ([0, 1], [0, 2], [1, 2]))
    assert (cells.best_weights([0]).weights == 1).all()


def test_who_says_nothing_of_a_cell_says_what_the_first_does():
    table = read_mixed(made_rows())
    cells = MaskedCells.of(table)
    reports = answering(table, 1.0)(table)
    silent = {column: np.full(item.shape, np.nan) for column, item in reports.items()}
    cells.add(table, np.ones((table.n_rows, 7), dtype=bool), [reports, silent], 1.0)
    assert cells.best_weights([1]).loss == pytest.approx(cells.best_weights([0]).loss)
