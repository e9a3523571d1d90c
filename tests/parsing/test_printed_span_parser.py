"""`SpanParser(preset="printed")` against chapter 8 word by word."""

import numpy as np
import pytest

from oracles import printed_span_parser as oracle
from tacit.core.files.load import load
from tacit.errors import ArgumentError, DataError, RankError
from tacit.parsing.data.word_vectors import WordVectors, brown_identity_vectors, read_word_vectors
from tacit.parsing.learn import printed_metric
from tacit.parsing.learn.printed_metric import printed_distances
from tacit.parsing.moments.word_pairs import WordPairs
from tacit.parsing.span_parser import SpanParser
from tacit.parsing.structure.branching import top_split

TAGS = ("NN", "VBD", "DT")
UNIVERSAL = {"NN": "NOUN", "VBD": "VERB", "DT": "DET"}
WORDS = {tag: [f"{tag}{number}" for number in range(6)] for tag in TAGS}


def some_text(n=40, seed=0, n_words=(2, 7)):
    """Sentences whose neighbours depend on each other."""
    rng = np.random.default_rng(seed)
    text = []
    for _ in range(n):
        tags = rng.choice(TAGS, rng.integers(*n_words))
        state, sentence = rng.integers(2), []
        for tag in tags:
            state = state if rng.random() < 0.7 else 1 - state
            sentence.append((WORDS[str(tag)][3 * state + rng.integers(3)], str(tag)))
        text.append(sentence)
    return text


def some_vectors(n_features=4, seed=1):
    words = [word for of_tag in WORDS.values() for word in of_tag]
    return WordVectors.of(words, np.random.default_rng(seed).normal(size=(len(words), n_features)))


def as_vectors(text, vectors):
    return [
        [
            (vector, UNIVERSAL[tag])
            for (_, tag), vector in zip(
                sentence, vectors.of_words(word for word, _ in sentence), strict=True
            )
        ]
        for sentence in text
    ]


@pytest.fixture(scope="module")
def fitted():
    text, vectors = some_text(), some_vectors()
    parser = SpanParser(preset="printed", vectors=vectors, rank=2, bandwidth=0.4).fit(text)
    return parser, text, as_vectors(text, vectors)


def test_distances_are_those_of_the_thesis(fitted):
    parser, text, sentences = fitted
    for sentence in text[:6]:
        tags = [UNIVERSAL[tag] for _, tag in sentence]
        expected = oracle.distances(sentences, tags, 2, 0.4)
        assert parser.distances_.of_sentence(tags) == pytest.approx(expected, abs=1e-10)


def test_trees_are_the_cheapest_of_all(fitted):
    parser, text, sentences = fitted
    for sentence in text[:8]:
        tags = [UNIVERSAL[tag] for _, tag in sentence]
        table = oracle.distances(sentences, tags, 2, 0.4)
        for top in range(1, len(tags)):
            expected = oracle.shortest(table, top)
            parsed = parser.parse(sentence, top)
            assert set(parsed.spans) == oracle.brackets(expected)


def test_exact_moments_give_the_exact_tree():
    # A tree over four words with two hidden states; the moments are those of its distribution.
    rng = np.random.default_rng(3)
    root = np.array([0.4, 0.6])
    left, right = (rng.dirichlet([1, 1], 2) for _ in range(2))
    emissions = [rng.dirichlet(np.ones(3), 2) for _ in range(4)]
    joint = np.einsum("z,za,zb,ai,aj,bk,bl->ijkl", root, left, right, *emissions)
    assert joint.sum() == pytest.approx(1)

    def moment(i, j):
        if i == j:
            return np.diag(joint.sum(axis=tuple(set(range(4)) - {i})))
        both = joint.sum(axis=tuple(set(range(4)) - {i, j}))
        return both if i < j else both.T

    logs = np.array([[oracle.log_product(moment(i, j), 2) for j in range(4)] for i in range(4)])
    table = -logs + np.diag(logs)[:, None] / 2 + np.diag(logs) / 2
    from tacit.parsing.structure.projective import projective_tree

    assert set(projective_tree(table, 2).spans) == {(0, 4), (0, 2), (2, 4)}
    every = sorted(oracle.cost(table, tree) for top in (1, 2, 3) for tree in oracle.trees(0, 4))
    assert projective_tree(table, 2).length == pytest.approx(every[0], abs=1e-10)


SENTENCES = (
    "he/PRP said/VBD ,/, she/PRP left/VBD",
    "men/NNS said/VBD ,/, women/NNS left/VBD ,/, and/CC rain/NN fell/VBD",
    "to/TO see/VB the/DT cat/NN is/VBZ nice/JJ",
    "given/VBN time/NN the/DT cat/NN sleeps/VBZ ./.",
    "seen/VBN men/NNS",
    "runs/VBZ fast/RB",
    "no/DT verb/NN",
    "one/CD",
)


@pytest.mark.parametrize("line", SENTENCES)
def test_the_heuristic_is_the_one_in_words(line):
    sentence = [tuple(token.rsplit("/", 1)) for token in line.split()]
    assert top_split(sentence, printed=True) == oracle.top_bracket(sentence)


def test_a_pronoun_is_no_noun_in_print():
    sentence = [("he", "PRP"), ("said", "VBD"), (",", ","), ("she", "PRP"), ("left", "VBD")]
    assert top_split(sentence, printed=True) == 1
    assert top_split(sentence) == 2


# -- Brown clusters -----------------------------------------------------------------------------------


def test_brown_clusters_have_the_bits_and_the_whole_identity(tmp_path):
    clusters = {"a": "00", "b": "010", "c": "011", "d": "1", "e": "1"}
    vectors = brown_identity_vectors(clusters)
    assert vectors.n_features == 2 + 4
    expected = [[0, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1]]
    assert vectors.vectors.tolist() == [*expected, expected[-1]]
    assert not vectors.of_words(["none"]).any()
    path = tmp_path / "clusters.tsv"
    path.write_text("".join(f"{word}\t{bits}\n" for word, bits in clusters.items()))
    assert np.array_equal(read_word_vectors(path, clusters="whole").vectors, vectors.vectors)
    clusters = {word: f"{n:05b}" for n, word in enumerate(some_vectors().words)}
    path.write_text("".join(f"{word}\t{bits}\n" for word, bits in clusters.items()))
    parser = SpanParser(preset="printed", vectors=path, rank=2).fit(some_text())
    assert parser.diagnostics_["n_features"] == 5 + 18


@pytest.mark.parametrize("few", [0, 3, 150])
def test_covariances_of_long_vectors_need_not_be_written_out(monkeypatch, few):
    text, vectors = some_text(60), some_vectors(7)
    kinds = sorted(UNIVERSAL.values())
    tagged = [[(word, UNIVERSAL[tag]) for word, tag in sentence] for sentence in text]
    pairs = WordPairs.of(tagged, vectors, kinds)
    expected = printed_distances(pairs, vectors, 3, 0.5).table
    monkeypatch.setattr(printed_metric, "_DENSE", 2)
    monkeypatch.setattr(printed_metric, "_FEW", few)
    assert printed_distances(pairs, vectors, 3, 0.5).table == pytest.approx(expected, abs=1e-8)


# -- moments and arguments ----------------------------------------------------------------------------


def test_moments_of_two_texts_add(fitted):
    parser, text, _ = fitted
    parts = SpanParser(preset="printed", vectors=some_vectors(), rank=2, bandwidth=0.4)
    parts.fit(text[:17]).partial_fit(text[17:])
    assert np.array_equal(parts.pairs_.codes, parser.pairs_.codes)
    assert np.array_equal(parts.pairs_.counts, parser.pairs_.counts)
    assert parts.distances_.table == pytest.approx(parser.distances_.table, abs=1e-12)
    both = WordPairs.empty(["A"]) + WordPairs.empty(["A"])
    assert both.longest == 0
    with pytest.raises(DataError, match="other tags"):
        WordPairs.empty(["A"]) + WordPairs.empty(["B"])


def test_pairs_that_were_never_seen_have_the_mean_of_the_others():
    text = [[("NN0", "NN"), ("VBD1", "VBD")], [("NN3", "NN"), ("VBD4", "VBD"), ("NN1", "NN")]] * 3
    parser = SpanParser(preset="printed", vectors=some_vectors(), rank=1).fit(text)
    assert np.isfinite(parser.distances_.table).all()
    assert len(parser.parse("a/DT b/NN c/VBD d/NN e/NN").spans) == 4


def test_words_without_a_vector_have_no_distance_of_their_own():
    vectors = brown_identity_vectors({"a": "0", "b": "10", "c": "11"})
    text = [[("a", "NN"), ("b", "VBD")], [("x", "DT"), ("c", "NN")], [("b", "NN"), ("c", "VBD")]]
    parser = SpanParser(preset="printed", vectors=vectors, rank=1).fit(text)
    assert np.isfinite(parser.distances_.table).all()


def test_what_contradicts_print_is_refused():
    text = some_text(5)
    for arguments in ({"prior": "units"}, {"prior": "learnt"}, {"top": "free"}, {"top": "learnt"}):
        with pytest.raises(ArgumentError, match=r'preset="printed" has no'):
            SpanParser(preset="printed", **arguments).fit(text)
    with pytest.raises(ArgumentError, match="preset='thesis' is not known"):
        SpanParser(preset="thesis").fit(text)
    with pytest.raises(RankError, match="rank=9"):
        SpanParser(preset="printed", vectors=some_vectors(), rank=9).fit(text)
    with pytest.raises(DataError, match="two words"):
        SpanParser(preset="printed").fit([[("a", "NN")]])


def test_files_and_summaries_know_the_form(fitted, tmp_path):
    parser, text, _ = fitted
    parser.save(tmp_path / "parser.tacit")
    again = load(tmp_path / "parser.tacit")
    assert again.preset == "printed"
    assert [again.parse(s).spans for s in text] == [parser.parse(s).spans for s in text]
    assert "none" in str(again.summary())
