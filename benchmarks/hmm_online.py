"""`HMM().filter()`: microseconds for each observation; and `partial_fit` of a million sequences.

    python benchmarks/hmm_online.py            # both
    python benchmarks/hmm_online.py --quick    # updates alone

Updates: models of eight states, ten thousand observations one by one, the best of five passes. Missing ones
cost less. The log-likelihood is compared with that of the whole sequence. `partial_fit`: sequences of twenty
positions, drawn in chunks of 20,000, with n_states=8; after every chunk but the last only counts and a sample
are taken in ("taken in": a model with ``max_iter=1`` and ``learn="tensor"`` for symbols). Memory is the peak
of the process less that after importing and compiling. Times are CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import tacit

N_STATES, N_UPDATES, LENGTH, CHUNK, N_CHUNKS = 8, 10_000, 20, 20_000, 50
KINDS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "categorical, 20 symbols": ("categorical", 0, {}),
    "gaussian, 1 column": ("gaussian", 1, {}),
    "gaussian, 3 columns": ("gaussian", 3, {}),
    "poisson, 1 column": ("poisson", 1, {}),
    "three columns of several kinds": ("mixed", 3, {}),
    "categorical, durations up to 20": (
        "categorical",
        0,
        {"durations": "negative-binomial", "max_duration": 20},
    ),
}
COLUMNS = {"symbol": "categorical", "level": "gaussian", "count": "poisson"}


def sequences_of(name: str, columns: int, n: int, length: int, seed: int) -> list[Any]:
    """Sequences of a chain that stays in a state half the time."""
    rng = np.random.default_rng(seed)
    states = rng.integers(0, N_STATES, (n, length))
    for t in range(1, length):
        stays = rng.random(n) < 0.5
        states[stays, t] = states[stays, t - 1]
    if name == "categorical":
        symbols = (2 * states + rng.integers(0, 6, states.shape)) % 20
        return list(symbols)
    if name == "mixed":
        return [
            {
                "symbol": list(row % 3),
                "level": list(3.0 * row + rng.normal(size=length)),
                "count": list(rng.poisson(1.0 + row)),
            }
            for row in states
        ]
    shape = states.shape if columns == 1 else (*states.shape, columns)
    centres = states if columns == 1 else states[..., None]
    if name == "poisson":
        return list(rng.poisson(1.0 + 3.0 * centres, shape).astype(float))
    return list(3.0 * centres + rng.normal(size=shape))


def updates(label: str) -> None:
    """Microseconds for each update of one kind."""
    name, columns, arguments = KINDS[label]
    kinds = COLUMNS if name == "mixed" else name
    model = tacit.HMM(N_STATES, emissions=kinds, max_iter=20, **arguments)
    model.fit(sequences_of(name, columns, 200, 50, 0))
    (sequence,) = sequences_of(name, columns, 1, N_UPDATES, 1)
    rows = zip(*sequence.values(), strict=True) if name == "mixed" else sequence
    online, observations, seconds = model.filter(), list(rows), []
    for _ in range(5):
        online.reset()
        began = time.process_time()
        for x in observations:
            online.update(x)
        seconds.append(time.process_time() - began)
    apart = abs(online.log_likelihood - float(model.score_samples([sequence])[0]))
    print(
        f"{label}: {1e6 * min(seconds) / N_UPDATES:.1f} us (apart by {apart:.1e} nats)", flush=True
    )


def million(name: str) -> None:
    """Memory and time of `partial_fit` of a million sequences of one kind."""
    arguments = {"learn": "tensor"} if name == "categorical" else {"max_iter": 1, "learn": "em"}
    model = tacit.HMM(N_STATES, emissions=name, n_restarts=1, n_jobs=1, **arguments)  # type: ignore[arg-type]
    model.fit(sequences_of(name, 1, 100, LENGTH, 0))
    model = tacit.HMM(N_STATES, emissions=name, n_restarts=1, n_jobs=1, **arguments)  # type: ignore[arg-type]
    chunk = sequences_of(name, 1, CHUNK, LENGTH, 0)
    before, seconds = peak(), 0.0
    for place in range(N_CHUNKS):
        chunk = sequences_of(name, 1, CHUNK, LENGTH, place)
        began = time.process_time()
        symbols = range(20) if name == "categorical" and place == 0 else None
        model.partial_fit(chunk, symbols=symbols)
        seconds += time.process_time() - began
    n = model.diagnostics_["n_sequences"]
    print(f"{name}: {n:,} sequences, {seconds:.1f} s, {peak() - before:.0f} MB", flush=True)


def peak() -> float:
    """The most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="updates alone")
    chosen = parser.parse_args()
    for label in KINDS:
        updates(label)
    if not chosen.quick:
        for name in ("categorical", "gaussian", "poisson"):
            million(name)


if __name__ == "__main__":
    main()
