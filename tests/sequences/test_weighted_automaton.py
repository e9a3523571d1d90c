"""Weighted and probabilistic automata as estimators: queries, choices, files, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oracles.automata import random_tables, string_value, words
from oracles.edited_files import edited
from oracles.letters import letters
from tacit.errors import (
    ArgumentError,
    CategoryError,
    DataError,
    FileFormatError,
    NotAvailableError,
    RankError,
    TacitError,
)
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
from tacit.sequences.query.automata import MeanAutomaton, drawn
from tacit.sequences.weighted_automaton import WeightedAutomaton


def sampled(tables, n, seed=0):
    """Strings of letters from an automaton."""
    predictor = MeanAutomaton((tables,), np.ones(1))
    codes, lengths = drawn(predictor, predictor.begin(n), 100, np.random.default_rng(seed))
    made = Sequences(codes, lengths, ("a", "b"))
    return [["ab"[c] for c in row] for row in made.split(made.codes)]


TRUTH = random_tables(11, 3, 2, stop=0.25)
TRAIN = sampled(TRUTH, 3000)
MODELS = {
    "weighted": WeightedAutomaton(),
    "given": WeightedAutomaton(3, "string", basis=20, scaled=False, mixing=0.1),
    "em": ProbabilisticAutomaton(3, "em", tied=False),
    "gibbs": ProbabilisticAutomaton(n_sweeps=60, n_samples=5),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return clone(MODELS[request.param]).fit(TRAIN)


def test_probabilities_are_close_to_the_truth(model):
    listed = ["".join("ab"[c] for c in word) for word in words(2, 5)]
    true = [string_value(TRUTH.initial, TRUTH.steps, TRUTH.stop, word) for word in words(2, 5)]
    probs = np.exp(model.score_samples(letters(listed)))
    assert np.abs(probs - true).max() < 0.012  # a standard error of the largest is 0.008


def test_what_comes_next_agrees_with_scores(model):
    probs = model.predict_next_proba(letters(["ab"]))[0]
    assert probs.sum() == pytest.approx(1.0)
    shorter, longer = model.score_samples(letters(["ab", "aba"]))
    ends = model.predict_next_proba(letters(["aba"]))[0, -1]
    assert np.exp(longer - shorter) == pytest.approx(probs[0] * ends / probs[-1])
    every = model.predict_next_proba(letters(["ab", "", "b"]), all_positions=True)
    assert [len(rows) for rows in every] == [2, 0, 1]
    initial = model.predict_next_proba(letters([""]))[0]
    assert every[2][0] == pytest.approx(initial)
    later = model.predict_next_proba(letters(["ab"]), steps=3)[0]
    assert later.sum() == pytest.approx(1.0)
    assert later[-1] > probs[-1]


def test_missing_symbols_and_prefixes_are_summed(model):
    # Exact where weights are probabilities; a weighted automaton is normalised step by step.
    abs_tol = 0.02 if isinstance(model, WeightedAutomaton) else 1e-9
    summed = np.exp(model.score_samples([["a", None, "b"]])[0])
    both = np.exp(model.score_samples(letters(["aab", "abb"]))).sum()
    assert summed == pytest.approx(both, abs=abs_tol)
    assert model.perplexity(TRAIN, ends=False) > 1
    assert model.perplexity(TRAIN) < 3


def test_draws_are_reproducible_and_may_follow_a_sequence(model):
    one = model.sample(500, random_state=3)
    assert one == model.sample(500, random_state=3)
    assert {symbol for row in one for symbol in row} == {"a", "b"}
    after = model.sample(4000, given="ab", random_state=0)
    after_few = model.sample(50, given="ab", random_state=0)
    first = np.mean([row[:1] == ["a"] for row in after])
    assert first == pytest.approx(model.predict_next_proba(letters(["ab"]))[0, 0], abs=0.03)
    for same in ("ab", ["a", "b"], [["a", "b"]]):
        assert model.sample(50, given=same, random_state=0) == after_few
    assert max(map(len, model.sample(20, max_length=2, random_state=0))) <= 2
    with pytest.raises(ArgumentError, match="give one"):
        model.sample(1, given=letters(["ab", "aa"]))


def test_files_hold_everything(model, tmp_path):
    from tacit.core.files.load import load

    path = tmp_path / "model.tacit"
    model.save(path)
    loaded = load(path)
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.score_samples(TRAIN[:50]), model.score_samples(TRAIN[:50]))
    assert loaded.get_params() == model.get_params()
    assert loaded.symbols_ == ("a", "b")
    assert loaded.diagnostics_["n_sequences"] == 3000


def test_damaged_files_are_refused(model, tmp_path):
    from safetensors.numpy import load_file

    from tacit.core.files.load import load

    path = tmp_path / "model.tacit"
    model.save(path)
    arrays = load_file(path)
    weighted = isinstance(model, WeightedAutomaton)
    name = "predictor.automaton.initial" if weighted else "predictor.parts.0.initial"
    for wrong in (arrays[name] * np.nan, arrays[name][:-1]):
        edited(path, {name: wrong})
        with pytest.raises(FileFormatError, match=name[:-7]):
            load(path)
    model.save(path)
    edited(path, predictor={})
    with pytest.raises(FileFormatError, match="damaged"):
        load(path)


def test_same_seed_gives_the_same_model_and_diagnostics(model):
    again = clone(model).fit(TRAIN)
    assert np.array_equal(again.score_samples(TRAIN[:20]), model.score_samples(TRAIN[:20]))
    assert model.diagnostics_["n_positions"] == sum(map(len, TRAIN))
    assert 0 < model.spectral_radius_ < 1
    assert model.n_iter_ >= 1


def test_choices_are_by_validation():
    held = sampled(TRUTH, 400, seed=1)
    weighted = WeightedAutomaton().fit(TRAIN, validation=held)
    candidates = weighted.diagnostics_["candidates"]
    best = max(candidates, key=lambda candidate: candidate["held_out"])
    assert weighted.diagnostics_["rank"] == best["rank"]
    assert weighted.diagnostics_["statistics"] == best["statistics"]
    assert {candidate["statistics"] for candidate in candidates} == {
        "string",
        "prefix",
        "substring",
    }
    assert weighted.diagnostics_["stable"]
    em = ProbabilisticAutomaton(learn="em").fit(TRAIN, validation=held)
    candidates = em.diagnostics_["candidates"]
    best = max(candidates, key=lambda candidate: candidate["held_out"])
    assert em.diagnostics_["n_states"] == [best["n_states"]]
    assert {candidate["tied"] for candidate in candidates} == {False, True}


@pytest.mark.parametrize("kind", ["weighted", "em", "gibbs"])
def test_pieces_in_any_order_give_the_same_model(kind):
    at_once = clone(MODELS[kind]).fit(TRAIN[:600])
    pieces = clone(MODELS[kind]).set_params(unknown="missing")
    for part in (TRAIN[400:600], TRAIN[:150], TRAIN[150:400]):
        pieces.partial_fit(part, symbols=["a", "b"])
    assert np.array_equal(pieces.score_samples(TRAIN[:50]), at_once.score_samples(TRAIN[:50]))
    assert pieces.diagnostics_ == at_once.diagnostics_


def test_files_are_not_learnt_on(tmp_path):
    from tacit.core.files.load import load

    model = WeightedAutomaton(1, "string", basis=5, scaled=True, mixing=0.1).fit(TRAIN[:30])
    model.save(tmp_path / "model.tacit")
    with pytest.raises(NotAvailableError, match="call fit"):
        load(tmp_path / "model.tacit").partial_fit(TRAIN[:10])


def test_raw_values_and_forms_belong_together():
    model = WeightedAutomaton(3, "prefix", basis=20, scaled=True, mixing=0.0).fit(TRAIN)
    string = model.as_string()
    state = string.initial @ string.steps[0] @ string.steps[1]
    assert model.values(letters(["ab"])) == pytest.approx([state @ string.stop])
    both = model.values([["a", None]])
    assert both == pytest.approx([model.values(letters(["aa", "ab"])).sum()])
    begins = model.as_prefix()
    frequency = np.mean([row[:2] == ["a", "b"] for row in TRAIN])
    assert begins.initial @ begins.steps[0] @ begins.steps[1] @ begins.stop == pytest.approx(
        frequency, abs=0.01
    )
    inside = model.as_substring()
    assert inside.initial @ inside.stop == pytest.approx(
        np.mean([len(r) + 1 for r in TRAIN]), rel=0.05
    )
    assert model.rank_ == 3
    assert len(model.singular_values_) == 3


def test_tables_of_a_mean_are_one_automaton():
    model = ProbabilisticAutomaton(2, tied=False, n_sweeps=20, n_samples=3).fit(TRAIN[:200])
    assert len(model.parts_) == 3
    assert model.initial_.sum() == pytest.approx(1.0)
    leaving = model.steps_.sum(axis=(0, 2)) + model.stop_
    assert leaving == pytest.approx(np.ones(6))
    value = model.initial_ @ model.steps_[0] @ model.steps_[1] @ model.stop_
    assert np.log(value) == pytest.approx(model.score_samples(letters(["ab"]))[0])
    assert model.n_states_ == 2


def test_the_mean_is_of_chains_that_started_apart():
    held = sampled(TRUTH, 400, seed=1)
    model = ProbabilisticAutomaton(4, n_sweeps=24, n_samples=6).fit(TRAIN[:600], validation=held)
    facts = model.diagnostics_
    kinds = {(candidate["tied"], candidate["start"]) for candidate in facts["candidates"]}
    assert kinds == {(False, "clusters"), (False, "random"), (True, "random")}
    assert 2 <= len(facts["start"]) <= 5
    assert set(facts["n_states"]) == {4}
    assert len(model.parts_) >= 2 * len(facts["start"])
    assert model.weights_.sum() == pytest.approx(1.0)
    assert len(set(facts["move_prior"])) == len(facts["start"])  # learnt from the paths of each
    fixed = clone(model).set_params(pseudo_counts=1.0).fit(TRAIN[:600], validation=held)
    assert set(fixed.diagnostics_["move_prior"]) == {0.25}


def test_tied_moves_do_not_depend_on_the_symbol():
    model = ProbabilisticAutomaton(3, "em", tied=True).fit(TRAIN)
    assert model.parts_[0].transitions.shape == (1, 3, 3)
    assert np.isfinite(model.score(TRAIN))


@pytest.mark.parametrize("kind", [WeightedAutomaton, ProbabilisticAutomaton])
def test_few_short_and_odd_sequences(kind):
    few = kind().fit(letters(["ab", "a", "", "b"]))
    assert np.isfinite(few.score_samples(letters(["ab", "", "bbbb"]))).all()
    one_symbol = kind(2).fit(letters(["aaa", "a", "", "aa"] * 10))
    assert one_symbol.predict_next_proba(letters(["a"])).shape == (1, 2)
    numbers = kind().fit(np.array([[1, 2, 1], [2, 2, 1]] * 15))
    assert numbers.symbols_ == (1, 2)
    assert numbers.n_features_in_ == 3
    gaps = kind().fit([["a", None, "b"], ["b", "a"], [None]] * 10)
    assert np.isfinite(gaps.score_samples([["a", None]])).all()
    nan = kind(3).fit([[0, 1, float("nan")], [1, 0]] * 10)
    assert nan.symbols_ == (0, 1)
    assert np.isfinite(nan.score_samples([[0, 1], [float("nan")]])).all()


@pytest.mark.parametrize("kind", [WeightedAutomaton, ProbabilisticAutomaton])
def test_bad_input_is_refused(kind):
    with pytest.raises(DataError, match="no sequence to learn from; give a list"):
        kind().fit([])
    with pytest.raises(DataError, match="empty or missing; give longer ones"):
        kind().fit(letters(["", ""]))
    with pytest.raises(DataError, match="empty or missing; give longer ones"):
        kind().fit(np.full((3, 4), np.nan))
    with pytest.raises(DataError, match="holds inf"):
        kind().fit([[1.0, np.inf]])
    with pytest.raises(DataError, match="lengths sum to 3, but X holds 4"):
        kind().fit([0, 1, 0, 1], lengths=[1, 2])
    with pytest.raises(ArgumentError, match="sum to the 5 positions"):
        kind().fit(np.zeros((5, 1)), [2, 2])
    with pytest.raises(DataError, match=r"at least zero, .* not \[7, -2\]"):
        kind().fit(np.zeros(5), lengths=[7, -2])
    with pytest.raises(NotFittedError):
        kind().score_samples(letters(["a"]))
    fitted = kind().fit(letters(["ab", "a", "", "b"]))
    with pytest.raises(CategoryError):
        fitted.score_samples(letters(["xyz"]))
    with pytest.raises(DataError, match="validation"):
        kind().fit(letters(["ab"]), validation=[])
    assert kind(unknown="missing").fit(letters(["ab"] * 3)).score_samples(letters(["zb"])) < 0


@pytest.mark.parametrize(
    "wrong",
    [
        WeightedAutomaton(0),
        WeightedAutomaton("many"),
        WeightedAutomaton(basis="many"),
        WeightedAutomaton(statistics="strings"),
        WeightedAutomaton(mixing=2),
        WeightedAutomaton(mixing=-1),
        WeightedAutomaton(scaled="yes"),
        WeightedAutomaton(basis=0),
        ProbabilisticAutomaton(0),
        ProbabilisticAutomaton("many"),
        ProbabilisticAutomaton(learn="spectral"),
        ProbabilisticAutomaton(tied="no"),
        ProbabilisticAutomaton(n_sweeps=0),
        ProbabilisticAutomaton(pseudo_counts=0),
    ],
    ids=repr,
)
def test_arguments_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ArgumentError, match=r"give|Choose"):
        wrong.fit(letters(["ab", "a"]))


def test_a_rank_beyond_the_counts_is_refused():
    with pytest.raises(RankError, match="rank<="):
        WeightedAutomaton(50, basis=10).fit(TRAIN[:100])
    with pytest.raises(TacitError):
        WeightedAutomaton(50, "string", basis=10, scaled=True, mixing=0.1).fit(letters(["ab", "a"]))


def test_long_sequences_alone_have_no_string_statistics():
    rng = np.random.default_rng(0)
    rows = ["".join(rng.choice(["a", "b"], 30)) for _ in range(40)]
    model = WeightedAutomaton().fit(letters(rows))
    assert model.diagnostics_["statistics"] != "string"
    with pytest.raises(RankError, match="substring"):
        WeightedAutomaton(statistics="string").fit(letters(rows))
    with pytest.raises(RankError):
        WeightedAutomaton(2, "string", basis=10, scaled=True, mixing=0.1).fit(letters(rows))


def test_long_sequences_of_several_letters_are_learnt_by_what_occurs_in_them():
    letters = np.random.default_rng(0).choice(list("ACGT"), (200, 20)).tolist()
    model = WeightedAutomaton().fit(letters)  # no matrix of whole strings has a value
    assert model.diagnostics_["statistics"] != "string"
    with pytest.raises(RankError, match="no sequence is so short"):
        WeightedAutomaton(statistics="string").fit(letters)
