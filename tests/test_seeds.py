"""The tables of the papers' algorithms and experiments name objects, tests and commands that exist."""

import ast
import csv
import importlib
import inspect
from functools import cache
from pathlib import Path

import pytest

from tacit.reproduce import listing

ROOT = Path(__file__).parent.parent
TABLES = sorted((ROOT / "docs" / "tables" / "seeds").glob("*.csv"))
COLUMNS = ["printed at", "what", "in Tacit", "test", "reproduce", "status", "note"]


def rows():
    for path in TABLES:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                name = f"{path.stem}: {row['printed at']}, {row['what']}"
                yield pytest.param(row, id=name)


def parts(cell):
    """What a cell names, without the marks of code."""
    return [part.strip("`") for part in cell.split("; ") if part]


def resolved(path):
    """The object that a dotted path leads to."""
    names = path.split(".")
    for cut in range(len(names), 0, -1):
        try:
            value = importlib.import_module(".".join(names[:cut]))
        except ModuleNotFoundError:
            continue
        for name in names[cut:]:
            value = getattr(value, name)
        return value
    raise ModuleNotFoundError(path)


def check_object(expression):
    """Import what an expression names; its arguments must be known, and a class must take their values."""
    node = ast.parse(expression, mode="eval").body
    is_call = isinstance(node, ast.Call)
    value = resolved(ast.unparse(node.func if is_call else node))
    if not is_call:
        return
    arguments = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
    assert not node.args, "arguments are named"
    inspect.signature(value).bind_partial(**arguments)
    for name, choice in arguments.items():
        if isinstance(choice, str):
            assert f'"{choice}"' in inspect.getdoc(value), f"{name}={choice!r} is not documented"
    if inspect.isclass(value):
        assert value(**arguments).get_params().items() >= arguments.items()


@cache
def functions(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_there_is_a_table_for_each_of_the_five():
    assert [path.stem for path in TABLES] == [
        "goyal_2013",
        "parikh_2011",
        "parikh_2015",
        "song_2013",
        "xing_2020",
    ]
    for path in TABLES:
        with path.open(encoding="utf-8", newline="") as file:
            assert next(csv.reader(file)) == COLUMNS


@pytest.mark.parametrize("row", list(rows()))
def test_what_a_line_names_is_there(row):
    if row["status"] == "future work":
        assert row["note"], "future work has a reason"
        assert not row["in Tacit"] + row["test"] + row["reproduce"]
        return
    assert row["status"] == "there"
    assert parts(row["in Tacit"])
    for expression in parts(row["in Tacit"]):
        check_object(expression)
    (test,) = parts(row["test"])
    path, name = test.split("::")
    assert name in functions(path)
    known = {name for name, _ in listing()}
    for name in parts(row["reproduce"]):
        assert name in known or (name.startswith("benchmarks/") and (ROOT / name).is_file())


def test_every_experiment_has_a_line():
    named = set()
    for path in TABLES:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                named.update(parts(row["reproduce"]))
    assert {name for name, _ in listing()} <= named


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("tacit.LatentTre", AttributeError),
        ("tacit.nothing.at_all", AttributeError),
        ('tacit.LatentTree(lern="em")', TypeError),
        ("tacit.learn_structure(metrik=1)", TypeError),
        ('tacit.LatentTree(learn="spektral")', AssertionError),
    ],
)
def test_names_and_arguments_that_do_not_exist_are_noticed(expression, error):
    with pytest.raises(error):
        check_object(expression)
