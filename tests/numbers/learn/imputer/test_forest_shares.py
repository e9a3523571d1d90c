"""How much forests count, learnt from hidden cells."""

import numpy as np
import pytest

from tacit.core.input.read_mixed_table import read_mixed
from tacit.numbers.data.masking import with_masked
from tacit.numbers.learn.imputer import forest_shares
from tacit.numbers.learn.imputer.forest_shares import HIDDEN, forests_beside, some_rows

RNG = np.random.default_rng(0)


def table(n_rows, n_columns=3):
    x = RNG.normal(size=n_rows)
    columns = {f"x{place}": x + RNG.normal(size=n_rows) for place in range(n_columns)}
    return read_mixed(columns, continuous=list(columns))


def means(rows):
    """A model that knows nothing but the means of the columns."""
    known = np.nan_to_num(np.nanmean(rows.numbers, axis=0))
    gaps = np.flatnonzero(rows.missing.any(axis=0))
    return {column: np.full(rows.n_rows, known[column]) for column in gaps.tolist()}


def test_forests_that_know_more_than_the_model_get_a_share():
    x = RNG.normal(size=150)
    steps = {"x": x, "y": np.sign(x) + 0.01 * RNG.normal(size=150), "noise": RNG.normal(size=150)}
    forests, record = forests_beside(read_mixed(steps), means, lambda _: means, 0)
    assert forests is not None
    assert forests.shares[1] > 0.4
    assert record["loss_with_forests"] < record["loss_without_forests"]


def test_forests_that_know_nothing_are_left_out_or_hardly_count():
    noise = {f"x{place}": RNG.normal(size=150) for place in range(4)}
    forests, _ = forests_beside(read_mixed(noise), means, lambda _: means, 0)
    assert forests is None or forests.shares.max() < 0.3


def test_gaps_that_were_made_with_the_same_seed_are_not_the_cells_that_are_hidden():
    rows = table(200)
    gaps = np.random.default_rng(0).random((200, 3)) < HIDDEN
    hidden = []

    def fit(known):
        hidden.append(known.missing & ~gaps)
        return means

    forests_beside(with_masked(rows, gaps), means, fit, 0)
    assert hidden[0].mean() == pytest.approx(HIDDEN * (1 - HIDDEN), rel=0.3)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(20, 3), (60, 1)])
def test_few_rows_and_single_columns_have_none(n_rows, n_columns):
    forests, record = forests_beside(table(n_rows, n_columns), means, lambda _: means, 0)
    assert forests is None
    assert record["forests"].startswith("skipped")


def test_wide_tables_have_none_and_long_ones_are_sampled(monkeypatch):
    monkeypatch.setattr(forest_shares, "MOST_COLUMNS", 2)
    assert forests_beside(table(60), means, lambda _: means, 0)[1]["forests"].endswith(
        "many columns"
    )
    monkeypatch.setattr(forest_shares, "MOST_CELLS", 150)
    rows = some_rows(table(200), np.random.default_rng(0))
    assert rows.n_rows == 50
    assert rows.weights is None


def test_the_same_seed_gives_the_same_shares():
    rows = table(80)
    first, second = (forests_beside(rows, means, lambda _: means, 3)[0] for _ in range(2))
    assert (first is None) == (second is None)
    assert first is None or np.array_equal(first.shares, second.shares)


def test_a_sample_has_cells_of_every_column():
    rows = table(3000, 100)
    gaps = np.zeros(rows.missing.shape, dtype=bool)
    gaps[:2997, 0] = True
    sample = some_rows(with_masked(rows, gaps), np.random.default_rng(0))
    assert 1200 <= sample.n_rows <= 1203
    assert (~sample.missing[:, 0]).sum() == 3


def test_a_column_of_which_no_cell_is_hidden_is_shared_like_the_others(monkeypatch):
    def hide(rows, rng):
        hidden = np.zeros(rows.missing.shape, dtype=bool)
        hidden[:20, :2] = True
        return hidden

    monkeypatch.setattr(forest_shares, "_hidden_cells", hide)
    x = RNG.normal(size=60)
    steps = {"x": x, "y": np.sign(x) + 0.01 * RNG.normal(size=60), "z": np.sign(x) + 0.01 * x}
    forests, _ = forests_beside(read_mixed(steps), means, lambda _: means, 0)
    assert forests is not None
    assert forests.shares[2] > 0.4
