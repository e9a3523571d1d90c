"""Which tags stand between marks of punctuation, and which a sentence has: what shapes are learnt from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.data.parse_trees import is_punctuation

Array = NDArray[np.float64]
Run = tuple[str, ...]
_PSEUDO_COUNT = 5.0  # of each tag


def tag_runs(sentence: Sequence[tuple[str, str]]) -> tuple[Run, ...]:
    """The tags of a sentence between its marks; two marks in a row have no run between them.

    Examples
    --------
    >>> tag_runs([("well", "UH"), (",", ","), ("she", "PRP"), ("sleeps", "VBZ"), (".", ".")])
    (('UH',), ('PRP', 'VBZ'))
    """
    runs: list[list[str]] = [[]]
    for _, tag in sentence:
        if is_punctuation(tag):
            runs.append([])
        else:
            runs[-1].append(tag)
    return tuple(tuple(run) for run in runs if run)


@dataclass(frozen=True, eq=False)
class TagRuns:
    """How often each sentence of runs of tags was seen. Adding two of these gives those of both texts."""

    sentences: Counter[tuple[Run, ...]]

    @staticmethod
    def of(sentences: Iterable[Sequence[tuple[str, str]]]) -> TagRuns:
        """Of sentences of words and tags with their punctuation; those without words are left out."""
        return TagRuns(Counter(runs for s in sentences if (runs := tag_runs(s))))

    def __add__(self, other: TagRuns) -> TagRuns:
        return TagRuns(self.sentences + other.sentences)

    def by_tag_set(self) -> list[TagRuns]:
        """The sentences of each set of tags, the largest first: tags of one sentence are of one set.

        So a text of sentences with universal tags, and of others with those of a treebank, is recognised.
        """
        joined: dict[str, str] = {}  # each tag to another of its set, or to itself

        def set_of(tag: str) -> str:
            while joined.setdefault(tag, tag) != tag:
                tag = joined[tag]
            return tag

        for runs in self.sentences:
            first = set_of(runs[0][0])
            for tag in {tag for run in runs for tag in run}:
                joined[set_of(tag)] = first
        parts: dict[str, Counter[tuple[Run, ...]]] = {}
        for runs, count in self.sentences.items():
            parts.setdefault(set_of(runs[0][0]), Counter())[runs] = count
        return [TagRuns(part) for part in sorted(parts.values(), key=len, reverse=True)]

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags, in order."""
        return tuple(sorted({tag for runs in self.sentences for run in runs for tag in run}))

    def runs(self) -> Counter[Run]:
        """How often each run was seen."""
        counts: Counter[Run] = Counter()
        for runs, count in self.sentences.items():
            for run in runs:
                counts[run] += count
        return counts

    def endings(self) -> Array:
        """(tag,) log of how much more often a tag is last in its run than any word, with pseudo-counts."""
        code_of = {tag: code for code, tag in enumerate(self.tags)}
        last, total = np.zeros(len(code_of)), np.zeros(len(code_of))
        for run, count in self.runs().items():
            last[code_of[run[-1]]] += count
            for tag in run:
                total[code_of[tag]] += count
        mean = last.sum() / total.sum()
        return np.asarray(np.log((last + _PSEUDO_COUNT * mean) / (total + _PSEUDO_COUNT) / mean))

    def presence(self) -> tuple[NDArray[np.bool_], NDArray[np.int64], Array, Array]:
        """Which tags each sentence has (sentence, tag), its length, how often it was seen; rates of tags."""
        code_of = {tag: code for code, tag in enumerate(self.tags)}
        has = np.zeros((len(self.sentences), len(code_of)), dtype=bool)
        lengths = np.zeros(len(self.sentences), dtype=np.int64)
        weights = np.zeros(len(self.sentences))
        counts = np.zeros(len(code_of))
        for row, (runs, count) in enumerate(self.sentences.items()):
            codes = [code_of[tag] for run in runs for tag in run]
            has[row, codes] = True
            lengths[row], weights[row] = len(codes), count
            np.add.at(counts, codes, count)
        return has, lengths, weights, counts / max(counts.sum(), 1.0)
