"""Probabilities of pairs and triples of words, projected on the leading eigenvectors of pairs, and whitened.

Words are divided by the roots of their probabilities: counting errors then have about the same size in every
entry.
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
_ZERO = 1e-10  # relative to the first, smaller eigenvalues are rounding errors
_APART = 1e-2  # columns are far from dependent where no eigenvalue of their products is less
_GAP = 1.5  # times the next eigenvalue: where a number of topics ends (beyond 5, real documents have 1.13)


@dataclass(frozen=True, slots=True, eq=False)
class PairDirections:
    """Leading eigenvectors of the probabilities of word pairs."""

    scale: Array  # (word,)  factors of words; zero for words that never occur
    basis: Array  # (word, p)  orthonormal, for scaled words
    second: Array  # (p, p)  probabilities of pairs of scaled words in the basis
    mean: Array  # (word,)  word probabilities
    values: Array  # (p + some,)  computed eigenvalues, descending
    noise: float  # bound of the eigenvalues that counting errors alone produce
    n_documents: int


@dataclass(frozen=True, slots=True, eq=False)
class TopicMoments:
    """Probabilities of words, pairs and triples, projected on the directions of pairs."""

    directions: PairDirections
    first: Array  # (p,)
    third: Array  # (p, p, p)

    @property
    def n_topics(self) -> int:
        """Number of directions."""
        return len(self.first)

    def leading(self, n_topics: int) -> TopicMoments:
        """Restricted to the first directions."""
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
    """The moments that determine topics: `n_products` passes for pairs and one for triples.

    Parameters
    ----------
    source : MomentSource
    n_topics : int
    n_spare : int or "auto"
        Additional directions, as far as they exist. ``"auto"``: up to `n_topics` more, if the eigenvalues
        drop after them; otherwise none.
    n_products : int
        The more, the sharper the directions; each is one pass over the documents.
    scaled : bool
        Whether words are divided by the roots of their probabilities.
    random_state : int
        Of the first, random columns.

    Raises
    ------
    RankError
        Pairs have fewer directions; it says how many.
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
    """Leading eigenvectors of the pair probabilities, in the Krylov space of random columns.

    A block Krylov space (Musco and Musco, 2015) of symmetric products. See `topic_moments`.
    """
    size = source.size
    width = min(n_topics + (0 if n_spare == "auto" else n_spare) + MORE, size)
    block = np.random.default_rng(random_state).normal(size=(size, width))
    pairs = source.pairs(block)
    occurs = pairs.mean > 0
    room = int(occurs.sum())  # there are no more directions than words
    root = np.sqrt(pairs.mean) if scaled else occurs.astype(np.float64)
    scale = np.divide(1.0, root, out=np.zeros(size), where=occurs)
    # The first columns were drawn before the scale was known: they are columns over the scale.
    first, turn = np.linalg.qr(root[:, None] * block[:, :room])
    image = np.linalg.solve(turn.T, (scale[:, None] * pairs.product[:, :room]).T).T
    basis, images = _product_space(source, scale, first, image, min(n_products * width, room))
    small = basis.T @ images
    values, vectors = np.linalg.eigh(0.5 * (small + small.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    workable = int((values > _ZERO * values[0]).sum())
    if n_topics > workable:
        raise RankError(
            f"n_topics={n_topics}, but the pairs of words have only {workable} positive "
            f"eigenvalues; give {workable} or fewer, or more documents"
        )
    # The variances of counting errors of scaled pairs are products of a factor per word.
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
    """An orthonormal basis of columns after projection on the complement of known orthonormal columns.

    Cholesky factors are several times as fast as QR, and as exact if the projected columns are far from
    dependent. Otherwise part of them is rounding, and QR is needed, twice.
    """
    residual = columns - known @ (known.T @ columns)
    lengths = np.linalg.norm(residual, axis=0)
    residual = residual - known @ (
        known.T @ residual
    )  # twice is enough for orthogonality to rounding
    scaled = residual / np.maximum(lengths, np.finfo(np.float64).tiny)
    products = scaled.T @ scaled
    if np.linalg.eigvalsh(products)[0] > _APART:
        return np.asarray(np.linalg.solve(np.linalg.cholesky(products), scaled.T).T)
    residual = np.linalg.qr(residual)[0]
    return np.linalg.qr(residual - known @ (known.T @ residual))[0]


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
    unwhitening: Array  # (p, k)  from those coordinates to the directions of pairs
    above_noise: NDArray[
        np.bool_
    ]  # (k,)  coordinates whose eigenvalue exceeds that of counting errors
    signal: Array  # (k,)  part of each coordinate that is not counting errors


def whitened(moments: TopicMoments, alpha0: float) -> Whitened:
    """Whitened third moments after the mixing of topics within documents is subtracted.

    Anandkumar et al. (2014), theorem 3.5; `alpha0` zero is one topic for each document. Directions
    below the noise are whitened as if they were at it, so that noise is not amplified to the size of topics.
    """
    first, second, third = moments.first, moments.directions.second, moments.third
    pairs = second - alpha0 / (alpha0 + 1) * np.outer(first, first)
    eigenvalues, vectors = np.linalg.eigh(0.5 * (pairs + pairs.T))
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    workable = int((eigenvalues > _ZERO * max(eigenvalues[0], 0.0)).sum())
    if workable < len(eigenvalues):
        raise RankError(
            f"n_topics={len(eigenvalues)}, but with alpha0={alpha0:g} the pairs of words have only "
            f"{workable} positive eigenvalues; give {workable} or fewer topics, or a smaller alpha0"
        )
    mixed = symmetric_sum(second[:, :, None] * first)
    cube = first[:, None, None] * first[:, None] * first
    triples = (
        third - alpha0 / (alpha0 + 2) * mixed + 2 * alpha0**2 / ((alpha0 + 1) * (alpha0 + 2)) * cube
    )
    noise = moments.directions.noise
    roots = np.sqrt(np.maximum(eigenvalues, noise))
    white = vectors / roots
    k = len(roots)
    for _ in range(3):  # each product whitens the first axis and makes it the last
        triples = (triples.reshape(k, k * k).T @ white).reshape(k, k, k)
    # Of squares: the eigenvalues themselves left 1 % more perplexity on the Associated Press documents.
    signal = 1 - (noise / np.maximum(eigenvalues, noise)) ** 2 if noise > 0 else np.ones(k)
    return Whitened(triples, vectors * roots, eigenvalues > noise, signal)
