"""Random questions about real tables: one model, fitted once, beside others trained for each question.

    python benchmarks/conditionals.py                    all of it; can be stopped and resumed
    python benchmarks/conditionals.py --only wine,votes  some of the tables
    python benchmarks/conditionals.py --splits 2         only the first two splits
    python benchmarks/conditionals.py --again tacit      answer anew although the results are there
    python benchmarks/conditionals.py --quick            a small table of each kind, one split

A question is a column and a random set of others: each is known with probability 0.25, 0.5 or 0.75. Of every
split (four fifths of at most 3,000 rows to learn from) twelve questions are asked, four at each rate, about
the rows that are left. *tacit* is fitted once per split, with nothing set: ``KernelTree()``, or
``LatentTree()`` where all columns are categories (only that categories it never saw are taken as missing).
*boosting* (scikit-learn's ``HistGradientBoosting``) and *forest* (its random forests) are trained for every
question anew, on the columns that are known in it, which is all that they can answer; *boosting* minimises
squared errors, *boosting, absolute* those that are judged here.

Numbers with more than 20 distinct values are judged by the mean absolute error, in units of that of the
median of the training rows. *tacit, mean* and *tacit, median* are ``predict`` and ``quantiles(..., 0.5)``;
*tacit, imputed mean* and *imputed median* are ``impute``, which asks nearest neighbours too. Categories are
judged by the fraction of wrong answers and by the log-loss in nats, probabilities below 1e-6 counting as
that. Other columns are only known or not known. Ratios and differences are paired by split, and so are their
standard errors. Results are added to ``out/conditionals.jsonl``; the report is ``out/conditionals.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit

Array = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]

RATES = (0.25, 0.5, 0.75)  # chances that a column is known
QUESTIONS = 4  # at each rate
MOST_ROWS, TESTED = 3000, 0.2
MOST_VALUES = 20  # of a column of numbers that is no target
LEAST_PROBABILITY = 1e-6
MOST_ABOVE = 0.02  # of the error of boosting
UCI = (
    *("autompg", "housing", "concrete", "airfoil", "wine", "energy", "skillcraft", "bike"),
    *("elevators", "parkinsons", "protein", "pol"),
)
SHIPPED = ("diabetes", "cancer", "vintages", "iris")
CATEGORIES = ("votes", "coil2000")
TABLES = {**dict.fromkeys((*UCI, *SHIPPED, "votes"), 5), "coil2000": 2}  # and how many splits
QUICK = ("autompg", "iris", "votes")
OURS, BOOSTING = "tacit, median", "boosting"


# -- tables -------------------------------------------------------------------------------------------


def load(name: str) -> Columns:
    """A table by name: floats, and text for categories, NaN or None where a cell is missing."""
    if name in UCI:
        return tacit.datasets.load_numbers(name)
    if name == "votes":
        return tacit.datasets.load_house_votes()
    if name == "coil2000":
        table = tacit.datasets.load_coil2000()
        return {name: np.array([f"c{cell}" for cell in table[name]], object) for name in table}
    import sklearn.datasets

    source = {"cancer": "breast_cancer", "vintages": "wine"}.get(name, name)
    data = getattr(sklearn.datasets, f"load_{source}")()
    columns = {f"x{place}": column.copy() for place, column in enumerate(data.data.T)}
    if name == "diabetes":
        return {**columns, "progression": data.target.astype(np.float64)}
    return {**columns, "class": np.array(data.target_names, object)[data.target]}


def is_category(column: NDArray[Any]) -> bool:
    return column.dtype == object


def is_target(column: NDArray[Any]) -> bool:
    return is_category(column) or len(np.unique(column)) > MOST_VALUES


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, rows to ask about, and the questions."""

    train: Columns
    test: Columns
    questions: tuple[tuple[float, str, tuple[str, ...]], ...]  # rate, target, known columns


def split_of(table: Columns, seed: int) -> Split:
    """The same questions and rows for every method."""
    rng = np.random.default_rng([7, seed])
    rows = rng.permutation(len(next(iter(table.values()))))[:MOST_ROWS]
    cut = round(TESTED * len(rows))
    parts = [{name: table[name][part] for name in table} for part in (rows[cut:], rows[:cut])]
    targets = [name for name, column in table.items() if is_target(column)]
    questions = []
    for rate in RATES:
        for _ in range(QUESTIONS):
            target = targets[rng.integers(len(targets))]
            others = [name for name in table if name != target]
            known = [name for name in others if rng.random() < rate]
            questions.append((rate, target, tuple(known or [others[rng.integers(len(others))]])))
    return Split(parts[0], parts[1], tuple(questions))


# -- answers ------------------------------------------------------------------------------------------

# A method's answers to a question: numbers, or categories with (row, category) probabilities.
Answer = Array | tuple[Sequence[Any], Array]
Answers = Iterator[tuple[str, Answer]]  # with the name of the method


class Tacit:
    """One model of the table for all questions."""

    def __init__(self, train: Columns) -> None:
        of_categories = all(map(is_category, train.values()))
        kind = tacit.LatentTree if of_categories else tacit.KernelTree
        self.model = kind(unknown="missing").fit(train)

    def answers(self, split: Split, target: str, known: Sequence[str]) -> Answers:
        evidence = {name: split.test[name] for name in known}
        if is_category(split.test[target]):
            chances = self.model.predict_proba(evidence, target)
            yield "tacit", (self.model.categories_[target], chances)
            return
        yield "tacit, mean", self.model.predict(evidence, target=target)
        yield OURS, self.model.quantiles(evidence, target, 0.5)
        gaps = {**evidence, target: np.full(len(split.test[target]), np.nan)}
        for kind in ("mean", "median"):
            yield f"tacit, imputed {kind}", self.model.impute(gaps, numbers=kind)[target]


class Boosting:
    """Gradient boosting, trained for each question."""

    def __init__(self, train: Columns) -> None:
        self.train = train

    def answers(self, split: Split, target: str, known: Sequence[str]) -> Answers:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        train, test = codes_of(self.train, split.test, known)
        categorical = [is_category(self.train[name]) for name in known]
        options: dict[str, Any] = {"random_state": 0, "categorical_features": categorical}
        if is_category(self.train[target]):
            model = HistGradientBoostingClassifier(**options)
            yield BOOSTING, classified(model, train, self.train[target], test)
            return
        for name, loss in ((BOOSTING, "squared_error"), ("boosting, absolute", "absolute_error")):
            model = HistGradientBoostingRegressor(loss=loss, **options)
            yield name, model.fit(train, self.train[target]).predict(test)


class Forest:
    """Random forests, trained for each question."""

    def __init__(self, train: Columns) -> None:
        self.train = train

    def answers(self, split: Split, target: str, known: Sequence[str]) -> Answers:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        train, test = indicators_of(self.train, split.test, known)
        if is_category(self.train[target]):
            model = RandomForestClassifier(random_state=0)
            yield "forest", classified(model, train, self.train[target], test)
            return
        model = RandomForestRegressor(random_state=0)
        yield "forest", model.fit(train, self.train[target]).predict(test)


METHODS: dict[str, Callable[[Columns], Any]] = {
    "tacit": Tacit,
    "boosting": Boosting,
    "forest": Forest,
}


def classified(model: Any, train: Array, classes: NDArray[Any], test: Array) -> Answer:
    """Categories and probabilities of a classifier that was trained where the category is known."""
    known = np.array([value is not None for value in classes])
    if len(set(classes[known])) == 1:
        return list(set(classes[known])), np.ones((len(test), 1))
    model.fit(train[known], classes[known].astype(str))
    return list(model.classes_), model.predict_proba(test)


def codes_of(train: Columns, test: Columns, known: Sequence[str]) -> tuple[Array, Array]:
    """Numbers as they are, codes for categories, NaN where a cell is missing or was never seen."""
    both: list[list[Array]] = [[], []]
    for name in known:
        values = sorted({value for value in train[name] if value is not None}, key=str)
        code = {value: place for place, value in enumerate(values)}
        for columns, part in zip(both, (train, test), strict=True):
            cells = part[name]
            if is_category(cells):
                cells = np.array([code.get(value, np.nan) for value in cells])
            columns.append(cells.astype(np.float64))
    return np.column_stack(both[0]), np.column_stack(both[1])


def indicators_of(train: Columns, test: Columns, known: Sequence[str]) -> tuple[Array, Array]:
    """Numbers as they are, an indicator for each category."""
    both: list[list[Array]] = [[], []]
    for name in known:
        values = sorted({value for value in train[name] if value is not None}, key=str)
        for columns, part in zip(both, (train, test), strict=True):
            cells = part[name]
            of_one = [cells == value for value in values] if is_category(cells) else [cells]
            columns.extend(np.asarray(column, dtype=np.float64) for column in of_one)
    return np.column_stack(both[0]), np.column_stack(both[1])


# -- running and judging ------------------------------------------------------------------------------


def judged(split: Split, target: str, answer: Answer) -> dict[str, float]:
    """How wrong the answers about the test rows are."""
    truth = split.test[target]
    if not isinstance(answer, tuple):
        usual = np.abs(split.test[target] - np.median(split.train[target])).mean()
        return {"error": float(np.abs(np.asarray(answer) - truth).mean() / usual)}
    categories, chances = answer
    place = {str(category): column for column, category in enumerate(categories)}
    rows = np.array([row for row, value in enumerate(truth) if value is not None])
    columns = [place.get(str(truth[row]), -1) for row in rows]
    of_truth = [
        chances[row, column] if column >= 0 else 0.0
        for row, column in zip(rows, columns, strict=True)
    ]
    losses = -np.log(np.maximum(of_truth, LEAST_PROBABILITY))
    return {
        "wrong": float(np.mean(chances[rows].argmax(axis=1) != columns)),
        "log_loss": float(losses.mean()),
    }


def run(path: Path, names: Sequence[str], n_splits: int | None, again: str) -> None:
    """Run what is not in the file yet, a line for each table, split and method."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        table = load(name)
        for seed in range(min(n_splits or TABLES[name], TABLES[name])):
            split, done = split_of(table, seed), read(path)
            for method, make in METHODS.items():
                if (name, seed, method) in done and method != again:
                    continue
                begun = time.process_time()
                fitted = make(split.train)
                fitting = time.process_time() - begun
                results = []
                for rate, target, known in split.questions:
                    for variant, answer in fitted.answers(split, target, known):
                        scores = judged(split, target, answer)
                        results.append(
                            {"rate": rate, "method": variant, "target": target, **scores}
                        )
                seconds = time.process_time() - begun
                line = {
                    "table": name,
                    "seed": seed,
                    "method": method,
                    "fit": fitting,
                    "seconds": seconds,
                    "results": results,
                }
                with path.open("a", encoding="utf8") as out:
                    out.write(json.dumps(line) + "\n")
                print(f"{name:12}{seed:3}  {method:10}{seconds:8.1f} s", flush=True)


Lines = dict[tuple[str, int, str], dict[str, Any]]  # by table, split and method


def read(path: Path) -> Lines:
    """All results; of two of the same kind the later one."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf8").splitlines())
    return {(line["table"], line["seed"], line["method"]): line for line in lines}


def by_split(lines: Lines, name: str, figure: str, rate: float | None = None) -> dict[str, Array]:
    """For each method the mean of a figure in each split."""
    seeds = sorted({seed for table, seed, _ in lines if table == name})
    complete = [seed for seed in seeds if all((name, seed, method) in lines for method in METHODS)]
    means: dict[str, list[float]] = {}
    for seed in complete:
        values: dict[str, list[float]] = {}
        for method in METHODS:
            for result in lines[name, seed, method]["results"]:
                if figure in result and rate in (None, result["rate"]):
                    values.setdefault(result["method"], []).append(result[figure])
        for variant, figures in values.items():
            means.setdefault(variant, []).append(statistics.fmean(figures))
    return {variant: np.array(figures) for variant, figures in means.items()}


def with_error(values: Array, form: str = ".3f") -> str:
    error = float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return f"{float(np.mean(values)):{form}} ± {error:.3f}"


def report_numbers(lines: Lines, names: Sequence[str]) -> Iterator[str]:
    """The errors of numbers: those of boosting, and of all others as multiples of these."""
    yield "## Numbers: mean absolute error of boosting, and of others in units of it"
    yield ""
    rows, pooled = [], {}
    variants: list[str] = []
    for name in names:
        means = by_split(lines, name, "error")
        if BOOSTING not in means:
            continue
        variants = [variant for variant in means if variant != BOOSTING]
        ratios = {variant: means[variant] / means[BOOSTING] for variant in variants}
        for variant in variants:
            pooled.setdefault(variant, []).append(float(ratios[variant].mean()))
        shown = " | ".join(with_error(ratios[variant]) for variant in variants)
        rows.append(f"| {name} | {np.mean(means[BOOSTING]):.3f} | {shown} |")
    yield "| | boosting | " + " | ".join(variants) + " |"
    yield "|---|" + "--:|" * (1 + len(variants))
    yield from rows
    overall = [with_error(np.array(pooled[variant])) for variant in variants]
    yield "| mean of the tables | | " + " | ".join(overall) + " |"
    yield ""
    for rate in RATES:
        parts = []
        for variant in variants:
            of_tables = []
            for name in names:
                means = by_split(lines, name, "error", rate)
                if variant in means and len(means[variant]) == len(means.get(BOOSTING, ())):
                    of_tables.append(float(np.mean(means[variant] / means[BOOSTING])))
            parts.append(f"{variant} {statistics.fmean(of_tables):.3f}" if of_tables else "")
        yield f"- columns known with probability {rate}: {', '.join(parts)}"
    yield ""
    if pooled:
        ratio = statistics.fmean(pooled[OURS]) - 1
        passed = "yes" if ratio <= MOST_ABOVE else "NO "
        yield f"- {passed}  {OURS}: {ratio:+.1%} against boosting, mean of {len(rows)} tables"
        yield ""


def report_categories(lines: Lines, names: Sequence[str]) -> Iterator[str]:
    """Wrong answers and log-losses of categories."""
    yield "## Categories: fraction of wrong answers, and log-loss"
    yield ""
    methods = ("tacit", BOOSTING, "forest")
    yield (
        "| | "
        + " | ".join(
            f"{method}, {figure}" for figure in ("wrong", "log-loss") for method in methods
        )
        + " | wrong less boosting's | log-loss less boosting's |"
    )
    yield "|---|" + "--:|" * 8
    for name in names:
        cells, gaps = [], []
        for figure in ("wrong", "log_loss"):
            means = by_split(lines, name, figure)
            if BOOSTING not in means:
                break
            cells += [f"{np.mean(means[method]):.3f}" for method in methods]
            gaps.append(with_error(means["tacit"] - means[BOOSTING], "+.3f"))
        else:
            yield f"| {name} | " + " | ".join([*cells, *gaps]) + " |"
    yield ""


def report_time(lines: Lines, names: Sequence[str]) -> Iterator[str]:
    """CPU seconds of a split."""
    yield "## CPU seconds of a split: all questions, of Tacit with the one fit"
    yield ""
    yield "| | tacit | of it fitting | boosting | forest |"
    yield "|---|--:|--:|--:|--:|"
    for name in names:
        cells = []
        for method, figure in (
            ("tacit", "seconds"),
            ("tacit", "fit"),
            ("boosting", "seconds"),
            ("forest", "seconds"),
        ):
            values = [line[figure] for key, line in lines.items() if key[::2] == (name, method)]
            cells.append(f"{statistics.fmean(values):.1f}" if values else "")
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(TABLES))
    parser.add_argument("--splits", type=int)
    parser.add_argument("--again", default="")
    parser.add_argument("--out", type=Path, default=Path("out/conditionals.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = QUICK if chosen.quick else chosen.only.split(",")
    if strange := [name for name in names if name not in TABLES]:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(TABLES)}")
    path = chosen.out.with_stem(f"{chosen.out.stem}-quick") if chosen.quick else chosen.out
    run(path, names, 1 if chosen.quick else chosen.splits, chosen.again)
    lines = read(path)
    reports = (report_numbers, report_categories, report_time)
    text = "\n".join(line for report in reports for line in report(lines, names))
    path.with_suffix(".md").write_text(text + "\n", encoding="utf8")
    print(text)


if __name__ == "__main__":
    main()
