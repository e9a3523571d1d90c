"""Declared records: written and read back, refused where a file violates the declaration."""

from collections import ChainMap
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.files.fields import Array, Field, Many, OneOf, Record, Source
from tacit.core.files.header_values import integer, number, texts
from tacit.core.files.ranges import below, offsets, probabilities
from tacit.errors import FileFormatError


@dataclass
class Chain:
    start: np.ndarray
    next: np.ndarray
    emit: tuple


@dataclass
class Lines:
    slope: np.ndarray
    scale: float
    more: np.ndarray | None = None


@dataclass
class Whole:
    words: tuple
    places: np.ndarray
    starts: np.ndarray
    parts: tuple


CHAIN = Record(
    Chain,
    Field("start", Array("state", probabilities)),
    Field("next", Array("state state", probabilities)),
    Field("emit", Many(Array("state width", probabilities), item_sizes="width", least=1)),
    check=lambda start, **_: "is hopeless" if start[0] == 1 else None,
)
LINES = Record(
    Lines,
    Field("slope", Array("2 word+1", empty=True)),
    Field("scale", number(0)),
    Field("more", Array("word*word", dtype=(np.float32, np.float64)), optional=True),
)
WHOLE = Record(
    Whole,
    Field("words", texts(), sizes={"word": len, "width": lambda words: tuple(map(len, words))}),
    Field("places", Array("place", below("word", -1), dtype=np.int32)),
    Field("starts", Array("part+1", offsets("place"), dtype=np.int64)),
    Field("parts", Many(OneOf(chain=CHAIN, lines=LINES)), sizes={"part": len}),
)


def simplex(rng, *shape):
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1])


def whole(kinds="cl", n_states=2, seed=0):
    rng = np.random.default_rng(seed)
    words = ("of", "a", "kind")
    parts = []
    for kind in kinds:
        if kind == "c":
            emit = tuple(simplex(rng, n_states, len(word)) for word in words)
            parts.append(Chain(simplex(rng, n_states), simplex(rng, n_states, n_states), emit))
        else:
            more = rng.normal(size=9).astype(np.float32) if rng.random() < 0.5 else None
            parts.append(Lines(rng.normal(size=(2, 4)), float(rng.random()), more))
    starts = np.sort(rng.integers(0, 5, len(kinds) + 1))
    starts[0], starts[-1] = 0, 5
    return Whole(words, rng.integers(-1, 3, 5).astype(np.int32), starts, tuple(parts))


def written(value):
    arrays = {}
    return WHOLE.write(value, "", arrays), arrays


def read(plain, arrays):
    source = Source(dict(arrays))
    actual = WHOLE.read(plain, "", source, ChainMap({}))
    assert not source.arrays
    return actual


def same(one, two):
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if hasattr(one, "__dict__"):
        return type(one) is type(two) and same(tuple(vars(one).values()), tuple(vars(two).values()))
    return one == two


@given(st.text("cl", min_size=1, max_size=3), st.integers(2, 4), st.integers(0, 99))
def test_what_is_written_is_read_back(kinds, n_states, seed):
    value = whole(kinds, n_states, seed)
    assert same(read(*written(value)), value)


def test_values_and_arrays_stand_under_the_names_of_their_fields():
    plain, arrays = written(whole())
    assert plain["words"] == ["of", "a", "kind"]
    assert plain["parts"][0] == {"kind": "chain", "emit": [None] * 3}
    assert {"places", "starts", "parts.0.start", "parts.0.emit.2"} < set(arrays)


def changed(**changes):
    """A header and arrays with some of them replaced, or left out where the new one is None."""
    plain, arrays = written(whole())
    for name, new in changes.items():
        where = arrays if name.replace("__", ".") in arrays else plain
        if new is None:
            del where[name.replace("__", ".")]
        else:
            where[name.replace("__", ".")] = new(where[name.replace("__", ".")])
    return plain, arrays


REFUSED = {
    "absent value": ("'words' is missing", {"words": None}),
    "absent array": ("'places' is missing", {"places": None}),
    "absent inner array": (r"'parts.0.emit.1' is missing", {"parts__0__emit__1": None}),
    "other type": ("has type int64", {"places": lambda a: a.astype(np.int64)}),
    "other axes": ("has shape", {"places": lambda a: a[None]}),
    "empty": ("is empty", {"places": lambda a: a[:0]}),
    "index": ("index outside of -1 to 2", {"places": lambda a: a + np.int32(3)}),
    "falling offsets": ("falls", {"starts": lambda _: np.array([0, 7, 5])}),
    "other end": ("from 0 to 5", {"starts": lambda _: np.array([0, 3, 4])}),
    "sizes that disagree": ("part", {"starts": lambda _: np.array([0, 1, 2, 5])}),
    "size of an inner array": (r"parts\.0\.next", {"parts__0__next": lambda a: a[:1]}),
    "size of an item": (r"parts\.0\.emit\.2", {"parts__0__emit__2": lambda a: a[:, :2]}),
    "infinity": ("infinities", {"parts__1__slope": lambda a: a * np.inf}),
    "probabilities": ("sum to one", {"parts__0__start": lambda a: a / 2}),
    "check of all fields": ("hopeless", {"parts__0__start": lambda _: np.array([1.0, 0.0])}),
    "twice the same": ("twice", {"words": lambda _: ["a", "a", "a"]}),
    "no list": ("'parts' is not a list", {"parts": lambda _: {}}),
    "no object": ("kind None", {"parts": lambda p: [3, p[1]]}),
    "kind": ("'pickle'", {"parts": lambda p: [p[0], {**p[1], "kind": "pickle"}]}),
    "number": ("not a number", {"parts": lambda p: [p[0], {**p[1], "scale": "1"}]}),
    "too few items": ("at least 1", {"parts": lambda p: [{**p[0], "emit": []}, p[1]]}),
    "items that disagree": ("not of 3", {"parts": lambda p: [{**p[0], "emit": [None]}, p[1]]}),
    "unknown field": ("not known", {"parts": lambda p: [p[0], {**p[1], "code": "x"}]}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_violates_the_declaration_is_refused(name):
    reported, changes = REFUSED[name]
    with pytest.raises(FileFormatError, match=reported):
        read(*changed(**changes))


def test_fields_that_are_not_known_are_left_alone_in_older_formats():
    plain, arrays = written(whole())
    source = Source(arrays | {"more": np.zeros(1)}, strict=False)
    assert WHOLE.read({**plain, "more": 1}, "", source, ChainMap({})).words == whole().words


extremes = st.sampled_from([-(2**63), -(2**63) + 1, -1, 0, 1, 5, 6, 2**62, 2**63 - 1])


@given(st.lists(extremes, min_size=3, max_size=3))
def test_offsets_of_extreme_integers_are_refused_unless_they_are_offsets(numbers):
    plain, arrays = written(whole())
    arrays["starts"] = np.array(numbers)
    if numbers[0] == 0 and numbers[2] == 5 and 0 <= numbers[1] <= 5:
        assert same(read(plain, arrays).starts, arrays["starts"])
    else:
        with pytest.raises(FileFormatError, match="starts"):
            read(plain, arrays)


def test_errors_while_a_value_is_made_name_its_place():
    def make(n):
        return 1 // n

    record = Record(object, Field("n", integer()), make=make)
    whole = Record(object, Field("inner", record), make=dict)
    with pytest.raises(FileFormatError, match=r"'inner' ZeroDivisionError"):
        whole.read({"inner": {"n": 0}}, "", Source({}), ChainMap({}))


def test_an_empty_array_does_not_say_how_long_its_other_axes_are():
    record = Record(dict, Field("a", Array("row column", empty=True)))
    source = Source({"a": np.zeros((0, 10**9))})
    with pytest.raises(FileFormatError, match="nothing else says"):
        record.read({}, "", source, ChainMap({}))


def test_a_class_that_is_not_declared_is_not_written():
    with pytest.raises(TypeError, match="files do not hold"):
        written(Whole((), np.zeros(1), np.zeros(1), ("text",)))
