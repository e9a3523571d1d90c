"""Every class of hmmlearn, with every covariance, to Tacit and back."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

import tacit

LENGTHS = [15] * 12
INITIAL, TRANSITIONS = np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]])


def drawn(seed=0):
    """(position, column) numbers, counts, rows of counts of total six, and symbols, of two states."""
    rng = np.random.default_rng(seed)
    states = (np.cumsum(rng.random((12, 15)) < 0.2, axis=1) % 2).ravel()
    numbers = 3.0 * states[:, None] + rng.normal(size=(180, 2)) @ np.array([[1, 0.4], [0, 0.7]])
    counts = rng.poisson(np.array([[2.0, 9.0], [8.0, 1.0]])[states])
    rows = rng.multinomial(6, np.array([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])[states])
    symbols = np.where(rng.random(180) < 0.8, states, 2)[:, None]
    return {"numbers": numbers, "counts": counts, "rows": rows, "symbols": symbols}


MODELS = {
    "CategoricalHMM": ("symbols", {}, "categorical"),
    "PoissonHMM": ("counts", {}, "poisson"),
    "MultinomialHMM": ("rows", {"n_trials": 6}, "multinomial"),
    **{
        f"GaussianHMM {form}": ("numbers", {"covariance_type": form}, "gaussian")
        for form in ("spherical", "diag", "tied", "full")
    },
    **{
        f"GMMHMM {form}": ("numbers", {"covariance_type": form, "n_mix": 2}, "gaussian-mixture")
        for form in ("spherical", "diag", "tied", "full")
    },
}
FORMS = {"diag": "diagonal"}


@pytest.mark.parametrize("name", MODELS)
def test_models_score_the_same_here_and_back_there(name):
    hmm = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn is not installed")
    logging.getLogger("hmmlearn").setLevel(logging.CRITICAL)
    column, arguments, emissions = MODELS[name]
    kind, _, form = name.partition(" ")
    X = drawn()[column]
    theirs = getattr(hmm, kind)(2, n_iter=5, random_state=0, **arguments).fit(X, LENGTHS)
    model = tacit.HMM.from_hmmlearn(theirs)
    assert model.emissions == emissions
    if form and not (kind == "GMMHMM" and form == "tied"):
        assert model.covariance == FORMS.get(form, form)
    total = model.score_samples(X, LENGTHS).sum()
    assert total == pytest.approx(theirs.score(X, LENGTHS), rel=1e-7)
    log_probs = model.predict(X, LENGTHS, return_log_probs=True)[1]
    assert log_probs.sum() == pytest.approx(theirs.decode(X, LENGTHS)[0], rel=1e-7)
    posterior = theirs.predict_proba(X, LENGTHS)
    assert model.posterior(X, LENGTHS) == pytest.approx(posterior, abs=1e-6)
    again = model.to_hmmlearn()
    assert type(again).__name__ == kind
    assert again.score(X, LENGTHS) == pytest.approx(total, rel=1e-7)
    again.n_iter = 2
    again.fit(X, LENGTHS)  # goes on from there
    fitted = tacit.HMM(2, emissions=emissions, covariance=model.covariance).fit(X, lengths=LENGTHS)
    back = fitted.to_hmmlearn()
    assert back.score(X, LENGTHS) == pytest.approx(fitted.score_samples(X, LENGTHS).sum(), rel=1e-7)


@pytest.mark.parametrize("form", ["spherical", "diag", "tied", "full"])
def test_covariances_of_mixtures_have_their_shapes(form):
    rng = np.random.default_rng(0)
    shapes = {"spherical": (2, 3), "diag": (2, 3, 2), "tied": (2, 2, 2), "full": (2, 3, 2, 2)}
    spreads = rng.uniform(0.5, 2.0, shapes[form])
    if form in ("tied", "full"):
        spreads = spreads * np.eye(2)
    means, weights = rng.normal(size=(2, 3, 2)), rng.dirichlet(np.ones(3), 2)
    other = SimpleNamespace(
        startprob_=INITIAL,
        transmat_=TRANSITIONS,
        means_=means,
        covars_=spreads,
        weights_=weights,
        covariance_type=form,
    )
    model = tacit.HMM.from_hmmlearn(other)
    assert np.array_equal(model.means_, means)
    assert model.weights_ == pytest.approx(weights)
    assert model.n_components == 3
    for state, component in ((0, 2), (1, 0)):
        one = spreads[state] if form == "tied" else spreads[state, component]
        if form in ("spherical", "diag"):
            one = one * np.eye(2)
        assert np.array_equal(model.covariances_[state, component], one)


def test_rows_of_counts_are_no_symbols():
    other = SimpleNamespace(
        startprob_=INITIAL,
        transmat_=TRANSITIONS,
        emissionprob_=np.array([[0.5, 0.5], [0.2, 0.8]]),
        n_trials=np.array([4, 4, 6]),
    )
    model = tacit.HMM.from_hmmlearn(other)
    assert (model.emissions, model.n_trials_) == ("multinomial", 4)
