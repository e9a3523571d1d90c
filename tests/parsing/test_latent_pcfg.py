"""Grammars as estimators: what comes in and goes out, and that they learn."""

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oracles.edited_files import edited
from tacit.core.files.load import load
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    FileFormatError,
    NegativeProbabilityError,
    TooExpensiveError,
)
from tacit.evaluate import grammar_scores
from tacit.parsing.data.grammar_input import prepared_trees
from tacit.parsing.data.parse_trees import ParseTree, read_trees
from tacit.parsing.latent_pcfg import LatentPCFG

NOUNS, VERBS, NAMES = ("cat", "dog", "bird"), ("sees", "hears"), ("Ann", "Bob")


def some_trees(n=120, seed=0):
    """Sentences whose objects may hold a phrase, which stands with the verb where it is `with`."""
    rng = np.random.default_rng(seed)

    def noun_phrase():
        if rng.random() < 0.3:
            return f"(NP (NNP {rng.choice(NAMES)}))"
        return f"(NP (DT the) (NN {rng.choice(NOUNS)}))"

    lines = []
    for _ in range(n):
        verb, subject, thing = rng.choice(VERBS), noun_phrase(), noun_phrase()
        if rng.random() < 0.5:
            body = f"(VP (VBZ {verb}) {thing} (PP (IN with) {noun_phrase()}))"
        else:
            body = f"(VP (VBZ {verb}) (NP {thing} (PP (IN of) {noun_phrase()})))"
        lines.append(f"(TOP (S {subject} {body} (. .)))")
    return read_trees(lines)


@pytest.fixture(scope="module")
def models():
    trees = some_trees(1500)
    return {
        learn: LatentPCFG(3, learn, max_iter=None if learn != "em" else 30).fit(trees)
        for learn in ("auto", "spectral", "em")
    }


def test_states_learn_what_labels_do_not_say(models):
    test = some_trees(60, seed=1)
    # A plain grammar cannot know which preposition stands where.
    plain_model = LatentPCFG(1).fit(some_trees(1500))
    plain = grammar_scores(plain_model, test).f1
    assert plain < 0.98
    for model in models.values():
        assert grammar_scores(model, test).f1 > plain + 0.01
    assert grammar_scores(models["auto"], test).f1 > 0.98
    assert models["auto"].score(test) > plain_model.score(test)


def test_the_score_is_the_mean_log_probability_of_trees(models):
    test = some_trees(20, seed=1)
    for model in models.values():
        assert model.score(test) == pytest.approx(model.score_samples(test).mean())
        assert model.score(test) < 0


def test_words_come_with_tags_or_without(models):
    model = models["auto"]
    words = ["the", "cat", "sees", "Ann", "with", "Bob", "."]
    tags = ["DT", "NN", "VBZ", "NNP", "IN", "NNP", "."]
    expected = (
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (NNP Ann)) (PP (IN with) (NP (NNP Bob)))) "
        "(. .)))"
    )
    assert str(model.parse(words)) == expected
    assert str(model.parse(" ".join(words))) == expected
    assert str(model.parse(list(zip(words, tags, strict=True)))) == expected
    assert [str(tree) for tree in model.predict([words, words])] == [expected] * 2
    # Tags are kept even if nobody knows them; unknown words are like others.
    odd = model.parse([("the", "DT"), ("yak", "NN"), ("sees", "ODD"), ("Ann", None), (".", ".")])
    assert odd.leaves()[:3] == [("the", "DT"), ("yak", "NN"), ("sees", "ODD")]


def test_several_trees_come_best_first(models):
    model = models["auto"]
    sentence = ["the", "cat", "sees", "Ann", "of", "Bob", "."]
    best = model.n_best(sentence, 5)
    assert best[0].tree == model.parse(sentence)
    assert len({one.tree for one in best}) == len(best) > 1
    values = [one.n_right for one in best]
    assert values == sorted(values, reverse=True)


def test_logarithms_of_trees_are_those_of_a_distribution():
    # Of a grammar that has few trees: the probabilities of all of them sum to one.
    lines = [f"(S (N {a}) (V {b}))" for a, b in ("ax", "ay", "by", "bx", "ax", "cz", "cz", "cz")]
    trees = read_trees(lines)
    every = read_trees([f"(S (N {a}) (V {b}))" for a in "abc" for b in "xyz"])
    for learn in ("auto", "em"):
        model = LatentPCFG(2, learn, min_count=1).fit(trees)
        logs = model.score_samples(every)
        # Words that a tag was never seen with have the rest.
        assert 0.7 < np.exp(logs).sum() < 1 + 1e-9
    assert model.score_samples(["(S (V x) (N a))"]) == [-np.inf]


def test_every_tree_has_a_score_of_its_own(models):
    trees = ["(S (NP (NN cat)) (VP (VBZ sees)))", "(X (-NONE- *))"]
    with pytest.raises(DataError, match="nothing but empty words"):
        models["auto"].score_samples(trees)
    assert len(models["auto"].score_samples(trees[:1])) == 1


def test_scikit_learn_knows_that_no_tables_go_in(models):
    tags = models["auto"].__sklearn_tags__().input_tags
    assert tags.string
    assert not tags.two_d_array


def test_scores_that_are_not_positive_are_floored_or_told(models):
    import copy
    from dataclasses import replace

    model = copy.copy(models["spectral"])
    tensors = model.grammars_[0]
    model.grammars_ = (replace(tensors, start=-np.abs(tensors.start) * 1e-12 - 1e-9),)
    trees = some_trees(20, seed=3)
    floored, repairs = model.score_samples(trees, return_repairs=True)
    assert repairs["non_positive"] > 0
    plain = LatentPCFG(1).fit(some_trees(1500)).score_samples(trees)
    low = np.isclose(floored, plain + np.log(1e-3))
    assert low.sum() == repairs["non_positive"]
    model.set_params(negative="nan")
    assert np.isnan(model.score_samples(trees)).sum() == low.sum()
    model.set_params(negative="raise")
    with pytest.raises(NegativeProbabilityError, match="not positive"):
        model.score_samples(trees)


def test_functions_and_empty_words_are_left_out():
    given = ["(TOP (S (NP-SBJ-1 (NN rain)) (VP (VBZ falls) (NP (-NONE- *T*)))))", "(X (-NONE- *))"]
    assert [str(tree) for tree in prepared_trees(given)] == [
        "(TOP (S (NP (NN rain)) (VP (VBZ falls))))"
    ]


def test_files_give_the_same_model_back(models, tmp_path):
    sentence = ["the", "dog", "hears", "the", "bird", "of", "Ann", "."]
    for learn, model in models.items():
        path = tmp_path / f"{learn}.tacit"
        model.save(path)
        again = load(path)
        assert again.get_params() == model.get_params()
        assert again.n_best(sentence, 3) == model.n_best(sentence, 3)
        trees = some_trees(5, seed=9)
        assert np.array_equal(again.score_samples(trees), model.score_samples(trees))


def test_damaged_files_are_refused(models, tmp_path):
    path = tmp_path / "m.tacit"
    models["spectral"].save(path)
    arrays = load_file(path)
    beyond = arrays["grammars.0.first_term"].copy()
    beyond[1:-1] = 2**31 - 1
    tags = arrays["coarse.lexicon.tag_of_label"]
    for reported, name, damage in (
        ("ascending order", "coarse.rules.triples", arrays["coarse.rules.triples"][::-1]),
        ("index outside", "grammars.0.dense", arrays["grammars.0.dense"] + np.int32(10**6)),
        ("tag_word' is missing", "coarse.lexicon.tag_word", None),
        ("NaN", "grammars.0.start", arrays["grammars.0.start"] * np.nan),
        ("falls", "grammars.0.first_term", beyond),
        ("has shape", "grammars.0.words", arrays["grammars.0.words"][1:]),
        ("of one state", "coarse.start", -arrays["coarse.start"]),
        ("not in order|tags", "coarse.lexicon.tag_of_label", np.full_like(tags, -1)),
    ):
        models["spectral"].save(path)
        edited(path, {name: damage})
        with pytest.raises(FileFormatError, match=reported):
            load(path)


def test_odd_sentences(models):
    model = models["auto"]
    with pytest.raises(DataError, match="without words"):
        model.parse([])
    assert model.parse(["cat"]).leaves() == [("cat", "NN")]
    marks = [(".", "."), (".", ".")]
    flat = ParseTree("TOP", (ParseTree(".", (), "."), ParseTree(".", (), ".")))
    assert model.parse(marks) == flat
    trees, repairs = model.predict([marks, "Ann sees Bob of Ann ."], return_repairs=True)
    assert (trees[0], repairs["no_tree"]) == (flat, 1)
    assert model.n_best(marks) == [(flat, 0.0)]
    with pytest.raises(TooExpensiveError, match="300 words takes about"):
        model.parse(["cat"] * 300)
    with pytest.raises(ArgumentTypeError, match="neither a word nor a pair"):
        model.parse([("cat", 3)])
    long = ["the", "cat", "sees"] + ["the", "cat", "of"] * 30 + ["Ann", "."]
    assert len(model.parse(long).leaves()) == len(long)


def test_odd_trees_and_arguments():
    with pytest.raises(DataError, match="no tree"):
        LatentPCFG().fit([])
    with pytest.raises(DataError, match="line 2"):
        LatentPCFG().fit(["(S (N a))", "(S (N a)"])
    with pytest.raises(ArgumentTypeError, match="list of trees"):
        LatentPCFG().fit(read_trees(["(S (N a))"])[0])
    with pytest.raises(ArgumentError, match=r"did you mean .spectral."):
        LatentPCFG(learn="spectal").fit(["(S (N a) (V b))"])
    with pytest.raises(ArgumentError, match="n_states=0"):
        LatentPCFG(0).fit(["(S (N a) (V b))"])
    with pytest.raises(NotFittedError):
        LatentPCFG().parse(["a"])
    # One word and nothing else is a grammar too.
    for learn in ("auto", "spectral", "em"):
        model = LatentPCFG(2, learn, min_count=1).fit(["(S (N a))"])
        assert str(model.parse(["a"])) == "(S (N a))"


def test_cloned_and_refitted_it_is_the_same(models):
    model = models["auto"]
    again = clone(model).set_params(n_jobs=2).fit(some_trees(1500))
    trees = some_trees(5, seed=9)
    assert np.array_equal(again.score_samples(trees), model.score_samples(trees))


QUERIES = {
    "parse": lambda model: model.parse("the cat sees Ann ."),
    "flat": lambda model: model.parse([(".", "."), (".", ".")]),
    "predict": lambda model: model.predict([["Ann"], ["the", "yak"]], return_repairs=True),
    "n_best": lambda model: model.n_best("the cat sees Ann of Bob .", 3),
    "score": lambda model: model.score(some_trees(5, seed=4)),
    "non-positive": lambda model: negated(model).score_samples(some_trees(5, seed=4)),
    "F1": lambda model: grammar_scores(model, some_trees(5, seed=4)),
    "summary": lambda model: (str(model.summary()), model._repr_html_()),
}


def negated(model):
    from dataclasses import replace

    grammar = model.grammars_[0]
    model.grammars_ = (replace(grammar, start=-grammar.start), *model.grammars_[1:])
    return model


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("learn", ["auto", "spectral", "em"])
def test_queries_leave_the_model_as_it_was(models, learn, query, tmp_path):
    models[learn].save(tmp_path / "before.tacit")
    model = load(tmp_path / "before.tacit")
    grammars = model.grammars_
    QUERIES[query](model)
    model.grammars_ = grammars
    model.save(tmp_path / "after.tacit")
    assert (tmp_path / "before.tacit").read_bytes() == (tmp_path / "after.tacit").read_bytes()


def test_summaries_show_rules_and_states(models):
    page = str(models["auto"].summary())
    assert "LatentPCFG: " in page
    assert "TOP+S -> NP @S" in page
    assert "IN         0" in page or "IN " in page.split("states of the")[1]
    assert "single states have no probabilities" in str(models["spectral"].summary())
    plain = LatentPCFG(1).fit(some_trees(200))
    assert "states" not in str(plain.summary()).replace("one state", "")
    assert plain.kind == "grammar"
    assert plain.can("score")


def test_expected_counts_of_labels_are_those_of_the_treebank():
    from tacit.parsing.data.treebank import coded_treebank
    from tacit.parsing.query.summary import label_counts

    trees = some_trees(200)
    model = LatentPCFG(1, min_count=1).fit(trees)
    coded, symbols = coded_treebank(trees, min_count=1)
    counts = np.bincount(coded.label, coded.node_weight, len(symbols.labels)) / len(trees)
    assert label_counts(model.coarse_) == pytest.approx(counts, abs=1e-9)


@pytest.mark.parametrize("sentence", [None, 3, ["a", None], [1, 2], [("a", "N", "b")]])
def test_what_is_no_sentence_is_named(sentence):
    model = LatentPCFG(n_states=1, min_count=1).fit(["(S (N a) (V b))"])
    with pytest.raises(ArgumentTypeError, match=r"no sentence|neither a word nor a pair"):
        model.span_marginals(sentence)
    with pytest.raises(ArgumentTypeError, match=r"no sentence|neither a word nor a pair"):
        model.score_sentences([sentence])


@pytest.mark.parametrize("sentences", [None, 3, "a b"])
def test_one_sentence_in_place_of_several_is_named(sentences):
    model = LatentPCFG(n_states=1, min_count=1).fit(["(S (N a) (V b))"])
    for method in (model.score_sentences, model.predict):
        with pytest.raises(ArgumentTypeError, match=r"give \[sentence, ...\]"):
            method(sentences)
