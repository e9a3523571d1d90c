"""The steps of `TableImputer.fit`: read, learn a model of the table, learn forests beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.core.arguments import seed_from
from tacit.core.input.chunks import Block, Chunks, as_source, check_size
from tacit.core.input.column_kinds import check_kinds
from tacit.core.input.mixed_table import MixedTable
from tacit.core.input.read_mixed_table import read_mixed
from tacit.core.input.table import listing
from tacit.core.input.values import Numbers
from tacit.core.progress import Report
from tacit.errors import DataError, EmptyColumnWarning
from tacit.numbers.learn.imputer.forest_shares import forests_beside
from tacit.numbers.model.forests import Forests
from tacit.numbers.query.missing_cells import predicted_cells

if TYPE_CHECKING:
    from tacit.numbers.kernel_tree import KernelTree
    from tacit.trees.latent_tree import LatentTree

    Model: TypeAlias = KernelTree | LatentTree


@dataclass(frozen=True, eq=False)
class Learnt:
    """What fills the gaps of a table."""

    table: MixedTable  # the training rows
    columns: tuple[str, ...]  # of the data, those without any value included
    empty: tuple[str, ...]  # columns without any value
    model: Model
    forests: Forests | None
    diagnostics: dict[str, Any]


def learn_imputer(
    X: Any,
    columns: Mapping[Any, str] | None,
    fit_model: Callable[[MixedTable, int], Model],
    *,
    forests: bool,
    random_state: Any,
    report: Report,
) -> Learnt:
    """Read a table and learn what fills its gaps; `fit_model` takes rows and a seed."""
    check_kinds(columns)
    seed = seed_from(random_state)
    source = as_source(X)
    names, empty = _names_and_empty(source)
    if empty:
        if len(empty) == len(names):
            raise DataError("no column has a value, so there is nothing to fill gaps by")
        what = f"column {empty[0]!r} has" if len(empty) == 1 else f"columns {listing(empty)} have"
        warnings.warn(f"{what} no value, and left out", EmptyColumnWarning, stacklevel=4)
    kinds = {**(columns or {}), **dict.fromkeys(empty, "ignore")}
    table = read_mixed(X, columns=kinds)
    report(0.1, "the model")
    model = fit_model(table, seed)
    beside, record = None, {"forests": "not used"}
    if forests and table.schema.continuous:
        report(0.5, "forests")
        beside, record = forests_beside(
            table,
            lambda rows: predicted_cells(model, rows),
            lambda rows: partial(predicted_cells, fit_model(rows, seed)),
            seed,
        )
    return Learnt(table, names, empty, model, beside, record)


def _names_and_empty(source: Block | Chunks) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the columns, and of those that have no value in any row."""
    names: tuple[str, ...] = ()
    filled: set[str] = set()
    n_rows = 0
    for block in [source] if isinstance(source, Block) else source:
        names = names or block.names
        n_rows += block.n_rows
        for place, name in enumerate(block.names):
            if name in filled:
                continue
            raw = block.read(place)
            present = ~np.isnan(raw.values) if isinstance(raw, Numbers) else raw.codes >= 0
            if present.any():
                filled.add(name)
    check_size(n_rows, len(names))
    return names, tuple(name for name in names if name not in filled)
