"""Kneser-Ney models whose discounts are tuned on a validation text (thesis, end of section 9.5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.language.kneser_ney_lm import KneserNeyLM
    from tacit.reproduce.language.texts import Texts

N_ROUNDS = 2
TOLERANCE = 0.02  # of a discount


def tuned_kneser_ney(texts: Texts, order: int) -> KneserNeyLM:
    """Modified, interpolated Kneser-Ney with the best discounts on the validation text, one after another.

    The estimated ones are the start, and stay where no other is better.
    """
    import numpy as np
    from scipy.optimize import minimize_scalar

    from tacit.language.data.corpus import read_corpus
    from tacit.language.kneser_ney_lm import KneserNeyLM
    from tacit.language.moments.ngram_counts import GramCounts

    counts = GramCounts.of(read_corpus(texts.train, vocabulary=texts.vocabulary), order)

    def fitted(discounts: object) -> KneserNeyLM:
        return KneserNeyLM(order, discounts=discounts).fit_counts(counts)

    best = fitted("auto")
    lowest = float(best.perplexity(texts.valid))
    discounts = np.array([one.values for one in best.discounts_])
    for _ in range(N_ROUNDS):
        for at in np.ndindex(discounts.shape):

            def perplexity(value: float, at: tuple[int, ...] = at) -> float:
                candidate = discounts.copy()
                candidate[at] = value
                return float(fitted(candidate).perplexity(texts.valid))

            bounds = (0.0, at[1] + 1.0)  # up to the count
            search = minimize_scalar(
                perplexity, bounds=bounds, method="bounded", options={"xatol": TOLERANCE}
            )
            if search.fun < lowest:
                discounts[at], lowest = search.x, float(search.fun)
    return fitted(discounts)
