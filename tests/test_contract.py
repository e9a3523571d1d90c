"""What every model promises: the same names with the same meaning, and that asking changes nothing."""

import inspect

import numpy as np
import pytest

import tacit
from tacit.core.model import Counted, Model, Scored
from tacit.errors import FileFormatError
from tacit.toy import random_tree_model

CLASSES = {
    name: value
    for name in tacit.__all__
    if inspect.isclass(value := getattr(tacit, name)) and issubclass(value, Model)
}
KINDS = {"table", "sequences", "language", "parser", "grammar", "topics", "mixture"}
KINDS |= {"classifier", "imputer"}
# One thing has one name: these are names that others have taken.
SYNONYMS = {
    "n_starts",
    "least_count",
    "each",
    "every",
    "n_documents",
    "n_rows",
    "n",
    "seed",
    "verbose",
}

TABLE = random_tree_model(n_leaves=4, n_categories=3, random_state=0).sample(200, random_state=1)
NAMED = {f"c{place}": TABLE[:, place].tolist() for place in range(4)}
NUMBERS = np.random.default_rng(0).normal(size=(120, 3)) @ np.array(
    [[1, 0.6, 0.3], [0, 1, 0.5], [0, 0, 1]]
)
SYMBOLS = [list("aabbabab"), list("bbaab"), list("abab"), list("babba")] * 4
SERIES = [np.random.default_rng(place).normal(size=12) for place in range(6)]
TEXT = ["the dog saw a cat", "a cat saw the dog", "the cat slept", "a dog saw the cat"] * 4
WORDS = [line.split() for line in TEXT]
TAGS = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "saw": "VERB", "slept": "VERB"}
TAGGED = [[(word, TAGS[word]) for word in line] for line in WORDS]
TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VB saw) (NP (DT a) (NN cat))))",
    "(S (NP (DT a) (NN cat)) (VP (VB slept)))",
] * 4
DOCUMENTS = [
    ["apple", "pear", "plum", "apple"],
    ["car", "bus", "tram"],
    ["pear", "plum"],
    ["bus", "car"],
] * 6

GRAPH = [("h", "c0"), ("h", "c1"), ("h", "c2"), ("h", "c3")]


def mixed_lm(_):
    models = [tacit.KneserNeyLM(order=2).fit(TEXT), tacit.ClassLM(order=2, n_classes=2).fit(TEXT)]
    return tacit.MixedLM(models).fit(TEXT)


def backoff_lm(folder):
    tacit.KneserNeyLM(order=2).fit(TEXT).to_arpa(folder / "m.arpa")
    return tacit.BackoffLM.from_arpa(folder / "m.arpa")


def read_trees(folder):
    path = folder / "trees.txt"
    path.write_text("\n".join(TREES), encoding="utf-8")
    return list(tacit.read_trees(path))


# How each is fitted, and to what; what it is then asked about.
FITTED = {
    "BackoffLM": (backoff_lm, TEXT),
    "ChowLiuTree": (lambda _: tacit.ChowLiuTree().fit(NAMED), NAMED),
    "ClassLM": (lambda _: tacit.ClassLM(order=2, n_classes=2).fit(TEXT), TEXT),
    "ConstituentContextModel": (lambda _: tacit.ConstituentContextModel().fit(TAGGED), TAGGED),
    "FactorialHMM": (lambda _: tacit.FactorialHMM(1, n_states=2).fit(NAMED), NAMED),
    "GaussianMixtureMoments": (lambda _: tacit.GaussianMixtureMoments(2).fit(NUMBERS), NUMBERS),
    "GaussianTree": (lambda _: tacit.GaussianTree().fit(NUMBERS), NUMBERS),
    "HMM": (lambda _: tacit.HMM(2).fit(SYMBOLS), SYMBOLS),
    "HigherOrderHMM": (lambda _: tacit.HigherOrderHMM(1, n_states=2).fit(NAMED), NAMED),
    "KernelHMM": (lambda _: tacit.KernelHMM(2).fit(SERIES), SERIES),
    "KernelTree": (lambda _: tacit.KernelTree(2, "star", blend=False).fit(NUMBERS), NUMBERS),
    "KneserNeyLM": (lambda _: tacit.KneserNeyLM(order=2).fit(TEXT), TEXT),
    "LatentClass": (lambda _: tacit.LatentClass(2).fit(NAMED), NAMED),
    "LatentJunctionTree": (
        lambda _: tacit.LatentJunctionTree(GRAPH, n_states=2).fit(NAMED),
        NAMED,
    ),
    "LatentPCFG": (lambda folder: tacit.LatentPCFG(2).fit(read_trees(folder)), None),
    "LatentTree": (lambda _: tacit.LatentTree(2).fit(NAMED), NAMED),
    "LikelihoodClassifier": (
        lambda _: tacit.LikelihoodClassifier(tacit.LatentClass(2)).fit(NAMED, NAMED["c0"]),
        NAMED,
    ),
    "MixedLM": (mixed_lm, TEXT),
    "PowerLowRankLM": (lambda _: tacit.PowerLowRankLM(order=2).fit(TEXT), TEXT),
    "ProbabilisticAutomaton": (
        lambda _: tacit.ProbabilisticAutomaton(2, learn="em").fit(SYMBOLS),
        SYMBOLS,
    ),
    "SpanParser": (lambda _: tacit.SpanParser().fit(TAGGED), TAGGED),
    "TableImputer": (
        lambda _: tacit.TableImputer(forests=False).fit(NUMBERS),
        np.where(np.random.default_rng(1).random(NUMBERS.shape) < 0.2, np.nan, NUMBERS),
    ),
    "TopicModel": (lambda _: tacit.TopicModel(2).fit(DOCUMENTS), DOCUMENTS),
    "WeightedAutomaton": (lambda _: tacit.WeightedAutomaton(2).fit(SYMBOLS), SYMBOLS),
}
# What may be asked with nothing but rows; those that a model lacks are passed over.
QUESTIONS = [
    "score_samples",
    "score",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "posterior",
    "marginals",
    "most_likely",
    "most_probable_assignment",
    "impute",
    "transform",
    "filter",
    "predict_next_proba",
    "predict_next_density",
    "perplexity",
    "bic",
    "aic",
]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A function that gives the fitted model of a class, and what it may be asked about."""
    made = {}

    def get(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            make, rows = FITTED[name]
            made[name] = make(folder), read_trees(folder) if rows is None else rows
        return made[name]

    return get


def public_functions(kind):
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_") and callable(member) and member.__module__.startswith("tacit"):
            yield name, member


def asked(model, rows):
    """Ask everything that takes rows; what cannot be answered raises a `TacitError`."""
    for name in QUESTIONS:
        if name == "score" and model.kind == "classifier":
            continue  # the accuracy, which needs the classes
        if hasattr(model, name):
            try:
                yield name, getattr(model, name)(rows)
            except tacit.TacitError:
                continue
    if model.can("sample"):
        yield "sample", model.sample(2, random_state=0)
    if model.can("query"):
        yield "query", model.query(model.schema_.names[0])
    yield "summary", str(model.summary())


def test_every_public_estimator_is_here():
    assert set(FITTED) == set(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_states_its_kind_and_what_it_can_do(name):
    kind = CLASSES[name]
    assert kind.kind in KINDS
    assert kind.abilities
    for ability in kind.abilities:
        assert f'"{ability}"' in inspect.getdoc(Model), f"{ability} is not documented"


@pytest.mark.parametrize("name", CLASSES)
def test_one_thing_has_one_name(name):
    kind = CLASSES[name]
    for method, member in [("__init__", kind.__init__), *public_functions(kind)]:
        taken = SYNONYMS & set(inspect.signature(member).parameters)
        assert not taken, f"{name}.{method} has {taken}"
    arguments = inspect.signature(kind.__init__).parameters
    if "random_state" in arguments:
        assert arguments["random_state"].default == 0


@pytest.mark.parametrize(
    "name", [name for name, kind in CLASSES.items() if hasattr(kind, "sample")]
)
def test_sample_has_the_same_arguments(name):
    arguments = inspect.signature(CLASSES[name].sample).parameters
    assert list(arguments)[1] == "n_samples"
    assert arguments["n_samples"].default == 1
    assert arguments["random_state"].kind is inspect.Parameter.KEYWORD_ONLY
    assert arguments["random_state"].default is None


@pytest.mark.parametrize(
    "name", [name for name, kind in CLASSES.items() if issubclass(kind, Scored)]
)
def test_score_is_the_mean_of_score_samples(name, fitted):
    model, rows = fitted(name)
    assert model.score(rows) == pytest.approx(np.mean(model.score_samples(rows)), rel=1e-12)


@pytest.mark.parametrize(
    "name", [name for name, kind in CLASSES.items() if issubclass(kind, Counted)]
)
def test_information_criteria_count_parameters(name, fitted):
    model, rows = fitted(name)
    scores = model.score_samples(rows)
    p, total = model.n_parameters_, np.sum(scores)
    assert p > 0
    assert model.aic(rows) == pytest.approx(2 * p - 2 * total)
    n = sum(map(len, rows)) if model.kind == "sequences" else len(scores)  # as hmmlearn counts
    assert model.bic(rows) == pytest.approx(p * np.log(n) - 2 * total)


@pytest.mark.parametrize("name", CLASSES)
def test_asking_changes_nothing(name, fitted, tmp_path):
    model, rows = fitted(name)
    model.save(tmp_path / "before.tacit")
    answers = dict(asked(model, rows))
    assert answers
    model.save(tmp_path / "after.tacit")
    assert (tmp_path / "after.tacit").read_bytes() == (tmp_path / "before.tacit").read_bytes()


@pytest.mark.parametrize("name", CLASSES)
def test_a_loaded_model_answers_the_same(name, fitted, tmp_path):
    model, rows = fitted(name)
    model.save(tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert str(again.summary()) == str(model.summary())
    if isinstance(model, Scored):
        assert np.array_equal(again.score_samples(rows), model.score_samples(rows))


@pytest.mark.parametrize("name", CLASSES)
def test_a_summary_is_a_page_of_text_and_of_html(name, fitted):
    model, _ = fitted(name)
    page = str(model.summary())
    assert page.startswith(name)
    assert 3 <= len(page.splitlines()) <= 120
    assert max(map(len, page.splitlines())) <= 140
    shown = model._repr_html_()
    assert shown.startswith('<div class="tacit-summary">')
    assert "<table>" in shown
    assert CLASSES[name] is type(model)


@pytest.mark.parametrize("name", CLASSES)
def test_a_summary_of_edited_diagnostics_is_one_error(name):
    """Diagnostics are plain values that anyone may edit in a file."""
    summary = CLASSES[name].summary
    assert summary.__wrapped__ is not None

    class Edited(CLASSES[name]):
        def _check_fitted(self):
            raise KeyError("n_sweeps")

    model = Edited.__new__(Edited)
    with pytest.raises(KeyError):
        model.summary()
    model._check_fitted = lambda: None
    with pytest.raises(FileFormatError, match="are not those that fit writes"):
        model.summary()


def test_an_unfitted_model_is_shown_as_scikit_learn_shows_it():
    assert "sk-" in tacit.HMM()._repr_html_()
