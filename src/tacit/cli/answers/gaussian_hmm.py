"""Answers of a hidden Markov model whose states emit numbers.

A table holds sequences of numbers in the long form, where a column says to which sequence a row belongs; or
all its columns together are one sequence. The diagnostics of a model hold the layout of its training data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.answers.number_sequences import (
    LAYOUT,
    Read,
    give_sample,
    next_numbers,
    of_several_kinds,
    one_type,
    place_of,
    print_score,
    read_sequences,
    sequences_for,
    target_of,
)
from tacit.cli.answers.predictions import QUANTILES, Predictions, checked_levels
from tacit.cli.answers.states import position_columns, states_by_position

__all__ = ["filled", "predictions", "print_sample", "print_score", "states"]

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series


def read_numbers(
    path: Path, sequence: str | None, drop: list[str] | None, known: str | None = None
) -> Read:
    """The sequences of a table to learn from.

    Parameters
    ----------
    path : Path
    sequence : str, optional
        The column that says to which sequence a row belongs; else `sequence`, where there is one.
    drop : list of str, optional
        Columns that are left out.
    known : str, optional
        A column of states, which is left out where the table has it.
    """
    from tacit.cli.answers.table_files import without
    from tacit.sequences.data.sequence_frames import SEQUENCE

    table = without(path, drop or [])
    if known in table.column_names:
        table = table.drop_columns([known])
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
    known: str | None,
    validation: Path | None,
    json: bool,
) -> None:
    """Fit a model of numbers, or of columns of several kinds, save it, and say what was learnt.

    Parameters
    ----------
    model : HMM
    data, output : Path
    sequence : str, optional
        See `read_numbers`; of columns of several kinds `model.emissions` says it.
    drop : list of str, optional
        Columns that are left out.
    known : str, optional
        A column of states that are known.
    validation : Path, optional
    json : bool
    """
    from tacit.cli.answers.known_states import known_states
    from tacit.cli.answers.table_files import arrow_table
    from tacit.cli.output import console, print_json
    from tacit.sequences.data.sequence_frames import SEQUENCE
    from tacit.sequences.emissions import emission_for

    table, held_out = arrow_table(data), None
    if isinstance(model.emissions, Mapping):
        read = of_several_kinds(emission_for(model.emissions, None), table)
        states = known_states(table, known, _roles(model.emissions), by_time=True)
        held_out = None if validation is None else arrow_table(validation)
    else:
        read = read_numbers(data, sequence, drop, known)
        label = read.layout["sequence"]
        states = known_states(table, known, {} if label is None else {label: SEQUENCE})
        if validation is not None:
            held_out = read_numbers(validation, sequence, drop, known).series
    model.fit(read.series, validation=held_out, states=states)
    model.set_params(progress=None)
    model.diagnostics_[LAYOUT] = read.layout
    model.save(output)
    n, n_positions = len(read.labels), read.series.n_positions
    if json:
        record = {"model": str(output), "n_sequences": n, "n_positions": n_positions}
        record |= {"columns": list(model.names_), "n_states": model.n_states_}
        print_json({**record, "candidates": model.diagnostics_.get("candidates")})
        return
    console().print(
        f"{n} sequence{_plural(n)}, {n_positions} positions, {len(model.names_)} "
        f"column{_plural(len(model.names_))}; hidden states: {model.n_states_}; saved as {output}",
        markup=False,
    )


def _roles(emissions: Mapping[str, str]) -> dict[str, str]:
    """The columns of sequences and times."""
    from tacit.sequences.data.mixed_columns import SEQUENCE, TIME

    return {name: role for name, role in emissions.items() if role in (SEQUENCE, TIME)}


def _plural(n: int) -> str:
    return "" if n == 1 else "s"


# -- answers -------------------------------------------------------------------------------------


def predictions(
    fitted: Any,
    data: Path,
    *,
    target: str | None,
    quantiles: Sequence[float] | None,
    all_positions: bool,
) -> Predictions:
    """The number, or the category, that comes next after each sequence, or at each position."""
    read, name = sequences_for(fitted, data), target_of(fitted, target)
    levels, place = checked_levels(quantiles, QUANTILES), list(fitted.names_).index(name)
    categories = getattr(read.series, "categories", None)
    if categories and categories[place] is not None:
        return _next_categories(fitted, read, name, categories[place], all_positions=all_positions)
    means = fitted.expectation(read.series, all_positions=all_positions)
    quantile_values = fitted.quantiles(read.series, [*levels, 0.5], all_positions=all_positions)
    if len(fitted.names_) > 1:
        if all_positions:
            means = [rows[:, place] for rows in means]
            quantile_values = [rows[:, place] for rows in quantile_values]
        else:
            means, quantile_values = means[:, place], quantile_values[:, place]
    return next_numbers(
        read, fitted.names_, name, levels, means, quantile_values, all_positions=all_positions
    )


def _next_categories(
    fitted: Any, read: Read, name: str, categories: Sequence[Any], *, all_positions: bool
) -> Predictions:
    """The likeliest category of a column that comes next, and the probabilities of all of them."""
    import numpy as np

    chances = fitted.predict_next_proba(read.series, target=name, all_positions=all_positions)
    labels = read.by_position if all_positions else read.labels
    table = np.concatenate(chances) if all_positions else np.asarray(chances)
    names = [str(category) for category in categories]
    best = [names[code] for code in table.argmax(axis=1)]
    columns = {read.heading: labels, name: best}
    columns |= {f"P({name}={category})": row for category, row in zip(names, table.T, strict=True)}
    return Predictions(name, columns, {"predicted": best, "probabilities": table})


def states(fitted: Any, data: Path) -> Predictions:
    """The Viterbi path, and the posterior of each position."""
    read = sequences_for(fitted, data)
    return states_by_position(fitted, read.series, read.labels, read.heading)


def filled(fitted: Any, data: Path) -> tuple[Any, int]:
    """A row for each position with its numbers, or its cells of several kinds."""
    import numpy as np
    import pyarrow as pa

    read = sequences_for(fitted, data)
    n_filled = int(np.isnan(read.series.values).sum())
    columns = position_columns(read.series, read.labels, read.heading)
    if isinstance(fitted.emissions, Mapping):
        frames = fitted.impute(read.series)
        columns |= {
            name: one_type([cell for frame in frames for cell in frame[name]])
            for name in fitted.names_
        }
        return pa.table(columns), n_filled
    rows = [sequence.reshape(-1, len(fitted.names_)) for sequence in fitted.impute(read.series)]
    values = np.concatenate([np.zeros((0, len(fitted.names_))), *rows])
    columns |= dict(zip(fitted.names_, values.T, strict=True))
    return pa.table(columns), n_filled


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
    """Draw sequences, or what follows a beginning; in the long form."""
    length = length or 100
    drawn = fitted.sample(n, length, given=_prefix(fitted, given), random_state=seed)
    give_sample(fitted, drawn, n, length, output, json=json)


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


def chosen_numbers(fitted: Any, data: Path, label: str | None) -> Series:
    """One sequence of a file: the one of this label, or the only one."""
    import numpy as np

    read = sequences_for(fitted, data)
    place = place_of(read.labels, label, data)
    values = read.series.values[read.series.ends[place] : read.series.ends[place + 1]]
    return replace(read.series, values=values, lengths=np.array([len(values)]))
