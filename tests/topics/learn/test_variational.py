"""Steps that make topics better."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import psi

from tacit.topics.data.documents import DocumentBatches, Documents
from tacit.topics.learn.variational import (
    TopicSteps,
    fitting_alpha,
    random_topics,
    variational_topics,
)
from tacit.topics.loops import topics as loops
from tacit.topics.model.topics import Topics
from tacit.topics.query.documents import sample_documents

STEPS = TopicSteps(smoothing=0.0)


def drawn(seed, n_documents=12, n_words=7, n_topics=3):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, size=(n_documents, n_words))
    counts[0] = 0  # a document without words
    start = rng.dirichlet(np.ones(n_words), size=n_topics)
    words = tuple(map(str, range(n_words)))
    return counts, Documents(csr_array(counts.astype(np.int32)), words).batches(), start


def shared_out(counts, start, alpha, eta, n_inner):
    """One step by the full table of documents, words and topics."""
    proportions = np.repeat(counts.sum(axis=1)[:, None] / len(start), len(start), axis=1)
    for _ in range(n_inner):
        joint = (proportions + alpha)[:, None, :] * start.T  # (document, word, topic)
        posterior = counts[:, :, None] * joint / joint.sum(axis=2, keepdims=True)
        mixtures = (proportions + alpha) / (proportions + alpha).sum(axis=1, keepdims=True)
        proportions = posterior.sum(axis=1)
    words = posterior.sum(axis=0).T + eta
    objective = (counts * np.log(mixtures @ start)).sum()
    objective += alpha * np.log(mixtures).sum() + eta * np.log(start).sum()
    return words / words.sum(axis=1, keepdims=True), objective / counts.sum()


@pytest.mark.parametrize("n_inner", [1, 4])
def test_a_step_is_that_of_the_full_table_of_words_and_topics(n_inner):
    counts, batches, start = drawn(0)
    steps = replace(STEPS, n_steps=1, n_first=n_inner, alpha=0.3, eta=0.2)
    actual = variational_topics(batches, start, steps)
    words, objective = shared_out(counts, start, 0.3, 0.2, n_inner)
    order = np.argsort(-actual.words @ np.arange(7.0))
    assert actual.words[order] == pytest.approx(
        words[np.argsort(-words @ np.arange(7.0))], rel=1e-5
    )
    assert actual.trace[0] == pytest.approx(objective, rel=1e-5)


@given(st.integers(0, 1000), st.sampled_from([0.02, 0.5]), st.booleans())
@settings(max_examples=25)
def test_the_objective_never_falls(seed, prior, single):
    _, batches, start = drawn(seed)
    steps = replace(STEPS, n_steps=15, alpha=prior, eta=prior, tolerance=-np.inf)
    trace = variational_topics(batches, start, steps, single=single).trace
    assert len(trace) == 15
    assert np.diff(trace).min() > -1e-6  # rounding of 32-bit numbers


def test_the_single_topic_step_is_that_of_a_mixture():
    counts, batches, start = drawn(1)
    actual = variational_topics(batches, start, replace(STEPS, n_steps=1, eta=0.5), single=True)
    likelihood = np.exp(counts @ np.log(start).T) / 3
    posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    words = posterior.T @ counts + 0.5
    weights = posterior.mean(axis=0)
    order = np.argsort(-weights)
    expected = (words / words.sum(axis=1, keepdims=True))[order]
    assert actual.words == pytest.approx(expected, rel=1e-5)
    assert actual.weights == pytest.approx(weights[order], rel=1e-5)
    objective = np.log(likelihood.sum(axis=1)).sum() + 0.5 * np.log(start).sum()
    assert actual.trace[0] == pytest.approx(objective / counts.sum(), rel=1e-5)


def test_threads_and_batches_change_nothing():
    counts, batches, start = drawn(2, n_documents=300, n_words=150)
    alone = variational_topics(batches, start, STEPS)
    threads = variational_topics(batches, start, STEPS, n_jobs=3)
    assert np.array_equal(alone.words, threads.words)
    assert alone.trace == threads.trace
    parts = [csr_array(part.astype(np.int32)) for part in (counts[:100], counts[100:])]
    halves = DocumentBatches(lambda: iter(parts), batches.words)
    once = replace(STEPS, n_steps=1)
    assert variational_topics(halves, start, once).words == pytest.approx(
        variational_topics(batches, start, once).words, rel=1e-4
    )
    assert halves.n_passes == 2  # the words of all, and one step


def test_steps_end_where_they_gain_too_little_and_topics_come_by_weight():
    _, batches, start = drawn(3)
    calls = []
    steps = replace(STEPS, n_steps=500, tolerance=1e-4)
    actual = variational_topics(batches, start, steps, progress=lambda *told: calls.append(told))
    assert actual.converged
    assert len(actual.trace) < 500
    assert calls[-1] == (len(actual.trace), actual.trace[-1])
    assert (np.diff(actual.weights) <= 0).all()
    assert actual.weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert not variational_topics(batches, start, replace(steps, n_steps=2)).converged


def test_words_that_never_occur_are_rare_and_harm_nothing():
    counts, _, start = drawn(6)
    more = csr_array(np.hstack([counts, np.zeros((12, 2), dtype=counts.dtype)]).astype(np.int32))
    batches = Documents(more, tuple(map(str, range(9)))).batches()
    for single in (False, True):
        actual = variational_topics(
            batches, np.hstack([start, np.zeros((3, 2))]), STEPS, single=single
        )
        assert np.isfinite(actual.trace).all()
        assert (actual.words[:, 7:] < actual.words[:, :7].max(axis=1, keepdims=True)).all()


def test_fitting_alpha_finds_the_parameters_that_documents_were_drawn_with():
    alpha = np.array([0.8, 0.3, 0.1])
    words = np.kron(
        np.eye(3), np.full((1, 4), 0.25)
    )  # topics that share no words: no doubt is left
    topics = Topics(words, alpha / alpha.sum(), alpha.sum())
    counts = sample_documents(topics, np.full(3000, 60), np.random.default_rng(0))
    actual = fitting_alpha(words, counts, np.full(3, 0.2), n_rounds=5)
    assert actual == pytest.approx(alpha, rel=0.1)  # of 3000 documents


def test_random_topics_are_probabilities_of_words_that_occur():
    counts, batches, _ = drawn(4)
    actual = random_topics(batches, 5, 0)
    assert actual.sum(axis=1) == pytest.approx(np.ones(5), rel=1e-12)
    assert not actual[:, counts.sum(axis=0) == 0].any()
    assert np.array_equal(actual, random_topics(batches, 5, 0))
    assert not np.array_equal(actual, random_topics(batches, 5, 1))


def test_the_compiled_loops_agree_with_their_python_source():
    counts, _, start = drawn(5)
    rows = csr_array(counts)
    words = np.ascontiguousarray(start.T, dtype=np.float32)
    arrays = rows.indptr, rows.indices, rows.data.astype(np.float32)
    actual = []
    for loop in (loops.update_documents, loops.update_documents.py_func):
        proportions, used = np.ones((12, 3), np.float32), np.zeros((12, 3), np.float32)
        ratios = np.zeros(rows.nnz, np.float32)
        alpha = np.full(3, 0.1, np.float32)
        value = loop(*arrays, words, alpha, 3, 0, 12, proportions, used, ratios)
        actual.append(np.concatenate([[value], proportions.ravel(), used.ravel(), ratios]))
    assert actual[0] == pytest.approx(actual[1], rel=1e-5)
    actual = []
    for loop in (loops.infer_documents, loops.infer_documents.py_func):
        gamma = np.zeros((12, 3))
        loop(*arrays, start.T.copy(), np.full(3, 0.1), 30, 1e-6, 0, 12, gamma)
        actual.append(gamma)
    assert actual[0] == pytest.approx(actual[1], rel=1e-9)


def test_the_digamma_function_is_scipys():
    for x in np.geomspace(1e-6, 1e6, 50):
        assert loops._digamma(x) == pytest.approx(psi(x), rel=1e-10, abs=1e-10)
