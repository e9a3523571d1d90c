"""Starts of Gaussian mixtures: moments against k-means, for scikit-learn's `GaussianMixture`.

    python benchmarks/gaussian_mixture.py          all of it (minutes)
    python benchmarks/gaussian_mixture.py --quick  few repetitions of few cases

Mixtures drawn at random (components about 5.7, 2.8 and 2.1 standard deviations apart; the same weight and
variance for all, or different ones; many components; small ones beside a wide one), and scikit-learn's
tables, scaled to variance one (digits: their first 20 principal components). `GaussianMixture` runs from its
k-means start, with another seed in each repetition, and from what `as_start` of a `GaussianMixtureMoments`
gives, all else the same. Repetitions draw new rows, or cut the table anew into four fifths to learn from and
one fifth.

Scores are mean log-densities, of the rows that were learnt from (which is what a start is for) and of
held-out rows. Differences are those of the moment start less those of k-means, with standard errors over the
repetitions. *Alone* is `GaussianMixtureMoments` as it is, on held-out rows (to be compared with spherical
components only). CPU seconds are those of start and fit together, of k-means and of moments.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit.estimators.gaussian_mixture as doors

Array = NDArray[np.float64]

N_TEST = 10_000
REG = 1e-3  # added to covariances by both, so that few rows in many columns do not end at a point
Draw = Callable[[int], tuple[Array, Array]]  # rows to learn from and held-out rows of a repetition


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


def drawn(k: int, d: int, distance: float, n_rows: int, *, unequal: bool) -> Draw:
    """Spherical components of about the same distance from each other."""

    def draw(seed: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(seed)
        means = rng.normal(size=(k, d)) * distance / math.sqrt(2 * d)
        weights = np.maximum(rng.dirichlet(np.full(k, 2.0)), 0.03) if unequal else np.ones(k)
        spreads = rng.uniform(0.5, 2.0, k) if unequal else np.ones(k)
        of = rng.choice(k, n_rows + N_TEST, p=weights / weights.sum())
        rows = means[of] + spreads[of][:, None] * rng.normal(size=(len(of), d))
        return rows[:n_rows], rows[n_rows:]

    return draw


def wide_one(seed: int) -> tuple[Array, Array]:
    """Three small components within reach of a wide one, in twelve columns."""
    rng = np.random.default_rng(seed)
    means = np.zeros((4, 12))
    means[1, 0] = means[2, 1] = means[3, 2] = 4.0
    spreads, weights = np.array([2.0, 0.5, 0.5, 0.5]), np.array([0.7, 0.1, 0.1, 0.1])
    of = rng.choice(4, 2000 + N_TEST, p=weights)
    rows = means[of] + spreads[of][:, None] * rng.normal(size=(len(of), 12))
    return rows[:2000], rows[2000:]


def cut(rows: Array) -> Draw:
    """A table cut into rows to learn from and rows held out."""

    def draw(seed: int) -> tuple[Array, Array]:
        order = np.random.default_rng(seed).permutation(len(rows))
        n_test = len(rows) // 5
        return rows[order[n_test:]], rows[order[:n_test]]

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


@dataclass(frozen=True)
class Compared:
    """The repetitions of a case."""

    case: Case
    learnt: (
        Array  # (repetition,) by how much the moment start is better on rows that were learnt from
    )
    held_out: Array  # (repetition,) and on held-out rows
    theirs: float  # mean score of held-out rows, from k-means
    alone: float  # and of the moments without more
    seconds: tuple[float, float]  # CPU from k-means and from moments

    def line(self) -> str:
        """What is printed."""
        on = [f"{mean:+9.4f} ({error:.4f})" for mean, error in map(mean_and_error, self.both)]
        return (
            f"{self.case.label:44} {self.theirs:10.4f} {on[0]:>20} {on[1]:>20} {self.alone:10.4f} "
            f"{self.seconds[0]:7.2f} {self.seconds[1]:7.2f}"
        )

    @property
    def both(self) -> tuple[Array, Array]:
        """The differences on rows that were learnt from and on held-out rows."""
        return self.learnt, self.held_out


def mean_and_error(differences: Array) -> tuple[float, float]:
    """Their mean and its standard error."""
    return float(differences.mean()), float(differences.std(ddof=1) / math.sqrt(len(differences)))


def run(case: Case, n_repetitions: int) -> Compared:
    """One case, as often as asked for."""
    from sklearn.mixture import GaussianMixture

    scores, seconds = [], [0.0, 0.0]
    kind: dict[str, Any] = {
        "n_components": case.n_components,
        "covariance_type": case.covariance_type,
        "reg_covar": REG,
    }
    for seed in range(n_repetitions):
        train, test = case.draw(seed)
        begun = time.process_time()
        theirs = GaussianMixture(**kind, random_state=seed).fit(train)
        between = time.process_time()
        moments = doors.GaussianMixtureMoments(case.n_components, reg_covar=REG).fit(train)
        ours = GaussianMixture(**kind, **moments.as_start(case.covariance_type)).fit(train)
        seconds[0] += between - begun
        seconds[1] += time.process_time() - between
        gains = [ours.score(rows) - theirs.score(rows) for rows in (train, test)]
        scores.append([*gains, theirs.score(test), moments.score(test)])
    columns = np.array(scores).T
    theirs_mean, alone = float(columns[2].mean()), float(columns[3].mean())
    return Compared(case, columns[0], columns[1], theirs_mean, alone, (seconds[0], seconds[1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=0)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    n_repetitions = chosen.repetitions or (3 if chosen.quick else 20)
    print(
        f"{'case':44} {'k-means':>10} {'learnt rows':>20} {'held-out rows':>20} {'alone':>10} "
        f"{'CPU s':>7} {'CPU s':>7}"
    )
    found = []
    for case in cases(chosen.quick):
        found.append(run(case, n_repetitions))
        print(found[-1].line(), flush=True)
    print()
    for place, which in enumerate(("rows that were learnt from", "held-out rows")):
        apart = [(each, *mean_and_error(each.both[place])) for each in found]
        below = [each.case.label for each, mean, error in apart if mean < -2 * error]
        above = [each.case.label for each, mean, error in apart if mean > 2 * error]
        print(f"On {which}, of {len(found)} cases:")
        print(f"  below k-means by more than two standard errors {len(below)}: {'; '.join(below)}")
        print(f"  above it by more than two standard errors {len(above)}: {'; '.join(above)}")


if __name__ == "__main__":
    main()
