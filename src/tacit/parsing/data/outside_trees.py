"""The inside and the outside tree of every node of binary trees, as feature functions take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.parsing.data.parse_trees import ParseTree

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees, GrammarSymbols


@dataclass(frozen=True, slots=True)
class OutsideTree:
    """All of a binary tree but what is below one of its nodes.

    Parameters
    ----------
    label : str
        Of the node itself.
    parent : str or None
        The label of its parent; None at the root, as are the next three.
    side : "left", "right" or None
        Which child of the parent it is.
    sibling : ParseTree or None
        The other child, with all that is below it.
    above : OutsideTree or None
        The outside tree of the parent.
    """

    label: str
    parent: str | None = None
    side: str | None = None
    sibling: ParseTree | None = None
    above: OutsideTree | None = None


def inside_trees(trees: CodedTrees, symbols: GrammarSymbols) -> list[ParseTree]:
    """The tree below each node. Rare words are their class, as the grammar counts them."""
    labels = [str(label) for label in symbols.labels]
    out: list[ParseTree] = []
    columns = (trees.label, trees.left, trees.right, trees.word)
    for label, left, right, word in zip(*(column.tolist() for column in columns), strict=True):
        if left < 0:
            out.append(ParseTree(labels[label], (), symbols.words[word]))
        else:
            out.append(ParseTree(labels[label], (out[left], out[right])))
    return out


def outside_trees(trees: CodedTrees, inside: list[ParseTree]) -> list[OutsideTree]:
    """What is around each node, from the trees below all nodes."""
    left, right, parent = trees.left.tolist(), trees.right.tolist(), trees.parent.tolist()
    out = [OutsideTree(tree.label) for tree in inside]
    for node in reversed(range(len(out))):  # parents come after their children
        above = parent[node]
        if above >= 0:
            side, other = ("left", right) if left[above] == node else ("right", left)
            out[node] = OutsideTree(
                inside[node].label, inside[above].label, side, inside[other[above]], out[above]
            )
    return out
