"""Exact moments of a small distribution, and the full joint table of a network, by enumeration."""

import math
import string

import numpy as np

from tacit.messages.network import Chain, Dense
from tacit.trees.moments.source import PairTables


class Population:
    """Moments of a joint table: sums of it over all other leaves."""

    n_rows = math.inf

    def __init__(self, joint):
        self.joint = joint
        self.cards = joint.shape

    def marginal(self, subset):
        rest = tuple(axis for axis in range(self.joint.ndim) if axis not in subset)
        order = np.argsort(np.argsort(subset))
        return self.joint.sum(axis=rest).transpose(order)

    def tables(self, subsets):
        return [self.marginal(subset) for subset in subsets]

    def pairs(self):
        leaves = range(len(self.cards))
        blocks = [
            [np.diag(self.marginal((i,))) if i == j else self.marginal((i, j)) for j in leaves]
            for i in leaves
        ]
        return PairTables(self.cards, np.block(blocks))


def network_joint(network):
    """The value that a network gives to every combination of categories: one axis per leaf."""
    tree = network.tree
    letters = iter(string.ascii_letters)
    below = {leaf: (next(letters), emit) for leaf, emit in enumerate(network.emit)}
    for node in tree.hidden:
        parts = [below.pop(child) for child in tree.children[node]]
        axes = [axis for axis, _ in parts]
        messages = [message for _, message in parts]
        modes = [next(letters) for _ in parts]
        out = next(letters)
        inputs = [axis + mode for axis, mode in zip(axes, modes, strict=True)]
        here = network.node(node)
        if isinstance(here, Dense):
            inputs.append("".join(modes) + out)
            operands = [*messages, here.core]
        elif isinstance(here, Chain):
            links = [next(letters) for _ in range(len(parts) + 1)]
            inputs.append(out + links[0])
            operands = [*messages, here.start]
            for place, mode in enumerate(modes):
                inputs.append(mode + links[place] + links[place + 1])
                operands.append(here.steps[place])
            inputs.append(links[-1])
            operands.append(here.stop)
        else:
            inputs = [axis + modes[0] for axis in axes] + [out + modes[0]]
            operands = [*messages, here.table]
        value = np.einsum(
            ",".join(inputs) + "->" + "".join(axes) + out, *operands, optimize="greedy"
        )
        below[node] = ("".join(axes), value)
    axes, value = below[tree.root]
    order = np.argsort([string.ascii_letters.index(axis) for axis in axes])
    return value[..., 0].transpose(order)
