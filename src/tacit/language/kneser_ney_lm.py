"""Kneser-Ney language models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count
from tacit.core.limits import shown
from tacit.core.model import checked_summary
from tacit.core.progress import Report, reporting
from tacit.errors import ArgumentError
from tacit.language.language_queries import LanguageModel
from tacit.language.model_files import ARPA_FILE, KNESER_NEY_FILE

if TYPE_CHECKING:
    from tacit.core.summary import Summary
    from tacit.language.data.corpus import Corpus
    from tacit.language.model.backoff import Discounts, GramModel
    from tacit.language.moments.ngram_counts import GramCounts
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]


class BackoffLM(LanguageModel):
    """An n-gram model with back-off weights, for instance one of an ARPA file: see `from_arpa`."""

    abilities = LanguageModel.abilities | {"arpa"}

    model_: GramModel
    _file = ARPA_FILE

    @classmethod
    def from_arpa(cls, path: Any, *, normalize: bool = True) -> BackoffLM:
        """The model of an ARPA file, which may be packed (``.gz``, ``.bz2``, ``.xz``, ``.zst``).

        Parameters
        ----------
        path : str or path
        normalize : bool
            Whether back-off weights are changed, with a `ProbabilityWarning`, where the probabilities after
            some words sum to something else than one. Otherwise the model answers as the file says, as KenLM
            does, but cannot be saved.
        """
        from tacit.language.files.arpa import read_arpa

        model, grams = BackoffLM(), read_arpa(path, normalize=normalize)
        model._keep(grams, {"n_grams": np.diff(grams.offsets).tolist(), "pads": 1})
        return model

    def to_arpa(self, path: Any) -> None:
        """Write an ARPA file (logarithms to base 10, seven decimals).

        Raises
        ------
        NotAvailableError
            The model has several ``<s>`` in front of lines, which readers of such files do not support.
        """
        from tacit.language.files.arpa import write_arpa

        self._check_fitted()
        write_arpa(self.model_, path, pads=self.diagnostics_.get("pads", 1))

    @property
    def order_(self) -> int:
        """The highest order of its n-grams."""
        self._check_fitted()
        return self.model_.order

    @checked_summary
    def summary(self) -> Summary:
        """Order, text, n-grams and discounts of each order."""
        from tacit.language.query.summary import backoff_summary

        name = type(self).__name__
        return backoff_summary(name, self.order_, self.vocabulary_, self.diagnostics_)

    def _restore(self, values: Mapping[str, Any]) -> None:
        self._keep(values["model_"], values["diagnostics_"])
        if values["discounts_"] is not None:
            self.discounts_ = list(values["discounts_"])

    def _keep(self, model: GramModel, diagnostics: dict[str, Any]) -> None:
        from tacit.language.loops.backoff import score_text
        from tacit.language.model.backoff import packed
        from tacit.language.query.backoff import begin_state

        self.model_, self.vocabulary_, self.diagnostics_ = model, model.vocabulary, diagnostics
        # Kept for single sentences, for which even an import takes long.
        self._packed, self._begin, self._score_text = packed(model), begin_state(model), score_text

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        from tacit.language.query.backoff import score_corpus

        return score_corpus(self.model_, corpus, begin=begin, end=end)

    def _text_log_prob(self, text: str, *, begin: bool, end: bool) -> float:
        """The natural log-probability of one sentence, without the overhead of reading a corpus."""
        coded = np.frombuffer(text.encode(), dtype=np.uint8)
        start, stop = self._begin if begin else -1, 2 if end else -1
        table = self.vocabulary_.packed_table
        return self._score_text(self._packed, table, coded, start, stop)  # type: ignore[no-any-return]

    @property
    def _n_contexts(self) -> int:
        return self.model_.n_contexts

    def _start(self, *, begin: bool) -> int:
        return self._begin if begin else -1

    def _step(self, state: int, word: int) -> tuple[float, int, int]:
        from tacit.language.query.backoff import score_step

        return score_step(self.model_, state, word)

    def _distribution(self, state: int) -> Array:
        from tacit.language.query.backoff import next_probs

        return next_probs(self.model_, state)


class KneserNeyLM(BackoffLM):
    """An n-gram language model with Kneser-Ney smoothing.

    The defaults are those of KenLM's ``lmplz``: modified, interpolated, unigrams mixed with a uniform
    distribution over all words and ``<unk>``, one ``<s>`` in front of a line; perplexities are the same.
    Probabilities sum to one after every context.

    Parameters
    ----------
    order : int
        Words of the longest n-grams.
    modified : bool
        Three discounts for each order (Chen and Goodman, 1998), or one (Kneser and Ney, 1995).
    interpolated : bool
        Whether all words after a context get probability from the order below, or only unseen ones
        (back-off).
    discounts : "auto" or numbers
        By default estimated for each order; if counts are too few or too regular, one discount is used for
        all counts, or 0.5, 1 and 1.5, and `diagnostics_` says so. Otherwise one number, or three (for counts
        of 1, 2, and 3 or more), or a list of these for each order.
    base : {"uniform", "unigram"}
        What order 1 is interpolated with: a uniform distribution, as in KenLM, or nothing (Parikh, 2015).
    pads : {"one", "all"}
        How many ``<s>`` precede a line: one, or ``order - 1``. With all of them and plain discounts, expected
        counts of words are those of the text (in all orders, with ``base="unigram"``); with modified
        discounts they are not.
    vocabulary : list of str or Vocabulary, optional
        The words to know; others become ``<unk>``. By default those of the text.
    min_count : int
        Words of the text that occur less often become ``<unk>``, which is then a word like others.
    n_words : int, optional
        Size of the vocabulary at most; the most frequent words are kept.
    markers : {"error", "skip"}
        What to do with ``<s>`` and ``</s>`` in a text.
    unknown : {"word", "error", "skip"}
        What to do with ``<unk>`` in a text.
    memory : int or str, optional
        Approximate memory for counting, in bytes or as "300MB": the text is then read twice, and counted in
        pieces on disk. The model is the same; it must fit in memory itself.
    folder : path, optional
        Where the pieces are written and kept: interrupted work continues after the last piece. By default a
        temporary folder.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (fraction done, text).

    Attributes
    ----------
    vocabulary_ : Vocabulary
        ``<unk>``, ``<s>``, ``</s>`` and all words, the most frequent first.
    model_ : GramModel
        Probabilities of n-grams and back-off weights.
    discounts_ : list of Discounts
        For each order, with their source.
    diagnostics_ : dict
        Sizes of the text, n-grams per order, discounts.

    Examples
    --------
    >>> from tacit.language.kneser_ney_lm import KneserNeyLM
    >>> model = KneserNeyLM(order=2).fit(["the cat sat", "the dog sat", "a cat ran"])
    >>> model.top("the", 2)[0][0] in {"cat", "dog"}
    True
    >>> round(float(model.predict_next_proba("the cat").sum()), 12)
    1.0
    >>> model.perplexity(["the cow sat"]).n_unknown
    1
    """

    _file = KNESER_NEY_FILE

    def __init__(
        self,
        order: int = 3,
        *,
        modified: bool = True,
        interpolated: bool = True,
        discounts: Any = "auto",
        base: str = "uniform",
        pads: str = "one",
        vocabulary: Any = None,
        min_count: int = 1,
        n_words: int | None = None,
        markers: str = "error",
        unknown: str = "word",
        memory: int | str | None = None,
        folder: Any = None,
        progress: Any = None,
    ) -> None:
        self.order = order
        self.modified = modified
        self.interpolated = interpolated
        self.discounts = discounts
        self.base = base
        self.pads = pads
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.n_words = n_words
        self.markers = markers
        self.unknown = unknown
        self.memory = memory
        self.folder = folder
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from text.

        Parameters
        ----------
        X : path, list of paths, iterable of lines, iterable of lists of words, or Arrow column
            A string is a path to UTF-8 text with a line for each sentence, packed where it ends in ``.gz``,
            ``.bz2``, ``.xz`` or ``.zst``; lines themselves go into a list. Blank lines count as sentences.
        y : None
            Not used.
        """
        from tacit.language.learn.counting import counts_of

        self._check_arguments()
        with (
            reporting(self.progress) as report,
            counts_of(
                X,
                self._reading(pads=self.pads),
                memory=self.memory,
                folder=self.folder,
                report=report,
            ) as counts,
        ):
            return self._learn(counts, report)

    def fit_counts(self, counts: GramCounts) -> Self:
        """Learn from counted n-grams, for instance of many texts added; `order` and `pads` are theirs."""
        from tacit.language.moments.ngram_counts import check_counts

        check_counts(counts)
        self._check_arguments()
        with reporting(self.progress) as report:
            return self._learn(counts, report)

    def _learn(self, counts: GramCounts, report: Report) -> Self:
        from tacit.language.learn.kneser_ney import kneser_ney

        report(0.8, f"smoothing {sum(map(len, counts.tables)):,} n-grams")
        model, discounts = kneser_ney(
            counts,
            modified=self.modified,
            interpolated=self.interpolated,
            discounts=self._given(counts.order),
            base=self.base,
        )
        self.discounts_ = discounts
        self._keep(
            model,
            {
                "n_words": counts.n_words,
                "n_lines": counts.n_lines,
                "n_types": len(counts.vocabulary),
                "n_grams": [len(table) for table in counts.tables],
                "pads": counts.pads,
                "discounts": [list(order.values) for order in discounts],
                "discount_sources": [order.source for order in discounts],
            },
        )
        return self

    def _given(self, order: int) -> list[Discounts] | None:
        from tacit.language.learn.kneser_ney import given_discounts

        if isinstance(self.discounts, str):
            check_choice("discounts", self.discounts, ("auto",))
            return None
        return given_discounts(self.discounts, order)

    def _check_arguments(self) -> None:
        check_count("order", self.order)
        check_choice("base", self.base, ("uniform", "unigram"))
        check_choice("pads", self.pads, ("one", "all"))
        self._check_text_arguments()
        for name in ("modified", "interpolated"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ArgumentError(f"{name}={shown(getattr(self, name))}; give True or False")
        self._given(self.order)
