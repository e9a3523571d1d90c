"""Stored models that were edited and signed again: refused with one kind of error, or read."""

import copy
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from oracles.stored_again import FOLDER
from tacit.core.files.container import read_file, write_file
from tacit.errors import FileFormatError

FILES = sorted(FOLDER.glob("*-3*.tacit"))
INTEGERS = [-(2**63), -(2**63) + 7, -1, 0, 1, 2**31 - 1, 2**62, 2**63 - 8, 2**63 - 1]
NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310, 0.0, -1.0, 3.0]
VALUES = [None, True, -1, 0, 7, 10**30, 1e308, 0.5, "x", [], {}, [1], ["a", "a"], {"kind": 3}]
OWN = ("format", "version", "digest")


def places(value, path=()):
    """The paths of all values of a header, the first few of each list."""
    keys = value if isinstance(value, dict) else range(min(len(value), 4))
    for key in keys:
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*path, key))


def edited_header(data, header):
    header = copy.deepcopy(header)
    actual = [path for path in places(header) if path[0] not in OWN]
    *path, last = data.draw(st.sampled_from(actual))
    inner = header
    for key in path:
        inner = inner[key]
    inner[last] = data.draw(st.sampled_from(VALUES))
    return header


def edited_arrays(data, arrays):
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    what = data.draw(st.sampled_from(["number", "numbers", "cut", "longer", "axis", "none"]))
    if what == "none":
        return {one: arrays[one] for one in arrays if one != name}
    if what in ("number", "numbers") and array.size:
        floats = array.dtype.kind == "f"
        new = data.draw(st.sampled_from(NUMBERS if floats else INTEGERS))
        with np.errstate(over="ignore"):
            value = np.array(new if floats else new % 2**64).astype(array.dtype)
        where = slice(None) if what == "numbers" else data.draw(st.integers(0, array.size - 1))
        array.reshape(-1)[where] = value
    edits = {"cut": array[1:], "longer": np.concatenate([array, array]), "axis": array[None]}
    return {**arrays, name: edits.get(what, array)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@settings(max_examples=25)
@given(data=st.data())
def test_an_edited_model_is_refused_or_read(path, tmp_path_factory, data):
    header, arrays = read_file(path)
    if data.draw(st.booleans()):
        header = edited_header(data, header)
    else:
        arrays = edited_arrays(data, arrays)
    place = tmp_path_factory.mktemp("edited") / "m.tacit"
    write_file(place, header, arrays)
    with suppress(FileFormatError):
        tacit.load(place)
