"""What is run: methods, models drawn at random, rows drawn from them, and one fit judged by the truth."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.errors import RankError
from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.messages.network import Network, Tables
    from tacit.trees.structure.topology import Topology

# Rows drawn from the truth on which an estimate is judged, as in the thesis and in Song et al.
TEST_ROWS = 1000

# Training set sizes of the thesis: "varied from 100 to 100,000".
THESIS_SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)

# Rows of the fit that is not timed: compiled loops and the plan of the tree are there afterwards.
WARM_UP_ROWS = 60


def em(name: str, tol: float, n_restarts: int = 5) -> Method:
    """EM with the papers' stopping rule."""
    return Method(name, "em", (("tol", tol), ("stopping", "relative"), ("n_restarts", n_restarts)))


@dataclass(frozen=True)
class Case:
    """A family of true models, and the number of states that learning is told."""

    tree: str  # a name for `named_topology`, or random8: a random binary tree of 8 leaves for each seed
    n_categories: int
    n_states: int
    diagonal: float = 0.0
    told: int | None = None  # the true number where it is None

    @property
    def told_states(self) -> int:
        """The number of hidden states that learning is told."""
        return self.n_states if self.told is None else self.told

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return {
            "tree": self.tree,
            "n_categories": self.n_categories,
            "n_states": self.n_states,
            "diagonal": float(self.diagonal),
            "told_states": self.told_states,
        }


@dataclass(frozen=True)
class Run(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_rows"
    first_result: ClassVar[str] = "error"

    tree: str
    n_categories: int
    n_states: int
    diagonal: float
    told_states: int
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


class Trial(GridTrial[Case]):
    """One fit of one model."""

    rows_per_fit = 2000
    judged_on = (TEST_ROWS,)

    def run(self) -> Run:
        """Draw, learn and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"{self.case.tree}, {self.size} rows, {self.method.name}"


class Settings(Grid[Case]):
    """Trees with every size, seed and method."""

    trial = Trial
    kind = Run


def perform(trial: Trial) -> Run:
    """Draw the model and the rows of a trial, learn, and judge.

    The error is that of the papers and uses raw estimates, negative ones too.
    """
    import numpy as np

    made = _drawn(trial.case, trial.seed, trial.size)
    _warm_up(trial.case, trial.seed, trial.method)
    begun = time.process_time()
    try:
        network, n_steps = _learnt(trial, made.topology, made.train)
    except (RankError, np.linalg.LinAlgError) as refusal:
        seconds = time.process_time() - begun
        why = " ".join(str(refusal).split())
        return Run.of(trial.key, math.inf, math.inf, 1.0, seconds, 0, why)
    seconds = time.process_time() - begun
    results = judged(network, made.test, made.log_truth)
    return Run.of(trial.key, *results, seconds, n_steps, "")


def judged(
    network: Network, test: NDArray[np.int16], log_truth: NDArray[np.float64]
) -> tuple[float, float, float]:
    """The papers' error, the mean of log P - log Phat in nats, and the share of estimates not positive."""
    import numpy as np

    from tacit.evaluate import kl, l1_error
    from tacit.messages.conditionals import log_prob
    from tacit.messages.evidence import Evidence
    from tacit.messages.passes import log_values

    rows = Evidence(test)
    sign, log_abs = log_values(network, rows)
    # What is beyond all numbers is as wrong as can be.
    beyond = np.isnan(log_abs) | np.isnan(sign)
    log_abs, sign = np.where(beyond, np.inf, log_abs), np.where(beyond, 1.0, sign)
    floored = log_prob(network, rows).values
    return (
        l1_error(log_truth, log_abs, sign),
        kl(log_truth, np.where(np.isnan(floored), -np.inf, floored)),
        float(np.mean(~(sign > 0))),
    )


def _learnt(trial: Trial, topology: Topology, train: pa.Table) -> tuple[Network, int]:
    """What the trial's method learns from the rows, and in how many steps."""
    from tacit.reproduce.trees.printed import learn_as_printed
    from tacit.trees.latent_tree import LatentTree

    method, states = trial.method, trial.case.told_states
    options = dict(method.options)
    if method.as_printed:
        return learn_as_printed(method.learn, states, topology, train, **options), 0
    model = LatentTree(states, topology, method.learn, random_state=trial.seed, **options)
    model.fit(train)
    return model.network_, int(model.diagnostics_.get("n_steps", 0))


# -- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Rows to learn from and rows to judge on."""

    topology: Topology
    train: pa.Table
    test: NDArray[np.int16]
    log_truth: NDArray[np.float64]


@lru_cache(maxsize=1)
def _drawn(case: Case, seed: int, n_rows: int) -> _Drawn:
    """The data of a trial, the same for every method; the model is the same for every size."""
    from tacit.messages.evidence import Evidence
    from tacit.messages.passes import log_values
    from tacit.toy import sample_codes

    topology, truth = _truth(case.tree, case.n_categories, case.n_states, case.diagonal, seed)
    train = sample_codes(truth, n_rows, _generator(case, seed, 2, n_rows))
    test = sample_codes(truth, TEST_ROWS, _generator(case, seed, 3))
    log_truth = log_values(truth.network, Evidence(test))[1]
    return _Drawn(topology, with_all_categories(train, case.n_categories), test, log_truth)


@lru_cache(maxsize=8)
def _truth(
    tree: str, n_categories: int, n_states: int, diagonal: float, seed: int
) -> tuple[Topology, Tables]:
    from tacit.toy import random_tables

    topology = _topology(tree, seed if tree.startswith("random") else 0)
    rooted = topology.rooted([f"x{leaf}" for leaf in range(len(topology.observed))])
    case = Case(tree, n_categories, n_states, diagonal)
    rng = _generator(case, seed, 1)
    return topology, random_tables(rooted, n_categories, n_states, rng, diagonal=diagonal)


@lru_cache(maxsize=32)
def _topology(tree: str, seed: int) -> Topology:
    from tacit.toy import named_topology, random_topology

    if tree.startswith("random"):
        n_leaves = int(tree.removeprefix("random"))
        return random_topology(n_leaves, n_children=(2, 2), random_state=seed)
    return named_topology(tree)


def _generator(case: Case, *numbers: int) -> np.random.Generator:
    """Random numbers of a model's own, whatever else is run."""
    import zlib

    import numpy as np

    family = f"{case.tree} {case.n_categories} {case.n_states} {case.diagonal:g}"
    return np.random.default_rng([zlib.crc32(family.encode()), *numbers])


def with_all_categories(codes: NDArray[np.int16], n_categories: int) -> pa.Table:
    """The rows as a table that also knows of categories which these rows do not show; -1 is missing."""
    import pyarrow as pa

    categories = pa.array(range(n_categories))
    return pa.table(
        {
            f"x{leaf}": pa.DictionaryArray.from_arrays(
                pa.array(column, mask=column < 0), categories, ordered=True
            )
            for leaf, column in enumerate(codes.T)
        }
    )


@lru_cache(maxsize=256)
def _warm_up(case: Case, seed: int, method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling or for planning its tree."""
    if seed > 0 and not case.tree.startswith("random"):
        _warm_up(case, 0, method)
        return
    few = _drawn.__wrapped__(case, seed, WARM_UP_ROWS)
    with contextlib.suppress(RankError):  # so few rows may not carry the states
        _learnt(Trial(case, WARM_UP_ROWS, seed, method), few.topology, few.train)
