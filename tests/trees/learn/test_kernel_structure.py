"""Trees learnt from kernel features of numbers."""

import numpy as np
import pytest

import tacit
from tacit.errors import ArgumentError


def flipped(n, seed=0):
    """A tree of eight columns in which every child is plus or minus its parent: there are no correlations."""
    rng = np.random.default_rng(seed)
    tree = tacit.toy.balanced(2, 4)
    columns = {tree.centre: rng.choice([-3.0, 3.0], size=n) + rng.normal(size=n)}
    waiting = [tree.centre]
    for name in waiting:  # grows while it is read
        for other in tree.neighbours[name]:
            if other not in columns:
                sign = rng.choice([-1.0, 1.0], size=n)
                columns[other] = sign * columns[name] + 0.7 * rng.normal(size=n)
                waiting.append(other)
    return tree, {name: columns[name] for name in tree.observed}


def test_the_kernel_metric_detects_what_correlations_do_not():
    truth, table = flipped(3000)
    assert len(table) == 8
    learnt = tacit.learn_structure(table, "neighbor-joining", metric="kernel")
    assert tacit.evaluate.robinson_foulds(learnt, truth) == 0
    deaf = tacit.learn_structure(table, "neighbor-joining", metric="gaussian")
    assert tacit.evaluate.robinson_foulds(deaf, truth) > 0.3


def test_a_kernel_tree_finds_the_structure_too():
    truth, table = flipped(3000)
    model = tacit.KernelTree(2, learn="spectral", bandwidth=0.2, blend=False).fit(table)
    assert tacit.evaluate.robinson_foulds(model.topology_, truth) == 0


@pytest.mark.parametrize("method", ["chow-liu", "hidden-chow-liu", "star", "recursive-grouping"])
def test_every_structure_learner_takes_the_kernel_metric(method):
    _, table = flipped(400)
    table["word"] = np.where(np.abs(table["x0"]) > 3.0, "far", "near")
    learnt = tacit.learn_structure(table, method, metric="kernel")
    assert set(learnt.observed) == set(table)
    with pytest.raises(ArgumentError, match="discrete"):
        tacit.learn_structure(table, method, metric="kernel", n_states=2)
