"""`tacit parse` against what the parsers themselves say."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says
from tacit.evaluate.bracket_baselines import baseline_brackets
from tacit.parsing.constituent_context import ConstituentContextModel
from tacit.parsing.data.parse_trees import read_trees
from tacit.parsing.data.tagged_sentences import read_tagged
from tacit.parsing.query.brackets import gold_spans, gold_top, score_brackets
from tacit.parsing.span_parser import SpanParser
from tacit.toy.sentences import sample_sentences, sample_trees

TEXT = sample_sentences(200, random_state=0)
# In the last one, what comes before the verb is more than the first bracket.
FRONTED = "(S (ADV today) (NP (DET the) (NOUN cat)) (VP (VERB saw) (NP (DET a) (NOUN dog))))"
TREES = [*sample_trees(30, random_state=1), *read_trees([FRONTED])]
SMALL = ("--features", "5", "--rank", "2")


def tagged(sentences, between="/"):
    return "".join(
        " ".join(f"{word}{between}{tag}" for word, tag in sentence) + "\n" for sentence in sentences
    )


def spans_of(parses):
    return [parse.spans for parse in parses]


def conllu(sentences):
    lines = []
    for sentence in sentences:
        lines += [f"{n}\t{w}\t_\t{t}" + "\t_" * 6 for n, (w, t) in enumerate(sentence, 1)]
        lines.append("")
    return "\n".join(["# a comment", *lines]) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("parsing")
    (place / "text.txt").write_text(tagged(TEXT))
    (place / "bank.mrg").write_text("".join(f"{tree}\n" for tree in TREES))
    SpanParser(n_features=5, rank=2).fit(TEXT).save(place / "span.tacit")
    ConstituentContextModel(longest=12).fit(TEXT).save(place / "ccm.tacit")
    return place


@pytest.fixture(scope="module")
def span(folder):
    return tacit.load(folder / "span.tacit")


# -- train --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [tagged, conllu, "trees"])
def test_every_form_of_text_gives_the_same_parser(run, folder, span, form):
    trees = "\n".join(map(str, sample_trees(200, random_state=0))) + "\n"
    (folder / "form").write_text(trees if form == "trees" else form(TEXT))
    printed = run("parse", "train", "form", "-o", "own.tacit", *SMALL)
    n_words = sum(map(len, TEXT))
    assert printed == f"SpanParser of 200 sentences, {n_words:,} words; saved as own.tacit\n"
    assert np.array_equal(tacit.load(folder / "own.tacit").distances_.table, span.distances_.table)


def test_texts_are_learnt_from_together(run, folder, span):
    (folder / "one.txt").write_text(tagged(TEXT[:50]))
    (folder / "two.conllu").write_text(conllu(TEXT[50:]))
    report = json.loads(
        run("parse", "train", "one.txt", "two.conllu", "-o", "own.tacit", *SMALL, "--json")
    )
    assert (report["kind"], report["n_sentences"]) == ("SpanParser", 200)
    assert np.array_equal(tacit.load(folder / "own.tacit").distances_.table, span.distances_.table)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--bandwidth", "0.7"], {"bandwidth": 0.7}),
        (["--prior", "none"], {"prior": None}),
        (["--prior", "units", "--top", "learnt"], {"prior": "units", "top": "learnt"}),
        (["--metric-weight", "0.5"], {"metric_weight": 0.5}),
        (["--top", "free", "--prior", "none"], {"top": "free", "prior": None}),
        (["--seed", "3", "--vectors", "cca"], {"random_state": 3}),
        (["--longest", "50"], {"max_words": 50}),
    ],
)
def test_options_of_span_are_arguments(run, folder, options, arguments):
    run("parse", "train", "text.txt", "-o", "own.tacit", *SMALL, *options)
    loaded = tacit.load(folder / "own.tacit")
    expected = SpanParser(**{"n_features": 5, "rank": 2, "random_state": 0} | arguments)
    assert loaded.get_params() == expected.get_params()
    assert np.allclose(loaded.distances_.table, expected.fit(TEXT).distances_.table)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--longest", "12"], {"longest": 12}),
        (["--tags", "universal"], {"tags": "universal"}),
        (["--start", "random", "--restarts", "2"], {"start": "random", "n_restarts": 2}),
    ],
)
def test_options_of_ccm_are_arguments(run, folder, options, arguments):
    printed = run("parse", "train", "text.txt", "-o", "own.tacit", "--method", "ccm", *options)
    assert " of 200 sentences, 5 tags; saved as own.tacit" in printed
    loaded = tacit.load(folder / "own.tacit")
    expected = ConstituentContextModel(random_state=0, **arguments)
    assert loaded.get_params() == expected.get_params()
    assert spans_of(loaded.predict(TREES)) == spans_of(expected.fit(TEXT).predict(TREES))


def test_word_vectors_come_from_files(run, folder):
    words = sorted({word for sentence in TEXT for word, _ in sentence})
    rows = np.random.default_rng(0).normal(size=(len(words), 4))
    np.savez(folder / "vectors.npz", words=np.array(words), vecs=rows)
    lines = [
        f"{word} {' '.join(map(repr, map(float, row)))}"
        for word, row in zip(words, rows, strict=True)
    ]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    expected = SpanParser(rank=2, vectors=folder / "vectors.npz").fit(TEXT).distances_.table
    for name in ("vectors.npz", "vectors.txt"):
        run("parse", "train", "text.txt", "-o", "own.tacit", "--rank", "2", "--vectors", name)
        assert np.allclose(tacit.load(folder / "own.tacit").distances_.table, expected)


def test_a_map_says_what_tags_are(run, folder, span):
    names = {"DET": "art", "NOUN": "subst", "VERB": "predicate", "ADP": "on", "ADJ": "like"}
    other = [[(word, names[tag]) for word, tag in sentence] for sentence in TEXT]
    (folder / "other.txt").write_text(tagged(other))
    (folder / "own.map").write_text("".join(f"{new}\t{old}\n" for old, new in names.items()))
    options = ("--tags-map", "own.map")
    run("parse", "train", "other.txt", "-o", "own.tacit", *SMALL, *options)
    assert np.array_equal(tacit.load(folder / "own.tacit").distances_.table, span.distances_.table)
    trees = read_trees(io.StringIO(run("parse", "apply", "own.tacit", "other.txt", *options)))
    assert [tree.leaves() for tree in trees] == other
    assert [tree.spans() for tree in trees] == [parse.tree.spans() for parse in span.predict(TEXT)]


# -- apply --------------------------------------------------------------------------------------------


def test_trees_come_out_as_the_parser_gives_them(run, folder, span):
    printed = run("parse", "apply", "span.tacit", "text.txt")
    assert printed.splitlines() == [str(parse.tree) for parse in span.predict(TEXT)]
    assert run("parse", "apply", "span.tacit", "text.txt", "-o", "found.mrg") == (
        "200 trees written to found.mrg\n"
    )
    assert (folder / "found.mrg").read_text() == printed
    context = tacit.load(folder / "ccm.tacit")
    trees = read_trees(io.StringIO(run("parse", "apply", "ccm.tacit", "bank.mrg")))
    assert [sorted(gold_spans(tree)[1]) for tree in trees] == [
        sorted(spans) for spans in spans_of(context.predict(TREES))
    ]


def test_confidence_stands_behind_each_tree(run, span):
    lines = run("parse", "apply", "span.tacit", "bank.mrg", "--confidence").splitlines()
    confidences = [span.parse(tree.leaves()).confidence for tree in TREES]
    assert [float(line.split("\t")[1]) for line in lines] == pytest.approx(confidences, rel=1e-5)
    rows = [
        json.loads(line)
        for line in run(
            "parse", "apply", "span.tacit", "bank.mrg", "--confidence", "--json"
        ).splitlines()
    ]
    assert [row["confidence"] for row in rows] == confidences
    assert [[tuple(some) for some in row["spans"]] for row in rows] == spans_of(span.predict(TREES))


def test_splits_of_whole_sentences_may_be_given(run, folder, span):
    tops = [1 + number % 2 for number in range(len(TREES))]
    (folder / "tops.txt").write_text("".join(f"{top}\n" for top in tops))
    printed = run("parse", "apply", "span.tacit", "bank.mrg", "--tops", "tops.txt")
    assert printed.splitlines() == [str(parse.tree) for parse in span.predict(TREES, tops)]


def test_short_and_empty_sentences_keep_their_lines(run, folder):
    (folder / "short.txt").write_text("Rain/NN ./.\n./.\n\nRain/NN falls/VBZ\n")
    for model in ("span.tacit", "ccm.tacit"):
        assert run("parse", "apply", model, "short.txt").splitlines() == [
            "(X (NN Rain))",
            "",
            "(X (NN Rain) (VBZ falls))",
        ]
    printed = run("parse", "apply", "span.tacit", "short.txt", "--confidence").splitlines()
    assert printed == ["(X (NN Rain))\tinf", "", "(X (NN Rain) (VBZ falls))\tinf"]
    rows = run("parse", "apply", "span.tacit", "short.txt", "--json", "--confidence").splitlines()
    assert json.loads(rows[1]) == {"tree": None, "spans": [], "confidence": None}
    (folder / "nothing.txt").write_text("\n\n")
    assert run("parse", "apply", "span.tacit", "nothing.txt") == ""


def test_tags_of_which_nothing_is_known_are_reported(run, folder):
    (folder / "strange.txt").write_text("all/QQ1 tags/QQ2 are/QQ1 new/NN\n")
    printed = tacit_says("parse", "apply", "span.tacit", "strange.txt", with_errors=True)
    assert "note: the tags QQ1, QQ2 fit no table and count as X; --tags-map" in printed
    assert "(X " in printed
    printed = tacit_says("parse", "apply", "ccm.tacit", "strange.txt", with_errors=True)
    assert "note: the tags QQ1, QQ2, NN were not in the text that was learnt from" in printed
    (folder / "own.map").write_text("QQ1 DET\nQQ2 NOUN\n")
    printed = tacit_says(
        *("parse", "apply", "span.tacit", "strange.txt", "--tags-map", "own.map"), with_errors=True
    )
    assert "note" not in printed
    printed = tacit_says(
        *("parse", "train", "strange.txt", "text.txt", "-o", "own.tacit", *SMALL), with_errors=True
    )
    assert "QQ1, QQ2 fit no table" in printed


def test_long_sentences_are_done_or_refused_with_their_cost(run, folder):
    (folder / "long.txt").write_text("a/DT cat/NN\n" + "cat/NN of/IN " * 150 + "\n")
    done = read_trees(io.StringIO(run("parse", "apply", "ccm.tacit", "long.txt")))
    assert [len(tree.leaves()) for tree in done] == [2, 300]
    printed = tacit_says(
        *("parse", "apply", "span.tacit", "long.txt", "-o", "x.mrg", "--longest", "100"), code=1
    )
    assert (
        "error: long.txt, line 2: a sentence of 300 words would take about 5 s and 92 MB" in printed
    )
    assert "(--longest)" in printed
    assert (folder / "x.mrg").read_text() == "(X (DT a) (NN cat))\n\n"


@pytest.mark.parametrize("form", ["lines", "conllu"])
def test_a_bad_sentence_is_reported_with_its_line_and_the_others_are_parsed(run, folder, form):
    good = [[("a", "DT"), ("cat", "NN")], [("the", "DT"), ("dog", "NN"), ("ran", "VB")]]
    long = [("cat", "NN")] * 30
    if form == "lines":
        text, places = tagged(good) + "rain the/DT\n" + tagged([long, good[0]]), (3, 4)
    else:
        text = conllu(good) + "1\train\n\n" + conllu([long, good[0]])
        places = (9, 12)
    (folder / "some.txt").write_text(text)
    command = ("parse", "apply", "span.tacit", "some.txt", "--longest", "20")
    printed = tacit_says(*command, "-o", "x.mrg", code=1)
    errors = [line for line in printed.splitlines() if line.startswith("error: ")]
    assert [f"some.txt, line {n}" in line for n, line in zip(places, errors, strict=True)] == [
        True
    ] * 2
    trees = (folder / "x.mrg").read_text().split("\n")
    assert [bool(tree) for tree in trees] == [True, True, False, False, True, False]
    assert trees[4] == trees[0]
    rows = [
        json.loads(line)
        for line in tacit_says(*command, "--json", code=1).splitlines()
        if line[0] == "{"
    ]
    assert ["error" in row for row in rows] == [False, False, True, True, False]


@pytest.mark.slow
def test_300_words_are_done(run, folder):
    (folder / "long.txt").write_text("cat/NN of/IN " * 150 + "\n")
    (tree,) = read_trees(io.StringIO(run("parse", "apply", "span.tacit", "long.txt")))
    assert len(tree.leaves()) == 300


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of this kind there")
def test_trees_come_out_before_all_sentences_are_read(folder):
    call = [sys.executable, "-u", "-c", "from tacit.cli import main; main()", "parse", "apply"]
    with subprocess.Popen(
        [*call, "span.tacit", "-"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as job:
        for sentence in TEXT[:3]:
            job.stdin.write(tagged([sentence]).encode())
            job.stdin.flush()
            assert read_tagged([job.stdout.readline().decode()]) == [sentence]
        job.stdin.close()
        assert job.stdout.read() == b""
    assert job.returncode == 0


# -- evaluate and draw --------------------------------------------------------------------------------


def test_scores_are_those_of_the_parser_and_of_every_baseline(run, folder, span):
    golds = [gold_spans(tree) for tree in TREES]
    sentences = [tree.leaves() for tree in TREES]
    guesses = {
        "SpanParser": spans_of(span.predict(TREES)),
        "SpanParser, true top": spans_of(span.predict(TREES, [gold_top(*gold) for gold in golds])),
        **baseline_brackets(sentences, golds),
    }
    printed = run("parse", "evaluate", "span.tacit", "bank.mrg", "--true-top", "--json")
    rows = {(row["method"], row["longest"]): row for row in json.loads(printed)}
    assert len(rows) == 4 * len(guesses)
    for (name, longest), row in rows.items():
        expected = score_brackets(guesses[name], golds, longest)
        for measure in ("f1", "without_whole", "by_sentence", "n_sentences"):
            assert row[measure] == pytest.approx(getattr(expected, measure))
    shown = run("parse", "evaluate", "span.tacit", "bank.mrg", "--lengths", "10,all")
    for name in guesses.keys() - {"SpanParser, true top"}:
        lines = [line for line in shown.splitlines() if line.startswith(f"{name}  ")]
        scores = [score_brackets(guesses[name], golds, longest) for longest in (10, None)]
        assert [line.split()[-2:] for line in lines] == [
            [f"{getattr(score, measure):.1f}" for score in scores]
            for measure in ("f1", "without_whole", "by_sentence")
        ]
    run("parse", "evaluate", "ccm.tacit", "bank.mrg", "-o", "scores.csv")
    rows = rows_of((folder / "scores.csv").read_text())
    assert rows[0]["method"] == "ConstituentContextModel"


def test_trees_of_other_programs_are_scored(run, span):
    run("parse", "apply", "span.tacit", "bank.mrg", "-o", "found.mrg")
    printed = [
        json.loads(run("parse", "evaluate", name, "bank.mrg", "--lengths", "12,all", "--json"))
        for name in ("found.mrg", "span.tacit")
    ]
    assert printed[0][0].pop("method") == "found.mrg"
    assert printed[1][0].pop("method") == "SpanParser"
    assert printed[0][0] == printed[1][0]


def test_scores_leave_out_punctuation_and_short_sentences(run, folder):
    lines = [
        "( (S (NP (NNP Rain)) (. .)) )",
        "( (. .) )",
        "( (S (NP (DT the) (NN cat)) (, ,) (VP (VBD saw) (NP (DT a) (NN dog) (-NONE- *))) (. .)) )",
    ]
    (folder / "marks.mrg").write_text("\n".join(lines) + "\n")
    printed = run("parse", "evaluate", "span.tacit", "marks.mrg", "--lengths", "all", "--json")
    assert json.loads(printed)[0]["n_sentences"] == 1
    assert json.loads(printed)[0]["f1"] == 100
    run("parse", "apply", "span.tacit", "marks.mrg", "-o", "found.mrg")
    again = run("parse", "evaluate", "found.mrg", "marks.mrg", "--lengths", "all", "--json")
    assert json.loads(again)[0]["f1"] == 100


def test_pictures_of_one_tree_and_of_several(run, folder):
    pytest.importorskip("matplotlib")
    assert "1 tree drawn" in run("parse", "draw", "span.tacit", "bank.mrg", "-o", "one.svg")
    words = [word for word, _ in TREES[0].leaves()]
    one = (folder / "one.svg").read_text()
    assert all(f">{word}<" in one for word in words)
    several = ("-n", "2", "-n", "3", "--compare")
    assert "2 trees drawn" in run(
        "parse", "draw", "span.tacit", "bank.mrg", "-o", "2.svg", *several
    )
    text = (folder / "2.svg").read_text()
    assert all(f">{word}<" in text for tree in TREES[1:3] for word, _ in tree.leaves())
    assert text.count("that the other tree has not") == 2
    run("parse", "draw", "bank.mrg", "-o", "gold.svg", "-n", "5")
    assert ">NP<" in (folder / "gold.svg").read_text()


def test_info_tells_of_parsers_and_other_commands_point_to_parse(run):
    assert "SpanParser" in run("info", "span.tacit")
    assert json.loads(run("info", "ccm.tacit", "--json"))["diagnostics"]["n_sentences"] > 100
    for command in (["score", "span.tacit", "text.txt"], ["sample", "ccm.tacit"]):
        assert "tacit parse" in tacit_says(*command, code=1)


@pytest.mark.parametrize(
    "command",
    [["apply", "span.tacit", "text.txt"], ["evaluate", "span.tacit", "bank.mrg"]],
)
def test_nothing_is_drawn_where_nobody_looks(run, command):
    assert "sentence 1" not in tacit_says("parse", *command, with_errors=True)
