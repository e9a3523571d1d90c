"""Queries of power low rank ensembles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import END
from tacit.language.model.backoff import packed
from tacit.language.model.ensemble import Ensemble
from tacit.language.query.backoff import NO_STATE, LineScores, begin_state

Array = NDArray[np.float64]


def score_corpus(
    model: Ensemble, corpus: Corpus, *, begin: bool = True, end: bool = True
) -> LineScores:
    """The scores of a corpus that was read with the vocabulary of the model.

    The order of a word is that of its longest n-gram; low rank parts of the order above contribute too.

    Parameters
    ----------
    begin, end : bool
        Whether lines are complete: begin after ``<s>``, and end in ``</s>``, which is scored too.
    """
    from tacit.language.loops.ensemble import score_lines

    n_lines, grams = corpus.n_lines, model.grams
    size = corpus.n_words + (n_lines if end else 0)
    probs, used = np.empty(size), np.empty(size, dtype=np.int64)
    states = np.full(n_lines, begin_state(grams) if begin else NO_STATE, dtype=np.int64)
    mark = END if end else -1
    score_lines(packed(grams), model.factors(), corpus.ids, corpus.ends, states, mark, probs, used)
    orders = np.searchsorted(grams.offsets, used, side="right")
    with np.errstate(divide="ignore"):
        return LineScores.of(corpus, np.log(probs), orders, end=end)


def score_step(model: Ensemble, state: int, word: int) -> tuple[float, int, int]:
    """The log-probability of a word in a state, the order of its n-gram, and the state after it."""
    from tacit.language.loops.ensemble import find_prob

    prob, gram = find_prob(packed(model.grams), model.factors(), state, word)
    order = int(np.searchsorted(model.grams.offsets, gram, side="right"))
    after = int(model.grams.suffixes[gram]) if order == model.order else int(gram)
    return float(np.log(prob)) if prob > 0 else -np.inf, order, after


def next_probs(model: Ensemble, state: int) -> Array:
    """(word,) the distribution of the next word."""
    from tacit.language.loops.ensemble import score_next

    probs = np.empty(len(model.grams.vocabulary))
    score_next(packed(model.grams), model.factors(), state, probs)
    return probs
