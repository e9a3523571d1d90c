"""Gaps in rows of multinomial counts, against all rows of counts that fit what is there."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multinomial

import tacit
from tacit.errors import DataError, NotAvailableError
from tacit.sequences.emissions.multinomial import MultinomialDensity
from tacit.sequences.model.emission_chain import EmissionChain

N = 5
EMIT = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
INITIAL, TRANSITIONS = np.array([0.7, 0.3]), np.array([[0.8, 0.2], [0.3, 0.7]])
nan = np.nan
ROWS = np.array([[3, 1, 1], [nan, nan, nan], [1, nan, nan], [nan, 2, 1], [nan, nan, nan]])


def made(density):
    model = tacit.HMM(2, emissions="multinomial")
    model.parameters_, model.diagnostics_ = EmissionChain(INITIAL, TRANSITIONS, density), {}
    model.symbols_, model.names_ = (), ("x0", "x1", "x2")
    return model


@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_missing_counts_are_means_over_all_rows_that_fit(t):
    model = made(MultinomialDensity(EMIT, N, same_totals=True))
    (filled,), (posterior,) = model.impute([ROWS]), model.posterior([ROWS])
    known = np.isfinite(ROWS[t])
    rows = np.array([row for row in product(range(N + 1), repeat=3) if sum(row) == N])
    rows = rows[(rows[:, known] == ROWS[t][known]).all(axis=1)]
    expected = np.zeros(3)
    for state, weight in enumerate(posterior[t]):
        chances = multinomial.pmf(rows, N, EMIT[state])
        expected += weight * chances @ rows / chances.sum()
    assert filled[t] == pytest.approx(expected, abs=1e-12)
    assert filled[t].sum() == pytest.approx(N)


def test_the_number_of_trials_is_known_where_all_totals_are_the_same(tmp_path):
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.random((10, 30)) < 0.1, axis=1) % 2
    data = list(rng.multinomial(N, EMIT[states]).astype(float))
    data[0][3] = nan
    data[1][2, 0] = nan
    same = tacit.HMM(2, emissions="multinomial", max_iter=10).fit(data)
    assert same.can("impute")
    same.save(tmp_path / "m.tacit")
    filled = tacit.load(tmp_path / "m.tacit").impute(data)
    assert filled[0].sum(axis=1) == pytest.approx(np.full(30, N))
    assert filled[1][2, 0] == pytest.approx(N - np.nansum(data[1][2]))
    with pytest.raises(DataError, match="more than the 5 trials"):
        same.impute([np.array([[4.0, 3.0, nan]])])
    data[2][4] += 1
    other = tacit.HMM(2, emissions="multinomial", max_iter=10).fit(data)
    assert not other.can("impute")
    for some in (data, data[2:]):  # also where nothing is missing
        with pytest.raises(NotAvailableError, match="different totals"):
            other.impute(some)


def test_models_of_hmmlearn_say_whether_totals_are_the_same():
    hmm = pytest.importorskip("hmmlearn.hmm")
    peer = hmm.MultinomialHMM(2, n_trials=N)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = INITIAL, TRANSITIONS, EMIT
    peer.n_features = 3
    assert tacit.HMM.from_hmmlearn(peer).can("impute")
    peer.n_trials = np.array([5, 4, 5])
    assert not tacit.HMM.from_hmmlearn(peer).can("impute")
