"""Every kind of model, and every command that takes one: an answer, or one line that says why not."""

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app
from tacit.core.model import Model

FOLDER = Path(__file__).parents[1] / "files" / "stored"
STORED = sorted(FOLDER.glob("*-3*.tacit"))  # of the newest format
WORDS = "the dog saw a cat", "a cat saw the dog", "the cat saw"
TAGGED = "the/DET dog/NOUN saw/VERB a/DET cat/NOUN", "a/DET cat/NOUN slept/VERB"
TREES = (
    "(S (NP (DT the) (NN dog)) (VP (VB saw) (NP (DT a) (NN cat))))",
    "(S (NP (DT a) (NN cat)) (VP (VB slept)))",
)

# Commands, and what a model must be able to do for them; "maybe" where that depends on more than the model.
COMMANDS = {
    "info {model}": "anything",
    "info {model} --json": "anything",
    "score {model} {data}": "score",
    "score {model} {data} -o {out}.csv --json": "score",
    "score {model} {data} --unknown-as-missing": "score",
    "predict {model} {data}": "next or component",
    "predict {model} {data} --target {column} --json": "column",
    "predict {model} {data} --all-positions": "next",
    "predict {model} {data} --states": "states",
    "predict {model} {data} -t {column} -q 0.5": "maybe",
    "forecast {model} {data} -t {column} -o {out}.png": "forecast",
    "query {model} --target {column}": "table",
    "query {model} --target {column} --given {other}": "table",
    "query {model} --target {column} --density": "maybe",
    "impute {model} {data}": "impute",
    "sample {model} -n 2 --seed 0": "sample",
    "sample {model} -n 2 --length 3": "sequences",
    "sample {model} -n 2 --given {other}": "maybe",
    "plot {model} -o {out}.png": "picture",
    "plot {model} -o {out}.png --kind tree": "tree",
    "plot {model} -o {out}.png --kind singular-values": "maybe",
    "plot {model} -o {out}.png --kind transitions": "transitions",
    "plot {model} -o {out}.png --density {column}": "table",
    "plot {model} -o {out}.png --posterior {data} --sequence {sequence}": "paths",
    "plot {model} -o {out}.png --posterior {data} --sequence {sequence} --path": "paths",
    "export {model} -o {out}.nwk": "tree",
    "export {model} -o {out}.bif": "maybe",
    "lm perplexity {model} {data}": "language",
    "lm score {model} {data}": "language",
    "lm next {model}": "language",
    "lm sample {model} -n 2": "language",
    "lm arpa {model} {out}.arpa": "maybe",
    "parse apply {model} {data}": "parser",
    "parse evaluate {model} {trees}": "parser",
    "parse draw {model} {data} -o {out}.png": "parser",
    "grammar parse {model} {data}": "grammar",
    "grammar evaluate {model} {trees}": "grammar",
    "topics show {model}": "topics",
    "topics apply {model} {data}": "topics",
    "topics score {model} {data}": "topics",
    "topics sample {model} -n 2": "topics",
}
MISTAKES = {
    "score {model} nowhere.csv",
    "predict {model} nowhere.csv --target {column}",
    "predict {model} {data} --target nonsense",
    "forecast {model} nowhere.csv -o {out}.png",
    "query {model} --target nonsense",
    "query {model} --target {column} --given nonsense=1",
    "impute {model} nowhere.csv",
    "plot {model} -o {out}.png --density nonsense",
    "plot {model} -o {out}.nonsense",
    "export {model} -o {out}.nonsense",
    "lm perplexity {model} nowhere.txt",
    "parse apply {model} nowhere.txt",
    "grammar parse {model} nowhere.txt",
    "topics apply {model} nowhere.txt",
}


def data_for(model, folder):
    """A file that a model can read, one of its columns, and a value of another one."""
    if model.kind == "classifier":
        return data_for(model.models_[0], folder)
    kind = model.kind
    if kind in {"table", "imputer"}:
        columns = {column.name: values_of(model, column) for column in model.schema_.columns}
        names = list(columns)
        write_csv(folder / "data.csv", columns)
        return folder / "data.csv", names[0], f"{names[1]}={columns[names[1]][0]}"
    if kind == "mixture":
        rows = np.random.default_rng(0).normal(size=(5, model.n_features_in_))
        names = [f"x{place}" for place in range(rows.shape[1])]
        write_csv(folder / "data.csv", dict(zip(names, rows.T.tolist(), strict=True)))
        return folder / "data.csv", "x0", "x1=0"
    if kind == "sequences" and model.can("numbers"):
        drawn = model.sample(1, 5, random_state=0)
        if isinstance(drawn, list):  # columns of several kinds
            columns = drawn[0]
        else:
            rows = np.reshape(drawn, (5, len(model.names_)))
            columns = dict(zip(model.names_, rows.T.tolist(), strict=True))
        write_csv(folder / "data.csv", columns)
        first = columns[model.names_[0]]
        return folder / "data.csv", model.names_[0], " ".join(map(str, first[:2]))
    lines = {"parser": TAGGED, "grammar": WORDS[:1]}.get(kind, WORDS)
    if kind == "sequences":  # a symbol that is no text cannot stand in a file
        symbols = [symbol for symbol in model.symbols_ if isinstance(symbol, str)]
        lines = [" ".join([*symbols, *symbols]), symbols[0]]
    if kind == "topics":
        lines = [" ".join(map(str, model.words_[:4])), str(model.words_[0])]
    path = folder / "data.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path, "x", lines[0].split()[0]


def values_of(model, column):
    place = model.schema_.index(column.name)
    if place in getattr(model.schema_, "continuous", ()):
        return [column.low, column.high]
    return [column.categories[0], column.categories[-1]]


def write_csv(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def can(model, needed):
    """Whether a command must succeed."""
    if needed == "next or component":
        return model.kind in {"mixture", "classifier"} or can(model, "next")
    if needed == "column":
        return model.kind == "table" or (model.kind == "sequences" and model.can("numbers"))
    if needed == "next":  # of several columns of numbers one must be named
        return model.kind == "sequences" and (model.can("next") or len(model.names_) == 1)
    if needed == "picture":
        return any(map(model.can, ("tree", "transitions", "topics")))
    if needed in {"score", "sample"} and model.kind not in {"table", "mixture", "sequences"}:
        return False
    return needed in {"anything", model.kind} or model.can(needed)


@pytest.fixture(params=STORED, ids=[path.stem for path in STORED])
def subject(request, tmp_path, monkeypatch):
    """A model, and a function that runs a command about it."""
    monkeypatch.chdir(tmp_path)
    model = tacit.load(request.param)
    data, column, other = data_for(model, tmp_path)
    trees = tmp_path / "trees.mrg"
    trees.write_text("\n".join(TREES), encoding="utf-8")
    names = {"model": request.param, "data": data, "column": column, "other": other, "out": "out"}
    names |= {"trees": trees, "sequence": "0" if data.suffix == ".txt" else ""}

    def run(command):
        words = [word.format(**names) for word in command.split()]
        return CliRunner().invoke(app, words)

    return model, run


def complaint(result):
    """What is wrong with how a command ended; an empty text where nothing is."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"traceback: {result.exception!r}"
    if result.exit_code not in {0, 1, 2}:
        return f"exit code {result.exit_code}"
    notes = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    if result.exit_code == 1 and (len(notes) != 1 or len(result.stderr.splitlines()) != 1):
        return f"not one line: {result.stderr!r}"
    return ""


def test_every_command_answers_or_says_in_a_line_why_not(subject):
    model, run = subject
    wrong = {}
    for command, needed in COMMANDS.items():
        result = run(command)
        printed = complaint(result)
        must = can(model, needed)
        if not printed and must and result.exit_code != 0:
            printed = f"refused: {result.stderr}"
        if not printed and not must and needed != "maybe" and result.exit_code == 0:
            printed = "an answer where there is none"
        if printed:
            wrong[command] = printed
    assert not wrong


def test_mistakes_are_reported_in_a_line(subject):
    _, run = subject
    wrong = {}
    for command in sorted(MISTAKES):
        result = run(command)
        printed = complaint(result) or ("it succeeded" if result.exit_code == 0 else "")
        if printed:
            wrong[command] = printed
    assert not wrong


def test_every_class_that_can_be_saved_is_among_the_models():
    classes = {type(tacit.load(path)).__name__ for path in STORED}
    public = {name for name in tacit.__all__ if isinstance(getattr(tacit, name), type)}
    models = {name for name in public if issubclass(getattr(tacit, name), Model)}
    assert models <= classes
