"""Temporary folders beside an output, which never stay for long, however their writer ends.

A writer locks its folder; the system takes the lock away when the process ends, even by ``kill -9``. Whoever
next writes to the same place removes folders that nobody has locked. Systems without `fcntl` have no such
locks, and there a killed writer leaves its folder.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MARK = "part"
# The folders of this process that are not removed yet, with its number: a fork must leave them alone.
_OWN: set[tuple[int, Path]] = set()


@contextmanager
def temporary_folder(target: Path, place: Path | None = None) -> Iterator[Path]:
    """A new folder beside `target`, for this writer alone; removed at the end of the block.

    Folders that dead writers of the same target left behind are removed first.

    Parameters
    ----------
    target : Path
        What is to be written.
    place : Path, optional
        The folder to be in, if not that of the target.

    Raises
    ------
    OSError
        The folder cannot be made.
    """
    place = target.parent if place is None else place
    remove_dead(place, target.name)
    folder, lock = _new_folder(place, target.name)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _OWN.discard((os.getpid(), folder))
        if lock is not None:
            os.close(lock)


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Whether nobody else has locked this folder; within the block nobody else can.

    A folder that is not there is made. Where the system has no locks, the answer is yes.

    Raises
    ------
    OSError
        The folder cannot be made.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = _lock(folder)
        except BlockingIOError:
            yield False
            return
        if lock is None or _is_at(lock, folder):
            break
        os.close(lock)  # it was removed in between
    try:
        yield True
    finally:
        if lock is not None:
            os.close(lock)


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def remove_dead(place: Path, name: str) -> None:
    """Remove the temporary folders that dead writers of something of this name left in a folder."""
    if fcntl is None:
        return
    pattern = re.compile(rf"\.{re.escape(name[:40])}-[0-9a-f]{{12}}\.{_MARK}")
    try:
        entries = list(os.scandir(place))
    except PermissionError:  # a folder that may be written to, but not read
        return
    for entry in entries:
        if pattern.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(OSError):  # locked, gone, or not ours to open
                lock = _lock(Path(entry.path))
                if lock is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)


def _new_folder(place: Path, name: str) -> tuple[Path, int | None]:
    while True:
        folder = place / f".{name[:40]}-{secrets.token_hex(6)}.{_MARK}"
        _OWN.add((os.getpid(), folder))  # first, so that an interrupt leaves nothing
        folder.mkdir(mode=0o700)
        try:
            lock = _lock(folder, wait=True)
        except FileNotFoundError:  # another writer took it for that of a dead one
            continue
        if lock is None or _is_at(lock, folder):
            return folder, lock
        os.close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """An open folder that is locked until it is closed; None where there are no locks.

    Raises
    ------
    BlockingIOError
        Another has locked it.
    """
    if fcntl is None:
        return None
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(number)
        raise
    except OSError:  # a file system without locks
        os.close(number)
        return None
    return number


def _is_at(number: int, path: Path) -> bool:
    """Whether an open folder is the one at this path."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except FileNotFoundError:
        return False


@atexit.register
def _remove_own() -> None:
    """Remove what an interrupt in an unlucky moment has left."""
    for process, folder in _OWN.copy():
        if process == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)
