"""Plain values as strict JSON, and back."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.files.json_values import from_json, to_json
from tacit.errors import ArgumentTypeError, FileFormatError

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4)
)
keys = st.text(st.sampled_from(list("$float a")), max_size=6) | st.just("$float")
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)


@given(values)
def test_reading_what_was_written_gives_the_same_values(value):
    assert from_json(to_json(value)) == value


@given(values)
def test_what_is_written_is_strict_json_in_ascii(value):
    def refuse(word):
        raise AssertionError(word)

    text = to_json(value)
    assert text.isascii()
    json.loads(text, parse_constant=refuse)


def test_nan_comes_back():
    assert math.isnan(from_json(to_json([math.nan]))[0])


def test_lone_surrogates_come_back():
    assert from_json(to_json("\udc80")) == "\udc80"


def test_numbers_and_arrays_of_numpy_become_plain():
    value = {"a": np.float64(0.5), 3: np.int16(2), "c": np.bool_(True), "d": np.eye(2), "e": (1,)}
    expected = {"a": 0.5, "3": 2, "c": True, "d": [[1.0, 0.0], [0.0, 1.0]], "e": [1]}
    actual = from_json(to_json(value))
    assert actual == expected
    assert type(actual["c"]) is bool


def test_anything_else_is_refused_by_name():
    with pytest.raises(ArgumentTypeError, match="object"):
        to_json({"a": [object()]})


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, b"\xff\xff"])
def test_a_damaged_text_is_a_format_error(text):
    with pytest.raises(FileFormatError, match="not JSON"):
        from_json(text)


def test_values_nest_a_hundred_deep_and_no_deeper():
    deep = "[" * 101 + "]" * 101
    assert to_json(from_json(deep)) == deep
    for levels in (102, 480, 496):  # Python's stack would hold some of these, wherever it is called
        with pytest.raises(FileFormatError, match="more than 100 lists and dicts"):
            from_json("[" * levels + "]" * levels)
    with pytest.raises(ArgumentTypeError, match="at most 100 lists and dicts"):
        to_json([from_json(deep)])


def test_a_damaged_mark_of_a_number_stays_what_it_is():
    assert from_json('{"$float": [1]}') == {"$float": [1]}
