"""The sub-commands on models of sequences of symbols, against what the models themselves say."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says
from tacit.sequences.hmm import HMM
from tacit.toy import random_automaton

WORDS = ("the", "dog", "barks", "loud")


def sentences(n, seed):
    """Strings of words whose ends depend on what came before."""
    truth = random_automaton(3, len(WORDS), random_state=5)
    drawn = truth.sample(n, random_state=seed)
    return [[WORDS[code] for code in codes] for codes in drawn.split(drawn.codes)]


TRAIN, TEST = sentences(150, 0), sentences(40, 1)


def lines(data):
    return "".join(" ".join(sequence) + "\n" for sequence in data)


def long_form(data, names=("sequence", "symbol")):
    out = io.StringIO()
    rows = [(f"s{number}", word) for number, sequence in enumerate(data) for word in sequence]
    csv.writer(out).writerows([names, *rows])
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with sequences in every form, and three models."""
    directory = tmp_path_factory.mktemp("symbols")
    (directory / "train.txt").write_text(lines(TRAIN))
    (directory / "test.txt").write_text(lines(TEST))
    (directory / "test.csv").write_text(long_form(TEST))
    (directory / "named.csv").write_text(long_form(TRAIN, ("who", "what")))
    letters = ["".join(word[0].upper() for word in sequence) for sequence in TRAIN]
    genes = "".join(f">g{n} x\n{sequence}\n" for n, sequence in enumerate(letters))
    (directory / "genes.fa").write_text(genes)
    codes = [[WORDS.index(word) for word in sequence] for sequence in TRAIN]
    strings = "".join(f"{len(sequence)} {' '.join(map(str, sequence))}\n" for sequence in codes)
    with gzip.open(directory / "1.pautomac.train.gz", "wt") as file:
        file.write(f"{len(codes)} {len(WORDS)}\n{strings}")
    fits = {
        "hmm": ["hmm", "train.txt", "--states", "3", "--learn", "em", "--restarts", "2"],
        "weighted": ["automaton", "train.txt", "--kind", "weighted", "--states", "3"],
        "probabilistic": ["automaton", "train.txt", "--states", "3", "--learn", "em"],
    }
    for name, (kind, data, *more) in fits.items():
        fit = ["fit", kind, str(directory / data), "-o", str(directory / f"{name}.tacit"), *more]
        tacit_says(*fit)
    return directory


def model(folder, name):
    return tacit.load(folder / f"{name}.tacit")


MODELS = ("hmm", "weighted", "probabilistic")


def test_fit_saves_the_model_that_the_estimator_learns(folder):
    same = HMM(3, "em", n_restarts=2).fit(TRAIN)
    loaded = model(folder, "hmm")
    np.testing.assert_allclose(loaded.score_samples(TEST), same.score_samples(TEST), rtol=1e-12)
    assert loaded.symbols_ == tuple(sorted(WORDS))
    assert loaded.progress is None


@pytest.mark.parametrize(
    ("data", "symbols"),
    [
        ("genes.fa", tuple("BDLT")),
        ("1.pautomac.train.gz", (0, 1, 2, 3)),
        ("named.csv", tuple(sorted(WORDS))),
    ],
)
def test_fit_reads_every_form(run, tmp_path, data, symbols):
    out = tmp_path / "m.tacit"
    more = ("--sequence", "who", "--symbol", "what") if data == "named.csv" else ()
    fit = ("fit", "automaton", "--kind", "weighted", "--states", "2", "--statistics", "prefix")
    report = json.loads(run(*fit, data, "-o", out, *more, "--json"))
    assert (report["rank"], report["n_symbols"]) == (2, 4)
    assert report["n_positions"] == sum(map(len, TRAIN))
    loaded = tacit.load(out)
    assert loaded.symbols_ == symbols
    assert loaded.diagnostics_["statistics"] == "prefix"
    if data == "named.csv":  # its columns are remembered
        report = json.loads(run("score", out, data, "--json"))
        assert report["score"] == pytest.approx(
            loaded.score([sequence for sequence in TRAIN if sequence])
        )


def test_fit_says_what_it_learnt(run, tmp_path):
    out = tmp_path / "m.tacit"
    n = sum(map(len, TRAIN))
    fit = ("fit", "hmm", "train.txt", "-o", out, "--learn", "em", "--states", 2, "--restarts", 1)
    printed = run(*fit, "--validation", "test.txt")
    assert printed == f"150 sequences, {n} positions, 4 symbols; hidden states: 2; saved as {out}\n"
    loaded = tacit.load(out)
    assert (loaded.n_restarts, loaded.learn, loaded.n_states) == (1, "em", 2)
    assert loaded.features == "auto"
    run("fit", "hmm", "train.txt", "-o", out, "--states", 2, "--learn", "tensor", "--features", 2)
    assert tacit.load(out).features == 2
    fit = ("fit", "automaton", "train.txt", "-o", out, "--kind", "weighted", "--states", 2)
    assert "; rank 2; saved as" in run(*fit, "--basis", 50)
    assert tacit.load(out).basis == 50


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("data", ["test.txt", "test.csv"])
def test_score_is_that_of_the_model(run, folder, tmp_path, name, data):
    fitted = model(folder, name)
    sequences = TEST if data == "test.txt" else [sequence for sequence in TEST if sequence]
    report = json.loads(run("score", f"{name}.tacit", data, "--json"))
    assert report["score"] == pytest.approx(fitted.score(sequences), rel=1e-12)
    assert report["perplexity"] == pytest.approx(fitted.perplexity(sequences), rel=1e-12)
    assert report["n_sequences"] == len(sequences)
    run("score", f"{name}.tacit", data, "-o", tmp_path / "s.csv")
    rows = rows_of((tmp_path / "s.csv").read_text())
    logs = fitted.score_samples(sequences).tolist()
    assert [float(row["log_prob"]) for row in rows] == pytest.approx(logs, rel=1e-12)
    first = next(number for number, sequence in enumerate(TEST) if sequence)
    assert rows[0]["sequence"] == ("0" if data == "test.txt" else f"s{first}")
    text = run("score", f"{name}.tacit", data)
    assert text.startswith(
        f"{report['score']:.4f} ± {report['standard_error']:.4f} nats per sequence"
    )
    assert ("symbol or end" in text) == (name != "hmm")


@pytest.mark.parametrize("name", MODELS)
def test_the_next_symbol_of_each_sequence_is_predicted(run, folder, name):
    fitted = model(folder, name)
    rows = rows_of(run("predict", f"{name}.tacit", "test.txt"))
    probabilities = fitted.predict_next_proba(TEST)
    names = [*fitted.symbols_, *([] if name == "hmm" else ["end of sequence"])]
    assert [row["next"] for row in rows] == [names[code] for code in probabilities.argmax(axis=1)]
    for place, symbol in enumerate(names):
        printed = [float(row[f"P({symbol})"]) for row in rows]
        assert printed == pytest.approx(probabilities[:, place].tolist(), rel=1e-12)


def test_every_position_is_predicted_from_those_before_it(run, folder, tmp_path):
    fitted = model(folder, "hmm")
    printed = run("predict", "hmm.tacit", "test.txt", "--all-positions", "-o", tmp_path / "p.csv")
    rows = rows_of((tmp_path / "p.csv").read_text())
    probabilities = np.concatenate(fitted.predict_next_proba(TEST, all_positions=True))
    assert [float(row["P(dog)"]) for row in rows] == pytest.approx(probabilities[:, 1].tolist())
    truth = [word for sequence in TEST for word in sequence]
    right = sum(row["next"] == word for row, word in zip(rows, truth, strict=True))
    assert f"; {right} of {len(truth)} known values right" in printed
    first = next(sequence for sequence in TEST if sequence)
    assert [int(row["position"]) for row in rows[: len(first)]] == list(range(len(first)))


def test_symbols_that_were_never_seen_are_refused_or_missing(run, folder, tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("the cat barks\n\n")
    printed = run("score", "hmm.tacit", path, code=1)
    assert "sequence 0 holds 'cat' at position 1" in printed
    assert printed.count("\n") == 1
    printed = json.loads(run("score", "hmm.tacit", path, "--unknown-as-missing", "--json"))
    fitted = model(folder, "hmm")
    assert printed["score"] == pytest.approx(fitted.score([["the", None, "barks"], []]))
    rows = rows_of(run("predict", "probabilistic.tacit", path, "--unknown-as-missing"))
    assert len(rows) == 2


@pytest.mark.parametrize("seed", range(4))
def test_symbols_of_any_kind_are_drawn_as_text(tmp_path, seed):
    path = tmp_path / "pairs.tacit"
    tacit.WeightedAutomaton(2).fit([[("c", 1), ("c", 1)], [("c", 1), "a"], ["a"]] * 9).save(path)
    rows = rows_of(tacit_says("sample", str(path), "-n", "2", "--length", "3", "--seed", str(seed)))
    assert {row["symbol"] for row in rows} <= {"('c', 1)", "a"}


def test_sequences_are_drawn(run, folder, tmp_path):
    drawn = model(folder, "hmm").sample(2, 3, random_state=4)
    rows = rows_of(run("sample", "hmm.tacit", "-n", 2, "--length", 3, "--seed", 4))
    assert [row["sequence"] for row in rows] == ["0", "0", "0", "1", "1", "1"]
    assert [row["symbol"] for row in rows] == [word for sequence in drawn for word in sequence]
    assert (
        json.loads(run("sample", "hmm.tacit", "-n", 2, "--length", 3, "--seed", 4, "--json"))
        == drawn
    )
    drawn = model(folder, "probabilistic").sample(30, random_state=4)
    printed = run("sample", "probabilistic.tacit", "-n", 30, "--seed", 4, "-o", tmp_path / "d.txt")
    assert printed == f"30 sequences written to {tmp_path / 'd.txt'}\n"
    assert (tmp_path / "d.txt").read_text() == lines(drawn)
    printed = run("sample", "probabilistic.tacit", "-n", 30, "--seed", 4, "-o", tmp_path / "d.csv")
    empty = sum(not sequence for sequence in drawn)
    assert (f"({empty} empty ones have no row)" in printed) == (empty > 0)
    assert len(rows_of((tmp_path / "d.csv").read_text())) == sum(map(len, drawn))
    assert len(rows_of(run("sample", "hmm.tacit", "-n", 1))) == 100


def test_what_came_before_is_given_as_words_or_letters(run, folder, tmp_path):
    expected = model(folder, "hmm").sample(5, 4, given=[["the", "dog"]], random_state=1)
    printed = run(
        "sample", "hmm.tacit", "-n", 5, "--length", 4, "-g", "the dog", "--seed", 1, "--json"
    )
    assert json.loads(printed) == expected
    out = tmp_path / "m.tacit"
    run("fit", "automaton", "genes.fa", "-o", out, "--kind", "weighted", "--states", 2)
    expected = tacit.load(out).sample(5, given="TD", random_state=1)
    assert json.loads(run("sample", out, "-n", 5, "-g", "TD", "--seed", 1, "--json")) == expected


def test_info_shows_symbols_and_states(run):
    for name in ("hmm", "weighted", "probabilistic"):
        assert run("info", f"{name}.tacit") == f"{tacit.load(f'{name}.tacit').summary()}\n"
    assert json.loads(run("info", "weighted.tacit", "--json"))["rank"] == 3
    report = json.loads(run("info", "probabilistic.tacit", "--json"))
    assert report["symbols"] == sorted(WORDS)
    assert (report["n_states"], report["n_automata"]) == (3, 1)
    assert report["diagnostics"]["n_sequences"] == 150


def test_missing_symbols_are_filled(run, folder, tmp_path):
    fitted = tacit.load(folder / "hmm.tacit")
    sequences = [["the", None, "barks"], [None, "dog"]]
    written = [[word or "" for word in sequence] for sequence in sequences]
    (tmp_path / "gaps.csv").write_text(long_form(written))
    filled, probabilities = fitted.impute(sequences, return_proba=True)
    rows = rows_of(run("impute", "hmm.tacit", tmp_path / "gaps.csv"))
    assert [row["sequence"] for row in rows] == ["s0"] * 3 + ["s1"] * 2
    assert [row["symbol"] for row in rows] == [word for words in filled for word in words]
    best = np.concatenate(probabilities).max(axis=1)
    assert [float(row["probability"]) for row in rows] == pytest.approx(best.tolist())
    report = json.loads(
        run("impute", "hmm.tacit", tmp_path / "gaps.csv", "-o", tmp_path / "f.csv", "--json")
    )
    assert (report["n_positions"], report["n_filled"]) == (5, 2)


def test_pictures_of_chains_are_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "f.svg"
    for arguments in (
        ["hmm.tacit"],
        ["probabilistic.tacit", "--kind", "transitions"],
        ["weighted.tacit", "--kind", "singular-values"],
        ["hmm.tacit", "--posterior", "test.csv", "--sequence", "s3"],
        ["hmm.tacit", "--posterior", "test.csv", "--sequence", "s3", "--path"],
    ):
        run("plot", *arguments, "-o", out)
        assert out.read_bytes().startswith(b"<?xml")
        out.unlink()
    printed = run("plot", "hmm.tacit", "-o", out, "--posterior", "test.txt", code=1)
    assert "no sequence is chosen; 'test.txt' has '0', '1'" in printed
    printed = run("plot", "hmm.tacit", "-o", out, "--sequence", "1", code=2)
    assert "it goes with --posterior" in printed
    printed = run("plot", "hmm.tacit", "-o", out, "--path", code=2)
    assert "it goes with --posterior" in printed
    printed = run("plot", "weighted.tacit", "-o", out, code=1)
    assert "WeightedAutomaton has no states with transitions" in printed
    printed = run("plot", "hmm.tacit", "-o", out, "--kind", "tree", code=1)
    assert "HMM has no " in printed


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["hmm", "no.txt"], 1, "there is no file 'no.txt'"),
        (["hmm", "train.txt", "--symbol", "x"], 1, "--sequence and --symbol are for tables"),
        (["hmm", "named.csv", "--sequence", "whom", "--symbol", "what"], 1, "did you mean 'who'?"),
        (["hmm", "train.txt", "--states", "two"], 2, "'two' is neither a number nor auto"),
        (["hmm", "train.txt", "--states", "0"], 1, "n_states=0"),
        (["hmm", "train.txt", "--states", "9", "--learn", "tensor"], 1, "n_states=9"),
        (["automaton", "train.txt", "--basis", "9"], 2, "does not go with --kind probabilistic"),
        (["automaton", "train.txt", "--kind", "weighted", "--learn", "em"], 2, "--kind weighted"),
    ],
)
def test_mistyped_arguments_of_fit_are_refused(run, tmp_path, arguments, code, complaint):
    out = tmp_path / "m.tacit"
    printed = run("fit", *arguments, "-o", out, code=code)
    assert complaint in printed
    assert code == 2 or printed.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "there is no sequence to learn from"),
        ("\n\n\n", "no symbol to learn from in 3 sequences"),
        ("a a a\na a\n", "the sequences show one symbol only"),
        ("a b a b\na b b a\n", "carry at most 2 states"),
    ],
)
@pytest.mark.parametrize("kind", ["hmm", "automaton"])
def test_files_with_too_little_in_them_are_one_line(run, tmp_path, kind, text, complaint):
    path, out = tmp_path / "data.txt", tmp_path / "m.tacit"
    path.write_text(text)
    if kind == "automaton" and "a" in text:  # whose states differ in what follows, too
        fast = ["--kind", "probabilistic", "--learn", "em", "--states", "3"]
        run("fit", kind, path, *fast, "-o", out)
        assert tacit.load(out).n_states_ == 3
        return
    more = ["--learn", "tensor", "--states", "3"] if kind == "hmm" else []
    printed = run("fit", kind, path, *more, "-o", out, code=1)
    assert complaint in printed
    assert printed.count("\n") == 1
    assert not out.exists()


def test_a_file_of_missing_symbols_is_one_line(run, tmp_path):
    path, out = tmp_path / "gaps.csv", tmp_path / "m.tacit"
    path.write_text("s1,s2\n,\nNaN,\n")
    for kind in ("hmm", "automaton"):
        printed = run("fit", kind, path, "-o", out, code=1)
        assert "no symbol to learn from in 2 sequences" in printed


def test_names_of_files_that_are_near_are_reported(run, tmp_path):
    for arguments in (
        ["fit", "hmm", "trian.txt", "-o", tmp_path / "m.tacit"],
        ["score", "hmm.tacit", "trian.txt"],
        ["score", "hm.tacit", "train.txt"],
        ["predict", "hm.tacit", "train.txt"],
        ["sample", "hm.tacit"],
        ["info", "hm.tacit"],
    ):
        printed = run(*arguments, code=1)
        assert "but there is 'train.txt'" in printed or "but there is 'hmm.tacit'" in printed


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["query", "hmm.tacit", "-t", "r"], "HMM has no columns to query"),
        (["impute", "weighted.tacit", "test.csv"], "WeightedAutomaton has no columns to fill in"),
        (["export", "weighted.tacit", "-o", "x.nwk"], "WeightedAutomaton has no tree to write"),
        (
            ["forecast", "hmm.tacit", "test.csv", "-o", "x.svg"],
            "HMM has no densities over time",
        ),
        (["predict", "hmm.tacit", "test.txt", "-t", "x"], "leave --target"),
        (["sample", "hmm.tacit", "-g", "a cat"], "holds 'a' at position 0"),
        (["sample", "hmm.tacit", "-o", "x.doc"], "tables are written as"),
    ],
)
def test_what_a_model_of_symbols_cannot_tell_is_one_line(run, arguments, complaint):
    pytest.importorskip("matplotlib")
    printed = run(*arguments, code=1)
    assert complaint in printed
    assert printed.startswith("error: ")
    assert printed.count("\n") == 1


def test_pictures_of_chains_are_not_for_rows(run, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "m.tacit"
    tacit.ChowLiuTree().fit({"x": ["a", "c"] * 20, "y": ["b", "d"] * 20}).save(path)
    printed = run("plot", path, "-o", tmp_path / "x.svg", "--kind", "transitions", code=1)
    assert "ChowLiuTree has no states with transitions" in printed
