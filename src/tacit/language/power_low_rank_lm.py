"""Language models from power low rank ensembles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, seed_from
from tacit.core.limits import shown
from tacit.core.model import checked_summary
from tacit.core.progress import reporting
from tacit.errors import ArgumentError, NotAvailableError
from tacit.language.language_queries import LanguageModel
from tacit.language.model_files import ENSEMBLE_FILE

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.core.summary import Summary
    from tacit.language.data.corpus import Corpus
    from tacit.language.model.backoff import Discounts
    from tacit.language.model.ensemble import Ensemble
    from tacit.language.moments.ngram_counts import GramCounts
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]

N_RESTARTS = 2  # but one with presets


class PowerLowRankLM(LanguageModel):
    """An n-gram language model with low rank parts between the orders.

    Kneser-Ney gives the discounts of counts to the next lower order. Here part of them is first distributed
    among similar words and contexts: matrices of powers of the counts are replaced by non-negative low rank
    factors that keep the sums of rows and columns (Parikh, Saluja, Dyer & Xing, 2014; Parikh, 2015, chapter
    9). Probabilities sum to one after every context, and with ``pads="all"`` and ``base="unigram"`` expected
    counts of words are those of the text.

    Parameters
    ----------
    order : int
        Words of the longest n-grams.
    ranks : "auto" or dict
        By order (2 or more), the ranks of its low rank parts, one for each power and at most one more, for
        the discount as a whole. By default ``{2: (128, 48), 3: (24,)}``; a validation text chooses among
        several. With ``preset="printed"`` they must be given, or a validation text chooses 0.005 or 0.001 of
        the vocabulary.
    powers : "auto" or dict
        By order, the powers of its parts, descending between 1 and 0 (with ``preset="printed"`` they may be
        equal). By default ``{2: (2 / 3,)}`` and ``{3: (0.5,)}``. With one rank less than powers, the last is
        the power of the counts that the order below gets: 0 for Kneser-Ney, 1 for Jelinek-Mercer.
    weights : "auto" or dict
        By order, the fraction of each part that is replaced by its low rank approximation. By default chosen
        by the validation text, or without one ``{2: (1, 0.95), 3: (1,)}``.
    n_restarts : int, optional
        Random starts of each part that are averaged; two (one for order 3, whose start is not random), or
        with ``preset="printed"`` one.
    discounts : "auto" or numbers
        See `KneserNeyLM`. With a preset, one for all counts.
    preset : {None, "printed", "jelinek-mercer", "absolute"}
        "printed" is chapter 9 as printed: one low rank bigram and one low rank trigram, powers of 1/2, the
        square root of one discount for each of their two steps, one start, twenty sweeps of EM, undiscounted
        unigrams, all pads. The other two are special cases without low rank parts. Jelinek-Mercer smoothing
        is the mean of relative frequencies, weighted by 1 - D, and of the order below, weighted by D, for
        given discounts D. Absolute discounting subtracts D from each count, as Kneser-Ney does, but keeps
        the counts of the text in lower orders.
    base : {"auto", "uniform", "unigram"}
        What order 1 is interpolated with: a uniform distribution, as in KenLM, or nothing. By default the
        first, and with ``preset="printed"`` the second.
    pads : {"auto", "one", "all"}
        How many ``<s>`` precede a line: one, or ``order - 1``. By default one, and with ``preset="printed"``
        all.
    vocabulary, min_count, n_words, markers, unknown, progress
        See `KneserNeyLM`.
    memory, folder
        Count in pieces on disk, see `KneserNeyLM`. The bound is on counting alone: the n-grams with their
        low rank factors must fit in memory.
    n_jobs : int, optional
        Threads; by default all processors. The model does not depend on it.
    random_state : int, Generator or None
        Of the starts.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        ``<unk>``, ``<s>``, ``</s>`` and all words, the most frequent first.
    model_ : Ensemble
        N-grams and factors.
    plans_ : dict of int to OrderPlan
        For each order, the powers, ranks and weights of its low rank parts.
    diagnostics_ : dict
        Sizes of the text, n-grams per order, discounts, plans, and the candidates that a validation text
        chose among.

    Examples
    --------
    >>> from tacit.language.power_low_rank_lm import PowerLowRankLM
    >>> model = PowerLowRankLM(order=2).fit(["the cat sat", "the dog sat", "a cat ran"])
    >>> round(float(model.predict_next_proba("the cat").sum()), 12)
    1.0
    >>> model.perplexity(["the cow sat"]).n_unknown
    1
    """

    abilities = LanguageModel.abilities | {"arpa"}

    model_: Ensemble
    _file = ENSEMBLE_FILE

    def __init__(
        self,
        order: int = 3,
        *,
        ranks: Any = "auto",
        powers: Any = "auto",
        weights: Any = "auto",
        n_restarts: int | None = None,
        discounts: Any = "auto",
        preset: str | None = None,
        base: str = "auto",
        pads: str = "auto",
        vocabulary: Any = None,
        min_count: int = 1,
        n_words: int | None = None,
        markers: str = "error",
        unknown: str = "word",
        memory: int | str | None = None,
        folder: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        progress: Any = None,
    ) -> None:
        self.order = order
        self.ranks = ranks
        self.powers = powers
        self.weights = weights
        self.n_restarts = n_restarts
        self.discounts = discounts
        self.preset = preset
        self.base = base
        self.pads = pads
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.n_words = n_words
        self.markers = markers
        self.unknown = unknown
        self.memory = memory
        self.folder = folder
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    @property
    def order_(self) -> int:
        """The highest order of its n-grams."""
        self._check_fitted()
        return self.model_.order

    def fit(self, X: Any, y: Any = None, *, validation: Any = None) -> Self:
        """Learn from text.

        Parameters
        ----------
        X : path, list of paths, iterable of lines, iterable of lists of words, or Arrow column
            See `KneserNeyLM.fit`.
        y : None
            Not used.
        validation : the same kinds, optional
            Text that chooses ranks and weights. Each part is fitted once; its predictions of this text are
            kept and recombined.
        """
        from tacit.language.learn.counting import counts_of

        self._check_arguments()
        reading = self._reading(pads=self._pads())
        with (
            reporting(self.progress) as report,
            counts_of(
                X,
                reading,
                memory=self.memory,
                folder=self.folder,
                report=lambda done, text: report(0.1 * done, text),
            ) as counts,
        ):
            held_out = None
            if validation is not None:
                same = replace(reading, vocabulary=counts.vocabulary, min_count=1, n_words=None)
                held_out = same.corpus(validation)
            return self._learn(counts, held_out, lambda done, text: report(0.1 + 0.9 * done, text))

    def fit_counts(self, counts: GramCounts, *, validation: Corpus | None = None) -> Self:
        """Learn from counted n-grams, for instance of many texts added; `order` and `pads` are theirs."""
        from tacit.language.moments.ngram_counts import check_counts

        check_counts(counts)
        self._check_arguments()
        with reporting(self.progress) as report:
            return self._learn(counts, validation, report)

    def _learn(self, counts: GramCounts, validation: Corpus | None, report: Report) -> Self:
        from tacit.core.threads import n_threads
        from tacit.language.learn.ensemble_plans import candidate_plans
        from tacit.language.learn.fit import fit_ensemble

        plans = candidate_plans(
            counts.order,
            len(counts.vocabulary),
            {"powers": self.powers, "ranks": self.ranks, "weights": self.weights},
            preset=self.preset,
            several=validation is not None,
        )
        fitted = fit_ensemble(
            counts,
            plans,
            n_restarts=self.n_restarts or (N_RESTARTS if self.preset is None else 1),
            base=self._base(),
            discounts=self._given(counts.order),
            random_state=seed_from(self.random_state),
            n_jobs=n_threads(-1 if self.n_jobs is None else self.n_jobs) or 1,
            valid=validation,
            choose_weights=self.weights == "auto" and self.preset is None,
            report=report,
        )
        self.plans_ = fitted.plans
        self._keep(
            fitted.ensemble,
            {
                "n_words": counts.n_words,
                "n_lines": counts.n_lines,
                "n_types": len(counts.vocabulary),
                "n_grams": [len(table) for table in counts.tables],
                "pads": counts.pads,
                "discounts": [list(level.estimated.values) for level in fitted.levels],
                "discount_sources": [level.estimated.source for level in fitted.levels],
                "plans": {str(order): asdict(plan) for order, plan in fitted.plans.items()},
                "validation_perplexities": fitted.perplexities,
                "candidates": fitted.candidates,
                "n_factors": int(len(fitted.ensemble.left) + len(fitted.ensemble.right)),
            },
        )
        return self

    def _base(self) -> str:
        if self.base == "auto":
            return "unigram" if self.preset == "printed" else "uniform"
        return self.base

    def _pads(self) -> str:
        if self.pads == "auto":
            return "all" if self.preset == "printed" else "one"
        return self.pads

    def _check_arguments(self) -> None:
        check_count("order", self.order)
        self._check_text_arguments()
        check_count("n_restarts", self.n_restarts, none_is="those of the preset")
        check_choice("base", self.base, ("auto", "uniform", "unigram"))
        check_choice("pads", self.pads, ("auto", "one", "all"))
        self._given(self.order)
        if self.preset is not None:
            self._check_preset(self.preset)
        for name in ("ranks", "powers", "weights"):
            table = getattr(self, name)
            if isinstance(table, str) and table == "auto":
                continue
            if not isinstance(table, Mapping) or not all(
                isinstance(at, int) and 2 <= at <= self.order for at in table
            ):
                raise ArgumentError(
                    f"{name}={shown(table)}; give 'auto', or a dict of tuples for orders "
                    f"from 2 to {self.order}"
                )

    def _check_preset(self, preset: str) -> None:
        """Raise if an argument contradicts the preset, or one is missing."""
        from tacit.language.learn.ensemble_plans import PRESETS

        check_choice("preset", preset, PRESETS)
        is_printed = preset == "printed"
        contradicting = ["weights"] if is_printed else ["ranks", "powers", "weights"]
        given = [name for name in contradicting if getattr(self, name) != "auto"]
        if self.n_restarts not in (None, 1):
            given.append("n_restarts")
        if is_printed and self.base == "uniform":
            given.append("base")
        if given:
            raise ArgumentError(
                f"{given[0]}={getattr(self, given[0])!r} contradicts preset={preset!r}; leave one out"
            )
        discounts = self._given(self.order)
        if discounts is None and preset == "jelinek-mercer":
            raise ArgumentError(
                'preset="jelinek-mercer" needs the weight of the order below; give discounts=0.4, or '
                "[[0.2], [0.4], ...] for each order"
            )
        if any(len({*order.values}) > 1 for order in discounts or ()):
            raise ArgumentError(
                f"discounts={self.discounts!r} with preset={preset!r}; give one number, or "
                "[[number], ...] for each order"
            )

    def _given(self, order: int) -> list[Discounts] | None:
        from tacit.language.learn.kneser_ney import given_discounts

        if isinstance(self.discounts, str):
            check_choice("discounts", self.discounts, ("auto",))
            return None
        return given_discounts(self.discounts, order)

    # -- queries ----------------------------------------------------------------------------------

    @checked_summary
    def summary(self) -> Summary:
        """Order, text, n-grams, low rank parts with weights, and what they were chosen among."""
        from tacit.language.query.summary import ensemble_summary

        return ensemble_summary(self.order_, self.vocabulary_, self.diagnostics_)

    def can(self, ability: str) -> bool:
        """Whether this model, as it was fitted, can do something; ARPA files hold no low rank parts."""
        return super().can(ability) and (ability != "arpa" or not self.model_.has_factors)

    def to_arpa(self, path: Any) -> None:
        """Write an ARPA file, as `KneserNeyLM.to_arpa` does, of a model without low rank parts.

        Raises
        ------
        NotAvailableError
            The model has low rank parts, or several ``<s>`` in front of lines.
        """
        from tacit.language.files.arpa import write_arpa

        self._check_fitted()
        if self.model_.has_factors:
            raise NotAvailableError(
                "ARPA files hold n-grams and back-off weights, but low rank parts give each unseen word a "
                "probability of its own; fit without them (ranks and powers of () for all orders, or "
                'preset="absolute"), or write a KneserNeyLM'
            )
        write_arpa(self.model_.grams, path, pads=self.diagnostics_["pads"])

    def _restore(self, values: Mapping[str, Any]) -> None:
        self.plans_ = values["plans_"]
        self._keep(values["model_"], values["diagnostics_"])

    def _keep(self, model: Ensemble, diagnostics: dict[str, Any]) -> None:
        from tacit.language.query.backoff import begin_state

        self.model_, self.vocabulary_ = model, model.grams.vocabulary
        self.diagnostics_ = diagnostics
        self._begin = begin_state(model.grams)

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        from tacit.language.query.ensemble import score_corpus

        return score_corpus(self.model_, corpus, begin=begin, end=end)

    @property
    def _n_contexts(self) -> int:
        return self.model_.grams.n_contexts

    def _start(self, *, begin: bool) -> int:
        return self._begin if begin else -1

    def _step(self, state: int, word: int) -> tuple[float, int, int]:
        from tacit.language.query.ensemble import score_step

        return score_step(self.model_, state, word)

    def _distribution(self, state: int) -> Array:
        from tacit.language.query.ensemble import next_probs

        return next_probs(self.model_, state)
