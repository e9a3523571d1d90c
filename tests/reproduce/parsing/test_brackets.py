"""Brackets of treebanks: sentences, parts and scores against doing it by hand."""

import numpy as np
import pytest

from tacit.datasets.treebanks import (
    load_tagged_text,
    load_treebank,
    load_word_vectors,
    word_vectors_path,
)
from tacit.errors import MissingDataError
from tacit.parsing.constituent_context import ConstituentContextModel
from tacit.parsing.data.parse_trees import ParseTree
from tacit.parsing.query.brackets import gold_spans, gold_top, score_brackets
from tacit.parsing.span_parser import SpanParser
from tacit.parsing.structure.branching import right_branching, top_split
from tacit.reproduce import run
from tacit.reproduce.parsing import brackets, fig_8_5, table_8_1, table_8_2
from tacit.reproduce.parsing.brackets import (
    CHINESE,
    ENGLISH,
    SPANISH,
    STUDY,
    BankCase,
    bank_of,
    clusters_of,
)
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Trial

pytestmark = pytest.mark.usefixtures("made_up_treebanks")
TRAIN, TEST = (BankCase(ENGLISH, part) for part in ("train", "test"))


def method(name):
    every = (
        method
        for module in (table_8_2, table_8_1, fig_8_5)
        for method in module.EXPERIMENT.settings["tiny"].methods
    )
    return next(one for one in every if one.name == name)


def spans_of(parses):
    return [parse.spans for parse in parses]


def printed_parser(**arguments):
    rank, bandwidth = brackets.chosen_parameters(1, 1)
    return SpanParser(preset="printed", rank=rank, bandwidth=bandwidth, **arguments)


def by_hand(case, longest, spans):
    """The scores of brackets for the sentences of a part."""
    golds = [gold_spans(tree) for tree in part_of(case)]
    return score_brackets(spans, golds, longest)


def part_of(case):
    trees = load_treebank(case.treebank)
    train = [tree for number, tree in enumerate(trees, 1) if number % 5]
    return {"train": train, "test": trees[4::5], "all": trees}[case.part]


def checked(case, longest, name, spans, seed=0):
    actual = perform(Trial(STUDY, case, longest, seed, method(name)))
    expected = by_hand(case, longest, spans)
    assert actual.f1 == pytest.approx(expected.f1, rel=1e-5)  # six digits are kept
    assert actual.without_whole == pytest.approx(expected.without_whole, rel=1e-5)
    assert actual.by_sentence == pytest.approx(expected.by_sentence, rel=1e-5)
    assert actual.n_sentences == expected.n_sentences > 0


@pytest.mark.parametrize("case", [TRAIN, TEST], ids=str)
def test_context_models_learn_from_training_sentences_of_up_to_the_length(case):
    model = ConstituentContextModel(longest=8).fit(part_of(TRAIN))
    checked(case, 8, "CCM", spans_of(model.predict(part_of(case))))


def test_universal_tags_and_clusters_stand_in_for_tags():
    case = BankCase(ENGLISH)
    trees = part_of(case)
    model = ConstituentContextModel(longest=8, tags="universal").fit(trees)
    checked(case, 8, "CCM-U", spans_of(model.predict(trees)))
    clusters = clusters_of(ENGLISH)
    text = [[(w, f"{t} {clusters[w]}") for w, t in tree.leaves()] for tree in trees]
    checked(case, 8, "CCM-OB", spans_of(ConstituentContextModel(longest=8).fit(text).predict(text)))


def test_words_of_one_cluster_have_one_name(made_up_treebanks):
    lines = (made_up_treebanks / "embeddings" / "brown_clusters_en.tsv").read_text().splitlines()
    paths = dict(line.split("\t") for line in lines)
    names = clusters_of(ENGLISH)
    assert len(set(names.values())) == len(set(paths.values()))
    assert all((names[a] == names[b]) == (paths[a] == paths[b]) for a in paths for b in paths)


@pytest.mark.parametrize("case", [TRAIN, TEST], ids=str)
@pytest.mark.parametrize("name", ["CC", "CC-O", "BC-O"])
def test_the_metric_learns_from_training_sentences_and_tagged_text(case, name):
    text = [tree.leaves() for tree in part_of(TRAIN)]
    text += [*load_tagged_text("conll2000"), *load_tagged_text("brown")]
    vectors = word_vectors_path({"CC": "cca50_en", "BC": "brown_clusters_en"}[name[:2]])
    parser = printed_parser(vectors=vectors).fit(text)
    golds = [gold_spans(tree) for tree in part_of(case)]
    tops = [gold_top(*gold) for gold in golds] if name.endswith("-O") else None
    checked(case, 10, name, spans_of(parser.predict(part_of(case), tops)))


def test_parameters_are_those_of_the_best_f1_on_short_training_sentences(monkeypatch):
    text = [tree.leaves() for tree in part_of(TRAIN)]
    text += [*load_tagged_text("conll2000"), *load_tagged_text("brown")]
    vectors = brackets._vectors("neural", ENGLISH)
    scores = {}
    monkeypatch.setattr(brackets, "BANDWIDTHS", (0.2, 0.6))
    monkeypatch.setattr(brackets, "RANKS", (3, 5))
    for rank in (3, 5):
        for bandwidth in (0.2, 0.6):
            parser = SpanParser(
                preset="printed", vectors=vectors, rank=rank, bandwidth=bandwidth
            ).fit(text)
            spans = spans_of(parser.predict(part_of(TRAIN)))
            scores[rank, bandwidth] = by_hand(TRAIN, 10, spans).f1
    assert scores[brackets.chosen_parameters(1, 1)] == max(scores.values())


def test_neural_vectors_are_cut_to_some_directions_and_to_length_one(monkeypatch):
    assert brackets.N_NEURAL == 50
    monkeypatch.setattr(brackets, "N_NEURAL", 3)
    actual = brackets._vectors("neural", ENGLISH)
    assert actual.n_features == 3
    assert np.allclose(np.linalg.norm(actual.vectors, axis=1), 1)
    unit = load_word_vectors("glove100_en").unit().vectors
    left, sizes, _ = np.linalg.svd(unit, full_matrices=False)
    cut = left[:, :3] * sizes[:3]
    cut /= np.linalg.norm(cut, axis=1, keepdims=True)
    assert np.allclose(actual.vectors @ actual.vectors.T, cut @ cut.T)


@pytest.mark.parametrize("treebank", [SPANISH, CHINESE])
def test_other_languages_have_no_tagged_text(treebank):
    case = BankCase(treebank, "test")
    text = [tree.leaves() for tree in part_of(BankCase(treebank, "train"))]
    vectors = word_vectors_path("brown_clusters_es") if treebank == SPANISH else "cca"
    parser = printed_parser(vectors=vectors, n_features=8).fit(text)
    checked(case, 10, "BC", spans_of(parser.predict(part_of(case))))


@pytest.mark.parametrize("ending", ["", "-O"])
def test_right_branching_has_the_same_top_brackets(ending):
    golds = [gold_spans(tree) for tree in part_of(TEST)]
    tops = [top_split(tree.leaves()) for tree in part_of(TEST)]
    if ending:
        tops = [gold_top(*gold) for gold in golds]
    spans = [right_branching(n, top) for (n, _), top in zip(golds, tops, strict=True)]
    checked(TEST, 10, f"right-branching{ending}", spans)


def test_our_own_parser_is_the_default_one():
    text = [tree.leaves() for tree in part_of(TRAIN)]
    text += [*load_tagged_text("conll2000"), *load_tagged_text("brown")]
    checked(TEST, 10, "Tacit", spans_of(SpanParser(n_features=8).fit(text).predict(part_of(TEST))))


def test_random_starts_have_their_seeds():
    case = BankCase(ENGLISH, most=10)
    model = ConstituentContextModel(start="random", n_restarts=1, random_state=4)
    spans = spans_of(model.fit(part_of(case)).predict(part_of(case)))
    checked(case, 10, "CCM, random starts", spans, seed=4)


def test_less_is_spread_over_all_of_it_and_long_sentences_are_not_judged():
    whole, less = bank_of(ENGLISH, 1), bank_of(ENGLISH, 4)
    assert less.sentences == whole.sentences[::4]
    actual = perform(Trial(STUDY, BankCase(ENGLISH, most=6), 6, 0, method("CCM")))
    assert actual.n_sentences == sum(n <= 6 for n, _ in whole.golds) < len(whole.golds)


def test_trees_without_words_are_left_out(monkeypatch):
    trees = [*load_treebank(ENGLISH)[:3], ParseTree("S", (ParseTree(".", (), "."),))]
    monkeypatch.setattr("tacit.datasets.treebanks.load_treebank", lambda _: trees)
    bank_of.cache_clear()
    assert len(bank_of(ENGLISH, 1).sentences) == 3


def test_vectors_that_are_not_to_be_had_make_no_trials():
    names = {case: set() for case in brackets.TREEBANKS}
    for trial in table_8_2.EXPERIMENT.settings["paper"].trials():
        names[trial.case.treebank].add(trial.method.name)
    assert names[ENGLISH] == {method.name for method in table_8_2.METHODS}
    without = {f"{form}{kind}" for form in ("", "Tacit ") for kind in ("NN", "NN-O", "CC", "CC-O")}
    assert names[SPANISH] == names[CHINESE] == names[ENGLISH] - without


def test_what_is_not_random_has_one_seed_and_the_metric_a_few():
    counts = {}
    for trial in fig_8_5.EXPERIMENT.settings["paper"].trials():
        counts[trial.method.name] = counts.get(trial.method.name, 0) + 1
    assert counts == {
        "CCM, random starts": 100,
        "CCM, start by splits": 1,
        "spectral": 3,
        "SpanParser": 3,
    }


@pytest.mark.parametrize("name", ["table-8.1", "table-8.2", "fig-8.5"])
def test_without_the_treebanks_it_is_said_where_they_belong(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"treebanks/wsj_sample/wsj_sample\.mrg"):
        run(name, scale="tiny", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_longer_work_is_told_as_longer():
    ccm = method("CCM")
    short, long = (STUDY.work(Trial(STUDY, TRAIN, length, 0, ccm)) for length in (10, 40))
    assert 0 < short < long
    assert STUDY.work(Trial(STUDY, TRAIN, 10, 0, method("right-branching"))) < short
