"""`tacit parse evaluate`: brackets beside those of a treebank, and beside baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Json, TableOutput, Treebank
from tacit.cli.parse.apply import Longest, TagsMap

if TYPE_CHECKING:
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.query.brackets import BracketScores
    from tacit.parsing.structure.branching import Spans

    Gold = tuple[int, set[tuple[int, int]]]

MEASURES = {
    "f1": "F1, whole sentences counted",
    "without_whole": "F1, whole sentences not counted",
    "by_sentence": "mean F1 of sentences, whole ones not counted",
}
ModelOrTrees = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL|TREES", help="A parser (.tacit), or trees that some program found."
    ),
]
Lengths = Annotated[
    str,
    typer.Option(
        metavar="N,...", help="Score sentences of up to so many words each; `all` for all."
    ),
]


def evaluate(
    model: ModelOrTrees,
    treebank: Treebank,
    lengths: Lengths = "10,20,40,all",
    true_top: Annotated[
        bool, typer.Option("--true-top", help="Also with the treebank's split of whole sentences.")
    ] = False,
    tags_map: TagsMap = None,
    longest: Longest = None,
    output: TableOutput = None,
    json: Json = False,
) -> None:
    """F1 against a treebank, beside baselines.

    By length, with and without the bracket of the whole sentence, and by sentence.

    Punctuation and empties are left out; brackets of one word do not count, nor do sentences of one word.

    For example: tacit parse evaluate model.tacit treebank.mrg --lengths 10,40
    """
    from tacit.cli.output import check_table_path, give_table

    check_table_path(output)
    wanted = lengths_of(lengths)
    trees, guesses = _guessed(model, treebank, tags_map, longest, wanted, true_top=true_top)
    rows = _scores(trees, guesses, wanted)
    if json or output is not None:
        import pyarrow as pa

        give_table(pa.Table.from_pylist(rows), output, json=json)
        return
    _print(rows, wanted)


def lengths_of(text: str) -> list[int | None]:
    """The lengths of an option, None for all."""
    found: list[int | None] = []
    for word in text.split(","):
        if word.strip() == "all":
            found.append(None)
        elif word.strip().isdecimal() and int(word) >= 2:
            found.append(int(word))
        else:
            raise typer.BadParameter(
                f"{word.strip()!r} is neither a number from 2 on nor all", param_hint="--lengths"
            )
    return list(dict.fromkeys(found))


def _guessed(
    model: Path,
    treebank: Path,
    tags_map: Path | None,
    longest: int | None,
    wanted: Sequence[int | None],
    *,
    true_top: bool,
) -> tuple[list[ParseTree], Mapping[str, list[Spans]]]:
    """The trees to compare with, of two or more words and not too long, and the brackets of each method."""
    from tacit.cli.parse.apply import Parser, Tags
    from tacit.errors import DataError
    from tacit.parsing.data.parse_trees import read_trees
    from tacit.parsing.query.brackets import gold_spans

    is_model = model.suffix == ".tacit"
    if not is_model and (true_top or longest is not None):
        raise typer.BadParameter("it goes with a model", param_hint="--true-top, --longest")
    parser = Parser(model, tags_map, longest) if is_model else None
    tags = Tags(tags_map) if parser is None else parser.tags
    every = [tags.of_tree(tree) for tree in read_trees(treebank)]
    sizes = [gold_spans(tree)[0] for tree in every]
    most = None if None in wanted else max(size for size in wanted if size is not None)
    kept = [at for at, n in enumerate(sizes) if n >= 2 and (most is None or n <= most)]
    if not kept:
        raise DataError(
            f"{str(treebank)!r} has no tree of two words or more to compare with"
            + ("" if most is None else f", up to {most} words")
        )
    trees = [every[at] for at in kept]
    if parser is None:
        found = _of_trees(model, [n for n in sizes if n], tags)
        places = {at: place for place, at in enumerate(at for at, n in enumerate(sizes) if n)}
        return trees, {model.name: [found[places[at]] for at in kept]}
    return trees, _of_model(parser, trees, [at + 1 for at in kept], true_top=true_top)


def _of_trees(path: Path, sizes: Sequence[int], tags: Any) -> list[Spans]:
    """The brackets of trees that lie in a file, for sentences of so many words each."""
    from tacit.errors import DataError
    from tacit.parsing.data.parse_trees import read_trees
    from tacit.parsing.query.brackets import gold_spans

    found = [gold_spans(tags.of_tree(tree)) for tree in read_trees(path)]
    found = [each for each in found if each[0]]
    if len(found) != len(sizes):
        raise DataError(
            f"{str(path)!r} has {len(found)} trees with words, but the treebank has {len(sizes)}"
        )
    for number, ((n_words, _), size) in enumerate(zip(found, sizes, strict=True), 1):
        if n_words != size:
            raise DataError(
                f"tree {number} of {str(path)!r} has {n_words} words without punctuation, that of the "
                f"treebank {size}"
            )
    return [sorted(spans) for _, spans in found]


def _of_model(
    parser: Any, trees: Sequence[ParseTree], numbers: Sequence[int], *, true_top: bool
) -> Mapping[str, list[Spans]]:
    """The brackets that a parser finds, with its own split of whole sentences and with the true one."""
    from tacit.core.progress import reporting
    from tacit.parsing.data.parse_trees import without_empties
    from tacit.parsing.query.brackets import gold_spans, gold_top

    names = [parser.name, *([f"{parser.name}, true top"] if true_top else [])]
    found: dict[str, list[Spans]] = {name: [] for name in names}
    with reporting(True) as report:
        for done, (tree, number) in enumerate(zip(trees, numbers, strict=True)):
            if done % 20 == 0:
                report(done / len(trees), f"sentence {done + 1:,} of {len(trees):,}")
            said = without_empties(tree)
            sentence = [] if said is None else said.leaves()
            for name in names:
                top = gold_top(*gold_spans(tree)) if name != parser.name else None
                found[name].append(parser.parse(sentence, f"sentence {number}", top).spans)
    parser.tell_of_tags()
    return found


def _scores(
    trees: Sequence[ParseTree],
    guesses: Mapping[str, list[Spans]],
    wanted: Sequence[int | None],
) -> list[dict[str, Any]]:
    """A row for each method and length."""
    from dataclasses import asdict

    from tacit.evaluate.bracket_baselines import baseline_brackets
    from tacit.parsing.data.parse_trees import without_empties
    from tacit.parsing.query.brackets import gold_spans, scores_by_length

    golds = [gold_spans(tree) for tree in trees]
    said = [without_empties(tree) for tree in trees]
    sentences = [[] if tree is None else tree.leaves() for tree in said]
    rows = []
    for name, spans in {**guesses, **baseline_brackets(sentences, golds)}.items():
        scores: Mapping[int | None, BracketScores] = scores_by_length(spans, golds, wanted)
        rows += [
            {"method": name, "longest": longest, **asdict(found)}
            for longest, found in scores.items()
        ]
    return rows


def _print(rows: Sequence[Mapping[str, Any]], wanted: Sequence[int | None]) -> None:
    """A table for each way of scoring."""
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.output import console

    out = console()
    for measure, title in MEASURES.items():
        table = Table(box=None, pad_edge=False)
        table.add_column(title, no_wrap=True)
        for longest in wanted:
            table.add_column("all" if longest is None else f"up to {longest}", justify="right")
        first = [row for row in rows if row["method"] == rows[0]["method"]]
        table.add_row("sentences", *(f"{row['n_sentences']:,}" for row in first))
        for name in dict.fromkeys(row["method"] for row in rows):
            own = [row for row in rows if row["method"] == name]
            table.add_row(Text(name), *(f"{row[measure]:.1f}" for row in own))
        if measure != "f1":
            out.print()
        out.print(table)
