"""Moves of stocks on a day predicted from the moves of others: splits, trees, queries, judged fits.

After the thesis, section 7.6.2: a tree is learnt from the training days, and each method on it; then stocks
are drawn, the likelier move of one of them given the others is predicted, and wrong predictions are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed
from tacit.reproduce.trees.synthetic import WARM_UP_ROWS, network_and_steps, with_all_categories

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.messages.network import Network
    from tacit.trees.structure.topology import Topology

CHOW_LIU = "chow-liu"  # the learner that has a tree of its own

RESULTS: Results = {
    "wrong": math.inf,  # fraction of moves that were predicted wrongly
    "not_positive": 1.0,  # fraction of the estimates behind them that were not positive
    "seconds": 0.0,  # CPU time of the fit, without that of the tree
    "n_steps": 0,  # of EM, over all restarts
    "failure": "",  # why nothing was learnt
}


@dataclass(frozen=True)
class StockCase(Case):
    """How the data are taken, and what is learnt from them."""

    n_stocks: int
    structure: str = field(default="chow-liu-grouping", kw_only=True)  # of Choi et al.
    n_states: int = field(default=2, kw_only=True)
    n_train: int
    n_test: int
    n_queries: int


def judge(trial: Trial, fitted: tuple[Network, int]) -> Results:
    """The errors of raw estimates, negative ones too."""
    import numpy as np

    from tacit.messages.evidence import Evidence
    from tacit.messages.passes import log_values

    network, n_steps = fitted
    test = _split(trial.case, trial.seed).test
    rows, targets = queries(trial, test)
    row_numbers = np.arange(len(rows))
    truth = np.tile(test, (trial.case.n_queries, 1))[row_numbers, targets]
    values = []
    for move in (0, 1):
        completed = rows.copy()
        completed[row_numbers, targets] = move
        sign, log_abs = log_values(network, Evidence(completed))
        values.append(sign * np.exp(log_abs))
    down, up = values
    return {
        "wrong": float(np.mean((up > down) != truth)),
        "not_positive": float(np.mean([~(down > 0), ~(up > 0)])),
        "n_steps": n_steps,
    }


def queries(trial: Trial, test: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """All test rows for each query, -1 where a stock is not given, and the stock that is predicted.

    The same for every method.
    """
    import numpy as np

    case = trial.case
    rng = np.random.default_rng([case.n_stocks, trial.seed, trial.size])
    rows = np.full((case.n_queries, *test.shape), -1, dtype=np.int16)
    targets = np.empty(case.n_queries, dtype=np.int64)
    for number in range(case.n_queries):
        chosen = rng.choice(case.n_stocks, size=trial.size, replace=False)
        targets[number], observed = chosen[0], chosen[1:]
        rows[number][:, observed] = test[:, observed]
    return rows.reshape(-1, test.shape[1]), np.repeat(targets, len(test))


# -- learning -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def fit(case: StockCase, seed: int, method: Method) -> Fit:
    """What a method learns from the training days of a split, and in how many steps."""
    split = _split(case, seed)
    _warm_up(case, method)
    return timed(_learn, case, seed, method, split)


def _learn(case: StockCase, seed: int, method: Method, split: Split) -> tuple[Network, int]:
    from tacit.reproduce.trees.printed import learn_as_printed
    from tacit.trees.chow_liu_tree import ChowLiuTree
    from tacit.trees.latent_tree import LatentTree

    rows, options = with_all_categories(split.train, 2), dict(method.options)
    if method.learn == CHOW_LIU:
        return ChowLiuTree(**options).fit(rows).network_, 0
    if method.as_printed:
        return learn_as_printed(method.learn, case.n_states, split.topology, rows, **options), 0
    model = LatentTree(case.n_states, split.topology, method.learn, random_state=seed, **options)
    return network_and_steps(model, rows)


@lru_cache(maxsize=32)
def _warm_up(case: StockCase, method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling."""
    split = _split(case, 0)
    timed(_learn, case, 0, method, replace(split, train=split.train[:WARM_UP_ROWS]))


STUDY = Study(
    size="query_size",
    results=RESULTS,
    fit=lambda trial: fit(trial.case, trial.seed, trial.method),
    judge=judge,
    words="split {split}, {method.name}, queries of {size}",
    work=lambda _: 1,
    one_fit_for_all_sizes=True,
)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Split:
    """Days to learn from, the tree that they give, and days to judge on."""

    train: NDArray[np.int16]  # (day, stock)  1 up, 0 down or unchanged
    test: NDArray[np.int16]
    topology: Topology


@lru_cache(maxsize=2)
def _split(case: StockCase, seed: int) -> Split:
    """The days of a split, drawn without replacement."""
    import numpy as np

    from tacit.trees.learn.selection.structures import learn_structure

    rises = stock_moves(case.n_stocks)
    rng = np.random.default_rng([case.n_train, case.n_test, seed])
    days = rng.permutation(len(rises))[: case.n_train + case.n_test]
    train, test = rises[days[: case.n_train]], rises[days[case.n_train :]]
    return Split(train, test, learn_structure(with_all_categories(train, 2), case.structure))


@lru_cache(maxsize=1)
def stock_moves(n_stocks: int) -> NDArray[np.int16]:
    """(day, stock) The moves of the first stocks of `load_sp500`."""
    import numpy as np

    from tacit.datasets import load_sp500

    columns = list(load_sp500("moves").values())[:n_stocks]
    return np.stack(columns, axis=1).astype(np.int16)
