"""The arguments of `HMM` about learning, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.arguments import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    checked_rate,
    seed_from,
)
from tacit.core.encoders.given_features import are_given, check_given
from tacit.errors import ArgumentError
from tacit.sequences.emissions import EMISSIONS
from tacit.sequences.emissions.gaussian_density import COVARIANCES
from tacit.sequences.learn.hmm_presets import check_preset
from tacit.sequences.learn.hmm_task import HMMSettings
from tacit.sequences.model.durations import DURATION_KINDS, MOST_DURATION
from tacit.sequences.model.shapes import INITIAL, TRANSITIONS, Shape

if TYPE_CHECKING:
    from tacit.sequences.hmm import HMM

WITH_WINDOWS = ("auto", "spectral", "tensor")  # learners that use moments of pasts and futures
WITH_SHAPES = ("auto", "em")  # learners that know shapes of chains and known states
WITH_DURATIONS = ("auto", "tensor", "em")  # learners of the plain model that durations start from
MOST_STATES = 20_000  # 3.2 GB of transitions


def settings_of(model: HMM) -> HMMSettings:
    """The arguments about learning, checked."""
    from tacit.core.threads import n_threads

    features_are_given = are_given(model.features)
    learners = dict.fromkeys(name for emission in EMISSIONS.values() for name in emission.learners)
    check_choice("learn", model.learn, tuple(learners))
    check_choice("covariance", model.covariance, COVARIANCES)
    if isinstance(model.n_states, str):
        check_choice("n_states", model.n_states, ("auto",))
    else:
        check_count("n_states", model.n_states)
        if model.n_states > MOST_STATES:
            raise ArgumentError(
                f"n_states={model.n_states}; give at most {MOST_STATES}: transitions are a dense matrix"
            )
    reach, given = _given_features(model) if features_are_given else (_reach(model), None)
    for name in ("n_restarts", "max_iter", "n_components"):
        check_count(name, getattr(model, name))
    check_choice("negative", model.negative, ("floor", "nan", "raise"))
    check_number("pseudo_counts", model.pseudo_counts, word="auto")
    check_number("tol", model.tol, positive=True)
    is_usual = isinstance(model.windows, str) and model.windows == "auto"
    if model.preset is not None or not is_usual:
        check_preset(model)
    check_flag("stationary", model.stationary)
    _check_shape(model)
    _check_durations(model)
    has_shape = _restricts(model)
    if has_shape:
        check_generic(model, "transitions=, initial= or tied=")
    return HMMSettings(
        learn=model.learn,
        features=reach,
        covariance=model.covariance,
        stationary=bool(model.stationary),
        pseudo_counts=(
            None if isinstance(model.pseudo_counts, str) else float(model.pseudo_counts)
        ),
        n_restarts=int(model.n_restarts),
        tol=float(model.tol),
        max_iter=int(model.max_iter),
        n_jobs=n_threads(model.n_jobs) or 1,
        seed=seed_from(model.random_state),
        given=given,
        preset=model.preset,
        windows="first" if model.preset and model.windows == "auto" else model.windows,
        learning_rate=checked_rate(model.learning_rate),
        transitions=model.transitions,
        initial=model.initial,
        tied=model.tied,
        n_components=int(model.n_components),
        durations=model.durations,
        max_duration=None if isinstance(model.max_duration, str) else int(model.max_duration),
        has_shape=has_shape,
    )


def check_generic(model: HMM, name: str) -> None:
    """Raise where `learn` does not know known states and shapes of chains."""
    if model.learn not in WITH_SHAPES or model.preset is not None:
        raise ArgumentError(
            f"{name} with learn={model.learn!r}; it goes with {' and '.join(map(repr, WITH_SHAPES))}"
        )


def _check_shape(model: HMM) -> None:
    """Check the arguments about the shape of the chain."""
    for name, names in (("transitions", TRANSITIONS), ("initial", INITIAL)):
        value = getattr(model, name)
        if isinstance(value, str):
            check_choice(name, value, names)
        elif isinstance(model.n_states, str):
            raise ArgumentError(f"an array as {name}= goes with a number of states; give n_states=")
    if model.tied is not None and isinstance(model.n_states, str):
        raise ArgumentError("tied= goes with a number of states; give n_states=")
    if not isinstance(model.n_states, str):
        Shape.of(model.transitions, int(model.n_states), model.initial, model.tied)


def _restricts(model: HMM) -> bool:
    """Whether transitions or initial states are restricted, or states tied."""
    named = isinstance(model.transitions, str) and isinstance(model.initial, str)
    plain = named and model.transitions == "full" and model.initial in ("auto", "all")
    return not plain or model.tied is not None


def _check_durations(model: HMM) -> None:
    """Check the arguments about durations of states."""
    check_count("max_duration", model.max_duration, word="auto")
    if model.durations is None:
        return
    check_choice("durations", model.durations, DURATION_KINDS)
    if not isinstance(model.max_duration, str) and model.max_duration > MOST_DURATION:
        raise ArgumentError(
            f"max_duration={model.max_duration}; give at most {MOST_DURATION}: durations beyond have a "
            f"geometric tail"
        )
    if model.learn not in WITH_DURATIONS or model.preset is not None:
        raise ArgumentError(
            f"durations={model.durations!r} with learn={model.learn!r}; it goes with "
            f"{', '.join(map(repr, WITH_DURATIONS))}"
        )
    if model.stationary:
        raise ArgumentError(
            f"durations={model.durations!r} with stationary=True: the first segment begins at the first "
            f"position; leave one of them out"
        )


def _reach(model: HMM) -> int | None:
    """The places of past and future whose indicators are features; None for "auto"."""
    check_count("reach", model.reach)
    check_count("features", model.features, word="auto")
    return None if isinstance(model.features, str) else int(model.features)


def _given_features(model: HMM) -> tuple[int, Any]:
    """The places of past and future, and features of them that are not indicators."""
    check_count("reach", model.reach)
    check_given(model.features)
    if model.learn not in WITH_WINDOWS:
        raise ArgumentError(
            f"features that are no integer go with learn={', '.join(map(repr, WITH_WINDOWS))}, not with "
            f"{model.learn!r}"
        )
    return int(model.reach), model.features
