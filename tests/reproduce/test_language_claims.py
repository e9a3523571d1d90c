"""Claims about language models decide right on runs whose outcome is made up, and their tables tell all."""

from dataclasses import replace

import pytest

from oracles.experiment_runs import made_runs
from tacit.reproduce.language import table_9_1, table_9_2, table_9_3
from tacit.reproduce.language.text_tables import ordered_pairs
from tacit.reproduce.language.texts import CORPORA, RUSSIAN, TextCase
from tacit.reproduce.runner.running import experiment_of
from tacit.reproduce.runner.tables import aligned

NAMES = ("table-9.1", "fig-9.2", "table-9.2", "table-9.3")
LEVELS = {
    "PLRE": 0.9,
    "Tacit PLRE": 0.8,
    "int-MKN": 1.0,
    "tuned int-MKN": 0.99,
    "int-KN": 1.03,
    "BO-KN": 1.06,
    "BO-MKN": 1.09,
}


def runs_of(name, error, seconds=lambda _: 1.0):
    return made_runs(experiment_of(name).settings["paper"], error, seconds)


def held(name, error, seconds=lambda _: 1.0):
    """Which parts of a claim hold."""
    return [actual.held for actual in experiment_of(name).judge(runs_of(name, error, seconds))]


def changed(function, condition, factor):
    return lambda trial: function(trial) * (factor if condition(trial) else 1.0)


def on(corpus, *names, order=None):
    return lambda trial: (
        trial.case.corpus == corpus and trial.method.name in names and order in (None, trial.size)
    )


# -- table 9.1 ------------------------------------------------------------------------------------


def error_9_1(trial):
    """Classes are the worse the fewer they are; in Russian the ensemble gains more."""
    name, russian = trial.method.name, trial.case.corpus == RUSSIAN
    n_classes = dict(trial.method.options).get("n_classes", 0)
    level = LEVELS.get(name, 1.2 + 1 / (n_classes or 1))
    level *= 0.95 if russian and name.endswith("PLRE") else 1.0
    level *= 1.01 if not russian and name in {"int-KN", "BO-KN", "BO-MKN"} else 1.0
    return 100 * level


def test_table_9_1_holds_where_the_ensemble_is_ahead_and_classes_are_behind():
    assert held("table-9.1", error_9_1) == [True] * 5


@pytest.mark.parametrize("factor", [0.9, 0.985])
def test_table_9_1_fails_where_tuned_discounts_gain_much(factor):
    much = changed(error_9_1, on("ptb", "tuned int-MKN"), factor)
    assert held("table-9.1", much) == [True] * 4 + [False]


def test_neural_models_and_tuned_discounts_are_cited():
    lines = experiment_of("table-9.1").table(runs_of("table-9.1", error_9_1)).splitlines()
    cited = [line for line in lines if line.startswith("(cited)")]
    assert len(cited) == 3
    assert all(number in " ".join(cited) for number in ("117.0", "107.8", "108.4", "82.1"))
    assert table_9_1.PRINTED_TUNED == {"English": 98.94, "Russian": 259.0}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize(
    ("name", "factor", "failing"),
    [("int-MKN", 0.85, [0, 3]), ("class, 1024", 0.88, [1, 3]), ("class, 32", 0.65, [0, 1, 3])],
)
def test_table_9_1_fails_where_one_text_is_otherwise(corpus, name, factor, failing):
    actual = held("table-9.1", changed(error_9_1, on(corpus, name), factor))
    assert [part for part in (0, 1, 3) if not actual[part]] == failing


def test_table_9_1_compares_gains_of_every_english_text_with_russian():
    for corpus in CORPORA:
        factor = 1.06 if corpus == RUSSIAN else 0.94
        more = changed(error_9_1, on(corpus, "PLRE"), factor)
        assert held("table-9.1", more)[:4] == [True, True, False, True]


def test_the_number_of_classes_is_chosen_on_the_other_text():
    runs = runs_of("table-9.1", error_9_1)
    rows = [
        row.but(valid=1.0, test=500.0) if row.method == "class, 64" else row for row in runs.rows
    ]
    assert table_9_1.best(replace(runs, rows=tuple(rows)), "class").test == 500.0
    assert table_9_1.best(runs, "class").method == "class, 1024"
    assert table_9_1.best(runs, "class + int-MKN").method == "class + int-MKN, 1024"


def test_printed_numbers_of_table_9_1_stand_under_their_methods():
    # Thesis, page of table 9.1: PLRE is the last and lowest, int-MKN before it.
    for numbers in table_9_1.PRINTED.values():
        assert min(numbers) == numbers[-1]
        assert sorted(numbers)[1] == numbers[-2]
    assert table_9_1.PRINTED_NAMES == ("class", "BO-KN", "int-KN", "BO-MKN", "int-MKN", "PLRE")


# -- figure 9.2 -----------------------------------------------------------------------------------


def error_9_2(trial):
    """English gains 1, 4 and 4 per cent, Russian 8 at all orders."""
    if not trial.method.name.endswith("PLRE"):
        return 100.0
    russian = trial.case.corpus == RUSSIAN
    return 92.0 if russian else {2: 99.0}.get(trial.size, 96.0)


def test_figure_9_2_holds_where_gains_are_as_the_thesis_has_them():
    assert held("fig-9.2", error_9_2) == [True] * 4


@pytest.mark.parametrize(
    ("condition", "factor", "failing"),
    [
        (on("ptb", "PLRE", order=4), 1.05, [0]),
        (on("wikitext-2", "PLRE", order=2), 0.95, [1]),
        (on(RUSSIAN, "PLRE", order=4), 0.9, [2]),
        (on(RUSSIAN, "PLRE", order=3), 1.045, [2, 3]),
        (on("english-eltec", "PLRE", order=3), 0.95, [3]),
    ],
)
def test_figure_9_2_fails_in_the_part_that_is_otherwise(condition, factor, failing):
    actual = held("fig-9.2", changed(error_9_2, condition, factor))
    assert [part for part in range(4) if not actual[part]] == failing


# -- table 9.2 ------------------------------------------------------------------------------------


def error_table_9_2(trial):
    return 100.0 * LEVELS[trial.method.name]


def test_table_9_2_holds_where_the_ensemble_is_ahead_on_all_texts():
    assert held("table-9.2", error_table_9_2) == [True] * 3


def test_table_9_2_fails_in_the_part_that_is_otherwise():
    assert held("table-9.2", changed(error_table_9_2, on("ptb", "PLRE"), 1.2))[0] is False
    runs = runs_of("table-9.2", error_table_9_2)
    for column, value, failing in (("test", 101.0, 0), ("valid", 101.0, 0), ("n_ahead", 9, 1)):
        rows = list(runs.rows)
        place = next(n for n, row in enumerate(rows) if row.method == "PLRE")
        rows[place] = rows[place].but(**{column: value})
        actual = experiment_of("table-9.2").judge(replace(runs, rows=tuple(rows)))
        assert [part.held for part in actual] == [part != failing for part in range(3)]


@pytest.mark.parametrize("corpus", ["english-eltec", RUSSIAN])
def test_table_9_2_fails_where_most_of_the_gain_is_lost_with_more_text(corpus):
    def whole(trial):
        return on(corpus, "PLRE")(trial) and trial.case.every == 1

    # Of 10 per cent, 5.5 and 3.7 are left.
    assert held("table-9.2", changed(error_table_9_2, whole, 1.05)) == [True] * 3
    assert held("table-9.2", changed(error_table_9_2, whole, 1.07)) == [True, True, False]


# -- table 9.3 ------------------------------------------------------------------------------------


def seconds_9_3(trial):
    """For 100,000 words; less for each of more words."""
    return 1.0 + 0.5 * (trial.size == 4) + 0.1 * (trial.case.every > 1)


def test_table_9_3_holds_where_times_are_as_printed():
    assert held("table-9.3", lambda _: 1.0, seconds_9_3) == [True] * 3


@pytest.mark.parametrize(
    ("condition", "factor", "failing"),
    [
        (on("ptb", "PLRE, given ranks", order=3), 1.8, [0]),
        (on("wikitext-2", "PLRE, given ranks", order=4), 1.5, [1]),
        (on("wikitext-2", "Tacit PLRE, nothing chosen", order=4), 9.0, []),
    ],
)
def test_table_9_3_fails_in_the_part_that_is_otherwise(condition, factor, failing):
    actual = held("table-9.3", lambda _: 1.0, changed(seconds_9_3, condition, factor))
    assert [part for part in range(3) if not actual[part]] == failing


def test_table_9_3_fails_where_a_word_of_more_text_takes_longer():
    def slow(trial):
        return seconds_9_3(trial) + 0.2 * (trial.case.every == 1)

    assert held("table-9.3", lambda _: 1.0, slow) == [True, True, False]


def test_the_pace_is_that_of_a_million_words():
    runs = runs_of("table-9.3", lambda _: 1.0, seconds_9_3)
    text = runs.of(TextCase("ptb"))
    assert table_9_3.pace(text, "PLRE, given ranks", 3) == pytest.approx(10.0)
    assert table_9_3.printed_pace("Small-English", 3) == pytest.approx(3.96 * 60 / 14)
    assert table_9_3.printed_pace("Large-Russian", 4) == pytest.approx(8.3 * 3600 / 521)


# -- tables and pictures --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_tables_say_that_the_texts_are_others_and_mark_what_is_printed(name):
    shown = experiment_of(name).table(runs_of(name, error_9_1)).splitlines()
    assert shown[0].startswith("The thesis' texts are not available")
    for case in experiment_of(name).settings["paper"].cases:
        assert any(line.lstrip().startswith(str(case)) for line in shown)
    assert sum(line.startswith("(printed)") for line in shown) == {"fig-9.2": 2}.get(name, 4)
    added = ("in the printed order", "(cited)")
    widths = {len(line) for line in shown[1:] if not any(words in line for words in added)}
    assert len(widths) == 1


def test_tables_have_the_numbers_of_the_runs_beside_the_printed_ones():
    lines = experiment_of("table-9.1").table(runs_of("table-9.1", error_9_1)).splitlines()
    (test,) = [line for line in lines if line.startswith("ptb, test")]
    assert test.split()[-9:] == [
        *("120.10", "107.06", "104.03", "110.09", "100.00", "90.00", "120.10", "80.00", "99.00"),
    ]
    (printed,) = [line for line in lines if line.startswith("(printed) Small-Russian, test")]
    assert printed.split()[-7:] == [
        *("284.09", "277.74", "262.02", "283.70", "260.19", "238.96", "259.00"),
    ]
    assert lines[-4:-2] == [
        f"{corpus}: 1024 classes; 12 of 12 pairs in the printed order" for corpus in CORPORA[:2]
    ]


def test_table_9_1_says_which_methods_do_not_stand_in_the_printed_order():
    swapped = changed(error_9_1, on(RUSSIAN, "BO-KN"), 1.1)
    shown = experiment_of("table-9.1").table(runs_of("table-9.1", swapped))
    assert shown.endswith(
        "1024 classes; 12 of 13 pairs in the printed order, not BO-KN below BO-MKN"
    )


def test_losses_in_table_9_2_have_a_plus():
    worse = changed(error_table_9_2, on("ptb", "PLRE"), 1.2)
    lines = experiment_of("table-9.2").table(runs_of("table-9.2", worse)).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("ptb, test"))
    assert lines[place].split()[-3:] == ["80.00", "±", "8.00"]
    assert lines[place + 1].split() == ["+8.0", "%", "-20.0", "%"]


def test_methods_that_are_near_in_print_may_stand_either_way():
    printed = {"c": 110.0, "a": 100.0, "b": 100.5}
    both = {("a", "c"): True, ("b", "c"): True}
    assert ordered_pairs({"a": 2.0, "b": 1.0, "c": 3.0}, printed) == both
    assert ordered_pairs({"a": 2.0, "b": 1.0, "c": 1.5}, printed) == {**both, ("a", "c"): False}


def test_cells_stand_under_their_header():
    lines = aligned(["one", "two"], [("first", ["1", "22222"]), ("second one", ["", "3"])])
    assert lines == ["            one    two", "first         1  22222", "second one           3"]


@pytest.mark.parametrize("name", ["table-9.1", "table-9.2"])
def test_pictures_of_tables_show_every_text_and_method(name):
    made = runs_of(name, error_9_1)
    runs = replace(made, rows=tuple(row.but(mean=50.0, valid=row.test + 3) for row in made.rows))
    figure = experiment_of(name).draw(runs)
    figure.canvas.draw()
    cases = experiment_of(name).settings["paper"].cases
    assert [ax.get_title() for ax in figure.axes] == list(map(str, cases))
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    shown = table_9_1.SHOWN if name == "table-9.1" else [m.name for m in table_9_2.METHODS]
    assert names == list(shown)
    for ax, case in zip(figure.axes, cases, strict=True):
        tests = [table_9_1.best(runs.of(case), method).test for method in shown]
        drawn = [list(line.get_xdata()) for line in ax.get_lines()]
        assert tests in drawn
        assert [number + 3 for number in tests] in drawn
        low, high = ax.get_xlim()
        assert low < min(tests)
        assert high > max(tests)
        assert sorted(ax.get_ylim()) == [-0.6, len(names) - 0.4]
    (legend,) = figure.legends
    place = legend.get_window_extent()
    assert place.x0 >= 0
    assert place.x1 <= figure.bbox.x1


def test_many_texts_stand_in_several_rows():
    cases = [TextCase("ptb", every) for every in range(1, 6)]
    figure = experiment_of("table-9.2").draw(made_runs(table_9_2.settings(*cases), error_table_9_2))
    figure.canvas.draw()
    places = [ax.get_position() for ax in figure.axes]
    assert len(places) == 5
    assert len({round(place.y0, 6) for place in places}) == 2


# -- table 9.4 ------------------------------------------------------------------------------------

BLEU = {
    "word by word": 9.0,
    "decoder alone": 20.0,
    "int-MKN": 20.0,
    "PLRE": 20.2,
    "Tacit PLRE": 20.5,
    "best of each list": 40.0,
}


def runs_9_4(changes=()):
    """Runs with these BLEU, one hundredth more in each tuning run, and what is changed."""
    runs = runs_of("table-9.4", lambda _: 1.0)
    rows = []
    for row in runs.rows:
        bleu = BLEU[row.method] + 0.01 * row.seed
        for language, method, seed, value in changes:
            if row.language == language and row.method == method and seed in (None, row.seed):
                bleu = value
        gain = bleu - BLEU["int-MKN"] - 0.01 * row.seed
        perplexity = 30.0 if row.method in {"int-MKN", "PLRE", "Tacit PLRE"} else float("inf")
        rows.append(row.but(bleu=bleu, gain=gain, perplexity=perplexity))
    return replace(runs, rows=tuple(rows))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ((), [True, True, True]),
        ((("cs", "PLRE", 3, 20.02),), [True, False, True]),
        ((("de", "PLRE", None, 19.9),), [False, False, True]),
        ((("cs", "decoder alone", None, 13.4),), [True, True, False]),
        ((("de", "best of each list", None, 20.0),), [True, True, False]),
    ],
)
def test_table_9_4_holds_where_no_tuning_run_is_behind_and_the_decoder_translates(
    changes, expected
):
    actual = experiment_of("table-9.4").judge(runs_9_4(changes))
    assert [part.held for part in actual] == expected


def test_table_9_4_shows_means_deviations_and_gains_beside_the_printed_ones():
    lines = experiment_of("table-9.4").table(runs_9_4()).splitlines()
    assert "English to Czech" in lines
    (plre,) = {line for line in lines if line.startswith("PLRE")}  # the same in both languages
    assert plre.split() == ["PLRE", "20.24", "±", "0.03", "0.20", "to", "0.20", "30.00"]
    (words,) = {line for line in lines if line.startswith("word by word")}
    assert words.split() == ["word", "by", "word", "9.00"]
    assert " ".join(lines[-1].split()) == "(printed) PLRE 17.79 ± 0.07 0.05 to 0.29"


def test_the_picture_of_table_9_4_has_a_dot_for_each_run():
    figure = experiment_of("table-9.4").draw(runs_9_4())
    figure.canvas.draw()
    assert [ax.get_title() for ax in figure.axes] == ["English to Czech", "English to German"]
    sizes = [len(line.get_xdata()) for line in figure.axes[1].get_lines()]
    assert sizes == [1, 10, 10, 10]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == list(BLEU)[1:-1]
    ends = "BLEU (word by word 9.0, best of each list 40.0)"
    assert figure.axes[0].get_xlabel() == ends
