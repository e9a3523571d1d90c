"""BLEU (Papineni et al., 2002): statistics of single sentences, and sacrebleu's score of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DependencyError

Array = NDArray[np.float64]

ORDER = 4
# Statistics: n-grams that match, for each order, n-grams that there are, and words of the reference.
SIZE = 2 * ORDER + 1


def corpus_bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of a text by sacrebleu, which takes it as it is tokenised, in per cent."""
    metric = check_sacrebleu().BLEU(tokenize="none", force=True)
    return float(metric.corpus_score(list(translations), [list(references)]).score)


def check_sacrebleu() -> Any:
    """The metrics of sacrebleu; raises where it is not installed."""
    try:
        from sacrebleu import metrics
    except ImportError as error:
        message = 'BLEU is computed by sacrebleu: pip install "tacit[reproduce]"'
        raise DependencyError(message) from error
    return metrics


def statistics(translations: Sequence[str], reference: str) -> Array:
    """(translation, statistic) of translations of one sentence."""
    reference_counts = _ngrams(reference)
    length = len(reference.split())
    rows = np.empty((len(translations), SIZE))
    for row, text in zip(rows, translations, strict=True):
        row[:ORDER] = 0.0
        for gram, count in _ngrams(text).items():
            row[len(gram) - 1] += min(count, reference_counts[gram])
        n_words = len(text.split())
        row[ORDER : 2 * ORDER] = np.maximum(n_words - np.arange(ORDER), 0)
        row[-1] = length
    return rows


def _ngrams(text: str) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(
        tuple(words[at : at + size])
        for size in range(1, ORDER + 1)
        for at in range(len(words) - size + 1)
    )


def bleu(sums: Array) -> Array:
    """BLEU of sums of statistics (the last axis), between 0 and 1; 0 where an order has no match."""
    matches, totals, reference = sums[..., :ORDER], sums[..., ORDER : 2 * ORDER], sums[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matches / totals).mean(axis=-1)
        brevity = np.minimum(0.0, 1.0 - reference / totals[..., 0])
        return np.asarray(np.where((matches > 0).all(axis=-1), np.exp(logs + brevity), 0.0))
