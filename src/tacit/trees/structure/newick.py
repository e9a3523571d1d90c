"""Newick text: trees as nested brackets, read and written without recursion.

Names stand in single or double quotes (a doubled quote is one) or in none, comments in square brackets,
nested ones too. An underscore stays an underscore: names are matched to columns as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tacit.errors import TopologyError

_PLAIN = re.compile(r"[^\s()\[\]:;,'\"][^\s()\[\]:;,]*")
_SAFE = re.compile(r"[^\s()\[\]:;,'\"]+")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_BRACKET = re.compile(r"[\[\]]")
_FOLLOWS = {  # what may come next, by what came last
    "start": ("(", "name", "quoted", ":", ",", ")", ";"),
    "closed": ("name", "quoted", ":", ",", ")", ";"),
    "named": (":", ",", ")", ";"),
    "length": ("name",),
    "measured": (",", ")", ";"),
    "end": (),
}
_MISPLACED = {
    "length": "a branch length must follow ':'",
    "end": "there is more after the ';' that ends the tree",
    "(": "'(' must follow '(' or ','; is a comma missing?",
    ":": "a branch has two lengths",
    "name": "a name stands where none can be; is a comma missing, or quotes around spaces?",
}


@dataclass(frozen=True, slots=True)
class NewickTree:
    """A parsed tree: parents before children, children in the order of the text."""

    labels: tuple[str | None, ...]  # (node,)  None where the text gives no name
    parents: tuple[int, ...]  # (node,)  -1 at the top, which is node 0
    lengths: tuple[float | None, ...]  # (node,)  of the branch to the parent


def read_newick(text: str) -> NewickTree:
    """The one tree that a text holds; a `TopologyError` with line and column if it is not Newick.

    Examples
    --------
    >>> read_newick("(a:1,'b c')top;").labels
    ('top', 'a', 'b c')
    """
    labels: list[str | None] = [None]
    lengths: list[float | None] = [None]
    parents, node, state, inner = [-1], 0, "start", set[int]()
    for kind, value, place in _tokens(text):
        if kind not in _FOLLOWS[state]:
            problem = _MISPLACED.get(state) or _MISPLACED.get(kind, _MISPLACED["name"])
            raise _error(text, place, problem)
        if kind in ",);" and labels[node] is None and node not in inner:
            raise _error(text, place, f"a leaf without a name stands before {value!r}")
        if kind in ",)" and node == 0:
            raise _error(text, place, f"{value!r} stands outside every '('")
        if kind == ";" and node != 0:
            raise _error(text, place, "the tree ends before every '(' is closed")
        if state == "length" and not _NUMBER.fullmatch(value):
            raise _error(text, place, f"{value!r} is not a branch length")
        if state == "length":
            lengths[node], state = float(value), "measured"
        elif kind in ("name", "quoted"):
            labels[node], state = value, "named"
        elif kind in "(,":
            inner.add(node if kind == "(" else parents[node])
            parents.append(node if kind == "(" else parents[node])
            labels.append(None)
            lengths.append(None)
            node, state = len(parents) - 1, "start"
        elif kind == ")":
            node, state = parents[node], "closed"
        else:
            state = "length" if kind == ":" else "end"
    if state != "end":
        raise _error(text, len(text), "the text ends before the ';' that ends the tree")
    return NewickTree(tuple(labels), tuple(parents), tuple(lengths))


def write_newick(tree: NewickTree) -> str:
    """The text of a tree; `read_newick` gives the same tree back."""
    children: list[list[int]] = [[] for _ in tree.labels]
    for node, above in enumerate(tree.parents[1:], start=1):
        children[above].append(node)
    pieces: list[str] = []
    waiting: list[int | str] = [";", 0]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        label, length = tree.labels[item], tree.lengths[item]
        name = "" if label is None else label
        if label is not None and not _SAFE.fullmatch(label):
            name = "'" + label.replace("'", "''") + "'"
        waiting.append(name if length is None else f"{name}:{float(length)!r}")
        if children[item]:
            waiting.append(")")
            for position, child in enumerate(reversed(children[item])):
                waiting.extend([",", child] if position else [child])
            waiting.append("(")
    return "".join(pieces)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, value and place of each token; a mark is its own kind."""
    place = 0
    while place < len(text):
        mark = text[place]
        if mark.isspace():
            place += 1
        elif mark == "[":
            place = _after_comment(text, place)
        elif mark in "(),:;":
            yield mark, mark, place
            place += 1
        elif match := _QUOTED.match(text, place):
            yield "quoted", match[0][1:-1].replace(mark * 2, mark), place
            place = match.end()
        elif match := _PLAIN.match(text, place):
            yield "name", match[0], place
            place = match.end()
        else:
            raise _error(text, place, f"{mark!r} has no partner")


def _after_comment(text: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "[" else -1
        if depth == 0:
            return bracket.end()
    raise _error(text, start, "a comment is opened here and never closed")


def _error(text: str, place: int, problem: str) -> TopologyError:
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    around = text[max(0, place - 20) : place + 20]
    return TopologyError(f"Newick text, line {line}, column {column}: {problem} (near {around!r})")
