"""Messages with separate scales, and how each kind of node combines them.

Messages stand state by state: ``values[m, p]`` is entry m of the message of pattern p. Reductions over the
few states then run over contiguous patterns, several times faster than the other way round. Scales are
powers of two, so that rescaling changes no digit and results do not depend on when it happens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Chain, Dense, Hadamard

Array = NDArray[np.float64]

# Messages are left alone while their largest entry is within these bounds: a product of two
# then still has 2**600 to spare on either side.
_SMALL, _LARGE = 2.0**-200, 2.0**200
_NOWHERE = -(2**60)


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """The messages of one node, one per pattern: ``values * 2**exponent``."""

    values: Array  # (rank, pattern)
    exponent: NDArray[np.int64] | None = None  # (pattern,)  None means zero everywhere

    def at(self, patterns: NDArray[np.integer[Any]]) -> Messages:
        """The messages of the given patterns, in their order."""
        exponent = None if self.exponent is None else self.exponent[patterns]
        return Messages(self.values.take(patterns, axis=1), exponent)


def rescaled(messages: Messages) -> Messages:
    """The same messages, their largest entries far from under- and overflow."""
    if messages.values.size == 0:
        return messages
    largest = np.abs(messages.values).max(axis=0)
    if largest.min() >= _SMALL and largest.max() <= _LARGE:
        return messages
    # A message of zeros has shift 0; the clip keeps 2**-shift finite where the largest is subnormal.
    shift = np.frexp(largest)[1].clip(-1000, 1000)
    exponent = _sum(messages.exponent, shift.astype(np.int64))
    return Messages(messages.values * np.ldexp(1.0, -shift), exponent)


def _sum(
    one: NDArray[np.int64] | None, other: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def product(one: Messages, other: Messages) -> Messages:
    """Messages multiplied entry by entry; not rescaled."""
    return Messages(one.values * other.values, _sum(one.exponent, other.exponent))


def product_of(messages: Sequence[Messages]) -> Messages:
    """All messages multiplied entry by entry; rescaled on the way, not at the end."""
    together = messages[0]
    for place, message in enumerate(messages[1:]):
        together = product(together if place == 0 else rescaled(together), message)
    return together


def added(one: Messages, other: Messages) -> Messages:
    """Messages added entry by entry, however far apart their scales are."""
    top = np.maximum(_highest(one), _highest(other))
    return Messages(_brought_to(one, top) + _brought_to(other, top), top)


def _brought_to(messages: Messages, exponent: NDArray[np.int64]) -> Array:
    """The values with another exponent; what is too small for a double then is zero."""
    shift = -exponent if messages.exponent is None else messages.exponent - exponent
    # As far as doubles reach in either direction: beyond it an entry is zero, before or after.
    within = np.minimum(np.maximum(shift, -2200), 2200).astype(np.int32)
    return np.ldexp(messages.values, within)


def _highest(messages: Messages) -> NDArray[np.int64]:
    """The power of two just above the largest entry of each message; of zeros, one below all others."""
    largest = np.abs(messages.values).max(axis=0, initial=0.0)
    exponent = np.frexp(largest)[1].astype(np.int64)
    if messages.exponent is not None:
        exponent += messages.exponent
    return np.where(largest > 0, exponent, _NOWHERE)


def _outer(one: Array, other: Array) -> Array:
    """All products of an entry of one with an entry of the other, pattern by pattern."""
    return (one[:, None] * other[None]).reshape(-1, one.shape[1])


def message_up(node: Dense | Hadamard | Chain, children: Sequence[Messages]) -> Messages:
    """The message of a hidden node to its parent, from those of its children.

    Parameters
    ----------
    node : Dense, Hadamard or Chain
    children : sequence of Messages
        In the tree's order of children, all over the same patterns.
    """
    if isinstance(node, Hadamard):
        together = product_of(children)
        return rescaled(Messages(node.table @ together.values, together.exponent))
    if isinstance(node, Dense):
        return _dense_up(node, children)
    state = _chain_states(node, children, 0)[0]
    return rescaled(Messages(node.start @ state.values, state.exponent))


def messages_down(
    node: Dense | Hadamard | Chain,
    above: Messages,
    children: Sequence[Messages],
    chosen: Collection[int],
) -> Iterator[tuple[int, Messages]]:
    """The messages of a hidden node to some of its children, from everything outside of each.

    Parameters
    ----------
    node : Dense, Hadamard or Chain
    above : Messages
        The message to the node itself.
    children : sequence of Messages
        What the children sent, over the same patterns as `above`.
    chosen : collection of int
        Places of the chosen children; at least one.

    Yields
    ------
    place, Messages
        For each chosen child, in ascending order; message and child's message multiply to the
        value of the row.
    """
    if isinstance(node, Hadamard):
        return _hadamard_down(node, above, children, chosen)
    if isinstance(node, Dense):
        return _dense_down(node, above, children, chosen)
    return _chain_down(node, above, children, chosen)


def _hadamard_down(
    node: Hadamard, above: Messages, children: Sequence[Messages], chosen: Collection[int]
) -> Iterator[tuple[int, Messages]]:
    # Products of all on the left and all on the right: dividing one out would fail at zeros.
    right: list[Messages | None] = [None] * len(children)
    for place in range(len(children) - 1, min(chosen), -1):
        beyond, child = right[place], children[place]
        right[place - 1] = child if beyond is None else rescaled(product(beyond, child))
    left = rescaled(Messages(node.table.T @ above.values, above.exponent))
    for place in range(max(chosen) + 1):
        beyond, right[place] = right[place], None
        if place in chosen:
            yield place, left if beyond is None else rescaled(product(left, beyond))
        if place < max(chosen):
            left = rescaled(product(left, children[place]))


def _dense_up(node: Dense, children: Sequence[Messages]) -> Messages:
    core = node.core
    first = children[0]
    current = Messages(core.reshape(core.shape[0], -1).T @ first.values, first.exponent)
    for child in children[1:]:
        rank, n_patterns = child.values.shape
        stacked = current.values.reshape(rank, -1, n_patterns)
        contracted = np.einsum("arp,ap->rp", stacked, child.values)
        current = rescaled(Messages(contracted, _sum(current.exponent, child.exponent)))
    return rescaled(current)


def _dense_down(
    node: Dense, above: Messages, children: Sequence[Messages], chosen: Collection[int]
) -> Iterator[tuple[int, Messages]]:
    core, n_patterns = node.core, above.values.shape[1]
    joined = core.reshape(-1, core.shape[-1]) @ above.values
    joined = joined.reshape(*core.shape[:-1], n_patterns)  # (child, ..., child, pattern)
    for place in sorted(chosen):
        # From the last child to the first, so that each still stands at its own axis.
        current = Messages(joined, above.exponent)
        for other in range(len(children) - 1, -1, -1):
            if other != place:
                current = _contracted(current, other, children[other])
        yield place, rescaled(current)


def _contracted(tensor: Messages, axis: int, child: Messages) -> Messages:
    """A tensor per pattern (its last axis), with a message put in at one of the other axes."""
    values = tensor.values
    before = int(np.prod(values.shape[:axis], dtype=np.int64))
    stacked = values.reshape(before, values.shape[axis], -1, values.shape[-1])
    shape = (*values.shape[:axis], *values.shape[axis + 1 :])
    contracted = np.einsum("barp,ap->brp", stacked, child.values).reshape(-1, shape[-1])
    scaled = rescaled(Messages(contracted, _sum(tensor.exponent, child.exponent)))
    return Messages(scaled.values.reshape(shape), scaled.exponent)


def _chain_states(node: Chain, children: Sequence[Messages], first: int) -> list[Messages]:
    """Products of the matrices from each place to the end with `stop`, from place `first` on."""
    n_patterns = children[0].values.shape[1]
    state = Messages(np.repeat(node.stop[:, None], n_patterns, axis=1))
    states = [state]
    for step, child in zip(reversed(node.steps[first:]), reversed(children[first:]), strict=True):
        matrix = step.transpose(1, 0, 2).reshape(step.shape[1], -1)  # (m, child and n)
        pairs = _outer(child.values, state.values)
        state = rescaled(Messages(matrix @ pairs, _sum(child.exponent, state.exponent)))
        states.append(state)
    return states[::-1]


def _chain_down(
    node: Chain, above: Messages, children: Sequence[Messages], chosen: Collection[int]
) -> Iterator[tuple[int, Messages]]:
    right = _chain_states(node, children, min(chosen) + 1)
    left = rescaled(Messages(node.start.T @ above.values, above.exponent))
    for place in range(max(chosen) + 1):
        step, child = node.steps[place], children[place]
        if place in chosen:
            beyond = right[place - min(chosen)]
            around = step.reshape(len(step), -1) @ _outer(left.values, beyond.values)
            yield place, rescaled(Messages(around, _sum(left.exponent, beyond.exponent)))
        if place < max(chosen):
            pairs = _outer(child.values, left.values)
            advanced = step.reshape(-1, step.shape[2]).T @ pairs  # (n, pattern)
            left = rescaled(Messages(advanced, _sum(left.exponent, child.exponent)))
