"""``LatentTree()`` with nothing set on real tables of categories, beside everything simpler that Tacit has.

    python benchmarks/categories.py                        all tables (an hour); can be stopped and resumed
    python benchmarks/categories.py --only votes,nltcs     some of them
    python benchmarks/categories.py --only development     those that choices were made on
    python benchmarks/categories.py --only confirmation    the others
    python benchmarks/categories.py --again tree           forget what is known of a method
    python benchmarks/categories.py --quick                two small tables, one split

The methods: independent columns, ``ChowLiuTree()``, ``LatentClass()``, ``LatentTree(n_components=1)``, and
``learn="em"``, ten random starts run to a gain of 1e-8, of the tree and the numbers of states that
``LatentTree(n_components=1)`` chose, with one pseudo-count for each table row (without any it calls rows
impossible). EM is left out where rows x columns x states exceed a million.

Tables with test rows of their own (the binary density sets) are cut to 300, 1,000 and 3,000 rows to learn
from, drawn anew for each split; up to 4,000 of their test rows judge. Other tables are cut in two at random:
two thirds to learn from, at most 3,000. Differences are ``LatentTree()`` less the other, in nats per row,
with the standard error over the test rows of all splits (pairs of the same row). What was run is kept in
``out/categories.jsonl`` and ``out/categories/``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit

Codes = NDArray[np.int64]
Array = NDArray[np.float64]

DEVELOPMENT = ("votes", "nltcs", "plants", "digits", "breast_cancer", "coil2000", "tretail")
CONFIRMATION = (
    "msnbc",
    "baudio",
    "dna",
    "splice",
    "wine",
    "diabetes",
    "digits_levels",
    "accidents",
    "kdd",
)
DENSITY = ("nltcs", "plants", "tretail", "msnbc", "baudio", "dna", "accidents", "kdd")
SIZES = (300, 1000, 3000)  # rows to learn from, of density sets
MOST_ROWS, MOST_TEST_ROWS = 3000, 4000
N_SPLITS, N_STARTS = 3, 10
MOST_WORK_OF_EM = 1_000_000  # rows x columns x states
METHODS = ("tree", "independent", "chow-liu", "classes", "one", "em")


# -- the tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table, and how many of its rows are learnt from (0: two thirds)."""

    table: str
    n_rows: int = 0

    @property
    def name(self) -> str:
        return f"{self.table}-{self.n_rows}" if self.n_rows else self.table

    def split(self, seed: int) -> tuple[Codes, Codes, tuple[int, ...]]:
        """Rows to learn from, rows to test with, and the numbers of categories."""
        rng = np.random.default_rng([seed, 17])
        learning, testing = codes_of(self.table)
        if testing is None:
            order = rng.permutation(len(learning))
            cut = min(round(2 * len(order) / 3), MOST_ROWS)
            training, test = learning[order[:cut]], learning[order[cut:]]
        else:
            training = learning[rng.permutation(len(learning))[: self.n_rows]]
            test = testing
        cards = tuple((learning.max(axis=0) + 1).tolist())
        return training, test[rng.permutation(len(test))[:MOST_TEST_ROWS]], cards


@cache
def codes_of(name: str) -> tuple[Codes, Codes | None]:
    """Codes of all rows, -1 where missing, and the table's own test rows."""
    if name in DENSITY:
        data = tacit.datasets.load_density(name)
        return data.train.astype(np.int64), data.test.astype(np.int64)
    if name in ("votes", "splice", "coil2000"):
        load = {
            "votes": tacit.datasets.load_house_votes,
            "splice": tacit.datasets.load_splice,
            "coil2000": tacit.datasets.load_coil2000,
        }[name]
        return of_columns(load()), None
    return of_scikit_learn(name), None


def of_columns(table: dict[Any, Any]) -> Codes:
    """Codes of the columns that have two values or more."""
    out = []
    for cells in table.values():
        known = sorted({cell for cell in cells.tolist() if cell is not None}, key=str)
        place = {cell: number for number, cell in enumerate(known)}
        if len(known) > 1:
            out.append([place.get(cell, -1) for cell in cells.tolist()])
    return np.array(out, dtype=np.int64).T


def of_scikit_learn(name: str) -> Codes:
    """Digits as black and white or as four levels; other numbers cut at their quartiles."""
    from sklearn import datasets

    source = "digits" if name == "digits_levels" else name
    loaded = getattr(datasets, f"load_{source}")()
    if name == "digits":
        columns = [(column >= 8).astype(int) for column in loaded.data.T]
    elif name == "digits_levels":
        columns = [np.minimum(column // 4, 3).astype(int) for column in loaded.data.T]
    else:
        columns = [
            np.searchsorted(np.unique(np.quantile(column, [0.25, 0.5, 0.75])), column)
            for column in loaded.data.T
        ]
    if name != "diabetes":
        columns.append(loaded.target)
    codes = [np.unique(column, return_inverse=True)[1] for column in columns]
    return np.column_stack([column for column in codes if column.max() > 0])


def cases_of(tables: Sequence[str]) -> list[Case]:
    """The cases of some tables."""
    return [
        Case(table, n_rows)
        for table in tables
        for n_rows in (SIZES if table in DENSITY else (0,))
        if not n_rows or n_rows <= len(codes_of(table)[0])
    ]


def frame(codes: Codes, cards: tuple[int, ...]) -> Any:
    """Rows as a frame that knows of all categories, also of those these rows do not show."""
    import pandas as pd

    return pd.DataFrame(
        {
            f"x{place}": pd.Categorical.from_codes(cells, categories=range(card), ordered=True)
            for place, (card, cells) in enumerate(zip(cards, codes.T, strict=True))
        }
    )


# -- the methods --------------------------------------------------------------------------------------


def fitted(method: str, train: Any, cards: tuple[int, ...], done: dict[str, Any]) -> Any:
    """The model of a method; None where it is left out."""
    if method == "em":
        if "one" not in done:
            done["one"] = fitted("one", train, cards, done)
        one = done["one"]
        free = dict(one.trees_[0].node_states)
        work = len(train) * len(cards) * max(free.values(), default=1)
        if work > MOST_WORK_OF_EM:
            return None
        return tacit.LatentTree(
            free or "auto",
            one.topology_,
            "em",
            n_restarts=N_STARTS,
            pseudo_counts=1.0,
            tol=1e-8,
            max_iter=3000,
            n_jobs=1,
        ).fit(train)
    make: dict[str, Callable[[], Any]] = {
        "tree": lambda: tacit.LatentTree(n_jobs=1),
        "independent": lambda: tacit.LatentClass(1, n_jobs=1),
        "chow-liu": lambda: tacit.ChowLiuTree(n_jobs=1),
        "classes": lambda: tacit.LatentClass(n_jobs=1),
        "one": lambda: tacit.LatentTree(n_components=1, n_jobs=1),
    }
    done[method] = make[method]().fit(train)
    return done[method]


@dataclass(frozen=True)
class Record:
    """What was run: a line for each case, split and method, and its log-likelihoods."""

    path: Path

    def seconds(self) -> dict[tuple[str, int, str], float | None]:
        """CPU seconds of all that is known; None where a method was left out."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf8").splitlines()
        rows = [json.loads(line) for line in lines if line.endswith("}")]
        return {(row["case"], row["split"], row["method"]): row["seconds"] for row in rows}

    def logs(self, case: str, split: int, method: str) -> Array:
        """The log-likelihoods of the test rows."""
        logs: Array = np.load(self._array(case, split, method))
        return logs

    def add(
        self, case: str, split: int, method: str, seconds: float | None, logs: Array | None
    ) -> None:
        """Keep one result."""
        if logs is not None:
            array = self._array(case, split, method)
            array.parent.mkdir(parents=True, exist_ok=True)
            np.save(array, logs)
        row = {"case": case, "split": split, "method": method, "seconds": seconds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf8") as out:
            out.write(json.dumps(row) + "\n")

    def forget(self, methods: Sequence[str]) -> None:
        """Leave out what is known of some methods."""
        if self.path.exists() and methods:
            lines = self.path.read_text(encoding="utf8").splitlines(keepends=True)
            remaining = [line for line in lines if json.loads(line)["method"] not in methods]
            self.path.write_text("".join(remaining), encoding="utf8")

    def _array(self, case: str, split: int, method: str) -> Path:
        return self.path.with_suffix("") / f"{case}-{split}-{method}.npy"


def run(case: Case, splits: range, methods: Sequence[str], record: Record) -> None:
    """All methods on the splits of a case, unless they were run before."""
    known = record.seconds()
    for split in splits:
        missing = [method for method in methods if (case.name, split, method) not in known]
        if not missing:
            continue
        training, test, cards = case.split(split)
        train, rows = frame(training, cards), frame(test, cards)
        done: dict[str, Any] = {}
        for method in missing:
            begun = time.process_time()
            model = fitted(method, train, cards, done)
            seconds = time.process_time() - begun
            if model is None:
                record.add(case.name, split, method, None, None)
            else:
                record.add(case.name, split, method, seconds, model.score_samples(rows))


# -- judging ------------------------------------------------------------------------------------------


def report(cases: Sequence[Case], splits: range, methods: Sequence[str], record: Record) -> None:
    """A line for each case, and the verdict."""
    known = record.seconds()
    columns = "".join(f"{method:>20}" for method in methods[1:])
    print(f"{'table':20}{'tree':>10}{'CPU s':>8}{columns}")
    below = []
    for case in cases:
        line, losses = "", []
        ours = [record.logs(case.name, split, "tree") for split in splits]
        seconds = [known[case.name, split, "tree"] or 0.0 for split in splits]
        for method in methods[1:]:
            gain = list(differences(case, splits, method, ours, record, known))
            if not gain:
                line += f"{'-':>20}"
                continue
            every = np.concatenate(gain)
            error = float(every.std(ddof=1) / np.sqrt(len(every)))
            mark = "*" if every.mean() < -2 * error else " "
            line += f"{every.mean():+11.4f} ({error:.4f}){mark}"
            if mark == "*":
                losses.append(method)
        mean = float(np.mean([logs.mean() for logs in ours]))
        print(f"{case.name:20}{mean:10.4f}{np.mean(seconds):8.2f}{line}", flush=True)
        below += [f"{case.name} ({', '.join(losses)})"] if losses else []
    verdict = f"below on {'; '.join(below)}" if below else "yes, on every table"
    print(f"never more than two standard errors below another: {verdict}")


def differences(
    case: Case,
    splits: range,
    method: str,
    ours: Sequence[Array],
    record: Record,
    known: dict[tuple[str, int, str], float | None],
) -> Iterator[Array]:
    """`LatentTree()` less another, row by row, of the splits where the other was run."""
    for split, logs in zip(splits, ours, strict=True):
        if known.get((case.name, split, method)) is not None:
            yield logs - record.logs(case.name, split, method)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--again", default="")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--out", type=Path, default=Path("out/categories.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    halves = {"development": DEVELOPMENT, "confirmation": CONFIRMATION}
    names: list[str] = []
    for name in filter(None, chosen.only.split(",")):
        names += halves.get(name, (name,))
    path = chosen.out.with_stem(f"{chosen.out.stem}-quick") if chosen.quick else chosen.out
    cases = cases_of(names or (*DEVELOPMENT, *CONFIRMATION))
    if chosen.quick:
        cases, chosen.splits = [Case("breast_cancer"), Case("wine")], 1
    record, splits = Record(path), range(chosen.splits)
    record.forget([method for method in chosen.again.split(",") if method])
    methods = [method for method in METHODS if method in chosen.methods.split(",")]
    for case in cases:
        run(case, splits, methods, record)
    report(cases, splits, methods, record)


if __name__ == "__main__":
    main()
