"""Three real tables: their trees, and one column predicted from the others, with and without gaps.

    python benchmarks/tables.py                       all of it; can be stopped and resumed
    python benchmarks/tables.py --tables house_votes  some of house_votes, news20_w100, coil2000
    python benchmarks/tables.py --folds 2             only the first of the ten folds
    python benchmarks/tables.py --again               fit again what was fitted before
    python benchmarks/tables.py --quick               one table, two folds

``LatentTree()`` with nothing set against scikit-learn's categorical naive Bayes, for which a missing cell is
a category of its own or becomes the most frequent one; scikit-learn does not offer what is right for naive
Bayes, which is to leave the cell out: this is done by hand. Ten stratified folds; 0, 30 and 60 % of the cells
of the test rows are removed at random, the same for all, and several times over where the rows are few.
Answers are kept in ``out/tables/``, pictures of the trees too; the report is ``out/tables.md``.

*ECE* is the expected calibration error of the most likely answer, in 15 equal bins over all folds together;
beside it stands what chance alone would show of a model that is calibrated exactly (mean of 200 draws, all
answers taken for independent).
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit

Codes = NDArray[np.int64]
Array = NDArray[np.float64]

N_FOLDS = 10
GAPS = (0, 30, 60)  # per cent of the cells of the test rows that are removed
FEWEST_ANSWERS = (
    4000  # for each fraction of gaps: smaller tables are queried with several draws of them
)
METHODS = (
    "Tacit",
    "naive Bayes, gaps a category",
    "naive Bayes, gaps filled",
    "naive Bayes, gaps left out",
)
N_BINS = 15
LARGEST_ERROR = 0.03  # of calibration
FRACTION_OF_PAIRS = 0.95


# -- the tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coded:
    """A table as codes, -1 where a cell is missing."""

    name: str
    target: str
    columns: tuple[str, ...]
    categories: tuple[tuple[Any, ...], ...]  # of each column
    codes: Codes  # (row, column)

    @classmethod
    def of(cls, name: str, target: str, columns: dict[str, NDArray[Any]]) -> Coded:
        categories, codes = [], []
        for cells in columns.values():
            known = sorted({cell for cell in cells.tolist() if cell is not None})
            place = {value: code for code, value in enumerate(known)}
            categories.append(tuple(known))
            codes.append([place.get(cell, -1) for cell in cells.tolist()])
        return cls(name, target, tuple(columns), tuple(categories), np.array(codes).T)

    @property
    def place(self) -> int:
        """The column that the target is."""
        return self.columns.index(self.target)

    @property
    def cards(self) -> list[int]:
        return [len(kinds) for kinds in self.categories]

    def frame(self, codes: Codes) -> Any:
        """Rows as a frame that knows of all categories, also of those these rows do not show."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: pd.Categorical.from_codes(
                    cells, dtype=pd.CategoricalDtype(kinds, ordered=True)
                )
                for name, kinds, cells in zip(self.columns, self.categories, codes.T, strict=True)
            }
        )


def load(name: str) -> Coded:
    """One of the tables by name, and its target."""
    load_it, target = {
        "house_votes": (tacit.datasets.load_house_votes, "party"),
        "news20_w100": (tacit.datasets.load_news20_w100, "newsgroup"),
        "coil2000": (tacit.datasets.load_coil2000, "CARAVAN"),
    }[name]
    return Coded.of(name, target, load_it())


TABLES = ("house_votes", "news20_w100", "coil2000")


# -- the tree -----------------------------------------------------------------------------------------


def nearest_pairs(model: tacit.LatentTree, names: tuple[str, ...]) -> list[tuple[int, int]]:
    """Every column and the one with fewest steps to it in the tree; of several, the most dependent."""
    import networkx as nx

    from tacit.evaluate.strength import edge_correlations

    graph = model.topology_.to_networkx()
    strengths = edge_correlations(model.tables_) if model.tables_ is not None else {}
    for one, other, edge in graph.edges(data=True):
        edge["loss"] = -math.log(max(strengths.get(frozenset((one, other)), 1.0), 1e-9))
    place = {name: number for number, name in enumerate(names)}
    pairs = set()
    for name in names:
        steps = nx.single_source_shortest_path_length(graph, name)
        losses = nx.single_source_dijkstra_path_length(graph, name, weight="loss")
        near = min((steps[other], max(losses[other], 0), other) for other in place if other != name)
        pairs.add(tuple(sorted((place[name], place[near[2]]))))
    return sorted(pairs)


def draw(table: Coded, folder: Path) -> Iterator[str]:
    """Fit all rows, draw the tree, and say how much its nearest columns tell of each other."""
    from tacit.trees.moments.source import CountedMoments
    from tacit.trees.structure.chow_liu import mutual_information

    begun = time.perf_counter()
    model = tacit.LatentTree(random_state=0).fit(table.frame(table.codes))
    seconds = time.perf_counter() - begun
    picture = folder / f"{table.name}.svg"
    tacit.plot.tree(model).figure.savefig(picture)
    yield f"tree of {len(table.codes)} rows learnt in {seconds:.1f} s, drawn in {picture}"
    counts = CountedMoments.of(table.codes, table.cards).pairs().counts
    information = mutual_information(counts, table.cards)
    yield from near_and_far(information, nearest_pairs(model, table.columns))


def near_and_far(information: Array, pairs: list[tuple[int, int]]) -> Iterator[str]:
    """The mutual information of nearest columns beside that of random pairs.

    With few columns no tree can be above 95 % of all pairs: the pairs of a tree are more than 5 % of them.
    Then equally many random pairs, taken together, are what it must be above.
    """
    every = information[np.triu_indices(len(information), 1)]
    near = float(np.mean([information[pair] for pair in pairs]))
    partners = information.argmax(axis=1)
    most = np.mean(
        [information[p] for p in {tuple(sorted(p)) for p in enumerate(partners.tolist())}]
    )
    fraction, largest_fraction = (float(np.mean(every < value)) for value in (near, most))
    rng = np.random.default_rng(0)
    sets = [rng.choice(every, len(pairs), replace=False).mean() for _ in range(2000)]
    fraction_of_sets = float(np.mean(np.array(sets) < near))
    possible = largest_fraction >= FRACTION_OF_PAIRS
    yield verdict(
        (fraction if possible else fraction_of_sets) >= FRACTION_OF_PAIRS,
        f"{len(pairs)} pairs of nearest columns have {near:.4f} nats of mutual information on average: more "
        f"than {fraction:.1%} of all pairs, and than {fraction_of_sets:.1%} of random sets of as many pairs "
        f"(the most dependent partner of each column: more than {largest_fraction:.1%} of all pairs)",
    )


# -- the answers --------------------------------------------------------------------------------------


def folds(table: Coded) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to answer, ten times."""
    from sklearn.model_selection import StratifiedKFold

    cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    return list(cut.split(table.codes, table.codes[:, table.place]))


def n_draws(table: Coded, percent: int) -> int:
    """How many queries each row gets, with other gaps each time."""
    return math.ceil(FEWEST_ANSWERS / len(table.codes)) if percent else 1


def with_gaps(table: Coded, codes: Codes, percent: int, fold: int) -> Codes:
    """The rows without the target, and without a fraction of the other cells; all draws in turn."""
    rng = np.random.default_rng([fold, percent])
    repeated = np.tile(codes, (n_draws(table, percent), 1))
    holed = np.where(rng.random(repeated.shape) < percent / 100, -1, repeated)
    holed[:, table.place] = -1
    return holed


def answers(table: Coded, fold: int) -> dict[str, Array]:
    """P(target | row) of every method and fraction of gaps, in one fold; and the seconds of learning."""
    train, test = (table.codes[rows] for rows in folds(table)[fold])
    rows_by_gaps = {percent: with_gaps(table, test, percent, fold) for percent in GAPS}
    begun = time.perf_counter()
    model = tacit.LatentTree(random_state=0).fit(table.frame(train))
    predictions: dict[str, Array] = {"seconds": np.array(time.perf_counter() - begun)}
    peers = (gaps_a_category, gaps_filled, gaps_left_out)
    for percent, rows in rows_by_gaps.items():
        predictions[f"{METHODS[0]} {percent}"] = model.predict_proba(
            table.frame(rows), table.target
        )
        for method, peer in zip(METHODS[1:], peers, strict=True):
            predictions[f"{method} {percent}"] = peer(table, train, rows)
    return predictions


def gaps_a_category(table: Coded, train: Codes, rows: Codes) -> Array:
    """Naive Bayes with one category more in every column."""
    return naive_bayes(table, train + 1, more=1).predict_proba(others(table, rows) + 1)


def gaps_filled(table: Coded, train: Codes, rows: Codes) -> Array:
    """Naive Bayes with the most frequent category in place of a gap, in learning and in asking."""
    modes = np.array([np.bincount(column[column >= 0]).argmax() for column in train.T])
    model = naive_bayes(table, np.where(train < 0, modes, train))
    return model.predict_proba(others(table, np.where(rows < 0, modes, rows)))


def gaps_left_out(table: Coded, train: Codes, rows: Codes) -> Array:
    """Naive Bayes over the cells that are there."""
    model = naive_bayes(table, train + 1, more=1)
    logs = np.tile(model.class_log_prior_, (len(rows), 1))  # (row, class)
    for cells, log_probs in zip(others(table, rows).T, model.feature_log_prob_, strict=True):
        conditional = log_probs[:, 1:] - np.logaddexp.reduce(
            log_probs[:, 1:], axis=1, keepdims=True
        )
        logs[cells >= 0] += conditional.T[cells[cells >= 0]]
    return np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))


def naive_bayes(table: Coded, train: Codes, more: int = 0) -> Any:
    """Learnt from codes that are not negative, with so many categories more than the table has."""
    from sklearn.naive_bayes import CategoricalNB

    cards = np.delete(table.cards, table.place) + more
    model = CategoricalNB(min_categories=cards)
    return model.fit(others(table, train), train[:, table.place])


def others(table: Coded, codes: Codes) -> Codes:
    """All columns but the target."""
    return np.delete(codes, table.place, axis=1)


def collect(table: Coded, folder: Path, n_folds: int, *, again: bool) -> dict[str, list[Array]]:
    """The answers of all folds; those that are not in the folder yet are found and put there."""
    answers_by_key: dict[str, list[Array]] = {}
    for fold in range(n_folds):
        path = folder / f"{table.name}-{fold}.npz"
        if again or not path.exists():
            made = answers(table, fold)
            np.savez_compressed(path, **made)
            print(f"{table.name} fold {fold}: {float(made['seconds']):.1f} s", flush=True)
        with np.load(path) as stored:
            for key in stored.files:
                answers_by_key.setdefault(key, []).append(stored[key])
    return answers_by_key


# -- judging ------------------------------------------------------------------------------------------


def log_losses(chances: Array, truth: Codes) -> Array:
    """Of each row, in nats; at most as for a chance of 1e-15."""
    return -np.log(np.maximum(chances[np.arange(len(truth)), truth], 1e-15))


def calibration_error(chances: Array, right: NDArray[np.bool_]) -> float:
    """How far fractions of right answers are from their predicted probabilities, over equal bins."""
    bins = np.minimum((chances * N_BINS).astype(np.int64), N_BINS - 1)
    gaps = np.bincount(bins, weights=right - chances, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(chances))


def error_by_chance(chances: Array, count: int = 200) -> float:
    """The calibration error of right answers that are drawn with exactly these chances."""
    rng = np.random.default_rng(0)
    draws = [calibration_error(chances, rng.random(len(chances)) < chances) for _ in range(count)]
    return float(np.mean(draws))


def area_under_curve(chances: Array, truth: Codes) -> float:
    """Each category against the rest, averaged."""
    from sklearn.metrics import roc_auc_score

    if chances.shape[1] == 2:
        return float(roc_auc_score(truth, chances[:, 1]))
    return float(roc_auc_score(truth, chances, multi_class="ovr", average="macro"))


def judged(table: Coded, answers_by_key: dict[str, list[Array]]) -> Iterator[str]:
    """A table of measures, then the targets of Tacit."""
    n_folds = len(answers_by_key["seconds"])
    truths = [table.codes[test, table.place] for _, test in folds(table)[:n_folds]]
    yield "| gaps | method | log-loss | AUC | ECE (by chance) | Tacit less this, log-loss |"
    yield "|--:|---|--:|--:|--:|--:|"
    verdicts = []
    for percent in GAPS:
        parts = [np.tile(truth, n_draws(table, percent)) for truth in truths]
        measures = [measured(answers_by_key[f"{method} {percent}"], parts) for method in METHODS]
        for method, measure in zip(METHODS, measures, strict=True):
            mean, spread = paired(measures[0].losses, measure.losses)
            beside = "" if method == METHODS[0] else f"{mean:+.4f} ± {spread:.4f}"
            yield (
                f"| {percent} % | {method} | {np.mean(measure.losses):.4f} | {measure.area:.4f} | "
                f"{measure.error:.4f} ({measure.error_by_chance:.4f}) | {beside} |"
            )
            if beside:
                text = f"{percent} % gaps: log-loss not above that of {method} ({beside})"
                verdicts.append(verdict(mean <= 0, text))
        error = measures[0].error
        text = f"{percent} % gaps: calibration error {error:.3f}, at most {LARGEST_ERROR}"
        verdicts.append(verdict(error <= LARGEST_ERROR, text))
    yield ""
    yield from verdicts


@dataclass(frozen=True)
class Measures:
    """How good the answers of one method are."""

    losses: list[float]  # of each fold
    area: float
    error: float  # of calibration
    error_by_chance: float


def measured(chances: list[Array], truths: list[Codes]) -> Measures:
    """All measures, of answers by fold."""
    losses = [float(log_losses(c, t).mean()) for c, t in zip(chances, truths, strict=True)]
    together, truth = np.concatenate(chances), np.concatenate(truths)
    sure, right = together.max(axis=1), together.argmax(axis=1) == truth
    return Measures(
        losses,
        area_under_curve(together, truth),
        calibration_error(sure, right),
        error_by_chance(sure),
    )


def paired(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    """Mean difference over the folds, and its standard error."""
    apart = np.subtract(ours, theirs)
    spread = apart.std(ddof=1) / math.sqrt(len(apart)) if len(apart) > 1 else math.nan
    return float(apart.mean()), float(spread)


def verdict(passed: bool, text: str) -> str:
    """A line on one target."""
    return f"- {'yes' if passed else 'NO '}  {text}"


def report(name: str, folder: Path, n_folds: int, *, again: bool) -> str:
    """All about one table."""
    table = load(name)
    answers_by_key = collect(table, folder, n_folds, again=again)
    n_rows, n_columns = table.codes.shape
    seconds = np.mean(answers_by_key["seconds"])
    lines = [
        f"## {name}: {table.target} from {n_columns - 1} columns, {n_rows} rows",
        "",
        *draw(table, folder),
        "",
        f"{n_folds} of {N_FOLDS} folds, {seconds:.1f} s each to learn",
        "",
        *judged(table, answers_by_key),
    ]
    text = "\n".join(lines) + "\n"
    print(text, flush=True)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--folds", type=int, default=N_FOLDS)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("out/tables"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = TABLES[:1] if chosen.quick else chosen.tables.split(",")
    if strange := [name for name in names if name not in TABLES]:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(TABLES)}")
    folder = chosen.out.with_name(f"{chosen.out.name}-quick") if chosen.quick else chosen.out
    folder.mkdir(parents=True, exist_ok=True)
    n_folds = 2 if chosen.quick else min(chosen.folds, N_FOLDS)
    again = chosen.again or chosen.quick
    parts = [report(name, folder, n_folds, again=again) for name in names]
    folder.with_suffix(".md").write_text("\n".join(parts), encoding="utf8")


if __name__ == "__main__":
    main()
