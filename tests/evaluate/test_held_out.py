"""Distances to a known truth."""

import math

import numpy as np
import pytest

from tacit.errors import ArgumentError
from tacit.evaluate import kl, l1_error
from tacit.toy import joint_table, random_tree_model


@pytest.fixture(scope="module")
def models():
    """Two random models over the same variables, and rows of the first."""
    topology = random_tree_model(n_leaves=5, random_state=0).topology
    truth = random_tree_model(topology=topology, random_state=1)
    other = random_tree_model(topology=topology, random_state=2)
    return truth, other, truth.sample(40_000, random_state=3)


def test_both_estimate_the_distance_between_the_joint_tables(models):
    truth, other, rows = models
    p, q = joint_table(truth.tables), joint_table(other.tables)
    log_p, log_q = truth.log_prob(rows), other.log_prob(rows)
    # Within four standard errors of the sums over all cells.
    for actual, cells in (
        (l1_error(log_p, log_q), np.abs(q / p - 1)),
        (kl(log_p, log_q), np.log(p / q)),
    ):
        exact = (p * cells).sum()
        deviation = math.sqrt((p * (cells - exact) ** 2).sum() / len(rows))
        assert actual == pytest.approx(exact, abs=4 * deviation)
        assert exact > 40 * deviation


def test_the_truth_itself_has_no_error(models):
    truth, _, rows = models
    log_p = truth.log_prob(rows)
    assert l1_error(log_p, log_p) == 0
    assert kl(log_p, log_p) == 0


def test_signs_count():
    log_p = np.log([0.5, 0.25])
    assert l1_error(log_p, log_p, sign=[1, -1]) == pytest.approx(1.0)
    assert l1_error(log_p, log_p, sign=[1, 0]) == pytest.approx(0.5)


def test_zero_everywhere_has_error_one_and_infinite_divergence():
    log_p, zero = np.log([0.5, 0.25]), np.full(2, -np.inf)
    assert l1_error(log_p, zero) == 1.0
    assert kl(log_p, zero) == math.inf


def test_an_estimate_beyond_all_numbers_is_infinitely_wrong():
    assert l1_error([-2000.0], [-1.0]) == math.inf


@pytest.mark.parametrize(
    ("truth", "estimate", "complaint"),
    [
        ([], [], "one number per row"),
        ([0.0, -1.0], [0.0], "one number per row"),
        ([-np.inf], [0.0], "no finite log-probability"),
        ([-1.0], [np.nan], "NaN"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(truth, estimate, complaint):
    for distance in (l1_error, kl):
        with pytest.raises(ArgumentError, match=complaint):
            distance(truth, estimate)
