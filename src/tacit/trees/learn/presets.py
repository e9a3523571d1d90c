"""The presets of `LatentTree`, and checks of arguments that go with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.arguments import (
    check_choice,
    check_count,
    check_known_preset,
    preset_contradiction,
)
from tacit.core.encoders.given_features import are_given, check_given
from tacit.errors import ArgumentError

if TYPE_CHECKING:
    from tacit.trees.latent_tree import LatentTree

SIBLINGS = ("adopted", "uncle")
PRINTED = ("spectral", "hierarchical", "mossel-roch")  # learners that have a printed form
N_VIEWS, WINDOW = 5, 2  # of Tacit's own spectral and hierarchical learning


def views_and_window(model: LatentTree) -> tuple[int, int | None]:
    """The number of views and the window, where "auto" depends on the preset."""
    n_views, window = (1, None) if model.preset == "printed" else (N_VIEWS, WINDOW)
    return (
        n_views if isinstance(model.n_views, str) else model.n_views,
        window if isinstance(model.window, str) else model.window,
    )


def check_spectral(model: LatentTree) -> None:
    """Check the features and the preset of a model, and that its other arguments go with them."""
    check_features(model)
    check_choice("siblings", model.siblings, SIBLINGS)
    check_known_preset(model.preset)
    if model.preset is None:
        return
    if model.learn not in PRINTED:
        raise preset_contradiction("learn", model.learn, f"one of {', '.join(PRINTED)}")
    for name, example in (("n_states", "a number"), ("structure", "a tree, or a way to learn one")):
        value = getattr(model, name)
        if isinstance(value, str) and value == "auto":
            raise preset_contradiction(
                name, value, f"{example}: nothing is chosen by held-out rows"
            )
    if model.learn == "hierarchical":
        if model.window not in ("auto", None):
            raise preset_contradiction("window", model.window, "window=None, all leaves")
    elif model.learn == "mossel-roch":
        return
    elif model.representation not in ("tensor", "matrix"):
        raise preset_contradiction(
            "representation", model.representation, 'representation="tensor" or "matrix"'
        )
    elif model.representation == "matrix" and model.n_views not in ("auto", 1):
        raise preset_contradiction("n_views", model.n_views, "n_views=1 with products of matrices")


def check_features(model: Any) -> None:
    """Check `features`: a number of columns, or features given by the user, which spectral learning uses."""
    if not are_given(model.features):
        check_count("features", model.features)
        return
    check_given(model.features)
    if model.learn != "spectral":
        raise ArgumentError(
            f'features that are not a number go with learn="spectral", not with learn={model.learn!r}'
        )
    if getattr(model, "representation", None) == "matrix":
        raise ArgumentError(
            'features that are not a number do not go with representation="matrix"; give "tensor" or '
            '"train"'
        )
