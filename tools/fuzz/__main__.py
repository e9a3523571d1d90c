"""Fuzzes every file that Tacit reads: `python tools/fuzz --seconds 60`.

Each input is a stored or small file with a mutation of its bytes, its structure or its values. Workers read
it, ask what there is to ask, and compare the answers with those of the original. Files that fail are kept
under ``out/fuzz`` with the reason; ``--replay FOLDER`` runs one again. The same seed gives the same inputs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np  # noqa: E402
from formats import format_targets  # noqa: E402
from model_files import Mutant, model_targets  # noqa: E402
from outcomes import BAD, GOOD, Result, judged  # noqa: E402
from workers import Job, Workers  # noqa: E402


@cache
def targets() -> dict[str, Any]:
    """All targets by name."""
    return {target.name: target for target in [*model_targets(), *format_targets()]}


def mutant(seed: int, name: str, number: int) -> Mutant:
    """An input: the same for the same seed, target and number."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    names = sorted(targets())
    other = targets()[names[int(rng.integers(len(names)))]].original
    return targets()[name].mutant(rng, next(iter(other.values())))


def put(files: dict[str, bytes], folder: Path) -> None:
    """Write the files of an input."""
    for name, content in files.items():
        (folder / name).write_bytes(content)


_ORIGINALS: dict[str, dict[str, Any]] = {}


def original_answers(name: str, folder: Path) -> dict[str, Any]:
    """What the file of a target answers before any mutation; asked twice, since answers must not differ."""
    if name not in _ORIGINALS:
        put(targets()[name].original, folder)
        first, second = targets()[name].ask(folder), targets()[name].ask(folder)
        result = judged(lambda: second, first, damaged=False)
        if result.outcome != "same":
            raise RuntimeError(f"the original of {name} answers {result}")
        _ORIGINALS[name] = first
        for file in folder.iterdir():
            file.unlink()
    return _ORIGINALS[name]


def tried(
    name: str, made: Mutant, folder: Path, began: Callable[[], None] = lambda: None
) -> Result:
    """The outcome of one input."""
    original = original_answers(name, folder)
    put(made.files, folder)
    began()
    return judged(lambda: targets()[name].ask(folder), original, damaged=made.damaged)


def jobs(names: list[str], end: float, most: int | None) -> Iterator[Job]:
    """Inputs of one target after another, until the time is over."""
    for number in count():
        for name in names:
            if time.monotonic() > end or (most is not None and number >= most):
                return
            yield name, number


def kept(out: Path, job: Job, made: Mutant, result: Result) -> None:
    """Store an input that failed, and why."""
    folder = out / f"{job[0]}--{job[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    put(made.files, folder)
    text = (
        f"{job[0]}\n{'damaged' if made.damaged else 'signed'}\n{result.outcome}\n{result.detail}\n"
    )
    (folder / "why.txt").write_text(text, encoding="utf-8", errors="backslashreplace")


def replayed(folder: Path) -> Result:
    """Run a kept input again, in this process."""
    import tempfile

    name, damage, *_ = (folder / "why.txt").read_text(encoding="utf-8").split("\n")
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "why.txt"}
    with tempfile.TemporaryDirectory() as scratch:
        return tried(name, Mutant(files, damaged=damage == "damaged"), Path(scratch))


def table(counts: dict[str, Counter[str]], seconds: float) -> str:
    """Targets by outcomes, with totals."""
    total = sum(counts.values(), Counter())
    shown = [*GOOD, *BAD]
    width = max(map(len, counts), default=5) + 2
    lines = [" " * width + "".join(f"{name:>11}" for name in ["inputs", *shown])]
    for name, row in [*sorted(counts.items()), ("total", total)]:
        cells = [row.total(), *(row[outcome] for outcome in shown)]
        lines.append(f"{name:<{width}}" + "".join(f"{cell:>11,}" for cell in cells))
    rate = total.total() / max(seconds, 1e-9)
    return "\n".join([*lines, f"{seconds:.0f} seconds, {rate:.1f} inputs per second"])


def run(names: list[str], options: argparse.Namespace) -> bool:
    """Fuzz the targets and print the table; whether all went well."""
    counts = {name: Counter[str]() for name in names}
    workers = Workers(
        lambda name, number, folder, began: tried(
            name, mutant(options.seed, name, number), folder, began
        ),
        options.jobs,
        options.limit,
        options.memory,
    )
    start = shown = time.monotonic()
    try:
        for job, result in workers.results(jobs(names, start + options.seconds, options.inputs)):
            counts[job[0]][result.outcome] += 1
            if result.outcome in BAD:
                kept(options.out, job, mutant(options.seed, *job), result)
            if sys.stderr.isatty() and time.monotonic() > shown + 1:
                shown = time.monotonic()
                bad = sum(row[outcome] for row in counts.values() for outcome in BAD)
                done = sum(row.total() for row in counts.values())
                print(f"\r{done:,} inputs, {bad:,} failures", end="", file=sys.stderr)
    finally:
        workers.close()
    print(table(counts, time.monotonic() - start))
    failed = any(row[outcome] for row in counts.values() for outcome in BAD)
    if failed:
        print(f"failures are kept in {options.out}: run one again with --replay FOLDER")
    return not failed


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="targets whose name contains this")
    parser.add_argument("--inputs", type=int, help="at most so many of each target")
    parser.add_argument("--limit", type=float, default=20, help="seconds for one input")
    parser.add_argument("--memory", type=int, default=600, help="megabytes for one input")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--replay", type=Path, help="a folder of a kept input")
    parser.add_argument("--list", action="store_true", help="print the names of the targets")
    return parser.parse_args(arguments)


def main() -> int:
    """Fuzz, replay or list."""
    options = parsed()
    if options.replay is not None:
        result = replayed(options.replay)
        print(result.outcome, result.detail, sep="\n")
        return int(result.outcome in BAD)
    only = options.only or [""]
    names = [name for name in targets() if any(part in name for part in only)]
    if options.list:
        print("\n".join(names))
        return 0
    return 0 if run(names, options) else 1


if __name__ == "__main__":
    sys.exit(main())
