"""A fitted model that is a mixture of trees: every question, and files."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

import tacit
from oracles.edited_files import edited
from oracles.mixtures import mixed_joint, weighed_parts
from oracles.networks import weighed
from tacit.core.files.container import read_file
from tacit.errors import ArgumentError, ArgumentTypeError, FileFormatError, NotAvailableError
from tacit.messages.evidence import Evidence
from tacit.messages.mixture import Mixture
from tacit.toy import random_tables, sample_codes
from tacit.toy.trees import caterpillar
from tacit.trees.learn.fit import keep
from tacit.trees.learn.learners import Learnt
from tacit.trees.learn.selection import candidates
from tacit.trees.model.components import topology_of

EXACT = 1e-10
VALUES = {
    "colour": ["blue", "green", "red"],
    "size": [1, 3, 10],
    "ok": [False, True],
    "grade": ["high", "low", "mid"],
    "place": ["north", "south"],
}
NAMES = list(VALUES)
CARDS = [len(values) for values in VALUES.values()]


def frame(n_rows=300, seed=1):
    tree = caterpillar(5).rooted([f"x{i}" for i in range(5)])
    codes = sample_codes(random_tables(tree, CARDS, 2, 0, diagonal=1.0), n_rows, seed)
    columns = zip(NAMES, VALUES.values(), codes.T, strict=True)
    table = {name: np.array(values, dtype=object)[column] for name, values, column in columns}
    return pd.DataFrame(table).astype({"size": int, "ok": bool})


def mixed(models, weights):
    """The first model with the trees of all: what learning a mixture leaves behind."""
    model = copy.deepcopy(models[0])
    parameters = Mixture(np.array(weights), tuple(part.tables_ for part in models))
    heaviest = models[parameters.heaviest]
    model.topology_, model.tree_ = heaviest.topology_, heaviest.tree_
    model.parameters_ = parameters
    return model


@pytest.fixture(scope="module")
def parts():
    rows = frame()
    return [
        tacit.LatentTree(2, "((colour,size),(ok,grade),place);").fit(rows),
        tacit.LatentTree(3, "star").fit(rows[:150]),
        tacit.LatentTree(2, "((colour,size)ok,(grade,place));").fit(rows[150:]),
    ]


@pytest.fixture(scope="module")
def model(parts):
    return mixed(parts, [0.2, 0.5, 0.3])


def holes(seed=0, n_rows=20, missing=0.4):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, card, n_rows) for card in CARDS])
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def rows_of(codes):
    """The cells as values, None where they are missing."""
    return {
        name: [None if code < 0 else values[code] for code in codes[:, place]]
        for place, (name, values) in enumerate(VALUES.items())
    }


def cell(table, *leaves):
    alone = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in leaves))
    return alone / alone.sum()


# -- questions ----------------------------------------------------------------------------------


def test_every_question_agrees_with_enumeration(model):
    codes = holes()
    evidence, joint = Evidence(codes), mixed_joint(model.parameters_)
    tables = [weighed(joint, evidence, row) for row in range(len(codes))]
    rows = rows_of(codes)
    logs = np.log([table.sum() for table in tables])
    assert model.score_samples(rows) == pytest.approx(logs, abs=EXACT)
    assert model.score(rows) == pytest.approx(logs.mean(), abs=EXACT)
    beliefs = model.marginals(rows)
    blind = [weighed(joint, evidence, row, leave_out=(1, 3)) for row in range(len(codes))]
    grade = model.predict_proba(rows, target=["grade", "size"])["grade"]
    both = model.predict_proba(rows, target=["size", "grade"], joint=True)
    filled = model.impute(rows)
    for row, table in enumerate(tables):
        for leaf, name in enumerate(NAMES):
            assert beliefs[name][row] == pytest.approx(cell(table, leaf), abs=EXACT)
            at = VALUES[name].index(filled[name][row])
            assert cell(table, leaf)[at] == pytest.approx(cell(table, leaf).max(), abs=EXACT)
        assert grade[row] == pytest.approx(cell(blind[row], 3), abs=EXACT)
        assert both[row] == pytest.approx(cell(blind[row], 1, 3), abs=EXACT)
    alone = model.predict_proba(rows)
    expected = [
        np.hstack(
            [cell(weighed(joint, evidence, row, leave_out=(leaf,)), leaf) for leaf in range(5)]
        )
        for row in range(len(codes))
    ]
    assert alone == pytest.approx(np.array(expected), abs=EXACT)
    assert model.predict_proba(rows, return_repairs=True)[1]["n_undefined"] == 0


def test_a_single_question_and_soft_evidence_agree_with_enumeration(model):
    joint = mixed_joint(model.parameters_)
    table = joint[:, :, 1] * np.array([0.2, 0.7, 0.1])[None, :, None, None]
    answer = model.query("colour", given={"ok": True, "size": [0.2, 0.7, 0.1]})
    assert list(answer.values()) == pytest.approx(cell(table, 0), abs=EXACT)
    dim = np.array([[0.2, 0.7, 0.1]])
    one_row = model.predict_proba({"ok": [True]}, target="colour", soft={"size": dim})
    assert one_row[0] == pytest.approx(cell(table, 0), abs=EXACT)
    pair = model.query(["place", "colour"], given={"grade": {"low", "mid"}})
    expected = cell(joint[:, :, :, [1, 2]], 0, 4)
    assert pair["south", "green"] == pytest.approx(expected[1, 1], abs=EXACT)


def test_hidden_variables_have_posteriors_states_and_features_in_one_order(model):
    codes = holes(1)
    posteriors = model.posterior(rows_of(codes))
    assert {name: table.shape[1] for name, table in posteriors.items()} == model.node_states_
    assert next(iter(posteriors)) == "component"
    assert {"1/h", "2/copy(ok)"} < set(posteriors)
    for row in range(len(codes)):
        sums = [part.sum() for part in weighed_parts(model.parameters_, Evidence(codes), row)]
        assert posteriors["component"][row] == pytest.approx(np.array(sums) / sum(sums), abs=EXACT)
    features = model.transform(rows_of(codes))
    names = model.get_feature_names_out()
    assert features.shape == (len(codes), len(names))
    assert names[:3].tolist() == ["component=0", "component=1", "component=2"]
    for name, table in posteriors.items():
        columns = [place for place, part in enumerate(names) if part.rpartition("=")[0] == name]
        assert np.array_equal(features[:, columns], table)


def test_gaps_are_completed_by_the_best_of_all_components(model):
    codes = holes(2)
    filled = model.most_likely(rows_of(codes))
    for row in range(len(codes)):
        tables = weighed_parts(model.parameters_, Evidence(codes), row)
        best = max(tables, key=lambda table: table.max())
        at = np.unravel_index(best.argmax(), best.shape)
        assert [filled[name][row] for name in NAMES] == [
            VALUES[name][code] for name, code in zip(NAMES, at, strict=False)
        ]


def test_drawn_rows_follow_the_model(model):
    joint = mixed_joint(model.parameters_)
    drawn = model.sample(8000, random_state=0)
    frequency = (drawn["colour"] == "green").mean()
    assert frequency == pytest.approx(cell(joint, 0)[1], abs=0.02)
    drawn = model.sample(8000, given={"colour": "red", "size": {1, 10}}, random_state=0)
    assert set(drawn["colour"]) == {"red"}
    assert set(drawn["size"]) == {1, 10}
    expected = cell(joint[2][[0, 2]], 1)[1]
    assert (drawn["ok"]).mean() == pytest.approx(expected, abs=0.02)


# -- what it is made of -------------------------------------------------------------------------


def test_components_have_weights_trees_and_tables(model, parts):
    trees = model.trees_
    assert [tree.weight for tree in trees] == [0.2, 0.5, 0.3]
    for tree, part in zip(trees, parts, strict=True):
        assert tree.topology == part.topology_
        assert tree.tables is part.tables_
    assert model.topology_ is parts[1].topology_
    assert model.tree_ is parts[1].tree_
    assert model.tables_ is None
    assert not hasattr(model, "network_")
    with pytest.raises(NotAvailableError, match=r"mixture of 3 trees.*trees_"):
        model.network_  # noqa: B018


def test_a_single_tree_is_the_only_component(parts):
    (only,) = parts[0].trees_
    assert only.weight == 1
    assert only.topology is parts[0].topology_
    assert only.tables is parts[0].tables_
    operators = tacit.LatentTree(2, "star", learn="spectral").fit(frame())
    assert operators.trees_[0].tables is None


@pytest.mark.parametrize("text", ["(a,b,c,d,e)h;", "((a,b)c,(d,e)g)f;", "((a,b),(c,d),e);"])
@pytest.mark.parametrize("observed", [(), ("c",), ("f", "g")])
def test_a_topology_is_recovered_from_its_rooted_tree(text, observed):
    inner = [name for name in observed if f"){name}" in text]
    topology = tacit.Topology.from_newick(text, observed=inner).contracted()
    assert topology_of(topology.rooted(sorted(topology.observed))) == topology


@pytest.mark.parametrize("names", ["a", "ab", "abc"])
def test_the_smallest_trees_are_recovered(names):
    chain = tacit.Topology(tuple(names), tuple(itertools.pairwise(names)), tuple(names))
    assert topology_of(chain.rooted(names)) == chain


def test_the_tree_of_a_fitted_mixture_is_that_of_the_heaviest(parts):
    from tacit.core.input.read_table import read_table

    rows = frame()
    table = read_table(rows)
    counts = np.eye(2)
    for weights, heaviest in (([0.2, 0.5, 0.3], 1), ([0.6, 0.1, 0.3], 0), ([0.3, 0.3, 0.4], 2)):
        learnt = Learnt(Mixture(np.array(weights), tuple(part.tables_ for part in parts)), {})
        model = tacit.LatentTree()
        keep(model, rows, table, counts, parts[0].topology_, parts[0].tree_, learnt)
        assert model.tree_ is parts[heaviest].tree_
        assert model.topology_ == parts[heaviest].topology_


# -- files --------------------------------------------------------------------------------------


def test_a_loaded_mixture_answers_like_the_saved_one(model, tmp_path):
    rows = rows_of(holes(3))
    path = tmp_path / "m.tacit"
    model.save(path)
    for again in (tacit.load(path), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.score_samples(rows), model.score_samples(rows))
        assert again.node_states_ == model.node_states_
        assert again.topology_ == model.topology_
        for one, other in zip(again.trees_, model.trees_, strict=True):
            assert (one.weight, one.topology) == (other.weight, other.topology)
            assert np.array_equal(one.tables.values, other.tables.values)
        assert again.sample(9, random_state=2).equals(model.sample(9, random_state=2))
    assert again.fit(frame()).tables_ is not None


def test_a_mixture_that_is_cut_off_is_refused(model, tmp_path):
    path = tmp_path / "m.tacit"
    model.save(path)
    content = path.read_bytes()
    for part in (content[:7], content[:300], content[: len(content) // 2], content[:-8]):
        path.write_bytes(part)
        with pytest.raises(FileFormatError):
            tacit.load(path)


def damaged(parts):
    """Components with something wrong, and what the error says of it."""
    names = parts[1]["tree"]["names"]
    renamed = {"tree": {**parts[1]["tree"], "names": ["other", *names[1:]]}}
    turned = [
        {
            "tree": {
                **part["tree"],
                "names": [*part["tree"]["names"][4::-1], *part["tree"]["names"][5:]],
            }
        }
        for part in parts
    ]
    for value in (None, {}, "trees", 3, []):
        yield value, "parts"
    yield parts[:2], "part"
    yield [parts[1], parts[0], parts[2]], "parts.0"
    yield [parts[0], {}, parts[2]], "tree' is missing"
    yield [parts[0], renamed, parts[2]], "other leaves"
    yield turned, r"card|columns"


def test_a_mixture_with_a_damaged_header_is_refused(model, tmp_path):
    path = tmp_path / "m.tacit"
    model.save(path)
    for parts, words in damaged(read_file(path)[0]["parameters"]["parts"]):
        model.save(path)
        edited(path, parameters={"kind": "mixture", "parts": parts})
        with pytest.raises(FileFormatError, match=words):
            tacit.load(path)
    model.save(path)
    edited(path, parameters={"kind": "tables", "tree": {}})
    with pytest.raises(FileFormatError, match="damaged"):
        tacit.load(path)


def test_one_component_is_written_as_bif_and_read_back(model, parts, tmp_path):
    path = tmp_path / "m.bif"
    with pytest.raises(NotAvailableError, match=r"mixture of 3 trees.*0 to 2"):
        model.to_bif(path)
    assert not path.exists()
    rows = rows_of(holes(4))
    for number, part in enumerate(parts):
        model.to_bif(path, component=number)
        restored = tacit.LatentTree.from_bif(path)
        assert restored.score_samples(rows) == pytest.approx(part.score_samples(rows), abs=1e-9)
    parts[0].to_bif(path, component=0)
    for wrong, error in ((3, ArgumentError), (-1, ArgumentError), ("h", ArgumentTypeError)):
        with pytest.raises(error, match="0 to 2"):
            model.to_bif(path, component=wrong)


def test_every_component_is_drawn_and_the_heaviest_by_default(model, parts):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    def drawn(tree):
        """Labels and numbers of states, and widths of lines: in any order."""
        axes = tacit.plot.tree(tree)
        widths = np.concatenate(
            [np.atleast_1d(collection.get_linewidths()) for collection in axes.collections]
        )
        texts_and_widths = sorted(text.get_text() for text in axes.texts), np.sort(widths).tolist()
        plt.close(axes.figure)
        return texts_and_widths

    for component, part in zip(model.trees_, parts, strict=True):
        assert drawn(component) == drawn(part)
    assert drawn(model) == drawn(parts[1])


@pytest.mark.parametrize("structure", ["chow-liu", "hidden-chow-liu"])
def test_every_learnt_tree_has_the_given_number_of_states(structure):
    truth = tacit.toy.random_tree_model(n_leaves=6, n_categories=3, random_state=0)
    fitted = tacit.LatentTree(2, structure, n_components=2).fit(truth.sample(300, random_state=1))
    counts = {count for tree in fitted.trees_ for count in tree.node_states.values()}
    assert len(fitted.trees_) == 2
    assert counts == {2}


def test_few_rows_get_the_given_number_of_trees():
    fitted = tacit.LatentTree("auto", "star", n_components=2).fit(frame(200))
    assert len(fitted.trees_) == 2
    assert "states" not in fitted.diagnostics_


def test_states_given_for_some_nodes_do_not_forbid_several_trees():
    newick = "((colour,size)a,(ok,grade)b,place);"
    fitted = tacit.LatentTree({"a": 2}, newick, n_components=2).fit(frame())
    assert [tree.node_states["a"] for tree in fitted.trees_ if "a" in tree.node_states] == [2]
    assert len(fitted.trees_) == 2


def test_states_given_for_some_nodes_of_many_columns_are_kept(monkeypatch):
    monkeypatch.setattr(candidates, "FEW_COLUMNS", 3)
    fitted = tacit.LatentTree({"a": 2}, "((colour,size)a,(ok,grade)b,place);").fit(frame(700))
    assert fitted.node_states_["a"] == 2
