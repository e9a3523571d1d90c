"""The language model of power low rank ensembles: its arguments, queries and its files."""

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.exceptions import NotFittedError

import tacit
from oracles.edited_files import edited
from oracles.stored_again import FOLDER
from tacit.errors import ArgumentError, DataError, FileFormatError
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.language.power_low_rank_lm import PowerLowRankLM


def lines(seed, n=200):
    """A language of classes of words: words of a class are followed by words of another."""
    rng = np.random.default_rng(seed)
    names = [[f"{kind}{i}" for i in range(15)] for kind in "abc"]
    out = []
    for _ in range(n):
        kind, line = int(rng.integers(3)), []
        for _ in range(rng.integers(1, 8)):
            line.append(str(rng.choice(names[kind])))
            kind = (kind + 1) % 3 if rng.random() < 0.9 else int(rng.integers(3))
        out.append(" ".join(line))
    return out


@pytest.fixture(scope="module")
def model():
    return PowerLowRankLM(3, n_restarts=2, random_state=0).fit(lines(0), validation=lines(1, 50))


def test_words_of_classes_are_predicted_better_than_by_kneser_ney(model):
    peer = KneserNeyLM(3).fit(lines(0))
    assert model.perplexity(lines(2)) < 0.95 * peer.perplexity(lines(2))


@pytest.mark.parametrize("context", ["", "a1", "a1 b2", "b5 b5", "never seen", "c1 unseen a1 b1"])
def test_next_words_have_probabilities_that_sum_to_one(model, context):
    probs = model.predict_next_proba(context)
    assert probs.sum() == pytest.approx(1.0, abs=1e-12)
    sentence = [*context.split(), "a2"]
    place = model.vocabulary_.ids(["a2"])[0]
    assert model.scores(sentence, end=False)[-1].log_prob == pytest.approx(np.log(probs[place]))


def test_a_line_at_once_is_its_words_one_by_one(model):
    for line in lines(3, 20):
        words = model.scores(line)
        assert model.score_samples([line])[0] == pytest.approx(
            sum(word.log_prob for word in words), rel=1e-12
        )
    assert model.score_samples(lines(3, 20)) == pytest.approx(
        [model.score_samples([line])[0] for line in lines(3, 20)], rel=1e-12
    )


def test_the_chosen_model_has_the_validation_perplexity_it_says(model):
    said = model.diagnostics_["validation_perplexities"]
    # What single precision loses is given back after parts are joined, not before.
    assert model.perplexity(lines(1, 50)) == pytest.approx(said["after"], rel=1e-4)
    assert said["after"] <= said["before"]


def test_the_seed_decides_and_threads_do_not():
    one, same, other = (
        PowerLowRankLM(3, n_restarts=1, random_state=seed, n_jobs=jobs).fit(lines(0))
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert np.array_equal(one.model_.left, same.model_.left)
    assert not np.array_equal(one.model_.left, other.model_.left)


def test_the_printed_form():
    ranks = {2: 3, 3: 2}
    model = PowerLowRankLM(3, preset="printed", ranks=ranks, random_state=0).fit(lines(0))
    assert model.model_.grams.probs[0] == 0.0  # unknown words have none
    assert [len(model.plans_[at].powers) for at in (2, 3)] == [1, 1]
    assert model.diagnostics_["pads"] == 2
    fitted_again = PowerLowRankLM(3, preset="printed", random_state=0).fit(
        lines(0), validation=lines(1, 50)
    )
    assert fitted_again.plans_[2].weights == (1.0,)


def test_powers_ranks_and_weights_can_be_given():
    model = PowerLowRankLM(
        3,
        powers={2: (0.75, 0.25), 3: ()},
        ranks={2: (4, 3, 2), 3: ()},
        weights={2: (1, 1, 0.5), 3: ()},
        random_state=0,
    ).fit(lines(0), validation=lines(1, 50))
    assert model.plans_[2].weights == (1.0, 1.0, 0.5)
    assert model.plans_[3].ranks == ()
    assert model.predict_next_proba("a1").sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        {"order": 0},
        {"ranks": 7},
        {"ranks": {7: (2,)}},
        {"ranks": {2: (1, 1, 1)}},
        {"powers": {2: "half"}},
        {"weights": {2: (2.0, 1.0)}},
        {"preset": "thesis"},
        {"n_restarts": 0},
        {"base": "none"},
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments):
    with pytest.raises(ArgumentError):
        PowerLowRankLM(**arguments).fit(["a b"])


def test_nothing_learnt_and_nothing_to_learn_are_said():
    with pytest.raises(NotFittedError):
        PowerLowRankLM().score_samples(["a"])
    with pytest.raises(DataError):
        PowerLowRankLM().fit([])


def test_a_file_gives_the_model_back(model, tmp_path):
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert isinstance(loaded, PowerLowRankLM)
    assert loaded.plans_ == model.plans_
    assert loaded.score_samples(lines(3, 20)) == pytest.approx(
        model.score_samples(lines(3, 20)), rel=0, abs=0
    )


def test_files_of_older_formats_name_the_printed_form_otherwise(tmp_path):
    stored, path = FOLDER / "other-1-ensemble.tacit", tmp_path / "model.tacit"
    with safe_open(stored, "numpy") as file:
        header = file.metadata()["tacit"]
    header = header.replace('"preset": null', '"preset": "thesis"')
    save_file(load_file(stored), path, {"tacit": header})
    assert tacit.load(path).preset == "printed"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("model.rows", lambda a: a + 10**6 * (a >= 0)),
        ("model.columns", lambda a: a[:-1]),
        ("model.left", lambda a: np.full(len(a), np.nan, np.float32)),
        ("model.ranks", lambda a: np.arange(len(a))),
        ("model.left", lambda a: a.astype(np.float64)),
    ],
)
def test_a_damaged_file_is_refused(model, tmp_path, name, change):
    path = tmp_path / "model.tacit"
    model.save(path)
    edited(path, {name: change(load_file(path)[name])})
    with pytest.raises(FileFormatError):
        tacit.load(path)


def last_moved(places, to):
    out = places.copy()
    out[np.argmax(places)] = to
    return out


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rows", lambda a: last_moved(a, a.max() + 1)),
        ("rows", lambda a: last_moved(a, -2)),
        ("columns", lambda a: last_moved(a, a.max() + 1)),
        ("columns", lambda a: last_moved(a, -2)),
        ("ranks", lambda a: np.where(a > 0, -1, a)),
    ],
)
def test_rows_and_columns_lie_within_their_factors(model, tmp_path, name, change):
    """The last ones end where their factors do: one entry more is too far."""
    path = tmp_path / "model.tacit"
    model.save(path)
    arrays = load_file(path)
    ranks = arrays["model.ranks"]
    for one, factor in (("rows", "left"), ("columns", "right")):
        last = np.argmax(arrays[f"model.{one}"])
        end = arrays[f"model.{one}"][last] + ranks[last]
        assert end == len(arrays[f"model.{factor}"])
    changed = {f"model.{name}": change(arrays[f"model.{name}"])}
    edited(path, changed)
    with pytest.raises(FileFormatError, match="does not lie within its factor"):
        tacit.load(path)


@pytest.mark.parametrize("lines", [["a b a", "b"], [""], ["a"], ["a a a a"]])
@pytest.mark.parametrize("preset", [None, "printed"])
def test_tiny_texts(lines, preset):
    for order in (1, 3, 4):
        ranks = {at: 1 for at in (2, 3) if at <= order} if preset else "auto"
        model = PowerLowRankLM(order, preset=preset, ranks=ranks, random_state=0, n_jobs=2).fit(
            lines
        )
        assert model.predict_next_proba("a").sum() == pytest.approx(1, abs=1e-12)
