"""Models of two machines, merged, are the model of one that has seen everything."""

import pickle

import numpy as np
import pytest

import tacit
from oracles.letters import letters
from tacit.errors import ArgumentTypeError, DataError, NotAvailableError
from tacit.sequences.hmm import HMM
from tacit.sequences.learn import number_stream, symbol_stream

RNG = np.random.default_rng(0)
LENGTHS = RNG.integers(6, 14, 30)
LEVELS = [np.cumsum(RNG.random(length) < 0.25) % 2 for length in LENGTHS]


def with_gaps(rows):
    return np.where(RNG.random(rows.shape) < 0.05, np.nan, rows)


NUMBERS = [with_gaps(RNG.normal(3.0 * s[:, None], 1.0, (len(s), 2))) for s in LEVELS]
COUNTS = [with_gaps(RNG.poisson(2.0 + 8.0 * s[:, None], (len(s), 2)).astype(float)) for s in LEVELS]
ROWS = [RNG.multinomial(8, [0.5, 0.3, 0.2], len(s)).astype(float) for s in LEVELS]
ANGLES = [with_gaps(RNG.vonmises(2.0 * s[:, None], 4.0)) for s in LEVELS]
WORDS = [["no", "yes", "maybe"][code] for code in range(3)]
SYMBOLS = [[WORDS[min(s, 1) + (RNG.random() < 0.2)] for s in sequence] for sequence in LEVELS]
FRAMES = [
    {"speed": numbers[:, 0], "clicks": counts[:, 0], "says": words}
    for numbers, counts, words in zip(NUMBERS, COUNTS, SYMBOLS, strict=True)
]
KINDS = {"says": "categorical", "speed": "gaussian", "clicks": "poisson"}
CASES = {
    "symbols": (SYMBOLS, {}),
    "symbols by windows": (SYMBOLS, {"learn": "tensor"}),
    "symbols by operators": (SYMBOLS, {"learn": "spectral"}),
    "symbols by longer windows": (SYMBOLS, {"learn": "tensor", "features": 2}),
    "symbols from left to right": (SYMBOLS, {"transitions": "left-to-right"}),
    "gaussian": (NUMBERS, {"emissions": "gaussian"}),
    "gaussian by windows": (NUMBERS, {"emissions": "gaussian", "learn": "tensor"}),
    "gaussian, tied": (NUMBERS, {"emissions": "gaussian", "covariance": "tied"}),
    "gaussian, durations": (NUMBERS, {"emissions": "gaussian", "durations": "table"}),
    "gaussian-mixture": (NUMBERS, {"emissions": "gaussian-mixture"}),
    "poisson": (COUNTS, {"emissions": "poisson"}),
    "negative-binomial": (COUNTS, {"emissions": "negative-binomial"}),
    "multinomial": (ROWS, {"emissions": "multinomial"}),
    "von-mises": (ANGLES, {"emissions": "von-mises"}),
    "columns": (FRAMES, {"emissions": KINDS}),
}
PARTS = (slice(0, 12), slice(12, 13), slice(13, 30))


def learnt(data, arguments, n_states=2):
    """What a machine learns of its part, symbols being known to all."""
    known = {"symbols": sorted(WORDS)} if data is SYMBOLS else {}
    return lambda part: HMM(n_states, **arguments).partial_fit(data[part], **known)


def of_parts(data, arguments, order=(0, 1, 2)):
    one, two, three = (learnt(data, arguments)(PARTS[place]) for place in order)
    return one, two, three


def same(one, other, data):
    scores = [model.score_samples(data) for model in (one, other)]
    assert np.array_equal(*scores)
    assert one.diagnostics_["n_sequences"] == other.diagnostics_["n_sequences"]


@pytest.mark.parametrize("name", CASES)
def test_models_of_parts_merge_to_the_model_of_all(name):
    data, arguments = CASES[name]
    whole = HMM(2, **arguments).fit(data)
    one, two, three = of_parts(data, arguments)
    before = three.score_samples(data[:5])
    merged = one.merge(two).merge(pickle.loads(pickle.dumps(three)))
    same(merged, whole, data)
    assert merged.diagnostics_["n_positions"] == LENGTHS.sum()
    assert np.array_equal(three.score_samples(data[:5]), before)  # it is not changed
    one, two, three = of_parts(data, arguments)
    same(one.merge(two.merge(three)), whole, data)
    more = learnt(data, arguments)(slice(0, 13)).partial_fit(data[13:20])
    same(more.merge(learnt(data, arguments)(slice(20, 30))), whole, data)


@pytest.mark.parametrize(
    ("name", "tolerance"),  # nats per sequence: counts are whole numbers, and EM has a tolerance
    [
        ("symbols by windows", 1e-9),
        ("gaussian", 1e-3),
        ("poisson", 1e-3),
    ],
)
def test_the_order_of_the_parts_does_not_matter(name, tolerance):
    data, arguments = CASES[name]
    one, two, three = of_parts(data, arguments)
    other, before, after = of_parts(data, arguments, (2, 0, 1))
    one, other = one.merge(two).merge(three), other.merge(before).merge(after)
    assert one.score(data) == pytest.approx(other.score(data), abs=tolerance)


def test_the_number_of_states_is_selected_anew():
    first, second = (HMM(emissions="gaussian").fit(NUMBERS[part]) for part in PARTS[::2])
    assert first.merge(second).n_states_ == HMM(emissions="gaussian").fit(NUMBERS).n_states_


@pytest.mark.parametrize(
    ("module", "data", "arguments"),
    [(symbol_stream, SYMBOLS, {}), (number_stream, NUMBERS, {"emissions": "gaussian"})],
)
def test_samples_of_two_streams_are_a_sample_of_both(module, data, arguments, monkeypatch):
    monkeypatch.setattr(module, "MOST_POSITIONS", 100)
    one, two, three = of_parts(data, arguments | {"learn": "tensor"})
    merged = one.merge(two).merge(three)
    kept, stream = getattr(merged.stream_, "sample", merged.stream_), merged.stream_
    assert 80 <= stream.data.n_positions <= 100
    assert merged.diagnostics_["n_sequences"] == 30
    assert (np.diff(kept.places) > 0).all()
    rows = stream.data.split(stream.data.positions)
    for place, actual in zip(kept.places, rows, strict=True):  # places count on from part to part
        expected = data[place]
        if data is SYMBOLS:
            expected = [merged.symbols_.index(symbol) for symbol in expected]
        np.testing.assert_array_equal(actual, expected)


def test_categories_that_one_machine_alone_has_seen_are_merged():
    rare = [{**frame, "says": ["often"] * len(frame["says"])} for frame in FRAMES[:6]]
    parts = [HMM(2, emissions=KINDS).fit(data) for data in (FRAMES[6:], rare)]
    merged = parts[0].merge(parts[1])
    whole = HMM(2, emissions=KINDS).fit(FRAMES[6:] + rare)
    same(merged, whole, FRAMES[6:] + rare)


def test_models_that_do_not_fit_together_are_refused(tmp_path):
    model = HMM(2, "tensor").fit(letters(["abab", "aabb"] * 3))
    with pytest.raises(DataError, match="different symbols"):
        model.merge(HMM(2, "tensor").fit(letters(["abcab", "aabb"])))
    with pytest.raises(DataError, match="windows"):
        HMM(2, "tensor", features=2).fit(letters(["ababaabba"] * 3)).merge(model)
    with pytest.raises(DataError, match="different emissions: 'categorical' and 'gaussian'"):
        model.merge(HMM(2, emissions="gaussian").fit(NUMBERS))
    with pytest.raises(DataError, match="different columns"):
        HMM(2, emissions="poisson").fit(COUNTS).merge(
            HMM(2, emissions="poisson").fit([rows[:, :1] for rows in COUNTS])
        )
    with pytest.raises(NotAvailableError, match="online-em"):
        HMM(2, "online-em").fit(letters(["abab"] * 9)).merge(model)
    with pytest.raises(ArgumentTypeError, match="give an HMM"):
        model.merge("abab")
    with pytest.raises(ArgumentTypeError, match="give an HMM"):
        model.merge(tacit.KernelHMM())
    model.save(tmp_path / "m.tacit")
    with pytest.raises(NotAvailableError, match="pickles"):
        model.merge(tacit.load(tmp_path / "m.tacit"))
