"""What each way of learning promises, through the estimators."""

import warnings
from itertools import permutations

import numpy as np
import pytest

from oracles.networks import all_rows
from oracles.population import network_joint
from tacit import ChowLiuTree, LatentClass, LatentTree, Topology
from tacit.core.progress import silent
from tacit.errors import ArgumentError, ConvergenceWarning
from tacit.toy import ExactMoments, joint_table, random_tables, random_tree_model, sample_codes
from tacit.toy.trees import named_topology
from tacit.trees.learn.learners import LEARNERS, Job
from tacit.trees.learn.settings import Settings

TABLE_LEARNERS = ("auto", "em", "online-em", "mossel-roch")


def model_on(newick, cards, n_states, seed=0, diagonal=1.0):
    """A known model on a tree given as Newick, with its columns in alphabetical order."""
    names = sorted(name for name in Topology.from_newick(newick).observed)
    tree = Topology.parse(newick, names).rooted(names)
    return random_tables(tree, cards, n_states, seed, diagonal=diagonal)


def truth_of(name, cards=4, n_states=2, seed=0, diagonal=1.0):
    topology = named_topology(name)
    columns = [f"x{place}" for place in range(len(topology.observed))]
    return topology, random_tables(
        topology.rooted(columns), cards, n_states, seed, diagonal=diagonal
    )


def as_frame(codes, names):
    return {name: codes[:, place].tolist() for place, name in enumerate(names)}


def divergence(truth, network, codes):
    from tacit.messages.conditionals import log_prob
    from tacit.messages.evidence import Evidence

    evidence = Evidence(codes)
    learnt = log_prob(network, evidence).values
    return float((log_prob(truth.network, evidence).values - learnt).mean())


# -- moment methods -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learn", "changes"),
    [
        *(("spectral", {"representation": name}) for name in ("auto", "train", "tensor", "matrix")),
        ("spectral", {"n_views": 1}),
        ("hierarchical", {"window": 1}),
        ("hierarchical", {"window": 3}),
        ("mossel-roch", {}),
    ],
)
@pytest.mark.parametrize(
    ("newick", "cards", "n_states"),
    [
        ("((a,b),(c,d),(e,f));", [4, 3, 4, 3, 5, 3], 2),
        ("((a,b,c),(d,e,f));", 3, 3),
        ("(a,b,c,d,e);", [2, 2, 3, 2, 2], 3),
        ("((a,b,c),d,(e,f,g));", 2, 3),
    ],
    ids=["fewer states", "as many states", "star, more states", "tree, more states"],
)
def test_exact_moments_give_back_the_exact_joint(newick, cards, n_states, learn, changes):
    truth = model_on(newick, cards, n_states)
    if learn == "mossel-roch" and n_states > np.min(cards):
        pytest.skip("too few leaves for three views of more states than each can show")
    settings = Settings(**changes)
    job = Job(None, truth.tree, truth.layout.n_states, ExactMoments(truth), settings, silent)
    network = LEARNERS[learn](job).network
    assert network_joint(network) == pytest.approx(joint_table(truth), rel=1e-9)


@pytest.mark.parametrize("learn", ["spectral", "hierarchical", "mossel-roch"])
def test_more_rows_bring_moment_methods_nearer_to_the_truth(learn):
    topology, truth = truth_of("bin4", diagonal=2.0)
    test = sample_codes(truth, 5000, 9)
    gaps = []
    for n_rows in (300, 30_000):
        model = LatentTree(2, topology, learn).fit(sample_codes(truth, n_rows, 1))
        gaps.append(divergence(truth, model.network_, test))
    assert gaps[1] < 0.1 * gaps[0]
    assert gaps[1] < 0.005


def test_the_literal_linker_looks_at_rows():
    topology, truth = truth_of("bin5", diagonal=2.0)
    codes = sample_codes(truth, 2000, 1)
    literal = LatentTree(2, topology, "hierarchical", window=None).fit(codes)
    window = LatentTree(2, topology, "hierarchical", window=2).fit(codes)
    test = sample_codes(truth, 2000, 2)
    assert divergence(truth, window.network_, test) < divergence(truth, literal.network_, test)
    with pytest.raises(ArgumentError, match="window=None"):
        LatentTree(2, topology, "hierarchical", window=None).fit(codes, sample_weight=np.ones(2000))


# -- EM -------------------------------------------------------------------------------------------


def test_restarts_keep_the_best_and_tell_of_all():
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 400, 1)
    model = LatentTree(2, topology, "em", n_restarts=6).fit(codes)
    runs = model.diagnostics_["restarts"]
    assert len(runs) == 6
    assert len({run["objective"] for run in runs}) > 1
    assert model.diagnostics_["objective"] == max(run["objective"] for run in runs)
    assert model.n_iter_ == sum(run["n_steps"] for run in runs)
    # The last step brought the tables beyond where they were judged.
    assert model.score(codes) * 400 >= model.diagnostics_["objective"] - 1e-6


@pytest.mark.parametrize("learn", ["em", "auto"])
def test_the_trace_never_falls(learn):
    topology, truth = truth_of("t33")
    model = LatentTree(3, topology, learn).fit(sample_codes(truth, 500, 1))
    trace = np.array(model.diagnostics_["trace"])
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


@pytest.mark.parametrize("stopping", ["gain", "relative"])
def test_a_smaller_tolerance_raises_the_likelihood(stopping):
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 3000, 1)
    objectives = []
    for tol in (1e-2, 1e-4, 1e-6):
        model = LatentTree(2, topology, "em", tol=tol, stopping=stopping, n_restarts=1).fit(codes)
        trace = model.diagnostics_["trace"]
        # The last step gains less than the tolerance, and the one before it more.
        scale = 3000 if stopping == "gain" else abs(trace[-1])
        assert np.diff(trace)[-1] <= tol * scale * 1.01
        assert np.diff(trace)[-2] > tol * scale * 0.99
        objectives.append(trace[-1])
    assert objectives == sorted(set(objectives))


def test_by_default_em_stops_at_a_gain_in_proportion_to_the_parameters():
    topology, truth = truth_of("bin4")
    model = LatentTree(2, topology, "em", n_restarts=1).fit(sample_codes(truth, 3000, 1))
    gains = np.diff(model.diagnostics_["trace"])
    assert gains[-1] < 0.005 * model.n_parameters_ < gains[-2]


@pytest.mark.parametrize("make", [LatentTree, LatentClass])
def test_a_tolerance_holds_for_the_default_learner_too(make):
    _, truth = truth_of("bin4")
    codes = sample_codes(truth, 500, 1)
    models = [make(n_states=2, tol=tol).fit(codes) for tol in (1e-1, "auto", 1e-7)]
    assert models[0].n_iter_ <= models[1].n_iter_ < models[2].n_iter_
    with pytest.raises(ArgumentError, match='it goes with learn="em"'):
        make(n_states=2, stopping="relative").fit(codes)


@pytest.mark.parametrize("learn", ["auto", "em"])
def test_too_few_steps_are_reported(learn):
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 300, 1)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = LatentTree(2, topology, learn, max_iter=2, n_restarts=1, tol=1e-9).fit(codes)
    assert not model.diagnostics_["converged"]
    assert model.n_iter_ <= 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LatentTree(2, topology, learn).fit(codes).diagnostics_["converged"]


@pytest.mark.parametrize("learn", ["auto", "em"])
def test_rows_and_patterns_lead_to_the_same_tables(learn):
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 500, 1)
    codes[np.random.default_rng(0).random(codes.shape) < 0.1] = -1
    compressed = LatentTree(2, topology, learn).fit(codes)
    plain = LatentTree(2, topology, learn, compress=False).fit(codes)
    assert plain.tables_.values == pytest.approx(compressed.tables_.values, rel=1e-6)
    assert plain.n_iter_ == compressed.n_iter_


@pytest.mark.parametrize("learn", ["auto", "em", "online-em"])
def test_pseudo_counts_draw_tables_towards_the_marginals(learn):
    topology, truth = truth_of("bin4", diagonal=3.0)
    codes = sample_codes(truth, 1000, 1)
    gaps = []
    for pseudo_counts in (0.0, 300.0, 100_000.0):
        model = LatentTree(2, topology, learn, pseudo_counts=pseudo_counts).fit(codes)
        rows = model.tables_.table(0)
        gaps.append(np.abs(rows[0] - rows[1]).sum())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.1


def test_without_pseudo_counts_em_is_maximum_likelihood():
    """At its fixed point the marginals of the columns are those of the data."""
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 1000, 1)
    model = LatentTree(2, topology, "em", tol=1e-10, n_restarts=1, max_iter=5000).fit(codes)
    for leaf, (name, table) in enumerate(model.marginals({"x0": [None]}).items()):
        assert name == f"x{leaf}"
        assert table[0] == pytest.approx(np.bincount(codes[:, leaf]) / 1000, abs=1e-4)


def test_online_em_improves_and_repeats_itself():
    topology, truth = truth_of("bin5", diagonal=2.0)
    codes = sample_codes(truth, 2000, 1)
    model = LatentTree(2, topology, "online-em").fit(codes)
    trace = model.diagnostics_["trace"]
    assert trace[-1] > trace[0] + 100
    assert len(trace) == 20
    short = LatentTree(2, topology, "online-em", max_iter=2).fit(codes)
    assert len(short.diagnostics_["trace"]) == 2
    again = LatentTree(2, topology, "online-em").fit(codes)
    assert np.array_equal(again.tables_.values, model.tables_.values)
    other = LatentTree(2, topology, "online-em", random_state=1).fit(codes)
    assert not np.array_equal(other.tables_.values, model.tables_.values)


@pytest.mark.parametrize("learn", TABLE_LEARNERS)
def test_tables_come_near_the_truth_with_many_rows(learn):
    topology, truth = truth_of("bin4", diagonal=2.0)
    codes, test = sample_codes(truth, 20_000, 1), sample_codes(truth, 5000, 2)
    model = LatentTree(2, topology, learn, tol=1e-6).fit(codes)
    independent = divergence(truth, LatentTree(1, topology).fit(codes).network_, test)
    gap = divergence(truth, model.network_, test)
    # Steps of online EM become short before they have come all the way.
    assert gap < independent * (0.2 if learn == "online-em" else 0.02)


def test_the_default_is_at_least_as_good_as_em_with_restarts():
    topology, truth = truth_of("bin5")
    codes, test = sample_codes(truth, 2000, 1), sample_codes(truth, 10_000, 2)
    default = LatentTree(2, topology).fit(codes)
    by_em = LatentTree(2, topology, "em").fit(codes)
    ours, theirs = (divergence(truth, model.network_, test) for model in (default, by_em))
    assert ours < theirs
    assert default.n_iter_ < by_em.n_iter_ / 3


@pytest.mark.parametrize("learn", [*TABLE_LEARNERS, "tensor"])
def test_a_mixture_comes_back_up_to_the_numbering_of_states(learn):
    topology, truth = truth_of("star6", cards=4, n_states=3, diagonal=4.0)
    model = LatentClass(3, learn, tol=1e-7).fit(sample_codes(truth, 20_000, 1))
    gaps = [
        max(
            np.abs(model.tables_.table(leaf)[list(order)] - truth.table(leaf)).max()
            for leaf in range(6)
        )
        for order in permutations(range(3))
    ]
    assert min(gaps) < 0.06
    assert topology.hidden == model.topology_.hidden


def test_a_tensor_of_three_views_gives_classes_of_many_columns():
    """Binary columns in groups; more rows bring it nearer; other trees have no such way."""
    topology, truth = truth_of("star9", cards=2, n_states=3, diagonal=3.0)
    test = sample_codes(truth, 5000, 2)
    gaps = []
    for n_rows in (2000, 200_000):
        model = LatentClass(3, "tensor").fit(sample_codes(truth, n_rows, 1))
        gaps.append(divergence(truth, model.network_, test))
        views = model.diagnostics_["views"]
        assert [len(view) for view in views] == [2, 2, 2]
        assert len({name for view in views for name in view}) == 6
    assert gaps[1] < min(gaps[0] / 3, 0.005)
    with pytest.raises(ArgumentError, match="learn='tensor'"):
        LatentTree(3, topology, "tensor").fit(test)


@pytest.mark.parametrize("learn", [*LEARNERS])
def test_the_same_seed_gives_the_same_model(learn):
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 300, 1)
    first, second = (LatentTree(2, topology, learn).fit(codes) for _ in range(2))
    assert np.array_equal(first.score_samples(codes), second.score_samples(codes))


def test_generators_and_none_are_seeds_too():
    topology, truth = truth_of("bin4")
    codes = sample_codes(truth, 200, 1)
    scores = [
        LatentTree(2, topology, "em", n_restarts=1, random_state=state).fit(codes).score(codes)
        for state in (np.random.default_rng(3), np.random.default_rng(3), np.random.RandomState(3))
    ]
    assert scores[0] == scores[1]
    assert np.isfinite(scores[2])
    LatentTree(2, topology, "em", n_restarts=1, random_state=None).fit(codes)


# -- observed nodes inside the tree ---------------------------------------------------------------


@pytest.mark.parametrize("learn", LEARNERS)
def test_an_observed_inner_node_is_repeated_exactly(learn):
    newick = "((a,b,c)m,(d,e),f);"
    names = list("abcdefm")
    tree = Topology.parse(newick, names).rooted(names)
    truth = random_tables(tree, 3, 2, 0, diagonal=2.0)
    codes = sample_codes(truth, 3000, 1)
    frame = as_frame(codes, names)
    model = LatentTree(2, newick, learn).fit(frame)
    assert "m" in model.topology_.observed
    copy = next(node for node in tree.hidden if tree.copy_of[node] >= 0)
    if model.tables_ is not None:
        assert np.array_equal(model.tables_.table(6), np.eye(3))
        assert model.node_states_[model.tree_.names[copy]] == 3
    # Given m, what hangs below it does not see the rest.
    evidence = {"m": frame["m"][0], "a": frame["a"][0]}
    with_more = model.query("b", {**evidence, "f": frame["f"][0], "d": frame["d"][0]})
    assert list(with_more.values()) == pytest.approx(
        list(model.query("b", evidence).values()), abs=0.02
    )
    assert divergence(truth, model.network_, sample_codes(truth, 3000, 2)) < 0.05


@pytest.mark.parametrize("learn", LEARNERS)
def test_a_tree_without_hidden_nodes_is_its_conditional_tables(learn):
    """All ways meet: the tables of a chow-liu tree are shares of the data (but for pseudo-counts)."""
    _, truth = truth_of("cat16", cards=3)
    codes = sample_codes(truth, 5000, 1)
    reference = ChowLiuTree(pseudo_counts=0.0).fit(codes)
    model = LatentTree("auto", "chow-liu", learn, n_restarts=1).fit(codes)
    assert model.topology_.hidden == ()
    assert model.topology_ == reference.topology_
    assert model.score(codes) == pytest.approx(reference.score(codes), abs=0.03)


def test_a_chow_liu_tree_of_the_right_tables_is_best_among_trees():
    """Its likelihood is that of its tables, edge by edge."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 2000)
    codes = np.empty((2000, 4), dtype=int)
    codes[:, 0] = first
    for place, above in ((1, 0), (2, 1), (3, 1)):
        noise = rng.integers(0, 3, 2000)
        codes[:, place] = np.where(rng.random(2000) < 0.7, codes[:, above], noise)
    model = ChowLiuTree(pseudo_counts=0.0).fit(codes)
    assert {frozenset(edge) for edge in model.topology_.edges} == {
        frozenset(("x0", "x1")),
        frozenset(("x1", "x2")),
        frozenset(("x1", "x3")),
    }
    joint = {}
    for edge in model.topology_.edges:
        i, j = (int(name[1:]) for name in edge)
        counts = np.zeros((3, 3))
        np.add.at(counts, (codes[:, i], codes[:, j]), 1)
        joint[i, j] = counts / 2000
    middle = np.bincount(codes[:, 1]) / 2000
    for row in all_rows([3, 3, 3, 3])[::7]:
        value = np.prod([table[row[i], row[j]] for (i, j), table in joint.items()])
        value /= middle[row[1]] ** 2
        assert model.score_samples(row[None]) == pytest.approx([np.log(value)], rel=1e-3)


# -- progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", LEARNERS)
def test_progress_is_reported_in_fractions_and_words(learn):
    topology, truth = truth_of("bin4")
    reports = []
    model = LatentTree(2, topology, learn, progress=lambda done, text: reports.append((done, text)))
    model.fit(sample_codes(truth, 200, 1))
    assert reports
    assert all(0 <= done <= 1 and text for done, text in reports)


def test_candidates_are_reported_too():
    reports = []
    LatentTree(progress=lambda *report: reports.append(report)).fit(
        random_tree_model(5, random_state=0).sample(200, random_state=1)
    )
    trials = [text for _, text in reports if text.startswith("trying")]
    assert trials[0].startswith("trying refined-joining, hidden-chow-liu")
    assert any("trying 4 states" in text for _, text in reports)
