"""Seconds that it takes to import Tacit and to print the command line's help, beside an empty interpreter.

    python benchmarks/startup.py [--quick]

The best of several runs each, in processes of their own; the limits are 0.2 and 0.3 seconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time


def best(arguments: list[str], runs: int) -> float:
    """Wall-clock seconds of the fastest of several runs of the interpreter."""
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    runs = 3 if parser.parse_args().quick else 15
    empty = best(["-c", "pass"], runs)
    print(f"{'interpreter alone':20} {empty:.3f} s")
    for label, arguments, limit in (
        ("import tacit", ["-c", "import tacit"], 0.2),
        ("tacit --help", ["-m", "tacit", "--help"], 0.3),
    ):
        seconds = best(arguments, runs)
        verdict = "within" if seconds <= limit else "beyond"
        print(f"{label:20} {seconds:.3f} s, {verdict} the limit of {limit} s")


if __name__ == "__main__":
    main()
