"""What became of an input: refused, the same answers, other ones, or something that must not be."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.errors import TacitError

GOOD = ("refused", "same", "different")
BAD = ("changed", "NaN", "invalid", "raw error", "bomb", "crash", "hang")
MEANING = {
    "refused": "a TacitError when the file is read, or when a question is asked",
    "same": "all answers are those of the original file",
    "different": "other answers, all valid, where the edit may be one that a person meant",
    "changed": "other answers from a damaged file that has a digest",
    "NaN": "an answer is NaN or infinite, and was not before",
    "invalid": "probabilities outside of [0, 1], or that do not sum to one",
    "raw error": "an exception that is no TacitError",
    "bomb": "the limit of memory was reached",
    "crash": "the process died",
    "hang": "the limit of time was reached",
}
_LONGEST = 600  # characters of a message
_SUM = 1e-5  # how far from one answered probabilities may sum

Question = Callable[[], Any]


@dataclass(frozen=True)
class Probabilities:
    """Answers that sum to one along the last axis."""

    values: Any
    sums_within: float = _SUM


@dataclass(frozen=True)
class Result:
    """The outcome of an input, and its reason."""

    outcome: str
    detail: str = ""


def answers_to(questions: dict[str, Question]) -> dict[str, Any]:
    """What each question is answered; a TacitError is an answer, too."""
    answers: dict[str, Any] = {}
    for name, ask in questions.items():
        try:
            answers[name] = ask()
        except TacitError as error:
            answers[name] = error
    return answers


def judged(
    read: Callable[[], dict[str, Any]], original: dict[str, Any], *, damaged: bool
) -> Result:
    """The outcome of reading a mutated file.

    Parameters
    ----------
    read : callable
        Reads the file, and returns the answers to questions by name.
    original : dict
        What the file before the mutation answered.
    damaged : bool
        Whether the file carries a digest that is wrong now: then no other answers are allowed.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answers = read()
    except TacitError as error:
        if len(str(error)) > _LONGEST:
            return Result("raw error", f"a message of {len(str(error))} characters: {error!s:.300}")
        return Result("refused", f"{type(error).__name__}: {str(error)[:300]}")
    except MemoryError:
        return Result("bomb", traceback.format_exc())
    except RecursionError:
        return Result("raw error", traceback.format_exc(limit=30))
    except Exception:  # noqa: BLE001  that is what is looked for
        return Result("raw error", traceback.format_exc())
    return compared(answers, original, damaged=damaged)


def compared(answers: dict[str, Any], original: dict[str, Any], *, damaged: bool) -> Result:
    """The outcome of answers, against those of the original."""
    for name, answer in answers.items():
        before = original.get(name)
        if isinstance(answer, TacitError):
            continue
        if not _is_finite(answer) and (isinstance(before, TacitError) or _is_finite(before)):
            return Result("NaN", f"{name}: {_shown(answer)}")
        if wrong := _invalid(answer):
            return Result("invalid", f"{name}: {wrong}: {_shown(answer)}")
    if set(answers) == set(original) and all(
        _same(answers[name], original[name]) for name in answers
    ):
        return Result("same")
    if damaged:
        return Result("changed", "other answers from a file with a wrong digest")
    refusals = [name for name in answers if isinstance(answers[name], TacitError)]
    if any(not isinstance(original.get(name), TacitError) for name in refusals):
        return Result("refused", f"when asked: {refusals}")
    return Result("different")


def _leaves(answer: Any) -> Iterator[Any]:
    if isinstance(answer, Probabilities):
        yield from _leaves(answer.values)
    elif isinstance(answer, dict):
        yield from answer
        for item in answer.values():
            yield from _leaves(item)
    elif isinstance(answer, list | tuple):
        for item in answer:
            yield from _leaves(item)
    else:
        yield answer


def _is_finite(answer: Any) -> bool:
    """Whether there is no NaN and no plus infinity: minus infinity is the logarithm of zero."""
    for leaf in _leaves(answer):
        if isinstance(leaf, float | np.floating | np.ndarray):
            array = np.asarray(leaf)
            if array.dtype.kind == "f" and (np.isnan(array).any() or (array == np.inf).any()):
                return False
    return True


def _invalid(answer: Any) -> str:
    if isinstance(answer, Probabilities):
        values = answer.values
        for part in values if isinstance(values, list | tuple) else [values]:
            array = np.asarray(part, dtype=float)
            if array.size and (array.min() < -_SUM or array.max() > 1 + _SUM):
                return "no probabilities"
            if array.size and (np.abs(array.sum(axis=-1) - 1) > answer.sums_within).any():
                return "does not sum to one"
    elif isinstance(answer, dict):
        return next(filter(None, map(_invalid, answer.values())), "")
    return ""


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, TacitError):
        return type(one) is type(other)
    ones, others = list(_leaves(one)), list(_leaves(other))
    return len(ones) == len(others) and all(map(_same_leaf, ones, others))


def _same_leaf(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(
            np.shape(one) == np.shape(other)
            and np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")
        )
    return one == other or (one != one and other != other)  # noqa: PLR0124  NaN


def _shown(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= 500 else text[:500] + "..."
