"""The arguments of `LatentTree` about learning, checked, and when EM stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from tacit.core.arguments import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    checked_rates,
    seed_from,
)
from tacit.core.em import AbsoluteGain, RelativeGain, StoppingRule
from tacit.core.limits import shown
from tacit.core.threads import n_threads
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.trees.learn.em.defaults import GAIN_PER_PARAMETER
from tacit.trees.learn.presets import N_VIEWS, WINDOW, check_spectral, views_and_window

if TYPE_CHECKING:
    from tacit.trees.latent_tree import LatentTree

REPRESENTATIONS = ("auto", "train", "tensor", "matrix")
STOPPING = ("gain", "relative")
EFFORTS = ("low", "default", "high")
RELATIVE_GAIN = 1e-4  # of Parikh's thesis


@dataclass(frozen=True, eq=False)
class Settings:
    """The arguments of `LatentTree` about learning."""

    preset: str | None = None
    n_views: int = N_VIEWS
    representation: str = "auto"
    siblings: str = "adopted"
    window: int | None = WINDOW
    features: Any = 3  # a number of columns, or features given by the user
    n_restarts: int = 5
    tol: float | str = "auto"
    stopping: str = "gain"
    max_iter: int = 1000
    learning_rates: tuple[float, ...] = (0.6,)
    pseudo_counts: float | str = "auto"
    compress: bool = True
    effort: str = "default"
    n_jobs: int = 1
    seed: int = 0


def settings_of(model: LatentTree) -> Settings:
    """The arguments of a model about learning, checked."""
    check_choice("representation", model.representation, REPRESENTATIONS)
    for name in ("n_restarts", "max_iter"):
        check_count(name, getattr(model, name))
    check_count("n_views", model.n_views, word="auto")
    check_count("window", model.window, none_is="all leaves", word="auto")
    check_spectral(model)
    check_choice("effort", model.effort, EFFORTS)
    n_views, window = views_and_window(model)
    check_stopping(model.tol, model.stopping, model.learn)
    check_number("pseudo_counts", model.pseudo_counts, word="auto")
    return Settings(
        n_views=n_views,
        representation=model.representation,
        siblings=model.siblings,
        window=window,
        effort=model.effort,
        **common_arguments(model),
    )


def common_arguments(model: Any) -> dict[str, Any]:
    """The settings that trees and junction trees take from the arguments of the same name."""
    check_flag("compress", model.compress)
    return {
        "preset": model.preset,
        "features": model.features,
        "n_restarts": model.n_restarts,
        "tol": model.tol,
        "stopping": model.stopping,
        "max_iter": model.max_iter,
        "learning_rates": checked_rates(model.learning_rate),
        "pseudo_counts": model.pseudo_counts,
        "compress": model.compress,
        "n_jobs": n_threads(model.n_jobs) or 1,
        "seed": seed_from(model.random_state),
    }


def check_stopping(tol: Any, stopping: Any, learn: str) -> None:
    """Check the arguments that say when EM stops."""
    check_number("tol", tol, positive=True, word="auto")
    check_choice("stopping", stopping, STOPPING)
    if stopping == "relative" and learn != "em":
        raise ArgumentError(f'stopping="relative" with learn={learn!r}; it goes with learn="em"')


def stopping_rule(settings: Settings, n_rows: float, otherwise: float) -> StoppingRule:
    """When EM stops.

    Parameters
    ----------
    settings : Settings
    n_rows : float
    otherwise : float
        Nats of the log-likelihood of all rows, where the user gave no tolerance.
    """
    tol = settings.tol
    if settings.stopping == "relative":
        return RelativeGain(RELATIVE_GAIN if isinstance(tol, str) else tol)
    if isinstance(tol, str):
        return AbsoluteGain(max(otherwise, GAIN_PER_PARAMETER))  # for models without parameters too
    return AbsoluteGain(tol * n_rows)


def check_n_states(n_states: Any) -> None:
    """Raise unless `n_states` is a number, a mapping of hidden nodes to numbers, or "auto"."""
    if isinstance(n_states, str):
        if n_states != "auto":
            raise ArgumentError(
                f'n_states={n_states!r}; give a number, a number for each hidden node, or "auto"'
            )
    elif isinstance(n_states, Mapping):
        for name, count in n_states.items():
            _check_count(count, f" of {name!r}")
    else:
        _check_count(n_states, "")


def _check_count(value: Any, whose: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentTypeError(
            f"n_states={shown(value)}{whose}; give an integer, a mapping of hidden node to integer, "
            f'or "auto"'
        )
    if value < 1:
        raise ArgumentError(f"n_states={shown(value)}{whose}; give at least 1")
