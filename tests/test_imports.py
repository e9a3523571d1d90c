"""Imports follow the map of the package, and `import tacit` loads nothing heavy."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

# From the ground up: a folder may use itself and those before it; a family only those named here.
FOLDERS = [
    "errors",
    "core",
    "messages",
    "trees",
    "junction",
    "numbers",
    "sequences",
    "language",
    "parsing",
    "topics",
    "evaluate",
    "plot",
    "toy",
    "datasets",
    "reproduce",
    "explorer",
    "cli",
]
FAMILIES = {
    "trees": {"core", "messages"},
    "junction": {"core", "messages", "trees"},
    "numbers": {"core", "messages", "trees"},
    "sequences": {"core", "messages", "numbers"},
    "language": {"core"},
    "parsing": {"core"},
    "topics": {"core"},
}

# Inside a family: a stage may use itself and the stages before it, never the estimators on top.
STAGES = ["loops", "data", "structure", "moments", "model", "files", "query", "learn"]

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


def type_only(tree):
    """The import statements that only type checkers see."""
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }


def imported_names(tree, module, is_package):
    """(node, dotted module, name or None) of every import, relative ones made absolute."""
    parts = module.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name, None
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                base = parts[: len(parts) - node.level + is_package]
                source = ".".join([*base, *source.split(".")] if source else base)
            for alias in node.names:
                yield node, source, alias.name


def home_of_import(source, name):
    """The dotted place, below the package, that an import reaches; "" for the bare package."""
    if source != "tacit":
        return source.removeprefix("tacit.")
    if name in {None, "__version__"}:
        return ""
    return tacit._HOMES.get(name, f"tacit.{name}").removeprefix("tacit.")


def stage_of(parts):
    """The stage of a module of a family; None for its estimators and for what is no family."""
    if parts[0] in FAMILIES and len(parts) > 1 and parts[1] in STAGES:
        return STAGES.index(parts[1])
    return None


def complaint(inside, target, *, seen_at_run_time):
    """What is wrong with a module importing another; "" where nothing is. Both as parts of names."""
    folder, other = inside[0], target[0]
    if other not in FOLDERS:
        return f"{other}, which is not on the map"
    if FOLDERS.index(other) > FOLDERS.index(folder):
        return f"{other}, which stands after {folder}"
    if folder in FAMILIES and other not in {"errors", folder, *FAMILIES[folder]}:
        return f"{other}, which {folder} need not know"
    if folder != other or stage_of(inside) is None:
        return ""
    if stage_of(target) is None:
        top = seen_at_run_time and len(target) > 1
        return f"the estimators of {folder} from one of their stages" if top else ""
    if stage_of(target) > stage_of(inside):
        return f"{target[1]}, a stage after {inside[1]}"
    return ""


def violations(package):
    """One sentence for every import in the folder `package` that breaks a rule."""
    actual = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        if inside[0] in FRONT_DOOR:
            continue
        if inside[0] not in FOLDERS:
            actual.append(f"{inside[0]} is not on the map: {FOLDERS}")
            continue
        is_package = inside[-1] == "__init__"
        module = ".".join(["tacit", *(inside[:-1] if is_package else inside)])
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hidden = type_only(tree)
        for node, source, name in imported_names(tree, module, is_package):
            if source.split(".")[0] != "tacit":
                continue
            where = f"{path.relative_to(package)}:{node.lineno}"
            home = home_of_import(source, name)
            if not home:
                if name is None and FOLDERS.index(inside[0]) <= FOLDERS.index("topics"):
                    actual.append(f"{where} imports the whole package; name the module instead")
                continue
            parts = tuple(home.split("."))
            wrong = complaint(inside, parts, seen_at_run_time=id(node) not in hidden)
            private = any(part.startswith("_") for part in [*source.split("."), name or ""])
            if wrong:
                actual.append(f"{where} imports {wrong}")
            elif parts[0] != inside[0] and private:
                actual.append(f"{where} imports the private {name} of {source} from another folder")
    return actual


def run_time_imports(package):
    """Which modules each module imports when it runs, late imports included."""
    names = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        names[".".join(["tacit", *(parts[:-1] if is_package else parts)])] = path, is_package
    edges = {}
    for module, (path, is_package) in names.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hidden = type_only(tree)
        edges[module] = {
            full if (full := f"{source}.{name}") in names else source
            for node, source, name in imported_names(tree, module, is_package)
            if id(node) not in hidden and source.split(".")[0] == "tacit"
        } - {module, "tacit"}
    return edges


def cycles(edges):
    """Groups of modules that import each other, directly or around."""
    import networkx as nx

    graph = nx.DiGraph([(a, b) for a, targets in edges.items() for b in targets])
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]


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


def test_imports_follow_the_map():
    assert violations(PACKAGE) == []


def test_no_modules_import_each_other():
    assert cycles(run_time_imports(PACKAGE)) == []


def test_a_cycle_is_noticed(tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    from tacit import b")
    (tmp_path / "b.py").write_text("from tacit.a import f")
    assert cycles(run_time_imports(tmp_path)) == [["tacit.a", "tacit.b"]]


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("trees/query/a.py", "from tacit.junction.graphs import A", "stands after trees"),
        ("trees/query/a.py", "from tacit import HMM", "stands after trees"),
        ("core/a.py", "from tacit.trees.model.a import A", "stands after core"),
        ("core/a.py", "import tacit.cli", "stands after core"),
        ("messages/a.py", "def f():\n    from tacit.trees import b", "stands after messages"),
        ("core/a.py", "from ..messages import em", "stands after core"),
        ("topics/a.py", "from tacit.language.data.corpus import A", "need not know"),
        ("sequences/a.py", "from tacit.trees.model.a import A", "need not know"),
        ("trees/model/a.py", "from tacit.trees.learn.b import A", "a stage after model"),
        ("trees/model/a.py", "from ..learn.b import A", "a stage after model"),
        ("trees/learn/a.py", "from tacit.trees.latent_tree import A", "the estimators of trees"),
        ("trees/a.py", "import tacit", "whole package"),
        ("trees/a.py", "from tacit.core.loops.tree import _loop", "private _loop"),
        ("trees/a.py", "from tacit.helpers import f", "not on the map"),
        ("errors.py", "from tacit.core.input.table import Table", "stands after errors"),
        ("utils.py", "", "not on the map"),
    ],
)
def test_a_wrong_import_is_noticed(tmp_path, path, text, complaint):
    (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
    (tmp_path / path).write_text(text)
    assert [complaint in sentence for sentence in violations(tmp_path)] == [True]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("trees/query/a.py", "from tacit.messages.network import Network"),
        ("trees/query/a.py", "from tacit.trees.query.b import _private_of_the_same_folder"),
        ("trees/learn/a.py", "from tacit.trees.query.b import c"),
        ("trees/a.py", "from tacit.trees.learn.b import c"),
        ("trees/query/a.py", "from .b import c"),
        ("trees/query/__init__.py", "from .b import c"),
        ("core/a.py", "from tacit import TacitError, __version__"),
        ("cli/a.py", "def f():\n    import tacit"),
        ("trees/query/a.py", "import numpy as np"),
        (
            "trees/learn/a.py",
            "if TYPE_CHECKING:\n    from tacit.trees.latent_tree import LatentTree",
        ),
    ],
)
def test_a_right_import_is_not_noticed(tmp_path, path, text):
    (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
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
