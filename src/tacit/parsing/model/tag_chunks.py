"""A chain over tags that cuts sentences into chunks, and the tags with which predicates begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.data.parse_trees import is_punctuation
from tacit.parsing.data.universal_tags import universal_tag

Array = NDArray[np.float64]
Spans = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class TagChunker:
    """A hidden Markov chain of chunks, and the tags with which a predicate begins.

    States are outside a group (0), first in one (1) and further inside (2). Weights are logarithms; the last
    tag stands for those that were never seen, neither as they are nor as universal ones. A run is the words
    between two marks.
    """

    tags: tuple[str, ...]
    initial: Array  # (3, tag + 1)  the state of the first word of a run
    transitions: Array  # (3, tag + 1, 4)  the next state, or 3, the end of a run
    emissions: Array  # (3, tag + 1)
    predicates: frozenset[str]

    def groups(self, sentence: Sequence[tuple[str, str]]) -> Spans:
        """The groups of two or more words, in words without punctuation; no mark is inside one.

        Parameters
        ----------
        sentence : sequence of (word, tag)
            With its punctuation if there is any.
        """
        from tacit.parsing.loops.chunking import viterbi

        codes = {tag: code for code, tag in enumerate(self.tags)}
        groups: Spans = []
        run: list[int] = []
        at = 0  # words before the run
        for _, tag in [*sentence, ("", ".")]:
            if not is_punctuation(tag):
                run.append(codes.get(tag, codes.get(universal_tag(tag), len(codes))))
                continue
            if run:
                states = np.zeros(len(run), dtype=np.int64)
                viterbi(np.array(run), self.initial, self.transitions, self.emissions, states)
                states[0] = min(int(states[0]), 1)  # nothing before it could be continued
                begins = np.flatnonzero(states != 2)
                ends = np.append(begins[1:], len(run))
                groups.extend(
                    (at + int(i), at + int(j))
                    for i, j in zip(begins, ends, strict=True)
                    if j - i >= 2
                )
            at += len(run)
            run = []
        return groups

    def top(self, sentence: Sequence[tuple[str, str]]) -> int | None:
        """How many words come before the predicate, which is never the first word; None without any."""
        known = set(self.tags)
        tags = [tag for _, tag in sentence if not is_punctuation(tag)]
        tags = [tag if tag in known else universal_tag(tag) for tag in tags]
        return next((at for at in range(1, len(tags)) if tags[at] in self.predicates), None)
