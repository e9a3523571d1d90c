"""Mixtures whose weights held-out rows choose: trees with many states, and simpler models beside them.

Trees with another structure that is nearly as good err in different places, and so do latent classes and the
Chow-Liu tree: their mixture is better than each. Weights are those under which held-out rows are likeliest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.selection import surely_better
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.trees.learn.selection.forests import (
    Trained,
    TrainingData,
    many_states,
    run_ahead,
    run_parallel,
    train,
)

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.messages.network import Tables

Array = NDArray[np.float64]
Report = Callable[[float, str], None]

# Further trees are learnt from the pair counts of such fractions of the rows: nearly as good, and different.
FRACTIONS = (0.5, 0.06)
PATIENCE = 2  # trees in a row without a gain
MOST_TREES = 12
GOOD_METHOD = (
    0.5  # of the best structure learner's gain by its first tree; those with less are left out
)
LEAST_WEIGHT = 0.01  # members of a mixture with less are left out
# Rows by which models that were learnt again are compared with what they were, and the standard errors.
MOST_CHECKED, SURELY = 2000, 2.0


class Member(Protocol):
    """A model that was learnt without the held-out rows, and their log-likelihoods."""

    @property
    def tables(self) -> Tables:
        """Its probability tables."""
        ...

    @property
    def parts(self) -> tuple[Tables, ...]:
        """(fold,) The tables learnt without the held-out rows of each fold."""
        ...

    @property
    def rows(self) -> Array:
        """(held-out row,) Log-likelihoods."""
        ...

    @property
    def score(self) -> float:
        """Their mean."""
        ...

    @property
    def n_iterations(self) -> int:
        """Passes and steps of EM."""
        ...

    def again(
        self,
        data: TrainingData,
        *,
        tell: Callable[[str], None] | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """The same model learnt from other rows."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Settings and scores, in plain values."""
        ...


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees, and the weights of their mixture that fit the held-out rows best."""

    trees: tuple[Member, ...]
    weights: Array
    score: float

    @staticmethod
    def of(trees: Sequence[Member], held_out_weights: Array | None) -> Forest:
        """The mixture of some trees."""
        if len(trees) == 1:
            return Forest(tuple(trees), np.ones(1), trees[0].score)
        rows = np.array([tree.rows for tree in trees])
        weights = mixture_weights(rows, held_out_weights)
        return Forest(tuple(trees), weights, mixed_score(rows, weights, held_out_weights))

    def with_one_more(self, one: Member, held_out_weights: Array | None) -> Forest:
        """The forest with another tree."""
        return Forest.of((*self.trees, one), held_out_weights)

    def without_light(self, held_out_weights: Array | None) -> Forest:
        """The forest without trees that hardly count."""
        heavy = [
            tree
            for tree, weight in zip(self.trees, self.weights, strict=True)
            if weight >= LEAST_WEIGHT
        ]
        return self if len(heavy) == len(self.trees) else Forest.of(heavy, held_out_weights)

    @property
    def rows(self) -> Array:
        """(held-out row,) Log-likelihoods under the mixture."""
        return mixed_rows(np.array([tree.rows for tree in self.trees]), self.weights)


def grow(
    data: TrainingData,
    forest: Forest,
    first: Trained,
    methods: Sequence[str],
    most: int,
    report: Report,
    *,
    always: bool = False,
    n_states: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
) -> Forest:
    """More trees in a forest, as long as their mixture is better.

    Each is learnt like the first, on a tree that one of the methods, in turn, learns from the pair counts of
    a subsample of the rows. Its size is selected with the first of them. Methods whose first tree gains far
    less than that of another are left out.

    Parameters
    ----------
    data : TrainingData
    forest : Forest
        What is there already.
    first : Trained
    methods : sequence of str
        Names of structure learners.
    most : int
        Trees to be added.
    report : callable
    always : bool
        Whether to go on to `most` trees in any case.
    n_states : int, optional
        Most states of a hidden node of the others; None: as many as in the first.
    fractions : sequence of float
        Candidate sizes of the subsamples, as fractions of the rows.
    """
    if most < 1:
        return forest
    k = first.n_states if n_states is None else n_states
    of_row = data.held_out_weights

    def work(number: int, method: str, fraction: float) -> Callable[[], Trained]:
        def grown() -> Trained:
            tree = data.tree(method, fraction, number)
            lay = many_states(tree, data.table.schema.cards, k)

            def tell(text: str) -> None:
                report(min(number / (most + 1), 1.0), f"tree {number + 1}, {text}")

            return train(data, lay, first.pseudo_counts, number, tell=tell, n_jobs=1)

        return grown

    sizes = [work(1, methods[0], fraction) for fraction in fractions]
    others = [work(place + 2, method, fractions[0]) for place, method in enumerate(methods[1:most])]
    tried = run_parallel(data, [*sizes, *others])
    gains = [forest.with_one_more(one, of_row).score - forest.score for one in tried]
    best = int(np.argmax(gains[: len(sizes)]))
    gains, tried = [gains[best], *gains[len(sizes) :]], [tried[best], *tried[len(sizes) :]]
    added, idle = 0, 0
    for one in tried:
        with_it = forest.with_one_more(one, of_row)
        if with_it.score > forest.score or always:
            forest, added = with_it, added + 1
    enough = GOOD_METHOD * max(*gains, 0.0)
    good = [method for method, gain in zip(methods, gains, strict=False) if gain >= enough]
    good = good or list(methods)
    if added == most:
        return forest
    works = (
        work(number, good[number % len(good)], fractions[best])
        for number in range(len(tried) + 1, 2 * most + 2)
    )
    for one in run_ahead(data, works):
        with_it = forest.with_one_more(one, of_row)
        if with_it.score > forest.score or always:
            forest, idle, added = with_it, 0, added + 1
        else:
            idle += 1
        if idle == PATIENCE or added == most:
            break
    return forest


def mixture_weights(rows: Array, of_row: Array | None = None, n_steps: int = 50) -> Array:
    """Weights of trees (tree, row) under which rows are likeliest, by EM."""
    weights = np.full(len(rows), 1 / len(rows))
    if not rows.size:
        return weights
    every = np.ones(rows.shape[1]) if of_row is None else of_row
    likely = np.exp(rows - rows.max(axis=0))
    for _ in range(n_steps):
        weights = weights * (likely @ (every / (weights @ likely))) / every.sum()
    normal: Array = weights / weights.sum()
    return normal


def mixed_rows(rows: Array, weights: Array) -> Array:
    """Log-likelihood of each row under the mixture of trees (tree, row)."""
    top = rows.max(axis=0)
    logs: Array = top + np.log(weights @ np.exp(rows - top))
    return logs


def mixed_score(rows: Array, weights: Array, of_row: Array | None = None) -> float:
    """Mean log-likelihood of rows under the mixture of trees (tree, row)."""
    return float(np.average(mixed_rows(rows, weights), weights=of_row))


def retrained(data: TrainingData, forest: Forest, report: Report) -> Forest:
    """The same forest learnt from all rows: as long as held-out rows gain, or as often as before.

    A model that is clearly worse for these rows than it was, because EM went another way, stays as it was.
    """
    works, n_jobs = [], 1 if len(forest.trees) > 1 else data.n_jobs

    def telling(number: int) -> Callable[[str], None]:
        done, prefix = number / len(forest.trees), f"model {number + 1} on all rows, "
        return lambda text: report(done, prefix + text)

    for number, tree in enumerate(forest.trees):
        works.append(partial(tree.again, data, tell=telling(number), n_jobs=n_jobs))
    learnt = run_parallel(data, works)
    rows = data.table
    if rows.n_rows > MOST_CHECKED:
        order = np.random.default_rng(data.seed).permutation(rows.n_rows)
        rows = rows.take(np.sort(order[:MOST_CHECKED]))
    kept = [_not_worse(old, new, rows) for old, new in zip(forest.trees, learnt, strict=True)]
    return Forest(tuple(kept), forest.weights, forest.score)


def _not_worse(old: Member, new: Member, rows: Table) -> Member:
    evidence = Evidence(rows.codes)
    before, after = (log_prob(member.tables, evidence).values for member in (old, new))
    return old if surely_better(before, after, rows.weights, SURELY) else new
