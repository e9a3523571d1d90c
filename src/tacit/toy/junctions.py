"""Random latent graphs with loops: hidden Markov models of higher order, factorial ones, and one more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import (
    check_count,
    check_flag,
    check_kind,
    check_number,
    check_rows,
    generator_from,
)
from tacit.errors import ArgumentError
from tacit.toy.arguments import (
    MOST_AXES,
    MOST_CELLS,
    MOST_NODES,
    check_size,
    names_of,
    numbers_of,
)
from tacit.toy.graphs import GraphModel, ordered

Array = NDArray[np.float64]

_MOST_CHAINS = 23  # their variables are called a0 to w0; x0 is what is observed


def random_graph_model(
    parents: Mapping[str, Sequence[str]],
    observed: Sequence[str],
    *,
    n_states: int | Mapping[str, int] = 2,
    n_categories: int | Sequence[int] = 4,
    diagonal: float = 0.0,
    shared: Mapping[str, str] | None = None,
    random_state: Any = None,
) -> GraphModel:
    """A graph with random tables: entries uniform on (0, 1) before each row is made to sum to one.

    Parameters
    ----------
    parents : mapping of str to sequence of str
        What each variable depends on.
    observed : sequence of str
        In the order of the columns; the others are hidden.
    n_states : int or mapping of str to int
        States of every hidden variable or of each.
    n_categories : int or sequence of int
        Categories of every observed variable or of each.
    diagonal : float
        Added, before rows are normalised, to one entry of each row, another for every state of the
        last parent (of all parents together, where there are as many states): the more, the stronger are
        dependences.
    shared : mapping of str to str, optional
        Variables with the same name here have the same table.
    random_state : int or numpy.random.Generator, optional

    Examples
    --------
    >>> parents = {"a": (), "b": ("a",), "x": ("a", "b"), "y": ("b",), "z": ("a",)}
    >>> random_graph_model(parents, ["x", "y", "z"], random_state=0).tables["x"].shape
    (2, 2, 4)
    """
    check_kind("parents", parents, Mapping, "a mapping of variables to what they depend on")
    check_kind("shared", shared, (Mapping, type(None)), "a mapping of variables to names, or None")
    check_number("diagonal", diagonal)
    rng = generator_from(random_state)
    variables, observed = names_of("parents", parents), names_of("observed", observed)
    graph = {name: names_of(f"parents[{name!r}]", parents[name]) for name in variables}
    absent = {*observed, *(name for above in graph.values() for name in above)} - set(graph)
    if absent:
        raise ArgumentError(f"{min(absent)!r} has no parents given; give () where there are none")
    order = ordered(graph)
    sizes = dict(
        zip(observed, numbers_of("n_categories", n_categories, len(observed)), strict=True)
    )
    hidden = [name for name in order if name not in sizes]
    if isinstance(n_states, Mapping):
        if lacking := [name for name in hidden if name not in n_states]:
            raise ArgumentError(
                f"n_states lacks {lacking[0]!r}; give every hidden variable a number"
            )
        states: Any = [n_states[name] for name in hidden]
    else:
        states = n_states
    sizes.update(zip(hidden, numbers_of("n_states", states, len(hidden)), strict=True))
    for name in order:
        check_size(f"parents of {name!r}", len(graph[name]), MOST_AXES - 1)
        n_cells = math.prod(sizes[axis] for axis in (*graph[name], name))
        check_size(f"cells of the table of {name!r}", n_cells, MOST_CELLS)
    labels = dict(zip(shared or (), names_of("shared", (shared or {}).values()), strict=True))
    drawn: dict[str, Array] = {}
    tables = {}
    for name in order:
        called = labels.get(name, name)
        if called not in drawn:
            shape = [sizes[axis] for axis in (*graph[name], name)]
            drawn[called] = _random_table(shape, diagonal, rng)
        tables[name] = drawn[called]
    return GraphModel(tuple(observed), {name: graph[name] for name in order}, tables)


def _random_table(shape: list[int], diagonal: float, rng: np.random.Generator) -> Array:
    table = rng.random((math.prod(shape[:-1]), shape[-1]))
    if len(shape) > 1:
        rows = np.arange(len(table))
        table[rows, rows % shape[-1]] += diagonal
    table /= table.sum(axis=1, keepdims=True)
    return table.reshape(shape)


def random_hmm_model(
    length: int = 10,
    *,
    order: int = 2,
    n_states: int = 2,
    n_categories: int = 4,
    homogeneous: bool = False,
    diagonal: float = 0.0,
    random_state: Any = None,
) -> GraphModel:
    """A hidden Markov model whose hidden state depends on the `order` states before it.

    Parameters
    ----------
    length : int
        Observed variables x0, x1, ...; one hidden variable behind each.
    order : int
        Hidden variables before it that one depends on.
    homogeneous : bool
        Whether tables are the same at every time, as far as there are as many parents.
    n_states, n_categories, diagonal, random_state
        See `random_graph_model`.
    """
    check_count("length", length)
    check_size("variables", 2 * length, MOST_NODES)
    check_rows("order", order)
    check_size("parents of a variable", min(order, length), MOST_AXES)
    check_flag("homogeneous", homogeneous)
    parents: dict[str, tuple[str, ...]] = {}
    for time in range(length):
        parents[f"h{time}"] = tuple(f"h{t}" for t in range(max(0, time - order), time))
        parents[f"x{time}"] = (f"h{time}",)
    shared = {f"x{time}": "x" for time in range(length)}
    shared.update({f"h{time}": "h" for time in range(order, length)})
    return random_graph_model(
        parents,
        [f"x{time}" for time in range(length)],
        n_states=n_states,
        n_categories=n_categories,
        diagonal=diagonal,
        shared=shared if homogeneous else None,
        random_state=random_state,
    )


def random_factorial_model(
    length: int = 8,
    *,
    n_chains: int = 2,
    n_states: int = 2,
    n_categories: int = 16,
    homogeneous: bool = False,
    diagonal: float = 0.0,
    random_state: Any = None,
) -> GraphModel:
    """A factorial hidden Markov model: several hidden chains, and observations that depend on all of them.

    Parameters
    ----------
    length : int
        Observed variables x0, x1, ...; hidden are a0, a1, ..., b0, b1, ... and so on.
    n_chains : int
    homogeneous : bool
        Whether the tables of a chain, and those of observations, are the same at every time.
    n_states, n_categories, diagonal, random_state
        See `random_graph_model`.
    """
    check_count("length", length)
    check_count("n_chains", n_chains)
    check_size("chains", n_chains, _MOST_CHAINS)
    check_size("variables", (n_chains + 1) * length, MOST_NODES)
    check_flag("homogeneous", homogeneous)
    chains = [chr(ord("a") + chain) for chain in range(n_chains)]
    parents: dict[str, tuple[str, ...]] = {}
    for time in range(length):
        for chain in chains:
            parents[f"{chain}{time}"] = (f"{chain}{time - 1}",) if time else ()
        parents[f"x{time}"] = tuple(f"{chain}{time}" for chain in chains)
    shared = {f"{chain}{time}": chain for chain in (*chains, "x") for time in range(1, length)}
    shared["x0"] = "x"
    return random_graph_model(
        parents,
        [f"x{time}" for time in range(length)],
        n_states=n_states,
        n_categories=n_categories,
        diagonal=diagonal,
        shared=shared if homogeneous else None,
        random_state=random_state,
    )


# Nine hidden variables: the middle, north and south, and three to the west and to the east.
LOOPS = {
    "m": (),
    "n": ("m",),
    "s": ("m",),
    "w1": ("n", "s"),
    "w2": ("s", "w1"),
    "w3": ("w1", "w2"),
    "e1": ("n", "s"),
    "e2": ("n", "e1"),
    "e3": ("e1", "e2"),
    "x0": ("m", "n", "s", "w1"),
    "x1": ("n", "s", "w1", "w2"),
    "x2": ("w1", "w2", "w3"),
    "x3": ("w1", "w2", "w3"),
    "x4": ("m", "n", "s", "e1"),
    "x5": ("n", "s", "e1", "e2"),
    "x6": ("e1", "e2", "e3"),
    "x7": ("e1", "e2", "e3"),
}


def random_loopy_model(
    *,
    n_states: int = 2,
    n_categories: int = 16,
    diagonal: float = 0.0,
    random_state: Any = None,
) -> GraphModel:
    """Nine hidden variables with loops between them, and eight observed ones: a graph of treewidth three.

    Two rings of hidden variables share three of their four members, and each has a tail. The largest cliques
    are of four hidden variables, and between them are separators of three. Every separator has a variable on
    either side that depends on all of its members, and whose table shows all their joint states if it has at
    least eight categories; every clique has three neighbours, as the thesis assumes.

    Parameters
    ----------
    n_states, n_categories, diagonal, random_state
        See `random_graph_model`.
    """
    return random_graph_model(
        LOOPS,
        [f"x{number}" for number in range(8)],
        n_states=n_states,
        n_categories=n_categories,
        diagonal=diagonal,
        random_state=random_state,
    )
