"""The spans of tagged sentences: which tags are inside and around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SpanTable:
    """The spans of two or more words of many sentences: what tags are in them and around them."""

    n_tags: int
    starts: Integers  # (sentence + 1,)  where the words of each begin
    firsts: Integers  # (sentence + 1,)  where the spans of each begin
    yields: NDArray[np.uint64]  # (span,)  the tags inside, mixed to one number
    contexts: Integers  # (span,)  the tags on both sides
    singles: Integers  # (context,)  how often one word, always a constituent, stands in it

    @staticmethod
    def of(sentences: Sequence[Sequence[int]], n_tags: int) -> SpanTable:
        """The spans of sentences of tags from 0 to n_tags - 1."""
        from tacit.parsing.loops.constituent_context import span_names

        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        firsts = np.concatenate([[0], np.cumsum(lengths * (lengths - 1) // 2)])
        tags = np.array([tag for sentence in sentences for tag in sentence], dtype=np.int64)
        yields = np.empty(firsts[-1], dtype=np.uint64)
        contexts = np.empty(firsts[-1], dtype=np.int64)
        span_names(tags, starts, n_tags, yields, contexts)
        around = [
            before * (n_tags + 1) + after
            for sentence in sentences
            for before, after in zip([n_tags, *sentence][:-1], [*sentence, n_tags][1:], strict=True)
        ]
        singles = np.bincount(np.array(around, dtype=np.int64), minlength=(n_tags + 1) ** 2)
        return SpanTable(n_tags, starts, firsts, yields, contexts, singles)
