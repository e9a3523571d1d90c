"""Loaders of sequences, on the real files where they are and on made-up ones elsewhere."""

import io
import lzma
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tacit import datasets
from tacit.errors import ArgumentError, FileFormatError, MissingDataError

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")
needs_pautomac = pytest.mark.skipif(
    not (FOLDER / "pautomac").is_dir(), reason="the folder of TACIT_DATA lacks pautomac"
)
needs_postags = pytest.mark.skipif(
    not (FOLDER / "postags").is_dir(), reason="the folder of TACIT_DATA lacks postags"
)

SMALL = {
    "7.pautomac.train": "3 3\r\n2 0 2\r\n0\r\n1 1\r\n",
    "7.pautomac.test": "2 3\n0\n1 2\n",
    "7.pautomac_solution.txt": "2\n0.75\n0.25\n",
    "9.pautomac.test": "2 3\n0\n1 2\n",
}
HEADER = "problem\tkind_by_structure\tstates\talphabet\tn_train\tmean_len\tmin_perplexity\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    (tmp_path / "pautomac").mkdir()
    (tmp_path / "postags").mkdir()
    return tmp_path


def put_archive(folder, files, lines="7\tPNFA\t4\t3\t3\t1.0\t1.75\n", packed=True):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"pautomac/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    where = folder / "pautomac" / ("pautomac_42.tar.xz" if packed else "pautomac_42.tar")
    where.write_bytes(lzma.compress(content.getvalue()) if packed else content.getvalue())
    (folder / "pautomac" / "problems.tsv").write_text(HEADER + lines)


@pytest.mark.parametrize("packed", [True, False])
def test_a_problem_is_read_from_its_archive(folder, packed):
    put_archive(folder, SMALL, packed=packed)
    assert datasets.pautomac_numbers() == (7,)
    problem = datasets.load_pautomac(7)
    assert [one.tolist() for one in problem.train] == [[0, 2], [], [1]]
    assert [one.tolist() for one in problem.test] == [[], [2]]
    assert problem.target.tolist() == [0.75, 0.25]
    assert (problem.number, problem.n_symbols, problem.kind, problem.n_states) == (7, 3, "PNFA", 4)
    assert problem.minimum == 1.75


def test_the_score_is_least_for_the_truth_and_knows_no_common_factor(folder):
    put_archive(folder, SMALL)
    problem = datasets.load_pautomac(7)
    least = 2.0 ** -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert problem.score(np.log(problem.target) - 3.0) == pytest.approx(least, rel=1e-12)
    assert problem.score(np.log([0.5, 0.5])) == pytest.approx(2.0, rel=1e-12)
    assert problem.score(np.array([0.0, -np.inf])) == np.inf
    assert problem.score(np.array([-np.inf, -np.inf])) == np.inf
    with pytest.raises(ArgumentError, match="there are 2 test strings"):
        problem.score(np.zeros(3))


def test_a_problem_without_strings_to_learn_from_is_refused(folder):
    put_archive(folder, SMALL)
    with pytest.raises(ArgumentError, match="no problem 9 with training strings; there are 7"):
        datasets.load_pautomac(9)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("7.pautomac.train", "3 3\n2 0 2\n", "3 strings are announced, 1 are there"),
        ("7.pautomac.train", "1 3\n5 0 2\n", "cut off"),
        ("7.pautomac.train", "1 3\n2 0 3\n", "a symbol is 3, but 3 are announced"),
        ("7.pautomac.train", "1 3\n2 0 a\n", "not all are integers"),
        ("7.pautomac.train", "1", "no two counts"),
        ("7.pautomac_solution.txt", "2\n0.75\n", "has 1 probabilities for 2 strings"),
        ("7.pautomac_solution.txt", "2\n0.75\nx\n", "not all are numbers"),
    ],
)  # fmt: skip
def test_a_problem_of_another_form_is_refused(folder, name, text, words):
    put_archive(folder, {**SMALL, name: text})
    with pytest.raises(FileFormatError, match=words):
        datasets.load_pautomac(7)


def test_lacking_parts_are_named(folder):
    put_archive(folder, {name: text for name, text in SMALL.items() if name != "7.pautomac.test"})
    with pytest.raises(FileFormatError, match=r"7\.pautomac\.test is not there"):
        datasets.load_pautomac(7)


@pytest.mark.parametrize(
    ("lines", "words"), [("", "problem 7 has no line"), ("7\tHMM\tx\n", "the line of problem 7")]
)
def test_problems_are_described_in_a_table(folder, lines, words):
    put_archive(folder, SMALL, lines=lines)
    with pytest.raises(FileFormatError, match=words):
        datasets.load_pautomac(7)


def test_an_archive_that_is_none_or_empty_is_refused(folder):
    (folder / "pautomac" / "pautomac_42.tar").write_bytes(b"nothing of that kind" * 100)
    with pytest.raises(FileFormatError, match="expected an archive"):
        datasets.pautomac_numbers()
    put_archive(folder, {"readme.txt": "nothing"}, packed=False)
    with pytest.raises(MissingDataError, match="holds no training strings"):
        datasets.pautomac_numbers()


def test_tags_are_words_of_lines(folder):
    (folder / "postags" / "en_ewt.upos.dev.txt").write_text("DET NOUN\nVERB\n")
    assert datasets.load_postags("upos", "dev") == [["DET", "NOUN"], ["VERB"]]
    (folder / "postags" / "en_ewt.upos.dev.txt").write_text("DET NOUN\n\nVERB\n")
    with pytest.raises(FileFormatError, match="a line is empty"):
        datasets.load_postags("upos", "dev")
    (folder / "postags" / "en_ewt.upos.dev.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="expected a line of tags"):
        datasets.load_postags("upos", "dev")


def test_unknown_tags_and_splits_are_answered_with_those_there_are():
    with pytest.raises(ArgumentError, match="no tags 'pos'; there are upos, xpos"):
        datasets.load_postags("pos")
    with pytest.raises(ArgumentError, match="no split 'valid'; there are train, dev, test"):
        datasets.load_postags("upos", "valid")


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (lambda: datasets.load_pautomac(1), ("pautomac/pautomac_42.tar", "academic research only")),
        (datasets.load_postags, ("postags/en_ewt.upos.train.txt", "UD_English-EWT")),
    ],
)
def test_a_file_that_is_not_there_is_named(folder, load, words):
    with pytest.raises(MissingDataError) as caught:
        load()
    for word in (*words, str(folder)):
        assert word in str(caught.value)


@needs_pautomac
def test_real_problems_have_the_least_score_that_is_written_of_them():
    numbers = datasets.pautomac_numbers()
    assert len(numbers) == 41
    assert 22 not in numbers
    for number in (1, 4, 48):
        problem = datasets.load_pautomac(number)
        assert len(problem.train) in {20_000, 100_000}
        assert len(problem.test) == 1000
        assert max(int(one.max(initial=0)) for one in problem.train) == problem.n_symbols - 1
        least = problem.score(np.log(problem.target))
        # written with six digits after the point
        assert least == pytest.approx(problem.minimum, abs=2e-6)


@needs_postags
@pytest.mark.parametrize(("kind", "n_tags"), [("upos", 17), ("xpos", 49)])
def test_real_tags_are_as_many_as_the_treebank_counts(kind, n_tags):
    counts = {"train": (12_544, 204_577), "dev": (2_001, 25_147), "test": (2_077, 25_094)}
    for split, (n_sentences, n_words) in counts.items():
        actual = datasets.load_postags(kind, split)
        assert (len(actual), sum(map(len, actual))) == (n_sentences, n_words)
        if split == "train":
            assert len({tag for one in actual for tag in one}) == n_tags
