"""The picture of a column's distribution, given other columns."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, ArgumentTypeError, NotAvailableError
from tacit.plot import style
from tacit.plot.models import can, number_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Row = Mapping[str, Any]

_N_PLACES = 400  # of the horizontal axis where a density is looked up
_LINE = 56  # characters of a line of the legend
_MARGINAL = "nothing given"


def conditional_density(
    model: Any,
    target: str,
    given: Row | Mapping[str, Row] | Sequence[Row] | None = None,
    ax: Axes | None = None,
    *,
    marginal: bool = True,
) -> Axes:
    """The density of a column of numbers given evidence, or the probabilities of categories as bars.

    Several sets of evidence are drawn over each other; what they have in common is the title of the legend.
    The marginal distribution is drawn behind them in grey.

    Parameters
    ----------
    model : fitted model
        `KernelTree` or `GaussianTree`; columns of categories are drawn for every model that has
        ``predict_proba``.
    target : str
        The column that is drawn.
    given : mapping of column to value, sequence of these, or mapping of name to these, optional
        One set of evidence, several, or several with names for the legend. Cells that are None or NaN count
        as missing, and so does the target. Rows of a frame are
        ``frame.to_dict("records")`` with pandas, ``frame.to_dicts()`` with polars.
    ax : matplotlib.axes.Axes, optional
    marginal : bool
        Whether the distribution without evidence is drawn.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        There are more sets of evidence than can be distinguished.
    ColumnError
        There is no such column.
    NotAvailableError
        The model is not fitted, or has no conditional densities.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> x = np.random.default_rng(0).normal(size=(200, 1)) + np.random.default_rng(1).normal(
    ...     size=(200, 2)
    ... )
    >>> model = tacit.GaussianTree().fit(x)
    >>> axes = conditional_density(model, "x1", given=[{"x0": -2}, {"x0": 2}])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['nothing given', 'x0 = -2', 'x0 = 2']
    """
    plt = style.pyplot()
    if not can(model, "predict") or model.kind != "table":
        raise NotAvailableError(
            f"{type(model).__name__} has no conditional densities; pass a fitted model of a table"
        )
    schema = model.schema_
    place = schema.index(target)
    evidence = _evidence(given, target)
    for name in {name: None for row in evidence.rows for name in row}:
        schema.index(name)  # raises for an unknown column
    if ax is None:
        lines = (
            sum(label.count("\n") + 1 for label in (*evidence.labels, evidence.title)) + marginal
        )
        _, ax = plt.subplots(figsize=(5.4, 3.2 + 0.17 * lines), layout="constrained")
    if place in number_places(model):
        _draw_curves(ax, model, target, evidence, marginal=marginal)
    else:
        _draw_bars(ax, model, target, evidence, marginal=marginal)
    ax.set_xlabel(target, parse_math=False)
    ax.set_ylim(bottom=0.0)
    ax.spines[["top", "right"]].set_visible(False)
    _draw_legend(ax, evidence)
    return ax


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Sets of evidence, and their labels in the legend."""

    rows: Sequence[Row]
    labels: list[str]
    title: str  # what all have in common

    def table(self, target: str) -> dict[str, list[Any]]:
        """The rows as columns; with the target as an empty column, so that rows without evidence count."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        columns = {name: [row.get(name) for row in self.rows] for name in names}
        return {**columns, target: [None] * len(self.rows)}


def _evidence(given: Any, target: str) -> _Evidence:
    names: list[str] | None = None
    rows = [] if given is None else given
    if isinstance(rows, Mapping):
        if rows and all(isinstance(condition, Mapping) for condition in rows.values()):
            names, rows = [str(name) for name in rows], list(rows.values())
        else:
            rows = [rows]
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise ArgumentTypeError(
            "given must be a mapping of column to value, or a list of these; rows of a pandas frame are "
            'frame.to_dict("records")'
        )
    most = len(style.COLOURS) * len(style.DASHES)
    if len(rows) > most:
        raise ArgumentError(
            f"{len(rows)} sets of evidence cannot be told apart; give at most {most}"
        )
    known = [
        {name: value for name, value in row.items() if name != target and not _absent(value)}
        for row in rows
    ]
    if names is not None:
        return _Evidence(known, [_wrapped(name) for name in names], "")
    common = dict(known[0]) if len(known) > 1 else {}
    for row in known:
        common = {
            name: value for name, value in common.items() if name in row and row[name] == value
        }
    distinct = [{name: value for name, value in row.items() if name not in common} for row in known]
    title = _said(common) if common else ""
    return _Evidence(known, [_said(row) if row else "nothing else" for row in distinct], title)


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _said(row: Row) -> str:
    return _wrapped(", ".join(f"{name} = {_shown(value)}" for name, value in row.items()))


def _shown(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(" ".join(text.split()), _LINE)) or " "


def _draw_curves(ax: Axes, model: Any, target: str, evidence: _Evidence, *, marginal: bool) -> None:
    """One curve for each set of evidence, over the area of the marginal."""
    nothing = {target: [None]}
    (ends,) = model.quantiles(nothing, target, (1e-3, 1 - 1e-3))
    grid, _ = model.conditional_density(nothing, target)
    low, high = min(float(grid[0]), ends[0]), max(float(grid[-1]), ends[1])
    grid = np.union1d(grid, np.linspace(low, high, _N_PLACES))
    if marginal:
        _, (behind,) = model.conditional_density(nothing, target, grid)
        ax.fill_between(grid, behind, color=style.PALE, linewidth=0.0, label=_MARGINAL)
    if evidence.rows:
        _, densities = model.conditional_density(evidence.table(target), target, grid)
        for number, (density, label) in enumerate(zip(densities, evidence.labels, strict=True)):
            colour, dash = _look(number)
            ax.plot(grid, density, color=colour, linestyle=dash, linewidth=1.6, label=label)
    ax.set_xlim(low, high)
    ax.set_ylabel("density")


def _draw_bars(ax: Axes, model: Any, target: str, evidence: _Evidence, *, marginal: bool) -> None:
    """A group of bars for each category, over one wide bar of the marginal."""
    categories = [_shown(value) for value in model.categories_[target]]
    places = np.arange(len(categories))
    if marginal:
        (behind,) = model.predict_proba({target: [None]}, target=target)
        ax.bar(places, behind, width=0.9, color=style.PALE, label=_MARGINAL)
    if evidence.rows:
        probabilities = model.predict_proba(evidence.table(target), target=target)
        width = 0.74 / len(probabilities)
        for number, (heights, label) in enumerate(zip(probabilities, evidence.labels, strict=True)):
            colour, dash = _look(number)
            shift = (number - (len(probabilities) - 1) / 2) * width
            hatch = dict(zip(style.DASHES, (None, "//////", "......", "xxxxxx"), strict=True))[dash]
            ax.bar(
                places + shift,
                heights,
                width=0.9 * width,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.0,
                label=label,
            )
    longest = max(style.text_widths(categories))
    ax.set_xticks(places, categories, parse_math=False)
    ax.tick_params(axis="x", length=0)
    if longest * len(categories) > 30:  # labels would overlap
        ax.tick_params(axis="x", labelrotation=90, labelsize=7 if len(categories) > 20 else None)
    ax.set_xlim(-0.6, len(categories) - 0.4)
    ax.set_ylabel("probability")


def _look(number: int) -> tuple[str, str]:
    n_colours = len(style.COLOURS)
    return style.COLOURS[number % n_colours], style.DASHES[number // n_colours]


def _draw_legend(ax: Axes, evidence: _Evidence) -> None:
    """The legend: the evidence of each curve or bar."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    legend = ax.legend(
        handles,
        labels,
        title=f"given {evidence.title}" if evidence.title else None,
        fontsize=8,
        title_fontsize=8,
        alignment="left",
        **style.legend_place(ax),
    )
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
