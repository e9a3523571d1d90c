"""`tacit lm count` and `merge`: counts of n-grams from text, and options shared with training."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.lm.queries import Markers, grams_of, text_path, words_on_lines
from tacit.cli.options import Json

if TYPE_CHECKING:
    from tacit.language.moments.ngram_counts import GramCounts

COUNTS = ".counts"

PACKED = "packed where it ends in .gz, .bz2, .xz or .zst; - for standard input"
Texts = Annotated[
    list[Path],
    typer.Argument(metavar="TEXT", help=f"UTF-8 text with a sentence on each line, {PACKED}."),
]
Shards = Annotated[
    list[Path], typer.Argument(metavar="COUNTS", help="What `tacit lm count` wrote.")
]
CountsOutput = Annotated[
    Path, typer.Option("--output", "-o", metavar="COUNTS", help="The folder of counts (.counts).")
]
WordList = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The words to know, one on each line.")
]
MinCount = Annotated[int, typer.Option(min=1, help="Words that occur less often become <unk>.")]
MaxWords = Annotated[
    int | None,
    typer.Option("--words", min=1, help="Size of the vocabulary; the most frequent words."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Count in pieces on disk, with about this much memory: 300MB, 2GB. Interrupted work continues.",
    ),
]


MarkersInText = Annotated[Markers, typer.Option(help="What to do with <s> and </s> in a text.")]


def count(
    texts: Texts,
    output: CountsOutput,
    order: Annotated[int, typer.Option(min=1, help="Words of the longest n-grams.")] = 3,
    vocabulary: WordList = None,
    markers: MarkersInText = Markers.error,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Count the n-grams of texts.

    Counts can be merged, and models trained on them. The vocabulary is that of the texts.

    For example: tacit lm count part1.txt -o part1.counts
    """
    from tacit.core.progress import reporting
    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.files.counts import write_counts
    from tacit.language.learn.counting import WORDS_GIVEN, Reading, clear_pieces, counts_of

    _check_counts_output(output)
    room = memory_of(memory)
    known = None if vocabulary is None else Vocabulary.of_words(word_list(vocabulary))
    reading = Reading(order, vocabulary=known, markers=markers.value)
    folder = None if memory is None else pieces_of(output)
    sources = [text_path(text) for text in texts]
    with (
        notes_as_lines(),
        reporting(True) as report,
        counts_of(sources, reading, memory=room, folder=folder, report=report) as counts,
    ):
        write_counts(counts, output, {} if known is None else {WORDS_GIVEN: True})
        record = _record(counts, output)
    clear_pieces(pieces_of(output))
    print_counts(record, f"written to {output}", json=json)


def merge(
    shards: Shards,
    output: CountsOutput,
    min_count: MinCount = 1,
    words: MaxWords = None,
    json: Json = False,
) -> None:
    """Merge counts of several texts.

    The result is the counts of all texts at once.

    For example: tacit lm merge part1.counts part2.counts -o all.counts
    """
    from tacit.core.progress import reporting
    from tacit.language.files.counts import read_counts, write_counts
    from tacit.language.learn.counting import WORDS_GIVEN, clear_pieces, joined_counts

    _check_counts_output(output)
    start_over(pieces_of(output))
    try:
        with (
            reporting(True) as report,
            joined_counts(
                shards, min_count=min_count, n_words=words, folder=pieces_of(output), report=report
            ) as counts,
        ):
            notes = read_counts(shards[0])[1]
            write_counts(counts, output, {WORDS_GIVEN: True} if WORDS_GIVEN in notes else {})
            record = _record(counts, output)
    finally:
        clear_pieces(pieces_of(output))  # merging does not continue
    print_counts(record, f"written to {output}", json=json)


# -- pieces on disk ---------------------------------------------------------------------------------


def pieces_of(output: Path) -> Path:
    """The folder of pieces: beside the output, so that the same command finds them again."""
    return output.with_name(f"{output.name}.pieces")


def start_over(folder: Path) -> None:
    """Remove what an interrupted merge left, and say so."""
    from tacit.language.learn.counting import clear_pieces

    if clear_pieces(folder):
        typer.echo(f"note: {folder} is of an interrupted merge; starting over", err=True)


@contextmanager
def notes_as_lines() -> Iterator[None]:
    """Within the block, messages about pieces of an earlier run go to standard error."""

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            typer.echo(f"note: {record.getMessage()}", err=True)

    logger, handler = logging.getLogger("tacit.language.learn.counting"), Lines()
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


# -- checks -----------------------------------------------------------------------------------------


def _check_counts_output(output: Path) -> None:
    from tacit.errors import ArgumentError

    if output.suffix != COUNTS:
        raise ArgumentError(
            f"counts are written to a folder that ends in {COUNTS}, not {str(output)!r}"
        )
    check_place(output)


def check_place(output: Path) -> None:
    """Raise before the work if the file cannot be written."""
    from tacit.core.files.atomic import check_folder

    check_folder(output)


def refuse(options: dict[str, Any], why: str) -> None:
    """Raise if one of these options was given."""
    for option, value in options.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=option)


def memory_of(text: str | None) -> int | None:
    """The bytes of an option."""
    from tacit.core.limits import memory_bytes
    from tacit.errors import ArgumentError

    try:
        return None if text is None else memory_bytes(text)
    except ArgumentError as error:
        raise typer.BadParameter(str(error), param_hint="--memory") from error


def word_list(path: Path) -> list[str]:
    """The words of a file, in their order."""
    from tacit.language.data.corpus import read_corpus

    corpus = read_corpus(path, markers="skip", unknown="skip")
    return [corpus.vocabulary.words[place] for place in corpus.ids.tolist()]


# -- report -----------------------------------------------------------------------------------------


def _record(counts: GramCounts, output: Path) -> dict[str, Any]:
    return {
        "counts": str(output),
        "n_words": counts.n_words,
        "n_lines": counts.n_lines,
        "n_types": len(counts.vocabulary),
        "n_grams": [len(table) for table in counts.tables],
    }


def print_counts(record: Mapping[str, Any], where: str, *, json: bool) -> None:
    """Print what was counted, in a line or as JSON."""
    from tacit.cli.output import console, print_json
    from tacit.language.data.vocabulary import SPECIAL

    if json:
        print_json(record)
        return
    words = words_on_lines(record["n_words"], record["n_lines"])
    types = f"{record['n_types'] - len(SPECIAL):,} different"
    console().print(f"{words}, {types}; {grams_of(record)}; {where}", markup=False)
