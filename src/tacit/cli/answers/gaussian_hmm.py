"""The answers of a hidden Markov model whose states show normal numbers.

A table holds sequences of numbers in the long form, where a column says to which sequence a row belongs; or
all its columns together are one sequence. A model remembers in its diagnostics which way it was taught.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.answers.number_sequences import (
    LAYOUT,
    SHARES,
    Read,
    number_errors,
    read_sequences,
    sequences_for,
    target_of,
    told_numbers,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.sequences.data.number_sequences import Series


def shows_numbers(fitted: Any) -> bool:
    """Whether a model is one of hidden states that show numbers."""
    return hasattr(fitted, "symbols_") and not fitted.symbols_


def read_numbers(path: Path, sequence: str | None, drop: list[str] | None) -> Read:
    """The sequences of a table to learn from.

    Parameters
    ----------
    path : Path
    sequence : str, optional
        The column that says to which sequence a row belongs; else `sequence`, where there is one.
    drop : list of str, optional
        Columns that are left out.
    """
    from tacit.cli.answers.table_files import without
    from tacit.sequences.data.sequence_frames import SEQUENCE

    table = without(path, drop or [])
    if sequence is None and SEQUENCE in table.column_names:
        sequence = SEQUENCE
    return read_sequences(table, label=sequence, together=True)


def learn_and_save(
    model: Any,
    data: Path,
    output: Path,
    *,
    sequence: str | None,
    drop: list[str] | None,
    validation: Path | None,
    json: bool,
) -> None:
    """Fit a model of numbers, save it, and say what was learnt."""
    from tacit.cli.output import console, print_json

    read = read_numbers(data, sequence, drop)
    held_out = None if validation is None else read_numbers(validation, sequence, drop).series
    model.fit(read.series, validation=held_out)
    model.set_params(progress=None)
    model.diagnostics_[LAYOUT] = read.layout
    model.save(output)
    n, n_positions = len(read.labels), read.series.n_positions
    if json:
        said = {"model": str(output), "n_sequences": n, "n_positions": n_positions}
        said |= {"columns": list(model.names_), "n_states": model.n_states_}
        print_json({**said, "candidates": model.diagnostics_.get("candidates")})
        return
    console().print(
        f"{n} sequence{_plural(n)}, {n_positions} positions, {len(model.names_)} "
        f"column{_plural(len(model.names_))}; hidden states: {model.n_states_}; saved as {output}",
        markup=False,
    )


def _plural(n: int) -> str:
    return "" if n == 1 else "s"


# -- answers -------------------------------------------------------------------------------------


def score_numbers(fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
    """Tell the mean log-density of a sequence, and of a position given those before it."""
    import numpy as np

    from tacit.cli.output import console, print_json, put_table

    read = sequences_for(fitted, data)
    logs = fitted.score_samples(read.series)
    if output is not None:
        import pyarrow as pa

        columns = {read.heading: read.labels, "length": read.series.lengths, "log_density": logs}
        put_table(pa.table(columns), output)
    n, there = len(logs), ~np.isnan(read.series.values).all(axis=1)
    mean, n_positions = float(logs.mean()), int(there.sum())
    each = float(logs.sum() / n_positions) if n_positions else float("nan")
    spread = float(logs.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    if json:
        said = {"score": mean, "standard_error": spread, "n_sequences": n}
        print_json({**said, "n_positions": n_positions, "per_position": each})
        return
    error = f" ± {spread:.4f}" if np.isfinite(spread) else ""
    console().print(
        f"{mean:.4f}{error} nats per sequence, {n} sequence{_plural(n)}; {each:.4f} nats per position",
        markup=False,
    )


def predicted_numbers(
    fitted: Any, data: Path, target: str | None, shares: list[float] | None, *, each: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What comes next after each sequence, or at each position: a table's columns, and more for JSON."""
    import numpy as np

    from tacit.cli.answers.conditionals import checked_shares

    read, name = sequences_for(fitted, data), target_of(fitted, target)
    asked, place = checked_shares(shares, SHARES), list(fitted.names_).index(name)
    means = fitted.expectation(read.series, all_positions=each)
    quantiles = fitted.quantiles(read.series, [*asked, 0.5], all_positions=each)
    labels = read.labels
    if each:
        means, quantiles, labels = np.concatenate(means), np.concatenate(quantiles), _each(read)
    if len(fitted.names_) > 1:
        means, quantiles = means[:, place], quantiles[:, place]
    columns, said = told_numbers(name, asked, means, quantiles)
    columns = columns if read.labels == [""] else {read.heading: labels, **columns}
    said = {"sequences": labels, **said}
    if each:
        said |= number_errors(read.series.values[:, place], means, quantiles[:, -1])
    return columns, said


def _each(read: Read) -> list[str]:
    """The label of each position."""
    return [one for one, n in zip(read.labels, read.series.lengths, strict=True) for _ in range(n)]


def drawn_numbers(
    fitted: Any, n: int, length: int | None, given: list[str] | None, seed: int | None
) -> pa.Table:
    """Sequences drawn from the model, or what follows a beginning, in the long form."""
    import numpy as np
    import pyarrow as pa

    length = length or 100
    drawn = fitted.sample(n, length, given=_prefix(fitted, given), random_state=seed)
    label = fitted.diagnostics_.get(LAYOUT, {}).get("sequence") or "sequence"
    columns = dict(zip(fitted.names_, drawn.reshape(n * length, -1).T, strict=True))
    return pa.table({label: np.repeat(np.arange(n), length), **columns})


def _prefix(fitted: Any, given: list[str] | None) -> Any:
    """What came before: numbers with blanks between them, of a single column."""
    import numpy as np

    from tacit.errors import ArgumentError, NotAvailableError

    if not given:
        return None
    if len(fitted.names_) > 1:
        raise NotAvailableError(
            f"positions have the columns {', '.join(map(repr, fitted.names_))}; --given takes numbers of a "
            f"single one, rows are given in Python: model.sample(n, length, given=rows)"
        )
    try:
        return np.array([float(word) for word in " ".join(given).split()])
    except ValueError as error:
        raise ArgumentError(
            f'--given takes the numbers that came before, such as "0.5 1.2": {error}'
        ) from error


def describe(header: dict[str, Any], fitted: Any, *, json: bool) -> None:
    """Tell what a model of numbers holds: how often each state is visited, and what it shows."""
    import numpy as np
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.output import console, print_diagnostics, print_json

    if json:
        keys = ("estimator", "version", "format", "arguments")
        said = {key: header.get(key) for key in keys}
        more = {"columns": list(fitted.names_), "n_states": fitted.n_states_}
        shown = {"means": fitted.means_, "covariances": fitted.covariances_}
        print_json({**said, **more, **shown, "diagnostics": fitted.diagnostics_})
        return
    out, n = console(), len(fitted.names_)
    out.print(
        f"{header['estimator']}: {n} column{_plural(n)} of numbers, hidden states: {fitted.n_states_} "
        f"(written by Tacit {header['version']})\n",
        markup=False,
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("state", "visited", *fitted.names_):
        table.add_column(Text(heading), justify="right")
    deviations = np.sqrt(np.diagonal(fitted.covariances_, axis1=1, axis2=2))
    for state, share in enumerate(fitted.parameters_.stationary):
        pairs = zip(fitted.means_[state], deviations[state], strict=True)
        cells = [f"{mean:.4g} ± {spread:.4g}" for mean, spread in pairs]
        table.add_row(str(state), f"{share:.4f}", *cells)
    out.print(table)
    print_diagnostics(out, {k: v for k, v in fitted.diagnostics_.items() if k != "candidates"})


def chosen_numbers(fitted: Any, data: Path, label: str | None) -> Series:
    """One sequence of a file: the one of this label, or the only one."""
    import numpy as np

    from tacit.cli.answers.number_sequences import place_of
    from tacit.sequences.data.number_sequences import Series

    read = sequences_for(fitted, data)
    place = place_of(read.labels, label, data)
    values = read.series.values[read.series.ends[place] : read.series.ends[place + 1]]
    return Series(values, np.array([len(values)]), read.series.names)
