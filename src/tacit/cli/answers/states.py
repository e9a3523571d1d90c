"""Hidden states of sequences."""

from __future__ import annotations

from typing import Any

from tacit.cli.answers.predictions import Predictions


def position_columns(sequences: Any, labels: list[str], heading: str) -> dict[str, Any]:
    """Columns of a table with a row for each position: the label of the sequence, and the position.

    Parameters
    ----------
    sequences : Sequences or Series
    labels : list of str
        Of each sequence; an empty text where there is one without a name, which gets no column.
    heading : str
        Of the column of labels.
    """
    import numpy as np

    pairs = zip(labels, sequences.lengths, strict=True)
    by_position = [label for label, n in pairs for _ in range(n)]
    n_positions = int(sequences.lengths.sum())
    positions = np.arange(n_positions) - np.repeat(sequences.ends[:-1], sequences.lengths)
    columns: dict[str, Any] = {} if labels == [""] else {heading: by_position}
    return columns | {"position": positions}


def states_by_position(fitted: Any, sequences: Any, labels: list[str], heading: str) -> Predictions:
    """The state of each position on the Viterbi path, and its posterior given the whole sequence.

    Parameters
    ----------
    fitted : HMM
    sequences : Sequences or Series
    labels : list of str
        Of each sequence.
    heading : str
        Of the column of labels.
    """
    import numpy as np

    paths, log_probs = fitted.predict(sequences, return_log_probs=True)
    path = np.concatenate([np.zeros(0, dtype=np.int32), *paths])
    posteriors = np.concatenate([np.zeros((0, fitted.n_states_)), *fitted.posterior(sequences)])
    columns = position_columns(sequences, labels, heading)
    by_position = columns.get(heading, [""] * len(path))
    columns["state"] = path
    columns |= {f"P(state={m})": column for m, column in enumerate(posteriors.T)}
    values = {"sequences": by_position, "states": path, "probabilities": posteriors}
    return Predictions("state", columns, {**values, "log_probs": log_probs})
