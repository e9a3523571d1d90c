"""Tables as sequences of numbers, and the answers of a model of such sequences.

A table holds them in one of three ways: every column is a sequence of its own; one column says to which
sequence a row belongs, and the others are what was seen (the long form); or all columns together are one
sequence. A model remembers in its diagnostics which way it was taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.sequences.data.number_sequences import Series

LAYOUT = "layout"  # of the diagnostics
SHARES = (0.05, 0.5, 0.95)  # of quantiles, where none are asked for


@dataclass(frozen=True, eq=False)
class Read:
    """Sequences that were read from a table."""

    series: Series
    labels: list[str]  # (sequence,)  what each is called
    layout: dict[str, Any]  # how the table holds them, for the next table

    @property
    def heading(self) -> str:
        """What the column of labels is called in a table of answers."""
        return str(self.layout["sequence"] or "sequence")


def is_chain(fitted: Any) -> bool:
    """Whether a model is one of sequences of numbers."""
    return hasattr(fitted, "log_predictive")


def table_model(path: Path) -> Any:
    """The model of a file that answers about rows of a table, not about sequences."""
    from tacit.cli.options import asked_model

    fitted = asked_model(path)
    check_of_rows(fitted)
    return fitted


def check_of_rows(fitted: Any) -> None:
    """Raise where a model is one of sequences, and say what there is for these."""
    from tacit.errors import NotAvailableError

    if is_chain(fitted) or hasattr(fitted, "symbols_"):
        picture = "forecast" if is_chain(fitted) else "plot"
        raise NotAvailableError(
            f"{type(fitted).__name__} is a model of sequences, which score, predict, sample, {picture} "
            f"and info tell about"
        )


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
    """The sequences of a file, held in the way that a model was taught."""
    from tacit.cli.answers.table_files import arrow_table
    from tacit.core.input.number_matrix import read_numbers
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError

    table = arrow_table(path)
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


def _wide(names: Sequence[str], matrix: Any, layout: dict[str, Any]) -> Read:
    """A sequence for each column; what is missing at its end is not part of it."""
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
    which = np.array([number.setdefault(label, len(number)) for label in labels])
    order = np.argsort(which, kind="stable")
    lengths = np.bincount(which, minlength=len(number))
    said = ["" if label is None else str(label) for label in number]
    return Read(Series(matrix[order], lengths, tuple(names)), said, layout)


# -- answers -----------------------------------------------------------------------------------


def score_sequences(fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
    """Tell the mean log-density of a sequence, and of a position given those before it."""
    import numpy as np

    from tacit.cli.output import console, print_json, put_table

    read = sequences_for(fitted, data)
    logs, repairs = fitted.score_samples(read.series, return_repairs=True)
    if output is not None:
        import pyarrow as pa

        put_table(pa.table({read.heading: read.labels, "log_density": logs}), output)
    n, n_positions = len(logs), int((~np.isnan(read.series.values).all(axis=1)).sum())
    mean = float(logs.mean())
    each = float(logs.sum() / n_positions) if n_positions else float("nan")
    spread = float(logs.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    if json:
        said = {"score": mean, "standard_error": spread, "n_sequences": n}
        said |= {"n_positions": n_positions, "per_position": each}
        print_json({**said, "repairs": repairs})
        return
    error = f" ± {spread:.4f}" if np.isfinite(spread) else ""
    plural = "" if n == 1 else "s"
    console().print(
        f"{mean:.4f}{error} nats per sequence, {n} sequence{plural}; {each:.4f} nats per position",
        markup=False,
    )


def predicted_sequences(
    fitted: Any, data: Path, target: str | None, shares: list[float] | None, *, each: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What comes next after each sequence, or at each position: a table's columns, and more for JSON."""
    import numpy as np

    from tacit.cli.answers.conditionals import checked_shares

    read = sequences_for(fitted, data)
    name = target_of(fitted, target)
    asked = checked_shares(shares, SHARES)
    about = {"target": name, "all_positions": each}
    means = fitted.expectation(read.series, **about)
    quantiles = fitted.quantiles(read.series, [*asked, 0.5], **about)
    labels = read.labels
    if each:
        means, quantiles = np.concatenate(means), np.concatenate(quantiles)
        labels = [
            label for label, n in zip(labels, read.series.lengths, strict=True) for _ in range(n)
        ]
    columns, said = told_numbers(name, asked, means, quantiles)
    columns = columns if read.labels == [""] else {read.heading: labels, **columns}
    said = {"sequences": labels, **said}
    if each:
        cells = read.series.values[:, list(fitted.names_).index(name)]
        said |= number_errors(cells, means, quantiles[:, -1])
    return columns, said


def told_numbers(
    name: str, shares: Sequence[float], means: Any, quantiles: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Means and quantiles (row, share and whatever follows): a table's columns, and the same for JSON."""
    from tacit.cli.answers.conditionals import percent

    names = [f"{name} {percent(share)}" for share in shares]
    columns = {name: means, **dict(zip(names, quantiles.T, strict=False))}
    rows = [dict(zip(map(str, shares), row, strict=False)) for row in quantiles.tolist()]
    return columns, {"predicted": means, "quantiles": rows}


def number_errors(cells: Any, means: Any, medians: Any) -> dict[str, Any]:
    """How far predictions are from the cells that are known; nothing where none is."""
    import numpy as np

    known = np.isfinite(cells)
    if not known.any():
        return {}
    return {
        "known": int(known.sum()),
        "mean_absolute_error": float(np.abs(cells - medians)[known].mean()),
        "root_mean_square_error": float(np.sqrt(((cells - means)[known] ** 2).mean())),
    }


def drawn_sequences(fitted: Any, n: int, length: int, seed: int | None) -> pa.Table:
    """Sequences drawn from the model, in the long form."""
    import numpy as np
    import pyarrow as pa

    drawn = fitted.sample(n, length, random_state=seed).reshape(n * length, -1)
    label = fitted.diagnostics_.get(LAYOUT, {}).get("sequence") or "sequence"
    columns = dict(zip(fitted.names_, drawn.T, strict=True))
    return pa.table({label: np.repeat(np.arange(n), length), **columns})


def describe(header: dict[str, Any], fitted: Any, *, json: bool) -> None:
    """Tell what a model of sequences holds."""
    from tacit.cli.output import console, print_diagnostics, print_json

    if json:
        keys = ("estimator", "version", "format", "arguments")
        said = {key: header.get(key) for key in keys}
        more = {"columns": fitted.names_, "n_states": fitted.n_states_}
        print_json({**said, **more, "diagnostics": fitted.diagnostics_})
        return
    out = console()
    plural = "" if len(fitted.names_) == 1 else "s"
    kind = "operators of rank" if fitted.learn == "spectral" else "hidden states:"
    out.print(
        f"{header['estimator']}: {len(fitted.names_)} column{plural}, {kind} {fitted.n_states_} "
        f"(written by Tacit {header['version']})\n",
        markup=False,
    )
    for name, encoder in zip(fitted.names_, fitted.encoders_, strict=True):
        grid = encoder.grid()
        out.print(f"{name}: numbers, about {grid[0]:.4g} to {grid[-1]:.4g}", markup=False)
    print_diagnostics(out, {k: v for k, v in fitted.diagnostics_.items() if k != "candidates"})


def chosen_sequence(fitted: Any, data: Path, label: str | None) -> Any:
    """One sequence of a file as (time, column) numbers: the one of this label, or the only one."""
    read = sequences_for(fitted, data)
    place = place_of(read.labels, label, data)
    return read.series.values[read.series.ends[place] : read.series.ends[place + 1]]


def place_of(labels: list[str], label: str | None, data: Path) -> int:
    """Which of the sequences of a file is meant: the one of this label, or the only one."""
    from tacit.errors import ArgumentError

    if (label is None and len(labels) != 1) or (label is not None and label not in labels):
        what = "no sequence is chosen" if label is None else f"there is no sequence {label!r}"
        shown = ", ".join(map(repr, labels[:12])) + (", ..." if len(labels) > 12 else "")
        raise ArgumentError(f"{what}; {str(data)!r} has {shown}: name one by --sequence")
    return 0 if label is None else labels.index(label)


def target_of(fitted: Any, target: str | None) -> str:
    """The column that is meant: the one named, or the only one."""
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError

    if target is None and len(fitted.names_) > 1:
        raise ColumnError(
            f"positions have several columns, {', '.join(map(repr, fitted.names_))}; name one by --target"
        )
    if target is not None and target not in fitted.names_:
        raise ColumnError(unknown_column_text(target, fitted.names_))
    return str(target or fitted.names_[0])
