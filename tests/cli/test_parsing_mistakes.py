"""Wrong files and typos: `tacit parse` says what is wrong in a line, and leaves nothing behind."""

import pytest

import tacit
from oracles.commands import tacit_says
from tacit.parsing.constituent_context import ConstituentContextModel
from tacit.parsing.span_parser import SpanParser
from tacit.toy.sentences import sample_sentences, sample_trees

OPEN = "(S (NP (NN rain)) (VP (VBZ falls)))\n\n(S (NP (NN rain)) (VP (VBZ falls))\n"
CLOSED = "(S (NP (NN rain)))\n(S (NN rain)))\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    text = sample_sentences(100, random_state=0)
    files = {
        "text.txt": "".join(" ".join(f"{w}/{t}" for w, t in one) + "\n" for one in text),
        "bank.mrg": "".join(f"{tree}\n" for tree in sample_trees(5, random_state=0)),
        "open.mrg": OPEN,
        "closed.mrg": CLOSED,
        "bare.txt": "rain falls\nthe/DT cat/NN\n",
        "cut.conllu": "1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n2\tfalls\tfall\n",
        "empty.txt": "",
        "marks.mrg": "(S (. .))\n(S (NN rain) (. .))\n",
        "short.txt": "rain/NN ./.\n",
        "few.txt": "1\n",
        "words.txt": "one\n",
        "bad.map": "NN NOUN\nVB VREB\n",
        "odd.vec": "cat 1 2 3\ndog 1 2\n",
        "text.vec": "cat x y z\n",
    }
    for name, content in files.items():
        (place / name).write_text(content)
    (place / "latin.txt").write_bytes(b"ok/UH\nschl\xe4ft/VB\n")
    (place / "broken.npz").write_bytes(b"no archive")
    SpanParser(n_features=5, rank=2).fit(text).save(place / "span.tacit")
    ConstituentContextModel().fit(text).save(place / "ccm.tacit")
    tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"]]).save(place / "tree.tacit")
    return place


def refused(folder, arguments, words, code=1):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    printed = tacit_says("parse", *arguments, code=code)
    assert words in printed
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    if code == 1:
        assert printed.startswith("error: ")
        assert printed.count("\n") == 1


TEXTS = [
    ("open.mrg", "open.mrg, line 3: 1 of the brackets that open in the tree of this line are not"),
    ("closed.mrg", "closed.mrg, line 2: a ')' closes no bracket"),
    ("bare.txt", "bare.txt, line 1: 'rain' has no tag; write word/TAG"),
    ("cut.conllu", "cut.conllu, line 2 has 3 columns"),
    ("latin.txt", "'latin.txt', line 2 is no UTF-8"),
    ("span.tacit", "is no UTF-8"),
    ("txet.txt", "'txet.txt' is no file, but there is 'text.txt'"),
    ("elsewhere/x", "'elsewhere/x' is no file"),
    (".", "'.' is a folder"),
]


@pytest.mark.parametrize(("text", "words"), TEXTS)
@pytest.mark.parametrize("method", ["span", "ccm"])
def test_texts_that_cannot_be_learnt_from(run, folder, method, text, words):
    refused(folder, ["train", "text.txt", text, "-o", "x.tacit", "--method", method], words)


@pytest.mark.parametrize(("text", "words"), TEXTS)
@pytest.mark.parametrize("command", ["apply", "draw"])
def test_texts_that_cannot_be_parsed(run, folder, command, text, words):
    target = "x.mrg" if command == "apply" else "x.svg"
    more = ["-n", "2"] if command == "draw" else []
    refused(folder, [command, "span.tacit", text, "-o", target, *more], words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "text.txt", "-o", "x.txt"], "end in .tacit"),
        (["train", "text.txt", "-o", "elsewhere/x.tacit"], "does not exist"),
        (["train", "empty.txt", "-o", "x.tacit"], "no sentence has two words"),
        (["train", "short.txt", "-o", "x.tacit"], "no sentence has two words"),
        (["train", "short.txt", "-o", "x.tacit", "--method", "ccm"], "no sentence has 2 to 10"),
        (["train", "text.txt", "-o", "x.tacit", "--vectors", "v.npz"], "no file 'v.npz'"),
        (["train", "text.txt", "-o", "x.tacit", "--vectors", "odd.vce"], "there is 'odd.vec'"),
        (["train", "text.txt", "-o", "x.tacit", "--vectors", "broken.npz"], "cannot be read"),
        (["train", "text.txt", "-o", "x.tacit", "--vectors", "odd.vec"], "entry 2 has 2 numbers"),
        (["train", "text.txt", "-o", "x.tacit", "--vectors", "text.vec"], "could not convert"),
        (["train", "text.txt", "-o", "x.tacit", "--bandwidth", "-1"], "bandwidth=-1"),
        (["train", "text.txt", "-o", "x.tacit", "--tags-map", "bad.map"], "line 2: 'VREB'"),
        (["apply", "spna.tacit", "text.txt"], "but there is 'span.tacit'"),
        (["apply", "elsewhere/m.tacit", "text.txt"], "no model file 'elsewhere/m.tacit'"),
        (["apply", "text.txt", "text.txt"], "'text.txt' is not a model file"),
        (["apply", "tree.tacit", "text.txt"], "ChowLiuTree is not a parser"),
        (["apply", "ccm.tacit", "text.txt", "--confidence"], "has no confidence"),
        (["apply", "span.tacit", "text.txt", "-o", "elsewhere/x.mrg"], "does not exist"),
        (["apply", "span.tacit", "text.txt", "-o", "x.mrg", "--tops", "words.txt"], "'one' is no"),
        (["apply", "span.tacit", "text.txt", "-o", "x.mrg", "--tops", "few.txt"], "has 1 lines"),
        (["evaluate", "span.tacit", "open.mrg"], "line 3: 1 of the brackets"),
        (["evaluate", "span.tacit", "text.txt"], "text.txt, line 1: the word"),
        (["evaluate", "span.tacit", "empty.txt"], "no tree of two words or more"),
        (["evaluate", "span.tacit", "marks.mrg"], "no tree of two words or more"),
        (["evaluate", "span.tacit", "bank.mrg", "--lengths", "2"], "compare with, up to 2 words"),
        (["evaluate", "span.tacit", "bank.mgr"], "there is 'bank.mrg'"),
        (["evaluate", "span.tacit", "bank.mrg", "-o", "x.txt"], ".csv, .tsv, .parquet"),
        (["evaluate", "marks.mrg", "bank.mrg"], "has 1 trees with words, but the treebank has 5"),
        (["evaluate", "ccm.tacit", "bank.mrg", "--true-top"], "takes no split"),
        (["draw", "span.tacit", "text.txt", "-o", "x.txt"], "try .svg, .png or .pdf"),
        (["draw", "span.tacit", "text.txt", "-o", "x.svg", "-n", "101"], "has 100 sentences"),
        (["draw", "span.tacit", "marks.mrg", "-o", "x.svg"], "has no words to draw"),
        (["draw", "bank.mrg", "-o", "x.svg", "-n", "6"], "has 5 sentences, and no number 6"),
        (["draw", "bank.mrg", "-o", "x.svg", "--max-words", "3"], "a picture of more than"),
    ],
)
def test_wrong_files_are_reported(run, folder, arguments, words):
    refused(folder, arguments, words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trian", "text.txt"], "train"),
        (["train", "text.txt"], "--output"),
        (["train", "text.txt", "-o", "x.tacit", "--rnak", "2"], "--rank"),
        (["train", "text.txt", "-o", "x.tacit", "--rank", "two"], "--rank"),
        (["train", "text.txt", "-o", "x.tacit", "--rank", "0"], "--rank"),
        (["train", "text.txt", "-o", "x.tacit", "--method", "cmc"], "ccm"),
        (["train", "text.txt", "-o", "x.tacit", "--prior", "unit"], "units"),
        (["train", "text.txt", "-o", "x.tacit", "--top", "first"], "heuristic"),
        (["train", "text.txt", "-o", "x.tacit", "--start", "random"], "--method span"),
        (
            ["train", "text.txt", "-o", "x.tacit", "--method", "ccm", "--features", "5"],
            "--features",
        ),
        (["train", "text.txt", "-o", "x.tacit", "--method", "ccm", "--restarts", "5"], "--start"),
        (["evaluate", "span.tacit", "bank.mrg", "--lengths", "10,lots"], "'lots' is neither"),
        (["evaluate", "bank.mrg", "bank.mrg", "--true-top"], "with a model"),
        (["draw", "span.tacit", "-o", "x.svg"], "needs sentences"),
        (["draw", "bank.mrg", "text.txt", "-o", "x.svg"], "go with a parser"),
        (["draw", "span.tacit", "text.txt", "-o", "x.svg", "-n", "0"], "-n"),
    ],
)
def test_typos_are_reported(run, folder, arguments, words):
    refused(folder, arguments, words, code=2)


def test_a_split_that_lies_outside_is_reported_with_the_sentence(run, folder):
    (folder / "tops.txt").write_text("1\n40\n" + "1\n" * 98)
    printed = tacit_says("parse", "apply", "span.tacit", "text.txt", "--tops", "tops.txt", code=1)
    assert "error: text.txt, line 2: a sentence of 6 words has no split after 40 of them" in printed
    (folder / "tops.txt").write_text("1\n" * 101)
    printed = tacit_says(
        *("parse", "apply", "span.tacit", "text.txt", "--tops", "tops.txt", "-o", "x.mrg"), code=1
    )
    assert "--tops has 101 lines, but there are 100 sentences" in printed
    assert not (folder / "x.mrg").exists()
