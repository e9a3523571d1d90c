"""The right model of a table, fitted."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tacit.errors import BinningWarning
from tacit.numbers.kernel_tree import KernelTree
from tacit.trees.latent_tree import LatentTree

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable


def fit_table(
    X: Any,
    *,
    columns: Mapping[Any, str] | None = None,
    sample_weight: Any = None,
    validation: Any = None,
    effort: str = "default",
    unknown: str = "error",
    n_jobs: int | None = None,
    progress: Any = None,
    random_state: int = 0,
) -> KernelTree | LatentTree:
    """The fitted model of a table: a `KernelTree` where a column holds numbers, else a `LatentTree`.

    Everything is chosen by held-out rows. What each column was taken for stands in the model's `summary`.

    Parameters
    ----------
    X : table
        A pandas, polars or Arrow frame, an array, a dict or list of columns or rows, a path to CSV or
        Parquet, or an iterable of chunks of these that can be run through several times.
    columns : mapping of column to kind, optional
        What columns are, where it is not seen from their values: "category", "ordered", "count", "number",
        "date" or "ignore" (left out).
    sample_weight : (row,) array, optional
        How much each row counts.
    validation : table, optional
        Rows to choose with; without them a part of X.
    effort : {"low", "default", "high"}
        The budget of what is compared: see `LatentTree`.
    unknown : {"error", "missing"}
        What a category is at query time that was never seen.
    n_jobs : int or None
        Threads. None: one, and all processors where something is chosen by held-out rows.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of whatever is drawn while fitting.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> size = np.random.default_rng(0).lognormal(size=200)
    >>> model = tacit.fit_table({"size": size, "class": np.where(size > 1, "large", "small")})
    >>> type(model).__name__, model.predict({"size": [0.2, 5.0]}, target="class").tolist()
    ('KernelTree', ['small', 'large'])
    """
    model = model_for(
        X,
        columns,
        effort=effort,
        unknown=unknown,
        n_jobs=n_jobs,
        progress=progress,
        random_state=random_state,
    )
    return model.fit(X, sample_weight=sample_weight, validation=validation)


def model_for(
    X: Any, columns: Mapping[Any, str] | None, **arguments: Any
) -> KernelTree | LatentTree:
    """The unfitted model that fits a table: one of numbers where any column holds numbers."""
    from tacit.core.input.read_mixed_table import learnt_schema

    kind = KernelTree if learnt_schema(X, columns=columns).continuous else LatentTree
    return kind(columns=columns, **arguments)


def fit_coded(table: MixedTable, seed: int, *, n_jobs: int | None) -> KernelTree | LatentTree:
    """The fitted model of a table that was read already, for filling its gaps.

    Unknown categories are missing values to it. Values that many rows share are narrow peaks: its experts
    then use such a number as evidence for the others, which a probability does not let them do.
    """
    from tacit.core.input.table import Schema, Table

    if table.schema.continuous:
        model = KernelTree(atoms=False, unknown="missing", n_jobs=n_jobs, random_state=seed)
        return model.fit(table)
    codes = Table(Schema(table.schema.columns), table.codes, table.weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BinningWarning)
        return LatentTree(unknown="missing", n_jobs=n_jobs, random_state=seed).fit(codes)
