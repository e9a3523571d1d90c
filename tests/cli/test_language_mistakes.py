"""Wrong files and typos: `tacit lm` says what is wrong in a line, and leaves nothing behind."""

import pytest

import tacit
from oracles.commands import tacit_says


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    texts = {
        "train.txt": b"der Hund bellt\ndie Katze schl\xc3\xa4ft\nder Hund schl\xc3\xa4ft\n",
        "empty.txt": b"",
        "blank.txt": b"\n\n",
        "latin.txt": b"ok\nschl\xe4ft\n",
        "binary.txt": b"\x7fELF\0\0\1",
        "marked.txt": b"<s> der Hund </s>\n",
        "packed.txt.gz": b"not packed at all",
        "cut.arpa": b"\\data\\\nngram 1=4\n\n\\1-grams:\n-1 a\n",
        "many.arpa": b"\\data\\\nngram 1=1\n\n\\1-grams:\n-1 a\n-1 b\n\\end\\\n",
        "nan.arpa": b"\\data\\\nngram 1=1\n\n\\1-grams:\nNaN a\n\\end\\\n",
        "high.arpa": b"\\data\\\nngram 1=1\n\n\\1-grams:\n1.5 a\n\\end\\\n",
    }
    for name, content in texts.items():
        (place / name).write_bytes(content)
    model = tacit.KneserNeyLM(order=2).fit(place / "train.txt")
    model.save(place / "words.tacit")
    model.to_arpa(place / "words.arpa")
    tacit.ClassLM(2, 2).fit(place / "train.txt").save(place / "classes.tacit")
    tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"]]).save(place / "tree.tacit")
    return place


@pytest.mark.parametrize("command", ["train", "count"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("latin.txt", "'latin.txt', line 2, byte 7: byte 0xe4 is not UTF-8"),
        ("binary.txt", "'binary.txt', line 1, byte 4: a NUL byte; this is a binary file"),
        ("marked.txt", "'marked.txt', line 1, byte 0: the text contains the marker '<s>'"),
        ("packed.txt.gz", "'packed.txt.gz' cannot be read"),
        ("words.tacit", "is not UTF-8"),
        ("trian.txt", "'trian.txt' is no file, but there is 'train.txt'"),
        ("elsewhere/x", "'elsewhere/x' is no file; give a file of text"),
        (".", "'.' is a folder"),
    ],
)
def test_texts_that_are_none(run, folder, command, text, words):
    before = sorted(folder.iterdir())
    for more in ([], ["--memory", "1MB"]):
        target = "x.tacit" if command == "train" else "x.counts"
        assert words in tacit_says("lm", command, "train.txt", text, "-o", target, *more, code=1)
        assert sorted(folder.iterdir()) == before


def test_texts_with_nothing_in_them(run, folder):
    assert "the text is empty" in tacit_says("lm", "train", "empty.txt", "-o", "x.tacit", code=1)
    assert not (folder / "x.tacit").exists()
    assert "0 words on 2 lines" in run("lm", "train", "blank.txt", "-o", "blank.tacit")
    assert "0 words on 2 lines" in run("lm", "perplexity", "blank.tacit", "blank.txt")
    assert "the text is empty" in tacit_says("lm", "perplexity", "words.tacit", "empty.txt", code=1)


def test_markers_are_skipped_where_that_is_said(run):
    run("lm", "train", "marked.txt", "-o", "marked.tacit", "--markers", "skip")
    assert "2 words on 1 line" in run("lm", "perplexity", "marked.tacit", "marked.txt")
    printed = tacit_says("lm", "perplexity", "words.tacit", "marked.txt", code=1)
    assert "--markers skip" in printed
    for command in ("perplexity", "score"):
        run("lm", command, "words.tacit", "marked.txt", "--markers", "skip")
    assert "contains a marker" in tacit_says("lm", "next", "words.tacit", "der <s>", code=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["perplexity", "wrods.tacit", "train.txt"], "but there is 'words.tacit'"),
        (["next", "elsewhere/m.tacit", "der"], "no model file 'elsewhere/m.tacit'"),
        (["perplexity", "train.txt", "train.txt"], "'train.txt' is not a model file"),
        (["sample", "tree.tacit"], "ChowLiuTree is not a language model"),
        (["score", "words.tacit", "train.txt", "-o", "x.txt"], ".csv, .tsv, .parquet"),
        (["score", "words.tacit", "train.txt", "-o", "elsewhere/x.csv"], "does not exist"),
        (["arpa", "words.tacit", "elsewhere/x.arpa"], "does not exist"),
        (["arpa", "classes.tacit", "x.arpa"], "but this is a ClassLM"),
        (["arpa", "cut.arpa", "x.tacit"], "'cut.arpa', line 5"),
        (["arpa", "many.arpa", "x.tacit"], "'many.arpa', line 6: expected '\\end\\'"),
        (["arpa", "nan.arpa", "x.tacit"], "'nan.arpa', line 5: 'NaN' is not a number"),
        (["arpa", "high.arpa", "x.tacit"], "'high.arpa', line 5: 1.5 is the logarithm"),
        (["arpa", "word.arpa", "x.tacit"], "but there is 'words.arpa'"),
        (["perplexity", "nan.arpa", "train.txt"], "'nan.arpa', line 5"),
        (["train", "train.txt", "-o", "x.tacit", "--vocabulary", "w.txt"], "'w.txt' is no file"),
        (["count", "train.txt", "-o", "x.counts", "--vocabulary", "latin.txt"], "not UTF-8"),
        (["count", "train.txt", "-o", "x.counts", "--vocabulary", "train.txt"], "occurs twice"),
        (["merge", "words.tacit", "-o", "x.counts"], "no folder of counts 'words.tacit'"),
    ],
)
def test_wrong_files_are_reported(run, folder, arguments, words):
    before = sorted(folder.iterdir())
    assert words in tacit_says("lm", *arguments, code=1)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trian", "train.txt"], "train"),
        (["train", "train.txt", "-o", "x.tacit", "--ordre", "2"], "--order"),
        (["train", "train.txt", "-o", "x.tacit", "--order", "zwei"], "--order"),
        (["train", "train.txt", "-o", "x.tacit", "--kind", "kneser"], "kneser-ney"),
        (["train", "train.txt"], "--output"),
        (["next", "words.tacit", "-k", "0"], "-k"),
    ],
)
def test_typos_are_reported(run, arguments, words):
    assert words in tacit_says("lm", *arguments, code=2)


def test_arpa_files_answer_like_models(run):
    for command, *arguments in (["perplexity", "train.txt"], ["next", "der"]):
        printed = [run("lm", command, name, *arguments) for name in ("words.tacit", "words.arpa")]
        assert printed[0].split()[0] == printed[1].split()[0]
        assert float(printed[0].split()[1]) == pytest.approx(float(printed[1].split()[1]), abs=2e-4)
