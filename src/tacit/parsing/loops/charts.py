"""Compiled charts of plain grammars (one state a label): all spans of a sentence, before and after pruning.

A cell is a span of words, ``first word * (n + 1) + word after the last``. It holds a number for each label
and one logarithm for all of them.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _normalise(values, alive):
    """Divide by the largest number and list the labels that have one; their number and the logarithm."""
    most = 0.0
    for label in range(len(values)):
        most = max(most, values[label])
    count = 0
    if most <= 0:
        return count, -np.inf
    for label in range(len(values)):
        values[label] /= most
        if values[label] > 0:
            alive[count] = label
            count += 1
    return count, math.log(most)


@njit(cache=True, nogil=True, fastmath=FAST)
def coarse_inside(n, rules, values, logs, alive, counts):
    """Inside numbers of all cells; those of single words come in `values`."""
    first_rule, rule_parent, rule_right, rule_weight = rules
    for i in range(n):
        cell = i * (n + 1) + i + 1
        counts[cell], logs[cell] = _normalise(values[cell], alive[cell])
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = i * (n + 1) + j
            top = -np.inf
            for k in range(i + 1, j):
                top = max(top, logs[i * (n + 1) + k] + logs[k * (n + 1) + j])
            if top == -np.inf:
                logs[cell] = top
                continue
            now = values[cell]
            for k in range(i + 1, j):
                left, right = i * (n + 1) + k, k * (n + 1) + j
                if counts[left] == 0 or counts[right] == 0:
                    continue
                scale = math.exp(logs[left] + logs[right] - top)
                beside = values[right]
                for place in range(counts[left]):
                    label = alive[left, place]
                    factor = scale * values[left, label]
                    for rule in range(first_rule[label], first_rule[label + 1]):
                        now[rule_parent[rule]] += (
                            factor * rule_weight[rule] * beside[rule_right[rule]]
                        )
            counts[cell], log = _normalise(now, alive[cell])
            logs[cell] = top + log


@njit(cache=True, nogil=True, fastmath=FAST)
def _raise_log(out, out_logs, cell, log):
    if log > out_logs[cell]:
        if out_logs[cell] > -np.inf:
            out[cell] *= math.exp(out_logs[cell] - log)
        out_logs[cell] = log
        return 1.0
    return math.exp(log - out_logs[cell])


@njit(cache=True, nogil=True, fastmath=FAST)
def coarse_outside(n, rules, values, logs, alive, counts, out, out_logs):
    """Outside numbers of all cells; those of the whole sentence come in `out`."""
    first_rule, rule_parent, rule_right, rule_weight = rules
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = i * (n + 1) + j
            if counts[cell] == 0 or out_logs[cell] == -np.inf:
                continue
            above = out[cell]
            for k in range(i + 1, j):
                left, right = i * (n + 1) + k, k * (n + 1) + j
                if counts[left] == 0 or counts[right] == 0:
                    continue
                to_left = _raise_log(out, out_logs, left, out_logs[cell] + logs[right])
                to_right = _raise_log(out, out_logs, right, out_logs[cell] + logs[left])
                beside, below = values[right], out[right]
                for place in range(counts[left]):
                    label = alive[left, place]
                    mine, total = to_right * values[left, label], 0.0
                    for rule in range(first_rule[label], first_rule[label + 1]):
                        weight = rule_weight[rule] * above[rule_parent[rule]]
                        total += weight * beside[rule_right[rule]]
                        below[rule_right[rule]] += weight * mine
                    out[left, label] += to_left * total


@njit(cache=True, nogil=True)
def kept_items(n, values, logs, alive, counts, out, out_logs, log_total, threshold, item_of):
    """Number the labels of cells whose posterior is large enough, shorter spans first; how many."""
    number = 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = i * (n + 1) + i + width
            scale = math.exp(min(logs[cell] + out_logs[cell] - log_total, 600.0))
            for place in range(counts[cell]):
                label = alive[cell, place]
                if values[cell, label] * out[cell, label] * scale >= threshold:
                    item_of[cell, label] = number
                    number += 1
    return number


@njit(cache=True, nogil=True)
def list_items(n, item_of, alive, counts, items, n_alive):
    """(label, first word, word after the last) of items; the labels kept of each cell, first in `alive`."""
    for i in range(n):
        for j in range(i + 1, n + 1):
            cell = i * (n + 1) + j
            n_alive[cell] = 0
            for place in range(counts[cell]):
                label = alive[cell, place]
                item = item_of[cell, label]
                if item >= 0:
                    alive[cell, n_alive[cell]] = label
                    n_alive[cell] += 1
                    items[item, 0], items[item, 1], items[item, 2] = label, i, j


@njit(cache=True, nogil=True)
def list_edges(n, pairs, item_of, alive, n_alive, edges):
    """(item, rule, left item, right item) of all edges between items; counts alone where `edges` is short."""
    first_of_pair, pair_rules, rule_parent = pairs
    n_labels = item_of.shape[1]
    number = 0
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = i * (n + 1) + j
            if n_alive[cell] == 0:
                continue
            for k in range(i + 1, j):
                left, right = i * (n + 1) + k, k * (n + 1) + j
                for a in range(n_alive[left]):
                    for b in range(n_alive[right]):
                        pair = alive[left, a] * n_labels + alive[right, b]
                        for place in range(first_of_pair[pair], first_of_pair[pair + 1]):
                            rule = pair_rules[place]
                            item = item_of[cell, rule_parent[rule]]
                            if item < 0:
                                continue
                            if number < len(edges):
                                edges[number, 0], edges[number, 1] = item, rule
                                edges[number, 2] = item_of[left, alive[left, a]]
                                edges[number, 3] = item_of[right, alive[right, b]]
                            number += 1
    return number
