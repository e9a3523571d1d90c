"""`tacit score`: how probable rows are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.options import DataOrSequences, Json, Model, Unknown, asked_model


def score(
    model: Model,
    data: DataOrSequences,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the logarithm of each row or sequence here.",
        ),
    ] = None,
    unknown_as_missing: Unknown = False,
    json: Json = False,
) -> None:
    """Mean natural-log likelihood of the rows of DATA; of sequences, of their positions or symbols.

    Numbers count with their density. Missing cells and columns are summed out.
    """
    import numpy as np

    from tacit.cli.answers.gaussian_hmm import score_numbers, shows_numbers
    from tacit.cli.answers.number_sequences import is_chain, score_sequences
    from tacit.cli.answers.symbol_sequences import is_symbolic, score_symbols
    from tacit.cli.output import check_table_path, console, print_json, put_table

    check_table_path(output)
    fitted = asked_model(model)
    if is_chain(fitted):
        score_sequences(fitted, data, output, json=json)
        return
    if shows_numbers(fitted):
        score_numbers(fitted, data, output, json=json)
        return
    if unknown_as_missing:
        fitted.set_params(unknown="missing")
    if is_symbolic(fitted):
        score_symbols(fitted, data, output, json=json)
        return
    values, repairs = _scores(fitted, data)
    if output is not None:
        import pyarrow as pa

        numbers = getattr(fitted.schema_, "continuous", ())
        put_table(pa.table({"log_density" if numbers else "log_prob": values}), output)
    mean, n_rows = float(np.mean(values)), len(values)
    spread = float(np.std(values, ddof=1) / np.sqrt(n_rows)) if n_rows > 1 else float("nan")
    if json:
        print_json({"score": mean, "standard_error": spread, "n_rows": n_rows, "repairs": repairs})
        return
    error = f" ± {spread:.4f}" if n_rows > 1 and np.isfinite(spread) else ""
    console().print(f"{mean:.4f}{error} nats per row, {n_rows} rows", markup=False)


def _scores(fitted: Any, data: Path) -> tuple[Any, dict[str, Any]]:
    """The logarithm of each row, and what had to be repaired."""
    if hasattr(fitted, "gaussian_"):
        return fitted.score_samples(data), {}
    values, repairs = fitted.score_samples(data, return_repairs=True)
    return values, repairs
