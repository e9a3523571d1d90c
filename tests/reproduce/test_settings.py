"""The settings of the experiments are those of the papers."""

import pytest

from tacit.errors import ArgumentError
from tacit.reproduce import listing, run
from tacit.reproduce.numbers.laplace import grid
from tacit.reproduce.runner.running import MODULES, experiment_of
from tacit.reproduce.runner.trials import Trial
from tacit.reproduce.trees.synthetic import STUDY, TEST_ROWS

REAL = {
    "fig-5.5",
    "fig-6.7",
    "fig-7.9",
    "song-fig-3",
    "wfa-pos",
    "table-8.1",
    "table-8.2",
    "fig-8.5",
    "table-9.1",
    "fig-9.2",
    "table-9.2",
    "table-9.3",
    "table-9.4",
    "lpcfg-f1",
}  # those with data that are not drawn from a model
NUMBERS = {"fig-6.5", "fig-6.6"}  # those that draw numbers, not categories
OTHER_SIZES = {"fig-7.8", "parikh-fig-2", "song-fig-2"}  # of other papers
MODELS = [name for name in MODULES if name not in REAL | NUMBERS]


def paper(name):
    return experiment_of(name).settings["paper"]


def options(name, method):
    (named,) = [other for other in paper(name).methods if other.name == method]
    return dict(named.options), named.as_printed


@pytest.mark.parametrize("name", [name for name in MODELS if name not in OTHER_SIZES])
def test_training_sets_of_the_thesis_have_100_to_100_000_rows(name):
    assert (paper(name).sizes[0], paper(name).sizes[-1]) == (100, 100_000)
    assert 1000 in paper(name).sizes


@pytest.mark.parametrize("name", MODELS)
def test_ten_models_are_drawn_and_judged_on_a_thousand_rows(name):
    assert paper(name).n_seeds == 10
    assert TEST_ROWS == 1000


def test_figure_4_4_has_binary_trees_of_depths_4_to_7():
    assert [case.tree for case in paper("fig-4.4").cases] == ["bin4", "bin5", "bin6", "bin7"]
    assert {(case.n_categories, case.n_states) for case in paper("fig-4.4").cases} == {(4, 2)}
    assert options("fig-4.4", "spectral") == ({"n_views": 10, "representation": "tensor"}, True)
    for tol in (1e-3, 1e-4, 1e-5):
        name = f"EM {tol:.0e}".replace("e-0", "e-")
        assert options("fig-4.4", name) == (
            {"tol": tol, "stopping": "relative", "n_restarts": 5},
            False,
        )


def test_figure_4_5_varies_restarts_on_a_tree_of_depth_6():
    (case,) = paper("fig-4.5").cases
    assert (case.tree, case.n_categories, case.n_states) == ("bin6", 4, 2)
    actual = {options("fig-4.5", f"EM 1e-4 x{n}")[0]["n_restarts"] for n in (1, 2, 5, 10)}
    assert actual == {1, 2, 5, 10}


def test_figure_4_6_varies_hidden_states_and_systems():
    actual = [(case.tree, case.n_categories, case.n_states) for case in paper("fig-4.6").cases]
    assert actual == [("bin6", 5, 2), ("bin6", 5, 3), ("bin6", 5, 4), ("bin6", 5, 5)]
    for size in (1, 2, 5, 10):
        assert options("fig-4.6", f"size {size}")[0]["n_views"] == size


def test_figure_7_5_has_systems_of_one_and_balanced_trees():
    actual = [(case.tree, case.n_categories, case.n_states) for case in paper("fig-7.5").cases]
    assert actual == [("t33", 6, 2), ("t34", 6, 2), ("t43", 6, 2), ("t44", 6, 2)]
    assert options("fig-7.5", "original") == ({"n_views": 1, "representation": "tensor"}, True)
    printed = {"n_views": 1, "representation": "matrix", "siblings": "uncle"}
    assert options("fig-7.5", "alternate") == (printed, True)
    assert options("fig-7.5", "Tacit alternate") == (
        {"n_views": 1, "representation": "matrix"},
        False,
    )


@pytest.mark.parametrize(("name", "tree"), [("fig-7.6", "t33"), ("fig-7.7", "t43")])
def test_figures_7_6_and_7_7_add_to_the_diagonals(name, tree):
    cases = paper(name).cases
    assert {(case.tree, case.n_categories, case.n_states) for case in cases} == {(tree, 4, 3)}
    added = [case.diagonal for case in cases]
    assert added[0] == 0
    assert added == sorted(set(added))


def test_figure_7_8_has_as_many_categories_as_states():
    cases = paper("fig-7.8").cases
    assert [case.tree for case in cases] == ["broad4", "broad9", "deep4", "deep5"]
    assert {(case.n_categories, case.n_states) for case in cases} == {(2, 2)}
    assert (paper("fig-7.8").sizes[0], paper("fig-7.8").sizes[-1]) == (200, 750_000)


def test_figure_7_9_draws_ten_splits_of_59_stocks_and_fifty_queries():
    (case,) = paper("fig-7.9").cases
    assert (case.n_stocks, case.n_train, case.n_test, case.n_queries) == (59, 4901, 500, 50)
    assert (case.structure, case.n_states) == ("chow-liu-grouping", 2)
    assert paper("fig-7.9").n_seeds == 10
    assert (paper("fig-7.9").sizes[0], paper("fig-7.9").sizes[-1]) == (2, 59)
    assert options("fig-7.9", "EM+")[0] == {"tol": 0.0005, "n_restarts": 5}
    assert options("fig-7.9", "EM-")[0] == {"tol": 0.01, "n_restarts": 5}
    printed = {"n_views": 1, "representation": "matrix", "siblings": "uncle"}
    assert options("fig-7.9", "spectral") == (printed, True)


def test_parikh_figure_2_has_four_trees_two_precisions_and_the_algorithm_of_2011():
    cases = paper("parikh-fig-2").cases
    assert [case.tree for case in cases] == ["broad4", "broad9", "deep4", "deep5"]
    assert {(case.n_categories, case.n_states, case.diagonal) for case in cases} == {(6, 2, 0.0)}
    assert (paper("parikh-fig-2").sizes[0], paper("parikh-fig-2").sizes[-1]) == (200, 750_000)
    assert options("parikh-fig-2", "spectral") == (
        {"representation": "matrix", "siblings": "adopted"},
        True,
    )
    for name, tol in (("EM+", 0.0005), ("EM-", 0.01)):
        assert options("parikh-fig-2", name)[0] == {"tol": tol, "n_restarts": 5}
        relative = {"tol": tol, "stopping": "relative", "n_restarts": 5}
        assert options("parikh-fig-2", f"{name}, relative")[0] == relative


def test_song_figure_2_tells_fewer_states_than_there_are():
    assert (paper("song-fig-2").sizes[0], paper("song-fig-2").sizes[-1]) == (200, 100_000)
    assert all(case.n_learnt_states < case.n_states for case in paper("song-fig-2").cases)
    kinds = {case.tree.rstrip("0123456789") for case in paper("song-fig-2").cases}
    assert kinds == {"cat", "bin", "random"}
    assert options("song-fig-2", "EM")[0] == {"tol": 1e-4, "stopping": "relative", "n_restarts": 5}
    assert options("song-fig-2", "new") == ({}, True)


def test_figure_5_4_has_the_graphs_of_the_thesis_and_one_of_its_own():
    cases = paper("fig-5.4").cases
    assert [case.graph for case in cases] == ["order2-10", "order3-10", "factorial-8", "loopy"]
    assert [case.n_categories for case in cases] == [4, 4, 16, 16]
    assert {case.n_states for case in cases} == {2}
    for name, tol in (("EM", 1e-4), ("EM 1e-5", 1e-5)):
        actual, _ = options("fig-5.4", name)
        assert (actual["tol"], actual["n_restarts"], actual["compress"]) == (tol, 5, False)
    rates = (0.6, 0.7, 0.8, 0.9, 1.0)
    online, _ = options("fig-5.4", "online EM")
    assert online == {"learning_rate": rates, "pseudo_counts": 0.1}
    assert options("fig-5.4", "spectral") == ({}, True)
    assert options("fig-5.4", "Tacit spectral") == ({}, False)


def test_figure_5_5_has_second_order_models_of_two_states():
    (case,) = paper("fig-5.5").cases
    assert (case.data, case.order, case.n_states) == ("splice", 2, 2)
    assert paper("fig-5.5").n_seeds == 10
    # Of 3190 sequences, and without those that are judged too.
    assert paper("fig-5.5").sizes[-1] + case.n_test <= 3000
    assert options("fig-5.5", "EM")[0]["tol"] == 1e-4


def test_song_figure_3_has_sequences_of_100_letters_and_two_or_three_states():
    assert [case.n_states for case in paper("song-fig-3").cases] == [2, 3]
    assert {(case.data, case.order, case.n_test) for case in paper("song-fig-3").cases} == {
        ("polya", 1, 800)
    }
    assert (paper("song-fig-3").sizes[0], paper("song-fig-3").sizes[-1]) == (500, 9500)
    assert options("song-fig-3", "new") == ({}, True)
    assert options("song-fig-3", "EM")[0] == {"tol": 1e-4, "stopping": "relative", "n_restarts": 5}


def test_figure_6_5_has_three_distances_and_a_grid_of_61_points_a_side():
    assert [case.mu for case in paper("fig-6.5").cases] == [2, 4, 6]
    assert (paper("fig-6.5").sizes[0], paper("fig-6.5").sizes[-1]) == (200, 20_000)
    assert 5000 in paper("fig-6.5").sizes
    assert grid(4.0).shape == (61 * 61, 2)
    assert (grid(4.0).min(), grid(4.0).max()) == (-8, 8)


def test_figure_6_6_has_64_leaves_three_shapes_and_two_processes():
    cases = paper("fig-6.6").cases
    assert {case.n_leaves for case in cases} == {64}
    assert len({(case.process, case.tree) for case in cases}) == len(cases) == 6
    assert (paper("fig-6.6").sizes[0], paper("fig-6.6").sizes[-1]) == (200, 100_000)
    for rank in (2, 5, 8):
        assert options("fig-6.6", f"kernel {rank}, printed") == (
            {"rank": rank, "printed": True, "join": "neighbor-joining"},
            True,
        )


def test_figure_6_7_has_ten_sets_of_30_attributes_and_five_splits():
    (case,) = paper("fig-6.7").cases
    assert (case.n_valid, case.n_test, case.n_evidence, case.n_sets) == (294, 300, 30, 10)
    assert paper("fig-6.7").sizes == (200, 600, 1400)
    assert paper("fig-6.7").n_seeds == 5
    assert 1400 + case.n_valid + case.n_test == 1994
    for name in ("fig-6.5", "fig-6.7"):
        printed = options(name, "kernel tree, printed")
        assert printed == ({"n_states": 2, "preset": "printed"}, True)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("scale", ["paper", "small", "tiny"])
def test_no_two_trials_are_taken_for_each_other(name, scale):
    trials = experiment_of(name).settings[scale].trials()
    assert len({trial.key for trial in trials}) == len(trials)


@pytest.mark.parametrize("name", MODULES)
def test_the_small_scale_asks_what_the_claim_needs(name):
    chosen = experiment_of(name).settings["small"]
    whole = paper(name)
    assert chosen.methods == whole.methods
    assert len(chosen.trials()) < len(whole.trials())
    assert {method.name for method in chosen.methods} >= set(
        experiment_of(name).tacit_forms.values()
    )


@pytest.mark.parametrize("name", MODULES)
def test_every_line_of_a_picture_is_a_method_that_is_run(name):
    experiment = experiment_of(name)
    for chosen in experiment.settings.values():
        names = {method.name for method in chosen.methods}
        for panel in experiment.panels(chosen):
            assert {line.method for line in panel.lines} <= names
            assert panel.case in chosen.cases


def test_a_trial_is_known_by_everything_that_matters():
    case, method = paper("fig-4.4").cases[0], paper("fig-4.4").methods[0]
    key = Trial(STUDY, case, 100, 3, method).key
    assert key[:10] == (
        *("bin4", "4", "2", "0", "2", "100", "3", "1000", "spectral"),
        "spectral (as printed) n_views=10 representation=tensor",
    )


def test_listing_gives_every_experiment_with_its_claim():
    assert [name for name, _ in listing()] == list(MODULES)
    assert all(claim.endswith(".") for _, claim in listing())


def test_an_unknown_name_or_scale_is_an_error_that_lists_what_there_is(tmp_path):
    with pytest.raises(ArgumentError, match=r"did you mean 'fig-4.4'\?.*song-fig-2"):
        run("fig-44", out=tmp_path)
    with pytest.raises(ArgumentError, match="'small', 'paper'"):
        run("fig-4.4", scale="huge", out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_parts_of_speech_are_those_of_the_whole_treebank_with_both_bases():
    sizes = {(case.n_train, case.n_aside, case.n_test) for case in paper("wfa-pos").cases}
    assert [case.kind for case in paper("wfa-pos").cases] == ["upos", "xpos"]
    assert sizes == {(12_544, 2001, 2077)}
    assert paper("wfa-pos").sizes[-1] == 50
    symbols, printed = options("wfa-pos", "spectral, symbols")
    assert (symbols["max_length"], printed) == (1, True)
    assert options("wfa-pos", "spectral, substrings")[0]["max_length"] > 1
    assert options("wfa-pos", "EM")[0]["n_restarts"] == 3
    assert [options("wfa-pos", name)[0]["order"] for name in ("unigram", "bigram", "trigram")] == [
        1,
        2,
        3,
    ]


BRACKETS = ("table-8.1", "table-8.2", "fig-8.5")
LANGUAGE = ("table-9.1", "fig-9.2", "table-9.2", "table-9.3")


@pytest.mark.parametrize("name", LANGUAGE)
def test_language_models_learn_from_all_four_texts_as_a_whole(name):
    whole = {case.corpus for case in paper(name).cases if (case.every, case.every_held) == (1, 1)}
    assert whole == {"ptb", "wikitext-2", "english-eltec", "russian-drama-novels"}
    assert {case.every_held for case in paper(name).cases} == {1}


def test_orders_and_classes_of_language_models_are_those_of_the_thesis():
    assert [paper(name).sizes for name in LANGUAGE] == [(3,), (2, 3, 4), (4,), (3, 4)]
    actual = [
        dict(method.options)["n_classes"]
        for method in paper("table-9.1").methods
        if method.learn == "classes"
    ]
    assert actual == [32, 64, 128, 256, 512, 1024]
    for name, modified, interpolated in (
        ("BO-KN", False, False),
        ("int-KN", False, True),
        ("BO-MKN", True, False),
        ("int-MKN", True, True),
    ):
        queries = {"modified": modified, "interpolated": interpolated}
        assert options("table-9.1", name) == (queries, False)
    for name in LANGUAGE[:3]:
        assert options(name, "PLRE") == ({"preset": "printed", "choose": True}, True)
    given, _ = options("table-9.3", "PLRE, given ranks")
    assert given == {"preset": "printed", "choose": False, "ranks": ((2, 90), (3, 90))}


def test_translations_are_tuned_ten_times_with_models_of_order_4():
    settings = paper("table-9.4")
    assert (settings.sizes, settings.n_seeds) == ((4,), 10)
    assert [(case.language, case.every, case.every_held) for case in settings.cases] == [
        ("cs", 1, 1),
        ("de", 1, 1),
    ]
    assert options("table-9.4", "PLRE") == ({"preset": "printed", "choose": True}, True)
    assert options("table-9.4", "int-MKN") == ({"modified": True, "interpolated": True}, False)
    runs_of = {method.name: 0 for method in settings.methods}
    for trial in settings.trials():
        runs_of[trial.method.name] += 1
    assert runs_of == {
        "word by word": 2,
        "decoder alone": 2,
        "int-MKN": 20,
        "PLRE": 20,
        "Tacit PLRE": 20,
        "best of each list": 2,
    }


def test_brackets_are_found_in_three_treebanks_at_the_lengths_of_the_thesis():
    assert paper("table-8.1").sizes == paper("table-8.2").sizes == (10, 15, 20, 25, 30, 40)
    assert paper("fig-8.5").sizes == (10,)
    assert paper("fig-8.5").n_seeds == 100
    cases = [(case.treebank, case.part) for case in paper("table-8.2").cases]
    banks = ("wsj_sample", "cess_esp", "sinica")
    assert cases == [(bank, part) for bank in banks for part in ("train", "test")]
    assert {case.every for name in BRACKETS for case in paper(name).cases} == {1}
    for ending, top in (("", "heuristic"), ("-O", "true")):
        given, printed = options("table-8.2", f"CC{ending}")
        assert (given, printed) == (
            {"vectors": "canonical", "preset": "printed", "top": top},
            True,
        )
    assert options("table-8.2", "Tacit") == ({"top": "own"}, False)
    assert options("table-8.2", "CCM") == options("table-8.1", "CCM") == ({"tags": "given"}, False)
