"""The picture of a conditional: the curves are the model's densities, and the legend says which is which."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import tacit
from tacit import plot
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    ColumnError,
    DependencyError,
    NotAvailableError,
)
from tacit.plot import style
from tacit.trees.structure.topology import Topology


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def table(n_rows=300):
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n_rows)
    return {
        "x": rng.normal(5.0 * (group == 0), 1.0),
        "y": rng.exponential(1.0 + group),
        "group": np.array(["north", "south", "elsewhere"])[group],
    }


STAR = Topology.star(["x", "y", "group"])


@pytest.fixture(scope="module", params=["kernel", "gaussian"])
def model(request):
    if request.param == "gaussian":
        return tacit.GaussianTree(shrinkage=0.0).fit(table())
    model = tacit.KernelTree(3, STAR, n_bins=6, n_components=1, bandwidth=1.0, blend=False)
    return model.fit(table())


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_are_the_conditional_densities(model):
    ax = plot.conditional_density(model, "x", [{"group": "north"}, {"group": "south", "y": 2.5}])
    assert len(ax.lines) == 2
    rows = {"group": ["north", "south"], "y": [None, 2.5]}
    for line, row in zip(ax.lines, range(2), strict=True):
        grid, densities = model.conditional_density(rows, "x", line.get_xdata())
        assert line.get_ydata() == pytest.approx(densities[row])
        assert np.trapezoid(densities[row], grid) == pytest.approx(1.0, abs=0.02)  # tails are cut
    assert ax.get_ylim()[0] == 0.0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "density")


def test_the_marginal_stands_behind_in_grey_and_can_be_left_out(model):
    ax = plot.conditional_density(model, "x", {"group": "north"})
    (area,) = ax.collections
    assert area.get_facecolor()[0] == pytest.approx(plt.matplotlib.colors.to_rgba(style.PALE))
    assert area.get_zorder() < ax.lines[0].get_zorder()
    _, (density,) = model.conditional_density({"x": [None]}, "x", ax.lines[0].get_xdata())
    assert area.get_paths()[0].vertices[:, 1].max() == pytest.approx(density.max())
    bare = plot.conditional_density(model, "x", {"group": "north"}, marginal=False)
    assert not bare.collections
    assert legend(plot.conditional_density(model, "x")) == ["nothing given"]


def test_bars_are_the_probabilities_of_categories(model):
    evidence = {"low": {"x": 0.0}, "high": {"x": 5.0}}
    ax = plot.conditional_density(model, "group", evidence)
    behind, low, high = (np.array([bar.get_height() for bar in bars]) for bars in ax.containers)
    probabilities = model.predict_proba({"x": [None, 0.0, 5.0]}, "group")
    assert np.stack([behind, low, high]) == pytest.approx(probabilities)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["elsewhere", "north", "south"]
    assert legend(ax) == ["nothing given", "low", "high"]


def test_any_model_of_categories_can_be_drawn():
    rows = tacit.toy.random_tree_model(n_leaves=4, random_state=0).sample(100, random_state=1)
    ax = plot.conditional_density(tacit.ChowLiuTree().fit(rows), "x0", {"x1": 2})
    assert len(ax.containers) == 2


def test_what_all_evidence_has_in_common_is_said_once(model):
    evidence = [{"group": "north", "y": 1.25}, {"group": "north", "y": 3.0}, {"group": "north"}]
    ax = plot.conditional_density(model, "x", evidence)
    assert ax.get_legend().get_title().get_text() == "given group = north"
    assert legend(ax) == ["nothing given", "y = 1.25", "y = 3", "nothing else"]
    single = plot.conditional_density(model, "x", {"group": "north", "y": np.nan, "x": 1.0})
    assert legend(single)[1:] == ["group = north"]


def test_looks_differ_as_long_as_there_are_any(model):
    evidence = [{"y": 0.1 * n} for n in range(24)]
    ax = plot.conditional_density(model, "x", evidence)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 24
    with pytest.raises(ArgumentError, match="25 sets of evidence cannot be told apart"):
        plot.conditional_density(model, "x", [*evidence, {}])


def test_a_long_legend_covers_no_curve_and_is_not_cut_off():
    names = ["group", "y", "x"]
    model = tacit.GaussianTree("chow-liu", "gaussian", 0.0).fit(
        {
            f"a column with a long name, number {n}, {name}": values
            for n in range(3)
            for name, values in zip(
                names, np.random.default_rng(0).normal(size=(3, 50)), strict=True
            )
        }
    )
    *known, target = model.schema_.names
    evidence = [dict.fromkeys(known, number + 0.123) for number in range(6)]
    ax = plot.conditional_density(model, target, evidence)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1 - 1
    page = ax.figure.bbox
    assert page.x0 <= box.x0 < box.x1 <= page.x1
    assert page.y0 <= box.y0 < box.y1 <= page.y1


def test_axes_that_are_given_are_drawn_on(model):
    _, ax = plt.subplots()
    assert plot.conditional_density(model, "x", {"group": "north"}, ax) is ax
    assert plt.get_fignums() == [ax.figure.number]


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_the_legend_is_not_cut_off_in_axes_that_are_given(model, layout):
    figure, (_, ax) = plt.subplots(1, 2, figsize=(8, 4), layout=layout)
    plot.conditional_density(model, "x", [{"y": 0.3 * n} for n in range(8)], ax)
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_evidence_of_columns_that_do_not_exist_is_refused(model):
    for name in ("groop", "something else"):
        with pytest.raises(ColumnError, match=name):
            plot.conditional_density(model, "x", {name: "north"})
    with pytest.raises(ColumnError, match="z"):
        plot.conditional_density(model, "z")
    with pytest.raises(ArgumentTypeError, match="to_dict"):
        plot.conditional_density(model, "x", np.zeros((2, 2)))


def test_invalid_queries_are_refused():
    for subject in ("model", tacit.KernelTree(), Topology.star("abc")):
        with pytest.raises(NotAvailableError, match="pass a fitted model of a table"):
            plot.conditional_density(subject, "x")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(DependencyError, match=r'pip install "tacit\[plot\]"'):
        plot.conditional_density(model, "x")
