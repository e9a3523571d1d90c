"""The compiled passes in single precision against their own source."""

import numpy as np
import pytest

from oracles.networks import random_tables, random_tree, rooted_tree
from oracles.python_source import python_source
from tacit.toy.models import sample_codes
from tacit.trees.learn.em.many_states import ManyStatesExpectation
from tacit.trees.loops import many_states

TREES = {
    "few children": random_tree(np.random.default_rng(0), 7, 3),
    "many children": rooted_tree([12] * 11 + [13, 13, -1], 12),
}


@pytest.mark.parametrize("shape", TREES)
@pytest.mark.parametrize("block", [256, 5])
def test_compiled_passes_agree_with_their_python_source(shape, block, monkeypatch):
    rng = np.random.default_rng(1)
    tree = TREES[shape]
    tables = random_tables(rng, tree, tuple(rng.integers(1, 5, tree.n_nodes).tolist()))
    codes = sample_codes(tables, 12, rng)
    codes[rng.random(codes.shape) < 0.2] = -1
    expect = ManyStatesExpectation(tables.layout, codes, rng.exponential(size=12))
    value, counts = expect(tables.values)
    monkeypatch.setattr(many_states, "BLOCK", block)
    with python_source(many_states):
        python_value, python_counts = expect(tables.values)
    assert value == pytest.approx(python_value, rel=1e-6)
    assert counts == pytest.approx(python_counts, rel=1e-5, abs=1e-6)


def lifted(rows, low):
    rows = np.array(rows, dtype=np.float32)
    logs, overs = np.full(len(rows), 0.5), np.empty(len(rows), dtype=np.float32)
    many_states._lift(rows, len(rows), np.float32(low), logs, overs)
    return rows, logs, overs


def test_small_rows_are_lifted_and_nothing_stays_nothing():
    rows, logs, overs = lifted([[0.5, 0.2], [1e-3, 2e-3], [0, 0], [1e-38, 0]], 0.1)
    assert rows == pytest.approx(np.array([[0.5, 0.2], [0.5, 1.0], [0, 0], [0, 0]]), rel=1e-6)
    assert logs == pytest.approx([0.5, 0.5 + np.log(2e-3), 0.5, 0.5])
    assert overs == pytest.approx([1, 500, 1, 1])
    rows, _, overs = lifted([[0.5, 0.2], [0, 4]], np.inf)
    assert rows == pytest.approx(np.array([[1, 0.4], [0, 1]]))
    assert overs == pytest.approx([2, 0.25])


def test_folded_products_keep_states_that_single_precision_would_lose():
    parts = np.array([[[1, 1e-30]], [[1, 1e-30]], [[1e-30, 1]], [[1e-35, 1]]], dtype=np.float32)
    logs, exact = np.zeros(1), np.empty((1, 2))
    for number, part in enumerate(parts):
        many_states._fold(part, 1, number == 0, number == 3, logs, exact)
    assert parts[3] == pytest.approx(np.array([[1e-5, 1.0]]), rel=1e-5)
    assert logs == pytest.approx([np.log(1e-60)], rel=1e-6)


def test_products_at_the_end_of_the_range_stay_numbers():
    tiny = [[1, 1e-38]] * 8 + [[0, 1e-10], [0, 1]]  # the second state alone is left, of 1e-314
    logs, exact = np.zeros(1), np.empty((1, 2))
    for number, part in enumerate(tiny):
        row = np.array([part], dtype=np.float32)
        many_states._fold(row, 1, number == 0, number == len(tiny) - 1, logs, exact)
    assert np.isfinite(row).all()
    assert np.isfinite(logs).all()
