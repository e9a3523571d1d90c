"""How many rows the theorems of the papers ask for, and how many were needed.

    python benchmarks/sample_sizes.py                     all of it (half a minute)
    python benchmarks/sample_sizes.py --quick             fewer models and precisions (seconds)
    python benchmarks/sample_sizes.py --csv TABLE.csv     also as a table, as in docs/sample_sizes.rst

Small models with known tables are drawn from, and the printed form of each algorithm learns them. The error
is the sum of |estimate - truth| over all rows there could be. Needed is the smallest number of rows with
which at most one in twenty of 60 draws has a larger error, to a twentieth. Theorem 4 is about the tree of a
sentence: there it is the number of rows with which the tree is right in as many draws.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.evaluate import SampleSizeBound, sample_size_bounds
from tacit.junction.learn.spectral import junction_spectral
from tacit.junction.structure.graphs import VariableGraph
from tacit.junction.structure.junction_tree import junction_tree
from tacit.messages.evidence import Evidence
from tacit.messages.network import Network
from tacit.messages.passes import log_values
from tacit.parsing.structure.projective import projective_tree
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.learn.spectral.printed_matrices import printed_matrices
from tacit.trees.moments.source import PairTables

Array = NDArray[np.float64]

FAILURE, N_DRAWS, PRECISION = 0.05, 60, 1.05
MOST_ROWS = 1e12


@dataclass(frozen=True, eq=False)
class JointMoments:
    """The moments of rows of which the frequencies of all cells are known."""

    joint: Array  # an axis for each column; sums to one
    n_rows: float

    @property
    def cards(self) -> tuple[int, ...]:
        return self.joint.shape

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        columns = range(self.joint.ndim)
        out = []
        for subset in subsets:
            table = self.joint.sum(axis=tuple(c for c in columns if c not in subset))
            out.append(table.transpose(np.argsort(np.argsort(subset))))
        return out

    def pairs(self) -> PairTables:
        starts = np.concatenate([[0], np.cumsum(self.cards)])
        spans = [slice(*span) for span in pairwise(starts)]
        joint = np.zeros((starts[-1], starts[-1]))
        for i, row in enumerate(spans):
            joint[row, row] = np.diag(self.tables([(i,)])[0])
            for j, column in enumerate(spans[:i]):
                (joint[row, column],) = self.tables([(i, j)])
                joint[column, row] = joint[row, column].T
        return PairTables(self.cards, joint * self.n_rows)


@dataclass(frozen=True, eq=False)
class Case:
    """A model, the joint table of what is observed, and the printed learners by the theorem about them."""

    name: str
    model: Any
    joint: Array
    learners: dict[str, Callable[[Array, int], Array]]  # frequencies, rows -> estimated joint table
    length: int = 3


def network_table(network: Network, shape: tuple[int, ...]) -> Array:
    """The values of all cells; they may be negative."""
    cells = np.indices(shape).reshape(len(shape), -1).T.astype(np.int16)
    sign, logs = log_values(network, Evidence(np.asfortranarray(cells)))
    return np.asarray((sign * np.exp(logs)).reshape(shape))


def tensor_form(model: Any, joint: Array, n_rows: int) -> Array:
    tree = model.tables.tree
    options: dict[str, Any] = {"representation": "tensor", "whiten": False, "cut": 0.0}
    moments, states = JointMoments(joint, n_rows), model.tables.layout.n_states
    return network_table(spectral(tree, moments, states, n_views=1, **options).network, joint.shape)


def matrix_form(model: Any, siblings: str, joint: Array, n_rows: int) -> Array:
    moments, n_states = JointMoments(joint, n_rows), model.tables.layout.n_states[-1]
    fitted = printed_matrices(model.tables.tree, moments, n_states, siblings=siblings)
    return network_table(fitted.network, joint.shape)


def junction_form(model: Any, joint: Array, n_rows: int) -> Array:
    states = {name: table.shape[-1] for name, table in model.tables.items()}
    junction = junction_tree(VariableGraph.of(model.graph), model.names, states)
    options: dict[str, Any] = {"n_views": 1, "whiten": False, "cut": 0.0}
    moments = JointMoments(joint, n_rows)
    return network_table(junction_spectral(junction, moments, **options).network, joint.shape)


def chain_form(n_states: int, joint: Array, n_rows: int) -> Array:
    """Goyal (2013), section 3.1: operators from the first three symbols."""
    later = tuple(range(3, joint.ndim))
    triples = joint.sum(axis=later)  # (a, b, c)
    ones, pairs = triples.sum(axis=(1, 2)), triples.sum(axis=2).T  # (a,), (b, a)
    U = np.linalg.svd(pairs)[0][:, :n_states]
    inverse = np.linalg.pinv(U.T @ pairs)  # (a, m)
    B = np.einsum("cm,abc,an->bmn", U, triples, inverse)
    states = (U.T @ ones)[None]
    for _ in range(joint.ndim):
        states = np.einsum("sn,xmn->sxm", states, B).reshape(-1, n_states)
    return np.asarray((states @ (inverse.T @ ones)).reshape(joint.shape))


def shortest_tree(n_states: int, joint: Array) -> list[tuple[int, int]]:
    """The brackets of a sentence: the shortest tree by the distances of equation 8.5."""
    words = range(joint.ndim)
    logs = np.empty((joint.ndim, joint.ndim))
    moments = JointMoments(joint, 1)
    for j in words:
        for k in words:
            (table,) = moments.tables([(j, k)]) if j != k else (np.diag(moments.tables([(j,)])[0]),)
            values = np.linalg.svd(table, compute_uv=False)[:n_states]
            logs[j, k] = np.log(np.maximum(values, 1e-300)).sum()
    own = np.diag(logs) / 2
    return projective_tree(own[:, None] + own[None, :] - (logs + logs.T) / 2, top=1).spans


def tree_case(name: str, newick: str, n_categories: int, diagonal: float, seed: int) -> Case:
    topology = tacit.Topology.from_newick(newick)
    arguments = {"n_categories": n_categories, "diagonal": diagonal, "random_state": seed}
    model = tacit.toy.random_tree_model(topology=topology, **arguments)
    uncle = partial(matrix_form, model, "uncle")
    adopted = partial(matrix_form, model, "adopted")
    learners = {
        "Parikh 2015, Theorem 1": partial(tensor_form, model),
        "Parikh 2015, Theorem 3": uncle,
        "Parikh, Song & Xing 2011, Theorem 1": adopted,
    }
    return Case(name, model, tacit.toy.joint_table(model.tables), learners)


def cases(*, quick: bool) -> list[Case]:
    trees = [
        tree_case("star of 3 leaves", "(a,b,c);", 3, 2.0, 0),
        tree_case("tree of 5 leaves", "((a,b)l,c,(d,e)r)m;", 3, 2.0, 0),
        tree_case("tree of 5 leaves, weaker", "((a,b)l,c,(d,e)r)m;", 3, 1.0, 0),
        tree_case("star of 5 leaves", "(a,b,c,d,e);", 3, 2.0, 0),
    ]
    hmm = tacit.toy.random_hmm(2, 4, stay=0.5, random_state=1)
    chain = partial(chain_form, 2)
    chains = [
        Case(
            f"HMM, {t} symbols",
            hmm,
            hmm.string_table(t),
            {"Goyal 2013, section 5 (hidden Markov models)": chain},
            t,
        )
        for t in (3, 6)
    ]
    two = tacit.toy.random_factorial_model(3, n_categories=6, diagonal=4.0, random_state=3)
    graph = Case(
        "two hidden chains",
        two,
        two.joint_table(),
        {"Parikh 2015, Theorem 2": partial(junction_form, two)},
    )
    return [trees[0], chains[0]] if quick else [*trees, graph, *chains]


def fails(case: Case, theorem: str, error: float, n_rows: int) -> bool:
    """Whether more than one in twenty of the draws misses the precision."""
    missed = 0
    if theorem == "Parikh 2015, Theorem 4":
        n_states = case.model.tables.layout.n_states[-1]
        right = shortest_tree(n_states, case.joint)
    for draw in range(N_DRAWS):
        rng = np.random.default_rng([draw, n_rows])
        counts = rng.multinomial(n_rows, case.joint.ravel()).reshape(case.joint.shape)
        joint = counts / n_rows
        if theorem == "Parikh 2015, Theorem 4":
            missed += shortest_tree(n_states, joint) != right
        else:
            estimate = case.learners[theorem](joint, n_rows)
            missed += not np.abs(estimate - case.joint).sum() <= error
        if missed > FAILURE * N_DRAWS:
            return True
    return False


def needed_rows(case: Case, theorem: str, error: float) -> float:
    """The number of rows at which draws stop to fail: doubled until they do, then halved in between."""
    few, many = 8, 16
    while fails(case, theorem, error, many):
        few, many = many, 2 * many
        if many > MOST_ROWS:
            return math.inf
    while many / few > PRECISION:
        middle = round(math.sqrt(few * many))
        few, many = (middle, many) if fails(case, theorem, error, middle) else (few, middle)
    return many


def lines(case: Case, errors: Sequence[float]) -> list[dict[str, str]]:
    """A line of the table for each theorem and precision."""
    out = []
    bounds = [
        (error, bound)
        for error in errors
        for bound in sample_size_bounds(
            case.model, error=error, failure=FAILURE, length=case.length
        )
    ]
    theorems = dict.fromkeys(bound.theorem for _, bound in bounds)
    for theorem in theorems:
        is_sentence = theorem == "Parikh 2015, Theorem 4"
        for error, bound in bounds:
            if bound.theorem != theorem or not (theorem in case.learners or is_sentence):
                continue
            if is_sentence and error != errors[0]:
                continue
            needed = needed_rows(case, theorem, error)
            out.append(line(case, bound, "tree right" if is_sentence else f"{error:g}", needed))
    return out


def line(case: Case, bound: SampleSizeBound, error: str, needed: float) -> dict[str, str]:
    return {
        "model": case.name,
        "theorem": bound.theorem,
        "error": error,
        "asked for": f"{bound.n_rows:.1e}",
        "needed": f"{needed:.2g}" if needed < 100 else f"{float(f'{needed:.2g}'):,.0f}",
        "asked / needed": f"{bound.n_rows / needed:.0e}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--csv", type=Path)
    chosen = parser.parse_args()
    table = []
    for case in cases(quick=chosen.quick):
        for row in lines(case, (0.2,) if chosen.quick else (0.4, 0.2, 0.1)):
            table.append(row)
            widths = (26, 42, 12, 10, 14, 8)
            cells = zip(row.values(), widths, strict=True)
            print("".join(f"{value:{width}}" for value, width in cells), flush=True)
    if chosen.csv is not None:
        with chosen.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
