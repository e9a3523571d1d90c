"""Explicit durations of hidden Markov models: what they cost, and what they gain.

    python benchmarks/durations.py             # both tables
    python benchmarks/durations.py --only cost
    python benchmarks/durations.py --quick     # one small model

Cost: CPU seconds of one E-step (all expected counts) of a sequence of 50,000 positions with eight states, by
the largest duration, and in units of the step of a plain model. It grows linearly.

Gain: models of three states with normal numbers, one standard deviation wide and `apart` from each other, or
with three symbols. Durations are geometric, negative binomial ("regular"), uniform on an interval, or one of
two values ("two lengths"). Differences are of held-out log-likelihoods, with durations less without, in nats
for each position, with their standard error over sequences; the accuracy is that of Viterbi paths, and the
CPU seconds are those of the plain fit and of the fit with durations.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import permutations
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.hmm import HMM
from tacit.sequences.model.durations import DurationTable, SegmentChain
from tacit.sequences.query.hidden_states import StateEvidence, smoothed
from tacit.sequences.query.segments import expected_segments

Array = NDArray[np.float64]
Rng = np.random.Generator

N_STATES, LENGTH, APART = 3, 200, 1.7
REPEATS = 3


def geometric(rng: Rng, state: int) -> int:
    """As plain models have them."""
    return int(rng.geometric(1 / (5.0 + 3 * state)))


def regular(rng: Rng, state: int) -> int:
    """Negative binomial of size 30."""
    mean = 5.0 + 4 * state
    return 1 + int(rng.negative_binomial(30, 30 / (30 + mean)))


def uniform(rng: Rng, state: int) -> int:
    """From a length to three times as much."""
    return int(rng.integers(4 + state, 12 + 3 * state + 1))


def two_lengths(rng: Rng, state: int) -> int:
    """Short or long."""
    return (3 if rng.random() < 0.5 else 15) + state


DRAWS: dict[str, Callable[[Rng, int], int]] = {
    "geometric": geometric,
    "regular": regular,
    "uniform": uniform,
    "two lengths": two_lengths,
}


def drawn(draw: Callable[[Rng, int], int], kind: str, n: int, seed: int) -> tuple[Any, Any]:
    """Paths (sequence, time), and what they emit."""
    rng = np.random.default_rng(seed)
    paths = np.empty((n, LENGTH), dtype=np.int64)
    for row in paths:
        path: list[int] = []
        state = int(rng.integers(N_STATES))
        while len(path) < LENGTH:
            path += [state] * draw(rng, state)
            state = (state + 1 + int(rng.integers(N_STATES - 1))) % N_STATES
        row[:] = path[:LENGTH]
    if kind == "categorical":
        other = rng.integers(N_STATES, size=paths.shape)
        return paths, list(np.where(rng.random(paths.shape) < 0.6, paths, other))
    return paths, list(APART * paths + rng.normal(size=paths.shape))


def accuracy(model: HMM, data: Any, paths: Any) -> float:
    """Of Viterbi paths, under the best numbering of the states."""
    found = np.array(model.predict(data))
    orders = map(np.array, permutations(range(N_STATES)))
    return max(float((order[found] == paths).mean()) for order in orders)


def gains(n: int, seeds: list[int]) -> None:
    """Print the table of gains."""
    print(
        f"{'durations':12} {'emissions':12} {'learnt':18} {'gain':>17} {'accuracy':>16} {'CPU s':>11}"
    )
    for name, draw in DRAWS.items():
        for kind in ("gaussian", "categorical"):
            rows: dict[str, list[tuple[float, ...]]] = {}
            for seed in seeds:
                _, train = drawn(draw, kind, n, seed)
                paths, test = drawn(draw, kind, n, seed + 1000)
                began = time.process_time()
                plain = HMM(N_STATES, emissions=kind).fit(train)
                cpu = time.process_time() - began
                scores, right = plain.score_samples(test), accuracy(plain, test, paths)
                for durations in ("table", "negative-binomial"):
                    began = time.process_time()
                    model = HMM(N_STATES, emissions=kind, durations=durations).fit(train)
                    more = time.process_time() - began
                    differences = (model.score_samples(test) - scores) / LENGTH
                    error = float(differences.std(ddof=1) / np.sqrt(n))
                    row = (float(differences.mean()), error, right, accuracy(model, test, paths))
                    rows.setdefault(durations, []).append((*row, cpu, more))
            for durations, values in rows.items():
                gain, _, before, after, cpu, more = np.mean(values, axis=0)
                error = np.sqrt(np.sum(np.square([row[1] for row in values]))) / len(values)
                print(
                    f"{name:12} {kind:12} {durations:18} {gain:8.4f} ± {error:6.4f} "
                    f"{before:7.3f}, {after:7.3f} {cpu:5.1f},{more:5.1f}",
                    flush=True,
                )


def costs(n_positions: int) -> None:
    """Print the table of costs."""
    rng, k = np.random.default_rng(0), 8
    likelihoods, ends = rng.random((n_positions, k)), np.array([0, n_positions])
    transitions = rng.dirichlet(np.ones(k - 1), k)
    between = np.array([np.insert(row, state, 0.0) for state, row in enumerate(transitions)])
    initial = np.full(k, 1 / k)

    def seconds(step: Callable[[], Any]) -> float:
        step()  # compiles
        times = []
        for _ in range(REPEATS):
            began = time.process_time()
            step()
            times.append(time.process_time() - began)
        return min(times)

    plain = SegmentChain(initial, between, DurationTable(np.full((k, 1), 0.1)))
    chain = _Plain(initial, 0.9 * np.eye(k) + 0.1 * between)
    evidence = StateEvidence(likelihoods, np.zeros(n_positions), ends)
    base = seconds(lambda: smoothed(chain, evidence))
    print(f"plain model: {base:.3f} CPU s for {n_positions:,} positions of {k} states")
    print(f"{'largest duration':>16} {'CPU s':>8} {'x plain':>8} {'per duration':>13}")
    for n_ages in (1, 25, 50, 100, 200, 400):
        hazards = np.full((k, n_ages), 0.1)
        segments = SegmentChain(plain.initial, plain.transitions, DurationTable(hazards))
        cpu = seconds(lambda segments=segments: expected_segments(segments, likelihoods, ends))
        print(f"{n_ages:16} {cpu:8.3f} {cpu / base:8.1f} {1e3 * cpu / n_ages:10.2f} ms", flush=True)


class _Plain:
    """A chain without durations."""

    def __init__(self, initial: Array, transitions: Array) -> None:
        self.initial, self.transitions = initial, transitions


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=("cost", "gain"))
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--sequences", type=int, default=50)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.only != "gain":
        costs(2_000 if options.quick else 50_000)
    if options.only != "cost":
        n, models = (10, 1) if options.quick else (options.sequences, options.models)
        gains(n, list(range(20, 20 + models)))


if __name__ == "__main__":
    main()
