"""Wrong files, sentences and typos: `tacit grammar` says what is wrong in a line, and leaves nothing."""

import json

import pytest

import tacit
from oracles.commands import tacit_says
from tacit.parsing.data.parse_trees import read_trees

TREES = ["(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N dog))))", "(NP (N rain))"]
SENTENCE = "the cat sees a dog"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    texts = {
        "train.mrg": "\n".join(TREES),
        "open.mrg": "\n".join([TREES[0], "", "(S (NP (N rain))"]),
        "closed.mrg": "\n".join([TREES[0], "(S (N rain)))"]),
        "hollow.mrg": "(S (NP))\n",
        "stray.mrg": f"{TREES[1]}\n(S (NP (D a) cat))\n",
        "unsaid.mrg": "(S (NP (-NONE- *)))\n",
        "fewer.mrg": TREES[0],
        "others.mrg": "\n".join([TREES[0], "(NP (N snow))"]),
        "empty.mrg": "",
        "asked.txt": f"{SENTENCE}\n",
        "blank.txt": "\n \n",
        "long.txt": f"{SENTENCE}\n{'rain ' * 300}\n",
        "half.txt": "rain\nthe/D cat/N\n",
    }
    for name, content in texts.items():
        (place / name).write_text(content, encoding="utf-8")
    (place / "latin.mrg").write_bytes(b"(NP (N schl\xe4ft))\n")
    (place / "latin.txt").write_bytes(b"ok\nschl\xe4ft\n")
    (place / "packed.mrg.gz").write_bytes(b"not packed at all")
    tacit.LatentPCFG(1, min_count=1).fit(TREES).save(place / "model.tacit")
    tacit.KneserNeyLM(order=2).fit([SENTENCE]).save(place / "words.tacit")
    return place


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "open.mrg"], "open.mrg, line 3: 1 of the brackets that open"),
        (["train", "closed.mrg"], "closed.mrg, line 2: a ')' closes no bracket"),
        (["train", "hollow.mrg"], "hollow.mrg, line 1: (NP) holds nothing"),
        (["train", "train.mrg", "stray.mrg"], "stray.mrg, line 2: the word 'cat'"),
        (["train", "unsaid.mrg"], "'unsaid.mrg' has no tree with words"),
        (["train", "train.mrg", "empty.mrg"], "'empty.mrg' has no tree with words"),
        (["train", "latin.mrg"], "line 1 is no UTF-8 text"),
        (["train", "packed.mrg.gz"], "'packed.mrg.gz' cannot be read"),
        (["train", "trian.mrg"], "'trian.mrg' is no file, but there is 'train.mrg'"),
        (["train", "."], "'.' is a folder"),
        (["parse", "modle.tacit", "asked.txt"], "but there is 'model.tacit'"),
        (
            ["parse", "words.tacit", "asked.txt"],
            "KneserNeyLM is not a grammar of a treebank; use `tacit lm`",
        ),
        (["parse", "train.mrg", "asked.txt"], "'train.mrg' is not a model file"),
        (["parse", "model.tacit", "aksed.txt"], "but there is 'asked.txt'"),
        (["parse", "model.tacit", "latin.txt"], "line 2 is no UTF-8 text"),
        (["parse", "model.tacit", "half.txt", "--tagged"], "line 1: 'rain' has no tag"),
        (["parse", "model.tacit", "open.mrg", "--tagged"], "open.mrg, line 3"),
        (["evaluate", "model.tacit", "open.mrg"], "open.mrg, line 3"),
        (["evaluate", "fewer.mrg", "train.mrg"], "has 1 trees with words, but the treebank has 2"),
        (["evaluate", "others.mrg", "train.mrg"], "the trees of number 1 have different words"),
        (["evaluate", "model.tacit", "fewer.mrg", "--lengths", "3"], "no tree of up to 3 words"),
        (["evaluate", "model.tacit", "train.mrg", "-o", "x.txt"], ".csv, .tsv, .parquet"),
    ],
)
def test_wrong_files_are_reported_and_nothing_is_written(run, folder, arguments, words):
    before = sorted(folder.iterdir())
    target = {"train": ["-o", "x.tacit"], "parse": ["-o", "x.mrg"], "evaluate": []}
    assert words in tacit_says("grammar", *arguments, *target[arguments[0]], code=1)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "train.mrg", "-o", "x.txt"], ".tacit"),
        (["train", "train.mrg", "-o", "elsewhere/x.tacit"], "does not exist"),
        (["parse", "model.tacit", "asked.txt", "-o", "elsewhere/x.mrg"], "does not exist"),
    ],
)
def test_places_that_cannot_be_written_to_are_reported_first(run, folder, arguments, words):
    before = sorted(folder.iterdir())
    assert words in tacit_says("grammar", *arguments, code=1)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trian", "train.mrg"], "train"),
        (["train", "train.mrg"], "--output"),
        (["train", "train.mrg", "-o", "x.tacit", "--stats", "2"], "--states"),
        (["train", "train.mrg", "-o", "x.tacit", "--states", "0"], "--states"),
        (["train", "train.mrg", "-o", "x.tacit", "--learn", "spectrl"], "spectral"),
        (["train", "train.mrg", "-o", "x.tacit", "--restarts", "2"], "--learn em"),
        (
            ["train", "train.mrg", "-o", "x.tacit", "--learn", "spectral", "--max-iter", "2"],
            "--learn em and auto",
        ),
        (["parse", "model.tacit", "asked.txt", "-n", "0"], "-n"),
        (["evaluate", "model.tacit", "train.mrg", "--lengths", "10,x"], "'x' is neither"),
        (["evaluate", "train.mrg", "train.mrg", "--untagged"], "it goes with a model"),
    ],
)
def test_typos_are_reported(run, folder, arguments, words):
    before = sorted(folder.iterdir())
    assert words in tacit_says("grammar", *arguments, code=2)
    assert sorted(folder.iterdir()) == before


def test_300_words_are_refused_with_the_cost_and_done_on_request(run, folder):
    printed = tacit_says("grammar", "parse", "model.tacit", "long.txt", "-o", "x.mrg", code=1)
    assert "error: long.txt, line 2: a sentence of 300 words takes about" in printed
    assert "steps" in printed
    assert "--longest" in printed
    (tree,) = read_trees(folder / "x.mrg")
    assert len(tree.leaves()) == 5
    assert (folder / "x.mrg").read_text().endswith(")\n\n")
    out = run("grammar", "parse", "model.tacit", "long.txt", "--longest", "300").splitlines()
    assert [len(tree.leaves()) for tree in read_trees(out)] == [5, 300]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_sentence_is_reported_and_the_others_are_parsed(run, folder, jobs):
    tagged = " ".join(f"{word}/N" for word in SENTENCE.split())
    (folder / "some.txt").write_text(f"{tagged}\nrain\n{'rain/N ' * 300}\n{tagged}\n")
    command = ("grammar", "parse", "model.tacit", "some.txt", "--tagged", "--jobs", jobs, "--json")
    printed = tacit_says(*command, code=1).splitlines()
    errors = [line for line in printed if line.startswith("error: ")]
    assert [line.split(":")[1] for line in errors] == [f" some.txt, line {n}" for n in (2, 3)]
    rows = [json.loads(line) for line in printed if line.startswith("{")]
    assert [("error" in row, len(row["trees"])) for row in rows] == [
        *((False, 1), (True, 0), (True, 0), (False, 1))
    ]


def test_sentences_without_words_and_of_one_word(run):
    assert run("grammar", "parse", "model.tacit", "blank.txt") == "\n\n"
    assert run("grammar", "parse", "model.tacit", "blank.txt", "--n-best", "2") == "\n\n"
    out = tacit_says("grammar", "parse", "model.tacit", "asked.txt", "--n-best", "1")
    assert out.count("\n") == 2


def test_tags_that_the_treebank_had_not_are_reported(run, folder):
    (folder / "strange.txt").write_text("the/D cat/NOUN sees/V a/D dog/-NONE-\n")
    printed = tacit_says(
        "grammar", "parse", "model.tacit", "strange.txt", "--tagged", with_errors=True
    )
    assert "note: the tags NOUN, -NONE- were not in the treebank" in printed
    assert "(NP (D the) (NOUN cat))" in printed
    more = ("--tagged", "--probability")
    assert "-inf" in run("grammar", "parse", "model.tacit", "strange.txt", *more)
    (folder / "many.txt").write_text(" ".join(f"cat/T{n}" for n in range(10)))
    printed = tacit_says(
        "grammar", "parse", "model.tacit", "many.txt", "--tagged", with_errors=True
    )
    assert "T7 and 2 more" in printed


def test_words_that_look_tagged_are_reported(run, folder):
    (folder / "slashes.txt").write_text("the/D cat/N sees/V\n")
    printed = tacit_says("grammar", "parse", "model.tacit", "slashes.txt", with_errors=True)
    assert "--tagged takes these for tags" in printed
    assert "--tagged" not in tacit_says(
        "grammar", "parse", "model.tacit", "asked.txt", with_errors=True
    )


def test_sentences_that_no_tree_fits_are_reported(run, folder):
    (folder / "odd.txt").write_text("a a\n")
    printed = tacit_says("grammar", "parse", "model.tacit", "odd.txt", with_errors=True)
    assert "(TOP (D a) (D a))" in printed
    assert "note: no tree of the grammar fits 1 sentence" in printed
