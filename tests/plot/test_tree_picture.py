"""The picture of a tree: everything is there, and nothing lies upon anything else."""

import io
import itertools
import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tacit import plot
from tacit.errors import DependencyError, NotAvailableError
from tacit.plot import style
from tacit.toy import balanced, caterpillar, named_topology, random_topology, random_tree_model
from tacit.trees.structure.chow_liu import chow_liu_topology, hidden_chow_liu
from tacit.trees.structure.topology import Topology

WORDS = [
    "age of the youngest child",
    "income",
    "Rented or owned house (2001)",
    "x",
    "$cost_1$ in €",
]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def with_long_names(topology):
    """The same tree over variables with names as they come in questionnaires."""
    new = {name: f"{WORDS[n % len(WORDS)]} {n}" for n, name in enumerate(topology.observed)}
    return Topology(
        tuple(new.get(name, name) for name in topology.nodes),
        tuple((new.get(one, one), new.get(other, other)) for one, other in topology.edges),
        tuple(new.values()),
    )


def random_chow_liu(n_variables, hidden):
    rng = np.random.default_rng(n_variables)
    edges = [(int(rng.integers(max(0, n - 9), n)), n) for n in range(1, n_variables)]
    names = [f"{WORDS[n % len(WORDS)]} {n}" for n in range(n_variables)]
    return hidden_chow_liu(edges, names, n_states=12) if hidden else chow_liu_topology(edges, names)


TREES = {
    "one variable": Topology.from_newick("a;"),
    "two variables": Topology.star(["a", "b"]),
    "8 leaves": random_tree_model(topology=named_topology("bin4"), random_state=0),
    "8 leaves, long names": with_long_names(named_topology("bin4")),
    "64 leaves": random_tree_model(topology=named_topology("bin7"), n_states=10, random_state=0),
    "64 leaves, long names": with_long_names(named_topology("bin7")),
    "100 leaves, long names": with_long_names(
        random_topology(100, n_children=(2, 6), random_state=0)
    ),
    "120 leaves, observed inside": with_long_names(
        random_topology(90, observed_inner=0.5, random_state=1)
    ),
    "long chain": random_tree_model(topology=caterpillar(100), random_state=0),
    "star": Topology.star([f"variable {n}" for n in range(100)], n_states=4),
    "Chow-Liu": random_chow_liu(100, hidden=False),
    "hidden Chow-Liu": random_chow_liu(100, hidden=True),
}


def text_boxes(ax):
    """The place of every text in the rendered picture, legend included."""
    ax.figure.canvas.draw()
    texts = [*ax.texts, *(ax.get_legend().get_texts() if ax.get_legend() else [])]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def overlapping(boxes):
    """Pairs of texts whose boxes share more than a hair's breadth."""
    hair = 0.5  # pixels
    spans = np.array([[box.x0, box.x1, box.y0, box.y1] for _, box in boxes])
    left, right, bottom, top = spans.T
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left) > hair
    high = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom) > hair
    pairs = np.argwhere(np.triu(across & high, 1))
    return [(boxes[one][0], boxes[other][0]) for one, other in pairs]


@pytest.mark.parametrize("name", TREES)
def test_no_two_texts_overlap(name):
    ax = plot.tree(TREES[name], hidden_labels=True)
    boxes = text_boxes(ax)
    assert overlapping(boxes) == []
    inside = ax.figure.bbox
    assert all(
        inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        for _, box in boxes
    )


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("size", [(3, 3), (12, 4)])
def test_no_two_texts_overlap_in_axes_that_cannot_grow(name, size):
    _, (_, ax) = plt.subplots(1, 2, figsize=size, dpi=300)
    assert plot.tree(TREES[name], ax) is ax
    assert overlapping(text_boxes(ax)) == []


@pytest.mark.parametrize("name", ["64 leaves", "120 leaves, observed inside", "hidden Chow-Liu"])
def test_no_text_lies_on_the_mark_of_another_node(name):
    ax = plot.tree(TREES[name], hidden_labels=True)
    boxes = text_boxes(ax)
    for marks in ax.collections:
        if not hasattr(marks, "get_sizes") or len(marks.get_sizes()) == 0:
            continue
        radius = np.sqrt(marks.get_sizes()[0]) / 2 * ax.figure.dpi / 72
        for place in ax.transData.transform(marks.get_offsets()):
            on_it = [
                text
                for text, box in boxes
                if box.x0 - radius + 1 < place[0] < box.x1 + radius - 1
                and box.y0 - radius + 1 < place[1] < box.y1 + radius - 1
            ]
            assert all(re.fullmatch(r"\d+", text) for text in on_it)  # its own number of states
            assert len(on_it) <= 1


def test_overlaps_are_noticed():
    _, ax = plt.subplots()
    for x in (0.4, 0.42, 0.9):
        ax.text(x, 0.5, f"label {x}")
    assert overlapping(text_boxes(ax)) == [("label 0.4", "label 0.42")]


def test_every_node_is_drawn_once_and_every_variable_is_named():
    topology = with_long_names(random_topology(70, observed_inner=0.3, random_state=2))
    ax = plot.tree(topology, hidden_labels=False)
    assert sorted(text.get_text() for text in ax.texts) == sorted(
        " ".join(name.split()) for name in topology.observed
    )
    hidden_and_observed = sorted(
        len(marks.get_offsets()) for marks in ax.collections if hasattr(marks, "get_sizes")
    )
    lines = [marks for marks in ax.collections if hasattr(marks, "get_segments")]
    assert hidden_and_observed == sorted([len(topology.hidden), len(topology.observed)])
    assert {len(collection.get_segments()) for collection in lines} == {len(topology.edges)}


def test_hidden_and_observed_nodes_differ_in_shape_and_colour():
    ax = plot.tree(named_topology("bin4"))
    squares, discs = (marks for marks in ax.collections if hasattr(marks, "get_sizes"))
    assert len(squares.get_paths()[0].vertices) != len(discs.get_paths()[0].vertices)
    assert squares.get_facecolor().tolist() != discs.get_facecolor().tolist()


def test_colours_differ_in_lightness_too():
    def lightness(colour):
        red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for one, other in itertools.combinations([style.BLUE, style.ORANGE, style.BLACK], 2):
        assert abs(lightness(one) - lightness(other)) > 0.2


def test_stronger_edges_are_wider():
    topology = Topology.from_newick("(a,b,c)h;")
    weak_to_strong = random_tree_model(topology=topology, n_categories=2, random_state=0)
    tables = weak_to_strong.tables
    strength = {"a": 0.05, "b": 0.5, "c": 0.95}
    tree = tables.tree
    new = [
        np.array([[0.5 + s / 2, 0.5 - s / 2], [0.5 - s / 2, 0.5 + s / 2]])
        for s in (strength[name] for name in tree.names[:3])
    ]
    model = type(weak_to_strong)(topology, type(tables).of(tree, [*new, np.full((1, 2), 0.5)]))
    ax = plot.tree(model)
    lines = [marks for marks in ax.collections if hasattr(marks, "get_segments")][1]
    by_height = sorted(
        zip(
            [segment[1][1] for segment in lines.get_segments()], lines.get_linewidths(), strict=True
        )
    )
    by_label = {text.get_text(): text.get_position()[1] for text in ax.texts}
    widths = [dict(by_height)[by_label[name]] for name in "abc"]
    assert widths == sorted(widths)
    assert widths[2] > 4 * widths[0]


def test_hidden_labels_can_be_chosen_and_go_by_themselves_in_deep_trees():
    def texts(topology, **options):
        return {text.get_text() for text in plot.tree(topology, **options).texts}

    small, deep = named_topology("bin4"), caterpillar(40)
    assert set(small.hidden) <= texts(small)
    assert not set(small.hidden) & texts(small, hidden_labels=False)
    assert not set(deep.hidden) & texts(deep)
    assert set(deep.hidden) <= texts(deep, hidden_labels=True)


def test_long_names_are_cut_and_line_breaks_vanish():
    ax = plot.tree(Topology.star(["a\nb", "c" * 50, "d"]), max_label=10, hidden_labels=False)
    assert {text.get_text() for text in ax.texts} == {"a b", "c" * 9 + "…", "d"}


def test_the_legend_says_what_there_is_and_can_be_left_out():
    def legend(model, **options):
        drawn = plot.tree(model, **options).get_legend()
        return drawn and [text.get_text() for text in drawn.get_texts()]

    assert legend(chow_liu_topology([(0, 1)], ["a", "b"])) == ["observed"]
    assert legend(named_topology("bin4")) == ["observed", "hidden"]
    assert legend(TREES["8 leaves"])[:2] == ["observed", "hidden (number of states)"]
    assert len(legend(TREES["8 leaves"])) == 5
    assert legend(TREES["8 leaves"], legend=False) is None


def test_a_large_picture_is_a_small_file():
    file = io.BytesIO()
    plot.tree(TREES["100 leaves, long names"]).figure.savefig(file, format="svg")
    assert len(file.getvalue()) < 500_000


def test_a_figure_of_its_own_grows_with_the_tree_but_not_for_ever():
    sizes = [plot.tree(balanced(2, n)).figure.get_size_inches()[1] for n in (4, 6, 8)]
    assert sizes == sorted(sizes)
    names = [f"x{n}" for n in range(12_000)]
    star = plot.tree(Topology.star(names[:3000]), legend=False)
    assert max(star.figure.get_size_inches()) <= 101


def test_what_has_no_tree_is_refused():
    with pytest.raises(NotAvailableError, match="str has no tree to draw"):
        plot.tree("model")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(DependencyError, match=r'pip install "tacit\[plot\]"'):
        plot.tree(named_topology("bin4"))
