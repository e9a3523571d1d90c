"""Model selection by held-out rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tacit.core.selection import MARGIN, smallest_enough, surely_better

logs = st.floats(-20.0, 0.0)


def with_gain(base, errors, rng):
    """Rows of another model whose mean gain is so many of its own standard errors."""
    noise = rng.normal(size=len(base))
    noise = (noise - noise.mean()) / noise.std()
    return base + 0.1 * (noise + errors / np.sqrt(len(base)))


def test_of_models_equal_within_noise_the_smaller_is_kept_and_clearly_better_ones_are_taken():
    rng = np.random.default_rng(0)
    base = rng.normal(-5.0, 1.0, 400)
    less, more = (with_gain(base, MARGIN * fraction, rng) for fraction in (0.9, 1.1))
    assert less.mean() > base.mean()
    assert smallest_enough([base, less], None) == 0
    assert smallest_enough([base, more], None) == 1
    assert smallest_enough([base, less, more], None) == 2
    assert smallest_enough([base, more, base], None) == 1
    assert smallest_enough([base, base], None) == 0
    assert smallest_enough([base], None) == 0


def test_a_gain_within_rounding_is_none():
    base = np.random.default_rng(0).normal(-5.0, 1.0, 400)
    assert not surely_better(base + 4e-15, base, None)
    assert surely_better(base + 1e-6, base, None)


def test_gains_that_are_small_one_by_one_add_up():
    rng = np.random.default_rng(0)
    ladder = [rng.normal(-5.0, 1.0, 400)]
    for _ in range(8):
        ladder.append(with_gain(ladder[-1], 0.8 * MARGIN, rng))
    assert not any(surely_better(b, a, None, MARGIN) for a, b in pairwise(ladder))
    assert smallest_enough(ladder, None) > 3


@given(
    arrays.arrays(float, (3, 12), elements=logs),
    arrays.arrays(np.int64, 12, elements=st.integers(0, 4)).filter(lambda each: each.sum() > 0),
)
def test_weights_say_how_often_rows_are_there(tried, counts):
    weights = counts.astype(float)
    repeated = np.repeat(tried, counts, axis=1)
    # Exact ties, which rounding would decide, aside.
    gains = repeated[1:] - repeated[0]
    clear = np.abs(gains.mean(axis=1) - gains.std(axis=1) / np.sqrt(counts.sum())) > 1e-6
    for one, sure in zip((1, 2), clear, strict=True):
        if sure:
            assert surely_better(tried[one], tried[0], weights) == surely_better(
                repeated[one], repeated[0], None
            )


def test_rows_that_are_impossible_are_very_bad_and_do_not_hide_the_others():
    base = np.random.default_rng(0).normal(-5.0, 1.0, 50)
    better, impossible = base + 0.1, np.where(np.arange(50) < 9, -np.inf, base)
    assert surely_better(base, impossible, None)
    assert not surely_better(impossible, base, None)
    assert surely_better(np.append(better, -np.inf), np.append(base, -np.inf), None)
    assert not surely_better(np.full(50, np.nan), base, None)
    assert surely_better(base, np.full(50, np.nan), None)


@pytest.mark.parametrize("margin", [0.5, 1.0, 2.0])
def test_a_margin_is_counted_in_standard_errors(margin):
    rng = np.random.default_rng(1)
    base = rng.normal(-5.0, 1.0, 300)
    assert surely_better(with_gain(base, margin + 0.01, rng), base, None, margin)
    assert not surely_better(with_gain(base, margin - 0.01, rng), base, None, margin)
