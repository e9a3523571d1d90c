"""Sequences of DNA with a class each, and letters that stand for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.messages.evidence import Evidence, one_of

LETTERS = "ACGT"

# Nucleotides that a letter stands for (IUPAC).
STANDS_FOR = {
    **{letter: letter for letter in LETTERS},
    "R": "AG",
    "Y": "CT",
    "S": "CG",
    "W": "AT",
    "K": "GT",
    "M": "AC",
    "B": "CGT",
    "D": "AGT",
    "H": "ACT",
    "V": "ACG",
    "N": "ACGT",
}

# Fifty letters on either side of the poly(A) signal, which is at 100 to 105.
_POLYA_POSITIONS = (*range(50, 100), *range(106, 156))


@dataclass(frozen=True, eq=False)
class DnaSequences:
    """Sequences of equal length."""

    names: tuple[str, ...]  # of the classes
    classes: NDArray[np.int64]  # (row,)
    signs: NDArray[np.str_]  # (row, position)  one letter each

    @property
    def codes(self) -> NDArray[np.int16]:
        """(row, position) Numbers of the nucleotides; -1 where a letter stands for several."""
        codes = np.full(self.signs.shape, -1, dtype=np.int16)
        for code, letter in enumerate(LETTERS):
            codes[self.signs == letter] = code
        return codes

    @property
    def sequence(self) -> NDArray[np.int64]:
        """(row,) Which of the distinct sequences each row has."""
        _, numbers = np.unique(self.signs, axis=0, return_inverse=True)
        return numbers.reshape(-1).astype(np.int64)

    def evidence(self, rows: NDArray[np.int64]) -> Evidence:
        """Some of the rows as evidence: a letter that stands for several is a set of them."""
        codes, signs = np.asfortranarray(self.codes[rows]), self.signs[rows]
        soft = {}
        for position in np.flatnonzero(((codes < 0) & (signs != "N")).any(axis=0)).tolist():
            soft[position] = np.array([likelihoods(sign) for sign in signs[:, position]])
        return Evidence(codes, soft)


def likelihoods(sign: str) -> NDArray[np.float64]:
    """One for each nucleotide that a letter may stand for, zero for the others.

    Examples
    --------
    >>> likelihoods("R")
    array([1., 0., 1., 0.])
    """
    if sign not in STANDS_FOR:
        raise DataError(f"no nucleotides are written {sign!r}; there are {', '.join(STANDS_FOR)}")
    return one_of({LETTERS.index(letter) for letter in STANDS_FOR[sign]}, len(LETTERS))


def dna_sequences(data: str) -> DnaSequences:
    """The sequences of a data set.

    "polya": true and false poly(A) signals, fifty letters on either side of AATAAA, which both have.
    "splice": splice junctions and other positions, sixty letters.
    """
    from tacit.datasets import load_polya, load_splice

    if data == "polya":
        table = load_polya("omni")
        return _of_columns(table["label"], [table[f"p{position}"] for position in _POLYA_POSITIONS])
    assert data == "splice", data
    table = load_splice(ambiguous="letter")
    return _of_columns(table["class"], [table[f"p{position}"] for position in range(60)])


def _of_columns(
    labels: NDArray[np.object_], columns: Sequence[NDArray[np.object_]]
) -> DnaSequences:
    names, classes = np.unique(labels.astype(str), return_inverse=True)
    signs = np.stack([np.where(column == None, "N", column) for column in columns], axis=1)  # noqa: E711
    return DnaSequences(tuple(names.tolist()), classes.astype(np.int64), signs.astype("<U1"))
