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
from tacit.cli.options import Json, TreesOutput, is_grammar, model_of_kind
from tacit.cli.parse.apply import counted, note_of_tags, sentences_of

if TYPE_CHECKING:
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.latent_pcfg import LatentPCFG

    Sentence = list[tuple[str, str | None]]  # each word and its tag, None where it is not given

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
            help="The N best trees, each with the number of its spans that are expected to be right.",
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability", help="Behind each tree, its natural log-probability with its words."
        ),
    ] = False,
    longest: Longest = None,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Sentences in, trees in brackets out.

    One on each line, as they are read; with --n-best several, and an empty line after them. What is asked for
    besides stands behind a tree with tabs between. A sentence without words has an empty line. Brackets in
    words are written -LRB- and -RRB-. With --json each line is an object of its own.

    For example: tacit grammar parse model.tacit sentences.txt -o trees.mrg
    """
    from tacit.cli.lm.counts import check_place
    from tacit.cli.output import console, lines_to

    if output is not None:
        check_place(output)  # before the work, not after it
    parser = GrammarParser(model, longest, n_best=n_best, probability=probability)
    read = tagged_sentences(sentences) if tagged else _untagged(sentences, parser)
    n_done = 0
    with lines_to(output) as write:
        for found in parser.parse_all(read, jobs):
            write(_json_line(found) if json else _lines(found, several=n_best is not None))
            n_done += bool(found)
    parser.tell()
    if output is not None:
        parsed = f"{n_done:,} sentence{'' if n_done == 1 else 's'}"
        console().print(f"trees of {parsed} written to {output}", markup=False)


def _lines(found: list[dict[str, Any]], *, several: bool) -> str:
    """The trees of a sentence with what is told of them."""
    lines = []
    for each in found:
        numbers = [f"{value:.6g}" for name, value in each.items() if name != "tree"]
        lines.append("\t".join([str(each["tree"]), *numbers]))
    return "\n".join([*lines, ""]) if several and found else "\n".join(lines)


def _json_line(found: list[dict[str, Any]]) -> str:
    from json import dumps
    from math import isfinite

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return value if isfinite(value) else None
        return str(value)

    trees = [{name: plain(value) for name, value in each.items()} for each in found]
    return dumps({"trees": trees}, ensure_ascii=False)


# -- sentences ----------------------------------------------------------------------------------------


def tagged_sentences(path: Path) -> Iterator[Sentence]:
    """The sentences of a file with their tags."""
    for sentence in sentences_of([path]):
        yield [(word.translate(_BRACKETS), tag.translate(_BRACKETS)) for word, tag in sentence]


def _untagged(path: Path, parser: GrammarParser) -> Iterator[Sentence]:
    """The words of each line of a file."""
    from tacit.parsing.data.parse_trees import text_lines

    source = sys.stdin.buffer if str(path) == "-" else path
    for _, lines in text_lines(source):
        for line in lines:
            words = line.split()
            parser.look_for_tags(words)
            yield [(word.translate(_BRACKETS), None) for word in words]


# -- parsing ------------------------------------------------------------------------------------------


class GrammarParser:
    """A grammar from a file, what it is asked for, and what is to be said at the end."""

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
        self, sentences: Iterable[Sentence], jobs: int | None = None
    ) -> Iterator[list[dict[str, Any]]]:
        """What is asked for of each sentence, in their order, as they are read; nothing of empty ones."""
        with counted(sentences) as numbered:
            yield from in_order(self._parsed, numbered, jobs)

    def best(self, numbered: tuple[Sentence, int]) -> ParseTree:
        """The best tree of a sentence, which errors call by its number."""
        tree: ParseTree = self._parsed(numbered)[0]["tree"]
        return tree

    def _parsed(self, numbered: tuple[Sentence, int]) -> list[dict[str, Any]]:
        from tacit.errors import TooExpensiveError

        sentence, number = numbered
        if not sentence:
            return []
        for _, tag in sentence:
            if tag is not None and tag not in self._known:
                self._unseen[tag] = None
        try:
            found = self._trees(sentence)
        except TooExpensiveError as error:
            raise TooExpensiveError(f"sentence {number}: {error} (--longest)") from error
        if self._probability:
            logs = self.model.score_samples([each["tree"] for each in found])
            for each, log in zip(found, logs, strict=True):
                each["log_prob"] = float(log)
        return found

    def _trees(self, sentence: Sentence) -> list[dict[str, Any]]:
        if self._n_best is None:
            (tree,), repairs = self.model.predict([sentence], return_repairs=True)
            self._n_flat += repairs["no_tree"]
            return [{"tree": tree}]
        best = self.model.n_best(sentence, self._n_best)
        self._n_flat += best[0].n_right == 0
        return [{"tree": tree, "n_right": n_right} for tree, n_right in best]

    def tell(self) -> None:
        """Say which tags the treebank had not, and how many sentences no tree fits."""
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
    """What becomes of each of some items, in their order; several threads are a few items ahead."""
    from tacit.core.threads import n_threads

    n = n_threads(jobs) or 1
    if n == 1:  # each is done before the next is read
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
            for each in waiting:
                each.cancel()


def load_grammar(path: Path) -> LatentPCFG:
    """The grammar that a file holds; see `model_of_kind`."""
    fitted: LatentPCFG = model_of_kind(path, is_grammar, "grammar of a treebank")
    return fitted


def trees_of(path: Path) -> list[ParseTree]:
    """The trees of a file, without empty words and functions; "-" is standard input."""
    from tacit.errors import DataError
    from tacit.parsing.data.grammar_input import prepared_trees

    trees = prepared_trees(sys.stdin.buffer if str(path) == "-" else path)
    if not trees:
        raise DataError(f"{str(path)!r} has no tree with words")
    return trees
