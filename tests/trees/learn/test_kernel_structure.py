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


def test_rank_bandwidth_centring_and_whitening_are_arguments():
    truth, table = flipped(1000)
    arguments = {"method": "neighbor-joining", "metric": "kernel"}
    plain = tacit.learn_structure(table, **arguments)
    lengths = {plain.lengths}
    for given in (
        {"rank": 2},
        {"rank": None},
        {"bandwidth": 0.5},
        {"centred": False},
        {"centred": False, "rank": 5},
        {"whiten": False},
        {"rank": 2, "preset": "printed"},
        {"rank": 2, "preset": "printed", "bandwidth": 0.5},
    ):
        learnt = tacit.learn_structure(table, **arguments, **given)
        assert tacit.evaluate.robinson_foulds(learnt, truth, normalised=True) <= 0.4
        lengths.add(learnt.lengths)
    assert len(lengths) == 9  # none of them is ignored
    same = tacit.learn_structure(
        table, **arguments, rank=1, bandwidth=1.0, centred=True, whiten=True
    )
    assert same == plain


def test_without_centring_two_singular_values_count():
    _, table = flipped(500)
    arguments = {"method": "neighbor-joining", "metric": "kernel", "centred": False}
    assert tacit.learn_structure(table, **arguments) == tacit.learn_structure(
        table, **arguments, rank=2
    )


def test_as_printed_every_hidden_node_has_three_neighbours():
    rng = np.random.default_rng(0)
    table = {
        f"x{n}": rng.normal(size=300) for n in range(9)
    }  # independent: edges as short as can be
    learnt = tacit.learn_structure(
        table, "neighbor-joining", metric="kernel", rank=2, preset="printed"
    )
    assert {len(learnt.neighbours[name]) for name in learnt.hidden} == {3}
    own = tacit.learn_structure(table, "neighbor-joining", metric="kernel")
    assert max(len(own.neighbours[name]) for name in own.hidden) > 3
    two = {name: table[name] for name in ("x0", "x1")}
    options = {"metric": "kernel", "rank": 2, "preset": "printed"}
    assert tacit.learn_structure(two, "neighbor-joining", **options).edges == (("x0", "x1"),)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"preset": "thesis"}, "preset='thesis' is not known"),
        (
            {"rank": "auto"},
            "rank='auto' does not go with .* give a number; the thesis has 2, 5 and 8",
        ),
        ({"rank": None}, "rank=None does not go with"),
        ({"centred": True}, "centred=True does not go with .* give centred=False"),
        ({"whiten": True}, "whiten=True does not go with"),
        ({"whiten": "yes"}, "give True, False or 'auto'"),
        ({"method": "refined-joining"}, "method='refined-joining' does not go with"),
        ({"rank": 0}, "rank=0; give an integer of at least 1"),
        ({"bandwidth": 0.0}, "bandwidth=0.0; give a positive number"),
        ({"rank": 3}, "the column 'word' has 2 features; give rank<=2"),
        ({"preset": None, "rank": None, "centred": False}, "give a rank"),
        ({"metric": "gaussian"}, 'rank belongs to metric="kernel"'),
        ({"metric": "discrete", "rank": "auto"}, 'preset belongs to metric="kernel"'),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(changes, complaint):
    _, table = flipped(200)
    table["word"] = np.where(np.abs(table["x0"]) > 3.0, "far", "near")
    arguments = {"method": "neighbor-joining", "metric": "kernel", "rank": 2, "preset": "printed"}
    with pytest.raises(ArgumentError, match=complaint):
        tacit.learn_structure(table, **arguments | changes)


def test_columns_that_show_too_few_singular_values_are_named():
    table = {name: np.tile(["a", "b"], 8) for name in "xy"}
    table["z"] = np.repeat(["a", "b"], 8)  # independent of both: of exactly rank one
    with pytest.raises(ArgumentError, match=r"'x' and 'z' have fewer than rank=2 singular values"):
        tacit.learn_structure(table, "neighbor-joining", metric="kernel", rank=2, preset="printed")
