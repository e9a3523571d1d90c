"""Junction trees: tied tables, and spectral learning from exact moments."""

import numpy as np
import pytest

from tacit.core.loops.acceleration import normalise
from tacit.errors import TopologyError
from tacit.junction.learn.spectral import junction_spectral
from tacit.junction.model.shared_tables import ties
from tacit.junction.moments.homogeneous import ShiftedMoments
from tacit.junction.structure.graphs import VariableGraph
from tacit.junction.structure.junction_tree import junction_tree
from tacit.messages.conditionals import log_prob
from tacit.messages.em import Expectation, Prior, em_step
from tacit.messages.evidence import Evidence
from tacit.messages.passes import upward
from tacit.messages.patterns import pattern_blocks
from tacit.toy.exact import joint_table
from tacit.toy.junctions import (
    random_factorial_model,
    random_graph_model,
    random_hmm_model,
    random_loopy_model,
)
from tacit.trees.moments.source import CountedMoments

# A hidden variable without leaves, between three that have two each.
HUB = {
    "m": (),
    **dict.fromkeys("lsr", ("m",)),
    **{f"x{place}": ("lsr"[place // 2],) for place in range(6)},
}
MODELS = {
    "a hub": lambda seed: random_graph_model(
        HUB, [f"x{place}" for place in range(6)], n_categories=3, diagonal=1.0, random_state=seed
    ),
    "second order": lambda seed: random_hmm_model(6, order=2, random_state=seed),
    "third order": lambda seed: random_hmm_model(8, order=3, random_state=seed),
    "two chains": lambda seed: random_factorial_model(4, n_categories=6, random_state=seed),
    "treewidth three": lambda seed: random_loopy_model(random_state=seed),
}
OBSERVED_INSIDE = {
    "h0": (),
    "h1": ("h0",),
    "h2": ("h1",),
    "x0": ("h0",),
    "x1": ("h1", "x0"),
    "x2": ("h2", "x1"),
    "x3": ("h2",),
}


def junction_of(model):
    cards = dict(zip(model.names, model.cards, strict=True))
    return junction_tree(VariableGraph.of(model.graph), model.names, {**model.n_states, **cards})


def parameters_of(tied, model):
    """The model's own tables in the order of the ties."""
    values = np.empty(tied.size)
    for block in tied.blocks:
        family = block.families[0]
        axes = [*model.parents[family.children[0]], family.children[0]]
        table = model.tables[family.children[0]]
        order = [axes.index(name) for name in (*family.parents, *family.children)]
        values[block.span] = table.transpose(order).ravel()
    return values


def strengthened(model):
    """The same graph, every variable mostly the echo of its earliest parent: all joint states matter."""
    tables = {}
    for name, table in model.tables.items():
        n = table.shape[-1]
        echo = np.zeros_like(table)
        for first in range(table.shape[0] if table.ndim > 1 else 0):
            echo[first, ..., first % n] = 1.0
        tables[name] = 0.3 * table + 0.7 * echo if table.ndim > 1 else table
    return type(model)(model.names, model.parents, tables)


def rows_of(model, n=200):
    return np.asfortranarray(model.sample(n, random_state=5))


def spectral_values(network, rows):
    sign, log_abs = upward(network, Evidence(rows)).values()
    return sign * np.exp(log_abs)


@pytest.mark.parametrize("kind", MODELS)
def test_tied_tables_are_the_graph(kind):
    model = MODELS[kind](0)
    tied = ties(junction_of(model))
    tables = tied.tables(parameters_of(tied, model))
    rows = rows_of(model)
    assert log_prob(tables, Evidence(rows)).values == pytest.approx(model.log_prob(rows), abs=1e-10)
    for node in range(tables.tree.n_nodes):
        assert tables.table(node).sum(axis=1) == pytest.approx(1.0)


def test_observed_variables_inside_are_the_graph_too():
    names = ["x0", "x1", "x2", "x3"]
    model = random_graph_model(OBSERVED_INSIDE, names, n_categories=[3, 2, 4, 2], random_state=3)
    tied = ties(junction_of(model))
    assert joint_table(tied.tables(parameters_of(tied, model))) == pytest.approx(
        model.joint_table(), abs=1e-12
    )


def random_parents(seed):
    """A random graph: up to six hidden variables, and observed ones that others may depend on."""
    rng = np.random.default_rng(seed)
    n_hidden, density = int(rng.integers(1, 7)), 0.8 * rng.random()
    parents = {}
    for number in range(n_hidden):
        above = [f"h{other}" for other in range(number) if rng.random() < density][:3]
        if number and not above and rng.random() < 0.7:
            above = [f"h{int(rng.integers(number))}"]
        parents[f"h{number}"] = tuple(above)
    observed = []
    for number in range(int(rng.integers(2, 8))):
        hidden = rng.integers(n_hidden, size=int(rng.integers(1, 3)))
        above = sorted({f"h{int(other)}" for other in hidden})
        if observed and rng.random() < 0.15:
            above.append(str(rng.choice(observed)))
        observed.append(f"x{number}")
        parents[observed[-1]] = tuple(above)
    return parents, observed


def test_tables_of_random_graphs_are_the_graphs():
    compared = 0
    for seed in (*range(300), 451, 878, 1041, 1280):
        parents, observed = random_parents(seed)
        model = random_graph_model(parents, observed, n_categories=2, random_state=seed)
        try:
            tied = ties(junction_of(model))
        except TopologyError:  # a hidden variable that is not identifiable
            continue
        compared += 1
        joint = joint_table(tied.tables(parameters_of(tied, model)))
        assert joint == pytest.approx(model.joint_table(), abs=1e-12), seed
    assert compared > 250


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_exact_moments_give_the_exact_joint(kind, whiten):
    for seed in range(2):
        model = MODELS[kind](seed)
        factored = junction_spectral(junction_of(model), model.moments, whiten=whiten)
        rows = rows_of(model)
        truth = np.exp(model.log_prob(rows))
        assert spectral_values(factored.network, rows) == pytest.approx(truth, rel=1e-8)


def test_a_leaf_that_others_cannot_show_whole_is_sent_as_it_is():
    """Sixteen categories behind eight joint states, of which the columns outside show fewer."""
    loopy = random_loopy_model(random_state=0)
    parents = {**loopy.parents, "x3": ("w2", "w3")}
    model = random_graph_model(parents, loopy.names, n_categories=16, random_state=0)
    factored = junction_spectral(junction_of(model), model.moments)
    rows = rows_of(model)
    truth = np.exp(model.log_prob(rows))
    assert spectral_values(factored.network, rows) == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize("kind", MODELS)
def test_a_rank_one_too_small_shows(kind):
    model = MODELS[kind](0)
    if "order" in kind:
        model = strengthened(model)
    junction = junction_of(model)
    network = junction_spectral(junction, model.moments).network
    rank = max(network.ranks[junction.tree.n_leaves :])
    assert rank == max(junction.caps[junction.tree.n_leaves :])
    factored = junction_spectral(junction, model.moments, most=rank - 1)
    rows = rows_of(model)
    truth = np.exp(model.log_prob(rows))
    apart = np.abs(spectral_values(factored.network, rows) / truth - 1)
    assert apart.mean() > 1e-5


def test_numbers_of_categories_are_not_enough():
    """One column of four categories for a separator of four states: all but useless, so groups are needed."""
    model = random_hmm_model(6, order=2, random_state=0)
    factored = junction_spectral(junction_of(model), model.moments, features=1)
    rows = rows_of(model)
    apart = np.abs(spectral_values(factored.network, rows) / np.exp(model.log_prob(rows)) - 1)
    assert apart.max() > 1e-3


def test_ranks_never_exceed_the_separators_and_are_cut_where_rows_are_few():
    model = random_hmm_model(8, order=2, random_state=1)
    junction = junction_of(model)
    few = CountedMoments.of(rows_of(model, 100), model.cards)
    many = CountedMoments.of(rows_of(model, 100_000), model.cards)
    ranks = {}
    for name, moments in {"few": few, "many": many}.items():
        ranks[name] = np.array(junction_spectral(junction, moments).network.ranks)
        assert (ranks[name] <= junction.caps).all()
    assert ranks["few"].sum() < ranks["many"].sum()


def test_error_falls_with_rows():
    model = random_hmm_model(6, order=2, diagonal=1.0, random_state=2)
    junction, rows = junction_of(model), rows_of(model, 500)
    truth = np.exp(model.log_prob(rows))
    errors = []
    for n in (1000, 100_000):
        moments = CountedMoments.of(rows_of(model, n), model.cards)
        values = spectral_values(junction_spectral(junction, moments).network, rows)
        errors.append(np.abs(values / truth - 1).mean())
    assert errors[1] < errors[0] / 3


def test_a_stationary_chain_is_learnt_from_means_over_places():
    """A homogeneous chain in its stationary state: means over places are the same tables."""
    shared = {f"x{t}": "emission" for t in range(6)}
    parents = {"h0": (), "x0": ("h0",)}
    for t in range(1, 6):
        parents |= {f"h{t}": (f"h{t - 1}",), f"x{t}": (f"h{t}",)}
        shared[f"h{t}"] = "step"
    model = random_graph_model(parents, [f"x{t}" for t in range(6)], shared=shared, random_state=4)
    step = model.tables["h1"]
    still = np.linalg.matrix_power(step, 200)[0]
    model = type(model)(model.names, model.parents, {**model.tables, "h0": still})
    factored = junction_spectral(junction_of(model), ShiftedMoments(model.moments))
    rows = rows_of(model)
    truth = np.exp(model.log_prob(rows))
    assert spectral_values(factored.network, rows) == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize("kind", ["second order", "two chains"])
def test_steps_of_tied_em_never_lose_likelihood_and_stay_at_the_truth(kind):
    model = MODELS[kind](0)
    tied = ties(junction_of(model))
    rows = rows_of(model, 2000)
    blocks = pattern_blocks(rows, tied.junction.tree, model.cards)
    step = em_step(Expectation(tied.layout, tuple(blocks)), tied, Prior(np.zeros(tied.size)))
    values = normalise(np.random.default_rng(1).random(tied.size), tied.row_starts)
    before = -np.inf
    for _ in range(15):
        after, next_values, mass = step(values)
        assert after >= before - 1e-8
        before, values = after, next_values
    assert mass.sum() == pytest.approx(2000 * sum(len(b.families) for b in tied.blocks), rel=1e-9)


def test_expected_counts_of_tied_parameters_are_those_of_enumeration():
    model = random_hmm_model(4, order=2, n_categories=2, random_state=0)
    tied = ties(junction_of(model), {f"x{t}": "emission" for t in range(4)})
    values = normalise(np.random.default_rng(2).random(tied.size), tied.row_starts)
    rows = rows_of(model, 50)
    expect = Expectation(tied.layout, tuple(pattern_blocks(rows, tied.junction.tree, model.cards)))
    total, counts = expect(tied.values(values))
    gradient = tied.mass(counts) / values
    for place in range(0, tied.size, 5):
        moved = values.copy()
        moved[place] += 1e-6
        slope = (expect(tied.values(moved))[0] - total) / 1e-6
        assert slope == pytest.approx(gradient[place], rel=1e-3, abs=1e-3)
