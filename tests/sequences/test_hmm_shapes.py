"""Chains whose transitions are restricted, tied states, and states that are known in part."""

from itertools import pairwise, product

import numpy as np
import pytest

import tacit
from tacit.errors import ArgumentError, DataError
from tacit.sequences.emissions.categorical_density import CategoricalRows
from tacit.sequences.emissions.poisson import PoissonRows
from tacit.sequences.learn.em.emission_chain import ChainData, em_step, start_chain
from tacit.sequences.model.shapes import Shape

MASKS = {
    "left-to-right": [[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]],
    "linear": [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]],
    "cyclic": [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]],
    "banded": [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]],
}
GIVEN = np.array([[1, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)


def levels(n=80, seed=0, shape="linear", length=24):
    """Paths of three states, and what they emit: symbols, numbers and counts."""
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(n):
        if shape == "linear":
            path = np.sort(rng.integers(3, size=length))
            path[0] = 0
        else:
            path = (rng.integers(3) + np.cumsum(rng.random(length) < 0.3)) % 3
        paths.append(path)
    states = np.array(paths)
    symbols = np.where(rng.random(states.shape) < 0.8, states, rng.integers(3, size=states.shape))
    numbers = 3.0 * states + rng.normal(size=states.shape)
    counts = rng.poisson(np.array([2.0, 9.0, 25.0])[states]).astype(float)
    return states, {"categorical": symbols, "gaussian": numbers, "poisson": counts}


@pytest.mark.parametrize("name", MASKS)
def test_shapes_have_their_names(name):
    shape = Shape.of(name, 4)
    assert np.array_equal(shape.transitions, np.array(MASKS[name], dtype=bool))
    starts = [1, 0, 0, 0] if name in ("left-to-right", "linear") else [1, 1, 1, 1]
    assert shape.initial.astype(int).tolist() == starts
    assert shape.is_ordered


@pytest.mark.parametrize("emissions", ["categorical", "gaussian", "poisson"])
@pytest.mark.parametrize("shape", ["linear", "cyclic"])
def test_chains_of_a_shape_are_learnt_in_order(emissions, shape):
    states, data = levels(shape=shape)
    model = tacit.HMM(3, emissions=emissions, transitions=shape).fit(list(data[emissions]))
    excluded = ~Shape.of(shape, 3).transitions
    assert (model.transitions_[excluded] == 0).all()
    assert (model.transitions_[~excluded] > 0).all()
    paths = np.array(model.predict(list(data[emissions])))
    turns = [(paths + turn) % 3 == states for turn in range(3)]
    if shape == "linear":
        assert model.initial_.tolist() == [1, 0, 0]
        assert turns[0].mean() > 0.9
    assert max(turn.mean() for turn in turns) > 0.85


@pytest.mark.parametrize("emissions", ["categorical", "gaussian", "poisson"])
def test_a_mask_holds_whatever_the_pseudo_counts(emissions):
    _, data = levels(20)
    mask = GIVEN[:3, :3]
    for pseudo_counts in ("auto", 0.0, 3.0):
        model = tacit.HMM(
            3, emissions=emissions, transitions=mask, initial=[0, 1, 1], pseudo_counts=pseudo_counts
        ).fit(list(data[emissions]))
        assert (model.transitions_[~mask] == 0).all()
        assert model.initial_[0] == 0
        assert model.transitions_.sum(axis=1) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("pseudo_counts", [0.0, 1.0])
def test_expected_counts_of_a_mask_are_those_of_enumeration(pseudo_counts):
    rng = np.random.default_rng(3)
    shape = Shape.of(GIVEN, 4, [1, 1, 0, 1], [[0, 2]])
    codes = rng.integers(2, size=(4, 1)).astype(float)
    codes[2] = np.nan
    known = np.array([-1, 2, -1, -1])
    rows = CategoricalRows(codes, 2, pseudo_counts)
    data = ChainData(rows, np.array([0, 4]), shape, known)
    chain = start_chain(
        data, rng.dirichlet(np.ones(4), 4), rng.dirichlet(np.ones(4), 4), rng.dirichlet(np.ones(4))
    )
    emit = chain.emitted.probabilities
    assert np.array_equal(emit[0], emit[2])
    paths, weights = list(product(range(4), repeat=4)), []
    for path in paths:
        weight = chain.initial[path[0]] * (path[1] == 2)
        for before, after in pairwise(path):
            weight *= chain.transitions[before, after]
        for state, code in zip(path, codes[:, 0], strict=True):
            weight *= 1.0 if np.isnan(code) else emit[state, int(code)]
        weights.append(weight)
    weights = np.array(weights)
    pairs, first, symbols = np.zeros((4, 4)), np.zeros(4), np.zeros((3, 2))
    for path, weight in zip(paths, weights / weights.sum(), strict=True):
        first[path[0]] += weight
        for before, after in pairwise(path):
            pairs[before, after] += weight
        for state, code in zip(path, codes[:, 0], strict=True):
            if not np.isnan(code):
                symbols[shape.groups[state], int(code)] += weight
    objective, image, _ = em_step(data, chain, pseudo_counts)(chain.flat)
    after = chain.of_flat(image)
    allowed = shape.transitions
    pairs += pseudo_counts * allowed / allowed.sum(axis=1, keepdims=True)
    reached = pairs.sum(axis=1) > 1e-12
    expected = pairs / np.where(reached, pairs.sum(axis=1), 1)[:, None]
    assert after.transitions[reached] == pytest.approx(expected[reached])
    assert (after.transitions[~allowed] == 0).all()
    first += pseudo_counts * shape.initial / 3
    assert after.initial == pytest.approx(first / first.sum())
    symbols += pseudo_counts / 2
    seen = symbols.sum(axis=1) > 1e-12
    truth = symbols / np.where(seen, symbols.sum(axis=1), 1)[:, None]
    assert after.density.probabilities[seen] == pytest.approx(truth[seen])
    if not pseudo_counts:
        assert objective == pytest.approx(np.log(weights.sum()))


@pytest.mark.parametrize("kwargs", [{"transitions": "banded"}, {"tied": [[0, 2]]}])
def test_steps_of_em_never_go_downhill(kwargs):
    _, data = levels(15)
    values = data["poisson"].reshape(-1, 1)
    values[5] = np.nan
    shape = Shape.of(kwargs.get("transitions", "full"), 4, "auto", kwargs.get("tied"))
    chained = ChainData(PoissonRows(values, 1.0), np.arange(16) * 24, shape)
    posterior = np.random.default_rng(0).dirichlet(np.ones(4), len(values))
    chain = start_chain(chained, posterior, np.random.default_rng(1).dirichlet(np.ones(4), 4))
    step, values, objectives = em_step(chained, chain), chain.flat, []
    for _ in range(25):
        objective, values, _ = step(values)
        objectives.append(objective)
    assert min(np.diff(objectives)) > -1e-9


@pytest.mark.parametrize("emissions", ["categorical", "gaussian", "poisson"])
def test_known_states_number_the_states_and_are_never_others(emissions):
    states, data = levels(60, shape="cyclic")
    known = np.where(np.random.default_rng(1).random(states.shape) < 0.1, states, -1)
    model = tacit.HMM(3, emissions=emissions).fit(list(data[emissions]), states=list(known))
    paths = np.array(model.predict(list(data[emissions])))
    assert (paths == states).mean() > 0.85
    everything = tacit.HMM(3, emissions=emissions, pseudo_counts=0.0)
    everything.fit(list(data[emissions]), states=list(states))
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (states[:, :-1].ravel(), states[:, 1:].ravel()), 1)
    assert everything.transitions_ == pytest.approx(pairs / pairs.sum(axis=1, keepdims=True))


def test_only_the_known_states_are_restricted():
    data = [[0, 0, 1, 1, 0, 1], [1, 1, 0, 0, 0]]
    states = [[None, 1, -1, -1, 0, None], [0, -1, -1, -1, 1]]
    model = tacit.HMM(3, emissions="categorical").fit(data, states=states)
    assert model.n_states_ == 3
    flat = [0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0]
    joined = [-1, 1, -1, -1, 0, -1, 0, -1, -1, -1, 1]
    other = tacit.HMM(3, emissions="categorical").fit(flat, lengths=[6, 5], states=joined)
    assert other.transitions_ == pytest.approx(model.transitions_)


def test_tied_states_emit_the_same_and_are_counted_once():
    _, data = levels(40)
    for emissions, each in (("categorical", 2), ("poisson", 1), ("gaussian", 2)):
        model = tacit.HMM(4, emissions=emissions, tied=[[0, 3]]).fit(list(data[emissions]))
        attribute = {"categorical": "emissions_", "poisson": "rates_", "gaussian": "means_"}
        values = getattr(model, attribute[emissions])
        assert len(values) == 4
        assert np.array_equal(values[0], values[3])
        assert model.n_parameters_ == 3 + 12 + 3 * each


@pytest.mark.parametrize("emissions", ["categorical", "gaussian", "poisson"])
@pytest.mark.parametrize("covariance", ["full", "spherical", "tied"])
def test_files_hold_the_shape(tmp_path, emissions, covariance):
    if emissions != "gaussian" and covariance != "full":
        pytest.skip("of numbers")
    _, data = levels(30)
    model = tacit.HMM(
        4, emissions=emissions, covariance=covariance, transitions=GIVEN, tied=[[1, 2]]
    ).fit(list(data[emissions]))
    model.save(tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(loaded.transitions_, model.transitions_)
    assert loaded.n_parameters_ == model.n_parameters_
    scores = model.score_samples(list(data[emissions]))
    assert np.array_equal(loaded.score_samples(list(data[emissions])), scores)
    again = loaded.fit(list(data[emissions]))
    assert again.transitions_ == pytest.approx(model.transitions_)


def test_the_number_of_states_of_a_shape_is_selected():
    _, data = levels(60, shape="cyclic")
    model = tacit.HMM(emissions="poisson", transitions="cyclic").fit(list(data["poisson"]))
    assert model.n_states_ == 3


def test_what_does_not_go_together_is_refused():
    _, data = levels(5)
    counts = list(data["poisson"])
    cases = [
        ({"transitions": "sideways"}, "transitions"),
        ({"transitions": np.ones((3, 3))}, "shape"),
        ({"transitions": [[1, 1], [0, 0]]}, "allows nothing"),
        ({"initial": [0, 0]}, "allows nothing"),
        ({"tied": [[0, 2]]}, "from 0 to 1"),
        ({"tied": [[0, 1], [1]]}, "twice"),
        (
            {"transitions": "cyclic", "learn": "tensor", "emissions": "categorical"},
            "learn='tensor'",
        ),
        ({"transitions": "linear", "stationary": True}, "stationary"),
    ]
    for arguments, message in cases:
        with pytest.raises((ArgumentError, ValueError), match=message):
            tacit.HMM(2, **{"emissions": "poisson"} | arguments).fit(counts)
    with pytest.raises(ArgumentError, match="n_states="):
        tacit.HMM(emissions="poisson", transitions=np.eye(2)).fit(counts)
    with pytest.raises(ArgumentError, match="n_states="):
        tacit.HMM(emissions="poisson").fit(counts, states=counts)
    for states, message in (([[0]], "positions"), ([[5] * 24] * 5, "from 0 to 1")):
        with pytest.raises(DataError, match=message):
            tacit.HMM(2, emissions="poisson").fit(counts, states=states)
    impossible = [[1, 0] * 12] * 5
    with pytest.raises(DataError, match="no possible path"):
        tacit.HMM(2, emissions="poisson", transitions="linear").fit(counts, states=impossible)
