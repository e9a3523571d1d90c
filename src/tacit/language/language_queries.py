"""What every fitted language model can be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_rows, generator_from
from tacit.core.estimator_tags import TakesText
from tacit.core.model import Model
from tacit.core.progress import reporting
from tacit.errors import DataError, NotAvailableError

if TYPE_CHECKING:
    from tacit.language.data.corpus import Corpus
    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.learn.counting import Reading
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]
Ids = NDArray[np.int32]

Sentence = str | Iterable[str]


class WordScore(NamedTuple):
    """What a model says of one word."""

    word: str  # as it was given; "</s>" for the end
    log_prob: float  # natural logarithm of its probability after the words before
    order: int  # of the n-gram that answered
    unknown: bool  # whether the word is not in the vocabulary


class Perplexity(float):
    """A perplexity, with what it was computed from; ends of lines count as words.

    As a number it is the perplexity of all words, unknown ones too, which have the probability of ``<unk>``.
    """

    without_unknown: float  # of known words and ends of lines
    log_prob: float  # natural, of all words and ends of lines
    n_words: int  # ends of lines not counted
    n_lines: int
    n_unknown: int

    @staticmethod
    def of(scores: LineScores) -> Perplexity:
        """Of the words of some lines."""
        logs, known = scores.log_probs, ~scores.unknown
        found = Perplexity(_perplexity(logs))
        found.without_unknown = _perplexity(logs[known])
        found.log_prob = float(logs.sum())
        found.n_lines = len(scores.ends)
        found.n_words = len(logs) - found.n_lines
        found.n_unknown = int(scores.unknown.sum())
        return found


def _perplexity(logs: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(-logs.mean())) if len(logs) else float("nan")


class LanguageModel(TakesText, Model):
    """Queries of a fitted language model.

    A sentence is a string, cut at blanks, or a list of words. Words are scored after those before them, the
    first after ``<s>``; the end ``</s>`` is scored too. Logarithms are natural. Words that the model does not
    know have the probability of ``<unk>``.

    A model says what it knows by the methods at the end of this class.
    """

    kind = "language"
    abilities = frozenset({"score", "sample", "next"})

    vocabulary_: Vocabulary
    diagnostics_: dict[str, Any]
    markers: str = "error"
    unknown: str = "word"
    # Arguments of those that learn from text
    order: int
    vocabulary: Any
    least_count: int
    n_words: int | None
    progress: Any

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to ask."""
        return hasattr(self, "diagnostics_")

    def log_prob(self, sentence: Sentence, *, begin: bool = True, end: bool = True) -> float:
        """The natural log-probability of a sentence.

        Parameters
        ----------
        sentence : str or list of str
        begin, end : bool
            Whether the sentence is whole: begins after ``<s>``, and ends in ``</s>``, which then counts.
        """
        return self._line_log_prob(self._ids(sentence), begin=begin, end=end)

    def scores(
        self, sentence: Sentence, *, begin: bool = True, end: bool = True
    ) -> list[WordScore]:
        """What the model says of every word of a sentence, and of its end."""
        ids = self._ids(sentence)
        words = _words(sentence) + (["</s>"] if end else [])
        found = self._line_scores(self._corpus(ids), begin=begin, end=end)
        rows = zip(
            words,
            found.log_probs.tolist(),
            found.orders.tolist(),
            found.unknown.tolist(),
            strict=True,
        )
        return [WordScore(*row) for row in rows]

    def score_samples(self, X: Any) -> Array:
        """(line,) the natural log-probability of each line of a text, its end included.

        Parameters
        ----------
        X : path, iterable of lines or of lists of words, or Arrow column
        """
        return self._read_scores(X).sums()

    def score(self, X: Any, y: Any = None) -> float:
        """The mean natural log-probability of the lines of a text."""
        return float(self.score_samples(X).mean())

    def line_scores(self, X: Any) -> LineScores:
        """What the model says of every word of a text, as arrays."""
        return self._read_scores(X)

    def perplexity(self, X: Any) -> Perplexity:
        """The perplexity of a text, with and without unknown words.

        Parameters
        ----------
        X : path, iterable of lines or of lists of words, or Arrow column

        Returns
        -------
        Perplexity
            A number (all words, and the end of each line), with ``without_unknown``, ``n_unknown`` and more.
        """
        return Perplexity.of(self._read_scores(X))

    # -- word by word -----------------------------------------------------------------------------

    def state(self, context: Sentence = (), *, begin: bool = True) -> Any:
        """What the model remembers of some words, for `step`, `next_proba` and `top`.

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
        """What the model says of a word after a state, and the state behind it; ``</s>`` ends a sentence."""
        self._check_fitted()
        place = int(self.vocabulary_.ids([word])[0])
        log_prob, order, behind = self._step(state, place)
        return WordScore(word, log_prob, order, place == 0), behind

    def next_proba(self, context: Sentence = (), *, begin: bool = True, state: Any = None) -> Array:
        """(word,) probabilities of all words of ``vocabulary_.words`` to come next; they sum to one.

        Parameters
        ----------
        context, begin
            See `state`.
        state
            Instead of a context: what `state` or `step` gave.
        """
        return self._distribution(self.state(context, begin=begin) if state is None else state)

    def top(
        self, context: Sentence = (), k: int = 10, *, begin: bool = True, state: Any = None
    ) -> list[tuple[str, float]]:
        """The most probable next words and their probabilities, none of them zero; see `next_proba`."""
        check_count("k", k)
        probs = self.next_proba(context, begin=begin, state=state)
        best = np.argsort(-probs, kind="stable")[:k]
        best = best[probs[best] > 0]
        words = self.vocabulary_.words
        return [(words[place], float(probs[place])) for place in best.tolist()]

    def sample(
        self,
        n: int = 1,
        *,
        given: Sentence = (),
        max_length: int = 1000,
        random_state: Any = None,
    ) -> list[str]:
        """Sentences drawn from the model, or what may follow some words.

        Parameters
        ----------
        n : int
            Number of draws.
        given : str or list of str
            The words that sentences begin with; draws hold what follows.
        max_length : int
            Draws that have not ended after so many words are cut off there.
        random_state : int, Generator or None
        """
        check_rows("n", n)
        check_rows("max_length", max_length)
        generator, first = generator_from(random_state), self.state(given)
        return [" ".join(self._drawn(first, int(max_length), generator)) for _ in range(int(n))]

    def _drawn(self, state: Any, max_length: int, generator: np.random.Generator) -> list[str]:
        from tacit.language.data.vocabulary import END

        out: list[str] = []
        while len(out) < max_length:
            sums = np.cumsum(self._distribution(state))
            place = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
            if place == END:
                break
            out.append(self.vocabulary_.words[place])
            state = self._step(state, place)[2]
        return out

    # -- within -----------------------------------------------------------------------------------

    def _check_text_arguments(self) -> None:
        check_count("least_count", self.least_count)
        check_count("n_words", self.n_words, none_is="all")
        check_choice("markers", self.markers, ("error", "skip"))
        check_choice("unknown", self.unknown, ("word", "error", "skip"))

    def _reading(self, *, pads: str = "one") -> Reading:
        """How the arguments say that a text is to be read."""
        from tacit.language.data.vocabulary import Vocabulary
        from tacit.language.learn.counting import Reading

        given = self.vocabulary
        if not (given is None or isinstance(given, Vocabulary)):
            given = Vocabulary.of_words(given)
        words = (given, self.least_count, self.n_words)
        return Reading(self.order, pads, *words, self.markers, self.unknown)

    def _check_fitted(self) -> None:
        if not hasattr(self, "diagnostics_"):
            raise NotAvailableError(f"this {type(self).__name__} has learnt nothing yet; call fit")

    def _ids(self, sentence: Sentence) -> Ids:
        self._check_fitted()
        known = self.vocabulary_
        text = sentence if isinstance(sentence, str) else None
        ids = known.ids(sentence).tolist() if text is None else known.line_places(text)
        if 1 in ids or 2 in ids:
            raise DataError(
                f"{sentence!r} holds a marker, '<s>' or '</s>'; leave it away, and say begin=False or "
                "end=False where a sentence is not whole"
            )
        return np.array(ids, dtype=np.int32)

    def _corpus(self, ids: Ids) -> Corpus:
        from tacit.language.data.corpus import Corpus

        return Corpus(ids, np.array([len(ids)]), self.vocabulary_)

    def _read_scores(self, X: Any) -> LineScores:
        from tacit.language.data.corpus import read_blocks
        from tacit.language.learn.counting import pace
        from tacit.language.query.backoff import LineScores

        self._check_fitted()
        rules = {"markers": self.markers, "unknown": self.unknown}
        with reporting(getattr(self, "progress", None)) as report:
            watch = pace(report, "scoring")
            blocks = read_blocks(X, self.vocabulary_, **rules, watch=watch)
            parts = [self._line_scores(block, begin=True, end=True) for block in blocks]
        return LineScores.joined(parts)

    # -- what a model must say --------------------------------------------------------------------

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        raise NotImplementedError

    def _line_log_prob(self, ids: Ids, *, begin: bool, end: bool) -> float:
        return float(self._line_scores(self._corpus(ids), begin=begin, end=end).log_probs.sum())

    def _start(self, *, begin: bool) -> Any:
        """The state before any word."""
        raise NotImplementedError

    def _step(self, state: Any, word: int) -> tuple[float, int, Any]:
        """Natural log-probability, order and the state behind a word."""
        raise NotImplementedError

    def _distribution(self, state: Any) -> Array:
        """(word,) probabilities that sum to one."""
        raise NotImplementedError


def _words(sentence: Sentence) -> list[str]:
    if isinstance(sentence, str):
        return [word.decode() for word in sentence.encode().split()]
    return list(sentence)
