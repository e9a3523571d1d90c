"""A short name for the data."""

import numpy as np

from tacit.data.fingerprint import fingerprint
from tacit.data.reading import read_table
from tacit.data.table import Table

ROWS = np.array([[0, 1], [1, 0], [1, 2]])


def test_the_same_data_have_the_same_name_whatever_they_came_in():
    name = fingerprint(read_table(ROWS))
    assert len(name) == 32
    assert name == fingerprint(read_table(ROWS.astype(np.int8)))
    assert name == fingerprint(read_table([ROWS[:1], ROWS[1:]]))
    assert name == fingerprint(read_table(ROWS.tolist()))


def test_other_data_have_another_name():
    names = {
        fingerprint(read_table(rows, sample_weight=weights))
        for rows, weights in [
            (ROWS, None),
            (ROWS, [1, 1, 2]),
            (ROWS[::-1], None),
            (ROWS + 1, None),
            (ROWS[:, ::-1], None),
            (ROWS[:2], None),
            (np.where(ROWS == 2, -1, ROWS), None),
        ]
    }
    assert len(names) == 7


def test_any_changed_cell_of_a_long_table_changes_the_name():
    codes = np.asfortranarray(
        np.random.default_rng(0).integers(0, 3, size=(100_000, 2), dtype=np.int16)
    )
    table = read_table(codes)
    name = fingerprint(table)
    for row in (0, 1, 2, 50_001, 99_998, 99_999):
        changed = codes.copy(order="F")
        changed[row, 1] = (changed[row, 1] + 1) % 3
        assert fingerprint(Table(table.schema, changed)) != name


def test_the_name_does_not_change_between_releases():
    # Stored in model files: a change would make every older model look as if its data had changed.
    assert fingerprint(read_table(ROWS)) == "66e1afe6cf6992af967cc9baf321398d"
