"""Stored topic models still say what they said."""

import json

import pytest

from oracles.stored_topics import FOLDER, MODELS, answers
from tacit.core.files.load import load


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_topic_model_says_what_it_said(name):
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    actual = answers(load(FOLDER / f"{name}.tacit"))
    assert actual.keys() == recorded.keys()
    for what, values in recorded.items():
        if what in ("shares", "perplexity", "coherence", "alpha"):
            # Machines differ in the last digits of sums.
            assert actual[what] == pytest.approx(values, rel=1e-7, abs=1e-12)
        elif what == "arguments":
            assert {name: actual[what][name] for name in values} == values  # later ones have more
        else:
            assert actual[what] == values
