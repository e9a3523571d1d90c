"""The presets of `HMM`, and the arguments that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.core.arguments import check_choice, check_known_preset, preset_contradiction
from tacit.core.encoders.given_features import are_given
from tacit.errors import ArgumentError

if TYPE_CHECKING:
    from tacit.sequences.hmm import HMM

WINDOWS = ("auto", "first", "all")


def check_preset(model: HMM) -> None:
    """Check the preset of a model, and that its other arguments go with it."""
    check_choice("windows", model.windows, WINDOWS)
    if model.preset is None:
        if model.windows != "auto":
            raise ArgumentError(
                f'windows={model.windows!r} goes with preset="printed" only; other learners use all windows'
            )
        return
    check_known_preset(model.preset)
    if model.learn != "spectral":
        raise preset_contradiction("learn", model.learn, 'learn="spectral"')
    if isinstance(model.n_states, str):
        raise preset_contradiction(
            "n_states", model.n_states, "a number: nothing is chosen by held-out sequences"
        )
    if are_given(model.features) or model.features not in ("auto", 1):
        kind = type(model.features).__name__ if are_given(model.features) else model.features
        raise preset_contradiction("features", kind, "features=1, windows of three symbols")
    if model.stationary:
        raise preset_contradiction(
            "stationary", True, "stationary=False: b_1 is from the first symbols"
        )
