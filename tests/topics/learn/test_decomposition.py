"""Topics from exact moments, and from documents that were drawn from known topics."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from oracles.document_topics import topics_of_documents
from oracles.exact_topics import ExactTopicMoments
from tacit.errors import ArgumentError, RankError
from tacit.topics.data.documents import Documents
from tacit.topics.learn.decomposition import best_alpha0, topics_of_moments
from tacit.topics.model.topics import Topics
from tacit.topics.moments.whitened import _new_columns, pair_directions, topic_moments, whitened
from tacit.topics.moments.word_moments import DocumentMoments, Weighting
from tacit.toy.documents import add_spam, random_topics, sample_documents

EXACT = 1e-8


def unequal(n_topics, total):
    alpha = np.arange(1.0, n_topics + 1)
    return total * alpha / alpha.sum()


def distances(truth, found):
    """(topic,) total variation of each true topic to the one that it is matched with."""
    apart = 0.5 * np.abs(truth.words[:, None] - found.words[None]).sum(axis=2)
    mine, other = linear_sum_assignment(apart)
    return apart[mine, other], other


def exact_moments(truth, n_topics=None, **settings):
    return topic_moments(ExactTopicMoments(truth), n_topics or truth.n_topics, **settings)


@pytest.mark.parametrize("total", [0.0, 0.3, 10.0])
@pytest.mark.parametrize(
    ("sizes", "scaled"), [((2, 6), True), ((5, 40), True), ((5, 40), False), ((20, 300), True)]
)
def test_exact_moments_give_the_exact_topics_with_unequal_weights(total, scaled, sizes):
    n_topics, n_words = sizes
    proportions = unequal(n_topics, 1.0)
    words = random_topics(n_topics, n_words, random_state=n_topics).words
    truth = Topics(words, proportions, total)
    learnt = topics_of_moments(exact_moments(truth, scaled=scaled), alpha0=total)
    apart, other = distances(truth, learnt.topics)
    assert apart.max() < EXACT
    assert learnt.topics.weights[other] == pytest.approx(proportions, abs=EXACT)
    assert learnt.topics.alpha == pytest.approx(
        np.sort(truth.alpha)[::-1], abs=EXACT * max(total, 1)
    )
    assert learnt.report.residual < EXACT
    assert learnt.report.total_weight == pytest.approx(1, abs=EXACT)
    assert not learnt.report.surplus.any()


@pytest.mark.parametrize("solver", ["power", "simultaneous"])
def test_other_solvers_are_exact_too(solver):
    truth = random_topics(6, 60, unequal(6, 1.0), random_state=0)
    learnt = topics_of_moments(exact_moments(truth), alpha0=1.0, solver=solver)
    assert distances(truth, learnt.topics)[0].max() < EXACT
    assert learnt.report.solver == solver


@pytest.mark.parametrize("total", [0.3, 1.0, 7.0])
def test_the_sum_of_dirichlet_parameters_is_found_from_exact_moments(total):
    truth = random_topics(6, 60, unequal(6, total), random_state=1)
    # The search ends when it is this close, in logarithms.
    assert np.log(best_alpha0(exact_moments(truth))) == pytest.approx(np.log(total), abs=0.06)


def test_values_of_components_are_those_of_the_theory():
    truth = random_topics(4, 30, unequal(4, 2.0), random_state=2)
    learnt = topics_of_moments(exact_moments(truth), alpha0=2.0)
    expected = 2 / (2.0 + 2) * np.sqrt(2.0 * (2.0 + 1) / learnt.topics.alpha)
    assert learnt.report.values == pytest.approx(expected, rel=1e-7)


def test_directions_are_eigenvectors_of_the_scaled_pairs():
    truth = random_topics(4, 30, unequal(4, 2.0), random_state=3)
    source = ExactTopicMoments(truth)
    pairs, mean = source.pairs(np.eye(30)).product, truth.weights @ truth.words
    values = np.linalg.eigvalsh(pairs / np.sqrt(np.outer(mean, mean)))[::-1]
    actual = pair_directions(source, 4)
    assert actual.values[:4] == pytest.approx(values[:4], abs=1e-10)
    assert np.diag(actual.second) == pytest.approx(values[:4], abs=1e-10)
    assert actual.values[0] == pytest.approx(1, abs=1e-10)
    assert actual.basis.T @ actual.basis == pytest.approx(np.eye(4), abs=1e-10)


@pytest.mark.parametrize("alike", [0.0, 1e-12, 1.0])
def test_columns_of_products_are_orthonormal_however_dependent_they_are(alike):
    rng = np.random.default_rng(0)
    known = np.linalg.qr(rng.normal(size=(60, 9)))[0]
    columns = rng.normal(size=(60, 6))
    columns[:, 1] = columns[:, 0] + alike * columns[:, 1]
    columns[:, 2] = known @ rng.normal(size=9) + alike * columns[:, 2]
    actual = _new_columns(columns, known)
    assert actual.T @ actual == pytest.approx(np.eye(6), abs=1e-13)
    assert np.abs(known.T @ actual).max() < 1e-13
    if alike == 1.0:
        both = np.hstack([known, actual])
        assert both @ (both.T @ columns) == pytest.approx(columns, abs=1e-12)


def test_whitened_pairs_are_the_identity():
    truth = random_topics(5, 30, unequal(5, 2.0), random_state=4)
    moments = exact_moments(truth)
    back = whitened(moments, 2.0).unwhitening
    first, second = moments.first, moments.directions.second
    assert back @ back.T == pytest.approx(second - 2 / 3 * np.outer(first, first), abs=1e-12)


@pytest.fixture(scope="module")
def drawn():
    truth = random_topics(5, 400, 0.2, random_state=5)
    return truth, sample_documents(truth, 2000, 60, random_state=6)


def learn(documents, n_topics=5, **settings):
    return topics_of_documents(documents.batches(), n_topics, **settings)


def test_documents_give_topics_that_are_near(drawn):
    truth, documents = drawn
    known = distances(truth, learn(documents, alpha0=1.0).topics)[0].mean()
    guessed = distances(truth, learn(documents).topics)[0].mean()
    assert known < 0.06
    assert guessed < 1.1 * known
    assert distances(truth, learn(documents, alpha0=20.0).topics)[0].mean() > 3 * known


def test_each_product_is_one_pass_and_the_triples_are_one(drawn):
    batches = drawn[1].batches()
    topics_of_documents(batches, 5, n_products=3)
    assert batches.n_passes == 4


def test_topics_do_not_depend_on_how_documents_are_cut_nor_on_the_order_of_words(drawn):
    from tacit.topics.data.documents import DocumentBatches

    documents = drawn[1]
    whole = learn(documents, alpha0=1.0).topics
    cut = [documents.counts[:700], documents.counts[700:701], documents.counts[701:]]
    batches = DocumentBatches(lambda: iter(cut), documents.words)
    assert topics_of_documents(batches, 5, alpha0=1.0).topics.words == pytest.approx(
        whole.words, abs=1e-8
    )
    order = np.random.default_rng(7).permutation(400)
    turned = Documents(documents.counts[:, order].tocsr(), documents.words)
    # Random columns meet other words: the directions are the same as far as products have sharpened them.
    assert learn(turned, alpha0=1.0).topics.words == pytest.approx(whole.words[:, order], abs=1e-3)


def test_surplus_topics_are_told_and_do_not_spoil_the_others(drawn):
    truth, documents = drawn
    learnt = learn(documents, 9, alpha0=1.0)
    assert learnt.report.surplus.tolist() == [False] * 5 + [True] * 4
    assert (learnt.report.eigenvalues > learnt.report.noise).sum() == 5
    kept = Topics(learnt.topics.words[:5], np.full(5, 0.2), 1.0)
    assert distances(truth, kept)[0].mean() < 0.06


def test_spare_directions_give_single_topics_where_more_are_there_than_asked_for(drawn):
    truth, documents = drawn
    mixed = distances(truth, learn(documents, 3, alpha0=1.0).topics)[0].mean()
    single = distances(truth, learn(documents, 3, alpha0=1.0, n_spare=4).topics)[0].mean()
    assert single < 0.1
    assert mixed > 0.2


def test_spare_directions_are_found_where_eigenvalues_fall_off_and_only_there(drawn):
    truth, documents = drawn
    for n_topics in (3, 4):
        learnt = learn(documents, n_topics, n_spare="auto")
        assert learnt.topics.n_topics == n_topics
        assert (
            distances(truth, learnt.topics)[0].mean() < 0.1
        )  # with the sum of parameters of all five
    exact = ExactTopicMoments(truth)
    counted = [pair_directions(exact, k, n_spare="auto").second.shape[0] for k in (2, 3, 4, 5)]
    assert counted == [2, 5, 5, 5]  # twice as many at most
    # Topics of weights that halve have no end that could be seen.
    falling = Topics(np.eye(9), 0.75 ** np.arange(9) / (0.75 ** np.arange(9)).sum(), 0.0)
    assert len(pair_directions(ExactTopicMoments(falling), 4, n_spare="auto").second) == 4


def test_shrunk_directions_draw_topics_to_the_words_of_all_documents(drawn):
    truth, documents = drawn
    source = DocumentMoments(documents.batches(), 400, Weighting())
    moments = topic_moments(source, 5)
    plain = topics_of_moments(moments, alpha0=1.0).topics
    short = topics_of_moments(moments, alpha0=1.0, shrunk=True).topics
    mean = moments.directions.mean
    assert (np.abs(short.words - mean).sum(axis=1) < np.abs(plain.words - mean).sum(axis=1)).all()
    signal = whitened(moments, 1.0).signal
    assert 0 < signal.min() <= signal.max() < 1
    assert (np.diff(signal) < 0).all()
    exact = exact_moments(truth)
    assert (whitened(exact, 1.0).signal == 1).all()  # without counting errors


def test_documents_that_repeat_one_word_are_harmless_with_a_bound(drawn):
    truth, documents = drawn
    spam = add_spam(documents, 20, 100, random_state=8)
    assert distances(truth, learn(spam, alpha0=1.0).topics)[0].mean() > 0.2
    bounded = learn(spam, alpha0=1.0, weighting=Weighting(cap="auto"))
    assert distances(truth, bounded.topics)[0].mean() < 0.07


def test_words_that_never_occur_have_no_probability(drawn):
    documents = drawn[1]
    counts = documents.counts.copy()
    counts.resize((documents.n_documents, 403))
    wider = Documents(counts, (*documents.words, "x", "y", "z"))
    learnt = learn(wider, alpha0=1.0)
    assert (learnt.topics.words[:, 400:] == 0).all()
    assert learnt.topics.words.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-12)


def test_one_topic_is_the_shares_of_words(drawn):
    learnt = learn(drawn[1], 1, alpha0=0.0)
    assert learnt.topics.words[0] == pytest.approx(drawn[1].counts.sum(axis=0) / 120_000, abs=1e-3)


def test_more_topics_than_the_moments_carry_are_refused_with_the_largest_number():
    truth = random_topics(4, 30, 0.25, random_state=9)
    with pytest.raises(RankError, match="only 4 positive eigenvalues; give 4 or fewer"):
        exact_moments(truth, 6)
    assert topics_of_moments(exact_moments(truth, 4), alpha0=1.0).topics.n_topics == 4


@pytest.mark.parametrize("alpha0", [-1.0, np.inf, np.nan])
def test_sums_of_parameters_that_make_no_sense_are_refused(alpha0):
    moments = exact_moments(random_topics(2, 10, 0.5, random_state=0))
    with pytest.raises(ArgumentError, match="zero or more"):
        topics_of_moments(moments, alpha0=alpha0)


def test_the_report_is_plain():
    import json

    learnt = topics_of_moments(exact_moments(random_topics(3, 20, 0.5, random_state=0)), alpha0=1.5)
    report = json.loads(json.dumps(learnt.report.as_dict()))
    assert report["solver"] == "jacobi"
    assert report["surplus"] == []
    assert len(report["values"]) == 3


@pytest.mark.parametrize(
    ("words", "weights", "alpha0"),
    [
        ([[0.5, 0.5]], [0.5, 0.5], 1.0),
        ([[0.5, 0.6]], [1.0], 1.0),
        ([[1.5, -0.5]], [1.0], 1.0),
        ([[0.5, 0.5]], [0.9], 1.0),
        ([[0.5, 0.5]], [1.0], -1.0),
        ([0.5, 0.5], [1.0], 1.0),
    ],
)
def test_topics_that_are_no_probabilities_are_refused(words, weights, alpha0):
    with pytest.raises(ArgumentError):
        Topics(np.array(words), np.array(weights), alpha0)


def test_topics_do_not_change_with_the_arrays_they_came_from():
    words = np.array([[0.5, 0.5]])
    topics = Topics(words, np.ones(1), 0.0)
    words[0, 0] = 7.0
    assert topics.words[0, 0] == 0.5
    assert topics.model == "single"
