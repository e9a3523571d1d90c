"""Compiled sums over documents: products of their counts with a few columns, and back."""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def project(starts, places, counts, columns, sums):
    """The projections of documents: ``sums = counts @ columns``.

    Parameters
    ----------
    starts : (document + 1,)  the first entry of each
    places, counts : (entry,)  words and their counts
    columns : (word, column)
    sums : (document, column)  overwritten
    """
    width = columns.shape[1]
    for document in range(len(starts) - 1):
        total = sums[document]
        total[:] = 0.0
        at, stop = starts[document], starts[document + 1]
        while at + 4 <= stop:  # four at once: the sums are fetched and put back less often
            a, b = columns[places[at]], columns[places[at + 1]]
            c, d = columns[places[at + 2]], columns[places[at + 3]]
            of_a, of_b = float(counts[at]), float(counts[at + 1])
            of_c, of_d = float(counts[at + 2]), float(counts[at + 3])
            for column in range(width):
                first = of_a * a[column] + of_b * b[column]
                total[column] += first + (of_c * c[column] + of_d * d[column])
            at += 4
        while at < stop:
            a, of_a = columns[places[at]], float(counts[at])
            for column in range(width):
                total[column] += of_a * a[column]
            at += 1


@njit(cache=True, nogil=True)
def spread(starts, places, counts, weights, rows, sums):
    """Add the row of each document to its words: ``sums += counts.T @ (weights * rows)``.

    Parameters
    ----------
    starts : (document + 1,)
    places, counts : (entry,)
    weights : (document,)
    rows : (document, column)
    sums : (word, column)  changed in place
    """
    width = rows.shape[1]
    row = np.empty(width)
    for document in range(len(starts) - 1):
        weight = weights[document]
        if weight == 0.0:
            continue
        for column in range(width):
            row[column] = weight * rows[document, column]
        for at in range(starts[document], starts[document + 1]):
            total, often = sums[places[at]], float(counts[at])
            for column in range(width):
                total[column] += often * row[column]


@njit(cache=True, nogil=True)
def spread_weights(starts, places, counts, first, second, first_sums, second_sums):
    """Add two weights of each document to its words, as often as they occur.

    Parameters
    ----------
    starts : (document + 1,)
    places, counts : (entry,)
    first, second : (document,)
    first_sums, second_sums : (word,)  changed in place
    """
    for document in range(len(starts) - 1):
        for at in range(starts[document], starts[document + 1]):
            first_sums[places[at]] += first[document] * counts[at]
            second_sums[places[at]] += second[document] * counts[at]
