"""The density of a column: it integrates to one, whatever the column looks like."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oracles.edited_files import copied
from tacit.core.encoders.encoder_files import MARGIN
from tacit.core.encoders.margins import fit_margin
from tacit.errors import DataError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)

RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": RNG.normal(size=1500),
    "heavy": RNG.standard_cauchy(1500),
    "skewed": np.exp(1.5 * RNG.normal(size=1500)),
    "edge": RNG.exponential(size=1500),
    "bimodal": np.concatenate([RNG.normal(-4, 0.5, 700), RNG.normal(4, 0.5, 800)]),
    "two scales": np.concatenate([RNG.normal(0, 0.01, 500), RNG.normal(0, 1, 1000)]),
    "zeros": np.where(RNG.random(1500) < 0.3, 0.0, RNG.exponential(size=1500)),
    "rounded": np.round(np.clip(RNG.normal(0.4, 0.25, 1500), 0, 1), 2),
    "ages": RNG.integers(17, 90, 1500).astype(float),
    "shifted": 1e9 + RNG.normal(size=500),
    "tiny": 1e-12 * RNG.normal(size=500),
    "constant": np.full(50, 3.0),
    "zero": np.zeros(50),
    "two values": RNG.integers(0, 2, 100).astype(float),
    "few rows": RNG.normal(size=5),
    "two rows": np.array([1.0, 2.0]),
    "one row": np.array([-7.0]),
    "with gaps": np.where(RNG.random(500) < 0.3, np.nan, RNG.normal(size=500)),
}


def masses(margin):
    """The integral of the density between places where it may have a kink, far into the tails."""
    places, _ = margin._table
    widths = np.diff(places)
    inside = places[:-1, None] + widths[:, None] * 0.5 * (NODES + 1)
    heights = margin.density(inside.ravel()).reshape(inside.shape)
    return (heights @ (0.5 * WEIGHTS)) * widths


@pytest.mark.parametrize("name", COLUMNS)
def test_it_integrates_to_one_and_the_cdf_is_its_integral(name):
    margin = fit_margin(COLUMNS[name])
    actual = masses(margin)
    assert actual.sum() == pytest.approx(1, abs=1e-6)
    _, below = margin._table
    # Numbers around 1e9 are 1e-7 apart.
    assert np.diff(below) == pytest.approx(actual, abs=1e-6 if name == "shifted" else 1e-8)
    assert below[[0, -1]] == pytest.approx([0, 1], abs=1e-12)


@pytest.mark.parametrize("name", COLUMNS)
def test_quantiles_invert_the_distribution_function(name):
    margin = fit_margin(COLUMNS[name])
    proportions = np.concatenate([[1e-6], np.linspace(0.001, 0.999, 201), [1 - 1e-6]])
    # The numbers around 1e9 are 1e-7 apart.
    close = 1e-7 if name == "shifted" else 1e-11
    assert margin.cdf(margin.inverse(proportions)) == pytest.approx(proportions, abs=close)
    scores = margin.scores(margin.from_scores(np.array([-3.0, 0.0, 2.0])))
    assert scores == pytest.approx([-3.0, 0.0, 2.0], abs=1e4 * close)


@pytest.mark.parametrize("name", COLUMNS)
def test_no_number_is_impossible(name):
    values = COLUMNS[name]
    margin = fit_margin(values)
    size = np.nanmax(np.abs(values)) + 1
    far = np.concatenate([[-1e300, -1e12, 1e12, 1e300], 10.0 ** np.arange(5) * size])
    densities = margin.density(far)
    assert (densities > 0).all()
    assert np.isfinite(densities).all()
    there = values[~np.isnan(values)]
    assert (margin.density(there) > densities.max()).all()
    assert np.isnan(margin.density(np.array([np.nan]))).all()
    assert np.isnan(margin.cdf(np.array([np.nan]))).all()


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_written_is_read_back(name):
    margin = fit_margin(COLUMNS[name])
    again = copied(MARGIN, margin)
    places = np.linspace(-3, 5, 50)
    assert np.array_equal(again.density(places), margin.density(places))
    assert np.array_equal(again.cdf(places), margin.cdf(places))


VALUES = st.floats(-1e9, 1e9, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 2.0])


@given(values=st.lists(VALUES | st.just(np.nan), min_size=1, max_size=60))
def test_any_numbers_have_a_density(values):
    values = np.array(values)
    if np.isnan(values).all():
        with pytest.raises(DataError, match="single number"):
            fit_margin(values)
        return
    margin = fit_margin(values)
    there = values[~np.isnan(values)]
    densities, proportions = margin.density(there), margin.cdf(there)
    assert (densities > 0).all()
    assert np.isfinite(densities).all()
    assert ((proportions > 0) & (proportions < 1)).all()
    assert masses(margin).sum() == pytest.approx(1, abs=1e-4)
    actual = margin.cdf(margin.inverse(np.array([0.1, 0.5, 0.9])))
    assert actual == pytest.approx([0.1, 0.5, 0.9], abs=1e-6)


LAWS = {
    "normal": stats.norm(),
    "heavy": stats.t(2),
    "cauchy": stats.cauchy(),
    "skewed": stats.lognorm(1.0),
    "edge": stats.expon(),
    "laplace": stats.laplace(),
}


@pytest.mark.parametrize("name", LAWS)
def test_it_comes_close_to_the_truth(name):
    law = LAWS[name]
    rng = np.random.default_rng(1)
    drawn, held_out = (law.rvs(size=size, random_state=rng) for size in (3000, 20000))
    margin = fit_margin(drawn)
    gap = np.mean(law.logpdf(held_out) - np.log(margin.density(held_out)))
    assert gap < 0.012  # nats; a Gaussian kernel with the best fixed bandwidth: 0.002 to 0.06
    quantiles = law.ppf(np.linspace(0.02, 0.98, 49))
    assert np.abs(margin.cdf(quantiles) - law.cdf(quantiles)).max() < 0.04


def test_with_more_rows_it_comes_closer():
    law = stats.gamma(2.0)
    held_out = law.rvs(size=20000, random_state=9)
    gaps = [
        np.mean(
            law.logpdf(held_out)
            - np.log(fit_margin(law.rvs(size=size, random_state=1)).density(held_out))
        )
        for size in (100, 1000, 10000, 300_000)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.001


def test_a_value_that_stands_out_is_a_peak_of_its_own():
    margin = fit_margin(COLUMNS["zeros"])
    assert margin.atoms.tolist() == [0.0]
    assert margin.atom_weights[0] == pytest.approx((COLUMNS["zeros"] == 0).mean())
    below, above = margin.cdf(np.array([-3, 3]) * margin.widths[0])
    assert above - below == pytest.approx(margin.atom_weights[0], abs=0.02)


def test_rounding_makes_no_peaks():
    values = np.round(np.random.default_rng(0).normal(size=3000), 1)
    margin = fit_margin(values)
    assert len(margin.atoms) == 0
    on, between = np.arange(-10, 11) / 10, np.arange(-10, 11) / 10 + 0.05
    assert margin.density(between).sum() == pytest.approx(margin.density(on).sum(), rel=0.05)


def test_every_one_of_few_values_is_a_peak():
    margin = fit_margin(np.array([0.0, 1.0, 5.0] * 20))
    assert margin.atoms.tolist() == [0.0, 1.0, 5.0]
    assert margin.cdf(np.array([0.5, 3.0])) == pytest.approx([1 / 3, 2 / 3], abs=0.01)


def test_a_row_of_weight_zero_is_not_there():
    values = np.random.default_rng(0).normal(size=200)
    weights = np.ones(200)
    values[::4], weights[::4] = 1e6, 0.0
    one = fit_margin(values, weights)
    other = fit_margin(values[weights > 0])
    assert np.array_equal(one.heights, other.heights)
    assert one.spread == other.spread


def test_weights_move_the_mass():
    values = np.random.default_rng(0).normal(size=2000)
    margin = fit_margin(values, np.where(values > 0, 3.0, 1.0))
    assert margin.cdf(np.array([0.0]))[0] == pytest.approx(0.25, abs=0.03)


def test_numbers_within_a_peak_become_its_value():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(1000) < 0.3, 5.0, rng.normal(size=1000))
    margin = fit_margin(values)
    (width,) = margin.widths
    near = 5.0 + width * np.array([-3.5, -2.9, 0.0, 2.9, 3.5])
    assert margin.snapped(near).tolist() == [near[0], 5.0, 5.0, 5.0, near[-1]]
    assert np.isnan(margin.snapped(np.array([np.nan]))).all()
    plain = fit_margin(rng.normal(size=100))
    assert plain.snapped(near).tolist() == near.tolist()


def test_numbers_of_the_smallest_scale_have_a_distribution_function_everywhere():
    margin = fit_margin(1e-12 * np.random.default_rng(0).normal(size=100))
    below = margin.cdf(np.array([-1e300, -1.0, 0.0, 1.0, 1e300]))
    assert (np.diff(below) >= 0).all()
    assert below[[0, -1]] == pytest.approx([0.0, 1.0])
