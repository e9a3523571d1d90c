"""The picture of singular values."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

from oracles.letters import letters
from tacit import load, plot
from tacit.core.model import Model
from tacit.errors import NotAvailableError
from tacit.numbers.kernel_tree import KernelTree
from tacit.sequences.weighted_automaton import WeightedAutomaton
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import random_topics, sample_documents


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def edges(n_edges, threshold=0.02):
    rng = np.random.default_rng(n_edges)
    edges = []
    for number in range(n_edges):
        values = 10 ** rng.uniform(-4, 0, size=5)
        edges.append(
            {
                "edge": f"h{number} - h{number // 2}",
                "kept": values[values > threshold].tolist(),
                "cut": [*values[values <= threshold].tolist(), 0.0],
                "threshold": threshold,
            }
        )
    return edges


def drawn(ax):
    """Heights of the marks, by what they mean."""
    return {
        marks.get_label(): np.sort(np.asarray(marks.get_offsets())[:, 1])
        for marks in ax.collections
        if hasattr(marks, "get_sizes")
    }


def test_every_value_is_drawn_at_its_height():
    every = edges(9)
    ax = plot.singular_values({"edges": every})
    assert ax.get_yscale() == "log"
    marks = drawn(ax)
    assert marks["kept"] == pytest.approx(np.sort([v for e in every for v in e["kept"]]))
    cut = np.sort([v for e in every for v in e["cut"]])
    assert marks["cut"][9:] == pytest.approx(cut[9:])
    assert (marks["cut"][:9] < cut[9]).all()  # zeros, which have no logarithm, stand below the rest
    assert (marks["cut"] > 0).all()


def test_edges_stand_from_the_weakest_to_the_strongest_under_their_names():
    every = edges(9)
    ax = plot.singular_values({"edges": every})
    weakest = {edge["edge"]: min(edge["kept"], default=0.0) for edge in every}
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert [weakest[name] for name in names] == sorted(weakest.values())


def test_thresholds_are_drawn_for_each_edge():
    every = edges(3)
    every[1]["threshold"] = 0.5
    ax = plot.singular_values({"edges": every})
    (lines,) = [marks for marks in ax.collections if hasattr(marks, "get_segments")]
    heights = sorted(float(segment[0][1]) for segment in lines.get_segments())
    assert heights == [0.02, 0.02, 0.5]


def test_edges_without_threshold_or_cut_values_are_fine():
    ax = plot.singular_values({"edges": [{"edge": "a$b", "kept": [1.0], "threshold": None}]})
    assert len(drawn(ax)["kept"]) == 1
    ax.figure.canvas.draw()
    zeros = [{"edge": "a", "kept": [0.0], "cut": [], "threshold": 0.0}]
    plot.singular_values({"edges": zeros}).figure.canvas.draw()


@pytest.mark.parametrize("n_edges", [1, 30, 60])
def test_names_of_edges_do_not_overlap(n_edges):
    ax = plot.singular_values({"edges": edges(n_edges)})
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(one.x1 <= other.x0 + 0.5 for one, other in itertools.pairwise(boxes))


def test_many_edges_are_not_named():
    ax = plot.singular_values({"edges": edges(200)})
    assert "weakest" in ax.get_xlabel()
    assert ax.figure.get_size_inches()[0] < 20


def test_axes_and_models_are_taken():
    class Fitted(Model):
        kind = "table"
        diagnostics_ = {"edges": edges(2)}  # noqa: RUF012

    _, ax = plt.subplots()
    assert plot.singular_values(Fitted(), ax) is ax


def test_a_model_without_singular_values_is_refused():
    for model in ({"edges": []}, {}, object()):
        with pytest.raises(NotAvailableError, match="no singular values"):
            plot.singular_values(model)


def test_a_chain_has_one_spectrum_from_the_largest_value_on():
    diagnostics = {"singular_values": [0.9, 0.3, 0.01, 0.0], "n_kept": 2, "noise": 0.1}
    ax = plot.singular_values(diagnostics)
    assert drawn(ax)["kept"].tolist() == [0.3, 0.9]
    assert drawn(ax)["cut"][1] == 0.01
    assert 0 < drawn(ax)["cut"][0] < 0.01
    (line,) = ax.lines
    assert (line.get_label(), line.get_ydata()[0]) == ("noise", 0.1)
    assert ax.get_yscale() == "log"


def test_the_spectrum_of_a_weighted_automaton_is_drawn(tmp_path):
    model = WeightedAutomaton(rank=2).fit(letters(["ab", "abab", "ab", "b"] * 10))
    marks = drawn(plot.singular_values(model))
    np.testing.assert_allclose(marks["kept"], np.sort(model.singular_values_))
    assert len(marks["kept"]) == 2
    singular_values = model.diagnostics_["singular_values"]
    assert len(singular_values) == 2 + len(marks["cut"]) > 4
    assert marks["cut"].max() == singular_values[2] <= marks["kept"].min()
    model.save(tmp_path / "model.tacit")
    again = drawn(plot.singular_values(load(tmp_path / "model.tacit")))
    np.testing.assert_array_equal(again["cut"], marks["cut"])


def test_the_kept_values_of_an_older_file_are_drawn_alone():
    model = WeightedAutomaton(rank=2).fit(letters(["ab", "abab", "ab", "b"] * 10))
    del model.diagnostics_["singular_values"]
    assert drawn(plot.singular_values(model)).keys() == {"kept"}


def test_topics_show_eigenvalues_of_pairs_of_words_over_the_noise():
    drawn = sample_documents(random_topics(4, 60, random_state=0), 800, 40, random_state=1)
    model = TopicModel(4, 0.4, learn="moments", cap=None, n_jobs=1).fit(drawn)
    moments = model.diagnostics_["moments"]
    for source in (model, model.diagnostics_, moments):
        ax = plot.singular_values(source)
        kept, cut = (np.asarray(points.get_offsets()) for points in ax.collections)
        assert kept[:, 1] == pytest.approx(moments["eigenvalues"][:4])
        assert len(cut) == len(moments["eigenvalues"]) - 4
        (line,) = ax.get_lines()
        assert line.get_ydata()[0] == moments["noise"]
        assert kept[:, 1].min() > moments["noise"] > cut[:, 1].max()


def test_trees_without_hidden_variables_show_their_edges():
    rng = np.random.default_rng(0)
    size = rng.normal(size=200)
    table = {"size": size, "weight": size + rng.normal(size=200)}
    model = KernelTree(structure="chow-liu", learn="spectral", experts="tree", blend=False)
    ax = plot.singular_values(model.fit(table))
    assert [label.get_text() for label in ax.get_xticklabels()] == list(model.diagnostics_["edges"])
    assert len(model.diagnostics_["edges"]) == 1
