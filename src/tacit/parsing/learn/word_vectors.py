"""Word vectors by canonical correlation of words and their neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.arguments import generator_from
from tacit.errors import DataError
from tacit.parsing.data.word_vectors import UNKNOWN, WordVectors

PLACES = (-2, -1, 1, 2)  # of the neighbours
MIN_COUNT = 2  # rarer words share a vector


def learn_word_vectors(
    sentences: Sequence[Sequence[tuple[str, str]]], n_features: int, random_state: Any = 0
) -> WordVectors:
    """Vectors of words in small letters, from the words around them (Stratos, Collins & Hsu 2015).

    The square roots of the counts of words with their neighbours at each of four places are divided by the
    fourth roots of the counts of both words; the leading left singular vectors are canonical directions.
    Each word gets its row of them, scaled to length one.

    Parameters
    ----------
    sentences : sequence of sequences of (word, tag)
        Tags are not used.
    n_features : int
        Fewer where the text has fewer different words.
    random_state : int or Generator
        For the starting directions of the decomposition.

    Raises
    ------
    DataError
        No word occurs twice.
    """
    from scipy.sparse import csr_matrix

    from tacit.core.linalg.sparse_svd import product_svd

    counts = Counter(word.lower() for sentence in sentences for word, _ in sentence)
    words = [UNKNOWN, *sorted(word for word, count in counts.items() if count >= MIN_COUNT)]
    if len(words) == 1:
        raise DataError(
            "no word occurs twice: too little to learn vectors from; give more text, or vectors"
        )
    n_features = min(n_features, len(words) - 1)
    codes = {word: code for code, word in enumerate(words)}
    ids = np.array([codes.get(w.lower(), 0) for s in sentences for w, _ in s], dtype=np.int64)
    owner = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])
    rows, columns = [], []
    for order, place in enumerate(PLACES):
        at = np.arange(max(-place, 0), len(ids) - max(place, 0))
        at = at[owner[at] == owner[at + place]]
        rows.append(ids[at])
        columns.append(ids[at + place] + order * len(words))
    shape = (len(words), len(words) * len(PLACES))
    one = np.concatenate(rows)
    table: Any = csr_matrix((np.ones(len(one)), (one, np.concatenate(columns))), shape=shape)
    table.sum_duplicates()
    scale = np.maximum(np.bincount(ids, minlength=len(words)), 1) ** -0.25
    scaled = table.sqrt().multiply(scale[:, None]).multiply(np.tile(scale, len(PLACES))[None, :])
    random = generator_from(random_state)
    left, _, _ = product_svd(
        scaled.T.tocsr(), _identity(shape[1]), np.ones(shape[1]), n_features, random
    )
    return WordVectors.of(words, left).unit()


def _identity(size: int) -> Any:
    from scipy.sparse import identity

    return identity(size, format="csr")
