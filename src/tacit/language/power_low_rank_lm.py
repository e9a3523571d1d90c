"""Language models from power low rank ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, seed_from
from tacit.core.progress import reporting
from tacit.errors import ArgumentError
from tacit.language.language_queries import LanguageModel
from tacit.language.model_files import ENSEMBLE_FILE

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.language.data.corpus import Corpus
    from tacit.language.model.ensemble import Ensemble, OrderPlan
    from tacit.language.moments.ngram_counts import GramCounts
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]
Ids = NDArray[np.int32]

N_STARTS = {None: 2, "thesis": 1}
# A validation text chooses from these ranks of the discount's part, and the thesis' shares of the vocabulary.
TRIED_RANKS = (48, 96)
TRIED_FRACTIONS = (5e-3, 1e-3)


class PowerLowRankLM(LanguageModel):
    """An n-gram language model with low rank parts between the orders.

    Kneser-Ney hands what it takes from a count to the next lower order. Here part of that is shared among
    words and contexts that behave alike first: matrices of powers of the counts are replaced by non-negative
    factors of low rank that keep all sums (Parikh, Saluja, Dyer & Xing, 2014; Parikh, 2015, chapter 9).
    Probabilities sum to one after every context, and with ``pads="all"`` and ``base="unigram"`` expected
    counts of words are those of the text.

    Parameters
    ----------
    order : int
        Words of the longest n-grams.
    ranks : "auto" or dict
        For an order (2 or more) the ranks of its low rank parts, one for each power and at most one more, for
        the discount as a whole. By default ``{2: (128, 48), 3: (24,)}``; a validation text chooses among
        several. With ``preset="thesis"``, 0.005 and 0.001 of the vocabulary, or what a validation text
        chooses of these.
    powers : "auto" or dict
        For an order the powers of its parts, falling from 1 to 0; ``{2: (2 / 3,), 3: (0.5,)}`` by default.
    weights : "auto" or dict
        For an order the share of each part that is replaced by its low rank fit. By default those that suit a
        validation text best, or else ``{2: (1, 0.95), 3: (1,)}``.
    n_starts : int, optional
        Random starts of each part that are averaged; two (one for order 3, whose start is no random one), or
        with ``preset="thesis"`` one.
    preset : None or "thesis"
        "thesis" is chapter 9 to the letter: one low rank bigram and one low rank trigram, powers of 1/2, the
        square root of one discount for each of their two steps, one start, twenty sweeps of EM, unigrams as
        they are, all pads.
    base : {"auto", "uniform", "unigram"}
        What order 1 is mixed with: the same for all words, as KenLM has it, or nothing. By default the first,
        and with ``preset="thesis"`` the second.
    pads : {"auto", "one", "all"}
        How many ``<s>`` stand in front of a line: one, or ``order - 1``. By default one, and with
        ``preset="thesis"`` all.
    vocabulary, least_count, n_words, markers, unknown, progress
        See `KneserNeyLM`.
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
    plans_ : dict
        For each order, how its counts are taken apart: powers, ranks and weights as they were chosen.
    diagnostics_ : dict
        In plain values.

    Examples
    --------
    >>> from tacit.language.power_low_rank_lm import PowerLowRankLM
    >>> model = PowerLowRankLM(order=2, random_state=0).fit(
    ...     ["the cat sat", "the dog sat", "a cat ran"]
    ... )
    >>> round(float(model.next_proba("the cat").sum()), 12)
    1.0
    >>> model.perplexity(["the cow sat"]).n_unknown
    1
    """

    model_: Ensemble
    _file = ENSEMBLE_FILE

    def __init__(
        self,
        order: int = 3,
        *,
        ranks: Any = "auto",
        powers: Any = "auto",
        weights: Any = "auto",
        n_starts: int | None = None,
        preset: str | None = None,
        base: str = "auto",
        pads: str = "auto",
        vocabulary: Any = None,
        least_count: int = 1,
        n_words: int | None = None,
        markers: str = "error",
        unknown: str = "word",
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None:
        self.order = order
        self.ranks = ranks
        self.powers = powers
        self.weights = weights
        self.n_starts = n_starts
        self.preset = preset
        self.base = base
        self.pads = pads
        self.vocabulary = vocabulary
        self.least_count = least_count
        self.n_words = n_words
        self.markers = markers
        self.unknown = unknown
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
            Text that chooses ranks and weights. Each part is fitted once; what it says of every word of this
            text is kept, and only combined anew.
        """
        from tacit.language.learn.counting import count_in_memory

        self._check_arguments()
        reading = self._reading(pads=self._pads())
        with reporting(self.progress) as report:
            counts = count_in_memory(X, reading, lambda share, text: report(0.1 * share, text))
            held = None
            if validation is not None:
                same = replace(reading, vocabulary=counts.vocabulary, least_count=1, n_words=None)
                held = same.corpus(validation)
            return self._learn(counts, held, lambda share, text: report(0.1 + 0.9 * share, text))

    def fit_counts(self, counts: GramCounts, *, validation: Corpus | None = None) -> Self:
        """Learn from counted n-grams, for instance of many texts added; `order` and `pads` are theirs."""
        self._check_arguments()
        with reporting(self.progress) as report:
            return self._learn(counts, validation, report)

    def _learn(self, counts: GramCounts, validation: Corpus | None, report: Report) -> Self:
        from tacit.core.threads import n_threads
        from tacit.language.learn.ensemble import fit_ensemble

        chosen = self.weights == "auto" and self.preset is None
        fitted = fit_ensemble(
            counts,
            self._plans(counts, tried=validation is not None),
            n_starts=N_STARTS[self.preset] if self.n_starts is None else self.n_starts,
            base=self._base(),
            random_state=seed_from(self.random_state),
            n_jobs=n_threads(-1 if self.n_jobs is None else self.n_jobs) or 1,
            valid=validation,
            choose_weights=chosen,
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
                "n_factors": int(len(fitted.ensemble.left) + len(fitted.ensemble.right)),
            },
        )
        return self

    def _plans(self, counts: GramCounts, *, tried: bool) -> dict[int, list[OrderPlan]]:
        """The plans of each order to choose from; without a validation text, one."""
        from tacit.language.model.ensemble import default_plans, thesis_plans

        order, n_words = counts.order, len(counts.vocabulary)
        if self.preset == "thesis":
            given = TRIED_FRACTIONS if tried else TRIED_FRACTIONS[:1]
            each = [thesis_plans(order, n_words, (fraction, fraction)) for fraction in given]
            plans = {at: [some[at] for some in each] for at in each[0]}
            if not tried:
                plans = {at: [some] for at, some in thesis_plans(order, n_words).items()}
        else:
            plans = {at: [some] for at, some in default_plans(order).items()}
            if tried and order >= 2:
                first = plans[2][0]
                plans[2] = [replace(first, ranks=(first.ranks[0], rank)) for rank in TRIED_RANKS]
        for at in plans:
            plans[at] = self._changed(at, plans[at])
        return plans

    def _changed(self, order: int, plans: list[OrderPlan]) -> list[OrderPlan]:
        """Plans with the powers, ranks and weights that the caller gave."""
        given: dict[str, Any] = {
            name: _numbers(name, table, order)
            for name, table in (
                ("powers", self.powers),
                ("ranks", self.ranks),
                ("weights", self.weights),
            )
            if isinstance(table, Mapping) and order in table
        }
        if not given:
            return plans
        if "ranks" in given or "powers" in given:
            given.setdefault("weights", ())
        return [replace(plans[0], **given)]

    def _base(self) -> str:
        if self.base == "auto":
            return "uniform" if self.preset is None else "unigram"
        return self.base

    def _pads(self) -> str:
        if self.pads == "auto":
            return "one" if self.preset is None else "all"
        return self.pads

    def _check_arguments(self) -> None:
        check_count("order", self.order)
        self._check_text_arguments()
        check_count("n_starts", self.n_starts, none_is="those of the preset")
        check_choice("base", self.base, ("auto", "uniform", "unigram"))
        check_choice("pads", self.pads, ("auto", "one", "all"))
        if self.preset is not None:
            check_choice("preset", self.preset, ("thesis",))
        for name in ("ranks", "powers", "weights"):
            table = getattr(self, name)
            if isinstance(table, str) and table == "auto":
                continue
            if not isinstance(table, Mapping) or not all(
                isinstance(at, int) and 2 <= at <= self.order for at in table
            ):
                raise ArgumentError(
                    f"{name}={table!r}; give 'auto', or a dict of tuples for orders from 2 to {self.order}"
                )

    # -- queries ----------------------------------------------------------------------------------

    def _restore(self, values: Mapping[str, Any]) -> None:
        self.plans_ = values["plans_"]
        self._keep(values["model_"], values["diagnostics_"])

    def _keep(self, model: Ensemble, diagnostics: dict[str, Any]) -> None:
        from tacit.language.model.backoff import packed
        from tacit.language.query.backoff import begin_state

        self.model_, self.vocabulary_ = model, model.grams.vocabulary
        self.diagnostics_ = diagnostics
        self._packed, self._begin = packed(model.grams), begin_state(model.grams)
        self._factors = model.factors()

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        from tacit.language.query.ensemble import score_corpus

        return score_corpus(self.model_, corpus, begin=begin, end=end)

    def _line_log_prob(self, ids: Ids, *, begin: bool, end: bool) -> float:
        from tacit.language.loops.ensemble import score_line

        state = self._begin if begin else -1
        return float(score_line(self._packed, self._factors, ids, state, 2 if end else -1))

    def _start(self, *, begin: bool) -> int:
        return self._begin if begin else -1

    def _step(self, state: int, word: int) -> tuple[float, int, int]:
        from tacit.language.query.ensemble import score_step

        return score_step(self.model_, state, word)

    def _distribution(self, state: int) -> Array:
        from tacit.language.query.ensemble import next_probs

        return next_probs(self.model_, state)


def _numbers(name: str, table: Mapping[int, Any], order: int) -> tuple[Any, ...]:
    """The numbers given for an order: a single one, or several."""
    found = table[order]
    numbers = tuple(found) if isinstance(found, Sequence | np.ndarray) else (found,)
    if any(isinstance(each, str | bool) or not np.isreal(each) for each in numbers):
        raise ArgumentError(f"{name}={table!r}; give numbers")
    return tuple(int(each) if name == "ranks" else float(each) for each in numbers)
