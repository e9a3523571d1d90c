"""A million rows of 32 continuous columns, read in chunks: kernel metric, tree and parameters.

    python benchmarks/kernel_million.py [--rows 1000000] [--columns 32] [--tree random|balanced|caterpillar]

The columns come from a binary latent tree (a child differs from its parent with a chance of 5 to 15 %); in
one state a column is a Laplace density, in the other two normal ones with the same mean, so that nothing is
correlated. The yardstick is the time to form the 12-dimensional features of all columns once, without reading
them. Limits, for a million rows: five times the yardstick for everything (reading, bandwidths, distances,
tree, parameters), and two gigabytes. All times are CPU seconds of one thread, after one run over few rows to
warm up; the rows lie in a file that another process wrote.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from tacit.core.encoders.encoders import KernelEncoder, grid_encoder, median_bandwidth
from tacit.core.threads import limit_threads
from tacit.evaluate.trees import robinson_foulds
from tacit.messages.evidence import Evidence
from tacit.messages.network import Network, Tables
from tacit.messages.passes import log_values
from tacit.toy.models import sample_codes
from tacit.toy.trees import balanced, caterpillar, random_topology
from tacit.trees.learn.kernel_distances import kernel_distances
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.moments.features import FeatureMoments
from tacit.trees.structure.distances import gaussian_distances
from tacit.trees.structure.refined_joining import refined_joining
from tacit.trees.structure.topology import Topology

MOST_RATIO, MOST_GIGABYTES = 5.0, 2.0
ROWS_AT_ONCE, TEST_ROWS, SAMPLE = 50_000, 5000, 20_000
N_FEATURES, NARROWER = 12, 0.5  # features of a column; its bandwidth in those of the median rule
WIDE, MODE_WIDTH = (
    0.5,
    0.4,
)  # scale of the Laplace density; width of each of the two modes at -1.5 and 1.5


def topology(shape: str, n_columns: int, seed: int) -> Topology:
    """The true tree."""
    if shape == "random":
        return random_topology(n_columns, n_children=(2, 2), random_state=seed)
    return caterpillar(n_columns) if shape == "caterpillar" else balanced(2, n_columns.bit_length())


def truth(shape: str, n_columns: int, seed: int) -> tuple[Topology, Tables]:
    """The true tree, and the tables of the states; a column has the state of its leaf."""
    tree = topology(shape, n_columns, seed)
    names = [f"x{column}" for column in range(n_columns)]
    rooted, rng = tree.rooted(names), np.random.default_rng(seed)
    flips = rng.uniform(0.05, 0.15, size=rooted.n_nodes)
    tables = [np.array([[1 - flip, flip], [flip, 1 - flip]]) for flip in flips]
    tables[rooted.root] = np.full((1, 2), 0.5)
    return tree, Tables.of(rooted, tables)


def drawn(model: Tables, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of the model."""
    states = sample_codes(model, n_rows, rng)
    two = rng.choice([-1.5, 1.5], size=states.shape) + MODE_WIDTH * rng.normal(size=states.shape)
    return np.where(states == 0, WIDE * rng.laplace(size=states.shape), two)


def write(path: Path, shape: str, n_rows: int, n_columns: int, seed: int) -> None:
    """The rows in a file, and test rows beside it."""
    _, model = truth(shape, n_columns, seed)
    rng = np.random.default_rng([seed, 1])
    with path.open("wb") as file:
        for start in range(0, n_rows, ROWS_AT_ONCE):
            drawn(model, min(ROWS_AT_ONCE, n_rows - start), rng).tofile(file)
    drawn(model, TEST_ROWS, rng).tofile(path.with_suffix(".test"))


def blocks(path: Path, n_columns: int) -> Iterator[np.ndarray]:
    """The rows of a file, some at a time."""
    with path.open("rb") as file:
        while len(block := np.fromfile(file, count=ROWS_AT_ONCE * n_columns)):
            yield block.reshape(-1, n_columns)


def encoders_of(path: Path, n_columns: int) -> list[KernelEncoder]:
    """Features of all columns, from the first rows."""
    sample = next(blocks(path, n_columns))[:SAMPLE]
    return [
        grid_encoder(
            column.min(), column.max(), N_FEATURES, NARROWER * median_bandwidth(column[:500])
        )
        for column in sample.T
    ]


def yardstick(path: Path, encoders: list[KernelEncoder]) -> float:
    """Seconds to form the features of all columns once."""
    seconds = 0.0
    for block in blocks(path, len(encoders)):
        columns = [np.ascontiguousarray(column) for column in block.T]
        begun = time.process_time()
        for encoder, column in zip(encoders, columns, strict=True):
            encoder.features(column)
        seconds += time.process_time() - begun
    return seconds


def log_densities(
    network: Network, encoders: list[KernelEncoder], X: np.ndarray
) -> tuple[np.ndarray, float]:
    """(row,) Log density of rows, NaN where it is not positive; the fraction of those."""
    emit = []
    for leaf, encoder in enumerate(encoders):
        emit.append(encoder.likelihoods(X[:, leaf]) @ network.emit[leaf])
    at = Network(network.tree, tuple(emit), network.total, network.nodes)
    codes = np.repeat(np.arange(len(X))[:, None], len(encoders), axis=1)
    sign, log_abs = log_values(at, Evidence(codes))
    _, log_total = log_values(at, Evidence(np.full((1, len(encoders)), -1)))
    return np.where(sign > 0, log_abs - log_total[0], np.nan), float(np.mean(sign <= 0))


def true_log_densities(model: Tables, X: np.ndarray) -> np.ndarray:
    """(row,) Log density of rows under the truth."""
    one = np.exp(-np.abs(X) / WIDE) / (2 * WIDE)
    two = sum(np.exp(-0.5 * ((X - at) / MODE_WIDTH) ** 2) for at in (-1.5, 1.5))
    likelihoods = np.stack([one, two / (2 * MODE_WIDTH * np.sqrt(2 * np.pi))], axis=2)
    soft = {leaf: likelihoods[:, leaf] for leaf in range(X.shape[1])}
    return log_values(model.network, Evidence(np.full(X.shape, -1), soft))[1]


def learn(
    path: Path, n_columns: int, most: int | None = None
) -> tuple[Topology, Network, list[KernelEncoder], list[float]]:
    """Tree and parameters from the rows of a file, or from the first blocks; the times between the steps."""
    times = [time.process_time()]
    encoders = encoders_of(path, n_columns)
    moments = FeatureMoments.streamed(
        lambda: islice(blocks(path, n_columns), most), encoders, single=True
    )
    moments.pairs()
    times.append(time.process_time())
    names = [f"x{column}" for column in range(n_columns)]
    distances = kernel_distances(moments)
    learnt = refined_joining(
        distances.values, names, supported=distances.supported, n_rows=moments.n_rows, n_states=2
    )
    times.append(time.process_time())
    rooted = learnt.rooted(names)
    states = (*moments.cards, *[2] * len(rooted.hidden))
    network = spectral(rooted, moments, states).network
    times.append(time.process_time())
    return learnt, network, encoders, times


def report(path: Path, shape: str, n_rows: int, n_columns: int, seed: int) -> None:
    """Everything that is timed, and what came out of it."""
    tree, model = truth(shape, n_columns, seed)
    learn(path, n_columns, 1)
    yard = yardstick(path, encoders_of(path, n_columns))
    learnt, network, encoders, times = learn(path, n_columns)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    steps, total = np.diff(times), times[-1] - times[0]
    sizes = sorted({encoder.size for encoder in encoders})
    print(f"{n_rows} rows x {n_columns} columns, {sizes} features each, {shape} tree")
    print(f"  features once (the yardstick)   {yard:8.2f} s")
    print(f"  bandwidths and pairs            {steps[0]:8.2f} s")
    print(f"  distances and tree              {steps[1]:8.2f} s")
    print(f"  parameters                      {steps[2]:8.2f} s")
    print(f"  all                             {total:8.2f} s   {total / yard:.2f} yardsticks "
          f"(limit {MOST_RATIO})")  # fmt: skip
    print(f"  peak memory                     {memory:8.2f} GB  (limit {MOST_GIGABYTES})")
    print(f"  Robinson-Foulds to the truth    {robinson_foulds(learnt, tree):8.0f}     of "
          f"{2 * (n_columns - 3)}")  # fmt: skip
    X = np.fromfile(path.with_suffix(".test")).reshape(-1, n_columns)
    support = gaussian_distances(X).supported
    print(f"  correlated pairs in {len(X)} rows  {np.triu(support, 1).sum():8d}")
    log_density, negative = log_densities(network, encoders, X)
    is_finite = ~np.isnan(log_density)
    expected = true_log_densities(model, X)
    print(f"  log density of test rows        {log_density[is_finite].mean():8.3f}     truth "
          f"{expected[is_finite].mean():.3f}; {negative:.2%} not positive")  # fmt: skip
    if n_rows >= 1_000_000 and (total > MOST_RATIO * yard or memory > MOST_GIGABYTES):
        sys.exit("beyond a limit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--tree", choices=["random", "balanced", "caterpillar"], default="random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    rows = chosen.rows // 20 if chosen.quick else chosen.rows
    if chosen.write:
        write(chosen.write, chosen.tree, rows, chosen.columns, chosen.seed)
        return
    with tempfile.TemporaryDirectory() as folder, limit_threads(1):
        path = Path(folder) / "rows"
        settings = ["--rows", rows, "--columns", chosen.columns, "--seed", chosen.seed]
        command = [__file__, "--tree", chosen.tree, "--write", path, *settings]
        subprocess.run([sys.executable, *map(str, command)], check=True)
        report(path, chosen.tree, rows, chosen.columns, chosen.seed)


if __name__ == "__main__":
    main()
