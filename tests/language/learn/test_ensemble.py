"""Power low rank ensembles, against Kneser-Ney, enumeration and the laws that they must obey."""

import numpy as np
import pytest

from tacit.errors import ArgumentError, DataError
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import BEGIN, END
from tacit.language.learn.ensemble_plans import default_plans, printed_plans
from tacit.language.learn.fit import fit_ensemble
from tacit.language.learn.kneser_ney import kneser_ney
from tacit.language.loops import ensemble as loops
from tacit.language.model.backoff import packed
from tacit.language.model.ensemble import OrderPlan
from tacit.language.moments.ngram_counts import GramCounts
from tacit.language.query.backoff import begin_state
from tacit.language.query.backoff import next_probs as kneser_ney_next
from tacit.language.query.ensemble import next_probs, score_corpus, score_step


def text(seed, n_lines=60, n_words=7):
    """Lines of a random chain of words, so that all counts from one to many occur."""
    rng = np.random.default_rng(seed)
    steps = rng.dirichlet(np.full(n_words, 0.4), n_words)
    lines = []
    for _ in range(n_lines):
        word, line = int(rng.integers(n_words)), []
        for _ in range(rng.integers(0, 9)):
            line.append("abcdefgh"[word])
            word = int(rng.choice(n_words, p=steps[word]))
        lines.append(" ".join(line))
    return lines


def small_plans(order):
    """The default's kind of plans, of ranks that fit a small text."""
    plans = {at: [OrderPlan()] for at in range(4, order + 1)}
    plans[3] = [OrderPlan((0.5,), (2,), (0.7,), n_sweeps=2, informed=True, min_size=1)]
    plans[2] = [
        OrderPlan(
            (2 / 3,), (3, 2), (0.9, 0.6), modified=False, n_sweeps=1, n_collapsed=2, prior=1.0
        )
    ]
    return {at: plan for at, plan in plans.items() if at <= order}


def printed(order, n_words=10):
    return {at: [plan] for at, plan in printed_plans(order, n_words, (0.3, 0.2)).items()}


def counted(seed, order, pads="all"):
    corpus = read_corpus(text(seed))
    return corpus, GramCounts.of(corpus, order, pads=pads)


def states(model):
    """No context at all, the beginning of a line, and every known context."""
    return [-1, *range(len(model.grams.backoffs))]


@pytest.mark.parametrize("pads", ["one", "all"])
@pytest.mark.parametrize("base", ["uniform", "unigram"])
@pytest.mark.parametrize(("plans", "order"), [(small_plans, 3), (small_plans, 4), (printed, 3)])
def test_probabilities_sum_to_one_after_every_context(pads, base, plans, order):
    _, counts = counted(0, order, pads)
    model = fit_ensemble(counts, plans(order), n_restarts=2, base=base, random_state=0).ensemble
    for state in states(model):
        probs = next_probs(model, state)
        assert probs.sum() == pytest.approx(1.0, abs=1e-12)
        assert (probs >= 0).all()


@pytest.mark.parametrize("n_sweeps", [1, 20])
def test_they_do_so_after_any_number_of_sweeps(n_sweeps):
    _, counts = counted(1, 3)
    plans = {at: [OrderPlan((0.5,), (2,), modified=False, n_sweeps=n_sweeps)] for at in (2, 3)}
    model = fit_ensemble(counts, plans, random_state=0).ensemble
    for state in states(model):
        assert next_probs(model, state).sum() == pytest.approx(1.0, abs=1e-12)


def expected_counts(model, counts):
    """(word,) sum over all contexts of the text of their counts times probabilities of the next word."""
    table = counts.tables[-1]
    totals = np.bincount(table.contexts(), weights=table.counts, minlength=table.n_contexts)
    below = int(model.grams.offsets[-3]) if counts.order > 1 else 0
    return sum(
        total * next_probs(model, below + context)
        for context, total in enumerate(totals)
        if total > 0
    )


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("plans", [small_plans, printed])
def test_expected_counts_are_those_of_the_text(order, plans):
    """The marginal constraint (9.3) of the thesis, with all pads and unigrams not smoothed."""
    _, counts = counted(2, order)
    model = fit_ensemble(
        counts, plans(order), n_restarts=2, base="unigram", random_state=0
    ).ensemble
    expected = counts.tables[0].counts
    assert expected_counts(model, counts) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("pads", ["one", "all"])
@pytest.mark.parametrize("base", ["uniform", "unigram"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_without_low_rank_parts_it_is_kneser_ney(order, base, pads):
    _, counts = counted(3, order, pads)
    plans = {at: [OrderPlan(modified=False)] for at in range(2, order + 1)}
    model = fit_ensemble(counts, plans, base=base).ensemble
    expected, _ = kneser_ney(counts, modified=False, base=base)
    assert model.grams.probs == pytest.approx(expected.probs, rel=1e-12)
    assert model.grams.backoffs == pytest.approx(expected.backoffs, rel=1e-12)
    for state in (-1, begin_state(expected)):
        assert next_probs(model, state) == pytest.approx(kneser_ney_next(expected, state))


def test_slices_no_larger_than_the_rank_are_kept_as_they_are():
    _, counts = counted(4, 3)
    plans = {2: [OrderPlan(modified=False)], 3: [OrderPlan(modified=False)]}
    expected = fit_ensemble(counts, plans).ensemble
    plans[3] = [OrderPlan((0.5,), (99,), modified=False)]
    actual = fit_ensemble(counts, plans, random_state=0).ensemble
    assert actual.grams.probs == pytest.approx(expected.grams.probs, rel=1e-12)
    assert (actual.rows < 0).all()


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0])
def test_printed_form_is_chapter_nine_written_out(power):
    """Order two: equation 9.18 with the fitted factors, evaluated densely; powers may be equal."""
    _, counts = counted(5, 2)
    plans = {2: [OrderPlan((power,), (3,), modified=False, n_sweeps=7, even_steps=True)]}
    fitted = fit_ensemble(counts, plans, base="unigram", random_state=0)
    model, table = fitted.ensemble, counts.tables[1]
    n_words = len(counts.vocabulary)
    dense = np.zeros((n_words, n_words))
    dense[table.contexts(), table.words] = table.counts
    n = np.bincount(table.counts, minlength=3)
    root = np.sqrt(n[1] / (n[1] + 2 * n[2]))  # d*, the square root of the discount
    powered, binary = dense**power, (dense > 0).astype(float)
    weight0 = root * powered.sum(1) / dense.sum(1).clip(1)
    weight1 = root * binary.sum(1) / powered.sum(1).clip(1e-9)
    unigram = binary.sum(0) / binary.sum()
    rank = model.ranks[BEGIN]
    for h in np.flatnonzero(dense.sum(1)):
        row = model.left[model.rows[h] : model.rows[h] + rank].astype(float)
        low_rank = np.zeros(n_words)
        for w in np.flatnonzero(model.columns[:n_words] >= 0):
            column = model.right[model.columns[w] : model.columns[w] + rank].astype(float)
            low_rank[w] = row @ column + model.left_rest[h] * model.right_rest[w]
        # The fit is to the discounted powered counts c^p - d* c^0, times d*.
        assert low_rank.sum() == pytest.approx(root * (powered - root * binary)[h].sum(), rel=1e-12)
        z = low_rank / root / powered[h].sum()
        first = (dense[h] - root * powered[h]) / dense[h].sum()
        expected = first + weight0[h] * (z + weight1[h] * unigram)
        assert next_probs(model, h) == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_the_printed_form_of_order_three_is_equation_9_20():
    """Both orders with the fitted factors, evaluated densely; small slices are kept as they are."""
    _, counts = counted(5, 3)
    fitted = fit_ensemble(counts, printed(3), base="unigram", random_state=0)
    model, (_, pairs, triples) = fitted.ensemble, counts.tables
    n_words, above = len(counts.vocabulary), int(fitted.ensemble.grams.offsets[1])
    first, second = pairs.contexts(), pairs.words
    number = {
        (int(v), int(w)): above + at for at, (v, w) in enumerate(zip(first, second, strict=True))
    }
    trigrams = np.zeros((n_words, n_words, n_words))
    here = triples.contexts()
    trigrams[first[here], second[here], triples.words] = triples.counts
    bigrams = (trigrams > 0).sum(axis=0)  # N+(. v w)
    unigram = (bigrams > 0).sum(axis=0) / (bigrams > 0).sum()

    def terms(c, row, columns, root, below):
        """Equation 9.20 after one context, with d* in `root`; without factors Z is what it approximates."""
        powered, binary = np.sqrt(c), (c > 0).astype(float)
        z = (powered - root * binary) / powered.sum()
        if model.rows[row] >= 0:
            rank, factor = model.ranks[row], model.left[model.rows[row] :]
            z = np.zeros(n_words)
            for w, at in columns.items():
                if model.columns[at] >= 0:
                    column = model.right[model.columns[at] :][:rank].astype(float)
                    z[w] = factor[:rank].astype(float) @ column
                    z[w] += model.left_rest[row] * model.right_rest[at]
            z /= root * powered.sum()
        weight0, weight1 = root * powered.sum() / c.sum(), root * binary.sum() / powered.sum()
        return (c - root * powered) / c.sum() + weight0 * (z + weight1 * below)

    def root_of(c):
        ones, twos = (c == 1).sum(), (c == 2).sum()
        return np.sqrt(ones / (ones + 2 * twos))

    every = {w: w for w in range(n_words)}
    after = {
        v: terms(bigrams[v], v, every, root_of(bigrams), unigram)
        for v in np.flatnonzero(bigrams.sum(axis=1))
    }
    approximated = 0
    for u, v in zip(*np.nonzero(trigrams.sum(axis=2)), strict=True):
        state = number[u, v]
        columns = {w: number[v, w] for w in range(n_words) if (v, w) in number}
        expected = terms(trigrams[u, v], state, columns, root_of(trigrams), after[v])
        assert next_probs(model, state) == pytest.approx(expected, rel=1e-10, abs=1e-14)
        approximated += model.rows[state] >= 0
    assert approximated > 5


@pytest.mark.parametrize("plans", [small_plans, printed])
def test_a_text_is_scored_as_its_words_one_by_one(plans):
    corpus, counts = counted(6, 3, "one")
    model = fit_ensemble(counts, plans(3), random_state=0).ensemble
    other = read_corpus(text(7), vocabulary=corpus.vocabulary)
    actual = score_corpus(model, other)
    logs, low = [], 0
    for end in other.ends:
        state = begin_state(model.grams)
        for word in [*other.ids[low:end], END]:
            probs = next_probs(model, state)
            log_prob, _, state = score_step(model, state, int(word))
            assert log_prob == pytest.approx(np.log(probs[word]), rel=1e-12)
            logs.append(log_prob)
        low = end
    assert actual.log_probs == pytest.approx(logs, rel=1e-12)


@pytest.mark.parametrize("pads", ["one", "all"])
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("choose", [True, False])
def test_stored_parts_say_what_the_chosen_model_says(order, pads, choose):
    corpus, counts = counted(8, order, pads)
    # Nothing was seen after an unknown word.
    valid = read_corpus([*text(9), "a z b", "z z c d"], vocabulary=corpus.vocabulary)
    fitted = fit_ensemble(
        counts, small_plans(order), n_restarts=2, random_state=0, valid=valid, choose_weights=choose
    )
    said = np.exp(-score_corpus(fitted.ensemble, valid).log_probs.mean())
    # Shares lost to single precision are given back after parts are joined, not before.
    assert said == pytest.approx(fitted.perplexities["after"], rel=1e-5)
    assert fitted.perplexities["after"] <= fitted.perplexities["before"] + 1e-9


def test_the_better_of_two_plans_is_chosen():
    corpus, counts = counted(10, 2)
    valid = read_corpus(text(11), vocabulary=corpus.vocabulary)
    plans = small_plans(2)[2][0], OrderPlan((0.5,), (1,), modified=False)
    alone = [
        fit_ensemble(counts, {2: [plan]}, random_state=0, valid=valid).perplexities["after"]
        for plan in plans
    ]
    both = fit_ensemble(counts, {2: plans}, random_state=0, valid=valid)
    assert both.perplexities["after"] == pytest.approx(min(alone), rel=1e-9)
    assert both.plans[2].ranks == plans[int(np.argmin(alone))].ranks


def test_plans_that_make_no_sense_are_refused():
    for powers, ranks, weights in (
        ((0.5, 0.7), (2, 2), ()),
        ((1.0,), (2,), ()),
        ((0.5,), (), ()),
        ((0.5,), (2, 2, 2), ()),
        ((0.5,), (2,), (1.5,)),
        ((0.5,), (0,), ()),
    ):
        with pytest.raises(ArgumentError, match="give"):
            OrderPlan(powers, ranks, weights)


def test_nothing_to_learn_from_is_said():
    counts = GramCounts.empty(read_corpus(["a"]).vocabulary, 2)
    with pytest.raises(DataError, match="empty"):
        fit_ensemble(counts, small_plans(2))


@pytest.mark.parametrize("lines", [["a"], [""], ["a a a a"], ["a b"] * 3])
def test_tiny_texts_are_learnt(lines):
    counts = GramCounts.of(read_corpus(lines), 3)
    plans = {at: [plan] for at, plan in default_plans(3).items()}
    model = fit_ensemble(counts, plans, random_state=0).ensemble
    for state in states(model):
        assert next_probs(model, state).sum() == pytest.approx(1.0, abs=1e-12)


def test_compiled_loops_agree_with_their_python_source():
    corpus, counts = counted(12, 3, "one")
    model = fit_ensemble(counts, small_plans(3), random_state=0).ensemble
    arrays, factors = packed(model.grams), model.factors()
    state = begin_state(model.grams)
    for compiled in (True, False):
        run = (lambda f: f) if compiled else (lambda f: f.py_func)
        out = np.empty(len(corpus.vocabulary))
        run(loops.score_next)(arrays, factors, state, out)
        size = corpus.n_words + corpus.n_lines
        probs, grams = np.empty(size), np.empty(size, np.int64)
        begins = np.full(corpus.n_lines, state)
        run(loops.score_lines)(arrays, factors, corpus.ids, corpus.ends, begins, END, probs, grams)
        places = np.empty((2, 3, size), np.int64)
        offsets = model.grams.offsets
        run(loops.place_words)(arrays, offsets, corpus.ids, corpus.ends, state, END, *places)
        if compiled:
            expected = out, probs, places, grams
        else:
            assert out == pytest.approx(expected[0], rel=1e-12)
            assert probs == pytest.approx(expected[1], rel=1e-12)
            assert np.array_equal(places, expected[2])
            assert np.array_equal(grams, expected[3])
