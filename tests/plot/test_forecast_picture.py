"""The picture of a forecast: shades are the model's densities, and the line is the sequence."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from tacit import plot
from tacit.errors import ArgumentError, ColumnError, DataError, DependencyError, NotAvailableError
from tacit.sequences.kernel_hmm import KernelHMM


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def two_peaks(length=300):
    rng = np.random.default_rng(0)
    sign = np.repeat(rng.choice([-3.0, 3.0], size=length // 10), 10)
    return sign + 0.5 * rng.normal(size=length)


@pytest.fixture(scope="module")
def model():
    return KernelHMM(n_states=2, n_basis=8).fit(two_peaks())


def shades(ax):
    (mesh,) = [collection for collection in ax.collections if isinstance(collection, QuadMesh)]
    corners = mesh.get_coordinates()
    times = (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2
    places = (corners[:-1, 0, 1] + corners[1:, 0, 1]) / 2
    return times, places, mesh.get_array()


def line(ax, label):
    (match,) = [curve for curve in ax.lines if curve.get_label() == label]
    return match


def test_shades_are_the_densities_given_what_came_before(model):
    series = two_peaks()
    ax = plot.forecast(model, series, last=40)
    times, places, drawn = shades(ax)
    assert times.tolist() == list(range(260, 300))
    _, (densities,) = model.predict_next_density([series], places, all_positions=True)
    np.testing.assert_allclose(np.asarray(drawn).T, densities[260:], rtol=1e-6)  # the same numbers
    assert line(ax, "observed").get_ydata() == pytest.approx(series[260:])
    (bands,) = model.quantiles([series], [0.05, 0.95], all_positions=True)
    lower, upper = (curve.get_ydata() for curve in ax.lines[:2])
    assert np.stack([lower, upper], axis=1) == pytest.approx(bands[260:])


def test_what_comes_after_the_end_is_predicted_from_the_end(model):
    series = two_peaks()
    ax = plot.forecast(model, series, last=10, n_ahead=3)
    times, places, drawn = shades(ax)
    assert times.tolist() == list(range(290, 303))
    _, after = model.predict_next_density(series, places)
    assert np.asarray(drawn)[:, 10] == pytest.approx(np.asarray(after))
    observed = line(ax, "observed").get_ydata()
    assert np.isnan(observed[-3:]).all()
    assert not np.isnan(observed[:-3]).any()


def test_missing_numbers_leave_a_gap_and_densities_go_on(model):
    series = two_peaks()
    series[280:285] = np.nan
    ax = plot.forecast(model, series, last=40)
    assert np.isnan(line(ax, "observed").get_ydata()).sum() == 5
    assert np.isfinite(np.asarray(shades(ax)[2])).all()


def test_all_numbers_and_nearly_all_density_are_within_the_frame(model):
    series = two_peaks()
    series[-1] = 9.0
    ax = plot.forecast(model, series, last=40)
    low, high = ax.get_ylim()
    assert low < series[-40:].min()
    assert high > 9.0
    _, places, drawn = shades(ax)
    assert (np.asarray(drawn).sum(axis=0) * (places[1] - places[0])).min() > 0.97


def test_a_column_of_several_is_named(model):
    series = np.stack([two_peaks(), -two_peaks()], axis=1)
    both = KernelHMM(n_states=2, n_basis=4).fit(series)
    ax = plot.forecast(both, series, last=20, target="x1")
    assert ax.get_ylabel() == "x1"
    assert line(ax, "observed").get_ydata() == pytest.approx(series[-20:, 1])
    with pytest.raises(ColumnError, match="x0"):
        plot.forecast(both, series, target="z")


def test_axes_that_are_given_are_drawn_on_and_the_legend_can_be_left_out(model):
    _, ax = plt.subplots()
    assert plot.forecast(model, two_peaks(), ax, last=20, legend=False) is ax
    assert ax.get_legend() is None
    named = plot.forecast(model, two_peaks(), last=20).get_legend()
    assert [text.get_text() for text in named.get_texts()] == ["nine tenths", "observed"]


def test_nothing_of_the_picture_is_cut_off(model):
    ax = plot.forecast(model, two_peaks(), last=20, n_ahead=5)
    ax.figure.canvas.draw()
    page, box = ax.figure.bbox, ax.get_tightbbox()
    assert page.x0 <= box.x0 < box.x1 <= page.x1
    assert page.y0 <= box.y0 < box.y1 <= page.y1


def test_what_is_no_sequence_or_no_model_is_refused(model):
    with pytest.raises(DataError, match="one sequence"):
        plot.forecast(model, np.zeros((2, 3, 4)))
    with pytest.raises(DataError, match="one sequence"):
        plot.forecast(model, ["a", "b"])
    with pytest.raises(ArgumentError, match="n_ahead=-1"):
        plot.forecast(model, two_peaks(), n_ahead=-1)
    for subject in ("model", KernelHMM()):
        with pytest.raises(NotAvailableError, match="pass a fitted KernelHMM"):
            plot.forecast(subject, two_peaks())


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(DependencyError, match=r'pip install "tacit\[plot\]"'):
        plot.forecast(model, two_peaks())
