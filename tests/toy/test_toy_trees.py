"""Trees of known shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ArgumentError
from tacit.toy import balanced, broad, caterpillar, deep, named_topology, random_topology


@pytest.mark.parametrize(
    ("name", "n_leaves", "n_hidden", "degrees"),
    [
        ("bin4", 8, 6, {3}),
        ("bin5", 16, 14, {3}),
        ("bin6", 32, 30, {3}),
        ("bin7", 64, 62, {3}),
        ("t33", 9, 4, {3, 4}),
        ("t34", 27, 13, {3, 4}),
        ("t43", 16, 5, {4, 5}),
        ("cat16", 16, 14, {3}),
        ("broad4", 16, 5, {4, 5}),
        ("broad9", 36, 10, {5, 9}),
        ("deep4", 8, 4, {3, 4}),
        ("deep5", 10, 5, {3, 4}),
        ("star8", 8, 1, {8}),
    ],
)
def test_a_named_tree_has_the_size_and_the_degrees_of_the_experiments(
    name, n_leaves, n_hidden, degrees
):
    tree = named_topology(name)
    assert tree.observed == tuple(f"x{n}" for n in range(n_leaves))
    assert len(tree.hidden) == n_hidden
    assert {len(tree.neighbours[hidden]) for hidden in tree.hidden} == degrees
    assert tree.contracted() is tree


def test_a_caterpillar_is_a_chain_in_the_order_of_its_leaves():
    tree = caterpillar(6)
    hooks = [tree.neighbours[f"x{n}"][0] for n in range(6)]
    assert hooks == ["h1", "h1", "h2", "h3", "h4", "h4"]
    assert all(b in tree.neighbours[a] for a, b in [("h1", "h2"), ("h2", "h3"), ("h3", "h4")])


@given(
    st.integers(1, 30),
    st.tuples(st.integers(2, 5), st.integers(0, 3)),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_a_random_tree_has_the_leaves_and_at_most_the_degree_asked_for(
    n_leaves, children, observed_inner, seed
):
    fewest, most = children[0], sum(children)
    tree = random_topology(
        n_leaves,
        n_children=(fewest, most),
        observed_inner=observed_inner,
        random_state=seed,
    )
    leaves = [name for name in tree.nodes if len(tree.neighbours[name]) < 2]
    assert tree.observed[:n_leaves] == tuple(f"x{n}" for n in range(n_leaves))
    assert len(tree.hidden) == 0 or observed_inner < 1
    assert all(len(tree.neighbours[name]) <= most + 1 for name in tree.nodes)
    if n_leaves > 2:
        assert set(leaves) == set(tree.observed[:n_leaves])
    if observed_inner == 0:
        assert len(tree.observed) == n_leaves


def test_the_same_seed_gives_the_same_tree():
    assert random_topology(12, random_state=3) == random_topology(12, random_state=3)
    assert random_topology(12, random_state=3) != random_topology(12, random_state=4)
    rng = np.random.default_rng(3)
    assert random_topology(12, random_state=rng) == random_topology(12, random_state=3)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: balanced(1, 3), "n_children=.*of at least 2"),
        (lambda: balanced(2, 1), "n_levels=.*of at least 2"),
        (lambda: caterpillar(2), "n_leaves=.*of at least 3"),
        (lambda: broad(1), "n_groups=.*of at least 2"),
        (lambda: deep(3, 1), "n_leaves=.*of at least 2"),
        (lambda: random_topology(0), "n_leaves=.*of at least 1"),
        (lambda: random_topology(5, n_children=(4, 3)), "must not be less"),
        (lambda: named_topology("oak"), "no tree is called 'oak'"),
    ],
)
def test_impossible_trees_are_refused(make, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        make()
