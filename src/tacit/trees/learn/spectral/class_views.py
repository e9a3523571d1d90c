"""Latent classes of any number of columns by tensor decomposition: three groups of columns are three views.

The joint table of the groups gives the weights of the classes and the tables of the groups
(`spectral.three_columns`); the tables of all other columns follow from their joint tables with the middle
group, by a linear system (Anandkumar, Hsu and Kakade 2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.errors import DataError, RankError
from tacit.trees.learn.spectral.three_columns import classes_of_triples
from tacit.trees.moments.source import Moments, PairTables

Array = NDArray[np.float64]
Views = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

MOST_CELLS = 1 << 22  # of the joint table of all three views


@dataclass(frozen=True, eq=False)
class ClassesOfViews:
    """Classes, and the columns that they were learnt from."""

    weights: Array  # (class,)  descending
    tables: tuple[Array, ...]  # per column: (class, category)
    views: Views


def classes_by_views(moments: Moments, n_states: int, features: int = 3) -> ClassesOfViews:
    """Weights of the classes, and the table of every column.

    Exact moments of a mixture of products give it back, where each of the views distinguishes all classes.

    Parameters
    ----------
    moments : Moments
    n_states : int
    features : int
        The most columns whose joint category is one view.

    Raises
    ------
    DataError
        There are fewer than three columns.
    RankError
        The views distinguish fewer classes; the largest possible number is named.
    """
    cards = moments.cards
    views = chosen_views(moments.pairs(), n_states, features)
    (joint,) = moments.tables([views[0] + views[1] + views[2]])
    sizes = [int(np.prod([cards[column] for column in view])) for view in views]
    weights, view_tables = classes_of_triples(joint.reshape(sizes), n_states)
    inverse = np.linalg.pinv(view_tables[1])  # (joint category of the middle view, class)
    inside = {column for view in views for column in view}
    others = [column for column in range(len(cards)) if column not in inside]
    joints = dict(zip(others, moments.tables([(j, *views[1]) for j in others]), strict=True))
    tables: dict[int, Array] = {}
    for column, joint_of_column in joints.items():
        rows = (
            joint_of_column.reshape(cards[column], sizes[1]) @ inverse
        ).T  # (class, category), times the weights
        tables[column] = nearest_distributions(
            rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
        )
    for view, view_table in zip(views, view_tables, strict=True):
        cube = view_table.reshape(n_states, *(cards[column] for column in view))
        for place, column in enumerate(view):
            other_axes = tuple(axis for axis in range(1, cube.ndim) if axis != place + 1)
            tables[column] = cube.sum(axis=other_axes)
    return ClassesOfViews(weights, tuple(tables[column] for column in range(len(cards))), views)


def chosen_views(pairs: PairTables, n_states: int, features: int) -> Views:
    """Three groups of the columns that depend most on others, with enough joint categories each."""
    cards = pairs.cards
    if len(cards) < 3:
        raise DataError(
            f"classes show in three columns or more, and there are {len(cards)}; give more columns"
        )
    views: list[list[int]] = [[], [], []]
    sizes = [1, 1, 1]
    for column in np.argsort(-_dependence(pairs), kind="stable").tolist():
        open_to = [
            view
            for view in range(3)
            if not views[view] or (sizes[view] < n_states and len(views[view]) < features)
        ]
        if not open_to:
            break
        poorest = min(open_to, key=lambda view: sizes[view])
        if views[poorest] and np.prod(sizes) * cards[column] > MOST_CELLS:
            continue
        views[poorest].append(column)
        sizes[poorest] *= cards[column]
    if min(sizes) < n_states:
        raise RankError(
            f"n_states={n_states} requested, but three groups of up to {features} columns tell only "
            f'{min(sizes)} classes apart; give n_states<={min(sizes)}, more features, or learn="auto"'
        )
    first, middle, last = (tuple(sorted(view)) for view in views)
    return first, middle, last


def _dependence(pairs: PairTables) -> Array:
    """(column,) How far the joint tables with all others are from independence: summed chi-squares."""
    joint = pairs.probabilities
    marginals = joint.diagonal()
    expected = np.outer(marginals, marginals)
    apart = np.zeros_like(joint)
    np.divide((joint - expected) ** 2, expected, out=apart, where=expected > 0)
    starts = np.array(pairs.offsets[:-1])
    blocks = np.add.reduceat(np.add.reduceat(apart, starts, axis=0), starts, axis=1)
    np.fill_diagonal(blocks, 0.0)
    return np.asarray(blocks.sum(axis=1))
