"""Values of headers: written as JSON and read back, refused where they are something else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.files import header_values as values
from tacit.core.files.json_values import from_json, to_json
from tacit.errors import ArgumentTypeError, FileFormatError

leaf = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
symbol = st.recursive(leaf, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)

REFUSED = [
    (values.text(), 3),
    (values.text("a", "b"), "c"),
    (values.texts(), ["a", 3]),
    (values.texts(), "ab"),
    (values.texts(), ["a", "a"]),
    (values.integer(), True),
    (values.integer(), 2.0),
    (values.integer(1, 3), 4),
    (values.integer(), 10**400),
    (values.number(), "1"),
    (values.number(), True),
    (values.number(), math.inf),
    (values.number(), math.nan),
    (values.number(), 10**400),
    (values.number(0, 1), 1.5),
    (values.numbers(), 3),
    (values.numbers(), [1, None]),
    (values.flag(), 1),
    (values.mapping(), [1]),
    (values.symbols(), "ab"),
    (values.symbols(), [{"tuple": [1], "more": 2}]),
    (values.symbols(), [{"tuple": 1}]),
    (values.symbols(), [[1]]),
    (values.symbols(), ["a", "b", "a"]),
]


@pytest.mark.parametrize(("form", "plain"), REFUSED)
def test_other_values_are_refused(form, plain):
    with pytest.raises(FileFormatError) as reported:
        form.from_plain(plain)
    assert len(str(reported.value)) < 200


@given(st.lists(symbol, unique=True).map(tuple))
def test_symbols_come_back(symbols):
    form = values.symbols()
    actual = form.from_plain(from_json(to_json(form.to_plain(symbols))))
    assert actual == symbols
    assert [type(one) for one in actual] == [type(one) for one in symbols]


def test_symbols_of_numpy_become_those_of_python():
    plain = values.symbols().to_plain((np.int64(3), np.str_("a"), np.float64(0.5)))
    assert plain == [3, "a", 0.5]
    assert [type(one) for one in plain] == [int, str, float]


def test_other_symbols_are_refused_on_writing():
    with pytest.raises(ArgumentTypeError, match="frozenset"):
        values.symbols().to_plain((frozenset(),))


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (values.text("a", "b"), "a"),
        (values.texts(), ("a", "b")),
        (values.integer(-3), -3),
        (values.number(), 0.1),
        (values.numbers(), (0.1, 2.0)),
        (values.flag(), True),
        (values.mapping(), {"a": [1, {"b": None}]}),
    ],
)
def test_values_come_back(form, value):
    assert form.from_plain(from_json(to_json(form.to_plain(value)))) == value
