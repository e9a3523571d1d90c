"""Imports only point up the list of rooms, and `import tacit` loads nothing heavy."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

# The order in which data flows: a room may use itself and what stands before it.
ROOMS = [
    "errors",
    "loops",
    "data",
    "structure",
    "moments",
    "factor",
    "params",
    "query",
    "polish",
    "evaluate",
    "plot",
    "files",
    "toy",
    "datasets",
    "estimators",
    "experiments",
    "cli",
    "explorer",
]

# The package itself: its __init__ names everything lazily, its __main__ calls the command line.
FRONT_DOOR = {"__init__", "__main__"}

HEAVY = {
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
}

PACKAGE = Path(importlib.util.find_spec("tacit").origin).parent


def imported_names(tree, module, is_package):
    """(line, dotted module, name or None) of every import, relative ones made absolute."""
    parts = module.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, None
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                base = parts[: len(parts) - node.level + is_package]
                source = ".".join([*base, *source.split(".")] if source else base)
            for alias in node.names:
                yield node.lineno, source, alias.name


def room_of_import(source, name):
    """The room an import reaches; None for the bare package, whose version anybody may read."""
    if source != "tacit":
        return source.split(".")[1]
    if name in {None, "__version__"}:
        return None
    return tacit._HOMES.get(name, f"tacit.{name}").split(".")[1]


def violations(package):
    """One sentence for every import in the folder `package` that breaks a rule."""
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        room = inside[0]
        if room in FRONT_DOOR:
            continue
        if room not in ROOMS:
            found.append(f"{room} is not a room; the rooms are {ROOMS}")
            continue
        is_package = inside[-1] == "__init__"
        module = ".".join(["tacit", *(inside[:-1] if is_package else inside)])
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, source, name in imported_names(tree, module, is_package):
            if source.split(".")[0] != "tacit":
                continue
            where = f"{path.relative_to(package)}:{line}"
            target = room_of_import(source, name)
            if target is None:
                if name is None and ROOMS.index(room) <= ROOMS.index("estimators"):
                    found.append(f"{where} imports the whole package; name the module instead")
            elif target not in ROOMS:
                found.append(f"{where} imports {target}, which is not a room")
            elif ROOMS.index(target) > ROOMS.index(room):
                found.append(f"{where} imports {target}, which stands after {room}")
            elif target != room and any(
                part.startswith("_") for part in [*source.split("."), name or ""]
            ):
                found.append(f"{where} imports the private {name} of {source} from another room")
    return found


def heavy_modules_after(code):
    """The heavy packages that a fresh interpreter has loaded after running `code`."""
    report = f"\nprint('loaded', *sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", "import sys\n" + code + report],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.split("loaded", maxsplit=1)[1].split()


def test_imports_only_point_up_the_list_of_rooms():
    assert violations(PACKAGE) == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("query/a.py", "from tacit.estimators.tree import A", "stands after query"),
        ("query/a.py", "from tacit import LatentTree", "stands after query"),
        ("query/a.py", "from tacit import estimators", "stands after query"),
        ("query/a.py", "import tacit.cli", "stands after query"),
        ("query/a.py", "def f():\n    from tacit.polish import em", "stands after query"),
        ("query/a.py", "from ..polish import em", "stands after query"),
        ("query/__init__.py", "from ..polish import em", "stands after query"),
        ("query/a.py", "import tacit", "whole package"),
        ("query/a.py", "from tacit.loops.tree import _loop", "private _loop"),
        ("query/a.py", "from tacit.helpers import f", "not a room"),
        ("errors.py", "from tacit.data.table import Table", "stands after errors"),
        ("utils.py", "", "not a room"),
    ],
)
def test_a_wrong_import_is_noticed(tmp_path, path, text, complaint):
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text)
    assert [complaint in sentence for sentence in violations(tmp_path)] == [True]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("query/a.py", "from tacit.params.tree import Network"),
        ("query/a.py", "from tacit.query.b import _private_of_the_same_room"),
        ("query/a.py", "from .b import c"),
        ("query/__init__.py", "from .b import c"),
        ("files/a.py", "from tacit import TacitError, __version__"),
        ("cli/a.py", "def f():\n    import tacit"),
        ("query/a.py", "import numpy as np"),
    ],
)
def test_a_right_import_is_not_noticed(tmp_path, path, text):
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text)
    assert violations(tmp_path) == []


def test_importing_tacit_loads_nothing_heavy():
    _, loaded = heavy_modules_after("import tacit; dir(tacit); tacit.__version__")
    assert loaded == []


def test_a_heavy_import_is_noticed():
    _, loaded = heavy_modules_after("import numpy")
    assert "numpy" in loaded


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_the_command_line_loads_nothing_heavy_for(argument):
    said, loaded = heavy_modules_after(
        f"sys.argv = ['tacit', {argument!r}]\n"
        "from tacit.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
    )
    assert loaded == []
    assert ("Usage" if argument == "--help" else tacit.__version__) in said
