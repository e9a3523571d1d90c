"""Hidden states of sequences and of rows, from a model that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def states_of(fitted: Any, data: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states behind each position or row: a table's columns, and the same for JSON.

    Of each position the state on the most likely path, and the probabilities of all states given the whole
    sequence. Of each row the likeliest state of every hidden variable, and the probabilities of all.
    """
    import numpy as np

    from tacit.cli.answers import number_sequences as sequences
    from tacit.cli.answers import symbol_sequences as symbols
    from tacit.cli.answers.gaussian_hmm import shows_numbers
    from tacit.errors import NotAvailableError

    if hasattr(fitted, "schema_") and hasattr(fitted, "posterior"):
        return _states_of_rows(fitted, data)
    if not fitted.can("paths"):
        raise NotAvailableError(
            f"{type(fitted).__name__} has no hidden states over time (fit hmm); leave --states out"
        )
    if shows_numbers(fitted):
        numbers = sequences.sequences_for(fitted, data)
        held: Any = numbers.series
        labels, heading = numbers.labels, numbers.heading
    else:
        words = symbols.sequences_for(fitted, data)
        held, labels, heading = words.sequences, words.labels, words.heading
    paths, logs = fitted.predict(held, return_log_probs=True)
    path = np.concatenate([np.zeros(0, dtype=np.int32), *paths])
    shares = np.concatenate([np.zeros((0, fitted.n_states_)), *fitted.posterior(held)])
    named = [one for one, n in zip(labels, held.lengths, strict=True) for _ in range(n)]
    places = np.arange(len(path)) - np.repeat(held.ends[:-1], held.lengths)
    columns: dict[str, Any] = {} if labels == [""] else {heading: named}
    columns |= {"position": places, "state": path}
    columns |= {f"P(state={m})": shares[:, m] for m in range(fitted.n_states_)}
    said = {"sequences": named, "states": path, "probabilities": shares, "log_probs": logs}
    return columns, said


def _states_of_rows(fitted: Any, data: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from tacit.cli.answers.trees import hidden_states
    from tacit.errors import NotAvailableError

    if not hidden_states(fitted):
        raise NotAvailableError(
            f"{type(fitted).__name__} has no hidden variables (fit tree, fit classes); leave --states out"
        )
    shares = fitted.posterior(data)
    columns: dict[str, Any] = {name: chances.argmax(axis=1) for name, chances in shares.items()}
    said = {"states": dict(columns), "probabilities": shares}
    for name, chances in shares.items():
        columns |= {f"P({name}={m})": chances[:, m] for m in range(chances.shape[1])}
    return columns, said
