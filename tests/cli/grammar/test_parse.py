"""`tacit grammar` against what the model itself says."""

import gzip
import io
import json
import math
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import tacit
from oracles.commands import rows_of, tacit_says
from tacit.cli.grammar import parse as grammar
from tacit.evaluate import grammar_scores
from tacit.parsing.data.parse_trees import read_trees

TREES = [
    "( (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .)) )",
    (
        "( (S (NP-SBJ (DT a) (NN dog)) (VP (VBZ sees) (NP (NP (DT the) (NN cat))"
        " (PP (IN with) (NP (DT a) (NN hat))))) (. .)) )"
    ),
    (
        "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN hat))"
        " (PP (IN with) (NP (DT a) (NN cat)))) (. .)) )"
    ),
    "( (S (NP-SBJ (-NONE- *)) (VP (VBZ sleeps)) (. .)) )",
    "( (NP (DT the) (NN cat) (-LRB- -LRB-) (NN dog) (-RRB- -RRB-)) )",
    "( (NP (NN rain)) )",
]
LINES = ["the dog sees a cat with the hat .", "", "rain", "a cat ( dog )"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("trees")
    (place / "train.mrg").write_text("\n".join(TREES * 3), encoding="utf-8")
    (place / "asked.txt").write_text("\n".join([*LINES, ""]), encoding="utf-8")
    tacit.LatentPCFG(2, min_count=1).fit(TREES * 3).save(place / "model.tacit")
    return place


@pytest.fixture(scope="module")
def model(folder):
    return tacit.load(folder / "model.tacit")


def words(line):
    return line.replace("(", "-LRB-").replace(")", "-RRB-").split()


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--states", "1"], {"n_states": 1}),
        (["--learn", "spectral", "--min-count", "9"], {"learn": "spectral", "min_count": 9}),
        (
            ["--learn", "em", "--restarts", "2", "--max-iter", "4", "--seed", "3"],
            {"learn": "em", "n_restarts": 2, "max_iter": 4, "random_state": 3},
        ),
        (["--longest", "9", "--jobs", "2"], {"max_words": 9}),
    ],
)
def test_training_learns_what_the_estimator_learns(run, folder, options, arguments):
    printed = run("grammar", "train", "train.mrg", "-o", "own.tacit", "--states", "2", *options)
    assert printed.startswith("18 trees, ")
    assert "saved as own.tacit" in printed
    loaded = tacit.load(folder / "own.tacit")
    again = tacit.LatentPCFG(**{"n_states": 2, **arguments}).fit(TREES * 3)
    assert loaded.max_words == again.max_words
    assert loaded.score_samples(TREES).tolist() == again.score_samples(TREES).tolist()


def test_treebanks_come_in_several_files_packed_ones_too(run, folder):
    (folder / "more.mrg.gz").write_bytes(gzip.compress("\n".join(TREES).encode()))
    printed = run("grammar", "train", "train.mrg", "more.mrg.gz", "-o", "own.tacit", "--json")
    assert json.loads(printed)["n_trees"] == 24
    with (folder / "train.mrg").open("rb") as file:
        call = [sys.executable, "-c", "from tacit.cli import main; main()", "grammar", "train"]
        done = subprocess.run(
            [*call, "-", "-o", "piped.tacit", "--states", "1"],
            cwd=folder,
            check=True,
            stdin=file,
            capture_output=True,
        )
    assert b"18 trees" in done.stdout


def test_each_line_of_words_gives_a_line_with_a_tree(run, folder, model):
    out = run("grammar", "parse", "model.tacit", "asked.txt").split("\n")
    expected = [str(model.parse(words(line))) if line else "" for line in LINES]
    assert out == [*expected, ""]
    assert "(-LRB- -LRB-)" in out[3]
    read_trees(out)  # brackets of words do not spoil those of the tree
    printed = run("grammar", "parse", "model.tacit", "asked.txt", "-o", "found.mrg")
    assert printed == "trees of 3 sentences written to found.mrg\n"
    assert (folder / "found.mrg").read_text().split("\n") == out
    assert run("grammar", "parse", "model.tacit", "asked.txt", "--jobs", "2").split("\n") == out


def test_tags_that_are_given_are_kept(run, folder, model):
    pairs = [("the", "DT"), ("hat", "VBZ"), ("sees", "NN"), ("(", "-LRB-")]
    (folder / "tagged.txt").write_text("\n".join([" ".join(map("/".join, pairs)), "rain/NN"]))
    out = run("grammar", "parse", "model.tacit", "tagged.txt", "--tagged").splitlines()
    assert [tag for _, tag in read_trees(out)[0].leaves()] == ["DT", "VBZ", "NN", "-LRB-"]
    assert out[1] == str(model.parse([("rain", "NN")]))
    # Trees come in for their words and tags.
    out = run("grammar", "parse", "model.tacit", "train.mrg", "--tagged").splitlines()
    assert [tree.leaves() for tree in read_trees(out[3:4])] == [[("sleeps", "VBZ"), (".", ".")]]


def test_several_trees_and_their_probabilities(run, model):
    best = model.n_best(words(LINES[0]), 3)
    logs = model.score_samples([tree for tree, _ in best])
    more = ("--n-best", "3", "--probability")
    out = run("grammar", "parse", "model.tacit", "asked.txt", *more).split("\n")
    printed = [line.split("\t") for line in out[: len(best)]]
    assert [line[0] for line in printed] == [str(tree) for tree, _ in best]
    numbers = [[float(cell) for cell in line[1:]] for line in printed]
    assert numbers == [
        pytest.approx([n_right, log], rel=1e-5)
        for (_, n_right), log in zip(best, logs, strict=True)
    ]
    # An empty line after the trees of a sentence, and one for the sentence without words.
    assert out[len(best) : len(best) + 2] == ["", ""]
    lines = run("grammar", "parse", "model.tacit", "asked.txt", *more, "--json").splitlines()
    objects = [json.loads(line)["trees"] for line in lines]
    assert [parse["log_prob"] for parse in objects[0]] == logs.tolist()
    assert objects[1] == []
    (one,) = json.loads(
        run("grammar", "parse", "model.tacit", "asked.txt", "--json").splitlines()[2]
    )["trees"]
    assert one == {"tree": str(model.parse("rain"))}


def test_trees_come_out_while_sentences_go_in(folder):
    call = [sys.executable, "-c", "from tacit.cli import main; main()", "grammar", "parse"]
    with subprocess.Popen(
        [*call, "model.tacit", "-"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as job:
        for line in ("the cat sees a dog .", "rain"):
            job.stdin.write(line.encode() + b"\n")
            job.stdin.flush()
            tree = read_trees([job.stdout.readline().decode()])[0]  # before there is another
            assert [word for word, _ in tree.leaves()] == line.split()
        job.stdin.close()
        assert job.stdout.read() == b""
    assert job.returncode == 0


def test_work_in_threads_comes_back_in_order():
    assert list(grammar.in_order(lambda n: n * n, iter(range(50)), 2)) == [n * n for n in range(50)]

    def broken(n):
        if n == 7:
            raise ValueError("seven")
        return n

    results = grammar.in_order(broken, iter(range(10**9)), 2)
    with pytest.raises(ValueError, match="seven"):
        list(results)


# -- evaluating -----------------------------------------------------------------------------------

GOLD = ["(TOP (S (NP (D a) (N b)) (VP (V c)) (. .)))", "(TOP (NP (N x)))"]
# Of the first tree NP ends elsewhere; the second has another label.
PARSED = ["(TOP (S (NP (D a)) (VP (N b) (V c)) (. .)))", "(TOP (FRAG (N x)))"]


def test_parsed_trees_are_compared_with_a_treebank(run, folder):
    (folder / "gold.mrg").write_text("\n".join(GOLD))
    (folder / "guess.mrg").write_text("\n".join(PARSED))
    rows = json.loads(
        run("grammar", "evaluate", "guess.mrg", "gold.mrg", "--lengths", "2,all", "--json")
    )
    both = {(row["convention"], row["longest"]): row for row in rows}
    # S alone is right of S NP VP, and nothing of NP.
    assert both["all", None]["f1"] == pytest.approx(100 * 1 / 4)
    assert both["evalb", None]["f1"] == pytest.approx(100 * 1 / 4)
    assert both["all", 2] == {
        "convention": "all",
        "longest": 2,
        "n_sentences": 1,
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "exact": 0.0,
    }
    same = rows_of(run("grammar", "evaluate", "gold.mrg", "gold.mrg", "--json", "-o", "same.csv"))
    assert same
    text = (folder / "same.csv").read_text()
    assert {row["exact"] for row in rows_of(text)} == {"100"}


def test_a_grammar_is_scored_as_the_estimator_scores_itself(run, folder, model):
    for more, given_tags in (([], True), (["--untagged", "--jobs", "2"], False)):
        rows = json.loads(
            run(
                "grammar",
                "evaluate",
                "model.tacit",
                "train.mrg",
                "--lengths",
                "all",
                *more,
                "--json",
            )
        )
        for row in rows:
            score = grammar_scores(
                model, TREES * 3, given_tags=given_tags, convention=row["convention"]
            )
            assert row["f1"] == pytest.approx(100 * score.f1)
            assert row["precision"] == pytest.approx(100 * score.precision)
            assert row["n_sentences"] == 18
    # Words with other tags than usual: without them, the tree is another.
    phrases = "(NP (DT the) (NN sees)) (VP (VBZ cat) (NP (DT a) (NN dog)))"
    (folder / "unusual.mrg").write_text(f"(TOP (S {phrases} (. .)))")
    for more, f1 in (([], 100.0), (["--untagged"], 0.0)):
        rows = json.loads(run("grammar", "evaluate", "model.tacit", "unusual.mrg", *more, "--json"))
        assert {row["f1"] for row in rows} == {f1}
    text = run("grammar", "evaluate", "model.tacit", "train.mrg")
    assert "up to 10" in text
    assert "as evalb counts" in text


def test_progress_is_reported_where_somebody_looks(run, monkeypatch):
    reports = []
    from tacit.core import progress

    class Bar:
        def __enter__(self):
            return lambda fraction, text: reports.append((fraction, text))

        def __exit__(self, *details):
            return None

    monkeypatch.setattr(progress, "_bar", Bar)
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=screen))
    run("grammar", "train", "train.mrg", "-o", "own.tacit")
    assert any("EM step" in text for _, text in reports)
    run("grammar", "evaluate", "model.tacit", "train.mrg")
    assert reports[-1] == (1.0, "sentence 18 of 18")
    run("grammar", "parse", "model.tacit", "asked.txt")
    assert reports[-1][1] == "sentence 1"


def test_other_commands_say_which_commands_are_for_grammars(run):
    assert "LatentPCFG" in run("info", "model.tacit")
    assert json.loads(run("info", "model.tacit", "--json"))["diagnostics"]["n_trees"] == 18
    assert "`tacit grammar`" in tacit_says("score", "model.tacit", "asked.txt", code=1)


def test_probabilities_of_trees_that_no_rule_makes_are_none(run, folder):
    (folder / "odd.txt").write_text("sees sees\n")
    (line,) = run("grammar", "parse", "model.tacit", "odd.txt", "--probability").splitlines()
    tree, log = line.split("\t")
    assert math.isinf(float(log))
    assert tree.startswith("(TOP (")
