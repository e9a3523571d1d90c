"""Densities of two columns: mixtures of two Laplace distributions, estimators, errors on a grid.

After the thesis, section 6.6.1. Equation 6.26 lacks the minus signs; with them each component is a product of
two Laplace densities, around (mu, mu) and around (-mu, -mu), and both have weight one half.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.numbers.kernel_tree import KernelTree

    Array = NDArray[np.float64]
    Density = Callable[[Array], Array]  # (point, 2) -> (point,)

N_GRID = 61  # points along each side of the grid, from -2 mu to 2 mu
MOST_COMPONENTS = 10  # of mixtures chosen by BIC
# Histograms and kernel estimates choose among these by the likelihood of a fifth of the rows.
BINS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
BANDWIDTHS = (0.04, 0.06, 0.09, 0.13, 0.18, 0.25, 0.35, 0.5, 0.7)  # in standard deviations
MOST_HELD_OUT = 1000  # rows by which a bandwidth is chosen
# Printed kernel trees, where the bandwidth is selected: among these multiples of the median distance.
MULTIPLES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.13, 0.09, 0.06, 0.04)


RESULTS: Results = {
    "distance": 0.0,  # root of the summed squared errors of the density on the grid
    "seconds": 0.0,  # CPU time of learning, model selection included
}


@dataclass(frozen=True)
class LaplaceCase(Case):
    """How far the components are from the origin, in both directions."""

    mu: float


def fit(trial: Trial) -> Fit:
    """What the trial's method learns from the rows drawn for it."""
    rows = drawn(trial.case.mu, trial.size, trial.seed)
    _warm_up(trial.method)
    return timed(learn, trial.method, rows, trial.seed)


def judge(trial: Trial, density: Density) -> Results:
    """The distance from the truth on the grid."""
    import numpy as np

    points = grid(trial.case.mu)
    errors = density(points) - truth(trial.case.mu, points)
    return {"distance": float(np.sqrt(np.sum(errors**2)))}


@lru_cache(maxsize=16)
def _warm_up(method: Method) -> None:
    """Learn once from few rows, so that no trial pays for compiling."""
    learn(method, drawn.__wrapped__(3.0, 200, 0), 0)


STUDY = Study(
    size="n_rows",
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="mu {case.mu:g}, {size} rows, {method.name}",
    work=lambda trial: trial.size + 3000,
)


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


def learn(method: Method, rows: Array, seed: int) -> Density:
    """The density that a method estimates from rows."""
    options = dict(method.options)
    if method.learn == "gaussians":
        return gaussians(rows, options["n_components"], seed)
    if method.learn == "histogram":
        return histogram(rows, seed)
    if method.learn == "kde":
        return kernel_estimate(rows, seed)
    if method.learn == "kernel-tree, bandwidth selected":
        return kernel_tree(
            rows, seed, bandwidth=selected_bandwidth(rows, seed, **options), **options
        )
    return kernel_tree(rows, seed, **options)


def gaussians(rows: Array, n_components: int | None, seed: int) -> Density:
    """A mixture of Gaussians; None components are chosen by BIC."""
    import numpy as np
    from sklearn.mixture import GaussianMixture

    numbers = range(1, MOST_COMPONENTS + 1) if n_components is None else [n_components]
    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # EM that does not converge
        for number in numbers:
            mixture = GaussianMixture(number, n_init=2, random_state=seed).fit(rows)
            bic = mixture.bic(rows)
            if bic < least:
                best, least = mixture, bic
    assert best is not None
    return lambda points: np.exp(best.score_samples(points))


def histogram(rows: Array, seed: int) -> Density:
    """Equal squares over the range of the rows, as many as give held-out rows the highest likelihood."""
    import numpy as np

    training, held_out = _parts(rows, seed)
    low, high = rows.min(), rows.max()

    def heights(n_bins: int, rows: Array) -> Array:
        counts, *_ = np.histogram2d(rows[:, 0], rows[:, 1], bins=n_bins, range=[[low, high]] * 2)
        return np.asarray(counts / len(rows) * (n_bins / (high - low)) ** 2)

    def at(points: Array, densities: Array) -> Array:
        n_bins = len(densities)
        bins = np.floor((points - low) / (high - low) * n_bins).astype(int)
        outside = ((points < low) | (points > high)).any(axis=1)
        bins = np.clip(bins, 0, n_bins - 1)
        return np.where(outside, 0.0, densities[bins[:, 0], bins[:, 1]])

    # A square without rows is not impossible: it has a hundredth of a row.
    scores = []
    for n_bins in BINS:
        least = 0.01 / len(training) * (n_bins / (high - low)) ** 2
        densities = np.maximum(at(held_out, heights(n_bins, training)), least)
        scores.append(float(np.log(densities).mean()))
    chosen = heights(BINS[int(np.argmax(scores))], rows)
    return lambda points: at(points, chosen)


def kernel_estimate(rows: Array, seed: int) -> Density:
    """A Gaussian kernel estimate, with the bandwidth that gives held-out rows the highest likelihood."""
    import numpy as np

    training, held_out = _parts(rows, seed)
    scale, held_out = float(rows.std()), held_out[:MOST_HELD_OUT]
    scores = [
        float(np.log(np.maximum(_kernels(training, held_out, width * scale), 1e-300)).mean())
        for width in BANDWIDTHS
    ]
    bandwidth = BANDWIDTHS[int(np.argmax(scores))] * scale
    return lambda points: _kernels(rows, points, bandwidth)


def _kernels(rows: Array, points: Array, bandwidth: float) -> Array:
    """The mean of Gaussian kernels around rows."""
    import numpy as np

    means = np.empty(len(points))
    step = max(1, 4_000_000 // len(rows))
    for first in range(0, len(points), step):
        differences = points[first : first + step, None, :] - rows
        squares = np.einsum("ijk,ijk->ij", differences, differences)
        means[first : first + step] = np.exp(squares / (-2 * bandwidth**2)).mean(axis=1)
    return means / (2 * np.pi * bandwidth**2)


def kernel_tree(rows: Array, seed: int, **options: Any) -> Density:
    """A tree of both columns with a hidden variable between them."""
    model = _fitted(rows, seed, **options)
    return lambda points: model.density(_columns(points))


def selected_bandwidth(rows: Array, seed: int, **options: Any) -> float:
    """The multiple of the median distance that gives held-out rows the highest likelihood."""
    training, held_out = _parts(rows, seed)
    table = _columns(held_out[:MOST_HELD_OUT])
    return max(
        MULTIPLES,
        key=lambda bandwidth: _fitted(training, seed, bandwidth=bandwidth, **options).score(table),
    )


def _fitted(rows: Array, seed: int, **options: Any) -> KernelTree:
    from tacit.numbers.kernel_tree import KernelTree

    return KernelTree(random_state=seed, experts="tree", blend=False, **options).fit(_columns(rows))


def _columns(points: Array) -> dict[str, Array]:
    return {"x": points[:, 0], "y": points[:, 1]}


def _parts(rows: Array, seed: int) -> tuple[Array, Array]:
    """Four fifths of the rows, and the rest."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(rows))
    cut = len(rows) // 5
    return rows[order[cut:]], rows[order[:cut]]
