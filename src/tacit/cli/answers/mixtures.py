"""Answers of Gaussian mixtures: scores, components, drawn rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.cli.answers.predictions import Predictions, check_no_target, mean_and_error


def print_score(fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
    """Print the mean log-density of the rows; write that of each row."""
    from tacit.cli.output import console, print_json, put_table

    values = fitted.score_samples(rows_of(fitted, data))
    if output is not None:
        import pyarrow as pa

        put_table(pa.table({"log_density": values}), output)
    mean, error, shown = mean_and_error(values)
    if json:
        print_json({"score": mean, "standard_error": error, "n_rows": len(values)})
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
    """The most likely component of each row, and the probabilities of all."""
    check_no_target(fitted, "component", target, quantiles, all_positions=all_positions)
    probabilities = fitted.predict_proba(rows_of(fitted, data))
    best = probabilities.argmax(axis=1)
    columns = {"component": best}
    columns |= {f"P(component={k})": column for k, column in enumerate(probabilities.T)}
    return Predictions("component", columns, {"predicted": best, "probabilities": probabilities})


def states(fitted: Any, data: Path) -> Predictions:
    """The components, which are the hidden states of a mixture."""
    return predictions(fitted, data, target=None, quantiles=None, all_positions=False)


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
    """Draw rows."""
    import pyarrow as pa

    from tacit.cli.output import check_table_path, give_table
    from tacit.errors import NotAvailableError

    check_table_path(output)
    if length is not None or given:
        raise NotAvailableError(
            f"{type(fitted).__name__} draws whole rows; leave --length and --given out"
        )
    rows = fitted.sample(n, random_state=seed)
    give_table(pa.table(dict(zip(_names(fitted), rows.T, strict=True))), output, json=json)


def _names(fitted: Any) -> list[str]:
    """Names of the columns, where the model was fitted to a table with names; else x0, x1, ..."""
    names = getattr(fitted, "feature_names_in_", None)
    return (
        [f"x{k}" for k in range(fitted.n_features_in_)] if names is None else list(map(str, names))
    )


def rows_of(fitted: Any, data: Path) -> Any:
    """The numbers of a table, in the model's columns where these have names."""
    import pyarrow as pa

    from tacit.cli.answers.table_files import arrow_table
    from tacit.core.input.number_matrix import read_numbers
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError

    table = arrow_table(data)
    if getattr(fitted, "feature_names_in_", None) is not None:
        names = _names(fitted)
        for name in names:
            if name not in table.column_names:
                raise ColumnError(unknown_column_text(name, table.column_names))
        numbers = read_numbers(table.select(names))[1]
        return pa.table(dict(zip(names, numbers.T, strict=True)))
    if table.num_columns != fitted.n_features_in_:
        raise ColumnError(
            f"{str(data)!r} has {table.num_columns} columns, the model {fitted.n_features_in_}"
        )
    return read_numbers(table)[1]
