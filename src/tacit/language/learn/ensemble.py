"""Power low rank ensembles from counted n-grams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import BEGIN
from tacit.language.learn.ensemble_parts import (
    Part,
    Slices,
    bounds,
    combined,
    fit_part,
    part_values,
    slices_of,
)
from tacit.language.learn.ensemble_weights import Recombination
from tacit.language.learn.low_rank import LowRank
from tacit.language.model.backoff import GramModel, gram_model, gram_offsets
from tacit.language.model.ensemble import Ensemble, OrderLevel, OrderPlan, order_levels
from tacit.language.moments.ngram_counts import GramCounts

Array = NDArray[np.float64]
Plans = Mapping[int, Sequence[OrderPlan]]
Report = Callable[[float, str], None]


@dataclass(frozen=True, eq=False)
class FittedOrder:
    """One order, taken apart."""

    plan: OrderPlan
    slices: Slices
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class FittedEnsemble:
    """An ensemble, with what was chosen for it."""

    ensemble: Ensemble
    plans: dict[int, OrderPlan]
    levels: list[OrderLevel]
    perplexities: dict[str, float]  # on the validation text: before and after weights were chosen


def fit_ensemble(
    counts: GramCounts,
    plans: Plans,
    *,
    n_starts: int = 1,
    base: str = "uniform",
    random_state: int | None = None,
    n_jobs: int = 1,
    valid: Corpus | None = None,
    choose_weights: bool = True,
    report: Report | None = None,
) -> FittedEnsemble:
    """Fit all low rank parts of all plans, and put the best of them together.

    Parameters
    ----------
    counts : GramCounts
    plans
        For each order from two on, the plans to choose from; without `valid`, the first is taken.
    n_starts
        Fits of each part that are averaged.
    base : {"uniform", "unigram"}
        Below order 1; see `tacit.language.model.kneser_ney`.
    valid : Corpus, optional
        Chooses plans and weights. Parts are fitted once each: what they say of each word of this text is
        stored and combined anew.
    choose_weights
        Whether `valid` chooses weights too.

    Raises
    ------
    DataError
        There are no words at all.
    """
    if not counts.tables[0].counts.any():
        raise DataError("the text is empty, not even a blank line; there is nothing to learn from")
    report = report or _silent
    first = {order: some[0] for order, some in plans.items()}
    levels = order_levels(counts, first, base)
    seeds = np.random.SeedSequence(random_state).spawn(n_starts)
    fitted = _fit_all(levels, plans, seeds, n_jobs, report)
    perplexities: dict[str, float] = {}
    chosen = {order: some[0] for order, some in fitted.items()}
    if valid is not None and chosen:
        report(0.9, "choosing weights")
        chosen, perplexities = _choose(counts, levels, fitted, valid, base, weights=choose_weights)
    fitted.clear()  # parts that were not chosen are not needed any more
    report(0.95, "putting parts together")
    ensemble = put_together(counts, levels, chosen)
    used = {order: chosen[order].plan if order in chosen else first[order] for order in first}
    return FittedEnsemble(ensemble, used, levels, perplexities)


def _silent(share: float, text: str) -> None:
    """Tell nobody."""


def _fit_all(
    levels: list[OrderLevel],
    plans: Plans,
    seeds: Sequence[np.random.SeedSequence],
    n_jobs: int,
    report: Report,
) -> dict[int, list[FittedOrder]]:
    """All plans with low rank parts; parts that plans have in common are fitted once."""
    fitted: dict[int, list[FittedOrder]] = {}
    wanted = [(order, plan) for order, some in sorted(plans.items()) for plan in some if plan.ranks]
    n_all = sum(len(plan.ranks) for _, plan in wanted)
    parts: dict[tuple[int, int, float, float, int], Part] = {}
    known: dict[tuple[int, int], Slices] = {}
    done = 0
    for order, plan in wanted:
        least = min(plan.ranks) if plan.least is None else plan.least
        if (order, least) not in known:
            known[order, least] = slices_of(levels[order - 1], levels[order - 2], least)
        slices, own = known[order, least], []
        for at, ends in enumerate(bounds(plan)):
            report(0.9 * done / n_all, f"order {order}, rank {plan.ranks[at]}")
            key = (order, least, *ends, plan.ranks[at])
            if key not in parts:
                parts[key] = fit_part(
                    levels, order, slices, plan, at, seeds[: plan.n_starts], n_jobs
                )
            own.append(parts[key])
            done += 1
        fitted.setdefault(order, []).append(FittedOrder(plan, slices, tuple(own)))
    return fitted


def _choose(
    counts: GramCounts,
    levels: list[OrderLevel],
    fitted: dict[int, list[FittedOrder]],
    valid: Corpus,
    base: str,
    *,
    weights: bool,
) -> tuple[dict[int, FittedOrder], dict[str, float]]:
    """The best plan of each order, with weights, on a text."""
    chosen = {order: some[0] for order, some in fitted.items()}
    everything = Recombination(counts, levels, first_order(levels[0], base), valid)
    for order, each in chosen.items():
        everything.set_parts(order, each.plan, each.slices, each.parts)
    found = {"before": everything.perplexity()}
    if weights:
        everything.choose_weights()
    for order, candidates in fitted.items():
        if len(candidates) == 1:
            continue
        tried: list[tuple[float, int, tuple[float, ...]]] = []
        for at, each in enumerate(candidates):
            everything.set_parts(order, each.plan, each.slices, each.parts)
            if weights:
                everything.choose_weights(order)
            tried.append((everything.perplexity(), at, everything.weights(order)))
        _, best, own = min(tried)
        each = chosen[order] = candidates[best]
        plan = each.plan.with_weights(own)
        everything.set_parts(order, plan, each.slices, each.parts)
    if weights:
        everything.choose_weights()
    found["after"] = everything.perplexity()
    return {
        order: FittedOrder(
            some.plan.with_weights(everything.weights(order)), some.slices, some.parts
        )
        for order, some in chosen.items()
    }, found


def first_order(level: OrderLevel, base: str) -> Array:
    """(word,) probabilities of order one."""
    total = level.totals[0]
    given = level.discounts.sum() / total
    probs = (level.counts - level.discounts) / total
    if base == "uniform":
        probs += given / (len(probs) - 1)
    probs[BEGIN] = 0.0  # never follows anything
    return np.asarray(probs)


def put_together(
    counts: GramCounts, levels: list[OrderLevel], fitted: Mapping[int, FittedOrder]
) -> Ensemble:
    """One model from the parts of all orders, with the weights of their plans."""
    offsets = gram_offsets(counts.tables)
    probs, backoffs = np.empty(offsets[-1]), np.empty(offsets[-2])
    base = "uniform" if levels[0].discounts.any() else "unigram"
    probs[: offsets[1]] = first_order(levels[0], base)
    store = _Store(offsets)
    for level in levels[1:]:
        low, high = offsets[level.order - 1], offsets[level.order]
        below = probs[offsets[level.order - 2] : low]
        kept, given = level.counts - level.discounts, level.discounts
        some = fitted.get(level.order)
        if some is not None:
            low_rank = combined(level, some.slices, some.plan, some.parts)
            kept, given = _apart(level, some, low_rank)
            store.add(level, some.slices, low_rank)
        sums = level.sums(given)
        seen = level.totals > 0
        weights = np.divide(sums, level.totals, out=np.ones_like(sums), where=seen)
        totals = np.where(seen, level.totals, 1.0)
        own = kept / totals[level.contexts]
        own += weights[level.contexts] * below[level.table.suffixes]
        probs[low:high] = own
        backoffs[offsets[level.order - 2] : low] = weights
    grams = gram_model(counts.vocabulary, counts.tables, probs, backoffs)
    return store.ensemble(grams)


def _apart(level: OrderLevel, some: FittedOrder, low_rank: LowRank) -> tuple[Array, Array]:
    """(gram,) what n-grams keep, low rank parts included, and what they hand down."""
    plan, slices = some.plan, some.slices
    top = plan.powers[0] if plan.powers else 0.0
    kept, given = level.counts - level.step(top), level.discounts
    for (upper, lower), weight in zip(bounds(plan), plan.weights, strict=True):
        values = part_values(level, upper, lower)
        if lower < 0:
            given = (1.0 - weight) * values
        else:
            kept += (1.0 - weight) * values
        kept[slices.small] += weight * values[slices.small]
    rows = slices.matrix.row_places[level.contexts[slices.places]]
    columns = slices.matrix.column_places[level.table.suffixes[slices.places]]
    kept[slices.places] += low_rank.at(rows, columns)
    return kept, given


class _Store:
    """Rows and columns of all orders, one after another."""

    def __init__(self, offsets: NDArray[np.int64]) -> None:
        self.offsets = offsets
        n_grams, n_contexts = int(offsets[-1]), int(offsets[-2])
        self.rows, self.columns = np.full(n_contexts, -1), np.full(n_grams, -1)
        self.ranks = np.zeros(n_contexts, np.int64)
        self.left_rest, self.right_rest = np.zeros(n_contexts), np.zeros(n_grams)
        self.scales = np.zeros(n_contexts)
        self.lefts: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
        self.rights: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]

    def add(self, level: OrderLevel, slices: Slices, low_rank: LowRank) -> None:
        """Keep the factors of an order."""
        low = int(self.offsets[level.order - 2])  # of its contexts, and of what ends its n-grams
        matrix, rank = slices.matrix, low_rank.rank
        for places, firsts, rests, rest, store, factor in (
            (
                matrix.row_places,
                self.rows,
                self.left_rest,
                low_rank.left_rest,
                self.lefts,
                low_rank.left,
            ),
            (
                matrix.column_places,
                self.columns,
                self.right_rest,
                low_rank.right_rest,
                self.rights,
                low_rank.right,
            ),
        ):
            there = np.flatnonzero(places >= 0)
            begin = sum(len(each) for each in store)
            firsts[low + there] = begin + places[there].astype(np.int64) * rank
            rests[low + there] = rest[places[there]]
            store.append(factor.ravel())
        contexts = low + np.arange(level.table.n_contexts)
        self.ranks[contexts] = rank
        self.scales[contexts] = np.divide(
            1.0, level.totals, out=np.zeros_like(level.totals), where=level.totals > 0
        )

    def ensemble(self, grams: GramModel) -> Ensemble:
        """All of it with the n-grams."""
        return Ensemble(
            grams,
            self.rows,
            self.columns,
            self.ranks,
            np.concatenate(self.lefts),
            np.concatenate(self.rights),
            self.left_rest,
            self.right_rest,
            self.scales,
        )
