"""The trees of a fitted model of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.trees.model.components import Component


def trees_of(model: Any) -> tuple[Component, ...]:
    """The trees that a model is made of; a Gaussian is one tree without states."""
    from tacit.trees.model.components import Component

    if model.can("components"):
        return tuple(model.trees_)
    return (Component(1.0, model.topology_, None, {}),)


def hidden_states(model: Any) -> list[int | None]:
    """The number of states of every hidden variable of all trees; None for Gaussian ones."""
    if model.can("junction"):
        return list(model.node_states_.values())
    if not model.can("components"):
        return [None] * len(model.topology_.hidden)
    return [count for tree in trees_of(model) for count in tree.node_states.values()]
