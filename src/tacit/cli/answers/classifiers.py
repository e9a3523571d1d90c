"""Answers of classifiers: the class of each row, sequence or line of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.cli.answers.predictions import Predictions, check_no_target


def predictions(
    fitted: Any,
    data: Path,
    *,
    target: str | None,
    quantiles: Sequence[float] | None,
    all_positions: bool,
) -> Predictions:
    """The most probable class of each row, and the probabilities of all."""
    check_no_target(fitted, "class", target, quantiles, all_positions=all_positions)
    probabilities = fitted.predict_proba(_rows(fitted, data))
    best = fitted.classes_[probabilities.argmax(axis=1)]
    columns = {"class": best}
    columns |= {
        f"P(class={name})": column
        for name, column in zip(fitted.classes_.tolist(), probabilities.T, strict=True)
    }
    values = {"predicted": best, "probabilities": probabilities, "classes": fitted.classes_}
    return Predictions("class", columns, values)


def _rows(fitted: Any, data: Path) -> Any:
    """What the models of the classes read: the file itself, or its columns of numbers."""
    from tacit.cli.answers.mixtures import rows_of

    density = fitted.models_[0]
    return rows_of(density, data) if density.kind == "mixture" else data
