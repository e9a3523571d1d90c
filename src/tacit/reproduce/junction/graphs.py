"""Graphs with loops: models drawn at random, rows drawn from them, and fits judged by the truth.

As `tacit.reproduce.trees.synthetic` does on trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError
from tacit.reproduce.runner.trials import Case, Method, Trial, timed
from tacit.reproduce.trees.synthetic import (
    TEST_ROWS,
    WARM_UP_ROWS,
    Drawn,
    network_and_steps,
    synthetic_study,
    with_all_categories,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.messages.network import Network
    from tacit.toy import GraphModel


@dataclass(frozen=True)
class GraphCase(Case):
    """A family of true models; learning is given the graph and the numbers of states."""

    graph: str  # order2-10: a hidden Markov model of order 2 and length 10; factorial-8; loopy
    n_categories: int
    n_states: int = 2
    diagonal: float = 0.0


def _learn(trial: Trial, data: Drawn) -> tuple[Network, int]:
    from tacit.junction.latent_junction_tree import LatentJunctionTree

    method, n_states = trial.method, trial.case.n_states
    options = {"random_state": trial.seed, "preset": method.preset, **dict(method.options)}
    model = LatentJunctionTree(data.structure, n_states, method.learn, **options)
    return network_and_steps(model, data.train)


@lru_cache(maxsize=64)
def _warm_up(case: GraphCase, _seed: int, method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling or for planning its graph."""
    few = drawn.__wrapped__(case, 0, WARM_UP_ROWS)
    timed(_learn, Trial(STUDY, case, WARM_UP_ROWS, 0, method), few)


@lru_cache(maxsize=1)
def drawn(case: GraphCase, seed: int, n_rows: int) -> Drawn:
    """The data of a trial, the same for every method; the model is the same for every size."""
    model = truth(case, seed)
    train = model.sample(n_rows, _generator(case, seed, 2, n_rows))
    test = model.sample(TEST_ROWS, _generator(case, seed, 3))
    return Drawn(model.graph, _as_table(train, case.n_categories), test, model.log_prob(test))


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
    """Random numbers that depend on the case and these numbers alone."""
    import zlib

    import numpy as np

    family = " ".join(str(value) for value in case.columns.values())
    return np.random.default_rng([zlib.crc32(family.encode()), *numbers])


STUDY = synthetic_study("graph", drawn, _learn, _warm_up)
