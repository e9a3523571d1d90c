"""An order of columns that follows from their content, so that the order in which they came does not show.

Ties between structures, sums in floating point and random draws would otherwise depend on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.mixture import Mixture
from tacit.messages.network import Tables
from tacit.messages.rooted_tree import RootedTree

if TYPE_CHECKING:
    from tacit.core.input.table import Table

ROUNDS = 3
MARK_BITS = 40  # of 64 that are not used, so that sums of marks stay exact


def content_order(table: Table) -> tuple[int, ...]:
    """The places of the columns in an order that follows from their content; equal columns by name.

    Neither the order of the columns nor that of rows and of categories matters, and a row of weight two
    counts like two rows. Categories are marked by how often they occur, rows by the marks of their cells,
    then categories by the marks of the rows that have them.

    Examples
    --------
    >>> from tacit.core.input.read_table import read_table
    >>> columns = {"p": ["a", "b", "b", "b"], "q": [1, 2, 1, 2], "r": ["x", "x", "y", "z"]}
    >>> order = content_order(read_table(columns))
    >>> turned = content_order(read_table(dict(reversed(columns.items()))))
    >>> [2 - place for place in turned] == list(order)
    True
    """
    marks = [[b""] * card for card in table.schema.cards]
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    for _ in range(ROUNDS):
        marks = [
            _of_categories(marks[place], table.codes[:, place], weights)
            for place in range(len(marks))
        ]
        rows = np.zeros(table.n_rows, dtype=np.uint64)
        for place, of_column in enumerate(marks):
            rows += _numbers(of_column)[table.codes[:, place] + 1]
        weights = (rows >> np.uint64(MARK_BITS)).astype(np.float64)
        if table.weights is not None:
            weights *= table.weights
    names = table.schema.names
    keys = [sorted(of_column) for of_column in marks]
    return tuple(sorted(range(len(marks)), key=lambda place: (keys[place], names[place])))


def _numbers(marks: list[bytes]) -> NDArray[np.uint64]:
    """(missing and category,) A number for each category of a column; missing cells have one that says so."""
    every = b"".join(sorted(marks))
    digests = (hashlib.blake2b(mark + every, digest_size=8).digest() for mark in (b"", *marks))
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def _of_categories(
    marks: list[bytes], codes: NDArray[Any], weights: NDArray[np.float64]
) -> list[bytes]:
    """Marks that follow from the rows of each category; sums of whole numbers are exact in any order."""
    sums = np.bincount(codes + 1, weights=weights, minlength=len(marks) + 1)[1:]
    return [
        hashlib.blake2b(mark + f"{total:.9g}".encode(), digest_size=16).digest()
        for mark, total in zip(marks, sums.tolist(), strict=True)
    ]


def with_leaves(parameters: Tables | Mixture, names: Sequence[str]) -> Tables | Mixture:
    """The same tables with their leaves in another order."""
    if isinstance(parameters, Mixture):
        parts = [_tables_with_leaves(part, tuple(names)) for part in parameters.parts]
        return Mixture(parameters.weights, tuple(parts))
    return _tables_with_leaves(parameters, tuple(names))


def _tables_with_leaves(tables: Tables, names: tuple[str, ...]) -> Tables:
    tree = tables.tree
    place = {name: leaf for leaf, name in enumerate(tree.names[: tree.n_leaves])}
    nodes = [*(place[name] for name in names), *tree.hidden]
    return Tables.of(tree_with_leaves(tree, names), [tables.table(node) for node in nodes])


@lru_cache(maxsize=64)
def tree_with_leaves(tree: RootedTree, names: tuple[str, ...]) -> RootedTree:
    """The same tree with its leaves in another order; hidden nodes keep their numbers.

    Remembered, because the trees of a model are compared by identity.
    """
    place = {name: leaf for leaf, name in enumerate(tree.names[: tree.n_leaves])}
    leaves = np.array([place[name] for name in names], dtype=np.int64)
    new_place = np.empty(tree.n_leaves, dtype=np.int32)
    new_place[leaves] = np.arange(tree.n_leaves, dtype=np.int32)
    nodes = np.concatenate([leaves, np.arange(tree.n_leaves, tree.n_nodes)])
    copy_of = tree.copy_of[nodes]
    copies = copy_of >= 0
    copy_of[copies] = new_place[copy_of[copies]]
    return RootedTree(
        names=(*names, *tree.names[tree.n_leaves :]),
        n_leaves=tree.n_leaves,
        parent=tree.parent[nodes],
        copy_of=copy_of,
    )
