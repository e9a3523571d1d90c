"""Thesis, figure 5.5: splice junctions classified by a second-order HMM for each class.

The numbers of sequences and of splits are in the picture only: up to 2500 training and 500 test sequences,
ten times. No sequence is in both parts, although 185 of the 3190 are copies of others. Letters that stand
for several nucleotides are missing in training, and sets of these in the test.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.junction.fig_5_4 import AUTO, EM, ONLINE, SPECTRAL, STRONG, aims
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.dna_sequences import dna_sequences
from tacit.reproduce.trees.splice_sites import STUDY, SiteCase

SMOOTHED = Method(
    "EM, 5 pseudo-counts",
    "em",
    (*EM.options, ("pseudo_counts", 5.0)),
)
# Single columns on both sides of a separator: with so few sequences, sets of columns show no more.
TACIT_SPECTRAL = Method("Tacit spectral", "spectral", (("features", 1), ("n_views", 5)))
TACIT_FORMS = {SPECTRAL.name: TACIT_SPECTRAL.name}
METHODS = (SPECTRAL, EM, STRONG, ONLINE, TACIT_SPECTRAL, SMOOTHED, AUTO)
OTHERS = (EM, ONLINE)

# "A little better": by no more than two of a hundred sequences.
LITTLE = 0.02

SIZES = (100, 200, 500, 1000, 1500, 2000, 2500)


def _settings(sizes: Sequence[int], n_splits: int, n_test: int = 500) -> Settings:
    return STUDY.settings([SiteCase("splice", 2, 2, n_test)], METHODS, sizes, n_splits)


def wrong(runs: Runs, method: Method, n_rows: int, measure: str = "wrong") -> float:
    """The mean fraction of wrong classes over the splits."""
    return runs.at(n_rows).mean(measure, method=method)


@inequality("at the smallest size spectral errs less often than EM and online EM")
def _best_with_few(runs: Runs) -> Finding:
    n = runs.sizes[0]
    spectral, *others = (wrong(runs, method, n) for method in (SPECTRAL, *OTHERS))
    shown = ", ".join(f"{value:.3f}" for value in (spectral, *others))
    return Finding(spectral < min(others), f"{shown} at {n} sequences")


@inequality("at the largest size spectral errs at most 0.02 more often than the better of the two")
def _near_with_many(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    spectral, *others = (wrong(runs, method, n) for method in (SPECTRAL, *OTHERS))
    shown = ", ".join(f"{value:.4f}" for value in (spectral, *others))
    return Finding(spectral <= min(others) + LITTLE, f"{shown} at {n} sequences")


@inequality("spectral takes less time than EM and online EM at every size")
def _faster(runs: Runs) -> Finding:
    outcomes = [
        runs.seconds(SPECTRAL, n) < runs.seconds(method, n) for n in runs.sizes for method in OTHERS
    ]
    return counted("sizes and methods", outcomes)


# What Tacit aims at beyond the claim.
@inequality(
    "at the largest size, by Bayes' rule, neither Tacit spectral nor Tacit auto errs more "
    "often than any EM"
)
def _as_good_as_em(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    tacit = max(wrong(runs, method, n, "wrong_by_bayes") for method in (TACIT_SPECTRAL, AUTO))
    best = min(wrong(runs, method, n, "wrong_by_bayes") for method in (EM, STRONG, SMOOTHED))
    return Finding(tacit <= best, f"{tacit:.4f} or less and {best:.4f} at {n} sequences")


def _table(runs: Runs) -> str:
    """Mean fractions of wrong classes, without and with their weights, and times beside spectral's."""
    rows = []
    for n in runs.sizes:
        fast = runs.at(n).column("seconds", method=SPECTRAL)
        cells = []
        for method in METHODS:
            ratio = typical_ratio(runs.at(n).column("seconds", method=method), fast)
            by_bayes = wrong(runs, method, n, "wrong_by_bayes")
            cells.append(f"{wrong(runs, method, n):.4f}{by_bayes:8.4f}{ratio:7.1f}x")
        rows.append((f"{n:>8}", cells))
    title = "error rate, the same by Bayes' rule, and CPU time as a multiple of spectral"
    table = aligned([method.name for method in METHODS], rows)
    return "\n".join([title, *table, "beyond the claim:", *aims([_as_good_as_em], runs)])


EXPERIMENT = Experiment(
    name="fig-5.5",
    title="Thesis, figure 5.5: splice junctions",
    claim=(
        "Spectral learning of second-order HMMs classifies splice junctions best with few sequences, EM and "
        "online EM are a little better with more, and spectral learning is faster for all sizes."
    ),
    parts=(_best_with_few, _near_with_many, _faster),
    settings={
        "paper": _settings(SIZES, 10),
        "small": _settings((100, 500, 2500), 4),
        "tiny": _settings((40, 90), 1, n_test=30),
    },
    lines=lines((SPECTRAL, EM, ONLINE, SMOOTHED), TACIT_FORMS, AUTO),
    panel_title=lambda _: "2nd order HMM for each of three classes",
    measures=("wrong", "seconds"),
    tacit_forms=TACIT_FORMS,
    over="splits",
    check_data=lambda: dna_sequences("splice"),
    table=_table,
)
