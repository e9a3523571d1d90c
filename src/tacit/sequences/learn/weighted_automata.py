"""Weighted automata learnt from sequences: blocks, rank and mixing selected on held-out sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import RankError
from tacit.messages.repairs import Repairs
from tacit.sequences.data.strings import Strings
from tacit.sequences.model.automata import Automaton, HankelFactors, hankel_factors, hankel_values
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.moments.hankel import STATISTICS, HankelBlocks, SubstringCounts, hankel_blocks
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.query.automata import MixedAutomaton, NodePredictions, mixed, walked_levels

Array = NDArray[np.float64]

# Strings on each side of the blocks, and their greatest length.
BASIS, SIDE = 300, 5
OTHER_BASES = (100, 1000)
RANKS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 26, 32, 40, 50, 64)
MIXINGS = (0.02, 0.1, 0.3, 0.6)
# Singular values in the diagnostics: so many times the rank, and so many more.
SHOWN_TIMES, SHOWN_MORE = 2, 10


@dataclass(frozen=True, slots=True)
class WeightedSettings:
    """How a weighted automaton is learnt; None is to be selected."""

    rank: int | None = None
    statistics: str | None = None
    basis: int | Strings | None = None
    scaled: bool | None = None
    mixing: float | None = None
    side: int = SIDE

    @property
    def longest(self) -> int:
        """Symbols of the longest strings that are counted."""
        given = self.basis
        return given.longest if isinstance(given, Strings) else 2 * self.side + 1

    @property
    def plain_basis(self) -> int | dict[str, int] | None:
        """The number of strings on each side, or of given prefixes and suffixes."""
        return self.basis.sizes if isinstance(self.basis, Strings) else self.basis


@dataclass(frozen=True, eq=False)
class LearntWeighted:
    """A predictor with its candidates."""

    predictor: MixedAutomaton
    choice: WeightedSettings
    singular_values: Array  # those of the rank, then some that were cut
    candidates: tuple[dict[str, Any], ...]


def learn_weighted(
    tree: PrefixTree, held_out: PrefixTree | None, settings: WeightedSettings, report: Report
) -> LearntWeighted:
    """The weighted automaton of some sequences.

    Parameters
    ----------
    tree : PrefixTree
        Of the sequences to learn from, without those that are held out.
    held_out : PrefixTree or None
        Of held-out sequences; None where nothing is to be selected.
    settings : WeightedSettings
    """
    candidates: list[tuple[float, WeightedSettings]] = []
    if held_out is not None:
        counts = SubstringCounts.of(tree, settings.longest)
        candidates = _scored_choices(tree, counts, held_out, settings, report)
        settings = max(candidates, key=lambda candidate: candidate[0])[1]
        counts = counts + SubstringCounts.of(held_out, settings.longest)
        tree = tree + held_out
    else:
        counts = SubstringCounts.of(tree, settings.longest)
    report(0.9, "all sequences")
    rank, mixing = settings.rank, settings.mixing
    assert rank is not None
    assert mixing is not None
    blocks = _blocks(counts, settings)
    factors = hankel_factors(blocks, rank, scaled=bool(settings.scaled))
    if held_out is not None and factors.max_rank == 0:
        # Almost all strings are rare, and the basis has changed.
        settings = replace(settings, statistics="substring")
        blocks = _blocks(counts, settings)
        factors = hankel_factors(blocks, rank, scaled=bool(settings.scaled))
    rank = rank if held_out is None else min(rank, factors.max_rank)
    predictor = MixedAutomaton(factors.automaton(rank), Ngrams.of(tree), mixing)
    n = 1 if held_out is None else held_out.n_sequences
    plain_candidates = tuple(
        {**_plain(choice), "held_out": value / n} for value, choice in candidates
    )
    values = hankel_values(blocks, SHOWN_TIMES * rank + SHOWN_MORE, scaled=bool(settings.scaled))
    return LearntWeighted(predictor, replace(settings, rank=rank), values, plain_candidates)


def _scored_choices(
    tree: PrefixTree,
    counts: SubstringCounts,
    held_out: PrefixTree,
    settings: WeightedSettings,
    report: Report,
) -> list[tuple[float, WeightedSettings]]:
    """Held-out log-likelihoods of settings: blocks of one size first, then other sizes of the best."""
    ngrams = Ngrams.of(tree)
    candidates: list[tuple[float, WeightedSettings]] = []
    kinds = STATISTICS if settings.statistics is None else (settings.statistics,)
    scalings = (True, False) if settings.scaled is None else (settings.scaled,)
    first = BASIS if settings.basis is None else settings.basis
    blocks = [
        replace(settings, statistics=kind, scaled=scaled, basis=first)
        for kind in reversed(kinds)
        for scaled in scalings
    ]
    for number, choice in enumerate(blocks):
        report(0.8 * number / (len(blocks) + 2), f"{choice.statistics} statistics")
        candidates.extend(_scored_ranks(counts, ngrams, held_out, choice, settings))
    if not candidates:
        raise RankError(
            f"the Hankel matrix of {' and '.join(kinds)} statistics is zero: no sequence is so short; learn "
            f'from statistics="substring", or "auto"'
        )
    if settings.basis is None:
        best = max(candidates, key=lambda candidate: candidate[0])[1]
        for basis in OTHER_BASES:
            choice = replace(best, basis=basis, rank=settings.rank, mixing=settings.mixing)
            candidates.extend(_scored_ranks(counts, ngrams, held_out, choice, settings))
    return candidates


def _scored_ranks(
    counts: SubstringCounts,
    ngrams: Ngrams,
    held_out: PrefixTree,
    choice: WeightedSettings,
    settings: WeightedSettings,
) -> Iterator[tuple[float, WeightedSettings]]:
    """Held-out log-likelihoods of all ranks and mixings of one choice of blocks."""
    ranks = RANKS if settings.rank is None else (settings.rank,)
    factors = _factors(counts, choice, max(ranks))
    if factors.max_rank == 0:
        return  # no sequence is as short as the strings that are counted
    if settings.rank is not None and settings.rank > factors.max_rank:
        factors.automaton(settings.rank)  # raises
    mixings = MIXINGS if settings.mixing is None else (settings.mixing,)
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
    """Log-likelihoods of the sequences of a tree, for each weight of the n-grams."""
    shape = (tree.n_nodes, predictor.n_symbols + 1)
    predicted, ngram = np.empty(shape), np.empty(shape)
    broken = np.empty(tree.n_nodes, dtype=np.bool_)
    for level, state in walked_levels(predictor, tree):
        predicted[level], ngram[level], _ = predictor.unmixed(state)
        broken[level] = state[1]
    return [
        NodePredictions(tree, mixed(predicted, ngram, broken, mixing), Repairs(), 0).log_likelihood
        for mixing in mixings
    ]


def _factors(counts: SubstringCounts, choice: WeightedSettings, max_rank: int) -> HankelFactors:
    return hankel_factors(_blocks(counts, choice), max_rank, scaled=bool(choice.scaled))


def _blocks(counts: SubstringCounts, choice: WeightedSettings) -> HankelBlocks:
    assert choice.statistics is not None
    assert choice.basis is not None
    return hankel_blocks(counts, choice.statistics, choice.basis, choice.side)


def _plain(choice: WeightedSettings) -> dict[str, Any]:
    return {
        "rank": choice.rank,
        "statistics": choice.statistics,
        "basis": choice.plain_basis,
        "scaled": choice.scaled,
        "mixing": choice.mixing,
    }


def selected_settings(
    tree: PrefixTree, held_out: PrefixTree, settings: WeightedSettings
) -> WeightedSettings:
    """The settings of highest held-out likelihood."""
    counts = SubstringCounts.of(tree, settings.longest)
    candidates = _scored_choices(tree, counts, held_out, settings, silent)
    return max(candidates, key=lambda candidate: candidate[0])[1]


def weighted_automaton(tree: PrefixTree, choice: WeightedSettings) -> Automaton:
    """The automaton of complete settings, of a smaller rank where the counts do not support it."""
    assert choice.rank is not None
    counts = SubstringCounts.of(tree, choice.longest)
    factors = _factors(counts, choice, choice.rank)
    return factors.automaton(max(min(choice.rank, factors.max_rank), 1))


def default_settings(tree: PrefixTree, settings: WeightedSettings) -> WeightedSettings:
    """Defaults for what is not given, where there are too few sequences for selection: a small rank."""
    filled = replace(
        settings,
        statistics=settings.statistics or "substring",
        basis=settings.basis or BASIS,
        scaled=True if settings.scaled is None else settings.scaled,
        mixing=0.3 if settings.mixing is None else settings.mixing,
    )
    if filled.rank is not None:
        return filled
    counts = SubstringCounts.of(tree, filled.longest)
    return replace(filled, rank=max(min(_factors(counts, filled, 4).max_rank, 4), 1))
