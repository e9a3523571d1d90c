"""The trees of a fitted model of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.trees.model.components import Component


def trees_of(model: Any) -> tuple[Component, ...]:
    """The trees that a model is made of; a Gaussian is one tree without states."""
    from tacit.trees.model.components import Component

    if hasattr(model, "trees_"):
        found: tuple[Component, ...] = model.trees_
        return found
    return (Component(1.0, model.topology_, None, {}),)


def hidden_states(model: Any) -> list[int | None]:
    """The states of every hidden variable of all trees together; None where it holds a number."""
    if hasattr(model, "junction_"):
        return list(model.node_states_.values())
    every = trees_of(model)
    if hasattr(model, "gaussian_"):
        return [None] * len(model.topology_.hidden)
    return [count for each in every for count in each.node_states.values()]
