"""Brackets over sentences without any treebank: a spectral metric of words, and the shortest tree."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.core.arguments import check_choice, check_count, check_known_preset, check_number
from tacit.core.estimator_tags import TakesText
from tacit.core.limits import shown
from tacit.core.model import Model, checked_summary
from tacit.errors import ArgumentError, ArgumentTypeError, DataError, NotAvailableError
from tacit.parsing.data.tagged_sentences import Tagged, read_tagged, stream_tagged, without_marks
from tacit.parsing.data.universal_tags import UNIVERSAL, universal_tag
from tacit.parsing.data.word_vectors import WordVectors, read_word_vectors
from tacit.parsing.learn.printed_metric import printed_distances
from tacit.parsing.learn.tag_chunks import learn_chunker
from tacit.parsing.learn.tag_metric import smoothed_covariances, spectral_distances
from tacit.parsing.learn.word_vectors import learn_word_vectors
from tacit.parsing.model.tag_chunks import TagChunker
from tacit.parsing.model.tag_distances import TagDistances
from tacit.parsing.model_files import SPAN_PARSER_FILE
from tacit.parsing.moments.tag_pairs import TagPairs
from tacit.parsing.moments.tag_runs import TagRuns
from tacit.parsing.moments.word_pairs import WordPairs
from tacit.parsing.query.summary import span_parser_summary
from tacit.parsing.structure.branching import SpanParse, top_split
from tacit.parsing.structure.projective import projective_tree
from tacit.parsing.structure.units import sentence_units, unit_costs

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.core.summary import Summary

_CHUNK = 5000  # sentences whose moments are taken at once


class SpanParser(TakesText, Model):
    """Brackets without labels, learnt from words and tags alone (Parikh 2015, chapter 8).

    The covariance of the vectors of two words, given their tags and how far apart they stand, gives a
    distance that is additive on a latent tree. The tree of a sentence is the shortest one whose brackets do
    not cross. No tree is needed to learn.

    A prior adds costs: high for brackets that cross a group of words, a part between commas or a part in
    brackets, low for those that branch to the left. It decides most of the tree, the metric the rest. It
    assumes that trees branch to the right, and which marks pause, open and close. With ``prior="units"``,
    groups are modifiers and their noun, by rule, and the sentence is split by the thesis' heuristic. With
    ``prior="learnt"``, groups come from a chain over tags learnt from what stands between marks, and the
    sentence is split before the first tag of the learnt set that nearly every sentence has
    (`tag_chunks.learn_chunker`). This uses tags as they are given and no knowledge of the language; it is as
    good or better in English, but worse on the Spanish and Chinese treebanks of the benchmark, which have
    hundreds of tags. With ``prior=None`` the metric decides alone.

    With ``preset="printed"`` learning and parsing are those of the thesis: covariances of all pairs of words
    by the kernel of equation 8.7, which is not widened, distances of equation 8.5, the shortest tree inside
    the top bracket of its heuristic as worded, and no prior. Brown clusters then have vectors of log C + C
    numbers. The thesis chooses `rank` and `bandwidth` by F1 on sentences of up to ten words of a treebank,
    and gets the defaults here.

    Parameters
    ----------
    prior : {"auto", "units", "learnt", None}
        ``"auto"`` is ``"units"``, and with ``preset="printed"`` None.
    vectors : "cca", WordVectors, or path
        Word vectors: learnt from the same text, or given; see `word_vectors.read_word_vectors`.
    n_features : int
        Length of learnt word vectors; at most the number of different words.
    rank : int
        Number of singular values of a covariance that make up a distance; at most the length of a vector.
    bandwidth : float
        Of the kernel over distances between words.
    top : {"auto", "learnt", "heuristic", "free"}
        The split of the whole sentence: where the predicate begins, by learnt tags or by the thesis'
        heuristic, or the cheapest one, which the metric alone does not determine. ``"auto"`` is ``"learnt"``
        where the prior is, otherwise ``"heuristic"``. `parse` takes a split as an argument, too.
    metric_weight : float
        Weight of the length of a tree beside the costs of the prior, the smallest of which is 1.
    max_words : int
        Longer sentences are refused when parsed: time grows with the fourth power of the length.
    preset : None or "printed"
        The algorithm as printed (Parikh 2015, algorithms 15 to 18); see `learn.printed_metric` for what
        print leaves open.
    random_state : int, Generator or None
        For learning word vectors.
    progress : None, bool or callable

    Attributes
    ----------
    distances_ : TagDistances
    chunker_ : TagChunker
        Groups of tags and the tags with which a predicate begins.
    pairs_ : TagPairs, or WordPairs with ``preset="printed"``
    runs_ : TagRuns
        The moments; `partial_fit` adds to them.
    vectors_ : WordVectors
    diagnostics_ : dict
        Numbers of sentences, words and pairs of words, the fraction of pairs of tags never seen together,
        the length of a word vector, the rank, and the tags with which a predicate begins.

    Examples
    --------
    >>> from tacit.toy.sentences import sample_sentences
    >>> text = sample_sentences(300, random_state=0)
    >>> parser = SpanParser(n_features=5, rank=2).fit(text)
    >>> print(parser.parse("the/DET cat/NOUN saw/VERB a/DET dog/NOUN").tree)
    (X (X (DET the) (NOUN cat)) (X (VERB saw) (X (DET a) (NOUN dog))))
    """

    kind = "parser"
    abilities = frozenset({"brackets", "confidence"})

    distances_: TagDistances
    chunker_: TagChunker
    pairs_: TagPairs | WordPairs
    runs_: TagRuns
    vectors_: WordVectors
    diagnostics_: dict[str, Any]
    _file = SPAN_PARSER_FILE

    def __init__(
        self,
        *,
        prior: str | None = "auto",
        vectors: Any = "cca",
        n_features: int = 50,
        rank: int = 7,
        bandwidth: float = 0.4,
        top: str = "auto",
        metric_weight: float = 0.1,
        max_words: int = 400,
        preset: str | None = None,
        random_state: Any = 0,
        progress: Any = None,
    ) -> None:
        self.prior = prior
        self.vectors = vectors
        self.n_features = n_features
        self.rank = rank
        self.bandwidth = bandwidth
        self.top = top
        self.metric_weight = metric_weight
        self.max_words = max_words
        self.preset = preset
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from sentences of words and tags; see `tacit.parsing.data.tagged_sentences.stream_tagged`.

        Punctuation is left out and tags become universal ones. `y` is not used.

        Raises
        ------
        DataError
            No sentence has two words.
        """
        for name in ("distances_", "chunker_", "pairs_", "runs_", "vectors_", "diagnostics_"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more sentences; word vectors that are learnt stay those of the first ones."""
        self._check()
        if hasattr(self, "distances_") and not hasattr(self, "pairs_"):
            raise NotAvailableError("a parser from a file has no moments to add to; fit a new one")
        tagged = read_tagged(X)
        text = [_universal(sentence) for sentence in tagged]
        if not any(len(sentence) >= 2 for sentence in text):
            raise DataError("no sentence has two words or more; nothing can be learnt")
        with self._working() as report:
            if not hasattr(self, "vectors_"):
                report(0.0, "word vectors")
                self.vectors_ = self._word_vectors(text)
            pairs = self._pairs(text, report)
            report(0.9, "distances")
            self._solve(pairs, text)
            report(0.95, "groups and predicates")
            self._learn_chunker(tagged)
        return self

    def parse(self, sentence: Any, top: int | None = None) -> SpanParse:
        """The brackets of a sentence.

        Parameters
        ----------
        sentence : str or list of (word, tag)
            With punctuation if there is any, which helps, and is not in the brackets. A string is tagged
            text, ``word/TAG``. No words at all have no brackets, and neither has one word.
        top : int, optional
            How many words come before the split of the whole sentence.

        Raises
        ------
        TooExpensiveError
            The sentence has more than `max_words`.
        ArgumentError
            There is no such split.
        """
        self._check_fitted()
        pairs = next(iter(read_tagged([sentence])), [])
        words = without_marks(pairs)
        if top is None:
            top = self._top(pairs)
        elif not isinstance(top, Integral) or not 1 <= top < max(len(words), 2):
            raise ArgumentError(
                f"a sentence of {len(words)} words has no split after {shown(top)} of them"
            )
        metric = self.distances_.of_sentence([universal_tag(tag) for _, tag in words])
        if len(words) < 2:
            return SpanParse(words, [], float("inf"))
        prior = self._prior
        if prior is None:
            shortest = projective_tree(metric, top, max_words=self.max_words)
        else:
            groups = self.chunker_.groups(pairs) if prior == "learnt" else None
            costs = unit_costs(len(words), sentence_units(pairs, top, groups=groups))
            shortest = projective_tree(self.metric_weight * metric, top, costs, self.max_words)
        return SpanParse(words, shortest.spans, shortest.margin)

    def predict(self, X: Any, tops: Sequence[int] | None = None) -> list[SpanParse]:
        """The brackets of each of several sentences; see `parse`.

        Parameters
        ----------
        X : tagged sentences, as `fit` takes them
        tops : sequence of int, optional
            Of each sentence, how many words come before the split of the whole.
        """
        if tops is not None and not isinstance(tops, Sequence | np.ndarray):
            raise ArgumentTypeError(f"tops={shown(tops)}; give a number for each sentence")
        parses = []
        with self._working() as report:
            for number, sentence in enumerate(stream_tagged(X)):
                if number % 100 == 0:
                    report(0.0, f"{number} sentences")
                if tops is not None and not number < len(tops):
                    raise ArgumentError(
                        f"tops holds {len(tops)} numbers, but there are more sentences; give one for each"
                    )
                parses.append(self.parse(sentence, None if tops is None else tops[number]))
        return parses

    @checked_summary
    def summary(self) -> Summary:
        """What the parser uses and what it learnt, on a page."""
        arguments = self.get_params() | {"prior": self._prior}
        return span_parser_summary(arguments, self.distances_, self.chunker_, self.diagnostics_)

    def _word_vectors(self, text: list[Tagged]) -> WordVectors:
        if isinstance(self.vectors, WordVectors):
            return self.vectors
        if isinstance(self.vectors, str) and self.vectors == "cca":
            return learn_word_vectors(text, self.n_features, self.random_state)
        clusters = "prefix" if self.preset is None else "whole"
        return read_word_vectors(self.vectors, clusters=clusters)

    @property
    def _prior(self) -> str | None:
        if self.prior == "auto":
            return "units" if self.preset is None else None
        return self.prior

    def _top(self, pairs: Tagged) -> int | None:
        """Where the whole sentence is split, unless the costs decide it."""
        learnt = self.top == "learnt" or (self.top == "auto" and self._prior == "learnt")
        if learnt:
            return self.chunker_.top(pairs)
        return None if self.top == "free" else top_split(pairs, printed=self.preset is not None)

    def _learn_chunker(self, sentences: list[Tagged]) -> None:
        runs = TagRuns.of(sentences)
        self.runs_ = self.runs_ + runs if hasattr(self, "runs_") else runs
        self.chunker_ = learn_chunker(self.runs_)
        self.diagnostics_["predicates"] = sorted(self.chunker_.predicates)

    def _pairs(self, text: list[Tagged], report: Report) -> TagPairs | WordPairs:
        """The moments of the text, and of what was learnt from before."""
        vectors, tags = self.vectors_, [tag for tag in UNIVERSAL if tag != "."]
        before: Any = getattr(self, "pairs_", None)
        if self.preset is not None:
            report(0.1, "moments")
            counted = WordPairs.of(text, vectors, tags)
            return counted if before is None else before + counted
        sums = TagPairs.empty(tags, vectors.n_features) if before is None else before
        for low in range(0, len(text), _CHUNK):
            report(0.1 + 0.8 * low / len(text), "moments")
            sums = sums + TagPairs.of(text[low : low + _CHUNK], vectors, tags)
        return sums

    def _solve(self, pairs: TagPairs | WordPairs, text: list[Tagged]) -> None:
        self.pairs_ = pairs
        if isinstance(pairs, WordPairs):
            rank, two = self.rank, pairs.of_two
            self.distances_ = printed_distances(pairs, self.vectors_, rank, self.bandwidth)
            n_pairs, n_seen = two.counts.sum(), sum(1 for _ in two.by_tags())
        else:
            rank = min(self.rank, self.vectors_.n_features)
            covariances, _ = smoothed_covariances(pairs, self.bandwidth)
            self.distances_ = TagDistances(pairs.tags, spectral_distances(covariances, rank))
            n_pairs, n_seen = pairs.counts.sum(), int((pairs.counts.sum(axis=2) > 0).sum())
        before = getattr(self, "diagnostics_", {})
        self.diagnostics_ = {
            "n_sentences": before.get("n_sentences", 0) + len(text),
            "n_words": before.get("n_words", 0) + sum(map(len, text)),
            "n_pairs": int(n_pairs),
            "unseen": float(1 - n_seen / len(pairs.tags) ** 2),
            "n_features": self.vectors_.n_features,
            "rank": rank,
        }

    def _check(self) -> None:
        if self.prior is not None:
            check_choice("prior", self.prior, ("auto", "learnt", "units"))
        check_choice("top", self.top, ("auto", "learnt", "heuristic", "free"))
        for name in ("n_features", "rank", "max_words"):
            check_count(name, getattr(self, name))
        check_number("bandwidth", self.bandwidth, positive=True)
        check_number("metric_weight", self.metric_weight)
        if self.preset is not None:
            self._check_printed()
        if self._prior is not None and not np.isfinite(self.metric_weight):
            raise ArgumentError("metric_weight must be finite")

    def _check_printed(self) -> None:
        check_known_preset(self.preset)
        for name, allowed in (("prior", ("auto", None)), ("top", ("auto", "heuristic"))):
            if getattr(self, name) not in allowed:
                raise ArgumentError(
                    f'preset="printed" has no {name}={getattr(self, name)!r}; leave it out, or the preset'
                )


def _universal(sentence: Tagged) -> Tagged:

    return [(word, universal_tag(tag)) for word, tag in without_marks(sentence)]
