"""The next part of speech: splits, shares of wrong answers against counting, and what is refused."""

import math

import numpy as np
import pytest

from tacit.datasets import load_postags
from tacit.errors import MissingDataError
from tacit.messages.repairs import Repairs
from tacit.reproduce import run
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Method, Trial
from tacit.reproduce.sequences import tags
from tacit.reproduce.sequences.tags import STUDY, TagCase, judged, tags_of
from tacit.reproduce.sequences.wfa_pos import BIGRAM, BY_EM, METHODS, SYMBOLS
from tacit.sequences.query.automata import NodePredictions

pytestmark = pytest.mark.usefixtures("made_up_tags")
CASE = TagCase(n_train=140, n_aside=30, n_test=20)


def test_sentences_are_the_first_of_each_part():
    actual = tags_of(CASE)
    assert len(actual.train.lengths) == 140
    first = [actual.train.symbols[code] for code in actual.train.split(actual.train.codes)[0]]
    assert first == load_postags("upos", "train")[0]
    assert int(actual.aside.ends.sum()) == 30
    assert int(actual.test.ends.sum()) == 20


def test_wrong_answers_are_counted_at_every_place_and_end():
    tree = tags_of(CASE).test
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(tree.n_symbols + 1), size=tree.n_nodes)
    places = {(): 0}  # the node of each beginning
    symbols = tags_of(CASE).train.symbols
    for level in tree.levels[1:]:
        for node in np.atleast_1d(np.arange(tree.n_nodes)[level]):
            above = next(key for key, value in places.items() if value == tree.parents[node])
            places[*above, symbols[tree.symbols[node]]] = int(node)
    wrong, log, n = 0, 0.0, 0
    for sentence in load_postags("upos", "test")[:20]:
        for place in range(len(sentence) + 1):
            said = probs[places[tuple(sentence[:place])]]
            code = symbols.index(sentence[place]) if place < len(sentence) else len(symbols)
            wrong += said.argmax() != code
            log += math.log(said[code])
            n += 1
    actual = judged(NodePredictions(tree, probs, Repairs(), 0))
    assert actual == pytest.approx((wrong / n, log / n))


def test_every_method_tells_better_than_chance():
    for method in METHODS:
        actual = perform(Trial(STUDY, CASE, 3, 0, method))
        assert not actual.failure
        assert actual.wrong < 0.8
        assert actual.seconds > 0
        assert math.isfinite(actual.nats)


def test_more_states_than_the_basis_carries_is_a_failure_that_is_told():
    actual = perform(Trial(STUDY, CASE, 30, 0, SYMBOLS))
    assert actual.wrong == math.inf
    assert "rank=30" in actual.failure


def test_random_starts_are_those_of_the_seed():
    one, again, other = (perform(Trial(STUDY, CASE, 3, seed, BY_EM)) for seed in (0, 0, 1))
    assert (one.nats, one.n_steps) == (again.nats, again.n_steps)
    assert one.nats != other.nats


def test_bigrams_look_back_at_one_tag():
    unigram = Method("one", tags.NGRAMS, (("order", 1),))
    one, two = (perform(Trial(STUDY, CASE, 2, 0, method)) for method in (unigram, BIGRAM))
    assert two.nats > one.nats


def test_without_the_data_it_is_said_where_they_belong(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    tags_of.cache_clear()
    with pytest.raises(MissingDataError, match="postags"):
        run("wfa-pos", scale="tiny", out=tmp_path / "out")
