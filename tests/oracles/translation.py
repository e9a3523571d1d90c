"""Word alignment and translation by enumeration."""

import itertools
import math
from collections import Counter

import numpy as np


def model_1(table, source, target):
    """Likelihood and expected counts of words of IBM model 1: a sum over all alignments of one pair.

    `table` maps (source word, target word) to a probability; source word 0 is the empty one.
    """
    words = [0, *source]
    likelihood, counts = 0.0, Counter()
    for alignment in itertools.product(range(len(words)), repeat=len(target)):
        pairs = [(words[i], e) for i, e in zip(alignment, target, strict=True)]
        prob = math.prod(table[pair] / len(words) for pair in pairs)
        likelihood += prob
        for pair in pairs:
            counts[pair] += prob
    return likelihood, {pair: count / likelihood for pair, count in counts.items()}


def hidden_markov(lexical, jumps, empty):
    """Likelihood, posteriors of links and expected jumps: a sum over all alignments of one pair.

    `lexical` (target, 1 + source) has the empty word first; `jumps` maps a distance to a weight.
    """
    n_target, n_source = lexical.shape[0], lexical.shape[1] - 1
    likelihood, links, moved = 0.0, np.zeros_like(lexical), Counter()
    for alignment in itertools.product(range(n_source + 1), repeat=n_target):
        prob, before, steps = 1.0, -1, []
        for j, i in enumerate(alignment):
            if i == 0:
                prob *= empty * lexical[j, 0]
                continue
            total = sum(jumps(at - before) for at in range(n_source))
            prob *= (1 - empty) * jumps(i - 1 - before) / total * lexical[j, i]
            steps.append(i - 1 - before)
            before = i - 1
        likelihood += prob
        for j, i in enumerate(alignment):
            links[j, i] += prob
        for step in steps:
            moved[step] += prob
    return likelihood, links / likelihood, {k: v / likelihood for k, v in moved.items()}


def consistent_phrases(links, longest):
    """All pairs of spans with a link between them and none that leads out of either."""
    n_source, n_target = links.shape
    phrases = set()
    for a, b in itertools.combinations(range(n_source + 1), 2):
        for c, d in itertools.combinations(range(n_target + 1), 2):
            inside = links[a:b, c:d].sum()
            crossing = links[a:b].sum() + links[:, c:d].sum() - 2 * inside
            # No word without links at the ends of the source span: only the target span is extended.
            if max(b - a, d - c) <= longest and inside and not crossing:
                phrases.add((a, b, c, d))
    return phrases


def all_derivations(options, reach, longest, n_words):
    """Every order of options that covers a sentence, within the limit on jumps."""
    by_span = {}
    for option, span in enumerate(zip(options.first.tolist(), options.last.tolist(), strict=True)):
        by_span.setdefault(span, []).append(option)

    def extended(covered, position, path):
        if len(covered) == n_words:
            yield path
            return
        gap = min(set(range(n_words)) - covered)
        for (low, high), choices in by_span.items():
            words = set(range(low, high))
            if words & covered or abs(low - position) > reach:
                continue
            if low > gap and high - gap > reach:
                continue
            for option in choices:
                yield from extended(covered | words, high, [*path, option])

    return list(extended(set(), 0, []))
