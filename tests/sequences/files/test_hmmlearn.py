"""Hidden Markov models to and from files and hmmlearn: the same answers on both sides."""

from types import SimpleNamespace

import numpy as np
import pytest

import tacit
from oracles.edited_files import edited
from oracles.letters import letters
from tacit.core.files.header_values import symbols
from tacit.errors import ArgumentTypeError, DataError, FileFormatError, NotAvailableError
from tacit.sequences.hmm import HMM
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.proper_operators import ProperOperators


def rows(rng, *shape):
    table = rng.random(shape) + 0.05
    return table / table.sum(axis=-1, keepdims=True)


def categorical(symbols=("a", "b", "c"), seed=0):
    rng = np.random.default_rng(seed)
    return HMM.from_hmmlearn(
        SimpleNamespace(
            startprob_=rows(rng, 3),
            transmat_=rows(rng, 3, 3),
            emissionprob_=rows(rng, 3, len(symbols)),
        ),
        symbols,
    )


def gaussian(kind="full", n_columns=2, seed=0):
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(3, n_columns, n_columns))
    covariances = spread @ spread.transpose(0, 2, 1) + np.eye(n_columns)
    return HMM.from_hmmlearn(
        SimpleNamespace(
            startprob_=rows(rng, 3),
            transmat_=rows(rng, 3, 3),
            means_=rng.normal(size=(3, n_columns)),
            covars_=covariances * np.eye(n_columns) if kind == "diag" else covariances,
            covariance_type=kind,
        )
    )


def operators():
    model = categorical()
    tables = model.parameters_
    model.parameters_ = ProperOperators(tables.operators, np.array([0.2, 0.3, 0.5]), 0.1)
    return model


TEXTS = ["abca", "", "c", "bbbac"]


# -- hmmlearn -------------------------------------------------------------------------------------


def test_a_categorical_model_scores_the_same_in_hmmlearn():
    pytest.importorskip("hmmlearn")
    model = categorical()
    theirs = model.to_hmmlearn()
    codes = [["abc".index(symbol) for symbol in text] for text in TEXTS if text]
    expected = [theirs.score(np.array(row)[:, None]) for row in codes]
    assert model.score_samples([list(text) for text in TEXTS if text]) == pytest.approx(expected)
    for text, row in zip(TEXTS[3:], codes[2:], strict=True):
        value, path = theirs.decode(np.array(row)[:, None])
        ours = model.predict([list(text)], return_log_probs=True)
        assert ours[0][0].tolist() == path.tolist()
        assert ours[1] == pytest.approx([value])
        assert model.posterior([list(text)])[0] == pytest.approx(
            theirs.predict_proba(np.array(row)[:, None])
        )
    converted = HMM.from_hmmlearn(theirs, "abc")
    assert converted.score_samples(letters(TEXTS)) == pytest.approx(
        model.score_samples(letters(TEXTS))
    )
    assert converted.symbols_ == model.symbols_


@pytest.mark.parametrize("kind", ["full", "diag", "spherical", "tied"])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_a_fitted_model_of_numbers_scores_the_same_here(kind, n_columns):
    hmm = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(1)
    values = rng.normal(size=(200, n_columns)) + 3 * rng.integers(0, 2, 200)[:, None]
    theirs = hmm.GaussianHMM(2, kind, n_iter=5, random_state=0).fit(values, [120, 80])
    model = HMM.from_hmmlearn(theirs)
    assert model.score_samples(values, lengths=[120, 80]).sum() == pytest.approx(
        theirs.score(values, [120, 80])
    )
    again = model.to_hmmlearn()
    assert again.score(values, [120, 80]) == pytest.approx(theirs.score(values, [120, 80]))
    assert again.predict(values).tolist() == model.predict(values).tolist()
    assert again.fit(values, [120, 80]).n_iter == 10


def test_what_hmmlearn_has_not_fitted_cannot_be_taken_over():
    hmm = pytest.importorskip("hmmlearn.hmm")
    with pytest.raises(DataError, match="not fitted"):
        HMM.from_hmmlearn(hmm.CategoricalHMM(2))
    chain = SimpleNamespace(startprob_=np.ones(1), transmat_=np.ones((1, 1)))
    with pytest.raises(ArgumentTypeError, match="SimpleNamespace"):
        HMM.from_hmmlearn(chain)


def test_operators_have_no_states_to_give_away():
    pytest.importorskip("hmmlearn")
    with pytest.raises(NotAvailableError, match="hidden states"):
        operators().to_hmmlearn()


# -- numbers --------------------------------------------------------------------------------------


def test_models_of_numbers_answer_with_numbers():
    model = gaussian()
    values = np.random.default_rng(2).normal(size=(6, 2))
    values[2, 0] = np.nan
    assert model.score_samples([values, values[:0]])[1] == 0.0
    assert model.filter(values).shape == (6, 3)
    assert model.expectation(values).shape == (2,)
    means = model.expectation(values, all_positions=True, steps=2)
    assert means[0] == pytest.approx(model.initial_ @ model.transitions_ @ model.means_)
    assert model.sample(4, 5, random_state=0).shape == (4, 5, 2)
    assert gaussian(n_columns=1).sample(4, 5, given=[0.1, 0.3], random_state=0).shape == (4, 5)
    assert gaussian(n_columns=1).expectation([0.1, 0.3]).shape == ()
    for ask in ("emissions_", "operators_"):
        with pytest.raises(NotAvailableError, match="numbers"):
            getattr(model, ask)
    with pytest.raises(NotAvailableError, match="numbers"):
        model.predict_next_proba(values)
    with pytest.raises(NotAvailableError, match="numbers"):
        model.perplexity(values)
    with pytest.raises(DataError, match="columns"):
        model.score_samples(values[:, :1])


def test_draws_of_numbers_have_the_moments_of_the_model():
    model = gaussian()
    drawn = model.sample(60_000, 2, random_state=3)
    second = model.initial_ @ model.transitions_
    assert drawn[:, 1].mean(axis=0) == pytest.approx(second @ model.means_, abs=0.05)
    means = model.means_
    seconds = model.covariances_ + means[:, :, None] * means[:, None, :]
    second_moments = drawn[:, 1].T @ drawn[:, 1] / len(drawn)
    assert second_moments == pytest.approx(np.einsum("k,kij->ij", second, seconds), abs=0.15)


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [categorical(), categorical((1, 2.5, ("x", 3))), operators(), gaussian(), gaussian("diag")],
)
def test_a_file_gives_back_the_same_model(model, tmp_path):
    model.save(tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    assert type(loaded) is HMM
    assert loaded.symbols_ == model.symbols_
    assert loaded.names_ == model.names_
    assert loaded.get_params() == model.get_params()
    assert loaded.diagnostics_ == model.diagnostics_
    X = model.sample(5, 4, random_state=0)
    X = list(X) if isinstance(X, np.ndarray) else X
    assert np.array_equal(loaded.score_samples(X), model.score_samples(X))
    assert loaded.n_features_in_ == model.n_features_in_
    with pytest.raises(NotAvailableError, match=r"counts|symbols"):
        loaded.partial_fit(X)


def damaged(path, change):
    edited(path, change=change)
    with pytest.raises(FileFormatError):
        tacit.load(path)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "m.tacit"
    for model, changes in (
        (
            categorical(),
            [
                lambda header, _: header.pop("parameters"),
                lambda header, _: header.pop("symbols"),
                lambda header, _: header.update(symbols="abc"),
                lambda header, _: header.update(symbols=["a"]),
                lambda header, _: header["parameters"].update(kind="operators"),
                lambda _, arrays: arrays.pop("parameters.transitions"),
                lambda _, arrays: arrays.update({"parameters.initial": np.array([0.5, 0.5])}),
            ],
        ),
        (
            operators(),
            [
                lambda _, arrays: arrays.pop("parameters.frequencies"),
                lambda _, arrays: arrays.update(
                    {"parameters.frequencies": np.array([-1.0, 1.0, 1.0])}
                ),
                lambda header, _: header["parameters"].update(fallback=2.0),
                lambda header, _: header["parameters"].update(kind="other"),
            ],
        ),
        (
            gaussian(),
            [
                lambda _, arrays: arrays.pop("parameters.means"),
                lambda _, arrays: arrays.update({"parameters.means": np.zeros((3, 4))}),
                lambda _, arrays: arrays.update({"parameters.means": np.full((3, 2), np.nan)}),
                lambda _, arrays: arrays.update({"parameters.means": np.full((3, 2), 1e308)}),
                lambda _, arrays: arrays.update(
                    {"parameters.covariances": -arrays["parameters.covariances"]}
                ),
                lambda _, arrays: arrays.update(
                    {"parameters.covariances": 1e-310 * arrays["parameters.covariances"]}
                ),
            ],
        ),
    ):
        for change in changes:
            model.save(path)
            damaged(path, change)


def test_symbols_of_other_kinds_cannot_be_written():
    with pytest.raises(ArgumentTypeError, match="frozenset"):
        symbols().to_plain((frozenset("a"),))
    assert isinstance(gaussian().parameters_, GaussianChain)
