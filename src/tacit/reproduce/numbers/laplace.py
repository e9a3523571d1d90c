"""Densities of two columns: mixtures of two Laplace distributions, ways of estimating them, errors on a grid.

After the thesis, section 6.6.1. Equation 6.26 lacks the minus signs; with them each component is a product of
two Laplace densities, around (mu, mu) and around (-mu, -mu), and both have weight one half.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Density = Callable[[Array], Array]  # (point, 2) -> (point,)

N_GRID = 61  # points along each side of the grid, from -2 mu to 2 mu
MOST_COMPONENTS = 10  # of mixtures chosen by BIC
# What histograms and kernel estimates choose from, by the likelihood of a fifth of the rows.
BINS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
BANDWIDTHS = (0.04, 0.06, 0.09, 0.13, 0.18, 0.25, 0.35, 0.5, 0.7)  # in standard deviations
MOST_JUDGED = 1000  # rows


@dataclass(frozen=True)
class LaplaceCase:
    """How far the components are from the origin, in both directions."""

    mu: float

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return {"mu": float(self.mu)}


@dataclass(frozen=True)
class LaplaceRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_rows"
    first_result: ClassVar[str] = "distance"

    mu: float
    n_rows: int
    seed: int
    method: str
    settings: str
    version: str
    distance: float  # root of the summed squared errors of the density on the grid
    seconds: float  # CPU time of learning, with whatever is chosen


class LaplaceTrial(GridTrial[LaplaceCase]):
    """One estimate of a density."""

    rows_per_fit = 3000

    def run(self) -> LaplaceRun:
        """Draw, learn and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"mu {self.case.mu:g}, {self.size} rows, {self.method.name}"


class LaplaceSettings(Grid[LaplaceCase]):
    """Mixtures with every size, seed and method."""

    trial = LaplaceTrial
    kind = LaplaceRun


def perform(trial: LaplaceTrial) -> LaplaceRun:
    """Learn the rows of a trial, and compare with the truth on the grid."""
    import numpy as np

    rows = drawn(trial.case.mu, trial.size, trial.seed)
    _warm_up(trial.method)
    begun = time.process_time()
    density = learnt(trial.method, rows, trial.seed)
    seconds = time.process_time() - begun
    points = grid(trial.case.mu)
    distance = float(np.sqrt(np.sum((density(points) - truth(trial.case.mu, points)) ** 2)))
    return LaplaceRun.of(trial.key, distance, seconds)


# -- the truth ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def drawn(mu: float, n_rows: int, seed: int) -> Array:
    """(row, 2) Rows of the mixture."""
    import numpy as np

    rng = np.random.default_rng([int(1000 * mu), n_rows, seed])
    sign = rng.choice((-1.0, 1.0), size=(n_rows, 1))
    return sign * mu + rng.laplace(size=(n_rows, 2))


def truth(mu: float, points: Array) -> Array:
    """The density of the mixture."""
    import numpy as np

    parts = [np.exp(-np.abs(points - centre).sum(axis=1)) / 4 for centre in (mu, -mu)]
    return np.asarray((parts[0] + parts[1]) / 2)


def grid(mu: float) -> Array:
    """(point, 2) The points that densities are compared at."""
    import numpy as np

    side = np.linspace(-2 * mu, 2 * mu, N_GRID)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


# -- estimates ----------------------------------------------------------------------------------------


def learnt(method: Method, rows: Array, seed: int) -> Density:
    """What a method makes of rows."""
    options = dict(method.options)
    if method.learn == "gaussians":
        return gaussians(rows, options["n_components"], seed)
    if method.learn == "histogram":
        return histogram(rows, seed)
    if method.learn == "kde":
        return kernel_estimate(rows, seed)
    return kernel_tree(rows, seed, **options)


def gaussians(rows: Array, n_components: int | None, seed: int) -> Density:
    """A mixture of Gaussians; None components are chosen by BIC."""
    import numpy as np
    from sklearn.mixture import GaussianMixture

    numbers = range(1, MOST_COMPONENTS + 1) if n_components is None else [n_components]
    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps that do not converge
        for number in numbers:
            found = GaussianMixture(number, n_init=2, random_state=seed).fit(rows)
            value = found.bic(rows)
            if value < least:
                best, least = found, value
    assert best is not None
    return lambda points: np.exp(best.score_samples(points))


def histogram(rows: Array, seed: int) -> Density:
    """Equal squares over the range of the rows, as many as held-out rows like best."""
    import numpy as np

    learning, judging = _parts(rows, seed)
    low, high = rows.min(), rows.max()

    def heights(n_bins: int, some: Array) -> Array:
        counts, *_ = np.histogram2d(some[:, 0], some[:, 1], bins=n_bins, range=[[low, high]] * 2)
        return np.asarray(counts / len(some) * (n_bins / (high - low)) ** 2)

    def at(points: Array, found: Array) -> Array:
        n_bins = len(found)
        place = np.floor((points - low) / (high - low) * n_bins).astype(int)
        outside = ((points < low) | (points > high)).any(axis=1)
        place = np.clip(place, 0, n_bins - 1)
        return np.where(outside, 0.0, found[place[:, 0], place[:, 1]])

    # A square without rows is not impossible: it has a hundredth of a row.
    scores = []
    for n_bins in BINS:
        least = 0.01 / len(learning) * (n_bins / (high - low)) ** 2
        there = np.maximum(at(judging, heights(n_bins, learning)), least)
        scores.append(float(np.log(there).mean()))
    chosen = heights(BINS[int(np.argmax(scores))], rows)
    return lambda points: at(points, chosen)


def kernel_estimate(rows: Array, seed: int) -> Density:
    """A Gaussian kernel estimate, with the bandwidth that held-out rows like best."""
    import numpy as np

    learning, judging = _parts(rows, seed)
    scale = float(rows.std())
    judging = judging[:MOST_JUDGED]
    scores = [
        float(np.log(np.maximum(_kernels(learning, judging, share * scale), 1e-300)).mean())
        for share in BANDWIDTHS
    ]
    bandwidth = BANDWIDTHS[int(np.argmax(scores))] * scale
    return lambda points: _kernels(rows, points, bandwidth)


def _kernels(rows: Array, points: Array, bandwidth: float) -> Array:
    """The mean of Gaussian kernels around rows."""
    import numpy as np

    found = np.empty(len(points))
    step = max(1, 4_000_000 // len(rows))
    for first in range(0, len(points), step):
        apart = points[first : first + step, None, :] - rows
        squares = np.einsum("ijk,ijk->ij", apart, apart)
        found[first : first + step] = np.exp(squares / (-2 * bandwidth**2)).mean(axis=1)
    return found / (2 * np.pi * bandwidth**2)


def kernel_tree(rows: Array, seed: int, **options: Any) -> Density:
    """A tree of both columns with a hidden variable between them."""
    from tacit.numbers.kernel_tree import KernelTree

    model = KernelTree(random_state=seed, blend=False, **options)
    model.fit({"x": rows[:, 0], "y": rows[:, 1]})
    return lambda points: model.density({"x": points[:, 0], "y": points[:, 1]})


def _parts(rows: Array, seed: int) -> tuple[Array, Array]:
    """Four fifths of the rows, and the rest."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(rows))
    cut = len(rows) // 5
    return rows[order[cut:]], rows[order[:cut]]


@lru_cache(maxsize=16)
def _warm_up(method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling."""
    learnt(method, drawn.__wrapped__(3.0, 200, 0), 0)
