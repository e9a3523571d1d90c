"""The preset of `KernelTree`, and the arguments that go with it."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral
from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_choice, check_known_preset, preset_contradiction
from tacit.core.limits import shown
from tacit.errors import ArgumentError
from tacit.trees.learn.selection.structures import STRUCTURES

if TYPE_CHECKING:
    from tacit.numbers.kernel_tree import KernelTree

# Structures by name: the one that Algorithm 10 learns, and the one that needs no data.
PRINTED_STRUCTURES = ("auto", "neighbor-joining", "star")
# Experts beside a tree, by name.
FAMILIES = ("scores-full", "scores-diagonal", "scores-tree", "numbers-full", "numbers-diagonal")
# What the other arguments must be; "auto" for all of them stands for it.
NEEDED: dict[str, Any] = {
    "learn": "spectral",
    "normal_scores": False,
    "blend": False,
    "groups": None,
    "n_views": 1,
    "n_components": 1,
    "n_bins": "auto",
    "pseudo_counts": "auto",
}


def blends(model: KernelTree) -> bool:
    """Whether answers of other predictors are averaged in; "auto": not as printed."""
    return model.preset is None if isinstance(model.blend, str) else bool(model.blend)


def families_of(model: KernelTree) -> tuple[str, ...]:
    """The families of experts that are compared; none where the tree is alone."""
    experts = model.experts
    if isinstance(experts, str) or experts is None:
        alone = experts != "auto" or model.preset is not None or model.learn != "auto"
        return () if alone else FAMILIES
    return tuple(name for name in FAMILIES if name in experts)


def check_experts(model: KernelTree) -> None:
    """Check which experts a model has, and that its learner has any."""
    experts = model.experts
    names = [experts] if isinstance(experts, str) else experts
    if not isinstance(names, Collection) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            f"experts={shown(experts)}; give 'auto', 'tree', or a list of names of {FAMILIES}"
        )
    if isinstance(experts, str):
        check_choice("experts", experts, ("auto", "tree"))
        return
    for name in names:
        check_choice("experts", name, ("tree", *FAMILIES))
    if set(names) - {"tree"} and (model.learn != "auto" or model.preset is not None):
        raise ArgumentError(
            f"experts={shown(experts)}; other experts than the tree belong to learn='auto'"
        )


def uses_normal_scores(model: KernelTree) -> bool:
    """Whether kernels work on normal scores; "auto": not as printed."""
    if isinstance(model.normal_scores, str):
        return model.preset is None
    return bool(model.normal_scores)


def check_preset(model: KernelTree) -> None:
    """Check the preset of a model, and that its other arguments go with it."""
    for name in ("blend", "normal_scores"):
        value = getattr(model, name)
        if isinstance(value, str) and value != "auto":
            raise ArgumentError(f"{name}={shown(value)}; give True, False or 'auto'")
    check_known_preset(model.preset)
    check_experts(model)
    if model.preset is None:
        return
    if isinstance(model.n_states, bool) or not isinstance(model.n_states, Integral):
        raise preset_contradiction(
            "n_states", model.n_states, "a number, the rank of all hidden nodes"
        )
    for name, needed in NEEDED.items():
        value = getattr(model, name)
        if value not in ("auto", needed):
            raise preset_contradiction(name, value, f"{name}={needed!r}")
    named = isinstance(model.structure, str) and model.structure in STRUCTURES
    if named and model.structure not in PRINTED_STRUCTURES:
        raise preset_contradiction(
            "structure", model.structure, '"neighbor-joining", "star" or a tree'
        )
