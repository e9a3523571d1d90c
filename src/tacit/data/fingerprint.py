"""A short name for the data that a model was taught."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from tacit.data.table import Table

# Tables up to this many rows are read whole; of longer ones, this many rows spread evenly, and the sum of
# every column, which a change in any other row is likely to change too.
_ROWS = 2**16


def fingerprint(table: Table) -> str:
    """A text of 32 hexadecimal digits that depends on the columns, the codes and the weights.

    The same data give the same text on every machine; it is meant to tell data apart by accident, not to
    withstand somebody who wants two tables to look the same.

    Examples
    --------
    >>> from tacit.data.reading import read_table
    >>> first, second = read_table([["a"], ["b"]]), read_table([["b"], ["a"]])
    >>> fingerprint(first) == fingerprint(first), fingerprint(first) == fingerprint(second)
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    head = {"columns": table.schema.to_json(), "shape": list(table.codes.shape)}
    digest.update(json.dumps(head, sort_keys=True).encode())
    n_rows = table.n_rows
    whole = n_rows <= _ROWS
    rows = slice(None) if whole else np.linspace(0, n_rows - 1, _ROWS).astype(np.int64)
    for place in range(len(table.schema)):
        column = table.codes[:, place]
        digest.update(column[rows].astype("<i4").tobytes())
        if not whole:
            digest.update(np.array([column.sum(dtype=np.int64)], dtype="<i8").tobytes())
    if table.weights is not None:
        digest.update(table.weights.astype("<f8").tobytes())
    return digest.hexdigest()
