"""Unsupervised parsers: what they learn, refuse and return."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from tacit.errors import ArgumentError, DataError, TacitError, TooExpensiveError
from tacit.evaluate import parser_scores
from tacit.parsing.constituent_context import ConstituentContextModel
from tacit.parsing.data.parse_trees import ParseTree
from tacit.parsing.data.word_vectors import WordVectors
from tacit.parsing.query.brackets import gold_spans, score_brackets
from tacit.parsing.span_parser import SpanParser
from tacit.parsing.structure.branching import random_branching, right_branching, top_split
from tacit.parsing.structure.projective import projective_tree
from tacit.parsing.structure.units import right_branching_units, sentence_units
from tacit.toy.sentences import sample_sentences, sample_trees

SENTENCE = "the/DT cat/NN near/IN a/DT house/NN saw/VBD ,/, every/DT dog/NN ./."


@pytest.fixture(scope="module")
def parser():
    return SpanParser(n_features=5, rank=2).fit(sample_sentences(400, random_state=0))


def spans_of(model, sentences):
    return [parse.spans for parse in model.predict(sentences)]


def test_brackets_trees_and_confidence_come_back(parser):
    actual = parser.parse(SENTENCE)
    assert [word for word, _ in actual.sentence] == [
        "the",
        "cat",
        "near",
        "a",
        "house",
        "saw",
        "every",
        "dog",
    ]
    assert actual.tree.leaves() == actual.sentence
    assert sorted((a, b) for _, a, b in actual.tree.spans()) == sorted(actual.spans)
    assert (0, 5) in actual.spans  # the subject
    assert (0, 2) in actual.spans  # the cat
    assert 0 < actual.confidence < np.inf
    assert parser.predict([SENTENCE, SENTENCE]) == [actual] * 2


def test_units_decide_where_the_metric_weighs_little():
    text = sample_sentences(300, random_state=1)
    parser = SpanParser(n_features=5, rank=2, metric_weight=1e-6).fit(text)
    for sentence in text[:20]:
        units = sentence_units(sentence, top_split(sentence))
        expected = right_branching_units(len(sentence), units)
        assert sorted(parser.parse(sentence).spans) == sorted(expected)


def test_groups_and_splits_that_are_learnt_take_the_place_of_rules():
    # In a language whose modifiers come after their noun, and whose predicates are of no known tag.
    names = {"VERB": "Q1", "NOUN": "Q2", "DET": "Q3", "ADJ": "Q4", "ADP": "Q5"}
    text = []
    for sentence in sample_sentences(300, random_state=1):
        at = [tag for _, tag in sentence].index("VERB")
        turned = [*sentence[:at][::-1], sentence[at], *sentence[at + 1 :][::-1]]
        text.append([(word, names[tag]) for word, tag in turned])
    parser = SpanParser(prior="learnt", n_features=5, rank=2, metric_weight=1e-6).fit(text)
    assert parser.diagnostics_["predicates"] == ["Q1"]
    for sentence in text[:20]:
        top = [tag for _, tag in sentence].index("Q1")
        units = sentence_units(sentence, top, groups=parser.chunker_.groups(sentence))
        assert (0, top) in units
        assert any(sentence[start][1] == "Q2" for start, _ in units)
        expected = right_branching_units(len(sentence), units)
        assert sorted(parser.parse(sentence).spans) == sorted(expected)
    top = right_branching(len(text[0]), 1)
    assert parser.parse(text[0], top=1).spans[1] == top[1]


def test_without_a_prior_the_tree_is_the_shortest_by_the_metric():
    text = sample_sentences(300, random_state=1)
    parser = SpanParser(prior=None, n_features=5, rank=2).fit(text)
    for sentence in text[:10]:
        metric = parser.distances_.of_sentence([tag for _, tag in sentence])
        top = top_split(sentence)
        best = projective_tree(metric, top)
        assert parser.parse(sentence).spans == best.spans
        assert parser.parse(sentence).confidence == best.margin
        assert parser.parse(sentence, top=1).spans == projective_tree(metric, 1).spans
    free = clone(parser).set_params(top="free").fit(text)
    assert (
        free.parse(text[0]).spans
        == projective_tree(free.distances_.of_sentence([tag for _, tag in text[0]])).spans
    )


def test_groups_help_on_a_language_with_noun_groups(parser):
    trees = sample_trees(100, random_state=7)
    golds = [gold_spans(tree) for tree in trees]
    ours = parser_scores(parser, trees, (None,))[None]
    assert ours == score_brackets(spans_of(parser, trees), golds)
    assert ours.f1 > score_brackets([right_branching(n) for n, _ in golds], golds).f1 + 20


def test_moments_of_two_texts_add_up():
    text = sample_sentences(200, random_state=2)
    words = sorted({word for sentence in text for word, _ in sentence})
    vectors = WordVectors.of(words, np.random.default_rng(0).normal(size=(len(words), 4)))
    whole = SpanParser(vectors=vectors, rank=2).fit(text)
    parts = SpanParser(vectors=vectors, rank=2).fit(text[:50]).partial_fit(text[50:])
    assert np.allclose(whole.distances_.table, parts.distances_.table)
    assert parts.runs_.sentences == whole.runs_.sentences
    again = parts.fit(text)
    assert np.array_equal(again.pairs_.counts, whole.pairs_.counts)
    assert again.runs_.sentences == whole.runs_.sentences
    assert np.allclose(parts.chunker_.emissions, whole.chunker_.emissions)


def test_groups_are_learnt_whatever_the_prior():
    text = sample_sentences(200, random_state=2)
    by_rule = SpanParser(n_features=5, rank=2).fit(text)
    learnt = SpanParser(n_features=5, rank=2, prior="learnt").fit(text)
    assert np.array_equal(by_rule.chunker_.emissions, learnt.chunker_.emissions)
    assert by_rule.diagnostics_ == learnt.diagnostics_
    assert by_rule.set_params(prior="learnt").predict(text) == learnt.predict(text)
    by_rule.set_params(prior="units").partial_fit(["a/NEW b/NEW"])
    assert "NEW" in by_rule.chunker_.tags


def test_default_fits_of_the_context_model_are_equal():
    text = sample_sentences(60, random_state=2)
    one, other = (ConstituentContextModel(start="random").fit(text) for _ in range(2))
    assert np.array_equal(one.ratios_.of_yields, other.ratios_.of_yields)


QUERIES = {
    "parse": lambda model: model.parse(SENTENCE),
    "parse, top": lambda model: isinstance(model, SpanParser) and model.parse(SENTENCE, 2),
    "predict": lambda model: model.predict([SENTENCE, SENTENCE]),
    "summary": lambda model: str(model.summary()),
    "page": lambda model: model._repr_html_(),
    "scores": lambda model: parser_scores(model, sample_trees(5, random_state=1)),
}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "model",
    [SpanParser(n_features=5, rank=2, prior=p) for p in ("units", "learnt", None)]
    + [ConstituentContextModel()],
)
def test_queries_leave_the_model_as_it_was(model, query, tmp_path):
    fitted = clone(model).fit(sample_sentences(100, random_state=0))
    fitted.save(tmp_path / "before.tacit")
    diagnostics = dict(fitted.diagnostics_)
    QUERIES[query](fitted)
    fitted.save(tmp_path / "after.tacit")
    assert fitted.diagnostics_ == diagnostics
    assert (tmp_path / "before.tacit").read_bytes() == (tmp_path / "after.tacit").read_bytes()


def test_summaries_say_what_was_learnt(parser):
    page = str(parser.summary())
    for part in ("groups by rule", "sentences", "nearest pairs", "a predicate begins  VERB"):
        assert part in page
    model = ConstituentContextModel().fit(sample_sentences(100, random_state=0))
    page = str(model.summary())
    assert "DET NOUN" in page.split("contexts")[0]
    assert "edge _ edge" in page
    assert (parser.kind, model.kind) == ("parser", "parser")
    assert parser.can("brackets")
    assert not model.can("score")


def test_vectors_may_lie_in_a_file(tmp_path):
    text = sample_sentences(100, random_state=2)
    words = sorted({word for sentence in text for word, _ in sentence})
    rows = np.random.default_rng(0).normal(size=(len(words), 4))
    np.savez(tmp_path / "v.npz", words=np.array(words), vecs=rows)
    given = SpanParser(vectors=WordVectors.of(words, rows), rank=2).fit(text)
    read = SpanParser(vectors=tmp_path / "v.npz", rank=2).fit(text)
    assert np.array_equal(given.distances_.table, read.distances_.table)


@pytest.mark.parametrize("prior", ["learnt", "units", None])
def test_little_text_has_short_vectors(prior):
    parser = SpanParser(prior=prior).fit(["a/DET cat/NOUN saw/VERB a/DET cat/NOUN"])
    assert (parser.diagnostics_["n_features"], parser.diagnostics_["rank"]) == (2, 2)
    assert len(parser.parse("a/DET cat/NOUN saw/VERB a/DET cat/NOUN").spans) == 4


@pytest.mark.parametrize("prior", ["learnt", "units", None])
def test_short_and_strange_sentences_are_done(parser, prior):
    parser = clone(parser).set_params(prior=prior).fit(sample_sentences(100, random_state=0))
    assert parser.parse([]).spans == []
    assert parser.parse([]).tree is None
    assert parser.parse("./.").tree is None
    one = parser.parse("rain/NN ./.")
    assert (str(one.tree), one.spans, one.confidence) == ("(X (NN rain))", [], np.inf)
    assert parser.parse("rain/NN falls/VBZ").spans == [(0, 2)]
    assert len(parser.parse("all/ZZ1 tags/ZZ2 are/ZZ3 new/ZZ4").spans) == 3


@pytest.mark.parametrize("prior", ["units", None])
@pytest.mark.parametrize("top", [0, 5, 40])
def test_a_split_outside_the_sentence_is_refused(parser, prior, top):
    with pytest.raises(ArgumentError, match=f"no split after {top}"):
        clone(parser).set_params(prior=prior).fit(sample_sentences(100, random_state=0)).parse(
            "the/DET cat/NOUN saw/VERB a/DET dog/NOUN", top
        )


def test_long_sentences_are_done_up_to_a_limit(parser):
    long = [("cat", "NN"), ("of", "IN")] * 60
    assert len(parser.parse(long).spans) == 119
    with pytest.raises(TooExpensiveError, match="600 words would take about"):
        parser.parse(long * 5)


def test_wrong_arguments_and_texts_are_refused():
    with pytest.raises(ArgumentError, match="did you mean 'units'"):
        SpanParser(prior="unit").fit([SENTENCE])
    with pytest.raises(ArgumentError, match="top='first'"):
        SpanParser(top="first").fit([SENTENCE])
    with pytest.raises(ArgumentError, match="rank=0"):
        SpanParser(rank=0).fit([SENTENCE])
    with pytest.raises(DataError, match="no sentence has two words"):
        SpanParser().fit(["rain/NN ./."])
    with pytest.raises(DataError, match="no word occurs twice"):
        SpanParser().fit(["rain/NN falls/VBZ"])
    with pytest.raises(NotFittedError):
        SpanParser().parse(SENTENCE)


def test_the_constituent_context_model_learns_and_parses():
    trees = sample_trees(300, random_state=0)
    model = ConstituentContextModel(longest=12).fit(trees)
    golds = [gold_spans(tree) for tree in trees]
    random = np.random.default_rng(0)
    chance = score_brackets([random_branching(n, random) for n, _ in golds], golds).f1
    ours = parser_scores(model, trees)[None]
    assert ours == score_brackets(spans_of(model, trees), golds)
    assert ours.f1 > chance + 10
    assert spans_of(model, ["one/NUM", "new/ZZ1 tags/ZZ2"]) == [[], [(0, 2)]]
    one = model.parse("one/NUM ./.")
    assert (str(one.tree), np.isnan(one.confidence)) == ("(X (NUM one))", True)
    assert model.parse([]).tree is None
    by_chance = ConstituentContextModel(start="random", n_restarts=2, longest=8, random_state=0)
    assert len(by_chance.fit(trees).predict(trees)) == 300
    assert ConstituentContextModel(tags="universal").fit([SENTENCE]).tags_ == (
        "ADP",
        "DET",
        "NOUN",
        "VERB",
    )
    with pytest.raises(DataError, match="no sentence has 2 to 10 words"):
        ConstituentContextModel().fit(["rain/NN"])
    with pytest.raises(NotFittedError):
        ConstituentContextModel().predict([])
    with pytest.raises(ArgumentError, match="start='spilt'"):
        ConstituentContextModel(start="spilt").fit(trees)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize("model", [SpanParser(), ConstituentContextModel()])
def test_scikit_learn_has_no_complaint(model):
    check_estimator(model)


def test_toy_trees_are_trees():
    assert all(isinstance(tree, ParseTree) for tree in sample_trees(5, random_state=0))
    assert sample_trees(5, random_state=0) == sample_trees(5, random_state=0)


@pytest.mark.parametrize("top", [1.5, "y", 10**5000, [1], 0, 9], ids=lambda top: type(top).__name__)
def test_splits_that_are_no_places_are_refused(top):
    parser = SpanParser().fit(["the/D dog/N saw/V a/D cat/N", "cat/N saw/V dog/N"] * 10)
    for ask in (
        lambda: parser.parse("the/D dog/N saw/V", top=top),
        lambda: parser.predict(["the/D dog/N saw/V"] * 2, tops=top),
        lambda: parser.predict(["the/D dog/N saw/V"] * 2, tops=[top, 1]),
        lambda: parser.predict(["the/D dog/N saw/V"] * 2, tops=[1]),
    ):
        with pytest.raises(TacitError):
            ask()
