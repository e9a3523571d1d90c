"""The twenty binary data sets on which density estimators are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError

# Name: number of variables.
_N_VARIABLES = {
    "accidents": 111,
    "ad": 1556,
    "baudio": 100,
    "bbc": 1058,
    "bnetflix": 100,
    "book": 500,
    "c20ng": 910,
    "cr52": 889,
    "cwebkb": 839,
    "dna": 180,
    "jester": 100,
    "kdd": 64,
    "kosarek": 190,
    "msnbc": 17,
    "msweb": 294,
    "nltcs": 16,
    "plants": 69,
    "pumsb_star": 163,
    "tmovie": 500,
    "tretail": 135,
}

DENSITY_NAMES = tuple(_N_VARIABLES)


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """A binary data set in its three fixed parts."""

    name: str
    train: NDArray[np.int8]  # (row, variable)  0 or 1
    valid: NDArray[np.int8]  # (row, variable)
    test: NDArray[np.int8]  # (row, variable)


def load_density(name: str) -> Density:
    """One of the twenty binary data sets of Lowd and Davis (2010) and Van Haaren and Davis (2012).

    Parameters
    ----------
    name : str
        One of `DENSITY_NAMES`, such as ``"nltcs"``.

    Raises
    ------
    ArgumentError
        There is no set of that name.
    MissingDataError
        A file is not in the folder that ``TACIT_DATA`` names.
    """
    if name not in _N_VARIABLES:
        raise ArgumentError(f"there is no data set {name!r}; there are {', '.join(DENSITY_NAMES)}")
    return Density(name, *(_part(name, part) for part in ("train", "valid", "test")))


def _part(name: str, part: str) -> NDArray[np.int8]:
    n_variables = _N_VARIABLES[name]
    file = DataFile(
        f"debd_{name}/{name}.{part}.data",
        f"rows of {n_variables} values 0 or 1 with commas between them, no header",
        f"github.com/nicoladimauro/dcsn, data/generative/{name}.{part}.data.gz",
    )
    # A digit, a comma, a digit, ..., a line end: faster than any reader of text.
    content = file.read().replace(b"\r", b"").replace(b" ", b"").rstrip(b"\n") + b"\n"
    signs = np.frombuffer(content, dtype=np.uint8)
    if len(signs) % (2 * n_variables):
        raise file.wrong("the rows are not equally long")
    cells = signs.reshape(-1, 2 * n_variables)
    between = np.array([ord(",")] * (n_variables - 1) + [ord("\n")], dtype=np.uint8)
    digits = cells[:, ::2]
    if not (cells[:, 1::2] == between).all() or ((digits != ord("0")) & (digits != ord("1"))).any():
        raise file.wrong("it has other characters")
    return (digits - ord("0")).astype(np.int8)
