"""`tacit parse apply` and what the other commands of `tacit parse` share: sentences, parsers, trees."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.kinds import model_of_kind
from tacit.cli.options import Json, TreesOutput

if TYPE_CHECKING:
    from tacit.errors import DataError, TacitError
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.data.tagged_sentences import Tagged
    from tacit.parsing.structure.branching import SpanParse

FORMS = (
    "CoNLL-U, a line of word/TAG for each sentence, or trees in brackets (their words and tags); "
    "packed where it ends in .gz, .bz2, .xz or .zst; - for standard input"
)
ParserFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="What `tacit parse train` saved (.tacit).")
]
Sentences = Annotated[Path, typer.Argument(metavar="SENTENCES", help=f"{FORMS}.")]
TagsMap = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Universal tags of tags that Tacit does not know: both (such as NE NOUN) on each line.",
    ),
]
Longest = Annotated[
    int | None,
    typer.Option(
        min=1, help="Parse sentences of up to so many words: time grows with the fourth power."
    ),
]
TAGS_MAP = "tags_map"  # of the diagnostics
_SHOWN = 8  # tags that a note names
_REPORT_STEP = 20  # sentences between two reports of progress


def apply(
    model: ParserFile,
    sentences: Sentences,
    output: TreesOutput = None,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="After each tree, how much more the second-best one would cost."
        ),
    ] = False,
    tops: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A line for each sentence: the number of words before the split of the whole.",
        ),
    ] = None,
    tags_map: TagsMap = None,
    longest: Longest = None,
    json: Json = False,
) -> None:
    """Sentences in, trees in brackets out.

    One on each line, as they are read; punctuation is left out. A sentence of which no words are left has an
    empty line. So has one that cannot be parsed, which is reported with its line; the exit code is then 1.
    With --json each line is an object of its own.

    For example: tacit parse apply model.tacit sentences.conllu -o trees.mrg
    """
    from json import dumps

    from tacit.cli.lm.counts import check_place
    from tacit.cli.output import console, lines_to
    from tacit.errors import TacitError

    if output is not None:
        check_place(output)  # before the work, not after it
    parser = Parser(model, tags_map, longest, confidence=confidence)
    n_trees = n_failed = 0
    with lines_to(output) as write:
        for answer in parser.parse_all(sentences, None if tops is None else read_tops(tops)):
            if isinstance(answer, TacitError):
                report_failure(answer)
                n_failed += 1
                write(
                    dumps({"tree": None, "error": str(answer)}, ensure_ascii=False) if json else ""
                )
                continue
            tree, parse = answer
            write(_line(tree, parse, confidence=confidence, json=json))
            n_trees += tree is not None
    parser.note_tags()
    if output is not None:
        trees = f"{n_trees:,} tree{'' if n_trees == 1 else 's'}"
        console().print(f"{trees} written to {output}", markup=False)
    if n_failed:
        raise typer.Exit(1)


def _line(tree: ParseTree | None, parse: SpanParse, *, confidence: bool, json: bool) -> str:
    from json import dumps
    from math import isfinite

    if json:
        row: dict[str, Any] = {"tree": None if tree is None else str(tree), "spans": parse.spans}
        if confidence:
            row["confidence"] = parse.confidence if isfinite(parse.confidence) else None
        return dumps(row, ensure_ascii=False)
    text = "" if tree is None else str(tree)
    return f"{text}\t{parse.confidence:.6g}" if confidence and tree is not None else text


def report_failure(error: Exception) -> None:
    """One line on standard error about a sentence that could not be parsed."""
    typer.echo(f"error: {' '.join(str(error).split())}", err=True)


# -- sentences ----------------------------------------------------------------------------------------


def read_tops(path: Path) -> list[int]:
    """The number on each line of a file."""
    from tacit.errors import DataError
    from tacit.parsing.data.parse_trees import text_lines

    tops = []
    for name, lines in text_lines(path):
        for number, line in enumerate(lines, 1):
            if not line.strip().isdecimal():
                raise DataError(f"{name}, line {number}: {line.strip()!r} is no number of words")
            tops.append(int(line))
    return tops


def sentences_of(paths: Sequence[Path]) -> Iterator[Tagged]:
    """The sentences of files, one after another; "-" is standard input."""
    for _, sentence in located_sentences_of(paths):
        if isinstance(sentence, Exception):
            raise sentence
        yield sentence


def located_sentences_of(paths: Sequence[Path]) -> Iterator[tuple[str, Tagged | DataError]]:
    """Each sentence of files after its place; one that cannot be read comes as its error."""
    from tacit.parsing.data.tagged_sentences import located_sentences

    if not any(str(path) == "-" for path in paths):
        yield from located_sentences([*paths])  # all must be there before the first is read
        return
    for path in paths:
        yield from located_sentences(sys.stdin.buffer if str(path) == "-" else path)


@contextmanager
def counted(sentences: Iterable[Any]) -> Iterator[Iterator[Any]]:
    """Within the block, the sentences; progress shows how many have been read."""
    from tacit.core.progress import reporting

    # Where trees are printed to the same terminal, they show the progress themselves.
    with reporting(None if sys.stdout.isatty() else True) as report:

        def reported() -> Iterator[Any]:
            for number, sentence in enumerate(sentences, 1):
                if number % _REPORT_STEP == 1:
                    report(0.0, f"sentence {number:,}")
                yield sentence

        yield reported()


class Tags:
    """A map of tags to universal ones, and the tags that are in no table.

    Parameters
    ----------
    path : Path, optional
        A file with a map.
    kept : mapping, optional
        The map that a model was learnt with; the file comes before it.
    """

    def __init__(self, path: Path | None, of_model: Mapping[str, str] | None = None) -> None:
        from tacit.parsing.data.universal_tags import read_tag_map, universal_tag

        from_file = {} if path is None else read_tag_map(path)
        self.map = {**(of_model or {}), **from_file}
        # A tag that means the same says more: which verbs are participles.
        self.names = {tag: to for tag, to in self.map.items() if universal_tag(tag) != to}
        self.unknown: dict[str, None] = {}
        self._kept = self.map.keys() - from_file.keys()
        self._from_model: dict[str, None] = {}

    def of(self, sentence: Tagged) -> Tagged:
        """The sentence with its tags mapped."""
        from tacit.parsing.data.universal_tags import fits_no_table

        self._notice(sentence)
        for _, tag in sentence:
            if tag not in self.map and fits_no_table(tag):
                self.unknown[tag] = None
        return [(word, self.names.get(tag, tag)) for word, tag in sentence]

    def of_tree(self, tree: ParseTree) -> ParseTree:
        """The tree with its tags mapped."""
        from tacit.parsing.data.parse_trees import with_tags

        self._notice(tree.leaves())
        return with_tags(tree, self.names)

    def note_unknown(self) -> None:
        """Note the tags that are in no table."""
        note_of_tags(self.unknown, "fit no table and count as X; --tags-map says what they are")

    def note_kept(self) -> None:
        """Note the tags that only the map of the model explains."""
        note_of_tags(self._from_model, "count as in the --tags-map that the model was learnt with")

    def _notice(self, sentence: Tagged) -> None:
        self._from_model |= {tag: None for _, tag in sentence if tag in self._kept}


def kept_map(path: Path, diagnostics: Mapping[str, Any]) -> Mapping[str, str]:
    """The map of tags that a model was learnt with; empty where there was none.

    Raises
    ------
    FileFormatError
        Something else stands there.
    """
    from tacit.errors import FileFormatError
    from tacit.parsing.data.universal_tags import UNIVERSAL

    tag_map = diagnostics.get(TAGS_MAP, {})
    if not isinstance(tag_map, dict) or not all(to in UNIVERSAL for to in tag_map.values()):
        raise FileFormatError(
            f"{str(path)!r} is damaged: its map of tags has others than universal ones"
        )
    return tag_map


def note_of_tags(tags: Mapping[str, None], note: str) -> None:
    """Print a note about tags on standard error, if there are any."""
    if tags:
        more = f" and {len(tags) - _SHOWN} more" if len(tags) > _SHOWN else ""
        named = ", ".join(list(tags)[:_SHOWN])
        typer.echo(f"note: the tags {named}{more} {note}", err=True)


# -- parsers ------------------------------------------------------------------------------------------


class Parser:
    """A parser from a file, of either kind, and the map of the tags of its sentences."""

    def __init__(
        self,
        path: Path,
        tags_map: Path | None = None,
        longest: int | None = None,
        *,
        confidence: bool = False,
    ) -> None:
        from tacit.errors import NotAvailableError

        self.model = load_parser(path)
        self.tags = Tags(tags_map, kept_map(path, self.model.diagnostics_))
        self._by_metric = self.model.can("confidence")
        self._unseen: dict[str, None] = {}
        if not self._by_metric and confidence:
            raise NotAvailableError(
                f"{type(self.model).__name__} has no confidence; that of SpanParser is a margin of costs"
            )
        if longest is not None and self._by_metric:
            self.model.max_words = longest

    @property
    def name(self) -> str:
        """What kind it is."""
        return type(self.model).__name__

    def parse(self, sentence: Tagged, place: str, top: int | None = None) -> SpanParse:
        """The brackets of a sentence; errors name its place."""
        from tacit.errors import DataError, NotAvailableError, TooExpensiveError
        from tacit.parsing.data.tagged_sentences import without_marks

        mapped = self.tags.of(sentence)
        n_words = len(without_marks(mapped))
        if top is not None and not 1 <= top < max(n_words, 2):
            raise DataError(
                f"{place}: a sentence of {n_words} words has no split after {top} of them"
            )
        if top is not None and not self._by_metric:
            raise NotAvailableError(f"{self.name} takes no split of the whole sentence")
        try:
            if self._by_metric:
                parse: SpanParse = self.model.parse(mapped, top)
                return parse
        except TooExpensiveError as error:
            raise TooExpensiveError(f"{place}: {error} (--longest)") from error
        if self.model.tags == "given":
            self._unseen |= {t: None for _, t in without_marks(mapped) if t not in self.model.tags_}
        parse = self.model.parse(mapped)
        return parse

    def tree(self, sentence: Tagged, parse: SpanParse) -> ParseTree | None:
        """The tree with the tags that the sentence came with; None where no words are left."""
        from tacit.parsing.data.parse_trees import is_punctuation
        from tacit.parsing.structure.branching import tree_of_spans

        names = self.tags.names
        words = [pair for pair in sentence if not is_punctuation(names.get(pair[1], pair[1]))]
        return tree_of_spans(words, parse.spans) if words else None

    def parse_all(
        self, path: Path, tops: Sequence[int] | None = None
    ) -> Iterator[tuple[ParseTree | None, SpanParse] | TacitError]:
        """The tree and brackets of each sentence of a file, as they are read, or why it has none."""
        from tacit.errors import DataError, TooExpensiveError

        number = 0
        with counted(located_sentences_of([path])) as located:
            for number, (place, sentence) in enumerate(located, 1):
                if tops is not None and number > len(tops):
                    raise DataError(f"--tops has {len(tops)} lines, and there are more sentences")
                if isinstance(sentence, DataError):
                    yield sentence
                    continue
                try:
                    parse = self.parse(sentence, place, None if tops is None else tops[number - 1])
                except (DataError, TooExpensiveError) as error:
                    yield error
                else:
                    yield self.tree(sentence, parse), parse
        if tops is not None and number < len(tops):
            raise DataError(f"--tops has {len(tops)} lines, but there are {number} sentences")

    def note_tags(self) -> None:
        """Note tags that are mapped as in training, are in no table, or were not in the text learnt from."""
        self.tags.note_kept()
        if self._by_metric or self.model.tags == "universal":
            self.tags.note_unknown()
        else:
            note_of_tags(
                self._unseen, "were not in the text that was learnt from; they count as one"
            )


def load_parser(path: Path) -> Any:
    """The parser that a file holds; see `model_of_kind`."""
    return model_of_kind(path, "parser")
