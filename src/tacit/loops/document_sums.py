"""Compiled sums over documents: products of their counts with a few columns, and back."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def project(starts, places, counts, columns, sums):
    """What the words of each document sum to: ``sums = counts @ columns``.

    Parameters
    ----------
    starts : (document + 1,)  where each document begins
    places, counts : (entry,)  its words, and how often each occurs
    columns : (word, column)
    sums : (document, column)  overwritten
    """
    width = columns.shape[1]
    for document in range(len(starts) - 1):
        own = sums[document]
        own[:] = 0.0
        for at in range(starts[document], starts[document + 1]):
            row, often = columns[places[at]], float(counts[at])
            for column in range(width):
                own[column] += often * row[column]


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
    for document in range(len(starts) - 1):
        row, weight = rows[document], weights[document]
        if weight == 0.0:
            continue
        for at in range(starts[document], starts[document + 1]):
            own, often = sums[places[at]], weight * counts[at]
            for column in range(width):
                own[column] += often * row[column]


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
