"""Simpler models that may be part of the mixture: independent columns, Chow-Liu tree, classes, few states."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import silent
from tacit.core.selection import smallest_enough
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.messages.network import Tables
from tacit.trees.learn.chow_liu import tables_from_pairs
from tacit.trees.learn.learners import Job, learn_auto, learn_em
from tacit.trees.learn.selection.states import state_counts
from tacit.trees.learn.selection.structures import topology_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.learn.selection.forests import TrainingData
    from tacit.trees.learn.settings import Settings

Array = NDArray[np.float64]
Learn = Callable[["TrainingData"], Tables]

CHOW_LIU_PSEUDO_COUNTS = EM_PSEUDO_COUNTS = 1.0
# Numbers of states are compared as long as more are better; two in a row that are not end it.
PATIENCE = 2
FEWEST_ROWS_PER_STATE = 10


@dataclass(frozen=True, eq=False)
class Simple:
    """A model that is learnt in one go, and the log-likelihoods of held-out rows."""

    structure: str
    learn: Learn
    parts: tuple[Tables, ...]  # (fold,)
    rows: Array  # (held-out row,)
    score: float
    n_iterations: int = 0

    @staticmethod
    def of(structure: str, learn: Learn, data: TrainingData) -> Simple:
        """The model learnt without the held-out rows of each fold."""
        parts, rows = [], []
        for fold in data.folds:
            tables = learn(fold)
            parts.append(tables)
            assert fold.held_out is not None
            rows.append(log_prob(tables, Evidence(fold.held_out.codes)).values)
        joined = np.concatenate(rows)
        score = float(np.average(joined, weights=data.held_out_weights))
        return Simple(structure, learn, tuple(parts), joined, score)

    @property
    def tables(self) -> Tables:
        """Of the first fold."""
        return self.parts[0]

    @property
    def n_states(self) -> int:
        """The most states of a hidden node that repeats no column."""
        tree, states = self.tables.tree, self.tables.layout.n_states
        return max((states[node] for node in tree.hidden if tree.copy_of[node] < 0), default=1)

    def again(
        self,
        data: TrainingData,
        *,
        tell: Callable[[str], None] | None = None,
        n_jobs: int | None = None,
    ) -> Simple:
        """The same model learnt from other rows."""
        if tell is not None:
            tell(self.structure)
        return Simple(self.structure, self.learn, (self.learn(data),), np.zeros(0), self.score)

    def as_dict(self) -> dict[str, Any]:
        """Settings and scores, in plain values."""
        return {"structure": self.structure, "n_states": self.n_states, "score": self.score}


def chow_liu_member(data: TrainingData) -> Simple:
    """The tree without hidden variables."""

    def learn(fold: TrainingData) -> Tables:
        names = fold.table.schema.names
        tree = topology_for("chow-liu", fold.moments, names).rooted(names)
        return tables_from_pairs(tree, fold.moments.pairs(), CHOW_LIU_PSEUDO_COUNTS)

    return Simple.of("chow-liu", learn, data)


def independent_member(data: TrainingData, settings: Settings) -> Simple:
    """Independent columns."""
    return few_states_member("star", 1, data, settings)


def few_states_member(
    structure: str, k: int, data: TrainingData, settings: Settings, tree: RootedTree | None = None
) -> Simple:
    """A tree with few states at each hidden node; without a tree, the structure is learnt in each fold."""
    return Simple.of(
        "independent" if k == 1 else structure, _learner(structure, k, settings, tree), data
    )


def em_member(
    structure: str, k: int, data: TrainingData, settings: Settings, tree: RootedTree
) -> Simple:
    """The same by EM from several random starts."""
    return Simple.of(f"{structure} by EM", _learner(structure, k, settings, tree, learn_em), data)


def _learner(
    structure: str,
    k: int,
    settings: Settings,
    tree: RootedTree | None,
    by: Callable[[Job], Any] = learn_auto,
) -> Learn:
    # Of classes one start; EM from random starts has pseudo-counts, or rows could be impossible.
    quick = replace(settings, effort="low")
    if by is learn_em and isinstance(settings.pseudo_counts, str):
        quick = replace(quick, pseudo_counts=EM_PSEUDO_COUNTS)

    def learn(fold: TrainingData) -> Tables:
        names, cards = fold.table.schema.names, fold.table.schema.cards
        own = tree
        if own is None:
            own = topology_for(structure, fold.moments, names).rooted(names)
        states = state_counts(own, cards, {}, k)
        assert states is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learnt = by(Job(fold.table, own, states, fold.moments, quick, silent))
        assert isinstance(learnt.parameters, Tables)
        return learnt.parameters

    return learn


def best_number(
    structure: str,
    data: TrainingData,
    settings: Settings,
    report: Callable[[float, str], None],
    candidates: Sequence[int],
    tree: RootedTree | None = None,
) -> tuple[Simple | None, list[dict[str, Any]]]:
    """The model with the number of states that held-out rows like, and the scores of all that were compared.

    More states are taken only where they are better by a margin (`smallest_enough`), and compared as long as
    more are better. None where there are too few rows for the first candidate.
    """
    compared: list[Simple] = []
    n_worse = 0
    for k in candidates:
        if k > 1 and k * FEWEST_ROWS_PER_STATE > data.table.n_rows:
            continue
        report(0.0, f"{structure}, trying {k} states")
        one = few_states_member(structure, k, data, settings, tree)
        n_worse = (
            0 if one.score > max((m.score for m in compared), default=-np.inf) else n_worse + 1
        )
        compared.append(one)
        if n_worse == PATIENCE:
            break
    scores = [{"n_states": one.n_states, "score": one.score} for one in compared]
    if not compared:
        return None, scores
    place = smallest_enough([one.rows for one in compared], data.held_out_weights)
    return compared[place], scores
