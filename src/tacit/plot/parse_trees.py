"""The picture of a parse tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.parsing.data.parse_trees import ParseTree, read_trees
from tacit.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTER = 0.085  # inches of a letter
_GAP = 0.2  # inches between words
_LEVEL = 0.42  # inches from a bracket to the next


@dataclass(slots=True)
class _Node:
    tree: ParseTree
    children: list[_Node]
    x: float
    level: int  # above the words
    span: tuple[str, int, int]


def parse(
    tree: ParseTree | str,
    ax: Axes | None = None,
    *,
    compare: ParseTree | str | None = None,
    max_words: int = 60,
) -> Axes:
    """A picture of a tree over its words.

    Parameters
    ----------
    tree : ParseTree or text in brackets
    ax : matplotlib.axes.Axes, optional
        Where to draw; its axis lines are taken away. Unless given, a figure of fitting size is made.
    compare : ParseTree or text, optional
        A tree over the same words: brackets of `tree` that it lacks are drawn in another colour, and noted.
    max_words : int
        Longer sentences are refused.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        The sentence is too long, or the trees have different words.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> axes = parse("(S (NP (D the) (N cat)) (VP (V sleeps)))")
    >>> [text.get_text() for text in axes.texts]
    ['S', 'NP', 'D', 'the', 'N', 'cat', 'VP', 'V', 'sleeps']
    """
    plt = style.pyplot()
    one_tree = _one_tree(tree)
    words = [word for word, _ in one_tree.leaves()]
    if len(words) > max_words:
        raise ArgumentError(
            f"the sentence has {len(words)} words; a picture of more than max_words={max_words} is hard to "
            f"read: draw a part, or raise max_words"
        )
    others = None if compare is None else _spans_of(_one_tree(compare), words)
    root = _placed(one_tree)
    if ax is None:
        _, ax = plt.subplots(figsize=parse_size(one_tree), layout="constrained")
    ax.set_axis_off()
    ax.set_xlim(-0.3, _width(one_tree) + 0.3)
    ax.set_ylim(-_LEVEL, (root.level + 0.6) * _LEVEL)
    wrong = _draw(ax, root, others)
    if others is not None:
        noun = "bracket" if wrong == 1 else "brackets"
        ax.set_title(
            f"{wrong} {noun} that the other tree has not", fontsize=style.FONT_SIZE, loc="left"
        )
    return ax


def parse_size(tree: ParseTree, *, compare: bool = False) -> tuple[float, float]:
    """Width and height of the picture of a tree in inches, with a title line if it is compared."""
    line = 0.25 if compare else 0.0
    height = (_placed(tree).level + 1) * _LEVEL + 0.4 + line
    return max(_width(tree) + 0.4, 2.0), max(height, 1.2)


def _one_tree(source: Any) -> ParseTree:
    if isinstance(source, ParseTree):
        return source
    if not isinstance(source, str):
        raise ArgumentTypeError(
            f"a {type(source).__name__} is no tree; give a ParseTree or text in brackets"
        )
    trees = read_trees([source])
    if len(trees) != 1:
        raise ArgumentError(f"the text holds {len(trees)} trees; give one")
    return trees[0]


def _spans_of(tree: ParseTree, words: list[str]) -> Counter[tuple[str, int, int]]:
    if [word for word, _ in tree.leaves()] != words:
        raise ArgumentError("the trees have different words; give trees over the same sentence")
    return Counter(tree.spans())


def _width(tree: ParseTree) -> float:
    """Inches of all words side by side, each as wide as the word or its tag."""
    return sum(max(len(word), len(tag)) * _LETTER + _GAP for word, tag in tree.leaves())


def _placed(tree: ParseTree) -> _Node:
    """The nodes with positions: words from left to right, brackets above the middle of their children."""
    nodes = list(tree.nodes())
    leaves = tree.leaves()
    ends = [0.0]
    for word, tag in leaves:
        ends.append(ends[-1] + max(len(word), len(tag)) * _LETTER + _GAP)
    place = len(leaves)
    waiting: list[_Node] = []  # the leftmost last
    for node in reversed(nodes):
        if node.word is not None:
            place -= 1
            middle = (ends[place] + ends[place + 1]) / 2
            waiting.append(_Node(node, [], middle, 1, (node.label, place, place + 1)))
            continue
        below = [waiting.pop() for _ in node.children]
        level = 1 + max(child.level for child in below)
        span = (node.label, below[0].span[1], below[-1].span[2])
        waiting.append(_Node(node, below, (below[0].x + below[-1].x) / 2, level, span))
    return waiting.pop()


def _draw(ax: Axes, root: _Node, others: Counter[tuple[str, int, int]] | None) -> int:
    """Draw all nodes, parents first; return the number of brackets that the other tree lacks."""
    left = None if others is None else others.copy()
    wrong = 0
    size = style.FONT_SIZE
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    waiting: list[_Node] = [root]
    while waiting:
        node = waiting.pop()
        y = node.level * _LEVEL
        colour = style.BLACK
        if left is not None and node.tree.word is None:
            if left[node.span] > 0:
                left[node.span] -= 1
            else:
                colour, wrong = style.VERMILION, wrong + 1
        # Right angles: slanted lines would cross the words of siblings.
        bar = y - _LEVEL / 2
        for child in node.children:
            xs, ys = [node.x, node.x, child.x, child.x], [y, bar, bar, child.level * _LEVEL]
            ax.plot(xs, ys, color=style.LINE, lw=0.8, zorder=1)
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 2}
        if node.tree.word is None:
            ax.text(node.x, y, node.tree.label, color=colour, bbox=box, **look)
        else:
            ax.plot([node.x, node.x], [y, 0.0], color=style.LINE, lw=0.8, zorder=1)
            ax.text(node.x, y, node.tree.label, color=style.DIM, bbox=box, **look)
            ax.text(node.x, 0.0, node.tree.word, color=style.BLACK, bbox=box, **look)
        waiting.extend(reversed(node.children))
    return wrong
