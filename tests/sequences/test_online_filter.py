"""Filtering of one observation at a time."""

import copy
import pickle

import numpy as np
import pytest

import tacit
from tacit.errors import CategoryError, DataError, NotAvailableError, TacitError


def sequences_of(name, columns=1, seed=0):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 2, (30, 12)).cumsum(axis=1) % 3
    if name == "categorical":
        return [["abc"[state] for state in row] for row in states]
    if columns > 1:
        states = states[..., None] + np.arange(columns)
    if name == "poisson":
        return list(rng.poisson(1.0 + 4.0 * states).astype(float))
    return list(2.0 * states + rng.normal(size=states.shape))


KINDS = [("categorical", 1), ("gaussian", 1), ("gaussian", 3), ("poisson", 1), ("poisson", 2)]
MODELS = {
    (name, columns): tacit.HMM(3, emissions=name, max_iter=15).fit(sequences_of(name, columns))
    for name, columns in KINDS
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_updates_give_what_filtering_whole_sequences_gives(kind, gaps):
    model = MODELS[kind]
    sequence = list(sequences_of(*kind, seed=1)[0])
    if gaps:
        sequence[0] = sequence[4] = None if kind[0] == "categorical" else np.full(kind[1], np.nan)
        if kind[1] > 1:
            sequence[7] = np.array([np.nan, *sequence[7][1:]])
        elif kind[0] != "categorical":
            sequence = [float(np.squeeze(x)) for x in sequence]
    whole = sequence if kind[0] == "categorical" else np.array(sequence)
    online = model.filter()
    assert online.state == pytest.approx(model.initial_)
    states = [online.update(x) for x in sequence]
    assert np.array(states) == pytest.approx(model.filter([whole])[0], abs=1e-12)
    assert online.log_likelihood == pytest.approx(model.score_samples([whole])[0], abs=1e-10)
    before = model.score_samples([whole[:-1]])[0]
    assert online.last_log_likelihood == pytest.approx(online.log_likelihood - before, abs=1e-10)
    assert online.n_updates == len(sequence)
    for steps in (1, 3):
        expected = model.predict_next_states([whole], steps=steps)[0]
        assert online.next_states(steps) == pytest.approx(expected, abs=1e-12)
        if kind[0] == "categorical":
            expected = model.predict_next_proba([whole], steps=steps)[0]
            assert online.predict_next_proba(steps) == pytest.approx(expected, abs=1e-12)
        else:
            expected = model.expectation([whole], steps=steps)[0]
            assert online.expectation(steps) == pytest.approx(expected, abs=1e-12)
            for q in (0.5, [0.1, 0.9]):
                expected = model.quantiles([whole], q, steps=steps)[0]
                assert online.quantiles(q, steps) == pytest.approx(expected, abs=1e-9)
    assert online.reset().state == pytest.approx(model.initial_)
    assert (online.log_likelihood, online.n_updates) == (0.0, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "copied",
    [lambda x: x.copy(), copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
)
def test_copies_go_on_by_themselves(kind, copied):
    online, sequence = MODELS[kind].filter(), sequences_of(*kind, seed=2)[0]
    for x in sequence[:5]:
        online.update(x)
    twin = copied(online)
    state, log_likelihood = online.state.copy(), online.log_likelihood
    for x in sequence[5:]:
        twin.update(x)
    assert np.array_equal(online.state, state)
    assert online.log_likelihood == log_likelihood
    for x in sequence[5:]:
        online.update(x)
    assert np.array_equal(online.state, twin.state)
    assert online.log_likelihood == twin.log_likelihood


def test_unknown_symbols_are_what_the_model_says():
    model = MODELS["categorical", 1]
    with pytest.raises(CategoryError, match="'z'"):
        model.filter().update("z")
    lenient = tacit.HMM(3, max_iter=15, unknown="missing").fit(sequences_of("categorical"))
    online = lenient.filter()
    assert online.update("z") == pytest.approx(lenient.initial_)
    assert online.update(float("nan")) == pytest.approx(lenient.initial_ @ lenient.transitions_)
    assert online.log_likelihood == 0.0


@pytest.mark.parametrize(
    ("kind", "x"),
    [
        (("categorical", 1), []),
        (("categorical", 1), ["a"]),
        (("gaussian", 1), "a"),
        (("gaussian", 1), [1.0, 2.0]),
        (("gaussian", 1), np.inf),
        (("gaussian", 3), 1.0),
        (("gaussian", 3), [1.0, np.inf, 2.0]),
        (("gaussian", 3), [1.0, 2.0]),
        (("poisson", 1), -1.0),
        (("poisson", 1), 0.5),
        (("poisson", 2), [1.0, np.inf]),
        (("poisson", 2), [np.nan, 0.5]),
    ],
)
def test_invalid_observations_are_refused_and_change_nothing(kind, x):
    online = MODELS[kind].filter()
    online.update(sequences_of(*kind)[0][0])
    state, log_likelihood = online.state, online.log_likelihood
    with pytest.raises(TacitError):
        online.update(x)
    assert online.state is state
    assert (online.log_likelihood, online.n_updates) == (log_likelihood, 1)


def test_an_impossible_symbol_leaves_no_state():
    model = tacit.HMM(1, pseudo_counts=0).partial_fit(
        [list("ab"), list("aab"), list("bab")], symbols="abc"
    )
    online = model.filter()
    assert online.update("c").tolist() == [0.0]
    assert online.log_likelihood == -np.inf
    assert online.update("a").tolist() == [0.0]
    assert online.log_likelihood == model.score_samples([list("ca")])[0] == -np.inf


def test_what_a_kind_cannot_answer_is_said():
    with pytest.raises(NotAvailableError, match="expectation"):
        MODELS["poisson", 1].filter().predict_next_proba()
    for query in ("expectation", "quantiles"):
        with pytest.raises(NotAvailableError, match="predict_next_proba"):
            getattr(MODELS["categorical", 1].filter(), query)()
    operators = tacit.HMM(2, "spectral").fit(sequences_of("categorical"))
    with pytest.raises(NotAvailableError, match="hidden states"):
        operators.filter()
    with pytest.raises(DataError):
        MODELS["gaussian", 3].filter().update([[1.0, 2.0, 3.0]])
