"""The folder of data files, named by the environment variable ``TACIT_DATA``."""

from __future__ import annotations

import lzma
import os
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import FileFormatError, MissingDataError

VARIABLE = "TACIT_DATA"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set: where it should lie, what it looks like, where it comes from.

    Parameters
    ----------
    path : str
        Below the folder of data, without ``.xz``.
    form : str
        What the file looks like inside.
    source : str
        Where it comes from.
    """

    path: str
    form: str
    source: str

    def locate(self) -> Path:
        """Where the file lies, as it is or compressed (``.xz``).

        Raises
        ------
        MissingDataError
            The variable is not set, or the file is not in its folder.
        """
        needed = f"{self.path}[.xz] ({self.form}; from {self.source})"
        folder = os.environ.get(VARIABLE)
        if not folder:
            raise MissingDataError(
                f"the environment variable {VARIABLE} does not name a folder of data; "
                f"in that folder, this is wanted: {needed}"
            )
        plain = Path(folder) / self.path
        for path in (plain, plain.with_name(plain.name + ".xz")):
            if path.is_file():
                return path
        raise MissingDataError(f"the folder {folder!r} lacks {needed}")

    def read(self) -> bytes:
        """The contents of the file.

        Raises
        ------
        MissingDataError
            See `locate`.
        FileFormatError
            The file is compressed and damaged.
        """
        path = self.locate()
        if path.name == Path(self.path).name:
            return path.read_bytes()
        try:
            return lzma.decompress(path.read_bytes())
        except lzma.LZMAError as error:
            raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error

    def wrong(self, problem: str) -> FileFormatError:
        """The error for contents that do not have the expected form."""
        return FileFormatError(f"{self.path}: {problem}; expected {self.form}")
