"""Tables as sequences of numbers, and the answers of a model of such sequences.

A table holds them in one of three layouts: every column is a sequence; one column says to which sequence a
row belongs, and the others are observations (the long form); or all columns together are one sequence. The
diagnostics of a model hold the layout of its training data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.answers.predictions import (
    QUANTILES,
    Predictions,
    checked_levels,
    mean_and_error,
    number_errors,
    number_predictions,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.sequences.data.number_sequences import Series

LAYOUT = "layout"  # of the diagnostics


@dataclass(frozen=True, eq=False)
class Read:
    """Sequences that were read from a table."""

    series: Series
    labels: list[str]  # (sequence,)  what each is called
    layout: dict[str, Any]  # how the table holds them, for the next table

    @property
    def heading(self) -> str:
        """The name of the column of labels in a table of answers."""
        return str(self.layout["sequence"] or "sequence")

    @property
    def by_position(self) -> list[str]:
        """The label of each position."""
        pairs = zip(self.labels, self.series.lengths, strict=True)
        return [label for label, n in pairs for _ in range(n)]


def read_sequences(table: pa.Table, *, label: str | None = None, together: bool = False) -> Read:
    """The sequences of a table to learn from.

    Parameters
    ----------
    table : pyarrow.Table
    label : str, optional
        The column that says to which sequence a row belongs.
    together : bool
        Whether all columns are one sequence.
    """
    from tacit.core.input.number_matrix import read_numbers
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError

    if label is not None and label not in table.column_names:
        raise ColumnError(unknown_column_text(label, table.column_names))
    names, matrix = read_numbers(table.drop_columns([label]) if label else table)
    layout = {"sequence": label, "columns": list(names)}
    if label is not None:
        return _long(table.column(label).to_pylist(), names, matrix, layout)
    if together or len(names) == 1:
        return _long([""] * len(matrix), names, matrix, layout)
    return _wide(names, matrix, {"sequence": None, "columns": None})


def sequences_for(fitted: Any, path: Path) -> Read:
    """The sequences of a file, laid out as the model's training data."""
    from tacit.cli.answers.table_files import arrow_table
    from tacit.core.input.number_matrix import read_numbers
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError
    from tacit.sequences.emissions import emission_of

    table = arrow_table(path)
    if isinstance(getattr(fitted, "emissions", None), Mapping):
        emission = emission_of(fitted.parameters_, fitted.emissions)
        return of_several_kinds(emission, table, fitted.names_, fitted.unknown)
    layout = fitted.diagnostics_.get(LAYOUT, {"sequence": None, "columns": list(fitted.names_)})
    columns, label = layout["columns"], layout["sequence"]
    if columns is None:
        return _wide(*read_numbers(table), layout)
    for name in columns:
        if name not in table.column_names:
            raise ColumnError(unknown_column_text(name, table.column_names))
    names, matrix = read_numbers(table.select(columns))
    if label is None or label not in table.column_names:
        return _long([""] * len(matrix), names, matrix, layout)
    return _long(table.column(label).to_pylist(), names, matrix, layout)


def of_several_kinds(
    emission: Any, table: pa.Table, known: Any = None, unknown: str = "error"
) -> Read:
    """Columns of several kinds in the long form, with a column that says to which sequence a row belongs.

    Parameters
    ----------
    emission : Mixed
    table : pyarrow.Table
    known : tuple of str, optional
        The columns of a fitted model.
    unknown : {"error", "missing"}
        What is done with categories that it does not know.
    """
    from tacit.sequences.data.mixed_columns import SEQUENCE, column_of_role

    series = emission.read(table, None, known, unknown)
    label = column_of_role(SEQUENCE, emission.roles, table.column_names)
    if label not in table.column_names:
        label = None
    labels = [""] if label is None else list(dict.fromkeys(table.column(label).to_pylist()))
    layout = {"sequence": label, "columns": list(series.names)}
    # A list of sequences, so that answers about positions are lists too.
    return Read(replace(series, single=False), [str(label) for label in labels], layout)


def _wide(names: Sequence[str], matrix: Any, layout: dict[str, Any]) -> Read:
    """A sequence for each column, without missing cells at its end."""
    import numpy as np

    from tacit.sequences.data.number_sequences import Series

    ends = [np.flatnonzero(~np.isnan(column))[-1] + 1 for column in matrix.T]
    values = np.concatenate([column[:end] for column, end in zip(matrix.T, ends, strict=True)])
    return Read(Series(values[:, None], np.array(ends), ("x0",)), list(names), layout)


def _long(labels: list[Any], names: Sequence[str], matrix: Any, layout: dict[str, Any]) -> Read:
    """A sequence for each label, in the order in which they appear."""
    import numpy as np

    from tacit.sequences.data.number_sequences import Series

    number: dict[Any, int] = {}
    sequence_of_row = np.array([number.setdefault(label, len(number)) for label in labels])
    order = np.argsort(sequence_of_row, kind="stable")
    lengths = np.bincount(sequence_of_row, minlength=len(number))
    names_of_sequences = ["" if label is None else str(label) for label in number]
    return Read(Series(matrix[order], lengths, tuple(names)), names_of_sequences, layout)


# -- answers -----------------------------------------------------------------------------------


def print_score(fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
    """Print the mean log-density of a sequence, and of a position given those before it."""
    import numpy as np

    from tacit.cli.output import console, print_json, put_table

    read = sequences_for(fitted, data)
    logs, repairs = fitted.score_samples(read.series, return_repairs=True)
    if output is not None:
        import pyarrow as pa

        columns = {read.heading: read.labels, "length": read.series.lengths, "log_density": logs}
        put_table(pa.table(columns), output)
    mean, error, shown = mean_and_error(logs)
    n, n_positions = len(logs), int((~np.isnan(read.series.values).all(axis=1)).sum())
    per_position = float(logs.sum() / n_positions) if n_positions else float("nan")
    if json:
        score = {"score": mean, "standard_error": error, "n_sequences": n}
        score |= {"n_positions": n_positions, "per_position": per_position}
        print_json({**score, "repairs": repairs})
        return
    console().print(
        f"{mean:.4f}{shown} nats per sequence, {n} sequence{'' if n == 1 else 's'}; {per_position:.4f} "
        f"nats per position",
        markup=False,
    )


def predictions(
    fitted: Any,
    data: Path,
    *,
    target: str | None,
    quantiles: Sequence[float] | None,
    all_positions: bool,
) -> Predictions:
    """The number that comes next after each sequence, or at each position."""
    read, name = sequences_for(fitted, data), target_of(fitted, target)
    levels = checked_levels(quantiles, QUANTILES)
    options = {"target": name, "all_positions": all_positions}
    means = fitted.expectation(read.series, **options)
    quantile_values = fitted.quantiles(read.series, [*levels, 0.5], **options)
    return next_numbers(
        read, fitted.names_, name, levels, means, quantile_values, all_positions=all_positions
    )


def next_numbers(
    read: Read,
    names: Sequence[str],
    target: str,
    levels: Sequence[float],
    means: Any,
    quantiles: Any,
    *,
    all_positions: bool,
) -> Predictions:
    """A table of predicted numbers, by sequence, or by position."""
    import numpy as np

    labels, errors = read.labels, {}
    if all_positions:
        means, quantiles, labels = (
            np.concatenate(means),
            np.concatenate(quantiles),
            read.by_position,
        )
    columns, values = number_predictions(target, levels, means, quantiles)
    columns = columns if read.labels == [""] else {read.heading: labels, **columns}
    if all_positions:
        cells = read.series.values[:, list(names).index(target)]
        errors = number_errors(cells, means, quantiles[:, -1])
    return Predictions(target, columns, {"sequences": labels, **values}, errors)


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
    """Draw sequences; in the long form."""
    from tacit.errors import NotAvailableError

    if given:
        raise NotAvailableError("sequences are drawn from their start; leave --given out")
    length = length or 100
    give_sample(fitted, fitted.sample(n, length, random_state=seed), n, length, output, json=json)


def give_sample(
    fitted: Any, drawn: Any, n: int, length: int, output: Path | None, *, json: bool
) -> None:
    """Write or print sequences of numbers that were drawn, in the long form."""
    import numpy as np
    import pyarrow as pa

    from tacit.cli.output import check_table_path, give_table

    check_table_path(output)
    label = fitted.diagnostics_.get(LAYOUT, {}).get("sequence") or "sequence"
    if isinstance(drawn, list):  # columns of several kinds
        columns = {
            name: one_type([cell for sequence in drawn for cell in sequence[name]])
            for name in fitted.names_
        }
    else:
        columns = dict(zip(fitted.names_, drawn.reshape(n * length, -1).T, strict=True))
    give_table(pa.table({label: np.repeat(np.arange(n), length), **columns}), output, json=json)


def one_type(cells: list[Any]) -> list[Any]:
    """The cells, all of them as text where some are."""
    has_text = any(isinstance(cell, str) for cell in cells)
    return [str(cell) for cell in cells] if has_text else cells


def chosen_sequence(fitted: Any, data: Path, label: str | None) -> Any:
    """One sequence of a file as (time, column) numbers: the one of this label, or the only one."""
    read = sequences_for(fitted, data)
    place = place_of(read.labels, label, data)
    return read.series.values[read.series.ends[place] : read.series.ends[place + 1]]


def place_of(labels: list[str], label: str | None, data: Path) -> int:
    """The index of a sequence of a file: the one with this label, or the only one."""
    from tacit.errors import ArgumentError

    if (label is None and len(labels) != 1) or (label is not None and label not in labels):
        problem = "no sequence is chosen" if label is None else f"there is no sequence {label!r}"
        shown = ", ".join(map(repr, labels[:12])) + (", ..." if len(labels) > 12 else "")
        raise ArgumentError(f"{problem}; {str(data)!r} has {shown}: name one by --sequence")
    return 0 if label is None else labels.index(label)


def target_of(fitted: Any, target: str | None) -> str:
    """The target column: the one named, or the only one."""
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError

    if target is None and len(fitted.names_) > 1:
        raise ColumnError(
            f"positions have several columns, {', '.join(map(repr, fitted.names_))}; name one by --target"
        )
    if target is not None and target not in fitted.names_:
        raise ColumnError(unknown_column_text(target, fitted.names_))
    return str(target or fitted.names_[0])
