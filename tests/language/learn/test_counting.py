"""Counting on disk gives the same model, goes on where it was broken off, and says when it starts over."""

import logging

import numpy as np
import pytest

from tacit.core.limits import memory_bytes
from tacit.errors import ArgumentError
from tacit.language.data.corpus import read_corpus
from tacit.language.files.counts import read_counts, write_counts
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.language.learn import counting as language_counting
from tacit.language.moments.ngram_counts import GramCounts, joint_counts
from tacit.language.power_low_rank_lm import PowerLowRankLM


def same(one, two):
    assert one.vocabulary_ == two.vocabulary_
    for name in ("offsets", "words", "suffixes", "firsts", "probs", "backoffs"):
        assert np.array_equal(getattr(one.model_, name), getattr(two.model_, name)), name


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr(language_counting, "_MIN_PIECE", 150)
    rng = np.random.default_rng(0)
    lines = [
        " ".join(f"w{int(i)}" for i in rng.zipf(1.5, rng.integers(0, 20)) if i < 500)
        for _ in range(120)
    ]
    path = tmp_path / "text.txt"
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.mark.parametrize("settings", [{}, {"min_count": 2, "order": 4}, {"pads": "all"}])
def test_counting_on_disk_gives_the_same_model(text, settings):
    same(KneserNeyLM(memory=1, **settings).fit(text), KneserNeyLM(**settings).fit(text))


@pytest.mark.parametrize(
    "settings", [{}, {"min_count": 2, "preset": "printed", "ranks": {2: (4,), 3: (2,)}}]
)
def test_counting_on_disk_gives_the_same_ensemble(text, tmp_path, settings):
    held_out = text.read_text().splitlines()[:20]
    expected = PowerLowRankLM(**settings).fit(text, validation=held_out)
    work = tmp_path / "work"
    actual = PowerLowRankLM(memory=1, folder=work, **settings).fit(text, validation=held_out)
    assert len(list(work.glob("piece-*"))) > 5
    assert actual.plans_ == expected.plans_
    assert actual.vocabulary_ == expected.vocabulary_
    assert np.array_equal(actual.line_scores(text).log_probs, expected.line_scores(text).log_probs)
    # Pieces of a temporary folder are gone after the fit; the model is not.
    model = PowerLowRankLM(memory=1, **settings).fit(text, validation=held_out)
    assert model.perplexity(text) == expected.perplexity(text)


def test_lists_are_read_twice_and_iterators_are_refused(text):
    lines = text.read_text().splitlines()
    same(KneserNeyLM(memory=1).fit(lines), KneserNeyLM().fit(lines))
    with pytest.raises(ArgumentError, match="an iterator can be read once"):
        KneserNeyLM(memory=1).fit(iter(lines))


def test_seven_shards_give_the_same_model(text, tmp_path):
    lines = text.read_text().splitlines()
    for place in range(7):
        counts = GramCounts.of(read_corpus(lines[place::7]), 3)
        write_counts(counts, tmp_path / f"{place}.counts", {"shard": place})
    actual = [read_counts(tmp_path / f"{place}.counts") for place in range(7)]
    assert [notes["shard"] for _, notes in actual] == list(range(7))
    joint = joint_counts([counts for counts, _ in actual], min_count=2)
    same(KneserNeyLM().fit_counts(joint), KneserNeyLM(min_count=2).fit(text))


def test_work_goes_on_where_it_was_broken_off(text, tmp_path, monkeypatch, caplog):
    folder, written = tmp_path / "work", []

    def until(stop):
        def write(counts, path, notes):
            if len(written) == stop:
                raise KeyboardInterrupt
            written.append(path.name)
            write_counts(counts, path, notes)

        monkeypatch.setattr(language_counting, "write_counts", write)

    until(3)
    with pytest.raises(KeyboardInterrupt):
        KneserNeyLM(memory=1, folder=folder).fit(text)
    until(None)
    with caplog.at_level(logging.WARNING):
        model = KneserNeyLM(memory=1, folder=folder).fit(text)
    assert written == sorted(set(written))  # no piece twice
    assert len(written) > 5
    assert not caplog.records
    same(model, KneserNeyLM().fit(text))
    # With other settings, or damaged pieces, it starts over and says so.
    with caplog.at_level(logging.WARNING):
        other = KneserNeyLM(order=2, memory=1, folder=folder).fit(text)
    assert "starts over" in caplog.text
    same(other, KneserNeyLM(order=2).fit(text))
    (folder / "piece-00002" / "words.2.npy").write_bytes(b"damaged")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        same(KneserNeyLM(order=2, memory=1, folder=folder).fit(text), other)
    assert "are damaged" in caplog.text


def test_an_empty_text_has_nothing_to_count(tmp_path):
    (tmp_path / "empty").write_text("")
    with pytest.raises(ValueError, match="the text is empty"):
        KneserNeyLM(memory="1GB").fit(tmp_path / "empty")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("2GB", 2e9), ("300 mb", 3e8), ("1.5k", 1500), (7, 7), ("10", 10), ("3B", 3)],
)
def test_memory_is_understood(text, wanted):
    assert memory_bytes(text) == wanted


@pytest.mark.parametrize("wrong", ["much", "-3MB", 0, True, 2.5, "0GB"])
def test_strange_memory_is_refused(wrong):
    with pytest.raises(ArgumentError, match="give bytes, or a text such as '2GB'"):
        memory_bytes(wrong)
