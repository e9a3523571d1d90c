"""Compiled loops of word alignment by hidden Markov models, and of phrase extraction.

A sentence pair has a row of cells for each target word: the empty word first, then all source words.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def jump_rows(jumps, n_source):
    """(before, position) probabilities of the next source position; `before` 0 is in front of the first."""
    reach = len(jumps) // 2
    out = np.empty((n_source + 1, n_source))
    for before in range(n_source + 1):
        total = 0.0
        for at in range(n_source):
            jump = min(max(at - (before - 1), -reach), reach)
            out[before, at] = jumps[jump + reach]
            total += out[before, at]
        for at in range(n_source):
            out[before, at] /= total
    return out


@njit(cache=True, nogil=True)
def forward_backward(lexical, moves, empty):
    """Posteriors of one sentence pair.

    The state is the last source position that was used (0: none yet) and whether the target word comes from
    it or from the empty word.

    Parameters
    ----------
    lexical : (target, 1 + source)  probability of each target word given the empty word and each source word
    moves : (1 + source, source)  see `jump_rows`
    empty : float  probability of the empty word

    Returns
    -------
    posteriors : (target, 1 + source)
    pairs : (1 + source, source)  expected transitions
    log_prob : float
    """
    n_target, n_source = lexical.shape[0], lexical.shape[1] - 1
    # By last position: all, and those whose word comes from the empty word.
    ahead = np.zeros((n_target + 1, n_source + 1))
    idle = np.zeros((n_target, n_source + 1))
    used = np.zeros((n_target, n_source + 1))
    ahead[0, 0] = 1.0
    log_prob = 0.0
    for j in range(n_target):
        total = 0.0
        for m in range(n_source + 1):
            idle[j, m] = empty * ahead[j, m] * lexical[j, 0]
            total += idle[j, m]
        for i in range(n_source):
            mass = 0.0
            for m in range(n_source + 1):
                mass += ahead[j, m] * moves[m, i]
            used[j, i + 1] = (1.0 - empty) * mass * lexical[j, i + 1]
            total += used[j, i + 1]
        for m in range(n_source + 1):
            idle[j, m] /= total
            used[j, m] /= total
            ahead[j + 1, m] = idle[j, m] + used[j, m]
        log_prob += np.log(total)
    posteriors = np.zeros((n_target, n_source + 1))
    pairs = np.zeros((n_source + 1, n_source))
    behind = np.ones(n_source + 1)
    for j in range(n_target - 1, -1, -1):
        total = 0.0
        for m in range(n_source + 1):
            posteriors[j, 0] += idle[j, m] * behind[m]
            total += (idle[j, m] + used[j, m]) * behind[m]
        for i in range(n_source):
            posteriors[j, i + 1] = used[j, i + 1] * behind[i + 1] / total
        posteriors[j, 0] /= total
        before = np.zeros(n_source + 1)
        joint = 0.0
        for m in range(n_source + 1):
            before[m] += empty * lexical[j, 0] * behind[m]
            for i in range(n_source):
                step = (1.0 - empty) * moves[m, i] * lexical[j, i + 1] * behind[i + 1]
                before[m] += step
            joint += ahead[j, m] * before[m]
        for m in range(n_source + 1):
            for i in range(n_source):
                step = (1.0 - empty) * moves[m, i] * lexical[j, i + 1] * behind[i + 1]
                pairs[m, i] += ahead[j, m] * step / joint
        for m in range(n_source + 1):
            behind[m] = before[m] / joint
    return posteriors, pairs, log_prob


@njit(cache=True, nogil=True)
def hmm_counts(probs, cells, starts, n_sources, n_targets, jumps, empty, posteriors, jump_counts):
    """Write posteriors of all cells and add expected jumps; the log-likelihood of all sentence pairs.

    Parameters
    ----------
    probs : (entry,)  of the translation table
    cells : (cell,)  entries
    starts : (pair,)  first cells
    n_sources, n_targets : (pair,)
    posteriors : (cell,)  written
    jump_counts : (jump,)  added to
    """
    reach = len(jumps) // 2
    log_likelihood = 0.0
    for pair in range(len(starts)):
        n_source, n_target = n_sources[pair], n_targets[pair]
        low = starts[pair]
        high = low + n_target * (n_source + 1)
        lexical = probs[cells[low:high]].reshape(n_target, n_source + 1)
        moves = jump_rows(jumps, n_source)
        cell_posteriors, pairs, log_prob = forward_backward(lexical, moves, empty)
        posteriors[low:high] = cell_posteriors.ravel()
        log_likelihood += log_prob
        for before in range(n_source + 1):
            for at in range(n_source):
                jump = min(max(at - (before - 1), -reach), reach)
                jump_counts[jump + reach] += pairs[before, at]
    return log_likelihood


@njit(cache=True, nogil=True)
def consistent_phrases(links, longest, out):
    """Write all consistent phrase pairs of an alignment; how many there are.

    A pair of spans is consistent if a link leads from one to the other, and none out of either. Words
    without links may stand at the ends of the target span.

    Parameters
    ----------
    links : (source, target)  bool
    longest : int  words of a phrase at most
    out : (phrase pair, 4)  written: first and last + 1 of the source span and of the target span
    """
    n_source, n_target = links.shape
    has_link = np.zeros(n_target, np.bool_)
    for j in range(n_target):
        has_link[j] = links[:, j].any()
    count = 0
    for first in range(n_source):
        low, high = n_target, -1
        for last in range(first, min(first + longest, n_source)):
            for j in range(n_target):
                if links[last, j]:
                    low, high = min(low, j), max(high, j)
            if high < 0 or high - low >= longest:
                continue
            inside = True
            for i in range(n_source):
                if first <= i <= last:
                    continue
                if links[i, low : high + 1].any():
                    inside = False
                    break
            if not inside:
                continue
            begin = low
            while begin >= 0 and (begin == low or not has_link[begin]):
                end = high
                while end < n_target and (end == high or not has_link[end]):
                    if end - begin >= longest:
                        break
                    out[count, 0], out[count, 1] = first, last + 1
                    out[count, 2], out[count, 3] = begin, end + 1
                    count += 1
                    end += 1
                begin -= 1
    return count
