"""Every question to a mixture of trees, against the full joint table and against a single tree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.mixtures import cards_of, mixed_joint, random_mixture, weighed_parts
from oracles.networks import (
    all_rows,
    caterpillar,
    random_evidence,
    random_model,
    random_tables,
    random_tree,
    rooted_tree,
    weighed,
)
from tacit.errors import DataError
from tacit.messages.conditionals import conditionals, impute, leaf_marginals, log_prob, marginals
from tacit.messages.evidence import Evidence, nothing
from tacit.messages.hidden_states import most_likely, posterior, posterior_by_name
from tacit.messages.joint import joint_conditional
from tacit.messages.mixture import Mixture
from tacit.messages.node_messages import Messages, added
from tacit.messages.repairs import Repairs
from tacit.messages.sampling import sample
from tacit.messages.weighted_networks import component_log_prob, parts_of, responsibilities

EXACT = 1e-10
SEEDS = st.integers(0, 10**6)


def random_case(seed, soft_leaves, n_rows=25):
    """A mixture, its joint table, and rows with gaps."""
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng)
    evidence = random_evidence(rng, cards_of(mixture), n_rows, soft_leaves=soft_leaves)
    return mixture, mixed_joint(mixture), evidence


def summed_but(table, *axes):
    return table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))


@pytest.fixture(params=[(seed, soft) for seed in range(3) for soft in (0, 2)])
def case(request):
    return random_case(*request.param)


# -- against enumeration ------------------------------------------------------------------------


def test_probabilities_of_rows_agree_with_enumeration(case):
    mixture, joint, evidence = case
    scores = log_prob(mixture, evidence)
    expected = [math.log(weighed(joint, evidence, row).sum()) for row in range(evidence.n_rows)]
    assert scores.values == pytest.approx(np.array(expected), abs=EXACT)
    assert scores.repairs == Repairs(evidence.n_rows)
    weights = component_log_prob(mixture, evidence)
    assert np.logaddexp.reduce(weights, axis=0) == pytest.approx(scores.values, abs=EXACT)


@pytest.mark.parametrize("include_cell", [False, True])
def test_cell_distributions_agree_with_enumeration(case, include_cell):
    mixture, joint, evidence = case
    actual = (marginals if include_cell else conditionals)(mixture, evidence)
    for leaf, table in zip(actual.nodes, actual.tables, strict=True):
        for row in range(evidence.n_rows):
            expected = weighed(joint, evidence, row, leave_out=() if include_cell else (leaf,))
            expected = summed_but(expected, leaf)
            assert table[row] == pytest.approx(expected / expected.sum(), abs=EXACT)
    n_answers = int((evidence.codes < 0).sum()) if include_cell else evidence.codes.size
    assert actual.repairs == Repairs(n_answers)


def test_missing_cells_are_filled_with_their_most_probable_category(case):
    mixture, joint, evidence = case
    imputed = impute(mixture, evidence)
    for row, leaf in np.ndindex(imputed.codes.shape):
        expected = summed_but(weighed(joint, evidence, row), leaf)
        if evidence.codes[row, leaf] < 0:
            assert expected[imputed.codes[row, leaf]] == pytest.approx(expected.max(), rel=EXACT)
        else:
            assert imputed.codes[row, leaf] == evidence.codes[row, leaf]
    assert imputed.repairs == Repairs(int((evidence.codes < 0).sum()))


@pytest.mark.parametrize("leaves", [(2,), (3, 0), (1, 4, 2), ()])
def test_joint_tables_agree_with_enumeration(case, leaves):
    mixture, joint, evidence = case
    belief = joint_conditional(mixture, evidence, leaves)
    for row in range(evidence.n_rows):
        expected = summed_but(weighed(joint, evidence, row, leave_out=leaves), *leaves)
        expected = expected.transpose(np.argsort(np.argsort(leaves)))
        assert belief.table[row] == pytest.approx(expected / expected.sum(), abs=EXACT)


def test_posteriors_agree_with_enumeration(case):
    mixture, _, evidence = case
    actual, repairs = posterior_by_name(mixture, evidence)
    assert {name: table.shape[1] for name, table in actual.items()} == mixture.n_states
    for row in range(evidence.n_rows):
        tables = weighed_parts(mixture, evidence, row)
        sums = np.array([table.sum() for table in tables])
        assert actual["component"][row] == pytest.approx(sums / sums.sum(), abs=EXACT)
        for number, (part, table) in enumerate(zip(mixture.parts, tables, strict=True)):
            for node in part.tree.hidden:
                expected = summed_but(table, node) / sums[number]
                name = f"{number}/{part.tree.names[node]}"
                assert actual[name][row] == pytest.approx(expected, abs=EXACT)
    assert repairs == Repairs(evidence.n_rows * len(actual))


def test_no_other_completion_is_more_probable(case):
    mixture, _, evidence = case
    completion = most_likely(mixture, evidence)
    assert completion.codes.min() >= 0
    assert np.array_equal(
        completion.codes[evidence.codes >= 0], evidence.codes[evidence.codes >= 0]
    )
    assert len(set(completion.component.tolist())) > 1
    for row in range(evidence.n_rows):
        tables = weighed_parts(mixture, evidence, row)
        best = max(table.max() for table in tables)
        table = tables[completion.component[row]]
        n_hidden = table.ndim - completion.codes.shape[1]
        assert table[(*completion.codes[row], *completion.hidden[row, :n_hidden])] == pytest.approx(
            best
        )
        assert (completion.hidden[row, n_hidden:] == -1).all()
        assert completion.log_prob[row] == pytest.approx(math.log(best), rel=EXACT)


@pytest.mark.parametrize("soft_leaves", [0, 2])
def test_draws_follow_the_conditional_distribution(soft_leaves):
    mixture, joint, _ = random_case(1, 0)
    n_draws = 20_000
    evidence = random_evidence(np.random.default_rng(7), joint.shape, 2, soft_leaves=soft_leaves)
    actual = sample(mixture, n_draws, np.random.default_rng(0), evidence)
    weights = responsibilities(mixture, evidence)[0]
    for row in range(2):
        rows = slice(row * n_draws, (row + 1) * n_draws)
        codes, component = actual.codes[rows], actual.component[rows]
        counts = np.zeros(joint.shape)
        np.add.at(counts, tuple(codes.T), 1 / n_draws)
        expected = weighed(joint, evidence, row)
        # Half the L1 distance of 20,000 draws over 100 or so cells is about 0.02.
        assert np.abs(counts - expected / expected.sum()).sum() / 2 < 0.04
        drawn = np.bincount(component, minlength=3) / n_draws
        assert drawn == pytest.approx(weights[row], abs=0.02)
        for number, part in enumerate(mixture.parts):
            n_hidden = len(part.tree.hidden)
            hidden = actual.hidden[rows][component == number]
            assert (hidden[:, n_hidden:] == -1).all()
            assert (hidden[:, :n_hidden] >= 0).all()
            assert (hidden[:, :n_hidden] < part.layout.n_states[-n_hidden:]).all()


# -- laws ---------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 4))
def test_the_probabilities_of_all_rows_sum_to_one(seed, n_components):
    mixture = random_mixture(np.random.default_rng(seed), n_components, n_leaves=4)
    values = log_prob(mixture, Evidence(all_rows(cards_of(mixture)))).values
    assert np.exp(values).sum() == pytest.approx(1.0, abs=EXACT)


@settings(max_examples=30)
@given(SEEDS)
def test_the_chain_rule_holds(seed):
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng)
    all_at_once = random_evidence(rng, cards_of(mixture), n_rows=8, missing=0.0).codes
    left, total = all_at_once.copy(), np.zeros(8)
    for leaf in rng.permutation(5).tolist():  # each given those that are left
        left[:, leaf] = -1
        table = conditionals(mixture, Evidence(left), [leaf]).tables[0]
        total += np.log(table[np.arange(8), all_at_once[:, leaf]])
    assert total == pytest.approx(log_prob(mixture, Evidence(all_at_once)).values, abs=EXACT)


@settings(max_examples=30)
@given(SEEDS)
def test_the_joint_has_the_conditionals_for_marginals(seed):
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng)
    evidence = random_evidence(rng, cards_of(mixture), n_rows=5, soft_leaves=1)
    table = joint_conditional(mixture, evidence, [1, 3]).table
    single = conditionals(mixture, evidence.without([1, 3]), [1, 3]).tables
    assert table.sum(axis=2) == pytest.approx(single[0], abs=EXACT)
    assert table.sum(axis=1) == pytest.approx(single[1], abs=EXACT)


@settings(max_examples=30)
@given(SEEDS)
def test_distributions_sum_to_one(seed):
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng)
    evidence = random_evidence(rng, cards_of(mixture), n_rows=6, soft_leaves=1)
    tables = [*conditionals(mixture, evidence).tables, *marginals(mixture, evidence).tables]
    tables += posterior_by_name(mixture, evidence)[0].values()
    for table in tables:
        assert table.sum(axis=1) == pytest.approx(np.ones(6), abs=EXACT)
        assert table.min() >= 0


@settings(max_examples=30)
@given(SEEDS)
def test_the_order_of_the_components_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng)
    turned = Mixture(mixture.weights[::-1], mixture.parts[::-1])
    evidence = random_evidence(rng, cards_of(mixture), n_rows=6, soft_leaves=1)
    for ask in (conditionals, marginals):
        for one, other in zip(
            ask(mixture, evidence).tables, ask(turned, evidence).tables, strict=True
        ):
            assert one == pytest.approx(other, abs=EXACT)
    assert log_prob(turned, evidence).values == pytest.approx(log_prob(mixture, evidence).values)
    assert responsibilities(turned, evidence)[0] == pytest.approx(
        responsibilities(mixture, evidence)[0][:, ::-1], abs=EXACT
    )


# -- mixtures that are a single tree ------------------------------------------------------------


def same_answers(mixture, tables, evidence, exact):
    """Everything that does not name the component is answered like the single tree."""
    assert log_prob(mixture, evidence).values == pytest.approx(
        log_prob(tables, evidence).values, abs=exact
    )
    for ask in (conditionals, marginals):
        pairs = zip(ask(mixture, evidence).tables, ask(tables, evidence).tables, strict=True)
        for one, other in pairs:
            assert one == pytest.approx(other, abs=exact)
    assert joint_conditional(mixture, evidence, [0, 2]).table == pytest.approx(
        joint_conditional(tables, evidence, [0, 2]).table, abs=exact
    )
    assert np.array_equal(impute(mixture, evidence).codes, impute(tables, evidence).codes)
    many, one = most_likely(mixture, evidence), most_likely(tables, evidence)
    assert np.array_equal(many.codes, one.codes)
    assert np.array_equal(many.hidden, one.hidden)


@pytest.mark.parametrize("soft_leaves", [0, 2])
def test_a_mixture_of_one_is_the_tree(soft_leaves):
    rng = np.random.default_rng(3)
    tables = random_model(rng, n_leaves=6)
    evidence = random_evidence(rng, tables.layout.n_states[:6], soft_leaves=soft_leaves)
    mixture = Mixture(np.ones(1), (tables,))
    same_answers(mixture, tables, evidence, exact=0)
    named, _ = posterior_by_name(mixture, evidence)
    assert (named.pop("component") == 1).all()
    alone = posterior(tables.network, evidence).tables
    for one, other in zip(named.values(), alone, strict=True):
        assert np.array_equal(one, other)
    drawn = [
        sample(model, 3, np.random.default_rng(5), evidence) for model in (mixture, tables.network)
    ]
    assert np.array_equal(drawn[0].codes, drawn[1].codes)
    assert np.array_equal(drawn[0].hidden, drawn[1].hidden)


@pytest.mark.parametrize("soft_leaves", [0, 2])
def test_two_equal_components_are_the_tree(soft_leaves):
    rng = np.random.default_rng(4)
    tables = random_model(rng, n_leaves=6)
    evidence = random_evidence(rng, tables.layout.n_states[:6], soft_leaves=soft_leaves)
    mixture = Mixture(np.array([0.3, 0.7]), (tables, tables))
    same_answers(mixture, tables, evidence, exact=1e-12)
    weights, repairs = responsibilities(mixture, evidence)
    assert weights == pytest.approx(np.tile([0.3, 0.7], (30, 1)), abs=1e-12)
    assert repairs == Repairs(30)
    assert (most_likely(mixture, evidence).component == 1).all()


def test_a_component_without_weight_has_no_say():
    rng = np.random.default_rng(6)
    mixture = random_mixture(rng, 2)
    evidence = random_evidence(rng, cards_of(mixture))
    without = Mixture(np.array([0.0, 1.0]), mixture.parts)
    assert log_prob(without, evidence).values == pytest.approx(
        log_prob(mixture.parts[1], evidence).values
    )
    for one, other in zip(
        conditionals(without, evidence).tables,
        conditionals(mixture.parts[1], evidence).tables,
        strict=True,
    ):
        assert one == pytest.approx(other, abs=EXACT)
    assert (most_likely(without, evidence).component == 1).all()
    assert (sample(without, 50, rng).component == 1).all()


# -- blocks, edges, extremes --------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [1, 7, 24, 25, 26])
def test_answers_do_not_depend_on_blocks(block_rows):
    mixture, _, evidence = random_case(2, 1)
    how = {"block_rows": block_rows}
    assert log_prob(mixture, evidence, **how).values == pytest.approx(
        log_prob(mixture, evidence).values, rel=1e-12
    )
    for ask in (conditionals, marginals):
        pairs = zip(
            ask(mixture, evidence, **how).tables, ask(mixture, evidence).tables, strict=True
        )
        for apart, all_at_once in pairs:
            assert apart == pytest.approx(all_at_once, abs=1e-12)
    assert np.array_equal(impute(mixture, evidence, **how).codes, impute(mixture, evidence).codes)
    apart, all_at_once = most_likely(mixture, evidence, **how), most_likely(mixture, evidence)
    for name in ("codes", "hidden", "log_prob", "component"):
        assert np.array_equal(getattr(apart, name), getattr(all_at_once, name))
    apart = sample(mixture, 3, np.random.default_rng(0), evidence, **how)
    all_at_once = sample(mixture, 3, np.random.default_rng(0), evidence)
    for name in ("codes", "hidden", "component"):
        assert np.array_equal(getattr(apart, name), getattr(all_at_once, name))


def test_rows_that_are_alike_are_answered_alike_in_every_tree():
    rng = np.random.default_rng(8)
    mixture = random_mixture(rng, n_leaves=4, most_states=2)
    evidence = random_evidence(rng, cards_of(mixture), n_rows=200)
    actual = conditionals(mixture, evidence).tables
    one_by_one = conditionals(mixture, evidence, block_rows=1).tables
    for together, apart in zip(actual, one_by_one, strict=True):
        assert together == pytest.approx(apart, abs=1e-12)


def certain(pairs):
    """A tree of two coins; P(first, second) is one for a pair that is given, none for the others."""
    tables = random_tables(np.random.default_rng(0), rooted_tree([2, 2, -1], 2), (2, 2, len(pairs)))
    for leaf in (0, 1):
        tables.table(leaf)[:] = np.eye(2)[[pair[leaf] for pair in pairs]]
    return tables


def test_what_all_components_call_impossible_is_answered_without_evidence():
    mixture = Mixture(np.array([0.25, 0.75]), (certain([(0, 0)]), certain([(1, 1)])))
    evidence = Evidence(np.array([[0, 1], [1, 1]]))
    assert log_prob(mixture, evidence).values == pytest.approx(
        np.array([-np.inf, math.log(0.75)]), abs=EXACT
    )
    weights, repairs = responsibilities(mixture, evidence)
    assert weights == pytest.approx(np.array([[0.25, 0.75], [0.0, 1.0]]), abs=EXACT)
    assert repairs == Repairs(2, n_undefined=1)
    assert leaf_marginals(mixture)[0] == pytest.approx(np.array([0.25, 0.75]), abs=EXACT)
    # Each cell alone is possible, and tells the component.
    assert conditionals(mixture, evidence).tables[0] == pytest.approx(
        np.array([[0.0, 1.0], [0.0, 1.0]]), abs=EXACT
    )
    with pytest.raises(DataError, match="probability zero"):
        sample(mixture, 5, np.random.default_rng(0), evidence)
    assert most_likely(mixture, evidence).log_prob[0] == -np.inf


def test_a_cell_that_no_component_can_explain_gets_its_marginal():
    tree = rooted_tree([3, 3, 3, -1], 3)
    parts = [random_tables(np.random.default_rng(s), tree, (2, 2, 2, 2)) for s in (0, 1)]
    for part in parts:
        for leaf in (0, 1):  # which are therefore equal
            part.table(leaf)[:] = np.eye(2)
    mixture = Mixture(np.array([0.4, 0.6]), tuple(parts))
    beliefs = conditionals(mixture, Evidence(np.array([[0, 1, 0]])), [2])
    assert beliefs.tables[0][0] == pytest.approx(leaf_marginals(mixture)[2], abs=EXACT)
    assert beliefs.repairs == Repairs(1, n_undefined=1)


def test_many_leaves_do_not_under_run():
    rng = np.random.default_rng(0)
    n_leaves = 1500
    shapes = [caterpillar(n_leaves), random_tree(rng, n_leaves), random_tree(rng, n_leaves, 40)]
    cards = (30,) * n_leaves
    parts = [random_tables(rng, tree, cards + (2,) * len(tree.hidden)) for tree in shapes]
    mixture = Mixture(np.array([0.2, 0.3, 0.5]), tuple(parts))
    drawn = sample(mixture, 6, rng)
    evidence = Evidence(drawn.codes)
    logs = log_prob(mixture, evidence).values
    assert (logs < -3000).all()
    assert np.isfinite(logs).all()
    # So many leaves tell for sure which tree a row is from, and nothing else has a say.
    weights = responsibilities(mixture, evidence)[0]
    assert np.array_equal(weights.argmax(axis=1), drawn.component)
    table = conditionals(mixture, evidence, [700]).tables[0]
    for row, number in enumerate(drawn.component.tolist()):
        alone = conditionals(parts[number], Evidence(drawn.codes[[row]]), [700]).tables[0]
        assert table[row] == pytest.approx(alone[0], abs=1e-9)
    assert np.isfinite(most_likely(mixture, evidence).log_prob).all()


def test_tiny_likelihoods_of_a_cell_do_not_under_run():
    mixture, joint, _ = random_case(3, 0)
    likelihoods = np.linspace(1, 2, joint.shape[0])[None]
    unknown = np.full((1, 5), -1)
    expected = summed_but(weighed(joint, Evidence(unknown, {0: likelihoods}), 0), 1)
    for scale in (1.0, 1e-290, 1e290):
        beliefs = marginals(mixture, Evidence(unknown, {0: likelihoods * scale}))
        assert beliefs.tables[1][0] == pytest.approx(expected / expected.sum(), abs=EXACT)


@pytest.mark.parametrize("exponent", [None, 0, 5000, -5000, 3])
def test_messages_of_any_scale_are_added(exponent):
    one = Messages(np.array([[0.0, 0.5, 1e-300, 0.0], [0.0, 2.0, 0.0, 3.0]]))
    scale = None if exponent is None else np.full(4, exponent, dtype=np.int64)
    other = Messages(np.array([[0.25, 0.0, 1e-300, 0.0], [4.0, 1e300, 1.0, 0.0]]), scale)
    for actual in (added(one, other), added(other, one)):
        with np.errstate(divide="ignore"):
            logs = np.logaddexp(
                np.log(one.values), np.log(other.values) + (exponent or 0) * math.log(2)
            )
            log_values = np.log(actual.values) + actual.exponent * math.log(2)
        # What is less than a double's least part of the largest entry may be lost.
        shown = logs > logs.max(axis=0) - 600
        assert log_values[shown] == pytest.approx(logs[shown], rel=1e-12)
        assert actual.values.max() <= 2
    nothing_at_all = Messages(np.zeros((2, 4)), scale)
    assert not added(nothing_at_all, nothing_at_all).values.any()


def test_no_rows_are_no_trouble():
    mixture, joint, _ = random_case(0, 0)
    empty = nothing(5, 0)
    assert log_prob(mixture, empty).values.shape == (0,)
    assert conditionals(mixture, empty).tables[2].shape == (0, joint.shape[2])
    assert impute(mixture, empty).codes.shape == (0, 5)
    assert responsibilities(mixture, empty)[0].shape == (0, 3)
    assert most_likely(mixture, empty).codes.shape == (0, 5)
    assert sample(mixture, 4, np.random.default_rng(0), empty).codes.shape == (0, 5)
    assert sample(mixture, 0, np.random.default_rng(0)).codes.shape == (0, 5)


def test_evidence_that_does_not_fit_is_refused():
    mixture, _, _ = random_case(0, 0)
    for ask in (log_prob, conditionals, impute, posterior_by_name, most_likely, component_log_prob):
        with pytest.raises(DataError, match="5 leaves"):
            ask(mixture, nothing(4))


def test_tables_and_their_network_are_one_part():
    tables = random_model(np.random.default_rng(0))
    for learnt in (tables, tables.network):
        parts = parts_of(learnt)
        assert parts.networks == (tables.network,)
        assert not parts.several
