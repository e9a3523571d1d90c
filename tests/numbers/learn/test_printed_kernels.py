"""`KernelTree(preset="printed")` against chapter 6 of the thesis."""

import numpy as np
import pytest

import tacit
from oracles.feature_population import smoothed
from oracles.printed_kernel_trees import (
    FeatureMap,
    algorithm_8,
    algorithm_9,
    algorithm_11,
    covariance_operators,
    equation_6_18,
    median_distance,
)
from tacit.core.encoders.kernels import kernel_encoder
from tacit.errors import ArgumentError
from tacit.toy import random_topology, random_tree_model
from tacit.toy.exact import joint_table
from tacit.trees.learn import number_features
from tacit.trees.learn.kernel_distances import printed_kernel_distances
from tacit.trees.moments.features import FeatureMoments
from tacit.trees.structure.neighbour_joining import neighbor_joining

NEWICK = "((a,b)p,(c,d)q,(e,f)s)r;"
NAMES = tuple("abcdef")
VALUES = np.array([-2.1, -0.9, 0.2, 1.1, 2.4])  # far enough from each other for ten digits


def rows(n_rows=120, seed=0, n_states=2):
    """Six columns of few numbers, on a tree with hidden nodes of few states."""
    rng = np.random.default_rng(seed)
    root = rng.integers(n_states, size=n_rows)
    table = {}
    for place, name in enumerate(NAMES):
        if place % 2 == 0:
            flips = rng.random(n_rows) < 0.2
            above = np.where(flips, rng.integers(n_states, size=n_rows), root)
        codes = 2 * above + rng.integers(3, size=n_rows)
        table[name] = VALUES[np.minimum(codes, len(VALUES) - 1)] + 0.1 * place
    return table


class Transcription:
    """The model of the thesis, with the leaves that a fitted model has for each subtree."""

    def __init__(self, model, table):
        tree = self.tree = model.tree_
        columns = {leaf: table[tree.names[leaf]] for leaf in range(tree.n_leaves)}
        factor = 1.0 if isinstance(model.bandwidth, str) else model.bandwidth
        self.maps = {s: FeatureMap(x, factor * median_distance(x)) for s, x in columns.items()}
        self.C = covariance_operators(columns, self.maps)
        self.children = {node: tree.children[node] for node in tree.hidden}
        number = {name: node for node, name in enumerate(tree.names)}
        edges = model.diagnostics_["edges"]
        star = {number[edge]: number[sides["below"][0]] for edge, sides in edges.items()}
        outside = {number[edge]: number[sides["above"][0][0]] for edge, sides in edges.items()}
        assert all(len(sides["above"]) == 1 for sides in edges.values())  # one view
        self.parameters = algorithm_8(
            self.C, self.children, tree.root, star, outside, model.n_states
        )

    def b_r(self, point):
        """The unnormalised density; what is missing in the point is integrated out."""
        names, maps = self.tree.names, self.maps
        phi = {
            s: maps[s]([point[names[s]]])[:, 0] if names[s] in point else maps[s].integral()
            for s in maps
        }
        return algorithm_9(*self.parameters, self.children, self.tree.root, phi)

    def density(self, points):
        """(point,) The density of points, a table; NaN where it is not positive."""
        whole = self.b_r({})
        n_points = len(next(iter(points.values())))
        values = [
            self.b_r({name: column[n] for name, column in points.items()}) / whole
            for n in range(n_points)
        ]
        return np.where(np.array(values) > 0, values, np.nan)


def printed(n_states=2, structure=NEWICK, **arguments):
    given = {"tolerance": 0.0, "continuous": NAMES, "negative": "nan"} | arguments
    return tacit.KernelTree(n_states, structure, preset="printed", **given)


@pytest.mark.parametrize("bandwidth", ["auto", 0.6])
@pytest.mark.parametrize("n_states", [2, 3])
@pytest.mark.parametrize(
    "structure", [NEWICK, "(a,b,(c,(d,(e,f)s)q)p)r;", "((a,b,c,d)p,e,f)r;", "star", "auto"]
)
def test_densities_are_those_of_algorithms_8_and_9(structure, n_states, bandwidth):
    table = rows()
    model = printed(n_states, structure, bandwidth=bandwidth).fit(table)
    thesis = Transcription(model, table)
    rng = np.random.default_rng(1)
    points = {name: rng.normal(scale=1.5, size=30) for name in NAMES}
    expected = thesis.density(points)
    assert np.isfinite(expected).sum() > 15
    assert model.density(points) == pytest.approx(expected, rel=0, abs=1e-10, nan_ok=True)
    some = {name: points[name] for name in ("a", "d", "f")}  # the others are integrated out
    assert model.density(some) == pytest.approx(thesis.density(some), rel=0, abs=1e-10, nan_ok=True)


def test_the_tolerance_alone_bounds_the_features(monkeypatch):
    """Tacit's own form has fewer features of a column where columns are many."""
    monkeypatch.setattr(number_features, "MOST_FEATURES", 6)
    rng = np.random.default_rng(0)
    level = rng.integers(2, size=200)
    table = {name: 3.0 * level + rng.normal(size=200) for name in NAMES}
    model = printed(tolerance="auto", bandwidth=0.2).fit(table)
    numbers, sigma = np.sort(table["a"]), 0.2 * median_distance(table["a"])
    n_pivots = len(kernel_encoder(numbers, sigma, 1e-6).pivots)
    assert model.diagnostics_["n_features"][0] == n_pivots > 20
    own = tacit.KernelTree(2, NEWICK, "spectral", continuous=NAMES).fit(table)
    assert max(own.diagnostics_["n_features"]) <= 20
    few = printed(tolerance="auto", bandwidth=0.2, n_features=9).fit(table)
    assert few.diagnostics_["n_features"] == [9] * 6


def test_two_columns_have_a_kernel_estimate_of_low_rank():
    table = {name: rows()[name] for name in ("a", "b")}
    model = printed(structure="auto", continuous=["a", "b"]).fit(table)
    points = {name: np.linspace(-3, 3, 9) for name in table}
    expected = Transcription(model, table).density(points)
    assert model.density(points) == pytest.approx(expected, rel=0, abs=1e-10, nan_ok=True)


def test_one_column_has_the_kernel_estimate_of_its_numbers():
    table = {"a": rows()["a"]}
    model = printed(structure="auto", continuous=["a"]).fit(table)
    points = np.linspace(-3, 3, 9)
    sigma = median_distance(table["a"])
    kernels = np.exp(-((points[:, None] - table["a"]) ** 2) / (2 * sigma**2))
    expected = kernels.mean(axis=1) / (np.sqrt(2 * np.pi) * sigma)
    assert model.density({"a": points}) == pytest.approx(expected, rel=0, abs=1e-10)


@pytest.mark.parametrize("n_states", [2, 3])
def test_distances_are_those_of_equation_6_18(n_states):
    table = rows()
    model = printed(n_states).fit(table)
    thesis = Transcription(model, table)
    moments = FeatureMoments.of([table[name] for name in NAMES], model.encoders_)
    actual = printed_kernel_distances(moments, n_states, NAMES).values
    for (s, t), length in equation_6_18(thesis.C, range(6), n_states).items():
        assert actual[s, t] == actual[t, s] == pytest.approx(length, abs=1e-10)
    assert not actual.diagonal().any()


@pytest.mark.parametrize("seed", range(4))
def test_trees_are_those_of_algorithms_10_and_11(seed):
    table = rows(n_rows=60, seed=seed)
    model = printed(structure="neighbor-joining").fit(table)
    lengths = equation_6_18(Transcription(model, table).C, range(6), 2)
    named = {(NAMES[s], NAMES[t]): length for (s, t), length in lengths.items()}
    edges = [tuple(map(str, edge)) for edge in algorithm_11(named, list(NAMES))]
    expected = tacit.Topology.from_edges(edges, observed=NAMES)
    assert tacit.evaluate.robinson_foulds(model.topology_, expected) == 0
    learnt = tacit.learn_structure(
        {name: column + 1e-9 * np.arange(60) for name, column in table.items()},
        "neighbor-joining",
        metric="kernel",
        rank=2,
        preset="printed",
    )
    assert tacit.evaluate.robinson_foulds(learnt, expected) == 0


def population(n_states, seed):
    """All combinations of the values of six columns on a tree, each weighted by its probability."""
    topology = random_topology(6, n_children=(2, 2), random_state=seed)
    truth = random_tree_model(
        topology=topology, n_states=n_states, n_categories=4, diagonal=1.0, random_state=seed
    )
    joint = joint_table(truth.tables)
    places = np.indices(joint.shape).reshape(joint.ndim, -1)
    values = [VALUES[:4] + 0.2 * column for column in range(6)]
    table = {name: values[n][places[n]] for n, name in enumerate(truth.names)}
    return truth, joint, values, table


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_states", [2, 3])
def test_exact_moments_give_the_exact_tree_and_density(n_states, seed):
    truth, joint, values, table = population(n_states, seed)
    model = printed(n_states, "auto", continuous=list(table))
    model.fit(table, sample_weight=joint.ravel())
    assert tacit.evaluate.robinson_foulds(model.topology_, truth.topology) == 0
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=20) for _ in table]
    bandwidths = np.prod([encoder.bandwidth for encoder in model.encoders_])
    smooth = smoothed(joint, values, model.encoders_, points)
    expected = smooth / bandwidths / (2 * np.pi) ** 3
    actual = model.density(dict(zip(table, points, strict=True)))
    assert actual == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_saved_and_loaded(tmp_path):
    table = rows()
    table["word"] = np.where(table["a"] > 0, "high", "low")
    table["b"][::7] = np.nan
    model = tacit.KernelTree(2, preset="printed", continuous=list(NAMES)).fit(table)
    assert model.blend_ is None
    assert len(model.topology_.hidden) == len(table) - 2  # three neighbours each
    assert all(encoder.margin is None for encoder in model.encoders_[:6])
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.score_samples(table), model.score_samples(table), equal_nan=True)
    assert loaded.diagnostics_["bandwidth"] == loaded.diagnostics_["metric_bandwidth"] == 1.0


def test_the_metric_may_have_another_bandwidth():
    table = rows()
    model = printed(structure="auto", metric_bandwidth=0.5).fit(table)
    encoders = printed(bandwidth=0.5).fit(table).encoders_
    moments = FeatureMoments.of([table[name] for name in NAMES], encoders)
    distances = printed_kernel_distances(moments, 2, NAMES)
    expected = neighbor_joining(distances.values, NAMES)
    assert tacit.evaluate.robinson_foulds(model.topology_, expected) == 0
    assert model.encoders_[0].bandwidth == median_distance(table["a"])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"preset": "thesis"}, "preset='thesis' is not known; give None or \"printed\""),
        ({"n_states": "auto"}, "n_states='auto' does not go with .* give a number"),
        ({"n_states": {"p": 2}}, "n_states={'p': 2} does not go with"),
        ({"structure": "refined-joining"}, "structure='refined-joining' does not go with"),
        ({"structure": "chow-liu"}, "structure='chow-liu' does not go with"),
        ({"structure": "((a,b,c)d,e,f)r;"}, "column 'd' stands inside the tree"),
        ({"normal_scores": True}, "normal_scores=True does not go with .* normal_scores=False"),
        ({"normal_scores": "yes"}, "give True, False or 'auto'"),
        ({"blend": True}, "blend=True does not go with"),
        ({"blend": "no"}, "give True, False or 'auto'"),
        ({"n_views": 3}, "n_views=3 does not go with"),
        ({"n_components": 2}, "n_components=2 does not go with"),
        ({"n_bins": 8}, "n_bins=8 does not go with"),
        ({"pseudo_counts": 1.0}, "pseudo_counts=1.0 does not go with"),
        ({"bandwidth": 0}, "bandwidth=0; give a positive number"),
        ({"tolerance": -1.0}, "tolerance=-1.0; give a number that is not negative"),
        ({"n_states": 6}, "n_states=6, but the column 'a' has 5 features"),
    ],
)
def test_arguments_that_contradict_print_are_refused(changes, complaint):
    arguments = {"n_states": 2, "preset": "printed", "continuous": NAMES}
    with pytest.raises(ArgumentError, match=complaint):
        tacit.KernelTree(**arguments | changes).fit(rows())
