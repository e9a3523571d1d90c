"""Files as sequences of symbols, and the answers of a model of such sequences.

A file has any format that `sequences.data.sequence_files` reads. For tables with a row for each symbol, the
diagnostics of a model hold the names of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.answers.number_sequences import LAYOUT, place_of
from tacit.cli.answers.predictions import Predictions, mean_and_error
from tacit.cli.answers.states import position_columns, states_by_position
from tacit.cli.answers.table_files import as_column

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences

SequenceFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Sequences: a line for each (.txt), FASTA, PAutomaC, or a table with a row for each symbol.",
    ),
]
SequenceColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Of a table: the column that says to which sequence a row belongs; else `sequence`.",
    ),
]
SymbolColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Of a table: the column of symbols; else `symbol`."),
]

_END = "end of sequence"


@dataclass(frozen=True, eq=False)
class Read:
    """Sequences that were read from a file."""

    sequences: Sequences
    labels: list[str]  # (sequence,)  what each is called
    heading: str  # what the column of labels is called in a table of answers


def read_file(
    path: Path,
    *,
    sequence: str | None = None,
    symbol: str | None = None,
    symbols: Any = None,
    unknown: str = "error",
) -> Read:
    """The sequences of a file, over known symbols or those of the file.

    Parameters
    ----------
    path : Path
    sequence, symbol : str, optional
        Columns of a table.
    symbols : sequence, optional
    unknown : {"error", "missing"}
    """
    from tacit.errors import ArgumentError
    from tacit.sequences.data.read_sequences import read_sequences
    from tacit.sequences.data.sequence_files import TABLE_SUFFIXES, plain_suffix, table_in
    from tacit.sequences.data.sequence_frames import SEQUENCE, is_long

    is_table = plain_suffix(path) in TABLE_SUFFIXES
    if not is_table and (sequence, symbol) != (None, None):
        raise ArgumentError(
            f"--sequence and --symbol are for tables, and {str(path)!r} is none; leave them out"
        )
    data: Any = table_in(path) if is_table else path
    columns = {"sequence": sequence, "symbol": symbol}
    sequences = read_sequences(data, symbols=symbols, unknown=unknown, **columns)
    heading = sequence or SEQUENCE
    labels = _fasta_names(path)
    if is_table and is_long(data.column_names, sequence, symbol):
        names = dict.fromkeys(data.column(heading).to_pylist())
        labels = [str(name) for name in names]
    if labels is None:
        labels = [str(number) for number in range(len(sequences.lengths))]
    return Read(sequences, labels, heading)


def _fasta_names(path: Path) -> list[str] | None:
    from tacit.sequences.data.fasta import SUFFIXES, read_fasta
    from tacit.sequences.data.sequence_files import plain_suffix

    if plain_suffix(path) not in SUFFIXES:
        return None
    return [name for name, _ in read_fasta(path)]


def sequences_for(fitted: Any, path: Path) -> Read:
    """The sequences of a file, laid out as the model's training data."""
    from tacit.sequences.data.sequence_files import TABLE_SUFFIXES, plain_suffix

    layout = fitted.diagnostics_.get(LAYOUT, {}) if plain_suffix(path) in TABLE_SUFFIXES else {}
    return read_file(path, **layout, symbols=fitted.symbols_, unknown=fitted.unknown)


# -- learning ------------------------------------------------------------------------------------


def learn_and_save(
    model: Any,
    data: Path,
    output: Path,
    *,
    sequence: str | None,
    symbol: str | None,
    validation: Path | None,
    json: bool,
    known: str | None = None,
) -> None:
    """Fit a model of symbols, save it, and say what was learnt; `known` is a column of known states."""
    read = read_file(data, sequence=sequence, symbol=symbol)
    more = {} if known is None else {"states": _known_states(data, known, sequence, symbol)}
    held_out = None
    if validation is not None:
        symbols = {"symbols": read.sequences.symbols, "unknown": model.unknown}
        held_out = read_file(validation, sequence=sequence, symbol=symbol, **symbols).sequences
    model.fit(read.sequences, validation=held_out, **more)
    model.set_params(progress=None)
    if (sequence, symbol) != (None, None):
        model.diagnostics_[LAYOUT] = {"sequence": sequence, "symbol": symbol}
    model.save(output)
    _report(model, read.sequences, output, json=json)


def _known_states(data: Path, known: str, sequence: str | None, symbol: str | None) -> Any:
    """The states that a column of a table says."""
    from tacit.cli.answers.known_states import known_states
    from tacit.errors import ArgumentError
    from tacit.sequences.data.sequence_files import TABLE_SUFFIXES, plain_suffix, table_in
    from tacit.sequences.data.sequence_frames import SEQUENCE, is_long

    table: Any = table_in(data) if plain_suffix(data) in TABLE_SUFFIXES else None
    if table is None or not is_long(table.column_names, sequence, symbol):
        raise ArgumentError(
            f"--known-states is for tables with a row for each symbol, and {str(data)!r} is none; leave it "
            f"out"
        )
    return known_states(table, known, {sequence or SEQUENCE: SEQUENCE})


def _report(model: Any, learnt_from: Sequences, output: Path, *, json: bool) -> None:
    from tacit.cli.output import console, print_json

    n, n_positions = len(learnt_from.lengths), learnt_from.n_positions
    if json:
        record = {"model": str(output), "n_sequences": n, "n_positions": n_positions}
        record |= {"n_symbols": model.n_symbols_, **size_of(model)}
        print_json({**record, "candidates": model.diagnostics_.get("candidates")})
        return
    size = _size_in_words(model)
    console().print(
        f"{n} sequence{'' if n == 1 else 's'}, {n_positions} positions, {model.n_symbols_} symbols; "
        f"{size}; saved as {output}",
        markup=False,
    )


def size_of(model: Any) -> dict[str, int]:
    """The size of a model: its rank, or its states, and the number of automata of an ensemble."""
    if not model.can("transitions"):
        return {"rank": model.rank_ if model.can("ends") else model.n_states_}
    parts = {"n_automata": len(model.parts_)} if model.can("ends") else {}
    return {"n_states": model.n_states_, **parts}


def _size_in_words(model: Any) -> str:
    words = {"rank": "rank", "n_states": "hidden states:", "n_automata": "automata:"}
    return ", ".join(f"{words[name]} {number}" for name, number in size_of(model).items())


# -- answers -------------------------------------------------------------------------------------


def print_score(fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
    """Print the mean log-probability of a sequence, and of a symbol given those before it."""
    import numpy as np

    from tacit.cli.output import console, print_json, put_table
    from tacit.errors import DataError

    read = sequences_for(fitted, data)
    logs, repairs = fitted.score_samples(read.sequences, return_repairs=True)
    n = len(logs)
    if not n:
        raise DataError(f"{str(data)!r} holds no sequence")
    if output is not None:
        import pyarrow as pa

        columns = {read.heading: read.labels, "length": read.sequences.lengths, "log_prob": logs}
        put_table(pa.table(columns), output)
    n_symbols = int((read.sequences.codes >= 0).sum())
    n_events = n_symbols + (n if fitted.can("ends") else 0)
    per_symbol = float(logs.sum() / n_events) if n_events else float("nan")
    perplexity = float(np.exp(-per_symbol))
    mean, error, shown = mean_and_error(logs)
    if json:
        score = {"score": mean, "standard_error": error, "n_sequences": n, "n_symbols": n_symbols}
        score |= {"per_symbol": per_symbol, "perplexity": perplexity}
        print_json({**score, "repairs": repairs})
        return
    counted = " or end" if fitted.can("ends") else ""
    console().print(
        f"{mean:.4f}{shown} nats per sequence, {n} sequence{'' if n == 1 else 's'}; {per_symbol:.4f} nats "
        f"per symbol{counted}, perplexity {perplexity:.4g}",
        markup=False,
    )


def predictions(
    fitted: Any,
    data: Path,
    *,
    target: str | None,
    quantiles: Any,
    all_positions: bool,
) -> Predictions:
    """The symbol that comes next after each sequence, or at each position, with all probabilities."""
    import numpy as np

    from tacit.errors import ArgumentError

    if target is not None or quantiles:
        raise ArgumentError(
            "it is the next symbol that is predicted; leave --target and --quantile out"
        )
    read = sequences_for(fitted, data)
    sequences, labels = read.sequences, read.labels
    probabilities = fitted.predict_next_proba(sequences, all_positions=all_positions)
    if all_positions:
        width = probabilities[0].shape[1] if probabilities else 0
        probabilities = np.concatenate([np.zeros((0, width)), *probabilities])
        pairs = zip(labels, sequences.lengths, strict=True)
        labels = [label for label, n in pairs for _ in range(n)]
    names = [str(symbol) for symbol in fitted.symbols_] + [_END] * fitted.can("ends")
    best = probabilities.argmax(axis=1) if len(probabilities) else np.zeros(0, dtype=np.int64)
    predicted = [names[code] for code in best]
    columns: dict[str, Any] = {read.heading: labels, "next": predicted}
    if all_positions:
        starts = np.repeat(sequences.ends[:-1], sequences.lengths)
        columns["position"] = np.arange(sequences.n_positions) - starts
    columns |= {f"P({name})": probabilities[:, place] for place, name in enumerate(names)}
    rows = [dict(zip(names, row, strict=True)) for row in probabilities.tolist()]
    errors = {}
    if all_positions:
        known = sequences.codes >= 0
        right = int((best == sequences.codes)[known].sum())
        errors = {"known": int(known.sum()), "right": right}
    values = {"sequences": labels, "predicted": predicted, "probabilities": rows}
    return Predictions("next", columns, values, errors)


def states(fitted: Any, data: Path) -> Predictions:
    """The Viterbi path, and the posterior of each position."""
    read = sequences_for(fitted, data)
    return states_by_position(fitted, read.sequences, read.labels, read.heading)


def filled(fitted: Any, data: Path) -> tuple[Any, int]:
    """A row for each position with its symbol, and the probability of those that were missing."""
    import numpy as np
    import pyarrow as pa

    read = sequences_for(fitted, data)
    symbols, probabilities = fitted.impute(read.sequences, return_proba=True)
    columns = position_columns(read.sequences, read.labels, read.heading)
    flat = [symbol for sequence in symbols for symbol in sequence]
    name = fitted.diagnostics_.get(LAYOUT, {}).get("symbol") or "symbol"
    none = np.zeros((0, len(fitted.symbols_)))
    columns[name] = as_column(flat, fitted.symbols_)
    columns["probability"] = np.concatenate([none, *probabilities]).max(axis=1, initial=0.0)
    return pa.table(columns), int((read.sequences.codes < 0).sum())


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
    """Draw sequences, or what follows a beginning: a row for each symbol, or a line for each sequence."""
    from tacit.cli.output import check_table_path

    if not is_lines(output):
        check_table_path(output)
    options: dict[str, Any] = {"given": _prefix(fitted, given), "random_state": seed}
    if fitted.can("ends"):
        drawn = fitted.sample(n, max_length=length or 1000, **options)
    else:
        drawn = fitted.sample(n, length or 100, **options)
    _give_sample(list(drawn), fitted, output, json=json)


def _prefix(fitted: Any, given: list[str] | None) -> Any:
    """What came before: symbols with blanks between them, or characters without."""
    if not given:
        return None
    tokens = " ".join(given).split()
    known = {str(symbol) for symbol in fitted.symbols_}
    if len(tokens) == 1 and tokens[0] not in known and set(tokens[0]) <= known:
        tokens = list(tokens[0])
    return [tokens]


def _give_sample(drawn: list[list[Any]], fitted: Any, output: Path | None, *, json: bool) -> None:
    """Write and print sequences: a row for each symbol, or with .txt a line for each sequence."""
    import pyarrow as pa

    from tacit.cli.output import console, print_json, put_table

    if json and output is None:
        print_json(drawn)
        return
    if is_lines(output):
        assert output is not None
        _write_lines(drawn, output)
    else:
        layout = fitted.diagnostics_.get(LAYOUT, {})
        numbers = [number for number, sequence in enumerate(drawn) for _ in sequence]
        symbols = [symbol for sequence in drawn for symbol in sequence]
        flat = as_column(symbols, fitted.symbols_)
        names = layout.get("sequence") or "sequence", layout.get("symbol") or "symbol"
        put_table(pa.table(dict(zip(names, (numbers, flat), strict=True))), output)
    if json:
        print_json({"n_sequences": len(drawn), "output": str(output)})
    elif output is not None:
        empty = sum(not sequence for sequence in drawn)
        more = f" ({empty} empty ones have no row)" if empty and not is_lines(output) else ""
        console().print(f"{len(drawn)} sequences written to {output}{more}", markup=False)


def is_lines(output: Path | None) -> bool:
    """Whether sequences are written as lines of text."""
    return output is not None and output.suffix.lower() == ".txt"


def _write_lines(drawn: list[list[Any]], output: Path) -> None:
    from tacit.core.files.atomic import write_bytes
    from tacit.errors import DataError

    for sequence in drawn:
        for symbol in sequence:
            if str(symbol).split() != [str(symbol)]:
                raise DataError(
                    f"the symbol {symbol!r} holds a blank, so lines could not be read back; write .csv"
                )
    text = "".join(" ".join(map(str, sequence)) + "\n" for sequence in drawn)
    write_bytes(output, text.encode())


def chosen_symbols(fitted: Any, data: Path, label: str | None) -> Sequences:
    """One sequence of a file: the one of this label, or the only one."""
    import numpy as np

    read = sequences_for(fitted, data)
    return read.sequences.take(np.array([place_of(read.labels, label, data)]))
