"""Density estimation on fifteen binary tables: ``LatentTree()`` with nothing set, beside others.

    python benchmarks/density.py                         all of it; can be stopped and resumed
    python benchmarks/density.py --sets nltcs,plants     some of the sets
    python benchmarks/density.py --methods tacit,em      some of product, chow-liu, mixture, tacit, tree, em
    python benchmarks/density.py --again tacit           run a method anew although its result is there
    python benchmarks/density.py --quick                 the smallest set, fewer mixtures, one random start

Mean test log-likelihood in nats per row. Tacit gets ``fit(train, validation=valid)``; nothing is chosen on
the test rows. Where Tacit's model is several trees, *one tree* is the heaviest of them alone, and *em* is
that tree (its numbers of states, its pseudo-counts, its stopping rule) learnt from three random starts.
Results are added to ``out/density.jsonl``, the table is ``out/density.md``, Tacit's models are in
``out/density/``. Seconds are those of the clock, of fitting alone.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from density_baselines import (
    BASELINES,
    HCLT,
    QUICK_COMPONENTS,
    SETS,
    Scored,
    bernoulli_mixture,
    both_values,
    heaviest_tree,
    random_start_em,
)

import tacit
from tacit.datasets import Density, load_density

METHODS = (*BASELINES, "tacit", "tree", "em")
SEEDS = (0, 1, 2)  # of random starts
LEAST_MEAN_GAIN, LEAST_MEDIAN_GAIN = 0.027, 0.008  # relative, over HCLT
MOST_MINUTES = 30

Results = dict[str, dict[str, dict[str, Any]]]  # by set, then by method


# -- running ------------------------------------------------------------------------------------------


def run(path: Path, sets: Iterable[str], methods: Iterable[str], again: str, quick: bool) -> None:
    """Run what is not in the file yet, a line for each result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    methods = [m for name in methods for m in expanded(name, quick)]
    for name in sets:
        done = read_results(path).get(name, {})
        left = [m for m in methods if m not in done or m.partition(" ")[0] == again]
        data = load_density(name) if left else None
        for method in left:
            assert data is not None
            scored = measured(data, method, path.with_suffix("") / f"{name}.tacit", quick)
            with path.open("a", encoding="utf8") as out:
                out.write(json.dumps({"set": name, "method": method, **asdict(scored)}) + "\n")
            print(
                f"{name:12}{method:12} valid {scored.valid:9.4f}  test {scored.test:9.4f}  "
                f"{scored.seconds:7.1f} s",
                flush=True,
            )


def expanded(method: str, quick: bool) -> tuple[str, ...]:
    """A method's runs by name: random starts are several."""
    if method != "em":
        return (method,)
    return tuple(f"em {seed}" for seed in (SEEDS[:1] if quick else SEEDS))


def measured(data: Density, method: str, model: Path, quick: bool) -> Scored:
    """One method on one set; Tacit's model is kept in a file, where random starts look for it."""
    if method == "mixture" and quick:
        return bernoulli_mixture(data, QUICK_COMPONENTS)
    if method in BASELINES:
        return BASELINES[method](data)
    train, valid, test = (both_values(part) for part in (data.train, data.valid, data.test))
    if method == "tacit":
        begun = time.perf_counter()
        fitted = tacit.LatentTree(random_state=0).fit(train, validation=valid)
        seconds = time.perf_counter() - begun
        model.parent.mkdir(parents=True, exist_ok=True)
        fitted.save(model)
        return Scored(fitted.score(valid), fitted.score(test), seconds)
    if not model.exists():
        raise SystemExit(f"{model} is not there: run the method tacit before tree and em")
    same = tacit.load(model)
    if method == "tree":
        return Scored(*heaviest_tree(same, (valid, test)), 0.0)
    return random_start_em(same, train, valid, test, int(method.partition(" ")[2]))


def read_results(path: Path) -> Results:
    """All results in the file; of two of the same kind the later one.

    Random starts belong to the model that Tacit found last before them.
    """
    results: Results = {}
    if path.exists():
        for line in path.read_text(encoding="utf8").splitlines():
            row = json.loads(line)
            of_set = results.setdefault(row["set"], {})
            if row["method"] == "tacit":
                for stale in [m for m in of_set if m.startswith("em ") or m == "tree"]:
                    del of_set[stale]
            of_set[row["method"]] = row
    return results


# -- judging ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """The test scores of one set, NaN where a method was not run."""

    name: str
    product: float
    chow_liu: float
    mixture: float
    n_components: int
    random_starts: tuple[float, ...]
    tacit: float
    tree: float
    seconds: float

    @classmethod
    def of(cls, name: str, rows: dict[str, dict[str, Any]]) -> Judged:
        def score(method: str, key: str = "test") -> float:
            return rows[method][key] if method in rows else math.nan

        mixture = rows.get("mixture", {"chosen": {"n_components": 0}})
        return cls(
            name,
            score("product"),
            score("chow-liu"),
            score("mixture"),
            mixture["chosen"]["n_components"],
            tuple(score(m) for m in expanded("em", quick=False) if m in rows),
            score("tacit"),
            score("tree"),
            score("tacit", "seconds"),
        )

    @property
    def gain(self) -> float:
        """Relative to the published figure."""
        theirs = HCLT[self.name][0]
        return (self.tacit - theirs) / abs(theirs)

    @property
    def against_random(self) -> str:
        """One tree: above all its random starts, tied within their spread, or below."""
        best, spread = max(self.random_starts), max(self.random_starts) - min(self.random_starts)
        if self.tree > best:
            return "above"
        return "tied" if self.tree >= best - spread else "below"


def table(judged: list[Judged]) -> Iterator[str]:
    """A line for each set."""
    yield (
        "| set | product | Chow-Liu | mixture (K) | random starts | one tree | HCLT (sd) | Tacit | gain "
        "| seconds |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in judged:
        theirs, spread = HCLT[row.name]
        starts = ""
        if row.random_starts:
            width = max(row.random_starts) - min(row.random_starts)
            starts = f"{statistics.fmean(row.random_starts):.3f} ({width:.3f})"
        ours = "| | |"
        if not math.isnan(row.tacit):
            ours = f"{row.tacit:.3f} | {row.gain:+.2%} | {row.seconds:.1f} |"
        yield (
            f"| {row.name} | {row.product:.3f} | {row.chow_liu:.3f} | {row.mixture:.3f} "
            f"({row.n_components}) | {starts} | {row.tree:.3f} | {theirs:.3f} ({spread:.3f}) | {ours}"
        )


def verdicts(judged: list[Judged]) -> Iterator[str]:
    """The targets of Tacit, line by line, over the sets that it was run on."""
    for rival in ("chow_liu", "mixture"):
        named = {"chow_liu": "the Chow-Liu tree", "mixture": "the Bernoulli mixture"}[rival]
        behind = [row.name for row in judged if not row.tacit > getattr(row, rival)]
        yield verdict(not behind, f"above {named} on every set", behind)
    with_starts = [row for row in judged if row.random_starts]
    by_kind = {
        kind: [row.name for row in with_starts if row.against_random == kind]
        for kind in ("above", "tied", "below")
    }
    yield verdict(
        bool(with_starts) and not by_kind["below"],
        f"one tree above its random starts on {len(by_kind['above'])} of {len(with_starts)} sets, "
        f"tied within their spread on {', '.join(by_kind['tied']) or 'none'}",
        by_kind["below"],
    )
    behind = [row.name for row in judged if row.tacit < HCLT[row.name][0] - HCLT[row.name][1]]
    yield verdict(not behind, "at or above HCLT within its standard deviation on every set", behind)
    gains = [row.gain for row in judged]
    mean, median = statistics.fmean(gains), statistics.median(gains)
    text = f"mean of the relative gains over HCLT {mean:.2%}, at least {LEAST_MEAN_GAIN:.1%}"
    yield verdict(mean >= LEAST_MEAN_GAIN, text)
    text = f"their median {median:.2%}, at least {LEAST_MEDIAN_GAIN:.1%}"
    yield verdict(median >= LEAST_MEDIAN_GAIN, text)
    minutes = sum(row.seconds for row in judged) / 60
    text = f"all fits together {minutes:.1f} minutes, at most {MOST_MINUTES}"
    yield verdict(minutes <= MOST_MINUTES, text)


def verdict(passed: bool, text: str, exceptions: list[str] | None = None) -> str:
    """A line on one target, and where it is missed."""
    where = f" (not: {', '.join(exceptions)})" if exceptions else ""
    return f"- {'yes' if passed else 'NO '}  {text}{where}"


def report(path: Path) -> None:
    """Print the table and the verdicts, and write them beside the results."""
    results = read_results(path)
    judged = [Judged.of(name, results[name]) for name in SETS if name in results]
    lines = [*table(judged), ""]
    run_on = [row for row in judged if not math.isnan(row.tacit)]
    if run_on:
        lines += [f"Tacit was run on {len(run_on)} of {len(SETS)} sets.", "", *verdicts(run_on), ""]
    lines += [
        "Random starts of the same tree: mean, and best less worst, of three. HCLT: best validation epoch,",
        "mean and standard deviation of the runs in the authors' logs,",
        "github.com/UCLA-StarAI/Tractable-PC-Regularization.",
    ]
    text = "\n".join(lines) + "\n"
    path.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


def names(text: str, known: tuple[str, ...]) -> list[str]:
    """Names with commas between them."""
    chosen = [name for name in text.split(",") if name]
    strange = [name for name in chosen if name not in known]
    if strange:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(known)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", default="")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--again", choices=METHODS, default="")
    parser.add_argument("--out", type=Path, default=Path("out/density.jsonl"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    path = chosen.out.with_stem(f"{chosen.out.stem}-quick") if chosen.quick else chosen.out
    sets = names(chosen.sets, SETS) or (SETS[:1] if chosen.quick else SETS)
    run(path, sets, names(chosen.methods, METHODS), chosen.again, chosen.quick)
    report(path)


if __name__ == "__main__":
    main()
