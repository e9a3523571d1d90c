"""The steps of `PowerLowRankLM.fit`: levels of counts, low rank parts, their choice, one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import DataError
from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import BEGIN
from tacit.language.learn.ensemble_levels import OrderLevel, order_levels
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
from tacit.language.model.backoff import Discounts, GramModel, gram_model, gram_offsets
from tacit.language.model.ensemble import Ensemble, OrderPlan, Step
from tacit.language.moments.ngram_counts import GramCounts

Array = NDArray[np.float64]
Plans = Mapping[int, Sequence[OrderPlan]]


@dataclass(frozen=True, eq=False)
class FittedOrder:
    """The fitted low rank parts of one order."""

    plan: OrderPlan
    slices: Slices
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class FittedEnsemble:
    """An ensemble with its chosen plans."""

    ensemble: Ensemble
    plans: dict[int, OrderPlan]
    levels: list[OrderLevel]
    perplexities: dict[str, float]  # of the validation text, before and after weights were chosen
    candidates: list[dict[str, Any]]  # compared plans: order, ranks, weights, perplexity


def fit_ensemble(
    counts: GramCounts,
    plans: Plans,
    *,
    n_restarts: int = 1,
    base: str = "uniform",
    discounts: Sequence[Discounts] | None = None,
    random_state: int | None = None,
    n_jobs: int = 1,
    valid: Corpus | None = None,
    choose_weights: bool = True,
    report: Report = silent,
) -> FittedEnsemble:
    """Fit the low rank parts of all plans, choose among plans, and combine the parts of the best.

    Parameters
    ----------
    counts : GramCounts
    plans
        For each order from two on, the candidates; without `valid`, the first is taken.
    n_restarts
        Fits of each part that are averaged.
    base : {"uniform", "unigram"}
        Below order 1; see `tacit.language.learn.kneser_ney`.
    discounts : sequence of Discounts, optional
        For each order, instead of estimated ones.
    valid : Corpus, optional
        Chooses plans and weights. Each part is fitted once; its predictions of the words of this text are
        kept and recombined.
    choose_weights
        Whether `valid` chooses weights too.

    Raises
    ------
    DataError
        There are no words.
    """
    if not counts.tables[0].counts.any():
        raise DataError("the text is empty, not even a blank line; there is nothing to learn from")
    first = {order: candidates[0] for order, candidates in plans.items()}
    levels = order_levels(counts, first, base, discounts)
    seeds = np.random.SeedSequence(random_state).spawn(n_restarts)
    fitted = _fit_all(levels, plans, seeds, n_jobs, report)
    chosen = {order: candidates[0] for order, candidates in fitted.items()}
    perplexities: dict[str, float] = {}
    compared: list[dict[str, Any]] = []
    if valid is not None and chosen:
        report(0.9, "choosing weights")
        words = Recombination(counts, levels, first_order(levels[0], base), valid)
        chosen, perplexities, compared = _choose(words, fitted, weights=choose_weights)
    fitted.clear()  # frees the other parts
    report(0.95, "combining parts")
    ensemble = combine(counts, levels, chosen)
    used = {order: chosen[order].plan if order in chosen else first[order] for order in first}
    return FittedEnsemble(ensemble, used, levels, perplexities, compared)


def _fit_all(
    levels: list[OrderLevel],
    plans: Plans,
    seeds: Sequence[np.random.SeedSequence],
    n_jobs: int,
    report: Report,
) -> dict[int, list[FittedOrder]]:
    """The parts of all plans; parts that plans have in common are fitted once."""
    fitted: dict[int, list[FittedOrder]] = {}
    plans_by_order = [
        (at, plan) for at, candidates in sorted(plans.items()) for plan in candidates if plan.ranks
    ]
    n_parts = sum(len(plan.ranks) for _, plan in plans_by_order)
    parts: dict[tuple[int, int, Step, Step | None, int], Part] = {}
    all_slices: dict[tuple[int, int], Slices] = {}
    done = 0
    for order, plan in plans_by_order:
        size = min(plan.ranks) if plan.min_size is None else plan.min_size
        if (order, size) not in all_slices:
            all_slices[order, size] = slices_of(levels[order - 1], levels[order - 2], size)
        slices, plan_parts = all_slices[order, size], []
        for at, ends in enumerate(bounds(plan)):
            report(0.9 * done / n_parts, f"order {order}, rank {plan.ranks[at]}")
            key = (order, size, *ends, plan.ranks[at])
            if key not in parts:
                parts[key] = fit_part(
                    levels, order, slices, plan, at, seeds[: plan.n_restarts], n_jobs
                )
            plan_parts.append(parts[key])
            done += 1
        fitted.setdefault(order, []).append(FittedOrder(plan, slices, tuple(plan_parts)))
    return fitted


def _choose(
    words: Recombination, fitted: dict[int, list[FittedOrder]], *, weights: bool
) -> tuple[dict[int, FittedOrder], dict[str, float], list[dict[str, Any]]]:
    """The best plan of each order on a text, with weights; perplexities; the compared plans."""
    chosen = {order: candidates[0] for order, candidates in fitted.items()}
    for order, best in chosen.items():
        words.set_parts(order, best.plan, best.slices, best.parts)
    perplexities = {"before": words.perplexity()}
    if weights:
        words.choose_weights()
    compared: list[dict[str, Any]] = []
    for order, candidates in fitted.items():
        if len(candidates) == 1:
            continue
        scores: list[tuple[float, int, tuple[float, ...]]] = []
        for at, candidate in enumerate(candidates):
            words.set_parts(order, candidate.plan, candidate.slices, candidate.parts)
            if weights:
                words.choose_weights(order)
            scores.append((words.perplexity(), at, words.weights(order)))
        compared += [
            {
                "order": order,
                "ranks": list(candidates[at].plan.ranks),
                "weights": list(values),
                "perplexity": perplexity,
            }
            for perplexity, at, values in scores
        ]
        _, at, values = min(scores)
        best = chosen[order] = candidates[at]
        words.set_parts(order, best.plan.with_weights(values), best.slices, best.parts)
    if weights:
        words.choose_weights()
    perplexities["after"] = words.perplexity()
    return (
        {
            order: FittedOrder(
                best.plan.with_weights(words.weights(order)), best.slices, best.parts
            )
            for order, best in chosen.items()
        },
        perplexities,
        compared,
    )


def first_order(level: OrderLevel, base: str) -> Array:
    """(word,) probabilities of order one."""
    total = level.totals[0]
    discount = level.passed.sum() / total
    probs = (level.counts - level.passed) / total
    if base == "uniform":
        probs += discount / (len(probs) - 1)
    probs[BEGIN] = 0.0  # never follows anything
    return np.asarray(probs)


def combine(
    counts: GramCounts, levels: list[OrderLevel], fitted: Mapping[int, FittedOrder]
) -> Ensemble:
    """One model from the parts of all orders, with the weights of their plans."""
    offsets = gram_offsets(counts.tables)
    probs, backoffs = np.empty(offsets[-1]), np.empty(offsets[-2])
    base = "uniform" if levels[0].passed.any() else "unigram"
    probs[: offsets[1]] = first_order(levels[0], base)
    factors = _Factors(offsets)
    for level in levels[1:]:
        low, high = offsets[level.order - 1], offsets[level.order]
        below = probs[offsets[level.order - 2] : low]
        remaining, discounted = level.counts - level.passed, level.passed
        order = fitted.get(level.order)
        if order is not None:
            low_rank = combined(level, order.slices, order.plan, order.parts)
            remaining, discounted = _kept_and_discounted(level, order, low_rank)
            factors.add(level, order.slices, low_rank)
        sums = level.sums(discounted)
        has_counts = level.totals > 0
        weights = np.divide(sums, level.totals, out=np.ones_like(sums), where=has_counts)
        totals = np.where(has_counts, level.totals, 1.0)
        probs[low:high] = remaining / totals[level.contexts]
        probs[low:high] += weights[level.contexts] * below[level.table.suffixes]
        backoffs[offsets[level.order - 2] : low] = weights
    grams = gram_model(counts.vocabulary, counts.tables, probs, backoffs)
    return factors.ensemble(grams)


def _kept_and_discounted(
    level: OrderLevel, order: FittedOrder, low_rank: LowRank
) -> tuple[Array, Array]:
    """(gram,) what n-grams keep, low rank parts included, and what goes to the order below."""
    plan, slices = order.plan, order.slices
    remaining, discounted = level.counts - level.step(plan.steps[1]), level.passed
    for (upper, lower), weight in zip(bounds(plan), plan.weights, strict=True):
        values = part_values(level, upper, lower)
        if lower is None:
            discounted = (1.0 - weight) * values
        else:
            remaining += (1.0 - weight) * values
        remaining[slices.small] += weight * values[slices.small]
    rows = slices.matrix.row_places[level.contexts[slices.places]]
    columns = slices.matrix.column_places[level.table.suffixes[slices.places]]
    remaining[slices.places] += low_rank.at(rows, columns)
    return remaining, discounted


class _Factors:
    """The factors of all orders, concatenated."""

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
        """Append the factors of an order."""
        low = int(
            self.offsets[level.order - 2]
        )  # of its contexts, and of the suffixes of its n-grams
        matrix, rank = slices.matrix, low_rank.rank
        for places, firsts, rests, residual, store, factor in (
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
            used = np.flatnonzero(places >= 0)
            begin = sum(map(len, store))
            firsts[low + used] = begin + places[used].astype(np.int64) * rank
            rests[low + used] = residual[places[used]]
            store.append(factor.ravel())
        contexts = low + np.arange(level.table.n_contexts)
        self.ranks[contexts] = rank
        self.scales[contexts] = np.divide(
            1.0, level.totals, out=np.zeros_like(level.totals), where=level.totals > 0
        )

    def ensemble(self, grams: GramModel) -> Ensemble:
        """The model of n-grams and factors."""
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
