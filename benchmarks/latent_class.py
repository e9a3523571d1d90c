"""Latent classes: ``LatentClass(k)`` beside EM from ten random starts, by held-out likelihood and CPU time.

    python benchmarks/latent_class.py                    all of it (minutes); can be stopped and resumed
    python benchmarks/latent_class.py --sets votes,wine  some of the sets
    python benchmarks/latent_class.py --again Tacit      forget what is known of a method
    python benchmarks/latent_class.py --quick            the smallest sets, two classes and four
    python benchmarks/latent_class.py --peers            pomegranate and StepMix too, where they are installed

The votes of the 98th House (gaps and all), two of the binary density sets with their own test rows, and
scikit-learn's tables with numbers cut at their quintiles (digits: four shades); tables without test rows of
their own are cut into five folds, each of which is held out once. All methods know all categories.

*EM* is Tacit's own, ``learn="em"``: plain steps over different rows, each a call of the compiled E-step that
``LatentClass(k)`` has, too; one pseudo-count for each table row, ten random starts, the likeliest kept. It
stops at a relative gain of 1e-4 (the default), of 1e-6, or goes to the end: 1e-10 or 1000 steps, the rule of
poLCA and StepMix. The peers stop by their own rules, with ten starts.

Differences are Tacit less the other, in nats per held-out row, with the standard error of their mean over the
rows (pairs of the same row). CPU seconds are those of all folds, after a fit to warm up; short fits are made
several times, and the median counts. Learning begins with a table that was read already, the same for Tacit
and for EM; reading is the same for both and is added in the second ratio. Peers are given codes and read
nothing. What was run is kept in ``out/latent_class.jsonl`` and ``out/latent_class/``.

The settings of ``LatentClass`` were chosen on other tables: columns and rows drawn from communities, stocks,
customers, splice sites, newsgroups, other density sets and latent classes of known truth.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.core.input.read_table import read_table

Codes = NDArray[np.int64]
Array = NDArray[np.float64]
Split = tuple[Codes, Codes]  # rows to learn from, rows held out; -1 where missing

N_FOLDS = 5
N_STARTS = 10
CLASSES = (2, 4, 8)
QUICK_CLASSES = (2, 4)
SETS = ("votes", "iris", "wine", "breast_cancer", "diabetes", "digits", "nltcs", "msnbc")
QUICK_SETS = SETS[:3]
LEAST = math.log(1e-12)  # of a row that a peer takes for impossible
# A fit that takes less than so many seconds is made so many times.
SHORT, TIMES = 0.1, 15


# -- the tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coded:
    """A table as codes, with the number of categories of each column."""

    name: str
    cards: tuple[int, ...]
    splits: tuple[Split, ...]


def load(name: str) -> Coded:
    """One of the tables by name."""
    if name in ("nltcs", "msnbc"):
        data = tacit.datasets.load_density(name)
        split = data.train.astype(np.int64), data.test.astype(np.int64)
        return Coded(name, (2,) * data.train.shape[1], (split,))
    codes = votes() if name == "votes" else of_scikit_learn(name)
    cards = tuple((codes.max(axis=0) + 1).tolist())
    order = np.random.default_rng(0).permutation(len(codes))
    folds = [order[start::N_FOLDS] for start in range(N_FOLDS)]
    splits = tuple((np.delete(codes, fold, axis=0), codes[fold]) for fold in folds)
    return Coded(name, cards, splits)


def votes() -> Codes:
    """Votes and party, -1 for no vote."""
    out = []
    for cells in tacit.datasets.load_house_votes().values():
        known = sorted({cell for cell in cells.tolist() if cell is not None})
        out.append([known.index(cell) if cell is not None else -1 for cell in cells.tolist()])
    return np.array(out).T


def of_scikit_learn(name: str) -> Codes:
    """Numbers cut into at most five categories, and the target where it is a category."""
    from sklearn import datasets

    loaded = getattr(datasets, f"load_{name}")()
    if name == "digits":
        columns = [np.minimum(column // 4, 3).astype(int) for column in loaded.data.T]
    else:
        columns = [
            np.searchsorted(np.unique(np.quantile(column, [0.2, 0.4, 0.6, 0.8])), column)
            for column in loaded.data.T
        ]
    if name != "diabetes":
        columns.append(loaded.target)
    codes = [np.unique(column, return_inverse=True)[1] for column in columns]
    return np.column_stack([column_codes for column_codes in codes if column_codes.max() > 0])


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


@dataclass(frozen=True)
class Outcome:
    """What a method made of one split."""

    reading: float  # CPU seconds
    learning: float
    logs: Array  # (row held out,)


Method = Callable[[Codes, Codes, tuple[int, ...], int], Outcome]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what came of it; the median of several, where it is short."""
    spent: list[float] = []
    while not spent or (spent[0] < SHORT and len(spent) < TIMES):
        begun = time.process_time()
        result = work()
        spent.append(time.process_time() - begun)
    return median(spent), result


def ours(**arguments: Any) -> Method:
    """`LatentClass` with some arguments."""

    def run(train: Codes, test: Codes, cards: tuple[int, ...], k: int) -> Outcome:
        rows = frame(train, cards)
        reading, table = timed(lambda: read_table(rows))
        learning, model = timed(lambda: tacit.LatentClass(k, **arguments).fit(table))
        return Outcome(reading, learning, model.score_samples(frame(test, cards)))

    return run


def stepmix(train: Codes, test: Codes, cards: tuple[int, ...], k: int) -> Outcome:
    """StepMix with its own stopping rule."""
    from stepmix.stepmix import StepMix

    kind = "categorical_nan" if (train < 0).any() or (test < 0).any() else "categorical"
    model = StepMix(k, measurement=kind, n_init=N_STARTS, random_state=0, progress_bar=0)
    rows = np.where(train < 0, np.nan, train)
    seconds, _ = timed(lambda: model.fit(rows))
    parameters = model.get_parameters()
    chances, width = parameters["measurement"]["pis"], parameters["measurement"]["max_n_outcomes"]
    conditionals = [
        chances[:, width * place : width * place + card] for place, card in enumerate(cards)
    ]
    return Outcome(
        0.0, seconds, mixture_logs(np.asarray(parameters["weights"]), conditionals, test)
    )


def pomegranate(train: Codes, test: Codes, cards: tuple[int, ...], k: int) -> Outcome:
    """pomegranate's mixture of categoricals, started from ten draws of its own."""
    import torch
    from pomegranate.distributions import Categorical
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(1)
    rows = torch.tensor(train)
    best, seconds = (-math.inf, np.zeros(0), [np.zeros(0)]), 0.0
    for seed in range(N_STARTS):
        rng = np.random.default_rng(seed)
        conditionals = np.zeros((k, len(cards), max(cards)))
        for place, card in enumerate(cards):
            conditionals[:, place, :card] = rng.dirichlet(np.ones(card), k)
        classes = [Categorical(torch.tensor(probs), pseudocount=0.1) for probs in conditionals]
        begun = time.process_time()
        model = GeneralMixtureModel(classes, max_iter=1000).fit(rows)
        seconds += time.process_time() - begun
        weights = model.priors.detach().numpy().astype(float)
        tables = [
            np.stack([probs.probs.detach().numpy()[place, :card] for probs in model.distributions])
            for place, card in enumerate(cards)
        ]
        score = float(mixture_logs(weights, tables, train).sum())
        if score > best[0]:
            best = score, weights, tables
    return Outcome(0.0, seconds, mixture_logs(best[1], best[2], test))


def mixture_logs(weights: Array, conditionals: list[Array], test: Codes) -> Array:
    """Log-likelihoods of rows under weights of classes and a (class, category) table for each column."""
    logs = np.repeat(np.log(np.maximum(weights, 1e-300))[None], len(test), axis=0)
    for table, column in zip(conditionals, test.T, strict=True):
        is_observed = column >= 0
        logs[is_observed] += np.log(np.maximum(table, 1e-300)).T[column[is_observed]]
    return np.maximum(np.logaddexp.reduce(logs, axis=1), LEAST * test.shape[1])


def methods(peers: bool) -> dict[str, Method]:
    """All of them by name, Tacit first."""
    em = {"learn": "em", "stopping": "relative", "n_restarts": N_STARTS, "pseudo_counts": 1.0}
    by_name: dict[str, Method] = {
        "Tacit": ours(),
        "EM 1e-4": ours(**em, tol=1e-4),
        "EM 1e-6": ours(**em, tol=1e-6),
        "EM 1e-10": ours(**em, tol=1e-10),
    }
    for name, run in (("pomegranate", pomegranate), ("stepmix", stepmix)) if peers else ():
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"{name} left out: {error}")
        else:
            by_name[name] = run
    return by_name


# -- running ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """Tacit beside another on one table."""

    other: str
    learning: float  # CPU of the other by Tacit's, from a table that was read
    with_reading: float  # the same with reading the file
    mean: float  # nats per row that Tacit is better
    error: float

    @property
    def not_below(self) -> bool:
        """At or above the other, within two standard errors."""
        return self.mean >= -2 * self.error


@dataclass(frozen=True)
class Record:
    """What was run: a line for each table, number of classes and method, and its log-likelihoods."""

    path: Path

    def seconds(self) -> dict[tuple[str, int, str], tuple[float, float]]:
        """CPU seconds of reading and of learning, of all that is known."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf8").splitlines()
        rows = [json.loads(line) for line in lines if line.endswith("}")]
        return {
            (row["set"], row["k"], row["method"]): (row["reading"], row["learning"]) for row in rows
        }

    def logs(self, name: str, k: int, method: str) -> Array:
        """The log-likelihoods of the held-out rows."""
        logs: Array = np.load(self._array(name, k, method))
        return logs

    def add(self, name: str, k: int, method: str, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of all splits."""
        array = self._array(name, k, method)
        array.parent.mkdir(parents=True, exist_ok=True)
        np.save(array, np.concatenate([outcome.logs for outcome in outcomes]))
        row = {"set": name, "k": k, "method": method}
        row |= {
            part: sum(getattr(outcome, part) for outcome in outcomes)
            for part in ("reading", "learning")
        }
        with self.path.open("a", encoding="utf8") as out:
            out.write(json.dumps(row) + "\n")

    def forget(self, methods: Sequence[str]) -> None:
        """Leave out what is known of some methods."""
        if self.path.exists() and methods:
            lines = self.path.read_text(encoding="utf8").splitlines(keepends=True)
            remaining = [line for line in lines if json.loads(line)["method"] not in methods]
            self.path.write_text("".join(remaining), encoding="utf8")

    def _array(self, name: str, k: int, method: str) -> Path:
        return self.path.with_suffix("") / f"{name}-{k}-{method.replace(' ', '-')}.npy"


def run(table: Coded, k: int, known: dict[str, Method], record: Record) -> list[Compared]:
    """All methods on one table, unless they were run before; prints a line for each."""
    done = record.seconds()
    for name, method in known.items():
        gaps = min(int(train.min()) for train, _ in table.splits) < 0
        if (table.name, k, name) in done or (name == "pomegranate" and gaps):
            continue
        small = tuple(part[:200] for part in table.splits[0])
        method(*small, table.cards, k)
        outcomes = [method(*split, table.cards, k) for split in table.splits]
        record.add(table.name, k, name, outcomes)
    return list(compared(table, k, known, record))


def compared(table: Coded, k: int, known: dict[str, Method], record: Record) -> Iterator[Compared]:
    """Tacit beside each of the others."""
    done, ours = record.seconds(), record.logs(table.name, k, "Tacit")
    read, learnt = done[table.name, k, "Tacit"]
    for name in known:
        if (table.name, k, name) not in done:
            print(f"{table.name:14} {k:2} {name:12} left out: gaps")
            continue
        logs = record.logs(table.name, k, name)
        reading, learning = done[table.name, k, name]
        line = f"{table.name:14} {k:2} {name:12} {logs.mean():10.4f} {reading:8.4f} + {learning:9.4f} s"
        if name != "Tacit":
            gain = ours - logs
            error = float(gain.std(ddof=1) / math.sqrt(len(gain)))
            with_reading = (reading + learning) / (read + learnt)
            one = Compared(name, learning / learnt, with_reading, float(gain.mean()), error)
            line += f" {one.learning:7.1f} x {one.with_reading:7.1f} x  {one.mean:+.4f} ({one.error:.4f})"
            yield one
        print(line, flush=True)


def verdicts(compared_by_case: dict[tuple[str, int], list[Compared]]) -> Iterator[str]:
    """For each of the others, whether Tacit is at or above it at a tenth of its CPU."""
    for other in dict.fromkeys(pair.other for row in compared_by_case.values() for pair in row):
        rows = [
            (key, pair)
            for key, row in compared_by_case.items()
            for pair in row
            if pair.other == other
        ]
        below = [f"{name} {k}" for (name, k), pair in rows if not pair.not_below]
        above = sum(pair.mean > 2 * pair.error for _, pair in rows)
        dear = [f"{name} {k}" for (name, k), pair in rows if pair.learning < N_STARTS]
        mean = float(np.mean([pair.mean for _, pair in rows]))
        yield (
            f"{other}: Tacit is {mean:+.4f} nats per row on average over {len(rows)} cases; above by more "
            f"than two standard errors in {above}, below in {len(below)} ({', '.join(below) or 'none'}); "
            f"CPU ratio of learning {span([pair.learning for _, pair in rows])}, with reading "
            f"{span([pair.with_reading for _, pair in rows])}; more than a tenth of the CPU of learning in "
            f"{len(dear)} ({', '.join(dear) or 'none'})"
        )


def span(ratios: Sequence[float]) -> str:
    """The least, the median and the largest."""
    return f"{min(ratios):.1f} to {max(ratios):.1f}, median {median(ratios):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--sets", default="")
    parser.add_argument("--again", action="append", default=[], metavar="METHOD")
    parser.add_argument("--out", type=Path, default=Path("out/latent_class.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in chosen.sets.split(",") if name] or (
        QUICK_SETS if chosen.quick else SETS
    )
    strange = [name for name in names if name not in SETS]
    if strange:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(SETS)}")
    known = methods(chosen.peers)
    record = Record(chosen.out.with_stem("latent_class_quick") if chosen.quick else chosen.out)
    record.path.parent.mkdir(parents=True, exist_ok=True)
    record.forget(list(known) if chosen.quick else chosen.again)
    compared_by_case = {}
    for name in names:
        table = load(name)
        for k in QUICK_CLASSES if chosen.quick else CLASSES:
            compared_by_case[name, k] = run(table, k, known, record)
    print()
    for line in verdicts(compared_by_case):
        print(line)


if __name__ == "__main__":
    main()
