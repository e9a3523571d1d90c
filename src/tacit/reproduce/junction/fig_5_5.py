"""Thesis, figure 5.5: splice junctions told from other places, by a second-order HMM for each class.

The numbers of sequences and of splits are in the picture only: up to 2500 to learn from and 500 to judge on,
ten times. No sequence is in both parts, although 185 of the 3190 are copies of others. Letters that stand for
several nucleotides are missing when learning, and sets of these when judging.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tacit.reproduce.junction.fig_5_4 import AUTO, EM, ONLINE, PRINTED, STRONG
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.dna_strands import strands
from tacit.reproduce.trees.splice_sites import SiteCase, SiteSettings

SMOOTHED = Method(
    "EM, 5 pseudo-counts",
    "em",
    (*EM.options, ("pseudo_counts", 5.0)),
)
# Single columns on both sides of a separator: with so few sequences, sets of columns show no more.
SPECTRAL = Method("spectral", "spectral", (("features", 1), ("n_views", 5)))
METHODS = (SPECTRAL, EM, STRONG, ONLINE, PRINTED, SMOOTHED, AUTO)
OTHERS = (EM, ONLINE)

# "A little better": by no more than two of a hundred sequences.
LITTLE = 0.02

SIZES = (100, 200, 500, 1000, 1500, 2000, 2500)


def settings(sizes: Sequence[int], n_splits: int, n_test: int = 500) -> SiteSettings:
    """Second-order HMMs of two states that change with the place."""
    return SiteSettings((SiteCase("splice", 2, 2, n_test),), METHODS, tuple(sizes), n_splits)


def wrong(runs: Runs, method: str, n_rows: int, measure: str = "wrong") -> float:
    """The mean share of wrong answers over the splits."""
    rows = runs.where(method=method, n_rows=n_rows).rows
    return statistics.fmean(getattr(row, measure) for row in rows)


def best_with_few(runs: Runs) -> Finding:
    """Spectral ahead, at the smallest size."""
    n = runs.sizes[0]
    spectral, *others = (wrong(runs, m.name, n) for m in (SPECTRAL, *OTHERS))
    shown = ", ".join(f"{each:.3f}" for each in (spectral, *others))
    return Finding(spectral < min(others), f"{shown} at {n} sequences")


def near_with_many(runs: Runs) -> Finding:
    """Spectral beside the better of EM and online EM, at the largest size."""
    n = runs.sizes[-1]
    spectral, *others = (wrong(runs, m.name, n) for m in (SPECTRAL, *OTHERS))
    shown = ", ".join(f"{each:.4f}" for each in (spectral, *others))
    return Finding(spectral <= min(others) + LITTLE, f"{shown} at {n} sequences")


def as_good_as_em(runs: Runs) -> Finding:
    """Spectral and Tacit's default beside every EM, at the largest size, by Bayes' rule."""
    n = runs.sizes[-1]
    found = {m.name: wrong(runs, m.name, n, "wrong_by_bayes") for m in METHODS}
    own = max(found[m.name] for m in (SPECTRAL, AUTO))
    best = min(found[m.name] for m in (EM, STRONG, SMOOTHED))
    return Finding(own <= best, f"{own:.4f} or less and {best:.4f} at {n} sequences")


def faster(runs: Runs) -> Finding:
    """Spectral beside EM and online EM, everywhere."""
    outcomes = [
        runs.seconds(SPECTRAL.name, n) < runs.seconds(method.name, n)
        for n in runs.sizes
        for method in OTHERS
    ]
    return counted("sizes and methods", outcomes)


def table(runs: Runs) -> str:
    """Mean shares of wrong answers, without and with the classes' shares, and times beside spectral's."""
    names = [method.name for method in METHODS]
    header = "".join(f"{name:>25}" for name in names)
    found = [
        "share of wrong answers, the same by Bayes' rule, and CPU time as a multiple of spectral",
        f"{'':8}{header}",
    ]
    for n in runs.sizes:
        fast = [row.seconds for row in runs.where(method=SPECTRAL.name, n_rows=n).rows]
        cells = ""
        for name in names:
            slow = [row.seconds for row in runs.where(method=name, n_rows=n).rows]
            by_bayes = wrong(runs, name, n, "wrong_by_bayes")
            cells += f"{wrong(runs, name, n):9.4f}{by_bayes:8.4f}{typical_ratio(slow, fast):7.1f}x"
        found.append(f"{n:>8}{cells}")
    return "\n".join(found)


def panels(chosen: SiteSettings) -> list[Panel]:
    """One panel."""
    (case,) = chosen.cases
    names = (SPECTRAL.name, EM.name, ONLINE.name, SMOOTHED.name, PRINTED.name)
    return [Panel("2nd order HMM for each of three classes", case, lines(names, None, AUTO.name))]


EXPERIMENT = Experiment(
    name="fig-5.5",
    title="Thesis, figure 5.5: splice junctions",
    claim=(
        "Spectral learning of second-order HMMs tells splice junctions apart best with few sequences, EM and "
        "online EM are a little better with more, and spectral learning is faster for all sizes; with weak "
        "directions cut it does not fall behind EM."
    ),
    parts=(
        Inequality(
            "at the smallest size spectral errs less often than EM and online EM", best_with_few
        ),
        Inequality(
            "at the largest size spectral errs at most 0.02 more often than the better of the two",
            near_with_many,
        ),
        Inequality(
            "at the largest size, the classes' shares counted in, neither spectral nor Tacit auto errs more "
            "often than any EM",
            as_good_as_em,
        ),
        Inequality("spectral takes less time than EM and online EM at every size", faster),
    ),
    settings={
        "paper": settings(SIZES, 10),
        "small": settings((100, 500, 2500), 4),
        "tiny": settings((40, 90), 1, n_test=30),
    },
    panels=panels,
    measures=("wrong", "seconds"),
    over="splits",
    need=lambda: strands("splice"),
    table=table,
)
