"""Latent graphs with known tables, and their exact marginals.

Everything here is summed out variable by variable over the tables of the graph, with nothing of what learning
and queries use, so that their answers can be compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import generator_from
from tacit.core.limits import shown
from tacit.errors import ArgumentError, TooExpensiveError
from tacit.toy.arguments import MOST_CELLS, check_samples, checked_codes, names_of
from tacit.trees.moments.source import PairTables

if TYPE_CHECKING:
    import networkx as nx

Array = NDArray[np.float64]

_CELLS_AT_ONCE = 1 << 22
_ROW = ""  # the name of the axis of rows; no variable has it


@dataclass(frozen=True, eq=False)
class GraphModel:
    """A directed graph of observed and hidden variables, with a known table for each.

    Examples
    --------
    >>> tables = {"h": np.array([0.5, 0.5]), "x": np.array([[1.0, 0.0], [0.5, 0.5]])}
    >>> model = GraphModel(("x",), {"h": (), "x": ("h",)}, tables)
    >>> model.marginal(["x"])
    array([0.75, 0.25])
    """

    names: tuple[str, ...]  # observed variables, in the order of the columns
    parents: Mapping[str, tuple[str, ...]]  # of every variable
    tables: Mapping[str, Array]  # (parents..., own)  P(own | parents)

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of categories of each observed variable."""
        return tuple(self.tables[name].shape[-1] for name in self.names)

    @property
    def n_states(self) -> dict[str, int]:
        """Number of states of each hidden variable."""
        observed = set(self.names)
        return {name: t.shape[-1] for name, t in self.tables.items() if name not in observed}

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(parent, child) of every arrow."""
        return [(above, name) for name, parents in self.parents.items() for above in parents]

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The graph for networkx."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.parents)
        graph.add_edges_from(self.edges)
        return graph

    @property
    def moments(self) -> ExactGraphMoments:
        """The exact tables of any observed variables, for learning without noise."""
        return ExactGraphMoments(self)

    def marginal(self, names: Sequence[str]) -> Array:
        """The joint probabilities of some variables, observed or hidden, all others summed out.

        Parameters
        ----------
        names : sequence of str
            Different variables, in the order that the axes shall have.

        Raises
        ------
        TooExpensiveError
            An intermediate table would have more than ten million cells.
        """
        names = names_of("names", names)
        unknown = [name for name in names if name not in self.tables]
        if unknown or len(set(names)) != len(names):
            raise ArgumentError(
                f"different variables out of {shown([*self.tables])} are needed, not {shown(names)}"
            )
        needed = _ancestors(self.parents, names)  # what comes after all of them sums to one
        factors = [Factor(self._axes(n), table) for n, table in self.tables.items() if n in needed]
        left, _ = _summed(factors, needed - set(names))
        return _product(left, list(names))

    def joint_table(self) -> Array:
        """The joint probabilities of all observed variables, one axis each; for small models."""
        return self.marginal(self.names)

    def log_prob(self, codes: NDArray[Any]) -> Array:
        """The true natural-log probability of each row; -1 is missing and summed out.

        Parameters
        ----------
        codes : (row, variable) integers
        """
        codes = checked_codes(codes, self.cards)
        most = max(map(len, self.parents.values())) + 3
        step = max(1, _CELLS_AT_ONCE // max(max(self.n_states.values(), default=1) ** most, 64))
        parts = [self._log_prob(codes[at : at + step]) for at in range(0, len(codes), step)]
        return np.concatenate([np.empty(0), *parts])

    def _log_prob(self, codes: NDArray[Any]) -> Array:
        factors = [Factor(self._axes(name), table) for name, table in self.tables.items()]
        for name, card, column in zip(self.names, self.cards, codes.T, strict=True):
            matches = (column[:, None] == np.arange(card)) | (column[:, None] < 0)
            factors.append(Factor((_ROW, name), matches.astype(np.float64)))
        left, logs = _summed(factors, set(self.tables), n_rows=len(codes))
        with np.errstate(divide="ignore"):
            return np.asarray(logs + np.log(_product(left, [_ROW])))

    def sample(self, n_samples: int, random_state: Any = None) -> NDArray[np.int16]:
        """Rows of category codes, (row, variable) in Fortran order, drawn parents before children."""
        check_samples(n_samples, len(self.tables))
        rng = generator_from(random_state)
        drawn: dict[str, NDArray[np.int64]] = {}
        for name in ordered(self.parents):
            table = self.tables[name]
            index = np.zeros(n_samples, dtype=np.int64)
            for above, size in zip(self.parents[name], table.shape[:-1], strict=True):
                index = index * size + drawn[above]
            reached = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
            reached /= reached[:, -1:]  # ends at one exactly, which no draw reaches
            draw = rng.random(n_samples)
            drawn[name] = np.zeros(n_samples, dtype=np.int64)
            for column in reached.T[:-1]:
                drawn[name] += draw >= column[index]
        columns = [drawn[name].astype(np.int16) for name in self.names]
        return np.asfortranarray(np.stack(columns, axis=1))

    def _axes(self, name: str) -> tuple[str, ...]:
        return (*self.parents[name], name)


@dataclass(frozen=True, eq=False)
class ExactGraphMoments:
    """The moments that infinitely many rows of a known graph would give."""

    model: GraphModel

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of categories of each column."""
        return self.model.cards

    @property
    def n_rows(self) -> float:
        """Infinitely many, so that nothing is cut for being noise."""
        return math.inf

    def pairs(self) -> PairTables:
        """The joint tables of all pairs of columns; probabilities stand where counts would."""
        return self._pairs

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        """The joint probabilities of each set of columns, axes in the given order."""
        return [self.model.marginal([self.model.names[at] for at in subset]) for subset in subsets]

    @cached_property
    def _pairs(self) -> PairTables:
        starts = np.concatenate([[0], np.cumsum(self.cards)])
        spans = [slice(*span) for span in pairwise(starts)]
        joint = np.zeros((starts[-1], starts[-1]))
        for i, span in enumerate(spans):
            joint[span, span] = np.diag(self.tables([(i,)])[0])
            for j in range(i):
                (table,) = self.tables([(i, j)])
                joint[span, spans[j]], joint[spans[j], span] = table, table.T
        return PairTables(self.cards, joint)


# -- summing out ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Factor:
    """An array with a name for each axis."""

    axes: tuple[str, ...]
    cells: Array


def _summed(
    factors: list[Factor], summed_out: Iterable[str], n_rows: int = 1
) -> tuple[list[Factor], Array]:
    """Factors without some variables, and (row,) the logarithm of what was divided out of their product."""
    holders: dict[str, list[Factor]] = {}
    for factor in factors:
        for axis in factor.axes:
            holders.setdefault(axis, []).append(factor)
    left, logs = dict.fromkeys(factors), np.zeros(n_rows)
    sizes = {name: _size(_axes_of(holders[name])) for name in sorted(summed_out)}
    while sizes:
        name = min(sizes, key=sizes.__getitem__)
        del sizes[name]
        touched = holders.pop(name)
        remaining = [axis for axis in _axes_of(touched) if axis != name]
        message = _product(touched, remaining)
        if _ROW in remaining:  # long rows have probabilities below all numbers
            top = message.reshape(n_rows, -1).max(axis=1)
            top = np.where(top > 0, top, 1.0)
            logs += np.log(top)
            message = message / top.reshape(-1, *[1] * (message.ndim - 1))
        new = Factor(tuple(remaining), message)
        left[new] = None
        for factor in touched:
            del left[factor]
        for axis in {*remaining} - {_ROW}:
            holders[axis] = [*(f for f in holders[axis] if f in left), new]
            if axis in sizes:
                sizes[axis] = _size(_axes_of(holders[axis]))
    return list(left), logs


def _axes_of(factors: Iterable[Factor]) -> dict[str, int]:
    """The axes of a product and their lengths, that of rows first."""
    lengths: dict[str, int] = {}
    for factor in factors:
        lengths.update(zip(factor.axes, factor.cells.shape, strict=True))
    return dict(sorted(lengths.items(), key=lambda axis: axis[0] != _ROW))


def _size(axes: Mapping[str, int]) -> int:
    size = math.prod(length for name, length in axes.items() if name != _ROW)
    if size > MOST_CELLS:
        raise TooExpensiveError(f"a table of {shown([*axes])} would have {shown(size)} cells")
    return size


def _product(factors: list[Factor], axes: list[str]) -> Array:
    """The product of factors, summed over all other axes, one after the other."""
    every = _axes_of(factors)
    _size({name: length for name, length in every.items() if name in axes})
    letter = dict(zip(every, ascii_letters, strict=False))
    cells: Array = np.ones(())
    current: list[str] = []
    for number, factor in enumerate(factors):
        later = {name for other in factors[number + 1 :] for name in other.axes}
        remaining = [name for name in every if name in {*current, *factor.axes} & {*later, *axes}]
        terms = ["".join(map(letter.__getitem__, t)) for t in (current, factor.axes, remaining)]
        form = f"{terms[0]},{terms[1]}->{terms[2]}"
        cells, current = np.einsum(form, cells, factor.cells), remaining
    return cells.transpose([current.index(name) for name in axes])


def _ancestors(parents: Mapping[str, tuple[str, ...]], names: Iterable[str]) -> set[str]:
    """Some variables and all that they depend on."""
    ancestors, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in ancestors:
            ancestors.add(name)
            waiting.extend(parents[name])
    return ancestors


def ordered(parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """All variables, parents before children."""
    try:
        return list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        raise ArgumentError(f"the graph has a cycle: {' -> '.join(error.args[1])}") from error
