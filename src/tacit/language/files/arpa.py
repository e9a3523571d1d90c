"""N-gram models as ARPA files, the format of SRILM, KenLM, Kaldi and others.

A line for each n-gram: the logarithm to base 10 of its probability, its words, and except in the highest
order the logarithm of its back-off weight. Everywhere else in Tacit logarithms are natural.
"""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.atomic import atomic_path, check_path
from tacit.core.input.text import text_sources
from tacit.errors import FileFormatError, NotAvailableError, ProbabilityWarning
from tacit.language.data.vocabulary import BEGIN, SPECIAL, Vocabulary
from tacit.language.model.backoff import GramModel, packed
from tacit.language.model.sums import ROUNDED, normalized
from tacit.language.moments.ngram_counts import MAX_ORDER

Array = NDArray[np.float64]

_BUFFER = 1 << 22
_KENLM = b"mmap lm http://kheafield.com/code"  # the beginning of KenLM's binary files


def write_arpa(model: GramModel, path: str | os.PathLike[str], *, pads: int = 1) -> None:
    """Write an n-gram model as an ARPA file, completely or not at all; compressed by its extension.

    Numbers have seven decimals; -99 is the logarithm of zero.

    Raises
    ------
    FileWriteError
        The file cannot be written there.
    NotAvailableError
        The model has several ``<s>`` in front of lines, which readers of such files do not support.
    """
    from tacit.language.loops.arpa import put_grams

    if pads > 1:
        raise NotAvailableError(
            f"readers of ARPA files put one <s> in front of a line, this model has {pads}; fit with "
            'pads="one"'
        )
    known, offsets = model.vocabulary, model.offsets.tolist()
    longest = int(np.diff(known.starts).max())
    arrays, n_contexts = packed(model), max(model.n_contexts, 1)
    with atomic_path(path) as temporary, _sink(temporary) as file:
        sizes = np.diff(model.offsets).tolist()
        counts = [f"ngram {order}={size}\n" for order, size in enumerate(sizes, 1)]
        file.write(("\\data\\\n" + "".join(counts)).encode())
        for order in range(1, model.order + 1):
            file.write(f"\n\\{order}-grams:\n".encode())
            room = 64 + order * longest
            out = np.empty(max(_BUFFER, 2 * room), dtype=np.uint8)
            # The first contexts of each length.
            cursors = np.minimum(np.array([0, *offsets[: order - 1]]), n_contexts - 1)
            gram = offsets[order - 1]
            while gram < offsets[order]:
                gram, n = put_grams(
                    arrays,
                    order,
                    gram,
                    offsets[order],
                    cursors,
                    known.store,
                    known.starts,
                    room,
                    out,
                )
                file.write(out[:n].tobytes())
        file.write(b"\n\\end\\\n")


def _sink(path: Path) -> Any:
    """A binary file, compressed by its extension."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        import gzip

        return gzip.GzipFile(path, "wb", mtime=0)  # the same model, the same bytes
    if suffix == ".bz2":
        import bz2

        return bz2.open(path, "wb")
    if suffix == ".xz":
        import lzma

        return lzma.open(path, "wb")
    if suffix == ".zst":
        import pyarrow as pa

        return pa.output_stream(str(path), compression="zstd")
    return path.open("wb")


def read_arpa(path: str | os.PathLike[str], *, normalize: bool = True) -> GramModel:
    """The n-gram model of an ARPA file, which may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``).

    ``<s>``, ``</s>`` and ``<unk>`` that are not listed have probability zero. N-grams without their first
    word need not be listed (pruned models lack some); those without their last word must be.

    Where probabilities do not sum to one within 0.001, back-off weights are changed so that they do, or where
    that is not enough the probabilities themselves, with a `ProbabilityWarning`: as ``ngram -renorm`` of
    SRILM does. With ``normalize=False`` they stay as they are.

    Raises
    ------
    MissingDataError, FileFormatError
        There is no such file, or a line is wrong; the message has its number.
    """
    check_path(path)
    source = next(iter(text_sources(Path(path))))
    text = b"".join(source.blocks)
    if text.startswith(_KENLM):
        raise FileFormatError(
            f"{source.name} is a binary file of KenLM; give the ARPA file that it was made from"
        )
    listed = _Arpa(source.name, text).read()
    if not normalize:
        return listed
    try:
        model, n_changed = normalized(listed, ROUNDED)
    except ValueError as error:
        raise FileFormatError(f"{source.name}: {error}") from error
    if n_changed:
        warnings.warn(
            f"{source.name}: probabilities did not sum to one after {n_changed} contexts; the back-off "
            "weights of these were changed so that they do",
            ProbabilityWarning,
            stacklevel=3,
        )
    return model


class _Arpa:
    """The text of an ARPA file, and the position."""

    def __init__(self, name: str, text: bytes) -> None:
        self.name, self.text, self.at = name, text, 0

    def wrong(self, problem: str, at: int | None = None) -> FileFormatError:
        line = self.text.count(b"\n", 0, self.at if at is None else at) + 1
        return FileFormatError(f"{self.name}, line {line}: {problem}")

    def line(self) -> bytes:
        """The next line that is not blank; `at` stays at its beginning until `past` is called."""
        while self.at < len(self.text):
            stop = self.text.find(b"\n", self.at)
            self.stop = len(self.text) if stop < 0 else stop + 1
            line = self.text[self.at : self.stop].strip()
            if line:
                return line
            self.at = self.stop
        raise self.wrong("the file ends here; it is cut off, or not an ARPA file")

    def past(self) -> None:
        self.at = self.stop

    def expect(self, expected: str) -> None:
        line = self.line()
        if line != expected.encode():
            shown = line[:40].decode(errors="replace")
            raise self.wrong(f"expected '{expected}', but there is '{shown}'")
        self.past()

    def read(self) -> GramModel:
        sizes = self.sizes()
        self.expect("\\1-grams:")
        vocabulary, probs, weights = self.unigrams(sizes[0])
        n = len(vocabulary)
        empty = np.full(n + 1, n, dtype=np.int64)  # no n-gram has a continuation yet
        words, none = np.arange(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        if len(sizes) == 1:
            empty, weights = empty[-1:], weights[:0]
        model = GramModel(vocabulary, np.array([0, n]), words, none, empty, probs, weights)
        for order, size in enumerate(sizes[1:], 2):
            self.expect(f"\\{order}-grams:")
            model = self.extended(model, order, size, is_last=order == len(sizes))
        self.expect("\\end\\")
        return model

    def sizes(self) -> list[int]:
        """The announced numbers of n-grams of each order."""
        while self.line() != b"\\data\\":
            if self.line().startswith(b"\\"):
                raise self.wrong("expected '\\data\\'; is this an ARPA file?")
            self.past()
        self.past()
        sizes: list[int] = []
        while (line := self.line()).startswith(b"ngram"):
            order, _, size = line[5:].partition(b"=")
            if order.strip() != str(len(sizes) + 1).encode() or not size.strip().isdigit():
                raise self.wrong(f"expected 'ngram {len(sizes) + 1}=...'")
            sizes.append(int(size))
            self.past()
        if not sizes:
            raise self.wrong("expected 'ngram 1=...'")
        if len(sizes) > MAX_ORDER:
            raise self.wrong(f"n-grams of {len(sizes)} words; the limit is {MAX_ORDER}")
        return sizes

    def check_size(self, order: int, size: int) -> None:
        """Raise if more n-grams are announced than the rest of the file can hold."""
        shortest = 2 * (order + 1)  # bytes: a digit and words of one letter, with separators
        if size * shortest > len(self.text) - self.at + 1:
            raise self.wrong(
                f"{size} {order}-grams are announced, but the rest of the file is too short for them"
            )

    def unigrams(self, size: int) -> tuple[Vocabulary, Array, Array]:
        from tacit.language.loops.arpa import MAX_WEIGHT

        logs_of: dict[bytes, tuple[float, float]] = {
            word.encode(): (-np.inf, 0.0) for word in SPECIAL
        }
        read_words: set[bytes] = set()
        self.check_size(1, size)
        for place in range(size):
            cells = self.line().split()
            if cells[0].startswith(b"\\") or len(cells) not in (2, 3):
                raise self.wrong(
                    f"expected logarithm, word and weight: {size} unigrams are announced, {place} were read"
                )
            numbers = self.number(cells[0]), self.number(cells[2]) if len(cells) == 3 else 0.0
            try:
                word = cells[1].decode()
            except UnicodeDecodeError as error:
                raise self.wrong(f"a word that is not UTF-8: {error}") from error
            if cells[1] in read_words:
                raise self.wrong(f"the word {word!r} is listed twice")
            if numbers[0] > 1e-6 or numbers[1] > MAX_WEIGHT:
                raise self.wrong(
                    f"{max(numbers)} is the logarithm of a probability above one, or of too large a weight"
                )
            read_words.add(cells[1])
            logs_of[cells[1]] = numbers
            self.past()
        logs = np.array(list(logs_of.values()))
        probs, weights = _linear(logs[:, 0]), _linear(logs[:, 1])
        probs[BEGIN] = 0.0  # never follows anything
        return Vocabulary.of_bytes(list(logs_of)), probs, weights

    def number(self, cell: bytes) -> float:
        """A number of the line."""
        try:
            value = float(cell)
        except ValueError:
            value = np.nan
        if math.isnan(value) or b"_" in cell:  # Python accepts underscores in numbers
            raise self.wrong(f"{cell.decode(errors='replace')!r} is not a number")
        return value

    def extended(self, model: GramModel, order: int, size: int, *, is_last: bool) -> GramModel:
        """A model with the n-grams of the next order."""
        from tacit.language.loops.arpa import find_contexts, find_suffixes

        ids, logs, log_weights, begin = self.grams(model.vocabulary, order, size)
        contexts = np.empty(size, dtype=np.int64)
        find_contexts(model.words, model.firsts, ids, contexts)
        if size and contexts.min() < 0:
            place = int(np.argmin(contexts))
            raise self.wrong(
                f"the n-gram without its last word is not listed among those of order {order - 1}",
                self.place_of(begin, place),
            )
        rows = np.lexsort((ids[:, -1], contexts))
        contexts, words = contexts[rows], ids[rows, -1]
        twice = (contexts[1:] == contexts[:-1]) & (words[1:] == words[:-1])
        if twice.any():
            place = int(rows[1:][twice].min())
            raise self.wrong("the n-gram is listed twice", self.place_of(begin, place))
        suffixes = np.empty(size, dtype=np.int32)
        find_suffixes(packed(model), contexts, words, suffixes)
        n, low = len(model), int(model.offsets[-2])
        starts = n + np.searchsorted(contexts, np.arange(low, n), side="left")
        firsts = np.concatenate([model.firsts[:low], starts, [n + size]])
        weights = model.backoffs
        if not is_last:
            firsts = np.concatenate([firsts, np.full(size, n + size)])
            weights = np.concatenate([weights, _linear(log_weights[rows])])
        return GramModel(
            model.vocabulary,
            np.append(model.offsets, n + size),
            np.concatenate([model.words, words]),
            np.concatenate([model.suffixes, suffixes]),
            firsts,
            np.concatenate([model.probs, _linear(logs[rows])]),
            weights,
        )

    def grams(
        self, known: Vocabulary, order: int, size: int
    ) -> tuple[NDArray[np.int32], Array, Array, int]:
        """Words and logarithms of an order, and the position of its first line."""
        from tacit.language.loops import arpa

        self.check_size(order, size)
        ids = np.empty((size, order), dtype=np.int32)
        logs, weights = np.empty(size), np.empty(size)
        table: Any = (known.table.slots, known.table.hashes, known.starts, known.store)
        begin = self.at
        text = np.frombuffer(self.text, dtype=np.uint8)
        n, at, why = arpa.parse_grams(text, begin, size, table, ids, logs, weights)
        if why != arpa.GOOD:
            reasons = {
                arpa.BAD_NUMBER: "expected a number, the logarithm of a probability",
                arpa.FEW_WORDS: f"expected an n-gram of {order} words: {size} are announced, {n} were read",
                arpa.UNKNOWN_WORD: "a word is not among the unigrams",
                arpa.MORE_THERE: f"there is more than an n-gram of {order} words and its weight",
                arpa.TOO_HIGH: "the logarithm of a probability above one, or of too large a weight",
            }
            raise self.wrong(reasons[why], at)
        self.at = int(at)
        return ids, logs, weights, begin

    def place_of(self, begin: int, place: int) -> int:
        """The position of the line of an n-gram; blank lines do not count."""
        at = begin
        while True:
            stop = self.text.find(b"\n", at)
            if stop < 0 or self.text[at:stop].strip():
                if place == 0:
                    return at
                place -= 1
            at = stop + 1


def _linear(logs: Array) -> Array:
    """Numbers from logarithms to base 10; -99 and below is zero."""
    return np.where(logs <= -99, 0.0, 10.0 ** np.maximum(logs, -99))
