"""Trees of known shape: balanced ones, chains, random ones, and those of the papers by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tacit.core.arguments import check_count, generator_from
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.toy.arguments import MOST_NODES, check_probability, check_size
from tacit.trees.structure.topology import Topology


def balanced(n_children: int, n_levels: int) -> Topology:
    """Every node but the leaves has the same number of children.

    Parameters
    ----------
    n_children : int
        Children of every hidden node. A root with two of them is contracted, as everywhere.
    n_levels : int
        Levels of nodes, root and leaves included: there are ``n_children ** (n_levels - 1)`` leaves.

    Examples
    --------
    >>> balanced(2, 4)
    Topology(8 observed, 6 hidden)
    """
    check_count("n_children", n_children, least=2)
    check_count("n_levels", n_levels, least=2)
    check_size("leaves", n_children ** min(n_levels - 1, 20), MOST_NODES)  # 2**20 are too many
    edges: list[tuple[str, str]] = []
    level = ["h0"]
    n_hidden = 1
    for depth in range(1, n_levels):
        is_last = depth == n_levels - 1
        below = [
            f"x{number}" if is_last else f"h{n_hidden + number}"
            for number in range(len(level) * n_children)
        ]
        edges += [(level[number // n_children], name) for number, name in enumerate(below)]
        n_hidden += len(below)
        level = below
    return Topology.from_edges(edges, observed=level).contracted()


def caterpillar(n_leaves: int) -> Topology:
    """A chain of hidden nodes with one leaf each: a hidden Markov model that may change with time.

    The first and the last hidden node have two leaves each, because the superfluous ones at the very
    ends are contracted.

    Examples
    --------
    >>> caterpillar(5).to_newick()
    '((x0,x1)h1,x2,(x3,x4)h3)h2;'
    """
    check_count("n_leaves", n_leaves, least=3)
    check_size("leaves", n_leaves, MOST_NODES)
    chain = [(f"h{time}", f"h{time + 1}") for time in range(n_leaves - 1)]
    leaves = [f"x{time}" for time in range(n_leaves)]
    hung = [(f"h{time}", leaf) for time, leaf in enumerate(leaves)]
    return Topology.from_edges(hung + chain, observed=leaves).contracted()


def broad(n_groups: int, n_leaves: int = 4) -> Topology:
    """A hidden root over hidden nodes that have some leaves each.

    Examples
    --------
    >>> broad(3, 2).to_newick()
    '((x0,x1)h1,(x2,x3)h2,(x4,x5)h3)h0;'
    """
    _check_groups("n_groups", n_groups, n_leaves)
    return _grouped([("h0", f"h{group}") for group in range(1, n_groups + 1)], n_groups, n_leaves)


def deep(n_hidden: int, n_leaves: int = 2) -> Topology:
    """A chain of hidden nodes that have some leaves each.

    Examples
    --------
    >>> deep(3).to_newick()
    '(x2,x3,(x0,x1)h1,(x4,x5)h3)h2;'
    """
    _check_groups("n_hidden", n_hidden, n_leaves)
    return _grouped([(f"h{n}", f"h{n + 1}") for n in range(1, n_hidden)], n_hidden, n_leaves)


def _grouped(joined: list[tuple[str, str]], n_groups: int, n_leaves: int) -> Topology:
    leaves = [f"x{number}" for number in range(n_groups * n_leaves)]
    hung = [(f"h{1 + number // n_leaves}", leaf) for number, leaf in enumerate(leaves)]
    return Topology.from_edges(hung + joined, observed=leaves).contracted()


def random_topology(
    n_leaves: int,
    *,
    n_children: tuple[int, int] = (2, 3),
    observed_inner: float = 0.0,
    random_state: Any = None,
) -> Topology:
    """A random tree: nodes drawn at random are joined under a new hidden node until few are left.

    Parameters
    ----------
    n_leaves : int
        Leaves x0, x1, and so on.
    n_children : pair of int
        The fewest and the most children of a hidden node, seen from the root.
    observed_inner : float
        Probability that an inner node is observed too.
    random_state : int or numpy.random.Generator, optional

    Examples
    --------
    >>> random_topology(9, random_state=0)
    Topology(9 observed, 4 hidden)
    """
    check_count("n_leaves", n_leaves)
    check_size("leaves", n_leaves, MOST_NODES)
    if not isinstance(n_children, tuple | list) or len(n_children) != 2:
        raise ArgumentTypeError(
            f"n_children={shown(n_children)}; give a pair: the fewest and the most children"
        )
    fewest, most = n_children
    check_count("n_children[0]", fewest, least=2)
    check_count("n_children[1]", most, least=2)
    if most < fewest:
        raise ArgumentError(f"n_children={n_children}: the most must not be less than the fewest")
    check_probability("observed_inner", observed_inner)
    rng = generator_from(random_state)
    leaves = [f"x{number}" for number in range(n_leaves)]
    loose, edges, inner = list(leaves), [], list[str]()
    while len(loose) > most + 1:
        # Three at least are left for the root, which would be contracted otherwise.
        size = min(int(rng.integers(fewest, most + 1)), len(loose) - 2)
        rng.shuffle(loose)
        inner.append(f"h{len(inner) + 1}")
        edges += [(inner[-1], name) for name in loose[-size:]]
        loose[-size:] = [inner[-1]]
    inner.append(f"h{len(inner) + 1}")
    edges += [(inner[-1], name) for name in loose]
    observed_names = [name for name in inner if rng.random() < observed_inner]
    renamed = {name: f"x{n_leaves + number}" for number, name in enumerate(observed_names)}
    named = [(renamed.get(one, one), renamed.get(other, other)) for one, other in edges]
    return Topology.from_edges(named, observed=[*leaves, *renamed.values()]).contracted()


_FAMILIES: dict[str, Callable[[Sequence[int]], Topology]] = {
    r"bin(\d{1,9})": lambda n: balanced(2, n[0]),
    r"t(\d)(\d)": lambda n: balanced(n[0], n[1]),
    r"cat(\d{1,9})": lambda n: caterpillar(n[0]),
    r"broad(\d{1,9})": lambda n: broad(n[0]),
    r"deep(\d{1,9})": lambda n: deep(n[0]),
    r"star(\d{1,9})": lambda n: _star(n[0]),
}


def named_topology(name: str) -> Topology:
    """A tree by its short name, as the experiments call it.

    ==========  ==================================================================
    ``bin6``    binary with 6 levels: 32 leaves (the root is contracted)
    ``t43``     4 children, 3 levels: 16 leaves
    ``cat16``   caterpillar with 16 leaves
    ``broad4``  a root over 4 hidden nodes with 4 leaves each
    ``deep4``   a chain of 4 hidden nodes with 2 leaves each
    ``star8``   one hidden node with 8 leaves
    ==========  ==================================================================

    Examples
    --------
    >>> named_topology("bin6")
    Topology(32 observed, 30 hidden)
    """
    for pattern, make in _FAMILIES.items():
        match = re.fullmatch(pattern, name) if isinstance(name, str) else None
        if match:
            return make([int(number) for number in match.groups()])
    raise ArgumentError(
        f"no tree is called {shown(name)}; names are like bin6, t43, cat16, broad4, deep4, star8"
    )


def _star(n_leaves: int) -> Topology:
    check_size("leaves", n_leaves, MOST_NODES)
    return Topology.star(f"x{number}" for number in range(n_leaves))


def _check_groups(name: str, n_groups: Any, n_leaves: Any) -> None:
    check_count(name, n_groups, least=2)
    check_count("n_leaves", n_leaves, least=2)
    check_size("leaves", n_groups * n_leaves, MOST_NODES)
