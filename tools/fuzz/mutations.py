"""Mutations of bytes, of text, of JSON and of arrays."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

Rng = np.random.Generator

INTEGERS = (
    -(2**63),
    -(2**31),
    -2,
    -1,
    0,
    1,
    2,
    2**15,
    2**31 - 1,
    2**31,
    2**62,
    2**63 - 8,
    2**63 - 1,
)
NUMBERS = (
    *(np.nan, np.inf, -np.inf, 1e308, -1e308, 1e100, -1e100, 1e-310, 5e-324, 1e-150),
    *(0.0, -0.0, -1.0, 0.5, 1.0, 3.0, 1e6, -1e6),
)
_PLAIN = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        7,
        2**31 - 1,
        2**63 - 1,
        10**30,
        -(10**30),
        1e308,
        -1e308,
        1e-310,
        0.5,
    ),
    *(
        "",
        "x",
        "x" * 5000,
        "\u0000",
        [],
        {},
        [1],
        ["a", "a"],
        [None],
        {"kind": 3},
        {"$float": "nan"},
    ),
    *({"$float": "inf"}, float("nan"), {"tuple": [1, "a"]}, [[0, 0]], {"0": 10**9}, "9" * 400),
)
_TOKENS = (
    *(b"-1", b"0", b"1e308", b"-1e308", b"1e-310", b"nan", b"inf", b"-inf", b"9223372036854775807"),
    *(
        b"99999999999999999999999",
        b"1000000000",
        b"0.5",
        b"-0.5",
        b"",
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\x00",
    ),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"(" * 3000,
        b")" * 3000,
        b"[" * 100_000,
        b'"',
        b"'",
        b"\\",
        b"{",
        b"}",
    ),
    *(b",", b";", b":", b"#", b">", b"<s>", b"</s>", b"<unk>", b"\xc3", b"e", b"x" * 20_000),
)
_DEEPEST = 12  # levels of JSON that are changed


def pick(rng: Rng, items: Any) -> Any:
    """One of several, whatever they are."""
    return items[int(rng.integers(len(items)))]


# -- bytes ------------------------------------------------------------------------------------------


def mutated_bytes(rng: Rng, content: bytes, other: bytes = b"") -> bytes:
    """Bits flipped, bytes overwritten, blocks cut, swapped, doubled, put in or taken from another file."""
    data = bytearray(content)
    for _ in range(int(pick(rng, (1, 1, 1, 2, 5)))):
        _mutate(rng, data, other)
    return bytes(data)


def _mutate(rng: Rng, data: bytearray, other: bytes) -> None:
    size = len(data)
    at, end = sorted(int(place) for place in rng.integers(0, size + 1, 2))
    end = min(end, at + int(pick(rng, (1, 2, 8, 64, size + 1))))
    what = int(rng.integers(9))
    if what in (0, 1) and size:
        data[min(at, size - 1)] ^= 1 << int(rng.integers(8))
    elif what == 2:
        data[at:end] = rng.integers(0, 256, end - at, dtype=np.uint8).tobytes()
    elif what == 3:
        del data[at : end if rng.random() < 0.5 else size]
    elif what == 4:
        data[at:at] = data[at:end]
    elif what == 5:
        data[at:end] = bytes([int(pick(rng, (0, 255)))]) * (end - at)
    elif what == 6:
        block = bytes(data[at:end])
        del data[at:end]
        place = int(rng.integers(len(data) + 1))
        data[place:place] = block
    elif what == 7:
        data[at:at] = rng.integers(0, 256, int(pick(rng, (1, 4, 100))), dtype=np.uint8).tobytes()
    elif other:
        first, last = sorted(int(place) for place in rng.integers(0, len(other) + 1, 2))
        data[at:end] = other[first:last]


# -- text -------------------------------------------------------------------------------------------


def mutated_text(rng: Rng, content: bytes) -> bytes:
    """Words and numbers replaced, lines dropped, doubled and moved, many lines added, brackets nested."""
    data = content
    for _ in range(int(pick(rng, (1, 1, 2, 3)))):
        data = _changed_text(rng, data)
    return data


def _changed_text(rng: Rng, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = int(rng.integers(len(lines)))
    what = int(rng.integers(6))
    if what == 0:
        del lines[at]
    elif what == 1:
        lines[at:at] = [lines[at]] * int(pick(rng, (1, 2, 50)))
    elif what == 2:
        other = int(rng.integers(len(lines)))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        pattern = rb"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?" if what == 3 else rb"\w+|[^\w\s]|\s+"
        matches = list(re.finditer(pattern, data))
        if matches:
            start, end = pick(rng, matches).span()
            new = pick(rng, _TOKENS)
            return data[:start] + (new if rng.random() < 0.8 else data[start:end] * 2) + data[end:]
    return b"\n".join(lines)


# -- JSON -------------------------------------------------------------------------------------------


def mutated_plain(rng: Rng, value: Any, fixed: tuple[str, ...] = ()) -> Any:
    """A JSON object with fields removed, renamed, of other types, or with other values."""
    value = copy.deepcopy(value)
    for _ in range(int(pick(rng, (1, 1, 1, 2, 4)))):
        paths = [path for path in _paths(value) if path[0] not in fixed]
        if paths:
            _change_plain(rng, value, pick(rng, paths))
    return value


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values, the first few and the last of each list, and not those deep inside."""
    if len(path) >= _DEEPEST:
        return
    if isinstance(value, dict):
        keys: list[Any] = list(value)
    elif isinstance(value, list):
        keys = sorted({*range(min(len(value), 4)), *range(max(len(value) - 1, 0), len(value))})
    else:
        return
    for key in keys:
        yield (*path, key)
        yield from _paths(value[key], (*path, key))


def _change_plain(rng: Rng, value: Any, path: tuple[Any, ...]) -> None:
    *outer, last = path
    inner = value
    for key in outer:
        inner = inner[key]
    old, what = inner[last], int(rng.integers(8))
    if what == 0:
        del inner[last]
    elif what == 1 and isinstance(inner, dict):
        inner[f"{last}x"] = inner.pop(last)
    elif what == 2:
        inner[last] = [old]
    elif what == 3 and isinstance(old, list) and old:
        inner[last] = pick(rng, (old[::-1], old + old, old[1:], old[:1] * len(old), old + old[:1]))
    elif what == 4 and isinstance(old, int | float):
        inner[last] = pick(rng, (old + 1, old - 1, -old, 2 * old, float(old), str(old), old == 1))
    elif what == 5 and isinstance(old, str):
        inner[last] = pick(rng, (old + "x", old[:-1], old.upper(), 0, [old], "\ud800", old * 3))
    elif what == 6 and rng.random() < 0.1:
        inner[last] = json.loads("[" * 800 + "]" * 800)
    else:
        inner[last] = copy.deepcopy(pick(rng, _PLAIN))


# -- arrays -----------------------------------------------------------------------------------------


def mutated_arrays(rng: Rng, arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays with other values, shapes or types, or that are missing or changed for each other."""
    arrays = dict(arrays)
    for _ in range(int(pick(rng, (1, 1, 1, 2, 3)))):
        name = pick(rng, sorted(arrays))
        what = int(rng.integers(10))
        if what == 0:
            del arrays[name]
        elif what == 1:
            other = pick(rng, sorted(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]
        elif what == 2:
            arrays[name + "x"] = arrays[name]
        elif what == 3:
            arrays[name] = _other_shape(rng, arrays[name])
        elif what == 4:
            dtypes = (
                np.bool_,
                np.uint8,
                np.uint64,
                np.int16,
                np.int32,
                np.int64,
                np.float32,
                np.float64,
            )
            with np.errstate(all="ignore"):
                arrays[name] = arrays[name].astype(pick(rng, dtypes))
        else:
            arrays[name] = _other_values(rng, arrays[name])
        if not arrays:
            break
    return arrays


def _other_shape(rng: Rng, array: Any) -> Any:
    shapes = [
        array[None],
        array.reshape(-1),
        array[..., None],
        array.T,
        np.zeros((0,), array.dtype),
    ]
    if array.ndim:
        shapes += [array[1:], array[:0], np.concatenate([array, array]), array[:1]]
        shapes += [array[..., 1:], np.concatenate([array, array], axis=-1)]
    return pick(rng, shapes)


def _other_values(rng: Rng, array: Any) -> Any:
    array = array.copy(order="C")
    flat = array.reshape(-1)
    if not flat.size:
        return array
    floats = array.dtype.kind == "f"
    value = pick(rng, NUMBERS if floats else INTEGERS)
    with np.errstate(all="ignore"):
        value = np.array(value if floats else value % 2**64, dtype=None if floats else np.uint64)
        value = value.astype(array.dtype)
        what, at = int(rng.integers(8)), int(rng.integers(flat.size))
        if what in (0, 1, 2):
            flat[at] = value
        elif what == 3:
            flat[:] = value
        elif what == 4:
            flat[:] = rng.permutation(flat)
        elif what == 5:
            other = int(rng.integers(flat.size))
            flat[at], flat[other] = flat[other], flat[at]
        elif what == 6 and array.ndim:
            row = array.reshape(len(array), -1)[int(rng.integers(len(array)))]
            row[:] = 0  # a row of zeros, perhaps with a single one
            row[0] = pick(rng, (0, 1))
        elif array.dtype.kind != "b":
            flat[at] = (
                flat[at] * pick(rng, (2, -1)) + pick(rng, (0, 1, -1))
                if array.dtype.kind != "u"
                else 1
            )
    return array
