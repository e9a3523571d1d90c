"""Trees made to fit better, and the best of several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.distances import path_lengths
from oracles.minimal_trees import minimal_trees
from oracles.topologies import refine_topology
from oracles.tree_choice import choose_topology
from tacit.errors import ArgumentError
from tacit.evaluate.trees import robinson_foulds, splits
from tacit.toy import balanced, caterpillar, random_topology
from tacit.trees.structure.draft import Draft
from tacit.trees.structure.interchange import (
    refine,
    similarity_of,
    surrogate_likelihood,
)
from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining
from tacit.trees.structure.quartets import quartets_of
from tacit.trees.structure.refined_joining import refined_joining
from tacit.trees.structure.topology import Topology


def with_lengths(tree, rng, shortest=0.1, longest=0.5):
    lengths = tuple(rng.uniform(shortest, longest, len(tree.edges)).tolist())
    return Topology(tree.nodes, tree.edges, tree.observed, lengths)


def noisy(distances, n_rows, rng):
    """Distances of as many rows: similarities have noise of 1 / sqrt(n_rows)."""
    noise = np.triu(rng.normal(size=distances.shape) / np.sqrt(n_rows), 1)
    similarity = np.abs(np.exp(-distances) + noise + noise.T)
    np.fill_diagonal(similarity, 1.0)
    return -np.log(np.minimum(similarity, 1.0))


@given(tree=minimal_trees(shortest=0.05), n_states=st.integers(2, 4))
def test_a_right_tree_stays_and_gets_its_lengths(tree, n_states):
    names, bare = tree.observed, Topology(tree.nodes, tree.edges, tree.observed)
    learnt = refine_topology(bare, path_lengths(tree, names), names, n_states=n_states)
    assert robinson_foulds(learnt, tree) == 0
    assert path_lengths(learnt, names) == pytest.approx(path_lengths(tree, names), abs=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_exact_distances_mend_a_tree_with_branches_in_wrong_places(seed):
    rng = np.random.default_rng(seed)
    tree = with_lengths(random_topology(16, n_children=(2, 2), random_state=rng), rng)
    wrong = Draft.of(tree, tree.observed)
    for _ in range(3):  # swaps across edges that are apart
        inner = [(a, b) for a, b, _ in wrong.edges() if min(a, b) >= 16]
        one, other = inner[rng.integers(len(inner))]
        left, right = (
            next(n for n in wrong.near[end] if n not in (one, other)) for end in (one, other)
        )
        length, other_length = wrong.cut(one, left), wrong.cut(other, right)
        wrong.join(other, left, length)
        wrong.join(one, right, other_length)
    start = wrong.topology(tree.observed)
    learnt = refine_topology(start, path_lengths(tree, tree.observed), tree.observed)
    assert robinson_foulds(learnt, tree) == 0


@pytest.mark.parametrize("shape", [balanced(2, 6), caterpillar(32)])
def test_from_noisy_distances_it_is_better_than_what_it_began_with(shape):
    before, after = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tree = with_lengths(shape, rng)
        names, distances = tree.observed, noisy(path_lengths(tree, tree.observed), 1000, rng)
        starts = {
            "all": neighbor_joining(distances, names),
            "near": chow_liu_joining(distances, names),
        }
        refined = {
            name: refine_topology(start, distances, names, n_rows=1000)
            for name, start in starts.items()
        }
        best, _ = choose_topology(refined, distances, names, n_rows=1000)
        chosen = refined_joining(distances, names, n_rows=1000)
        assert robinson_foulds(chosen, refined[best]) == 0
        before.append([robinson_foulds(start, tree, normalised=True) for start in starts.values()])
        after.append(robinson_foulds(refined[best], tree, normalised=True))
    assert np.mean(after) < np.mean(before, axis=0).min() + 0.005
    assert np.mean(after) < 0.05


@given(seed=st.integers(0, 2**32 - 1), n_leaves=st.integers(1, 20))
def test_refined_joining_gives_back_the_tree_of_exact_distances(seed, n_leaves):
    rng = np.random.default_rng(seed)
    tree = with_lengths(random_topology(n_leaves, n_children=(2, 2), random_state=rng), rng)
    learnt = refined_joining(path_lengths(tree, tree.observed), tree.observed)
    assert robinson_foulds(learnt, tree) == 0
    assert path_lengths(learnt, tree.observed) == pytest.approx(
        path_lengths(tree, tree.observed), abs=1e-6
    )


def test_refined_joining_hangs_variables_that_follow_nothing_on_a_node_of_their_own():
    tree = Topology.from_newick("((a:.5,b:.5):.5,(c:.5,d:.5):.5);").contracted()
    distances = np.full((6, 6), 6.0)
    distances[:4, :4] = path_lengths(tree, "abcd")
    supported = distances < 3
    supported[:2, 2:4] = supported[2:4, :2] = (
        False  # two blocks, and two variables that follow nothing
    )
    learnt = refined_joining(distances, "abcdef", supported=supported)
    assert path_lengths(learnt, "abcd") == pytest.approx(distances[:4, :4], abs=1e-6)
    hub = learnt.neighbours["e"][0]
    assert learnt.neighbours["f"] == (hub,)
    assert len(learnt.neighbours[hub]) == 3
    assert path_lengths(learnt, "ef")[0, 1] == pytest.approx(6.0)


def test_the_best_of_several_trees_is_the_true_one():
    rng = np.random.default_rng(0)
    tree = with_lengths(caterpillar(20), rng)
    names = tree.observed
    distances = noisy(path_lengths(tree, names), 2000, rng)
    others = {
        "balanced": Topology(*_renamed(balanced(2, 5), names)),
        "true": Topology(tree.nodes, tree.edges, tree.observed),
        "star": Topology.star(names),
    }
    best, scores = choose_topology(others, distances, names, n_rows=2000)
    assert best == "true"
    assert scores["true"] == 0.0
    assert scores["star"] < 0
    assert scores["balanced"] < 0


def _renamed(tree, names):
    """The first leaves of a tree under other names, the rest hung beside them."""
    new = dict(zip(tree.observed, names, strict=False))
    edges = [(new.get(a, a), new.get(b, b)) for a, b in tree.edges]
    edges += [(tree.hidden[0], name) for name in names[len(tree.observed) :]]
    return (*names, *tree.hidden), tuple(edges), tuple(names)


@given(tree=minimal_trees(max_nodes=12), seed=st.integers(0, 2**32 - 1))
def test_the_likelihood_is_that_of_gaussian_variables(tree, seed):
    rng = np.random.default_rng(seed)
    n = len(tree.observed)
    rows = rng.normal(size=(50, n))
    correlation = np.corrcoef(rows, rowvar=False).reshape(n, n)
    draft = Draft.of(tree, tree.observed)
    covariance = 0.999 * np.exp(-path_lengths(tree, tree.observed)) + 0.001 * np.eye(n)
    expected = -0.5 * np.linalg.slogdet(covariance)[1]
    expected -= 0.5 * np.trace(np.linalg.inv(covariance) @ correlation)
    assert surrogate_likelihood(draft, correlation) == pytest.approx(expected)


def test_variances_are_those_of_binary_rows():
    rng = np.random.default_rng(0)
    tree = Topology.from_newick("((a:.3,b:.5)h:.15,(c:.4,d:.2)k)r;").contracted()
    n_rows, lengths = 1000, []
    for _ in range(400):
        drawn = {"h": rng.integers(0, 2, size=n_rows)}
        for one, other in (("h", "a"), ("h", "b"), ("h", "k"), ("k", "c"), ("k", "d")):
            length = tree.edge_lengths.get(frozenset((one, other)), 0.15)
            is_kept = rng.random(n_rows) < np.exp(-length)
            drawn[other] = np.where(is_kept, drawn[one], rng.integers(0, 2, size=n_rows))
        similarity = np.abs(np.corrcoef([drawn[name] for name in "abcd"]))
        draft = Draft(4, [(4, 0, 0.3), (4, 1, 0.5), (4, 5, 0.15), (5, 2, 0.4), (5, 3, 0.2)])
        quartets = quartets_of(draft, similarity, 1e-9)
        gap = quartets.sums[:, 1] - quartets.sums[:, 2]
        lengths.append([*quartets.lengths, gap[-1]])
    ends = quartets.ends.tolist()
    assert ends[-1] == [4, 5]
    exact = quartets_of(draft, np.exp(-draft.paths()), 1e-9)
    measured = np.var(lengths, axis=0) * n_rows
    # A variance of 400 draws is right to 7 % or so; that of observed ends counts too.
    assert measured[:-1] == pytest.approx(exact.variances, rel=0.25)
    assert np.mean(lengths, axis=0)[:-1] == pytest.approx(exact.lengths, abs=0.02)
    gaps = np.mean(np.array(lengths)[:, -1] ** 2) * n_rows
    misfit = quartets.misfits[-1] / lengths[-1][-1] ** 2  # one over the variance
    assert gaps * misfit == pytest.approx(1.0, rel=0.3)
    assert np.isnan(quartets.misfits[:-1]).all()


def test_a_tree_without_edges_is_left_alone():
    draft = Draft(1)
    refine(draft, np.ones((1, 1)), None)
    assert draft.topology(["a"]).nodes == ("a",)


def test_what_cannot_be_is_refused():
    with pytest.raises(ArgumentError, match="two states"):
        similarity_of(np.zeros((2, 2)), "ab", 1)
    with pytest.raises(ArgumentError, match="at least 2 rows"):
        refine_topology(Topology.star("abc"), np.zeros((3, 3)), "abc", n_rows=1)


@pytest.mark.parametrize("seed", range(5))
def test_what_lies_between_independent_blocks_is_not_made_up(seed):
    rng = np.random.default_rng(seed)
    tree = Topology.from_newick("((a:.3,b:.3):.4,(c:.3,d:.3):.4);").contracted()
    distances, supported = np.full((20, 20), 50.0), np.zeros((20, 20), dtype=bool)
    for block in range(5):
        span = slice(4 * block, 4 * block + 4)
        distances[span, span] = path_lengths(tree, "abcd")
        supported[span, span] = True
    names = [f"x{n}" for n in range(20)]
    learnt = refined_joining(noisy(distances, 2000, rng), names, supported=supported, n_rows=2000)
    for block in range(5):
        inside = frozenset(names[4 * block : 4 * block + 4])
        others = frozenset(names) - inside
        assert {inside, others} & splits(learnt)  # each block is in one piece
    between = [name for name in learnt.hidden if len(learnt.neighbours[name]) > 3]
    assert len(learnt.hidden) <= 5 * 3 + 2
    assert between
