"""The page about a fitted tree: profiles against enumeration, and what the page shows."""

import numpy as np
import pytest

import tacit
from oracles.networks import full_joint
from tacit.toy import random_tables
from tacit.toy.trees import caterpillar
from tacit.trees.query.summary import leaves_given, state_priors


def test_profiles_agree_with_enumeration():
    tree = caterpillar(4).rooted([f"x{i}" for i in range(4)])
    tables = random_tables(tree, [2, 3, 2, 3], 2, 0)
    joint = full_joint(tables)  # an axis per node
    priors = state_priors(tables)
    for node in range(tree.n_nodes):
        others = tuple(axis for axis in range(joint.ndim) if axis != node)
        assert priors[node] == pytest.approx(joint.sum(axis=others))
    for node in tree.hidden:
        conditionals = leaves_given(tables, priors, node)
        for leaf, table in conditionals.items():
            others = tuple(axis for axis in range(joint.ndim) if axis not in (node, leaf))
            both = joint.sum(axis=others)  # (leaf, node)
            assert table == pytest.approx((both / both.sum(axis=0)).T)


def groups(n_rows=300):
    """Two groups of rows that differ in colour and size, and a column that says nothing."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=n_rows)
    clear = rng.random((n_rows, 3)) < 0.95
    a, b, c = np.where(clear, group[:, None], 1 - group[:, None]).T
    return {
        "colour": np.where(a, "red", "blue"),
        "size": np.where(b, "large", "small"),
        "shape": np.where(c, "round", "long"),
        "day": rng.integers(3, size=n_rows),
    }


def test_the_page_of_classes_shows_what_tells_them_apart():
    model = tacit.LatentClass(2).fit(groups())
    page = str(model.summary())
    assert page.startswith("LatentClass: 4 columns, 1 hidden node")
    assert "colour=red 0.9" in page
    assert "day=" not in page.split("Hidden node h")[1].split(",", maxsplit=1)[0]
    assert "<table>" in model._repr_html_()


def test_the_page_of_a_tree_shows_what_was_chosen_among_what():
    model = tacit.LatentTree().fit(groups())
    page = str(model.summary())
    assert "Structures, by held-out log-likelihood" in page
    assert "refined-joining" in page
    assert "Numbers of states" in page
    assert "rows" in page


@pytest.mark.parametrize(
    "model",
    [
        tacit.ChowLiuTree(),
        tacit.LatentTree(2, learn="spectral"),
        tacit.LatentTree(2, "star", n_components=2),
    ],
)
def test_every_kind_of_tree_has_a_page(model):
    page = str(model.fit(groups()).summary())
    assert page.startswith(type(model).__name__)
    assert "colour" in page
