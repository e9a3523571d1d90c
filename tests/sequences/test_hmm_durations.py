"""Hidden Markov models with explicit durations (hidden semi-Markov models)."""

from itertools import pairwise

import numpy as np
import pytest

import tacit
from oracles.segment_data import emitted, geometric, paths_of, regular, two_lengths
from oracles.segments import expected_by_segments, most_likely_segments, path_weights
from tacit.errors import ArgumentError, NotAvailableError
from tacit.sequences.data.number_sequences import read_series
from tacit.sequences.emissions import EMISSIONS
from tacit.sequences.emissions.gaussian_density import GaussianRows
from tacit.sequences.learn.em.emission_chain import ChainData, start_chain
from tacit.sequences.learn.em.segments import em_step
from tacit.sequences.learn.segments import (
    ages_for,
    likeliest_strength,
    run_lengths,
    segment_prior,
    segment_shape,
)
from tacit.sequences.model.durations import (
    DurationTable,
    NegativeBinomialDurations,
    SegmentCounts,
    duration_probabilities,
    mean_durations,
)
from tacit.sequences.model.shapes import Shape


def fitted(durations, kind, *, n=25, length=200, draw=two_lengths, **arguments):
    data = emitted(paths_of(draw, n, length), kind)
    return tacit.HMM(3, emissions=kind, durations=durations, **arguments).fit(data), data


@pytest.fixture(scope="module")
def gaussian():
    return fitted("table", "gaussian")


@pytest.mark.parametrize("kind", EMISSIONS)
@pytest.mark.parametrize("durations", ["table", "negative-binomial"])
def test_every_emission_has_durations_and_answers_as_enumeration_does(kind, durations):
    model, data = fitted(durations, kind, n=6, length=60, max_iter=8, max_duration=4)
    assert (np.diag(model.transitions_) == 0).all()
    assert model.durations_.hazards.shape == (3, 4)
    chain, emission = model.parameters_, EMISSIONS[kind]
    few = [data[0][:5], data[1][:0], data[2][:4]]
    sequences = model._read(few)
    evidence = emission.evidence(chain, sequences.positions, sequences.ends)
    tables = chain.initial, chain.transitions, model.durations_.hazards.T
    scores, posteriors = model.score_samples(few), model.posterior(few)
    paths, values = model.predict(few, return_log_probs=True)
    after, later = model.predict_next_states(few), model.predict_next_states(few, steps=3)
    changes, points = model.change_proba(few), model.change_points(few)
    draws = model.sample_states(few, 1000, random_state=0)
    remaining = model.remaining_duration(few, most=5)
    assert np.isnan(remaining[1]).all()
    for s, (first, stop) in enumerate(pairwise(sequences.ends)):
        if first == stop:
            assert scores[s] == 0
            assert after[s] == pytest.approx(chain.initial)
            continue
        likelihoods = evidence.likelihoods[first:stop]
        scale = evidence.log_scales[first:stop].sum()
        total, states, *_ = expected_by_segments(*tables, likelihoods)
        assert scores[s] == pytest.approx(np.log(total) + scale)
        assert posteriors[s] == pytest.approx(states, abs=1e-9)
        best, value = most_likely_segments(*tables, likelihoods)
        assert values[s] == pytest.approx(np.log(value) + scale)
        assert np.array_equal(paths[s], best)
        longer = np.vstack([likelihoods, np.ones(3)])
        assert after[s] == pytest.approx(expected_by_segments(*tables, longer)[1][-1], abs=1e-9)
        every, weights = path_weights(*tables, likelihoods)
        changing = weights @ (every[:, 1:] != every[:, :-1]) / weights.sum()
        assert changes[s] == pytest.approx([0.0, *changing], abs=1e-9)
        places = 1 + np.flatnonzero(np.diff(best))
        assert [p.position for p in points[s]] == places.tolist()
        assert [p.probability for p in points[s]] == pytest.approx(changes[s][places])
        modes = every[np.argsort(weights)[-3:]]
        shown = [(draws[s] == mode).all(axis=1).mean() for mode in modes]
        assert shown == pytest.approx(np.sort(weights)[-3:] / weights.sum(), abs=0.06)
        online = model.filter()
        for x in few[s]:
            state = online.update(x)
        assert state == pytest.approx(states[-1], abs=1e-9)
        assert online.log_likelihood == pytest.approx(scores[s])
        assert online.next_states() == pytest.approx(after[s], abs=1e-9)
        assert online.next_states(3) == pytest.approx(later[s], abs=1e-9)
        assert online.elapsed().sum(axis=1) == pytest.approx(state)
        assert online.remaining_duration(5) == pytest.approx(remaining[s])


def test_columns_of_several_kinds_have_durations():
    paths = paths_of(two_lengths, 20, 100)
    frame = {
        "id": np.repeat(np.arange(20), 100),
        "word": np.concatenate(emitted(paths, "categorical")),
        "level": np.concatenate(emitted(paths, "gaussian")),
    }
    kinds = {"word": "categorical", "level": "gaussian"}
    model = tacit.HMM(3, emissions=kinds, durations="table").fit(frame)
    plain = tacit.HMM(3, emissions=kinds).fit(frame)
    assert model.score(frame) > plain.score(frame) + 1
    found = np.array(model.predict(frame))
    orders = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    assert max((order[found] == paths).mean() for order in orders) > 0.97


@pytest.mark.parametrize("kind", ["categorical", "gaussian", "poisson"])
@pytest.mark.parametrize("draw", [two_lengths, regular])
def test_durations_far_from_geometric_predict_better_than_a_plain_model(kind, draw):
    train = emitted(paths_of(draw, 40, 200, seed=1), kind, 1)
    test = emitted(paths_of(draw, 40, 200, seed=2), kind, 2)
    plain = tacit.HMM(3, emissions=kind).fit(train)
    name = "table" if draw is two_lengths else "negative-binomial"
    model = tacit.HMM(3, emissions=kind, durations=name).fit(train)
    gains = model.score_samples(test) - plain.score_samples(test)
    assert gains.mean() > 4 * gains.std() / np.sqrt(len(gains))


def test_geometric_durations_cost_nothing():
    train = emitted(paths_of(geometric, 40, 200, seed=1), "gaussian", 1)
    test = emitted(paths_of(geometric, 40, 200, seed=2), "gaussian", 2)
    plain = tacit.HMM(3).fit(train).score_samples(test)
    for name in ("table", "negative-binomial"):
        losses = plain - tacit.HMM(3, durations=name).fit(train).score_samples(test)
        assert losses.mean() / 200 < 0.002  # nats per position


def test_durations_are_recovered(gaussian):
    model, _ = gaussian
    states = np.argsort(model.means_[:, 0])
    table = duration_probabilities(model.durations_.hazards, 30)[states]
    for state in range(3):
        either = table[state, [2 + state, 14 + state]]
        assert either == pytest.approx([0.5, 0.5], abs=0.1)
    regular_ones, _ = fitted("negative-binomial", "gaussian", draw=regular)
    states = np.argsort(regular_ones.means_[:, 0])
    means = mean_durations(regular_ones.durations_.hazards)[states]
    assert means == pytest.approx([6, 10, 14], rel=0.06)
    assert (regular_ones.durations_.sizes > 5).all()


def gaussian_data(n=12, length=80):
    data = read_series(emitted(paths_of(two_lengths, n, length), "gaussian"))
    data.values[5:9] = np.nan
    shape = segment_shape(Shape.full(3))
    return ChainData(GaussianRows(data.values, "full", 1.0), data.ends, shape)


@pytest.mark.parametrize("name", ["table", "negative-binomial"])
@pytest.mark.parametrize("pseudo_counts", [None, 0.0])
def test_steps_of_em_never_go_downhill_and_durations_are_the_best(name, pseudo_counts):
    data, rng = gaussian_data(), np.random.default_rng(0)
    hazards = np.array([0.1, 0.2, 0.3])
    durations = NegativeBinomialDurations(np.ones(3), 1 / hazards - 1, 9)
    if name == "table":
        durations = DurationTable(durations.hazards)
    prior = segment_prior(hazards, 9, 1.0 if pseudo_counts is None else pseudo_counts)
    posterior = rng.dirichlet(np.ones(3), data.n_positions)
    plain = start_chain(data, posterior)
    start = type(plain)(plain.initial, plain.transitions, plain.density, data.shape, durations)
    step = em_step(data, start, prior, pseudo_counts)
    values, objectives = start.flat, []
    for _ in range(60):
        objective, values, masses = step(values)
        objectives.append(objective)
        assert masses.shape == values.shape
    assert min(np.diff(objectives)) > -1e-8
    best = step(values)[0]
    n_durations = len(start.durations.flat)
    for place in range(len(values) - n_durations, len(values), 5):
        for factor in (0.9, 1.1):
            other = values.copy()
            other[place] *= factor
            if name == "table":  # hazards and what they lack to one
                half = n_durations // 2
                first = len(values) - n_durations
                partner = first + (place - first + half) % n_durations
                other[partner] = 1 - other[place]
                if other[partner] < 0:
                    continue
            assert step(other)[0] < best + 1e-3


def test_the_last_segment_is_censored():
    # each sequence ends within its first segment: hardly anything is known but that segments are long
    rng = np.random.default_rng(0)
    paths = np.repeat(rng.integers(2, size=60)[:, None], 12, axis=1)
    data = list(4.0 * paths + rng.normal(size=paths.shape))
    for name in ("table", "negative-binomial"):
        model = tacit.HMM(2, durations=name).fit(data)
        assert (mean_durations(model.durations_.hazards) > 12).all()


def test_left_to_right_chains_last_to_the_end():
    rng = np.random.default_rng(0)
    data = []
    for _ in range(60):
        path = np.repeat([0, 1, 2], [*rng.integers(5, 8, size=2), 10])
        data.append(3.0 * path + rng.normal(size=len(path)))
    model = tacit.HMM(3, durations="table", transitions="linear").fit(data)
    assert model.transitions_.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    table = duration_probabilities(model.durations_.hazards, 8)
    assert table[:2, 4:7].sum(axis=1) == pytest.approx(1, abs=0.15)
    assert model.means_[:, 0] == pytest.approx([0, 3, 6], abs=0.3)
    assert "to the end" in str(model.summary())
    path = model.predict(data[0])
    assert (np.diff(path) >= 0).all()


def test_known_states_and_tied_states_go_with_durations():
    paths = paths_of(two_lengths, 12, 100)
    data = emitted(paths, "gaussian")
    known = np.where(np.arange(100) % 7 == 0, (paths + 1) % 3, -1)  # numbers of their own
    model = tacit.HMM(3, durations="table").fit(data, states=list(known))
    assert model.means_[:, 0] == pytest.approx([3.4, 0, 1.7], abs=0.3)
    tied = tacit.HMM(3, durations="negative-binomial", tied=[[0, 2]]).fit(data)
    assert tied.means_[0] == pytest.approx(tied.means_[2])


def test_forecasts_know_how_long_a_state_has_lasted():
    rng = np.random.default_rng(0)
    paths = np.tile(np.repeat([0, 1], [6, 4]), 20)[None].repeat(20, axis=0)
    paths = np.array([np.roll(path, -shift) for path, shift in zip(paths, range(20), strict=True)])
    model = tacit.HMM(2, durations="table").fit(list(3.0 * paths + rng.normal(size=paths.shape)))
    low = int(model.means_[:, 0].argmin())
    before = [3.0] * 4  # then the lower state lasts six positions
    stays = [model.predict_next_states(before + [0.0] * n)[low] for n in (1, 3, 5, 6)]
    assert min(stays[:3]) > 0.8
    assert stays[3] < 0.2
    assert model.predict_next_states(before + [0.0] * 3, steps=4)[low] < 0.2
    draws = model.sample(500, 2, given=before + [0.0] * 5, random_state=0)
    assert (draws < 1.5).mean(axis=0) == pytest.approx([0.93, 0.07], abs=0.1)
    assert model.expectation(before + [0.0] * 6) > 2


def test_the_remaining_duration_depends_on_how_long_a_state_has_lasted():
    rng = np.random.default_rng(0)
    paths = np.tile(np.repeat([0, 1], [6, 4]), 20)[None].repeat(20, axis=0)
    paths = np.array([np.roll(path, -shift) for path, shift in zip(paths, range(20), strict=True)])
    data = list(3.0 * paths + rng.normal(size=paths.shape))
    model = tacit.HMM(2, durations="table").fit(data)
    before = [3.0] * 4  # then the lower state lasts six positions
    for n in range(1, 7):
        remaining = model.remaining_duration(before + [0.0] * n, most=8)
        assert int(remaining.argmax()) == 6 - n
        assert remaining.max() > 0.7
    plain = tacit.HMM(2).fit(data)
    rows = plain.remaining_duration([before + [0.0] * n for n in (1, 5)], most=8)
    stay = plain.transitions_[int(plain.means_[:, 0].argmin())].max()
    geometric_ones = np.append((1 - stay) * stay ** np.arange(8), stay**8)
    assert rows == pytest.approx(np.array([geometric_ones, geometric_ones]), abs=0.01)
    online = plain.filter()
    assert np.isnan(online.remaining_duration()).all()
    with pytest.raises(NotAvailableError, match="explicit durations"):
        online.elapsed()
    with pytest.raises(ArgumentError, match="most"):
        plain.remaining_duration(data, most=0)


def test_draws_have_the_durations_of_the_model(gaussian):
    model, _ = gaussian
    draws = model.sample(300, 200, random_state=0)
    again = tacit.HMM(3, durations="table").fit(list(draws))
    hazards = [each.durations_.hazards for each in (model, again)]
    order = [np.argsort(each.means_[:, 0]) for each in (model, again)]
    means = [mean_durations(h)[o] for h, o in zip(hazards, order, strict=True)]
    assert means[1] == pytest.approx(means[0], rel=0.1)


@pytest.mark.parametrize("kind", ["categorical", "gaussian"])
@pytest.mark.parametrize("durations", ["table", "negative-binomial"])
def test_a_file_holds_the_durations(tmp_path, kind, durations):
    model, data = fitted(durations, kind, n=6, length=60, max_iter=5)
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert again.durations == durations
    assert np.array_equal(again.score_samples(data), model.score_samples(data))
    assert np.array_equal(again.durations_.hazards, model.durations_.hazards)
    assert str(again.summary()) == str(model.summary())


def test_parameters_are_counted_and_shown(gaussian):
    model, data = gaussian
    n_ages = model.diagnostics_["durations"]["max_duration"]
    assert model.n_parameters_ == 2 + 3 * 1 + 3 * 2 + 3 * n_ages
    assert model.bic(data) > model.aic(data)
    assert "Durations (table)" in str(model.summary())
    assert tacit.HMM(3).fit(data).durations_ is None
    assert tacit.HMM(1, durations="table").fit(data).durations_ is None


def test_the_number_of_states_is_selected_with_durations():
    data = emitted(paths_of(two_lengths, 30, 150), "gaussian")
    assert tacit.HMM(durations="table", max_duration=20).fit(data).n_states_ == 3


def test_chunks_are_learnt_from(gaussian):
    model, data = gaussian
    parts = tacit.HMM(3, durations="table").partial_fit(data[:10]).partial_fit(data[10:])
    assert parts.durations_.hazards == pytest.approx(model.durations_.hazards, rel=1e-6)


def test_arguments_that_do_not_go_together_are_refused(gaussian):
    data = emitted(paths_of(two_lengths, 3, 30), "categorical")
    wrong = [
        {"durations": "uniform"},
        {"durations": "table", "learn": "spectral"},
        {"durations": "table", "learn": "online-em"},
        {"durations": "table", "stationary": True},
        {"durations": "table", "max_duration": 0},
        {"durations": "table", "max_duration": 10**9},
        {"durations": "table", "max_duration": "all"},
    ]
    for arguments in wrong:
        with pytest.raises(ArgumentError, match="duration"):
            tacit.HMM(3, **arguments).fit(data)
    model, _ = gaussian
    with pytest.raises(NotAvailableError, match="hmmlearn has no durations"):
        model.to_hmmlearn()
    symbols = tacit.HMM(2, durations="table", max_iter=3).fit(data)
    for ask in (lambda: symbols.operators_, lambda: symbols.values(data)):
        with pytest.raises(NotAvailableError, match="durations"):
            ask()


def test_segments_of_paths_are_counted_within_sequences():
    path = np.array([0, 0, 1, 1, 1, 2, 2])
    assert run_lengths(path, np.array([0, 4, 4, 7])).tolist() == [2, 2, 1, 2]
    assert run_lengths(path[:0], np.array([0, 0])).tolist() == []
    assert ages_for(np.array([3, 4, 90]), np.array([0, 97])) == 89
    assert ages_for(np.array([3, 4, 9000]), np.array([0, 9007])) == 500
    assert ages_for(np.zeros(0, np.int64), np.array([0])) == 2


def test_the_prior_of_a_table_is_as_strong_as_the_counts_say():
    rng = np.random.default_rng(0)
    mean = np.full((2, 40), 0.2)
    n = np.full(mean.shape, 400)
    same = rng.binomial(n, mean)
    spread = rng.binomial(n, rng.beta(0.4, 1.6, mean.shape))
    assert likeliest_strength(SegmentCounts(same, n - same), mean) >= 100
    assert likeliest_strength(SegmentCounts(spread, n - spread), mean) == 2.0
