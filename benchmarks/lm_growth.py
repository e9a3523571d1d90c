"""Time and memory of power low rank ensembles as the text grows: python benchmarks/lm_growth.py [--quick].

The thesis (table 9.3) learns from up to 837 million words. Long texts are made by mixing the four corpora: a
walk goes through them word by word and jumps, at every fourth word on average, to another place where the
same word stands, and at every fortieth anywhere. New n-grams thus appear as the text grows; what it says is
not the point.

Every size is learnt from in a process of its own, by one thread: counting on disk (`memory=`), and then the
ensemble as printed, of order 3, with ranks of 90 and 18, those of the thesis for Small-English (0.005 and
0.001 of 18,000 words). Words that occur once are ``<unk>``. Kneser-Ney stands beside it. Memory is the
highest that the process held, counts that are mapped from disk included. `--words` takes other sizes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from numba import njit

from tacit.datasets.texts import MIN_COUNTS, corpus_path
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import END

JUMP = 4  # words between jumps, on average
ANYWHERE = 0.1  # of the jumps
CHUNK = 1_000_000
QUICK, SIZES = (100_000, 300_000, 1_000_000), (1_000_000, 3_000_000, 10_000_000)
MOST_GROWTH = 1.15  # exponent of time against words: nearly linear

MEASURE = """
import json, pathlib, sys, time
from tacit import KneserNeyLM, PowerLowRankLM
kind, path, memory = sys.argv[1:]
more = {"min_count": 2, "memory": memory}
ranks = {2: (90,), 3: (18,)}
make = {
    "kneser-ney": lambda: KneserNeyLM(3, **more),
    "ensemble": lambda: PowerLowRankLM(3, preset="printed", ranks=ranks, n_jobs=1, **more),
}[kind]
warm = ["a b a c", "b a", "c a b", "a b", "c"] * 9
make().fit(warm)
stages = []
begun, cpu = time.perf_counter(), time.process_time()
def note(done, text):
    if not stages or stages[-1][0] != text.split(":")[0]:
        stages.append((text.split(":")[0], time.perf_counter()))
model = make().set_params(progress=note).fit(path)
# Not that of getrusage, which begins with the memory of the process that started this one
status = pathlib.Path("/proc/self/status").read_text()
print(json.dumps({
    "seconds": time.perf_counter() - begun,
    "cpu": time.process_time() - cpu,
    "megabytes": int(status.split("VmHWM:")[1].split()[0]) // 1024,
    "n_grams": model.diagnostics_["n_grams"],
    "stages": [(name, later - at) for (name, at), (_, later) in
               zip(stages, [*stages[1:], ("", time.perf_counter())])],
}))
"""


@njit(cache=True)
def walk(tokens, order, starts, place, draws, out):
    """Write words of a walk; `order` lists places by word, `starts` where those of each word begin."""
    for at in range(len(out)):
        if draws[at, 0] * JUMP < ANYWHERE:
            place = np.int64(draws[at, 1] * len(tokens))
        elif draws[at, 0] * JUMP < 1.0:
            word = tokens[place]
            n = starts[word + 1] - starts[word]
            place = order[starts[word] + np.int64(draws[at, 1] * n)]
        place = (place + 1) % len(tokens)
        out[at] = tokens[place]
    return place


def write_mixed(path, n_words, seed=0):
    """Write a text of so many words, line ends counted, mixed from the corpora."""
    corpus = read_corpus([corpus_path(name) for name in MIN_COUNTS])
    tokens = np.insert(corpus.ids, corpus.ends, END)
    order = np.argsort(tokens, kind="stable")
    starts = np.searchsorted(tokens[order], np.arange(len(corpus.vocabulary) + 1))
    words = [word.encode() for word in corpus.vocabulary.words]
    words[END] = b"\n"
    rng, place = np.random.default_rng(seed), 0
    with path.open("wb") as file:
        for low in range(0, n_words, CHUNK):
            out = np.empty(min(CHUNK, n_words - low), np.int32)
            place = walk(tokens, order, starts, place, rng.random((len(out), 2)), out)
            file.write(b" ".join([words[n] for n in out.tolist()]) + b" ")


def measure(kind, path, memory):
    command = [sys.executable, "-c", MEASURE, kind, str(path), memory]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to a million words")
    parser.add_argument("--words", type=int, nargs="+", help="sizes of texts")
    parser.add_argument("--memory", default="500MB", help="for counting")
    parser.add_argument("--kinds", nargs="+", default=["kneser-ney", "ensemble"])
    options = parser.parse_args()
    sizes = options.words or (QUICK if options.quick else SIZES)
    print(f"order 3, counting in {options.memory}; seconds by the clock (CPU), one thread")
    seconds = {kind: [] for kind in options.kinds}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "mixed.txt"
        for n_words in sizes:
            write_mixed(path, n_words)
            for kind in options.kinds:
                row = measure(kind, path, options.memory)
                seconds[kind].append(row["cpu"])
                grams = " ".join(f"{n:,}" for n in row["n_grams"])
                print(
                    f"  {n_words:>13,} words  {kind:10} {row['seconds']:8.1f} ({row['cpu']:.1f}) "
                    f"{row['megabytes']:>7,} MB  n-grams {grams}"
                )
                stages = [f"{name} {spent:.1f}" for name, spent in row["stages"] if spent >= 0.05]
                print(f"{'':16}{', '.join(stages)}", flush=True)
    for kind, spent in seconds.items():
        growth = [
            np.log(b / a) / np.log(m / n)
            for (a, b), (n, m) in zip(pairwise(spent), pairwise(sizes), strict=True)
        ]
        if growth:
            verdict = "holds" if growth[-1] <= MOST_GROWTH else "MISSED"
            print(
                f"  {verdict:8}{kind}: CPU time grows as words to the power {growth[-1]:.2f} "
                f"between the last two, at most {MOST_GROWTH}"
            )


if __name__ == "__main__":
    main()
