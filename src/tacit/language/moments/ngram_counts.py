"""Counts of n-grams of words, of all orders up to some.

The n-grams of an order are sorted by their words; the contexts of an order are the n-grams of the order
below, so that the number of a context is the number of an n-gram. Counts are integers and add: a text may be
cut into any pieces of whole lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, DataError, TooExpensiveError
from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import BEGIN, END, Vocabulary, joint_vocabulary

Ids = NDArray[np.int32]
Integers = NDArray[np.int64]

Allocate = Callable[[str, int, type], NDArray[Any]]

MAX_ORDER = 64  # the limit of compiled look-ups
_MAX_PLACES = 2**31 - 2
PADS = ("one", "all")


@dataclass(frozen=True, eq=False)
class GramTable:
    """The n-grams of one order, sorted by context and then by last word.

    N-gram g of context c has ``starts[c] <= g < starts[c + 1]``; within a context, words ascend. Order 1 has
    one context and all words of the vocabulary, occurring or not, so that g is the number of the word.
    """

    words: Ids  # (gram,)  last words
    suffixes: Ids  # (gram,)  the n-gram of the order below without the first word; 0 in order 1
    counts: Integers  # (gram,)  0 for those that are only contexts: `<s>`, and all pads of a line
    starts: Integers  # (context + 1,)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def n_contexts(self) -> int:
        """N-grams of the order below, whether words follow them or not."""
        return len(self.starts) - 1

    def trimmed(self) -> GramTable:
        """Copies the arrays, so that views no longer keep their parents alive."""
        return GramTable(self.words.copy(), self.suffixes.copy(), self.counts.copy(), self.starts)

    def contexts(self) -> Ids:
        """(gram,) the context of each n-gram."""
        sizes = np.diff(self.starts)
        return np.repeat(np.arange(self.n_contexts, dtype=np.int32), sizes)


@dataclass(frozen=True, eq=False)
class GramCounts:
    """The n-grams of a text, of every order from one on.

    Lines are counted with ``</s>`` after them, and before them one ``<s>`` (as in SRILM and KenLM; the first
    words of a line are then in shorter n-grams only) or one less than the order (as in the theory of
    Kneser-Ney). ``<s>`` itself is never counted.

    Examples
    --------
    >>> from tacit.language.data.corpus import read_corpus
    >>> counts = GramCounts.of(read_corpus(["a b", "a b b"]), 3)
    >>> [len(table) for table in counts.tables], counts.tables[0].counts.tolist()
    ([5, 4, 4], [0, 0, 2, 3, 2])
    """

    vocabulary: Vocabulary
    tables: tuple[GramTable, ...]  # (order,)
    pads: int  # `<s>` in front of each line
    n_lines: int

    @property
    def order(self) -> int:
        """The highest order."""
        return len(self.tables)

    @property
    def n_words(self) -> int:
        """Words of the text; ends of lines are not counted."""
        return int(self.tables[0].counts.sum()) - self.n_lines

    @staticmethod
    def empty(vocabulary: Vocabulary, order: int, *, pads: str = "one") -> GramCounts:
        """The counts of no lines."""
        none = Corpus(np.zeros(0, np.int32), np.zeros(0, np.int64), vocabulary)
        return GramCounts.of(none, order, pads=pads)

    @staticmethod
    def of(corpus: Corpus, order: int, *, pads: str = "one") -> GramCounts:
        """The n-grams of a corpus.

        Parameters
        ----------
        corpus : Corpus
        order : int
            The highest.
        pads : {"one", "all"}
            How many ``<s>`` precede a line: one, or ``order - 1``.
        """
        from tacit.language.loops.ngrams import place_markers, sort_places

        n_pads = _n_pads(order, pads)
        n_places = corpus.n_words + corpus.n_lines * (n_pads + 1)
        if n_places > _MAX_PLACES:
            raise TooExpensiveError(
                f"{n_places} words at once are too many; count pieces of the text and add the counts"
            )
        tokens = np.zeros(n_places + 1, dtype=np.int32)  # one more, which follows the last
        place_markers(corpus.ids, corpus.ends, n_pads, BEGIN, END, tokens)
        n_words = len(corpus.vocabulary)
        sizes, places = np.zeros(n_words, np.int32), np.empty(n_places, np.int32)
        sort_places(tokens[:-1], sizes, places)
        counts = sizes.astype(np.int64)
        counts[BEGIN] = 0
        words = np.arange(n_words, dtype=np.int32)
        table = GramTable(words, np.zeros_like(words), counts, np.array([0, n_words]))
        tables = _extended(table, tokens, sizes, places, order, n_pads)
        return GramCounts(corpus.vocabulary, tables, n_pads, corpus.n_lines)

    def __add__(self, other: GramCounts) -> GramCounts:
        """The counts of both texts, read with the same vocabulary."""
        return self.added(other)

    def added(self, other: GramCounts, allocate: Allocate | None = None) -> GramCounts:
        """The counts of both texts, in arrays made by `allocate(name, size, type)`."""
        if (self.order, self.pads) != (other.order, other.pads):
            raise DataError(
                f"n-grams of orders {self.order} and {other.order}, with {self.pads} and {other.pads} `<s>` "
                "in front of a line, do not add; count both alike"
            )
        if self.vocabulary is not other.vocabulary and self.vocabulary != other.vocabulary:
            raise DataError(
                "n-grams of different vocabularies do not add; read both texts with the same vocabulary"
            )
        first, second = self.tables[0], other.tables[0]
        counts = first.counts + second.counts
        tables = [GramTable(first.words, first.suffixes, counts, first.starts)]
        maps = (
            first.words,
            first.words,
        )  # of this and of the other: the joint number of each n-gram
        for order, (one, two) in enumerate(zip(self.tables[1:], other.tables[1:], strict=True), 2):
            made = _allocated(allocate or _in_memory, order, len(one) + len(two), len(tables[-1]))
            joint, maps = _merged(one, two, maps, made)
            tables.append(joint.trimmed() if allocate is None else joint)
        return GramCounts(self.vocabulary, tuple(tables), self.pads, self.n_lines + other.n_lines)

    def adjusted(self, order: int) -> Integers:
        """(gram,) counts of the highest order; below, numbers of different preceding words (Kneser-Ney).

        With one ``<s>`` in front of lines nothing precedes it, and n-grams that begin with it keep their
        counts, as in KenLM.
        """
        from tacit.language.loops.ngrams import count_extensions

        table = self.tables[order - 1]
        if order == self.order:
            return table.counts
        above = self.tables[order]
        numbers = np.zeros(len(table), dtype=np.int32)
        count_extensions(above.suffixes, above.counts, numbers)
        adjusted = numbers.astype(np.int64)
        if self.pads == 1:
            low, high = self.line_starts(order)
            adjusted[low:high] = table.counts[low:high]
        return adjusted

    def up_to(self, order: int) -> GramCounts:
        """The counts of the lower orders alone.

        Raises
        ------
        DataError
            There is no such order, or lines have more ``<s>`` than that order allows.
        """
        if not 1 <= order <= self.order or (order < self.order and self.pads > 1):
            raise DataError(
                f"these are counts of order {self.order} with {self.pads} <s> in front of lines, not "
                f"those of order {order}; count the text again"
            )
        return GramCounts(self.vocabulary, self.tables[:order], self.pads, self.n_lines)

    def renamed(self, vocabulary: Vocabulary, places: Ids) -> GramCounts:
        """The same counts with other word numbers; several words may become one.

        Parameters
        ----------
        vocabulary : Vocabulary
        places : (word,)
            The new number of each word.
        """
        first, n = self.tables[0], len(vocabulary)
        counts = np.zeros(n, dtype=np.int64)
        np.add.at(counts, places, first.counts)
        words = np.arange(n, dtype=np.int32)
        tables = [GramTable(words, np.zeros_like(words), counts, np.array([0, n]))]
        numbers = places  # the new number of each n-gram
        for table in self.tables[1:]:
            keys = numbers[table.contexts()].astype(np.int64) << 32 | places[table.words]
            rows = np.argsort(keys, kind="stable")
            keys = keys[rows]
            is_new = np.diff(keys, prepend=-1) != 0
            heads = np.flatnonzero(is_new)
            sums = np.add.reduceat(table.counts[rows], heads) if len(heads) else table.counts[:0]
            starts = np.searchsorted(keys[heads] >> 32, np.arange(len(tables[-1]) + 1))
            suffixes = numbers[table.suffixes[rows[heads]]]
            words = (keys[heads] & 0xFFFFFFFF).astype(np.int32)
            tables.append(GramTable(words, suffixes, sums, starts))
            numbers = np.empty(len(table), dtype=np.int32)
            numbers[rows] = np.cumsum(is_new) - 1
        return GramCounts(vocabulary, tuple(tables), self.pads, self.n_lines)

    def line_starts(self, order: int) -> tuple[int, int]:
        """The first n-gram that begins with ``<s>``, and the one after the last."""
        low, high = BEGIN, BEGIN + 1
        for table in self.tables[1:order]:
            low, high = int(table.starts[low]), int(table.starts[high])
        return low, high


def _n_pads(order: int, pads: str) -> int:
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ArgumentError(f"order={order!r}; give an integer of at least 1")
    if order > MAX_ORDER:
        raise ArgumentError(f"order={order!r}; n-grams have at most {MAX_ORDER} words here")
    if pads not in PADS:
        raise ArgumentError(f"pads={pads!r}; choose one of {PADS}")
    return 1 if pads == "one" else max(order - 1, 1)


def _extended(
    table: GramTable, tokens: Ids, sizes: Ids, places: Ids, order: int, n_pads: int
) -> tuple[GramTable, ...]:
    """The tables of all orders; `tokens` is overwritten."""
    from tacit.language.loops.ngrams import extend_grams, gather

    tables, ids = [table], tokens
    most = int(sizes.max(initial=0))
    rooms = [
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(4 * most + 1026, np.int64),
    ]
    followers, suffixes, counts = (np.empty(len(places), dtype=np.int32) for _ in range(3))
    for at in range(2, order + 1):
        gather(ids, places, 1, followers)
        starts = np.empty(len(table) + 1, dtype=np.int64)
        old = (table.words, table.suffixes, table.starts)
        new = (suffixes, counts, starts)
        n_grams, n_places = extend_grams(
            ids, places, followers, sizes, *old, END, at == order, new, *rooms
        )
        words = np.empty(n_grams, dtype=np.int32)
        gather(table.words, suffixes[:n_grams], 0, words)
        counted = counts[:n_grams].astype(np.int64)
        if n_pads > 1:
            counted[words == BEGIN] = 0
        sizes = counts[:n_grams].copy() if at < order else counts
        table = GramTable(words, suffixes[:n_grams].copy(), counted, starts)
        tables.append(table)
        places = places[:n_places]
    return tuple(tables)


def _in_memory(name: str, size: int, kind: type) -> NDArray[Any]:
    del name
    return np.empty(size, dtype=kind)


def _allocated(allocate: Allocate, order: int, size: int, n_contexts: int) -> tuple[Any, ...]:
    """Arrays for the words, suffixes, counts and starts of a table."""
    return (
        allocate(f"words.{order}", size, np.int32),
        allocate(f"suffixes.{order}", size, np.int32),
        allocate(f"counts.{order}", size, np.int64),
        allocate(f"starts.{order}", n_contexts + 1, np.int64),
    )


def _merged(
    one: GramTable, two: GramTable, maps: tuple[Ids, Ids], new: tuple[Any, ...]
) -> tuple[GramTable, tuple[Ids, Ids]]:
    """Two tables of an order joined, and the joint number of each n-gram of either."""
    from tacit.language.loops.ngrams import merge_order

    contexts = []
    for part in maps:
        joint_number = np.full(len(new[3]) - 1, -1, dtype=np.int32)
        joint_number[part] = np.arange(len(part), dtype=np.int32)
        contexts.append(joint_number)
    new_maps = (np.empty(len(one), np.int32), np.empty(len(two), np.int32))
    parts: list[Any] = [
        (table.words, table.suffixes, table.counts, table.starts) for table in (one, two)
    ]
    n = merge_order(*contexts, *parts, *maps, new, *new_maps)
    return GramTable(new[0][:n], new[1][:n], new[2][:n], new[3]), new_maps


def joint_counts(
    parts: Sequence[GramCounts], *, min_count: int = 1, n_words: int | None = None
) -> GramCounts:
    """The counts of several texts, each read with a vocabulary of its own or all with the same.

    The counts are those of all texts read at once.

    Parameters
    ----------
    min_count, n_words : int
        Which words are kept if vocabularies differ, see `vocabulary.counted_vocabulary`.
    """
    if not parts:
        raise DataError("there are no counts to join; give at least one")
    known = parts[0].vocabulary
    if any(part.vocabulary != known for part in parts) or min_count > 1 or n_words is not None:
        pairs = [(part.vocabulary, part.tables[0].counts) for part in parts]
        known, maps = joint_vocabulary(pairs, min_count=min_count, n_words=n_words)
        parts = [part.renamed(known, places) for part, places in zip(parts, maps, strict=True)]
    return reduce(add, parts)


def check_counts(counts: Any) -> None:
    """Raise an `ArgumentTypeError` unless what is given are counted n-grams."""
    if not isinstance(counts, GramCounts):
        raise ArgumentTypeError(
            f"counts must be a GramCounts, not {shown(counts)}; read a folder of counts first, or use fit"
        )
