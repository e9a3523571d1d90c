"""Damaged files of language models: an error, or a model that can be asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.files.model_files import read_model, write_model
from tacit.errors import FileFormatError

LINES = ["a b a c", "", "b a", "c c a b a", "a"]
OWN = ("format", "version")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    words = tacit.KneserNeyLM(order=3).fit(LINES)
    words.save(place / "words.tacit")
    tacit.ClassLM(order=2, n_classes=2, vocabulary=words.vocabulary_).fit(LINES).save(
        place / "classes.tacit"
    )
    return {name: read_model(place / f"{name}.tacit") for name in ("words", "classes")}


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_numbers_out_of_place_are_refused_or_harmless(saved, tmp_path_factory, data):
    header, arrays = saved[data.draw(st.sampled_from(sorted(saved)))]
    path = tmp_path_factory.mktemp("damaged") / "m.tacit"
    name = data.draw(st.sampled_from(sorted(arrays)))
    wrong = arrays[name].copy()
    what = data.draw(st.sampled_from(["number", "cut", "type", "none"]))
    if what == "number":
        place = data.draw(st.integers(0, len(wrong) - 1))
        low, high = (0, 255) if wrong.dtype == np.uint8 else (-(2**31), 2**31 - 1)
        near = st.integers(0, min(len(wrong), high))
        wrong[place] = data.draw(st.one_of(near, st.integers(low, high)))
    elif what == "cut":
        wrong = wrong[: data.draw(st.integers(0, len(wrong) - 1))]
    elif what == "type":
        wrong = wrong.astype(np.int16)
    changed = {key: value for key, value in arrays.items() if key != name}
    if what != "none":
        changed[name] = wrong
    write_model(path, {key: value for key, value in header.items() if key not in OWN}, changed)
    try:
        model = tacit.load(path)
    except FileFormatError:
        return
    model.score_samples(LINES)
    model.next_proba("a b")
    model.log_prob("c c c")
