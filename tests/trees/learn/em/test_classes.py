"""EM on mixtures of product distributions: steps against those of any tree, and what exchanges are for."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma, psi

import tacit
from oracles.networks import rooted_tree
from oracles.python_source import python_source
from tacit.core.em import AbsoluteGain, run_em
from tacit.messages.em import Expectation, dirichlet_prior, em_step, random_start
from tacit.messages.loops.patterns import different_rows
from tacit.messages.network import Layout
from tacit.messages.patterns import Patterns
from tacit.toy import random_tables, sample_codes
from tacit.trees.learn.em.classes import (
    STEPS_TO_CHOOSE,
    ClassExpectation,
    _likeliest,
    _run_em,
    learn_classes,
    run_class_em,
)
from tacit.trees.learn.starts.classes import class_starts
from tacit.trees.loops import class_em, class_exchange, class_prior, class_start
from tacit.trees.loops import classes as loops


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


def even_pseudo(expect):
    """The same pseudo-counts as (cell and shares, class)."""
    return even_prior(expect.layout).pseudo[expect.entries]


def same_counts(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-12)
    assert one[1] == pytest.approx(other[1], rel=1e-9, abs=1e-9)


@given(st.integers(0, 500), st.integers(1, 6))
def test_halvings_are_all_that_no_cluster_makes_likelier(seed, n_clusters):
    rng = np.random.default_rng(seed)
    starts = np.array([0, 2, 5])
    counts = np.zeros((n_clusters, 6))
    for cluster, size in enumerate(rng.integers(0, 9, n_clusters)):
        for first, last in ((0, 2), (2, 5)):
            counts[cluster, first:last] = rng.multinomial(
                size, rng.dirichlet(np.ones(last - first))
            )
        counts[cluster, 5] = size
        counts[cluster] *= rng.uniform(0.5, 2)  # no two ways are equally likely
    pseudo = np.array([0.4, 0.6, 0.2, 0.5, 0.3])
    filled = counts[counts[:, 5] > 0]

    def value(sides):
        total = 0.0
        for side in (0, 1):
            counts_of_side = filled[sides == side].sum(axis=0)
            total += counts_of_side[5] * np.log(counts_of_side[5])
            for first, last in ((0, 2), (2, 5)):
                cells = counts_of_side[first:last] + pseudo[first:last]
                total += (cells * np.log(cells / cells.sum())).sum()
        return total

    partitions = [np.array(sides) for sides in product((0, 1), repeat=len(filled))]
    values = {tuple(sides): value(sides) for sides in partitions if 0 < sides.sum() < len(sides)}

    def stays(sides):
        others = [
            tuple(np.array(sides) ^ np.eye(len(sides), dtype=int)[at]) for at in range(len(sides))
        ]
        return all(values.get(other, -np.inf) <= values[sides] for other in others)

    stable = sorted(
        (values[sides] for sides in values if sides[-1] == 1 and stays(sides)), reverse=True
    )
    halvings = class_start.halvings(counts, starts, pseudo, 100)
    assert len(halvings) == len(stable)
    for halves, expected in zip(halvings, stable, strict=True):
        assert halves.sum(axis=0) == pytest.approx(filled.sum(axis=0))
        sizes = [tuple(np.round(half, 6)) for half in halves]
        reached = [
            values[sides]
            for sides in values
            if sorted(sizes)
            == sorted(
                tuple(np.round(filled[np.array(sides) == side].sum(axis=0), 6)) for side in (0, 1)
            )
        ]
        assert any(value == pytest.approx(expected) for value in reached)
    assert len(class_start.halvings(counts, starts, pseudo, 1)) == min(len(stable), 1)


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
    in_one_block = ClassExpectation(layout, codes, weights)(values)
    monkeypatch.setattr("tacit.trees.learn.em.classes.ROWS_AT_ONCE", 50)
    one = ClassExpectation(layout, codes, weights, n_jobs=1)(values)
    two = ClassExpectation(layout, codes, weights, n_jobs=2)(values)
    same_counts(one, in_one_block)
    assert one[0] == two[0]
    assert np.array_equal(one[1], two[1])


def test_compiled_loops_agree_with_their_python_source():
    layout, codes, weights = random_case(2)

    def results():
        expect = ClassExpectation(layout, codes, weights)
        values = random_start(layout, np.random.default_rng(0))
        rows = expect.codes, expect.weights, expect.starts
        other = exchanged_tables(rows, values[expect.entries], even_pseudo(expect))
        learnt = learn_classes(expect, pseudo_counts=None, least=0.01)
        return expect(values), other, learnt

    def exchanged_tables(rows, tables, pseudo):
        return class_exchange.exchanged(*rows, tables, pseudo)

    compiled = results()
    with python_source(loops, class_em, class_exchange, class_prior, class_start):
        plain = results()
    same_counts(compiled[0], plain[0])
    assert compiled[1] == pytest.approx(plain[1], rel=1e-9)
    assert compiled[2].em_run.values == pytest.approx(plain[2].em_run.values, rel=1e-6)
    assert compiled[2].strengths == pytest.approx(plain[2].strengths, rel=1e-6)


def test_fewer_rows_weigh_as_much():
    layout, codes, weights = random_case(3, n_rows=500)
    expect = ClassExpectation(layout, codes, weights)
    fewer = expect.fewer(100)
    assert len(fewer.codes) <= 100
    assert fewer.total_weight == pytest.approx(weights.sum())


def test_which_trees_are_stars():
    assert star(4).is_star
    assert not rooted_tree([5, 5, 5, 6, 6, 6, -1], 5, {5: 0}).is_star
    assert not rooted_tree([4, 4, 5, 5, 6, 6, -1], 4).is_star


def test_one_of_two_equal_classes_goes_where_one_is_missing():
    """Two equal classes on one group of rows, one class on two: EM stays there, an exchange does not."""
    truth = random_tables(star(8), 3, 3, 1, diagonal=4.0)
    codes = sample_codes(truth, 1500, 2)
    expect = ClassExpectation(truth.layout, codes)
    stuck = truth.values[expect.entries]
    weights = stuck[-1].copy()
    merged = (stuck[:, 1] * weights[1] + stuck[:, 2] * weights[2]) / weights[1:].sum()
    stuck[:, 1], stuck[:, 2] = stuck[:, 0], merged
    stuck[-1] = [weights[0] / 2, weights[0] / 2, 1 - weights[0]]
    step = em_step(expect, truth.layout, even_prior(truth.layout))
    alone = run_em(step, expect.flat(stuck), AbsoluteGain(0.1), warn=False)
    best = run_em(step, truth.values, AbsoluteGain(0.1), warn=False)
    em_run, n_exchanged = run_class_em(expect, even_pseudo(expect), stuck, 0.1)
    assert n_exchanged >= 1
    assert alone.objective < best.objective - 50
    assert em_run.objective > best.objective - 1
    assert step(expect.flat(em_run.values))[0] >= em_run.objective


@pytest.mark.parametrize(("k", "seed"), [(2, 1), (3, 2), (5, 3)])
def test_the_classes_that_rows_were_drawn_from_are_learnt(k, seed):
    """EM from the truth ends nowhere better."""
    truth = random_tables(star(10), 3, k, seed, diagonal=3.0)
    expect = ClassExpectation(truth.layout, sample_codes(truth, 1500, seed))
    em_run = learn_classes(expect, pseudo_counts=1.0, least=0.01).em_run
    prior = dirichlet_prior(truth.layout, expect.marginals, 1.0, 1.0)
    step = em_step(expect, truth.layout, prior)
    best = run_em(step, truth.values, AbsoluteGain(0.01), warn=False)
    assert em_run.objective > best.objective - 0.5
    assert step(em_run.values)[0] >= em_run.objective


def test_large_tables_are_learnt_as_small_ones_do(monkeypatch):
    """One compiled call, and steps whose rows are shared out among threads."""
    truth = random_tables(star(8), 3, 3, 1, diagonal=3.0)
    codes = sample_codes(truth, 500, 2)
    one = learn_classes(ClassExpectation(truth.layout, codes), pseudo_counts=None, least=0.01)
    monkeypatch.setattr("tacit.trees.learn.em.classes.ROWS_AT_ONCE", 100)
    expect = ClassExpectation(truth.layout, codes, n_jobs=2)
    assert len(expect.codes) > 200
    other = learn_classes(expect, pseudo_counts=None, least=0.01)
    assert other.em_run.objective == pytest.approx(one.em_run.objective, rel=1e-6)
    assert other.strengths == pytest.approx(one.strengths, rel=1e-6)
    assert other.em_run.values == pytest.approx(one.em_run.values, rel=1e-3)
    assert other.n_exchanged == one.n_exchanged


def test_a_prior_is_strong_where_classes_are_alike():
    """Counts drawn around the marginal with a known strength give that strength back."""
    rng = np.random.default_rng(0)
    cards, k = (4, 3, 5), 60
    starts = np.concatenate([[0], np.cumsum(cards)])
    marginals = np.concatenate([rng.dirichlet(np.full(card, 5.0)) for card in cards])
    true, counts = (1.0, 5.0, 20.0), np.zeros((starts[-1], k))
    for column, strength in enumerate(true):
        part = slice(starts[column], starts[column + 1])
        tables = rng.dirichlet(strength * marginals[part], k)
        counts[part] = np.stack([rng.multinomial(300, row) for row in tables], axis=1)
    strengths = class_prior.prior_strengths(counts, marginals, starts, 2.0, 100.0, 50.0, 0.0)
    assert strengths == pytest.approx(true, rel=0.35)  # of 60 tables
    held = class_prior.prior_strengths(counts, marginals, starts, 2.0, 1e-3, 50.0, 0.0)
    assert held == pytest.approx([2.0] * 3, rel=1e-3)
    together = class_prior.prior_strengths(counts, marginals, starts, 2.0, 100.0, 50.0, 1.0)
    assert together == pytest.approx([np.exp(np.log(strengths).mean())] * 3)


def test_gamma_derivatives_are_those_of_scipy():
    places = [1e-3, 0.2, 1.0, 3.7, 40.0, 1e4]
    derivatives = [(class_prior.digamma(x), class_prior.trigamma(x)) for x in places]
    expected = [(float(psi(x)), float(polygamma(1, x))) for x in places]
    assert np.array(derivatives) == pytest.approx(np.array(expected), rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_row_and_few_classes_are_no_trouble(k):
    layout, codes, _ = random_case(4, n_rows=1, k=k)
    for pseudo_counts in (None, 0.0, 1.0):
        expect = ClassExpectation(layout, codes)
        em_run = learn_classes(expect, pseudo_counts=pseudo_counts, least=0.01).em_run
        assert np.isfinite(em_run.values).all()
        assert em_run.values[-k:].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("most", [1, 3, 6, 12])
def test_em_stops_at_its_bound_and_says_so(most, k):
    layout, codes, weights = random_case(5, k=k)
    expect = ClassExpectation(layout, codes, weights)
    with pytest.warns(UserWarning, match=f"max_iter={most} "):
        learnt = learn_classes(expect, pseudo_counts=None, least=0.0, max_iter=most)
    assert learnt.em_run.n_steps == most


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_of_several_starts_the_one_with_the_highest_objective_is_taken(seed):
    """All are followed for a few steps, as long as these leave some for the run."""
    layout, codes, weights = random_case(seed, k=2)
    expect = ClassExpectation(layout, codes, weights)
    pseudo = even_pseudo(expect)
    starts = class_starts(expect.codes, expect.weights, expect.starts, expect.marginals, 2)
    assert len(starts) > 2
    assert _likeliest(expect, pseudo, starts[:1], 100)[1] == 0
    for given_starts in (starts, starts[::-1]):
        alone = [_likeliest(expect, pseudo, [start], 100)[0] for start in given_starts]
        ends = [_run_em(expect, pseudo, tables, 0.0, STEPS_TO_CHOOSE)[0] for tables in alone]
        for most in range(STEPS_TO_CHOOSE * (len(starts) + 2)):
            tables, made = _likeliest(expect, pseudo, given_starts, most)
            n_runs, steps = 0, 0
            while n_runs < len(starts) and steps + STEPS_TO_CHOOSE < most:
                steps += ends[n_runs].n_steps
                n_runs += 1
            best = max(ends[:n_runs], key=lambda end: end.objective, default=None)
            assert made == steps
            assert np.array_equal(tables, alone[0] if best is None else best.values)


def test_the_start_of_a_single_class_is_the_counts_of_all_rows():
    layout, codes, weights = random_case(4, k=1)
    expect = ClassExpectation(layout, codes, weights)
    (start,) = class_starts(expect.codes, expect.weights, expect.starts, expect.marginals, 1)
    counts = [
        weights[codes[:, column] == code].sum()
        for column, card in enumerate(layout.columns[:-1])
        for code in range(card)
    ]
    assert start == pytest.approx(np.array([*counts, weights.sum()])[:, None])


@given(st.integers(0, 300))
def test_different_rows_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 2, (rng.integers(1, 60), rng.integers(1, 5))).astype(np.int16)
    weights = rng.integers(0, 3, len(codes)).astype(float)
    first, summed = different_rows(codes, weights)
    is_counted = weights > 0 if weights.any() else np.ones(len(codes), dtype=bool)
    expected, inverse = np.unique(codes[is_counted], axis=0, return_inverse=True)
    order = np.lexsort(codes[first].T[::-1])
    assert np.array_equal(codes[first][order], expected)
    assert summed[order] == pytest.approx(np.bincount(inverse.ravel(), weights[is_counted]))
    assert (np.diff(first) > 0).all()


def weak_classes(seed):
    """Four classes of a hundred binary columns that are hard to tell apart."""
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.4, 0.6, (4, 100))
    return (rng.random((1000, 100)) < chances[rng.integers(4, size=1000)]).astype(int)


def test_more_starts_lead_higher_where_classes_are_hard_to_tell_apart():
    gains = []
    for seed in range(3):
        rows = weak_classes(seed)
        one, more = (tacit.LatentClass(4, effort=effort).fit(rows) for effort in ("low", "default"))
        gains.append(more.score(rows) - one.score(rows))
        assert more.diagnostics_["n_steps"] > one.diagnostics_["n_steps"]
    assert np.mean(gains) > 0


def test_more_starts_are_left_out_where_steps_are_few():
    rows = weak_classes(0)[:200]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged
        one, more = (
            tacit.LatentClass(4, effort=effort, max_iter=20).fit(rows)
            for effort in ("low", "default")
        )
    assert np.array_equal(one.score_samples(rows), more.score_samples(rows))
