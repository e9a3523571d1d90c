"""`tacit grammar parse`: trees of sentences by a grammar that was learnt from a treebank."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.fit.learning import Jobs
from tacit.cli.kinds import model_of_kind
from tacit.cli.options import Json, TreesOutput
from tacit.cli.parse.apply import counted, located_sentences_of, note_of_tags, report_failure

if TYPE_CHECKING:
    from tacit.errors import DataError, TacitError
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.latent_pcfg import LatentPCFG

    Sentence = list[tuple[str, str | None]]  # each word and its tag, None where it is not given
    # A place, such as "text.txt, line 3", and its sentence or why it could not be read.
    Located = tuple[str, Sentence | DataError]

PACKED = "packed where it ends in .gz, .bz2, .xz or .zst; - for standard input"
GrammarFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="What `tacit grammar train` saved (.tacit).")
]
Longest = Annotated[
    int | None,
    typer.Option(
        min=1, help="Parse sentences of up to so many words: time grows with the third power."
    ),
]
_AHEAD = 4  # sentences of each thread that may wait for those before them
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})  # as the Penn Treebank writes them


def parse(
    model: GrammarFile,
    sentences: Annotated[
        Path,
        typer.Argument(metavar="SENTENCES", help=f"Words, a sentence on each line; {PACKED}."),
    ],
    output: TreesOutput = None,
    tagged: Annotated[
        bool,
        typer.Option(
            "--tagged", help="SENTENCES have tags: word/TAG, CoNLL-U, or trees in brackets."
        ),
    ] = False,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best",
            "-n",
            metavar="N",
            min=1,
            help="The N best trees, with the expected number of right spans of each.",
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability", help="After each tree, its natural log-probability with its words."
        ),
    ] = False,
    longest: Longest = None,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Sentences in, trees in brackets out.

    One on each line, as they are read; with --n-best several, and an empty line after them. What is asked for
    besides stands behind a tree with tabs between. A sentence without words has an empty line. So has one
    that cannot be parsed, which is reported with its line; the exit code is then 1. Brackets in words are
    written -LRB- and -RRB-. With --json each line is an object of its own.

    For example: tacit grammar parse model.tacit sentences.txt -o trees.mrg
    """
    from tacit.cli.lm.counts import check_place
    from tacit.cli.output import console, lines_to
    from tacit.errors import TacitError

    if output is not None:
        check_place(output)  # before the work, not after it
    parser = GrammarParser(model, longest, n_best=n_best, probability=probability)
    read = _tagged(sentences) if tagged else _untagged(sentences, parser)
    n_done = n_failed = 0
    with lines_to(output) as write:
        for answer in parser.parse_all(read, jobs):
            if isinstance(answer, TacitError):
                report_failure(answer)
                n_failed += 1
            trees = [] if isinstance(answer, TacitError) else answer
            write(_json_line(answer) if json else _lines(trees, several=n_best is not None))
            n_done += bool(trees)
    parser.print_notes()
    if output is not None:
        parsed = f"{n_done:,} sentence{'' if n_done == 1 else 's'}"
        console().print(f"trees of {parsed} written to {output}", markup=False)
    if n_failed:
        raise typer.Exit(1)


def _lines(trees: list[dict[str, Any]], *, several: bool) -> str:
    """The trees of a sentence, each with its numbers."""
    lines = []
    for row in trees:
        numbers = [f"{value:.6g}" for name, value in row.items() if name != "tree"]
        lines.append("\t".join([str(row["tree"]), *numbers]))
    return "\n".join([*lines, ""]) if several and trees else "\n".join(lines)


def _json_line(answer: list[dict[str, Any]] | TacitError) -> str:
    from json import dumps
    from math import isfinite

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return value if isfinite(value) else None
        return str(value)

    if isinstance(answer, Exception):
        return dumps({"trees": [], "error": str(answer)}, ensure_ascii=False)
    trees = [{name: plain(value) for name, value in row.items()} for row in answer]
    return dumps({"trees": trees}, ensure_ascii=False)


# -- sentences ----------------------------------------------------------------------------------------


def _tagged(path: Path) -> Iterator[Located]:
    """The sentences of a file with their tags."""
    for place, sentence in located_sentences_of([path]):
        if isinstance(sentence, Exception):
            yield place, sentence
        else:
            pairs = (
                (word.translate(_BRACKETS), tag.translate(_BRACKETS)) for word, tag in sentence
            )
            yield place, [*pairs]


def _untagged(path: Path, parser: GrammarParser) -> Iterator[Located]:
    """The words of each line of a file."""
    from tacit.parsing.data.parse_trees import text_lines

    source = sys.stdin.buffer if str(path) == "-" else path
    for name, lines in text_lines(source):
        for number, line in enumerate(lines, 1):
            words = line.split()
            parser.look_for_tags(words)
            yield f"{name}, line {number}", [(word.translate(_BRACKETS), None) for word in words]


# -- parsing ------------------------------------------------------------------------------------------


class GrammarParser:
    """A grammar from a file, with what to print of each sentence, and notes for the end."""

    def __init__(
        self,
        path: Path,
        longest: int | None = None,
        *,
        n_best: int | None = None,
        probability: bool = False,
    ) -> None:
        self.model = load_grammar(path)
        if longest is not None:
            self.model.max_words = longest
        self._n_best, self._probability = n_best, probability
        self._known = frozenset(self.model.symbols_.tags)
        self._unseen: dict[str, None] = {}
        self._n_words = self._n_like_tagged = 0
        self._n_flat = 0

    def look_for_tags(self, words: list[str]) -> None:
        """Notice words without a tag that look as if they had one."""
        self._n_words += len(words)
        self._n_like_tagged += sum(
            any(word.rpartition(mark)[2] in self._known for mark in ("/", "_"))
            for word in words
            if word not in self._known
        )

    def parse_all(
        self, sentences: Iterable[Located], jobs: int | None = None
    ) -> Iterator[list[dict[str, Any]] | TacitError]:
        """The trees of each sentence, in order, as they are read; or why it has none."""
        with counted(sentences) as located:
            yield from in_order(self._answer, located, jobs)

    def best(self, located: tuple[str, Sentence]) -> ParseTree:
        """The best tree of a sentence; errors name its place."""
        tree: ParseTree = self._parsed(*located)[0]["tree"]
        return tree

    def _answer(self, located: Located) -> list[dict[str, Any]] | TacitError:
        from tacit.errors import TooExpensiveError

        place, sentence = located
        if isinstance(sentence, Exception):
            return sentence
        try:
            return self._parsed(place, sentence)
        except TooExpensiveError as error:
            return error

    def _parsed(self, place: str, sentence: Sentence) -> list[dict[str, Any]]:
        from tacit.errors import TooExpensiveError

        if not sentence:
            return []
        for _, tag in sentence:
            if tag is not None and tag not in self._known:
                self._unseen[tag] = None
        try:
            trees = self._trees(sentence)
        except TooExpensiveError as error:
            raise TooExpensiveError(f"{place}: {error} (--longest)") from error
        if self._probability:
            logs = self.model.score_samples([row["tree"] for row in trees])
            for row, log in zip(trees, logs, strict=True):
                row["log_prob"] = float(log)
        return trees

    def _trees(self, sentence: Sentence) -> list[dict[str, Any]]:
        if self._n_best is None:
            (tree,), repairs = self.model.predict([sentence], return_repairs=True)
            self._n_flat += repairs["no_tree"]
            return [{"tree": tree}]
        best = self.model.n_best(sentence, self._n_best)
        self._n_flat += best[0].n_right == 0
        return [{"tree": tree, "n_right": n_right} for tree, n_right in best]

    def print_notes(self) -> None:
        """Note which tags the treebank had not, and how many sentences no tree fits."""
        note_of_tags(self._unseen, "were not in the treebank; their words count as untagged")
        if self._n_flat:
            sentences = f"{self._n_flat:,} sentence{'' if self._n_flat == 1 else 's'}"
            _note(f"no tree of the grammar fits {sentences}: all words stand side by side there")
        if self._n_like_tagged > self._n_words / 2:
            _note("most words look as if they had tags; --tagged takes these for tags")


def _note(text: str) -> None:
    typer.echo(f"note: {text}", err=True)


def in_order(
    work: Callable[[Any], Any], items: Iterable[Any], jobs: int | None = None
) -> Iterator[Any]:
    """Results of some work on items, in their order; several threads work a few items ahead."""
    from tacit.core.threads import n_threads

    n = n_threads(jobs) or 1
    if n == 1:  # an item is done before the next is read
        yield from map(work, items)
        return
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(n) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > _AHEAD * n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def load_grammar(path: Path) -> LatentPCFG:
    """The grammar that a file holds; see `model_of_kind`."""
    fitted: LatentPCFG = model_of_kind(path, "grammar")
    return fitted


def trees_of(path: Path) -> list[ParseTree]:
    """The trees of a file, without empty words and functions; "-" is standard input."""
    from tacit.errors import DataError
    from tacit.parsing.data.grammar_input import prepared_trees

    trees = prepared_trees(sys.stdin.buffer if str(path) == "-" else path)
    if not trees:
        raise DataError(f"{str(path)!r} has no tree with words")
    return trees
