"""The order of a chain and the number of states of hidden variables, selected by held-out rows.

Candidates go from simple to rich: order 0 (independent columns), then each order with more and more states,
until more are worse by a standard error. From the third on, orders end with one that is no better than those
before it. Where rows are few, the best of several orders are compared again by cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import silent
from tacit.core.selection import smallest_enough, surely_better
from tacit.errors import TooExpensiveError
from tacit.junction.learn.learners import JunctionJob, learner_of
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.trees.learn.selection.states import Split, other_folds, split_table

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.junction.structure.graphs import LatentGraph

Array = NDArray[np.float64]
States = int | Mapping[str, int]
MakeJob = Callable[["Table", "LatentGraph", Any], JunctionJob]

# Candidate numbers of states, in this order until one is worse by a standard error.
COUNTS = (1, 2, 3, 4, 6)
# Orders that are compared even if the one before was no better: on DNA the third may be better than the first
# where the second is not.
ORDERS_TRIED = 3
# Joint states of a hidden variable and those it depends on that a candidate of higher order may have. The
# work of a candidate is in proportion to these and to the cells of the table.
MOST_JOINT_STATES = 100
# Cells of the rows that candidates are compared with; the one that is kept is learnt from all rows.
MOST_CELLS = 300_000
FEWEST_ROWS = 500
# A gain of fewer nats per row is not worth hidden states: the prior of tables with many rows alone brings as
# much on independent columns, and surely.
LEAST_GAIN = 1e-3
# Candidates that cross-validation compares again.
MOST_FINALISTS = 3


@dataclass(frozen=True, eq=False)
class Chosen:
    """A graph with a number of states for its hidden variables, and what it was compared with."""

    latent: LatentGraph
    n_states: Any
    record: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A graph and a number of states, and how likely held-out rows are."""

    latent: LatentGraph
    n_states: Any
    n_parameters: int
    pseudo_counts: float | None  # that held-out rows chose
    scores: Array  # (held-out row,)

    def mean(self, weights: Array | None) -> float:
        """The mean score of the held-out rows."""
        return float(np.average(self.scores, weights=weights))


def selected(
    make: MakeJob,
    graphs: Sequence[LatentGraph],
    n_states: Any,
    table: Table,
    held_out: Table | None,
    *,
    learn: str,
    seed: int,
) -> Chosen:
    """The simplest candidate that no richer one is better than, by a margin, on held-out rows.

    Parameters
    ----------
    make : callable
        Gives what a learner needs, from a table, a graph and a number of states.
    graphs : sequence of LatentGraph
        From simple to rich.
    n_states : int, mapping of hidden variable to int, or "auto"
    table : Table
    held_out : Table, optional
        Without it a part of the table is held out.
    learn : str
    seed : int
    """
    counts = COUNTS if isinstance(n_states, str) else (n_states,)
    if len(graphs) == len(counts) == 1:
        return Chosen(graphs[0], counts[0], {})
    given, most = held_out, max(MOST_CELLS // len(table.schema), FEWEST_ROWS)
    train, part = split_table(table, seed, everything=given is not None, most=most)
    held_out = part if given is None else given
    if held_out is None:  # too few rows to choose with
        return Chosen(graphs[0], counts[0], {})
    search = _Search(make, learn, train, held_out)
    candidates, skipped = search.candidates(graphs, counts)
    finalists = _finalists(candidates, held_out.weights)
    again, weights = search.compared_again(finalists, other_folds(table, given, seed))
    best = (again or finalists)[_best(again or finalists, weights if again else held_out.weights)]
    record: dict[str, Any] = {
        "candidates": [_described(candidate, held_out.weights) for candidate in candidates]
    }
    if again:
        record["finalists"] = [_described(candidate, weights) for candidate in again]
    if skipped:
        record["skipped"] = skipped
    if table.n_rows > most:
        record["rows_compared"] = most
    return Chosen(best.latent, best.n_states, record)


@dataclass(frozen=True, eq=False)
class _Search:
    """How candidates are learnt from some rows and compared on others."""

    make: MakeJob
    learn: str
    train: Table
    held_out: Table

    def candidates(
        self, graphs: Sequence[LatentGraph], counts: Sequence[Any]
    ) -> tuple[list[_Candidate], list[dict[str, Any]]]:
        """Candidates as long as they improve, and those that would take too much work."""
        tried: list[_Candidate] = []
        skipped: list[dict[str, Any]] = []
        weights = self.held_out.weights
        for latent in graphs:
            before = max((candidate.mean(weights) for candidate in tried), default=-np.inf)
            best: Array | None = None
            for count in _counts(latent, counts, first=not tried):
                if _is_too_much(latent, count) or (job := self._job(latent, count)) is None:
                    skipped.append(_described_choice(latent, count))
                    continue
                tried.append(self._scored(job, latent, count))
                scores = tried[-1].scores
                if best is not None and surely_better(best, scores, weights):
                    break
                if best is None or surely_better(scores, best, weights, 0.0):
                    best = scores
            if (latent.order or 0) < ORDERS_TRIED:
                continue
            if max(c.mean(weights) for c in tried) <= before:
                break
        return tried, skipped

    def compared_again(
        self, finalists: Sequence[_Candidate], folds: Sequence[Split]
    ) -> tuple[list[_Candidate], Array | None]:
        """The finalists with the scores of other folds alone, and the weights of the rows of these.

        They are the best of the first fold, where they are better than on new rows.
        """
        if len(finalists) == 1 or not folds:
            return [], None
        parts = [
            [
                replace(self, train=train, held_out=held_out).scores_again(candidate)
                for candidate in finalists
            ]
            for train, held_out in folds
        ]
        scores = [np.concatenate(of_candidate) for of_candidate in zip(*parts, strict=True)]
        weights = [held_out.weights for _, held_out in folds if held_out.weights is not None]
        again = [
            replace(candidate, scores=rows)
            for candidate, rows in zip(finalists, scores, strict=True)
        ]
        return again, np.concatenate(weights) if weights else None

    def scores_again(self, candidate: _Candidate) -> Array:
        """The scores of these held-out rows."""
        job = self.make(self.train, candidate.latent, candidate.n_states)
        if candidate.pseudo_counts is not None:
            settings = replace(job.settings, pseudo_counts=candidate.pseudo_counts)
            job = replace(job, settings=settings)
        return self._scored(job, candidate.latent, candidate.n_states).scores

    def _job(self, latent: LatentGraph, count: Any) -> JunctionJob | None:
        """What a learner needs; None where a higher order needs too much memory."""
        try:
            return self.make(self.train, latent, count)
        except TooExpensiveError:
            if (latent.order or 0) < 2:
                raise
            return None

    def _scored(self, job: JunctionJob, latent: LatentGraph, count: Any) -> _Candidate:
        job.report(0.0, f"comparing {_words(latent, count)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learnt = learner_of(self.learn, latent.order)(replace(job, report=silent))
        scores = log_prob(learnt.parameters, Evidence(self.held_out.codes), negative="floor").values
        strength = learnt.diagnostics.get("pseudo_counts")
        return _Candidate(latent, count, job.ties.n_parameters, strength, scores)


def _counts(latent: LatentGraph, counts: Sequence[Any], *, first: bool) -> Sequence[Any]:
    """The numbers of states that a graph is tried with: one state makes all orders the same."""
    if latent.order == 0:
        return counts[:1]
    return counts if first or len(counts) == 1 else counts[1:]


def _is_too_much(latent: LatentGraph, count: Any) -> bool:
    """Whether a candidate of higher order has too many joint states."""
    order = latent.order or 0
    if order < 2 or not isinstance(count, int):
        return False
    n_joint: int = count ** min(order + 1, 64)
    return n_joint > MOST_JOINT_STATES


def _finalists(candidates: Sequence[_Candidate], weights: Array | None) -> list[_Candidate]:
    """The simplest, and the best of the others, at most one of each order; from small to large."""
    several = len({candidate.latent.order for candidate in candidates}) > 1
    groups: dict[Any, list[_Candidate]] = {}
    for candidate in candidates:
        group = candidate.latent.order if several else candidate.n_states
        groups.setdefault(group, []).append(candidate)
    simplest, *others = [
        group[smallest_enough([candidate.scores for candidate in group], weights)]
        for group in groups.values()
    ]
    others.sort(key=lambda candidate: -candidate.mean(weights))
    return sorted(
        [simplest, *others[: MOST_FINALISTS - 1]], key=lambda candidate: candidate.n_parameters
    )


def _best(candidates: Sequence[_Candidate], weights: Array | None) -> int:
    """The place of the candidate to keep; the first is left only for one better by a standard error."""
    best = smallest_enough([candidate.scores for candidate in candidates], weights)
    one, other = candidates[best], candidates[0]
    gain = one.mean(weights) - other.mean(weights)
    return best if gain > LEAST_GAIN and surely_better(one.scores, other.scores, weights) else 0


def _described_choice(latent: LatentGraph, count: Any) -> dict[str, Any]:
    order = {} if latent.order is None else {"order": latent.order}
    return {**order, "n_states": count if isinstance(count, int) else dict(count)}


def _described(candidate: _Candidate, weights: Array | None) -> dict[str, Any]:
    return {
        **_described_choice(candidate.latent, candidate.n_states),
        "n_parameters": candidate.n_parameters,
        "score": candidate.mean(weights),
    }


def _words(latent: LatentGraph, count: Any) -> str:
    order = "" if latent.order is None else f"order {latent.order}, "
    return f"{order}n_states={count}"
