"""What is run on graphs with loops: models drawn at random, rows drawn from them, and one judged fit.

As `trials` does on trees.
"""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.errors import ArgumentError, RankError
from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome
from tacit.reproduce.trees.trials import TEST_ROWS, WARM_UP_ROWS, judged, with_all_categories

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.messages.network import Network
    from tacit.toy import GraphModel


@dataclass(frozen=True)
class GraphCase:
    """A family of true models; learning is told the graph and the numbers of states."""

    graph: str  # order2-10: a hidden Markov model of order 2 and length 10; factorial-8; loopy
    n_categories: int
    n_states: int = 2
    diagonal: float = 0.0

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self) | {"diagonal": float(self.diagonal)}


@dataclass(frozen=True)
class GraphRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_rows"
    first_result: ClassVar[str] = "error"

    graph: str
    n_categories: int
    n_states: int
    diagonal: float
    n_rows: int
    seed: int
    n_test: int
    method: str
    settings: str
    version: str
    error: float  # mean of |Phat - P| / P over the test rows; inf where nothing was learnt
    kl: float  # mean of log P - log Phat, nats; estimates that are not positive count as the floor
    not_positive: float  # share of the test rows with such estimates
    seconds: float  # CPU time of the whole fit
    n_steps: int  # of EM, over all restarts
    failure: str  # why nothing was learnt


class GraphTrial(GridTrial[GraphCase]):
    """One fit of one model."""

    rows_per_fit = 2000
    judged_on = (TEST_ROWS,)

    def run(self) -> GraphRun:
        """Draw, learn and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"{self.case.graph}, {self.size} rows, {self.method.name}"


class GraphSettings(Grid[GraphCase]):
    """Graphs with every size, seed and method."""

    trial = GraphTrial
    kind = GraphRun


def perform(trial: GraphTrial) -> GraphRun:
    """Draw the model and the rows of a trial, learn, and judge."""
    import numpy as np

    made = _drawn(trial.case, trial.seed, trial.size)
    _warm_up(trial.case, trial.method)
    begun = time.process_time()
    try:
        network, n_steps = _learnt(trial, made.model, made.train)
    except (RankError, np.linalg.LinAlgError) as refusal:
        seconds = time.process_time() - begun
        why = " ".join(str(refusal).split())
        return GraphRun.of(trial.key, math.inf, math.inf, 1.0, seconds, 0, why)
    seconds = time.process_time() - begun
    results = judged(network, made.test, made.log_truth)
    return GraphRun.of(trial.key, *results, seconds, n_steps, "")


def _learnt(trial: GraphTrial, model: GraphModel, train: Any) -> tuple[Network, int]:
    """What the trial's method learns from the rows, and in how many steps."""
    from tacit.junction.latent_junction_tree import LatentJunctionTree
    from tacit.reproduce.trees.printed import junction_as_printed

    method = trial.method
    options = dict(method.options)
    if method.as_printed:
        states = trial.case.n_states
        return junction_as_printed(method.learn, states, model.graph, train, trial.seed, **options)
    found = LatentJunctionTree(
        model.graph, trial.case.n_states, method.learn, random_state=trial.seed, **options
    )
    found.fit(train)
    return found.network_, int(found.diagnostics_.get("n_steps", 0))


# -- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Rows to learn from and rows to judge on."""

    model: GraphModel
    train: Any
    test: NDArray[np.int16]
    log_truth: NDArray[np.float64]


@lru_cache(maxsize=1)
def _drawn(case: GraphCase, seed: int, n_rows: int) -> _Drawn:
    """The data of a trial, the same for every method; the model is the same for every size."""
    model = truth(case, seed)
    train = model.sample(n_rows, _generator(case, seed, 2, n_rows))
    test = model.sample(TEST_ROWS, _generator(case, seed, 3))
    return _Drawn(model, _as_table(train, case.n_categories), test, model.log_prob(test))


def _as_table(codes: NDArray[np.int16], n_categories: int) -> Any:
    """The rows as they are, or as a table that knows of categories which they do not show."""
    import numpy as np

    if all(len(np.unique(column)) == n_categories for column in codes.T):
        return codes
    return with_all_categories(codes, n_categories)


@lru_cache(maxsize=8)
def truth(case: GraphCase, seed: int) -> GraphModel:
    """The model of a case and a seed."""
    from tacit.toy import random_factorial_model, random_hmm_model, random_loopy_model

    kind, _, length = case.graph.partition("-")
    options: dict[str, Any] = {
        "n_states": case.n_states,
        "n_categories": case.n_categories,
        "diagonal": case.diagonal,
        "random_state": _generator(case, seed, 1),
    }
    if kind == "loopy":
        return random_loopy_model(**options)
    if kind == "factorial":
        return random_factorial_model(int(length), **options)
    if not kind.startswith("order"):
        raise ArgumentError(
            f"no graph is called {case.graph!r}; there are orderK-T, factorial-T, loopy"
        )
    return random_hmm_model(int(length), order=int(kind.removeprefix("order")), **options)


def _generator(case: GraphCase, *numbers: int) -> np.random.Generator:
    """Random numbers of a model's own, whatever else is run."""
    import zlib

    import numpy as np

    family = " ".join(str(value) for value in case.columns.values())
    return np.random.default_rng([zlib.crc32(family.encode()), *numbers])


@lru_cache(maxsize=64)
def _warm_up(case: GraphCase, method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling or for planning its graph."""
    few = _drawn.__wrapped__(case, 0, WARM_UP_ROWS)
    with contextlib.suppress(RankError):  # so few rows may not carry the states
        _learnt(GraphTrial(case, WARM_UP_ROWS, 0, method), few.model, few.train)
