"""Thesis, figure 7.9: moves of stocks predicted from the moves of others, by latent and Chow-Liu trees.

The prices of the thesis (59 stocks, 1984 to 2011, 6800 days) are not available; `load_sp500` has others, of
which the first 59 stocks are taken: 5401 moves, 4901 for training and 500 for the test, drawn ten times.
The thesis does not say at which precisions EM stops; its figure is that of Parikh et al. (2011), who do.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs, in_standard_errors
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.fig_7_8 import SPECTRAL, TACIT_SPECTRAL
from tacit.reproduce.trees.parikh_fig_2 import EM_MINUS, EM_PLUS
from tacit.reproduce.trees.stocks import CHOW_LIU, STUDY, StockCase, stock_moves

OBSERVED = Method("Chow-Liu", CHOW_LIU)
AUTO = Method("Tacit", "auto")
LATENT = (SPECTRAL, EM_PLUS, EM_MINUS)
METHODS = (*LATENT, OBSERVED, TACIT_SPECTRAL, AUTO)
TACIT_FORMS = {SPECTRAL.name: TACIT_SPECTRAL.name}

N_STOCKS = 59


def _settings(
    sizes: Sequence[int], n_queries: int, n_splits: int, days: tuple[int, int] = (4901, 500)
) -> Settings:
    return STUDY.settings([StockCase(N_STOCKS, *days, n_queries)], METHODS, sizes, n_splits)


@inequality("each method errs less often in the largest queries than in the smallest")
def _better_with_evidence(runs: Runs) -> Finding:
    least, most = runs.sizes[0], runs.sizes[-1]
    outcomes = [
        _wrong(runs, method, most) < _wrong(runs, method, least) for method in (*LATENT, OBSERVED)
    ]
    return counted(f"methods from {least} to {most} stocks", outcomes)


@inequality("at every query size spectral, EM+ and EM- err less often than Chow-Liu")
def _ahead_everywhere(runs: Runs) -> Finding:
    outcomes = [
        _wrong(runs, method, size) < _wrong(runs, OBSERVED, size)
        for method in LATENT
        for size in runs.sizes
    ]
    return counted("sizes and methods", outcomes)


@inequality("their mean advantage is more than two standard errors above zero")
def _clearly_ahead(runs: Runs) -> Finding:
    scores = [in_standard_errors(_advantages(runs, method, OBSERVED)) for method in LATENT]
    shown = ", ".join(f"{score:.1f}" for score in scores)
    return Finding(all(score > 2 for score in scores), f"{shown} standard errors")


@inequality("spectral is nearer to EM+ and EM- than to Chow-Liu, on average over the sizes")
def _hard_to_tell(runs: Runs) -> Finding:
    near = max(_distance(runs, SPECTRAL, method) for method in (EM_PLUS, EM_MINUS))
    distant = _distance(runs, SPECTRAL, OBSERVED)
    return Finding(near < distant, f"{near:.4f} and {distant:.4f}")


def _wrong(runs: Runs, method: Method, size: int) -> float:
    """The median over the splits."""
    return runs.at(size).median("wrong", method=method)


def _distance(runs: Runs, one: Method, other: Method) -> float:
    """Between two methods, the mean over the sizes of queries."""
    return statistics.fmean(
        abs(_wrong(runs, one, size) - _wrong(runs, other, size)) for size in runs.sizes
    )


def _advantages(runs: Runs, method: Method, other: Method) -> list[float]:
    """By how much another method errs more often, one number for each split."""
    splits = [runs.where(seed=seed) for seed in sorted(set(runs.column("seed")))]
    return [
        statistics.fmean(_wrong(split, other, n) - _wrong(split, method, n) for n in split.sizes)
        for split in splits
    ]


EXPERIMENT = Experiment(
    name="fig-7.9",
    title="Thesis, figure 7.9: moves of stocks, latent trees and a Chow-Liu tree",
    claim=(
        "All methods get better with more evidence; over the entire range of query sizes the advantage of "
        "latent trees (spectral, EM+, EM-) over the Chow-Liu tree is clear; spectral and EM are less "
        "distinct."
    ),
    parts=(_better_with_evidence, _ahead_everywhere, _clearly_ahead, _hard_to_tell),
    settings={
        "paper": _settings((2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 59), 50, 10),
        "small": _settings((2, 5, 10, 20, 30, 40, 50, 59), 50, 4),
        "tiny": _settings((3, 20), 2, 2, days=(200, 40)),
    },
    lines=lines((*LATENT, OBSERVED), TACIT_FORMS, AUTO),
    panel_title=lambda case: f"{case.n_stocks} stocks, {case.n_train} training days",
    measures=("wrong",),
    tacit_forms=TACIT_FORMS,
    over="splits",
    check_data=lambda: stock_moves(N_STOCKS),
)
