"""A tiny run of every experiment: table, picture, verdict, and resuming."""

import csv
import math

import numpy as np
import pytest

import tacit
from tacit.errors import DependencyError, FileFormatError, FileWriteError, RankError
from tacit.evaluate import l1_error
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.plot import style
from tacit.reproduce import run
from tacit.reproduce.runner import running, trials
from tacit.reproduce.runner.records import read_results
from tacit.reproduce.runner.running import MODULES, experiment_of, perform
from tacit.reproduce.runner.runs import Run
from tacit.reproduce.runner.trials import Method, Trial
from tacit.reproduce.trees import synthetic
from tacit.reproduce.trees.synthetic import STUDY, TreeCase
from tacit.toy import joint_table, sample_codes
from tacit.trees.latent_tree import LatentTree


def never(trial):
    raise AssertionError(f"{trial} was run again")


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures(
    "made_up_stocks",
    "made_up_sites",
    "made_up_towns",
    "made_up_tags",
    "made_up_texts",
    "made_up_translations",
    "made_up_treebanks",
)
@pytest.mark.parametrize("name", MODULES)
def test_a_tiny_run_writes_table_and_picture_and_is_not_run_again(name, tmp_path, monkeypatch):
    reports = []
    actual = run(name, scale="tiny", out=tmp_path / "new", progress=lambda *a: reports.append(a))
    settings = experiment_of(name).settings["tiny"]
    rows, first_result = read(actual.csv), next(iter(settings.study.results))
    assert actual.csv == tmp_path / "new" / f"{name}-tiny.csv"
    assert tuple(rows[0]) == settings.columns
    assert len(rows) == len(settings.trials()) == len(reports)
    results = [float(row[first_result]) for row in rows]
    assert min(results) > 0 or first_result in {"hops", "wrong"}  # there may be none
    assert min(results) >= 0
    assert all(0 < float(row["seconds"]) < 60 for row in rows)
    assert actual.png.read_bytes().startswith(b"\x89PNG")
    assert (actual.name, actual.claim) == (name, experiment_of(name).claim)
    forms = bool(experiment_of(name).tacit_forms)
    assert actual.line.startswith(f"{name}, printed: the claim" if forms else f"{name}: the claim")
    assert actual.tacit_line.startswith(f"{name}, Tacit: the claim" if forms else "")
    assert (actual.tacit_held is None) == (not forms)
    finished = [fraction for fraction, _ in reports]
    assert finished == sorted(finished)
    assert finished[0] == 0
    assert finished[-1] < 1
    before = actual.csv.read_bytes()
    monkeypatch.setattr(running, "perform", never)
    again = run(name, scale="tiny", out=tmp_path / "new")
    assert again == actual
    assert actual.csv.read_bytes() == before


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The table of a finished run, which is copied and damaged."""
    return run("fig-7.8", scale="tiny", out=tmp_path_factory.mktemp("finished")).csv.read_bytes()


def damaged(tmp_path, content):
    path = tmp_path / "fig-7.8-tiny.csv"
    path.write_bytes(content)
    return path


def counting(monkeypatch):
    """How many trials are run from now on."""
    ran = []

    def counted(trial):
        ran.append(trial)
        return perform(trial)

    monkeypatch.setattr(running, "perform", counted)
    return ran


def test_a_run_that_was_stopped_goes_on_where_it_was(finished, tmp_path, monkeypatch):
    lines = finished.splitlines(keepends=True)
    path = damaged(tmp_path, b"".join(lines[:-2]) + lines[-2][:20])  # stopped within a line
    ran = counting(monkeypatch)
    run("fig-7.8", scale="tiny", out=tmp_path)
    assert len(ran) == 2
    whole, again = (
        [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
        for rows in (
            list(csv.DictReader(finished.decode().splitlines())),
            read(path),
        )
    )
    assert whole == again


def test_runs_of_other_settings_stay_in_the_table_but_do_not_count(finished, tmp_path, monkeypatch):
    other = finished.replace(f",{tacit.__version__},".encode(), b",0.0.9,")
    lines = other.splitlines(keepends=True)
    path = damaged(tmp_path, finished + b"".join(lines[1:]))
    ran = counting(monkeypatch)
    monkeypatch.setattr(trials, "__version__", "0.0.9")
    first = run("fig-7.8", scale="tiny", out=tmp_path)
    monkeypatch.setattr(trials, "__version__", "0.1.1")
    run("fig-7.8", scale="tiny", out=tmp_path)
    n_trials = len(lines) - 1
    assert len(ran) == n_trials
    assert {trial.seed for trial in ran} == {0, 1}
    assert len(read(path)) == 3 * n_trials
    assert first.csv == path


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a,b\n1,2\n", "line 1: the columns are not tree"),
        (b"\xff\xfe\n", "not text"),
        (None, "line 2"),
    ],
)
def test_a_foreign_table_is_refused_and_left_as_it_is(finished, tmp_path, content, complaint):
    if content is None:
        content = finished.splitlines(keepends=True)[0] + b"deep4,many\n"
    path = damaged(tmp_path, content)
    with pytest.raises(FileFormatError, match=complaint):
        run("fig-7.8", scale="tiny", out=tmp_path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileWriteError, match="cannot be made"):
        run("fig-7.8", scale="tiny", out=tmp_path / "file")


def test_nothing_is_run_where_no_picture_can_be_drawn(tmp_path, monkeypatch):
    def missing():
        raise DependencyError("pictures need matplotlib")

    monkeypatch.setattr(style, "pyplot", missing)
    monkeypatch.setattr(running, "perform", never)
    with pytest.raises(DependencyError):
        run("fig-7.8", scale="tiny", out=tmp_path)
    assert list(tmp_path.iterdir()) == []


# -- one trial ------------------------------------------------------------------------------------

CASE = TreeCase("cat4", n_categories=3, n_states=2, diagonal=1.0)
EM = Method("EM", "em", (("tol", 1e-4), ("stopping", "relative"), ("n_restarts", 2)))


def read_again(run):
    """A run as it is read from its line of the table."""
    n_results = len(run.results)
    assert tuple(run.cells[:-n_results]) == run.trial.key
    return Run(run.trial, STUDY.parse(run.cells[-n_results:]))


def test_a_trial_is_the_same_whenever_it_is_run():
    one = perform(Trial(STUDY, CASE, 300, 1, EM))
    perform(Trial(STUDY, CASE, 100, 0, EM))
    other = perform(Trial(STUDY, CASE, 300, 1, EM))
    assert one == other.but(seconds=one.seconds)
    assert read_again(one) == one


def test_seeds_and_sizes_draw_other_rows_and_methods_the_same():
    drawn = synthetic.drawn.__wrapped__
    same, again = drawn(CASE, 0, 50), drawn(CASE, 0, 50)
    assert same.train.equals(again.train)
    assert np.array_equal(same.test, drawn(CASE, 0, 80).test)  # one model, judged on the same rows
    assert not np.array_equal(same.test, drawn(CASE, 1, 50).test)
    assert not same.train.equals(drawn(CASE, 0, 80).train.slice(0, 50))
    assert len(same.test) == 1000


def test_models_have_the_number_of_states_of_their_case_whatever_is_told():
    fewer = TreeCase("cat4", n_categories=3, n_states=2, diagonal=1.0, learnt_states=1)
    drawn = synthetic.drawn.__wrapped__
    assert drawn(fewer, 0, 50).train.equals(drawn(CASE, 0, 50).train)
    assert perform(Trial(STUDY, fewer, 300, 0, EM)).n_learnt_states == 1
    assert (
        perform(Trial(STUDY, fewer, 3000, 0, EM)).error
        > 1.2 * perform(Trial(STUDY, CASE, 3000, 0, EM)).error
    )


def test_rows_come_from_the_model_they_are_judged_by():
    _, truth = synthetic._truth(CASE, 0)
    table = joint_table(truth)
    made = synthetic.drawn.__wrapped__(CASE, 0, 50_000)
    assert np.exp(made.log_truth) == pytest.approx(table[tuple(made.test.T)], rel=1e-9)
    codes = np.stack([column.to_numpy() for column in made.train.columns], axis=1)
    proportions = np.zeros_like(table)
    np.add.at(proportions, tuple(codes.T), 1 / len(codes))
    # The L1 distance of 81 shares of 50 000 rows from their probabilities is about 0.03.
    assert np.abs(proportions - table).sum() < 0.06


def test_the_error_of_a_trial_is_that_of_the_thesis():
    made = synthetic.drawn.__wrapped__(CASE, 2, 400)
    model = LatentTree(
        2, made.structure, "em", stopping="relative", tol=1e-4, n_restarts=2, random_state=2
    )
    table = joint_table(model.fit(made.train).tables_)
    truth = joint_table(synthetic._truth(CASE, 2)[1])
    rows = tuple(made.test.T)
    expected = np.mean(np.abs(table[rows] - truth[rows]) / truth[rows])
    actual = perform(Trial(STUDY, CASE, 400, 2, EM))
    assert actual.error == pytest.approx(expected, rel=1e-5)  # six digits are kept
    expected = np.mean(np.log(truth[rows]) - np.log(table[rows]))
    assert actual.kl == pytest.approx(expected, rel=1e-4, abs=1e-7)
    assert actual.n_steps == model.diagnostics_["n_steps"]


def test_categories_that_the_rows_do_not_show_are_there():
    rare = TreeCase("cat4", n_categories=12, n_states=2)
    assert math.isfinite(perform(Trial(STUDY, rare, 20, 0, EM)).error)


def test_negative_estimates_count_as_they_are():
    options = (("n_views", 1), ("representation", "tensor"))
    printed = Method("spectral", "spectral", options, as_printed=True)
    trial = Trial(STUDY, TreeCase("bin4", n_categories=5, n_states=5), 100, 0, printed)
    made = synthetic.drawn.__wrapped__(trial.case, 0, 100)
    sign, log_abs = log_values(synthetic._learn(trial, made)[0], Evidence(made.test))
    truth = np.exp(made.log_truth)
    actual = perform(trial)
    assert actual.error == pytest.approx(
        np.mean(np.abs(sign * np.exp(log_abs) - truth) / truth), rel=1e-5
    )
    assert actual.not_positive == pytest.approx(np.mean(sign < 0))
    assert actual.not_positive > 0.1


def test_every_draw_has_random_numbers_of_its_own(monkeypatch):
    used = []

    def recorded(case, *numbers):
        used.append((case, *numbers))
        return np.random.default_rng(len(used))

    monkeypatch.setattr(synthetic, "_generator", recorded)
    for seed, n_rows in ((0, 50), (0, 80), (1, 50)):
        synthetic._truth.__wrapped__(TreeCase("cat4", 3, 2, 0.25), seed)
        synthetic.drawn.__wrapped__(TreeCase("cat4", 3, 2, 0.25), seed, n_rows)
    trained = [numbers for numbers in used if numbers[2] == 2]
    tested = [numbers for numbers in used if numbers[2] == 3]
    assert len(set(trained)) == len(trained) == 3
    assert len(set(tested)) == 2  # rows to judge on are the same for all sizes


def test_random_trees_differ_from_seed_to_seed():
    trees = {synthetic._topology("random8", seed).to_newick() for seed in range(5)}
    assert len(trees) == 5
    case = TreeCase("random8", 3, 2)
    assert synthetic.drawn.__wrapped__(case, 4, 20).structure is synthetic._topology("random8", 4)
    # All binary: every hidden node has three neighbours.
    tree = synthetic._topology("random8", 0).rooted([f"x{n}" for n in range(8)])
    assert {tree.degree(node) for node in tree.hidden} == {3}


def test_what_cannot_be_learnt_is_a_line_with_its_reason(monkeypatch):
    def refused(*args, **options):
        raise RankError("too many\nstates")

    monkeypatch.setattr(LatentTree, "fit", refused)
    actual = perform(Trial(STUDY, CASE, 50, 7, EM))
    assert actual.failure == "too many states"
    assert actual.error == actual.kl == math.inf
    assert read_again(actual) == actual


def test_an_error_in_the_program_is_not_taken_for_a_failure_to_learn(monkeypatch):
    def broken(*args, **options):
        raise KeyError("typo")

    monkeypatch.setattr(LatentTree, "fit", broken)
    with pytest.raises(KeyError):
        perform(Trial(STUDY, CASE, 50, 8, EM))


def test_printed_forms_are_exact_where_rows_are_plenty():
    made = synthetic.drawn.__wrapped__(CASE, 0, 200_000)
    for method in (
        Method("new", "hierarchical", as_printed=True),
        Method("old", "spectral", (("representation", "tensor"),), as_printed=True),
        Method("matrix", "spectral", (("representation", "matrix"),), as_printed=True),
    ):
        network, _ = synthetic._learn(Trial(STUDY, CASE, 200_000, 0, method), made)
        sign, log_abs = log_values(network, Evidence(made.test))
        assert l1_error(made.log_truth, log_abs, sign) < 0.05


def test_chow_liu_trees_have_the_true_structure_and_tables_of_the_rows():
    case = TreeCase("deep4", 3, 2)
    made = synthetic.drawn.__wrapped__(case, 0, 400)
    trial = Trial(STUDY, case, 400, 0, Method("Chow-Liu", synthetic.CHOW_LIU))
    network, n_steps = synthetic._learn(trial, made)
    _, truth = synthetic._truth(case, 0)
    exact = tacit.ChowLiuTree().fit(sample_codes(truth, 200_000, 5))  # as good as exact
    names = [f"x{leaf}" for leaf in range(8)]
    assert n_steps == 0
    true_tree = synthetic._true_chow_liu(case, 0)
    assert {frozenset(edge) for edge in true_tree.edges} == {
        frozenset(edge) for edge in exact.topology_.edges
    }
    assert not true_tree.hidden
    # Of two neighbours the tree has the joint frequencies of the rows.
    one, other = sorted(map(names.index, true_tree.edges[0]))
    codes = np.stack([made.train[name].combine_chunks().indices.to_numpy() for name in names], 1)
    counts = np.histogram2d(codes[:, one], codes[:, other], bins=3)[0] / len(codes)
    rows = np.full((9, 8), -1, dtype=np.int16)
    rows[:, [one, other]] = [(a, b) for a in range(3) for b in range(3)]
    sign, log_abs = log_values(network, Evidence(rows))
    assert (sign * np.exp(log_abs)).reshape(3, 3) == pytest.approx(counts, abs=2e-3)


def test_a_record_keeps_the_last_of_two_lines_of_the_same_trial(finished, tmp_path):
    lines = finished.splitlines(keepends=True)
    settings = experiment_of("fig-7.8").settings["tiny"]
    cells = lines[1].decode().split(",")
    cells[settings.columns.index("error")] = "0.125"
    path = damaged(tmp_path, finished + ",".join(cells).encode())
    results = read_results(path, settings)
    assert len(results) == len(lines) - 1
    assert next(iter(results.values()))["error"] == 0.125
    assert read_results(tmp_path / "absent.csv", settings) == {}
