"""Files of language models that were edited and signed again: an error, or a model that can be asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from oracles.edited_files import edited
from tacit.core.files.container import read_file, write_file
from tacit.errors import FileFormatError

LINES = ["a b a c", "", "b a", "c c a b a", "a"]
EXTREMES = [-(2**63), -(2**63) + 7, -1, 2**31 - 1, 2**62, 2**63 - 8, 2**63 - 1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    words = tacit.KneserNeyLM(order=3).fit(LINES)
    models = {
        "words": words,
        "classes": tacit.ClassLM(order=2, n_classes=2, vocabulary=words.vocabulary_).fit(LINES),
        "ensemble": tacit.PowerLowRankLM(order=3, random_state=0).fit(LINES),
    }
    for name, model in models.items():
        model.save(place / f"{name}.tacit")
    return {name: read_file(place / f"{name}.tacit") for name in models}


def asked(path):
    """Load a model and ask it, or be refused."""
    try:
        model = tacit.load(path)
    except FileFormatError:
        return None
    model.score_samples(LINES)
    model.predict_next_proba("a b")
    return model.scores("c c c")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_numbers_out_of_place_are_refused_or_harmless(saved, tmp_path_factory, data):
    header, arrays = saved[data.draw(st.sampled_from(sorted(saved)))]
    path = tmp_path_factory.mktemp("damaged") / "m.tacit"
    name = data.draw(st.sampled_from(sorted(name for name in arrays if arrays[name].size)))
    wrong = arrays[name].copy()
    what = data.draw(st.sampled_from(["number", "extreme", "cut", "type", "none"]))
    place = data.draw(st.integers(0, len(wrong) - 1))
    if what == "extreme":
        with np.errstate(over="ignore"):
            wrong[place] = np.array(data.draw(st.sampled_from(EXTREMES))).astype(wrong.dtype)
    elif what == "number":
        low, high = (0, 255) if wrong.dtype == np.uint8 else (-(2**31), 2**31 - 1)
        near = st.integers(0, min(len(wrong), high))
        wrong[place] = data.draw(st.one_of(near, st.integers(low, high)))
    elif what == "cut":
        wrong = wrong[:place]
    elif what == "type":
        wrong = wrong.astype(np.int16)
    changed = {key: value for key, value in arrays.items() if key != name}
    if what != "none":
        changed[name] = wrong
    write_file(path, header, changed)
    asked(path)


@pytest.mark.parametrize("place", range(1, 5))
def test_contexts_that_wrap_around_are_refused(saved, tmp_path, place):
    """Differences of the largest and smallest integers are small ones again."""
    header, arrays = saved["words"]
    firsts = arrays["model.firsts"].copy()
    firsts[place] = -(2**63) + int(firsts[place])
    firsts[place - 1] = 2**63 - 1
    write_file(tmp_path / "m.tacit", header, {**arrays, "model.firsts": firsts})
    with pytest.raises(FileFormatError, match=r"model\.firsts"):
        tacit.load(tmp_path / "m.tacit")


@pytest.mark.parametrize(("name", "of"), [("rows", "ranks"), ("columns", "ranks")])
def test_parts_of_factors_that_wrap_around_are_refused(saved, tmp_path, name, of):
    """A place near the largest integer and a length make a small sum."""
    path = tmp_path / "m.tacit"
    write_file(path, *saved["ensemble"])
    arrays = saved["ensemble"][1]
    places = arrays[f"model.{name}"].copy()
    places[places >= 0] = 2**63 - 2
    edited(path, {f"model.{name}": places})
    with pytest.raises(FileFormatError, match="within its factor"):
        tacit.load(path)
    lengths = np.full_like(arrays[f"model.{of}"], 2**63 - 1)
    edited(path, {f"model.{name}": np.maximum(arrays[f"model.{name}"], 1), f"model.{of}": lengths})
    with pytest.raises(FileFormatError, match="within its factor"):
        tacit.load(path)
