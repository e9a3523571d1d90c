"""Why products of matrices sometimes fail on chains of hidden nodes, and which form does not.

    python benchmarks/weak_views.py            all of it (half a minute)
    python benchmarks/weak_views.py --quick    less of it (seconds)

Trees of 6 categories and 2 states as in Parikh, Song and Xing (2011), figure 2, 50,000 rows. The error is
the mean of |estimate - truth| / truth over 1,000 other rows. The second table has the models in which three
views without whitening fail, and behind each its worst system: the basis of a leaf comes from its sibling,
is inverted with a leaf far away, and the two tables show different second directions of the leaf.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np

from tacit.core.input.read_table import read_table
from tacit.messages.rooted_tree import RootedTree
from tacit.reproduce.trees import synthetic
from tacit.toy.exact import ExactMoments
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.learn.spectral.printed_matrices import printed_matrices
from tacit.trees.moments.source import CountedMoments, PairTables

N_ROWS, N_STATES = 50_000, 2
PLAIN: dict[str, Any] = {"whiten": False, "cut": 0.0}
FORMS: dict[str, Any] = {
    "printed (2011, Algorithm 1)": lambda tree, moments, _: printed_matrices(
        tree, moments, N_STATES
    ),
    "three strongest views, not whitened, nothing cut": lambda tree, moments, states: spectral(
        tree, moments, states, representation="matrix", n_views=1, **PLAIN
    ),
    "matrices, Tacit, one view": lambda tree, moments, states: spectral(
        tree, moments, states, representation="matrix", n_views=1
    ),
    "spectral, Tacit's default": spectral,
}
FAILING = "three strongest views, not whitened, nothing cut"


def measured(name: str, seed: int) -> tuple[dict[str, float], tuple[float, str]]:
    """The error of every form on one model, and its worst system."""
    case = synthetic.TreeCase(name, n_categories=6, n_states=N_STATES)
    made = synthetic.drawn(case, seed, N_ROWS)
    table = read_table(made.train)
    tree = made.structure.rooted(table.schema.names)
    moments = CountedMoments.of(table.codes, table.schema.cards)
    states = (*table.schema.cards, *[N_STATES] * len(tree.hidden))
    errors = {
        form: synthetic.errors(learn(tree, moments, states).network, made.test, made.log_truth)[
            "error"
        ]
        for form, learn in FORMS.items()
    }
    truth = ExactMoments(synthetic.truth_of(case, seed)).pairs()
    return errors, worst_system(tree, moments.pairs(), truth)


def worst_system(tree: RootedTree, pairs: PairTables, truth: PairTables) -> tuple[float, str]:
    """The least cosine between the directions of a leaf that its sibling and a far leaf show."""

    def directions(leaf: int, other: int) -> Any:
        return np.linalg.svd(pairs.joint(leaf, other))[0][:, :N_STATES]

    def second(table: Any) -> float:
        return float(np.linalg.svd(table, compute_uv=False)[1])

    systems = []
    for leaf in range(tree.n_leaves):
        siblings = [x for x in tree.children[int(tree.parent[leaf])] if x < tree.n_leaves]
        near = next(x for x in siblings if x != leaf)
        outside = [x for x in range(tree.n_leaves) if x not in siblings]
        far = max(outside, key=lambda x, leaf=leaf: second(pairs.joint(leaf, x)))
        cosines = np.linalg.svd(directions(leaf, near).T @ directions(leaf, far), compute_uv=False)
        names = tree.names
        shown = (
            f"{names[leaf]} by {names[near]}, inverted with {names[far]}: second singular value "
            f"{second(pairs.joint(leaf, far)):.4f}, in truth {second(truth.joint(leaf, far)):.4f}"
        )
        systems.append((float(cosines[-1]), shown))
    return min(systems)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    n_models = 8 if parser.parse_args().quick else 40
    failures = []
    for name in ("deep4", "deep5", "broad4"):
        errors: dict[str, list[float]] = {form: [] for form in FORMS}
        systems = []
        for seed in range(n_models):
            outcomes, system = measured(name, seed)
            for form, error in outcomes.items():
                errors[form].append(error)
            systems.append(system)
        print(
            f"{name}, {N_ROWS:,} rows, {n_models} models: median, mean, largest; beyond 3 medians"
        )
        for form, values in errors.items():
            middle = statistics.median(values)
            beyond = [seed for seed, value in enumerate(values) if value > 3 * middle]
            mean, most = statistics.fmean(values), max(values)
            print(f"  {form:50} {middle:.3f} {mean:.3f} {most:.3f} {len(beyond)}")
            if form == FAILING:
                failures += [(f"{name} model {n}", values[n], *systems[n]) for n in beyond]
    print(f"worst systems (noise of a singular value: about {0.5 / N_ROWS**0.5:.4f})")
    for model, error, cosine, shown in failures:
        print(f"  {model}: error {error:.3f}; cosine {cosine:.4f}; {shown}")


if __name__ == "__main__":
    main()
