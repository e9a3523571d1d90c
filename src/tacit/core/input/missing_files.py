"""Errors for files that do not exist, with the nearest name."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.errors import MissingDataError

_LONGEST = 255  # characters of a name that a file may have
_ALIKE = 0.5  # of two names before their endings


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file; there is none whose name is too long for the system."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file; a `MissingDataError` where it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable_file(path, error) from error


def unreadable_file(path: str | os.PathLike[str], error: OSError) -> MissingDataError:
    """The error to raise where there is a file, but the system does not give its content."""
    return MissingDataError(f"{str(path)!r} cannot be read: {error.strerror or error}")


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file, folder or pipe; see `is_file`."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def missing_file(
    path: str | os.PathLike[str], what: str = "file", advice: str = ""
) -> MissingDataError:
    """The error to raise where there is no file; it names one that is there and is called much the same.

    Parameters
    ----------
    path : path
    what : str
        What was looked for.
    advice : str
        What else to do, where no such name is near.
    """
    text = f"there is no {what} {str(path)!r}"
    try:
        if Path(path).is_dir():
            return MissingDataError(f"{text}: it is a folder")
        near = near_name(Path(path))
        if near:
            return MissingDataError(f"{text}, but there is {near!r}")
        if not Path(path).parent.is_dir():
            folder = str(Path(path).parent)
            return MissingDataError(f"{text}: the folder {folder!r} does not exist")
    except (OSError, ValueError) as error:  # too long a name, or one with a NUL character
        return MissingDataError(f"{text}: {getattr(error, 'strerror', None) or error}")
    return MissingDataError(f"{text}; {advice}" if advice else text)


def near_name(path: Path) -> str | None:
    """The name of something that may be meant by a path where nothing is."""
    import difflib

    if len(path.name) > _LONGEST or is_there(path) or not path.parent.is_dir():
        return None
    names = [file.name for file in path.parent.iterdir()]
    for near in difflib.get_close_matches(path.name, names):
        # A long ending in common makes no names alike.
        begun = near.split(".")[0], path.name.split(".")[0]
        if difflib.SequenceMatcher(None, *begun).ratio() >= _ALIKE:
            return str(path.with_name(near))
    return None
