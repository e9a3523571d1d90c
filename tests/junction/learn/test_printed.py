"""`preset="printed"`: exact on exact moments, equal to a transcription of Algorithm 6 on sampled rows."""

import numpy as np
import pytest

import tacit
from oracles.printed_junction_trees import algorithms_6_and_7
from oracles.printed_trees import every_row, frequencies
from tacit.errors import ArgumentError
from tacit.junction.learn.spectral import junction_spectral
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.trees.moments.source import CountedMoments

MODELS = {
    "second order": lambda: tacit.toy.random_hmm_model(
        6, order=2, n_categories=3, diagonal=1.0, random_state=4
    ),
    "third order": lambda: tacit.toy.random_hmm_model(
        7, order=3, n_categories=3, diagonal=1.0, random_state=4
    ),
    "two chains": lambda: tacit.toy.random_factorial_model(
        4, n_categories=5, diagonal=1.0, random_state=4
    ),
    "treewidth three": lambda: tacit.toy.random_loopy_model(n_categories=4, random_state=4),
}
N_ROWS = 1500
PRINTED = {"whiten": False, "cut": 0.0}


def values_of(network, rows):
    sign, log_abs = log_values(network, Evidence(np.asfortranarray(rows)))
    return sign * np.exp(log_abs)


def fitted(model, rows, **options):
    return tacit.LatentJunctionTree(model.graph, 2, "spectral", preset="printed", **options).fit(
        rows
    )


@pytest.mark.parametrize("n_views", [1, 2])
@pytest.mark.parametrize("kind", MODELS)
def test_the_printed_form_is_exact_on_exact_moments(kind, n_views):
    model = MODELS[kind]()
    junction = fitted(model, model.sample(300, 0)).junction_
    exact = junction_spectral(junction, model.moments, n_views=n_views, **PRINTED)
    rows = model.sample(200, 1)
    assert values_of(exact.network, rows) == pytest.approx(np.exp(model.log_prob(rows)), rel=1e-7)


def test_sizes_may_differ_and_observed_variables_may_stand_inside():
    parents = {"h0": (), "h1": ("h0",), "x0": ("h0",), "x1": ("h1", "x0"), "x2": ("h1", "x1")}
    parents |= {"x3": ("h1",), "x4": ("h0",)}
    names = [f"x{place}" for place in range(5)]
    model = tacit.toy.random_graph_model(
        parents, names, n_categories=[3, 2, 4, 5, 3], random_state=3
    )
    assert len(set(model.cards)) > 1
    rows = model.sample(400, 0)
    junction = fitted(model, rows).junction_
    exact = junction_spectral(junction, model.moments, n_views=1, **PRINTED)
    assert values_of(exact.network, rows) == pytest.approx(np.exp(model.log_prob(rows)), rel=1e-7)


@pytest.mark.parametrize("n_views", [1, 2])
@pytest.mark.parametrize("kind", MODELS)
def test_the_printed_form_is_that_of_the_thesis(kind, n_views):
    model = MODELS[kind]()
    rows = model.sample(N_ROWS, 1)
    actual = fitted(model, rows, n_views=n_views)
    tree, edges = actual.tree_, actual.diagnostics_["edges"]
    place = {name: node for node, name in enumerate(tree.names)}
    inside = {place[name]: _places(place, edge["below"]) for name, edge in edges.items()}
    outside = {
        place[name]: [_places(place, group) for group in edge["above"]]
        for name, edge in edges.items()
    }
    size = {place[name]: _joint_states(model, actual.junction_, place[name]) for name in edges}
    assert {place[name]: edge["wanted"] for name, edge in edges.items()} == size
    children = {node: tree.children[node] for node in tree.hidden}
    tables = frequencies(rows, actual.schema_.cards)
    oracle = algorithms_6_and_7(tables, children, tree.root, inside, outside, size)
    some = rows[:150]
    right = np.array([oracle(row) for row in some])
    assert values_of(actual.network_, some) == pytest.approx(right, abs=1e-10, rel=0)


def _places(place, names):
    return tuple(place[name] for name in names)


def _joint_states(model, junction, node):
    """S_H to the power of the separator's variables, or of those that the columns on one side depend on."""
    tree = junction.tree
    between = junction.members[node], junction.conditioned_on[node]
    if node < tree.n_leaves:
        between = (model.parents[tree.names[node]],)
    columns = {tree.names[leaf] for leaf in _leaves(tree, node)}
    behind = [
        {hidden for column in side for hidden in model.parents[column]}
        for side in (columns, set(model.names) - columns)
    ]
    return min(2 ** len(variables) for variables in (*between, *behind))


def _leaves(tree, node):
    below = tree.children[node]
    return [node] if not below else [leaf for child in below for leaf in _leaves(tree, child)]


def test_the_estimators_learn_the_printed_form(tmp_path):
    model = MODELS["second order"]()
    rows = model.sample(N_ROWS, 1)
    arguments = {"learn": "spectral", "preset": "printed"}
    actual = tacit.HigherOrderHMM(2, 2, **arguments).fit(rows)
    moments = CountedMoments.of(np.asfortranarray(rows), actual.schema_.cards)
    expected = junction_spectral(actual.junction_, moments, n_views=1, **PRINTED).network
    assert values_of(actual.network_, rows) == pytest.approx(values_of(expected, rows), rel=1e-12)
    other = tacit.HigherOrderHMM(2, 2, learn="spectral").fit(rows).network_
    assert values_of(other, rows) != pytest.approx(values_of(expected, rows), rel=1e-2)
    actual.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.preset == "printed"
    assert np.array_equal(loaded.score_samples(rows), actual.score_samples(rows))
    chains = MODELS["two chains"]().sample(N_ROWS, 1)
    factorial = tacit.FactorialHMM(2, 2, **arguments).fit(chains)
    assert max(factorial.network_.ranks) == 4


def test_sets_of_columns_grow_whatever_the_rows_show():
    """As printed the numbers of states alone decide; Tacit's own form stops where a table shows less."""
    model = MODELS["second order"]()
    rows = model.sample(N_ROWS, 1)
    rows[:, 2:] = rows[:1, 2:]  # one category in most columns: nothing is left to show
    moments = CountedMoments.of(np.asfortranarray(rows), (3,) * 6)
    junction = fitted(model, model.sample(N_ROWS, 1)).junction_
    edge = junction.tree.names.index("h4+h5")
    for options, n_columns in ((PRINTED, 2), ({}, 1)):
        spectrum = junction_spectral(junction, moments, n_views=1, **options).report.edges[edge]
        assert len(spectrum.views.below) == n_columns


def test_missing_cells_are_summed_out():
    model = MODELS["second order"]()
    rows = model.sample(N_ROWS, 1)
    actual = fitted(model, rows)
    total = values_of(actual.network_, every_row(actual.schema_.cards)).sum()
    assert values_of(actual.network_, np.full((1, 6), -1)) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"preset": "thesis"}, "preset='thesis' is not known; give None or \"printed\""),
        ({"learn": "auto"}, "learn='auto' does not go with"),
        ({"learn": "online-em"}, "learn='online-em' does not go with"),
        ({"n_states": "auto"}, "n_states='auto' does not go with"),
        ({"homogeneous": True}, "homogeneous=True does not go with"),
        ({"n_views": 0}, "n_views=0; give an integer of at least 1, or 'auto'"),
    ],
)
def test_arguments_that_contradict_print_are_refused(changes, complaint):
    arguments = {"n_states": 2, "learn": "spectral", "preset": "printed"}
    with pytest.raises(ArgumentError, match=complaint):
        tacit.HigherOrderHMM(2, **arguments | changes).fit(MODELS["second order"]().sample(50, 0))
