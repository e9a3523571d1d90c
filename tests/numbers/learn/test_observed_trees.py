"""Kernel trees without hidden variables."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import laplace, multivariate_normal, norm

import tacit
from oracles.number_tables import groups
from tacit.core.encoders.encoders import IndicatorEncoder
from tacit.core.encoders.kernels import grid_encoder, kernel_encoder
from tacit.errors import ArgumentError, NotAvailableError
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.numbers.learn.observed_trees import is_observed, observed_network
from tacit.numbers.query.densities import leaf_coefficients
from tacit.trees.moments.features import FeatureMoments

TREES = {
    "chain": [("a", "b"), ("b", "c"), ("c", "d")],
    "star": [("a", "b"), ("b", "c"), ("b", "d")],
    "pair": [("a", "b")],
}


def rooted(edges):
    names = sorted({name for edge in edges for name in edge})
    return tacit.Topology.from_edges(edges, observed=names).rooted(names)


def random_population(edges, sizes, rng):
    """A joint table with the independencies of a tree."""
    names = sorted({name for edge in edges for name in edge})
    joint = rng.dirichlet(np.full(sizes[0], 3.0))
    axis = {names[0]: 0}
    for one, other in edges:
        table = rng.dirichlet(np.ones(sizes[names.index(other)]), sizes[names.index(one)])
        shape = [1] * (joint.ndim + 1)
        shape[axis[one]], shape[-1] = table.shape
        joint = joint[..., None] * table.reshape(shape)
        axis[other] = joint.ndim - 1
    return joint.transpose([axis[name] for name in names])


def exact_moments(values, joint, encoders):
    cells = [np.array(column) for column in zip(*product(*values), strict=True)]
    return FeatureMoments.of(cells, encoders, joint.ravel())


def evidence_of(encoders, rows):
    codes = np.full((len(rows), len(encoders)), -1, dtype=np.int32)
    soft, signed = {}, []
    for leaf, encoder in enumerate(encoders):
        cells = np.array([row[leaf] for row in rows])
        if encoder.kind == "indicator":
            codes[:, leaf] = cells
        else:
            soft[leaf] = encoder.likelihoods(cells)
            signed.append(leaf)
    return Evidence(codes, soft, frozenset(signed))


def network_values(network, encoders, rows):
    sign, log_abs = log_values(network, evidence_of(encoders, rows))
    return sign * np.exp(log_abs)


@pytest.mark.parametrize("shape", sorted(TREES))
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_the_exact_tree_smoothed_by_its_kernels(shape, seed):
    rng = np.random.default_rng(seed)
    edges = TREES[shape]
    tree = rooted(edges)
    sizes = [4, 5, 3, 4][: tree.n_leaves]
    joint = random_population(edges, sizes, rng)
    values = [np.sort(rng.normal(size=size)) * 2 for size in sizes]
    widths = rng.uniform(0.3, 0.6, len(sizes))
    encoders = [
        kernel_encoder(column, width, 0.0) for column, width in zip(values, widths, strict=True)
    ]
    last = len(sizes) - 1  # the last column holds categories
    values[last], encoders[last] = np.arange(sizes[last]), IndicatorEncoder(sizes[last])
    network, _ = observed_network(tree, exact_moments(values, joint, encoders), pseudo_rows=0.0)
    rows = [
        [*rng.normal(size=last), code] for code in rng.integers(-1, sizes[last], 20)
    ]  # -1 is missing
    rows[0][0] = np.nan
    expected = []
    for row in rows:
        smoothed = joint
        for leaf, cell in enumerate(row):
            if leaf == last:
                weights = np.ones(sizes[last]) if cell < 0 else np.eye(sizes[last])[int(cell)]
            elif np.isnan(cell):
                weights = np.ones(sizes[leaf])
            else:
                weights = norm.pdf(cell, values[leaf], widths[leaf])
            smoothed = np.tensordot(weights, smoothed, (0, 0))
        expected.append(float(smoothed))
    assert network_values(network, encoders, rows) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("shape", sorted(TREES))
def test_a_tree_of_categories_is_the_chow_liu_tree(shape):
    rng = np.random.default_rng(1)
    edges = TREES[shape]
    tree = rooted(edges)
    sizes = [3, 2, 4, 3][: tree.n_leaves]
    joint = random_population(edges, sizes, rng)
    encoders = [IndicatorEncoder(size) for size in sizes]
    moments = exact_moments([np.arange(size) for size in sizes], joint, encoders)
    network, _ = observed_network(tree, moments, pseudo_rows=0.0)
    rows = list(np.ndindex(joint.shape))
    assert network_values(network, encoders, rows) == pytest.approx(joint.ravel(), abs=1e-12)


def test_messages_integrate_what_a_grid_integrates():
    # A chain of normal variables, its moments by quadrature; the smoothed density has a closed form.
    width, grid = 0.35, np.linspace(-4.5, 4.5, 91)
    covariance = np.array([[1.0, 0.7, 0.49], [0.7, 1.0, 0.7], [0.49, 0.7, 1.0]])
    points = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    weights = multivariate_normal(np.zeros(3), covariance).pdf(points) * 0.1**3
    encoders = [grid_encoder(-4.5, 4.5, 31, width)] * 3
    keep = weights > 1e-12
    moments = FeatureMoments.of(list(points[keep].T), encoders, weights[keep])
    network, _ = observed_network(rooted([("a", "b"), ("b", "c")]), moments, pseudo_rows=1e-6)
    rows = np.random.default_rng(0).multivariate_normal(np.zeros(3), covariance, 30)
    smoothed = multivariate_normal(np.zeros(3), covariance + width**2 * np.eye(3))
    # What is left is the interpolation of products between the pivots.
    assert network_values(network, encoders, rows) == pytest.approx(smoothed.pdf(rows), rel=0.02)
    # The middle given both ends: the density of the smoothed joint over its marginal.
    (vectors,) = leaf_coefficients(network, evidence_of(encoders, rows), [1], encoders)
    ends = multivariate_normal(np.zeros(2), smoothed.cov[np.ix_([0, 2], [0, 2])])
    for place in (-0.5, 0.8):
        moved = rows.copy()
        moved[:, 1] = place
        expected = smoothed.pdf(moved) / ends.pdf(rows[:, [0, 2]])
        found = vectors.densities(np.array([place])).values[:, 0]
        assert found == pytest.approx(expected, rel=0.02, abs=1e-3)


def test_rank_one_is_independence():
    rng = np.random.default_rng(0)
    joint = random_population(TREES["chain"], [3, 3, 3, 3], rng)
    encoders = [IndicatorEncoder(3)] * 4
    moments = exact_moments([np.arange(3)] * 4, joint, encoders)
    network, _ = observed_network(rooted(TREES["chain"]), moments, rank=1)
    margins = [joint.sum(axis=tuple(set(range(4)) - {leaf})) for leaf in range(4)]
    expected = np.einsum("a,b,c,d->abcd", *margins).ravel()
    rows = list(np.ndindex(joint.shape))
    assert network_values(network, encoders, rows) == pytest.approx(expected, abs=1e-12)


def curved(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = np.sin(2 * a) + 0.3 * rng.normal(size=n)
    c = b**2 + 0.3 * rng.laplace(size=n)
    d = a * rng.choice([-1, 1], n) + 0.3 * rng.normal(size=n)
    return {"a": a, "b": b, "c": c, "d": d}


def curved_score(t):
    logs = norm.logpdf(t["a"]) + norm.logpdf(t["b"], np.sin(2 * t["a"]), 0.3)
    two_sided = 0.5 * (norm.pdf(t["d"], t["a"], 0.3) + norm.pdf(t["d"], -t["a"], 0.3))
    return float((logs + laplace.logpdf(t["c"], t["b"] ** 2, 0.3) + np.log(two_sided)).mean())


def test_a_chow_liu_tree_of_kernels_has_no_hidden_node_and_finds_the_curves(tmp_path):
    test = curved(1000, 1)
    model = tacit.KernelTree(structure="chow-liu", learn="spectral", blend=False)
    model.fit(curved(1500, 0))
    assert model.topology_.hidden == ()
    assert {frozenset(edge) for edge in model.topology_.edges} == {
        frozenset(edge) for edge in ("ab", "bc", "ad")
    }
    assert is_observed(model.tree_)
    independent = tacit.KernelTree(1, "chow-liu", "spectral", blend=False).fit(curved(1500, 0))
    truth, score, none = curved_score(test), model.score(test), independent.score(test)
    assert none < score < truth
    assert truth - score < 0.25 * (truth - none)
    mean = model.expectation({"a": [-0.8, 0.0, 0.8]}, "b")
    assert mean == pytest.approx(np.sin([-1.6, 0.0, 1.6]), abs=0.15)
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(again.score_samples(test), model.score_samples(test))
    with pytest.raises(NotAvailableError, match="hidden states"):
        model.posterior(test)
    drawn = model.sample(400, random_state=0)
    columns = {name: np.asarray(drawn[name], dtype=float) for name in "abcd"}
    assert np.corrcoef(np.sin(2 * columns["a"]), columns["b"])[0, 1] > 0.8
    assert np.corrcoef(columns["b"] ** 2, columns["c"])[0, 1] > 0.5
    assert "KernelTree" in str(model.summary())


def test_a_given_tree_without_hidden_nodes_has_none():
    table = groups(300, missing=0.1)
    names = list(table)
    model = tacit.KernelTree("auto", list(pairwise(names)), "spectral").fit(table)
    assert model.topology_.hidden == ()
    assert np.isfinite(model.score(table))
    filled = model.impute(table)
    assert not any(np.equal(filled[name], None).any() for name in names)
    with pytest.raises(ArgumentError, match="hidden nodes"):
        tacit.KernelTree({"h": 2}, "chow-liu", "spectral").fit(table)


@pytest.mark.parametrize(
    ("structure", "n_hidden"),
    [("chow-liu", 0), ([("x", "y")], 0), ("(x)y;", 0), ("auto", 1), ("star", 1), ("(x,y)h;", 1)],
)
def test_two_columns_have_a_hidden_node_only_where_the_tree_has_one(structure, n_hidden):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = {"x": x, "y": x**2 + rng.normal(size=300)}
    model = tacit.KernelTree(4, structure, "spectral", blend=False).fit(table)
    assert len(model.topology_.hidden) == n_hidden
    assert model.expectation({"x": [-2.0, 0.0]}, "y")[0] > 2
