"""`tacit demo`: fit, compare, query, impute and plot a real table, in a minute.

The table comes with scikit-learn. Everything that is printed is computed while it runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Columns = dict[str, NDArray[Any]]

Report = Callable[[float, str], None]

_PICTURE = "tacit-demo-tree.png"
_TRAINED = 2 / 3  # fraction of the rows that is learnt from
_HIDDEN = 0.2  # fraction of the held-out cells that is hidden and filled in again
# Of EM, which calls held-out rows impossible without any.
_PSEUDO_COUNTS = 1.0
_RESTARTS = 5
# Queries: a column and one of its values, given others.
_QUESTIONS: list[tuple[str, str, dict[str, str]]] = [
    ("diagnosis", "malignant", {"mean_texture": "high", "worst_concavity": "high"}),
    ("worst_area", "high", {"diagnosis": "benign", "mean_compactness": "high"}),
]


@dataclass(frozen=True)
class Contender:
    """A model, its held-out log-likelihood, and the time that learning took."""

    name: str
    score: float  # mean natural-log likelihood per held-out row
    seconds: float


@dataclass(frozen=True)
class Answer:
    """A query, the model's probability, and the frequency among the held-out rows."""

    target: str
    value: str
    given: dict[str, str]
    probability: float
    n_rows: int  # held-out rows that fit the condition
    n_true: int  # of which the target has the value


@dataclass(frozen=True)
class Filled:
    """The number of masked cells, and how many were imputed correctly."""

    n_cells: int
    n_right: int
    n_right_by_most_frequent: int


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the picture of the tree goes.")
    ] = Path(),
    seed: Annotated[
        int, typer.Option(min=0, help="Which rows are held out, which cells hidden.")
    ] = 0,
    json: Json = False,
) -> None:
    """Learn a latent tree of a real table, compare it, query it, fill in missing cells, draw it."""
    from tacit.cli.output import print_json
    from tacit.datasets import breast_cancer_table
    from tacit.errors import MissingDataError

    if not out.is_dir():
        raise MissingDataError(f"the folder {str(out)!r} does not exist")
    with _progress() as report:
        report(0.0, "compiling, once on this machine")
        train, test = _split(breast_cancer_table(), seed)
        seconds = _warm_up(train)
        model, contenders = _contenders(train, test, report)
        report(0.8, "queries")
        answers = [_answer(model, test, *question) for question in _QUESTIONS]
        filled = _fill(model, train, test, seed)
        report(0.9, "drawing")
        picture = _draw(model, out / _PICTURE)
    if json:
        print_json(
            {
                "contenders": [asdict(record) for record in contenders],
                "n_states": max(max(tree.node_states.values(), default=1) for tree in model.trees_),
                "answers": [asdict(record) for record in answers],
                "imputation": asdict(filled),
                "picture": picture,
                "newick": model.topology_.to_newick(),
                "compile_seconds": seconds,
            }
        )
    else:
        _print(train, test, model, contenders, answers, filled, picture, seconds)


# -------------------------------------------------------------------------------- computation


def _warm_up(train: Columns) -> float:
    """Run everything once, most of it on little data, so that compiling is not counted for any model."""
    from tacit import ChowLiuTree, LatentClass, LatentTree

    start = time.perf_counter()
    rows: list[list[Any]] = [
        ["a", "b", "c"],
        ["b", "a", "c"],
        ["a", "a", "d"],
        ["b", "b", "d"],
    ] * 40
    models = (LatentTree(), LatentTree(2, learn="em", n_restarts=1), ChowLiuTree(), LatentClass())
    for model in models:
        model.fit(rows).score(rows)
        model.impute([["a", None, "c"]])
    LatentTree(n_components=1).fit(train)  # a tree of few columns and rows does without some loops
    return time.perf_counter() - start


def _split(table: Columns, seed: int) -> tuple[Columns, Columns]:
    import numpy as np

    n_rows = len(next(iter(table.values())))
    order = np.random.default_rng(seed).permutation(n_rows)
    cut = round(_TRAINED * n_rows)
    first, second = np.sort(order[:cut]), np.sort(order[cut:])
    return (
        {name: column[first] for name, column in table.items()},
        {name: column[second] for name, column in table.items()},
    )


def _contenders(train: Columns, test: Columns, report: Report) -> tuple[Any, list[Contender]]:
    """The latent tree and the models it is compared with, all learnt from the same rows."""
    from tacit import ChowLiuTree, LatentClass, LatentTree

    def timed(name: str, model: Any) -> Contender:
        start = time.perf_counter()
        model.fit(train)
        seconds = time.perf_counter() - start
        return Contender(name, model.score(test), seconds)

    report(0.3, "independence, Chow-Liu and classes")
    contenders = [_independence(train, test), timed("Chow-Liu tree", ChowLiuTree())]
    contenders.append(timed("latent classes", LatentClass()))
    report(0.4, "one tree")
    alone = LatentTree(n_components=1)
    contenders.append(timed("", alone))
    k = max(alone.node_states_.values())
    contenders[-1] = replace(contenders[-1], name=f"one latent tree, {k} states")
    report(0.5, "the same by EM")
    by_em = LatentTree(
        alone.trees_[0].node_states or "auto",
        alone.topology_,
        "em",
        n_restarts=_RESTARTS,
        pseudo_counts=_PSEUDO_COUNTS,
    )
    contenders.append(timed(f"the same by EM, {_RESTARTS} restarts", by_em))
    model = LatentTree(progress=lambda fraction, text: report(0.6 + 0.2 * fraction, text))
    contenders.append(timed("", model))
    n_trees = len(model.trees_)
    name = f"LatentTree(): {n_trees} models, mixed" if n_trees > 1 else "LatentTree(): one tree"
    contenders[-1] = replace(contenders[-1], name=name)
    return model, contenders


def _independence(train: Columns, test: Columns) -> Contender:
    """Independent columns, with a pseudo-count of one half for each category."""
    import numpy as np

    start = time.perf_counter()
    distributions = {}
    for name, column in train.items():
        values, counts = np.unique(column, return_counts=True)
        distributions[name] = values, (counts + 0.5) / (counts + 0.5).sum()
    seconds = time.perf_counter() - start
    logs = np.zeros(len(next(iter(test.values()))))
    for name, (values, probabilities) in distributions.items():
        logs += np.log(probabilities[np.searchsorted(values, test[name])])
    return Contender("independent columns", float(logs.mean()), seconds)


def _answer(model: Any, test: Columns, target: str, value: str, given: dict[str, str]) -> Answer:
    import numpy as np

    probability = model.query(target, given=given)[value]
    fits = np.logical_and.reduce([test[name] == known for name, known in given.items()])
    true = int((test[target][fits] == value).sum())
    return Answer(target, value, given, probability, int(fits.sum()), true)


def _fill(model: Any, train: Columns, test: Columns, seed: int) -> Filled:
    """Mask some of the held-out cells, impute them, and count how many are right."""
    import numpy as np

    rng = np.random.default_rng(seed + 1)
    holes = {name: rng.random(len(column)) < _HIDDEN for name, column in test.items()}
    rows = {
        name: [
            None if hole else cell for cell, hole in zip(column.tolist(), holes[name], strict=True)
        ]
        for name, column in test.items()
    }
    filled = model.impute(rows)
    cells = right = plain = 0
    for name, hole in holes.items():
        truth = test[name][hole]
        values, counts = np.unique(train[name], return_counts=True)
        cells += len(truth)
        right += int((np.array(filled[name], dtype=object)[hole] == truth).sum())
        plain += int((truth == values[counts.argmax()]).sum())
    return Filled(cells, right, plain)


def _draw(model: Any, path: Path) -> str | None:
    """Write the picture; None where matplotlib is not installed."""
    from tacit import plot
    from tacit.cli.model.plot import save_picture
    from tacit.errors import DependencyError

    try:
        save_picture(plot.tree(model), path)
    except DependencyError:
        return None
    return str(path)


# -------------------------------------------------------------------------------------- output


@contextmanager
def _progress() -> Iterator[Report]:
    """A bar on standard error if that is a terminal; nothing otherwise."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("", total=1.0)
        yield lambda fraction, text: bar.update(task, completed=fraction, description=text)


def _print(
    train: Columns,
    test: Columns,
    model: Any,
    contenders: list[Contender],
    answers: list[Answer],
    filled: Filled,
    picture: str | None,
    compiling: float,
) -> None:
    from rich.table import Table

    from tacit.cli.output import console

    out = console()
    n_train, n_test = (len(next(iter(part.values()))) for part in (train, test))
    out.print(
        f"Breast tumours of {n_train + n_test} patients (the table comes with scikit-learn): "
        f"{len(train) - 1} measurements,\neach low, middle or high, and the diagnosis. "
        f"Learnt from {n_train} rows, judged on the {n_test} others.\n"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("model")
    table.add_column("held-out log-likelihood\nper row, nats", justify="right")
    table.add_column("seconds\nto learn", justify="right")
    best = max(contender.score for contender in contenders)
    for contender in contenders:
        style = "bold" if contender.score == best else ""
        table.add_row(
            contender.name, f"{contender.score:.2f}", f"{contender.seconds:.2f}", style=style
        )
    out.print(table)
    out.print(f"Compiling before that took {compiling:.1f} seconds; it is kept for the next run.\n")
    out.print("Queries:")
    for answer in answers:
        out.print(_sentence(answer), markup=False)
    accuracy = filled.n_right / filled.n_cells
    plain = filled.n_right_by_most_frequent / filled.n_cells
    out.print(
        f"\nFilled in: of {filled.n_cells} held-out cells that were hidden, {filled.n_right} came back right "
        f"({accuracy:.0%});\nthe most frequent value of each column would have been right for "
        f"{filled.n_right_by_most_frequent} ({plain:.0%}).\n"
    )
    hidden = len(model.topology_.hidden)
    which = "The tree" if len(model.trees_) == 1 else "The heaviest tree"
    if picture is None:
        out.print('No picture of the tree: matplotlib is missing (pip install "tacit[plot]").')
    else:
        out.print(f"{which}, with {hidden} hidden variables, is drawn in {picture}", markup=False)


def _sentence(answer: Answer) -> str:
    condition = " and ".join(f"{name} is {value}" for name, value in answer.given.items())
    return (
        f"  If {condition}, then {answer.target} is {answer.value} with probability "
        f"{answer.probability:.2f}.\n  (Among the held-out rows: {answer.n_true} of {answer.n_rows}.)"
    )
