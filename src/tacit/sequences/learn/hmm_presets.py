"""The presets of `HMM`, and the arguments that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_choice
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
    if model.preset != "printed":
        raise ArgumentError(f'preset={model.preset!r} is not known; give None or "printed"')
    if model.learn != "spectral":
        raise _contradiction("learn", model.learn, 'learn="spectral"')
    if isinstance(model.n_states, str):
        raise _contradiction(
            "n_states", model.n_states, "a number: nothing is chosen by held-out sequences"
        )
    if model.features not in ("auto", 1):
        raise _contradiction("features", model.features, "features=1, windows of three symbols")
    if model.stationary:
        raise _contradiction("stationary", True, "stationary=False: b_1 is from the first symbols")


def _contradiction(name: str, value: Any, needed: str) -> ArgumentError:
    return ArgumentError(f'{name}={value!r} does not go with preset="printed"; give {needed}')
