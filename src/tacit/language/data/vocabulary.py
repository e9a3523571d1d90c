"""The words of a language model and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]

UNKNOWN, BEGIN, END = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")


class WordTable:
    """A hash table of words, with counts; new words can be added.

    Parameters
    ----------
    store : (byte,)
        The words, each followed by a newline.
    starts : (word + 1,)
        The first byte of each.
    """

    def __init__(self, store: Bytes, starts: Integers) -> None:
        self.n_words = len(starts) - 1
        self.store, self.starts = store, starts
        self.counts = np.zeros(self.n_words, dtype=np.int64)
        self._fill(self.n_words)

    def _fill(self, room: int) -> None:
        from tacit.language.loops.tokens import fill_slots

        self.hashes = np.empty(room, dtype=np.uint64)
        self.slots = np.full(1 << max(2 * room, 8).bit_length(), -1, dtype=np.int32)
        fill_slots(self.store, self.starts, self.hashes, self.n_words, self.slots)

    def grow(self, length: int = 0) -> None:
        """Double the capacity, with room for another word of some length."""
        room = max(2 * self.n_words, 1 << 14)
        self.store = _longer(self.store, max(2 * len(self.store), 16 * room) + length + 1)
        self.starts = _longer(self.starts, room + 1)
        self.counts = _longer(self.counts, room)
        self._fill(room)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, dtype=array.dtype)
    out[: len(array)] = array
    return out


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words and their numbers: ``<unk>`` is 0, ``<s>`` 1, ``</s>`` 2, then all others.

    Examples
    --------
    >>> vocabulary = Vocabulary.of_words(["der", "die", "das"])
    >>> len(vocabulary), vocabulary.ids(["die", "dem"]).tolist(), vocabulary.words[5]
    (6, [4, 0], 'das')
    """

    store: Bytes  # (byte,)  the words, each followed by a newline
    starts: Integers  # (word + 1,)

    @staticmethod
    def of_words(words: Iterable[str]) -> Vocabulary:
        """The vocabulary of some words in their order, after the three special ones.

        Raises
        ------
        DataError
            A word occurs twice, is empty, or has blanks in it.
        """
        words = checked_words(words)
        others = [word for word in words if word not in SPECIAL]
        listed = [*SPECIAL, *others]
        if len(set(listed)) != len(listed):
            twice = Counter(others).most_common(1)[0][0]
            raise DataError(f"the word {twice!r} occurs twice in the vocabulary; give it once")
        coded = [word.encode() for word in listed]
        for word, code in zip(listed, coded, strict=True):
            if code.split() != [code]:
                raise DataError(f"{word!r} is not a word: it is empty or has blanks")
        return Vocabulary.of_bytes(coded)

    @staticmethod
    def of_bytes(words: Sequence[bytes]) -> Vocabulary:
        """The vocabulary of some words as UTF-8, including the special ones; not checked."""
        store = np.frombuffer(b"\n".join([*words, b""]), dtype=np.uint8).copy()
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        return Vocabulary(store, np.concatenate([[0], np.cumsum(lengths + 1)]))

    @staticmethod
    def of_arrays(store: NDArray[Any], starts: NDArray[Any]) -> Vocabulary:
        """The vocabulary of two arrays of a file, which are checked.

        Raises
        ------
        DataError
            They are not a vocabulary.
        """
        if (
            store.dtype != np.uint8
            or starts.dtype != np.int64
            or (store.ndim, starts.ndim) != (1, 1)
        ):
            raise DataError("the arrays of the vocabulary have wrong types")
        if (
            len(starts) < 4
            or starts[0] != 0
            or not np.array_equal(starts[1:] - 1, np.flatnonzero(store == 10))
        ):
            raise DataError("the words of the vocabulary do not fit their starts")
        coded = store.tobytes().split(b"\n")[:-1]
        if tuple(coded[:3]) != tuple(word.encode() for word in SPECIAL):
            raise DataError(f"the vocabulary does not begin with {', '.join(SPECIAL)}")
        if len(set(coded)) != len(coded) or store.tobytes().split() != coded:
            raise DataError("a word of the vocabulary occurs twice, is empty, or has blanks")
        try:
            store.tobytes().decode()
        except UnicodeDecodeError as error:
            raise DataError(f"the words of the vocabulary are not UTF-8: {error}") from error
        return Vocabulary(np.array(store), np.array(starts))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word.encode() in self._places

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and np.array_equal(self.store, other.store)

    def __hash__(self) -> int:
        return hash(self.store.tobytes())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, including the special ones."""
        return tuple(self.store.tobytes().decode().split("\n")[:-1])

    @cached_property
    def _places(self) -> dict[bytes, int]:
        coded = self.store.tobytes().split(b"\n")[:-1]
        return dict(zip(coded, range(len(coded)), strict=True))

    @cached_property
    def table(self) -> WordTable:
        """The hash table of the words."""
        return WordTable(self.store, self.starts)

    @cached_property
    def packed_table(self) -> tuple[Any, ...]:
        """The hash table, as arguments of compiled loops."""
        return (self.table.slots, self.table.hashes, self.table.starts, self.table.store)

    def ids(self, words: Iterable[str]) -> Ids:
        """(word,) the numbers of some words; 0 for unknown ones."""
        get, coded = self._places.get, str.encode
        listed = list(words) if isinstance(words, Iterable) else [words]
        try:
            places = [get(coded(word), UNKNOWN) for word in listed]
        except TypeError:  # str.encode takes texts only
            raise ArgumentTypeError(not_words(listed)) from None
        return np.array(places, dtype=np.int32)

    def line_places(self, line: str) -> list[int]:
        """The numbers of the words of a line, as a list."""
        get = self._places.get
        return [get(word, UNKNOWN) for word in line.encode().split()]


def counted_vocabulary(
    table: WordTable, *, min_count: int = 1, n_words: int | None = None
) -> tuple[Vocabulary, Ids]:
    """The vocabulary of counted words, the most frequent first, and the new number of every old word.

    Parameters
    ----------
    table : WordTable
        Its first three words are the special ones.
    min_count : int
        Less frequent words become ``<unk>``.
    n_words : int, optional
        Number of words kept at most, without the special ones.

    Returns
    -------
    vocabulary : Vocabulary
        Words of the same count are in the order of their bytes.
    places : (old word,)
    """
    coded = table.store[: table.starts[table.n_words]].tobytes().split(b"\n")[3:-1]
    counts = table.counts[3 : table.n_words]
    order = np.array(sorted(range(len(coded)), key=coded.__getitem__), dtype=np.int64)
    order = order[np.argsort(-counts[order], kind="stable")]
    order = order[counts[order] >= min_count][:n_words]
    places = np.zeros(table.n_words, dtype=np.int32)
    places[:3] = UNKNOWN, BEGIN, END
    places[3 + order] = np.arange(3, 3 + len(order), dtype=np.int32)
    special = [word.encode() for word in SPECIAL]
    return Vocabulary.of_bytes([*special, *(coded[place] for place in order.tolist())]), places


def joint_vocabulary(
    parts: Sequence[tuple[Vocabulary, Integers]],
    *,
    min_count: int = 1,
    n_words: int | None = None,
) -> tuple[Vocabulary, list[Ids]]:
    """The vocabulary of several texts together, and the new number of every word of each.

    Parameters
    ----------
    parts : sequence of (Vocabulary, (word,) counts)
    min_count, n_words : int
        See `counted_vocabulary`.
    """
    total: dict[bytes, int] = {}
    coded = [vocabulary.store.tobytes().split(b"\n")[3:-1] for vocabulary, _ in parts]
    for words, (_, counts) in zip(coded, parts, strict=True):
        for word, count in zip(words, counts[3:].tolist(), strict=True):
            total[word] = total.get(word, 0) + count
    order = sorted(total, key=lambda word: (-total[word], word))
    frequent = [word for word in order if total[word] >= min_count][:n_words]
    special = [word.encode() for word in SPECIAL]
    places = {word: place for place, word in enumerate(frequent, len(special))}
    maps = []
    for words in coded:
        new_places = [places.get(word, UNKNOWN) for word in words]
        maps.append(np.array([UNKNOWN, BEGIN, END, *new_places], dtype=np.int32))
    return Vocabulary.of_bytes([*special, *frequent]), maps


def checked_words(words: Any) -> Sequence[str]:
    """Words as a list, once all of them are texts; a text is the sequence of its characters."""
    listed = list(words) if isinstance(words, Iterable) else [words]
    if not all(isinstance(word, str) for word in listed):
        raise ArgumentTypeError(not_words(listed))
    return listed


def not_words(listed: Sequence[object]) -> str:
    """What is said of a list in which something is not a text."""
    wrong = next(word for word in listed if not isinstance(word, str))
    return f"words must be texts in a list, but one is {shown(wrong)}"
