"""What was observed, and the refusal of what does not fit."""

import numpy as np
import pytest

from oracles.networks import random_tables, rooted_tree
from tacit.errors import ArgumentError, DataError
from tacit.messages.conditionals import conditionals, impute, log_prob, marginals
from tacit.messages.evidence import Evidence, check_evidence, evidence_row, nothing, one_of
from tacit.messages.hidden_states import most_likely, posterior
from tacit.messages.joint import joint_conditional
from tacit.messages.passes import log_values
from tacit.messages.sampling import sample

TABLES = random_tables(np.random.default_rng(0), rooted_tree([3, 3, 3, -1], 3), (2, 3, 4, 2))


def test_a_set_of_categories_has_the_probability_of_any_of_them():
    evidence = evidence_row([2, 3, 4], {0: 1, 2: {0, 3}})
    apart = Evidence(np.array([[1, -1, 0], [1, -1, 3]]))
    _, together = log_values(TABLES.network, evidence)
    _, separate = log_values(TABLES.network, apart)
    assert np.exp(together[0]) == pytest.approx(np.exp(separate).sum(), rel=1e-12)


def test_what_is_known_may_be_a_category_a_set_or_likelihoods():
    evidence = evidence_row([2, 3, 4], {0: np.int64(1), 1: frozenset({2}), 2: [0.5, 0.0, 0.0, 2.0]})
    assert evidence.codes.tolist() == [[1, -1, -1]]
    assert {leaf: likelihoods.tolist() for leaf, likelihoods in evidence.soft.items()} == {
        1: [[0, 0, 1]],
        2: [[0.5, 0, 0, 2]],
    }


@pytest.mark.parametrize("categories", [set(), {0, 3}, {-1}])
def test_a_set_of_unknown_categories_is_refused(categories):
    with pytest.raises(ArgumentError, match="from 0 to 2"):
        one_of(categories, 3)


def test_some_rows_of_evidence_are_those_rows():
    evidence = Evidence(np.arange(12).reshape(4, 3), {1: np.arange(8.0).reshape(4, 2)})
    part = evidence.rows(slice(1, 3))
    assert part.n_rows == 2
    assert part.codes.tolist() == [[3, 4, 5], [6, 7, 8]]
    assert part.soft[1].tolist() == [[2, 3], [4, 5]]


def test_evidence_without_a_leaf_leaves_the_original_alone():
    evidence = Evidence(np.zeros((2, 3), dtype=np.int16), {1: np.ones((2, 3))})
    bare = evidence.without([1, 2])
    assert bare.codes.tolist() == [[0, -1, -1]] * 2
    assert not bare.soft
    assert evidence.codes.tolist() == [[0, 0, 0]] * 2
    assert list(evidence.soft) == [1]


@pytest.mark.parametrize(
    ("evidence", "complaint"),
    [
        (Evidence(np.zeros((2, 4), dtype=int)), "3 leaves"),
        (Evidence(np.zeros(3, dtype=int)), "3 leaves"),
        (Evidence(np.zeros((2, 3))), "give integers"),
        (Evidence(np.array([[0, 3, 0]])), "code 3 at leaf 'x1', which has 3 categories"),
        (Evidence(np.array([[0, 0, 0], [0, 0, -2]])), "code -2 at leaf 'x2'"),
        (Evidence(np.zeros((1, 3), dtype=int), {3: np.ones((1, 2))}), "leaves are 0 to 2"),
        (Evidence(np.zeros((2, 3), dtype=int), {0: np.ones((1, 2))}), r"give \(2, 2\)"),
        (Evidence(np.zeros((1, 3), dtype=int), {0: np.array([[1.0, -1]])}), "none negative"),
        (Evidence(np.zeros((1, 3), dtype=int), {0: np.array([[1.0, np.inf]])}), "finite"),
        (Evidence(np.zeros((1, 3), dtype=int), {0: np.array([[1.0, np.nan]])}), "finite"),
        (Evidence(np.zeros((1, 3), dtype=int), {0: np.zeros((1, 2))}), "row 0 are"),
    ],
)
def test_evidence_that_does_not_fit_the_network_is_refused(evidence, complaint):
    with pytest.raises(DataError, match=complaint):
        check_evidence(TABLES.network, evidence)


@pytest.mark.parametrize(
    "ask",
    [
        log_values,
        log_prob,
        conditionals,
        marginals,
        impute,
        posterior,
        most_likely,
        lambda network, evidence: joint_conditional(network, evidence, [0]),
        lambda network, evidence: sample(network, 1, np.random.default_rng(0), evidence),
    ],
)
def test_every_query_refuses_codes_that_are_not_there(ask):
    with pytest.raises(DataError, match="code 2 at leaf 'x0'"):
        ask(TABLES.network, Evidence(np.array([[2, 0, 0]])))


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_queries_leave_codes_as_they_were(kind):
    codes = np.asfortranarray(np.array([[0, -1, 2], [-1, -1, 3]], dtype=kind))
    evidence = Evidence(codes, {1: np.ones((2, 3))})
    before = codes.copy()
    for ask in (log_prob, conditionals, marginals, impute, posterior, most_likely):
        ask(TABLES.network, evidence)
        assert np.array_equal(codes, before)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_codes_may_be_any_integers_in_any_order(kind, order):
    codes = np.array([[0, 1, 2], [1, -1, 3], [-1, 2, -1]])
    _, expected = log_values(TABLES.network, Evidence(codes))
    _, actual = log_values(TABLES.network, Evidence(np.array(codes, dtype=kind, order=order)))
    assert np.array_equal(actual, expected)


def test_nothing_is_observed_of_empty_evidence():
    evidence = nothing(3, 2)
    assert evidence.codes.tolist() == [[-1, -1, -1]] * 2
    check_evidence(TABLES.network, nothing(3, 0))
