"""The presets of latent junction trees, and the arguments that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.core.arguments import check_known_preset, preset_contradiction

if TYPE_CHECKING:
    from tacit.junction.latent_junction_tree import JunctionEstimator

N_VIEWS = 3  # of Tacit's own spectral learning


def n_views_of(model: JunctionEstimator) -> int:
    """The number of views, where "auto" depends on the preset."""
    if not isinstance(model.n_views, str):
        return model.n_views
    return 1 if model.preset == "printed" else N_VIEWS


def check_preset(model: JunctionEstimator) -> None:
    """Check the preset of a model, and that its other arguments go with it."""
    check_known_preset(model.preset)
    if model.preset is None:
        return
    if model.learn != "spectral":
        raise preset_contradiction("learn", model.learn, 'learn="spectral"')
    if isinstance(model.n_states, str):
        raise preset_contradiction(
            "n_states", model.n_states, "a number: nothing is chosen by held-out rows"
        )
    if getattr(model, "homogeneous", False):
        raise preset_contradiction(
            "homogeneous", True, "homogeneous=False: every position has tables of its own"
        )
