"""Whether the probabilities of n-gram models sum to one after every context."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.language.model.backoff import GramModel, packed
from tacit.language.model.ensemble import Ensemble

Array = NDArray[np.float64]

ROUNDED = 1e-3  # how far from one the sums of ARPA files may be, whose numbers have few digits


def backoff_sums(model: GramModel) -> Array:
    """(context + 1,) the sum of the probabilities of all words after each context, and after none."""
    from tacit.language.loops.sums import sum_backoff

    sums = np.empty(model.n_contexts + 1)
    sums[-1] = sum_backoff(packed(model), len(model.vocabulary), sums[:-1])
    return sums


def ensemble_sums(model: Ensemble) -> Array:
    """(context + 1,) the same of an ensemble; NaN where n-grams are not those of an ensemble."""
    from tacit.language.loops.sums import sum_ensemble

    grams = model.grams
    sums = np.empty(grams.n_contexts + 1)
    by_suffix = np.argsort(grams.suffixes[: grams.n_contexts], kind="stable")
    arrays, n_words = packed(grams), len(grams.vocabulary)
    sums[-1] = sum_ensemble(arrays, model.factors(), n_words, by_suffix, sums[:-1])
    return sums


def normalized(model: GramModel, tolerance: float) -> tuple[GramModel, int]:
    """A model whose probabilities sum to one after every context, and how many contexts were changed.

    As far as possible, probabilities of listed n-grams stay, and back-off weights change.

    Raises
    ------
    ValueError
        All words have probability zero after some context.
    """
    from tacit.language.loops.sums import normalize_backoff

    changed = replace(model, probs=model.probs.copy(), backoffs=model.backoffs.copy())
    n_changed = normalize_backoff(packed(changed), len(model.vocabulary), tolerance)
    if n_changed < 0:
        raise ValueError("all words have probability zero after some context")
    return changed, n_changed
