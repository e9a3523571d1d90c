"""Compiled beam search of a phrase-based translation system."""

from __future__ import annotations

import heapq

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.language.loops.backoff import find_gram


@njit(cache=True, nogil=True)
def phrase_log_prob(model, state, words, low, high):
    """The natural log-probability of some words after a state of the language model, and the state behind."""
    total = 0.0
    for at in range(low, high):
        gram, weight = find_gram(model, state, words[at])
        total += np.log(weight * model[3][gram])
        state = np.int64(model[1][gram]) if gram >= model[5] else gram
    return total, state


@njit(cache=True, nogil=True)
def phrase_log_probs(model, words, starts):
    """(phrase,) the log-probabilities of phrases without context."""
    out = np.empty(len(starts) - 1)
    for phrase in range(len(out)):
        out[phrase], _ = phrase_log_prob(model, -1, words, starts[phrase], starts[phrase + 1])
    return out


@njit(cache=True, nogil=True)
def completion_estimates(first, last, scores, n_words):
    """(begin, end) the best score of options that translate each span, in order and without context."""
    out = np.full((n_words + 1, n_words + 1), -np.inf)
    for option in range(len(first)):
        place = first[option], last[option]
        out[place] = max(out[place], scores[option])
    for size in range(2, n_words + 1):
        for low in range(n_words - size + 1):
            high = low + size
            for middle in range(low + 1, high):
                out[low, high] = max(out[low, high], out[low, middle] + out[middle, high])
    return out


@njit(cache=True, nogil=True)
def remaining_estimate(estimates, covered, n_words):
    """The sum of the estimates of all gaps."""
    total, at = 0.0, 0
    while at < n_words:
        if (covered >> at) & 1:
            at += 1
            continue
        low = at
        while at < n_words and not (covered >> at) & 1:
            at += 1
        total += estimates[low, at]
    return total


@njit(cache=True, nogil=True)
def beam_search(
    model,
    begin,
    words,
    starts,
    spans,
    first,
    last,
    base,
    estimates,
    settings,
    weights,
    nodes,
    edges,
):
    """Search for translations; hypotheses with the same words covered, context and position are joined.

    Parameters
    ----------
    model, begin : the language model, and its state in front of a sentence
    words, starts : (word,), (option + 1,)  target words of options, as numbers of the language model
    spans : (n + 1, n + 1, 2)  the options of each span of source words, from and to
    first, last : (option,)
    base : (option,)  scores without context
    estimates : (n + 1, n + 1)  see `completion_estimates`
    settings : beam size, candidates for it, longest jump, longest phrase
    weights : those of the language model and of jumps
    nodes : covered words, states of the language model, positions, scores; written
    edges : nodes, nodes before, options, scores; written. They are sorted by node.

    Returns
    -------
    Numbers of nodes and edges, and the first node of those that cover all words.
    """
    beam, room, reach, longest = settings
    covered, states, positions, scores = nodes
    n_words = len(estimates) - 1
    covered[0], states[0], positions[0], scores[0] = 0, begin, 0, 0.0
    stacks = np.zeros(n_words + 2, np.int64)  # the first node of each
    stacks[1] = 1
    n_nodes, n_edges = 1, 0
    candidates = (
        np.empty(room, np.int64),  # node before
        np.empty(room, np.int64),  # option
        np.empty(room),  # score
        np.empty(room, np.int64),  # state of the language model
    )
    options = (words, starts, spans, base, estimates)
    for size in range(1, n_words + 1):
        heap = [(0.0, 0)]
        heap.pop()
        for length in range(1, min(longest, size) + 1):
            for node in range(stacks[size - length], stacks[size - length + 1]):
                _extend(model, node, length, reach, weights, options, nodes, heap, candidates)
        n_nodes, n_edges = _kept(
            heap, candidates, beam, first, last, nodes, edges, n_nodes, n_edges
        )
        stacks[size + 1] = n_nodes
    return n_nodes, n_edges, stacks[n_words]


@njit(cache=True, nogil=True)
def _extend(model, node, length, reach, weights, options, nodes, heap, candidates):
    """Add the translations of spans of some length after a node to the best candidates, a heap."""
    words, starts, spans, base, estimates = options
    covered, states, positions, scores = nodes
    parents, chosen, values, behind = candidates
    lm_weight, jump_weight = weights
    n_words, room = len(estimates) - 1, len(values)
    gap = 0
    while (covered[node] >> gap) & 1:
        gap += 1
    for low in range(max(gap, positions[node] - reach), n_words - length + 1):
        high = low + length
        jump = abs(low - positions[node])
        mask = ((np.int64(1) << length) - 1) << low
        if jump > reach or (low > gap and high - gap > reach):
            break
        if covered[node] & mask or spans[low, high, 0] == spans[low, high, 1]:
            continue
        rest = remaining_estimate(estimates, covered[node] | mask, n_words)
        before = scores[node] - jump_weight * jump
        for option in range(spans[low, high, 0], spans[low, high, 1]):
            value = before + base[option]
            if len(heap) == room and value + rest <= heap[0][0]:
                continue  # the language model can only lower it
            log_prob, state = phrase_log_prob(
                model, states[node], words, starts[option], starts[option + 1]
            )
            value += lm_weight * log_prob
            if len(heap) < room:
                slot = len(heap)
                heapq.heappush(heap, (value + rest, slot))
            elif value + rest > heap[0][0]:
                slot = heap[0][1]
                heapq.heapreplace(heap, (value + rest, slot))
            else:
                continue
            parents[slot], chosen[slot] = node, option
            values[slot], behind[slot] = value, state


@njit(cache=True, nogil=True)
def _kept(heap, candidates, beam, first, last, nodes, edges, n_nodes, n_edges):
    """Add the best candidates as nodes and edges; new numbers of both."""
    parents, chosen, values, behind = candidates
    covered, states, positions, scores = nodes
    low = n_nodes
    order = np.argsort(-np.array([value for value, _ in heap]))
    joined = np.full(len(heap), -1)
    for at in order:
        slot = heap[at][1]
        option = chosen[slot]
        mask = ((np.int64(1) << (last[option] - first[option])) - 1) << first[option]
        now = covered[parents[slot]] | mask
        node = low
        while node < n_nodes and not (
            covered[node] == now
            and states[node] == behind[slot]
            and positions[node] == last[option]
        ):
            node += 1
        if node == n_nodes:
            if n_nodes - low == beam:
                continue
            covered[node], states[node], positions[node] = now, behind[slot], last[option]
            scores[node] = values[slot]
            n_nodes += 1
        joined[slot] = node
    for node in range(low, n_nodes):
        for at in order:
            slot = heap[at][1]
            if joined[slot] == node:
                edges[0][n_edges], edges[1][n_edges] = node, parents[slot]
                edges[2][n_edges], edges[3][n_edges] = chosen[slot], values[slot]
                n_edges += 1
    return n_nodes, n_edges
