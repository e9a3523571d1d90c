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
    typer.Argument(metavar="MODEL|TREES", help="A parser (.tacit), or trees of another program."),
]
Lengths = Annotated[
    str,
    typer.Option(
        metavar="N,...", help="Greatest numbers of words of the sentences scored; `all` for all."
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
    max_lengths = lengths_of(lengths)
    trees, guesses = _guessed(model, treebank, tags_map, longest, max_lengths, true_top=true_top)
    rows = _scores(trees, guesses, max_lengths)
    if json or output is not None:
        import pyarrow as pa

        give_table(pa.Table.from_pylist(rows), output, json=json)
        return
    _print(rows, max_lengths)


def lengths_of(text: str) -> list[int | None]:
    """The lengths of an option, None for all."""
    max_lengths: list[int | None] = []
    for word in text.split(","):
        if word.strip() == "all":
            max_lengths.append(None)
        elif word.strip().isdecimal() and int(word) >= 2:
            max_lengths.append(int(word))
        else:
            raise typer.BadParameter(
                f"{word.strip()!r} is neither a number from 2 on nor all", param_hint="--lengths"
            )
    return list(dict.fromkeys(max_lengths))


def _guessed(
    model: Path,
    treebank: Path,
    tags_map: Path | None,
    longest: int | None,
    max_lengths: Sequence[int | None],
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
    all_trees = [tags.of_tree(tree) for tree in read_trees(treebank)]
    sizes = [gold_spans(tree)[0] for tree in all_trees]
    most = None if None in max_lengths else max(size for size in max_lengths if size is not None)
    chosen = [at for at, n in enumerate(sizes) if n >= 2 and (most is None or n <= most)]
    if not chosen:
        raise DataError(
            f"{str(treebank)!r} has no tree of two words or more to compare with"
            + ("" if most is None else f", up to {most} words")
        )
    trees = [all_trees[at] for at in chosen]
    if parser is None:
        spans = _of_trees(model, [n for n in sizes if n], tags)
        places = {at: place for place, at in enumerate(at for at, n in enumerate(sizes) if n)}
        return trees, {model.name: [spans[places[at]] for at in chosen]}
    return trees, _of_model(parser, trees, [at + 1 for at in chosen], true_top=true_top)


def _of_trees(path: Path, sizes: Sequence[int], tags: Any) -> list[Spans]:
    """The brackets of the trees of a file, which must have the given numbers of words."""
    from tacit.errors import DataError
    from tacit.parsing.data.parse_trees import read_trees
    from tacit.parsing.query.brackets import gold_spans

    trees = [gold_spans(tags.of_tree(tree)) for tree in read_trees(path)]
    trees = [(n_words, spans) for n_words, spans in trees if n_words]
    if len(trees) != len(sizes):
        raise DataError(
            f"{str(path)!r} has {len(trees)} trees with words, but the treebank has {len(sizes)}"
        )
    for number, ((n_words, _), size) in enumerate(zip(trees, sizes, strict=True), 1):
        if n_words != size:
            raise DataError(
                f"tree {number} of {str(path)!r} has {n_words} words without punctuation, that of the "
                f"treebank {size}"
            )
    return [sorted(spans) for _, spans in trees]


def _of_model(
    parser: Any, trees: Sequence[ParseTree], numbers: Sequence[int], *, true_top: bool
) -> Mapping[str, list[Spans]]:
    """The brackets of a parser, with its split of whole sentences and with the true one."""
    from tacit.core.progress import reporting
    from tacit.parsing.data.parse_trees import without_empties
    from tacit.parsing.query.brackets import gold_spans, gold_top

    names = [parser.name, *([f"{parser.name}, true top"] if true_top else [])]
    spans: dict[str, list[Spans]] = {name: [] for name in names}
    with reporting(True) as report:
        for done, (tree, number) in enumerate(zip(trees, numbers, strict=True)):
            if done % 20 == 0:
                report(done / len(trees), f"sentence {done + 1:,} of {len(trees):,}")
            spoken = without_empties(tree)
            sentence = [] if spoken is None else spoken.leaves()
            for name in names:
                top = gold_top(*gold_spans(tree)) if name != parser.name else None
                spans[name].append(parser.parse(sentence, f"sentence {number}", top).spans)
    parser.note_tags()
    return spans


def _scores(
    trees: Sequence[ParseTree],
    guesses: Mapping[str, list[Spans]],
    max_lengths: Sequence[int | None],
) -> list[dict[str, Any]]:
    """A row for each method and length."""
    from dataclasses import asdict

    from tacit.evaluate.bracket_baselines import baseline_brackets
    from tacit.parsing.data.parse_trees import without_empties
    from tacit.parsing.query.brackets import gold_spans, scores_by_length

    golds = [gold_spans(tree) for tree in trees]
    spoken = [without_empties(tree) for tree in trees]
    sentences = [[] if tree is None else tree.leaves() for tree in spoken]
    rows = []
    for name, spans in {**guesses, **baseline_brackets(sentences, golds)}.items():
        scores: Mapping[int | None, BracketScores] = scores_by_length(spans, golds, max_lengths)
        rows += [
            {"method": name, "longest": longest, **asdict(score)}
            for longest, score in scores.items()
        ]
    return rows


def _print(rows: Sequence[Mapping[str, Any]], max_lengths: Sequence[int | None]) -> None:
    """A table for each measure."""
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.output import console

    out = console()
    for measure, title in MEASURES.items():
        table = Table(box=None, pad_edge=False)
        table.add_column(title, no_wrap=True)
        for longest in max_lengths:
            table.add_column("all" if longest is None else f"up to {longest}", justify="right")
        first = [row for row in rows if row["method"] == rows[0]["method"]]
        table.add_row("sentences", *(f"{row['n_sentences']:,}" for row in first))
        for name in dict.fromkeys(row["method"] for row in rows):
            of_method = [row for row in rows if row["method"] == name]
            table.add_row(Text(name), *(f"{row[measure]:.1f}" for row in of_method))
        if measure != "f1":
            out.print()
        out.print(table)
