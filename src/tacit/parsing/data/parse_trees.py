"""Trees over sentences: nested brackets, read and written, and what is left out of them before use."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.core.input.text import text_sources
from tacit.errors import ArgumentError, ArgumentTypeError, DataError

TOP = "TOP"  # the label of an outermost bracket that has none
# An opening bracket with its label, and at once with its word if that is all it has; or a closing one.
_PIECE = re.compile(r"\(\s*([^\s()]*)(?:\s+([^\s()]+)\s*\))?|(\))|([^\s()]+)")
# Of the Penn Treebank and Universal Dependencies, then of GENIA.
_PUNCTUATION = frozenset(("-LRB-", "-RRB-", "...", "PUNCT")) | frozenset(
    ("PERIOD", "COMMA", "COLON", "LPAREN", "RPAREN", "LRB", "RRB", "LQT", "RQT", "HYPH")
)
_MARK = re.compile(r"[^\w\s]{1,2}")  # a mark as its own tag: ``, '', --, ;, «
_SPANISH_MARK = re.compile(r"F[a-z]{1,2}")  # EAGLES: Fc, Fp, Fpa, ...


@dataclass(frozen=True, slots=True)
class ParseTree:
    """A bracket over some words, or one word with its tag.

    Parameters
    ----------
    label : str
        Of the bracket; the tag of a word.
    children : tuple of ParseTree
        None where there is a word.
    word : str, optional
        None where there are children.

    Examples
    --------
    >>> tree = read_trees(["(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))"])[0]
    >>> tree.leaves()
    [('the', 'DT'), ('cat', 'NN'), ('sleeps', 'VBZ')]
    >>> tree.spans()
    [('S', 0, 3), ('NP', 0, 2), ('VP', 2, 3)]
    >>> print(tree)
    (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))
    """

    label: str
    children: tuple[ParseTree, ...] = ()
    word: str | None = None

    def __post_init__(self) -> None:
        """Refuse a tree that is neither a word nor a bracket over something."""
        if (self.word is None) != bool(self.children):
            raise ArgumentError(f"{self.label!r} must have either a word or children")

    def nodes(self) -> Iterator[ParseTree]:
        """The tree and every one in it, parents first, from left to right."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def leaves(self) -> list[tuple[str, str]]:
        """Each word and its tag."""
        return [(node.word, node.label) for node in self.nodes() if node.word is not None]

    def spans(self) -> list[tuple[str, int, int]]:
        """Label, first word and the word after the last of each bracket, parents first; words are none."""
        nodes = list(self.nodes())
        widths: list[int] = []  # of the nodes that wait for their parent, the leftmost last
        brackets: list[tuple[str, int]] = []
        for node in reversed(nodes):
            if node.word is not None:
                widths.append(1)
                continue
            width = sum(widths.pop() for _ in node.children)
            widths.append(width)
            brackets.append((node.label, width))
        starts, place = [], 0
        for node in nodes:
            if node.word is None:
                starts.append(place)
            else:
                place += 1
        return [
            (label, start, start + width)
            for (label, width), start in zip(reversed(brackets), starts, strict=True)
        ]

    def __str__(self) -> str:
        """The tree in brackets, on one line."""
        pieces: list[str] = []
        waiting: list[ParseTree | str] = [self]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                pieces.append(item)
            elif item.word is not None:
                pieces.append(f" ({item.label} {item.word})")
            else:
                pieces.append(f" ({item.label}")
                waiting.append(")")
                waiting.extend(reversed(item.children))
        return "".join(pieces)[1:]


# -- reading ----------------------------------------------------------------------------------------


def read_trees(source: Any) -> list[ParseTree]:
    """All trees of a text in brackets.

    A tree stands on one line or on several, ``(label child ...)`` and ``(tag word)``. An outermost bracket
    without a label, as the Penn Treebank has it, is called ``TOP``.

    Parameters
    ----------
    source : path, list of paths, file object, or iterable of lines
        A path names a file of UTF-8 text, packed where it ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.

    Raises
    ------
    DataError
        A bracket is not closed or not opened, or holds nothing, or a word and something else; with the line.

    Examples
    --------
    >>> [str(tree) for tree in read_trees(["( (NP", "   (NN rain)) )", "(X (Y z))"])]
    ['(TOP (NP (NN rain)))', '(X (Y z))']
    """
    return list(stream_trees(source))


def stream_trees(source: Any) -> Iterator[ParseTree]:
    """The trees of a text in brackets, read lazily; see `read_trees`."""
    for name, lines in text_lines(source):
        for _, tree in located_trees(name, lines):
            yield tree


def located_trees(name: str, lines: Iterable[str]) -> Iterator[tuple[int, ParseTree]]:
    """The trees of the lines of a text, each after the line where it begins; errors name the text."""
    held: list[str] = []
    depth, first = 0, 1
    for number, line in enumerate(lines, 1):
        if not depth and not line.strip():
            continue
        if not held:
            first = number
        held.append(line)
        depth += line.count("(") - line.count(")")
        if depth < 0:
            raise DataError(f"{name}, line {number}: a ')' closes no bracket; take it out")
        if depth == 0:
            for tree in _trees("\n".join(held), name, first):
                yield first, tree
            held = []
    if depth:
        raise DataError(
            f"{name}, line {first}: {depth} of the brackets that open in the tree of this line are not "
            f"closed; add the missing ')'"
        )


def text_lines(source: Any) -> Iterator[tuple[str, Iterator[str]]]:
    """The name and the lines of each text that is given: paths, a file object, or lines."""
    if hasattr(source, "read"):
        name = str(getattr(source, "name", "the file given"))
        yield name, _as_text(source, name)
    elif isinstance(source, list | tuple) and any(isinstance(one, ParseTree) for one in source):
        raise ArgumentTypeError("these are trees already, not text in brackets")
    else:
        for text in text_sources(source):
            yield text.name.strip("'"), _as_text(_byte_lines(text.blocks), text.name)


def _as_text(lines: Iterable[str | bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        try:
            yield line.decode() if isinstance(line, bytes) else line
        except UnicodeDecodeError as error:
            raise DataError(f"{name}, line {number} is no UTF-8 text: {error}") from error


def _byte_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of blocks of bytes, the last one too if no newline ends it."""
    unfinished = b""
    for block in blocks:
        *lines, unfinished = (unfinished + block).split(b"\n")
        yield from lines
    if unfinished:
        yield unfinished


def _trees(text: str, name: str, first: int) -> Iterator[ParseTree]:
    """The trees of a piece of text whose brackets are balanced."""
    labels: list[str] = []
    children: list[list[ParseTree]] = [[]]
    for piece in _PIECE.finditer(text):
        label, word, closed, stray = piece.groups()
        if word is not None and label:
            children[-1].append(ParseTree(label, (), word))
        elif closed:
            if not labels:
                raise _wrong(text, piece, name, first, "a bracket is closed that was not opened")
            inside = children.pop()
            if not inside:
                raise _wrong(text, piece, name, first, f"({labels[-1]}) holds nothing")
            children[-1].append(ParseTree(labels.pop(), tuple(inside)))
        elif stray is not None:
            problem = f"the word {stray!r} stands beside something else in its bracket, or in none"
            raise _wrong(text, piece, name, first, problem)
        else:
            if not label and labels:
                raise _wrong(text, piece, name, first, "a bracket inside a tree has no label")
            labels.append(label or TOP)
            children.append([])
        if not labels:
            yield from children[0]
            children = [[]]


def _wrong(text: str, piece: re.Match[str], name: str, first: int, problem: str) -> DataError:
    line = first + text.count("\n", 0, piece.start())
    return DataError(f"{name}, line {line}: {problem}; write (label child ...) or (tag word)")


# -- leaving out ------------------------------------------------------------------------------------


def without_empties(tree: ParseTree) -> ParseTree | None:
    """The tree without empty words (``-NONE-``, Spanish ``*0*``); None if nothing is left."""
    return without_leaves(tree, lambda word, tag: tag == "-NONE-" or word == "*0*")


def without_punctuation(tree: ParseTree) -> ParseTree | None:
    """The tree without punctuation; None if nothing is left."""
    return without_leaves(tree, lambda _, tag: is_punctuation(tag))


def is_punctuation(tag: str) -> bool:
    """Whether a tag (Penn, GENIA, Spanish, universal, or a mark itself) is one of punctuation."""
    return bool(tag in _PUNCTUATION or _MARK.fullmatch(tag) or _SPANISH_MARK.fullmatch(tag))


def without_leaves(tree: ParseTree, drop: Callable[[str, str], bool]) -> ParseTree | None:
    """The tree without words for which ``drop(word, tag)`` holds, and without brackets left empty."""

    def label(node: ParseTree) -> str | None:
        return None if node.word is not None and drop(node.word, node.label) else node.label

    return _relabelled(tree, label)


def without_functions(tree: ParseTree) -> ParseTree:
    """The tree with labels without their functions: ``NP-SBJ-1`` and ``NP=2`` become ``NP``.

    Tags of words stay, and so do labels that begin with a hyphen (``-LRB-``).
    """

    def label(node: ParseTree) -> str:
        is_tag = node.word is not None
        return node.label if is_tag else re.split(r"(?<=.)[-=]", node.label, maxsplit=1)[0]

    return _relabelled(tree, label) or tree


def with_tags(tree: ParseTree, tags: Mapping[str, str]) -> ParseTree:
    """The tree with other tags for its words; those that are not named stay.

    Examples
    --------
    >>> print(with_tags(read_trees(["(NP (ART the) (N cat))"])[0], {"N": "NOUN"}))
    (NP (ART the) (NOUN cat))
    """

    def label(node: ParseTree) -> str:
        return node.label if node.word is None else tags.get(node.label, node.label)

    return _relabelled(tree, label) or tree


def _relabelled(tree: ParseTree, label: Callable[[ParseTree], str | None]) -> ParseTree | None:
    """The tree with new labels, without words whose new label is None and brackets left empty."""
    done: list[ParseTree | None] = []  # the leftmost last
    for node in reversed(list(tree.nodes())):
        children = tuple(child for _ in node.children if (child := done.pop()) is not None)
        new = label(node)
        if new is None or (node.word is None and not children):
            done.append(None)
            continue
        same = len(children) == len(node.children) and all(
            map(operator.is_, children, node.children)
        )
        done.append(node if same and new == node.label else ParseTree(new, children, node.word))
    return done[0]
