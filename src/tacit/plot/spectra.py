"""The picture of the singular values behind a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.model import Model
from tacit.errors import NotAvailableError
from tacit.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_NAMED = 60  # edges up to which each is named


def singular_values(model: Any, ax: Axes | None = None, *, max_label: int = 24) -> Axes:
    """Singular values that were kept and cut, on a log scale: at each edge of a tree, or of a chain in turn.

    Where kept values are far above the threshold and cut ones far below, the number of states is clear;
    where they crowd around it, more data or fewer states are needed. Edges are sorted by their smallest kept
    value, the weakest first. A hidden Markov model, an automaton or topics have one spectrum, from the
    largest value on: where it turns flat, noise begins.

    Parameters
    ----------
    model : fitted model, or its ``diagnostics_``
        ``diagnostics_["edges"]`` has ``{"kept": [...], "cut": [...], "threshold": number}`` for each edge, by
        its name; or it is a list of these, each with its name as ``"edge"``. Of models of sequences
        ``diagnostics_["singular_values"]`` and ``diagnostics_["n_kept"]`` (or "n_supported"), with the level
        of "noise" where it is known; or ``singular_values_`` and ``rank_``. Of topics the eigenvalues of
        pairs of words, ``diagnostics_["moments"]``.
    ax : matplotlib.axes.Axes, optional
    max_label : int
        Longer names of edges are cut.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotAvailableError
        The model kept no singular values: it was not fitted, or not by a spectral method.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> edges = [{"edge": "h1 - h2", "kept": [0.9, 0.3], "cut": [0.01], "threshold": 0.05}]
    >>> singular_values({"edges": edges}).get_yscale()
    'log'
    """
    plt = style.pyplot()
    spectrum = _spectrum(model)
    if spectrum is not None:
        return _draw_spectrum(*spectrum, ax)
    edges = sorted(_edges(model), key=lambda edge: min(edge["kept"], default=0.0))
    if ax is None:
        width = max(4.0, 0.22 * min(len(edges), _NAMED) + 1.2)
        _, ax = plt.subplots(figsize=(width, 3.6), layout="constrained")
    floor = _floor(edges)
    for part, colour, marker, filled in (
        ("kept", style.BLUE, "o", True),
        ("cut", style.VERMILION, "x", False),
    ):
        places = [place for place, edge in enumerate(edges) for _ in edge.get(part, ())]
        values = [max(value, floor) for edge in edges for value in edge.get(part, ())]
        ax.scatter(
            places,
            values,
            s=22,
            marker=marker,
            color=colour,
            linewidths=0.0 if filled else 1.2,
            label=part,
            zorder=3,
        )
    _draw_thresholds(ax, edges)
    ax.set_yscale("log")
    ax.set_xlim(-0.6, len(edges) - 0.4)
    ax.set_ylabel("singular value")
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if len(edges) <= _NAMED:
        ax.set_xticks(range(len(edges)), [_shown(edge["edge"], max_label) for edge in edges])
        ax.tick_params(axis="x", labelrotation=90, labelsize=7, length=0)
    else:
        ax.set_xlabel("edge, from the weakest to the strongest")
    ax.legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    return ax


def _spectrum(model: Any) -> tuple[Array, int, float | None] | None:
    """The singular values of a model of sequences or topics, how many were kept, and the level of noise."""
    diagnostics = _diagnostics(model)
    pairs = diagnostics.get("moments", diagnostics)
    if isinstance(pairs, Mapping) and "eigenvalues" in pairs:
        return np.array(pairs["eigenvalues"]), len(pairs["values"]), float(pairs["noise"])
    values = np.asarray(diagnostics.get("singular_values", ()), dtype=np.float64)
    if not len(values):
        return None
    names = ("n_kept", "n_supported", "rank")
    numbers_kept = (diagnostics[name] for name in names if name in diagnostics)
    n_kept = int(next(numbers_kept, len(values)))
    noise = diagnostics.get("noise")
    return values, n_kept, None if noise is None else float(noise)


def _draw_spectrum(values: Array, n_kept: int, noise: float | None, ax: Axes | None) -> Axes:
    """The values from the largest on, those that are zero at the bottom."""
    if ax is None:
        width = min(max(4.0, 0.12 * len(values) + 1.2), 9.0)
        _, ax = style.pyplot().subplots(figsize=(width, 3.2), layout="constrained")
    real = values[values > 1e-14]
    heights = np.maximum(values, real.min() / 3 if len(real) else 1e-14)
    places = np.arange(1, len(values) + 1)
    ax.scatter(places[:n_kept], heights[:n_kept], s=22, color=style.BLUE, label="kept", zorder=3)
    if n_kept < len(values):
        look: dict[str, Any] = {"marker": "x", "color": style.VERMILION, "linewidths": 1.2}
        ax.scatter(places[n_kept:], heights[n_kept:], s=22, label="cut", zorder=3, **look)
    if noise:
        ax.axhline(noise, color=style.BLACK, linewidth=1.0, label="noise")
    ax.set_yscale("log")
    ax.set_xlim(0.4, len(values) + 0.6)
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("number")
    ax.set_ylabel("singular value")
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    return ax


def _diagnostics(model: Any) -> Mapping[str, Any]:
    """The diagnostics of a model, or those that were given; of automata with their singular values."""
    if isinstance(model, Mapping):
        return model
    if not isinstance(model, Model) or not model.__sklearn_is_fitted__():
        return {}
    if model.kind == "sequences" and model.can("ends") and not model.can("transitions"):
        return {"singular_values": model.singular_values_, **model.diagnostics_}
    return model.diagnostics_


def _edges(model: Any) -> Sequence[Mapping[str, Any]]:
    edges = _diagnostics(model).get("edges")
    if not edges:
        raise NotAvailableError(
            f"{type(model).__name__} has no singular values; pass a model fitted by a spectral method "
            f"or its diagnostics_"
        )
    if isinstance(edges, Mapping):
        return [{"edge": name, **values} for name, values in edges.items()]
    return list(edges)


def _floor(edges: Sequence[Mapping[str, Any]]) -> float:
    """The height at which values that are zero up to rounding are drawn: below all others."""
    values = [value for edge in edges for part in ("kept", "cut") for value in edge.get(part, ())]
    values += [edge["threshold"] for edge in edges if edge.get("threshold") is not None]
    real = [value for value in values if value > 1e-14]
    return min(real) / 3 if real else 1e-14


def _draw_thresholds(ax: Axes, edges: Sequence[Mapping[str, Any]]) -> None:
    """A line over each edge at its threshold; one line where all have the same."""
    known = [(p, edge["threshold"]) for p, edge in enumerate(edges) if edge.get("threshold")]
    if known:
        places, levels = np.array([place for place, _ in known]), [level for _, level in known]
        ax.hlines(
            levels, places - 0.5, places + 0.5, color=style.BLACK, linewidth=1.0, label="threshold"
        )


def _shown(name: Any, max_label: int) -> str:
    line = " ".join(str(name).split()).replace("$", r"\$")
    return line if len(line) <= max_label else line[: max_label - 1] + "…"
