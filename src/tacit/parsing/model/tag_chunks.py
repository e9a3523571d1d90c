"""What the tags of a text say about the shape of its trees: groups of words, and where predicates begin."""

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
class TagShape:
    """A chain of tags in and outside groups, and the tags with which a predicate begins.

    The states of the chain are outside (0), first in a group (1), further inside (2). Weights are
    logarithms; the last row of tags is for those that were never seen, neither as they are nor as universal
    ones.
    """

    tags: tuple[str, ...]
    first: Array  # (3, tag + 1)  the state of the first word of a run
    following: Array  # (3, tag + 1, 4)  the next state, or 3, the end of a run
    emitted: Array  # (3, tag + 1)
    predicates: frozenset[str]

    def groups(self, sentence: Sequence[tuple[str, str]]) -> Spans:
        """The groups of two or more words, in words without punctuation; no mark is inside one.

        Parameters
        ----------
        sentence : sequence of (word, tag)
            With its punctuation if there is any.
        """
        from tacit.parsing.loops.chunking import best_states

        numbers = {tag: number for number, tag in enumerate(self.tags)}
        unknown = len(self.tags)
        found: Spans = []
        run: list[int] = []
        at = 0  # words before the run
        for _, tag in [*sentence, ("", ".")]:
            if not is_punctuation(tag):
                run.append(numbers.get(tag, numbers.get(universal_tag(tag), unknown)))
                continue
            if run:
                states = np.zeros(len(run), dtype=np.int64)
                best_states(np.array(run), self.first, self.following, self.emitted, states)
                begins = np.flatnonzero(states != 2)
                ends = np.append(begins[1:], len(run))
                found.extend(
                    (at + int(i), at + int(j))
                    for i, j in zip(begins, ends, strict=True)
                    if j - i >= 2
                )
            at += len(run)
            run = []
        return found

    def top(self, sentence: Sequence[tuple[str, str]]) -> int | None:
        """How many words come before the predicate: the first one after another word; None without any."""
        known = set(self.tags)
        tags = [tag for _, tag in sentence if not is_punctuation(tag)]
        tags = [tag if tag in known else universal_tag(tag) for tag in tags]
        return next((at for at in range(1, len(tags)) if tags[at] in self.predicates), None)
