"""Weighted automata learnt from sequences: blocks, rank and mixing by what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import RankError
from tacit.messages.repairs import Repairs
from tacit.sequences.model.automata import Automaton, HankelFactors, hankel_factors, hankel_values
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.moments.hankel import STATISTICS, HankelBlocks, SubstringCounts, hankel_blocks
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.query.automata import MixedAutomaton, Told, mixed, walked_levels

Array = NDArray[np.float64]

# Strings on each side of the blocks, and their greatest length.
BASIS, SIDE = 300, 5
OTHER_BASES = (100, 1000)
RANKS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 26, 32, 40, 50, 64)
MIXINGS = (0.02, 0.1, 0.3, 0.6)
# Singular values that are told: so many times the rank, and so many more.
TOLD_TIMES, TOLD_MORE = 2, 10


@dataclass(frozen=True, slots=True)
class WeightedChoice:
    """How a weighted automaton is learnt; None is to be chosen."""

    rank: int | None = None
    statistics: str | None = None
    basis: int | None = None
    scaled: bool | None = None
    mixing: float | None = None
    side: int = SIDE


@dataclass(frozen=True, eq=False)
class LearntWeighted:
    """A predictor with what was tried."""

    predictor: MixedAutomaton
    choice: WeightedChoice
    singular_values: Array  # as many as the rank, then more that were cut
    candidates: tuple[dict[str, Any], ...]


def learn_weighted(
    tree: PrefixTree, held_out: PrefixTree | None, wanted: WeightedChoice, report: Report
) -> LearntWeighted:
    """The weighted automaton of some sequences.

    Parameters
    ----------
    tree : PrefixTree
        Of the sequences to learn from, without those that are held out.
    held_out : PrefixTree or None
        Of sequences to choose by; None where nothing is to be chosen.
    wanted : WeightedChoice
    """
    tried: list[tuple[float, WeightedChoice]] = []
    if held_out is not None:
        counts = SubstringCounts.of(tree, 2 * wanted.side + 1)
        tried = _tried(tree, counts, held_out, wanted, report)
        wanted = max(tried, key=lambda each: each[0])[1]
        counts = counts + SubstringCounts.of(held_out, 2 * wanted.side + 1)
        tree = tree + held_out
    else:
        counts = SubstringCounts.of(tree, 2 * wanted.side + 1)
    report(0.9, "all sequences")
    rank, mixing = wanted.rank, wanted.mixing
    assert rank is not None
    assert mixing is not None
    blocks = _blocks(counts, wanted)
    factors = hankel_factors(blocks, rank, scaled=bool(wanted.scaled))
    if held_out is not None and factors.max_rank == 0:
        # Almost all strings are rare, and those of the basis are others now.
        wanted = replace(wanted, statistics="substring")
        blocks = _blocks(counts, wanted)
        factors = hankel_factors(blocks, rank, scaled=bool(wanted.scaled))
    rank = rank if held_out is None else min(rank, factors.max_rank)
    predictor = MixedAutomaton(factors.automaton(rank), Ngrams.of(tree), mixing)
    n = 1 if held_out is None else held_out.n_sequences
    candidates = tuple({**_plain(choice), "held_out": value / n} for value, choice in tried)
    values = hankel_values(blocks, TOLD_TIMES * rank + TOLD_MORE, scaled=bool(wanted.scaled))
    return LearntWeighted(predictor, replace(wanted, rank=rank), values, candidates)


def _tried(
    tree: PrefixTree,
    counts: SubstringCounts,
    held_out: PrefixTree,
    wanted: WeightedChoice,
    report: Report,
) -> list[tuple[float, WeightedChoice]]:
    """Held-out log-likelihoods of choices: blocks of one size first, then other sizes of the best."""
    ngrams = Ngrams.of(tree)
    tried: list[tuple[float, WeightedChoice]] = []
    kinds = STATISTICS if wanted.statistics is None else (wanted.statistics,)
    scalings = (True, False) if wanted.scaled is None else (wanted.scaled,)
    first = BASIS if wanted.basis is None else wanted.basis
    blocks = [
        replace(wanted, statistics=kind, scaled=scaled, basis=first)
        for kind in reversed(kinds)
        for scaled in scalings
    ]
    for number, choice in enumerate(blocks):
        report(0.8 * number / (len(blocks) + 2), f"{choice.statistics} statistics")
        tried.extend(_ranks_tried(counts, ngrams, held_out, choice, wanted))
    if not tried:
        raise RankError(
            f"the Hankel matrix of {' and '.join(kinds)} statistics is zero: no sequence is so short; learn "
            f'from statistics="substring", or "auto"'
        )
    if wanted.basis is None:
        best = max(tried, key=lambda each: each[0])[1]
        for basis in OTHER_BASES:
            choice = replace(best, basis=basis, rank=wanted.rank, mixing=wanted.mixing)
            tried.extend(_ranks_tried(counts, ngrams, held_out, choice, wanted))
    return tried


def _ranks_tried(
    counts: SubstringCounts,
    ngrams: Ngrams,
    held_out: PrefixTree,
    choice: WeightedChoice,
    wanted: WeightedChoice,
) -> Iterator[tuple[float, WeightedChoice]]:
    """Held-out log-likelihoods of all ranks and mixings of one choice of blocks."""
    ranks = RANKS if wanted.rank is None else (wanted.rank,)
    factors = _factors(counts, choice, max(ranks))
    if factors.max_rank == 0:
        return  # no sequence is as short as the strings that are counted
    if wanted.rank is not None and wanted.rank > factors.max_rank:
        factors.automaton(wanted.rank)  # raises
    mixings = MIXINGS if wanted.mixing is None else (wanted.mixing,)
    usable = sorted({min(rank, factors.max_rank) for rank in ranks})
    best, fell = -np.inf, 0
    for rank in usable:
        predictor = MixedAutomaton(factors.automaton(rank), ngrams, 0.0)
        values = _held_out_values(predictor, held_out, mixings)
        for mixing, value in zip(mixings, values, strict=True):
            yield value, replace(choice, rank=rank, mixing=mixing)
        fell = 0 if max(values) > best else fell + 1
        best = max(best, *values)
        if fell == 3:  # higher ranks are noise by now
            break


def _held_out_values(
    predictor: MixedAutomaton, tree: PrefixTree, mixings: tuple[float, ...]
) -> list[float]:
    """Log-likelihoods of the sequences of a tree, for each share of the n-grams."""
    shape = (tree.n_nodes, predictor.n_symbols + 1)
    found, usual = np.empty(shape), np.empty(shape)
    broken = np.empty(tree.n_nodes, dtype=np.bool_)
    for level, state in walked_levels(predictor, tree):
        found[level], usual[level], _ = predictor.unmixed(state)
        broken[level] = state[1]
    return [
        Told(tree, mixed(found, usual, broken, mixing), Repairs(), 0).log_likelihood
        for mixing in mixings
    ]


def _factors(counts: SubstringCounts, choice: WeightedChoice, max_rank: int) -> HankelFactors:
    return hankel_factors(_blocks(counts, choice), max_rank, scaled=bool(choice.scaled))


def _blocks(counts: SubstringCounts, choice: WeightedChoice) -> HankelBlocks:
    assert choice.statistics is not None
    assert choice.basis is not None
    return hankel_blocks(counts, choice.statistics, choice.basis, choice.side)


def _plain(choice: WeightedChoice) -> dict[str, Any]:
    return {
        "rank": choice.rank,
        "statistics": choice.statistics,
        "basis": choice.basis,
        "scaled": choice.scaled,
        "mixing": choice.mixing,
    }


def chosen_weighted(
    tree: PrefixTree, held_out: PrefixTree, wanted: WeightedChoice
) -> WeightedChoice:
    """The choice under which held-out sequences are likeliest."""
    counts = SubstringCounts.of(tree, 2 * wanted.side + 1)
    tried = _tried(tree, counts, held_out, wanted, silent)
    return max(tried, key=lambda each: each[0])[1]


def weighted_automaton(tree: PrefixTree, choice: WeightedChoice) -> Automaton:
    """The automaton of a choice, of a smaller rank where the counts do not carry it."""
    assert choice.rank is not None
    counts = SubstringCounts.of(tree, 2 * choice.side + 1)
    factors = _factors(counts, choice, choice.rank)
    return factors.automaton(max(min(choice.rank, factors.max_rank), 1))


def usual_choice(tree: PrefixTree, wanted: WeightedChoice) -> WeightedChoice:
    """What is not given filled in, where there is too little to choose by: a small rank, many n-grams."""
    filled = replace(
        wanted,
        statistics=wanted.statistics or "substring",
        basis=wanted.basis or BASIS,
        scaled=True if wanted.scaled is None else wanted.scaled,
        mixing=0.3 if wanted.mixing is None else wanted.mixing,
    )
    if filled.rank is not None:
        return filled
    counts = SubstringCounts.of(tree, 2 * filled.side + 1)
    return replace(filled, rank=max(min(_factors(counts, filled, 4).max_rank, 4), 1))
