"""Trees drawn at random, rows drawn from them, and fits judged by the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

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

# Rows of the fit that is not timed: it compiles the loops and plans the tree.
WARM_UP_ROWS = 60

CHOW_LIU = "chow-liu"  # tables of the Chow-Liu tree of the true pair marginals

RESULTS: Results = {
    "error": math.inf,  # mean of |Phat - P| / P over the test rows
    "kl": math.inf,  # mean of log P - log Phat, nats; estimates that are not positive count as the floor
    "not_positive": 1.0,  # fraction of the test rows with such estimates
    "seconds": 0.0,  # CPU time of the whole fit
    "n_steps": 0,  # of EM, over all restarts
    "failure": "",  # why nothing was learnt
}


def em(name: str, tol: float, n_restarts: int = 5) -> Method:
    """EM with the papers' stopping rule."""
    return Method(name, "em", (("tol", tol), ("stopping", "relative"), ("n_restarts", n_restarts)))


@dataclass(frozen=True)
class TreeCase(Case):
    """A family of true models, and the number of states that is learnt."""

    tree: str  # a name for `named_topology`, or random8: a random binary tree of 8 leaves for each seed
    n_categories: int
    n_states: int
    diagonal: float = 0.0
    learnt_states: int | None = None  # the true number where it is None

    @property
    def n_learnt_states(self) -> int:
        """The number of hidden states that is learnt."""
        return self.n_states if self.learnt_states is None else self.learnt_states

    @property
    def columns(self) -> dict[str, Any]:
        """Values by column."""
        columns = super().columns | {"n_learnt_states": self.n_learnt_states}
        del columns["learnt_states"]
        return columns


def errors(
    network: Network, test: NDArray[np.int16], log_truth: NDArray[np.float64]
) -> dict[str, float]:
    """The errors of a network on test rows, by column."""
    import numpy as np

    from tacit.evaluate import kl, l1_error
    from tacit.messages.conditionals import log_prob
    from tacit.messages.evidence import Evidence
    from tacit.messages.passes import log_values

    rows = Evidence(test)
    sign, log_abs = log_values(network, rows)
    # Overflow counts as an infinite error.
    beyond = np.isnan(log_abs) | np.isnan(sign)
    log_abs, sign = np.where(beyond, np.inf, log_abs), np.where(beyond, 1.0, sign)
    floored = log_prob(network, rows).values
    return {
        "error": l1_error(log_truth, log_abs, sign),
        "kl": kl(log_truth, np.where(np.isnan(floored), -np.inf, floored)),
        "not_positive": float(np.mean(~(sign > 0))),
    }


def network_and_steps(model: Any, rows: Any) -> tuple[Network, int]:
    """What an estimator learns from rows, and in how many steps of EM."""
    model.fit(rows)
    return model.network_, int(model.diagnostics_.get("n_steps", 0))


def synthetic_study(
    case_name: str,
    draw: Callable[[Any, int, int], Drawn],
    learn: Callable[[Trial, Drawn], tuple[Network, int]],
    warm_up: Callable[[Any, int, Method], None],
) -> Study:
    """Fits on rows that are drawn from a known model, which judges them."""

    def fit(trial: Trial) -> Fit:
        data = draw(trial.case, trial.seed, trial.size)
        warm_up(trial.case, trial.seed, trial.method)
        return timed(learn, trial, data)

    def judge(trial: Trial, fitted: tuple[Network, int]) -> Results:
        network, n_steps = fitted
        data = draw(trial.case, trial.seed, trial.size)
        return {**errors(network, data.test, data.log_truth), "n_steps": n_steps}

    return Study(
        size="n_rows",
        results=RESULTS,
        fit=fit,
        judge=judge,
        words=f"{{case.{case_name}}}, {{size}} rows, {{method.name}}",
        work=lambda trial: trial.size + 2000,
        constants={"n_test": TEST_ROWS},
    )


# -- learning -------------------------------------------------------------------------------------


def _learn(trial: Trial, data: Drawn) -> tuple[Network, int]:
    from tacit.reproduce.trees.printed import learn_as_printed
    from tacit.trees.latent_tree import LatentTree

    topology, method, n_states = data.structure, trial.method, trial.case.n_learnt_states
    options = dict(method.options)
    if method.learn == CHOW_LIU:
        return _observed_tables(_true_chow_liu(trial.case, trial.seed), data.train), 0
    if method.as_printed:
        return learn_as_printed(method.learn, n_states, topology, data.train, **options), 0
    model = LatentTree(n_states, topology, method.learn, random_state=trial.seed, **options)
    return network_and_steps(model, data.train)


def _observed_tables(topology: Topology, rows: Any) -> Network:
    """The tables of a tree without hidden nodes, without pseudo-counts."""
    from tacit.core.input.read_table import read_table
    from tacit.trees.learn.chow_liu import tables_from_pairs
    from tacit.trees.moments.source import CountedMoments

    table = read_table(rows)
    pairs = CountedMoments.of(table.codes, table.schema.cards).pairs()
    return tables_from_pairs(topology.rooted(table.schema.names), pairs, 0.0).network


@lru_cache(maxsize=256)
def _warm_up(case: TreeCase, seed: int, method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling or for planning its tree."""
    if method.learn == CHOW_LIU:
        _true_chow_liu(case, seed)
    if seed > 0 and not case.tree.startswith("random"):
        _warm_up(case, 0, method)
        return
    few = drawn.__wrapped__(case, seed, WARM_UP_ROWS)
    timed(_learn, Trial(STUDY, case, WARM_UP_ROWS, seed, method), few)


# -- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Drawn:
    """Training and test rows, and their true structure."""

    structure: Any  # the topology or the graph
    train: Any
    test: NDArray[np.int16]
    log_truth: NDArray[np.float64]


@lru_cache(maxsize=1)
def drawn(case: TreeCase, seed: int, n_rows: int) -> Drawn:
    """The data of a trial, the same for every method; the model is the same for every size."""
    from tacit.messages.evidence import Evidence
    from tacit.messages.passes import log_values
    from tacit.toy import sample_codes

    topology, truth = _truth(_true_case(case), seed)
    train = sample_codes(truth, n_rows, _generator(case, seed, 2, n_rows))
    test = sample_codes(truth, TEST_ROWS, _generator(case, seed, 3))
    log_truth = log_values(truth.network, Evidence(test))[1]
    return Drawn(topology, with_all_categories(train, case.n_categories), test, log_truth)


def _true_case(case: TreeCase) -> TreeCase:
    """The case without what is learnt of it."""
    return replace(case, learnt_states=None)


def truth_of(case: TreeCase, seed: int) -> Tables:
    """The true model of a trial."""
    return _truth(_true_case(case), seed)[1]


@lru_cache(maxsize=64)
def _true_chow_liu(case: TreeCase, seed: int) -> Topology:
    """The Chow-Liu tree of the true pair marginals."""
    from tacit.toy.exact import ExactMoments
    from tacit.trees.structure.chow_liu import chow_liu_edges, chow_liu_topology

    truth = truth_of(case, seed)
    pairs = ExactMoments(truth).pairs()
    names = truth.tree.names[: truth.tree.n_leaves]
    return chow_liu_topology(chow_liu_edges(pairs.counts, pairs.cards), names)


@lru_cache(maxsize=8)
def _truth(case: TreeCase, seed: int) -> tuple[Topology, Tables]:
    from tacit.toy import random_tables

    topology = _topology(case.tree, seed if case.tree.startswith("random") else 0)
    rooted = topology.rooted([f"x{leaf}" for leaf in range(len(topology.observed))])
    rng = _generator(case, seed, 1)
    sizes = case.n_categories, case.n_states
    return topology, random_tables(rooted, *sizes, rng, diagonal=case.diagonal)


@lru_cache(maxsize=32)
def _topology(tree: str, seed: int) -> Topology:
    from tacit.toy import named_topology, random_topology

    if tree.startswith("random"):
        n_leaves = int(tree.removeprefix("random"))
        return random_topology(n_leaves, n_children=(2, 2), random_state=seed)
    return named_topology(tree)


def _generator(case: TreeCase, *numbers: int) -> np.random.Generator:
    """Random numbers that depend on the case and these numbers alone."""
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


STUDY = synthetic_study("tree", drawn, _learn, _warm_up)
