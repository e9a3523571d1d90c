"""The algorithms of the papers as printed, beside Tacit's own forms on the same rows.

    python benchmarks/printed.py            all of it (a minute)
    python benchmarks/printed.py --quick    less of it (seconds)

Latent trees of 6 categories and 2 states, their structure given. The error is that of the papers, the mean of
|estimate - truth| / truth over 1,000 rows that were not learnt from; the figures are medians over the models.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import tacit
from tacit.reproduce.trees.synthetic import errors, with_all_categories

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    sizes, n_models = ((1000, 10_000), 3) if quick else ((1000, 10_000, 100_000), 10)
    for name in TREES:
        runs = {n_rows: [measured(name, n_rows, s) for s in range(n_models)] for n_rows in sizes}
        print(f"\n{name:40}" + "".join(f"{n_rows:>10,}" for n_rows in sizes))
        for form in runs[sizes[0]][0]:
            medians = [statistics.median(run[form] for run in runs[n]) for n in sizes]
            print(f"{form:40}" + "".join(f"{median:10.3f}" for median in medians), flush=True)


if __name__ == "__main__":
    main()
