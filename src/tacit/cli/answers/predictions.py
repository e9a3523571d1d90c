"""Predictions for each row, position or sequence of a file, and their errors where the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

QUANTILES = (0.05, 0.5, 0.95)  # where none are named


@dataclass(frozen=True, eq=False)
class Predictions:
    """A table of predictions."""

    target: str  # the column that holds what was predicted
    columns: dict[str, Any]  # the table
    values: dict[str, Any]  # the same for JSON
    errors: dict[str, Any] = field(default_factory=dict)  # "known" and "right", or mean errors

    def show(self, output: Path | None, *, json: bool) -> None:
        """Print them, or write them to a file and report it."""
        import pyarrow as pa

        from tacit.cli.output import console, print_json, put_table

        if json:
            print_json({"target": self.target, **self.values, **self.errors})
            if output is None:
                return
        put_table(pa.table(self.columns), output)
        if output is None or json:
            return
        n_rows = len(self.columns[self.target])
        console().print(f"{n_rows} rows written to {output}{self._accuracy()}", markup=False)

    def _accuracy(self) -> str:
        """The accuracy for cells that DATA has, if it has any."""
        if "right" in self.errors:
            return f"; {self.errors['right']} of {self.errors['known']} known values right"
        if "known" in self.errors:
            error = self.errors["mean_absolute_error"]
            return f"; {self.errors['known']} known values, mean absolute error {error:.4g}"
        return ""


def number_predictions(
    target: str, levels: Sequence[float], means: Any, quantiles: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Means and quantiles (row, level and whatever follows) as columns of a table, and for JSON."""
    names = [f"{target} {percent(level)}" for level in levels]
    columns = {target: means, **dict(zip(names, quantiles.T, strict=False))}
    rows = [dict(zip(map(str, levels), row, strict=False)) for row in quantiles.tolist()]
    return columns, {"predicted": means, "quantiles": rows}


def number_errors(cells: Any, means: Any, medians: Any) -> dict[str, Any]:
    """Errors of the predictions of known cells; empty if no cell is known."""
    import numpy as np

    known = np.isfinite(cells)
    if not known.any():
        return {}
    return {
        "known": int(known.sum()),
        "mean_absolute_error": float(np.abs(cells - medians)[known].mean()),
        "root_mean_square_error": float(np.sqrt(((cells - means)[known] ** 2).mean())),
    }


def checked_levels(levels: Sequence[float] | None, default: Sequence[float]) -> list[float]:
    """Levels of quantiles in order, each once and between 0 and 1."""
    ordered = sorted(set(levels or default))
    wrong = [level for level in ordered if not 0 < level < 1]
    if wrong:
        raise typer.BadParameter(f"{wrong[0]:g} is not between 0 and 1", param_hint="--quantile")
    return ordered


def percent(level: float) -> str:
    """A level in per cent, with as few digits as needed."""
    return f"{100 * level:.6g}%"


def mean_and_error(values: Any) -> tuple[float, float, str]:
    """The mean of some values, its standard error (NaN of one value), and the error as text."""
    import numpy as np

    n = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return float(np.mean(values)), error, f" ± {error:.4f}" if np.isfinite(error) else ""


def check_no_target(
    fitted: Any,
    predicted: str,
    target: str | None,
    quantiles: Sequence[float] | None,
    *,
    all_positions: bool,
) -> None:
    """Raise where options are given though a model predicts one thing only, such as a class."""
    from tacit.errors import ArgumentError

    if target is not None or quantiles or all_positions:
        raise ArgumentError(
            f"{type(fitted).__name__} predicts the {predicted} of each row; leave --target, --quantile and "
            f"--all-positions out"
        )
