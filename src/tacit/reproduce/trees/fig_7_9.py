"""Thesis, figure 7.9: moves of stocks told from the moves of others, by latent trees and a Chow-Liu tree.

The prices of the thesis (59 stocks, 1984 to 2011, 6800 days) are not to be had; `load_sp500` has others, of
which the first 59 stocks are taken: 5401 moves, 4901 to learn from and 500 to judge on, drawn ten times.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs, in_standard_errors
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.fig_7_8 import OURS, OWN_SPECTRAL, SPECTRAL
from tacit.reproduce.trees.stocks import CHOW_LIU, StockCase, StockSettings, stock_moves
from tacit.reproduce.trees.trials import em

EM_PLUS, EM_MINUS = em("EM+", 1e-5), em("EM-", 1e-3)
OBSERVED = Method("Chow-Liu", CHOW_LIU)
AUTO = Method("Tacit", "auto")
METHODS = (SPECTRAL, EM_PLUS, EM_MINUS, OBSERVED, OWN_SPECTRAL, AUTO)
LATENT = (SPECTRAL.name, EM_PLUS.name, EM_MINUS.name)

N_STOCKS = 59


def settings(
    sizes: Sequence[int], n_queries: int, n_splits: int, days: tuple[int, int] = (4901, 500)
) -> StockSettings:
    """The first 59 stocks, with so many days to learn from and to judge on."""
    case = StockCase(N_STOCKS, *days, n_queries)
    return StockSettings((case,), METHODS, tuple(sizes), n_splits)


def better_with_evidence(runs: Runs) -> Finding:
    """The largest queries against the smallest, for each method."""
    least, most = runs.sizes[0], runs.sizes[-1]
    outcomes = [_wrong(runs, name, most) < _wrong(runs, name, least) for name in _names()]
    return counted(f"methods from {least} to {most} stocks", outcomes)


def ahead_everywhere(runs: Runs) -> Finding:
    """Each latent method against the Chow-Liu tree, at each size of queries."""
    outcomes = [
        _wrong(runs, name, size) < _wrong(runs, OBSERVED.name, size)
        for name in LATENT
        for size in runs.sizes
    ]
    return counted("sizes and methods", outcomes)


def clearly_ahead(runs: Runs) -> Finding:
    """The mean advantage over the Chow-Liu tree on the same queries, in standard errors over the splits."""
    scores = [in_standard_errors(_advantages(runs, name, OBSERVED.name)) for name in LATENT]
    shown = ", ".join(f"{score:.1f}" for score in scores)
    return Finding(all(score > 2 for score in scores), f"{shown} standard errors")


def hard_to_tell(runs: Runs) -> Finding:
    """Spectral's distance from either EM, and from the Chow-Liu tree."""
    near = [_distance(runs, SPECTRAL.name, name) for name in (EM_PLUS.name, EM_MINUS.name)]
    far = _distance(runs, SPECTRAL.name, OBSERVED.name)
    shown = f"{max(near):.4f} and {far:.4f}"
    return Finding(max(near) < far, shown)


def _names() -> tuple[str, ...]:
    return (*LATENT, OBSERVED.name)


def _wrong(runs: Runs, method: str, size: int) -> float:
    """The median over the splits."""
    return runs.at(size).median("wrong", method=method)


def _distance(runs: Runs, one: str, other: str) -> float:
    """Between two methods, the mean over the sizes of queries."""
    return statistics.fmean(
        abs(_wrong(runs, one, size) - _wrong(runs, other, size)) for size in runs.sizes
    )


def _advantages(runs: Runs, method: str, other: str) -> list[float]:
    """By how much another method errs more often, one number for each split."""
    found = []
    for seed in sorted({row.seed for row in runs.rows}):
        own = runs.where(seed=seed)
        gaps = [_wrong(own, other, size) - _wrong(own, method, size) for size in own.sizes]
        found.append(statistics.fmean(gaps))
    return found


def panels(chosen: StockSettings) -> list[Panel]:
    """One panel."""
    (case,) = chosen.cases
    drawn = lines(_names(), OURS, AUTO.name)
    return [Panel(f"{case.n_stocks} stocks, {case.n_train} training days", case, drawn)]


EXPERIMENT = Experiment(
    name="fig-7.9",
    title="Thesis, figure 7.9: moves of stocks, latent trees and a Chow-Liu tree",
    claim=(
        "All methods get better with more evidence; over the entire range of query sizes the advantage of "
        "latent trees (spectral, EM+, EM-) over the Chow-Liu tree is clear; spectral and EM are less "
        "distinct."
    ),
    parts=(
        Inequality(
            "each method errs less often in the largest queries than in the smallest",
            better_with_evidence,
        ),
        Inequality(
            "at every query size spectral, EM+ and EM- err less often than Chow-Liu",
            ahead_everywhere,
        ),
        Inequality(
            "their mean advantage is more than two standard errors above zero",
            clearly_ahead,
        ),
        Inequality(
            "spectral is nearer to EM+ and EM- than to Chow-Liu, on average over the sizes",
            hard_to_tell,
        ),
    ),
    settings={
        "paper": settings((2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 59), 50, 10),
        "small": settings((2, 5, 10, 20, 30, 40, 50, 59), 50, 4),
        "tiny": settings((3, 20), 2, 2, days=(200, 40)),
    },
    panels=panels,
    measures=("wrong",),
    ours=OURS,
    over="splits",
    need=lambda: stock_moves(N_STOCKS),
)
