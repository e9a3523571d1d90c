"""The algorithms of the papers as printed, beside Tacit's own forms on the same rows.

    python benchmarks/printed.py            all of it (three minutes)
    python benchmarks/printed.py --quick    less of it (half a minute)

Latent trees of 6 categories and 2 states, their structure given. The error is that of the papers, the mean of
|estimate - truth| / truth over 1,000 rows that were not learnt from; the figures are medians over the models.

Then trees of numbers: five columns of Laplace distributions around 2 and -2, with the same error of the
density where the structure is given; and structures of 16 columns, learnt from numbers without correlation
(thesis, 6.6.2), with the wrong hops of the thesis, summed over all pairs of columns.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from functools import partial
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
    "numbers, Tacit's default": {"blend": False},
}
CENTRES = np.array([-2.0, 2.0])
SHAPES = ("balanced", "random", "skewed")
# The printed decomposition starts from the joint table of all columns at a node without inner edges.
MOST_STAR_LEAVES = 6


def measured(name: str, n_rows: int, seed: int) -> dict[str, float]:
    """The error of every form on one draw."""
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


def measured_densities(n_rows: int, seed: int) -> dict[str, float]:
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


def measured_structures(shape: str, n_rows: int, seed: int) -> dict[str, float]:
    """The wrong hops of every kernel form on one draw."""
    case = ProcessCase(SIGN_FLIP, shape, n_leaves=16)
    methods = (KERNEL, KERNEL_5, KERNEL_8, TACIT_JOINED, TACIT_KERNEL)
    return {
        method.name: perform(Trial(STUDY, case, n_rows, seed, method)).hops for method in methods
    }


def show(
    title: str, sizes: Sequence[int], n_models: int, measure: Callable[[int, int], dict[str, float]]
) -> None:
    """A table of medians over models: a line for each form, a column for each number of rows."""
    runs = {n_rows: [measure(n_rows, seed) for seed in range(n_models)] for n_rows in sizes}
    print(f"\n{title:40}" + "".join(f"{n_rows:>10,}" for n_rows in sizes))
    for form in runs[sizes[0]][0]:
        medians = [statistics.median(run[form] for run in runs[n]) for n in sizes]
        print(f"{form:40}" + "".join(f"{median:10.3f}" for median in medians), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    sizes, n_models = ((1000, 10_000), 3) if quick else ((1000, 10_000, 100_000), 10)
    for name in TREES:
        show(name, sizes, n_models, partial(measured, name))
    sizes = (1000, 5000) if quick else (200, 1000, 5000)
    show("numbers: error of the density", sizes, n_models, measured_densities)
    for shape in SHAPES:
        title = f"numbers, {shape} trees: wrong hops"
        show(title, (100, *sizes), n_models, partial(measured_structures, shape))


if __name__ == "__main__":
    main()
