"""Hidden Markov models from features that users give: exact windows, built-in ones by hand, files."""

import itertools

import numpy as np
import pytest

import tacit
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    RankError,
    TooExpensiveError,
)
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.spectral.longer_windows import longer_hmms
from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
from tacit.sequences.moments.symbol_windows import (
    given_windows,
    moments_of_windows,
    place_features,
    symbol_windows,
)
from tacit.toy.chains import HmmModel


def concatenated(side):
    return np.concatenate([np.eye(2)[values] for values in side.values()], axis=1)


def joint(side):
    out = np.ones((len(next(iter(side.values()))), 1))
    for values in side.values():
        out = (out[:, :, None] * np.eye(2)[values][:, None, :]).reshape(len(out), -1)
    return out


def turned(side):
    features = joint(side)
    return features @ np.random.default_rng(0).normal(size=(features.shape[1], 7))


def exact_windows(toy, reach, features, length=12):
    """The moments of all windows of sequences of a length, as infinitely many give them."""
    n = toy.n_symbols
    windows = np.array(list(itertools.product(range(n), repeat=2 * reach + 1)))
    starts = np.array(list(itertools.product(range(n), repeat=reach)))
    given = place_features(features, reach, range(n))
    tables = toy.window_table(2 * reach + 1, length), toy.string_table(reach)
    return moments_of_windows((windows, tables[0].ravel()), (starts, tables[1].ravel()), given)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("features", ["joint", "concatenated", joint, turned])
def test_exact_windows_give_the_exact_distribution_with_more_states_than_symbols(seed, features):
    toy = tacit.toy.random_hmm(n_states=4, n_symbols=2, random_state=seed)
    moments = exact_windows(toy, 3, features)
    operators = spectral_operators(moments, leading_directions(moments, 4, 1e-3), 4, np.ones(2))
    truth = toy.string_table(6)
    for string in itertools.product(range(2), repeat=6):
        state = operators.initial
        for symbol in string:
            state = state @ operators.steps[symbol]
        assert state @ operators.stop == pytest.approx(truth[string], abs=1e-7)


def test_exact_windows_give_the_states_themselves():
    toy = tacit.toy.random_hmm(n_states=3, n_symbols=2, random_state=1)
    truth = toy.string_table(5)
    candidates = longer_hmms(exact_windows(toy, 2, joint), 2, 3)
    errors = []
    for tables in candidates:
        copy = HmmModel(tables, (0, 1))
        errors.append(np.abs(copy.string_table(5) - truth).max())
    assert min(errors) < 1e-6


def test_one_symbol_carries_too_few_states():
    toy = tacit.toy.random_hmm(n_states=4, n_symbols=2, random_state=0)
    moments = exact_windows(toy, 1, "joint")
    with pytest.raises(RankError, match="2 directions in common"):
        spectral_operators(moments, leading_directions(moments, 4, 1e-3), 4, np.ones(2))


def some_sequences():
    return tacit.toy.random_hmm(n_states=4, n_symbols=2, random_state=3).sample(
        300, 20, random_state=0
    )


def test_concatenated_windows_are_those_that_are_counted():
    sequences = some_sequences()
    codes = sequences.codes.copy()
    codes[::17] = -1  # missing
    sequences = Sequences(codes, sequences.lengths, sequences.symbols)
    for features in ("concatenated", concatenated, np.eye(2), {0: np.eye(2)}):
        windows = given_windows(sequences, 2, features)
        counted = symbol_windows(sequences, 2)
        for name in vars(counted):
            assert np.array_equal(getattr(windows, name), getattr(counted, name)), name


@pytest.mark.parametrize("learn", ["spectral", "tensor", "auto"])
def test_built_in_features_given_by_hand_give_the_same_model(learn):
    sequences = some_sequences()
    built_in = tacit.HMM(3, learn, features=2).fit(sequences)
    for features in ("concatenated", concatenated):
        given = tacit.HMM(3, learn, features=features, reach=2).fit(sequences)
        assert given.score_samples(sequences) == pytest.approx(
            built_in.score_samples(sequences), abs=1e-10 if learn == "spectral" else 1e-2
        )


def test_more_states_than_symbols_are_recovered_from_sequences():
    toy = tacit.toy.repeating_process(2)  # three symbols, six states
    train, test = toy.sample(2000, 40, random_state=0), toy.sample(300, 40, random_state=1)

    def letters(side):
        """Which letter stands at which place, and the constant: all that must be remembered."""
        columns = [values == letter for values in side.values() for letter in ("X", "Y")]
        return np.stack([np.ones(len(columns[0])), *columns], axis=1)

    model = tacit.HMM(6, "spectral", features=letters, reach=3).fit(train)
    few = tacit.HMM(2, "spectral").fit(train)
    truth = toy.log_prob(test).mean()
    assert model.score(test) > truth - 0.02
    assert few.score(test) < truth - 5


def test_chunks_give_the_model_of_all_sequences():
    sequences = some_sequences()
    at_once = tacit.HMM(3, "spectral", features=joint, reach=2).partial_fit(sequences)
    chunks = tacit.HMM(3, "spectral", features=joint, reach=2)
    for low in range(0, 300, 100):
        chunks.partial_fit(sequences.take(np.arange(low, low + 100)))
    operators = [model.parameters_.operators for model in (at_once, chunks)]
    assert operators[0].stop == pytest.approx(operators[1].stop, abs=1e-9)


def test_a_function_gets_places_and_symbols():
    seen = []

    def phi(side):
        seen.append(side)
        return np.stack([values == x for values in side.values() for x in "ab"], axis=1)

    texts = [list("abbabaabbbabab"), list("babbaaababba")]
    tacit.HMM(2, "spectral", features=phi, reach=2).fit(texts)
    assert {tuple(side) for side in seen} == {(-1, -2), (0, 1)}
    assert {symbol for side in seen for symbol in side[next(iter(side))].tolist()} == {"a", "b"}


def test_files_hold_arrays_and_not_functions(tmp_path):
    sequences = some_sequences()
    for features in (np.array([[1.0, 0.5], [0.25, 2.0]]), {-1: np.eye(2)}, joint):
        model = tacit.HMM(3, "spectral", features=features, reach=2).fit(sequences)
        model.save(tmp_path / "m.tacit")
        loaded = tacit.load(tmp_path / "m.tacit")
        assert loaded.score_samples(sequences) == pytest.approx(
            model.score_samples(sequences), abs=0
        )
        assert loaded.features == "auto" if callable(features) else loaded.reach == 2
        if not callable(features):
            again = loaded.fit(sequences)
            assert again.score(sequences) == pytest.approx(model.score(sequences), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"learn": "em", "features": joint}, ArgumentError, "go with learn='auto', 'spectral'"),
        ({"features": "string"}, ArgumentError, "features='string' is not known"),
        ({"features": None}, ArgumentTypeError, "features=None"),
        ({"features": 0}, ArgumentError, "features=0"),
        ({"features": joint, "reach": 0}, ArgumentError, "reach=0; give an integer"),
        ({"features": np.eye(3)}, ArgumentError, r"features has the shape \(3, 3\), but -1 has 2"),
        ({"features": {5: np.eye(2)}}, ArgumentError, "features name 5, which is no variable"),
        ({"features": lambda _: np.ones(2)}, ArgumentError, "return an array"),
        ({"features": "joint", "reach": 13}, TooExpensiveError, "more than 4096"),
        ({"features": "concatenated", "reach": 8}, DataError, "as reach=8 needs"),
        ({"features": "joint", "emissions": "poisson"}, ArgumentError, "features of symbols"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(arguments, error, message):
    given = {"n_states": 2, "learn": "auto", **arguments}
    with pytest.raises(error, match=message) as caught:
        tacit.HMM(**given).fit([[0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1]] * 5)
    assert "\n" not in str(caught.value)
