"""How a Gaussian tree is learnt: scores, covariance, tree, and how much of each."""

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
from tacit.trees.learn.structures import STRUCTURES, found_in_distances
from tacit.trees.structure.distances import Distances, covariance_distances
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# What held-out rows choose from; the first stays unless another is better by more than a standard error.
CHOICES = (
    "refined-joining",
    "neighbor-joining",
    "chow-liu-joining",
    "chow-liu-grouping",
    "chow-liu",
)
SHRINKAGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
# With fewer rows nothing is set aside; of more than these, a sample is learnt from where something is chosen.
FEWEST_ROWS = 20
MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Settings:
    """What the caller asked for."""

    structure: Any  # a name, "auto", or a tree
    normal: bool  # normal scores of numbers
    shrinkage: float | None  # None is to be chosen
    learn: str  # "em" or "distances"
    prior: float
    seed: int

    @property
    def chooses_structure(self) -> bool:
        """Whether the structure is left open."""
        return isinstance(self.structure, str) and self.structure == "auto"


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows as scores, with their covariance."""

    scores: Scores
    rows: Array  # (row, coordinate)
    weights: Array  # (row,)
    covariance: Fitted

    @classmethod
    def of(cls, table: MixedTable, settings: Settings) -> Prepared:
        """The scores of a table's numbers, and their covariance by EM."""
        scores = Scores.of(table, normal=settings.normal)
        rows = scores.coordinates(table)
        if rows.shape[1] == 0:
            raise DataError("no column has more than one category, so there is nothing to learn")
        weights = np.ones(len(rows)) if table.weights is None else table.weights
        kept = weights > 0
        rows, weights = rows[kept], weights[kept]
        return cls(scores, rows, weights, gaussian_em(rows, weights, prior=settings.prior))

    @property
    def gaussian(self) -> Gaussian:
        """The Gaussian without a tree."""
        return self.covariance.gaussian

    @cached_property
    def correlation(self) -> Array:
        """Of all coordinates."""
        scale = self.gaussian.scale
        return np.asarray(self.gaussian.covariance / np.multiply.outer(scale, scale))

    @cached_property
    def distances(self) -> Distances:
        """-log |correlation|, and which of them the data support."""
        there = (~np.isnan(self.rows)).astype(np.float64)
        pairs = (self.weights[:, None] * there).T @ there  # rows that have both
        return covariance_distances(self.correlation, [1] * len(self.correlation), pairs)

    @property
    def n_rows(self) -> float:
        """Rows, as their weights count them."""
        return float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Learnt:
    """A Gaussian over scores, and the tree that it hangs on."""

    scores: Scores
    gaussian: Gaussian
    topology: Topology
    diagnostics: dict[str, Any] = field(default_factory=dict)


def learn_gaussian_tree(
    table: MixedTable, validation: MixedTable | None, settings: Settings, report: Report
) -> Learnt:
    """The Gaussian tree of a table; what is left open is chosen by held-out rows.

    Parameters
    ----------
    table : MixedTable
    validation : MixedTable, optional
        Rows to choose by; without it, parts of the table are set aside in turn.
    settings : Settings
    report : callable
    """
    structure, shrinkage = settings.structure, settings.shrinkage
    diagnostics: dict[str, Any] = {}
    if settings.chooses_structure or shrinkage is None:
        report(0.0, "choosing by held-out rows")
        structure, shrinkage, diagnostics = _chosen(table, validation, settings)
    report(0.7, "learning from all rows")
    prepared = Prepared.of(table, settings)
    topology, tree = tree_of(prepared, structure, settings.learn)
    gaussian = _mixed(prepared, tree, shrinkage)
    score = float(
        np.average(log_density(gaussian, prepared.rows), weights=prepared.weights)
        + np.average(prepared.scores.log_slopes(table), weights=table.weights)
    )
    diagnostics |= {
        "structure": structure if isinstance(structure, str) else "given",
        "shrinkage": shrinkage,
        "learn": settings.learn,
        "n_steps": len(prepared.covariance.trace),
        "converged": prepared.covariance.converged,
        "train_score": score,
    }
    return Learnt(prepared.scores, gaussian, topology, diagnostics)


# -- the tree --------------------------------------------------------------------------------------


def tree_of(prepared: Prepared, structure: Any, learn: str) -> tuple[Topology, CorrelationTree]:
    """The tree over the coordinates, with lengths, and the correlations along its edges.

    Parameters
    ----------
    prepared : Prepared
    structure : str, Topology, path, networkx tree or edges
        One of `STRUCTURES`, or a tree.
    learn : {"em", "distances"}
        Whether correlations along edges are those that joined distances give, or the likeliest.
    """
    names = prepared.scores.names
    if isinstance(structure, str) and structure in STRUCTURES:
        distances, n_rows = prepared.distances, prepared.n_rows
        topology = found_in_distances(structure, names, distances, n_rows).topology
    else:
        topology = given_topology(structure, prepared.scores)
    if None in topology.lengths:
        topology = _measured(topology, prepared)
    tree = CorrelationTree.of(topology, names, consistent_signs(prepared.correlation))
    if learn == "em":
        # With missing cells, going on with expectations under the tree itself gained nothing on held-out
        # rows: the covariance that EM found without a tree is as good.
        tree = fit_tree(tree, prepared.correlation)
        topology = with_lengths(topology, names, tree)
    return topology, tree


def given_topology(structure: Any, scores: Scores) -> Topology:
    """The tree that a user meant, over the coordinates.

    Its leaves are the columns; in place of a column of three or more categories there is a hidden node, with
    the indicators of the categories around it. A tree over the coordinates themselves will do as well.
    """
    columns, names = scores.schema.names, scores.names
    try:
        topology = Topology.parse(structure, columns)
    except MissingDataError as error:
        raise ArgumentError(
            f"structure={structure!r} is neither one of {('auto', *STRUCTURES)}, nor Newick text (';' ends "
            f"it), nor a file that is there"
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


def _measured(topology: Topology, prepared: Prepared) -> Topology:
    """The tree with lengths of its edges, estimated from the distances."""
    from tacit.trees.structure.draft import Draft
    from tacit.trees.structure.interchange import effective_rows, refit, similarity_of

    names, far = prepared.scores.names, prepared.distances.values
    tree = topology.contracted()
    number = {name: place for place, name in enumerate([*names, *tree.hidden])}
    draft = Draft.of(tree, names)  # which numbers nodes in the same way
    if draft.edges():
        rows = effective_rows(max(prepared.n_rows, 2.0), 2)
        refit(draft, similarity_of(far, names, 2), rows, n_rounds=3)
    lengths = tuple(max(draft.near[number[one]][number[other]], 0.0) for one, other in tree.edges)
    return Topology(tree.nodes, tree.edges, tree.observed, lengths)


def _mixed(prepared: Prepared, tree: CorrelationTree, shrinkage: float) -> Gaussian:
    """The Gaussian of the tree, mixed with the one without."""
    free = prepared.gaussian
    return tree.gaussian(free.mean, free.scale).mixed(free, shrinkage)


# -- choosing --------------------------------------------------------------------------------------


def _chosen(
    table: MixedTable, validation: MixedTable | None, settings: Settings
) -> tuple[Any, float, dict[str, Any]]:
    """Structure and shrinkage with the best held-out likelihood, and what all of them had."""
    structures = CHOICES if settings.chooses_structure else (settings.structure,)
    shrinkages = SHRINKAGES if settings.shrinkage is None else (settings.shrinkage,)
    if validation is None and table.n_rows < FEWEST_ROWS:
        return structures[0], shrinkages[len(shrinkages) // 2], {}
    scores, weights = [], []
    for train, test in _splits(table, validation, settings.seed):
        prepared = Prepared.of(train, settings)
        scores.append(_held_out(prepared, structures, shrinkages, test, settings.learn))
        weights.append(np.ones(test.n_rows) if test.weights is None else test.weights)
    together, counted = np.concatenate(scores, axis=2), np.concatenate(weights)
    means = np.average(together, axis=2, weights=counted)  # (structure, shrinkage)
    best = means.argmax(axis=1)  # (structure,)
    tops = together[np.arange(len(structures)), best]  # (structure, row)
    chosen = int(means.max(axis=1).argmax())
    if not surely_better(tops[chosen], tops[0], counted):
        chosen = 0
    diagnostics: dict[str, Any] = {
        "held_out_score": float(means[chosen].max()),
        "n_rows_tried_with": int(together.shape[2]),
    }
    if settings.chooses_structure:
        tried = zip(structures, means.max(axis=1).tolist(), strict=True)
        diagnostics["structures"] = dict(tried)
    if settings.shrinkage is None:
        diagnostics["shrinkages"] = dict(zip(shrinkages, means[chosen].tolist(), strict=True))
    return structures[chosen], shrinkages[int(best[chosen])], diagnostics


def _splits(
    table: MixedTable, validation: MixedTable | None, seed: int
) -> Iterator[tuple[MixedTable, MixedTable]]:
    """Rows to learn from and rows to judge by: few rows are set aside in turn, many once."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(table.n_rows)
    if validation is not None:
        yield table.take(np.sort(order[:MOST_ROWS])), validation
        return
    order = order[: MOST_ROWS * 5 // 4]
    n_folds = int(np.clip(2500 // len(order), 1, 5))
    for fold in range(n_folds):
        aside = np.zeros(len(order), dtype=np.bool_)
        aside[fold::5] = True
        yield table.take(np.sort(order[~aside])), table.take(np.sort(order[aside]))


def _held_out(
    prepared: Prepared,
    structures: Sequence[Any],
    shrinkages: Sequence[float],
    test: MixedTable,
    learn: str,
) -> Array:
    """(structure, shrinkage, row) natural log density of held-out rows."""
    rows, slopes = prepared.scores.coordinates(test), prepared.scores.log_slopes(test)
    found = np.empty((len(structures), len(shrinkages), len(rows)))
    for place, structure in enumerate(structures):
        _, tree = tree_of(prepared, structure, learn)
        for other, share in enumerate(shrinkages):
            found[place, other] = log_density(_mixed(prepared, tree, share), rows)
    return found + slopes
