"""A hundred thousand rows of a thousand binary columns: structure and parameters in one call.

    python benchmarks/large_table.py [--rows 100000] [--columns 1000] [--seed 0]

The data come from a random latent tree whose hidden nodes have six states. ``LatentTree()`` with nothing set
is fitted to them, in a process of its own whose memory is measured, and scored on rows of their own beside
the Chow-Liu tree and ``LatentTree(n_states=2)``. Limits: ten minutes, eight gigabytes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import tacit
from tacit.toy import random_tables, sample_codes

MOST_SECONDS, MOST_GIGABYTES = 600, 8.0
N_STATES, DIAGONAL = 6, 2.0  # states of hidden nodes, and how much they stay as their parent


def data(n_rows: int, n_columns: int, seed: int) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Rows of a random latent tree over binary columns, the last twentieth of them for testing."""
    rng = np.random.default_rng(seed)
    # Hidden nodes in a random tree, three columns under each.
    n_hidden = n_columns // 3
    edges = [(f"h{rng.integers(node)}", f"h{node}") for node in range(1, n_hidden)]
    edges += [(f"h{column % n_hidden}", f"x{column}") for column in range(n_columns)]
    names = [f"x{column}" for column in range(n_columns)]
    tree = tacit.Topology.from_edges(edges, observed=names).rooted(names)
    tables = random_tables(tree, 2, N_STATES, rng, diagonal=DIAGONAL)
    return sample_codes(tables, n_rows + n_rows // 20, rng).astype(np.int8)


def fitted(method: str, train: Any, valid: Any) -> Any:
    """The model of a name."""
    if method == "chow-liu":
        return tacit.ChowLiuTree().fit(train)
    report = None
    if method == "auto":
        begun = time.perf_counter()

        def report(fraction: float, text: str) -> None:
            print(f"  {time.perf_counter() - begun:6.1f} s {fraction:5.0%}  {text}", flush=True)

    model = tacit.LatentTree(progress=report) if method == "auto" else tacit.LatentTree(2)
    return model.fit(train, validation=valid)


def one(method: str, n_rows: int, n_columns: int, seed: int) -> None:
    """Fit one model and print its score, seconds and memory."""
    rows = data(n_rows, n_columns, seed)
    held, train = rows[n_rows:], rows[:n_rows]
    valid, test = held[: len(held) // 2], held[len(held) // 2 :]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    begun = time.perf_counter()
    model = fitted(method, train, valid)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{method}: test {model.score(test):.4f}, {seconds:.1f} s, {after:.2f} GB at most "
        f"({before:.2f} GB before fitting)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="5,000 rows of 60 columns")
    parser.add_argument("--method", choices=("auto", "chow-liu", "two-states"), default=None)
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rows, chosen.columns = 5000, 60
    if chosen.method is not None:
        one(chosen.method, chosen.rows, chosen.columns, chosen.seed)
        return
    for method in ("chow-liu", "two-states", "auto"):
        size = ["--rows", str(chosen.rows), "--columns", str(chosen.columns)]
        seed = ["--seed", str(chosen.seed)]
        subprocess.run([sys.executable, __file__, *size, *seed, "--method", method], check=True)
    print(f"limits: {MOST_SECONDS} s, {MOST_GIGABYTES:g} GB")


if __name__ == "__main__":
    main()
