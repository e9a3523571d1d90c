"""Trees from distances and from counts, beside other programs: python benchmarks/joining.py [--quick].

Neighbour joining of 64 to 5,000 leaves, on the distances of a random tree with noise of 0, 5 and 40 % (the
last up to 2,000 leaves), beside scikit-bio: the same tree, lengths to 1e-9, the time, and the memory of the
largest (`--quick` ends at 500 leaves). Chow-Liu trees of binary columns, beside pgmpy, and beside one product
of the data with itself.

CPU seconds of one thread after one run to warm up. `make peers` installs the other programs; without them the
parts that need them are left out.
"""

import argparse
import contextlib
import importlib
import itertools
import logging
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

import tacit
from tacit.core.threads import limit_threads
from tacit.trees.moments.source import PairTables
from tacit.trees.structure.chow_liu import chow_liu_edges
from tacit.trees.structure.neighbour_joining import neighbor_joining
from tacit.trees.structure.rooting import walk

# Leaves, and the largest fraction of scikit-bio's time that is allowed.
SIZES = {64: None, 500: None, 2000: 0.5, 5000: 0.1}
NOISES = (0.0, 0.05, 0.4)  # of each distance; the last makes negative lengths
LENGTH_TOLERANCE = 1e-9
MOST_MEGABYTES = 1000
LEAST_SPEEDUP = 50  # against pgmpy
MOST_PRODUCTS = 3


def timed(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def best_of(work, n_runs=3):
    """The least seconds of some runs after one to warm up, and the result."""
    work()
    return min((timed(work) for _ in range(n_runs)), key=lambda pair: pair[0])


def peer(module):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        print(f"  left out: {error} (`make peers` installs it)")
        return None


def verdict(claim, holds):
    print(f"  {'holds' if holds else 'MISSED':8}{claim}", flush=True)


# ----------------------------------------------------------------------- neighbour joining


def tree_distances(n_leaves, seed):
    """Distances of a random tree: leaves chosen at random are split in two, edges are 0.05 to 0.5 long."""
    rng = np.random.default_rng(seed)
    distances = np.zeros((n_leaves, n_leaves))
    for n in range(1, n_leaves):
        split = rng.integers(n)
        distances[n, :n] = distances[split, :n]
        distances[:n, n] = distances[n, :n]
        for leaf in (split, n):
            more = rng.uniform(0.05, 0.5)
            distances[leaf, : n + 1] += more
            distances[: n + 1, leaf] += more
            distances[leaf, leaf] = 0.0
    return distances


def add_noise(distances, seed, noise):
    rng = np.random.default_rng(seed)
    for row in range(len(distances)):
        factor = 1 + noise * rng.normal(size=len(distances) - row - 1)
        distances[row, row + 1 :] *= factor
        distances[row + 1 :, row] = distances[row, row + 1 :]


def lengths_by_split(above, lengths, leaves):
    """The length of each edge by a number that stands for the leaves beyond it.

    Every leaf has a random number of 128 bits. A set of leaves is their exclusive sum, and a split the
    smaller sum of its two sides.
    """
    rng = np.random.default_rng(0)
    number = {leaf: int.from_bytes(rng.bytes(16), "big") for leaf in leaves}
    everything = 0
    for value in number.values():
        everything ^= value
    sums = {node: number.get(node, 0) for node in above}
    length_of = {}
    for node, towards in reversed(above.items()):
        if towards is not None:
            sums[towards] ^= sums[node]
            length_of[min(sums[node], sums[node] ^ everything)] = lengths(node)
    return length_of


def splits_of_ours(topology):
    above = walk(topology.neighbours, topology.centre)
    lengths = topology.edge_lengths
    return lengths_by_split(
        above, lambda node: lengths[frozenset((node, above[node]))], topology.observed
    )


def splits_of_theirs(tree, names):
    label = {
        id(node): node.name if node.is_tip() else f"node {place}"
        for place, node in enumerate(tree.levelorder())
    }
    above = {label[id(node)]: node.parent and label[id(node.parent)] for node in tree.levelorder()}
    length = {label[id(node)]: node.length for node in tree.levelorder()}
    return lengths_by_split(above, length.get, names)


def compare_joining(sizes):
    print("Neighbour joining")
    skbio = peer("skbio")
    neighbor_joining(tree_distances(8, 0), "abcdefgh")  # compiled
    for n, noise in itertools.product(sizes, NOISES):
        if n == max(SIZES) and noise == NOISES[-1]:
            continue  # two of scikit-bio's runs are long enough
        distances = tree_distances(n, n)
        add_noise(distances, n, noise)
        names = [f"x{leaf}" for leaf in range(n)]
        print(f"{n} leaves, distances of a tree with {100 * noise:.0f} % noise")
        seconds, ours = best_of(lambda d=distances, x=names: neighbor_joining(d, x))
        print(f"  tacit      {seconds:10.4f} s")
        if skbio is None:
            continue
        matrix = skbio.DistanceMatrix(distances, names)
        work = lambda m=matrix: skbio.tree.nj(m, neg_as_zero=False)  # noqa: E731
        their_seconds, theirs = best_of(work) if n <= 500 else timed(work)
        ratio = seconds / their_seconds
        print(f"  scikit-bio {their_seconds:10.4f} s, of which ours is {ratio:.4f}")
        compare_trees(splits_of_ours(ours), splits_of_theirs(theirs, names))
        if sizes[n]:
            verdict(f"at most {sizes[n]} of its time", ratio <= sizes[n])


def compare_trees(ours, theirs):
    same = ours.keys() == theirs.keys()
    verdict(f"the same {len(theirs)} splits", same)
    if same:
        gap = max(abs(ours[split] - theirs[split]) for split in theirs)
        negative = sum(length < 0 for length in theirs.values())
        verdict(
            f"the same lengths: at most {gap:.1e} apart ({negative} negative)",
            gap <= LENGTH_TOLERANCE,
        )


def measure_memory(n):
    """The peak of a process of its own that makes distances and joins them."""
    command = [sys.executable, __file__, "--memory-of", str(n)]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"{n} leaves: peak memory of the whole process, distances included, {peak} MB")
    verdict(f"under {MOST_MEGABYTES} MB", peak < MOST_MEGABYTES)


def print_memory(n):
    distances = tree_distances(n, n)
    add_noise(distances, n, 0.05)
    neighbor_joining(distances, [f"x{leaf}" for leaf in range(n)])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)  # Linux counts in KiB


# -------------------------------------------------------------------------------- Chow-Liu


def binary_rows(n_rows, n_columns, seed=0):
    """Rows of a random tree of observed variables, and its edges; 10 to 30 % differ from their neighbour."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n_columns, n_rows), dtype=np.int16)
    codes[0] = rng.integers(0, 2, size=n_rows)
    edges = set()
    for column in range(1, n_columns):
        near = int(rng.integers(column))
        codes[column] = codes[near] ^ (rng.random(n_rows) < rng.uniform(0.1, 0.3))
        edges.add(frozenset((near, column)))
    return codes.T, edges


def edges_of(codes):
    cards = (2,) * codes.shape[1]
    return chow_liu_edges(PairTables.of(codes, cards).counts, cards)


def compare_with_pgmpy(n_rows, n_columns):
    print(f"Chow-Liu tree of {n_rows} rows x {n_columns} binary columns")
    codes, truth = binary_rows(n_rows, n_columns)
    seconds, edges = best_of(lambda: edges_of(codes))
    print(f"  tacit, edges from codes  {seconds:10.4f} s")
    fit_seconds, _ = best_of(lambda: tacit.ChowLiuTree(n_jobs=1).fit(codes))
    print(f"  tacit, ChowLiuTree.fit   {fit_seconds:10.4f} s")
    verdict("all true edges", {frozenset(pair) for pair in edges.tolist()} == truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        if peer("pgmpy.estimators") is None:
            return
    import pandas as pd
    from pgmpy.estimators import TreeSearch

    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    frame = pd.DataFrame(np.ascontiguousarray(codes).astype(np.int64))

    def search():
        return TreeSearch(frame, n_jobs=1).estimate(estimator_type="chow-liu", show_progress=False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        their_seconds, dag = timed(search)
    print(
        f"  pgmpy, TreeSearch        {their_seconds:10.4f} s, {their_seconds / seconds:.0f} x ours"
    )
    print(f"  its edges are the true ones: {set(map(frozenset, dag.edges())) == truth}")
    verdict(f"at least {LEAST_SPEEDUP} x faster", their_seconds >= LEAST_SPEEDUP * seconds)
    verdict(
        f"at least {LEAST_SPEEDUP} x faster, with tables",
        their_seconds >= LEAST_SPEEDUP * fit_seconds,
    )


def compare_with_product(n_rows, n_columns):
    print(f"Chow-Liu tree of {n_rows} rows x {n_columns} binary columns")
    codes, truth = binary_rows(n_rows, n_columns)
    numbers = np.ascontiguousarray(codes, dtype=np.float32)
    product_seconds, _ = best_of(lambda: numbers.T @ numbers)
    print(f"  one float32 product of the data with itself  {product_seconds:8.4f} s")
    for label, work in (
        ("edges from codes", lambda: edges_of(codes)),
        ("ChowLiuTree.fit", lambda: tacit.ChowLiuTree(n_jobs=1).fit(codes)),
    ):
        seconds, edges = best_of(work)
        print(
            f"  tacit, {label:37} {seconds:8.4f} s, {seconds / product_seconds:.2f} x the product"
        )
        verdict(f"at most {MOST_PRODUCTS} x", seconds <= MOST_PRODUCTS * product_seconds)
        if isinstance(edges, np.ndarray):
            verdict("all true edges", {frozenset(pair) for pair in edges.tolist()} == truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="at most 500 leaves, a tenth of the rows"
    )
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    with limit_threads(1):
        if chosen.memory_of:
            print_memory(chosen.memory_of)
            return
        n_rows = 10_000 if chosen.quick else 100_000
        measure_memory(
            max(SIZES)
        )  # first: a process is born with the peak of that which started it
        compare_with_pgmpy(n_rows, 50)
        compare_with_product(n_rows, 500)
        compare_joining({n: noise for n, noise in SIZES.items() if n <= 500 or not chosen.quick})


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
