"""The loop of neighbour joining, against a plain one and its own source."""

import numpy as np
import pytest

from oracles.python_source import python_source
from tacit.trees.loops import neighbour_joining as joining


def joined(distances):
    n = len(distances)
    numbers, lengths = np.empty((n - 2, 3), dtype=np.int64), np.empty((n - 2, 3))
    n_read = joining.join_neighbours(distances.copy(), numbers, lengths)
    return numbers, lengths, n_read


def joined_plainly(distances):
    """All pairs in every step, in order; the new node at the lower place, the last one at the higher."""
    d = distances.copy()
    nodes = list(range(len(d)))
    numbers, lengths = [], []
    while len(d) > 3:
        n, sums = len(d), d.sum(axis=0)
        criterion = np.where(np.tri(n, dtype=bool), np.inf, (n - 2) * d - sums - sums[:, None])
        i, j = divmod(int(np.argmin(criterion)), n)  # the first of equal ones
        half, shift = d[i, j] / 2, (sums[i] - sums[j]) / (2 * n - 4)
        numbers.append([nodes[i], nodes[j], -1])
        lengths.append([half + shift, half - shift, 0])
        d[i] = d[:, i] = (d[i] + d[j]) / 2 - half
        d[i, i] = 0
        nodes[i] = len(distances) + len(numbers) - 1
        order = [*range(n - 1)]
        if j < n - 1:
            order[j] = n - 1
        d, nodes = d[np.ix_(order, order)], [nodes[k] for k in order]
    first = (d[0, 1] + d[0, 2] - d[1, 2]) / 2
    numbers.append(nodes)
    lengths.append([first, d[0, 1] - first, d[0, 2] - first])
    return np.array(numbers), np.array(lengths)


def symmetric(numbers):
    upper = np.triu(numbers, 1).astype(float)
    return upper + upper.T


def in_blocks(n):
    block = np.arange(n) // 8
    return np.where(block[:, None] == block, 4.0, 16.0) * (1 - np.eye(n))


# Small whole numbers: every sum is exact, and there are many equal pairs.
TIED = {
    "few values": lambda n: symmetric(np.random.default_rng(n).integers(1, 4, size=(n, n)) * 1024),
    "one value": lambda n: 1024 * (1 - np.eye(n)),
    "blocks": in_blocks,
    "a line": lambda n: np.abs(np.subtract.outer(np.arange(n), np.arange(n))) * 1024.0,
    "one far leaf": lambda n: symmetric(np.where(np.arange(n) == n - 1, 99.0, 1) * np.ones((n, n))),
}


@pytest.mark.parametrize("n", [3, 4, 5, 8, 30, 90])
@pytest.mark.parametrize("kind", TIED)
def test_of_equal_pairs_the_first_is_joined(kind, n):
    distances = TIED[kind](n)
    numbers, lengths, _ = joined(distances)
    expected, expected_lengths = joined_plainly(distances)
    assert numbers.tolist() == expected.tolist()
    assert lengths == pytest.approx(expected_lengths, abs=1e-9)


def lengths_by_leaves(numbers, lengths):
    """The length of the edge above each set of leaves; the last four nodes may be joined either way round."""
    n = len(numbers) + 2
    sets = [frozenset([leaf]) for leaf in range(n)]
    by_side = {}
    for row, some in zip(numbers, lengths, strict=True):
        for node, length in zip(row, some, strict=True):
            if node >= 0:
                side = sets[node]
                by_side[min(side, frozenset(range(n)) - side, key=sorted)] = length
        sets.append(frozenset().union(*(sets[node] for node in row if node >= 0)))
    return by_side


@pytest.mark.parametrize("n", [4, 17, 60, 150])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_joins_the_best_pair(n, seed):
    rng = np.random.default_rng(seed)
    point = rng.normal(size=(n, 2)) * rng.exponential(size=(n, 1)) ** seed
    distances = symmetric(np.linalg.norm(point[:, None] - point, axis=2) + rng.random((n, n)))
    numbers, lengths, _ = joined(distances)
    actual, expected = (
        lengths_by_leaves(numbers, lengths),
        lengths_by_leaves(*joined_plainly(distances)),
    )
    assert actual.keys() == expected.keys()
    for side, length in expected.items():
        assert actual[side] == pytest.approx(length, abs=1e-9)  # sums are taken in another order


@pytest.mark.parametrize("kind", TIED)
def test_the_compiled_loop_agrees_with_its_python_source(kind):
    rng = np.random.default_rng(1)
    distances = TIED[kind](40) + symmetric(rng.random((40, 40)) < 0.1)
    compiled = joined(distances)
    with python_source(joining):
        plain = joined(distances)
    assert np.array_equal(compiled[0], plain[0])
    assert compiled[1] == pytest.approx(plain[1], abs=1e-12)
    assert compiled[2] == plain[2]


def test_few_entries_are_read():
    rng = np.random.default_rng(0)
    depth = np.zeros((800, 800))
    group = np.arange(800)
    for _ in range(12):  # leaves that part early are farther from each other
        group = group // 2
        depth += rng.uniform(0.5, 1) * (group[:, None] != group)
    distances = symmetric(depth + rng.uniform(0, 0.05, size=(800, 800)))
    assert joined(distances)[2] < 4 * 800**2  # all pairs in all steps are 800^3 / 6
