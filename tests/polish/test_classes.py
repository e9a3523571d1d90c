"""EM on mixtures of product distributions: steps against those of any tree, and what exchanges are for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.networks import rooted_tree
from oracles.python_source import python_source
from tacit.loops import classes as loops
from tacit.moments.patterns import Patterns
from tacit.params.tree import Layout
from tacit.polish.classes import ClassExpectation, climb_classes, cut_whole, exchange, is_star
from tacit.polish.climb import AbsoluteGain, climb
from tacit.polish.tree import Expectation, dirichlet_prior, em_step, random_start
from tacit.toy import random_tables, sample_codes


def star(n_leaves):
    return rooted_tree([n_leaves] * n_leaves + [-1], n_leaves)


def random_case(seed, n_rows=80, k=3):
    """The layout of a star, rows with holes, and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 5, rng.integers(3, 7)).tolist()
    layout = Layout(star(len(cards)), (*cards, k))
    codes = np.stack([rng.integers(-1, card, n_rows) for card in cards], axis=1).astype(np.int16)
    return layout, codes, rng.integers(0, 3, n_rows).astype(float)


def even_prior(layout, leaf=1.0):
    even = np.concatenate([np.full(card, 1 / card) for card in layout.n_states[:-1]])
    return dirichlet_prior(layout, even, leaf, leaf)


def same_counts(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-12)
    assert one[1] == pytest.approx(other[1], rel=1e-9, abs=1e-9)


@given(st.integers(0, 500), st.booleans())
def test_a_step_is_that_of_any_tree(seed, merge):
    layout, codes, weights = random_case(seed)
    values = random_start(layout, np.random.default_rng(seed))
    patterns = Patterns.of(codes, layout.tree, layout.n_states[:-1], weights)
    expected = Expectation(layout, [patterns])(values)
    same_counts(ClassExpectation(layout, codes, weights, merge=merge)(values), expected)


def test_blocks_of_rows_and_threads_do_not_show(monkeypatch):
    layout, codes, weights = random_case(1, n_rows=400)
    values = random_start(layout, np.random.default_rng(0))
    whole = ClassExpectation(layout, codes, weights)(values)
    monkeypatch.setattr("tacit.polish.classes.ROWS_AT_ONCE", 50)
    one = ClassExpectation(layout, codes, weights, n_jobs=1)(values)
    two = ClassExpectation(layout, codes, weights, n_jobs=2)(values)
    same_counts(one, whole)
    assert one[0] == two[0]
    assert np.array_equal(one[1], two[1])


def test_compiled_loops_agree_with_their_python_source():
    layout, codes, weights = random_case(2)
    expect = ClassExpectation(layout, codes, weights)
    values = random_start(layout, np.random.default_rng(0))
    compiled = expect(values), exchange(expect, even_prior(layout), values)
    with python_source(loops):
        plain = expect(values), exchange(expect, even_prior(layout), values)
    same_counts(compiled[0], plain[0])
    assert compiled[1] == pytest.approx(plain[1], rel=1e-9)


def test_fewer_rows_weigh_as_much():
    layout, codes, weights = random_case(3, n_rows=500)
    expect = ClassExpectation(layout, codes, weights)
    fewer = expect.fewer(100)
    assert len(fewer.codes) <= 100
    assert fewer.total_weight == pytest.approx(weights.sum())


def test_which_trees_are_stars():
    assert is_star(star(4))
    assert not is_star(rooted_tree([5, 5, 5, 6, 6, 6, -1], 5, {5: 0}))
    assert not is_star(rooted_tree([4, 4, 5, 5, 6, 6, -1], 4))


def test_a_class_that_two_share_goes_where_one_is_short():
    """Two equal classes on one group of rows, one class on two: EM stays there, an exchange does not."""
    truth = random_tables(star(8), 3, 3, 1, diagonal=4.0)
    codes = sample_codes(truth, 1500, 2)
    layout, prior = truth.layout, even_prior(truth.layout)
    expect = ClassExpectation(layout, codes)
    stuck = truth.values.copy()
    given_class, shares = truth.values[expect.entries], truth.values[-3:]
    merged = (given_class[:, 1] * shares[1] + given_class[:, 2] * shares[2]) / shares[1:].sum()
    stuck[expect.entries] = np.stack([given_class[:, 0], given_class[:, 0], merged], axis=1)
    stuck[-3:] = [shares[0] / 2, shares[0] / 2, 1 - shares[0]]
    step = em_step(expect, layout, prior)
    alone = climb(step, stuck, AbsoluteGain(0.1), warn=False)
    best = climb(step, truth.values, AbsoluteGain(0.1), warn=False)
    found, n_exchanged = climb_classes(expect, prior, stuck, AbsoluteGain(0.1))
    assert n_exchanged >= 1
    assert alone.objective < best.objective - 50
    assert found.objective > best.objective - 1
    assert step(found.values)[0] >= found.objective


def test_two_classes_are_found_from_a_start_that_sees_none():
    truth = random_tables(star(8), 3, 2, 1, diagonal=4.0)
    codes = sample_codes(truth, 1000, 2)
    layout, prior = truth.layout, even_prior(truth.layout)
    expect = ClassExpectation(layout, codes)
    even = truth.values.copy()
    even[expect.entries] = even[expect.entries].mean(axis=1, keepdims=True)
    step = em_step(expect, layout, prior)
    best = climb(step, truth.values, AbsoluteGain(0.1), warn=False)
    assert step(even)[0] < best.objective - 100
    assert step(cut_whole(expect, prior, even))[0] > best.objective - 30
    found, _ = climb_classes(expect, prior, even, AbsoluteGain(0.1))
    assert found.objective > best.objective - 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_row_and_few_classes_are_no_trouble(k):
    layout, codes, _ = random_case(4, n_rows=1, k=k)
    found, _ = climb_classes(
        ClassExpectation(layout, codes),
        even_prior(layout),
        random_start(layout, np.random.default_rng(0)),
        AbsoluteGain(0.01),
    )
    assert np.isfinite(found.values).all()
    assert found.values[-k:].sum() == pytest.approx(1.0)


def test_the_climb_stops_at_its_bound_and_says_so():
    layout, codes, weights = random_case(5)
    expect, prior = ClassExpectation(layout, codes, weights), even_prior(layout)
    start = random_start(layout, np.random.default_rng(0))
    with pytest.warns(UserWarning, match="max_iter=12"):
        found, _ = climb_classes(expect, prior, start, AbsoluteGain(0.0), max_iter=12)
    assert found.n_steps == 12
