"""Progress reports of long computations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError

Report = Callable[[float, str], None]


def silent(fraction: float, text: str) -> None:
    """Report nothing."""


@contextmanager
def reporting(progress: Any) -> Iterator[Report]:
    """A function of (fraction done, what is being done), as the caller's `progress` says.

    Parameters
    ----------
    progress : None, bool or callable
        None and False say nothing; True draws a bar on standard error if that is a terminal; a callable is
        called with the fraction done, from 0 to 1, and a few words.
    """
    if progress is None or progress is False:
        yield silent
    elif callable(progress):
        yield progress
    elif progress is not True:
        raise ArgumentTypeError(
            f"progress={shown(progress)} is not understood; pass None, True or a callable(fraction, text)"
        )
    elif sys.stderr is None or not sys.stderr.isatty():  # None: it is closed
        yield silent
    else:
        with _bar() as report:
            yield report


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def report(fraction: float, text: str) -> None:
            bar.update(task, completed=fraction, description=text)

        yield report
