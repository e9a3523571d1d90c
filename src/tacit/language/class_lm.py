"""Language models of word classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_count
from tacit.core.model import checked_summary
from tacit.core.progress import reporting
from tacit.language.language_queries import LanguageModel
from tacit.language.model_files import CLASS_FILE

if TYPE_CHECKING:
    from tacit.core.summary import Summary
    from tacit.language.data.corpus import Corpus
    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.model.backoff import GramModel
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class ClassLM(LanguageModel):
    """An n-gram model of word classes (Brown et al. 1992; Kneser and Ney 1993).

    The exchange algorithm finds the classes that predict the next class best. The next class is predicted by
    a Kneser-Ney model of classes, and the word by its relative frequency in its class. Alone it is weaker
    than a model of words; mixed with one (`MixedLM`) it helps with words that were not seen together.

    Parameters
    ----------
    order : int
        Classes of the longest n-grams.
    n_classes : int
    vocabulary, min_count, n_words, markers, unknown, progress
        As for `KneserNeyLM`.

    Attributes
    ----------
    classes_ : (word,) int64
        The class of each word of ``vocabulary_``; 0 is that of the markers of lines.
    word_given_class_ : (word,)
        The probability of each word within its class.
    model_ : GramModel
        Of classes.

    Examples
    --------
    >>> from tacit.language.class_lm import ClassLM
    >>> model = ClassLM(order=2, n_classes=3).fit(
    ...     ["a cat ran", "the dog ran", "a dog sat", "the cat sat"]
    ... )
    >>> round(float(model.predict_next_proba("the cat").sum()), 12)
    1.0
    """

    classes_: Integers
    word_given_class_: Array
    model_: GramModel
    _file = CLASS_FILE

    def __init__(
        self,
        order: int = 3,
        n_classes: int = 200,
        *,
        vocabulary: Any = None,
        min_count: int = 1,
        n_words: int | None = None,
        markers: str = "error",
        unknown: str = "word",
        progress: Any = None,
    ) -> None:
        self.order = order
        self.n_classes = n_classes
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.n_words = n_words
        self.markers = markers
        self.unknown = unknown
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn classes, and the model of classes, from text; see `KneserNeyLM.fit`."""
        from tacit.language.data.vocabulary import Vocabulary
        from tacit.language.learn.counting import pace
        from tacit.language.learn.kneser_ney import kneser_ney
        from tacit.language.learn.word_classes import exchanged_classes, word_probabilities
        from tacit.language.moments.ngram_counts import GramCounts

        self._check_arguments()
        with reporting(self.progress) as report:
            corpus = self._reading().corpus(X, watch=pace(report, "reading", 0.0, 0.1))
            report(0.1, f"counting {corpus.n_words:,} words")
            pairs = GramCounts.of(corpus, 2)
            report(0.2, f"finding {self.n_classes} classes")
            classes = exchanged_classes(pairs, self.n_classes)
            report(0.9, "smoothing")
            names = Vocabulary.of_words([f"c{number}" for number in range(1, classes.n_classes)])
            counts = GramCounts.of(_class_corpus(corpus, classes.of, names), self.order)
            model, discounts = kneser_ney(counts, modified=True, base="unigram")
        diagnostics = {
            "n_words": corpus.n_words,
            "n_lines": corpus.n_lines,
            "n_types": len(corpus.vocabulary),
            "n_classes": classes.n_classes - 1,
            "n_sweeps": classes.n_sweeps,
            "objective": classes.objective,
            "n_grams": [len(table) for table in counts.tables],
            "discounts": [list(order.values) for order in discounts],
            "discount_sources": [order.source for order in discounts],
        }
        self.vocabulary_, self.classes_, self.model_ = corpus.vocabulary, classes.of, model
        self.word_given_class_ = word_probabilities(pairs.tables[0].counts, classes.of)
        self.diagnostics_ = diagnostics
        self._places = _class_places(classes.of)
        return self

    @checked_summary
    def summary(self) -> Summary:
        """The largest classes with their words; text, n-grams of classes and discounts."""
        from tacit.language.query.summary import class_summary

        words = self.vocabulary_, self.classes_, self.word_given_class_
        return class_summary(self.model_.order, *words, self.diagnostics_)

    def _check_arguments(self) -> None:
        check_count("order", self.order)
        check_count("n_classes", self.n_classes)
        self._check_text_arguments()

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        self._places = _class_places(self.classes_)

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        from tacit.language.query.backoff import LineScores, score_corpus

        class_corpus = _class_corpus(corpus, self.classes_, self.model_.vocabulary)
        scores = score_corpus(self.model_, class_corpus, begin=begin, end=end)
        log_probs = scores.log_probs.copy()
        log_probs[corpus.word_places(ends=end)] += np.log(self.word_given_class_[corpus.ids])
        return LineScores.of(corpus, log_probs, scores.orders, end=end)

    @property
    def _n_contexts(self) -> int:
        return self.model_.n_contexts

    def _start(self, *, begin: bool) -> int:
        from tacit.language.query.backoff import NO_STATE, begin_state

        return begin_state(self.model_) if begin else NO_STATE

    def _step(self, state: int, word: int) -> tuple[float, int, int]:
        from tacit.language.query.backoff import score_step

        log_prob, order, after = score_step(self.model_, state, int(self._places[word]))
        return log_prob + float(np.log(self.word_given_class_[word])), order, after

    def _distribution(self, state: int) -> Array:
        from tacit.language.query.backoff import next_probs

        return np.asarray(next_probs(self.model_, state)[self._places] * self.word_given_class_)


def _class_places(classes: Integers) -> NDArray[np.int32]:
    """(word,) the class of each word in the vocabulary of classes; markers stay markers."""
    from tacit.language.data.vocabulary import BEGIN, END

    places = classes + END
    places[[BEGIN, END]] = BEGIN, END
    return places.astype(np.int32)


def _class_corpus(corpus: Corpus, classes: Integers, names: Vocabulary) -> Corpus:
    """A text with words replaced by their classes."""
    from tacit.language.data.corpus import Corpus

    return Corpus(_class_places(classes)[corpus.ids], corpus.ends, names)
