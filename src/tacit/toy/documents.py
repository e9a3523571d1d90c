"""Random topics, documents drawn from them, and their exact moments of pairs and triples of words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import (
    check_count,
    check_flag,
    check_kind,
    check_number,
    generator_from,
)
from tacit.core.limits import shown
from tacit.errors import ArgumentError
from tacit.topics.data.documents import Documents
from tacit.topics.model.topics import Topics
from tacit.toy.arguments import MOST_CELLS, check_probability, check_samples, check_size

Array = NDArray[np.float64]


def random_topics(
    n_topics: int,
    n_words: int,
    alpha: ArrayLike = 0.1,
    *,
    concentration: float = 0.1,
    zipf: bool = False,
    random_state: Any = None,
) -> Topics:
    """Topics whose word probabilities are drawn from a Dirichlet distribution.

    Parameters
    ----------
    n_topics, n_words : int
    alpha : float or (topic,)
        Parameters of the topics in documents. All zero: one topic in each document, equally likely.
    concentration : float
        Mean parameter of the words in topics: the smaller, the fewer words a topic uses.
    zipf : bool
        Whether the parameter of a word is one over its rank in the vocabulary.
    random_state : int, Generator or None

    Examples
    --------
    >>> topics = random_topics(3, 50, [0.5, 0.3, 0.2], random_state=0)
    >>> topics.words.shape, topics.alpha0
    ((3, 50), 1.0)
    """
    check_count("n_topics", n_topics)
    check_count("n_words", n_words)
    check_size("cells of the topics", n_topics * n_words, MOST_CELLS)
    check_number("concentration", concentration, positive=True)
    check_flag("zipf", zipf)
    rng = generator_from(random_state)
    prior = 1 / np.arange(1, n_words + 1) if zipf else np.ones(n_words)
    words = rng.dirichlet(concentration * n_words * prior / prior.sum(), size=n_topics)
    alphas = np.broadcast_to(np.asarray(alpha, dtype=np.float64), (n_topics,))
    total = float(alphas.sum())
    weights = alphas / total if total > 0 else np.full(n_topics, 1 / n_topics)
    return Topics(words, weights, total)


def sample_documents(
    topics: Topics, n_samples: int, length: Any = 100, *, random_state: Any = None
) -> Documents:
    """Documents of latent Dirichlet allocation, or of one topic each where `alpha0` is zero.

    Parameters
    ----------
    topics : Topics
    n_samples : int
    length : int or (int, int)
        Words of each document, or the fewest and the most of them, drawn uniformly.
    random_state : int, Generator or None

    Examples
    --------
    >>> topics = random_topics(3, 50, random_state=0)
    >>> sample_documents(topics, 4, (5, 8), random_state=1).lengths.tolist()
    [6, 7, 8, 8]
    """
    from tacit.topics.query.documents import sample_documents as drawn_documents

    check_kind("topics", topics, Topics, "Topics, such as those of random_topics")
    pair = length if isinstance(length, tuple | list) else (length, length)
    for number in pair:
        check_count("length", number)
    if len(pair) != 2 or pair[0] > pair[1]:
        raise ArgumentError(
            f"length={shown(length)}; give a positive integer, or two with the smaller first"
        )
    low, high = pair
    check_samples(n_samples, high)
    rng = generator_from(random_state)
    lengths = rng.integers(low, high + 1, size=n_samples)
    counts = drawn_documents(topics, lengths, rng)
    words = tuple(f"w{word}" for word in range(topics.n_words))
    return Documents(counts, words)


def add_spam(
    documents: Documents, n_samples: int, length: int = 100, *, random_state: Any = None
) -> Documents:
    """The documents, and more documents that each repeat one word."""
    from scipy.sparse import csr_array, vstack

    check_kind("documents", documents, Documents, "Documents, such as sample_documents draws")
    check_samples(n_samples, 1)
    check_count("length", length)
    spam_words = generator_from(random_state).integers(0, documents.n_words, size=n_samples)
    counts = np.full(n_samples, length, dtype=np.int32)
    shape = (n_samples, documents.n_words)
    spam = csr_array((counts, (np.arange(n_samples), spam_words)), shape=shape)
    both = csr_array(vstack([documents.counts, spam], format="csr"))
    return Documents(both, documents.words, documents.named)


def make_bursty(
    documents: Documents, most: int = 3, probability: float = 0.3, *, random_state: Any = None
) -> Documents:
    """The documents with each occurrence of a word repeated up to `most` times, at random."""
    check_kind("documents", documents, Documents, "Documents, such as sample_documents draws")
    check_count("most", most)
    check_probability("probability", probability)
    counts = documents.counts.copy()
    rng = generator_from(random_state)
    counts.data = counts.data + rng.binomial(most * counts.data, probability).astype(
        counts.data.dtype
    )
    return Documents(counts, documents.words, documents.named)
