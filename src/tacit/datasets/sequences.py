"""Sequences of symbols: strings of the PAutomaC competition, parts of speech."""

from __future__ import annotations

import io
import os
import tarfile
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.datasets.folder import VARIABLE, DataFile
from tacit.errors import ArgumentError, MissingDataError
from tacit.sequences.data.sequence_files import parsed_pautomac

Array = NDArray[np.float64]
Strings = list[NDArray[np.int32]]

_SOURCE = "github.com/tudelft-cda-lab/FlexFringe, data/PAutomaC-competition_sets; for academic research only"
_ARCHIVE = DataFile(
    "pautomac/pautomac_42.tar",
    "an archive of <number>.pautomac.train, .pautomac.test and .pautomac_solution.txt",
    _SOURCE,
)
_PROBLEMS = DataFile(
    "pautomac/problems.tsv",
    "a header, then lines of problem, kind, states, symbols, strings, mean length and least perplexity with "
    "tabs between them",
    _SOURCE,
)
_KINDS, _SPLITS = ("upos", "xpos"), ("train", "dev", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Pautomac:
    """A problem of the PAutomaC competition: strings drawn from a machine, and probabilities of others."""

    number: int
    train: Strings  # codes of each string
    test: Strings  # all different
    target: Array  # (test string,)  true probabilities, which sum to one over the test strings
    n_symbols: int
    kind: str  # "DPFA" (deterministic), "HMM" or "PNFA" (any other)
    n_states: int  # of the machine
    minimum: float  # the score of the machine itself

    def score(self, log_probs: Array) -> float:
        """The official score, a perplexity: the lower the better, `minimum` at best.

        Parameters
        ----------
        log_probs : (test string,)
            Natural logarithms of a model's probabilities; they are made to sum to one over the test strings.
        """
        logs = np.asarray(log_probs, dtype=np.float64)
        if logs.shape != self.target.shape:
            raise ArgumentError(
                f"log_probs has shape {logs.shape}; there are {len(self.target)} test strings"
            )
        if not logs.max() > -np.inf:
            return float("inf")
        logs = logs - logs.max()
        logs = logs - np.log(np.exp(logs).sum())
        return float(np.exp(-(self.target @ logs)))


def pautomac_numbers() -> tuple[int, ...]:
    """The problems that have training strings, in order."""
    ending = ".pautomac.train"
    return tuple(sorted(int(name.split(".")[0]) for name in _members() if name.endswith(ending)))


def load_pautomac(number: int) -> Pautomac:
    """A problem of the PAutomaC competition (Verwer, Eyraud and de la Higuera 2014).

    The data may be used in the context of academic research only. The archive is unpacked in memory, once.

    Parameters
    ----------
    number : int
        One of `pautomac_numbers`.

    Raises
    ------
    ArgumentError
        There is no such problem.
    MissingDataError
        The archive is not in the folder that ``TACIT_DATA`` names.
    """
    members = _members()
    if f"{number}.pautomac.train" not in members:
        known = ", ".join(map(str, pautomac_numbers()))
        raise ArgumentError(
            f"there is no problem {number} with training strings; there are {known}"
        )
    train, n_symbols = _strings(members, f"{number}.pautomac.train")
    test, _ = _strings(members, f"{number}.pautomac.test")
    name = f"{number}.pautomac_solution.txt"
    try:
        target = np.array(members[name].split()[1:], dtype=np.float64)
    except (KeyError, ValueError) as error:
        raise _ARCHIVE.wrong(f"{name} is not there, or not all are numbers") from error
    if len(target) != len(test):
        raise _ARCHIVE.wrong(f"{name} has {len(target)} probabilities for {len(test)} strings")
    kind, n_states, minimum = _described(number)
    return Pautomac(number, train, test, target / target.sum(), n_symbols, kind, n_states, minimum)


def _strings(members: dict[str, bytes], name: str) -> tuple[Strings, int]:
    if name not in members:
        raise _ARCHIVE.wrong(f"{name} is not there")
    codes, lengths, n_symbols = parsed_pautomac(members[name], name)
    ends = [0, *np.cumsum(lengths).tolist()]
    return [codes[first:stop] for first, stop in pairwise(ends)], n_symbols


def _members() -> dict[str, bytes]:
    """The files of the archive, by name without folders."""
    return _unpacked(os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=1)
def _unpacked(folder: str) -> dict[str, bytes]:
    content = _ARCHIVE.read()
    members = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    members[member.name.rsplit("/", 1)[-1]] = file.read()
    except tarfile.TarError as error:
        raise _ARCHIVE.wrong(str(error)) from error
    if not any(name.endswith(".pautomac.train") for name in members):
        raise MissingDataError(f"{_ARCHIVE.path} in {folder!r} holds no training strings")
    return members


def _described(number: int) -> tuple[str, int, float]:
    """Kind, states and least perplexity of a problem."""
    for line in _PROBLEMS.read().decode().splitlines()[1:]:
        cells = line.split("\t")
        if cells[0] == str(number):
            try:
                return cells[1], int(cells[2]), float(cells[6])
            except (ValueError, IndexError) as error:
                raise _PROBLEMS.wrong(f"the line of problem {number} is {line!r}") from error
    raise _PROBLEMS.wrong(f"problem {number} has no line")


def load_postags(kind: str = "upos", split: str = "train") -> list[list[str]]:
    """Parts of speech of sentences, from the English Web Treebank of Universal Dependencies.

    Parameters
    ----------
    kind : {"upos", "xpos"}
        The 17 universal tags, or the 49 of the Penn treebank.
    split : {"train", "dev", "test"}
        12,544, 2,001 or 2,077 sentences.

    Returns
    -------
    list of list of str
        The tags of each sentence; the words are not among the data.
    """
    if kind not in _KINDS:
        raise ArgumentError(f"there are no tags {kind!r}; there are {', '.join(_KINDS)}")
    if split not in _SPLITS:
        raise ArgumentError(f"there is no split {split!r}; there are {', '.join(_SPLITS)}")
    file = DataFile(
        f"postags/en_ewt.{kind}.{split}.txt",
        "a line of tags with blanks between them for each sentence",
        "github.com/UniversalDependencies/UD_English-EWT (CC BY-SA 4.0), tags only",
    )
    try:
        lines = file.read().decode().splitlines()
    except UnicodeDecodeError as error:
        raise file.wrong(str(error)) from error
    sentences = [line.split() for line in lines]
    if not all(sentences):
        raise file.wrong("a line is empty")
    return sentences
