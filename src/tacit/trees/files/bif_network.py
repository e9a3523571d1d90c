"""A discrete Bayesian network as a value: what a BIF file holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileFormatError

# How far from one a row may sum. Files are often rounded to a few digits; rows are brought back to one.
_ROUNDED, _EXACT = 1e-2, 1e-12


@dataclass(frozen=True, slots=True)
class BifVariable:
    """A variable: its name, its categories, and whether it is hidden."""

    name: str
    categories: tuple[Any, ...]  # text, or text, numbers and booleans if Tacit wrote the file
    latent: bool = False
    properties: tuple[str, ...] = ()  # other properties, as they are written


@dataclass(frozen=True, slots=True, eq=False)
class BifTable:
    """P(variable | parents)."""

    variable: str
    parents: tuple[str, ...]
    values: NDArray[np.float64]  # (parent, ..., parent, variable)   sums to one over the last axis


@dataclass(frozen=True, eq=False)
class BifNetwork:
    """Variables, and for each of them its table; both in the order of the file.

    Raises
    ------
    FileFormatError
        A name occurs twice, a table is missing or has the wrong shape, or its rows do not sum to one (rows
        that do so up to a hundredth are brought to one).
    """

    name: str
    variables: tuple[BifVariable, ...]
    tables: tuple[BifTable, ...]
    properties: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that everything fits together, once and for all."""
        check_once([variable.name for variable in self.variables], "variables are")
        check_once([table.variable for table in self.tables], "variables have a table")
        for variable in self.variables:
            check_once(list(variable.categories), f"categories of {variable.name!r} are")
            if not variable.categories:
                raise FileFormatError(f"the variable {variable.name!r} has no categories")
            if variable.name not in self.table_of:
                raise FileFormatError(f"the variable {variable.name!r} has no probability table")
        object.__setattr__(self, "tables", tuple(self._checked(table) for table in self.tables))
        del self.__dict__["table_of"]  # made of the tables before they were brought to sum one

    @cached_property
    def variable_of(self) -> dict[str, BifVariable]:
        """The variables by name."""
        return {variable.name: variable for variable in self.variables}

    @cached_property
    def table_of(self) -> dict[str, BifTable]:
        """The tables by the name of their variable."""
        return {table.variable: table for table in self.tables}

    def _checked(self, table: BifTable) -> BifTable:
        check_once(
            [table.variable, *table.parents], f"variables in the table of {table.variable!r} are"
        )
        for name in (table.variable, *table.parents):
            if name not in self.variable_of:
                raise FileFormatError(
                    f"the table of {table.variable!r} speaks of {name!r}, which is no variable"
                )
        sizes = [
            len(self.variable_of[name].categories) for name in (*table.parents, table.variable)
        ]
        if table.values.shape != tuple(sizes):
            raise FileFormatError(
                f"the table of {table.variable!r} has shape {table.values.shape}, expected {tuple(sizes)}"
            )
        return BifTable(table.variable, table.parents, _distributions(table))


def _distributions(table: BifTable) -> NDArray[np.float64]:
    values = np.asarray(table.values, dtype=np.float64)
    sums = values.sum(axis=-1, keepdims=True)
    if not np.isfinite(values).all() or (values < 0).any() or (abs(sums - 1) > _ROUNDED).any():
        worst = int(np.abs(np.nan_to_num(sums, nan=np.inf) - 1).argmax())
        row = values.reshape(-1, values.shape[-1])[worst].tolist()
        raise FileFormatError(
            f"the table of {table.variable!r} does not hold probabilities that sum to one: {row}"
        )
    return np.where(abs(sums - 1) > _EXACT, values / sums, values)


def check_once(values: Sequence[Any], subject: str) -> None:
    """Raise a `FileFormatError` where a value occurs twice."""
    # 1, 1.0 and True are equal in Python, but not the same category
    twice = [key[1] for key, count in Counter((type(v), v) for v in values).items() if count > 1]
    if twice:
        raise FileFormatError(f"{subject} named twice: {twice[0]!r}")
