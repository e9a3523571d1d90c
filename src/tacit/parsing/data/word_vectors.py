"""Word vectors: reading, lookup, concatenation."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice
from tacit.core.input.missing_files import is_file
from tacit.core.limits import check_entries, shown
from tacit.errors import ArgumentTypeError, DataError, FileFormatError, MissingDataError
from tacit.parsing.data.parse_trees import text_lines

Array = NDArray[np.float64]
UNKNOWN = "<unk>"
_BYTES = 8  # of a number as it is kept
PREFIX_BITS = 6  # of a path to a Brown cluster: words that share them are alike


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector for each word, and one for all others.

    A word is looked up as it is written and then in small letters.
    """

    words: tuple[str, ...]
    vectors: Array  # (word, feature)
    unknown: Array  # (feature,)

    def __post_init__(self) -> None:
        """Refuse vectors that do not fit the words."""
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.words) or not len(self.words):
            raise DataError(
                f"{len(self.words)} words have vectors of shape {self.vectors.shape}; give one row for each"
            )
        if not np.isfinite(self.vectors).all():
            raise DataError("a word vector has a value that is no number")

    @staticmethod
    def of(words: Sequence[str], vectors: Any) -> WordVectors:
        """Vectors of words; that of ``<unk>`` is for all others, or else the mean."""
        rows = np.asarray(vectors, dtype=np.float64)
        known = [place for place, word in enumerate(words) if word == UNKNOWN]
        if rows.ndim == 2 and len(rows) == len(words) > 0:
            unknown = rows[known[0]] if known else rows.mean(axis=0)
        else:
            unknown = np.zeros(0)
        return WordVectors(tuple(str(word) for word in words), rows, unknown)

    @property
    def n_features(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    def of_words(self, words: Iterable[str]) -> Array:
        """The vectors of some words: (word, feature)."""
        return np.asarray(np.vstack([self.vectors, self.unknown])[self.rows_of(words)])

    def rows_of(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The row of each word; the number of words for one that has none."""
        places = {word: place for place, word in enumerate(self.words)}
        last = len(self.words)
        rows = [places.get(word, places.get(word.lower(), last)) for word in words]
        return np.array(rows, dtype=np.int64)

    def unit(self) -> WordVectors:
        """The same with every vector divided by its length."""
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        unknown = self.unknown / max(float(np.linalg.norm(self.unknown)), 1e-12)
        return WordVectors(self.words, self.vectors / np.maximum(lengths, 1e-12), unknown)

    def __add__(self, other: WordVectors) -> WordVectors:
        """The features of both, one after the other, for the words of both."""
        words = tuple(dict.fromkeys((*self.words, *other.words)))
        vectors = np.hstack([self.of_words(words), other.of_words(words)])
        return WordVectors(words, vectors, np.concatenate([self.unknown, other.unknown]))


def read_word_vectors(path: Any, *, clusters: str = "prefix") -> WordVectors:
    """The word vectors of a file.

    Parameters
    ----------
    path : str or path
        ``.npz`` with the arrays ``words`` and ``vecs`` (or ``vectors``); text with a word and its numbers on
        each line, as of GloVe and word2vec; or text with a word and the bits of its Brown cluster on each
        line, in either order. Text may be packed.
    clusters : {"prefix", "whole"}
        What becomes of Brown clusters: see `brown_vectors` and `brown_identity_vectors`.

    Raises
    ------
    MissingDataError, FileFormatError, DataError
    """
    check_choice("clusters", clusters, ("prefix", "whole"))
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(
            f"vectors={shown(path)}; give word vectors, or the path of their file"
        )
    place = Path(path)
    if place.suffix.lower() == ".npz":
        return _from_arrays(place)
    for name, lines in text_lines(place):
        rows = [line.split() for line in lines if line.strip()]
        if rows and all(len(row) in (2, 3) for row in rows[:50]):
            return (brown_vectors if clusters == "prefix" else brown_identity_vectors)(
                _clusters(rows, name)
            )
        return _from_numbers(rows, name)
    raise AssertionError("a path is one text")


def brown_vectors(clusters: dict[str, str]) -> WordVectors:
    """Brown clusters as vectors: which one the first bits say, and each bit.

    Parameters
    ----------
    clusters : dict
        For each word, the path to its cluster in zeros and ones.

    Returns
    -------
    WordVectors
        One column for each beginning of six bits, then one for each bit: 1, -1, or 0 where the path has
        ended; of length one.
    """
    paths = list(clusters.values())
    beginnings = {bits: i for i, bits in enumerate(sorted({path[:PREFIX_BITS] for path in paths}))}
    longest = max(map(len, paths), default=0)
    vectors = np.zeros((len(paths), len(beginnings) + longest))
    for row, path in zip(vectors, paths, strict=True):
        row[beginnings[path[:PREFIX_BITS]]] = 1.0
        for at, bit in enumerate(path, len(beginnings)):
            row[at] = 1.0 if bit == "1" else -1.0
    return WordVectors.of(tuple(clusters), vectors).unit()


def brown_identity_vectors(clusters: dict[str, str]) -> WordVectors:
    """Brown clusters as log C + C numbers for C clusters (Parikh 2015, section 8.4.1).

    Parameters
    ----------
    clusters : dict
        For each word, the path to its cluster in zeros and ones.

    Returns
    -------
    WordVectors
        The first log2(C) bits of the path, rounded up, 0 where it has ended: which clusters are merged with
        that of the word; then one column for each cluster. A word without a cluster has zeros.
    """
    numbers = {bits: number for number, bits in enumerate(sorted(set(clusters.values())))}
    n_bits = max(len(numbers) - 1, 0).bit_length()
    vectors = np.zeros((len(clusters), n_bits + len(numbers)))
    for row, path in zip(vectors, clusters.values(), strict=True):
        row[: min(len(path), n_bits)] = [bit == "1" for bit in path[:n_bits]]
        row[n_bits + numbers[path]] = 1.0
    return WordVectors(tuple(clusters), vectors, np.zeros(vectors.shape[1]))


def _from_arrays(path: Path) -> WordVectors:
    if not is_file(path):
        raise MissingDataError(f"there is no file {str(path)!r}")
    import zlib
    from tokenize import TokenError

    damage = (
        OSError,
        ValueError,
        TypeError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        BadZipFile,
        TokenError,  # as TypeError, of numpy's reader of headers
        zlib.error,
    )
    try:
        with ZipFile(path) as archive:
            names = [member.removesuffix(".npy") for member in archive.namelist()]
            rows_name = "vecs" if "vecs" in names else "vectors"
            if rows_name not in names or "words" not in names:
                raise FileFormatError(
                    f"{str(path)!r} has the arrays {sorted(names)}; 'words' and 'vecs' or 'vectors' are "
                    f"needed"
                )
            members = [archive.infolist()[names.index(name)] for name in ("words", rows_name)]
            _check_sizes(path, archive, members)
            words, rows = (_array(archive, member) for member in members)
    except FileFormatError:
        raise
    except damage as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error}") from error
    if words.ndim != 1 or rows.dtype.kind not in "biuf":
        raise FileFormatError(
            f"{str(path)!r} has 'words' of {words.ndim} axes and {rows_name!r} of {rows.dtype}; one axis and "
            f"numbers are needed"
        )
    return WordVectors.of([str(word) for word in words], rows)


def _check_sizes(path: Path, archive: ZipFile, members: Sequence[ZipInfo]) -> None:
    """Refuse arrays that are far larger than the file, by the sizes in its headers."""
    n_bytes = path.stat().st_size
    what, advice = (
        f"{str(path)!r} announces numbers",
        "store them with numpy.savez, which does not pack",
    )
    # First the bytes that each array unpacks to, which bound its own header too.
    check_entries(what, sum(member.file_size for member in members) // _BYTES, n_bytes, advice)
    n_entries = sum(_stated_entries(archive, member) for member in members)
    check_entries(what, n_entries, n_bytes, advice)


def _stated_entries(archive: ZipFile, member: ZipInfo) -> int:
    """How many numbers of eight bytes an array holds, by its own header; at least one for each entry."""
    with archive.open(member) as file:
        is_first = np.lib.format.read_magic(file) == (1, 0)
        read = (
            np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
    return math.prod(shape) * max(dtype.itemsize // _BYTES, 1)


def _array(archive: ZipFile, member: ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _from_numbers(rows: list[list[str]], name: str) -> WordVectors:
    if rows and len(rows[0]) == 2 and len(rows) > 1 and len(rows[1]) > 2:
        rows = rows[1:]  # word2vec says first how many words and numbers there are
    size = len(rows[0]) if rows else 0
    for number, row in enumerate(rows, 1):
        if len(row) != size or size < 2:
            raise DataError(
                f"{name}: entry {number} has {len(row) - 1} numbers, the first has {size - 1}"
            )
    try:
        vectors = np.array([row[1:] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{name}: {error}; write a word and its numbers on each line") from error
    return WordVectors.of([row[0] for row in rows], vectors)


def _clusters(rows: list[list[str]], name: str) -> dict[str, str]:
    """Brown clusters as ``word bits`` or, as the program of Liang writes them, ``bits word count``."""
    flip = all(set(row[0]) <= {"0", "1"} for row in rows)
    clusters = {}
    for number, row in enumerate(rows, 1):
        word, bits = (row[1], row[0]) if flip else (row[0], row[1])
        if not set(bits) <= {"0", "1"}:
            raise DataError(f"{name}: entry {number}: {bits!r} is no path of zeros and ones")
        clusters[word] = bits
    return clusters
