"""Latent-variable grammars by linear algebra (Cohen, Stratos, Collins, Foster & Ungar, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.sparse_svd import product_svd
from tacit.core.progress import Report, silent
from tacit.parsing.model.grammar import LatentGrammar

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees
    from tacit.parsing.model.grammar import Lexicon
    from tacit.parsing.moments.inside_outside import NodeFeatures
    from tacit.parsing.structure.rules import Rules

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class NodeVectors:
    """Every node of a treebank in the few directions in which inside and outside go together."""

    inside: Array  # (node, m)    U' phi of what is below
    outside: Array  # (node, m)   V' psi of what is around, divided by the (damped) singular values
    values: list[Array]  # (m,)    singular values of each label


def node_vectors(
    features: NodeFeatures,
    trees: CodedTrees,
    rank: int,
    *,
    seed: int = 0,
    damping: float = 0.0,
    least: float = 1e-10,
) -> NodeVectors:
    """Projections of inside and outside features by the singular vectors of each label.

    Parameters
    ----------
    features : NodeFeatures
    trees : CodedTrees
    rank : int
        Most directions of a label.
    seed : int
        Of the random directions of large decompositions.
    damping : float
        Divisors are ``s + d^2 / s`` in place of the singular values s; d is this fraction of the largest one.
        So directions that are mostly noise become small.
    least : float
        Directions of smaller singular values, as a fraction of the largest, are left out.
    """
    rng = np.random.default_rng(seed)
    n_nodes = len(trees.label)
    inside, outside = np.zeros((n_nodes, rank)), np.zeros((n_nodes, rank))
    values = []
    for label in range(len(features.first) - 1):
        nodes = features.order[features.first[label] : features.first[label + 1]]
        if not len(nodes):
            values.append(np.empty(0))
            continue
        below, around = features.of_label(label)
        weight = trees.node_weight[nodes]
        u, s, v = product_svd(below, around, weight / weight.sum(), rank, rng)
        is_large = s > least * s[0]
        u, s, v = u[:, is_large], s[is_large], v[:, is_large]
        values.append(s)
        inside[nodes, : len(s)] = below @ u
        outside[nodes, : len(s)] = (around @ v) / (s + (damping * s[0]) ** 2 / s)
    return NodeVectors(inside, outside, values)


@dataclass(frozen=True, slots=True)
class Smoothing:
    """How far estimates of rare rules and words are shrunk to simpler ones.

    A rule seen n times keeps the fraction k = ``sqrt(n) / (rules + sqrt(n))`` of its third moment; the same
    fraction of the rest goes to products of pairs and means, what remains to the product of means. A word
    seen n times with its label keeps ``n / (words + n)``; the rest is the mean of all words of the label.
    """

    rules: float = 10.0
    words: float = 1.0


def spectral_grammar(
    vectors: NodeVectors,
    trees: CodedTrees,
    rules: Rules,
    lexicon: Lexicon,
    *,
    smoothing: Smoothing | None = None,
    dtype: Any = np.float64,
    report: Report = silent,
) -> LatentGrammar:
    """The grammar whose tensors are moments of the nodes' vectors.

    Parameters
    ----------
    vectors : NodeVectors
    trees : CodedTrees
    rules : Rules
    lexicon : Lexicon
    smoothing : Smoothing, optional
        `Smoothing(0, 0)` takes the moments as they are.
    dtype : numpy type
        Of the tensors.
    report : callable
        Told the stages: tensors of rules, vectors of words.
    """
    smoothing = Smoothing() if smoothing is None else smoothing
    n_labels = rules.n_labels
    weight = trees.node_weight
    label_counts = np.maximum(np.bincount(trees.label, weight, n_labels), 1e-300)
    total = _sums(vectors.outside * weight[:, None], trees.label, n_labels) / label_counts[:, None]
    start = _sums(
        vectors.inside[trees.roots] * trees.weight[:, None], trees.label[trees.roots], n_labels
    )
    report(0.6, "tensors of rules")
    tensors = _rule_tensors(vectors, trees, rules, label_counts, smoothing, dtype)
    report(0.9, "vectors of words")
    words = _word_vectors(vectors, trees, lexicon, label_counts, total, smoothing)
    return LatentGrammar(rules, lexicon, start / trees.weight.sum(), total, words, *tensors)


def _sums(rows: Array, codes: NDArray[np.integer], n: int) -> Array:
    """Sums of the rows of each code."""
    from scipy.sparse import csr_array

    picks = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n, len(codes)))
    return np.asarray(picks @ rows)


def _word_vectors(
    vectors: NodeVectors,
    trees: CodedTrees,
    lexicon: Lexicon,
    label_counts: Array,
    total: Array,
    smoothing: Smoothing,
) -> Array:
    leaves = trees.leaves
    weight = trees.node_weight[leaves]
    pair = lexicon.pair_of(trees.label[leaves], trees.word[leaves])
    n_pairs = len(lexicon.pair_label)
    count = np.bincount(pair, weight, n_pairs)[:, None]
    sums = _sums(vectors.outside[leaves] * weight[:, None], pair, n_pairs)
    keep = count / (count + smoothing.words)
    mixed = keep * sums + (1 - keep) * count * total[lexicon.pair_label]
    return np.asarray(mixed / label_counts[lexicon.pair_label][:, None])


def _rule_tensors(
    vectors: NodeVectors,
    trees: CodedTrees,
    rules: Rules,
    label_counts: Array,
    smoothing: Smoothing,
    dtype: Any,
) -> tuple[Array, ...]:
    """The tensors of frequent rules and the terms of rare ones, as `LatentGrammar` has them."""
    m = vectors.inside.shape[1]
    rule = rules.rule_of(trees)[trees.inner]
    order = trees.inner[np.argsort(rule, kind="stable")]
    uses = np.bincount(rule, minlength=len(rules))
    begins = np.concatenate([[0], np.cumsum(uses)])
    is_dense = 4 * uses + 1 > max(m, 4)
    dense = np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32)
    tensors = np.empty((int(is_dense.sum()), m, m * m), dtype)
    terms: list[Array] = []
    n_terms = np.zeros(len(rules), dtype=np.int64)
    for number in range(len(rules)):
        nodes = order[begins[number] : begins[number + 1]]
        weight = trees.node_weight[nodes]
        mass = weight.sum()
        three = (
            vectors.outside[nodes],
            vectors.inside[trees.left[nodes]],
            vectors.inside[trees.right[nodes]],
        )
        scale = mass / label_counts[rules.triples[number, 0]]
        keep = np.sqrt(mass) / (np.sqrt(mass) + smoothing.rules)
        if dense[number] >= 0:
            moment = _smoothed(three, weight / mass, keep)
            tensors[dense[number]] = (scale * moment).reshape(m, m * m)
        else:
            terms.append(_few_terms(three, weight / mass, keep, scale))
            n_terms[number] = terms[-1].shape[1]
    first = np.concatenate([[0], np.cumsum(n_terms)]).astype(np.int32)
    joined = np.concatenate(terms, axis=1) if terms else np.empty((3, 0, m))
    return (dense, tensors, first, *(np.ascontiguousarray(factor, dtype) for factor in joined))


def _smoothed(three: tuple[Array, ...], weights: Array, keep: float) -> Array:
    """(parent, left, right) the third moment mixed with products of lower ones."""
    x, y, z = three
    m = x.shape[1]
    mean_x, mean_y, mean_z = (weights @ rows for rows in three)
    pairs = ((weights[:, None] * y)[:, :, None] * z[:, None, :]).reshape(-1, m * m)
    if keep == 1:
        return np.asarray((x.T @ pairs).reshape(m, m, m))
    weighted = weights[:, None] * x
    moment = keep * (x.T @ pairs).reshape(m, m, m)
    low = (1 - keep) * keep / 3
    moment += low * (weighted.T @ y)[:, :, None] * mean_z
    moment += low * (weighted.T @ z)[:, None, :] * mean_y[:, None]
    # The product of means comes with the pairs of children, in one outer product.
    lower = low * pairs.sum(axis=0).reshape(m, m) + (1 - keep) ** 2 * np.outer(mean_y, mean_z)
    return np.asarray(moment + mean_x[:, None, None] * lower)


def _few_terms(three: tuple[Array, ...], weights: Array, keep: float, scale: float) -> Array:
    """(3, term, m) the same as a sum of products of three vectors."""
    x, y, z = three
    n = len(x)
    if n == 1:
        return np.stack([scale * x, y, z])
    means = [np.broadcast_to(weights @ rows, rows.shape) for rows in three]
    low = (1 - keep) * keep / 3
    factors = np.concatenate([keep * weights, np.tile(low * weights, 3), [(1 - keep) ** 2]])
    parts = [
        np.concatenate([x, x, x, means[0], means[0][:1]]),
        np.concatenate([y, y, means[1], y, means[1][:1]]),
        np.concatenate([z, means[2], z, z, means[2][:1]]),
    ]
    return np.stack([parts[0] * (scale * factors)[:, None], *parts[1:]])
