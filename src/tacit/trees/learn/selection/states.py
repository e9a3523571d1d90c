"""Numbers of states of the hidden nodes: as given, or selected by held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.core.progress import Report, silent
from tacit.core.selection import smallest_enough
from tacit.errors import ArgumentError, RankError, TooExpensiveError
from tacit.trees.learn.learners import CLASS_LEARNERS, Job
from tacit.trees.learn.settings import Settings, check_n_states
from tacit.trees.learn.spectral.ranks import side_ranks
from tacit.trees.moments.source import CountedMoments, indicator_correlation

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.input.table import Table
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.moments.source import PairTables
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Split = tuple["Table", "Table"]  # rows to learn from, and held-out rows

# Candidate numbers of hidden states where none is given.
CANDIDATES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# Fraction of the rows that is held out for selection, where no validation rows are given.
HELD_OUT_FRACTION = 0.2
# With up to so many rows, cross-validation in so many folds instead of one held-out part.
ROWS_FOR_FOLDS, N_FOLDS = 2000, 5
# Most rows that numbers of states are compared with: more take long and seldom distinguish more states.
MOST_ROWS = 100_000

# Most indicators on one side of an edge: larger matrices take long and show no more.
MOST_INDICATORS = 400

BY_MOMENTS = ("spectral", "hierarchical", "mossel-roch")


def known_states(n_states: Any, topology: Topology, tree: RootedTree) -> dict[str, int]:
    """The hidden nodes whose number of states is given by the user or by the tree.

    Parameters
    ----------
    n_states : int, mapping of hidden node to int, or "auto"
        "auto" leaves open what the tree leaves open.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        Where `n_states` is something else, or names what is no hidden node.
    """
    check_n_states(n_states)
    free = [tree.names[node] for node in tree.hidden if tree.copy_of[node] < 0]
    of_tree = {name: count for name, count in topology.n_states.items() if name in free}
    if isinstance(n_states, str):
        return of_tree
    if not isinstance(n_states, Mapping):
        return dict.fromkeys(free, int(n_states))
    strange = [str(name) for name in n_states if name not in free]
    if strange:
        raise ArgumentError(
            f"n_states names {', '.join(map(repr, strange))}, but the hidden nodes are "
            f"{', '.join(map(repr, free)) or 'none'}"
        )
    return {**of_tree, **{str(name): int(count) for name, count in n_states.items()}}


def state_counts(
    tree: RootedTree,
    cards: Sequence[int],
    known: Mapping[str, int],
    otherwise: int | None = None,
) -> tuple[int, ...] | None:
    """States of every node: categories of leaves and of what repeats them, the rest as known.

    None where a node is not known and nothing is said for it `otherwise`.
    """
    counts: list[int] = list(cards)
    for node in tree.hidden:
        leaf = int(tree.copy_of[node])
        count = cards[leaf] if leaf >= 0 else known.get(tree.names[node], otherwise)
        if count is None:
            return None
        counts.append(count)
    return tuple(counts)


def check_supported(
    tree: RootedTree, states: tuple[int, ...], learn: str, table: Table, named: Container[str] = ()
) -> None:
    """Raise a `RankError` where more states were requested than the data support.

    Tables need at least a row for each state. Moment methods see a hidden node from two sides and distinguish
    no more states than there are joint categories on the smaller side, with the branches divided as evenly as
    possible. Where one number was given for all nodes, it is enough that some node supports it: the others
    get as many as they support.

    Parameters
    ----------
    tree : RootedTree
    states : (node,)
    learn : str
    table : Table
    named : names of nodes
        Nodes that were given a number by name.
    """
    hidden = [node for node in tree.hidden if tree.copy_of[node] < 0]
    most = max((states[node] for node in hidden), default=1)
    if learn not in BY_MOMENTS:
        n_rows = table.n_rows if table.weights is None else int(np.count_nonzero(table.weights))
        if most > n_rows:
            raise RankError(
                f"n_states={shown(most)} requested, but the data has n_samples={n_rows}, fewer rows than "
                f"states; give more rows, or n_states<={n_rows}"
            )
        return
    if most <= min(states[: tree.n_leaves]):
        return
    distinguishable = {node: distinguishable_states(tree, states, node) for node in hidden}
    largest = max(distinguishable.values())
    for node, count in distinguishable.items():
        is_named = tree.names[node] in named
        if states[node] > (count if is_named else largest):
            whose = f" of {tree.names[node]!r}" if is_named else ""
            raise RankError(
                f"n_states={states[node]}{whose} requested, but the columns around have so few categories "
                f"that learn={learn!r} can tell only {count if is_named else largest} states apart; give "
                f'n_states<={count if is_named else largest}, or learn="auto"'
            )


def distinguishable_states(tree: RootedTree, states: tuple[int, ...], node: int) -> int:
    """The number of states of a node that its branches can distinguish."""
    below, above = side_ranks(tree, states)
    branches = [below[child] for child in tree.children[node]]
    if node != tree.root:
        branches.append(above[node])
    sides = [1, 1]
    for branch in sorted(branches, reverse=True):
        sides[int(sides[1] < sides[0])] *= branch
    return min(sides)


def selected_states(
    table: Table,
    held_out: Table | None,
    tree: RootedTree,
    known: Mapping[str, int],
    learn: str,
    settings: Settings,
    report: Report,
    others: Sequence[Split] = (),
) -> tuple[tuple[int, ...], dict[str, Any], Array]:
    """The number of states with the best held-out score, and the record of all candidates.

    More states are taken only where they are better by a margin (`smallest_enough`). The third value is the
    log-likelihood of each of the held-out rows, without those of `others`.

    Parameters
    ----------
    table : Table
    held_out : Table or None
        Held-out rows; without them some of the table's are held out.
    tree : RootedTree
    known : mapping
        Hidden nodes whose number of states is given.
    learn : str
    settings : Settings
    report : callable
        Called with the fraction done and a text.
    others : sequence of (table, table)
        Further folds: rows to learn from and held-out rows, see `other_folds`.
    """
    cards = table.schema.cards
    train, set_aside = split_table(table, settings.seed, everything=held_out is not None)
    held_out = set_aside if held_out is None else held_out
    if held_out is None:
        return _states(tree, cards, known, 1), {"candidates": [{"n_states": 1}]}, np.zeros(0)
    splits = [
        (rows, judging, CountedMoments.of(rows.codes, cards, rows.weights, settings.n_jobs))
        for rows, judging in ((train, held_out), *others)
    ]
    weights = np.concatenate([_row_weights(judging) for _, judging, _ in splits])
    _, _, first = splits[0]
    spectra = largest_useful_rank(tree, first.pairs(), first.n_rows)
    # Pairs show linear dependence only; joint categories may support up to twice as many.
    most = max(2, 2 * spectra.rank)
    candidates: list[dict[str, Any]] = []
    log_likelihoods: dict[int, Array] = {}
    top, worse = -np.inf, 0
    for k in [k for k in CANDIDATES if k <= most]:
        report(k / (most + 1), f"trying {k} states")
        states = _states(tree, cards, known, k)
        try:
            parts = [
                held_out_rows(Job(rows, tree, states, moments, settings, silent), judging, learn)
                for rows, judging, moments in splits
            ]
        except (RankError, TooExpensiveError) as error:
            candidates.append({"n_states": k, "refused": str(error)})
            break
        log_likelihoods[k] = np.concatenate(parts)
        score = float(np.average(log_likelihoods[k], weights=weights))
        candidates.append({"n_states": k, "score": score})
        if others:  # other candidates are compared on the first fold alone
            first_score = float(np.average(parts[0], weights=held_out.weights))
            candidates[-1] = {"n_states": k, "score": first_score, "score_in_parts": score}
        # Any gain is a reason to go on: several small ones may exceed the margin.
        worse = 0 if score > top else worse + 1
        top = max(top, score)
        if worse == 2:
            break
    place = smallest_enough(list(log_likelihoods.values()), weights)
    best = [*log_likelihoods, 1][place]  # 1 where all were refused
    record = {"candidates": candidates, "edges": spectra.edges, "n_rows_tried_with": train.n_rows}
    of_best = log_likelihoods.get(best, np.zeros(0))[: held_out.n_rows]
    return _states(tree, cards, known, best), record, of_best


def _row_weights(table: Table) -> Array:
    return np.ones(table.n_rows) if table.weights is None else table.weights


def split_table(
    table: Table, seed: int, *, everything: bool, most: int | None = None
) -> tuple[Table, Table | None]:
    """The rows to learn from, and held-out rows: none with `everything`, or where there are too few rows.

    At most `most` rows in all.
    """
    learning, judging = split_rows(table, seed, everything=everything, most=most)
    held_out = None if judging is None else table.take(judging)
    return table if learning is None else table.take(learning), held_out


def other_folds(table: Table, validation: Table | None, seed: int) -> list[Split]:
    """The other folds of a table, beside that of `split_table`: rows to learn from and held-out rows.

    None where validation rows are given, or where rows are so many that one fold is enough.
    """
    if validation is not None or table.n_rows > ROWS_FOR_FOLDS:
        return []
    splits = []
    for part in range(1, N_FOLDS):
        learning, judging = split_rows(table, seed, everything=False, part=part)
        if learning is not None and judging is not None and len(judging):
            splits.append((table.take(learning), table.take(judging)))
    return splits


def split_rows(
    table: Table | MixedTable,
    seed: int,
    *,
    everything: bool,
    most: int | None = None,
    part: int = 0,
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Row numbers of a fold, see `split_table`; None for all rows to learn from, and for no held-out rows."""
    most = MOST_ROWS if most is None else most
    if everything and table.n_rows <= most and table.weights is None:
        return None, None
    rows = np.arange(table.n_rows) if table.weights is None else np.flatnonzero(table.weights)
    order = np.random.default_rng(seed).permutation(rows)[:most]
    cut = 0 if everything else max(1, round(HELD_OUT_FRACTION * len(order)))
    if cut == len(order):
        return None, None
    judging = slice(part * cut, (part + 1) * cut)
    return np.sort(np.delete(order, judging)), None if everything else np.sort(order[judging])


def held_out_rows(job: Job, held_out: Table, learn: str) -> Array:
    """Log-likelihood of each held-out row; of classes, one start is enough for a comparison."""
    from tacit.messages.conditionals import log_prob
    from tacit.messages.evidence import Evidence

    check_supported(job.tree, job.n_states, learn, job.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick = replace(job, settings=replace(job.settings, effort="low"))
        learnt = CLASS_LEARNERS[learn](quick)
    return log_prob(learnt.network, Evidence(held_out.codes)).values


def _states(
    tree: RootedTree, cards: Sequence[int], known: Mapping[str, int], otherwise: int
) -> tuple[int, ...]:
    states = state_counts(tree, cards, known, otherwise)
    assert states is not None
    return states


@dataclass(frozen=True, eq=False)
class EdgeSpectra:
    """Singular values at the edges of a tree, and the number of states that they support."""

    rank: int  # the largest number of states that some edge supports
    edges: dict[str, dict[str, Any]]  # by the name of the node below: kept, cut, threshold


def largest_useful_rank(tree: RootedTree, pairs: PairTables, n_rows: float) -> EdgeSpectra:
    """The largest number of states that the singular values of some inner edge support.

    The standardised indicators below an edge against those above it: of pure noise, the singular values stay
    below ``(sqrt(a) + sqrt(b)) / sqrt(n_rows)`` for a and b indicators. Those above it count, and one for the
    constant.
    """
    joint = pairs.probabilities
    correlation = indicator_correlation(joint, joint.diagonal())
    columns = [np.arange(pairs.offsets[i], pairs.offsets[i + 1]) for i in range(len(pairs.cards))]
    edges: dict[str, dict[str, Any]] = {}
    most = 1
    for node in tree.hidden:
        nodes = [node] if node != tree.root else []
        nodes += [child for child in tree.children[node] if child < tree.n_leaves]
        for lower in nodes:
            if not tree.outside[lower]:
                continue
            below = np.concatenate([columns[leaf] for leaf in tree.below[lower]])[:MOST_INDICATORS]
            above = np.concatenate([columns[leaf] for leaf in tree.outside[lower]])
            above = above[:MOST_INDICATORS]
            values = np.linalg.svd(correlation[np.ix_(below, above)], compute_uv=False)
            free = len(below) - len(tree.below[lower]), len(above) - len(tree.outside[lower])
            threshold = float(sum(np.sqrt(max(n, 0)) for n in free) / np.sqrt(n_rows))
            significant = values[values > max(threshold, 1e-12)]
            edges[tree.names[lower]] = {
                "kept": [1.0, *significant.tolist()],
                "cut": values[len(significant) :][:12].tolist(),
                "threshold": threshold,
            }
            most = max(most, 1 + len(significant))
    return EdgeSpectra(most, edges)
