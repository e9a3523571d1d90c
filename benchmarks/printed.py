"""The algorithms of the papers as printed, beside Tacit's own forms on the same data.

    python benchmarks/printed.py                 all of it (minutes)
    python benchmarks/printed.py --quick         less of it (a minute)
    python benchmarks/printed.py --only chains   one part: trees, graphs, chains, densities or structures

Latent trees of 6 categories and 2 states; graphs with loops of 2 states (hidden Markov models of order 2 and
3, a factorial one, a graph of treewidth 3); hidden Markov models. Their structure is given. The error is that
of the papers, the mean of |estimate - truth| / truth over 1,000 rows or sequences of 10 symbols that were not
learnt from; estimates count as they are, negative ones too. The figures are medians over the models.

Then trees of numbers: five columns of Laplace distributions around 2 and -2, with the same error of the
density where the structure is given; and structures of 16 columns, learnt from numbers without correlation
(thesis, 6.6.2), with the wrong hops of the thesis, summed over all pairs of columns.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tacit
from tacit.reproduce.numbers.fig_6_6 import (
    KERNEL,
    KERNEL_5,
    KERNEL_8,
    TACIT_JOINED,
    TACIT_KERNEL,
)
from tacit.reproduce.numbers.recovery import SIGN_FLIP, STUDY, ProcessCase
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Trial
from tacit.reproduce.trees.synthetic import errors, with_all_categories
from tacit.toy.exact import joint_table

Measure = Callable[[str, int, int], dict[str, float]]

TREES = ("star4", "star6", "star9", "t33", "broad4", "deep4", "bin4")
TENSOR: dict[str, Any] = {"learn": "spectral", "representation": "tensor"}
MATRIX: dict[str, Any] = {"learn": "spectral", "representation": "matrix"}
HIERARCHICAL: dict[str, Any] = {"learn": "hierarchical"}
FORMS: dict[str, dict[str, Any]] = {
    "tensors, printed (2015, Algorithm 4)": {**TENSOR, "preset": "printed"},
    "tensors, Tacit": TENSOR,
    "matrices, printed (2011, Algorithm 1)": {**MATRIX, "preset": "printed"},
    "matrices, printed (2015, Algorithm 13)": {**MATRIX, "preset": "printed", "siblings": "uncle"},
    "matrices, Tacit": MATRIX,
    "hierarchical, printed (2013, eq. 6)": {**HIERARCHICAL, "preset": "printed"},
    "hierarchical, Tacit": HIERARCHICAL,
    "spectral, Tacit's default": {"learn": "spectral"},
}
KERNEL_FORMS: dict[str, dict[str, Any]] = {
    "kernels, printed (2015, Algorithm 8)": {"preset": "printed"},
    "kernels, printed, a third of the median": {"preset": "printed", "bandwidth": 1 / 3},
    "kernels, Tacit": {"learn": "spectral", "blend": False},
    "numbers, Tacit's default": {"experts": "tree", "blend": False},
}
CENTRES = np.array([-2.0, 2.0])
SHAPES = ("balanced", "random", "skewed")
# The printed decomposition starts from the joint table of all columns at a node without inner edges.
MOST_STAR_LEAVES = 6


GRAPHS: dict[str, Callable[[int], Any]] = {
    "order 2, 10 places": lambda seed: tacit.toy.random_hmm_model(
        10, order=2, n_categories=4, random_state=seed
    ),
    "order 3, 10 places": lambda seed: tacit.toy.random_hmm_model(
        10, order=3, n_categories=4, random_state=seed
    ),
    "factorial, 8 places": lambda seed: tacit.toy.random_factorial_model(
        8, n_categories=16, random_state=seed
    ),
    "treewidth 3": lambda seed: tacit.toy.random_loopy_model(n_categories=16, random_state=seed),
}
GRAPH_FORMS: dict[str, dict[str, Any]] = {
    "printed (2015, Algorithm 6)": {"preset": "printed"},
    "printed, linear systems of 3 views": {"preset": "printed", "n_views": 3},
    "Tacit": {},
}

CHAINS = {"3 states, 8 symbols": (3, 8), "5 states, 20 symbols": (5, 20)}
LENGTH, JUDGED_LENGTH = 20, 10
CHAIN_FORMS: dict[str, dict[str, Any]] = {
    "printed (Hsu et al., first windows)": {"preset": "printed"},
    "printed, all windows": {"preset": "printed", "windows": "all"},
    "Tacit": {},
}


def tree_errors(name: str, n_rows: int, seed: int) -> dict[str, float]:
    """The error of every form on one draw from a tree."""
    truth = tacit.toy.random_tree_model(
        topology=tacit.toy.named_topology(name), n_states=2, n_categories=6, random_state=seed
    )
    train, test = truth.sample(n_rows, [seed, 1]), truth.sample(1000, [seed, 2])
    rows, right = with_all_categories(train, 6), truth.log_prob(test)
    outcomes = {}
    for form, arguments in FORMS.items():
        star = name.startswith("star") and int(name[4:]) > MOST_STAR_LEAVES
        if star and arguments.get("preset") and arguments["learn"] == "hierarchical":
            continue
        model = tacit.LatentTree(2, truth.topology, **arguments).fit(rows)
        outcomes[form] = float(errors(model.network_, test, right)["error"])
    return outcomes


def graph_errors(name: str, n_rows: int, seed: int) -> dict[str, float]:
    """The error of every form on one draw from a graph with loops."""
    truth = GRAPHS[name](seed)
    train, test = truth.sample(n_rows, [seed, 1]), truth.sample(1000, [seed, 2])
    rows, right = with_all_categories(train, truth.cards[0]), truth.log_prob(test)
    outcomes = {}
    for form, arguments in GRAPH_FORMS.items():
        model = tacit.LatentJunctionTree(truth.graph, 2, "spectral", **arguments).fit(rows)
        outcomes[form] = float(errors(model.network_, test, right)["error"])
    return outcomes


def chain_errors(name: str, n_sequences: int, seed: int) -> dict[str, float]:
    """The error of every form on sequences drawn from a hidden Markov model."""
    n_states, n_symbols = CHAINS[name]
    truth = tacit.toy.random_hmm(n_states, n_symbols, random_state=seed)
    train = truth.sample(n_sequences, LENGTH, random_state=[seed, 1])
    test = truth.sample(1000, JUDGED_LENGTH, random_state=[seed, 2])
    right = np.exp(truth.log_prob(test))
    outcomes = {}
    for form, arguments in CHAIN_FORMS.items():
        model = tacit.HMM(n_states, "spectral", **arguments).fit(train)
        outcomes[form] = float(np.mean(np.abs(model.values(test) - right) / right))
    return outcomes


def density_errors(_: str, n_rows: int, seed: int) -> dict[str, float]:
    """The error of the density of every kernel form on one draw."""
    tree = tacit.toy.random_topology(5, n_children=(2, 2), random_state=seed)
    truth = tacit.toy.random_tree_model(
        topology=tree, n_states=2, n_categories=2, diagonal=1.0, random_state=seed
    )
    rng = np.random.default_rng([seed, 3])
    train, test = (
        CENTRES[truth.sample(n, [seed, n])] + rng.laplace(size=(n, 5)) for n in (n_rows, 1000)
    )
    right: Any = joint_table(truth.tables)[None]  # (row, component of each column)
    for column in range(5):
        densities = 0.5 * np.exp(-np.abs(test[:, [column]] - CENTRES))
        right = np.einsum(
            "rc...,rc->r...", np.broadcast_to(right, (1000, *right.shape[1:])), densities
        )
    tables = [dict(zip(truth.names, rows.T, strict=True)) for rows in (train, test)]
    outcomes = {}
    for form, arguments in KERNEL_FORMS.items():
        model = tacit.KernelTree(2, tree, **arguments).fit(tables[0])
        outcomes[form] = float(np.mean(np.abs(model.density(tables[1]) - right) / right))
    return outcomes


def structure_errors(shape: str, n_rows: int, seed: int) -> dict[str, float]:
    """The wrong hops of every kernel form on one draw."""
    case = ProcessCase(SIGN_FLIP, shape, n_leaves=16)
    methods = (KERNEL, KERNEL_5, KERNEL_8, TACIT_JOINED, TACIT_KERNEL)
    return {
        method.name: perform(Trial(STUDY, case, n_rows, seed, method)).hops for method in methods
    }


SIZES, NUMBER_SIZES = (1000, 10_000, 100_000), (200, 1000, 5000)
QUICK_SIZES, QUICK_NUMBER_SIZES = (1000, 10_000), (1000, 5000)
# Names, sizes, sizes of the quick form, and the errors on one draw.
PARTS: dict[str, tuple[Sequence[str], Sequence[int], Sequence[int], Measure]] = {
    "trees": (TREES, SIZES, QUICK_SIZES, tree_errors),
    "graphs": (tuple(GRAPHS), SIZES, QUICK_SIZES, graph_errors),
    "chains": (tuple(CHAINS), SIZES, QUICK_SIZES, chain_errors),
    "densities": (("numbers",), NUMBER_SIZES, QUICK_NUMBER_SIZES, density_errors),
    "structures": (SHAPES, (100, *NUMBER_SIZES), (100, *QUICK_NUMBER_SIZES), structure_errors),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=tuple(PARTS))
    arguments = parser.parse_args()
    n_models = 3 if arguments.quick else 10
    for part in (arguments.only,) if arguments.only else PARTS:
        names, all_sizes, quick_sizes, measure = PARTS[part]
        sizes = quick_sizes if arguments.quick else all_sizes
        for name in names:
            runs = {n: [measure(name, n, seed) for seed in range(n_models)] for n in sizes}
            print(f"\n{part + ': ' + name:40}" + "".join(f"{size:>10,}" for size in sizes))
            for form in runs[sizes[0]][0]:
                medians = [statistics.median(run[form] for run in runs[n]) for n in sizes]
                print(f"{form:40}" + "".join(f"{median:10.3f}" for median in medians), flush=True)


if __name__ == "__main__":
    main()
