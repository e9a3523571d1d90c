"""How a Gaussian tree is fitted: selection, scores, covariance, tree, shrinkage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.core.progress import Report
from tacit.core.selection import surely_better
from tacit.errors import ArgumentError, DataError, MissingDataError, TopologyError
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.learn.gaussian_em import Fitted, fit_tree, gaussian_em
from tacit.numbers.model.gaussian import CorrelationTree, Gaussian, consistent_signs, with_lengths
from tacit.numbers.query.gaussian import log_density
from tacit.trees.learn.selection.structures import STRUCTURES, structure_from_distances
from tacit.trees.structure.distances import Distances, covariance_distances
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Candidate structures; the first is kept unless another is more than one standard error better.
CANDIDATES = (
    "refined-joining",
    "neighbor-joining",
    "chow-liu-joining",
    "chow-liu-grouping",
    "chow-liu",
)
SHRINKAGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
# With fewer rows nothing is held out; of more, model selection uses a subsample.
MIN_ROWS = 20
MAX_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Settings:
    """The arguments of `GaussianTree` that learning needs."""

    structure: Any  # a name, "auto", or a tree
    normal: bool  # normal scores of numbers
    shrinkage: float | None  # None: chosen by held-out rows
    learn: str  # "em" or "distances"
    prior: float
    seed: int

    @property
    def selects_structure(self) -> bool:
        """Whether held-out rows choose the structure."""
        return isinstance(self.structure, str) and self.structure == "auto"


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows as scores, and their Gaussian without a tree."""

    scores: Scores
    rows: Array  # (row, coordinate)
    weights: Array  # (row,)
    fitted: Fitted

    @classmethod
    def of(cls, table: MixedTable, settings: Settings) -> Prepared:
        """The scores of a table's numbers, and their covariance by EM."""
        scores = Scores.of(table, normal=settings.normal)
        rows = scores.coordinates(table)
        if rows.shape[1] == 0:
            raise DataError("no column varies, so there is nothing to learn")
        weights = np.ones(len(rows)) if table.weights is None else table.weights
        positive = weights > 0
        rows, weights = rows[positive], weights[positive]
        return cls(scores, rows, weights, gaussian_em(rows, weights, prior=settings.prior))

    @property
    def gaussian(self) -> Gaussian:
        """The Gaussian without a tree."""
        return self.fitted.gaussian

    @cached_property
    def correlation(self) -> Array:
        """Of all coordinates."""
        return correlation_of(self.gaussian)

    @cached_property
    def distances(self) -> Distances:
        """-log |correlation|, and which of them the data support."""
        return supported_distances(self.correlation, self.rows, self.weights)

    @property
    def n_rows(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Learnt:
    """A Gaussian over scores, and its tree."""

    scores: Scores
    gaussian: Gaussian
    topology: Topology
    diagnostics: dict[str, Any] = field(default_factory=dict)


def fit_gaussian_tree(
    table: MixedTable, validation: MixedTable | None, settings: Settings, report: Report
) -> Learnt:
    """The Gaussian tree of a table; held-out rows choose structure and shrinkage where they are not given.

    Parameters
    ----------
    table : MixedTable
    validation : MixedTable, optional
        Held-out rows; without it, cross-validation.
    settings : Settings
    report : callable
    """
    structure, shrinkage = settings.structure, settings.shrinkage
    diagnostics: dict[str, Any] = {}
    if settings.selects_structure or shrinkage is None:
        report(0.0, "model selection")
        structure, shrinkage, diagnostics = _select(table, validation, settings)
    report(0.7, "learning from all rows")
    prepared = Prepared.of(table, settings)
    topology, tree = tree_of(prepared, structure, settings.learn)
    gaussian = _shrunk(prepared, tree, shrinkage)
    score = float(
        np.average(log_density(gaussian, prepared.rows), weights=prepared.weights)
        + np.average(prepared.scores.log_slopes(table), weights=table.weights)
    )
    diagnostics |= {
        "structure": structure if isinstance(structure, str) else "given",
        "shrinkage": shrinkage,
        "learn": settings.learn,
        "n_steps": len(prepared.fitted.trace),
        "converged": prepared.fitted.converged,
        "train_score": score,
    }
    return Learnt(prepared.scores, gaussian, topology, diagnostics)


# -- the tree --------------------------------------------------------------------------------------


def correlation_of(gaussian: Gaussian) -> Array:
    """(coordinate, coordinate)."""
    return np.asarray(gaussian.covariance / np.multiply.outer(gaussian.scale, gaussian.scale))


def supported_distances(correlation: Array, rows: Array, weights: Array) -> Distances:
    """-log |correlation|, and which of them the rows support; cells may be missing."""
    observed = (~np.isnan(rows)).astype(np.float64)
    pairs = (weights[:, None] * observed).T @ observed  # rows that have both
    return covariance_distances(correlation, [1] * len(correlation), pairs)


def tree_gaussian(free: Gaussian, rows: Array, weights: Array) -> Gaussian:
    """The Gaussian along a tree that is nearest to another, which was learnt from the rows.

    Parameters
    ----------
    free : Gaussian
        Mean and covariance without a tree.
    rows : (row, coordinate)
        NaN is missing.
    weights : (row,)
    """
    names = tuple(f"x{place}" for place in range(len(free.mean)))
    correlation = correlation_of(free)
    distances = supported_distances(correlation, rows, weights)
    topology = structure_from_distances(
        CANDIDATES[0], names, distances, float(weights.sum())
    ).topology
    tree = CorrelationTree.of(topology, names, consistent_signs(correlation))
    return fit_tree(tree, correlation).gaussian(free.mean, free.scale)


def tree_of(prepared: Prepared, structure: Any, learn: str) -> tuple[Topology, CorrelationTree]:
    """The tree over the coordinates, with lengths, and the correlations along its edges.

    Parameters
    ----------
    prepared : Prepared
    structure : str, Topology, path, networkx tree or edges
        One of `STRUCTURES`, or a tree.
    learn : {"em", "distances"}
        Whether correlations along edges have maximum likelihood, or follow from the distances.
    """
    names = prepared.scores.names
    if isinstance(structure, str) and structure in STRUCTURES:
        distances, n_rows = prepared.distances, prepared.n_rows
        topology = structure_from_distances(structure, names, distances, n_rows).topology
    else:
        topology = given_topology(structure, prepared.scores)
    if None in topology.lengths:
        topology = _with_estimated_lengths(topology, prepared)
    tree = CorrelationTree.of(topology, names, consistent_signs(prepared.correlation))
    if learn == "em":
        # With missing cells, further EM under the tree itself gained nothing on held-out rows over the
        # covariance that EM found without a tree.
        tree = fit_tree(tree, prepared.correlation)
        topology = with_lengths(topology, names, tree)
    return topology, tree


def given_topology(structure: Any, scores: Scores) -> Topology:
    """A given tree, over the coordinates.

    Its leaves are the columns; a column of three or more categories becomes a hidden node with the indicators
    of the categories around it. A tree over the coordinates themselves is accepted as well.
    """
    columns, names = scores.schema.names, scores.names
    try:
        topology = Topology.parse(structure, columns)
    except MissingDataError as error:
        raise ArgumentError(
            f"structure={structure!r} is neither one of {('auto', *STRUCTURES)}, nor Newick text (which ends "
            f"in ';'), nor an existing file"
        ) from error
    except TopologyError:
        if columns == names:
            raise
        with suppress(TopologyError):
            return Topology.parse(structure, names)
        raise
    if columns == names:
        return topology
    edges = topology.to_edges()
    for place, (column, width) in enumerate(zip(columns, scores.widths, strict=True)):
        if width > 1:
            start = scores.starts[place]
            edges += [(column, name) for name in names[start : start + width]]
    if not edges:
        return Topology(names, (), names)
    return Topology.from_edges(edges, names).contracted()


def _with_estimated_lengths(topology: Topology, prepared: Prepared) -> Topology:
    """The tree with edge lengths estimated from the distances."""
    from tacit.trees.structure.draft import Draft
    from tacit.trees.structure.interchange import effective_rows, refit, similarity_of

    names, distances = prepared.scores.names, prepared.distances.values
    tree = topology.contracted()
    number = {name: place for place, name in enumerate([*names, *tree.hidden])}
    draft = Draft.of(tree, names)  # numbers nodes in the same way
    if draft.edges():
        rows = effective_rows(max(prepared.n_rows, 2.0), 2)
        refit(draft, similarity_of(distances, names, 2), rows, n_rounds=3)
    lengths = tuple(max(draft.near[number[one]][number[other]], 0.0) for one, other in tree.edges)
    return Topology(tree.nodes, tree.edges, tree.observed, lengths)


def _shrunk(prepared: Prepared, tree: CorrelationTree, shrinkage: float) -> Gaussian:
    """The covariance of the tree, shrunk towards the one without a tree."""
    free = prepared.gaussian
    return tree.gaussian(free.mean, free.scale).shrunk(free, shrinkage)


# -- model selection -------------------------------------------------------------------------------


def _select(
    table: MixedTable, validation: MixedTable | None, settings: Settings
) -> tuple[Any, float, dict[str, Any]]:
    """Structure and shrinkage with the best held-out log-density, and the scores of all candidates."""
    structures = CANDIDATES if settings.selects_structure else (settings.structure,)
    shrinkages = SHRINKAGES if settings.shrinkage is None else (settings.shrinkage,)
    if validation is None and table.n_rows < MIN_ROWS:
        return structures[0], shrinkages[len(shrinkages) // 2], {}
    scores, weights = [], []
    for train, test in _splits(table, validation, settings.seed):
        prepared = Prepared.of(train, settings)
        scores.append(
            _held_out_log_densities(prepared, structures, shrinkages, test, settings.learn)
        )
        weights.append(np.ones(test.n_rows) if test.weights is None else test.weights)
    log_densities, row_weights = np.concatenate(scores, axis=2), np.concatenate(weights)
    means = np.average(log_densities, axis=2, weights=row_weights)  # (structure, shrinkage)
    best = means.argmax(axis=1)  # (structure,)
    of_best = log_densities[np.arange(len(structures)), best]  # (structure, row)
    chosen = int(means.max(axis=1).argmax())
    if not surely_better(of_best[chosen], of_best[0], row_weights):
        chosen = 0
    diagnostics: dict[str, Any] = {
        "held_out_score": float(means[chosen].max()),
        "n_rows_tried_with": int(log_densities.shape[2]),
    }
    if settings.selects_structure:
        by_structure = zip(structures, means.max(axis=1).tolist(), strict=True)
        diagnostics["structures"] = dict(by_structure)
    if settings.shrinkage is None:
        diagnostics["shrinkages"] = dict(zip(shrinkages, means[chosen].tolist(), strict=True))
    return structures[chosen], shrinkages[int(best[chosen])], diagnostics


def _splits(
    table: MixedTable, validation: MixedTable | None, seed: int
) -> Iterator[tuple[MixedTable, MixedTable]]:
    """Training and held-out rows: cross-validation with few rows, one split with many."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(table.n_rows)
    if validation is not None:
        yield table.take(np.sort(order[:MAX_ROWS])), validation
        return
    order = order[: MAX_ROWS * 5 // 4]
    n_folds = int(np.clip(2500 // len(order), 1, 5))
    for fold in range(n_folds):
        held_out = np.zeros(len(order), dtype=np.bool_)
        held_out[fold::5] = True
        yield table.take(np.sort(order[~held_out])), table.take(np.sort(order[held_out]))


def _held_out_log_densities(
    prepared: Prepared,
    structures: Sequence[Any],
    shrinkages: Sequence[float],
    test: MixedTable,
    learn: str,
) -> Array:
    """(structure, shrinkage, row) natural log-density of held-out rows."""
    rows, slopes = prepared.scores.coordinates(test), prepared.scores.log_slopes(test)
    log_densities = np.empty((len(structures), len(shrinkages), len(rows)))
    for i, structure in enumerate(structures):
        _, tree = tree_of(prepared, structure, learn)
        for j, shrinkage in enumerate(shrinkages):
            log_densities[i, j] = log_density(_shrunk(prepared, tree, shrinkage), rows)
    return log_densities + slopes
