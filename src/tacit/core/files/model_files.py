"""Model files: arrays by name, and one JSON text with everything else.

A model file is a safetensors file with the extension ``.tacit``. Its metadata hold one entry, ``tacit``: a
JSON object with ``format`` (a number), ``version`` (of the library that wrote it), ``estimator`` (the name of
its class) and whatever else the estimator needs: its arguments, the columns and their categories, the
topology, diagnostics, a fingerprint of the training data. Nothing in a file is ever executed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.core.files.atomic import check_folder, write_bytes
from tacit.core.files.json_values import from_json, to_json
from tacit.core.input.missing_files import missing_file
from tacit.errors import ArgumentError, FileFormatError

# The format of a model of one tree, and that of a mixture, which older versions do not read.
FORMAT = 1
MIXTURE_FORMAT = 2
SUFFIX = ".tacit"

_ENTRY = "tacit"
_OWN = ("format", "version")  # what `write_model` itself puts into the header

# The types of arrays that a file may hold, by the name that safetensors gives them.
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I16": np.dtype(np.int16),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}


def write_model(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    format_number: int = FORMAT,
) -> None:
    """Write a model file, whole or not at all.

    The same header and arrays give the same bytes.

    Parameters
    ----------
    path : str or path
        Ends in ``.tacit``; a file that is there already is replaced.
    header : mapping
        Plain values (see `json_values.to_json`) with at least ``"estimator"``. The format number and
        the version of the library are added here.
    arrays : mapping of str to ndarray
        Booleans, float32, float64, or integers of 16, 32 or 64 bits (or 8 without a sign).
    format_number : int
        The lowest that says what the file holds, so that older versions read what they can.

    Raises
    ------
    ArgumentError
        The path ends in something else than ``.tacit``, or a type of array has no place in a file.
    FileWriteError
        The file cannot be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "m.tacit"
    ...     write_model(path, {"estimator": "LatentTree"}, {"start": np.array([0.5, 0.5])})
    ...     header, arrays = read_model(path)
    >>> header["estimator"], header["format"], arrays["start"]
    ('LatentTree', 1, array([0.5, 0.5]))
    """
    from safetensors.numpy import save

    check_suffix(path)
    if not isinstance(header.get("estimator"), str):
        raise ArgumentError("the header of a model file names its estimator")
    for name, array in arrays.items():
        if array.dtype not in _DTYPES.values():
            raise ArgumentError(f"array {name!r} is of type {array.dtype}, which files do not hold")
    text = to_json({"format": format_number, "version": __version__, **_without_own(header)})
    # order="C" keeps arrays without axes as they are, which ascontiguousarray would not
    content = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, save(content, metadata={_ENTRY: text}))


def _without_own(header: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in header.items() if key not in _OWN}


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise an `ArgumentError` unless the path ends in ``.tacit``, a `FileWriteError` without its folder."""
    given = Path(path)
    if given.suffix != SUFFIX:
        better = given.name + SUFFIX if not given.suffix else given.with_suffix(SUFFIX).name
        raise ArgumentError(
            f"model files end in {SUFFIX}, but {str(path)!r} does not; say {better!r}"
        )
    check_folder(path)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a model file, whatever its extension.

    Returns
    -------
    header : dict
        As it was written, with ``"format"`` and ``"version"``.
    arrays : dict of str to ndarray

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        The file is truncated, was not written by Tacit, or is of a newer format.
    """
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise missing_file(path, "model file")
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            header = _header(path, file.metadata() or {})
            for name in file.keys():  # noqa: SIM118 - the file is no dict
                kind = file.get_slice(name).get_dtype()
                if kind not in _DTYPES:
                    raise FileFormatError(
                        f"{str(path)!r} holds an array {name!r} of type {kind}; "
                        f"Tacit writes {', '.join(_DTYPES)}"
                    )
                arrays[name] = file.get_tensor(name)
    except SafetensorError as error:
        raise FileFormatError(
            f"{str(path)!r} is not a model file, or only a part of one ({error})"
        ) from error
    return header, arrays


def _header(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> dict[str, Any]:
    if _ENTRY not in metadata:
        raise FileFormatError(
            f"{str(path)!r} is a safetensors file, but not one that Tacit wrote (no entry {_ENTRY!r})"
        )
    try:
        header = from_json(metadata[_ENTRY])
    except FileFormatError as error:
        raise FileFormatError(f"the header of {str(path)!r} is damaged: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise FileFormatError(f"the header of {str(path)!r} is damaged: it has no format number")
    if not FORMAT <= header["format"] <= MIXTURE_FORMAT or isinstance(header["format"], bool):
        raise FileFormatError(
            f"{str(path)!r} is of format {header['format']}, written by Tacit "
            f"{header.get('version', '(unknown version)')}; this is Tacit {__version__}, which reads "
            f"formats {FORMAT} to {MIXTURE_FORMAT}. A newer Tacit may read it"
        )
    if not isinstance(header.get("estimator"), str):
        raise FileFormatError(f"the header of {str(path)!r} is damaged: it names no estimator")
    return header
