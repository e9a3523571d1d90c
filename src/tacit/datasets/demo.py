"""Small tables of categories made of what scikit-learn brings along."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]


def digits_table() -> Columns:
    """Handwritten digits as a table: how dark each of 8 by 8 pixels is, and which digit it was.

    Returns
    -------
    dict
        ``r0c0`` to ``r7c7`` (row and column of the pixel: ``white``, ``grey``, ``black``, by thirds of the
        scale) and ``digit`` (0 to 9), 1797 rows.

    Examples
    --------
    >>> table = digits_table()
    >>> len(table), table["r3c4"][:3].tolist(), table["digit"][:3].tolist()
    (65, ['white', 'black', 'black'], [0, 1, 2])
    """
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    words = np.array(["white", "grey", "black"])
    shades = words[np.minimum(images // 6, 2).astype(np.int64)]  # 0-5, 6-11, 12-16
    pixels = {f"r{i}c{j}": shades[:, 8 * i + j] for i in range(8) for j in range(8)}
    return {**pixels, "digit": digits}


def breast_cancer_table() -> Columns:
    """Cells of breast tumours as a table: thirty measurements cut into words, and the diagnosis.

    Returns
    -------
    dict
        Thirty columns such as ``mean_radius`` (``low``, ``middle``, ``high``: the thirds of the patients) and
        ``diagnosis`` (``benign``, ``malignant``), 569 rows.

    Examples
    --------
    >>> table = breast_cancer_table()
    >>> len(table), table["worst_area"][:2].tolist(), table["diagnosis"][:2].tolist()
    (31, ['high', 'high'], ['malignant', 'malignant'])
    """
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    words = np.array(["low", "middle", "high"])
    columns: Columns = {}
    for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
        thirds = np.quantile(values, [1 / 3, 2 / 3], method="inverted_cdf")
        columns[str(name).replace(" ", "_")] = words[np.searchsorted(thirds, values)]
    columns["diagnosis"] = np.array(["malignant", "benign"])[bunch.target]
    return columns
