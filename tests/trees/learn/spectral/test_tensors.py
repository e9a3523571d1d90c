"""Hierarchical decomposition of any tensor: exact at the right ranks, within the bounds below them."""

import numpy as np
import pytest

import tacit
from tacit import hierarchical_decomposition
from tacit.errors import ArgumentError, ArgumentTypeError, TopologyError
from tacit.toy import random_tree_model

TREES = {
    "((0,1),2,(3,4));": [[0], [1], [2], [3], [4], [0, 1], [3, 4]],
    "(((0,3),1),(2,4));": [[0], [1], [2], [3], [4], [0, 3], [0, 1, 3]],
    "(0,1,2,3,4);": [[0], [1], [2], [3], [4]],
}
SHAPE = (3, 4, 2, 3, 4)


def unfolded(tensor, rows):
    columns = [mode for mode in range(tensor.ndim) if mode not in rows]
    n_rows = int(np.prod([tensor.shape[mode] for mode in rows]))
    return tensor.transpose(*rows, *columns).reshape(n_rows, -1)


def tails(tensor, splits, rank):
    """For each edge the squared error of the best matrix of a rank."""
    spectra = [np.linalg.svd(unfolded(tensor, rows), compute_uv=False) for rows in splits]
    return [float((values[rank:] ** 2).sum()) for values in spectra]


def low_rank(seed, rank=2, shape=SHAPE):
    """A tensor of a hierarchical rank along ((0,1),2,(3,4)), not a distribution."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, rank)) for n in shape]
    left, middle, right = rng.normal(size=(3, rank, rank, rank))
    return np.einsum("ia,jb,kc,ld,me,abf,cfg,deg->ijklm", *factors, left, middle, right)


def latent_chain(seed, concentration):
    """The distribution of five variables below a chain of three hidden ones, all with three states."""
    rng = np.random.default_rng(seed)

    def rows(n_rows):
        return rng.dirichlet(np.full(3, concentration), size=n_rows)

    tables = rows(1)[0], rows(3), rows(3), *(rows(3) for _ in range(5))
    return np.einsum("a,ab,bc,ai,aj,bk,cl,cm->ijklm", *tables)


@pytest.mark.parametrize("linker", ["svd", "marginals"])
@pytest.mark.parametrize("seed", range(3))
def test_the_right_rank_gives_back_the_tensor(seed, linker):
    tensor = low_rank(seed)
    actual = hierarchical_decomposition(tensor, "((0,1),2,(3,4));", 2, linker=linker)
    assert actual.to_tensor() == pytest.approx(tensor, abs=1e-9)
    assert actual.error < 1e-9
    assert set(actual.ranks.values()) == {2}
    assert actual.n_numbers < tensor.size


@pytest.mark.parametrize("linker", ["svd", "marginals"])
def test_a_latent_tree_is_decomposed_exactly(linker):
    tensor = latent_chain(0, 1.0)
    actual = hierarchical_decomposition(tensor, "((0,1),2,(3,4));", 3, linker=linker)
    assert actual.to_tensor() == pytest.approx(tensor, abs=1e-12)


def test_a_toy_model_has_the_rank_of_its_hidden_states():
    model = random_tree_model(5, n_states=2, n_categories=3, random_state=0)
    cells = np.indices((3,) * 5).reshape(5, -1).T
    tensor = np.exp(model.log_prob(cells)).reshape((3,) * 5)
    actual = hierarchical_decomposition(tensor, model.topology, 2, names=model.names)
    assert actual.error < 1e-12
    assert actual.entries(cells[:7]) == pytest.approx(np.exp(model.log_prob(cells[:7])))


@pytest.mark.parametrize("tree", TREES)
def test_the_whole_rank_is_exact(tree):
    tensor = np.random.default_rng(0).normal(size=SHAPE)
    assert hierarchical_decomposition(tensor, tree).to_tensor() == pytest.approx(tensor, abs=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("tree", TREES)
def test_theorem_4_bounds_the_error_by_discarded_singular_values(tree, rank):
    tensor = np.random.default_rng(rank).normal(size=SHAPE)
    actual = hierarchical_decomposition(tensor, tree, rank)
    bound = tails(tensor, TREES[tree], rank)
    assert actual.error == pytest.approx(np.linalg.norm(tensor - actual.to_tensor()))
    assert max(bound) <= actual.error**2 + 1e-9  # no tensor of this rank is nearer than that
    assert actual.error**2 <= sum(bound) <= len(actual.ranks) * max(bound)
    unfolding_ranks = [
        np.linalg.matrix_rank(unfolded(actual.to_tensor(), rows), tol=1e-9) for rows in TREES[tree]
    ]
    assert max(unfolding_ranks) == rank


@pytest.mark.parametrize("seed", range(5))
def test_theorem_5_no_tensor_of_the_rank_is_much_nearer(seed):
    near = low_rank(seed)
    noise = 0.3 * np.random.default_rng(seed + 100).normal(size=SHAPE)
    tree = "((0,1),2,(3,4));"
    actual = hierarchical_decomposition(near + noise, tree, 2)
    # The error of the best tensor of this rank lies between these two; so the theorem holds with the smaller.
    least, most = max(tails(near + noise, TREES[tree], 2)), np.linalg.norm(noise) ** 2
    assert least <= most
    assert actual.error**2 <= len(actual.ranks) * least
    assert actual.error <= 1.05 * np.linalg.norm(noise)  # as seen; the theorem allows 2.6


def test_the_bound_is_not_that_of_marginals():
    """Theorem 4 allows A and B that sum modes out, but its proof only holds for orthonormal factors.

    After an edge is cut, the error of later cuts is multiplied with the factor that was cut off, and the
    later cuts do not know that. Here all sums keep the full rank 3, as the theorem asks for.
    """
    rng = np.random.default_rng(25462)
    tensor = latent_chain(rng, rng.choice([0.1, 0.3, 1.0]))
    bound = 2 * max(tails(tensor, [[0, 1], [3, 4]], 2))
    ranks = {("l", "m"): 2, ("r", "m"): 2}
    printed, ours = (
        hierarchical_decomposition(tensor, "((0,1)l,2,(3,4)r)m;", ranks, linker=linker)
        for linker in ("marginals", "svd")
    )
    kept = [printed.singular_values[edge][-1] for edge in ranks]
    assert min(kept) > 0.003
    assert printed.error**2 > 1.3 * bound
    assert ours.error**2 < bound


def literal_cut(tensor, n_inner, kept, rank):
    """Equation 6 word for word: PB, M, A'P of an unfolding, and the ranks of P, PB and A'P.

    `kept` are the modes on the two sides that are not summed out.
    """
    n_rows = int(np.prod(tensor.shape[:n_inner]))
    P = tensor.reshape(n_rows, -1)
    inner, outer = kept
    others = tuple(mode for mode in range(n_inner, tensor.ndim) if mode != outer)
    PB = tensor.sum(axis=others).reshape(n_rows, -1)
    AP = tensor.sum(axis=tuple(mode for mode in range(n_inner) if mode != inner))
    flat = AP.reshape(len(AP), -1)
    U_B = np.linalg.svd(PB, full_matrices=False)[0]
    V_A = np.linalg.svd(flat, full_matrices=False)[2].T
    left, values, right = np.linalg.svd(U_B @ U_B.T @ P @ V_A @ V_A.T, full_matrices=False)
    truncated = (left[:, :rank] * values[:rank]) @ right[:rank]
    M = np.linalg.pinv(PB) @ truncated @ np.linalg.pinv(flat)
    return PB, M, AP, {int(np.linalg.matrix_rank(matrix, tol=1e-8)) for matrix in (P, PB, flat)}


def literal_errors(tensor, rank):
    """Squared errors of Algorithm 1 after two cuts, of the first two and then the last two modes.

    One for each choice of the modes that are kept; the conditions of Theorem 4 are checked at every cut.
    """
    squares = []
    for first in [(inner, outer) for inner in (0, 1) for outer in (2, 3, 4)]:
        PB, M, rest, ranks = literal_cut(tensor, 2, first, rank)
        assert ranks == {3}
        turned = rest.transpose(2, 3, 0, 1)  # of the new mode, mode 2, and the last two
        for second in [(inner, outer) for inner in (0, 1) for outer in (2, 3)]:
            right, link, left, ranks = literal_cut(turned, 2, second, rank)
            assert ranks == {3}
            near = (right @ link @ left.reshape(len(left), -1)).reshape(turned.shape)
            inner = near.transpose(2, 3, 0, 1).reshape(len(rest), -1)
            squares.append(np.linalg.norm(unfolded(tensor, [0, 1]) - PB @ M @ inner) ** 2)
    return np.array(squares)


def test_the_counterexample_to_theorem_4_is_one_in_the_papers_own_words():
    """Whatever modes are kept, and whichever of the two edges is cut first."""
    rng = np.random.default_rng(25462)
    tensor = latent_chain(rng, rng.choice([0.1, 0.3, 1.0]))
    bound = 2 * max(tails(tensor, [[0, 1], [3, 4]], 2))
    squares = literal_errors(tensor, 2)
    mirrored = literal_errors(tensor.transpose(3, 4, 2, 0, 1), 2)
    assert min(squares.min(), mirrored.min()) > 1.02 * bound
    assert mirrored.max() > 1.3 * bound
    ranks = {("l", "m"): 2, ("r", "m"): 2}
    tree = "((0,1)l,2,(3,4)r)m;"
    ours = hierarchical_decomposition(tensor, tree, ranks, linker="marginals").error
    assert np.abs(mirrored - ours**2).min() < 1e-15


def test_entries_are_those_of_the_product_of_all_factors():
    tensor = np.random.default_rng(0).normal(size=(2, 3, 2, 3))
    actual = hierarchical_decomposition(tensor, "((a,b),(c,d));", 2, names=list("abcd"))
    below, top = actual.cores  # the centre has two of the leaves and the other inner node below it
    at = {name: actual.factors[place] for place, name in enumerate("abcd")}
    inner, outer = [[actual.tree.names[c] for c in actual.tree.children[n]] for n in (4, 5)]
    one, other = (at[name] for name in inner)
    first, second = (at[name] for name in outer[:2])
    whole = np.einsum("ia,jb,kc,ld,abe,cdef->ijklf", one, other, first, second, below, top)[..., 0]
    order = ["abcd".index(name) for name in (*inner, *outer[:2])]
    assert actual.to_tensor() == pytest.approx(whole.transpose(np.argsort(order)))
    cells = np.array([[0, 1, 1, 2], [1, 2, 0, 0]])
    assert actual.entries(cells) == pytest.approx(actual.to_tensor()[tuple(cells.T)])
    summed = actual.entries(np.array([[0, -1, 1, -1]]))
    assert summed == pytest.approx(actual.to_tensor().sum(axis=(1, 3))[0, 1])


def test_a_mode_may_stand_inside_the_tree():
    tensor = np.random.default_rng(0).normal(size=(3, 3, 4, 3, 3))
    actual = hierarchical_decomposition(tensor, "((0,1)2,(3,4));", 2)
    splits = [[0], [1], [2], [3], [4], [3, 4]]
    assert actual.error**2 <= sum(tails(tensor, splits, 2))


def test_a_matrix_gets_its_singular_value_decomposition():
    matrix = np.random.default_rng(0).normal(size=(4, 6))
    actual = hierarchical_decomposition(matrix, "(0,1);", 2)
    assert actual.error**2 == pytest.approx(tails(matrix, [[0]], 2)[0])


def test_each_edge_may_have_a_rank_of_its_own():
    tensor = np.random.default_rng(0).normal(size=SHAPE)
    ranks = {("m", "l"): 3, ("r", "m"): 2, ("0", "l"): 2}
    actual = hierarchical_decomposition(tensor, "((0,1)l,2,(3,4)r)m;", ranks)
    assert actual.ranks == {
        ("0", "l"): 2,
        ("1", "l"): 4,
        ("2", "m"): 2,
        ("3", "r"): 3,
        ("4", "r"): 4,
        ("l", "m"): 3,
        ("r", "m"): 2,
    }


@pytest.mark.parametrize("linker", ["svd", "marginals"])
def test_a_tensor_of_zeros_has_factors_too(linker):
    actual = hierarchical_decomposition(np.zeros((2, 3, 2)), "(0,1,2);", 2, linker=linker)
    assert actual.error == 0
    assert not actual.to_tensor().any()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"tensor": np.ones(3)}, ArgumentError, "two or more modes"),
        ({"tensor": np.ones((2, 0, 3))}, ArgumentError, "none empty"),
        ({"tensor": np.full((2, 2), np.nan)}, ArgumentError, "not finite"),
        ({"tensor": [["a", "b"]]}, ArgumentTypeError, "real numbers"),
        ({"tree": "((0,1),2);"}, TopologyError, "3"),
        ({"rank": 0}, ArgumentError, "rank=0"),
        ({"rank": {("0", "1"): 2}}, ArgumentError, "no edge"),
        ({"names": ["a"]}, ArgumentError, "give a list of 4 names, one for each mode"),
        ({"linker": "sdv"}, ArgumentError, "did you mean 'svd'"),
    ],
)
def test_a_mistake_is_named(arguments, error, words):
    good = {"tensor": np.ones((2, 2, 2, 2)), "tree": "((0,1),(2,3));", "rank": 2}
    with pytest.raises(error, match=words):
        hierarchical_decomposition(**(good | arguments))


@pytest.mark.parametrize("indices", [[[0, 1]], [[0, 0, 0, 2]], [[0, 0, -2, 0]], [[0.0, 0, 0, 0]]])
def test_an_index_outside_the_tensor_is_named(indices):
    actual = tacit.hierarchical_decomposition(np.ones((2, 2, 2, 2)), "((0,1),(2,3));", 1)
    with pytest.raises(ArgumentError):
        actual.entries(np.array(indices))


def test_complex_tensors_and_names_that_are_no_list_are_refused():
    with pytest.raises(ArgumentTypeError, match="no array of real numbers"):
        hierarchical_decomposition(np.ones((2, 2)) + 1j, "(0,1);")
    for names in (3, ["a"]):
        with pytest.raises(ArgumentError, match="give a list of 2 names, one for each mode"):
            hierarchical_decomposition(np.ones((2, 2)), "(0,1);", names=names)
