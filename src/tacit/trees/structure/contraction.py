"""Superfluous hidden nodes removed from a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Lengths = dict[frozenset[str], float]

_THROUGH = 2


def contract(
    neighbours: Mapping[str, Sequence[str]], hidden: Sequence[str], lengths: Lengths
) -> tuple[dict[str, list[str]], Lengths]:
    """The tree without hidden leaves and without hidden nodes that have two neighbours.

    The neighbours of a node that was replaced by an edge take its place, so that the order in which a
    tree is drawn stays.

    Parameters
    ----------
    neighbours : mapping of str to sequence of str
        The tree.
    hidden : sequence of str
        The nodes that may be removed.
    lengths : dict
        Lengths of edges by the set of their ends; two known lengths are added.

    Examples
    --------
    >>> contract({"a": ["h"], "h": ["a", "b"], "b": ["h"]}, ["h"], {})[0]
    {'a': ['b'], 'b': ['a']}
    """
    left = {name: list(others) for name, others in neighbours.items()}
    known = dict(lengths)
    waiting = [name for name in hidden if len(left[name]) <= _THROUGH]
    may_go = set(hidden)
    while waiting:
        name = waiting.pop()
        others = left.pop(name)
        edge_lengths = [known.pop(frozenset((name, other)), None) for other in others]
        if len(others) == _THROUGH:
            one, two = others
            left[one][left[one].index(name)] = two
            left[two][left[two].index(name)] = one
            if edge_lengths[0] is not None and edge_lengths[1] is not None:
                known[frozenset((one, two))] = edge_lengths[0] + edge_lengths[1]
        else:
            for other in others:
                left[other].remove(name)
                if other in may_go and len(left[other]) == _THROUGH:
                    waiting.append(other)
    return left, known
