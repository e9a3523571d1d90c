"""A million documents of 100 words in UCI bag-of-words text, learnt in four passes over the file.

    python benchmarks/topic_stream.py                    a million documents; writes a file of about 1 GB
    python benchmarks/topic_stream.py --documents 50000  fewer
    python benchmarks/topic_stream.py --quick            two thousand
    python benchmarks/topic_stream.py --keep             the file stays for the next run

Documents are drawn from 50 topics of 10000 words, Zipf vocabulary. A process of its own reads the file once
and does nothing with it, another learns 50 topics from it, ``TopicModel(50, learn="moments")``, with the sum
of Dirichlet parameters unknown. Printed are CPU seconds of both, the number of passes, the largest memory of
the learning process, and the mean total variation of the topics. It holds where learning needs at most three
times the CPU of as many readings, in at most four passes and 3 GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tacit.core.threads import limit_threads
from tacit.topics.data.document_files import file_batches
from tacit.topics.model.topics import Topics
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import random_topics, sample_documents

N_TOPICS, N_WORDS, LENGTH, ALPHA = 50, 10_000, 100, 0.02
BATCH = 10_000  # documents that are drawn and written at once
MOST_TIMES, MOST_PASSES, MOST_MEMORY = 3.0, 4, 3e9


def truth() -> Topics:
    """The topics of all documents."""
    return random_topics(N_TOPICS, N_WORDS, ALPHA, zipf=True, random_state=0)


def write(path: Path, n: int) -> None:
    """Draw documents and write them, whole only once all are there."""
    import pyarrow as pa
    from pyarrow import csv

    topics, unfinished = truth(), path.with_suffix(".part")
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    entries = 0
    with unfinished.open("wb") as file:
        file.write(b" " * 40 + b"\n")  # room for the header
        for first in range(0, n, BATCH):
            some = min(BATCH, n - first)
            counts = sample_documents(topics, some, LENGTH, random_state=[1, first]).counts
            rows = np.repeat(np.arange(first + 1, first + some + 1), np.diff(counts.indptr))
            table = pa.table({"d": rows, "w": counts.indices + 1, "c": counts.data})
            csv.write_csv(table, file, options)
            entries += counts.nnz
        header = f"{n}\n{N_WORDS}\n{entries}".encode()
        file.seek(0)
        file.write(b" " * (40 - len(header)) + header)
    unfinished.rename(path)


def read_only(path: Path) -> dict[str, float]:
    """CPU seconds of reading the file once; what is compiled is compiled before."""
    with limit_threads(1):
        next(iter(file_batches(path)))
        begun, wall = time.process_time(), time.perf_counter()
        n = sum(int(batch.shape[0]) for batch in file_batches(path))
        return {
            "documents": n,
            "seconds": time.process_time() - begun,
            "wall": time.perf_counter() - wall,
        }


def learn(path: Path) -> dict[str, float]:
    """CPU seconds, passes, memory and error of learning."""
    topics = truth()
    with limit_threads(1):
        small = sample_documents(topics, 500, LENGTH, random_state=2)
        TopicModel(3, learn="moments", n_jobs=1).fit(small)  # compiles
        begun, wall = time.process_time(), time.perf_counter()
        model = TopicModel(N_TOPICS, learn="moments", n_jobs=1).fit(path)
        seconds, wall = time.process_time() - begun, time.perf_counter() - wall
    from scipy.optimize import linear_sum_assignment

    apart = np.array(
        [0.5 * np.abs(model.components_ - topic).sum(axis=1) for topic in topics.words]
    )
    return {
        "seconds": seconds,
        "wall": wall,
        "passes": model.diagnostics_["n_passes"],
        "memory": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "alpha0": model.topics_.alpha0,
        "error": float(apart[linear_sum_assignment(apart)].mean()),
    }


def in_a_process(program: str, path: Path) -> dict[str, float]:
    """What one of the two found, in a process of its own."""
    run = [sys.executable, __file__, "--only", program, "--file", str(path)]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", choices=("read", "learn"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps((read_only if options.only == "read" else learn)(options.file)))
        return
    n = 2000 if options.quick else options.documents
    path = Path("out") / f"topic_stream_{n}.txt"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        write(path, n)
    reading, learning = in_a_process("read", path), in_a_process("learn", path)
    times = learning["seconds"] / (learning["passes"] * reading["seconds"])
    print(f"{n} documents, {path.stat().st_size / 1e9:.2f} GB of text, {N_TOPICS} topics")
    print(f"reading once: {reading['seconds']:.1f} s CPU ({reading['wall']:.1f} s)")
    print(
        f"learning: {learning['seconds']:.1f} s CPU ({learning['wall']:.1f} s), "
        f"{learning['passes']} passes, {learning['memory'] / 1e9:.2f} GB"
    )
    print(
        f"alpha0 {learning['alpha0']:.3f} (true {N_TOPICS * ALPHA:g}), error {learning['error']:.4f}"
    )
    held = (
        times <= MOST_TIMES
        and learning["passes"] <= MOST_PASSES
        and learning["memory"] < MOST_MEMORY
    )
    print(f"{times:.2f} times the CPU of as many readings: {'holds' if held else 'DOES NOT HOLD'}")
    if not options.keep:
        path.unlink()


if __name__ == "__main__":
    main()
