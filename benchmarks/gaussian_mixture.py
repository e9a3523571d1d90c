"""Starts of Gaussian mixtures: moments against k-means, for scikit-learn's `GaussianMixture`.

    python benchmarks/gaussian_mixture.py          all of it; can be stopped and resumed
    python benchmarks/gaussian_mixture.py --quick  few repetitions of few cases

Mixtures drawn at random (components about 5.7, 2.8 and 2.1 standard deviations apart; the same weight and
variance for all, or different ones; many components; small ones beside a wide one), and scikit-learn's
tables, scaled to variance one (digits: their first 20 principal components). `GaussianMixture` runs from its
k-means start, with another seed in each repetition, and from what `as_start` of a `GaussianMixtureMoments`
gives for the rows and the seed, all else the same: the same k-means start, unless another foretells rows
better that were left out of those to learn from. Repetitions draw new rows, or cut the table anew into four
fifths to learn from and one fifth. Their seeds begin with 1000. Settings were chosen on other data; seeds
below 200 were looked at on the way.

Scores are mean log-densities, of the rows that were learnt from and of held-out rows. Differences are those
of the moment start less those of k-means, with standard errors over the repetitions; below 1e-7 they are
rounding, and count as none. *Truth* is EM from the true parameters, less k-means, on the rows that were
learnt from: k-means fails, in that it ends in a worse optimum, where this is more than 0.01 and more than two
standard errors. *Alone* is `GaussianMixtureMoments` as it is, less k-means, on held-out rows (spherical
components only). CPU seconds are those of start and fit together, of k-means and of moments.

Rows are kept in ``out/gaussian_mixture.jsonl``; what it has is not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from tacit import GaussianMixtureMoments

Array = NDArray[np.float64]

N_TEST = 10_000
REG = 1e-3  # added to covariances by both, so that few rows in many columns do not end at a point
ROUNDING = 1e-7  # of differences
FAILED = 0.01  # nats by which k-means fails at least


@dataclass(frozen=True)
class Drawn:
    """What a repetition has."""

    train: Array  # (row, column)
    test: Array
    truth: dict[str, Array] | None = None  # where EM may start, if there is a truth


Draw = Callable[[int], Drawn]


@dataclass(frozen=True)
class Case:
    """What is repeated."""

    name: str
    n_components: int
    covariance_type: str
    draw: Draw

    @property
    def label(self) -> str:
        """What it is called."""
        return f"{self.name}, k={self.n_components}, {self.covariance_type}"


# -- cases --------------------------------------------------------------------------------------------


def rows_of(
    weights: Array, means: Array, spreads: Array, n_rows: int, rng: np.random.Generator
) -> Drawn:
    """Rows of spherical components."""
    weights = weights / weights.sum()
    of = rng.choice(len(weights), n_rows + N_TEST, p=weights)
    rows = means[of] + spreads[of][:, None] * rng.normal(size=(len(of), means.shape[1]))
    truth = {"weights_init": weights, "means_init": means, "precisions_init": spreads**-2.0}
    return Drawn(rows[:n_rows], rows[n_rows:], truth)


def drawn(k: int, d: int, distance: float, n_rows: int, *, unequal: bool) -> Draw:
    """Spherical components of about the same distance from each other."""

    def draw(seed: int) -> Drawn:
        rng = np.random.default_rng(seed)
        means = rng.normal(size=(k, d)) * distance / math.sqrt(2 * d)
        weights = np.maximum(rng.dirichlet(np.full(k, 2.0)), 0.03) if unequal else np.ones(k)
        spreads = rng.uniform(0.5, 2.0, k) if unequal else np.ones(k)
        return rows_of(weights, means, spreads, n_rows, rng)

    return draw


def wide_one(seed: int) -> Drawn:
    """Three small components within reach of a wide one, in twelve columns."""
    means = np.zeros((4, 12))
    means[1, 0] = means[2, 1] = means[3, 2] = 4.0
    spreads, weights = np.array([2.0, 0.5, 0.5, 0.5]), np.array([0.7, 0.1, 0.1, 0.1])
    return rows_of(weights, means, spreads, 2000, np.random.default_rng(seed))


def cut(rows: Array) -> Draw:
    """A table cut into rows to learn from and rows held out."""

    def draw(seed: int) -> Drawn:
        order = np.random.default_rng(seed).permutation(len(rows))
        n_test = len(rows) // 5
        return Drawn(rows[order[n_test:]], rows[order[:n_test]])

    return draw


def table(name: str) -> Array:
    """One of scikit-learn's tables, scaled."""
    from sklearn import datasets
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    rows = getattr(datasets, f"load_{name}")().data
    if name == "digits":
        return np.asarray(PCA(20, random_state=0).fit_transform(rows))
    return np.asarray(StandardScaler().fit_transform(rows))


def cases(quick: bool) -> Iterator[Case]:
    """All of them."""
    for distance in (5.7, 2.1) if quick else (5.7, 2.8, 2.1):
        for n_rows in (2000,) if quick else (2000, 20_000):
            for unequal in (False, True):
                name = f"{distance} apart, {n_rows} rows{', unequal' if unequal else ''}"
                draw = drawn(6, 20, distance, n_rows, unequal=unequal)
                yield Case(name, 6, "spherical", draw)
    yield Case("25 components", 25, "spherical", drawn(25, 30, 8.0, 5000, unequal=False))
    yield Case("a wide one", 4, "spherical", wide_one)
    for name in ("iris",) if quick else ("iris", "wine", "breast_cancer", "diabetes", "digits"):
        rows = table(name)
        for k in (2, 3) if quick else (2, 3, min(8, rows.shape[1])):
            for kind in ("spherical", "diag", "full"):
                if kind != "full" or rows.shape[1] <= 15:
                    yield Case(name, k, kind, cut(rows))


# -- running ------------------------------------------------------------------------------------------


def measured(case: Case, seed: int) -> dict[str, Any]:
    """One repetition."""
    from sklearn.mixture import GaussianMixture

    kind: dict[str, Any] = {
        "n_components": case.n_components,
        "covariance_type": case.covariance_type,
        "reg_covar": REG,
    }
    made = case.draw(seed)
    times = [time.process_time()]
    theirs = GaussianMixture(**kind, random_state=seed).fit(made.train)
    times.append(time.process_time())
    moments = GaussianMixtureMoments(case.n_components, reg_covar=REG).fit(made.train)
    start = moments.as_start(case.covariance_type, made.train, random_state=seed)
    times.append(time.process_time())
    ours = GaussianMixture(**kind, **start).fit(made.train)
    times.append(time.process_time())
    score = theirs.score(made.test)
    row = {
        "case": case.label,
        "seed": seed,
        "k-means": score,
        "learnt": ours.score(made.train) - theirs.score(made.train),
        "held out": ours.score(made.test) - score,
        "seconds": np.diff(times).tolist(),
    }
    if case.covariance_type == "spherical":
        row["alone"] = moments.score(made.test) - score
    if made.truth is not None:
        best = GaussianMixture(**kind, **made.truth).fit(made.train)
        row["truth"] = best.score(made.train) - theirs.score(made.train)
    return row


def stored_rows(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Repetitions that an earlier run has written."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line]
    return {(row["case"], row["seed"]): row for row in rows}


def run(case: Case, seeds: range, path: Path) -> list[dict[str, Any]]:
    """The repetitions of a case; those that are not in the file yet are added to it."""
    stored, rows = stored_rows(path), []
    for seed in seeds:
        row = stored.get((case.label, seed))
        if row is None:
            row = measured(case, seed)
            with path.open("a", encoding="utf8") as out:
                out.write(json.dumps(row) + "\n")
        rows.append(row)
    return rows


# -- telling ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A mean and its standard error, over repetitions."""

    mean: float
    error: float

    @staticmethod
    def of(rows: list[dict[str, Any]], name: str) -> Difference | None:
        """That of a figure, if it was taken."""
        values = np.array([row[name] for row in rows if name in row])
        if not len(values):
            return None
        values = np.where(np.abs(values) < ROUNDING, 0.0, values)
        error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.inf
        return Difference(float(values.mean()), float(error))

    @property
    def sign(self) -> int:
        """Of a difference of more than two standard errors; else 0."""
        return int(np.sign(self.mean)) if abs(self.mean) > 2 * self.error else 0

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ({self.error:.4f})"


@dataclass(frozen=True)
class Compared:
    """The repetitions of a case."""

    label: str
    rows: list[dict[str, Any]]

    def on(self, name: str) -> Difference | None:
        """The difference from k-means in a figure."""
        return Difference.of(self.rows, name)

    def sign(self, name: str) -> int:
        """Whether it is below or above k-means."""
        difference = self.on(name)
        return 0 if difference is None else difference.sign

    @property
    def failed(self) -> bool:
        """Whether EM from k-means ends in a worse optimum than from the truth."""
        truth = self.on("truth")
        return truth is not None and truth.sign > 0 and truth.mean > FAILED

    @property
    def seconds(self) -> Array:
        """(fit from k-means, moment start, fit from it) CPU in all."""
        return np.array([row["seconds"] for row in self.rows]).sum(axis=0)

    def line(self) -> str:
        """What is printed."""
        score = np.mean([row["k-means"] for row in self.rows])
        names = ("learnt", "held out", "truth", "alone")
        on = "".join(f"{self.on(name) or ''!s:>20}" for name in names)
        theirs, start, fit = self.seconds
        return f"{self.label:46} {score:9.4f} {on} {theirs:8.2f} {start + fit:8.2f}"


def verdict(cases: list[Compared]) -> str:
    """How many cases are below and above, and what happens where k-means fails."""
    lines = []
    for name, subset in (
        ("held out", "held-out rows"),
        ("learnt", "rows that were learnt from"),
    ):
        lines.append(f"On {subset}, of {len(cases)} cases:")
        for sign, word in ((-1, "below"), (1, "above")):
            those = [case.label for case in cases if case.sign(name) == sign]
            lines.append(
                f"  {word} k-means by more than two standard errors {len(those)}: {'; '.join(those)}"
            )
    failed = [case for case in cases if case.failed]
    above = [case for case in failed if (gain := case.on("held out")) and gain.mean > 0]
    clear = [case for case in above if case.sign("held out") > 0]
    lines.append(
        f"Where k-means fails, {len(failed)} cases: above it in {len(above)}, by more than two standard "
        f"errors in {len(clear)}"
    )
    lines += [
        f"  less clearly in {case.label}: {case.on('held out')}"
        for case in failed
        if case not in clear
    ]
    total = np.sum([case.seconds for case in cases], axis=0)
    ratios = np.array([case.seconds[1:].sum() / case.seconds[0] for case in cases])
    lines.append(
        f"CPU of start and fit: {total[1:].sum() / total[0]:.1f} times that from k-means in all, "
        f"{ratios.min():.1f} to {ratios.max():.1f} by case (median {np.median(ratios):.1f})"
    )
    met = not any(case.sign("held out") < 0 for case in cases) and len(above) == len(failed)
    lines.append(f"Never below, and above where k-means fails: {'met' if met else 'NOT met'}")
    return "\n".join(lines)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=0, help="30, or 3 with --quick")
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--out", type=Path, default=Path("out/gaussian_mixture.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    path = chosen.out.with_stem(chosen.out.stem + "-quick") if chosen.quick else chosen.out
    path.parent.mkdir(parents=True, exist_ok=True)
    n_repetitions = chosen.repetitions or (3 if chosen.quick else 30)
    seeds = range(chosen.first, chosen.first + n_repetitions)
    # Before times are taken.
    small = np.random.default_rng(0).normal(size=(50, 3))
    GaussianMixtureMoments(2).fit(small).as_start("full", small)
    print(
        f"{'case':46} {'k-means':>9} {'learnt rows':>20}{'held-out rows':>20}{'truth':>20}"
        f"{'alone':>20} {'CPU s':>8} {'CPU s':>8}"
    )
    results = []
    for case in cases(chosen.quick):
        results.append(Compared(case.label, run(case, seeds, path)))
        print(results[-1].line(), flush=True)
    print(f"\n{verdict(results)}")


if __name__ == "__main__":
    main()
