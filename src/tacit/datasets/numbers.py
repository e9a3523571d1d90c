"""Tables of numbers: twelve regression problems of the UCI repository."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice
from tacit.datasets.folder import DataFile

NUMBERS_NAMES = (
    "airfoil",
    "autompg",
    "bike",
    "concrete",
    "elevators",
    "energy",
    "housing",
    "parkinsons",
    "pol",
    "protein",
    "skillcraft",
    "wine",
)


def load_numbers(name: str) -> dict[str, NDArray[np.float64]]:
    """A table of numbers by name, without missing cells.

    Parameters
    ----------
    name : str
        One of ``tacit.datasets.NUMBERS_NAMES``: measurements of airfoils, cars, rented bikes, concrete, an
        aeroplane, buildings, suburbs of Boston, voices of patients, a telephone network, proteins, players of
        StarCraft, red wines.

    Returns
    -------
    dict
        Columns ``x0``, ``x1`` and so on, and last ``y``, the target of the regression that the table was made
        for; at most 10,000 rows.

    Raises
    ------
    ArgumentError
        There is no table of that name.
    MissingDataError
        The file is not in the folder that ``TACIT_DATA`` names.
    """
    check_choice("name", name, NUMBERS_NAMES)
    file = DataFile(
        f"uci_numbers/{name}.csv",
        "lines of numbers with commas between them, no header, the target last",
        f"github.com/treforevans/uci_datasets, uci_datasets/{name}/data.csv.gz",
    )
    rows: list[list[float]] = []
    for number, line in enumerate(file.read().decode("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append([float(field) for field in line.split(",")])
        except ValueError as error:
            raise file.wrong(f"line {number} has something else than numbers: {error}") from error
        if len(rows[-1]) != len(rows[0]):
            raise file.wrong(f"line {number} has {len(rows[-1])} fields, not {len(rows[0])}")
    if not rows:
        raise file.wrong("there is no line")
    table = np.array(rows)
    names = [*(f"x{column}" for column in range(table.shape[1] - 1)), "y"]
    return dict(zip(names, np.ascontiguousarray(table.T), strict=True))
