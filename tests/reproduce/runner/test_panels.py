"""Pictures of experiments show every run."""

import math

import pytest

from oracles.experiment_runs import made_runs
from tacit.reproduce.runner.panels import LINEAR, MOST, PLAIN_UP_TO, picture
from tacit.reproduce.runner.running import MODULES, experiment_of


def drawn(name, error, scale="tiny"):
    experiment = experiment_of(name)
    settings = experiment.settings[scale]
    runs = made_runs(settings, error, lambda trial: 0.01 * trial.size)
    panels = experiment.panels(settings)
    return picture(runs, experiment.title, panels, experiment.measures, experiment.over), settings


def falling(trial):
    """Another error for every trial, and other panels on another scale."""
    if hasattr(trial.case, "n_queries"):
        return 0.5 - trial.size / 200 + 0.01 * trial.seed + 0.001 * len(trial.method.name)
    name = getattr(trial.case, "tree", "")
    number = len(name) + sum(map(ord, name)) + 50 * getattr(trial.case, "n_states", 1)
    cut_off = hasattr(trial.case, "n_evidence")  # at the top
    power = -1.0 if cut_off else 0.01 * (number % 97) + getattr(trial.case, "diagonal", 0.0)
    scale = 10**power
    return scale / math.sqrt(trial.size) * (1 + 0.1 * trial.seed + 0.01 * len(trial.method.name))


@pytest.mark.parametrize("name", [name for name in MODULES if experiment_of(name).draw is None])
def test_every_panel_has_all_its_lines_within_the_frame(name):
    experiment = experiment_of(name)
    figure, settings = drawn(name, falling, scale="small")
    panels = experiment.panels(settings)
    assert len(figure.axes) == len(panels) * len(experiment.measures)
    for number, ax in enumerate(figure.axes):
        panel = panels[number % len(panels)]
        along, measure = settings.study.size, experiment.measures[number // len(panels)]
        assert ax.get_xscale() == ("linear" if along in LINEAR else "log")
        with_zero = "symlog" if measure in PLAIN_UP_TO else "log"
        assert ax.get_yscale() == ("linear" if measure in LINEAR else with_zero)
        assert [line.get_label() for line in ax.get_lines()] == [x.label for x in panel.lines]
        low, high = ax.get_ylim()
        for line in ax.get_lines():
            assert list(line.get_xdata()) == list(settings.sizes)
            assert all(low < value < high for value in line.get_ydata())
    (legend,) = figure.legends
    title = legend.get_title().get_text()
    if settings.n_seeds > 1:
        assert f"median over the {experiment.over};" in title
    else:
        assert title == "lines: a single run each"
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == [line.label for line in panels[0].lines]
    figure.canvas.draw()
    place = legend.get_window_extent()
    assert place.x0 >= 0
    assert place.x1 <= figure.bbox.x1


def test_only_shares_absolute_errors_and_sizes_of_queries_and_models_are_on_plain_scales():
    plain = {"wrong", "off", "gain", "f1", "query_size", "n_states", "order", "longest"}
    assert plain == LINEAR
    (ax,) = drawn("fig-7.9", falling)[0].axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == (*("stocks in the query", "error rate"),)
    assert drawn("fig-7.5", falling)[0].axes[0].get_xlabel() == "training rows"


def test_numbers_of_states_are_whole_on_the_axis():
    figure, _ = drawn("wfa-pos", falling, scale="small")
    figure.canvas.draw()
    for ax in figure.axes:
        assert len(ax.get_xticks()) > 2
        assert all(tick == round(tick) for tick in ax.get_xticks())


def test_lines_are_medians_and_bands_hold_the_middle_half():
    seeds = {0: 1.0, 1: 2.0, 2: 4.0, 3: 8.0, 4: 16.0}
    figure, settings = drawn("fig-7.5", lambda t: seeds.get(t.seed, 3.0), scale="small")
    line = figure.axes[0].get_lines()[0]
    assert settings.n_seeds == 10
    assert set(line.get_ydata()) == {3.0}  # of 1, 2, 4, 8, 16 and five times 3
    band = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (3.0, 4.0)


def test_errors_beyond_the_scale_leave_the_panel_and_are_named():
    figure, _ = drawn("fig-7.5", lambda t: 1e9 if t.method.name == "original" else 0.5)
    (ax,) = figure.axes
    assert ax.get_ylim()[1] == MOST["error"]
    assert [text.get_text() for text in ax.texts] == ["above this: original (printed)"]


def test_sizes_at_which_most_models_failed_have_no_mark():
    figure, settings = drawn(
        "fig-7.5", lambda t: math.inf if t.size < 100 and t.method.name == "original" else 0.5
    )
    marks = {line.get_label(): list(line.get_xdata()) for line in figure.axes[0].get_lines()}
    assert marks["original (printed)"] == [settings.sizes[1]]
    assert marks["alternate (printed)"] == list(settings.sizes)


def test_lines_of_one_panel_can_be_distinguished_without_colours():
    for name in MODULES:
        experiment = experiment_of(name)
        for panel in experiment.panels(experiment.settings["paper"]):
            looks = [(line.mark, line.dashed) for line in panel.lines]
            assert len(set(looks)) == len(looks)


def test_losses_are_drawn_below_zero_and_orders_are_whole_numbers():
    figure, settings = drawn("fig-9.2", lambda t: -3.0 if t.method.name == "PLRE" else 1.0, "small")
    figure.canvas.draw()
    for ax in figure.axes:
        line = next(one for one in ax.get_lines() if one.get_label() == "PLRE (printed)")
        assert set(line.get_ydata()) == {-3.0}
        assert {float(tick) for tick in ax.get_xticks()} >= set(settings.sizes)
        assert all(float(tick).is_integer() for tick in ax.get_xticks())
