"""Checks of the arguments of estimators."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError

_LONGEST_NAME = 200  # characters of what is compared with known names
MOST_COUNT = 2**31 - 1  # of anything that an argument counts: states, bins, steps, rows


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise an `ArgumentError` that names a near choice where a value is none of them."""
    if isinstance(value, str) and value in choices:
        return
    if len(choices) == 1:
        raise ArgumentError(f"{name}={shown(value)}; give a number, or {choices[0]!r}")
    listed = ", ".join(repr(choice) for choice in choices)
    guess = did_you_mean(value, choices)
    raise ArgumentError(f"{name}={shown(value)} is not known{guess} Choose one of {listed}")


def did_you_mean(value: object, known: Iterable[Any]) -> str:
    """``"; did you mean 'x'?"`` where something known is near to a text, else a full stop.

    Examples
    --------
    >>> did_you_mean("Colur", ["colour", "size"]), did_you_mean("q", ["y", "T"])
    ("; did you mean 'colour'?", '.')
    """
    near = near_to(value, known)
    return f"; did you mean {near[0]!r}?" if near else "."


def near_to(value: object, known: Iterable[Any]) -> list[Any]:
    """The one of the known names that is near to a text, if any is."""
    if isinstance(value, Integral):
        return []
    text = (value if isinstance(value, str) else shown(value)).casefold()
    if len(text) > _LONGEST_NAME:
        return []
    texts = {str(name).casefold(): name for name in known}
    near = difflib.get_close_matches(text, texts, n=1) if len(text) > 1 else []
    return [texts[name] for name in near]


def check_count(
    name: str,
    value: Any,
    *,
    least: int = 1,
    none_is: str | None = None,
    word: str | None = None,
) -> None:
    """Raise an `ArgumentError` unless a value is an integer of at least one.

    Parameters
    ----------
    least : int
        The smallest integer that is allowed.
    none_is : str, optional
        What None stands for, where it is allowed too.
    word : str, optional
        A word that is allowed too.
    """
    if (value is None and none_is is not None) or (isinstance(value, str) and value == word):
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        other = "" if none_is is None else f", or None for {none_is}"
        other += "" if word is None else f", or {word!r}"
        raise ArgumentError(f"{name}={shown(value)}; give an integer of at least {least}{other}")
    _check_most(name, value)


def check_flag(name: str, value: Any, *, word: str | None = None) -> None:
    """Raise an `ArgumentError` unless a value is True or False, or a word that is allowed too."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == word):
        return
    choices = "True or False" if word is None else f"True, False or {word!r}"
    raise ArgumentError(f"{name}={shown(value)}; give {choices}")


def check_kind(name: str, value: Any, kind: type | tuple[type, ...], advice: str) -> None:
    """Raise an `ArgumentTypeError` that says what to give unless a value is of a class."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"{name}={shown(value)}; give {advice}")


def check_function(value: Any) -> None:
    """Raise an `ArgumentTypeError` unless the argument `function` is None or can be called."""
    if value is not None and not callable(value):
        raise ArgumentTypeError(
            f"function={shown(value)}; give a function of an array of numbers, such as np.square"
        )


def check_rows(name: str, value: Any) -> None:
    """Raise an `ArgumentError` unless a value is an integer that is not negative."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ArgumentError(f"{name}={shown(value)}; give an integer that is not negative")
    _check_most(name, value)


def _check_most(name: str, value: Any) -> None:
    if value > MOST_COUNT:
        raise ArgumentError(f"{name}={shown(value)}; give an integer of at most {MOST_COUNT}")


def check_number(
    name: str,
    value: Any,
    *,
    positive: bool = False,
    none_is: str | None = None,
    word: str | None = None,
) -> None:
    """Raise an `ArgumentError` unless a value is a finite number that is not negative.

    Parameters
    ----------
    positive : bool
        Whether zero is refused too.
    none_is : str, optional
        What None stands for, where it is allowed too.
    word : str, optional
        A text that is allowed too.
    """
    if (value is None and none_is is not None) or (isinstance(value, str) and value == word):
        return
    number = isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)
    if not number or value < 0 or (positive and value == 0):
        requirement = "a positive number" if positive else "a number that is not negative"
        others = [f"None for {none_is}"] if none_is is not None else []
        others += [repr(word)] if word is not None else []
        raise ArgumentError(f"{name}={shown(value)}; give {', or '.join([requirement, *others])}")


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond any float
        return False


def checked_rates(learning_rate: Any, also: str = ", or several") -> tuple[float, ...]:
    """The learning rates of stepwise EM, once all of them are in the range of convergence."""
    rates = tuple(learning_rate) if np.iterable(learning_rate) else (learning_rate,)
    numbers = [isinstance(rate, Real) and not isinstance(rate, bool) for rate in rates]
    if not rates or not all(numbers) or not all(0.5 < rate <= 1 for rate in rates):
        raise ArgumentError(
            f"learning_rate={shown(learning_rate)}; give a number above 0.5 and up to 1{also}: step sizes "
            f"are (t + 2) ** -learning_rate, whose running means converge in this range only"
        )
    return tuple(map(float, rates))


def checked_rate(learning_rate: Any) -> float:
    """The learning rate of stepwise EM where only one may be given."""
    rates = checked_rates(learning_rate, also="")
    if len(rates) > 1:
        raise ArgumentError(f"learning_rate={shown(learning_rate)}; give a single number")
    return rates[0]


def seed_from(random_state: Any) -> int:
    """The integer that everything drawn while fitting follows from.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        An integer stands for itself; a generator gives one; None takes a new one each time.
    """
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ArgumentError(
                f"random_state={shown(random_state)}; give one that is not negative"
            )
        return int(random_state)
    return int(generator_from(random_state).integers(2**32))


def generator_from(random_state: Any) -> np.random.Generator:
    """The generator that a `random_state` stands for, see `seed_from`."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    try:
        if isinstance(random_state, bool):
            raise TypeError("a boolean is no seed")
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"random_state={shown(random_state)}; give an integer that is not negative, a numpy "
            f"Generator, or None"
        ) from error


def check_known_preset(preset: str | None) -> None:
    """Raise an `ArgumentError` unless a preset is None or "printed"."""
    if preset is not None and not (isinstance(preset, str) and preset == "printed"):
        raise ArgumentError(f'preset={shown(preset)} is not known; give None or "printed"')


def preset_contradiction(name: str, value: Any, needed: str) -> ArgumentError:
    """The error of an argument that contradicts preset="printed"."""
    return ArgumentError(f'{name}={shown(value)} does not go with preset="printed"; give {needed}')
