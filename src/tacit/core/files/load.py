"""Model files back to fitted models of any class."""

from __future__ import annotations

import os
from typing import Any

from tacit.core.files.container import read_file
from tacit.core.files.saved_model import decoded
from tacit.errors import FileFormatError


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted model that a file holds; nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        A file that a model's `save` wrote.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        The file is truncated, foreign, damaged, or of a newer format.

    Examples
    --------
    >>> import tacit, tempfile, pathlib
    >>> model = tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"], ["b", "x"]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.tacit"
    >>> model.save(path)
    >>> tacit.load(path).categories_ == model.categories_
    True
    """
    header, arrays = read_file(path)
    try:
        return decoded(header, arrays)
    except FileFormatError as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error
