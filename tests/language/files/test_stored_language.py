"""Stored language models still say what they said."""

import json

import numpy as np
import pytest

import tacit
from oracles.stored_language import COUNTS, FOLDER, MODELS, answers, counts
from tacit.language.files.counts import read_counts


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_language_model_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    recorded = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    actual = answers(tacit.load(path))
    assert actual.pop("words") == recorded.pop("words")
    assert actual.keys() == recorded.keys()
    for what, value in recorded.items():
        assert actual[what] == pytest.approx(value, rel=1e-12)


def test_stored_counts_are_what_they_were():
    actual, notes = read_counts(COUNTS)
    expected = counts()
    assert notes == {"some": "notes"}
    assert (actual.vocabulary, actual.pads, actual.n_lines) == (
        expected.vocabulary,
        1,
        expected.n_lines,
    )
    for one, two in zip(actual.tables, expected.tables, strict=True):
        for name in ("words", "suffixes", "counts", "starts"):
            assert np.array_equal(getattr(one, name), getattr(two, name))
