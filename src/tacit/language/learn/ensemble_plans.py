"""The low rank parts that power low rank ensembles have, or choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.language.model.ensemble import OrderPlan

# A validation text chooses among these ranks of the discount's part, or fractions of the vocabulary (thesis).
CANDIDATE_RANKS = (48, 96)
CANDIDATE_FRACTIONS = (5e-3, 1e-3)


def candidate_plans(
    order: int,
    n_words: int,
    given: Mapping[str, Any],
    *,
    preset: str | None = None,
    several: bool = False,
) -> dict[int, list[OrderPlan]]:
    """The plans of each order from two on that a validation text chooses from; without one, the default.

    Parameters
    ----------
    order : int
    n_words : int
        Size of the vocabulary.
    given : dict
        "powers", "ranks" and "weights" by order, or "auto".
    preset : None or "thesis"
    several : bool
        Whether there is a validation text.
    """
    if preset == "thesis" and several:
        choices = [thesis_plans(order, n_words, (f, f)) for f in CANDIDATE_FRACTIONS]
        plans = {at: [choice[at] for choice in choices] for at in choices[0]}
    else:
        default = default_plans(order) if preset is None else thesis_plans(order, n_words)
        plans = {at: [plan] for at, plan in default.items()}
        if several and order >= 2:
            first = default[2]
            plans[2] = [replace(first, ranks=(first.ranks[0], rank)) for rank in CANDIDATE_RANKS]
    return {at: _with_given(at, choices, given) for at, choices in plans.items()}


def default_plans(order: int) -> dict[int, OrderPlan]:
    """The plans of all orders from two on, chosen on the validation parts of Penn Treebank and WikiText-2."""
    plans = {at: OrderPlan() for at in range(4, order + 1)}
    if order >= 3:
        plans[3] = OrderPlan((0.5,), (24,), n_sweeps=2, informed=True, n_restarts=1, min_size=8)
    if order >= 2:
        plans[2] = OrderPlan(
            (2 / 3,), (128, 48), (1.0, 0.95), modified=False, n_sweeps=5, n_collapsed=20, prior=6.0
        )
    return plans


def thesis_plans(
    order: int, n_words: int, fractions: tuple[float, float] = (5e-3, 1e-3)
) -> dict[int, OrderPlan]:
    """The plans of chapter 9: one low rank bigram, one low rank trigram, power 1/2, one discount.

    Parameters
    ----------
    order : int
    n_words : int
        Size of the vocabulary.
    fractions
        Ranks of the bigram and of the trigram, relative to that.
    """
    plans = {at: OrderPlan(modified=False) for at in range(4, order + 1)}
    for at, fraction in zip((2, 3), fractions, strict=True):
        if at <= order:
            rank = max(1, round(fraction * n_words))
            plans[at] = OrderPlan((0.5,), (rank,), modified=False)
    return plans


def _with_given(order: int, plans: list[OrderPlan], given: Mapping[str, Any]) -> list[OrderPlan]:
    """Plans with the powers, ranks and weights that the user gave for an order."""
    values: dict[str, Any] = {
        name: _numbers(name, table, order)
        for name, table in given.items()
        if isinstance(table, Mapping) and order in table
    }
    if not values:
        return plans
    if "ranks" in values or "powers" in values:
        values.setdefault("weights", ())
    return [replace(plans[0], **values)]


def _numbers(name: str, table: Mapping[int, Any], order: int) -> tuple[Any, ...]:
    """The numbers given for an order: a single one, or several."""
    given = table[order]
    numbers = tuple(given) if isinstance(given, Sequence | np.ndarray) else (given,)
    if any(isinstance(number, str | bool) or not np.isreal(number) for number in numbers):
        raise ArgumentError(f"{name}={table!r}; give numbers")
    return tuple(int(number) if name == "ranks" else float(number) for number in numbers)
