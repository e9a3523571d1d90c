"""`HMM(preset="printed")`: exact on exact moments, equal to a transcription of LearnHMM on samples."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from oracles.printed_chains import conditional, joint, learn_hmm
from tacit.errors import ArgumentError, DataError, NegativeProbabilityError, RankError
from tacit.sequences.learn.spectral import hmm as learner
from tacit.sequences.learn.spectral.hmm import spectral_hmm
from tacit.sequences.moments.ngrams import TripleMoments

TRUTH = tacit.toy.random_hmm(n_states=3, n_symbols=5, random_state=1)
TRAIN = TRUTH.sample(4000, np.arange(4000) % 9, random_state=2)
TEST = TRUTH.sample(60, 5, random_state=3)


def as_lists(sequences):
    return [codes.tolist() for codes in sequences.split(sequences.codes)]


def printed(**options):
    return tacit.HMM(3, "spectral", preset="printed", **options)


@pytest.mark.parametrize("windows", ["first", "all"])
def test_exact_windows_give_the_exact_model(windows):
    """The start is not stationary, so that windows at the start are others than those further on."""
    triples = TRUTH.window_table(3, 3 if windows == "first" else 9)
    moments = TripleMoments.of_table(TRUTH.string_table(1), triples)
    operators = spectral_hmm(moments, 3, scaled=False)
    table = TRUTH.string_table(4)
    for word in np.ndindex(table.shape):
        state = operators.initial
        for symbol in word:
            state = state @ operators.steps[symbol]
        assert state @ operators.stop == pytest.approx(table[word], abs=1e-10)


@pytest.mark.parametrize("windows", ["first", "all"])
def test_values_are_those_of_the_paper(windows):
    model = printed(windows=windows).fit(TRAIN)
    oracle = learn_hmm(as_lists(TRAIN), 5, 3, windows)
    test = as_lists(TEST)
    right = [joint(oracle, x) for x in test]
    assert model.values(TEST) == pytest.approx(right, abs=1e-10)
    for x in test[:10]:
        expected = conditional(oracle, x)
        if (expected > 0).all():
            assert model.predict_next_proba(x) == pytest.approx(expected, abs=1e-10)


def test_many_symbols_have_exact_singular_vectors(monkeypatch):
    """Scaled pairs of many symbols are factorised by powers of random vectors; the printed ones are not."""
    monkeypatch.setattr(learner, "_DENSE", 10)
    truth = tacit.toy.random_hmm(n_states=3, n_symbols=60, random_state=1)
    train = truth.sample(3000, 3, random_state=2)
    test = truth.sample(30, 4, random_state=3)
    oracle = learn_hmm(as_lists(train), 60, 3)
    right = [joint(oracle, x) for x in as_lists(test)]
    assert printed().fit(train).values(test) == pytest.approx(right, rel=1e-8, abs=0)


def test_the_first_three_symbols_are_the_default():
    default, first, all_of_them = (
        printed(**options).fit(TRAIN).values(TEST)
        for options in ({}, {"windows": "first"}, {"windows": "all"})
    )
    assert np.array_equal(default, first)
    assert not np.allclose(first, all_of_them, rtol=1e-3)
    cut = [x[:3] for x in as_lists(TRAIN)]
    assert np.array_equal(printed().fit(cut).values(TEST), first)  # all later symbols are ignored


def test_nothing_is_scaled_or_mixed_in():
    model = printed().fit(TRAIN)
    assert model.parameters_.fallback == model.diagnostics_["fallback"] == 0
    assert "candidates_fallback" not in model.diagnostics_
    scaled = tacit.HMM(3, "spectral").fit(TRAIN)
    assert scaled.values(TEST) != pytest.approx(model.values(TEST), rel=1e-2)
    pairs = np.zeros((5, 5))
    for x in as_lists(TRAIN):
        if len(x) >= 3:
            pairs[x[1], x[0]] += 1
    expected = np.linalg.svd(pairs / pairs.sum(), compute_uv=False)
    assert model.diagnostics_["singular_values"] == pytest.approx(expected)
    assert model.diagnostics_["n_windows"] == pairs.sum()


def test_missing_symbols_are_summed_out_and_windows_with_them_skipped():
    holes = replace(TRAIN, codes=np.where(np.arange(TRAIN.n_positions) % 7 == 3, -1, TRAIN.codes))
    model = printed().fit(holes)
    oracle = learn_hmm(as_lists(holes), 5, 3)
    assert model.values(TEST) == pytest.approx(
        [joint(oracle, x) for x in as_lists(TEST)], abs=1e-10
    )
    every = model.values([[0, symbol, 2] for symbol in range(5)])
    assert model.values([[0, None, 2]]) == pytest.approx([every.sum()])


@settings(max_examples=10, deadline=None)
@given(cut=st.integers(500, 3500))
def test_chunks_give_the_model_of_all_at_once(cut):
    chunks = printed()
    for rows in (np.arange(cut), np.arange(cut, 4000)):
        chunks.partial_fit(TRAIN.take(rows), symbols=range(5))
    assert chunks.values(TEST) == pytest.approx(printed().fit(TRAIN).values(TEST), abs=1e-12)


def test_values_of_hidden_states_are_probabilities():
    model = tacit.HMM(2).fit(TRAIN)
    assert np.log(model.values(TEST)) == pytest.approx(model.score_samples(TEST))
    assert model.values([[]]) == pytest.approx([1.0])


def test_predictions_that_are_negative_become_zero():
    """The paper's conditional may be negative; probabilities are not, and still sum to one."""
    few = TRUTH.sample(150, 6, random_state=0)
    model, oracle = printed().fit(few), learn_hmm(as_lists(few), 5, 3)
    n_negative = 0
    for x in as_lists(TRUTH.sample(40, 2, random_state=5)):
        raw = conditional(oracle, x)
        n_negative += int((raw < 0).any())
        positive = np.maximum(raw, 0)
        assert model.predict_next_proba(x) == pytest.approx(positive / positive.sum(), abs=1e-10)
    assert n_negative > 3


def test_estimates_that_are_not_positive_go_by_negative():
    few = TRUTH.sample(150, 6, random_state=0)
    model = printed().fit(few)
    scores, repairs = model.score_samples(TEST, return_repairs=True)
    assert repairs["n_sequences_not_positive"] > 0
    assert np.isfinite(scores).all()
    nan = model.set_params(negative="nan").score_samples(TEST)
    assert int(np.isnan(nan).sum()) == repairs["n_sequences_not_positive"]
    with pytest.raises(NegativeProbabilityError):
        model.set_params(negative="raise").score_samples(TEST)


def test_symbols_may_be_text_and_the_model_is_saved(tmp_path):
    texts = [[f"s{code}" for code in x] for x in as_lists(TRAIN)]
    model = printed(windows="all").fit(texts)
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert (loaded.preset, loaded.windows) == ("printed", "all")
    assert np.array_equal(loaded.values(texts[:50]), model.values(texts[:50]))
    assert model.values(texts[:50]) == pytest.approx(
        printed(windows="all").fit(TRAIN).values(TRAIN.take(np.arange(50)))
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"preset": "paper"}, "preset='paper' is not known; give None or \"printed\""),
        ({"learn": "auto"}, "learn='auto' does not go with"),
        ({"n_states": "auto"}, "n_states='auto' does not go with"),
        ({"features": 2}, "features=2 does not go with"),
        ({"features": np.eye(8)}, "features=.ndarray. does not go with"),
        ({"features": "joint"}, "features=.str. does not go with"),
        ({"stationary": True}, "stationary=True does not go with"),
        ({"windows": "last"}, "windows='last' is not known"),
        ({"preset": None, "windows": "first"}, "windows='first' goes with preset"),
        ({"learn": "online-em", "preset": None, "learning_rate": 2}, "learning_rate=2; give"),
        ({"preset": None, "learning_rate": (0.6, 1.0)}, "give a single number"),
        ({"preset": None, "learning_rate": 0.5}, "give a number above 0.5 and up to 1: step sizes"),
    ],
)
def test_arguments_that_contradict_print_are_refused(changes, complaint):
    arguments = {"n_states": 3, "learn": "spectral", "preset": "printed"}
    with pytest.raises(ArgumentError, match=complaint):
        tacit.HMM(**arguments | changes).fit(TRAIN)


def test_sequences_that_are_too_short_or_show_too_little_are_refused():
    with pytest.raises(DataError, match="no window of three symbols"):
        printed().fit([["a", "b"], ["b", "c", None]])
    with pytest.raises(RankError, match="rank=3 requested"):
        printed().fit([["a", "b", "c"]] * 5)
    with pytest.raises(
        tacit.errors.NotAvailableError, match="values needs states that emit symbols"
    ):
        tacit.HMM(2).fit(np.random.default_rng(0).normal(size=50)).values(np.zeros(5))


def test_stepwise_em_of_hmms_has_a_learning_rate():
    default, same, other = (
        tacit.HMM(3, "online-em", **options).fit(TRAIN)
        for options in ({}, {"learning_rate": 0.6}, {"learning_rate": 1.0})
    )
    assert np.array_equal(default.emissions_, same.emissions_)
    assert not np.allclose(default.emissions_, other.emissions_)
    chunk = tacit.HMM(3, "online-em", learning_rate=1.0).partial_fit(TRAIN, symbols=range(5))
    slow = chunk.partial_fit(TRAIN).emissions_
    fast = tacit.HMM(3, "online-em", learning_rate=0.6).partial_fit(TRAIN, symbols=range(5))
    assert not np.allclose(slow, fast.partial_fit(TRAIN).emissions_)
