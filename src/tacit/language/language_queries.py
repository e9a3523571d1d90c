"""Queries of fitted language models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_rows, generator_from
from tacit.core.estimator_tags import TakesText
from tacit.core.limits import shown
from tacit.core.model import Model, Scored
from tacit.core.progress import reporting
from tacit.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.language.data.corpus import Corpus
    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.learn.counting import Reading
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]
Ids = NDArray[np.int32]

Sentence = str | Iterable[str]


class WordScore(NamedTuple):
    """The score of one word."""

    word: str  # as it was given; "</s>" for the end
    log_prob: float  # natural log-probability after the words before
    order: int  # of the n-gram that was used
    unknown: bool  # whether the word is not in the vocabulary


class Perplexity(float):
    """A perplexity with its parts; ends of lines count as words.

    The number is the perplexity of all words; unknown ones have the probability of ``<unk>``.
    """

    without_unknown: float  # of known words and ends of lines
    log_prob: float  # natural, of all words and ends of lines
    n_words: int  # ends of lines not counted
    n_lines: int
    n_unknown: int

    @staticmethod
    def of(scores: LineScores) -> Perplexity:
        """Of the words of some lines."""
        log_probs = scores.log_probs
        perplexity = Perplexity(_perplexity(log_probs))
        perplexity.without_unknown = _perplexity(log_probs[~scores.unknown])
        perplexity.log_prob = float(log_probs.sum())
        perplexity.n_lines = len(scores.ends)
        perplexity.n_words = len(log_probs) - perplexity.n_lines
        perplexity.n_unknown = int(scores.unknown.sum())
        return perplexity


def _perplexity(log_probs: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(-log_probs.mean())) if len(log_probs) else float("nan")


class LanguageModel(TakesText, Scored, Model):
    """Queries of a fitted language model.

    A sentence is a string, split at blanks, or a list of words. Words are scored given those before them, the
    first given ``<s>``; the end ``</s>`` is scored too. Logarithms are natural. Unknown words have the
    probability of ``<unk>``.

    Subclasses implement the methods at the end of this class.
    """

    kind = "language"
    abilities = frozenset({"score", "sample", "next"})

    vocabulary_: Vocabulary
    diagnostics_: dict[str, Any]
    markers: str = "error"
    unknown: str = "word"
    # Arguments of models that are fitted to text
    order: int
    vocabulary: Any
    min_count: int
    n_words: int | None
    progress: Any

    def scores(
        self, sentence: Sentence, *, begin: bool = True, end: bool = True
    ) -> list[WordScore]:
        """The score of each word of a sentence, and of its end.

        Parameters
        ----------
        sentence : str or list of str
        begin, end : bool
            Whether the sentence is complete: begins after ``<s>``, and ends in ``</s>``, which is scored too.
        """
        corpus = self._corpus(self._ids(sentence))
        words = _words(sentence) + (["</s>"] if end else [])
        scores = self._line_scores(corpus, begin=begin, end=end)
        columns = scores.log_probs.tolist(), scores.orders.tolist(), scores.unknown.tolist()
        return [WordScore(*row) for row in zip(words, *columns, strict=True)]

    def score_samples(self, X: Any, *, begin: bool = True, end: bool = True) -> Array:
        """(line,) the natural log-probability of each line of a text.

        Parameters
        ----------
        X : path, iterable of lines or of lists of words, or Arrow column
        begin, end : bool
            Whether lines are complete: begin after ``<s>``, and end in ``</s>``, which is then scored.
        """
        return self.line_scores(X, begin=begin, end=end).sums()

    def line_scores(self, X: Any, *, begin: bool = True, end: bool = True) -> LineScores:
        """The scores of all words of a text, as arrays; see `score_samples`."""
        from tacit.language.data.corpus import read_blocks
        from tacit.language.learn.counting import pace
        from tacit.language.query.backoff import LineScores

        self._check_fitted()
        rules = {"markers": self.markers, "unknown": self.unknown}
        with reporting(getattr(self, "progress", None)) as report:
            watch = pace(report, "scoring")
            blocks = read_blocks(X, self.vocabulary_, **rules, watch=watch)
            parts = [self._line_scores(block, begin=begin, end=end) for block in blocks]
        return LineScores.joined(parts)

    def perplexity(self, X: Any) -> Perplexity:
        """The perplexity of a text, with and without unknown words.

        Parameters
        ----------
        X : path, iterable of lines or of lists of words, or Arrow column

        Returns
        -------
        Perplexity
            A number (all words, and the end of each line), with ``without_unknown``, ``n_unknown`` and more.

        Raises
        ------
        DataError
            There is no line.
        """
        scores = self.line_scores(X)
        if not len(scores.ends):
            raise DataError("the text is empty; give one of a line or more")
        return Perplexity.of(scores)

    # -- word by word -----------------------------------------------------------------------------

    def state(self, context: Sentence = (), *, begin: bool = True) -> Any:
        """The state after some words, for `step`, `predict_next_proba` and `top`.

        Parameters
        ----------
        context : str or list of str
            The words so far.
        begin : bool
            Whether they begin a sentence.
        """
        self._check_fitted()
        state = self._start(begin=begin)
        for word in self._ids(context).tolist():
            state = self._step(state, word)[2]
        return state

    def step(self, state: Any, word: str) -> tuple[WordScore, Any]:
        """The score of a word in a state, and the state after it; ``</s>`` ends a sentence."""
        self._check_fitted()
        known = self._checked_state(state)
        place = int(self.vocabulary_.ids([word])[0])
        log_prob, order, after = self._step(known, place)
        return WordScore(word, log_prob, order, place == 0), after

    def predict_next_proba(
        self, context: Sentence = (), *, begin: bool = True, state: Any = None
    ) -> Array:
        """(word,) the distribution of the next word, in the order of ``vocabulary_.words``.

        Parameters
        ----------
        context, begin
            See `state`.
        state
            Instead of a context: the result of `state` or `step`.
        """
        self._check_fitted()
        if state is None:
            return self._distribution(self.state(context, begin=begin))
        return self._distribution(self._checked_state(state))

    def top(
        self, context: Sentence = (), k: int = 10, *, begin: bool = True, state: Any = None
    ) -> list[tuple[str, float]]:
        """The most likely next words and their probabilities, none of them zero; see `predict_next_proba`."""
        check_count("k", k)
        probs = self.predict_next_proba(context, begin=begin, state=state)
        best = np.argsort(-probs, kind="stable")[:k]
        best = best[probs[best] > 0]
        words = self.vocabulary_.words
        return [(words[place], float(probs[place])) for place in best.tolist()]

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Sentence = (),
        max_length: int = 1000,
        random_state: Any = None,
    ) -> list[str]:
        """Sentences sampled from the model, or continuations of some words.

        Parameters
        ----------
        n_samples : int
        given : str or list of str
            The first words of the sentences; samples hold what follows.
        max_length : int
            Samples are cut off after this number of words.
        random_state : int, Generator or None
        """
        check_rows("n_samples", n_samples)
        check_rows("max_length", max_length)
        generator, state = generator_from(random_state), self.state(given)
        return [
            " ".join(self._sample(state, int(max_length), generator)) for _ in range(int(n_samples))
        ]

    def _sample(self, state: Any, max_length: int, generator: np.random.Generator) -> list[str]:
        from tacit.language.data.vocabulary import END

        words: list[str] = []
        while len(words) < max_length:
            sums = np.cumsum(self._distribution(state))
            place = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
            if place == END:
                break
            words.append(self.vocabulary_.words[place])
            state = self._step(state, place)[2]
        return words

    # -- within -----------------------------------------------------------------------------------

    def _check_text_arguments(self) -> None:
        check_count("min_count", self.min_count)
        check_count("n_words", self.n_words, none_is="all")
        check_choice("markers", self.markers, ("error", "skip"))
        check_choice("unknown", self.unknown, ("word", "error", "skip"))

    def _reading(self, *, pads: str = "one") -> Reading:
        """How a text is read, by the arguments."""
        from tacit.language.data.vocabulary import Vocabulary
        from tacit.language.learn.counting import Reading

        vocabulary = self.vocabulary
        if not (vocabulary is None or isinstance(vocabulary, Vocabulary)):
            vocabulary = Vocabulary.of_words(vocabulary)
        words = (vocabulary, self.min_count, self.n_words)
        return Reading(self.order, pads, *words, self.markers, self.unknown)

    def _examples(self, X: Any) -> Examples:
        from tacit.core.input.examples import Examples

        corpus = self._reading().corpus(X)
        return Examples(corpus.n_lines, corpus.take)

    def _ids(self, sentence: Sentence) -> Ids:
        self._check_fitted()
        known = self.vocabulary_
        text = sentence if isinstance(sentence, str) else None
        ids = known.ids(sentence).tolist() if text is None else known.line_places(text)
        if 1 in ids or 2 in ids:
            raise DataError(
                f"{sentence!r} contains a marker, '<s>' or '</s>'; leave it out, and give begin=False or "
                "end=False if the sentence is not complete"
            )
        return np.array(ids, dtype=np.int32)

    def _corpus(self, ids: Ids) -> Corpus:
        from tacit.language.data.corpus import Corpus

        return Corpus(ids, np.array([len(ids)]), self.vocabulary_)

    # -- implemented by subclasses ----------------------------------------------------------------

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        raise NotImplementedError

    def _checked_state(self, state: Any) -> Any:
        """A state that a user gives, where it is one of this model: loops look up what stands there."""
        n_contexts = self._n_contexts
        if not isinstance(state, int | np.integer) or not -1 <= state < n_contexts:
            raise ArgumentError(
                f"state={shown(state)} is none of this model, which has {n_contexts} contexts; give what its "
                f"own `state` or `step` gave"
            )
        return int(state)

    @property
    def _n_contexts(self) -> int:
        """How many states there are, besides that of no context."""
        raise NotImplementedError

    def _start(self, *, begin: bool) -> Any:
        """The state before any word."""
        raise NotImplementedError

    def _step(self, state: Any, word: int) -> tuple[float, int, Any]:
        """Natural log-probability and order of a word, and the state after it."""
        raise NotImplementedError

    def _distribution(self, state: Any) -> Array:
        """(word,) probabilities that sum to one."""
        raise NotImplementedError


def _words(sentence: Sentence) -> list[str]:
    if isinstance(sentence, str):
        return [word.decode() for word in sentence.encode().split()]
    return list(sentence)
