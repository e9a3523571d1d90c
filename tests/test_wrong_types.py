"""Wrong types and extreme values at the public doors are refused in one short line."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import tacit
from tacit.errors import LONGEST_MESSAGE, TacitError
from tacit.language import kenlm

TAGGED = tacit.toy.sample_sentences(12, 0)
RNG = np.random.default_rng(0)
ROWS = {f"x{i}": RNG.integers(3, size=40) for i in range(4)}
NUMBERS = {f"x{i}": RNG.normal(size=40) for i in range(3)}
SEQUENCES = [list("abcab") * 3, list("bca") * 4] * 5
HUGE = 10**5000  # Python refuses to write its digits
TOO_LONG = "x" * 5000  # for a file name
PATHS = [None, 3, 1.5, [], HUGE, b"m", object(), "a\0b", TOO_LONG]


def kind(value):
    return type(value).__name__


def kinds(pair):
    return " ".join(map(kind, pair))


@pytest.fixture(scope="module")
def tree():
    return tacit.LatentTree(n_states=2).fit(ROWS)


def refused(call, *args, **kwargs):
    with pytest.raises(TacitError) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    assert 0 < len(message) <= LONGEST_MESSAGE


@pytest.mark.parametrize("path", PATHS, ids=lambda path: type(path).__name__)
def test_path_of_a_wrong_kind_is_refused(tree, path):
    refused(tree.save, path)
    for reader in (
        tacit.load,
        tacit.Topology.from_newick,
        tacit.LatentTree.from_bif,
        tacit.BackoffLM.from_arpa,
        kenlm.Model,
    ):
        refused(reader, path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no such file on this system")
def test_file_that_the_system_does_not_read_is_refused():
    for reader in (tacit.load, tacit.Topology.from_newick, tacit.LatentTree.from_bif):
        refused(reader, "/proc/self/mem")


@pytest.mark.parametrize(
    "text", [TOO_LONG, "a\0b", "(a,b" * 2000, "/"], ids=["long", "nul", "tree", "/"]
)
def test_text_that_is_no_file_is_refused_by_every_reader(text):
    for reader in (tacit.read_documents, tacit.read_trees, tacit.load):
        refused(reader, text)
    for estimator in (tacit.HMM(), tacit.TopicModel(2), tacit.KneserNeyLM(), tacit.LatentTree()):
        refused(estimator.fit, text)
    refused(tacit.LatentTree(structure=text, n_states=2).fit, ROWS)


@pytest.mark.parametrize("target", [None, 30, 1.5, "y", HUGE, object(), []], ids=kind)
def test_target_that_is_no_column_is_refused(tree, target):
    refused(tree.query, target)
    if target is not None:
        refused(tree.predict_proba, ROWS, target=target)


@pytest.mark.parametrize(
    "weight",
    [1e308, 1e-320, np.nan, np.inf, -1.0, 0.0, "a", None, HUGE, 1j],
    ids=lambda weight: type(weight).__name__ if isinstance(weight, int) else str(weight),
)
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (tacit.LatentTree(n_states=2), ROWS),
        (tacit.LatentClass(2), ROWS),
        (tacit.ChowLiuTree(), ROWS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_weights_out_of_range_are_refused(model, data, weight):
    refused(model.fit, data, sample_weight=[weight] * 40)


def test_weights_of_very_different_size_are_refused():
    refused(tacit.LatentTree(n_states=2).fit, ROWS, sample_weight=[1e300] + [1e-300] * 39)


@pytest.mark.parametrize("number", [10**9, HUGE, -1, 0, 1.5, "many", [2]], ids=kind)
def test_numbers_of_states_and_bins_are_refused(number):
    refused(tacit.LatentTree(n_states=number).fit, ROWS)
    refused(tacit.LatentClass(number).fit, ROWS)
    refused(tacit.HMM(n_states=number).fit, SEQUENCES)
    refused(tacit.LatentTree(n_states=2, n_bins=number).fit, NUMBERS)
    refused(tacit.KernelTree(n_bins=number).fit, NUMBERS)


@pytest.mark.parametrize(
    "counts", ["path", None, 3, [], {}], ids=lambda value: type(value).__name__
)
def test_counts_of_a_wrong_kind_are_refused(counts):
    refused(tacit.KneserNeyLM().fit_counts, counts)
    refused(tacit.PowerLowRankLM().fit_counts, counts)


@pytest.mark.parametrize("value", [3, HUGE, [3], b"ab"], ids=lambda value: type(value).__name__)
def test_words_and_columns_of_a_wrong_kind_are_refused(value):
    refused(tacit.KneserNeyLM(vocabulary=value).fit, [["a", "b"]] * 9)
    refused(tacit.KernelTree(continuous=value).fit, NUMBERS)
    refused(tacit.KernelTree(kernel=value).fit, NUMBERS)
    refused(tacit.KneserNeyLM(discounts=HUGE).fit, [["a", "b"]] * 9)


def test_huge_integers_are_refused_where_a_column_or_a_symbol_is_meant(tree):
    numbers = tacit.KernelTree(2, effort="low").fit(NUMBERS)
    chain = tacit.HMM(n_states=2).fit(SEQUENCES)
    for ask in (numbers.quantiles, numbers.expectation, numbers.conditional_density):
        refused(ask, NUMBERS, HUGE)
    refused(tree.to_bif, "t.bif", component=HUGE)
    refused(chain.score, [[HUGE, "a"]])
    refused(tacit.SpanParser().fit, [[("a", HUGE)]])
    refused(tacit.GaussianMixtureMoments(1).fit(np.eye(3)).as_start, HUGE)


@pytest.mark.parametrize(
    "pair", [(HUGE, 1), (1, HUGE), (["a"], 1), ("a", "b"), ("a", None)], ids=kinds
)
def test_pairs_that_are_no_word_with_a_count_are_refused(pair):
    refused(tacit.TopicModel(2).fit, [[("a", 1), pair], [("b", 1)]])


def test_functions_that_cannot_be_called_are_refused():
    series = tacit.KernelHMM(2).fit(np.arange(30.0) % 7)
    for model in (tacit.KernelTree(2, effort="low"), tacit.GaussianTree()):
        refused(model.fit(NUMBERS).expectation, NUMBERS, "x0", 3)
    refused(series.expectation, [[1.0, 2.0]], 3)
    refused(series.expectation, [[1.0, 2.0]], target=np.zeros(2))


@pytest.mark.parametrize(
    ("model", "data", "names"),
    [
        (tacit.LatentTree(2), ROWS, "n_states n_bins n_jobs structure"),
        (tacit.KernelTree(2), NUMBERS, "n_states n_jobs continuous structure"),
        (tacit.GaussianTree(), NUMBERS, "n_jobs categorical shrinkage structure"),
        (tacit.LatentJunctionTree([("h", "x0"), ("h", "x1")], 2), ROWS, "n_states compress graph"),
        (tacit.WeightedAutomaton(2), SEQUENCES, "scaled n_jobs"),
        (tacit.ProbabilisticAutomaton(2), SEQUENCES, "tied"),
        (tacit.TopicModel(2), [["a", "b"]] * 9, "words n_jobs"),
        (tacit.KneserNeyLM(2), [["a", "b"]] * 9, "folder"),
        (tacit.TableImputer(), NUMBERS, "forests add_indicator n_jobs"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
@pytest.mark.parametrize("value", [[HUGE], [None], [[1, 2], [3]], b"\0"], ids=kind)
def test_arguments_of_a_wrong_kind_are_refused(model, data, names, value):
    for name in names.split():
        refused(clone(model).set_params(**{name: value}).fit, data)


def test_folders_with_a_nul_character_and_indices_of_no_column_are_refused():
    refused(tacit.KneserNeyLM(2, folder="a\0b").fit, [["a", "b"]] * 9)
    refused(tacit.GaussianTree(categorical=None).fit, NUMBERS)
    refused(tacit.TopicModel(2, words={"a": HUGE}).fit, [["a", "b"]] * 9)


WRONG = [
    *[None, HUGE, -1, 0, 1.5, np.nan, "x", b"x", True, 1j, object()],
    *[[], [None], [HUGE], [[1, 2], [3]], {}, {"a": None}],
    *[np.zeros(2), np.array([True, False]), np.array(["a", None], dtype=object)],
]
EVERY_ARGUMENT = [
    (tacit.LatentPCFG(2, max_iter=2), tacit.toy.sample_trees(12, 0)),
    (tacit.SpanParser(), TAGGED),
    (tacit.ChowLiuTree(), ROWS),
    (tacit.PowerLowRankLM(2), [["a", "b", "a"]] * 9),
    (tacit.ClassLM(2, 2), [["a", "b", "a"]] * 9),
    (tacit.HigherOrderHMM(2, 2, n_restarts=1, max_iter=3), RNG.integers(2, size=(40, 4))),
    (tacit.FactorialHMM(2, 2, n_restarts=1, max_iter=3), RNG.integers(2, size=(40, 4))),
    (tacit.ConstituentContextModel(max_iter=2, n_restarts=1), TAGGED),
    (tacit.HMM(2), SEQUENCES),
    (tacit.HMM(2, emissions="gaussian"), [np.arange(12.0) % 5] * 4),
    (tacit.LatentTree(2), ROWS),
    (tacit.GaussianTree(), NUMBERS),
    (tacit.KernelTree(2, effort="low", experts=None), NUMBERS),
    (tacit.ProbabilisticAutomaton(2), SEQUENCES),
    (tacit.WeightedAutomaton(2), SEQUENCES),
]


def answers_or_refuses(call, what):
    """Foreign functions may raise what they like, all else gives an answer or one short line."""
    try:
        call()
    except TacitError as error:
        message = str(error)
        assert "\n" not in message, what
        assert 0 < len(message) <= LONGEST_MESSAGE, what
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "data"),
    EVERY_ARGUMENT,
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_every_argument_of_a_wrong_kind_is_answered_or_refused(model, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # "x" is a good name of a folder of counts
    for name in model.get_params():
        if name in ("max_iter", "n_restarts", "n_samples", "n_sweeps"):
            continue  # huge numbers of steps are allowed
        for value in WRONG:
            changed = clone(model).set_params(**{name: value})
            answers_or_refuses(lambda m=changed: m.fit(data), f"{name}={kind(value)}")


@pytest.mark.parametrize(
    "value", [{"a": None}, [None], [(1, 2, 3)], [([0], [99])], 1.5, HUGE, "x"], ids=kind
)
def test_folds_of_a_wrong_kind_are_refused(value):
    model = tacit.LikelihoodClassifier(tacit.ChowLiuTree(), cv=value)
    refused(model.fit, ROWS, np.arange(40) % 2)


def test_folds_may_be_given_as_row_numbers_or_flags():
    flags, y = np.arange(40) < 20, np.arange(40) % 2
    pairs = ([(flags, ~flags)], [(np.flatnonzero(flags), np.flatnonzero(~flags))])
    models = [tacit.LikelihoodClassifier(tacit.ChowLiuTree(), cv=cv).fit(ROWS, y) for cv in pairs]
    assert models[0].temperature_ == models[1].temperature_


@pytest.mark.parametrize("ability", [None, [], 3, np.zeros(2), {}], ids=kind)
def test_what_is_no_name_of_an_ability_is_none(tree, ability):
    assert not tree.can(ability)


COLUMNS = {
    "id": np.repeat(np.arange(4), 10),
    "time": np.tile(np.arange(10), 4),
    "symbol": list("abab") * 10,
    "number": RNG.normal(size=40),
}
HMMS = [
    (tacit.HMM(2), SEQUENCES),
    (tacit.HMM(2, emissions="gaussian"), [np.arange(12.0) % 5] * 4),
    (tacit.HMM(2, durations="table", max_duration=4), SEQUENCES),
    (tacit.HMM(2, emissions={"symbol": "categorical", "number": "gaussian"}), COLUMNS),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "data"), HMMS, ids=["symbols", "numbers", "durations", "columns"]
)
def test_questions_about_sequences_with_a_wrong_kind_are_answered_or_refused(model, data):
    model = clone(model).fit(data)
    questions = {
        "merge": model.merge,
        "remaining_duration": model.remaining_duration,
        "most": lambda value: model.remaining_duration(data, most=value),
        "change_proba": model.change_proba,
        "sample_states": model.sample_states,
        "n_samples": lambda value: model.sample_states(data, value),
        "impute": model.impute,
        "update": lambda value: model.filter().update(value),
        "states": lambda value: clone(model).fit(data, states=value),
    }
    for name, question in questions.items():
        for value in WRONG:
            answers_or_refuses(lambda q=question, v=value: q(v), f"{name}({kind(value)})")
