"""`tacit parse draw`: pictures of trees over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.options import Picture
from tacit.cli.parse.apply import FORMS, Longest, Parser, Tags, TagsMap, sentences_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.parsing.data.parse_trees import ParseTree


def draw(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|TREES", help="A parser (.tacit), or trees to be drawn as they are."
        ),
    ],
    output: Picture,
    sentences: Annotated[
        Path | None,
        typer.Argument(metavar="SENTENCES", help=f"What the parser is to parse: {FORMS}."),
    ] = None,
    numbers: Annotated[
        list[int] | None,
        typer.Option(
            "--sentence", "-n", metavar="N", min=1, help="Which sentence, from 1. May be repeated."
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="SENTENCES are trees: brackets that these lack stand in another colour.",
        ),
    ] = False,
    max_words: Annotated[int, typer.Option(min=1, help="Refuse longer sentences.")] = 60,
    tags_map: TagsMap = None,
    longest: Longest = None,
) -> None:
    """Draw the trees of one or of several sentences.

    For example: tacit parse draw model.tacit sentences.txt -o tree.svg -n 3 -n 7
    """
    from tacit.cli.lm.counts import check_place
    from tacit.cli.model.plot import picture_kind, save_picture
    from tacit.cli.output import console

    is_model = model.suffix == ".tacit"
    if is_model and sentences is None:
        raise typer.BadParameter("a parser needs sentences to parse", param_hint="SENTENCES")
    if not is_model and (sentences is not None or compare):
        raise typer.BadParameter("they go with a parser, a .tacit file", param_hint="SENTENCES")
    picture_kind(output)  # before the work, not after it
    check_place(output)
    chosen = list(dict.fromkeys(numbers or [1]))
    others: list[ParseTree] | None = None
    if sentences is None:
        trees = _given(model, chosen)
    else:
        parser = Parser(model, tags_map, longest)
        trees = _parsed(parser, sentences, chosen)
        others = _compared(sentences, chosen, trees, parser.tags) if compare else None
    save_picture(_stacked(trees, others, max_words), output)
    noun = "tree" if len(trees) == 1 else "trees"
    console().print(f"{len(trees)} {noun} drawn to {output}", markup=False)


def _given(path: Path, numbers: Sequence[int]) -> list[ParseTree]:
    """Some trees of a file."""
    from tacit.parsing.data.parse_trees import stream_trees

    trees = list(islice(stream_trees(path), max(numbers)))
    _check_there(path, numbers, len(trees))
    return [trees[number - 1] for number in numbers]


def _parsed(parser: Parser, sentences: Path, numbers: Sequence[int]) -> list[ParseTree]:
    """The trees that a parser gives some sentences of a file."""
    from tacit.errors import DataError

    tagged = list(islice(sentences_of([sentences]), max(numbers)))
    _check_there(sentences, numbers, len(tagged))
    trees = []
    for number in numbers:
        sentence = tagged[number - 1]
        tree = parser.tree(sentence, parser.parse(sentence, f"sentence {number}"))
        if tree is None:
            raise DataError(f"sentence {number} of {str(sentences)!r} has no words to draw")
        trees.append(tree)
    parser.note_tags()
    return trees


def _compared(
    path: Path, numbers: Sequence[int], trees: Sequence[ParseTree], tags: Tags
) -> list[ParseTree]:
    """The brackets of a treebank over the same words, with the labels of the parser's trees."""
    from tacit.errors import DataError
    from tacit.parsing.data.parse_trees import read_trees
    from tacit.parsing.query.brackets import gold_spans
    from tacit.parsing.structure.branching import tree_of_spans

    gold = read_trees(path)
    if len(gold) < max(numbers):
        raise DataError(f"{str(path)!r} has {len(gold)} trees, so that --compare cannot be done")
    golds = [gold_spans(tags.of_tree(gold[number - 1])) for number in numbers]
    return [
        tree_of_spans(tree.leaves(), sorted(spans))
        for tree, (_, spans) in zip(trees, golds, strict=True)
    ]


def _check_there(path: Path, numbers: Sequence[int], n_sentences: int) -> None:
    from tacit.errors import DataError

    if n_sentences < max(numbers):
        raise DataError(f"{str(path)!r} has {n_sentences} sentences, and no number {max(numbers)}")


def _stacked(
    trees: Sequence[ParseTree], others: Sequence[ParseTree] | None, max_words: int
) -> Axes:
    """One picture of all trees, the first on top."""
    from tacit import plot as pictures
    from tacit.plot.parse_trees import parse_size
    from tacit.plot.style import pyplot

    compared = [None] * len(trees) if others is None else others
    if len(trees) == 1:
        return pictures.parse(trees[0], compare=compared[0], max_words=max_words)
    sizes = [parse_size(tree, compare=others is not None) for tree in trees]
    widest = max(width for width, _ in sizes)
    heights = [height for _, height in sizes]
    _, axes = pyplot().subplots(
        len(trees), 1, figsize=(widest, sum(heights)), height_ratios=heights, layout="constrained"
    )
    for ax, tree, other in zip(axes, trees, compared, strict=True):
        pictures.parse(tree, ax, compare=other, max_words=max_words)
        ax.set_xlim(ax.get_xlim()[0], ax.get_xlim()[0] + widest)  # letters as wide in all
    first: Axes = axes[0]
    return first
