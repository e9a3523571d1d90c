"""The counts of several texts, joined in memory: what merging folders of counts is compared with."""

from functools import reduce
from operator import add

from tacit.errors import DataError
from tacit.language.data.vocabulary import joint_vocabulary


def joint_counts(parts, *, min_count=1, n_words=None):
    """The counts of several texts, each read with a vocabulary of its own or all with the same.

    The counts are those of all texts read at once.
    """
    if not parts:
        raise DataError("there are no counts to join; give at least one")
    known = parts[0].vocabulary
    if any(part.vocabulary != known for part in parts) or min_count > 1 or n_words is not None:
        pairs = [(part.vocabulary, part.tables[0].counts) for part in parts]
        known, maps = joint_vocabulary(pairs, min_count=min_count, n_words=n_words)
        parts = [part.renamed(known, places) for part, places in zip(parts, maps, strict=True)]
    return reduce(add, parts)
