"""Limits of what is allocated because of what a file or an argument says.

A file of a few bytes can announce a table of any size. So a reader allocates at most
`ENTRIES_PER_BYTE` entries for each byte that it was given, and `FREE_ENTRIES` whatever the size of
the file; a plan of learning is compared with an amount of memory, an argument of the estimator.
"""

from __future__ import annotations

import re
from numbers import Integral
from typing import Any

from tacit.errors import ArgumentError, FileFormatError, TooExpensiveError, shortened

ENTRIES_PER_BYTE = 64  # entries of an array or list, of at most 64 bytes each
FREE_ENTRIES = 1 << 20  # what small files may have
MOST_MEMORY = "8GB"  # the default of `max_memory`

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_LONGEST_VALUE = 80  # characters of a value within a message
_MOST_BITS = 256  # of an integer that is written with all its digits


def shown(value: object) -> str:
    """A value as it stands in a message: its ``repr``, without its middle where that is long.

    Examples
    --------
    >>> shown("x"), shown("x" * 1000)[:8], shown(10**5000)
    ("'x'", "'xxxxxxx", 'an integer of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length()} bits"  # Python refuses to write more digits
    if isinstance(value, str | bytes):
        value = value[: 4 * _LONGEST_VALUE]
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a foreign object; the error to tell of is another
        text = f"a value of type {type(value).__name__}"
    return shortened(text, _LONGEST_VALUE, _LONGEST_VALUE // 4)


def check_entries(what: str, n_entries: int, n_bytes: int, advice: str) -> None:
    """Raise a `FileFormatError` where a file asks for many more entries than it has bytes.

    Parameters
    ----------
    what : str
        The number that the file gives, in words, such as ``"its header announces words"``.
    n_entries : int
        How many entries would be allocated.
    n_bytes : int
        The bytes of the file, unpacked.
    advice : str
        How to read the file all the same.
    """
    most = FREE_ENTRIES + ENTRIES_PER_BYTE * n_bytes
    if n_entries > most:
        raise FileFormatError(
            f"{what}: {_amount(n_entries)}, more than the {most} that a file of {n_bytes} bytes may "
            f"ask for; {advice}"
        )


def check_memory(what: str, n_bytes: float, max_memory: Any, advice: str) -> None:
    """Raise a `TooExpensiveError` where a plan needs more memory than is allowed.

    Parameters
    ----------
    what : str
        What needs the memory, such as ``"the tables of the junction tree"``.
    n_bytes : float
        How much it needs.
    max_memory : int or str
        How much it may need, see `memory_bytes`.
    advice : str
        What to do instead of raising the limit.
    """
    most = memory_bytes(max_memory, "max_memory")
    if n_bytes > most:
        raise TooExpensiveError(
            f"{what} would need about {_gigabytes(n_bytes)} of memory, more than "
            f"max_memory={shown(max_memory)}; {advice}, or raise max_memory"
        )


def memory_bytes(memory: Any, name: str = "memory") -> int:
    """An amount of memory in bytes: a number, or a text such as ``"2GB"`` or ``"300 MB"``.

    Examples
    --------
    >>> memory_bytes("300MB"), memory_bytes(5000)
    (300000000, 5000)
    """
    if isinstance(memory, Integral) and not isinstance(memory, bool) and int(memory) > 0:
        return int(memory)
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,12})?)\s*([KMGT]?B?)\s*", memory.upper())
        if match and float(match[1]) > 0:
            unit = match[2] if match[2] in _UNITS else match[2] + "B"
            return int(float(match[1]) * _UNITS[unit])
    raise ArgumentError(f"{name}={shown(memory)}; give bytes, or a text such as '2GB' or '300MB'")


def _amount(number: int) -> str:
    return str(number) if number < 10**15 else f"10^{len(str(number)) - 1}"


def _gigabytes(n_bytes: float) -> str:
    try:
        return f"{n_bytes / 1e9:.3g} GB"
    except OverflowError:
        return "more than 10^300 GB"
