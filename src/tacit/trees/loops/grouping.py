"""Trees from similarities: variables that represent a side of an edge, and siblings.

Similarities are exp(-distance), which multiply along paths. Where a sum over variables represents a hidden
node, any weights give consistent answers; the best ones give precise answers.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

MOST_VARIABLES = 32  # that represent one side of an edge; the others have tiny weights
CERTAIN = 0.9999  # similarity to a node above which a variable counts as the node itself


@njit(cache=True, nogil=True)
def keep_largest(members, weights, count, number, weight):
    """Adds a variable to a list of at most `MOST_VARIABLES`, replacing the least; returns the count."""
    if count < MOST_VARIABLES:
        members[count] = number
        weights[count] = weight
        return count + 1
    least = 0
    for place in range(1, MOST_VARIABLES):
        if weights[place] < weights[least]:
            least = place
    if weight > weights[least]:
        members[least] = number
        weights[least] = weight
    return count


@njit(cache=True, nogil=True)
def add_side(slot, length, members, weights, counts, strengths, new_members, new_weights, count):
    """Adds the variables behind a neighbour to a list; returns their information on the node, and the count.

    Given the node, the sides behind its neighbours are independent. The best linear guess of a node with
    similarity q to each of several independent sides weighs them by q / (1 - q²).
    """
    q = min(strengths[slot] * math.exp(-length), CERTAIN)
    weight = q / (1.0 - q * q)
    for place in range(counts[slot]):
        count = keep_largest(
            new_members, new_weights, count, members[slot, place], weight * weights[slot, place]
        )
    return q * weight, count


@njit(cache=True, nogil=True)
def gather_sides(
    order, starts, near, reverse, lengths, n_observed, members, weights, counts, strengths
):
    """For every node and each of its neighbours, variables that represent the side behind that neighbour.

    Parameters
    ----------
    order : (slot,)
        Slots such that all other slots of a slot's neighbour come before the slot.
    starts : (node + 1,)
        Where each node's slots begin; a slot is one neighbour of one node.
    near, reverse : (slot,)
        The neighbour, and the neighbour's slot for this node.
    lengths : (slot,)
        Of the edge.
    n_observed : int
        Nodes before this number are observed.
    members, weights : (slot, MOST_VARIABLES)
        Written: variables, and their weights in a guess of unit variance.
    counts, strengths : (slot,)
        Written: how many variables, and the guess's similarity to the neighbour itself.
    """
    for slot in order:
        node = near[slot]
        if node < n_observed:
            members[slot, 0] = node
            weights[slot, 0] = 1.0
            counts[slot] = 1
            strengths[slot] = 1.0
            continue
        information, count = 0.0, 0
        for other in range(starts[node], starts[node + 1]):
            if other != reverse[slot]:
                gained, count = add_side(
                    other, lengths[other], members, weights, counts, strengths,
                    members[slot], weights[slot], count,
                )  # fmt: skip
                information += gained
        counts[slot] = count
        strengths[slot] = math.sqrt(information / (1.0 + information))
        scale = 1.0 / math.sqrt(information + information * information)
        for place in range(count):
            weights[slot, place] *= scale


@njit(cache=True, nogil=True)
def halves(
    node, skipped, starts, lengths, members, weights, counts, strengths,
    group_members, group_weights, group_counts, depths,
):  # fmt: skip
    """Two groups of the sides around a node, without one of them, about equally informative.

    Two sides are the two groups, in their order. `depths` are distances from the node to the groups' guesses.
    """
    total = np.zeros(2)
    group_counts[0] = group_counts[1] = 0
    first, last = starts[node], starts[node + 1]
    taken = np.zeros(last - first, dtype=np.bool_)
    for _ in range(last - first - 1):
        best, largest = -1, -1.0
        for slot in range(first, last):  # the most informative of those that are left
            if slot != skipped and not taken[slot - first]:
                q = strengths[slot] * math.exp(-lengths[slot])
                if best < 0 or (last - first > 3 and q > largest):
                    best, largest = slot, q
        taken[best - first] = True
        poorer = 0 if total[0] <= total[1] else 1
        gained, count = add_side(
            best, lengths[best], members, weights, counts, strengths,
            group_members[poorer], group_weights[poorer], group_counts[poorer],
        )  # fmt: skip
        total[poorer] += gained
        group_counts[poorer] = count
    for group in range(2):
        information = total[group]
        depths[group] = -0.5 * math.log(information / (1.0 + information))
        scale = 1.0 / math.sqrt(information + information * information)
        for place in range(group_counts[group]):
            group_weights[group, place] *= scale


@njit(cache=True, nogil=True)
def quartets(
    ends, slots, similarity, starts, lengths, n_observed, members, weights, counts, strengths,
    similarities, depths,
):  # fmt: skip
    """Similarities of the two groups on one side of every edge and the two on its other side.

    On the side of an observed node, both groups are the node itself.

    Parameters
    ----------
    ends : (edge, 2)
        Nodes.
    slots : (edge, 2)
        The first node's slot for the second, and the other way round.
    similarity : (variable, variable)
    similarities : (edge, 4, 4)
        Written: similarities of the groups' guesses; 1 on the diagonal and within an observed node.
    depths : (edge, 4)
        Written: distances from the end of the edge to each group's guess, according to the lengths.
    """
    group_members = np.zeros((4, MOST_VARIABLES), dtype=np.int64)
    group_weights = np.zeros((4, MOST_VARIABLES))
    group_counts = np.zeros(4, dtype=np.int64)
    for edge in range(len(ends)):
        for side in range(2):
            node, half = ends[edge, side], 2 * side
            if node < n_observed:
                for group in range(half, half + 2):
                    group_members[group, 0] = node
                    group_weights[group, 0] = 1.0
                    group_counts[group] = 1
                    depths[edge, group] = 0.0
            else:
                halves(
                    node, slots[edge, side], starts, lengths, members, weights, counts, strengths,
                    group_members[half : half + 2], group_weights[half : half + 2],
                    group_counts[half : half + 2], depths[edge, half : half + 2],
                )  # fmt: skip
        for one in range(4):
            similarities[edge, one, one] = 1.0
            for other in range(one):
                total = 0.0
                for i in range(group_counts[one]):
                    row = group_members[one, i]
                    part = 0.0
                    for j in range(group_counts[other]):
                        part += group_weights[other, j] * similarity[row, group_members[other, j]]
                    total += group_weights[one, i] * part
                similarities[edge, one, other] = similarities[edge, other, one] = total


@njit(cache=True, nogil=True)
def add_evidence(
    one, other, one_distance, other_distance, one_inverse, other_inverse, between, sign, sums
):
    """Adds or removes the evidence of a third variable on a pair to or from the pair's sums.

    That is the difference of the pair's distances to it (`one_distance`, `other_distance`), as precise as for
    uniform binary variables on a tree, up to a factor that is the same for all. `one_inverse` and
    `other_inverse` are inverse similarities to the third variable, and `between` the similarity of the pair;
    where all distances are exact, -1, and every third variable counts alike.
    """
    gap = one_distance - other_distance
    precision = 1.0
    if between >= 0.0:
        skew = one_inverse - other_inverse
        precision = 1.0 / (skew * skew + 2.0 * (1.0 + 1e-6 - between) * one_inverse * other_inverse)
    precision *= sign
    sums[one, other, 0] += precision
    sums[one, other, 1] += precision * gap
    sums[one, other, 2] += precision * gap * gap


@njit(cache=True, nogil=True)
def sum_evidence(one, other, rows, n_rows, similarity, distances, inverse, exact, sums):
    """The evidence of all of these third variables on a pair."""
    sums[one, other, 0] = sums[one, other, 1] = sums[one, other, 2] = 0.0
    between = -1.0 if exact else similarity[one, other]
    for place in range(n_rows):
        k = rows[place]
        if k not in (one, other):
            add_evidence(
                one, other, distances[one, k], distances[other, k], inverse[one, k], inverse[other, k],
                between, 1.0, sums,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def change_evidence(third, sign, alive, n_alive, similarity, distances, inverse, exact, sums):
    """Add or remove the evidence of one variable on all pairs of others."""
    for a in range(n_alive):
        i = alive[a]
        for b in range(a + 1, n_alive):
            j = alive[b]
            if third not in (i, j):
                add_evidence(
                    i, j, distances[third, i], distances[third, j], inverse[third, i], inverse[third, j],
                    -1.0 if exact else similarity[i, j], sign, sums,
                )  # fmt: skip


@njit(cache=True, nogil=True)
def likeliest_siblings(alive, n_alive, sums):
    """The pair whose distances to all others differ most nearly by the same number."""
    first, second, least = -1, -1, np.inf
    for a in range(n_alive):
        for b in range(a + 1, n_alive):
            i, j = alive[a], alive[b]
            spread = sums[i, j, 2] - sums[i, j, 1] * sums[i, j, 1] / sums[i, j, 0]
            if spread < least:
                first, second, least = i, j, spread
    return first, second


@njit(cache=True, nogil=True)
def replace_by_guess(first, second, apart, alive, n_alive, floor, similarity, distances, inverse):
    """Put the best linear guess of the node between two rows, at these distances, into the first row."""
    information = 0.0
    weights = np.empty(2)
    for one in range(2):
        q = min(math.exp(-apart[one]), CERTAIN)
        weights[one] = q / (1.0 - q * q)
        information += q * weights[one]
    scale = 1.0 / math.sqrt(information + information * information)
    for a in range(n_alive):
        k = alive[a]
        if k != first:
            guess = weights[0] * similarity[first, k] + weights[1] * similarity[second, k]
            guess = max(scale * guess, floor)
            similarity[first, k] = similarity[k, first] = guess
            distances[first, k] = distances[k, first] = -math.log(guess)
            inverse[first, k] = inverse[k, first] = 1.0 / guess


@njit(cache=True, nogil=True)
def group_siblings(similarity, floor, exact, joined, lengths):
    """Joins the two variables that look most like siblings, until three are left.

    The distances of siblings to every third variable differ by the same number (Choi et al. 2011, lemma
    4), and so do those of a parent and its child. How much they spread is measured by a sum of squares in
    units of their noise. A pair that was joined is replaced by the best linear guess of the node between
    them.

    Parameters
    ----------
    similarity : (variable, variable)
        Overwritten.
    floor : float
        Least similarity that counts as such.
    exact : bool
        Whether there is no noise; every third variable then counts alike.
    joined : (step, 2)
        Written: the rows that were joined; the new node has the first one's row from then on.
    lengths : (step, 2)
        Written: distances from the new node to the two.

    Returns
    -------
    (3,)
        Rows of the last three.
    """
    n_rows = len(similarity)
    distances, inverse = np.empty((n_rows, n_rows)), np.empty((n_rows, n_rows))
    for i in range(n_rows):
        for j in range(n_rows):
            similarity[i, j] = max(similarity[i, j], floor)
            distances[i, j] = -math.log(similarity[i, j])
            inverse[i, j] = 1.0 / similarity[i, j]
    sums = np.zeros((n_rows, n_rows, 3))
    alive = np.arange(n_rows)
    for i in range(n_rows):
        for j in range(i + 1, n_rows):
            sum_evidence(i, j, alive, n_rows, similarity, distances, inverse, exact, sums)
    n_alive = n_rows
    for step in range(n_rows - 3):
        first, second = likeliest_siblings(alive, n_alive, sums)
        between = distances[first, second]
        shift = sums[first, second, 1] / sums[first, second, 0]
        to_first = min(max(0.5 * (between + shift), 0.0), between)
        joined[step, 0], joined[step, 1] = first, second
        lengths[step, 0], lengths[step, 1] = to_first, between - to_first
        n_left = 0
        for a in range(n_alive):
            if alive[a] != second:
                alive[n_left] = alive[a]
                n_left += 1
        n_alive = n_left
        change_evidence(first, -1.0, alive, n_alive, similarity, distances, inverse, exact, sums)
        change_evidence(second, -1.0, alive, n_alive, similarity, distances, inverse, exact, sums)
        replace_by_guess(
            first, second, lengths[step], alive, n_alive, floor, similarity, distances, inverse
        )
        change_evidence(first, 1.0, alive, n_alive, similarity, distances, inverse, exact, sums)
        for a in range(n_alive):
            k = alive[a]
            if k != first:
                one, other = min(first, k), max(first, k)
                sum_evidence(
                    one, other, alive, n_alive, similarity, distances, inverse, exact, sums
                )
    return alive[:3].copy()
