"""Hidden Markov models: ``learn="auto"`` beside EM with restarts, this project's and other programs'.

    python benchmarks/hmm.py --accuracy     fifteen models; can be stopped and resumed
    python benchmarks/hmm.py --peers        the same with five starts of 200 of hmmlearn (an hour) and dynamax
                                            (half an hour); or name peers: --peers dynamax pomegranate
    python benchmarks/hmm.py --speed        seconds of an iteration; one million sequences, with yardsticks
    python benchmarks/hmm.py --quick        a little of each

Fifty symbols, eight states, 10,000 sequences of length 20 to learn from and 5,000 to judge on. Emissions are
Dirichlet(0.3), moves (1 - s) Dirichlet(0.5) + s I with s = 0.6, 0.3 and 0; five models each. "em" is this
project's compiled EM as it is in the books, without acceleration: five random starts, at most 300 iterations,
until a step gains less than 0.01 nats in all; the best by training likelihood counts, with the CPU of all.
`hmm_peers.py` says how the others are run. Settings of "auto" were chosen on seeds from 100 on; the
reported ones start at 0. All times are CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hmm_peers import PEERS, hmmlearn_model, installed, one_processor

import tacit
from tacit.core.threads import limit_threads
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.hmm import (
    Packed,
    em_restarts,
    polished_hmm,
    random_hmm_tables,
)
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.moments.ngrams import NgramCounts
from tacit.sequences.query.hmm_scores import log_likelihoods
from tacit.toy import random_hmm

N_SYMBOLS, N_STATES, LENGTH = 50, 8, 20
STAYS = (0.6, 0.3, 0.0)
N_STARTS = 5
# What the issue asks for: CPU of "em" over that of "auto", by class, and that of hmmlearn.
TARGET = {0.6: 20.0, 0.3: 8.0, 0.0: 8.0}
TARGET_PEER = 200.0


@dataclass(frozen=True)
class Draw:
    """A true model, sequences to learn from and sequences to judge on."""

    truth: Any
    train: Sequences
    test: Sequences


def draw(stay: float, seed: int, n_train: int = 10_000, n_test: int = 5_000) -> Draw:
    """The data of a model; the same for every method."""
    root = [seed, round(10 * stay)]
    model = random_hmm(
        N_STATES, N_SYMBOLS, stay=stay, random_state=np.random.default_rng([*root, 1])
    )
    train = model.sample(n_train, LENGTH, np.random.default_rng([*root, 2]))
    return Draw(model, train, model.sample(n_test, LENGTH, np.random.default_rng([*root, 3])))


def rectangle(sequences: Sequences) -> np.ndarray:
    """The sequences as a user has them."""
    return sequences.codes.reshape(-1, LENGTH)


def by_auto(made: Draw, seed: int) -> tuple[ChainTables, dict[str, Any]]:
    """The estimator, from an array of symbols."""
    model = tacit.HMM(N_STATES, learn="auto", random_state=seed).fit(rectangle(made.train))
    diagnostics = model.diagnostics_
    return all_symbols(model), {name: diagnostics.get(name) for name in ("start", "n_steps")}


def by_tensor(made: Draw, seed: int) -> tuple[ChainTables, dict[str, Any]]:
    """Moments alone."""
    model = tacit.HMM(N_STATES, learn="tensor", random_state=seed).fit(rectangle(made.train))
    return all_symbols(model), {}


def all_symbols(model: tacit.HMM) -> ChainTables:
    """The tables with a column for each symbol, also those that training never showed."""
    emit = np.full((N_STATES, N_SYMBOLS), 1e-12)
    emit[:, list(model.symbols_)] = model.emissions_
    return ChainTables(model.initial_, model.transitions_, (emit / emit.sum(1, keepdims=True),))


def by_em(made: Draw, seed: int, max_iter: int = 300) -> tuple[ChainTables, dict[str, Any]]:
    """This project's EM, plain."""
    packed = Packed.of(made.train, N_STATES)
    return em_restarts(packed, n_restarts=N_STARTS, max_iter=max_iter, random_state=seed)


def by_peer(name: str) -> Callable[..., tuple[ChainTables, dict[str, Any]]]:
    """One of the other programs."""

    def learn(made: Draw, seed: int) -> tuple[ChainTables, dict[str, Any]]:
        with one_processor():
            return PEERS[name](rectangle(made.train), (N_STATES, N_SYMBOLS), seed)

    return learn


METHODS: dict[str, Callable[..., tuple[ChainTables, dict[str, Any]]]] = {
    "auto": by_auto,
    "tensor": by_tensor,
    "em": by_em,
    **{name: by_peer(name) for name in PEERS},
}


def accuracy(path: Path, methods: tuple[str, ...], seeds: range, **sizes: int) -> None:
    """Run what is not in the file yet, then print the table and write it next to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["stay"], row["seed"], row["method"]) for row in rows_of(path)}
    for stay in STAYS:
        for seed in seeds:
            left = [m for m in methods if (stay, seed, m) not in done]
            made = draw(stay, seed, **sizes) if left else None
            for method in left:
                assert made is not None
                begun = time.process_time()
                tables, details = METHODS[method](made, seed)
                seconds = time.process_time() - begun - details.get("compile_seconds", 0.0)
                row = {"stay": stay, "seed": seed, "method": method, "seconds": seconds, **details}
                row["tables"] = [float(f"{entry:.9g}") for entry in tables.flat]
                with path.open("a", encoding="utf8") as out:
                    out.write(json.dumps(row) + "\n")
            if left:
                print(f"s={stay} seed {seed}: {', '.join(left)}", flush=True)
    text = table_of(rows_of(path), seeds, **sizes)
    path.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


def rows_of(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line]


def table_of(rows: list[dict[str, Any]], seeds: range, **sizes: int) -> str:
    """Held-out nats per symbol below the truth, CPU, and verdicts by pairs of test sequences."""
    row_of = {(row["stay"], row["seed"], row["method"]): row for row in rows}
    methods = [m for m in METHODS if any(row["method"] == m for row in rows)]
    clocked = [m for m in methods if m != "tensor"]
    layout = random_hmm_tables(N_STATES, N_SYMBOLS, np.random.default_rng(0)).layout
    lines = [
        f"| s | seed | {' | '.join(methods)} | auto - em (se) | CPU {', '.join(clocked)} |",
        "|---" * (len(methods) + 4) + "|",
    ]
    marks: dict[tuple[float, str], list[str]] = defaultdict(list)
    spent: dict[tuple[float, str], list[float]] = defaultdict(list)
    for stay in STAYS:
        for seed in seeds:
            by_method = {m: row_of[stay, seed, m] for m in methods if (stay, seed, m) in row_of}
            if "auto" not in by_method or "em" not in by_method:
                continue
            made = draw(stay, seed, **sizes)
            truth = made.truth.log_prob(made.test)
            logs = {
                m: log_likelihoods(layout.tables(np.array(row["tables"])), made.test)
                for m, row in by_method.items()
            }
            shown = [
                f"{(logs[m] - truth).mean() / LENGTH:.5f}" if m in by_method else ""
                for m in methods
            ]
            for rival in set(by_method) & {"em", *PEERS}:
                marks[stay, rival].append(verdict(logs["auto"] - logs[rival])[0])
            _, mean, error = verdict(logs["auto"] - logs["em"])
            times = [f"{by_method[m]['seconds']:.2f}" if m in by_method else "-" for m in clocked]
            for m, row in by_method.items():
                spent[stay, m].append(row["seconds"])
            difference = f"{mean / LENGTH:+.6f} ({error / LENGTH:.6f})"
            lines.append(
                f"| {stay} | {seed} | {' | '.join(shown)} | {difference} | {', '.join(times)} |"
            )
    return "\n".join([*lines, "", *verdicts(marks, spent)]) + "\n"


def verdict(differences: np.ndarray) -> tuple[str, float, float]:
    """Won, tied or lost by two standard errors of the paired differences."""
    mean = float(differences.mean())
    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return ("won" if mean > 2 * error else "lost" if mean < -2 * error else "tied"), mean, error


def verdicts(
    marks: dict[tuple[float, str], list[str]], spent: dict[tuple[float, str], list[float]]
) -> list[str]:
    """Counts of models by class, and ratios of CPU with their targets."""
    targets = {"em": TARGET, "hmmlearn": dict.fromkeys(STAYS, TARGET_PEER)}
    lines = []
    for rival in ("em", *PEERS):
        for stay in STAYS:
            cell = marks.get((stay, rival), [])
            if not cell:
                continue
            n = len(cell)
            ratio = (
                sum(spent[stay, rival]) / n / (sum(spent[stay, "auto"]) / len(spent[stay, "auto"]))
            )
            counts = ", ".join(f"{cell.count(mark)} {mark}" for mark in ("won", "tied", "lost"))
            target = ""
            if rival in targets:
                met = "met" if ratio >= targets[rival][stay] else "NOT met"
                target = f" (target 1/{targets[rival][stay]:.0f}: {met})"
            plural = "" if n == 1 else "s"
            lines.append(
                f"s={stay}: auto against {rival}'s five on {n} model{plural}: {counts}; "
                f"CPU 1/{ratio:.1f}{target}"
            )
    every = [mark for (_, rival), cell in marks.items() if rival == "em" for mark in cell]
    if every:
        good = "lost" not in every and every.count("won") > len(every) / 2
        lines.append(f"not below em on any and above on most: {'yes' if good else 'NO'}")
    return lines


def cpu(work: Callable[[], Any], n_times: int = 3) -> float:
    """Least CPU seconds of a few runs."""
    spent = []
    for _ in range(n_times):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)


def iterations(n_train: int = 10_000) -> None:
    """Seconds of one iteration of EM, this project's and hmmlearn's, from the same tables."""
    made = draw(0.6, 0, n_train)
    packed = Packed.of(made.train, N_STATES)
    first = random_hmm_tables(N_STATES, N_SYMBOLS, np.random.default_rng(0))

    def em_run(n_steps: int) -> Callable[[], Any]:
        return lambda: polished_hmm(first, packed, gain=0, max_iter=n_steps, accelerated=False)

    em_run(2)()
    ours = (cpu(em_run(25)) - cpu(em_run(5))) / 20
    print(f"one iteration on {n_train} x {LENGTH}: {ours * 1e3:.2f} ms", end="")
    try:
        other = (cpu(lambda: fit_peer(made, 6), 2) - cpu(lambda: fit_peer(made, 2), 2)) / 4
    except ImportError:
        print("; hmmlearn is not installed (make peers)")
        return
    print(f"; hmmlearn (scaling) {other * 1e3:.1f} ms = {other / ours:.0f}x (target 10x)")


def fit_peer(made: Draw, max_iter: int) -> None:
    model = hmmlearn_model((N_STATES, N_SYMBOLS), 0, max_iter, -np.inf)
    model.fit(made.train.codes[:, None], made.train.lengths)


def million(n_sequences: int = 1_000_000) -> None:
    """Moments of many sequences beside counting their triples once, and np.bincount for each position."""
    made = draw(0.6, 0, n_sequences)
    array = rectangle(made.train)

    def by_bincount() -> np.ndarray:
        total = np.zeros(N_SYMBOLS**3, dtype=np.int64)
        for t in range(LENGTH - 2):
            key = (array[:, t] * N_SYMBOLS + array[:, t + 1]) * N_SYMBOLS + array[:, t + 2]
            total += np.bincount(key, minlength=N_SYMBOLS**3)
        return total

    assert np.array_equal(NgramCounts.of(made.train).triples.counts, by_bincount())
    counted, slowly = cpu(lambda: NgramCounts.of(made.train)), cpu(by_bincount)
    model = tacit.HMM(N_STATES, learn="tensor").fit(array[:1000])
    total = cpu(lambda: model.fit(array))
    from tacit.sequences.data.read_sequences import read_sequences

    read = cpu(lambda: read_sequences(array))
    gap = (made.truth.log_prob(made.test) - log_likelihoods(all_symbols(model), made.test)).mean()
    gap /= LENGTH
    print(
        f"{n_sequences} sequences of {LENGTH}: counting triples {counted:.3f} s, np.bincount per position "
        f"{slowly:.3f} s = {slowly / counted:.1f}x (target 5x)\n"
        f"tensor, from the array to the model, {total:.3f} s = {total / counted:.1f}x counting; reading "
        f"the array takes {read:.3f} s of it, the rest is {(total - read) / counted:.1f}x (target 4x)\n"
        f"{gap:.5f} nats per symbol below the truth (target 0.001)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name in ("accuracy", "speed", "quick"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument(
        "--peers", nargs="*", choices=list(PEERS), help="other programs; hmmlearn and dynamax"
    )
    parser.add_argument("--first-seed", type=int, default=0, help="100 and more were tuned on")
    parser.add_argument("--models", type=int, default=5, help="of each class")
    parser.add_argument("--out", type=Path, default=Path("out/hmm.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.models)
    peers = [] if chosen.peers is None else installed(chosen.peers or ["hmmlearn", "dynamax"])
    methods = ("auto", "tensor", "em", *peers)
    with limit_threads(1):
        if chosen.quick or not (chosen.accuracy or chosen.speed or chosen.peers is not None):
            iterations(2000)
            million(50_000)
            few = range(seeds.start, seeds.start + 1)
            accuracy(chosen.out.with_stem("hmm-quick"), methods, few, n_train=2000, n_test=1000)
        if chosen.speed:
            iterations()
            million()
        if chosen.accuracy or chosen.peers is not None:
            warm_up()
            accuracy(chosen.out, methods, seeds)


def warm_up() -> None:
    """Compile everything before times are taken."""
    made = draw(0.3, 0, 200, 10)
    by_auto(made, 0), by_tensor(made, 0), by_em(made, 0, 2)


if __name__ == "__main__":
    main()
