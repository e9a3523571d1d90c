"""Latent trees: accuracy and speed of ``learn="auto"`` and ``"spectral"`` beside EM with restarts.

    python benchmarks/trees.py --accuracy     every cell of the accuracy table; can be stopped and resumed
    python benchmarks/trees.py --speed        CPU time of whole fits, and the yardstick of one million rows
    python benchmarks/trees.py --peers        pgmpy and pyAgrum on eight leaves, where they are installed
    python benchmarks/trees.py --quick        a little of each

Errors are the papers' (mean of |Phat - P| / P over rows drawn from the truth) and the Kullback-Leibler
divergence in nats per row, both on the same 20,000 rows; an estimate counts as at least 1e-3 of the
independence model. All times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.toy.models import random_tables, sample_codes
from tacit.toy.trees import named_topology
from tacit.trees.moments.source import CountedMoments

TOPOLOGIES = ("bin4", "bin5", "bin6", "bin7", "t33", "t34", "t43", "cat16")
TEST_ROWS = 20_000
RIVALS = ("em 1e-4", "em 1e-5")
FLOOR = math.log(1e-3)


@dataclass(frozen=True)
class Cell:
    """One model family and one number of rows."""

    topology: str
    n_categories: int
    n_states: int
    diagonal: float
    n_rows: int

    @property
    def n_seeds(self) -> int:
        return 3 if self.n_rows >= 100_000 else 10

    def __str__(self) -> str:
        return (
            f"{self.topology} {self.n_categories}/{self.n_states} diag {self.diagonal:.0f} "
            f"N={self.n_rows}"
        )


def cells() -> Iterator[Cell]:
    """The table of the accuracy run, smallest data first."""
    families = [(name, 4, 2) for name in TOPOLOGIES] + [("bin5", 5, 3), ("bin5", 5, 5)]
    for n_rows in (100, 1000, 10_000, 100_000):
        for name, n_categories, n_states in families:
            for diagonal in (0.0, 1.0):
                yield Cell(name, n_categories, n_states, diagonal, n_rows)


@dataclass(frozen=True)
class Draw:
    """A true model, rows to learn from and rows to judge on."""

    topology: tacit.Topology
    train: np.ndarray
    test: np.ndarray
    log_truth: np.ndarray
    log_floor: np.ndarray


def draw(cell: Cell, seed: int) -> Draw:
    """The data of a cell; the same for every method."""
    topology = named_topology(cell.topology)
    columns = [f"x{j}" for j in range(len(topology.observed))]
    tree = topology.rooted(columns)
    cards = [cell.n_categories] * tree.n_leaves
    root = [seed, TOPOLOGIES.index(cell.topology), cell.n_states, int(cell.diagonal)]
    truth = random_tables(
        tree, cards, cell.n_states, np.random.default_rng([*root, 1]), diagonal=cell.diagonal
    )
    train = sample_codes(truth, cell.n_rows, np.random.default_rng([*root, 2, cell.n_rows]))
    test = sample_codes(truth, TEST_ROWS, np.random.default_rng([*root, 3]))
    log_floor = np.full(TEST_ROWS, FLOOR)
    for leaf, card in enumerate(cards):
        frequencies = (np.bincount(train[:, leaf], minlength=card) + 0.5) / (
            len(train) + 0.5 * card
        )
        log_floor += np.log(frequencies)[test[:, leaf]]
    log_truth = log_prob(truth.network, Evidence(test)).values
    return Draw(topology, train, test, log_truth, log_floor)


def estimator(method: str, cell: Cell, topology: tacit.Topology, **more: Any) -> tacit.LatentTree:
    """The estimator that a method's name stands for."""
    chosen: dict[str, Any] = {"learn": method.partition(" ")[0]}
    if method.startswith("em"):
        tol = float(method.partition(" ")[2])
        chosen.update(tol=tol, stopping="relative", n_restarts=5)
    return tacit.LatentTree(cell.n_states, topology, **chosen, **more)


def judged(network: Any, made: Draw) -> tuple[float, float]:
    """The papers' error and the divergence, on the rows to judge on."""
    logs = log_prob(network, Evidence(made.test), negative="nan").values
    logs = np.fmax(logs, made.log_floor)
    difference = made.log_truth - logs
    return float(np.mean(np.abs(np.expm1(-difference)))), float(difference.mean())


def accuracy(
    path: Path, selected: list[Cell], methods: tuple[str, ...], first_seed: int = 0
) -> None:
    """Run what is not in the file yet, then write the table next to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["cell"], row["seed"], row["method"]) for row in _rows(path)}
    for cell in selected:
        started = time.process_time()
        for seed in range(first_seed, first_seed + cell.n_seeds):
            left = [m for m in methods if (str(cell), seed, m) not in done]
            if not left:
                continue
            made = draw(cell, seed)
            train = with_all_categories(made.train, cell.n_categories)
            with path.open("a", encoding="utf8") as out:
                for method in left:
                    begun = time.process_time()
                    model = estimator(method, cell, made.topology).fit(train)
                    seconds = time.process_time() - begun
                    error, divergence = judged(model.network_, made)
                    row = {"cell": str(cell), "seed": seed, "method": method, "error": error}
                    row.update(
                        kl=divergence, seconds=seconds, steps=model.diagnostics_.get("n_steps")
                    )
                    out.write(json.dumps(row) + "\n")
        print(f"{cell}: {time.process_time() - started:.1f} s", flush=True)
    table = path.with_suffix(".md")
    text = accuracy_table(_rows(path), selected)
    table.write_text(text, encoding="utf8")
    print(text)


def with_all_categories(codes: np.ndarray, n_categories: int) -> Any:
    """The rows as a frame that also knows of categories which these rows do not show."""
    import pandas as pd

    kind = pd.CategoricalDtype(range(n_categories), ordered=True)
    columns = {
        f"x{j}": pd.Categorical.from_codes(codes[:, j], dtype=kind) for j in range(codes.shape[1])
    }
    return pd.DataFrame(columns)


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line]


def accuracy_table(rows: list[dict[str, Any]], selected: list[Cell]) -> str:
    """Means per cell, and whether "auto" is ahead of each rival: won, tied (two standard errors) or lost."""
    values: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    for row in rows:
        for measure in ("error", "kl"):
            values[row["cell"], row["method"], measure][row["seed"]] = row[measure]
    lines = [
        "| cell | auto | EM5 1e-4 | EM5 1e-5 | spectral | error | KL |",
        "|---|---|---|---|---|---|---|",
    ]
    verdicts: dict[str, int] = defaultdict(int)
    for cell in map(str, selected):
        if (cell, "auto", "error") not in values:
            continue
        shown = []
        for method in ("auto", *RIVALS, "spectral"):
            means = [
                statistics.fmean(values[cell, method, m].values())
                if values[cell, method, m]
                else math.nan
                for m in ("error", "kl")
            ]
            shown.append(f"{means[0]:.4f} / {means[1]:.5f}")
        marks = []
        for measure in ("error", "kl"):
            worst = min(
                (
                    _verdict(values[cell, "auto", measure], values[cell, rival, measure])
                    for rival in RIVALS
                ),
                key=("lost", "tied", "won").index,
            )
            verdicts[worst] += 1
            marks.append(worst)
        lines.append(f"| {cell} | {' | '.join(shown)} | {marks[0]} | {marks[1]} |")
    n = sum(verdicts.values())
    summary = ", ".join(f"{mark} {verdicts[mark]}" for mark in ("won", "tied", "lost"))
    lines += [
        "",
        f"{n} comparisons (error and KL of every cell, against the better rival): {summary}.",
    ]
    return "\n".join(lines) + "\n"


def _verdict(ours: dict[int, float], theirs: dict[int, float]) -> str:
    """Whether ours is lower, paired by seed: by more than two standard errors, or not."""
    gains = [theirs[seed] - ours[seed] for seed in ours if seed in theirs]
    if len(gains) < 2:
        return "tied"
    mean, error = statistics.fmean(gains), statistics.stdev(gains) / math.sqrt(len(gains))
    if abs(mean) <= 2 * error:
        return "tied"
    return "won" if mean > 0 else "lost"


def cpu(work: Callable[[], Any], *, once: bool = False, at_least: float = 0.05) -> float:
    """CPU seconds of one call; unless it is long, a first one warms up and short ones are repeated."""
    if not once:
        work()
    count, begun = 0, time.process_time()
    while True:
        work()
        count += 1
        spent = time.process_time() - begun
        if once or spent >= at_least or count >= 50:
            return spent / count


def speed(n_rows: tuple[int, ...]) -> None:
    """Whole fits of S_H=2 trees against plain EM, and against EM over distinct subtree patterns."""
    print(
        "CPU seconds of whole fits, S_O=4, S_H=2, diagonals 0 and 1; plain EM: 5 restarts at 1e-4"
    )
    for n in n_rows:
        ratios: dict[str, list[float]] = defaultdict(list)
        for name in ("bin4", "bin5", "bin6", "bin7"):
            spent: dict[str, float] = defaultdict(float)
            steps: dict[str, int] = defaultdict(int)
            draws = [(d, seed) for d in (0.0, 1.0) for seed in range(max(1, min(5, 20_000 // n)))]
            for diagonal, seed in draws:
                cell = Cell(name, 4, 2, diagonal, n)
                made = draw(cell, seed)
                for label, method, more in (
                    ("plain EM", "em 1e-4", {"compress": False}),
                    ("EM over patterns", "em 1e-4", {}),
                    ("auto", "auto", {}),
                    ("spectral", "spectral", {}),
                ):
                    model = estimator(method, cell, made.topology, **more)
                    model.fit(made.train[:100])
                    once = label == "plain EM" and n >= 10_000
                    spent[label] += cpu(partial(model.fit, made.train), once=once)
                    steps[label] += model.diagnostics_.get("n_steps", 0)
            plain, count = spent["plain EM"], len(draws)
            for label in ("auto", "spectral"):
                ratios[label].append(plain / spent[label])
            ratios["patterns"].append(spent["EM over patterns"] / spent["auto"])
            shown = ", ".join(f"{label} {seconds / count:.4f}" for label, seconds in spent.items())
            print(
                f"N={n:>6} {name}: {shown}; steps EM {steps['plain EM'] / count:.0f} in 5 restarts "
                f"({plain / steps['plain EM'] / n * 1e6:.3f} us a row and step), auto "
                f"{steps['auto'] / count:.0f}; auto {ratios['auto'][-1]:.1f}x plain, "
                f"{ratios['patterns'][-1]:.1f}x patterns; spectral {ratios['spectral'][-1]:.0f}x plain",
                flush=True,
            )
        medians = {name: statistics.median(shown) for name, shown in ratios.items()}
        print(
            f"N={n:>6} median: auto {medians['auto']:.1f}x, spectral {medians['spectral']:.0f}x the speed of "
            f"plain EM; auto {medians['patterns']:.1f}x that of EM over patterns\n",
            flush=True,
        )


def million(n_rows: int = 1_000_000) -> None:
    """Spectral learning of 32 leaves beside counting the triples that it needs, once."""
    cell = Cell("bin6", 4, 2, 1.0, n_rows)
    made = draw(cell, 0)
    requested: list[tuple[int, ...]] = []

    class Watched(CountedMoments):
        def tables(self, subsets: Any) -> Any:
            requested.extend(map(tuple, subsets))
            return super().tables(subsets)

    from tacit.trees.learn.spectral import (
        operators as room,  # the stage itself, to see what it asks for
    )

    tree = made.topology.rooted([f"x{j}" for j in range(made.train.shape[1])])
    states = (4,) * tree.n_leaves + (2,) * len(tree.hidden)
    watched = CountedMoments.of(made.train, (4,) * tree.n_leaves)
    room.spectral(tree, Watched(watched.cards, watched.blocks), states)
    triples = sorted({subset for subset in requested if len(subset) == 3})

    def by_bincount() -> None:
        for a, b, c in triples:
            key = (made.train[:, a] * 4 + made.train[:, b]) * 4 + made.train[:, c]
            np.bincount(key, minlength=64)

    def at_once() -> None:
        CountedMoments.of(made.train, (4,) * tree.n_leaves).tables(triples)

    counted, counted_slowly = cpu(at_once), cpu(by_bincount)
    model = estimator("spectral", cell, made.topology)
    total = cpu(lambda: model.fit(made.train))
    print(
        f"N={n_rows}, 32 leaves: spectral {total:.3f} s = {total / counted:.1f}x the time of counting its "
        f"{len(triples)} triples once ({counted:.3f} s), which takes np.bincount {counted_slowly:.3f} s "
        f"({counted_slowly / counted:.1f}x)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--accuracy", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--most-rows", type=int, default=100_000, help="largest N of the accuracy run"
    )
    parser.add_argument(
        "--first-seed", type=int, default=0, help="other models and rows than those tuned on"
    )
    parser.add_argument("--out", type=Path, default=Path("out/trees-accuracy.jsonl"))
    parser.add_argument("--methods", default="auto,em 1e-4,em 1e-5,spectral")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if not (chosen.accuracy or chosen.speed or chosen.peers):
        chosen.quick = True
    if chosen.quick:
        speed((1000,))
        few = [cell for cell in cells() if cell.topology == "bin4" and cell.n_rows <= 1000]
        accuracy(chosen.out.with_stem("trees-quick"), few, ("auto", *RIVALS))
    if chosen.accuracy:
        selected = [cell for cell in cells() if cell.n_rows <= chosen.most_rows]
        accuracy(chosen.out, selected, tuple(chosen.methods.split(",")), chosen.first_seed)
    if chosen.speed:
        speed((1000, 10_000, 100_000))
        million()
    if chosen.peers:
        from tree_peers import compare

        compare()


if __name__ == "__main__":
    main()
