"""What `density.py` compares with: simple models fitted here, random starts, and published figures.

    python benchmarks/density_baselines.py [--quick] [--sets nltcs,plants]

The product of the marginals, the Chow-Liu tree, and mixtures of up to 200 products of Bernoulli variables.
All that is chosen is chosen on the validation rows; the test rows are only scored.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.core.input.read_table import encode
from tacit.datasets import Density, load_density
from tacit.messages.conditionals import log_prob
from tacit.messages.em import random_start
from tacit.messages.evidence import Evidence
from tacit.messages.network import Tables
from tacit.trees.learn.selection import forests

Floats = NDArray[np.float32]

# Mean test log-likelihood in nats and its standard deviation over five runs (four of cr52), at the best
# validation epoch, of mixtures of four hidden Chow-Liu trees with 12 states: computed from the authors' own
# logs in github.com/UCLA-StarAI/Tractable-PC-Regularization (Liu and Van den Broeck, NeurIPS 2021).
HCLT = {
    "nltcs": (-5.999, 0.004),
    "msnbc": (-6.058, 0.006),
    "kdd": (-2.141, 0.001),
    "plants": (-14.265, 0.149),
    "baudio": (-39.768, 0.014),
    "bnetflix": (-56.248, 0.016),
    "accidents": (-26.736, 0.029),
    "tretail": (-10.855, 0.013),
    "pumsb_star": (-23.650, 0.225),
    "dna": (-79.051, 0.144),
    "book": (-33.534, 0.014),
    "cr52": (-84.231, 0.072),
    "c20ng": (-153.644, 3.921),
    "bbc": (-249.049, 0.390),
    "ad": (-16.064, 0.056),
}
SETS = tuple(HCLT)

CHOW_LIU_COUNTS = (0.01, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
COMPONENTS = (10, 20, 50, 100, 200)
QUICK_COMPONENTS = (10, 200)
MIXTURE_COUNTS = (0.1, 0.5, 2.0, 8.0, 32.0, 128.0)  # tried upwards and downwards of the fourth
STARTS = ("rows", "marginals")
MOST_STEPS = 300
STEPS_BETWEEN_LOOKS = 3  # at the validation rows
PATIENCE = 5  # looks without a gain
LEAST_GAIN = 1e-4  # nats per row
SMALLEST = 1e-6  # a chance in single precision is at least this, and at most one less this


@dataclass(frozen=True)
class Scored:
    """Mean log-likelihoods of a model that was chosen on the validation rows."""

    valid: float
    test: float
    seconds: float  # of learning and choosing, by the clock
    chosen: dict[str, Any] = field(default_factory=dict)


def product(data: Density) -> Scored:
    """Independent columns."""
    begun = time.perf_counter()
    chances = (data.train.sum(axis=0) + 0.5) / (len(data.train) + 1)
    seconds = time.perf_counter() - begun

    def score(cells: NDArray[np.int8]) -> float:
        means = cells.mean(axis=0)
        return float(means @ np.log(chances) + (1 - means) @ np.log1p(-chances))

    return Scored(score(data.valid), score(data.test), seconds)


def chow_liu(data: Density) -> Scored:
    """The best tree without hidden variables, with the best number and kind of pseudo-counts."""
    from tacit.messages.conditionals import log_prob
    from tacit.messages.evidence import Evidence

    begun = time.perf_counter()
    train, valid = both_values(data.train), Evidence(data.valid)
    fits = []
    for count in CHOW_LIU_COUNTS:
        model = tacit.ChowLiuTree(count).fit(train)
        for spread, network in (
            ("marginal", model.network_),
            ("even", evenly_smoothed(model, data.train, count / 2).network),
        ):
            chosen = {"pseudo_counts": count, "spread": spread}
            fits.append((float(log_prob(network, valid).values.mean()), chosen, network))
    seconds = time.perf_counter() - begun
    best, chosen, network = max(fits, key=lambda fit: fit[0])
    return Scored(
        best, float(log_prob(network, Evidence(data.test)).values.mean()), seconds, chosen
    )


def evenly_smoothed(model: tacit.ChowLiuTree, cells: NDArray[np.int8], count: float) -> Tables:
    """Tables of a Chow-Liu tree with the same number of pseudo-counts for every pair of values.

    Rare values are better off so on some sets than with pseudo-counts spread as the marginals.
    """
    tree = model.tree_
    leaf_of = [*range(tree.n_leaves), *(int(tree.copy_of[node]) for node in tree.hidden)]
    tables = []
    for node, leaf in enumerate(leaf_of):
        above = leaf_of[tree.parent[node]]
        if node != tree.root and above == leaf:
            tables.append(np.eye(2))
            continue
        parent_codes = np.zeros(len(cells), dtype=np.int8) if node == tree.root else cells[:, above]
        size = 1 if node == tree.root else 2
        counts = np.bincount(2 * parent_codes + cells[:, leaf], minlength=2 * size).reshape(size, 2)
        tables.append((counts + count) / (counts + count).sum(axis=1, keepdims=True))
    return Tables.of(tree, tables)


def both_values(cells: NDArray[np.int8]) -> Any:
    """The rows as a frame whose columns all know of 0 and 1, also where one of them never occurs."""
    import pandas as pd

    kind = pd.CategoricalDtype([0, 1], ordered=True)
    columns = [pd.Categorical.from_codes(column, dtype=kind) for column in cells.T]
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(columns)})


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows and how often each occurs: EM's steps are products of matrices of these."""

    cells: Floats  # (row, variable)
    weights: Floats  # (row,)

    @classmethod
    def of(cls, cells: NDArray[np.int8]) -> Rows:
        packed = np.packbits(cells, axis=1)
        _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
        return cls(cells[first].astype(np.float32), counts.astype(np.float32))

    @property
    def total(self) -> float:
        return float(self.weights.sum(dtype=np.float64))

    def mean(self, values: Floats) -> float:
        """The mean over all rows of a value of each distinct one."""
        return float(np.average(values.astype(np.float64), weights=self.weights))


@dataclass(frozen=True, eq=False)
class Mixture:
    """Components that are products of Bernoulli variables."""

    weights: Floats  # (component,)
    chances: Floats  # (component, variable)

    def posterior(self, cells: Floats) -> tuple[Floats, Floats]:
        """P(component | row), and the log-likelihood of each row."""
        yes, no = np.log(self.chances), np.log1p(-self.chances)
        posterior = cells @ (yes - no).T  # (row, component)
        posterior += no.sum(axis=1) + np.log(self.weights)
        largest = posterior.max(axis=1, keepdims=True)
        posterior -= largest
        np.exp(posterior, out=posterior)
        sums = posterior.sum(axis=1, keepdims=True)
        posterior /= sums
        return posterior, (np.log(sums) + largest)[:, 0]

    def score(self, rows: Rows) -> float:
        return rows.mean(self.posterior(rows.cells)[1])

    def em_step(self, rows: Rows, pseudo_counts: float, marginals: Floats) -> Mixture:
        """One step of EM; the pseudo-counts of each component are spread as the marginals."""
        posterior, _ = self.posterior(rows.cells)
        posterior *= rows.weights[:, None]
        counts = posterior.sum(axis=0)
        ones = posterior.T @ rows.cells + np.float32(pseudo_counts) * marginals
        chances = ones / (counts + np.float32(pseudo_counts))[:, None]
        weights = (counts + pseudo_counts) / (counts + pseudo_counts).sum()
        return Mixture(weights.astype(np.float32), np.clip(chances, SMALLEST, 1 - SMALLEST))


def first_mixture(
    rows: Rows, n_components: int, start: str, marginals: Floats, rng: np.random.Generator
) -> Mixture:
    """Components between the marginals and a random row, or the marginals with a little noise."""
    if start == "rows":
        row_weights = rows.weights / rows.total
        n = len(row_weights)
        picked = rng.choice(n, n_components, replace=n < n_components, p=row_weights)
        chances = 0.2 * rows.cells[picked] + 0.8 * marginals
    else:
        chances = marginals + rng.normal(0, 0.02, (n_components, len(marginals)))
    weights = np.full(n_components, 1 / n_components, dtype=np.float32)
    return Mixture(weights, np.clip(chances, 1e-3, 1 - 1e-3).astype(np.float32))


def run_em(
    train: Rows, valid: Rows, first: Mixture, pseudo_counts: float, marginals: Floats
) -> tuple[float, Mixture]:
    """EM until the validation rows gain no more: the best mixture, and its validation score."""
    best, best_mixture, waited = -np.inf, first, 0
    mixture = first
    for step in range(MOST_STEPS):
        if step % STEPS_BETWEEN_LOOKS == 0:
            score = mixture.score(valid)
            waited = 0 if score > best + LEAST_GAIN else waited + 1
            if score > best:
                best, best_mixture = score, mixture
            if waited >= PATIENCE:
                break
        mixture = mixture.em_step(train, pseudo_counts, marginals)
    return best, best_mixture


def bernoulli_mixture(data: Density, sizes: Iterable[int] = COMPONENTS) -> Scored:
    """The best of mixtures of several sizes, starts and numbers of pseudo-counts."""
    begun = time.perf_counter()
    train, valid = Rows.of(data.train), Rows.of(data.valid)
    marginals = (train.weights @ train.cells + np.float32(0.5)) / np.float32(train.total + 1)
    fits = []
    for size, start in itertools.product(sizes, STARTS):
        rng = np.random.default_rng([size, STARTS.index(start)])
        first = first_mixture(train, size, start, marginals, rng)
        score, count, mixture = best_count(
            lambda count, first=first: run_em(train, valid, first, count, marginals)
        )
        chosen = {"n_components": size, "start": start, "pseudo_counts": count}
        fits.append((score, chosen, mixture))
    seconds = time.perf_counter() - begun
    best, chosen, mixture = max(fits, key=lambda fit: fit[0])
    return Scored(best, mixture.score(Rows.of(data.test)), seconds, chosen)


def best_count(
    fit: Callable[[float], tuple[float, Mixture]],
) -> tuple[float, float, Mixture]:
    """The number of pseudo-counts with the best score: upwards and downwards while that gains."""
    middle = MIXTURE_COUNTS.index(8.0)
    best = (*fit(MIXTURE_COUNTS[middle]), MIXTURE_COUNTS[middle])
    for direction in (MIXTURE_COUNTS[middle + 1 :], MIXTURE_COUNTS[:middle][::-1]):
        before = best[0]
        for count in direction:
            score, mixture = fit(count)
            if score <= before:
                break
            before, best = score, (score, mixture, count)
        if best[2] > MIXTURE_COUNTS[middle]:
            break
    return best[0], best[2], best[1]


def heaviest_tree(model: tacit.LatentTree, parts: Sequence[Any]) -> tuple[float, ...]:
    """Mean log-likelihoods of the rows of each part under the heaviest tree of a model alone."""
    tables = max(model.trees_, key=lambda tree: tree.weight).tables
    return tuple(_score(tables, part, model.schema_) for part in parts)


def random_start_em(
    model: tacit.LatentTree, train: Any, valid: Any, test: Any, seed: int
) -> Scored:
    """The heaviest tree of a model learnt again from a random start.

    Its tree, numbers of states, pseudo-counts and stopping rule are the same; only the start differs.
    """
    begun = time.perf_counter()
    tables = max(model.trees_, key=lambda tree: tree.weight).tables
    weights = [tree["weight"] for tree in model.diagnostics_["trees"]]
    heaviest = model.diagnostics_["trees"][int(np.argmax(weights))]
    rows, held_out = (encode(part, model.schema_) for part in (train, valid))
    ground = forests.Ground(rows, held_out, seed, n_jobs=2)
    start = random_start(tables.layout, np.random.default_rng(seed))
    trained = forests.train(ground, tables.layout, heaviest["pseudo_counts"], start=start)
    seconds = time.perf_counter() - begun
    return Scored(trained.score, _score(trained.tables, test, model.schema_), seconds)


def _score(tables: Tables, rows: Any, schema: Any) -> float:
    return float(log_prob(tables.network, Evidence(encode(rows, schema).codes)).values.mean())


BASELINES: dict[str, Callable[[Density], Scored]] = {
    "product": product,
    "chow-liu": chow_liu,
    "mixture": bernoulli_mixture,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one small set, two sizes of mixtures")
    parser.add_argument("--sets", default="", help="names with commas between them; default: all")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = chosen.sets.split(",") if chosen.sets else SETS[:1] if chosen.quick else SETS
    print(f"{'set':12}{'model':12}{'valid':>10}{'test':>10}{'seconds':>9}  chosen")
    for name in names:
        data = load_density(name)
        for method, fit in BASELINES.items():
            quick = chosen.quick and method == "mixture"
            scored = bernoulli_mixture(data, QUICK_COMPONENTS) if quick else fit(data)
            print(
                f"{name:12}{method:12}{scored.valid:10.4f}{scored.test:10.4f}{scored.seconds:9.1f}  "
                f"{', '.join(f'{key} {value}' for key, value in scored.chosen.items())}",
                flush=True,
            )


if __name__ == "__main__":
    main()
