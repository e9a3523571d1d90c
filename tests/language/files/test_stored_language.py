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
    said = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found = answers(tacit.load(path))
    assert found.pop("words") == said.pop("words")
    assert found.keys() == said.keys()
    for what, value in said.items():
        assert found[what] == pytest.approx(value, rel=1e-12)


def test_stored_counts_are_what_they_were():
    found, notes = read_counts(COUNTS)
    wanted = counts()
    assert notes == {"some": "notes"}
    assert (found.vocabulary, found.pads, found.n_lines) == (wanted.vocabulary, 1, wanted.n_lines)
    for one, two in zip(found.tables, wanted.tables, strict=True):
        for name in ("words", "suffixes", "counts", "starts"):
            assert np.array_equal(getattr(one, name), getattr(two, name))
