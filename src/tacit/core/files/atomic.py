"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.errors import FileWriteError, TacitError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path`, which takes its place when the block ends well.

    If anything goes wrong inside the block, the temporary file is removed and what stood at `path` before
    still stands there. The temporary file has the same suffix, because some writers go by it. A device or a
    pipe (``/dev/stdout``) is not replaced: it gets what was written, at the end.

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
    target = Path(os.path.realpath(path))  # a link stays a link, to the new file
    try:
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        special = target.exists() and not target.is_file()
        temporary = _new_file(Path(tempfile.gettempdir()) if special else target.parent, target)
        try:
            yield temporary
            _put(temporary, target, special=special)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
    except OSError as error:
        if isinstance(error, TacitError):
            raise
        check_folder(path)
        reason = error.strerror or str(error)
        raise FileWriteError(f"{str(path)!r} cannot be written: {reason}") from error


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


def _new_file(folder: Path, target: Path) -> Path:
    """An empty file with the permissions that any new file has."""
    path = folder / f".{target.stem[:40]}-{secrets.token_hex(6)}{target.suffix}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return path


def _put(temporary: Path, target: Path, *, special: bool) -> None:
    if special:
        with temporary.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
        return
    with temporary.open("rb+") as written:
        os.fsync(written.fileno())  # a crash after the renaming must not leave an empty file
    if target.is_file():
        shutil.copymode(target, temporary)
    temporary.replace(target)
