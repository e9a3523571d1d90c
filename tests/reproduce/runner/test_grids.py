"""Trials are known by their first columns: finished runs in old tables must be found again."""

from typing import Any, NamedTuple

import pytest

from tacit import __version__
from tacit.reproduce.junction.graphs import GraphCase, GraphSettings, GraphTrial
from tacit.reproduce.numbers.laplace import LaplaceCase, LaplaceSettings, LaplaceTrial
from tacit.reproduce.numbers.recovery import TreeCase, TreeSettings, TreeTrial
from tacit.reproduce.numbers.towns import TownCase, TownSettings, TownTrial
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.trees.splice_sites import SiteCase, SiteSettings, SiteTrial
from tacit.reproduce.trees.stocks import StockCase, StockSettings, StockTrial
from tacit.reproduce.trees.trials import Case, Settings, Trial

EM = Method("EM 1e-4", "em", (("tol", 1e-4), ("n_restarts", 5)))
PRINTED = Method("printed", "spectral", (("n_views", 10),), as_printed=True)
KERNEL = Method("kernel", "kernel-tree")


class Kind(NamedTuple):
    """An experiment, and what is known of its trial of 20000 with seed 7 by EM."""

    settings: Any
    trial: Any
    case: Any
    key: str  # as tables have it, before the method
    words: str
    work: int


# Keys are spelled out as they stand in tables that were written before there was a module for all.
KINDS = {
    "trials": Kind(
        *(Settings, Trial, Case("bin4", 4, 3, diagonal=1, told=2)),
        *("bin4,4,3,1,2,20000,7,1000", "bin4, 20000 rows, EM 1e-4", 22_000),
    ),
    "graphs": Kind(
        *(GraphSettings, GraphTrial, GraphCase("order2-10", 16, 2, diagonal=0.25)),
        *("order2-10,16,2,0.25,20000,7,1000", "order2-10, 20000 rows, EM 1e-4", 22_000),
    ),
    "laplace": Kind(
        *(LaplaceSettings, LaplaceTrial, LaplaceCase(3.0)),
        *("3,20000,7", "mu 3, 20000 rows, EM 1e-4", 23_000),
    ),
    "recovery": Kind(
        *(TreeSettings, TreeTrial, TreeCase("gaussian", "skewed", 16)),
        *("gaussian,skewed,16,20000,7", "gaussian, skewed, 20000 rows, EM 1e-4", 20_500),
    ),
    "sites": Kind(
        *(SiteSettings, SiteTrial, SiteCase("splice", 2, 3, 500)),
        *("splice,2,3,500,20000,7", "split 8, 20000 sequences, EM 1e-4", 22_000),
    ),
    "towns": Kind(
        *(TownSettings, TownTrial, TownCase()),
        *("294,300,30,10,20000,7", "split 8, 20000 rows, EM 1e-4", 20_000),
    ),
    "stocks": Kind(
        *(StockSettings, StockTrial, StockCase(59, 4901, 500, 50)),
        "59,chow-liu-grouping,2,4901,500,50,20000,7",
        *("split 8, EM 1e-4, queries of 20000", 1),
    ),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@each_kind
def test_the_key_of_a_trial_is_as_in_tables_written_before(kind):
    (found,) = kind.settings((kind.case,), (EM,), (20_000,), 8).trials()[7:]
    assert found.key == (
        *kind.key.split(","),
        *("EM 1e-4", "em tol=0.0001 n_restarts=5", __version__),
    )
    assert (str(found), found.work) == (kind.words, kind.work)


@each_kind
def test_a_key_fills_the_columns_before_the_first_result(kind):
    lines = kind.settings((kind.case,), (PRINTED,), (10,), 1).kind
    key = kind.trial(kind.case, 10, 0, PRINTED).key
    assert len(key) == lines.columns().index(lines.first_result)
    assert lines.columns()[: len(kind.case.columns)] == tuple(kind.case.columns)


@each_kind
def test_settings_are_every_case_with_every_size_seed_and_method(kind):
    chosen = kind.settings((kind.case,), (EM, PRINTED), (10, 20), 2)
    pairs = [(10, EM), (10, PRINTED), (20, EM), (20, PRINTED)]
    if kind.trial is StockTrial:  # which learns once for all sizes
        pairs = [(10, EM), (20, EM), (10, PRINTED), (20, PRINTED)]
    assert chosen.trials() == [
        kind.trial(kind.case, size, seed, method) for seed in range(2) for size, method in pairs
    ]


def test_kernel_trees_of_towns_take_ten_times_as_long():
    assert TownTrial(TownCase(), 200, 0, KERNEL).work == 2000
