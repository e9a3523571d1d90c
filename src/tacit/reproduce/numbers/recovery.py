"""Trees recovered from numbers drawn from them: processes, distances, joining, and wrong hops.

After the thesis, section 6.6.2. What it leaves open is chosen here: the correlation along every edge of a
Gaussian tree is drawn between 0.7 and 0.95; in the other process the root is a mixture of two Gaussians with
means 2 and -2, and all Gaussians have variance one. Bandwidths are the median distance between pairs of
rows, as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Results, Study, Trial, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.trees.moments.features import FeatureMoments
    from tacit.trees.structure.distances import Distances
    from tacit.trees.structure.topology import Topology

GAUSSIAN, SIGN_FLIP = "gaussian", "sign-flip"
BALANCED, SKEWED, RANDOM = "balanced", "skewed", "random"
STRENGTHS = (0.7, 0.95)  # correlations along edges
ROOT_MEANS = (-2.0, 2.0)
# Fraction of a kernel's trace that its features may leave out, in Tacit's form and in the printed one.
TOLERANCE, PRINTED_TOLERANCE = 1e-3, 1e-6


RESULTS: Results = {
    "hops": 0.0,  # `hop_error`, summed over all pairs of leaves as in the thesis
    "splits": 0.0,  # Robinson-Foulds distance as a fraction of the largest possible
    "seconds": 0.0,  # CPU time of distances (with the features) and of joining
}


@dataclass(frozen=True)
class ProcessCase(Case):
    """A process on a shape of trees."""

    process: str
    tree: str
    n_leaves: int = 64


def fit(trial: Trial) -> Fit:
    """The tree that the trial's method finds from the rows drawn for it."""
    options = dict(trial.method.options)
    join, names = options.pop("join"), true_tree(trial.case, trial.seed).observed
    rows = (trial.case, trial.seed, trial.size)
    distances = _distances(*rows, trial.method.learn, tuple(sorted(options.items())))
    return timed(joined, join, distances.value, names, trial.size, spent=distances.seconds)


def judge(trial: Trial, tree: Topology) -> Results:
    """Differences from the true tree."""
    from tacit.evaluate import hop_error, robinson_foulds

    truth = true_tree(trial.case, trial.seed)
    return {
        "hops": hop_error(tree, truth),
        "splits": robinson_foulds(tree, truth, normalised=True),
    }


STUDY = Study(
    size="n_rows",
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="{case.process}, {case.tree}, {size} rows, {method.name}",
    work=lambda trial: trial.size + 500,
)


def joined(join: str, distances: Distances, names: tuple[str, ...], n_rows: int) -> Topology:
    """The tree that distances give."""
    from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining
    from tacit.trees.structure.refined_joining import refined_joining

    if join == "refined-joining":
        return refined_joining(
            distances.values, names, supported=distances.supported, n_rows=n_rows
        )
    plain = {"neighbor-joining": neighbor_joining, "chow-liu-joining": chow_liu_joining}[join]
    return plain(distances.values, names, clip=True)


# -- distances ----------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _distances(
    case: ProcessCase, seed: int, n_rows: int, metric: str, options: tuple[tuple[str, Any], ...]
) -> Fit:
    """Distances between all columns, the same for every method of joining."""
    from tacit.trees.learn.kernel_distances import kernel_distances, printed_kernel_distances
    from tacit.trees.structure.distances import gaussian_distances, nonparanormal_distances

    given = dict(options)
    printed = given.pop("printed", False)
    if metric == "kernel":
        moments = _kernel_moments(case, seed, n_rows, printed)
        names = true_tree(case, seed).observed
        measure = partial(printed_kernel_distances, names=names) if printed else kernel_distances
        return timed(measure, moments.value, spent=moments.seconds, **given)
    rows = drawn(case, seed, n_rows)
    if printed:
        return timed(printed_distances, metric, rows)
    metrics = {"gaussian": gaussian_distances, "nonparanormal": nonparanormal_distances}
    return timed(metrics[metric], rows)


def printed_distances(metric: str, rows: NDArray[np.float64]) -> Distances:
    """Minus the logarithm of the size of correlations (Choi et al. 2011), without a ceiling.

    Of numbers as they are, or ("nonparanormal") of their normal scores.
    """
    import numpy as np
    from scipy.special import ndtri
    from scipy.stats import rankdata

    from tacit.trees.structure.distances import Distances

    if metric == "nonparanormal":
        rows = ndtri(rankdata(rows, axis=0) / (len(rows) + 1))
    values = -np.log(np.abs(np.corrcoef(rows.T)))
    np.fill_diagonal(values, 0.0)
    return Distances(values, np.ones(values.shape, dtype=bool))


@lru_cache(maxsize=2)
def _kernel_moments(case: ProcessCase, seed: int, n_rows: int, printed: bool) -> Fit:
    rows = drawn(case, seed, n_rows)
    tolerance = PRINTED_TOLERANCE if printed else TOLERANCE
    return timed(kernel_moments, list(rows.T), tolerance)


def kernel_moments(
    columns: Sequence[NDArray[np.float64]], tolerance: float = TOLERANCE
) -> FeatureMoments:
    """Moments of the kernel features of all columns."""
    from tacit.core.encoders.kernels import kernel_encoder, median_bandwidth
    from tacit.trees.moments.features import FeatureMoments

    encoders = [kernel_encoder(column, median_bandwidth(column), tolerance) for column in columns]
    moments = FeatureMoments.of(list(columns), encoders)
    moments.pairs()
    return moments


# -- data ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def true_tree(case: ProcessCase, seed: int) -> Topology:
    """The tree that rows are drawn from; random ones differ from seed to seed."""
    from tacit.toy import balanced, caterpillar, random_topology

    if case.tree == BALANCED:
        return balanced(2, case.n_leaves.bit_length())
    if case.tree == SKEWED:
        return caterpillar(case.n_leaves)
    return random_topology(case.n_leaves, n_children=(2, 2), random_state=seed)


@lru_cache(maxsize=1)
def drawn(case: ProcessCase, seed: int, n_rows: int) -> NDArray[np.float64]:
    """(row, leaf) Rows of a process on a tree; with another number of rows all of them are others."""
    import zlib

    import numpy as np

    tree = true_tree(case, seed)
    name = f"{case.process} {case.tree} {case.n_leaves}"
    family = zlib.crc32(name.encode())
    model = np.random.default_rng([family, seed, 0])  # the same for every number of rows
    rng = np.random.default_rng([family, seed, 1, n_rows])
    near: dict[str, list[str]] = {}
    for one, other in tree.edges:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    root = tree.hidden[0]
    values = {root: rng.standard_normal(n_rows)}
    if case.process == SIGN_FLIP:
        values[root] += rng.choice(ROOT_MEANS, size=n_rows)
    waiting = [root]
    while waiting:
        above = waiting.pop()
        for below in near[above]:
            if below in values:
                continue
            noise = rng.standard_normal(n_rows)
            if case.process == SIGN_FLIP:
                values[below] = rng.choice((-1.0, 1.0), size=n_rows) * values[above] + noise
            else:
                strength = model.uniform(*STRENGTHS)
                values[below] = strength * values[above] + np.sqrt(1 - strength**2) * noise
            waiting.append(below)
    return np.column_stack([values[leaf] for leaf in tree.observed])
