"""Distances along trees, and neighbour joining as the papers write it."""

import itertools

import numpy as np

from tacit.trees.structure.rooting import walk


def path_lengths(topology, names):
    """Sums of lengths along the paths between named nodes: (node, node)."""
    lengths = np.zeros((len(names), len(names)))
    for row, start in enumerate(names):
        far = {start: 0.0}
        for name, towards in walk(topology.neighbours, start).items():
            if towards is not None:
                far[name] = far[towards] + topology.edge_lengths[frozenset((name, towards))]
        lengths[row] = [far[name] for name in names]
    return (lengths + lengths.T) / 2  # the two ways round are added up in different orders


def measured_splits(topology):
    """The length of each edge by the set of observed names on the side without the first of all."""
    first = min(topology.observed)
    above = walk(topology.neighbours, first)
    seen = set(topology.observed)
    side = {name: {name} & seen for name in above}
    length_of = {}
    for name, towards in reversed(above.items()):
        if towards is not None:
            side[towards] |= side[name]
            length_of[frozenset(side[name])] = topology.edge_lengths[frozenset((name, towards))]
    return length_of


def joined_one_by_one(distances, names):
    """Neighbour joining over all pairs in every step: lengths by split, as in `measured_splits`."""
    everyone = frozenset(names)
    d = {
        frozenset((frozenset([a]), frozenset([b]))): float(distances[i, j])
        for (i, a), (j, b) in itertools.combinations(enumerate(names), 2)
    }
    left = [frozenset([name]) for name in names]
    length_of = {}

    def cut(group, length):
        length_of[everyone - group if min(names) in group else group] = length

    while len(left) > 3:
        n = len(left)
        sums = {a: sum(d[frozenset((a, b))] for b in left if b != a) for a in left}
        a, b = min(
            itertools.combinations(left, 2),
            key=lambda pair: (n - 2) * d[frozenset(pair)] - sums[pair[0]] - sums[pair[1]],
        )
        ab = d[frozenset((a, b))]
        cut(a, ab / 2 + (sums[a] - sums[b]) / (2 * n - 4))
        cut(b, ab / 2 - (sums[a] - sums[b]) / (2 * n - 4))
        left = [c for c in left if c not in (a, b)]
        for c in left:
            d[frozenset((a | b, c))] = (d[frozenset((a, c))] + d[frozenset((b, c))] - ab) / 2
        left.append(a | b)
    for a, b, c in (left, left[1:] + left[:1], left[2:] + left[:2]):
        ab, ac, bc = (d[frozenset(pair)] for pair in ((a, b), (a, c), (b, c)))
        cut(a, (ab + ac - bc) / 2)
    return length_of
