"""Trees found again in numbers drawn from them: processes, distances, ways of joining, and wrong hops.

After the thesis, section 6.6.2. What it leaves open is chosen here: the correlation along every edge of a
Gaussian tree is drawn between 0.7 and 0.95; in the other process the root is a mixture of two Gaussians with
means 2 and -2, and all Gaussians have variance one. Bandwidths are the median distance between pairs of
rows, as there.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.reproduce.runner.grids import Grid, GridTrial
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.trees.structure.distances import Distances
    from tacit.trees.structure.topology import Topology

GAUSSIAN, SIGN_FLIP = "gaussian", "sign-flip"
BALANCED, SKEWED, RANDOM = "balanced", "skewed", "random"
STRENGTHS = (0.7, 0.95)  # correlations along edges
ROOT_MEANS = (-2.0, 2.0)
# Share of a kernel's trace that its features may leave over.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class TreeCase:
    """A process on a shape of trees."""

    process: str
    tree: str
    n_leaves: int = 64

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self)


@dataclass(frozen=True)
class TreeRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_rows"
    first_result: ClassVar[str] = "hops"

    process: str
    tree: str
    n_leaves: int
    n_rows: int
    seed: int
    method: str
    settings: str
    version: str
    hops: float  # `hop_error`, summed over all pairs of leaves as in the thesis
    splits: float  # Robinson-Foulds distance as a share of the largest possible
    seconds: float  # CPU time of distances (with the features) and of joining


class TreeTrial(GridTrial[TreeCase]):
    """One tree, found by one method."""

    rows_per_fit = 500

    def run(self) -> TreeRun:
        """Draw, measure, join and count."""
        return perform(self)

    def __str__(self) -> str:
        case = self.case
        return f"{case.process}, {case.tree}, {self.size} rows, {self.method.name}"


class TreeSettings(Grid[TreeCase]):
    """Processes on trees with every size, seed and method."""

    trial = TreeTrial
    kind = TreeRun


def perform(trial: TreeTrial) -> TreeRun:
    """Find the tree of a trial's rows, and judge it by the true one."""
    from tacit.evaluate import hop_error, robinson_foulds

    truth = true_tree(trial.case, trial.seed)
    options = dict(trial.method.options)
    join = options.pop("join")
    apart, seconds = _distances(
        trial.case, trial.seed, trial.size, trial.method.learn, tuple(sorted(options.items()))
    )
    begun = time.process_time()
    found = joined(join, apart, truth.observed, trial.size)
    seconds += time.process_time() - begun
    errors = hop_error(found, truth), robinson_foulds(found, truth, normalised=True)
    return TreeRun.of(trial.key, *errors, seconds)


def joined(join: str, apart: Distances, names: tuple[str, ...], n_rows: int) -> Topology:
    """The tree that distances give."""
    from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining
    from tacit.trees.structure.refined_joining import refined_joining

    if join == "refined-joining":
        return refined_joining(apart.values, names, supported=apart.supported, n_rows=n_rows)
    plain = {"neighbor-joining": neighbor_joining, "chow-liu-joining": chow_liu_joining}[join]
    return plain(apart.values, names, clip=True)


# -- distances ----------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _distances(
    case: TreeCase, seed: int, n_rows: int, metric: str, options: tuple[tuple[str, Any], ...]
) -> tuple[Distances, float]:
    """Distances between all columns, and how long they took, the same for every way of joining."""
    from tacit.trees.learn.kernel_distances import kernel_distances
    from tacit.trees.structure.distances import gaussian_distances, nonparanormal_distances

    rows = drawn(case, seed, n_rows)
    begun = time.process_time()
    if metric == "kernel":
        moments, spent = _kernel_moments(case, seed, n_rows)
        begun = time.process_time() - spent
        return kernel_distances(moments, **dict(options)), time.process_time() - begun
    found = gaussian_distances(rows) if metric == "gaussian" else nonparanormal_distances(rows)
    return found, time.process_time() - begun


@lru_cache(maxsize=1)
def _kernel_moments(case: TreeCase, seed: int, n_rows: int) -> tuple[Any, float]:
    """Moments of the kernel features of all columns, and how long they took."""
    from tacit.core.encoders.kernels import kernel_encoder, median_bandwidth
    from tacit.trees.moments.features import FeatureMoments

    rows = drawn(case, seed, n_rows)
    begun = time.process_time()
    encoders = [kernel_encoder(column, median_bandwidth(column), TOLERANCE) for column in rows.T]
    moments = FeatureMoments.of(rows, encoders)
    moments.pairs()
    return moments, time.process_time() - begun


# -- data ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def true_tree(case: TreeCase, seed: int) -> Topology:
    """The tree that rows are drawn from; random ones differ from seed to seed."""
    from tacit.toy import balanced, caterpillar, random_topology

    if case.tree == BALANCED:
        return balanced(2, case.n_leaves.bit_length())
    if case.tree == SKEWED:
        return caterpillar(case.n_leaves)
    return random_topology(case.n_leaves, n_children=(2, 2), random_state=seed)


@lru_cache(maxsize=1)
def drawn(case: TreeCase, seed: int, n_rows: int) -> NDArray[np.float64]:
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
