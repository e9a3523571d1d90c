"""Everything that Tacit raises or warns about.

Every error is a `TacitError` and also the built-in error that fits, so both ``except TacitError``
and ``except ValueError`` work. Messages are one line of at most `LONGEST_MESSAGE` visible characters,
whatever was given.
"""

import re
from typing import Any

LONGEST_MESSAGE = 600  # characters
_END = 200  # characters kept of the end of a message that is too long: what to do stands there


def shortened(text: str, longest: int = LONGEST_MESSAGE, end: int = _END) -> str:
    """A text without its middle where it is too long.

    Examples
    --------
    >>> shortened("a" * 50 + "b" * 50, longest=20, end=5)
    'aaaaaaaaaa ... bbbbb'
    """
    if len(text) <= longest:
        return text
    return f"{text[: longest - end - 5]} ... {text[len(text) - end :]}"


def printable(text: str) -> str:
    r"""A text on one line, with control and other invisible characters written as Python escapes.

    Examples
    --------
    >>> print(printable("cannot read\n  \x1b[31mred"))
    cannot read \x1b[31mred
    """
    if text.isprintable():
        return text
    line = re.sub(" *[\r\n]+ *", " ", text).strip()
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in line
    )


def _as_message(text: str) -> str:
    # Cut before, so that little is escaped of a long text, and after, because escapes are longer.
    return shortened(printable(shortened(text)))


def _clean_arguments(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_as_message(value) if isinstance(value, str) else value for value in values)


class TacitError(Exception):
    """The base of every error that Tacit raises on purpose.

    A message that is too long loses its middle; control characters are shown as escapes.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*_clean_arguments(args))


class ArgumentError(TacitError, ValueError):
    """An argument has a value that makes no sense, or that does not fit the others."""


class ArgumentTypeError(TacitError, TypeError):
    """An argument is of a kind that is not understood."""


class DataError(TacitError, ValueError):
    """The data cannot be used as given: empty, wrong shape, wrong columns."""


class ColumnError(DataError):
    """A column was named that is not there, or one that is needed is absent."""


class CategoryError(DataError):
    """A value was met that is not one of the column's known categories."""


class TopologyError(TacitError, ValueError):
    """A graph is not a tree, or its leaves do not match the columns."""


class RankError(TacitError, ValueError):
    """More states or a larger rank were asked for than the moments can carry."""


class NegativeProbabilityError(TacitError, ArithmeticError):
    """An estimate left the range of probabilities, and the caller asked to be told."""


class TooExpensiveError(TacitError, MemoryError):
    """The plan for a piece of work says that it would need too much memory or time."""


class FileFormatError(TacitError, ValueError):
    """A file is truncated, foreign, or of a format this version does not know."""


class FileWriteError(TacitError, OSError):
    """A file cannot be written where it was wanted."""


class MissingDataError(TacitError, FileNotFoundError):
    """A data set or file is not where it was looked for."""


class NotAvailableError(TacitError, AttributeError):
    """The model was not fitted yet, or was learnt in a form that cannot answer this."""


class DependencyError(TacitError, ImportError):
    """An optional package is needed for this; the message names it."""


class TacitWarning(UserWarning):
    """The base of every warning that Tacit gives.

    A message that is too long loses its middle; control characters are shown as escapes.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*_clean_arguments(args))


class BinningWarning(TacitWarning):
    """A column of numbers was cut into categories."""


class IdentifierWarning(TacitWarning):
    """A column of identifiers or free text was left out: nearly every row has a value of its own."""


class EmptyColumnWarning(TacitWarning):
    """A column without any value was left out, because nothing can be said of it."""


class SymbolWarning(TacitWarning):
    """Strings were taken as symbols, and are more likely sequences of characters."""


class ProbabilityWarning(TacitWarning):
    """The probabilities of a file did not sum to one, and were changed so that they do."""


class IntegrationWarning(TacitWarning):
    """A numerical integral is less exact than usual; the message says how exact."""


class ConvergenceWarning(TacitWarning):
    """An iteration stopped at its limit before its stopping rule held."""
