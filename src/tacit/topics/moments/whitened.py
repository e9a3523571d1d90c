"""Shares of pairs and triples of words in the few directions that pairs follow, and whitened there.

Words are scaled by one over the roots of their shares: counting then makes errors of about the same size in
every share of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RankError
from tacit.topics.moments.word_moments import MomentSource, symmetric_sum

Array = NDArray[np.float64]

MORE = 10  # random directions besides those wanted
_ZERO = 1e-10  # eigenvalues of this share of the first are rounding errors
_APART = 1e-2  # columns are far from dependent where no eigenvalue of their products is less
_GAP = 1.5  # times the next eigenvalue: where a number of topics ends (beyond 5, real documents have 1.13)


@dataclass(frozen=True, slots=True, eq=False)
class PairDirections:
    """The directions in which pairs of words are told from independent ones most."""

    scale: Array  # (word,)  what words are multiplied with; zero for those never met
    basis: Array  # (word, p)  orthonormal, for scaled words
    second: Array  # (p, p)  shares of pairs of scaled words in the basis
    mean: Array  # (word,)  shares of words
    values: Array  # (p + some,)  eigenvalues that were seen, descending
    noise: float  # what eigenvalues of counting errors alone stay below
    n_documents: int


@dataclass(frozen=True, slots=True, eq=False)
class TopicMoments:
    """Shares of single words, pairs and triples in the directions of the pairs."""

    directions: PairDirections
    first: Array  # (p,)
    third: Array  # (p, p, p)

    @property
    def n_topics(self) -> int:
        """Number of directions."""
        return len(self.first)

    def leading(self, n_topics: int) -> TopicMoments:
        """The same in the first so many directions only."""
        some = slice(n_topics)
        directions = replace(
            self.directions,
            basis=self.directions.basis[:, some],
            second=self.directions.second[some, some],
        )
        return TopicMoments(directions, self.first[some], self.third[some, some, some])


def topic_moments(
    source: MomentSource,
    n_topics: int,
    *,
    n_spare: int | Literal["auto"] = 0,
    n_products: int = 5,
    scaled: bool = True,
    random_state: int = 0,
) -> TopicMoments:
    """The moments that topics are found from: `n_products` questions for pairs and one for triples.

    Parameters
    ----------
    source : MomentSource
    n_topics : int
    n_spare : int or "auto"
        Directions besides those that are needed, as far as there are as many. ``"auto"``: up to as many again
        as are needed, where eigenvalues fall off behind them, and none otherwise.
    n_products : int
        The more, the sharper the directions; each is one pass over the documents.
    scaled : bool
        Whether words are scaled by the roots of their shares.
    random_state : int
        For the directions that the products begin with.

    Raises
    ------
    RankError
        If pairs do not have so many directions; it says how many.
    """
    directions = pair_directions(
        source,
        n_topics,
        n_spare=n_spare,
        n_products=n_products,
        scaled=scaled,
        random_state=random_state,
    )
    columns = directions.scale[:, None] * directions.basis
    return TopicMoments(directions, columns.T @ directions.mean, source.triples(columns))


def pair_directions(
    source: MomentSource,
    n_topics: int,
    *,
    n_spare: int | Literal["auto"] = 0,
    n_products: int = 5,
    scaled: bool = True,
    random_state: int = 0,
) -> PairDirections:
    """Leading eigenvectors of the shares of pairs, in the space of some products with random columns.

    A block Krylov space (Musco and Musco, 2015) of symmetric products; what the products span is used to the
    last. See `topic_moments`.
    """
    size = source.size
    width = min(n_topics + (0 if n_spare == "auto" else n_spare) + MORE, size)
    block = np.random.default_rng(random_state).normal(size=(size, width))
    pairs = source.pairs(block)
    met = pairs.mean > 0
    room = int(met.sum())  # there are no more directions than words
    ones = met.astype(np.float64)
    root = np.sqrt(pairs.mean) if scaled else ones
    scale = np.divide(1.0, root, out=np.zeros(size), where=met)
    # The first columns came before the scale was known: they count as columns over the scale.
    first, turn = np.linalg.qr(root[:, None] * block[:, :room])
    image = np.linalg.solve(turn.T, (scale[:, None] * pairs.product[:, :room]).T).T
    basis, images = _product_space(source, scale, first, image, min(n_products * width, room))
    small = basis.T @ images
    values, vectors = np.linalg.eigh(0.5 * (small + small.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    workable = int((values > _ZERO * values[0]).sum())
    if n_topics > workable:
        raise RankError(
            f"n_topics={n_topics} asked for, but the pairs of words have only {workable} positive "
            f"eigenvalues; give {workable} or fewer, or more documents"
        )
    # Counting errors of scaled pairs have variances that are a product, of one factor for each word.
    factors = scale**2 * pairs.mean
    noise = 2 * np.sqrt(factors.max() * factors.sum()) * pairs.error
    p = _with_spare(n_topics, values, noise) if n_spare == "auto" else n_topics + n_spare
    p = min(p, workable)
    return PairDirections(
        scale,
        basis @ vectors[:, :p],
        np.diag(values[:p]),
        pairs.mean,
        values[:width],
        float(noise),
        pairs.n_documents,
    )


def _product_space(
    source: MomentSource, scale: Array, first: Array, image: Array, n_columns: int
) -> tuple[Array, Array]:
    """Orthonormal columns, the first given, the others of products with those before; all their products."""
    size, width = first.shape
    basis = np.empty((size, n_columns), order="F")
    images = np.empty_like(basis)
    basis[:, :width], images[:, :width] = first, image
    for start in range(width, n_columns, width):
        more = slice(start, min(start + width, n_columns))
        before = images[:, start - width : start][:, : more.stop - start]
        basis[:, more] = _new_columns(before, basis[:, :start])
        images[:, more] = scale[:, None] * source.pairs(scale[:, None] * basis[:, more]).product
    return basis, images


def _new_columns(columns: Array, known: Array) -> Array:
    """Orthonormal columns that span the rest of some when known orthonormal ones are taken away.

    A factor of Cholesky is several times as fast as reflections, and as exact where the rest is far from
    dependent. Where it is not, some of it is rounding, and has to be made orthogonal once more.
    """
    rest = columns - known @ (known.T @ columns)
    lengths = np.linalg.norm(rest, axis=0)
    rest = rest - known @ (known.T @ rest)  # twice is enough for orthogonality to rounding
    scaled = rest / np.maximum(lengths, np.finfo(np.float64).tiny)
    products = scaled.T @ scaled
    if np.linalg.eigvalsh(products)[0] > _APART:
        return np.asarray(np.linalg.solve(np.linalg.cholesky(products), scaled.T).T)
    rest = np.linalg.qr(rest)[0]
    return np.linalg.qr(rest - known @ (known.T @ rest))[0]


def _with_spare(n_topics: int, values: Array, noise: float) -> int:
    """Where eigenvalues that are no noise fall off most, from the number of topics to twice as many."""
    stop = min(2 * n_topics, len(values) - 1)
    ends = np.arange(n_topics, max(stop, n_topics) + 1)
    ends = ends[(ends < len(values)) & (values[np.minimum(ends, len(values)) - 1] > noise)]
    if len(ends) == 0:
        return n_topics
    falls = values[ends - 1] / np.maximum(values[ends], _ZERO * values[0])
    return int(ends[falls.argmax()]) if falls.max() > _GAP else n_topics


@dataclass(frozen=True, slots=True, eq=False)
class Whitened:
    """The third moments, in coordinates in which the second ones are the identity."""

    tensor: Array  # (k, k, k)
    back: Array  # (p, k)  from those coordinates to the directions of pairs
    shown: NDArray[np.bool_]  # (k,)  coordinates in which pairs show more than counting errors do
    signal: Array  # (k,)  the share of each that is more than counting errors


def whitened(moments: TopicMoments, alpha0: float) -> Whitened:
    """What is left of pairs and triples when the mixing of topics in a document is taken away.

    Anandkumar et al. (2014), theorem 3.5; `alpha0` zero is one topic for each document. Directions in which
    pairs show no more than counting errors do are shortened: they are whitened as if they showed as much.
    """
    first, second, third = moments.first, moments.directions.second, moments.third
    pairs = second - alpha0 / (alpha0 + 1) * np.outer(first, first)
    sizes, vectors = np.linalg.eigh(0.5 * (pairs + pairs.T))
    sizes, vectors = sizes[::-1], vectors[:, ::-1]
    workable = int((sizes > _ZERO * max(sizes[0], 0.0)).sum())
    if workable < len(sizes):
        raise RankError(
            f"n_topics={len(sizes)} asked for, but with alpha0={alpha0:g} the pairs of words have only "
            f"{workable} positive eigenvalues; give {workable} or fewer topics, or a smaller alpha0"
        )
    mixed = symmetric_sum(second[:, :, None] * first)
    cube = first[:, None, None] * first[:, None] * first
    triples = (
        third - alpha0 / (alpha0 + 2) * mixed + 2 * alpha0**2 / ((alpha0 + 1) * (alpha0 + 2)) * cube
    )
    # Noise must not be blown up to the size of topics.
    noise = moments.directions.noise
    roots = np.sqrt(np.maximum(sizes, noise))
    white = vectors / roots
    k = len(roots)
    for _ in range(3):  # the next axis is turned, and becomes the last one
        triples = (triples.reshape(k, k * k).T @ white).reshape(k, k, k)
    # Of squares; that of eigenvalues themselves left 1 % more perplexity of the Associated Press documents.
    signal = 1 - (noise / np.maximum(sizes, noise)) ** 2 if noise > 0 else np.ones(k)
    return Whitened(triples, vectors * roots, sizes > noise, signal)
