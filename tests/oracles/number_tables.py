"""Tables of numbers with a known structure."""

import numpy as np


def groups(n=400, seed=0, missing=0.0):
    """Three groups of rows, seen by skewed and peaked numbers and by a word."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    table = {
        "peaked": rng.laplace(3.0 * group),
        "skewed": rng.gamma(2.0, 1.0 + group),
        "plain": rng.normal(-group, 1.0),
        "word": np.array(["a", "b", "c"])[np.where(rng.random(n) < 0.9, group, 0)].astype(object),
        "weak": rng.normal(size=n) + 0.5 * group,
    }
    for name, column in table.items():
        absent = rng.random(n) < missing
        table[name] = np.where(absent, None if name == "word" else np.nan, column)
    return table


def laplaces(n, seed=0, mean=4.0):
    """Two columns whose joint density has two peaks."""
    rng = np.random.default_rng(seed)
    side = np.where(rng.random(n) < 0.5, mean, -mean)
    return side[:, None] + rng.laplace(size=(n, 2))
