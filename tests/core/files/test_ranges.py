"""Ranges of arrays in files: what they accept, what they refuse, and that no extreme wraps around."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.files import ranges

LARGEST, SMALLEST = 2**63 - 1, -(2**63)

ACCEPTED = [
    (ranges.finite, [0.0, -1e308]),
    (ranges.moderate, [1e100, -1e100]),
    (ranges.within(0, 1), [0.0, 1.0]),
    (ranges.not_negative, [0.0, 1e308]),
    (ranges.positive, [1e-100, 1e308]),
    (ranges.probabilities, [[0.25, 0.75], [0.0, 1.0]]),
    (ranges.covariances, [[[2.0, 1.0], [1.0, 2.0]]]),
    (ranges.below("n"), [0, 4]),
    (ranges.below("n", -1), [-1, 4]),
    (ranges.offsets("n"), [0, 0, 3, 5]),
    (ranges.rising, [1, 1, 2]),
    (ranges.ascending, [SMALLEST, 0, LARGEST]),
    (ranges.below("n"), []),
    (ranges.not_negative, []),
]
REFUSED = [
    (ranges.finite, [0.0, np.nan]),
    (ranges.finite, [-np.inf]),
    (ranges.moderate, [1e101]),
    (ranges.within(0, 1), [0.0, 1.1]),
    (ranges.within(0, 1), [np.nan]),
    (ranges.not_negative, [-1e-300]),
    (ranges.positive, [0.0]),
    (ranges.positive, [1e-310]),
    (ranges.probabilities, [[0.25, 0.7], [0.0, 1.0]]),
    (ranges.probabilities, [[-0.5, 1.5]]),
    (ranges.probabilities, [[1e308, 1e308]]),
    (ranges.covariances, [[[2.0, 1.0], [0.0, 2.0]]]),
    (ranges.covariances, [[[1.0, 2.0], [2.0, 1.0]]]),
    (ranges.covariances, [[[1e-310]]]),
    (ranges.covariances, [[[1e300]]]),
    (ranges.below("n"), [5]),
    (ranges.below("n"), [-1]),
    (ranges.below("n"), [LARGEST]),
    (ranges.below("n", -1), [SMALLEST]),
    (ranges.offsets("n"), [0, 3, 2, 5]),
    (ranges.offsets("n"), [0, LARGEST, SMALLEST, 5]),
    (ranges.offsets("n"), [0, 6]),
    (ranges.offsets("n"), [1, 5]),
    (ranges.rising, [LARGEST, SMALLEST]),
    (ranges.ascending, [1, 1]),
    (ranges.ascending, [LARGEST, SMALLEST]),
]


@pytest.mark.parametrize(("check", "numbers"), ACCEPTED)
def test_numbers_within_a_range_are_accepted(check, numbers):
    assert check(np.array(numbers), {"n": 5}) is None


@pytest.mark.parametrize(("check", "numbers"), REFUSED)
def test_numbers_outside_of_a_range_are_refused(check, numbers):
    assert check(np.array(numbers), {"n": 5})


edges = st.sampled_from([SMALLEST, -2, -1, 0, 1, 3, 7, 8, 9, LARGEST - 3, LARGEST])


@given(st.lists(st.tuples(edges, edges), min_size=1, max_size=4), st.integers(0, 8))
def test_parts_lie_within_an_array_where_python_says_so(parts, size):
    starts, lengths = np.array(parts, dtype=np.int64).T
    expected = all(
        0 <= length <= size and (start == -1 or 0 <= start <= start + length <= size)
        for start, length in parts
    )
    assert ranges.parts_within(starts, lengths, size) == expected
