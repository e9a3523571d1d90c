"""Topics: what words each uses, how much of the documents is about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.core.linalg.tensor_power import Components, components_of, decompose, orthogonal_steps
from tacit.errors import ArgumentError, RankError
from tacit.topics.data.documents import DocumentBatches
from tacit.topics.moments.whitened import TopicMoments, Whitened, topic_moments, whitened
from tacit.topics.moments.word_moments import DocumentMoments, Weighting

Array = NDArray[np.float64]

_SUM = 1e-6  # how far from one shares may sum
# What the search for the sum of Dirichlet parameters tries, and how close it comes, in logarithms.
_LEAST_ALPHA0, _MOST_ALPHA0, _FACTOR, _NARROW = 0.01, 100.0, 3.0, 0.1
_TRIAL_STEPS = 8  # of a try from the components of the last one


@dataclass(frozen=True, eq=False)
class Topics:
    """Latent Dirichlet allocation, or, where `alpha0` is zero, one topic for each whole document.

    The shares of topics in a document are Dirichlet with parameters `alpha`, which sum to `alpha0`: the
    smaller it is, the fewer topics a document has.

    Raises
    ------
    ArgumentError
        If rows or weights are no probabilities, or do not fit together.

    Examples
    --------
    >>> topics = Topics(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.75, 0.25]), alpha0=2.0)
    >>> topics.n_topics, topics.n_words, topics.alpha.tolist(), topics.model
    (2, 2, [1.5, 0.5], 'lda')
    """

    words: Array  # (topic, word)  rows sum to one
    weights: Array  # (topic,)  mean shares of the topics; they sum to one
    alpha0: float = 0.0

    def __post_init__(self) -> None:
        """Check that all are probabilities, and copy them."""
        words = np.array(self.words, dtype=np.float64)
        weights = np.array(self.weights, dtype=np.float64)
        if words.ndim != 2 or weights.shape != (len(words),) or words.size == 0:
            raise ArgumentError(
                f"topics of shape {words.shape} with weights of shape {weights.shape}; give a row of word "
                f"probabilities and one weight for each topic, and at least one topic"
            )
        for name, rows in (("word probabilities", words), ("weights", weights[None])):
            if not (rows >= 0).all() or not (np.abs(rows.sum(axis=1) - 1) <= _SUM).all():
                raise ArgumentError(
                    f"{name} of topics must not be negative and must sum to one; divide them by their sums"
                )
        if not 0 <= self.alpha0 < np.inf:
            raise ArgumentError(f"alpha0={self.alpha0}; give a number that is zero or more")
        for name, value in (("words", words), ("weights", weights)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "alpha0", float(self.alpha0))

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.words)

    @property
    def n_words(self) -> int:
        """Words of the vocabulary."""
        return int(self.words.shape[1])

    @property
    def alpha(self) -> Array:
        """(topic,) the parameters of the Dirichlet distribution; all zero in the single-topic model."""
        return np.asarray(self.alpha0 * self.weights)

    @property
    def model(self) -> str:
        """``"lda"``, or ``"single"`` where each document has one topic."""
        return "lda" if self.alpha0 > 0 else "single"


@dataclass(frozen=True, slots=True, eq=False)
class TopicReport:
    """What the moments looked like, and what was taken from them."""

    alpha0: float
    solver: str
    eigenvalues: Array  # (topic + some,)  of pairs of words, descending
    noise: float  # what eigenvalues of counting errors alone stay below
    values: Array  # (topic,)  of the components of the whitened tensor, in the order of the topics
    surplus: NDArray[np.bool_]  # (topic,)  mostly noise, or of a value too small for any topic
    residual: float  # share of the tensor's squares that the components leave
    total_weight: float  # what the weights summed to before they were divided by it: near one
    repaired: float  # probability that was negative and was taken away, for each topic
    n_documents: int

    def as_dict(self) -> dict[str, Any]:
        """The report in plain numbers, strings, lists."""
        return {
            "alpha0": self.alpha0,
            "solver": self.solver,
            "eigenvalues": self.eigenvalues.tolist(),
            "noise": self.noise,
            "values": self.values.tolist(),
            "surplus": np.flatnonzero(self.surplus).tolist(),
            "residual": self.residual,
            "total_weight": self.total_weight,
            "repaired": self.repaired,
            "n_documents": self.n_documents,
        }


@dataclass(frozen=True, slots=True, eq=False)
class LearntTopics:
    """Topics that moments gave, and a report."""

    topics: Topics
    report: TopicReport


def topics_of_documents(
    batches: DocumentBatches,
    n_topics: int,
    *,
    alpha0: float | Literal["auto"] = "auto",
    weighting: Weighting | None = None,
    solver: str = "jacobi",
    n_products: int = 5,
    n_spare: int | Literal["auto"] = 0,
    scaled: bool = True,
    random_state: int = 0,
) -> LearntTopics:
    """Topics of documents by moments: `n_products` passes for pairs of words, and one for triples.

    Parameters
    ----------
    batches : DocumentBatches
    n_topics : int
    alpha0 : float or "auto"
        See `topics_of_moments`.
    weighting : Weighting, optional
        How much each document counts.
    solver : {"jacobi", "power", "simultaneous", "als"}
        See `tacit.core.linalg.tensor_power.decompose`.
    n_spare : int or "auto"
        So many topics more are looked for, and the lightest of all left out: where there are more topics than
        asked for, those found are then single ones and not mixtures of several. ``"auto"``: as many as can be
        told to be there, up to as many again as asked for.
    n_products, scaled, random_state
        See `tacit.topics.moments.whitened.topic_moments`.

    Raises
    ------
    RankError
        If there are fewer workable topics; it says how many.
    """
    from tacit.core.threads import one_blas_thread

    source = DocumentMoments(batches, batches.n_words, weighting or Weighting())
    with one_blas_thread():
        moments = topic_moments(
            source,
            n_topics,
            n_spare=n_spare,
            n_products=n_products,
            scaled=scaled,
            random_state=random_state,
        )
        return topics_of_moments(
            moments, n_topics, alpha0=alpha0, solver=solver, random_state=random_state
        )


def topics_of_moments(
    moments: TopicMoments,
    n_topics: int | None = None,
    *,
    alpha0: float | Literal["auto"] = "auto",
    solver: str = "jacobi",
    shortened: bool = False,
    random_state: int = 0,
) -> LearntTopics:
    """Topics from moments of words, pairs and triples (Anandkumar, Foster, Hsu, Kakade and Liu, 2012).

    Scale and sign of each topic and its weight follow from its sum, which is that of a distribution; what is
    negative is repaired by the nearest distribution. Topics are ordered by their weights; surplus ones, which
    are noise as far as can be told, come last.

    Parameters
    ----------
    moments : TopicMoments
    n_topics : int, optional
        As many of the topics, the heaviest; all that the moments have directions for by default.
    alpha0 : float or "auto"
        The sum of the Dirichlet parameters, zero for one topic in each document; ``"auto"`` takes the one
        with which the whitened tensor is most nearly a sum of orthogonal components.
    solver : {"jacobi", "power", "simultaneous", "als"}
        See `tacit.core.linalg.tensor_power.decompose`.
    shortened : bool
        Whether topics have less of a direction the more it may be of counting errors: they are nearer to the
        words of all documents, and complete real documents better. Topics that documents were drawn from are
        then missed by more.
    random_state : int
        For solvers that draw; the default one does not.
    """
    if alpha0 == "auto":
        # Directions of noise would make documents look like mixtures of more topics.
        n_shown = int((np.diag(moments.directions.second) > moments.directions.noise).sum())
        alpha0 = best_alpha0(moments.leading(n_shown if n_shown > 1 else moments.n_topics))
    if not 0 <= alpha0 < np.inf:
        raise ArgumentError(f"alpha0={alpha0}; give a number that is zero or more, or 'auto'")
    white = whitened(moments, alpha0)
    found = decompose(white.tensor, solver, random_state=random_state)
    return _read(moments, white, found, alpha0, solver, n_topics, shortened)


def best_alpha0(moments: TopicMoments) -> float:
    """The sum of Dirichlet parameters with which components leave the smallest share of the tensor.

    From one on by factors until the share grows again, then by golden sections. Each try begins with the
    components of the last.
    """
    search = _AlphaSearch(moments)
    step, low, high = np.log(_FACTOR), np.log(_LEAST_ALPHA0), np.log(_MOST_ALPHA0)
    middle = 0.0
    sign = -1.0 if search.left(-step) <= search.left(step) else 1.0
    while low < middle < high and search.left(middle + sign * step) < search.left(middle):
        middle += sign * step
    share = (np.sqrt(5) - 1) / 2
    low, high = middle - step, middle + step
    while high - low > _NARROW:
        one, two = high - share * (high - low), low + share * (high - low)
        if search.left(one) <= search.left(two):
            high = two
        else:
            low = one
    return float(np.exp(0.5 * (low + high)))


class _AlphaSearch:
    """What components leave of the tensor, for one sum of Dirichlet parameters after another."""

    def __init__(self, moments: TopicMoments) -> None:
        self.moments = moments
        self.seen: dict[float, float] = {}
        self.columns: Array | None = None  # (p, topic)  components in the directions of pairs

    def left(self, log: float) -> float:
        """The share that is left, for the logarithm of the sum."""
        key = round(log, 9)
        if key not in self.seen:
            try:
                white = whitened(self.moments, float(np.exp(log)))
            except RankError:
                self.seen[key] = np.inf
                return np.inf
            if self.columns is None:
                found = decompose(white.tensor)
            else:
                turned = np.linalg.solve(white.back, self.columns)
                left, _, right = np.linalg.svd(turned / np.linalg.norm(turned, axis=0))
                vectors = orthogonal_steps(white.tensor, left @ right, _TRIAL_STEPS)
                found = components_of(white.tensor, vectors)
            self.columns = white.back @ found.vectors
            self.seen[key] = found.residual
        return self.seen[key]


def _read(
    moments: TopicMoments,
    white: Whitened,
    found: Components,
    alpha0: float,
    solver: str,
    n_topics: int | None,
    shortened: bool,
) -> LearntTopics:
    """Topics and weights of components, by the sums of the columns they stand for."""
    directions = moments.directions
    scale = directions.scale
    root = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    back = white.back * white.signal if shortened else white.back
    columns = root[:, None] * (directions.basis @ (back @ found.vectors))  # (word, topic)
    sums = columns.sum(axis=0)
    raw = (columns / np.where(sums == 0, 1.0, sums)).T
    words = np.zeros(raw.shape)
    words[:, scale > 0] = nearest_distributions(raw[:, scale > 0])
    shares = (alpha0 + 1) * sums**2
    total = float(shares.sum())
    least = 2 * np.sqrt(alpha0 + 1) / (alpha0 + 2)  # the value of a topic whose weight is one
    hidden = np.square(found.vectors[~white.shown]).sum(axis=0)  # how much of a component is noise
    surplus = (found.values < least * (1 - _SUM)) | (hidden > 0.5)
    order = np.lexsort((-shares, surplus))[:n_topics]
    report = TopicReport(
        alpha0,
        solver,
        directions.values,
        directions.noise,
        found.values[order],
        surplus[order],
        found.residual,
        total,
        float(np.maximum(-raw, 0.0).sum() / len(raw)),
        directions.n_documents,
    )
    return LearntTopics(Topics(words[order], shares[order] / shares[order].sum(), alpha0), report)
