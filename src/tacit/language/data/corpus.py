"""Text as word numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.text import TextSource, text_sources
from tacit.errors import ArgumentError, DataError, FileFormatError
from tacit.language.data.vocabulary import SPECIAL, Vocabulary, WordTable, counted_vocabulary

Ids = NDArray[np.int32]
Integers = NDArray[np.int64]
Watch = Callable[[int, float], None]

MAX_WORD = 1 << 20  # bytes; longer ones are not text
_MARKERS = ("error", "skip")
_UNKNOWNS = ("word", "error", "skip")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Lines of words, as numbers of a vocabulary, without sentence markers; blank lines are lines.

    Line i is ``ids[ends[i - 1] : ends[i]]``.

    Examples
    --------
    >>> corpus = read_corpus(["a rose is", "", "a rose"])
    >>> corpus.ids.tolist(), corpus.ends.tolist(), corpus.vocabulary.words[3:]
    ([3, 4, 5, 3, 4], [3, 3, 5], ('a', 'rose', 'is'))
    """

    ids: Ids  # (word,)
    ends: Integers  # (line,)
    vocabulary: Vocabulary

    @property
    def n_words(self) -> int:
        """Words of all lines, markers not counted."""
        return len(self.ids)

    @property
    def n_lines(self) -> int:
        """Lines, blank ones too."""
        return len(self.ends)

    def word_places(self, *, ends: bool = True) -> Integers:
        """(word,) the position of each word among all words and, with `ends`, ends of lines."""
        places = np.arange(self.n_words)
        if ends:
            places += np.repeat(np.arange(self.n_lines), np.diff(self.ends, prepend=0))
        return places

    def part(self, first: int, stop: int) -> Corpus:
        """The lines from `first` until before `stop`."""
        low = int(self.ends[first - 1]) if first else 0
        high = int(self.ends[stop - 1]) if stop else 0
        return Corpus(self.ids[low:high], self.ends[first:stop] - low, self.vocabulary)

    def take(self, lines: NDArray[np.integer]) -> Corpus:
        """Some of the lines, by their numbers."""
        lengths = np.diff(self.ends, prepend=0)[lines]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(self.ends[lines] - ends, lengths)
        return Corpus(self.ids[places], ends, self.vocabulary)


def read_corpus(
    X: Any,
    *,
    vocabulary: Vocabulary | None = None,
    min_count: int = 1,
    n_words: int | None = None,
    markers: str = "error",
    unknown: str = "word",
    watch: Watch | None = None,
) -> Corpus:
    """A text as word numbers.

    Parameters
    ----------
    X : path, list of paths, iterable of lines, iterable of lists of words, Arrow column, or Corpus
        See `tacit.core.input.text.text_sources`. A `Corpus` is returned as it is.
    vocabulary : Vocabulary, optional
        Other words become ``<unk>``. Without one it is learnt: the most frequent words first.
    min_count, n_words : int
        Which words a learnt vocabulary keeps, see `tacit.language.data.vocabulary.counted_vocabulary`.
    markers : {"error", "skip"}
        What to do with ``<s>`` and ``</s>`` in the text.
    unknown : {"word", "error", "skip"}
        What to do with ``<unk>`` in the text: by default it is the unknown word.
    watch : callable, optional
        Called with the number of words read and the fraction of the text (0 if unknown).

    Raises
    ------
    DataError, FileFormatError
        Bytes that are not text (with line and position), or markers.
    """
    from tacit.language.loops.ngrams import gather

    if isinstance(X, Corpus):
        return _as_read(X, vocabulary)
    learn = vocabulary is None
    special = Vocabulary.of_words(()) if vocabulary is None else vocabulary
    table = WordTable(special.store, special.starts) if learn else special.table
    pieces, ends, before = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], 0
    actions = _actions(markers, unknown)
    for ids, stops in _encoded(X, table, learn=learn, actions=actions, watch=watch):
        pieces.append(ids)
        ends.append(stops + before)
        before += len(ids)
    joined, places = np.concatenate(pieces), np.concatenate(ends)
    if vocabulary is None:
        vocabulary, renumbered = counted_vocabulary(table, min_count=min_count, n_words=n_words)
        gather(renumbered, joined, 0, joined)
    return Corpus(joined, places, vocabulary)


def read_vocabulary(
    X: Any,
    *,
    min_count: int = 1,
    n_words: int | None = None,
    markers: str = "error",
    unknown: str = "word",
    watch: Watch | None = None,
) -> Vocabulary:
    """The vocabulary that `read_corpus` learns, of a text that need not fit in memory."""
    if isinstance(X, Corpus):
        return X.vocabulary
    special = Vocabulary.of_words(())
    table = WordTable(special.store, special.starts)
    actions = _actions(markers, unknown)
    for _ in _encoded(X, table, learn=True, actions=actions, watch=watch):
        pass
    return counted_vocabulary(table, min_count=min_count, n_words=n_words)[0]


def read_blocks(
    X: Any,
    vocabulary: Vocabulary,
    *,
    markers: str = "error",
    unknown: str = "word",
    watch: Watch | None = None,
) -> Iterator[Corpus]:
    """A text in blocks of whole lines, of some million words, which need not fit in memory together."""
    if isinstance(X, Corpus):
        yield _as_read(X, vocabulary)
        return
    carried = np.zeros(0, np.int32)  # of a line that goes on in the next block
    actions = _actions(markers, unknown)
    for ids, ends in _encoded(X, vocabulary.table, learn=False, actions=actions, watch=watch):
        joined = np.concatenate([carried, ids]) if len(carried) else ids
        stops = ends + len(carried)
        last = int(stops[-1]) if len(stops) else 0
        carried = joined[last:]
        if len(stops):
            yield Corpus(joined[:last], stops, vocabulary)


def _as_read(corpus: Corpus, vocabulary: Vocabulary | None) -> Corpus:
    """A corpus, which must have been read with the vocabulary."""
    if vocabulary is not None and corpus.vocabulary != vocabulary:
        raise DataError(
            "the corpus was read with another vocabulary; read it with that of the model"
        )
    return corpus


def _actions(markers: str, unknown: str) -> NDArray[np.int64]:
    from tacit.language.loops.tokens import SKIP, STOP, TAKE

    for name, value, choices in (("markers", markers, _MARKERS), ("unknown", unknown, _UNKNOWNS)):
        if value not in choices:
            raise ArgumentError(f"{name}={value!r}; choose one of {choices}")
    codes = {"word": TAKE, "skip": SKIP, "error": STOP}
    return np.array([codes[unknown], codes[markers], codes[markers]])


def _encoded(
    X: Any,
    table: WordTable,
    *,
    learn: bool,
    actions: NDArray[np.int64],
    watch: Watch | None = None,
) -> Iterator[tuple[Ids, Integers]]:
    """The word numbers of each block, and the end of each line."""
    n_words = 0
    for source in text_sources(X):
        reader = _Reader(source, table, learn, actions)
        for block in source.blocks:
            ids, ends = reader.encoded(block)
            yield ids, ends
            n_words += len(ids)
            if watch is not None:
                watch(n_words, source.fraction_read())
        yield reader.encoded(b"", last=True)


class _Reader:
    """A text that is being read: the rest of the last block, and the position."""

    def __init__(
        self, source: TextSource, table: WordTable, learn: bool, actions: NDArray[np.int64]
    ) -> None:
        self.source, self.table, self.learn, self.actions = source, table, learn, actions
        self.left, self.position, self.line = b"", 0, 1
        self.inside = False  # a line

    def encoded(self, block: bytes, *, last: bool = False) -> tuple[Ids, Integers]:
        from tacit.language.loops.tokens import AT, DONE, FULL, IDS, LINES, WORDS, encode_words

        buffer = self.left + block
        if last and (buffer or self.inside):
            buffer += b"\n"
        self._check(buffer)
        text, table = np.frombuffer(buffer, dtype=np.uint8), self.table
        ids = np.empty(len(buffer) // 2 + 1, dtype=np.int32)
        ends = np.empty(buffer.count(b"\n"), dtype=np.int64)
        state = np.array([0, table.n_words, 0, 0])
        counts = table.counts if self.learn else np.zeros_like(table.counts)
        arrays = (table.slots, table.hashes, table.starts, table.store)
        while True:
            why = encode_words(text, state, *arrays, counts, self.actions, self.learn, ids, ends)
            table.n_words = int(state[WORDS])
            if why != FULL:
                break
            table.grow(len(buffer) - int(state[AT]))
            arrays = (table.slots, table.hashes, table.starts, table.store)
            counts = table.counts
        at, n_lines = int(state[AT]), int(state[LINES])
        if why != DONE:
            self._refuse(buffer, at)
        if len(buffer) - at > MAX_WORD:
            raise FileFormatError(
                f"{self._where(buffer, at)}: a word of more than {MAX_WORD} bytes; is this text?"
            )
        self.left, self.position, self.line = buffer[at:], self.position + at, self.line + n_lines
        self.inside = bool(self.left) or buffer[-1:] not in (b"\n", b"")
        return ids[: state[IDS]].copy(), ends[:n_lines].copy()

    def _check(self, buffer: bytes) -> None:
        """Raise if bytes are not UTF-8; a character that the block cuts is left for the next."""
        if buffer.isascii():
            return
        stop = max(buffer.rfind(b"\n"), buffer.rfind(b" ")) + 1
        try:
            buffer[:stop].decode()
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{self._where(buffer, error.start)}: byte {buffer[error.start]:#04x} is not UTF-8 "
                f"({error.reason}); convert the text to UTF-8"
            ) from error

    def _where(self, buffer: bytes, at: int) -> str:
        line = self.line + buffer.count(b"\n", 0, at)
        place = f", byte {self.position + at}" if self.source.is_file else ""
        return f"{self.source.name}, line {line}{place}"

    def _refuse(self, buffer: bytes, at: int) -> None:
        word = buffer[at:].split(maxsplit=1)[0]
        if word.decode(errors="replace") in SPECIAL:
            options = 'unknown="word" or "skip"'
            if word != b"<unk>":
                options = 'markers="skip" (on the command line: --markers skip)'
            raise DataError(
                f"{self._where(buffer, at)}: the text contains the marker {word.decode()!r}; "
                f"remove it, or pass {options}"
            )
        nul = buffer.index(b"\0", at)
        raise FileFormatError(
            f"{self._where(buffer, nul)}: a NUL byte; this is a binary file, or text that is not UTF-8"
        )
