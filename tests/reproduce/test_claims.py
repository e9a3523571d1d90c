"""Claims of experiments decide right on runs whose outcome is made up, both ways."""

import math
from dataclasses import replace

import pytest

from oracles.experiment_runs import made_runs
from tacit.reproduce.runner.claims import Finding, counted, verdict
from tacit.reproduce.runner.running import MODULES, experiment_of


def few_seeds(name):
    """The paper's settings with two models each."""
    return replace(experiment_of(name).settings["paper"], n_seeds=2)


def held(name, error, seconds=lambda _: 1.0):
    """Which parts of a claim hold."""
    findings = experiment_of(name).judge(made_runs(few_seeds(name), error, seconds))
    return [finding.held for finding in findings]


def but(function, condition, value):
    """A function of trials, changed where a condition holds."""
    return lambda trial: value(function(trial)) if condition(trial) else function(trial)


def is_method(*names):
    return lambda trial: trial.method.name in names


def at(n_rows, *names):
    return lambda trial: trial.size == n_rows and (not names or trial.method.name in names)


def times(factor):
    return lambda number: number * factor


# -- figure 4.4 -----------------------------------------------------------------------------------


def error_4_4(trial):
    few = {"spectral": 1.0, "EM 1e-3": 1.1, "EM 1e-4": 1.3, "EM 1e-5": 1.4}
    middle = {"spectral": 0.4, "EM 1e-3": 0.6, "EM 1e-4": 0.35, "EM 1e-5": 0.3}
    many = {"spectral": 0.05, "EM 1e-3": 0.5, "EM 1e-4": 0.2, "EM 1e-5": 0.1}
    n = trial.size
    return (few if n < 1000 else middle if n < 10_000 else many).get(trial.method.name, 1.0)


def seconds_4_4(trial):
    return {"spectral": 0.01, "EM 1e-5": 1.0}.get(trial.method.name, 0.3)


def test_figure_4_4_holds_where_three_regions_are_as_the_thesis_says():
    assert held("fig-4.4", error_4_4, seconds_4_4) == [True] * 5


@pytest.mark.parametrize(
    ("part", "condition"),
    [
        (0, at(100, "EM 1e-3")),
        (0, at(100, "spectral")),
        (1, at(1000, "EM 1e-4", "EM 1e-5")),
        (2, at(100_000, "spectral")),
    ],
)
def test_figure_4_4_fails_in_the_part_whose_errors_are_otherwise(part, condition):
    changed = but(error_4_4, condition, times(3))
    assert held("fig-4.4", changed, seconds_4_4) == [p != part for p in range(5)]


def test_figure_4_4_fails_in_the_middle_where_low_precision_is_not_the_worst():
    changed = but(error_4_4, at(1000, "EM 1e-3"), times(0.6))
    assert held("fig-4.4", changed, seconds_4_4) == [True, False, True, True, True]


def test_figure_4_4_lets_one_tree_of_four_differ_with_few_rows_but_not_with_many():
    def on_one_tree(n):
        return but(error_4_4, lambda t: at(n, "spectral")(t) and t.case.tree == "bin5", times(3))

    assert held("fig-4.4", on_one_tree(100), seconds_4_4)[0]
    assert not held("fig-4.4", on_one_tree(100_000), seconds_4_4)[2]


def test_figure_4_4_needs_spectral_to_be_faster_everywhere_and_thirty_times_at_the_end():
    slow_once = but(seconds_4_4, at(100, "spectral"), times(40))
    assert held("fig-4.4", error_4_4, slow_once) == [True, True, True, False, True]
    ten_times = but(seconds_4_4, is_method("EM 1e-5"), times(0.31))
    assert held("fig-4.4", error_4_4, ten_times) == [True, True, True, True, False]


# -- figure 4.5 -----------------------------------------------------------------------------------


def restarts(trial):
    return dict(trial.method.options).get("n_restarts", 1)


def error_4_5(trial):
    tol = dict(trial.method.options).get("tol", 1e-5)
    return {1e-3: 0.5, 1e-4: 0.3, 1e-5: 0.2}[tol] * (1 - 0.01 * restarts(trial))


def test_figure_4_5_holds_where_restarts_help_a_little_and_precision_much():
    assert held("fig-4.5", error_4_5, restarts) == [True, True, True]


def test_figure_4_5_fails_where_restarts_harm():
    harm = but(error_4_5, lambda t: restarts(t) == 10, times(1.5))
    assert held("fig-4.5", harm, restarts) == [False, True, True]


def test_figure_4_5_fails_where_restarts_cost_nothing():
    assert held("fig-4.5", error_4_5) == [True, False, True]


def test_figure_4_5_fails_where_restarts_matter_more_than_precision():
    matter = but(error_4_5, lambda t: restarts(t) == 10, times(0.1))
    assert held("fig-4.5", matter, restarts) == [True, True, False]


# -- figure 4.6 -----------------------------------------------------------------------------------


def error_4_6(trial):
    """All alike at two states; the more states, the more a larger system helps."""
    size = dict(trial.method.options)["n_views"]
    return 0.5 * size ** (-0.5 * (trial.case.n_states - 2))


def test_figure_4_6_holds_where_larger_systems_help_with_more_states():
    assert held("fig-4.6", error_4_6) == [True] * 4


def test_figure_4_6_fails_where_sizes_differ_at_two_states():
    differ = but(
        error_4_6, lambda t: t.case.n_states == 2 and t.method.name == "size 2", times(1.3)
    )
    assert held("fig-4.6", differ) == [False, True, True, True]


def test_figure_4_6_fails_where_large_systems_hardly_help():
    def hardly(trial):
        return error_4_6(trial) ** 0.1

    assert held("fig-4.6", hardly) == [True, False, True, True]


def test_figure_4_6_fails_where_help_does_not_grow():
    stuck = but(error_4_6, lambda t: t.case.n_states == 4, lambda _: 0.5)
    assert held("fig-4.6", stuck) == [True, True, False, True]


def test_figure_4_6_fails_where_large_systems_take_twice_the_time():
    slow = but(lambda _: 1.0, is_method("size 10"), times(2.1))
    assert held("fig-4.6", error_4_6, slow) == [True, True, True, False]


# -- figures 6.5 to 6.7 ---------------------------------------------------------------------------


PRINTED, SELECTED = "kernel tree, printed", "kernel tree, printed, bandwidth selected"


def distance_6_5(trial):
    levels = {PRINTED: 0.45, SELECTED: 0.4, "kernel estimate": 0.1}
    levels |= {"kernel tree, Tacit": 0.6, "kernel tree, Tacit spectral": 0.45}
    return levels.get(trial.method.name, 0.5) / trial.case.mu / math.sqrt(trial.size)


def test_figure_6_5_holds_where_the_printed_kernel_tree_is_ahead():
    assert held("fig-6.5", distance_6_5) == [True] * 3


@pytest.mark.parametrize("n_rows", [200, 20_000])
def test_figure_6_5_wants_the_least_error_everywhere(n_rows):
    for part, name in enumerate((PRINTED, SELECTED)):
        changed = but(distance_6_5, at(n_rows, name), times(1.3))
        assert held("fig-6.5", changed) == [p != part for p in range(3)]


@pytest.mark.parametrize("rival", ["Gaussian", "2 Gaussians", "Gaussians by BIC", "histogram"])
def test_figure_6_5_compares_with_every_other_estimate_of_the_thesis(rival):
    changed = but(distance_6_5, at(10_000, rival), times(0.7))
    assert held("fig-6.5", changed) == [False, False, True]


def test_figure_6_5_fails_where_close_components_are_no_harder():
    assert held("fig-6.5", lambda trial: distance_6_5(trial) * trial.case.mu**2)[2] is False


def hops_6_6(trial):
    """As the thesis says: the kernel is better but for skewed trees of Gaussian numbers."""
    tree = {"balanced": 1.0, "random": 2.0, "skewed": 3.0}[trial.case.tree]
    kernel = trial.method.learn == "kernel"
    level = 100 * tree * (0.5 if kernel else 1.0)
    if trial.case == skewed_gaussian(trial):
        level *= 3 if kernel else 1
    return level + trial.seed


def skewed_gaussian(trial):
    return replace(trial.case, process="gaussian", tree="skewed")


def of_case(process, tree, *names):
    return lambda trial: (
        (trial.case.process, trial.case.tree) == (process, tree) and trial.method.name in names
    )


def test_figure_6_6_holds_where_the_kernel_is_as_the_thesis_says():
    assert held("fig-6.6", hops_6_6) == [True] * 4


@pytest.mark.parametrize(
    ("condition", "factor", "part"),
    [
        (of_case("sign-flip", "random", "nonparanormal, printed"), 0.4, 0),
        (of_case("sign-flip", "skewed", "Gaussian, printed"), 0.4, 0),
        (of_case("gaussian", "random", "Gaussian, printed"), 0.4, 1),
        (of_case("gaussian", "balanced", "nonparanormal, printed"), 0.4, 1),
        (of_case("gaussian", "skewed", "nonparanormal, printed"), 2, 2),
        (of_case("sign-flip", "random", "kernel 2, printed"), 0, 3),
    ],
)
def test_figure_6_6_fails_in_the_part_that_is_otherwise(condition, factor, part):
    changed = but(hops_6_6, condition, times(factor))
    assert held("fig-6.6", changed) == [p != part for p in range(4)]


def test_figure_6_6_does_not_judge_other_numbers_of_singular_values():
    changed = but(hops_6_6, is_method("kernel 5, printed", "kernel 8, printed"), times(100))
    assert held("fig-6.6", changed) == [True] * 4


def off_6_7(trial):
    level = {PRINTED: 0.08, "kernel tree, Tacit": 0.085}.get(trial.method.name, 0.09)
    return level + 0.001 * trial.seed + 1 / trial.size


def spread_6_7(rows):
    """Errors of kernel trees vary less over sets of attributes."""
    return tuple(row.but(spread=0.1 if "kernel" in row.method else 0.2) for row in rows)


def held_6_7(off):
    runs = made_runs(few_seeds("fig-6.7"), off)
    findings = experiment_of("fig-6.7").judge(replace(runs, rows=spread_6_7(runs.rows)))
    return [finding.held for finding in findings]


def test_figure_6_7_holds_where_the_printed_kernel_tree_is_ahead():
    assert held_6_7(off_6_7) == [True] * 2


@pytest.mark.parametrize(
    ("condition", "factor", "expected"),
    [
        (at(1400, PRINTED), 1.3, [False, True]),
        (at(200, "naive Bayes"), 0.8, [False, True]),
        (at(600, "Gaussian tree"), 0.8, [False, True]),
        (at(200, "ridge"), 0.5, [True, True]),
        (at(1400, "kernel tree, Tacit"), 2.0, [True, True]),
    ],
)
def test_figure_6_7_fails_in_the_part_that_is_otherwise(condition, factor, expected):
    assert held_6_7(but(off_6_7, condition, times(factor))) == expected


def test_figure_6_7_wants_errors_of_the_tree_to_vary_less():
    runs = made_runs(few_seeds("fig-6.7"), off_6_7)
    rows = tuple(
        row.but(spread=1.0) if row.method == PRINTED else row for row in spread_6_7(runs.rows)
    )
    findings = experiment_of("fig-6.7").judge(replace(runs, rows=rows))
    assert [finding.held for finding in findings] == [True, False]


@pytest.mark.parametrize(
    ("name", "figure", "outcomes"),
    [
        ("fig-6.5", distance_6_5, [False, True, True]),
        ("fig-6.6", hops_6_6, [True] * 4),
        ("fig-6.7", off_6_7, [True] * 2),
    ],
)
def test_figures_of_chapter_6_have_a_second_verdict_on_tacits_form(
    name, figure, outcomes, tmp_path
):
    experiment = experiment_of(name)
    made = verdict(experiment, made_runs(few_seeds(name), figure), tmp_path, tmp_path)
    for number, holds in enumerate(outcomes, start=1):
        assert f"({number}) {'yes' if holds else 'no'}: " in made.tacit_explanation
    assert made.tacit_held == all(outcomes)
    names = {method.name for method in few_seeds(name).methods}
    for printed, tacit_form in experiment.tacit_forms.items():
        assert {printed, tacit_form} <= names
        assert ("printed" in printed, "Tacit" in tacit_form) == (True, True)
    drawn = {line.method: line.dashed for line in experiment.lines}
    for printed, tacit_form in experiment.tacit_forms.items():
        assert (drawn[printed], drawn[tacit_form]) == (False, True)


@pytest.mark.parametrize("name", ["fig-6.5", "fig-6.6", "fig-6.7"])
def test_tables_of_figures_have_a_line_for_every_method(name):
    runs = made_runs(few_seeds(name), lambda trial: 0.1 * len(trial.method.name))
    shown = experiment_of(name).table(runs)
    for method in few_seeds(name).methods:
        assert f"{method.name} " in shown


# -- figures 7.5 to 7.8 ---------------------------------------------------------------------------


def error_7_5(trial):
    original = trial.method.name.endswith("original")
    return 0.5 if original == (trial.size < 1000) else 0.6


def test_figure_7_5_holds_where_the_original_leads_first_and_the_alternate_in_the_end():
    assert held("fig-7.5", error_7_5) == [True, True]


@pytest.mark.parametrize(
    ("n_rows", "method", "part"), [(100, "original", 0), (100_000, "alternate", 1)]
)
def test_figure_7_5_fails_where_one_tree_is_otherwise(n_rows, method, part):
    changed = but(error_7_5, lambda t: at(n_rows, method)(t) and t.case.tree == "t44", times(2))
    assert held("fig-7.5", changed) == [p != part for p in range(2)]


def error_7_6(trial):
    return 0.5 / (1 + trial.case.diagonal)


@pytest.mark.parametrize("name", ["fig-7.6", "fig-7.7"])
def test_figures_7_6_and_7_7_hold_where_both_gain_alike(name):
    assert held(name, error_7_6) == [True, True]


@pytest.mark.parametrize("name", ["fig-7.6", "fig-7.7"])
def test_figures_7_6_and_7_7_fail_where_nobody_gains_or_one_gains_more(name):
    assert held(name, lambda t: 0.5 * (1 + t.case.diagonal)) == [False, True]
    one_more = but(
        error_7_6, lambda t: t.case.diagonal == 2 and t.method.name == "original", times(0.5)
    )
    assert held(name, one_more) == [True, False]


def error_7_8(trial):
    """Twice the error on average, with some spread."""
    ours = 0.1 * (1 + 0.05 * trial.seed)
    return 2 * ours * (1 + 0.1 * trial.seed) if trial.method.name == "Mossel-Roch" else ours


def test_figure_7_8_holds_where_spectral_leads_nearly_everywhere():
    assert held("fig-7.8", error_7_8) == [True, True]
    once = but(error_7_8, at(5000, "spectral"), times(2.5))
    assert held("fig-7.8", once) == [True, True]  # one size of twelve


def test_figure_7_8_fails_where_mossel_roch_leads_at_two_sizes_of_one_tree():
    changed = but(
        error_7_8,
        lambda t: t.size in {500, 5000} and t.case.tree == "deep4",
        lambda number: 1 / number,
    )
    assert held("fig-7.8", changed) == [False, True]


def test_figure_7_8_fails_where_the_lead_is_within_the_spread():
    noisy = but(error_7_8, lambda t: is_method("spectral")(t) and t.seed == 1, times(4))
    assert not held("fig-7.8", noisy)[1]


def test_figure_7_8_counts_what_could_not_be_learnt_as_worse():
    half = but(
        error_7_8, lambda t: t.method.name == "Mossel-Roch" and t.size < 5000, lambda _: math.inf
    )
    assert held("fig-7.8", half) == [True, True]
    never_learnt = but(error_7_8, is_method("Mossel-Roch"), lambda _: math.inf)
    assert held("fig-7.8", never_learnt) == [True, False]  # nothing to compare


def test_figure_7_8_fails_where_both_are_the_same():
    assert held("fig-7.8", lambda _: 0.5) == [False, False]


# -- figure 7.9 -----------------------------------------------------------------------------------


def wrong_7_9(trial):
    level = {"Chow-Liu": 0.37, "spectral": 0.351, "EM-": 0.352}.get(trial.method.name, 0.35)
    return level - 0.001 * trial.size + 0.01 * trial.seed


def of_size(size, *names):
    return lambda trial: trial.size == size and trial.method.name in names


def test_figure_7_9_holds_where_latent_trees_are_ahead_and_alike():
    assert held("fig-7.9", wrong_7_9) == [True] * 4


@pytest.mark.parametrize("name", ["spectral", "EM+", "EM-", "Chow-Liu"])
def test_figure_7_9_wants_every_method_to_gain_from_evidence(name):
    flat = but(wrong_7_9, of_size(2, name), lambda wrong: wrong - 0.2)
    assert not held("fig-7.9", flat)[0]
    assert held("fig-7.9", but(wrong_7_9, of_size(2, "Tacit"), lambda _: 0.1)) == [True] * 4


def test_figure_7_9_fails_where_one_method_is_behind_at_one_size():
    changed = but(wrong_7_9, of_size(20, "EM-"), lambda wrong: wrong + 0.03)
    assert held("fig-7.9", changed) == [True, False, True, True]


def test_figure_7_9_fails_where_the_advantage_is_within_the_noise():
    def noisy(trial):
        shift = (-0.018 if trial.seed else 0.018) * (trial.method.name == "Chow-Liu")
        return wrong_7_9(trial) + shift

    assert held("fig-7.9", noisy) == [True, True, False, True]


def test_figure_7_9_fails_where_spectral_is_far_from_em():
    changed = but(wrong_7_9, is_method("spectral"), lambda wrong: wrong - 0.05)
    assert held("fig-7.9", changed)[3]  # farther from Chow-Liu still
    changed = but(wrong_7_9, is_method("spectral"), lambda wrong: wrong + 0.015)
    assert held("fig-7.9", changed) == [True, True, True, False]


def test_figure_7_9_fails_where_a_method_learnt_nothing():
    changed = but(wrong_7_9, is_method("EM+"), lambda _: math.inf)
    assert held("fig-7.9", changed) == [False] * 4


# -- Song et al., figure 2 ------------------------------------------------------------------------


def error_song(trial):
    few = {"EM": 0.5, "new": 0.6, "spectral": 0.7}
    many = {"EM": 0.3, "new": 0.1, "spectral": 0.25}
    return (few if trial.size < 5000 else many).get(trial.method.name, 1.0)


def seconds_song(trial):
    return {"spectral": 0.01, "new": 0.1, "EM": 1.0}.get(trial.method.name, 1.0)


def test_song_figure_2_holds_where_the_new_algorithm_overtakes():
    assert held("song-fig-2", error_song, seconds_song) == [True] * 4


@pytest.mark.parametrize(
    ("part", "condition", "factor"),
    [
        (0, at(200, "EM"), 2),
        (1, at(100_000, "new"), 3),
        (1, at(100_000, "spectral"), 0.1),
        (2, at(5000, "EM"), 2),
    ],
)
def test_song_figure_2_fails_in_the_part_whose_errors_are_otherwise(part, condition, factor):
    changed = but(error_song, condition, times(factor))
    assert held("song-fig-2", changed, seconds_song) == [p != part for p in range(4)]


@pytest.mark.parametrize("factor", [0.05, 20])
def test_song_figure_2_fails_where_the_new_algorithm_is_faster_or_slower_than_both(factor):
    changed = but(seconds_song, is_method("new"), times(factor))
    assert held("song-fig-2", error_song, changed) == [True, True, True, False]


# -- figures 5.4 and 5.5 --------------------------------------------------------------------------


def error_5_4(trial):
    level = {"spectral": 0.12, "EM": 0.2, "EM 1e-5": 0.15, "online EM": 0.18, "Tacit spectral": 0.1}
    return level.get(trial.method.name, 0.3) + 0.001 * trial.seed


def seconds_5_4(trial):
    level = {"EM": 30.0, "EM 1e-5": 150.0, "online EM": 40.0}.get(trial.method.name, 1.0)
    return 0.01 * level * (1 + 0.1 * trial.seed)


def aims_met(name, error, seconds):
    """Whether the aims that stand below the table were met."""
    table = experiment_of(name).table(made_runs(few_seeds(name), error, seconds))
    below = table.splitlines()
    below = below[below.index("beyond the claim:") + 1 :]
    return [line.startswith("yes: ") for line in below]


def on(graph, condition):
    return lambda trial: condition(trial) and trial.case.graph == graph


def test_figure_5_4_holds_where_spectral_is_better_and_faster():
    assert held("fig-5.4", error_5_4, seconds_5_4) == [True] * 3
    assert aims_met("fig-5.4", error_5_4, seconds_5_4) == [True] * 3


@pytest.mark.parametrize("name", ["EM", "online EM"])
def test_figure_5_4_needs_every_graph_with_many_rows_and_most_with_few(name):
    better = but(error_5_4, on("loopy", at(100_000, name)), times(0.5))
    assert held("fig-5.4", better, seconds_5_4) == [True, False, True]
    few = but(error_5_4, on("loopy", at(100, name)), times(0.5))
    assert held("fig-5.4", few, seconds_5_4) == [True] * 3
    half = but(few, on("factorial-8", at(100, name)), times(0.5))
    assert held("fig-5.4", half, seconds_5_4) == [False, True, True]


@pytest.mark.parametrize(
    ("condition", "factor", "missed"),
    [
        (at(1000, "Tacit spectral"), 1.6, [1]),
        (at(1000, "EM"), 0.4, [0]),
        (at(100_000, "EM 1e-5"), 0.5, [1]),
    ],
)
def test_the_aims_beyond_figure_5_4_are_those_of_tacit_spectral(condition, factor, missed):
    changed = but(error_5_4, on("loopy", condition), times(factor))
    assert held("fig-5.4", changed, seconds_5_4) == [True] * 3
    assert aims_met("fig-5.4", changed, seconds_5_4) == [aim not in missed for aim in range(3)]


def test_the_aims_beyond_figure_5_4_compare_means_over_the_models_with_em():
    def once(factor):
        first = but(
            error_5_4, lambda t: at(1000, "Tacit spectral")(t) and t.seed == 0, times(factor)
        )
        return aims_met("fig-5.4", first, seconds_5_4)

    assert once(2.5)[0]  # 0.25 and 0.101 beside 0.2 and 0.201
    assert not once(4)[0]


def test_the_aims_beyond_figure_5_4_allow_two_standard_errors_beside_the_strong_em():
    def errors(other):
        # Beside 0.15 and 0.151 of EM 1e-5.
        changed = but(
            error_5_4, at(1000, "Tacit spectral"), lambda error: 0.18 if error > 0.1 else other
        )
        return aims_met("fig-5.4", changed, seconds_5_4)

    assert errors(0.13)[1]  # +0.029 and -0.02
    assert not errors(0.181)[1]  # +0.029 and +0.031


@pytest.mark.parametrize(
    ("name", "factor", "is_claimed"),
    [("EM 1e-5", 0.6, False), ("EM", 0.3, True), ("online EM", 0.2, True)],
)
def test_figure_5_4_needs_all_graphs_to_be_faster_at_the_largest_size(name, factor, is_claimed):
    slow = but(seconds_5_4, on("factorial-8", at(100_000, name)), times(factor))
    assert held("fig-5.4", error_5_4, slow) == [True, True, not is_claimed]
    assert aims_met("fig-5.4", error_5_4, slow) == [True, True, is_claimed]
    elsewhere = but(seconds_5_4, at(1000, name), times(factor))
    assert held("fig-5.4", error_5_4, elsewhere) == [True] * 3


def test_figure_5_4_has_a_table_of_errors_and_ratios():
    experiment = experiment_of("fig-5.4")
    runs = made_runs(few_seeds("fig-5.4"), error_5_4, seconds_5_4)
    lines = experiment.table(runs).splitlines()
    assert len(lines) == 2 + 4 * len(experiment.settings["paper"].sizes) + 4
    assert lines[2].split()[:6] == ["order2-10", "100", "0.120", "1.0x", "0.201", "30.0x"]
    (last,) = [line for line in lines if line.split()[:2] == ["loopy", "100000"]]
    assert "150.0x" in last


def wrong_5_5(trial):
    few = {"spectral": 0.2, "EM": 0.4, "online EM": 0.3, "Tacit auto": 0.1}
    many = {"spectral": 0.05, "EM": 0.05, "online EM": 0.045, "Tacit auto": 0.04}
    many["Tacit spectral"] = 0.05
    return (few if trial.size < 500 else many).get(trial.method.name, 0.06)


def seconds_5_5(trial):
    return 0.01 if trial.method.name == "spectral" else 1.0


def test_figure_5_5_holds_where_spectral_leads_first_and_is_near_to_em_in_the_end():
    assert held("fig-5.5", wrong_5_5, seconds_5_5) == [True] * 3
    assert aims_met("fig-5.5", wrong_5_5, seconds_5_5) == [True]


@pytest.mark.parametrize(
    ("condition", "wrong", "failing"),
    [
        (at(100, "spectral"), 0.35, 0),
        (at(2500, "online EM"), 0.02, 1),
        (at(2500, "Tacit spectral"), 0.055, None),
        (at(2500, "Tacit auto"), 0.055, None),
        (at(2500, "EM 1e-5"), 0.03, None),
        (at(2500, "EM, 5 pseudo-counts"), 0.03, None),
    ],
)
def test_figure_5_5_fails_in_the_part_that_is_otherwise(condition, wrong, failing):
    changed = but(wrong_5_5, condition, lambda _: wrong)
    assert held("fig-5.5", changed, seconds_5_5) == [part != failing for part in range(3)]
    assert aims_met("fig-5.5", changed, seconds_5_5) == [failing is not None]


def test_figure_5_5_needs_spectral_to_be_faster_at_every_size():
    slow = but(seconds_5_5, at(500, "spectral"), times(200))
    assert held("fig-5.5", wrong_5_5, slow) == [True, True, False]


def test_figure_5_5_has_a_table_of_shares_and_ratios():
    experiment = experiment_of("fig-5.5")
    lines = experiment.table(made_runs(few_seeds("fig-5.5"), wrong_5_5, seconds_5_5)).splitlines()
    assert lines[2].split()[:6] == ["100", "0.2000", "0.2000", "1.0x", "0.4000", "0.4000"]
    assert lines[2].split()[6] == "100.0x"


# -- Song et al., figure 3 ------------------------------------------------------------------------


def wrong_song_3(trial):
    level = {"new": 0.29, "EM": 0.30, "spectral": 0.31}.get(trial.method.name, 0.5)
    far = trial.method.name == "spectral" and trial.case.n_states == 3
    return level + 0.1 * far - 0.001 * trial.seed


def with_states(n_states, *names):
    return lambda trial: trial.case.n_states == n_states and trial.method.name in names


def test_song_figure_3_holds_where_spectral_alone_loses_with_three_states():
    assert held("song-fig-3", wrong_song_3) == [True] * 4


@pytest.mark.parametrize(
    ("condition", "by", "failing"),
    [
        (with_states(2, "new"), 0.08, [0]),
        (with_states(2, "spectral"), -0.07, [0]),
        (with_states(3, "EM"), 0.045, [1]),
        (with_states(3, "new"), -0.05, [1]),
        (with_states(3, "new", "EM"), 0.08, [2]),
        (with_states(3, "spectral"), -0.06, [2, 3]),
        (with_states(2, "spectral", "EM", "new"), 0.06, [3]),
    ],
)
def test_song_figure_3_fails_in_the_part_that_is_otherwise(condition, by, failing):
    changed = but(wrong_song_3, condition, lambda wrong: wrong + by)
    assert held("song-fig-3", changed) == [part not in failing for part in range(4)]


# -- Parikh, Song and Xing, figure 2 --------------------------------------------------------------


def error_parikh_2(trial):
    """EM is best with few rows; EM- levels off; spectral learning goes on, slower on larger trees."""
    name, tree, n = trial.method.name, trial.case.tree, trial.size
    if name == "Chow-Liu":
        return 0.9 if n > 1000 else 2.0
    if name == "EM-":
        return 0.5
    if name == "EM+":
        many = {"broad4": 0.1, "broad9": 0.1, "deep4": 0.2, "deep5": 0.2}[tree]
        return 0.4 if n <= 5000 else many
    harder = {"broad4": 0.11, "broad9": 0.3, "deep4": 0.05, "deep5": 0.06}[tree]
    return 0.8 if n <= 5000 else harder


def seconds_parikh_2(trial):
    return {"EM+": 10.0, "EM-": 5.0, "Chow-Liu": 0.01}.get(trial.method.name, 0.05)


def test_parikh_figure_2_holds_where_all_is_as_in_print():
    assert held("parikh-fig-2", error_parikh_2, seconds_parikh_2) == [True] * 10


def test_parikh_figure_2_says_how_many_parts_hold_with_the_other_stopping_rule():
    runs = made_runs(few_seeds("parikh-fig-2"), error_parikh_2, seconds_parikh_2)
    # EM by the relative rule has the errors and times of spectral learning here.
    shown = experiment_of("parikh-fig-2").table(runs)
    assert shown.endswith("parts hold, all but (1) (2) (3) (4) (6) (8).")


def at_most_rows_of(tree, *names):
    return lambda trial: trial.case.tree == tree and at(750_000, *names)(trial)


@pytest.mark.parametrize(
    ("condition", "factor", "failing"),
    [
        (at(200, "EM-"), 2, [0]),
        (at(750_000, "EM-"), 0.7, [1]),
        (at(20_000, "spectral"), 5, [2, 6]),
        (at_most_rows_of("deep4", "spectral"), 4.1, [3, 9]),
        (at_most_rows_of("broad4", "spectral"), 1.5, [4]),
        (at_most_rows_of("broad9", "spectral"), 0.3, [5, 9]),
        (at(1000, "spectral"), 3, [6]),
    ],
)
def test_parikh_figure_2_fails_in_the_part_that_is_otherwise(condition, factor, failing):
    changed = but(error_parikh_2, condition, times(factor))
    actual = held("parikh-fig-2", changed, seconds_parikh_2)
    assert [part for part, holds in enumerate(actual) if not holds] == failing


def test_parikh_figure_2_needs_a_hundred_times_the_speed_and_chow_liu_to_be_the_fastest():
    faster_em = but(seconds_parikh_2, is_method("EM+"), times(0.4))
    assert held("parikh-fig-2", error_parikh_2, faster_em).index(False) == 7
    slow_tables = but(seconds_parikh_2, is_method("Chow-Liu"), times(10))
    assert held("parikh-fig-2", error_parikh_2, slow_tables).index(False) == 8


# -- verdicts -------------------------------------------------------------------------------------


def test_a_verdict_says_in_one_line_which_parts_did_not_hold(tmp_path):
    experiment = experiment_of("fig-7.5")
    runs = made_runs(few_seeds("fig-7.5"), error_7_5)
    good = verdict(experiment, runs, tmp_path / "a.csv", tmp_path / "a.png")
    assert good.held
    assert good.line == "fig-7.5, printed: the claim held"
    assert str(good) == f"{good.line}\nfig-7.5, Tacit: the claim held"
    changed = but(error_7_5, at(100, "original", "Tacit original"), times(2))
    partly = verdict(experiment, made_runs(few_seeds("fig-7.5"), changed), good.csv, good.png)
    assert not partly.held
    assert "held in 1 of 2 parts" in partly.line
    assert "below the alternate's on every tree (0 of 4 trees at 100 rows)" in partly.line
    assert "\n" not in partly.line
    neither = verdict(
        experiment, made_runs(few_seeds("fig-7.5"), lambda _: 1.0), good.csv, good.png
    )
    assert neither.line.startswith(
        "fig-7.5, printed: the claim did not hold; not that at the smallest"
    )


def test_a_second_verdict_is_about_the_librarys_own_forms(tmp_path):
    experiment = experiment_of("fig-7.5")
    only_ours = but(error_7_5, is_method("original", "alternate"), lambda _: 1.0)
    actual = verdict(experiment, made_runs(few_seeds("fig-7.5"), only_ours), tmp_path, tmp_path)
    assert (actual.held, actual.tacit_held) == (False, True)
    assert actual.tacit_line == "fig-7.5, Tacit: the claim held"
    assert actual.tacit_explanation.startswith("(1) yes: ")
    only_printed = but(error_7_5, is_method("Tacit original", "Tacit alternate"), lambda _: 1.0)
    actual = verdict(experiment, made_runs(few_seeds("fig-7.5"), only_printed), tmp_path, tmp_path)
    assert (actual.held, actual.tacit_held) == (True, False)
    assert actual.tacit_line.startswith("fig-7.5, Tacit: the claim did not hold; not that ")


def test_there_is_one_verdict_where_the_library_has_no_form_of_its_own(tmp_path):
    experiment = replace(experiment_of("fig-7.5"), tacit_forms={})
    actual = verdict(experiment, made_runs(few_seeds("fig-7.5"), error_7_5), tmp_path, tmp_path)
    assert str(actual) == actual.line == "fig-7.5: the claim held"
    assert actual.tacit_held is None


@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_claimed_to_hold_by_runs_that_are_all_alike(name):
    assert not all(held(name, lambda _: 0.5))


def test_what_was_not_run_does_not_hold():
    assert counted("trees", []) == Finding(held=False, measured="0 of 0 trees")
    assert counted("trees", [True, True, False], at_least=2 / 3).held
    assert not counted("trees", [True, True, False]).held


# -- parts of speech ------------------------------------------------------------------------------


def error_wfa_pos(trial):
    plain = {"unigram": 0.85, "bigram": 0.66, "trigram": 0.62}
    learnt = {"spectral, symbols": 0.63, "spectral, substrings": 0.62, "EM": 0.61}
    name = trial.method.name
    if name in learnt:  # twenty states are the best
        return learnt[name] + 0.01 * abs(trial.size - 20)
    return plain.get(name, 0.6)


def seconds_wfa_pos(trial):
    return {"EM": 5.0}.get(trial.method.name, 0.1)


def test_parts_of_speech_hold_where_spectral_is_as_good_and_fast():
    assert held("wfa-pos", error_wfa_pos, seconds_wfa_pos) == [True] * 3


def test_parts_of_speech_fail_where_one_set_of_tags_is_otherwise():
    def error(trial):
        worse = trial.case.kind == "xpos" and trial.method.name == "spectral, substrings"
        return error_wfa_pos(trial) + 0.05 * worse

    assert held("wfa-pos", error, seconds_wfa_pos) == [False, True, True]


@pytest.mark.parametrize(
    ("error", "seconds", "part"),
    [
        (
            but(error_wfa_pos, is_method("spectral, symbols"), lambda n: n + 0.05),
            seconds_wfa_pos,
            0,
        ),
        (but(error_wfa_pos, is_method("EM"), lambda n: n - 0.1), seconds_wfa_pos, 1),
        (error_wfa_pos, but(seconds_wfa_pos, is_method("spectral, substrings"), times(9)), 2),
    ],
)
def test_parts_of_speech_fail_in_the_part_that_is_otherwise(error, seconds, part):
    assert held("wfa-pos", error, seconds) == [one != part for one in range(3)]
