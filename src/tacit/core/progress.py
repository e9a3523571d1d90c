"""Progress reports of long computations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tacit.errors import ArgumentTypeError

Report = Callable[[float, str], None]


def silent(share: float, text: str) -> None:
    """Report nothing."""


@contextmanager
def reporting(progress: Any) -> Iterator[Report]:
    """A function of (share done, what is being done), as the caller's `progress` asks for.

    Parameters
    ----------
    progress : None, bool or callable
        None and False say nothing; True draws a bar on standard error if that is a terminal; a callable is
        called with the share done, from 0 to 1, and a few words.
    """
    if progress is None or progress is False:
        yield silent
    elif callable(progress):
        yield progress
    elif progress is not True:
        raise ArgumentTypeError(
            f"progress={progress!r} is not understood; pass None, True or a callable(share, text)"
        )
    elif not sys.stderr.isatty():
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

        def report(share: float, text: str) -> None:
            bar.update(task, completed=share, description=text)

        yield report
