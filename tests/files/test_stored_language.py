"""Stored language models still say what they said."""

import json

import pytest

import tacit
from oracles.stored_language import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_language_model_says_what_it_said(name):
    path = FOLDER / f"{name}.tacit"
    said = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found = answers(tacit.load(path))
    assert found.pop("words") == said.pop("words")
    assert found.keys() == said.keys()
    for what, value in said.items():
        assert found[what] == pytest.approx(value, rel=1e-12)
