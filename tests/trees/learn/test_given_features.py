"""Latent trees from features that users give: exact moments, built-in features given by hand, files."""

import itertools

import numpy as np
import pytest

import tacit
from tacit.core.input.read_table import read_table
from tacit.errors import ArgumentError, ArgumentTypeError, DataError
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.messages.rooted_tree import RootedTree
from tacit.toy.exact import joint_table
from tacit.trees.learn.given_features import features_of_table
from tacit.trees.moments.side_features import SideMoments

LEAVES = list("abcdefklm")
TREE = tacit.Topology.parse("((a,b,c)g,(d,e,f)h,(k,l,m)j)i;", LEAVES)
MANY = 1e16  # rows that each probability stands for


def product_of(columns):
    """(row, joint category) indicators."""
    out = columns[0]
    for column in columns[1:]:
        out = (out[:, :, None] * column[:, None, :]).reshape(len(out), -1)
    return out


def indicators(values, n=2):
    return np.eye(n)[np.asarray(values, dtype=int)]


def joint(side):
    return product_of([indicators(values) for values in side.values()])


def concatenated(side):
    return np.concatenate([indicators(values) for values in side.values()], axis=1)


def first_three(side):
    return joint(dict(list(side.items())[:3]))


def turned(side):
    """Joint indicators in another basis: no longer indicators, nor do they sum to one."""
    features = first_three(side)
    turn = np.random.default_rng(features.shape[1]).normal(size=(features.shape[1],) * 2)
    return features @ turn


def kernel(side):
    """Numbers of a Gaussian kernel between the joint categories and fixed points."""
    values = np.stack(list(side.values()), axis=1).astype(float)
    points = np.random.default_rng(values.shape[1]).normal(size=(12, values.shape[1]))
    distances = ((values[:, None] - points) ** 2).sum(axis=2)
    return np.exp(-distances / (2 * values.shape[1]))


def population(seed, *, n_states=4, n_categories=2):
    """All configurations of a tree with more hidden states than categories, and their probabilities."""
    toy = tacit.toy.random_tree_model(
        topology=TREE, n_states=n_states, n_categories=n_categories, random_state=seed
    )
    probabilities = joint_table(toy.tables).ravel()
    every = np.array(list(itertools.product(range(n_categories), repeat=len(LEAVES))))
    order = [toy.names.index(name) for name in LEAVES]
    return {name: every[:, at] for name, at in zip(LEAVES, order, strict=True)}, probabilities


def fitted(rows, probabilities, features, **arguments):
    model = tacit.LatentTree(4, TREE, "spectral", features=features, **arguments)
    return model.fit(rows, sample_weight=MANY * probabilities)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("features", ["joint", "concatenated", joint, first_three, turned, kernel])
def test_exact_moments_of_features_give_the_exact_distribution(seed, features):
    rows, probabilities = population(seed)
    model = fitted(rows, probabilities, features)
    # Twelve directions of a kernel are nearly dependent: rounding is larger there.
    close = 1e-9 if features is kernel else 1e-12
    assert np.exp(model.score_samples(rows)) == pytest.approx(probabilities, abs=close)
    assert {len(edge["kept"]) for name, edge in model.diagnostics_["edges"].items()} == {4}


def test_one_column_at_a_time_does_not_show_so_many_states():
    rows, probabilities = population(0)
    model = fitted(rows, probabilities, 1)
    assert np.abs(np.exp(model.score_samples(rows)) - probabilities).sum() > 0.01


@pytest.mark.parametrize(
    ("representation", "preset"), [("tensor", None), ("train", None), ("tensor", "printed")]
)
def test_all_representations_and_the_printed_form_are_exact(representation, preset):
    rows, probabilities = population(3)
    model = fitted(rows, probabilities, "joint", representation=representation, preset=preset)
    assert np.exp(model.score_samples(rows)) == pytest.approx(probabilities, abs=1e-12)


def test_the_printed_form_is_the_formula_of_the_thesis():
    """4.4.2: U of E[phi below x phi above]; cores E[phi x phi x phi] with these, nothing scaled."""
    rows, probabilities = population(0)
    # The frequencies of some rows, so that other forms give other numbers.
    probabilities = np.random.default_rng(0).multinomial(5000, probabilities) / 5000
    model = fitted(rows, probabilities, first_three, representation="tensor", preset="printed")
    tree = model.tree_

    def phi(node, *, above):
        leaves = tree.outside[node] if above else tree.below[node]
        side = {tree.names[leaf]: rows[tree.names[leaf]] for leaf in leaves}
        return joint(side) if node < tree.n_leaves and not above else first_three(side)

    def basis(node):
        below, above = phi(node, above=False), phi(node, above=True)
        cross = below.T @ (probabilities[:, None] * above)
        left = np.linalg.svd(cross)[0][:, :4]
        return left, np.linalg.pinv(left.T @ cross)

    def core(node):
        children = [
            phi(child, above=False) @ (basis(child)[0] if child >= tree.n_leaves else np.eye(2))
            for child in tree.children[node]
        ]
        above = phi(node, above=True) @ basis(node)[1] if node != tree.root else 1.0
        return product_of(children), above

    def value(node, row):
        """The message of a node for one row of codes."""
        if node < tree.n_leaves:
            return indicators([row[node]])[0]
        children, above = core(node)
        messages = [value(child, row) for child in tree.children[node]]
        evidence = messages[0]
        for message in messages[1:]:
            evidence = np.outer(evidence, message).ravel()
        weights = probabilities * (children @ evidence)
        return weights @ above if node != tree.root else weights.sum()

    scores = np.exp(model.score_samples(rows))
    codes = np.stack([rows[name] for name in tree.names[: tree.n_leaves]], axis=1)
    positive = 0
    for place in (0, 77, 300, 511):
        literal = value(tree.root, codes[place])
        if literal > 0:  # a logarithm of what is not positive is another one
            positive += 1
            assert literal == pytest.approx(scores[place], rel=1e-10)
    assert positive


@pytest.mark.parametrize("features", ["joint", "concatenated", turned])
def test_the_model_sums_to_one_and_has_the_margins_of_the_rows(features):
    """Whitened features have the constant among them, whether they were given with it or not."""
    rows, probabilities = population(2)
    counts = np.random.default_rng(0).multinomial(3000, probabilities)
    model = tacit.LatentTree(4, TREE, "spectral", features=features)
    model.fit(rows, sample_weight=counts)
    codes = np.stack([rows[name] for name in model.schema_.names], axis=1)
    signs, logs = log_values(model.parameters_, Evidence(codes))
    values = signs * np.exp(logs)
    assert values.sum() == pytest.approx(1, abs=1e-9)
    for name in LEAVES:
        expected = counts[rows[name] == 1].sum() / 3000
        assert values[rows[name] == 1].sum() == pytest.approx(expected, abs=1e-9)


def test_groups_that_tacit_takes_give_the_same_model_as_a_function():
    toy = tacit.toy.random_tree_model(topology=TREE, n_states=4, n_categories=2, random_state=5)
    codes = toy.sample(20_000, random_state=6)
    rows = {name: codes[:, toy.names.index(name)] for name in LEAVES}
    own = tacit.LatentTree(4, TREE, "spectral", features=2, n_views=1, representation="tensor")
    own.fit(rows)
    groups = {}
    for name, edge in own.diagnostics_["edges"].items():
        node = own.tree_.names.index(name)
        below, above = (
            frozenset(own.tree_.names[leaf] for leaf in leaves)
            for leaves in (own.tree_.below[node], own.tree_.outside[node])
        )
        groups[below], groups[above] = edge["below"], edge["above"][0]

    def same_groups(side):
        return joint({name: side[name] for name in groups[frozenset(side)]})

    given = tacit.LatentTree(
        4, TREE, "spectral", features=same_groups, representation="tensor"
    ).fit(rows)
    assert given.score_samples(rows) == pytest.approx(own.score_samples(rows), abs=1e-10)


@pytest.mark.parametrize(("name", "function"), [("joint", joint), ("concatenated", concatenated)])
def test_built_in_features_given_as_a_function_or_as_arrays_are_the_same(name, function):
    toy = tacit.toy.random_tree_model(topology=TREE, n_states=4, n_categories=2, random_state=7)
    codes = toy.sample(3000, random_state=8)
    rows = {name: codes[:, toy.names.index(name)] for name in LEAVES}

    def scores(features):
        return (
            tacit.LatentTree(4, TREE, "spectral", features=features).fit(rows).score_samples(rows)
        )

    assert scores(function) == pytest.approx(scores(name), abs=1e-10)
    if name == "concatenated":
        assert scores(np.eye(2)) == pytest.approx(scores(name), abs=1e-10)
        assert scores({"a": np.eye(2)}) == pytest.approx(scores(name), abs=1e-10)
        vectors = np.array([[0.5, 2.0, 1.0], [1.0, -1.0, 0.25]])

        def by_function(side):
            parts = [
                vectors[values] if name in "dk" else indicators(values)
                for name, values in side.items()
            ]
            return np.concatenate(parts, axis=1)

        arrays = {"d": vectors, "k": vectors}
        assert scores(arrays) == pytest.approx(scores(by_function), abs=1e-10)


def test_arrays_are_features_of_ordinal_categories():
    """Two numbers of each of four categories are enough where the states are two."""
    star = tacit.Topology.star(LEAVES[:5])
    toy = tacit.toy.random_tree_model(topology=star, n_states=2, n_categories=4, random_state=0)
    probabilities = joint_table(toy.tables).ravel()
    every = np.array(list(itertools.product(range(4), repeat=5)))
    rows = {name: every[:, at] for at, name in enumerate(toy.names)}
    vectors = np.random.default_rng(0).normal(size=(4, 2))
    model = tacit.LatentTree(2, star, "spectral", features=vectors)
    model.fit(rows, sample_weight=MANY * probabilities)
    assert np.exp(model.score_samples(rows)) == pytest.approx(probabilities, abs=1e-12)


def test_more_states_than_symbols_are_recovered_from_rows():
    toy = tacit.toy.random_tree_model(topology=TREE, n_states=4, n_categories=2, random_state=0)
    codes = toy.sample(400_000, random_state=1)
    rows = {name: codes[:, toy.names.index(name)] for name in LEAVES}
    every = np.array(list(itertools.product(range(2), repeat=len(LEAVES))))
    truth = np.exp(toy.log_prob(every))
    table = {name: every[:, toy.names.index(name)] for name in LEAVES}

    def error(features):
        model = tacit.LatentTree(4, TREE, "spectral", features=features).fit(rows)
        return np.abs(np.exp(model.score_samples(table)) - truth).sum()

    assert error("joint") < 0.5 * error(1)


def test_rows_with_a_missing_cell_are_left_out():
    toy = tacit.toy.random_tree_model(topology=TREE, n_states=2, n_categories=2, random_state=0)
    codes = toy.sample(2000, random_state=1).astype(float)
    codes[::7, 2] = np.nan
    rows = {name: codes[:, toy.names.index(name)] for name in LEAVES}
    complete = {name: values[~np.isnan(codes[:, 2])] for name, values in rows.items()}
    models = [
        tacit.LatentTree(2, TREE, "spectral", features="joint").fit(some)
        for some in (rows, complete)
    ]
    scores = [model.score_samples(rows) for model in models]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    empty = {name: [0, 1, 0, 1, 1, 0] for name in LEAVES[1:]} | {"a": [None, None, 0, 1, None, 0]}
    empty["b"] = [0, 1, None, None, 1, None]
    with pytest.raises(DataError, match="every row has a missing cell"):
        tacit.LatentTree(2, TREE, "spectral", features="joint").fit(empty)


def test_moments_of_sides_are_means_over_the_rows():
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 500) for name in "abcd"}
    weights = rng.uniform(size=500)
    table = read_table(rows, sample_weight=weights)
    tree: RootedTree = tacit.Topology.parse("((a,b)g,c,d)h;", "abcd").rooted("abcd")
    moments = SideMoments.of(tree, table, features_of_table(table, "joint"))
    edge = tree.n_leaves  # g
    inside = joint({name: rows[name] for name in "ab"})
    outside = joint({name: rows[name] for name in "cd"})
    ones = np.ones((500, 1))
    below, above = np.hstack([inside, ones]), np.hstack([outside, ones])
    share = weights / weights.sum()
    means = moments.edge(edge)
    assert moments.n_rows == pytest.approx(weights.sum())
    assert means.joint == pytest.approx(below.T @ (share[:, None] * above), abs=1e-12)
    assert means.below_below == pytest.approx(below.T @ (share[:, None] * below), abs=1e-12)
    assert means.above_above == pytest.approx(above.T @ (share[:, None] * above), abs=1e-12)
    assert means.below == pytest.approx(share @ below, abs=1e-12)


def test_a_function_sees_the_names_and_categories_of_the_user():
    rows = {name: ["no", "yes", "yes", "no"] * 20 for name in "abc"} | {3: [1, 2, 2, 2] * 20}
    seen = set()

    def phi(side):
        for name, values in side.items():
            seen.add((name, *np.unique(values).tolist()))
        return concatenated({name: values == values[0] for name, values in side.items()})

    tacit.LatentTree(2, "((a,b),(c,3));", "spectral", features=phi).fit(rows)
    assert {("a", "no", "yes"), (3, 1, 2)} <= {entry for entry in seen if len(entry) == 3}


def test_models_with_arrays_are_saved_and_those_with_functions_without_them(tmp_path):
    rows, probabilities = population(1)
    vectors = {name: np.array([[1.0, 0.5], [-0.25, 2.0]]) for name in LEAVES}
    for features in (vectors, np.eye(2), "joint", first_three):
        model = fitted(rows, probabilities, features)
        model.save(tmp_path / "m.tacit")
        loaded = tacit.load(tmp_path / "m.tacit")
        assert loaded.score_samples(rows) == pytest.approx(model.score_samples(rows), abs=0)
        if callable(features):
            assert loaded.features == 3
            continue
        again = loaded.fit(rows, sample_weight=MANY * probabilities)
        assert again.score_samples(rows) == pytest.approx(model.score_samples(rows), abs=1e-12)


def changing(side):
    values = next(iter(side.values()))
    return np.ones((len(values), 1 + (len(values) > 1)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"learn": "auto", "features": "joint"}, ArgumentError, 'go with learn="spectral"'),
        ({"learn": "hierarchical", "features": joint}, ArgumentError, 'go with learn="spectral"'),
        ({"representation": "matrix", "features": "joint"}, ArgumentError, "do not go with repr"),
        ({"features": "all"}, ArgumentError, "features='all' is not known"),
        ({"features": None}, ArgumentTypeError, "features=None; give an integer"),
        ({"features": 0}, ArgumentError, "features=0; give an integer of at least 1"),
        ({"features": np.eye(3)}, ArgumentError, "but 'a' has 2 categories"),
        ({"features": {"z": np.eye(2)}}, ArgumentError, "features name 'z'"),
        ({"features": lambda _: np.ones(3)}, ArgumentError, "return an array"),
        ({"features": changing}, ArgumentError, "may not depend on the rows"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(arguments, error, message):
    rows = {name: [0, 1, 1, 0, 1, 0, 1, 1] for name in "abcd"} | {"b": [0, 0, 1, 1, 0, 1, 1, 0]}
    given = {"n_states": 2, "structure": "((a,b),(c,d));", "learn": "spectral", **arguments}
    with pytest.raises(error, match=message) as caught:
        tacit.LatentTree(**given).fit(rows)
    assert "\n" not in str(caught.value)
