"""Trees as Bayesian networks, and back: the distribution of the observed variables stays the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.networks import leaf_joint
from oracles.topologies import topologies
from tacit.errors import TopologyError
from tacit.toy import random_tables
from tacit.trees.files.bif import (
    BifNetwork,
    BifTable,
    BifVariable,
    bif_from_tables,
    bif_text,
    parse_bif,
    read_bif,
    tree_from_bif,
    write_bif,
)
from tacit.trees.structure.topology import Topology


def joint_of(network, names):
    """P(names) of any small Bayesian network, by multiplying all of its tables."""
    axis = {variable.name: place for place, variable in enumerate(network.variables)}
    operands = []
    for table in network.tables:
        operands += [table.values, [axis[name] for name in (*table.parents, table.variable)]]
    return np.einsum(*operands, [axis[name] for name in names])


@st.composite
def directed_trees(draw):
    """A Bayesian network that is a tree, with its arrows from any root, hidden variables of any degree."""
    topology = draw(topologies(max_nodes=8, names=st.text(max_size=3)))
    names = draw(st.permutations(topology.nodes))
    root = names[0]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    card = {name: int(rng.integers(1, 4)) for name in names}
    above = {root: ()}
    waiting = [root]
    for name in waiting:
        for other in topology.neighbours[name]:
            if other not in above:
                above[other] = (name,)
                waiting.append(other)
    tables = [
        BifTable(
            name, above[name], rng.dirichlet(np.ones(card[name]), [card[p] for p in above[name]])
        )
        for name in draw(st.permutations(names))
    ]
    variables = [
        BifVariable(name, tuple(range(card[name])), latent=name in topology.hidden)
        for name in names
    ]
    return BifNetwork("n", tuple(variables), tuple(tables))


@given(directed_trees())
def test_a_network_that_is_a_tree_keeps_its_distribution(network):
    restored = tree_from_bif(network)
    assert restored.names == tuple(v.name for v in network.variables if not v.latent)
    assert restored.topology.contracted() == restored.topology
    tree = restored.tables.tree
    assert tree.names[: tree.n_leaves] == restored.names
    assert leaf_joint(restored.tables) == pytest.approx(
        joint_of(network, restored.names), abs=1e-12
    )
    rows = np.add.reduceat(restored.tables.values, restored.tables.layout.row_starts)
    assert rows == pytest.approx(1.0, abs=1e-12)


@given(topologies(max_nodes=10, names=st.text(max_size=4)), st.integers(0, 10**6))
def test_a_written_tree_comes_back_number_for_number(topology, seed):
    topology = topology.contracted()
    columns = topology.observed
    tree = topology.rooted(columns)
    rng = np.random.default_rng(seed)
    tables = random_tables(tree, rng.integers(1, 4, tree.n_leaves).tolist(), 2, rng)
    categories = [tuple(range(n)) for n in tables.layout.n_states[: tree.n_leaves]]
    restored = tree_from_bif(parse_bif(bif_text(bif_from_tables(tables, categories))))
    assert restored.names == columns
    assert list(restored.categories.values()) == categories
    assert set(restored.topology.nodes) == set(topology.nodes)
    assert restored.tables.tree.names == tree.names
    assert np.array_equal(restored.tables.tree.parent, tree.parent)
    assert np.array_equal(restored.tables.tree.copy_of, tree.copy_of)
    assert np.array_equal(restored.tables.values, tables.values)


@given(topologies(max_nodes=8), st.integers(0, 10**6))
def test_a_tree_as_network_has_the_same_distribution(topology, seed):
    tree = topology.rooted(topology.observed)
    tables = random_tables(tree, 2, 2, seed)
    network = bif_from_tables(tables, [("a", "b")] * tree.n_leaves)
    assert joint_of(network, topology.observed) == pytest.approx(leaf_joint(tables), abs=1e-12)
    latent = {variable.name for variable in network.variables if variable.latent}
    assert latent == set(topology.contracted().hidden)


def test_numbers_of_states_of_hidden_variables_are_known():
    topology = Topology.star(["a", "b", "c"])
    tables = random_tables(topology.rooted(["a", "b", "c"]), 2, 3, 0)
    tree = tree_from_bif(bif_from_tables(tables, [(0, 1)] * 3))
    assert tree.topology.n_states == {"h": 3}


def test_hidden_variables_can_be_named():
    a, b, c = (BifVariable(name, ("0", "1")) for name in "abc")
    values = np.array([[0.9, 0.1], [0.3, 0.7]])
    tables = (
        BifTable("a", (), values[0]),
        BifTable("b", ("a",), values),
        BifTable("c", ("b",), values),
    )
    network = BifNetwork("n", (a, b, c), tables)
    tree = tree_from_bif(network, hidden=["b"])
    assert tree.names == ("a", "c")
    assert tree.topology.nodes == ("a", "c")  # b had two neighbours and is summed out
    assert leaf_joint(tree.tables) == pytest.approx(joint_of(network, "ac"), abs=1e-12)
    with pytest.raises(TopologyError, match="no variable 'x'"):
        tree_from_bif(network, hidden=["x"])


def test_a_state_that_never_occurs_does_no_harm():
    a, b = BifVariable("a", ("0", "1")), BifVariable("b", ("0", "1", "2"))
    towards = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    network = BifNetwork(
        "n", (b, a), (BifTable("a", (), np.array([0.4, 0.6])), BifTable("b", ("a",), towards))
    )
    tree = tree_from_bif(network)  # b comes first and is the root
    assert leaf_joint(tree.tables) == pytest.approx(joint_of(network, "ba"), abs=1e-12)


def test_two_parents_are_no_tree():
    two = np.array([[[1.0]]])
    variables = tuple(BifVariable(name, ("0",)) for name in "abc")
    tables = (
        BifTable("a", (), np.ones(1)),
        BifTable("b", (), np.ones(1)),
        BifTable("c", ("a", "b"), two),
    )
    with pytest.raises(TopologyError, match="'c' depends on 2 others \\('a', 'b'\\)"):
        tree_from_bif(BifNetwork("n", variables, tables))


def test_two_parts_are_no_tree():
    variables = tuple(BifVariable(name, ("0",)) for name in "ab")
    tables = tuple(BifTable(name, (), np.ones(1)) for name in "ab")
    with pytest.raises(TopologyError, match="nothing joins 'a' and 'b'"):
        tree_from_bif(BifNetwork("n", variables, tables))


def test_a_circle_is_no_tree():
    variables = tuple(BifVariable(name, ("0",)) for name in "ab")
    tables = (BifTable("a", ("b",), np.ones((1, 1))), BifTable("b", ("a",), np.ones((1, 1))))
    with pytest.raises(TopologyError, match="closes a cycle"):
        tree_from_bif(BifNetwork("n", variables, tables))


def test_nothing_but_hidden_variables_is_refused():
    variable = BifVariable("a", ("0",), latent=True)
    with pytest.raises(TopologyError, match="observed"):
        tree_from_bif(BifNetwork("n", (variable,), (BifTable("a", (), np.ones(1)),)))


def test_pgmpy_reads_what_is_written_and_writes_what_can_be_read(tmp_path):
    readwrite = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed")
    network = hostile_network(tmp_path / "n.bif")
    read = readwrite.BIFReader(str(tmp_path / "n.bif"), include_properties=True).get_model()
    assert read.check_model()
    readwrite.BIFWriter(read).write(str(tmp_path / "again.bif"))
    again = read_bif(tmp_path / "again.bif")
    assert again.variable_of == network.variable_of
    names = [variable.name for variable in network.variables]
    assert joint_of(again, names) == pytest.approx(joint_of(network, names), abs=1e-12)


def test_pyagrum_reads_what_is_written_and_writes_what_can_be_read(tmp_path):
    agrum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    network = hostile_network(tmp_path / "n.bif")
    read = agrum.loadBN(str(tmp_path / "n.bif"))
    agrum.saveBN(read, str(tmp_path / "again.bif"))
    again = read_bif(tmp_path / "again.bif")  # words, since this program drops properties
    assert len(again.variables) == len(network.variables)
    words = [variable.name for variable in again.variables]
    names = [variable.name for variable in network.variables]
    assert joint_of(again, words) == pytest.approx(joint_of(network, names), abs=1e-6)


def hostile_network(path):
    """A tree with names and categories of all sorts, written to a file."""
    names = ["a b", "A_B", "probability", "x;y", "é", "1"]
    topology = Topology.from_edges([("h{1}", name) for name in names])
    tree = topology.rooted(names)
    categories = [
        ("<5", "5-9", "10+"),
        (0, 1, 2),
        (False, True, "?"),
        ("", " ", "a,b"),
        (0.5, -1.5, 2),
    ]
    categories.append(("table", "default", "}"))
    tables = random_tables(tree, 3, 2, 0)
    write_bif(path, tables, categories)
    return bif_from_tables(tables, categories)
