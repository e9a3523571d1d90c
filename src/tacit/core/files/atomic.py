"""Files that are there whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit.core.files.temporary import sync_file, sync_folder, temporary_folder
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, FileWriteError, TacitError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file near `path`, which takes its place when the block ends well.

    If anything goes wrong inside the block, the temporary file is removed and what stood at `path` before
    still stands there. The temporary file has the same suffix, because some writers go by it, and a folder of
    its own, because some put files of their own beside it. A device or a pipe (``/dev/stdout``) is not
    replaced: it gets what was written, at the end.

    Parameters
    ----------
    path : str or path
        Where the file is to be; its folder must exist.

    Yields
    ------
    pathlib.Path
        An empty file to write to.

    Raises
    ------
    FileWriteError
        The folder does not exist, may not be written to, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    check_path(path)
    target = Path(os.path.realpath(path))  # a link stays a link, to the new file
    try:
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        special = target.exists() and not target.is_file()
        place = Path(tempfile.gettempdir()) if special else None
        with temporary_folder(target, place) as folder:
            temporary = folder / f"new{target.suffix}"
            temporary.touch(exist_ok=False)
            mode = temporary.stat().st_mode  # what any new file has here
            yield temporary
            _put(temporary, target, mode, special=special)
    except OSError as error:
        if isinstance(error, TacitError):
            raise
        check_folder(path)
        reason = error.strerror or str(error)
        raise FileWriteError(f"{str(path)!r} cannot be written: {reason}") from error


def version_of(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Differs if a file or folder was replaced; empty where nothing is there."""
    try:
        status = Path(path).stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_mtime_ns


def check_path(path: Any) -> None:
    """Raise an `ArgumentTypeError` unless a path is one, an `ArgumentError` where it has a NUL character."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(f"a path is needed, a text or pathlib.Path, not {shown(path)}")
    if "\0" in os.fspath(path):
        raise ArgumentError(f"the path {shown(os.fspath(path))} has a NUL character; remove it")


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise a `FileWriteError` unless there is the folder that a file is to be in."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        shown = folder if Path(path).is_symlink() else Path(path).parent
        raise FileWriteError(
            f"{str(path)!r} cannot be written: the folder {str(shown)!r} does not exist"
        )


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Put a text into a file as UTF-8, whole or not at all; lines end as they do in the text."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Put bytes into a file, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def replace_folder(new: Path, target: Path) -> None:
    """Give the folder `new` the name `target`, at once; a folder of that name is where `new` was, or beside.

    Of several writers the last one wins, and none of them finds half of another's work.

    Raises
    ------
    OSError
        It cannot be renamed; `target` is then what it was.
    """
    while True:
        try:
            new.rename(target)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        try:
            _exchange(new, target)
            break
        except OSError as error:  # other writers took it away, or put another there
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
                raise
    sync_folder(target.parent)


def _exchange(new: Path, target: Path) -> None:
    """Exchange the names of two folders; where the system cannot, there is none of them for a moment."""
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux
        failed = errno.ENOSYS
    else:
        failed = rename(here, os.fsencode(new), here, os.fsencode(target), exchange)
        failed = ctypes.get_errno() if failed else 0
    if failed in (errno.ENOSYS, errno.EINVAL):  # nor this file system
        before = new.with_name(f"before-{secrets.token_hex(6)}")
        target.rename(before)
        try:
            new.rename(target)
        except OSError:
            if not target.exists():
                before.rename(target)
            raise
    elif failed:
        raise OSError(failed, os.strerror(failed))


def _put(temporary: Path, target: Path, mode: int, *, special: bool) -> None:
    if special:
        with temporary.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
        return
    temporary.chmod(target.stat().st_mode if target.is_file() else mode)
    sync_file(temporary)  # a crash after the renaming must not leave an empty file
    temporary.replace(target)
    sync_folder(target.parent)
