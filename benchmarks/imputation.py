"""Missing cells of tables filled: ``tacit.TableImputer`` beside other imputers.

    python benchmarks/imputation.py                  all of it; can be stopped and resumed
    python benchmarks/imputation.py --tables wine    some of the tables below
    python benchmarks/imputation.py --seeds 2        only the first two draws of missing cells
    python benchmarks/imputation.py --again tacit    run a method anew although its result is there
    python benchmarks/imputation.py --quick          the smallest table, two draws

Of each table 30 % of the cells, and of tables of numbers also 10 %, are removed completely at random, several
times. *concrete*, *redwine*, *skillcraft* and *bike* are tables of numbers of the UCI repository, of which at
most 4,000 rows are used; on at least three of them Tacit should be at or below the best other error at both
rates. *wine* has 13 columns of numbers and its class; *coil2000* one column of numbers (41 kinds of
customers: more than 20 distinct values) and 85 of categories; *communities* 123 columns of numbers, every
third of which is cut into four categories of about equal size. Its police columns, of which most cells are
missing as it is, are kept.

Cells of numbers are judged by the root of the mean squared error, in standard deviations of the column,
those of categories by the fraction of wrong ones; the combined error is the mean of both, weighted by the
number of cells. On every mixed table Tacit's mean combined error over the draws should be at most 5 % above
that of the best of all others. Those get categories as codes, and the nearest code is taken; nearest
neighbours get indicators too (``one-hot``), whose largest is taken. Numbers are standardised for them.

*extra trees* is scikit-learn's IterativeImputer over ExtraTreesRegressor (50 trees, 5 rounds); *the tree
alone* is ``KernelTree().impute``. Three others fill tables of numbers where they are installed, and are
skipped silently where they are not. *miceforest* is the mean of five of its draws (with LightGBM 4.5: newer
ones break it). *missforest* is the package of that name over random forests of 100 trees that try the square
root of the number of columns at each split, as in its paper; its own default, LightGBM with linear leaves,
took 126 s of CPU on concrete with 10 % gaps instead of 8 s, with an error of 0.59 instead of 0.47.
*hyperimpute* needs pandas 2 and so an environment of its own (``pip install hyperimpute "pandas<3"``): with
pandas 3 it returns column means without a warning, so it is left out there. Results are added to
``out/imputation.jsonl``; the report is ``out/imputation.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

FRACTION = 0.3  # of the cells
MOST_ABOVE = 0.05  # of the best other error, on mixed tables
MOST_ROWS = 4000  # of a table of numbers
NUMBERS = {"concrete": "concrete", "redwine": "wine", "skillcraft": "skillcraft", "bike": "bike"}
RATES = {"wine": (0.3,), "communities": (0.3,), "coil2000": (0.3,)}  # of others: 10 and 30 %
# And how many times cells are removed.
TABLES = {**dict.fromkeys(NUMBERS, 5), "wine": 10, "communities": 5, "coil2000": 3}
N_NEAREST = 20  # columns that a regression of the largest table uses


# -- tables ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mixed:
    """A table of numbers and of codes of categories, NaN where a cell is missing."""

    name: str
    cells: Array  # (row, column)
    categorical: tuple[int, ...]

    @property
    def numbers(self) -> list[int]:
        return [j for j in range(self.cells.shape[1]) if j not in self.categorical]

    def frame(self, cells: Array) -> dict[str, NDArray[Any]]:
        """Cells as a table of the kind that users have: floats, and text for categories."""
        columns: dict[str, NDArray[Any]] = {}
        for j, column in enumerate(cells.T):
            if j in self.categorical:
                text = [None if np.isnan(cell) else f"c{cell:.0f}" for cell in column]
                columns[f"x{j}"] = np.array(text, dtype=object)
            else:
                columns[f"x{j}"] = column
        return columns

    def unframed(self, frame: dict[str, Any]) -> Array:
        columns = []
        for j in range(self.cells.shape[1]):
            column = frame[f"x{j}"]
            if j in self.categorical:
                column = [float(cell[1:]) for cell in column]
            columns.append(np.asarray(column, dtype=np.float64))
        return np.column_stack(columns)


def load(name: str) -> Mixed:
    """A table by name."""
    if name in NUMBERS:
        cells = np.column_stack(list(tacit.datasets.load_numbers(NUMBERS[name]).values()))
        rows = np.random.default_rng(1).permutation(len(cells))[:MOST_ROWS]
        return Mixed(name, cells[rows], ())
    if name == "wine":
        from sklearn.datasets import load_wine

        data = load_wine()
        return Mixed(name, np.column_stack([data.data, data.target]), (13,))
    if name == "coil2000":
        cells = np.column_stack(list(tacit.datasets.load_coil2000().values())).astype(np.float64)
        few = [j for j in range(cells.shape[1]) if len(np.unique(cells[:, j])) <= 20]
        for j in few:
            cells[:, j] = np.unique(cells[:, j], return_inverse=True)[1]
        return Mixed(name, cells, tuple(few))
    cells = np.column_stack(list(tacit.datasets.load_communities().values()))
    binned = tuple(range(2, cells.shape[1], 3))
    for j in binned:
        cuts = np.unique(np.nanquantile(cells[:, j], [0.25, 0.5, 0.75]))
        codes = np.searchsorted(cuts, cells[:, j], side="right")
        cells[:, j] = np.where(np.isnan(cells[:, j]), np.nan, codes)
    return Mixed(name, cells, binned)


def with_gaps(table: Mixed, seed: int, rate: float) -> tuple[Array, Flags]:
    """The cells that are left, and which were removed."""
    rng = np.random.default_rng(seed)
    removed = (rng.random(table.cells.shape) < rate) & ~np.isnan(table.cells)
    return np.where(removed, np.nan, table.cells), removed


def errors(table: Mixed, filled: Array, removed: Flags) -> dict[str, float]:
    """How wrong removed cells are."""
    numbers, categories = table.numbers, list(table.categorical)
    scale = np.nanstd(table.cells, axis=0)
    off = ((filled - table.cells) / np.where(scale > 0, scale, 1))[:, numbers][removed[:, numbers]]
    wrong = (filled != table.cells)[:, categories][removed[:, categories]]
    root, error_rate = float(np.sqrt(np.mean(off**2))), float(wrong.mean()) if len(wrong) else 0.0
    together = (len(off) * root + len(wrong) * error_rate) / (len(off) + len(wrong))
    return {
        "combined": together,
        "rmse": root,
        "mae": float(np.abs(off).mean()),
        "wrong": error_rate,
    }


# -- imputers ----------------------------------------------------------------------------------------


def mean_or_mode(table: Mixed, cells: Array) -> Array:
    filled = cells.copy()
    for j in range(cells.shape[1]):
        observed = cells[~np.isnan(cells[:, j]), j]
        value = observed.mean()
        if j in table.categorical:
            values, counts = np.unique(observed, return_counts=True)
            value = values[counts.argmax()]
        filled[np.isnan(cells[:, j]), j] = value
    return filled


def by_codes(make: Callable[[Array], Any]) -> Callable[[Mixed, Array], Array]:
    """An imputer of standardised numbers and codes; categories become the nearest code that occurs."""

    def impute(table: Mixed, cells: Array) -> Array:
        mean, scale = np.nanmean(cells, axis=0), np.nanstd(cells, axis=0)
        scale = np.where(scale > 0, scale, 1)
        standard = (cells - mean) / scale
        filled = make(standard).fit_transform(standard) * scale + mean
        for j in table.categorical:
            codes = np.unique(cells[~np.isnan(cells[:, j]), j])
            filled[:, j] = codes[np.abs(filled[:, j, None] - codes).argmin(axis=1)]
        return filled

    return impute


def by_indicators(make: Callable[[Array], Any]) -> Callable[[Mixed, Array], Array]:
    """An imputer of standardised numbers and of indicators of categories."""

    def impute(table: Mixed, cells: Array) -> Array:
        numbers = table.numbers
        mean, scale = np.nanmean(cells[:, numbers], axis=0), np.nanstd(cells[:, numbers], axis=0)
        blocks, codes = [(cells[:, numbers] - mean) / scale], []
        for j in table.categorical:
            codes.append(np.unique(cells[~np.isnan(cells[:, j]), j]))
            shown = (cells[:, j, None] == codes[-1]) / np.sqrt(2)
            blocks.append(np.where(np.isnan(cells[:, j, None]), np.nan, shown))
        features = np.column_stack(blocks)
        completed = make(features).fit_transform(features)
        filled = np.empty_like(cells)
        filled[:, numbers] = completed[:, : len(numbers)] * scale + mean
        start = len(numbers)
        for j, known in zip(table.categorical, codes, strict=True):
            filled[:, j] = known[completed[:, start : start + len(known)].argmax(axis=1)]
            start += len(known)
        return filled

    return impute


def neighbours(k: int) -> Callable[[Array], Any]:
    from sklearn.impute import KNNImputer

    return lambda _: KNNImputer(n_neighbors=k)


def iterative(bounds: bool, n_nearest: int | None = None) -> Callable[[Array], Any]:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    def make(cells: Array) -> Any:
        limits = {}
        if bounds:
            limits = {"min_value": np.nanmin(cells, axis=0), "max_value": np.nanmax(cells, axis=0)}
        return IterativeImputer(random_state=0, n_nearest_features=n_nearest, **limits)

    return make


def extra_trees() -> Callable[[Array], Any]:
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    trees = ExtraTreesRegressor(50, random_state=0)
    return lambda _: IterativeImputer(trees, max_iter=5, random_state=0)


def mice_forest(table: Mixed, cells: Array) -> Array:
    import miceforest

    scale = np.nanstd(cells, axis=0)
    kernel = miceforest.ImputationKernel(data_frame(cells / scale), num_datasets=5, random_state=0)
    kernel.mice(5, num_threads=1)
    # They are draws, of which the mean has the smallest squared error.
    return np.mean([kernel.complete_data(place) for place in range(5)], axis=0) * scale


def miss_forest(table: Mixed, cells: Array) -> Array:
    from missforest import MissForest
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(100, max_features="sqrt", random_state=0)
    frame = data_frame(cells)
    filled = MissForest(rgr=forest, verbose=0).fit_transform(frame)
    return filled[list(frame)].to_numpy()  # it sorts the columns


def hyper_impute(table: Mixed, cells: Array) -> Array:
    from hyperimpute.plugins.imputers import Imputers

    mean, scale = np.nanmean(cells, axis=0), np.nanstd(cells, axis=0)
    imputer = Imputers().get("hyperimpute", random_state=0)
    return np.asarray(imputer.fit_transform(data_frame((cells - mean) / scale))) * scale + mean


def data_frame(cells: Array) -> Any:
    import pandas as pd

    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(cells.shape[1])])


def table_imputer(table: Mixed, cells: Array) -> Array:
    frame = table.frame(cells)
    kinds = {f"x{j}": "number" for j in table.numbers}
    return table.unframed(tacit.TableImputer(columns=kinds).fit_transform(frame))


def kernel_tree(table: Mixed, cells: Array) -> Array:
    frame = table.frame(cells)
    continuous = [f"x{j}" for j in table.numbers]
    model = tacit.KernelTree(continuous=continuous, random_state=0).fit(frame)
    return table.unframed(model.impute(frame))


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def peers() -> dict[str, Callable[[Mixed, Array], Array]]:
    """Those of other packages that are installed, and work, here."""
    methods: dict[str, Callable[[Mixed, Array], Array]] = {}
    if installed("miceforest"):
        methods["miceforest"] = mice_forest
    if installed("missforest"):
        methods["missforest"] = miss_forest
    # Under the copy-on-write of pandas 3 its assignments change nothing.
    if installed("hyperimpute") and version("pandas").startswith("2."):
        methods["hyperimpute"] = hyper_impute
    return methods


def imputers(table: str) -> dict[str, Callable[[Mixed, Array], Array]]:
    """All that are compared, by name; a single neighbour is the best of them on coil2000."""
    if table in NUMBERS:
        methods = {"tacit": table_imputer, "the tree alone": kernel_tree}
        methods |= {f"neighbours {k}": by_codes(neighbours(k)) for k in (5, 20)}
        methods |= {"iterative": by_codes(iterative(bounds=False))}
        methods |= {"extra trees": by_codes(extra_trees())}
        return methods | peers()
    large = table == "coil2000"
    methods = {
        "tacit": table_imputer,
        "the tree alone": kernel_tree,
        "mean or mode": mean_or_mode,
    }
    for k in (1, 3, 5, 10, 20):
        methods[f"neighbours {k}"] = by_codes(neighbours(k))
        methods[f"neighbours {k}, one-hot"] = by_indicators(neighbours(k))
    methods["iterative"] = by_codes(iterative(bounds=False))
    methods["iterative, bounds"] = by_codes(iterative(bounds=True))
    if large:
        methods[f"iterative, {N_NEAREST} nearest"] = by_codes(iterative(True, N_NEAREST))
    return methods


# -- running and judging ------------------------------------------------------------------------------


def run(
    path: Path, names: list[str], n_seeds: int | None, again: str, methods: set[str] | None = None
) -> None:
    """Run what is not in the file yet, a line for each result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        table = None
        for seed, rate in product(range(min(n_seeds or TABLES[name], TABLES[name])), rates(name)):
            done = read(path).get((name, rate), {})
            for method, impute in imputers(name).items():
                is_done = seed in done.get(method, {}) and method != again
                if is_done or (methods and method not in methods):
                    continue
                table = load(name) if table is None else table
                cells, removed = with_gaps(table, seed, rate)
                begun = time.process_time()
                row_errors = errors(table, impute(table, cells), removed)
                row_errors["seconds"] = time.process_time() - begun
                line = {"table": name, "rate": rate, "method": method, "seed": seed, **row_errors}
                with path.open("a", encoding="utf8") as out:
                    out.write(json.dumps(line) + "\n")
                shown = "  ".join(f"{key} {value:.4f}" for key, value in row_errors.items())
                print(f"{name:12}{rate:4}{seed:3}  {method:24}{shown}", flush=True)


def rates(name: str) -> tuple[float, ...]:
    """The fractions of cells that are removed from a table."""
    return RATES.get(name, (0.1, FRACTION))


Runs = dict[str, dict[int, dict[str, float]]]  # by method and seed


def read(path: Path) -> dict[tuple[str, float], Runs]:
    """All results by table and rate; of two of the same kind the later one."""
    results: dict[tuple[str, float], Runs] = {}
    if path.exists():
        for line in path.read_text(encoding="utf8").splitlines():
            row = json.loads(line)
            runs = results.setdefault((row["table"], row.get("rate", FRACTION)), {})
            runs.setdefault(row["method"], {})[row["seed"]] = row
    return results


def report(results: dict[tuple[str, float], Runs]) -> Iterator[str]:
    """A table for each table and rate, and whether Tacit is near enough to the best."""
    ahead: dict[str, bool] = {}
    for name, rate in [(key, rate) for key in TABLES for rate in rates(key)]:
        by_method = results.get((name, rate), {})
        if "tacit" not in by_method or len(by_method) < 2:
            continue
        seeds = sorted(set.intersection(*(set(runs) for runs in by_method.values())))
        yield f"## {name}: {rate:.0%} of the cells missing, {len(seeds)} draws"
        yield ""
        yield "| | combined | rmse | mae | wrong | CPU s |"
        yield "|---|--:|--:|--:|--:|--:|"
        means = {}
        for method, runs in by_method.items():
            columns = {
                key: statistics.fmean(runs[seed][key] for seed in seeds)
                for key in ("combined", "rmse", "mae", "wrong", "seconds")
            }
            means[method] = columns["combined"]
            *parts, seconds = columns.values()
            shown = " | ".join(f"{part:.4f}" for part in parts)
            yield f"| {method} | {shown} | {seconds:.1f} |"
        ours = means.pop("tacit")
        means.pop("the tree alone", None)
        best = min(means, key=means.__getitem__)
        ratio = ours / means[best] - 1
        passed = "yes" if ratio <= (0 if name in NUMBERS else MOST_ABOVE) else "NO "
        ahead[name] = ahead.get(name, True) and ratio <= 0
        yield ""
        yield f"- {passed}  combined error {ratio:+.1%} against the best other ({best})"
        yield ""
    compared = [key for key in NUMBERS if key in ahead]
    if compared:
        n_ahead = sum(ahead[key] for key in compared)
        passed = "yes" if n_ahead >= min(3, len(compared)) else "NO "
        of_all = f"{n_ahead} of {len(compared)} tables of numbers"
        yield f"- {passed}  at or below the best other at both rates: {of_all}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--again", default="")
    parser.add_argument("--methods", default="", help="only these, with commas between them")
    parser.add_argument("--out", type=Path, default=Path("out/imputation.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["wine"] if chosen.quick else chosen.tables.split(",")
    if strange := [name for name in names if name not in TABLES]:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(TABLES)}")
    path = chosen.out.with_stem(f"{chosen.out.stem}-quick") if chosen.quick else chosen.out
    methods = set(filter(None, chosen.methods.split(",")))
    run(path, names, 2 if chosen.quick else chosen.seeds, chosen.again, methods)
    text = "\n".join(report(read(path)))
    path.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


if __name__ == "__main__":
    main()
