"""Trials are known by their first columns: finished runs in old tables must be found again."""

from typing import Any, NamedTuple

import pytest

from tacit import __version__
from tacit.errors import RankError
from tacit.reproduce.junction import graphs
from tacit.reproduce.numbers import laplace, recovery, towns
from tacit.reproduce.runner.trials import Method, Trial, timed
from tacit.reproduce.trees import splice_sites, stocks, synthetic

EM = Method("EM 1e-4", "em", (("tol", 1e-4), ("n_restarts", 5)))
PRINTED = Method("printed", "spectral", (("n_views", 10),), as_printed=True)
KERNEL = Method("kernel", "kernel-tree")


class Kind(NamedTuple):
    """A study, and its trial of 20000 with seed 7 by EM as it should be."""

    study: Any
    case: Any
    key: str  # as tables have it, before the method
    words: str
    work: int


# Keys are spelled out as they stand in tables that were written before.
KINDS = {
    "synthetic": Kind(
        *(synthetic.STUDY, synthetic.TreeCase("bin4", 4, 3, diagonal=1, learnt_states=2)),
        *("bin4,4,3,1,2,20000,7,1000", "bin4, 20000 rows, EM 1e-4", 22_000),
    ),
    "graphs": Kind(
        *(graphs.STUDY, graphs.GraphCase("order2-10", 16, 2, diagonal=0.25)),
        *("order2-10,16,2,0.25,20000,7,1000", "order2-10, 20000 rows, EM 1e-4", 22_000),
    ),
    "laplace": Kind(
        *(laplace.STUDY, laplace.LaplaceCase(3.0)),
        *("3,20000,7", "mu 3, 20000 rows, EM 1e-4", 23_000),
    ),
    "recovery": Kind(
        *(recovery.STUDY, recovery.ProcessCase("gaussian", "skewed", 16)),
        *("gaussian,skewed,16,20000,7", "gaussian, skewed, 20000 rows, EM 1e-4", 20_500),
    ),
    "splice sites": Kind(
        *(splice_sites.STUDY, splice_sites.SiteCase("splice", 2, 3, 500)),
        *("splice,2,3,500,20000,7", "split 8, 20000 sequences, EM 1e-4", 22_000),
    ),
    "towns": Kind(
        *(towns.STUDY, towns.TownCase()),
        *("294,300,30,10,20000,7", "split 8, 20000 rows, EM 1e-4", 20_000),
    ),
    "stocks": Kind(
        *(stocks.STUDY, stocks.StockCase(59, 4901, 500, 50)),
        "59,chow-liu-grouping,2,4901,500,50,20000,7",
        *("split 8, EM 1e-4, queries of 20000", 1),
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@every_kind
def test_the_key_of_a_trial_is_as_in_tables_written_before(kind):
    (trial,) = kind.study.settings([kind.case], [EM], [20_000], 8).trials()[7:]
    assert trial.key == (
        *kind.key.split(","),
        *("EM 1e-4", "em tol=0.0001 n_restarts=5", __version__),
    )
    assert (str(trial), kind.study.work(trial)) == (kind.words, kind.work)


@every_kind
def test_a_key_fills_the_columns_before_the_first_result(kind):
    columns = kind.study.settings([kind.case], [PRINTED], [10], 1).columns
    key = Trial(kind.study, kind.case, 10, 0, PRINTED).key
    assert columns[len(key) :] == tuple(kind.study.results)
    assert columns[: len(kind.case.columns)] == tuple(kind.case.columns)


@every_kind
def test_settings_are_every_case_with_every_size_seed_and_method(kind):
    settings = kind.study.settings([kind.case], [EM, PRINTED], [10, 20], 2)
    pairs = [(10, EM), (10, PRINTED), (20, EM), (20, PRINTED)]
    if kind.study.one_fit_for_all_sizes:
        pairs = [(10, EM), (20, EM), (10, PRINTED), (20, PRINTED)]
    assert settings.trials() == [
        Trial(kind.study, kind.case, size, seed, method)
        for seed in range(2)
        for size, method in pairs
    ]


def test_kernel_trees_of_towns_take_ten_times_as_long():
    assert towns.STUDY.work(Trial(towns.STUDY, towns.TownCase(), 200, 0, KERNEL)) == 2000


def test_times_add_up_and_errors_of_the_data_are_kept():
    fit = timed(sum, [1, 2], spent=7.0)
    assert fit.value == 3
    assert 7 <= fit.seconds < 8

    def refused():
        raise RankError("too many states")

    fit = timed(refused, spent=7.0)
    assert fit.seconds >= 7
    with pytest.raises(RankError, match="too many states"):
        _ = fit.value
    with pytest.raises(KeyError):
        timed({}.__getitem__, "typo")
