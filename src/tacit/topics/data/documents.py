"""Documents as counts of words, in memory or in batches that can be read several times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError

Counts = (
    Any  # scipy.sparse.csr_array, (document, word) int32, columns of a row sorted and all different
)
Integers = NDArray[np.int64]

SAMPLE = 2000  # documents kept of those that are not in memory, evenly spread


@dataclass(frozen=True, eq=False)
class Documents:
    """Counts of words in documents.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> documents = Documents(csr_array([[2, 1, 0], [0, 0, 4]]), ("a", "rose", "is"))
    >>> documents.n_documents, documents.n_words, documents.lengths.tolist()
    (2, 3, [3, 4])
    """

    counts: Counts  # (document, word)
    words: tuple[str, ...]  # (word,)
    named: bool = True  # whether the user gave the words; otherwise they are column numbers

    @property
    def n_documents(self) -> int:
        """Documents, empty ones too."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Words of the vocabulary."""
        return int(self.counts.shape[1])

    @property
    def lengths(self) -> Integers:
        """(document,) number of words of each document."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int64), dtype=np.int64).ravel()

    def part(self, places: Any) -> Documents:
        """Some of the documents: a slice, or numbers of documents."""
        return Documents(self.counts[places], self.words, self.named)

    def lists(self) -> list[list[str]]:
        """Documents as lists of words, repeated by their counts, in the order of the vocabulary.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> Documents(csr_array([[2, 1, 0], [0, 0, 1]]), ("a", "rose", "is")).lists()
        [['a', 'a', 'rose'], ['is']]
        """
        names = np.array(self.words, dtype=object)
        words = np.repeat(names[self.counts.indices], self.counts.data)
        cuts = np.cumsum(self.lengths)[:-1]
        return [part.tolist() for part in np.split(words, cuts)] if self.n_documents else []

    def batches(self) -> DocumentBatches:
        """The same documents, as one batch."""
        return DocumentBatches(
            lambda: iter((self.counts,)), self.words, self.n_documents, self.named, in_memory=True
        )


class DocumentBatches:
    """Documents that come in batches, which need not fit memory together.

    Each ``for batch in batches`` reads all documents once more and is counted in `n_passes`.

    Parameters
    ----------
    read : callable
        Returns a new iterator over the batches: scipy CSR arrays (document, word).
    words : tuple of str
        The vocabulary.
    n_documents : int, optional
        Number of documents; by default counted in the first pass.
    named : bool
        Whether the user gave the words; otherwise they are column numbers.
    in_memory : bool
        Whether there is one batch, which stays the same.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> halves = [csr_array([[2, 1, 0]]), csr_array([[0, 0, 4]])]
    >>> batches = DocumentBatches(lambda: iter(halves), ("a", "rose", "is"))
    >>> sum(batch.sum() for batch in batches), batches.n_passes, batches.n_documents
    (np.int64(7), 1, 2)
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Counts]],
        words: tuple[str, ...],
        n_documents: int | None = None,
        named: bool = True,
        in_memory: bool = False,
    ) -> None:
        self._read = read
        self.words, self.named = words, named
        self.n_documents = n_documents  # None if not known yet
        self.in_memory = in_memory
        self.n_passes = 0
        self._kept = _Kept()

    @property
    def n_words(self) -> int:
        """Words of the vocabulary."""
        return len(self.words)

    def __iter__(self) -> Iterator[Counts]:
        self.n_passes += 1
        n_read = 0
        for batch in self._checked():
            if not self.in_memory:
                self._kept.add(batch, n_read)
            n_read += batch.shape[0]
            yield batch
        if self.n_documents is not None and n_read != self.n_documents:
            raise DataError(
                f"{n_read} documents were read where {self.n_documents} were expected; "
                f"the source must give the same documents in every pass"
            )
        self.n_documents = n_read

    def first(self, n_documents: int) -> Counts:
        """The first documents, or all if there are fewer; not counted as a pass."""
        from scipy.sparse import csr_array, vstack

        parts: list[Counts] = [csr_array((0, self.n_words), dtype=np.int32)]
        for batch in self._checked():
            parts.append(batch[:n_documents])
            n_documents -= parts[-1].shape[0]
            if n_documents <= 0:
                break
        return vstack(parts, format="csr")

    def sample(self, size: int = SAMPLE) -> Counts:
        """About this many documents, evenly spread; at most twice as many.

        They are kept in the first pass where documents are not in memory; without one this is the first.

        Parameters
        ----------
        size : int
            At most 2000.
        """
        if self.in_memory:
            documents = next(self._checked())
        else:
            if self.n_passes == 0:
                for _ in self:
                    pass
            documents = self._kept.documents() if self._kept.parts else self.first(0)
        return documents[:: max(documents.shape[0] // size, 1)]

    def _checked(self) -> Iterator[Counts]:
        for batch in self._read():
            if batch.shape[1] != self.n_words:
                raise DataError(
                    f"a batch has {batch.shape[1]} words, but the vocabulary has {self.n_words}; "
                    f"give all batches over the same words"
                )
            yield batch


class _Kept:
    """Every n-th document of those read; n doubles as they become too many."""

    def __init__(self) -> None:
        self.parts: list[Counts] = []
        self.step, self.n_kept, self.n_read = 1, 0, 0

    def add(self, batch: Counts, n_before: int) -> None:
        """Keep some documents of a batch, unless it was read before; `n_before` documents precede it."""
        if n_before < self.n_read:
            return
        self.n_read = n_before + batch.shape[0]
        self.parts.append(batch[-n_before % self.step :: self.step])
        self.n_kept += self.parts[-1].shape[0]
        while self.n_kept >= 2 * SAMPLE:
            self.parts = [self.documents()[::2]]
            self.step, self.n_kept = 2 * self.step, self.parts[0].shape[0]

    def documents(self) -> Counts:
        """All that are kept."""
        from scipy.sparse import vstack

        return vstack(self.parts, format="csr") if len(self.parts) > 1 else self.parts[0]
