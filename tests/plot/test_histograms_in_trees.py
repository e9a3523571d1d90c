"""Trees with small histograms, and junction trees with their sets of variables."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import tacit
from tacit import plot
from tacit.errors import ArgumentError, NotAvailableError
from tacit.plot import style
from tacit.plot.histograms import histograms_of
from tacit.toy import random_loopy_model, random_topology, random_tree_model
from tacit.trees.structure.topology import Topology


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def skewed_table(n_rows=300):
    """Numbers that are far from even, and categories that are not equally frequent."""
    rng = np.random.default_rng(0)
    group = rng.choice(3, size=n_rows, p=[0.6, 0.3, 0.1])
    return {
        "two peaks": rng.normal(6.0 * (group == 0), 1.0),
        "skewed $x$": rng.exponential(1.0 + group),
        "group": np.array(["north", "south", "elsewhere"])[group],
        "yes": rng.random(n_rows) < 0.8,
    }


STAR = Topology.star(["two peaks", "skewed $x$", "group", "yes"])


@pytest.fixture(scope="module")
def kernel_tree():
    model = tacit.KernelTree(2, STAR, n_bins=6, n_components=1, bandwidth=1.0, blend=False)
    return model.fit(skewed_table())


@pytest.fixture(scope="module")
def gaussian_tree():
    """Sixty leaves."""
    topology = random_topology(60, random_state=0)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 1)) + rng.normal(size=(200, 60))
    names = [f"a rather long name {n}" for n in range(60)]
    renamed = Topology(
        tuple(dict(zip(topology.observed, names, strict=True)).get(n, n) for n in topology.nodes),
        tuple(
            tuple(dict(zip(topology.observed, names, strict=True)).get(n, n) for n in edge)
            for edge in topology.edges
        ),
        tuple(names),
    )
    table = dict(zip(names, rows.T, strict=True))
    return tacit.GaussianTree(renamed, "gaussian", 0.0, learn="distances").fit(table)


@pytest.fixture(scope="module")
def junction_models():
    rows = random_tree_model(n_leaves=9, random_state=0).sample(200, random_state=1)
    loopy = random_loopy_model(random_state=0)
    return {
        "second order": tacit.HigherOrderHMM(2, 2, learn="spectral").fit(rows),
        "third order": tacit.HigherOrderHMM(3, 2, learn="spectral").fit(rows),
        "factorial": tacit.FactorialHMM(2, 2, learn="em", tol=0.01, n_restarts=1).fit(rows),
        "loopy": tacit.LatentJunctionTree(loopy.graph, 2, learn="em", tol=0.01, n_restarts=1).fit(
            loopy.sample(300, random_state=0)
        ),
    }


def bar_shapes(ax):
    """Corners of the bars in pixels, by colour."""
    collections = [
        collection for collection in ax.collections if isinstance(collection, PolyCollection)
    ]
    return {
        tuple(collection.get_facecolor()[0]): [
            ax.transData.transform(path.vertices) for path in collection.get_paths()
        ]
        for collection in collections
    }


def boxes(ax):
    """Where texts, histograms and texts of the legend are, in pixels: (thing, left, right, bottom, top)."""
    ax.figure.canvas.draw()
    texts = [*ax.texts, *ax.get_legend().get_texts()]
    extents = [(text.get_text(), text.get_window_extent()) for text in texts]
    boxes = [(name, box.x0, box.x1, box.y0, box.y1) for name, box in extents]
    shapes = [corners for colour in bar_shapes(ax).values() for corners in colour]
    for number, corners in enumerate(shapes):
        (left, bottom), (right, top) = corners.min(axis=0), corners.max(axis=0)
        boxes.append((f"bars {number}", left, right, bottom, top))
    return boxes


def overlapping(boxes):
    hair = 0.5  # pixels
    left, right, bottom, top = np.array([box[1:] for box in boxes]).T
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left) > hair
    high = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom) > hair
    return [
        (boxes[one][0], boxes[other][0]) for one, other in np.argwhere(np.triu(across & high, 1))
    ]


def clipped(ax, boxes):
    page = ax.figure.bbox
    return [
        name
        for name, left, right, bottom, top in boxes
        if left < page.x0 or right > page.x1 or bottom < page.y0 or top > page.y1
    ]


def test_numbers_have_touching_bars_and_categories_bars_apart(kernel_tree):
    shapes = bar_shapes(plot.tree(kernel_tree))
    colours = {
        name: plt.matplotlib.colors.to_rgba(getattr(style, name)) for name in ("SKY", "GREEN")
    }
    assert set(shapes) == set(colours.values())
    assert len(shapes[colours["SKY"]]) == 2  # one shape for each column of numbers
    assert len(shapes[colours["GREEN"]]) == 3 + 2  # one for each category


def test_histograms_show_the_columns_distributions(kernel_tree):
    histograms = histograms_of(kernel_tree)
    table = skewed_table()
    assert set(histograms) == set(table)
    (probabilities,) = kernel_tree.predict_proba({"group": [None]}, "group")
    assert histograms["group"].heights == pytest.approx(probabilities / probabilities.max())
    low, high = np.quantile(table["two peaks"], [0.005, 0.995])
    counts, _ = np.histogram(table["two peaks"], np.linspace(low, high, 25))
    # 300 rows in 24 bars: the two agree in shape, not bar by bar
    assert np.corrcoef(histograms["two peaks"].heights, counts)[0, 1] > 0.8
    assert (
        histograms["skewed $x$"].heights[:6].sum() > 3 * histograms["skewed $x$"].heights[12:].sum()
    )


@pytest.mark.parametrize("name", ["kernel_tree", "gaussian_tree"])
@pytest.mark.parametrize("hidden_labels", [True, False])
def test_nothing_overlaps_and_nothing_is_cut_off(name, hidden_labels, request):
    ax = plot.tree(request.getfixturevalue(name), hidden_labels=hidden_labels)
    drawn = boxes(ax)
    assert overlapping(drawn) == []
    assert clipped(ax, drawn) == []


def test_sixty_histograms_fit_on_a_page_with_readable_names(gaussian_tree):
    ax = plot.tree(gaussian_tree)
    width, height = ax.figure.get_size_inches()
    assert width < 20
    assert height < 12
    assert {text.get_fontsize() for text in ax.texts} >= {style.FONT_SIZE}


def test_histograms_can_be_left_out_or_requested(kernel_tree):
    assert bar_shapes(plot.tree(kernel_tree, histograms=False)) == {}
    truth = random_tree_model(n_leaves=4, random_state=0)
    categorical = tacit.LatentTree(2, truth.topology).fit(truth.sample(100, random_state=1))
    assert bar_shapes(plot.tree(categorical)) == {}
    bars = bar_shapes(plot.tree(categorical, histograms=True))
    assert sum(map(len, bars.values())) == sum(categorical.schema_.cards)
    with pytest.raises(ArgumentError, match="histograms='yes'"):
        plot.tree(kernel_tree, histograms="yes")
    with pytest.raises(NotAvailableError, match="histograms=False"):
        plot.tree(truth.topology, histograms=True)


def test_a_leaf_of_one_category_shows_which_it_is():
    model = tacit.GaussianTree("chow-liu", "gaussian", 0.0).fit(skewed_table())
    histograms = histograms_of(model)
    leaves = [name for name in model.topology_.observed if name.startswith("group=")]
    assert [histograms[name].category for name in sorted(leaves)] == [0, 1]
    assert histograms["yes"].category == -1
    pale = plt.matplotlib.colors.to_rgba(style.PALE_GREEN)
    assert (
        len(bar_shapes(plot.tree(model))[pale]) == 2 * 2
    )  # of two leaves, the other two categories


def test_edges_of_a_gaussian_tree_are_as_wide_as_their_correlations():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    table = {"a": x, "b": x + 0.1 * rng.normal(size=2000), "c": x + 9 * rng.normal(size=2000)}
    ax = plot.tree(
        tacit.GaussianTree(Topology.star("abc"), "gaussian", 0.0).fit(table), hidden_labels=False
    )
    lines = [collection for collection in ax.collections if hasattr(collection, "get_segments")][1]
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    widths = dict(
        zip([end[1][1] for end in lines.get_segments()], lines.get_linewidths(), strict=True)
    )
    assert widths[heights["b"]] > 3 * widths[heights["c"]]


@pytest.mark.parametrize("name", ["second order", "third order", "factorial", "loopy"])
@pytest.mark.parametrize("histograms", [True, False])
def test_junction_trees_show_their_sets(name, histograms, junction_models):
    model = junction_models[name]
    ax = plot.tree(model, histograms=histograms)
    junction = model.junction_
    texts = [text.get_text() for text in ax.texts]
    sets = {", ".join(junction.members[node]) for node in junction.tree.hidden}
    assert sets <= set(texts)
    counts = [text for text in texts if text.isdigit()]
    assert sorted(counts) == sorted(str(junction.n_states[node]) for node in junction.tree.hidden)
    assert "hidden variables (number of joint states)" in [
        text.get_text() for text in ax.get_legend().get_texts()
    ]
    drawn = boxes(ax)
    assert overlapping([box for box in drawn if not box[0].isdigit()]) == []
    assert clipped(ax, drawn) == []
