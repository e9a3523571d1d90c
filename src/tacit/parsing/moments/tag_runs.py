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
_MORE = 5.0  # times a tag is taken to have been seen


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

        So a text of sentences with universal tags, and of others with those of a treebank, is told apart.
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
        for runs, times in self.sentences.items():
            parts.setdefault(set_of(runs[0][0]), Counter())[runs] = times
        return [TagRuns(part) for part in sorted(parts.values(), key=len, reverse=True)]

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags, in order."""
        return tuple(sorted({tag for runs in self.sentences for run in runs for tag in run}))

    def runs(self) -> Counter[Run]:
        """How often each run was seen."""
        found: Counter[Run] = Counter()
        for runs, times in self.sentences.items():
            for run in runs:
                found[run] += times
        return found

    def endings(self) -> Array:
        """How much more often a tag stands last in its run than any word does: logarithms, by tag.

        A tag is taken to have been seen a few times more, last as often as any word.
        """
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        last, all_ = np.zeros(len(numbers)), np.zeros(len(numbers))
        for run, times in self.runs().items():
            last[numbers[run[-1]]] += times
            for tag in run:
                all_[numbers[tag]] += times
        usual = last.sum() / all_.sum()
        return np.asarray(np.log((last + _MORE * usual) / (all_ + _MORE) / usual))

    def presence(self) -> tuple[NDArray[np.bool_], NDArray[np.int64], Array, Array]:
        """Which tags each sentence has (sentence, tag), its length, how often it was seen; rates of tags."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        has = np.zeros((len(self.sentences), len(numbers)), dtype=bool)
        lengths = np.zeros(len(self.sentences), dtype=np.int64)
        weights = np.zeros(len(self.sentences))
        counts = np.zeros(len(numbers))
        for row, (runs, times) in enumerate(self.sentences.items()):
            found = [numbers[tag] for run in runs for tag in run]
            has[row, found] = True
            lengths[row], weights[row] = len(found), times
            np.add.at(counts, found, times)
        return has, lengths, weights, counts / max(counts.sum(), 1.0)
