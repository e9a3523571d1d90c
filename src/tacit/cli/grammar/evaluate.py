"""`tacit grammar evaluate`: labelled brackets beside those of a treebank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.fit.learning import Jobs
from tacit.cli.grammar.parse import Longest
from tacit.cli.options import Json, TableOutput, Treebank

if TYPE_CHECKING:
    from tacit.parsing.data.parse_trees import ParseTree

MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1", "exact": "exact trees"}
TITLES = {
    "all": "every bracket but TOP, every word",
    "evalb": "as evalb counts: no punctuation, PRT is ADVP",
}


def evaluate(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|TREES", help="A grammar (.tacit), or trees of another program."
        ),
    ],
    treebank: Treebank,
    lengths: Annotated[
        str,
        typer.Option(
            metavar="N,...",
            help="Greatest numbers of words (with marks) of the sentences scored; `all` for all.",
        ),
    ] = "10,20,40,all",
    untagged: Annotated[
        bool,
        typer.Option("--untagged", help="Predict the tags, too, rather than use the treebank's."),
    ] = False,
    longest: Longest = None,
    jobs: Jobs = None,
    output: TableOutput = None,
    json: Json = False,
) -> None:
    """Labelled F1 against a treebank.

    By length, and by two conventions: with every bracket and word, and as the program evalb counts.

    Empty words and functions are left out; tags are no brackets.

    For example: tacit grammar evaluate model.tacit treebank.mrg --lengths 40
    """
    from tacit.cli.output import check_table_path, give_table
    from tacit.cli.parse.evaluate import lengths_of

    check_table_path(output)
    max_lengths = lengths_of(lengths)
    gold, predicted = _pairs(model, treebank, max_lengths, longest, jobs, untagged=untagged)
    rows = _rows(gold, predicted, max_lengths)
    if json or output is not None:
        import pyarrow as pa

        give_table(pa.Table.from_pylist(rows), output, json=json)
        return
    _print(rows)


def _pairs(
    model: Path,
    treebank: Path,
    max_lengths: Sequence[int | None],
    longest: int | None,
    jobs: int | None,
    *,
    untagged: bool,
) -> tuple[list[ParseTree], list[ParseTree]]:
    """The trees of the treebank that are not too long, and those predicted for their words."""
    from tacit.cli.grammar.parse import GrammarParser, trees_of
    from tacit.errors import DataError

    is_model = model.suffix == ".tacit"
    if not is_model and (untagged or longest is not None or jobs is not None):
        raise typer.BadParameter("it goes with a model", param_hint="--untagged, --longest, --jobs")
    parser = GrammarParser(model, longest) if is_model else None
    trees = trees_of(treebank)
    most = None if None in max_lengths else max(size for size in max_lengths if size is not None)
    chosen = [at for at, tree in enumerate(trees) if most is None or len(tree.leaves()) <= most]
    if not chosen:
        raise DataError(f"{str(treebank)!r} has no tree of up to {most} words to compare with")
    gold = [trees[at] for at in chosen]
    if parser is None:
        predicted = trees_of(model)
        if len(predicted) != len(trees):
            raise DataError(
                f"{str(model)!r} has {len(predicted)} trees with words, but the treebank has {len(trees)}"
            )
        return gold, [predicted[at] for at in chosen]
    return gold, _predicted(parser, gold, [at + 1 for at in chosen], jobs, untagged=untagged)


def _predicted(
    parser: Any,
    gold: Sequence[ParseTree],
    numbers: Sequence[int],
    jobs: int | None,
    *,
    untagged: bool,
) -> list[ParseTree]:
    """The trees that a grammar gives to the words of others; errors name their numbers."""
    from tacit.cli.grammar.parse import in_order
    from tacit.core.progress import reporting

    def sentence(tree: ParseTree) -> list[tuple[str, str | None]]:
        return [(word, None if untagged else tag) for word, tag in tree.leaves()]

    trees: list[ParseTree] = []
    places = (f"sentence {number}" for number in numbers)
    located = zip(places, map(sentence, gold), strict=True)
    with reporting(True) as report:
        for tree in in_order(parser.best, located, jobs):
            trees.append(tree)
            report(len(trees) / len(gold), f"sentence {len(trees):,} of {len(gold):,}")
    parser.print_notes()
    return trees


def _rows(
    gold: Sequence[ParseTree], predicted: Sequence[ParseTree], max_lengths: Sequence[int | None]
) -> list[dict[str, Any]]:
    """A row for each convention and length."""
    from tacit.parsing.query.labelled_brackets import CONVENTIONS, labelled_score

    sizes = [len(tree.leaves()) for tree in gold]
    rows = []
    for convention in CONVENTIONS:
        for most in max_lengths:
            chosen = [at for at, n in enumerate(sizes) if most is None or n <= most]
            score = labelled_score(
                [gold[at] for at in chosen], [predicted[at] for at in chosen], convention=convention
            )
            rows.append(
                {
                    "convention": convention,
                    "longest": most,
                    "n_sentences": score.n_trees,
                    "precision": 100 * score.precision,
                    "recall": 100 * score.recall,
                    "f1": 100 * score.f1,
                    "exact": 100 * score.exact / max(score.n_trees, 1),
                }
            )
    return rows


def _print(rows: Sequence[dict[str, Any]]) -> None:
    """A table for each convention."""
    from rich.table import Table

    from tacit.cli.output import console

    out = console()
    for place, (convention, title) in enumerate(TITLES.items()):
        of_convention = [row for row in rows if row["convention"] == convention]
        table = Table(box=None, pad_edge=False)
        table.add_column(title, no_wrap=True)
        for row in of_convention:
            head = "all" if row["longest"] is None else f"up to {row['longest']}"
            table.add_column(head, justify="right")
        table.add_row("sentences", *(f"{row['n_sentences']:,}" for row in of_convention))
        for name, words in MEASURES.items():
            table.add_row(words, *(f"{row[name]:.2f}" for row in of_convention))
        if place:
            out.print()
        out.print(table)
