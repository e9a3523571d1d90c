"""What it costs to load a model file, and how much of that is checking it.

    python benchmarks/loading.py [--words 3000000] [--seed 0]

A Kneser-Ney model of order 3 is learnt from random sentences whose words follow Zipf's law; its file has
about 100 MB. CPU seconds, the least of five, with the file in the system's memory: of ``tacit.load``, of
the SHA-256 digest alone, and of reading the bytes alone. Limit: 0.2 CPU seconds for 100 MB, digest included.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tacit

MOST_SECONDS = 0.2  # for a hundred megabytes
N_TYPES, SENTENCE = 50_000, 20  # different words, and words of a sentence


def sentences(n_words: int, seed: int) -> list[list[str]]:
    """Random sentences of words that follow Zipf's law."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, N_TYPES + 1)
    ids = rng.choice(N_TYPES, size=(n_words // SENTENCE, SENTENCE), p=chances / chances.sum())
    words = np.array([f"w{number}" for number in range(N_TYPES)], dtype=object)
    return [list(line) for line in words[ids]]


def least_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """CPU seconds of the fastest of some runs."""
    seconds = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        seconds.append(time.process_time() - begun)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="200,000 words")
    arguments = parser.parse_args()
    n_words = 200_000 if arguments.quick else arguments.words
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tacit"
        model = tacit.KneserNeyLM(order=3, min_count=1).fit(sentences(n_words, arguments.seed))
        model.save(path)
        megabytes = path.stat().st_size / 1e6
        loading = least_seconds(lambda: tacit.load(path))
        reading = least_seconds(path.read_bytes)
        content = path.read_bytes()
        digesting = least_seconds(lambda: hashlib.sha256(content).digest())
    limit = MOST_SECONDS * megabytes / 100
    print(f"a Kneser-Ney model of {n_words:,} words: {megabytes:.1f} MB")
    print(
        f"load {loading:.3f} s CPU, {loading / megabytes * 100:.3f} for 100 MB; "
        f"of that the digest {digesting:.3f}, reading {reading:.3f}"
    )
    print(f"limit {limit:.3f} s: {'kept' if loading <= limit else 'MISSED'}")


if __name__ == "__main__":
    main()
