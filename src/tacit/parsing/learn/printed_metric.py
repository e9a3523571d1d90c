"""Chapter 8 of Parikh (2015) as printed: kernel (8.7), covariances of algorithm 15, distances (8.5).

The kernel is never widened. As a kernel of how unlike two distances are, it needs the absolute value of the
numerator of kappa, which is missing in print. Two things that print does not define: a pair of tags without
any weight has the mean of all others at its distance, and a singular value that is zero counts as the
largest one of its covariance times the precision of a double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RankError
from tacit.parsing.data.word_vectors import WordVectors
from tacit.parsing.learn.tag_metric import kernel_weights
from tacit.parsing.model.tag_distances import TagDistances
from tacit.parsing.moments.word_pairs import WordPairs

Array = NDArray[np.float64]
_DENSE = 200  # features: covariances of longer vectors are never written out
_FEW = 150  # words


def printed_distances(
    pairs: WordPairs, vectors: WordVectors, rank: int, bandwidth: float
) -> TagDistances:
    """Distances of all pairs of tags at all distances of the text, by equation 8.5.

    Parameters
    ----------
    pairs : WordPairs
    vectors : WordVectors
    rank : int
        The m of the thesis.
    bandwidth : float
        Its gamma.

    Raises
    ------
    RankError
        Vectors have fewer features than `rank`.
    DataError
        No sentence has two words.
    """
    values = printed_singular_values(pairs, vectors, rank, bandwidth)
    return TagDistances(pairs.tags, distances_of_values(*values, rank))


def printed_singular_values(
    pairs: WordPairs, vectors: WordVectors, rank: int, bandwidth: float
) -> tuple[Array, Array]:
    """The largest singular values of the covariances of words with themselves and with others.

    Returns
    -------
    of_words : (tag, m)
    of_pairs : (tag, tag, distance - 1, m)
        NaN where no pair has weight. Of words that have no vector but zeros they are zero.
    """
    if not 1 <= rank <= vectors.n_features:
        raise RankError(
            f"rank={rank} of covariances of {vectors.n_features} features; pass 1 to {vectors.n_features}"
        )
    longest, n_tags = pairs.longest, len(pairs.tags)
    if not longest:
        raise DataError("no two words stand in one sentence: nothing can be learnt")
    features, row_of = _distinct_rows(pairs, vectors)
    kernel = kernel_weights(longest, bandwidth)
    of_words = np.full((n_tags, rank), np.nan)
    for tag, _, same in pairs.of_words.by_tags():
        weights = same.counts / same.counts.sum()
        of_words[tag] = _values(
            row_of[same.codes[:, 3]], row_of[same.codes[:, 4]], weights, features, rank
        )
    of_pairs = np.full((n_tags, n_tags, longest, rank), np.nan)
    for t, u, two in pairs.of_two.by_tags():
        left, right = row_of[two.codes[:, 3]], row_of[two.codes[:, 4]]
        apart = two.codes[:, 2] - 1
        at_distance = np.bincount(apart, two.counts, longest)
        total = kernel @ at_distance
        if not _is_sparse(features):
            covariances = _dense_covariances(left, right, apart, two.counts, features, longest)
            smooth = (kernel @ covariances.reshape(longest, -1)).reshape(covariances.shape)
            is_estimated = total > 0
            smooth = smooth[is_estimated] / total[is_estimated, None, None]
            of_pairs[t, u, is_estimated] = np.linalg.svd(smooth, compute_uv=False)[:, :rank]
            continue
        for distance in np.flatnonzero(total > 0):
            weights = kernel[distance, apart] * two.counts
            used = weights > 0
            of_pairs[t, u, distance] = _values(
                left[used], right[used], weights[used] / total[distance], features, rank
            )
    return of_words, of_pairs


def distances_of_values(of_words: Array, of_pairs: Array, rank: int) -> Array:
    """(tag, tag, distance - 1) equation 8.5 from singular values; the mean of others where there are none."""
    of_single = np.nan_to_num(_log_product(of_words, rank))
    distances = 0.5 * (of_single[:, None] + of_single)[:, :, None] - _log_product(of_pairs, rank)
    is_missing = np.isnan(distances)
    n_pairs = np.maximum((~is_missing).sum(axis=(0, 1)), 1)
    means = np.where(is_missing, 0.0, distances).sum(axis=(0, 1)) / n_pairs
    # At distances that no pair of tags has, that of the next shorter one.
    present = np.flatnonzero((~is_missing).any(axis=(0, 1)))
    last = present[np.maximum(np.searchsorted(present, np.arange(len(means)), side="right") - 1, 0)]
    return np.asarray(np.where(is_missing, means[last], distances))


def _log_product(values: Array, rank: int) -> Array:
    """The logarithm of the product of the leading singular values; NaN where all are zero."""
    values = np.where(values[..., :1] > 0, values, np.nan)
    smallest = np.finfo(np.float64).eps * values[..., :1]
    return np.asarray(np.log(np.maximum(values[..., :rank], smallest)).sum(axis=-1))


def _is_sparse(features: Any) -> bool:
    return not isinstance(features, np.ndarray)


def _distinct_rows(pairs: WordPairs, vectors: WordVectors) -> tuple[Any, NDArray[np.int64]]:
    """The different vectors of the words of a text, sparse if they are long, and which one each word has."""
    from scipy.sparse import csr_array

    used = np.unique(pairs.codes[:, 3:])
    rows = np.vstack([vectors.vectors, vectors.unknown])[used]
    numbers: dict[bytes, int] = {}
    of_used = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
    row_of = np.full(len(vectors.words) + 1, -1, dtype=np.int64)
    row_of[used] = of_used
    distinct = rows[np.unique(of_used, return_index=True)[1]]
    return (csr_array(distinct) if distinct.shape[1] > _DENSE else distinct), row_of


def _dense_covariances(
    left: Any, right: Any, apart: Any, counts: Any, features: Array, longest: int
) -> Array:
    """(distance - 1, feature, feature) sums of products of the vectors of two words."""
    sums = np.zeros((longest, features.shape[1], features.shape[1]))
    ends = np.searchsorted(apart, np.arange(longest + 1))
    for distance in range(longest):
        pairs = slice(ends[distance], ends[distance + 1])
        sums[distance] = (features[left[pairs]] * counts[pairs, None]).T @ features[right[pairs]]
    return sums


def _values(left: Any, right: Any, weights: Array, features: Any, rank: int) -> Array:
    """The largest singular values of a weighted sum of products of vectors."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator, svds

    if not _is_sparse(features):
        moment = (features[left] * weights[:, None]).T @ features[right]
        return np.asarray(np.linalg.svd(moment, compute_uv=False)[:rank])
    lefts, rows = np.unique(left, return_inverse=True)
    rights, columns = np.unique(right, return_inverse=True)
    table: Any = csr_array((weights, (rows, columns)), shape=(len(lefts), len(rights)))
    a, b = features[lefts], features[rights]
    if min(len(lefts), len(rights)) <= _FEW:
        if len(lefts) > len(rights):
            a, b, table = b, a, table.T
        factor = np.linalg.qr(a.toarray().T, mode="r")
        values = np.linalg.svd(factor @ (table @ b).toarray(), compute_uv=False)[:rank]
        return np.pad(values, (0, rank - len(values)))
    moment = LinearOperator(
        (a.shape[1], b.shape[1]),
        matvec=lambda x: a.T @ (table @ (b @ x)),
        rmatvec=lambda x: b.T @ (table.T @ (a @ x)),
        dtype=np.float64,
    )
    start = np.full(a.shape[1], a.shape[1] ** -0.5)
    return np.asarray(np.sort(svds(moment, rank, v0=start, return_singular_vectors=False))[::-1])
