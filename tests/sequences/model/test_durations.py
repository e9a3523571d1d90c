"""Durations of states: their distributions, and their likeliest values given segments."""

import numpy as np
import pytest
from scipy.stats import nbinom

from tacit.sequences.model.durations import (
    DurationTable,
    NegativeBinomialDurations,
    SegmentChain,
    SegmentCounts,
    duration_probabilities,
    duration_quantiles,
    mean_durations,
    segment_transitions,
    survival,
)

HAZARDS = np.array([[0.1, 0.5, 0.2], [1.0, 0.3, 0.4], [0.05, 0.05, 0.05]])


def test_durations_have_a_geometric_tail():
    probabilities = duration_probabilities(HAZARDS, 2000)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert probabilities[0, :4] == pytest.approx([0.1, 0.45, 0.45 * 0.2, 0.36 * 0.2])
    assert probabilities[2] == pytest.approx(0.05 * 0.95 ** np.arange(2000))
    assert survival(HAZARDS, 3)[0] == pytest.approx([1, 0.9, 0.45])
    durations = np.arange(1, 2001)
    assert mean_durations(HAZARDS) == pytest.approx(probabilities @ durations)
    levels = np.array([0.05, 0.5, 0.95])
    for row, quantiles in zip(probabilities, duration_quantiles(HAZARDS, levels), strict=True):
        for level, quantile in zip(levels, quantiles, strict=True):
            assert row[: int(quantile)].sum() >= level - 1e-12
            assert row[: int(quantile) - 1].sum() < level


@pytest.mark.parametrize("size", [0.3, 1.0, 8.0, 400.0])
@pytest.mark.parametrize("mean", [0.01, 3.0, 60.0])
def test_hazards_of_negative_binomial_numbers_are_those_of_their_table(size, mean):
    durations = NegativeBinomialDurations(np.array([size]), np.array([mean]), 80)
    more = np.arange(80)
    chance = size / (size + mean)
    exactly, at_least = nbinom.pmf(more, size, chance), nbinom.sf(more - 1, size, chance)
    likely = at_least > 1e-9
    assert durations.hazards[0, likely] == pytest.approx((exactly / at_least)[likely], rel=1e-6)
    assert ((durations.hazards > 0) & (durations.hazards < 1)).all()


def test_hazards_at_the_limits_have_means_and_quantiles():
    hazards = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    assert mean_durations(hazards)[[0, 2]] == pytest.approx([2, 1])
    assert mean_durations(hazards)[1] > 1e9
    quantiles = duration_quantiles(hazards, np.array([0.5]))[:, 0]
    assert quantiles[[0, 2]].tolist() == [2, 1]
    assert quantiles[1] > 1e9


def drawn_counts(durations, n, n_ages, rng, cut=None):
    """Counts of drawn segments; those of `cut` positions and more are censored there."""
    endings, stays = np.zeros((1, n_ages)), np.zeros((1, n_ages))
    for duration in durations(n, rng):
        seen = duration if cut is None else min(duration, cut)
        for age in range(1, seen):
            stays[0, min(age, n_ages) - 1] += 1
        if cut is None or duration < cut:
            endings[0, min(duration, n_ages) - 1] += 1
    return SegmentCounts(endings, stays)


def test_a_table_is_the_estimate_of_kaplan_and_meier():
    counts = SegmentCounts(np.array([[2.0, 0, 5, 0]]), np.array([[8.0, 8, 1, 0]]))
    table = DurationTable(np.full((1, 4), 0.3)).maximised(counts)
    assert table.hazards == pytest.approx(np.array([[0.2, 0, 5 / 6, 0.3]]), abs=1e-9)
    likelihood = counts.log_likelihood(table.hazards)
    for place in (0, 2):
        for factor in (0.99, 1.01):
            other = table.hazards.copy()
            other[0, place] *= factor
            assert counts.log_likelihood(other) < likelihood


@pytest.mark.parametrize("cut", [None, 12])
def test_parameters_are_recovered_from_complete_and_from_censored_segments(cut):
    size, mean = 5.0, 9.0

    def durations(n, rng):
        return 1 + rng.negative_binomial(size, size / (size + mean), n)

    counts = drawn_counts(durations, 20_000, 60, np.random.default_rng(0), cut)
    start = NegativeBinomialDurations(np.ones(1), np.ones(1), 60)
    fitted = start.maximised(counts)
    assert fitted.sizes[0] == pytest.approx(size, rel=0.05)
    assert fitted.means[0] == pytest.approx(mean, rel=0.02)
    table = DurationTable(np.full((1, 60), 0.5)).maximised(counts)
    assert table.hazards[0, :10] == pytest.approx(fitted.hazards[0, :10], abs=0.02)


def test_flat_parameters_are_the_durations():
    table = DurationTable(HAZARDS[[0, 2]])
    assert table.of_flat(3 * table.flat).hazards == pytest.approx(table.hazards)
    negative = NegativeBinomialDurations(np.array([1.0, 4]), np.array([2.0, 3]), 7)
    again = negative.of_flat(negative.flat)
    assert np.array_equal(again.hazards, negative.hazards)
    counts = SegmentCounts(np.ones((2, 3)), np.ones((2, 3)))
    assert table.masses(counts).shape == table.flat.shape
    assert negative.masses(counts).shape == negative.flat.shape
    assert table.n_parameters == 6
    assert negative.n_parameters == 4
    order = np.array([1, 0])
    assert np.array_equal(table.ordered(order).hazards, table.hazards[order])
    assert np.array_equal(negative.ordered(order).hazards, negative.hazards[order])


def test_no_state_follows_itself_but_the_last_one():
    transitions = np.array([[0.5, 0.2, 0.3], [0, 0.9, 0.1], [0, 0, 1.0]])
    segments = segment_transitions(transitions)
    assert segments == pytest.approx(np.array([[0, 0.4, 0.6], [0, 0, 1], [0, 0, 1]]))


def test_long_run_visits_weigh_segments_by_their_durations():
    transitions = np.array([[0.0, 1.0], [1.0, 0.0]])
    chain = SegmentChain(np.array([1.0, 0]), transitions, DurationTable(np.array([[0.1], [0.4]])))
    assert chain.stationary == pytest.approx([10 / 12.5, 2.5 / 12.5])
