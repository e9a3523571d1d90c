"""`tacit fit topics` and `tacit topics` against what the model itself says."""

import json

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says
from tacit.topics.data.read_documents import read_documents
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import random_topics, sample_documents

LINES = ["cat dog cat vet", "tax law tax bill the law", "the cat vet dog", "law bill tax the"] * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("topics")
    (place / "documents.txt").write_text("\n".join([*LINES, ""]))
    documents = read_documents([line.split() for line in LINES])
    rows, columns = documents.counts.nonzero()
    entries = zip(rows + 1, columns + 1, documents.counts.data, strict=True)
    lines = [documents.n_documents, documents.n_words, len(rows)]
    lines += [f"{d} {w} {c}" for d, w, c in entries]
    (place / "docword.txt").write_text("\n".join([*map(str, lines), ""]))
    (place / "vocab.txt").write_text("\n".join([*documents.words, ""]))
    TopicModel(2).fit(documents).save(place / "topics.tacit")
    return place


@pytest.fixture(scope="module")
def model(folder):
    return tacit.load(folder / "topics.tacit")


@pytest.mark.parametrize("data", [("documents.txt",), ("docword.txt", "--vocabulary", "vocab.txt")])
def test_fit_learns_what_the_model_learns_from_any_form(folder, model, data, monkeypatch):
    monkeypatch.chdir(folder)
    printed = tacit_says("fit", "topics", *data, "-k", "2", "-o", "found.tacit")
    assert printed == "2 topics of 48 documents, 7 words; saved as found.tacit\n"
    loaded = tacit.load("found.tacit")
    assert loaded.words_ == model.words_
    # A file is read in fewer passes, batch by batch.
    assert loaded.components_ == pytest.approx(model.components_, abs=1e-3)


def test_words_are_left_out_on_request(folder, monkeypatch):
    monkeypatch.chdir(folder)
    tacit_says("fit", "topics", "documents.txt", "-k", "2", "-o", "a.tacit", "--english")
    assert tacit.load("a.tacit").words_ == ("cat", "dog", "law", "tax", "vet")  # "bill" is one, too
    rules = ("--max-df", "0.5", "--min-df", "13")
    printed = tacit_says(
        "fit", "topics", "documents.txt", "-k", "2", "-o", "b.tacit", *rules, "--json"
    )
    assert json.loads(printed)["n_words"] == 6
    assert "the" not in tacit.load("b.tacit").words_


def test_the_number_of_topics_is_chosen_and_reported(folder, monkeypatch):
    monkeypatch.chdir(folder)
    printed = json.loads(tacit_says("fit", "topics", "docword.txt", "-o", "auto.tacit", "--json"))
    assert str(printed["n_topics"]) in printed["perplexities"]
    # Without a vocabulary words go by their places, and other counts over as many words fit.
    known = tacit.load("auto.tacit").perplexity("docword.txt")
    printed = json.loads(tacit_says("topics", "score", "auto.tacit", "docword.txt", "--json"))
    assert printed["perplexity"] == pytest.approx(known)


def test_arguments_reach_the_model(folder, monkeypatch):
    monkeypatch.chdir(folder)
    options = ("--learn", "moments", "--alpha0", "0.5", "--seed", "3")
    tacit_says("fit", "topics", "documents.txt", "-k", "2", "-o", "c.tacit", *options)
    loaded = tacit.load("c.tacit")
    assert (loaded.learn, loaded.topics_.alpha0, loaded.random_state) == ("moments", 0.5, 3)
    tacit_says("fit", "topics", "documents.txt", "-k", "2", "-o", "d.tacit", "--model", "single")
    assert tacit.load("d.tacit").topics_.model == "single"


def test_topics_are_shown(folder, model):
    shown = tacit_says("topics", "show", folder / "topics.tacit", "-n", "2")
    lines = shown.splitlines()
    assert lines[0].split() == ["topic", "weight", "words"]
    assert lines[1].split() == ["0", f"{model.topics_.weights[0]:.4f}", *model.top_words(2)[0]]
    printed = json.loads(tacit_says("topics", "show", folder / "topics.tacit", "--json"))
    assert [topic["words"] for topic in printed] == model.top_words(10)
    assert "2 topics, 7 words, alpha0" in tacit_says("info", folder / "topics.tacit")
    assert (
        json.loads(tacit_says("info", folder / "topics.tacit", "--json"))["estimator"]
        == "TopicModel"
    )


def test_documents_are_taken_apart_and_scored(folder, model):
    lists = [line.split() for line in LINES]
    for data in (
        (folder / "documents.txt",),
        (folder / "docword.txt", "--vocabulary", folder / "vocab.txt"),
    ):
        rows = rows_of(tacit_says("topics", "apply", folder / "topics.tacit", *data))
        weights = np.array([[float(row["topic0"]), float(row["topic1"])] for row in rows])
        assert weights == pytest.approx(model.transform(lists))
        printed = json.loads(
            tacit_says("topics", "score", folder / "topics.tacit", *data, "--json")
        )
        assert printed["perplexity"] == pytest.approx(model.perplexity(lists))
        assert printed["score"] == pytest.approx(model.score(lists))
        assert printed["coherences"] == pytest.approx(model.coherence(lists).tolist())
    output = tacit_says("topics", "score", folder / "topics.tacit", folder / "documents.txt")
    assert output.startswith(f"perplexity {model.perplexity(lists):.2f} of half of 48 documents\n")


def test_mistakes_are_reported_in_a_line(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    fit = ("fit", "topics", "documents.txt", "-o", "e.tacit")
    assert "or fewer" in tacit_says(*fit, "-k", "7", "--learn", "moments", code=1)
    assert "neither a number nor auto" in tacit_says(*fit, "-k", "many", code=2)
    assert "line 1" in tacit_says(*fit, "-k", "2", "--form", "lda-c", code=1)
    (tmp_path / "few.txt").write_text("a\nb\n")
    few = ("--vocabulary", tmp_path / "few.txt", "-o", "e.tacit")
    assert "has 7 words, but" in tacit_says("fit", "topics", "docword.txt", *few, code=1)
    absent = tacit_says("fit", "topics", "absent.txt", "-o", "e.tacit", code=1)
    assert "there is no file of documents 'absent.txt'" in absent
    assert not (folder / "e.tacit").exists()
    assert "`tacit topics`" in tacit_says("score", "topics.tacit", "documents.txt", code=1)
    (tmp_path / "other.txt").write_text("fish\nfowl\n")
    (tmp_path / "other.ldac").write_text("1 0:2\n1 1:2\n")
    other = (tmp_path / "other.ldac", "--vocabulary", tmp_path / "other.txt")
    assert "counted over another vocabulary" in tacit_says(
        "topics", "apply", "topics.tacit", *other, code=1
    )
    tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"]]).save(tmp_path / "tree.tacit")
    assert "ChowLiuTree is not a topic model" in tacit_says(
        "topics", "show", tmp_path / "tree.tacit", code=1
    )


def test_documents_are_drawn(folder, model, tmp_path):
    path = folder / "topics.tacit"
    command = ("topics", "sample", path, "-n", "3", "--length", "5", "--seed", "0")
    printed = tacit_says(*command)
    drawn = model.sample(3, length=5, random_state=0)
    assert [line.split() for line in printed.splitlines()] == drawn.lists()
    assert read_documents(drawn.lists(), model.words_).counts.toarray().tolist() == (
        drawn.counts.toarray().tolist()
    )
    tacit_says(*command, "-o", tmp_path / "drawn.txt")
    assert (tmp_path / "drawn.txt").read_text() == printed


def test_topics_are_drawn_as_a_picture(folder, tmp_path):
    tacit_says("plot", folder / "topics.tacit", "-o", tmp_path / "topics.svg")
    drawn = (tmp_path / "topics.svg").read_text()
    assert "share of all words" in drawn
    assert "law" in drawn
    more = ("--kind", "singular-values")
    tacit_says("plot", folder / "topics.tacit", "-o", tmp_path / "values.svg", *more)
    assert "noise" in (tmp_path / "values.svg").read_text()
    for option in (("--kind", "tree"), ("--density", "cat")):
        printed = tacit_says("plot", folder / "topics.tacit", "-o", "x.svg", *option, code=1)
        assert "use `tacit topics`" in printed


def test_settings_of_moments_reach_the_model(folder, monkeypatch):
    monkeypatch.chdir(folder)
    options = ("--weighting", "pool", "--cap", "none", "--solver", "als", "--steps", "2")
    tacit_says("fit", "topics", "documents.txt", "-k", "2", "-o", "g.tacit", *options)
    params = tacit.load("g.tacit").get_params()
    assert [params[name] for name in ("weighting", "cap", "solver", "n_steps")] == [
        *("pool", None, "als", 2)
    ]
    tacit_says("fit", "topics", "documents.txt", "-k", "2", "-o", "g.tacit", "--cap", "auto")
    assert tacit.load("g.tacit").cap == "auto"
    fit = ("fit", "topics", "documents.txt", "-k", "2", "-o", "h.tacit")
    assert "neither a number nor auto" in tacit_says(*fit, "--cap", "few", code=2)
    assert "cap=0" in tacit_says(*fit, "--cap", "0", code=1)


def test_surplus_topics_are_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = sample_documents(random_topics(2, 30, random_state=0), 300, 30, random_state=1)
    (tmp_path / "drawn.txt").write_text("".join(" ".join(words) + "\n" for words in drawn.lists()))
    fit = ("fit", "topics", "drawn.txt", "-k", "4", "-o", "drawn.tacit", "--learn", "moments")
    printed = tacit_says(*fit)
    assert printed.startswith(
        "4 topics (2 surplus: not distinguishable from noise) of 300 documents"
    )
    assert json.loads(tacit_says(*fit, "--json"))["surplus"] == [2, 3]
    assert "surplus topics" in tacit_says("info", "drawn.tacit")


def test_what_cannot_work_is_reported_before_the_work(folder, monkeypatch):
    monkeypatch.chdir(folder)
    fit = ("fit", "topics", "documents.txt", "-k", "99")  # which is refused later
    assert "nowhere' does not exist" in tacit_says(*fit, "-o", "nowhere/a.tacit", code=1)
    assert "say 'a.tacit'" in tacit_says(*fit, "-o", "a.txt", code=1)


def test_words_that_a_model_never_met_are_reported(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    (tmp_path / "other.txt").write_text("fish fowl\nfowl\n")
    for command in ("apply", "score"):
        printed = tacit_says("topics", command, "topics.tacit", tmp_path / "other.txt", code=1)
        assert "were they counted over another vocabulary?" in printed
    (tmp_path / "more.ldac").write_text("1 9:2\n")
    printed = tacit_says("topics", "score", "topics.tacit", tmp_path / "more.ldac", code=1)
    assert "has 10 words, the model 7; say which words these are with --vocabulary FILE" in printed


def test_nothing_is_left_of_a_fit_that_is_interrupted(folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.core.files.atomic._put", interrupted)
    tacit_says("fit", "topics", "documents.txt", "-k", "2", "-o", "i.tacit", code=130)
    assert sorted(folder.iterdir()) == before
