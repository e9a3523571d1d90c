"""What a few bytes or one argument may ask for is bounded, and errors stay short."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import errors
from tacit.core.limits import check_entries, check_memory, shown
from tacit.errors import (
    LONGEST_MESSAGE,
    ArgumentError,
    DataError,
    FileFormatError,
    TacitError,
    TacitWarning,
    TooExpensiveError,
)
from tacit.trees.files.bif_reading import parse_bif

LONG = "x" * 10_000_000
CLASSES = [value for value in vars(errors).values() if isinstance(value, type)]


@pytest.mark.parametrize(
    "kind", [kind for kind in CLASSES if issubclass(kind, TacitError | TacitWarning)]
)
def test_message_keeps_its_beginning_and_its_end_and_loses_its_middle(kind):
    error = kind(f"no file {LONG}; give one that is there")
    assert len(str(error)) <= LONGEST_MESSAGE
    assert str(error).startswith("no file")
    assert str(error).endswith("; give one that is there")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    "kind", [kind for kind in CLASSES if issubclass(kind, TacitError | TacitWarning)]
)
def test_message_is_one_line_that_shows_control_characters(kind):
    error = kind("two lines:\r\n  - \x1b[31mred\x07 \x9b \u202e é\n" + "\x00" * 10_000)
    assert str(error).startswith(r"two lines: - \x1b[31mred\x07 \x9b \u202e é \x00\x00")
    assert str(error).isprintable()
    assert len(str(error)) <= LONGEST_MESSAGE
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_message_about_a_file_shows_control_characters_of_its_lines(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n1,2\n\x1b[2Jx\x07,3,4\n")
    with pytest.raises(DataError, match=r"\\x1b\[2Jx\\x07,3,4$"):
        tacit.ChowLiuTree().fit(path)


def test_columns_of_one_name_are_refused_in_one_line():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(DataError, match=r"column names must differ[^\n]*'a' 2 times$"):
        tacit.ChowLiuTree().fit(frame)


@pytest.mark.parametrize(
    "value",
    [LONG, LONG.encode(), 10**100_000, [LONG], {LONG: LONG}, None],
    ids=["text", "bytes", "integer", "list", "dict", "none"],
)
def test_value_in_a_message_is_short(value):
    assert len(shown(value)) <= 80


def test_entries_are_bounded_by_bytes():
    check_entries("words", 1_000_000, 10, "correct it")
    with pytest.raises(
        FileFormatError, match=r"words: 2000000, more than the 1049216 .*correct it"
    ):
        check_entries("words", 2_000_000, 10, "correct it")


def test_memory_limit_is_named_and_can_be_raised():
    check_memory("the plan", 2e9, "3GB", "use fewer states")
    with pytest.raises(TooExpensiveError, match=r"about 2 GB .*max_memory='1GB'.*raise max_memory"):
        check_memory("the plan", 2e9, "1GB", "use fewer states")
    with pytest.raises(TooExpensiveError):
        check_memory("the plan", 10**400, "1GB", "use fewer states")
    with pytest.raises(ArgumentError, match="max_memory=None"):
        check_memory("the plan", 1, None, "use fewer states")


@pytest.mark.parametrize(
    "text",
    [
        "1\n1000000000000\n1\n1 1 1\n",
        "1000000000000\n2\n1\n1 1 1\n",
        "1\n100000000\n1\n1 1 1\n",
        "1 2147483646:1\n",
        "1 99999999:1\n",
    ],
)
def test_few_bytes_of_word_counts_cannot_ask_for_much_memory(tmp_path, text):
    path = tmp_path / "documents.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"more than the \d+ that a file of \d+ bytes"):
        tacit.read_documents(path)


def test_default_row_of_many_parents_is_refused():
    states = ", ".join(f"s{i}" for i in range(10))
    names = [f"p{i}" for i in range(8)]
    text = "".join(
        f"variable {name} {{ type discrete [ 10 ] {{ {states} }}; }}\n" for name in [*names, "x"]
    )
    row = ", ".join(["0.1"] * 10)
    text += "".join(f"probability ( {name} ) {{ table {row}; }}\n" for name in names)
    text += f"probability ( x | {', '.join(names)} ) {{ default {row}; }}\n"
    with pytest.raises(FileFormatError, match=r"'x' has too many values: 1000000000, more than"):
        parse_bif(text)


def grid(size):
    graph = nx.Graph(nx.grid_2d_graph(size, size))
    hidden = nx.relabel_nodes(graph, {node: f"h{node[0]}_{node[1]}" for node in graph})
    hidden.add_edges_from((name, f"x{name[1:]}") for name in list(hidden))
    return hidden


def rows_of(graph):
    rng = np.random.default_rng(0)
    names = [name for name in graph if name.startswith("x")]
    return {name: rng.integers(2, size=20) for name in names}


@pytest.mark.parametrize("method", ["plan", "fit"])
def test_grid_of_hidden_variables_is_refused_before_it_is_allocated(method):
    graph = grid(12)
    model = tacit.LatentJunctionTree(graph, n_states=2)
    with pytest.raises(TooExpensiveError, match=r"treewidth .* GB of memory.*raise max_memory"):
        getattr(model, method)(rows_of(graph))


def test_memory_of_a_junction_tree_is_limited_by_its_argument():
    graph = grid(4)
    rows = rows_of(graph)
    assert tacit.LatentJunctionTree(graph, n_states=2).plan(rows).treewidth >= 3
    with pytest.raises(TooExpensiveError, match="max_memory='10KB'"):
        tacit.LatentJunctionTree(graph, n_states=2, max_memory="10KB").plan(rows)


@pytest.mark.parametrize(
    "model",
    [
        tacit.FactorialHMM(n_chains=10**9, n_states=2),
        tacit.FactorialHMM(n_chains=3000, n_states=2),
        tacit.FactorialHMM(n_chains=2, n_states=10**9),
        tacit.HigherOrderHMM(order=10**9, n_states=10**9),
        tacit.HigherOrderHMM(order=2, n_states=10**5000),
    ],
    ids=lambda model: type(model).__name__,
)
def test_huge_junction_trees_are_refused(model):
    rows = {f"x{i}": [0, 1, 1, 0] * 5 for i in range(5)}
    with pytest.raises(TacitError):
        model.fit(rows)
