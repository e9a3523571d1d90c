"""The picture of a sequence of numbers and of its predictive densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError, DataError
from tacit.plot import style
from tacit.plot.models import check_can

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_N_PLACES = 240  # at which each density is looked up
_LEVELS = (0.005, 0.05, 0.95, 0.995)  # quantiles: the frame, and the band within
_MARGIN = 0.04  # of the vertical axis
_WITH_MARKERS = 150  # positions up to which each number has a dot


def forecast(
    model: Any,
    series: ArrayLike,
    ax: Axes | None = None,
    *,
    n_ahead: int = 0,
    last: int | None = None,
    target: str | None = None,
    legend: bool = True,
) -> Axes:
    """A sequence of numbers over the density that each of them had, given all before it.

    The darker the shade, the higher the density; the line is the sequence, thin lines are the 5 % and 95 %
    quantiles. Missing numbers leave a gap in the line; the positions after them are still predicted.

    Parameters
    ----------
    model : fitted KernelHMM
    series : (time,) numbers, or (time, column) rows of them
        One sequence; NaN where a number is missing.
    ax : matplotlib.axes.Axes, optional
    n_ahead : int
        Positions beyond the end of the sequence that are predicted, too.
    last : int, optional
        How many positions of the sequence are shown, from its end; what came before them is still known.
    target : str, optional
        The column that is drawn, where there are several.
    legend : bool
        Whether the lines are explained.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotAvailableError
        The model does not predict sequences, or is not fitted.
    DataError
        It is not one sequence of numbers.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> series = np.random.default_rng(0).normal(size=300)
    >>> model = tacit.KernelHMM(n_states=1, n_basis=4).fit(series)
    >>> axes = forecast(model, series, last=50, n_ahead=5)
    >>> tuple(map(float, axes.get_xlim()))
    (249.5, 304.5)
    """
    plt = style.pyplot()
    check_can(model, "forecast", "does not predict sequences of numbers; pass a fitted KernelHMM")
    if n_ahead < 0 or (last is not None and last < 1):
        raise ArgumentError(f"n_ahead={n_ahead}, last={last}; give 0 or more, and 1 or more")
    numbers = _numbers(series, n_ahead)
    first = 0 if last is None else max(len(numbers) - n_ahead - last, 0)
    bands = _one(model.quantiles(numbers, _LEVELS, target=target, all_positions=True))[first:]
    shown = _column(model, numbers, target)[first:]
    low, high = _frame(bands, shown)
    grid = np.linspace(low, high, _N_PLACES)
    _, densities = model.predict_next_density(numbers, grid, target=target, all_positions=True)
    times = np.arange(first, len(numbers))
    if ax is None:
        _, ax = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    _draw_shade(ax, times, grid, _one(densities)[first:])
    _draw_lines(ax, times, bands, shown)
    if n_ahead:
        ax.axvline(len(numbers) - n_ahead - 0.5, color=style.DIM, linewidth=0.8, linestyle=":")
    ax.set_xlim(first - 0.5, len(numbers) - 0.5)
    ax.set_ylim(low, high)
    ax.set_xlabel("position")
    ax.set_ylabel(target or "", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(fontsize=8, ncols=2, handlelength=1.8, **style.legend_place(ax))
    return ax


def _numbers(series: ArrayLike, n_ahead: int) -> Array:
    """The sequence followed by `n_ahead` missing numbers."""
    try:
        numbers = np.asarray(series, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"forecast draws one sequence of numbers: {error}") from error
    if numbers.ndim not in {1, 2} or len(numbers) + n_ahead == 0:
        raise DataError(
            f"numbers of shape {numbers.shape}; forecast draws one sequence: give (time,) or (time, column)"
        )
    return np.concatenate([numbers, np.full((n_ahead, *numbers.shape[1:]), np.nan)])


def _one(values: Any) -> Array:
    """The values of the only sequence."""
    return values if isinstance(values, np.ndarray) else np.asarray(values[0])


def _column(model: Any, numbers: Array, target: str | None) -> Array:
    if numbers.ndim == 1:
        return numbers
    return np.asarray(numbers[:, 0 if target is None else model.names_.index(target)])


def _frame(bands: Array, shown: Array) -> tuple[float, float]:
    """The limits of the vertical axis: nearly all of the densities, and all numbers."""
    observed = shown[~np.isnan(shown)]
    low = min(float(np.quantile(bands[:, 0], 0.05)), float(observed.min(initial=np.inf)))
    high = max(float(np.quantile(bands[:, -1], 0.95)), float(observed.max(initial=-np.inf)))
    margin = _MARGIN * (high - low) or 0.5
    return low - margin, high + margin


def _draw_shade(ax: Axes, times: NDArray[np.int64], grid: Array, densities: Array) -> None:
    """Densities as shades of blue, scaled so that a few sharp ones do not make all others pale."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    shades = LinearSegmentedColormap.from_list("shades", ["#FFFFFF", style.SKY, style.BLUE])
    darkest = float(np.quantile(densities.max(axis=1), 0.9)) or 1.0
    edges = np.append(times, times[-1] + 1) - 0.5
    half = (grid[1] - grid[0]) / 2
    ax.pcolormesh(
        edges,
        np.append(grid - half, grid[-1] + half),
        densities.T,
        cmap=shades,
        norm=PowerNorm(0.6, vmin=0.0, vmax=darkest),
        rasterized=True,
        zorder=0,
    )


def _draw_lines(ax: Axes, times: NDArray[np.int64], bands: Array, shown: Array) -> None:
    lower, upper = bands[:, 1], bands[:, -2]
    look: dict[str, Any] = {"color": style.BLUE, "linewidth": 0.7, "drawstyle": "steps-mid"}
    ax.plot(times, lower, label="nine tenths", **look)
    ax.plot(times, upper, **look)
    markers: dict[str, Any] = (
        {"marker": "o", "markersize": 2.4} if len(times) <= _WITH_MARKERS else {}
    )
    ax.plot(times, shown, label="observed", color=style.BLACK, linewidth=0.8, **markers)
