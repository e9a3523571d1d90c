"""Topic models as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.core.limits import MOST_MEMORY, memory_bytes
from tacit.errors import ArgumentError, ArgumentTypeError, NotAvailableError
from tacit.topics.model_files import TOPIC_MODEL
from tacit.topics.topic_queries import TopicQueries, check_width

if TYPE_CHECKING:
    from tacit.topics.data.documents import DocumentBatches, Documents
    from tacit.topics.learn.spectral import TopicSettings

Array = NDArray[np.float64]

SOLVERS = ("jacobi", "power", "simultaneous", "als")


class TopicModel(TopicQueries):
    """Topics of documents: latent Dirichlet allocation by moments, with or without variational steps.

    How often two and three words occur in the same document determines the topics (Anandkumar et al. 2012).
    Linear algebra finds them in a few passes; a few variational steps from there fit the documents better
    than long sampling does.

    Parameters
    ----------
    n_topics : int or "auto"
        ``"auto"``: of 5, 10, 20, 40, 80 and 160 the number with the lowest perplexity on held-out documents
        (every fifth).
    alpha0 : float or "auto"
        Sum of the Dirichlet parameters of the topic weights of documents: small if documents have few topics.
        ``"auto"`` learns it.
    model : {"lda", "single"}
        Whether documents mix topics, or have one topic.
    learn : {"auto", "moments", "em"}
        ``"auto"``: moments, then `n_steps` variational steps; ``"moments"``: without these; ``"em"``:
        variational steps from a random start until convergence.
    words : path, sequence of str or mapping, optional
        The vocabulary: words in the order of their columns, a file with a word a line, or a dict of words
        and places (``vocabulary_`` of scikit-learn's vectorisers, gensim's ``Dictionary``). Lists of words
        are counted over it; without it all words of the documents are taken.
    weighting : {"length", "pool", "document"}
        What has equal weight in moments: all words, all pairs of words (best if documents are short and do
        not repeat words), or all documents.
    cap : int, "auto" or None
        In moments, the most that a word counts in one document, against repetition and spam. ``"auto"``: 3 if
        words are repeated much more often than topics explain, as in real documents; otherwise no bound, but
        documents that repeat a few words are left out.
    solver : {"jacobi", "power", "simultaneous", "als"}
        How the tensor of moments is decomposed, see `tacit.core.linalg.tensor_power.decompose`.
    n_steps : int
        Variational steps of ``learn="auto"``.
    max_memory : int or str
        Memory that moments and topics may need at most, in bytes or as "8GB": 68 bytes for each triple of
        topics and 176 for each pair of a word and a topic, measured. More topics are refused before
        anything is allocated.
    n_jobs : int, optional
        Threads; by default all processors. The model does not depend on it.
    random_state : int, Generator or None
        Of the first columns of the randomised decomposition of pairs, and of the start of ``learn="em"``.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (fraction done, text).

    Attributes
    ----------
    topics_ : Topics
        Word probabilities of topics and their weights, the heaviest first.
    components_ : (topic, word) array
        ``topics_.words``, by scikit-learn's name; rows sum to one.
    alpha_ : (topic,) array
        Dirichlet parameters.
    words_ : tuple of str
        The vocabulary.
    word_probabilities_ : (word,) array
        The relative frequency of each word in all documents.
    diagnostics_ : dict
        Sizes of the data and the course of learning; "moments" has eigenvalues, residual and surplus
        components.

    Examples
    --------
    >>> from tacit.topics.topic_model import TopicModel
    >>> documents = [
    ...     ["cat", "dog", "cat"],
    ...     ["vet", "cat", "dog", "vet"],
    ...     ["tax", "law", "tax"],
    ... ] * 20
    >>> model = TopicModel(n_topics=2).fit(documents)
    >>> [words[0] for words in model.top_words(1)]
    ['cat', 'tax']
    >>> model.transform([["law", "law", "tax"]]).argmax()
    np.int64(1)
    """

    _file = TOPIC_MODEL

    def __init__(
        self,
        n_topics: int | Literal["auto"] = "auto",
        alpha0: float | Literal["auto"] = "auto",
        model: str = "lda",
        *,
        learn: str = "auto",
        words: str | os.PathLike[str] | Sequence[str] | Mapping[Any, Any] | None = None,
        weighting: str = "length",
        cap: int | Literal["auto"] | None = "auto",
        solver: str = "jacobi",
        n_steps: int = 10,
        max_memory: int | str = MOST_MEMORY,
        n_jobs: int | None = None,
        random_state: Any = 0,
        progress: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha0 = alpha0
        self.model = model
        self.learn = learn
        self.words = words
        self.weighting = weighting
        self.cap = cap
        self.solver = solver
        self.n_steps = n_steps
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : documents
            A matrix of counts (document, word), sparse or not; a list with, for each document, its words, a
            dict of words and counts, or pairs of a word's number and its count (gensim's form); a frame with
            a column for each word, or one column of lists of words; a path to a file of UCI bag-of-words or
            LDA-C; a list of matrices, which is read again in each pass. Files and lists of matrices are
            never in memory as a whole.
        y : None
            Not used.

        Raises
        ------
        DataError
            Counts that are negative or not whole, no words, a vocabulary that does not fit.
        RankError
            The documents determine fewer topics; it says how many.
        TooExpensiveError
            So many topics would need more than `max_memory`.
        """
        from tacit.topics.data.read_documents import document_batches

        settings = self._settings()
        batches = document_batches(X, self.words)
        self._fit_batches(batches, settings)
        self._forget("documents_")
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics from documents and all those given to `partial_fit` before.

        The documents (`documents_`, sparse) are kept, and topics are learnt from all of them anew: the same
        as `fit` on all at once, whatever the batches.

        Parameters
        ----------
        X : see `fit`
            Lists of words need a vocabulary (`words`) from the second time on; it is that of the first.
        """
        from tacit.topics.data.read_documents import read_documents

        words = self.words
        before: Documents | None = getattr(self, "documents_", None)
        if words is None and before is not None and before.named:
            words = before.words
        return self._fit_joined(before, read_documents(X, words))

    def merge(self, other: TopicModel) -> Self:
        """Learn topics from the documents of two models that learnt by `partial_fit`.

        The topics are those that `fit` learns from the documents of both.

        Parameters
        ----------
        other : TopicModel
            It is not changed.

        Raises
        ------
        DataError
            The two counted over different words.
        NotAvailableError
            One of them has kept no documents.
        """
        if not isinstance(other, TopicModel):
            raise ArgumentTypeError(f"other is a {type(other).__name__}; give a TopicModel")
        if not (hasattr(self, "documents_") and hasattr(other, "documents_")):
            raise NotAvailableError(
                "both models must be fitted by partial_fit, which keeps documents; fit and files do not"
            )
        return self._fit_joined(self.documents_, other.documents_)

    def __sklearn_tags__(self) -> Any:
        """Tags of scikit-learn: the input is counts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    # -- within -----------------------------------------------------------------------------------

    def _settings(self) -> TopicSettings:
        """The arguments, checked."""
        from tacit.topics.learn.spectral import TopicSettings
        from tacit.topics.moments.word_moments import Weighting

        check_count("n_topics", self.n_topics, word="auto")
        check_choice("model", self.model, ("lda", "single"))
        single = self.model == "single"
        check_number("alpha0", self.alpha0, positive=True, word="auto")
        if single and self.alpha0 != "auto":
            raise ArgumentError(
                f'alpha0={self.alpha0!r} with model="single", which has none; leave it out'
            )
        check_choice("learn", self.learn, ("auto", "moments", "em"))
        check_choice("weighting", self.weighting, ("length", "pool", "document"))
        check_choice("solver", self.solver, SOLVERS)
        check_count("cap", self.cap, none_is="no bound", word="auto")
        check_count("n_steps", self.n_steps)
        cap = self.cap if self.cap is None or isinstance(self.cap, str) else int(self.cap)
        return TopicSettings(
            n_topics=None if isinstance(self.n_topics, str) else int(self.n_topics),
            alpha0=None if isinstance(self.alpha0, str) else float(self.alpha0),
            single=single,
            learn=self.learn,
            weighting=Weighting(self.weighting, cap),  # type: ignore[arg-type]
            solver=self.solver,
            n_steps=int(self.n_steps),
            max_memory=memory_bytes(self.max_memory, "max_memory"),
            seed=seed_from(self.random_state),
            n_jobs=self._threads(),
        )

    def _fit_joined(self, before: Documents | None, documents: Documents) -> Self:
        """Fit to documents and those of before."""
        from scipy.sparse import csr_array, vstack

        from tacit.topics.data.read_documents import read_documents

        settings = self._settings()
        if before is not None:
            documents = read_documents(documents, before.words if before.named else None)
            check_width(documents.n_words, before.n_words)
            counts = csr_array(vstack([before.counts, documents.counts], format="csr"))
            documents = type(documents)(counts, before.words, before.named)
        self._fit_batches(documents.batches(), settings)
        self.documents_ = documents
        return self

    def _fit_batches(self, batches: DocumentBatches, settings: TopicSettings) -> None:
        from tacit.core.progress import reporting
        from tacit.topics.learn.fit import learn_topics

        with reporting(self.progress) as report:
            learnt = learn_topics(batches, settings, report)
        self.words_ = batches.words
        self.topics_, self.word_probabilities_ = learnt.topics, learnt.word_probabilities
        self.diagnostics_ = learnt.diagnostics
        self.n_features_in_ = batches.n_words
        self._forget("feature_names_in_")
        if batches.named:
            self.feature_names_in_ = np.array(batches.words, dtype=object)

    def _forget(self, name: str) -> None:
        if hasattr(self, name):
            delattr(self, name)
