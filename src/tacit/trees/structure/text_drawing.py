"""A tree drawn with characters, for terminals and logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def text_drawing(
    neighbours: Mapping[str, Sequence[str]], root: str, describe: Callable[[str], str]
) -> str:
    """One line per node, children indented under their parents and joined by box lines.

    Parameters
    ----------
    neighbours : mapping of str to sequence of str
        The tree.
    root : str
        The node of the first line.
    describe : callable
        What is written for a node.

    Examples
    --------
    >>> print(text_drawing({"a": ["b", "c"], "b": ["a"], "c": ["a"]}, "a", str.upper))
    A
    ├─ B
    └─ C
    """
    lines = []
    waiting = [
        (root, "", "", "")
    ]  # node, its parent, the text before it, the text before its children
    while waiting:
        name, towards, before, below = waiting.pop()
        lines.append(before + describe(name))
        children = [other for other in neighbours[name] if other != towards or name == root]
        for position, child in enumerate(reversed(children)):
            turn, bar = ("└─ ", "   ") if position == 0 else ("├─ ", "│  ")
            waiting.append((child, name, below + turn, below + bar))
    return "\n".join(lines)
