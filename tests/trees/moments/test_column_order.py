"""The order of columns does not show."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import LatentClass, LatentTree
from tacit.core.input.read_table import read_table
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.messages.mixture import Mixture
from tacit.toy import random_tree_model
from tacit.trees.moments.column_order import content_order, with_leaves

ROUNDING = 1e-9


@pytest.fixture(scope="module")
def rows():
    return random_tree_model(n_leaves=7, n_states=3, n_categories=3, random_state=0).sample(400, 1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "make",
    [
        LatentTree,
        lambda: LatentTree(n_components=1),
        lambda: LatentTree(3),
        lambda: LatentTree(n_states=3, n_components=2),
        LatentClass,
        lambda: LatentClass(4),
    ],
)
def test_permuted_columns_give_the_same_answers(make, seed, rows):
    codes = np.asarray(rows)
    order = np.random.default_rng(seed).permutation(codes.shape[1])
    one = make().set_params(n_jobs=1).fit(codes)
    other = make().set_params(n_jobs=1).fit(codes[:, order])
    assert other.score_samples(codes[:, order]) == pytest.approx(
        one.score_samples(codes), abs=ROUNDING
    )


def test_permuted_named_columns_have_the_same_tree(rows):
    codes = np.asarray(rows)
    names = [f"column {place}" for place in range(codes.shape[1])]
    order = np.random.default_rng(5).permutation(len(names))
    one = LatentTree(n_components=1).fit(dict(zip(names, codes.T, strict=True)))
    turned = {names[place]: codes[:, place] for place in order}
    other = LatentTree(n_components=1).fit(turned)
    assert one.topology_ == other.topology_
    assert one.topology_.observed == tuple(names)
    assert other.topology_.observed == tuple(turned)
    assert one.node_states_ == other.node_states_


@settings(max_examples=40, deadline=None)
@given(
    codes=st.integers(2, 6).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=2, max_size=12
        )
    ),
    data=st.data(),
)
def test_the_order_follows_from_content(codes, data):
    codes = np.array(codes)
    names = [f"c{place}" for place in range(codes.shape[1])]
    columns = dict(zip(names, codes.T, strict=True))
    varied = {name: cells for name, cells in columns.items() if len(set(cells.tolist())) > 1}
    if len(varied) < 2:
        return
    table = read_table(varied)
    shuffled = data.draw(st.permutations(list(varied)))
    rows = np.array(data.draw(st.permutations(range(len(codes)))))
    turned = read_table({name: varied[name][rows] for name in shuffled})
    in_order = [table.schema.names[place] for place in content_order(table)]
    assert [turned.schema.names[place] for place in content_order(turned)] == in_order


def test_weights_count_like_repeated_rows(rows):
    codes = np.asarray(rows)[:60]
    weights = np.arange(60) % 3
    weighted = read_table(codes, sample_weight=weights.astype(float))
    repeated = read_table(np.repeat(codes, weights, axis=0))
    assert content_order(weighted) == content_order(repeated)


def test_tables_with_leaves_in_another_order_say_the_same(rows):
    codes = np.asarray(rows)
    model = LatentTree(2, "((x0,x1)x2,(x3,x4),x5,x6);").fit(codes)
    names = model.schema_.names
    order = np.random.default_rng(1).permutation(len(names))
    turned_names = tuple(names[place] for place in order)
    expected = log_prob(model.tables_, Evidence(codes.astype(np.int16))).values
    turned_codes = np.ascontiguousarray(codes[:, order].astype(np.int16))
    turned = with_leaves(model.tables_, turned_names)
    assert log_prob(turned, Evidence(turned_codes)).values == pytest.approx(expected)
    mixture = Mixture.of([0.5, 0.5], [model.tables_, model.tables_])
    both = with_leaves(mixture, turned_names)
    assert log_prob(both, Evidence(turned_codes)).values == pytest.approx(expected)
    assert both.parts[0].tree is both.parts[1].tree
