"""Groups of columns that are one variable of a kernel tree."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import tacit
from oracles.number_tables import groups
from tacit.core.encoders.kernels import kernel_encoder
from tacit.core.encoders.vector_kernels import vector_kernel_encoder
from tacit.errors import ArgumentError, ArgumentTypeError, ColumnError
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.numbers.learn.observed_trees import observed_network
from tacit.numbers.structure.groups import Units
from tacit.trees.moments.features import FeatureMoments

POSITION = {"position": ["x", "y"]}


@pytest.mark.parametrize("edges", [("zg", "gw"), ("gz", "zw")])
def test_exact_moments_give_the_exact_tree_of_a_group(edges):
    rng = np.random.default_rng(0)
    atoms = {"z": rng.normal(size=3), "w": rng.normal(size=4), "g": rng.normal(size=(4, 2))}
    tables = {}
    first = edges[0][0]
    tables[first] = rng.dirichlet(np.ones(len(atoms[first])))
    for one, other in edges:
        tables[one + other] = rng.dirichlet(np.ones(len(atoms[other])), len(atoms[one]))
    rows, weights = [], []
    for codes in product(*(range(len(atoms[name])) for name in "zwg")):
        at = dict(zip("zwg", codes, strict=True))
        rows.append(codes)
        weight = tables[first][at[first]]
        for one, other in edges:
            weight *= tables[one + other][at[one], at[other]]
        weights.append(weight)
    codes = np.array(rows)
    cells = [atoms[name][codes[:, place]] for place, name in enumerate("zwg")]
    encoders = [
        kernel_encoder(atoms["z"], 0.4, 0.0),
        kernel_encoder(atoms["w"], 0.5, 0.0),
        vector_kernel_encoder(atoms["g"], [0.3, 0.6], 0.0),
    ]
    moments = FeatureMoments.of(cells, encoders, np.array(weights))
    topology = tacit.Topology.from_edges([tuple(edge) for edge in edges], observed="zwg")
    network, _ = observed_network(topology.rooted("zwg"), moments, pseudo_rows=0.0)
    columns = ["x", "z", "y", "w"]
    units = Units(("z", "w", "g"), ((1,), (3,), (0, 2)))
    expanded = units.network(network, encoders, columns)
    assert expanded.tree.names[:4] == tuple(columns)
    points = rng.normal(size=(12, 4))
    points[3, 0] = points[5, 2] = np.nan  # a member is missing
    points[7, [0, 2]] = points[8, 1] = np.nan
    members = encoders[2].members
    of_columns = [members[0], encoders[0], members[1], encoders[1]]
    soft = {leaf: each.likelihoods(points[:, leaf]) for leaf, each in enumerate(of_columns)}
    evidence = Evidence(np.full((12, 4), -1, np.int32), soft, frozenset(range(4)))
    sign, log_abs = log_values(expanded, evidence)
    centres = np.column_stack([cells[2][:, 0], cells[0], cells[2][:, 1], cells[1]])
    kernels = norm.pdf(points[:, None], centres, [0.3, 0.4, 0.6, 0.5])
    expected = np.where(np.isnan(kernels), 1.0, kernels).prod(axis=2) @ weights
    assert sign * np.exp(log_abs) == pytest.approx(expected, rel=1e-7, abs=1e-12)


def rings(n, seed=0):
    """Two rings, which neither coordinate tells apart at its middle, and what depends on the ring."""
    rng = np.random.default_rng(seed)
    ring, angle = rng.integers(2, size=n), rng.uniform(0, 2 * np.pi, n)
    radius = np.where(ring, 1.0, 3.0) + 0.2 * rng.normal(size=n)
    return {
        "x": radius * np.cos(angle),
        "z": rng.normal(3.0 * ring),
        "y": radius * np.sin(angle),
        "w": rng.laplace(-3.0 * ring),
    }


@pytest.fixture(scope="module")
def model():
    fitted = tacit.KernelTree(
        2, "star", "spectral", groups=POSITION, bandwidth=0.15, n_views=2, blend=False
    )
    return fitted.fit(rings(1500))


def test_a_group_is_a_node_with_its_columns_as_leaves(model):
    assert set(model.topology_.hidden) == {"h", "position"}
    assert set(model.topology_.neighbours["position"]) == {"h", "x", "y"}
    assert model.tree_.names[:4] == ("x", "z", "y", "w")
    apart = tacit.KernelTree(2, "star", "spectral", bandwidth=0.15, n_views=2, blend=False)
    apart.fit(rings(1500))
    test = rings(800, seed=1)
    assert model.score(test) > apart.score(test) + 0.2


def test_a_group_is_evidence_with_all_of_its_columns_or_some(model):
    z = model.expectation({"x": [3.0, 1.0, np.nan], "y": [0.0, 0.0, 3.0]}, "z")
    assert z == pytest.approx([0.0, 3.0, 0.0], abs=0.5)
    low, high = model.quantiles({"x": [0.0], "z": [4.0]}, "y", [0.2, 0.8])[0]
    assert (low, high) == pytest.approx((-1.0, 1.0), abs=0.4)
    wide = model.quantiles({"x": [0.0], "z": [-1.0]}, "y", [0.2, 0.8])[0]
    assert wide == pytest.approx((-3.0, 3.0), abs=0.5)


def test_the_density_of_a_group_is_joint_over_marginal_and_integrates_to_one(model):
    grid = np.linspace(-5, 5, 51)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    given = {"z": [3.5, np.nan], "w": [np.nan, 0.5]}
    places, densities = model.conditional_density(given, "position", points)
    assert np.array_equal(places, points)
    assert densities.shape == (2, 2601)
    whole = np.trapezoid(np.trapezoid(densities.reshape(2, 51, 51), grid, axis=2), grid, axis=1)
    assert whole == pytest.approx([1.0, 1.0], abs=0.03)
    place = int(densities[0].argmax())
    joint = model.score_samples({"z": [3.5], "x": points[[place], 0], "y": points[[place], 1]})
    expected = np.exp(joint - model.score_samples({"z": [3.5]}))
    assert densities[0, place] == pytest.approx(expected[0], rel=0.1)
    means = model.expectation({**given, "x": [9.0, 9.0]}, "position")  # its own cells are not used
    assert means.shape == (2, 2)
    assert means == pytest.approx(np.zeros((2, 2)), abs=0.4)


def test_files_samples_and_missing_cells(model, tmp_path):
    test = rings(100, seed=2)
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert again.groups == POSITION
    assert np.array_equal(again.score_samples(test), model.score_samples(test))
    drawn = model.sample(300, given={"z": 5.0}, random_state=0)
    radius = np.hypot(np.asarray(drawn["x"], float), np.asarray(drawn["y"], float))
    assert np.median(radius) == pytest.approx(1.0, abs=0.3)
    holes = {name: np.where(np.arange(100) % 3 == 0, np.nan, x) for name, x in test.items()}
    filled = model.impute(holes)
    assert not any(np.isnan(np.asarray(filled[name], float)).any() for name in test)
    learnt = tacit.KernelTree(
        2, "chow-liu", "spectral", groups=POSITION, bandwidth=0.3, blend=False
    ).fit(holes)
    assert learnt.topology_.hidden == ("position",)
    assert np.isfinite(learnt.score(test))


def test_a_group_of_one_is_the_column():
    table = groups(300)
    arguments = {"n_states": 2, "learn": "spectral", "bandwidth": 0.5, "blend": False}
    alone = tacit.KernelTree(structure="star", **arguments).fit(table)
    grouped = tacit.KernelTree(structure="star", groups={"g": ["plain"]}, **arguments).fit(table)
    assert np.array_equal(alone.score_samples(table), grouped.score_samples(table))


def test_a_given_tree_names_groups():
    tree = "((position,z),w);"
    model = tacit.KernelTree(2, tree, "spectral", groups=POSITION, bandwidth=0.4, blend=False)
    model.fit(rings(300))
    assert "position" in model.topology_.hidden
    both = tacit.KernelTree(2, learn="spectral", groups={"all": list("xyzw")}, bandwidth=0.4)
    assert np.isfinite(both.fit(rings(300)).score(rings(300)))


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        ({"g": ["peaked", "word"]}, ArgumentError, "categories"),
        ({"g": ["peaked", "plain"], "f": ["plain", "weak"]}, ArgumentError, "two groups"),
        ({"weak": ["peaked", "plain"]}, ArgumentError, "name of a column"),
        ({"g": []}, ArgumentError, "list of columns"),
        ({"g": "peaked"}, ArgumentError, "list of columns"),
        (["peaked"], ArgumentTypeError, "mapping"),
        ({"g": ["peaked", "plane"]}, ColumnError, "plane"),
    ],
)
def test_groups_that_are_none_are_refused(given, error, problem):
    with pytest.raises(error, match=problem):
        tacit.KernelTree(learn="spectral", groups=given).fit(groups(60))


def test_wrong_questions_about_groups_are_refused(model):
    with pytest.raises(ArgumentError, match="grid of"):
        model.conditional_density({"z": [0.0]}, "position")
    with pytest.raises(ArgumentError, match=r"give \(point, 2"):
        model.conditional_density({"z": [0.0]}, "position", [0.0, 1.0])
    with pytest.raises(ArgumentError, match="single columns"):
        model.expectation({"z": [0.0]}, "position", np.square)
    with pytest.raises(ArgumentError, match="spectral"):
        tacit.KernelTree(groups=POSITION).fit(rings(60))


@pytest.mark.parametrize("columns", [3, None, "xy", []])
def test_a_group_is_a_list_of_columns(columns):
    model = tacit.KernelTree(learn="spectral", groups={"position": columns})
    with pytest.raises(ArgumentError, match="give a list of columns"):
        model.fit(groups(20))
