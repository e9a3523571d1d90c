"""The printed algorithms: exact on exact moments, equal to transcriptions of the papers on sampled rows."""

import numpy as np
import pytest

import tacit
from oracles.networks import leaf_joint, random_tables, rooted_tree
from oracles.population import Population, network_joint
from oracles.printed_trees import (
    algorithm_1_of_2011,
    algorithm_4,
    algorithm_13,
    decompose,
    every_row,
    frequencies,
    leaves_below,
)
from tacit.errors import ArgumentError
from tacit.messages.network import Chain, Dense
from tacit.trees.learn.spectral import printed_hierarchical as decomposition
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.learn.spectral.printed_hierarchical import printed_hierarchical
from tacit.trees.learn.spectral.printed_matrices import printed_matrices
from tacit.trees.learn.spectral.printed_mossel_roch import printed_mossel_roch
from tacit.trees.moments.source import CountedMoments

# The parents of the nodes, leaves first.
TREES = {
    "star": [4, 4, 4, 4, -1],
    "two children each": [6, 6, 7, 7, 8, 8, 9, 9, 9, -1],
    "two and three children": [7, 7, 8, 8, 9, 9, 9, 10, 10, 10, -1],
    "three levels": [6, 6, 7, 8, 8, 9, 7, 9, 9, -1],
    "four levels of two": [7, 7, 8, 9, 10, 11, 11, 8, 9, 10, 12, 12, -1],
}
TRIPLE_ROOTED = ["star", "two children each", "two and three children", "three levels"]
ORACLES = {"adopted": algorithm_1_of_2011, "uncle": algorithm_13}
N_STATES, N_CATEGORIES, N_ROWS = 2, 3, 1000


class Case:
    """A tree, its exact joint table and rows drawn from it."""

    def __init__(self, name, seed=3):
        parent = TREES[name]
        n_leaves = min(node for node in parent if node >= 0)
        self.tree = rooted_tree(parent, n_leaves)
        self.cards = (N_CATEGORIES,) * n_leaves
        self.n_states = self.cards + (N_STATES,) * len(self.tree.hidden)
        rng = np.random.default_rng(seed)
        self.joint = leaf_joint(random_tables(rng, self.tree, self.n_states))
        cells = rng.choice(self.joint.size, size=N_ROWS, p=self.joint.ravel())
        self.codes = np.stack(np.unravel_index(cells, self.cards), axis=1)
        self.counted = CountedMoments.of(self.codes, self.cards)
        self.children = {node: self.tree.children[node] for node in self.tree.hidden}

    def assert_values(self, network, oracle):
        """A network gives every 13th row the value of an oracle."""
        values = network_joint(network)
        rows = every_row(self.cards)[::13]
        right = [oracle(row) for row in rows]
        assert [values[row] for row in rows] == pytest.approx(right, abs=1e-10, rel=0)


@pytest.mark.parametrize("siblings", ["adopted", "uncle"])
@pytest.mark.parametrize("name", TRIPLE_ROOTED)
def test_printed_products_are_exact_on_exact_moments(name, siblings):
    case = Case(name)
    fitted = printed_matrices(case.tree, Population(case.joint), N_STATES, siblings=siblings)
    assert network_joint(fitted.network) == pytest.approx(case.joint, abs=1e-10, rel=1e-7)


@pytest.mark.parametrize("siblings", ["adopted", "uncle"])
@pytest.mark.parametrize("name", TRIPLE_ROOTED)
def test_printed_products_are_those_of_the_papers(name, siblings):
    case = Case(name)
    fitted = printed_matrices(case.tree, case.counted, N_STATES, siblings=siblings)
    tables = frequencies(case.codes, case.cards)
    leaf = fitted.siblings.leaf
    oracle = ORACLES[siblings](tables, case.children, case.tree.root, leaf, N_STATES)
    case.assert_values(fitted.network, oracle)


def test_nodes_of_two_children_adopt_a_third_or_have_an_uncle():
    """Figure 7.3 of the thesis: B, C and D below A have two leaves each (nodes 6 to 9 here)."""
    case = Case("two children each")
    adopted = printed_matrices(case.tree, case.counted, N_STATES).siblings
    assert (adopted.left[6], adopted.right[6]) == (8, 7)
    assert (adopted.right[0], adopted.left[1]) == (1, 0)
    assert adopted.left[0] == adopted.right[1] == adopted.leaf[8]
    uncle = printed_matrices(case.tree, case.counted, N_STATES, siblings="uncle").siblings
    assert [uncle.left[leaf] for leaf in range(6)] == [7, 7, 8, 8, 6, 6]  # as in Algorithm 12
    assert [uncle.right[leaf] for leaf in range(6)] == [1, 0, 3, 2, 5, 4]


@pytest.mark.parametrize("siblings", ["adopted", "uncle"])
@pytest.mark.parametrize("name", TRIPLE_ROOTED)
def test_the_leaf_of_a_subtree_has_the_largest_singular_value(name, siblings):
    """Section 5.3 of 2011: at the number of states, against a leaf of the left sibling's subtree."""
    case = Case(name)
    family = printed_matrices(case.tree, case.counted, N_STATES, siblings=siblings).siblings
    P = frequencies(case.codes, case.cards)

    def strength(leaf, others):
        return max(np.linalg.svd(P(leaf, other))[1][N_STATES - 1] for other in others)

    for node, left in family.left.items():
        leaves, others = (leaves_below(case.children, at) for at in (node, left))
        strengths = {leaf: strength(leaf, others) for leaf in leaves}
        assert strengths[family.leaf[node]] == pytest.approx(max(strengths.values()), rel=1e-12)


@pytest.mark.parametrize("n_views", [1, 3])
@pytest.mark.parametrize("name", TREES)
def test_tensors_without_additions_are_those_of_algorithm_4(name, n_views):
    case = Case(name)
    options = {"representation": "tensor", "n_views": n_views, "whiten": False, "cut": 0.0}
    exact = spectral(case.tree, Population(case.joint), case.n_states, **options).network
    assert network_joint(exact) == pytest.approx(case.joint, abs=1e-10, rel=1e-7)
    fitted = spectral(case.tree, case.counted, case.n_states, **options)
    views = {edge: spectrum.views for edge, spectrum in fitted.report.edges.items()}
    oracle = algorithm_4(
        frequencies(case.codes, case.cards),
        case.children,
        case.tree.root,
        {edge: two_sides.below[0] for edge, two_sides in views.items()},
        {edge: [leaf for (leaf,) in two_sides.above] for edge, two_sides in views.items()},
        N_STATES,
    )
    case.assert_values(fitted.network, oracle)


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("name", TREES)
def test_the_printed_decomposition_is_that_of_the_paper(name, rank, monkeypatch):
    case = Case(name)
    exact = printed_hierarchical(case.tree, Population(case.joint), N_STATES).network
    assert network_joint(exact) == pytest.approx(case.joint, abs=1e-10, rel=1e-7)
    fitted = printed_hierarchical(case.tree, case.counted, rank)
    star, cuts = list(range(case.tree.n_leaves)), []
    for node, spectrum in fitted.report.edges.items():
        inside = [star[child] for child in case.tree.children[node]]
        ((above,),) = spectrum.views.above
        star += spectrum.views.below
        cuts.append((inside, star[node], above))
    leaves = list(range(case.tree.n_leaves))
    table = frequencies(case.codes, case.cards)(*leaves)
    expected = decompose(table, leaves, cuts, rank)
    assert network_joint(fitted.network) == pytest.approx(expected, abs=1e-10, rel=0)
    monkeypatch.setattr(decomposition, "MOST_TABLE_CELLS", 1)
    of_rows = printed_hierarchical(case.tree, case.counted, rank, codes=case.codes)
    assert network_joint(of_rows.network) == pytest.approx(expected, abs=1e-10, rel=0)


NEWICK = "((x0,x1)b,(x2,x3)c,(x4,x5)d)a;"


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({"learn": "spectral", "representation": "tensor"}, {Dense}),
        ({"learn": "spectral", "representation": "matrix"}, {Chain}),
        ({"learn": "spectral", "representation": "matrix", "siblings": "uncle"}, {Chain}),
        ({"learn": "hierarchical"}, {Dense}),
    ],
)
def test_the_estimator_learns_the_printed_forms(arguments, kinds, tmp_path):
    case = Case("two children each")
    model = tacit.LatentTree(N_STATES, NEWICK, preset="printed", **arguments).fit(case.codes)
    tree, moments = model.tree_, CountedMoments.of(case.codes, case.cards)
    if arguments["learn"] == "hierarchical":
        expected = printed_hierarchical(tree, moments, N_STATES).network
    elif arguments["representation"] == "matrix":
        siblings = arguments.get("siblings", "adopted")
        expected = printed_matrices(tree, moments, N_STATES, siblings=siblings).network
    else:
        states = case.cards + (N_STATES,) * len(tree.hidden)
        options = {"representation": "tensor", "n_views": 1, "whiten": False, "cut": 0.0}
        expected = spectral(tree, moments, states, **options).network
    assert set(map(type, model.network_.nodes)) == kinds
    assert network_joint(model.network_) == pytest.approx(network_joint(expected), abs=1e-12)
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.preset == "printed"
    assert loaded.score_samples(case.codes[:5]) == pytest.approx(
        model.score_samples(case.codes[:5])
    )


@pytest.mark.parametrize("siblings", ["adopted", "uncle"])
def test_columns_may_be_missing(siblings):
    case = Case("two children each")
    options = {"preset": "printed", "representation": "matrix", "siblings": siblings}
    model = tacit.LatentTree(2, NEWICK, "spectral", **options)
    total = np.exp(model.fit(case.codes).score_samples(np.full((1, 6), -1.0) * np.nan))
    assert total == pytest.approx(network_joint(model.network_).sum(), rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"preset": "thesis"}, "preset='thesis' is not known; give None or \"printed\""),
        ({"learn": "auto"}, "learn='auto' does not go with"),
        ({"learn": "em"}, "learn='em' does not go with"),
        ({"n_states": "auto"}, "n_states='auto' does not go with"),
        ({"structure": "auto"}, "structure='auto' does not go with"),
        ({"representation": "auto"}, "representation='auto' does not go with"),
        ({"representation": "train"}, "representation='train' does not go with"),
        ({"n_views": 3}, "n_views=3 does not go with"),
        ({"learn": "hierarchical", "window": 2}, "window=2 does not go with"),
        ({"siblings": "cousin"}, "siblings='cousin' is not known"),
        ({"n_states": 4}, "has 3 categories"),
        ({"n_states": {"a": 2, "b": 3, "c": 2, "d": 2}}, r"have \[2, 3\] states"),
        ({"structure": "((x1,x2)x0,x3,x4,x5)a;"}, r"have \[2, 3\] states \(observed ones"),
    ],
)
def test_arguments_that_contradict_print_are_refused(changes, complaint):
    arguments = {
        "n_states": 2,
        "structure": NEWICK,
        "learn": "spectral",
        "preset": "printed",
        "representation": "matrix",
    }
    with pytest.raises(ArgumentError, match=complaint):
        tacit.LatentTree(**arguments | changes).fit(Case("two children each").codes)


def test_the_printed_decomposition_has_no_weights():
    codes = Case("two children each").codes
    model = tacit.LatentTree(2, NEWICK, "hierarchical", preset="printed")
    with pytest.raises(ArgumentError, match="repeat rows"):
        model.fit(codes, sample_weight=np.ones(len(codes)))


def test_two_columns_are_too_few_for_products_of_matrices():
    model = tacit.LatentTree(3, "star", "spectral", preset="printed", representation="matrix")
    with pytest.raises(ArgumentError, match="has 2 neighbours"):
        model.fit(Case("two children each").codes[:, :2])


@pytest.mark.parametrize("siblings", ["adopted", "uncle"])
def test_observed_inner_nodes_have_a_leaf_of_their_own(siblings):
    """Node 7 repeats leaf 3, so that its states are the three categories."""
    tree = rooted_tree([6, 6, 7, 7, 8, 8, 7, 8, -1], 6, copies={7: 3})
    states = (3,) * 9
    joint = leaf_joint(random_tables(np.random.default_rng(2), tree, states))
    fitted = printed_matrices(tree, Population(joint), 3, siblings=siblings)
    assert network_joint(fitted.network) == pytest.approx(joint, abs=1e-10, rel=1e-6)


# -- Mossel and Roch ------------------------------------------------------------------------------


def binary_case(name, n_categories=2, n_rows=4000):
    """A tree whose columns have as many categories as there are states, its joint table and rows."""
    parent = TREES[name]
    n_leaves = min(node for node in parent if node >= 0)
    tree = rooted_tree(parent, n_leaves)
    rng = np.random.default_rng(8)
    joint = leaf_joint(random_tables(rng, tree, (n_categories,) * len(parent)))
    cells = rng.choice(joint.size, size=n_rows, p=joint.ravel())
    return tree, joint, np.stack(np.unravel_index(cells, joint.shape), axis=1)


@pytest.mark.parametrize("n_categories", [2, 3])
@pytest.mark.parametrize("name", TRIPLE_ROOTED)
def test_printed_eigenvectors_are_exact_on_exact_moments(name, n_categories):
    tree, joint, _ = binary_case(name, n_categories)
    tables = printed_mossel_roch(tree, Population(joint), n_categories, random_state=1)
    assert network_joint(tables.network) == pytest.approx(joint, abs=1e-9, rel=1e-6)


def test_printed_eigenvectors_of_a_star_are_those_of_the_paper():
    tree, _, codes = binary_case("star")
    P = frequencies(codes, (2,) * 4)
    actual = printed_mossel_roch(tree, CountedMoments.of(codes, (2,) * 4), 2, random_state=5)
    # With two categories any vector u gives the eigenvectors of the slice c = 1.
    given_a = np.array([P(0, 1)[i] / P(0)[i] for i in range(2)])
    slice_1 = np.array([P(0, 1, 2)[i, :, 1] / P(0)[i] for i in range(2)])
    vectors = np.linalg.eig(slice_1 @ np.linalg.inv(given_a))[1]
    state_given_a = vectors * np.linalg.solve(vectors, np.ones(2))
    weights = np.maximum(P(0) @ state_given_a, 0)
    right = np.zeros((2,) * 4)
    for state in range(2):
        factors = []
        for leaf in range(4):
            if leaf == 0:  # seen from the second leaf
                b_given_state = np.linalg.solve(state_given_a, given_a)
                joint_b = (P(0) @ state_given_a)[:, None] * b_given_state
                state_given_b = (joint_b / P(1)).T
                table = np.linalg.solve(state_given_b, P(1, 0) / P(1)[:, None])
            else:
                table = np.linalg.solve(state_given_a, P(0, leaf) / P(0)[:, None])
            table = np.maximum(table, 0)
            factors.append((table / table.sum(axis=1, keepdims=True))[state])
        right += (weights / weights.sum())[state] * np.einsum("i,j,k,l->ijkl", *factors)
    assert network_joint(actual.network) == pytest.approx(right, abs=1e-10)


def test_printed_eigenvectors_need_as_many_categories_as_states():
    rows = tacit.toy.random_tree_model(n_leaves=4, n_categories=3, random_state=0).sample(50)
    model = tacit.LatentTree(2, "star", "mossel-roch", preset="printed")
    with pytest.raises(ArgumentError, match="needs as many as states"):
        model.fit(rows)
    tables = tacit.LatentTree(3, "star", "mossel-roch", preset="printed").fit(rows).tables_
    assert tables.table(0).sum(axis=1) == pytest.approx(np.ones(3))
