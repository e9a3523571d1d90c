"""The most probable assignment of all hidden and missing variables, against going through all of them."""

import copy

import numpy as np
import pandas as pd
import pytest

import tacit
from oracles.mixtures import weighed_parts
from oracles.networks import full_joint, weighed
from tacit.errors import NotAvailableError
from tacit.messages.evidence import Evidence
from tacit.messages.mixture import Mixture
from tacit.messages.network import Tables
from tacit.toy import random_tables, sample_codes
from tacit.toy.trees import caterpillar

CARDS = (3, 2, 3, 2, 3)
NAMES = list("abcde")


def frame(n_rows=300, seed=1):
    tree = caterpillar(5).rooted([f"x{i}" for i in range(5)])
    codes = sample_codes(random_tables(tree, CARDS, 2, 0, diagonal=1.0), n_rows, seed)
    return pd.DataFrame(codes.astype(np.int64), columns=NAMES)


def holes(seed=0, n_rows=25, missing=0.5):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, card, n_rows) for card in CARDS])
    codes[rng.random(codes.shape) < missing] = -1
    codes[0], codes[1] = -1, np.maximum(codes[1], 0)  # nothing known; everything known
    return codes


@pytest.fixture(scope="module")
def models():
    rows = frame()
    return {
        "tree": tacit.LatentTree(2, "((a,b),(c,d),e);").fit(rows),
        "class": tacit.LatentClass(3).fit(rows),
        "observed inside": tacit.LatentTree(2, "((a,b)c,(d,e));").fit(rows),
        "chow-liu": tacit.ChowLiuTree().fit(rows),
    }


@pytest.mark.parametrize("name", ["tree", "class", "observed inside", "chow-liu"])
def test_no_other_assignment_is_more_probable(name, models):
    model, codes = models[name], holes()
    joint = full_joint(model.tables_)
    actual = model.most_probable_assignment(codes)
    assert np.array_equal(actual.rows[codes >= 0], codes[codes >= 0])
    assert list(actual.hidden) == list(model.posterior(codes))
    for row in range(len(codes)):
        table = weighed(joint, Evidence(codes), row)
        at = (*actual.rows[row], *(states[row] for states in actual.hidden.values()))
        assert table[at] == pytest.approx(table.max(), rel=1e-12)
        assert actual.log_prob[row] == pytest.approx(np.log(table.max()))
    assert np.array_equal(actual.rows, model.most_likely(codes))


def test_likelihoods_of_missing_cells_count(models):
    model, codes = models["tree"], holes(1)
    codes[:, 0] = -1
    soft = np.random.default_rng(0).random((len(codes), 3))
    evidence = Evidence(codes, {0: soft})
    joint = full_joint(model.tables_)
    actual = model.most_probable_assignment(codes, soft={"a": soft})
    for row in range(len(codes)):
        table = weighed(joint, evidence, row)
        at = (*actual.rows[row], *(states[row] for states in actual.hidden.values()))
        assert table[at] == pytest.approx(table.max(), rel=1e-12)
        assert actual.log_prob[row] == pytest.approx(np.log(table.max()))


def test_the_component_of_a_mixture_is_assigned_too(models):
    parts = [models["tree"], models["class"], models["observed inside"]]
    model = copy.deepcopy(parts[0])
    model.parameters_ = Mixture(np.array([0.3, 0.4, 0.3]), tuple(item.tables_ for item in parts))
    codes = holes(2, n_rows=60)
    actual = model.most_probable_assignment(codes)
    assert list(actual.hidden) == list(model.posterior(codes))
    component = actual.hidden["component"]
    assert len(set(component.tolist())) > 1
    for row, number in enumerate(component):
        tables = weighed_parts(model.parameters_, Evidence(codes), row)
        names = [name for name in actual.hidden if name.startswith(f"{number}/")]
        at = (*actual.rows[row], *(actual.hidden[name][row] for name in names))
        assert tables[number][at] == pytest.approx(max(table.max() for table in tables))
        others = set(actual.hidden) - {*names, "component"}
        assert {int(actual.hidden[name][row]) for name in others} == {-1}
        assert actual.log_prob[row] == pytest.approx(np.log(tables[number][at]))


def test_ties_give_one_assignment_not_a_mixture_of_several():
    """Two mirror images are equally probable; choosing each variable for itself could mix them."""
    rows = pd.DataFrame({"a": [0, 1] * 4, "b": [0, 1] * 4, "c": [1, 0] * 4})
    model = tacit.LatentClass(2).fit(rows)
    mirror = np.array([[0.75, 0.25], [0.25, 0.75]])
    opposite = mirror[:, ::-1]
    model.parameters_ = Tables.of(model.tree_, [mirror, mirror, opposite, np.array([[0.5, 0.5]])])
    codes = np.array([[-1, -1, -1], [0, 1, -1], [1, -1, -1], [-1, -1, 0]])
    actual = model.most_probable_assignment(codes)
    joint = full_joint(model.parameters_)
    states = next(iter(actual.hidden.values()))
    assert actual.rows.tolist() == [[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 0]]
    assert states.tolist() == [0, 0, 1, 1]
    for row in range(4):
        table = weighed(joint, Evidence(codes), row)
        assert table[(*actual.rows[row], states[row])] == table.max()
    assert (weighed(joint, Evidence(codes), 0) == joint.max()).sum() == 2


def test_all_variables_together_can_differ_from_each_for_itself():
    rows = pd.DataFrame({"a": [0, 1, 2] * 4, "b": [0, 1, 0] * 4})
    model = tacit.LatentClass(3).fit(rows)
    # P(h): the first state is the likeliest, but its rows are spread over all of a's categories
    tables = [
        np.array([[0.34, 0.33, 0.33], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]),
        np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]),
        np.array([[0.4, 0.3, 0.3]]),
    ]
    model.parameters_ = Tables.of(model.tree_, tables)
    nothing = np.full((1, 2), -1)
    actual = model.most_probable_assignment(nothing)
    (states,) = actual.hidden.values()
    (posterior,) = model.posterior(nothing).values()
    assert posterior.argmax() == 0
    assert (states.tolist(), actual.rows.tolist()) == ([1], [[1, 0]])
    assert np.exp(actual.log_prob) == pytest.approx(0.3)


def test_an_impossible_row_has_a_log_probability_of_minus_infinity():
    model = tacit.LatentClass(2).fit(pd.DataFrame({"a": [0, 1] * 4, "b": [0, 1] * 4}))
    model.parameters_ = Tables.of(model.tree_, [np.eye(2), np.eye(2), np.array([[0.5, 0.5]])])
    actual = model.most_probable_assignment(np.array([[0, 1], [0, -1]]))
    assert actual.log_prob.tolist() == [-np.inf, np.log(0.5)]
    assert actual.rows.tolist() == [[0, 1], [0, 0]]


def test_tables_come_back_as_the_caller_s_kind(models):
    rows = frame(5).astype(object)
    rows.iloc[:, 1] = None
    actual = models["tree"].most_probable_assignment(rows)
    assert isinstance(actual.rows, pd.DataFrame)
    assert not actual.rows.isna().any(axis=None)


def test_models_without_tables_of_categories_say_why():
    operators = tacit.LatentTree(2, "((a,b),(c,d),e);", learn="spectral").fit(frame())
    with pytest.raises(NotAvailableError, match="hidden states have no meaning"):
        operators.most_probable_assignment(frame(2))
    numbers = np.random.default_rng(0).normal(size=(60, 3))
    kernels = tacit.KernelTree(2, "star", blend=False).fit(numbers)
    with pytest.raises(NotAvailableError, match="densities"):
        kernels.most_probable_assignment(numbers)
