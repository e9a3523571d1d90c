"""The low rank parts that power low rank ensembles have, or choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.language.model.ensemble import OrderPlan

# A validation text chooses among these ranks of the discount's part, or, printed, fractions of words.
CANDIDATE_RANKS = (48, 96)
CANDIDATE_FRACTIONS = (5e-3, 1e-3)

# Special cases without low rank parts, alike in all orders.
SMOOTHING = {
    "jelinek-mercer": OrderPlan((1.0,), modified=False),  # a fraction of all counts is discounted
    "absolute": OrderPlan(modified=False, plain_counts=True),
}
PRESETS = ("printed", *SMOOTHING)


def candidate_plans(
    order: int,
    n_words: int,
    fixed: Mapping[str, Any],
    *,
    preset: str | None = None,
    several: bool = False,
) -> dict[int, list[OrderPlan]]:
    """The plans of each order that a validation text chooses from; without one, the default.

    Parameters
    ----------
    order : int
    n_words : int
        Size of the vocabulary.
    fixed : dict
        "powers", "ranks" and "weights" by order, or "auto".
    preset : None or one of PRESETS
    several : bool
        Whether there is a validation text.

    Raises
    ------
    ArgumentError
        With ``preset="printed"``, nothing says which ranks.
    """
    if preset in SMOOTHING:
        return {at: [SMOOTHING[preset]] for at in range(1, order + 1)}
    if preset == "printed":
        _check_printed_ranks(order, fixed["ranks"], several=several)
        choices = [printed_plans(order, n_words, (f, f)) for f in CANDIDATE_FRACTIONS]
        plans = {at: [choice[at] for choice in choices] for at in choices[0]}
    else:
        default = default_plans(order)
        plans = {at: [plan] for at, plan in default.items()}
        if several and order >= 2:
            first = default[2]
            plans[2] = [replace(first, ranks=(first.ranks[0], rank)) for rank in CANDIDATE_RANKS]
    return {at: _with_given(at, choices, fixed) for at, choices in plans.items()}


def _check_printed_ranks(order: int, ranks: Any, *, several: bool) -> None:
    """The thesis tunes ranks on a text: without one they must be given."""
    missing = [at for at in (2, 3) if at <= order and (isinstance(ranks, str) or at not in ranks)]
    if missing and not several:
        given = ", ".join(f"{at}: (rank,)" for at in missing)
        raise ArgumentError(
            f'preset="printed" leaves the ranks of order {" and ".join(map(str, missing))} open; give '
            f"ranks={{{given}}}, or a validation text that chooses them"
        )


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


def printed_plans(order: int, n_words: int, fractions: tuple[float, float]) -> dict[int, OrderPlan]:
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
            plans[at] = OrderPlan((0.5,), (rank,), modified=False, even_steps=True)
    return plans


def _with_given(order: int, plans: list[OrderPlan], fixed: Mapping[str, Any]) -> list[OrderPlan]:
    """Plans with the powers, ranks and weights that the user gave for an order."""
    values: dict[str, Any] = {
        name: _numbers(name, table, order)
        for name, table in fixed.items()
        if isinstance(table, Mapping) and order in table
    }
    if not values:
        return plans
    if "ranks" in values or "powers" in values:
        values.setdefault("weights", ())
        n_ranks = len(values.get("ranks", plans[0].ranks))
        if len(values.get("powers", plans[0].powers)) > n_ranks:
            values["modified"] = False  # a fraction of one discount goes to the order below
    return [replace(plans[0], **values)]


def _numbers(name: str, table: Mapping[int, Any], order: int) -> tuple[Any, ...]:
    """The numbers given for an order: a single one, or several."""
    value = table[order]
    numbers = tuple(value) if isinstance(value, Sequence | np.ndarray) else (value,)
    if any(isinstance(number, str | bool) or not np.isreal(number) for number in numbers):
        raise ArgumentError(f"{name}={table!r}; give numbers")
    return tuple(int(number) if name == "ranks" else float(number) for number in numbers)
