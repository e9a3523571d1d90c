"""Junction trees from features that users give: exact moments with more joint states than categories."""

import itertools

import numpy as np
import pytest

import tacit
from tacit.errors import ArgumentError
from tacit.junction.learn.fit import junction_of, settings_of
from tacit.junction.learn.given_features import junction_from_features
from tacit.junction.learn.learners import JunctionJob
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.toy.junctions import random_factorial_model, random_hmm_model

MANY = 1e16  # rows that each probability stands for


def joint(side):
    out = np.ones((len(next(iter(side.values()))), 1))
    for values in side.values():
        column = np.eye(2)[values]
        out = (out[:, :, None] * column[:, None, :]).reshape(len(out), -1)
    return out


def second_order(seed):
    return random_hmm_model(8, order=2, n_states=2, n_categories=2, random_state=seed)


def two_chains(seed):
    return random_factorial_model(6, n_states=2, n_categories=2, random_state=seed)


def population(toy):
    """The graph, all configurations, and their probabilities."""
    every = np.array(list(itertools.product(range(2), repeat=len(toy.names))))
    graph = [(above, name) for name, parents in toy.parents.items() for above in parents]
    rows = {name: every[:, at] for at, name in enumerate(toy.names)}
    return graph, rows, np.exp(toy.log_prob(every))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("make", [second_order, two_chains])
@pytest.mark.parametrize("features", ["joint", joint])
def test_exact_moments_of_features_give_the_exact_distribution(make, features, seed):
    graph, rows, probabilities = population(make(seed))
    model = tacit.LatentJunctionTree(graph, 2, "spectral", features=features)
    model.fit(rows, sample_weight=MANY * probabilities)
    # Random chains have weak separators, whose singular values are divided by.
    assert np.exp(model.score_samples(rows)) == pytest.approx(probabilities, abs=1e-8)
    single = tacit.LatentJunctionTree(graph, 2, "spectral", features=1)
    single.fit(rows, sample_weight=MANY * probabilities)
    assert np.abs(np.exp(single.score_samples(rows)) - probabilities).sum() > 1e-3


def test_the_printed_form_has_no_whitening_and_is_exact():
    graph, rows, probabilities = population(second_order(1))
    model = tacit.LatentJunctionTree(graph, 2, "spectral", features="joint")
    table = model._read(rows, MANY * probabilities)
    junction, ties = junction_of(
        model._latent_graph(table.schema),
        table.schema,
        dict.fromkeys([f"h{t}" for t in range(8)], 2),
    )
    job = JunctionJob(table, junction, ties, None, None, settings_of(model), None)
    printed = junction_from_features(job, printed=True).network
    values = np.exp(log_prob(printed, Evidence(table.codes), negative="nan").values)
    assert values == pytest.approx(probabilities, abs=1e-8)


def test_built_in_features_given_as_a_function_or_as_arrays_are_the_same():
    toy = second_order(3)
    graph, _, _ = population(toy)
    codes = toy.sample(4000, random_state=0)
    rows = {name: codes[:, at] for at, name in enumerate(toy.names)}

    def concatenated(side):
        return np.concatenate([np.eye(2)[values] for values in side.values()], axis=1)

    def scores(features):
        model = tacit.LatentJunctionTree(graph, 2, "spectral", features=features).fit(rows)
        return model.score_samples(rows)

    for name, function in (("joint", joint), ("concatenated", concatenated)):
        assert scores(function) == pytest.approx(scores(name), abs=1e-10)
    assert scores(np.eye(2)) == pytest.approx(scores("concatenated"), abs=1e-10)


def test_chains_take_features_too_but_not_homogeneous_ones():
    toy = second_order(4)
    codes = toy.sample(500, random_state=0)
    model = tacit.HigherOrderHMM(2, 2, learn="spectral", features="joint").fit(codes)
    assert np.isfinite(model.score(codes))
    with pytest.raises(ArgumentError, match="homogeneous=True"):
        tacit.HigherOrderHMM(2, 2, learn="spectral", features="joint", homogeneous=True).fit(codes)
    with pytest.raises(ArgumentError, match='go with learn="spectral"'):
        tacit.FactorialHMM(2, 2, features="joint").fit(codes)


def test_a_plan_and_a_file_do_not_need_the_function(tmp_path):
    toy = second_order(5)
    graph, _, _ = population(toy)
    codes = toy.sample(500, random_state=0)
    rows = {name: codes[:, at] for at, name in enumerate(toy.names)}
    for features in (joint, {"x0": np.eye(2)}):
        model = tacit.LatentJunctionTree(graph, 2, "spectral", features=features)
        assert model.plan(rows).treewidth == 2
        model.fit(rows).save(tmp_path / "m.tacit")
        loaded = tacit.load(tmp_path / "m.tacit")
        assert loaded.score_samples(rows) == pytest.approx(model.score_samples(rows), abs=0)
        assert loaded.features == (4 if callable(features) else {"x0": [[1, 0], [0, 1]]})
