"""Model files as bytes: a safetensors file with one JSON text, and a digest of everything in it.

The metadata hold one entry, ``tacit``: a JSON object with ``format`` (a number), ``version`` (of the library
that wrote the file), ``digest`` and the header of the model. The digest is the SHA-256 of the whole file with
zeros in place of its own 64 digits. Formats 1 and 2 have none.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.core.files.atomic import atomic_path, check_folder, check_path, version_of
from tacit.core.files.json_values import from_json, to_json
from tacit.core.input.missing_files import is_file, missing_file, unreadable_file
from tacit.errors import ArgumentError, FileFormatError, FileWriteError

FORMAT = 3
SUFFIX = ".tacit"

_ENTRY = "tacit"
_OPEN = "0" * 64  # in place of the digest
_MARK = b'\\"digest\\": \\"'  # what stands before it: the JSON text is a string of another one
_BLOCK = 1 << 20  # bytes read at a time

# The types of arrays that a file may hold, by the name that safetensors gives them.
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "U64": np.dtype(np.uint64),
    "I16": np.dtype(np.int16),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}


def write_file(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays, whole or not at all; the same content gives the same bytes.

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
    ...     write_file(path, {"estimator": "LatentTree"}, {"start": np.array([0.5, 0.5])})
    ...     header, arrays = read_file(path)
    >>> header["estimator"], header["format"], arrays["start"]
    ('LatentTree', 3, array([0.5, 0.5]))
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    check_suffix(path)
    for name, array in arrays.items():
        if array.dtype not in _DTYPES.values():
            raise ArgumentError(f"array {name!r} is of type {array.dtype}, which files do not hold")
    entries = {"format": FORMAT, "version": __version__, "digest": _OPEN}
    text = to_json(entries | {key: value for key, value in header.items() if key not in entries})
    # order="C" keeps arrays without axes as they are, which ascontiguousarray would not
    content = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with atomic_path(path) as temporary:
        try:
            save_file(content, temporary, metadata={_ENTRY: text})
        except SafetensorError as error:  # such as a full disk
            raise FileWriteError(f"{str(path)!r} cannot be written: {error}") from error
        with temporary.open("rb+") as file:
            place, digest = _digest(file)
            file.seek(place)
            file.write(digest)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise an `ArgumentError` unless the path ends in ``.tacit``, a `FileWriteError` without its folder."""
    check_path(path)
    target = Path(path)
    if target.suffix != SUFFIX:
        suggestion = target.name + SUFFIX if not target.suffix else target.with_suffix(SUFFIX).name
        raise ArgumentError(
            f"model files end in {SUFFIX}, but {str(path)!r} does not; say {suggestion!r}"
        )
    check_folder(path)


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a model file, whatever its extension.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        The file is truncated, damaged, was not written by Tacit, or is of a newer format.
    """
    check_path(path)
    if not is_file(path):
        raise missing_file(path, "model file")
    while True:
        version = version_of(path)
        try:
            return _read(path)
        except FileFormatError as error:
            if version_of(path) == version:
                raise FileFormatError(f"{str(path)!r} {error}") from error
        # Another process has replaced the file: the digest may be that of the new one.


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    arrays: dict[str, NDArray[Any]] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            header = _header(file.metadata() or {})
            if header["format"] >= FORMAT or "digest" in header:
                _check_digest(path, header.get("digest"))
            for name in file.keys():  # noqa: SIM118 - the file is no dict
                kind = file.get_slice(name).get_dtype()
                if kind not in _DTYPES:
                    raise FileFormatError(
                        f"holds an array {name!r} of type {kind}; Tacit writes {', '.join(_DTYPES)}"
                    )
                arrays[name] = file.get_tensor(name)
    except SafetensorError as error:
        raise FileFormatError(f"is not a model file, or only a part of one ({error})") from error
    except OSError as error:
        raise unreadable_file(path, error) from error
    return header, arrays


def _header(metadata: Mapping[str, str]) -> dict[str, Any]:
    if _ENTRY not in metadata:
        raise FileFormatError(f"was not written by Tacit: it has no entry {_ENTRY!r}")
    header = from_json(metadata[_ENTRY])
    number = header.get("format") if isinstance(header, dict) else None
    if type(number) is not int:
        raise FileFormatError("is damaged: it has no format number")
    if not 1 <= number <= FORMAT:
        version = header.get("version", "(unknown version)")
        raise FileFormatError(
            f"is of format {number}, written by Tacit {version}; this is Tacit {__version__}, "
            f"which reads formats 1 to {FORMAT}. A newer Tacit may read it"
        )
    if not isinstance(header.get("estimator"), str):
        raise FileFormatError("is damaged: it names no estimator")
    return dict(header)


def _check_digest(path: str | os.PathLike[str], digest: Any) -> None:
    with Path(path).open("rb") as file:
        if not isinstance(digest, str) or _digest(file, digest)[1] != digest.encode():
            raise FileFormatError("is damaged: its digest is that of other content")


def _digest(file: BinaryIO, written: str = _OPEN) -> tuple[int, bytes]:
    """The place of the digest in a file, and what it should be."""
    (length,) = struct.unpack("<Q", file.read(8))
    head = file.read(length)
    before, marked, after = head.partition(_MARK + written.encode())
    if not marked or len(written) != len(_OPEN):
        raise FileFormatError("is damaged: it has no digest")
    digest = hashlib.sha256(struct.pack("<Q", length) + before + _MARK + _OPEN.encode() + after)
    while block := file.read(_BLOCK):
        digest.update(block)
    return 8 + len(before) + len(_MARK), digest.hexdigest().encode()
