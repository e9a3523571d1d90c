"""Which way a stock moves on a day, told from others: splits of the days, trees, queries, and one judged fit.

After the thesis, section 7.6.2: from the training days a tree is learnt, on it each method; then stocks are
drawn, one of them is told from the rest by the likelier of its two moves, and counted where that is wrong.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.errors import RankError
from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome
from tacit.reproduce.trees.trials import WARM_UP_ROWS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.messages.network import Network
    from tacit.trees.structure.topology import Topology

CHOW_LIU = "chow-liu"  # the way of learning that has a tree of its own


@dataclass(frozen=True)
class StockCase:
    """How the data are taken, and what is learnt from them."""

    n_stocks: int
    n_train: int
    n_test: int
    n_queries: int
    structure: str = "chow-liu-grouping"  # the way of Choi et al. that keeps to a spanning tree
    n_states: int = 2

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return {
            "n_stocks": self.n_stocks,
            "structure": self.structure,
            "n_states": self.n_states,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "n_queries": self.n_queries,
        }


@dataclass(frozen=True)
class StockRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "query_size"
    first_result: ClassVar[str] = "wrong"

    n_stocks: int
    structure: str
    n_states: int
    n_train: int
    n_test: int
    n_queries: int
    query_size: int
    seed: int
    method: str
    settings: str
    version: str
    wrong: float  # share of moves that were told wrongly; inf where nothing was learnt
    not_positive: float  # share of the estimates behind them that were not positive
    seconds: float  # CPU time of the fit, without that of the tree
    n_steps: int  # of EM, over all restarts
    failure: str  # why nothing was learnt


class StockTrial(GridTrial[StockCase]):
    """One method on one split, asked queries of one size: stocks, the one to be told among them."""

    @property
    def work(self) -> int:
        """All take about as long."""
        return 1

    def run(self) -> StockRun:
        """Learn, unless that was done for another size, ask and count."""
        return perform(self)

    def __str__(self) -> str:
        return f"split {self.seed + 1}, {self.method.name}, queries of {self.size}"


class StockSettings(Grid[StockCase]):
    """Every split with every method and size of queries."""

    trial = StockTrial
    kind = StockRun

    def trials(self) -> list[GridTrial[StockCase]]:
        """All that is to be run; the sizes of a method come together, so that it learns once."""
        return [
            StockTrial(case, size, seed, method)
            for seed in range(self.n_seeds)
            for case in self.cases
            for method in self.methods
            for size in self.sizes
        ]


def perform(trial: StockTrial) -> StockRun:
    """Learn and judge; the errors are those of raw estimates, negative ones too."""
    learnt = _learnt(trial.case, trial.seed, trial.method)
    wrong, not_positive = float("inf"), 1.0
    if learnt.network is not None:
        wrong, not_positive = _judged(trial, learnt.network)
    results = (wrong, not_positive, learnt.seconds, learnt.n_steps, learnt.failure)
    return StockRun.of(trial.key, *results)


def _judged(trial: StockTrial, network: Network) -> tuple[float, float]:
    """The share of wrong answers, and of estimates that are not positive."""
    import numpy as np

    from tacit.messages.evidence import Evidence
    from tacit.messages.passes import log_values

    test = _split(trial.case, trial.seed).test
    rows, targets = queries(trial, test)
    everything = np.arange(len(rows))
    truth = np.tile(test, (trial.case.n_queries, 1))[everything, targets]
    values = []
    for move in (0, 1):
        asked = rows.copy()
        asked[everything, targets] = move
        sign, log_abs = log_values(network, Evidence(asked))
        values.append(sign * np.exp(log_abs))
    down, up = values
    wrong = (up > down) != truth
    return float(np.mean(wrong)), float(np.mean([~(down > 0), ~(up > 0)]))


def queries(
    trial: StockTrial, test: NDArray[np.int16]
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """What is asked: all test rows for each query, -1 where it does not look, and whom it asks for.

    The same for every method.
    """
    import numpy as np

    case = trial.case
    rng = np.random.default_rng([case.n_stocks, trial.seed, trial.size])
    rows = np.full((case.n_queries, *test.shape), -1, dtype=np.int16)
    targets = np.empty(case.n_queries, dtype=np.int64)
    for number in range(case.n_queries):
        chosen = rng.choice(case.n_stocks, size=trial.size, replace=False)
        targets[number], seen = chosen[0], chosen[1:]
        rows[number][:, seen] = test[:, seen]
    return rows.reshape(-1, test.shape[1]), np.repeat(targets, len(test))


# -- learning -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Learnt:
    network: Network | None
    seconds: float
    n_steps: int = 0
    failure: str = ""


@lru_cache(maxsize=1)
def _learnt(case: StockCase, seed: int, method: Method) -> _Learnt:
    """What a method learns from the training rows of a split, or why it does not."""
    import numpy as np

    split = _split(case, seed)
    _warm_up(case, method)
    begun = time.process_time()
    try:
        network, n_steps = _fitted(case, seed, method, split.topology, split.train)
    except (RankError, np.linalg.LinAlgError) as error:
        why = " ".join(str(error).split())
        return _Learnt(None, time.process_time() - begun, failure=why)
    return _Learnt(network, time.process_time() - begun, n_steps)


def _fitted(
    case: StockCase, seed: int, method: Method, topology: Topology, train: NDArray[np.int16]
) -> tuple[Network, int]:
    """The network that a method learns, and in how many steps."""
    from tacit.reproduce.trees.printed import learn_as_printed
    from tacit.trees.chow_liu_tree import ChowLiuTree
    from tacit.trees.latent_tree import LatentTree

    rows, options = _table(train), dict(method.options)
    if method.learn == CHOW_LIU:
        return ChowLiuTree(**options).fit(rows).network_, 0
    if method.as_printed:
        return learn_as_printed(method.learn, case.n_states, topology, rows, **options), 0
    model = LatentTree(case.n_states, topology, method.learn, random_state=seed, **options)
    model.fit(rows)
    return model.network_, int(model.diagnostics_.get("n_steps", 0))


@lru_cache(maxsize=32)
def _warm_up(case: StockCase, method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling."""
    import contextlib

    split = _split(case, 0)
    with contextlib.suppress(RankError):  # so few rows may not carry the states
        _fitted(case, 0, method, split.topology, split.train[:WARM_UP_ROWS])


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Split:
    """Days to learn from, the tree that they give, and days to judge on."""

    train: NDArray[np.int16]  # (day, stock)  1 up, 0 down or no move
    test: NDArray[np.int16]
    topology: Topology


@lru_cache(maxsize=2)
def _split(case: StockCase, seed: int) -> _Split:
    """The days of a split, drawn without replacement."""
    import numpy as np

    from tacit.trees.learn.structures import learn_structure

    moves = stock_moves(case.n_stocks)
    rng = np.random.default_rng([case.n_train, case.n_test, seed])
    days = rng.permutation(len(moves))[: case.n_train + case.n_test]
    train, test = moves[days[: case.n_train]], moves[days[case.n_train :]]
    return _Split(train, test, learn_structure(_table(train), case.structure))


@lru_cache(maxsize=1)
def stock_moves(n_stocks: int) -> NDArray[np.int16]:
    """(day, stock) The moves of the first stocks of `load_sp500`.

    Raises
    ------
    MissingDataError
        The file is not where loaders look.
    """
    import numpy as np

    from tacit.datasets import load_sp500

    columns = list(load_sp500("moves").values())[:n_stocks]
    return np.stack(columns, axis=1).astype(np.int16)


def _table(moves: NDArray[np.int16]) -> Any:
    """The rows as a table that knows of both moves, whether they occur or not."""
    from tacit.reproduce.trees.trials import with_all_categories

    return with_all_categories(moves, 2)
