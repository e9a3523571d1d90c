"""Answers of models of tables: scores, predicted columns, classes, drawn rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli.answers.predictions import (
    QUANTILES,
    Predictions,
    checked_levels,
    mean_and_error,
    number_errors,
    number_predictions,
)
from tacit.cli.answers.table_files import as_column
from tacit.cli.options import given_values, holds_numbers, number_places

if TYPE_CHECKING:
    from numpy.typing import NDArray


def print_score(fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
    """Print the mean log-likelihood of the rows; write that of each row."""
    from tacit.cli.output import console, print_json, put_table

    values, repairs = fitted.score_samples(data), {}
    if fitted.can("components"):
        values, repairs = fitted.score_samples(data, return_repairs=True)
    if output is not None:
        import pyarrow as pa

        name = "log_density" if number_places(fitted) else "log_prob"
        put_table(pa.table({name: values}), output)
    mean, error, shown = mean_and_error(values)
    if json:
        score = {"score": mean, "standard_error": error, "n_rows": len(values)}
        print_json({**score, "repairs": repairs})
        return
    console().print(f"{mean:.4f}{shown} nats per row, {len(values)} rows", markup=False)


def predictions(
    fitted: Any,
    data: Path,
    *,
    target: str | None,
    quantiles: Sequence[float] | None,
    all_positions: bool,
) -> Predictions:
    """A column from the others, in each row: category and probabilities, or mean and quantiles."""
    from tacit.errors import ArgumentError

    if target is None:
        raise typer.BadParameter("name a column", param_hint="--target")
    if all_positions:
        raise ArgumentError(
            f"--all-positions is for sequences, and {type(fitted).__name__} is of rows"
        )
    if holds_numbers(fitted, target):
        return _numbers(fitted, data, target, quantiles)
    if quantiles:
        raise ArgumentError(f"column {target!r} holds categories; --quantile is for numbers")
    return _categories(fitted, data, target)


def states(fitted: Any, data: Path) -> Predictions:
    """The most likely state of every hidden variable in each row, and the probabilities of all."""
    from tacit.cli.kinds import not_available

    posteriors = fitted.posterior(data)
    if not posteriors:
        raise not_available(fitted, "has no hidden variables here")
    columns: dict[str, Any] = {name: p.argmax(axis=1) for name, p in posteriors.items()}
    values = {"states": dict(columns), "probabilities": posteriors}
    first = next(iter(columns))
    for name, probabilities in posteriors.items():
        columns |= {f"P({name}={m})": column for m, column in enumerate(probabilities.T)}
    return Predictions(first, columns, values)


def print_sample(
    fitted: Any,
    n: int,
    length: int | None,
    given: list[str] | None,
    seed: int | None,
    output: Path | None,
    *,
    json: bool,
) -> None:
    """Draw rows, with the cells that are given."""
    from tacit.cli.output import check_table_path, give_table
    from tacit.errors import NotAvailableError

    check_table_path(output)
    if length is not None:
        raise NotAvailableError(f"{type(fitted).__name__} draws rows; leave --length out")
    known = given_values(fitted, given)
    table = fitted.sample(n, given=known, random_state=seed, like="pyarrow")
    give_table(table, output, json=json)


def _categories(fitted: Any, data: Path, target: str) -> Predictions:
    categories = fitted.schema_[target].categories
    probabilities = fitted.predict_proba(data, target=target)
    best = probabilities.argmax(axis=1)
    predicted = [categories[code] for code in best]
    predicted = as_column(predicted, categories)
    names = [str(category) for category in categories]
    columns: dict[str, Any] = {target: predicted}
    for name, column in zip(names, probabilities.T, strict=True):
        columns[f"P({target}={name})"] = column
    rows = [dict(zip(names, row, strict=True)) for row in probabilities.tolist()]
    codes = _cells(fitted, data, target)
    known = codes >= 0
    errors = {"known": int(known.sum()), "right": int((codes == best)[known].sum())}
    values = {"predicted": predicted, "probabilities": rows}
    return Predictions(target, columns, values, errors if known.any() else {})


def _numbers(
    fitted: Any, data: Path, target: str, quantiles: Sequence[float] | None
) -> Predictions:
    levels = checked_levels(quantiles, QUANTILES)
    means = fitted.expectation(data, target)
    quantile_values = fitted.quantiles(data, target, [*levels, 0.5])
    columns, values = number_predictions(target, levels, means, quantile_values)
    errors = number_errors(_cells(fitted, data, target), means, quantile_values[:, -1])
    return Predictions(target, columns, values, errors)


def _cells(fitted: Any, data: Path, target: str) -> NDArray[Any]:
    """The target's cells in DATA: codes, -1 where missing, or numbers, NaN where missing."""
    from tacit.core.input.mixed_table import MixedSchema
    from tacit.core.input.read_mixed_table import encode_mixed
    from tacit.core.input.read_table import encode

    schema, unknown = fitted.schema_, fitted.unknown
    if isinstance(schema, MixedSchema):
        return encode_mixed(data, schema, unknown=unknown, partial=True).column(target)
    table = encode(data, schema, unknown=unknown, partial=True)
    return table.codes[:, schema.index(target)]
