"""Experts beside a tree: which ones, how large, and with what weight, by the densities of held-out rows.

Candidates are classes of the numbers and of their normal scores, with full and diagonal covariances, a weak
and a strong prior, and growing numbers of components. They are learnt from the rows that a trial of the tree
was learnt from. The weights of a mixture of all of them and of the tree, by EM on the held-out rows, say
which are kept; those are learnt again from all rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tacit.core.encoders.encoders import BinEncoder, Encoder
from tacit.core.encoders.margins import margin_without
from tacit.core.input.mixed_table import MixedTable
from tacit.core.progress import Report
from tacit.core.threads import one_blas_thread
from tacit.messages.weighted_networks import Learnt
from tacit.numbers.learn.bins import MAX_HELD_OUT, Trial
from tacit.numbers.learn.blend import HeldOutTree
from tacit.numbers.learn.experts.candidates import Family, Prepared, families, prepared
from tacit.numbers.model.experts import Expert, Experts
from tacit.numbers.query.evidence import log_densities
from tacit.numbers.query.expert_mixture import ExpertMixture, expert_log_densities

Array = NDArray[np.float64]

# Numbers of components; a family of candidates grows until two in turn are worse than the best before them.
N_COMPONENTS = (1, 2, 4, 8, 16, 32)
# Rows of a component that a number of components needs at least.
ROWS_PER_COMPONENT = 10
# Full covariances are limited to so many components times the cube of the number of columns.
MAX_CUBES = 4_000_000
# Held-out rows below which there is nothing to choose by.
MIN_HELD_OUT = 10
# Experts that are kept, and the weight below which none is.
MAX_EXPERTS, MIN_WEIGHT = 5, 0.02
# Rows that are added to the held-out ones, shared by all candidates: so the tree, whose margins have heavy
# tails, never has weight zero.
PRIOR_ROWS = 2.0
_WEIGHT_STEPS = 500


@dataclass(frozen=True, eq=False)
class Fold:
    """Training rows, and held-out rows with their log-densities under a tree."""

    encoders: tuple[Encoder, ...]  # with margins of the training rows
    training: MixedTable
    held_out: MixedTable
    parameters: Learnt
    tree: Array  # (row,)

    @classmethod
    def of(cls, trial: Trial, table: MixedTable, encoders: Sequence[Encoder]) -> Fold | None:
        """The fold of a trial; None where a column of numbers is missing throughout."""
        training, held_out = trial.training_rows(table), trial.rows.take(slice(0, MAX_HELD_OUT))
        if training.weights is not None:
            training = training.take(training.weights > 0)
        if np.isnan(training.numbers).all(axis=0).any() or not training.n_rows:
            return None
        own = tuple(
            replace(
                encoder,
                margin=margin_without(training.column(place), training.weights, encoder.atoms),
            )
            if isinstance(encoder, BinEncoder)
            else encoder
            for place, encoder in enumerate(encoders)
        )
        tree = log_densities(trial.parameters, held_out, own)[0]
        return cls(own, training, held_out, trial.parameters, tree)

    def predictor(self, experts: Experts) -> HeldOutTree:
        """A mixture of the tree and experts, as a predictor of cells of the held-out rows."""
        mixture = ExpertMixture(self.parameters, self.encoders, experts)
        columns = range(len(self.encoders))

        def predict(table: MixedTable) -> dict[int, Array]:
            return mixture.missing_cells(table, columns, exact=False)

        return HeldOutTree(self.training, self.held_out, predict)

    @cached_property
    def prepared(self) -> dict[bool, Prepared]:
        """The coordinates for numbers and for normal scores."""
        return {normal: prepared(self.training, self.encoders, normal) for normal in (True, False)}


@dataclass(frozen=True, eq=False)
class Candidate:
    """An expert learnt in each fold, and the log-densities of all held-out rows."""

    family: Family
    n_components: int
    experts: tuple[Expert, ...]  # one for each fold
    log_densities: Array  # (row,)

    @property
    def name(self) -> str:
        """For people."""
        return self.family.name(self.n_components)


def candidates(
    folds: Sequence[Fold], names: Collection[str], seed: int, weights: Array
) -> Iterator[Candidate]:
    """All candidates, family by family."""
    n_rows = min(fold.training.n_rows for fold in folds)
    n_numbers = len(folds[0].training.schema.continuous)
    for family in families(folds[0].training, names):
        best, n_worse = -np.inf, 0
        for n_components in N_COMPONENTS:
            if n_components > most_components(family, n_numbers, n_rows):
                break
            experts = [
                fold.prepared[family.normal].fit(family, n_components, seed) for fold in folds
            ]
            logs = [
                expert_log_densities(expert, fold.held_out)
                for expert, fold in zip(experts, folds, strict=True)
            ]
            candidate = Candidate(family, n_components, tuple(experts), np.concatenate(logs))
            yield candidate
            score = float(np.average(candidate.log_densities, weights=weights))
            n_worse = 0 if score > best else n_worse + 1
            best = max(best, score)
            if n_worse == 2:
                break


def most_components(family: Family, n_numbers: int, n_rows: int) -> int:
    """How many components a family may have.

    Examples
    --------
    >>> full = Family(normal=True, diagonal=False, strong=False)
    >>> (
    ...     most_components(full, 10, 4000),
    ...     most_components(full, 100, 4000),
    ...     most_components(full, 10, 9),
    ... )
    (400, 4, 1)
    """
    if family.shrinkage is not None:
        return 1
    most = n_rows // ROWS_PER_COMPONENT
    if not family.diagonal:
        most = min(most, MAX_CUBES // n_numbers**3)
    return max(most, 1)


def mixture_weights(log_densities: Array, weights: Array) -> Array:
    """(candidate,) the weights of the mixture under which the rows are most probable, by EM.

    Parameters
    ----------
    log_densities : (row, candidate)
    weights : (row,)
        How much each row counts.

    Examples
    --------
    >>> mixture_weights(np.log([[0.9, 0.1], [0.8, 0.2]]), np.full(2, 1000.0)).round(2)
    array([1., 0.])
    """
    n = log_densities.shape[1]
    densities = np.exp(log_densities - log_densities.max(axis=1, keepdims=True))
    mixture = np.full(n, 1.0 / n)
    for _ in range(_WEIGHT_STEPS):
        parts = densities * mixture
        parts *= (weights / parts.sum(axis=1))[:, None]
        new = (parts.sum(axis=0) + PRIOR_ROWS / n) / (weights.sum() + PRIOR_ROWS)
        moved = float(np.abs(new - mixture).max())
        mixture = new
        if moved < 1e-5:
            break
    return mixture


@dataclass(frozen=True, eq=False)
class FittedExperts:
    """The experts beside a tree, and what was compared."""

    experts: Experts | None = (
        None  # None where there is nothing to compare, or the tree alone is best
    )
    diagnostics: dict[str, Any] = field(default_factory=dict)
    trials: Sequence[
        HeldOutTree
    ] = ()  # the same mixture without some rows, as predictors of their cells


@one_blas_thread()  # products of many rows with few components
def fit_experts(
    table: MixedTable,
    trials: Sequence[Trial],
    encoders: Sequence[Encoder],
    names: Collection[str],
    seed: int,
    report: Report,
) -> FittedExperts:
    """The experts that make held-out rows more probable beside a tree.

    Parameters
    ----------
    table : MixedTable
        All rows.
    trials : sequence of Trial
        Trees learnt without some rows.
    encoders : sequence of Encoder
        Of the final tree.
    names : collection of str
        The families that are compared.
    seed : int
    report : callable
    """
    if not names or len(table.schema) < 2 or not table.schema.continuous:
        return FittedExperts()
    folds = [fold for trial in trials if (fold := Fold.of(trial, table, encoders)) is not None]
    if sum(fold.held_out.n_rows for fold in folds) < MIN_HELD_OUT:
        return FittedExperts()
    row_weights = np.concatenate([_weights(fold.held_out) for fold in folds])
    compared: list[Candidate] = []
    for candidate in candidates(folds, names, seed, row_weights):
        report(0.96, f"comparing experts: {candidate.name}")
        compared.append(candidate)
    tree = np.concatenate([fold.tree for fold in folds])
    kept, weights = chosen(tree, compared, row_weights)
    diagnostics = _diagnostics(tree, compared, kept, weights, row_weights)
    if not kept:
        return FittedExperts(None, diagnostics)
    report(0.98, "learning experts from all rows")
    members = tuple(_learnt_again(table, encoders, kept, seed))
    predictors = [
        fold.predictor(Experts(tuple(candidate.experts[place] for candidate in kept), weights))
        for place, fold in enumerate(folds)
    ]
    return FittedExperts(Experts(members, weights), diagnostics, predictors)


def _weights(rows: MixedTable) -> Array:
    return np.ones(rows.n_rows) if rows.weights is None else rows.weights


def _learnt_again(
    table: MixedTable, encoders: Sequence[Encoder], kept: Sequence[Candidate], seed: int
) -> Iterator[Expert]:
    """The candidates learnt from all rows, from where the first fold ended."""
    if table.weights is not None:
        table = table.take(table.weights > 0)
    of_normal = {
        normal: prepared(table, encoders, normal) for normal in {c.family.normal for c in kept}
    }
    for candidate in kept:
        rows, n_components = of_normal[candidate.family.normal], candidate.n_components
        yield rows.fit(candidate.family, n_components, seed, candidate.experts[0])


def _diagnostics(
    tree: Array,
    compared: Sequence[Candidate],
    kept: Sequence[Candidate],
    weights: Array,
    row_weights: Array,
) -> dict[str, Any]:
    """What was compared and kept, with held-out scores."""

    def score(log_densities: Array) -> float:
        return float(np.average(log_densities, weights=row_weights))

    logs = np.column_stack([tree, *(candidate.log_densities for candidate in kept)])
    names = ["tree", *(candidate.name for candidate in kept)]
    return {
        "experts": [
            {"expert": name, "weight": float(weight), "score": score(column)}
            for name, weight, column in zip(names, weights, logs.T, strict=True)
        ],
        "experts_compared": [
            {"expert": candidate.name, "score": score(candidate.log_densities)}
            for candidate in compared
        ],
        "held_out_mixture": score(logsumexp(logs + np.log(weights), axis=1)),
    }


def chosen(
    tree: Array, compared: Sequence[Candidate], row_weights: Array
) -> tuple[list[Candidate], Array]:
    """The candidates that are kept beside the tree, and the weights of the tree and of each."""
    kept = list(compared)
    while True:
        logs = np.column_stack([tree, *(candidate.log_densities for candidate in kept)])
        weights = mixture_weights(logs, row_weights)
        order = np.argsort(-weights[1:], kind="stable")[:MAX_EXPERTS]
        heavy = sorted(place for place in order.tolist() if weights[1 + place] >= MIN_WEIGHT)
        if len(heavy) == len(kept):
            return kept, weights / weights.sum()
        kept = [kept[place] for place in heavy]
