"""The number of hidden states that `HMM()` selects: what it costs, and what held-out sequences say of it.

    python benchmarks/hmm_states.py                  # all cases; can be stopped and resumed
    python benchmarks/hmm_states.py --only splice    # those whose names start so
    python benchmarks/hmm_states.py --quick          # three small cases

Cases are DNA around splice junctions, tags of words, daily returns and counts of stocks (`tacit.datasets`,
which needs the folder of data), and sequences drawn from ten models with known numbers of states. Each has
sequences to learn from and others to judge on. *Selected* is ``HMM()``. *All numbers* is the selection of
version 0.1: one number after the other of a fixed list gets the complete search for a start and EM with ten
times the tolerance, until two in a row do not improve the held-out score; the smallest that is not worse than
the best by more than one standard error is kept. *Given* is a fit with the number that was selected.

Times are CPU seconds of one thread. The ratio is the time of the whole ``HMM()`` by that of the given number.
The last difference is that of *selected* less *all numbers*, in nats for each position, with its standard
error over the sequences that are judged.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.core.selection import surely_better
from tacit.errors import MissingDataError

Array = NDArray[np.float64]

ALL_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
PATIENCE, ROUGH, HELD_OUT, LEAST_POSITIONS = 2, 10.0, 5, 25
TOL = 5e-7
N_DRAWN, LENGTH = 600, 30  # sequences drawn from each model, a third of them to judge on


@dataclass(frozen=True)
class Case:
    """Sequences to learn from and to judge on."""

    train: Sequence[Any]
    test: Sequence[Any]
    arguments: dict[str, Any]
    n_states: int | None = None  # of the truth


def splice(classes: Sequence[str], n_train: int) -> Case:
    """Sixty letters around splice junctions."""
    columns = tacit.datasets.load_splice()
    rows = zip(*(columns[f"p{place}"] for place in range(60)), strict=True)
    chosen = [
        list(row) for row, kind in zip(rows, columns["class"], strict=True) if kind in classes
    ]
    order = np.random.default_rng(0).permutation(len(chosen))
    train, test = order[:n_train], order[n_train : n_train + 767]
    return Case([chosen[place] for place in train], [chosen[place] for place in test], {})


def tags(n_train: int) -> Case:
    """Parts of speech of English sentences."""
    sentences = tacit.datasets.load_postags("upos", "train")
    return Case(sentences[:n_train], tacit.datasets.load_postags("upos", "test"), {})


def returns(n_columns: int) -> Case:
    """Daily returns in percent: of ten stocks one by one, or of several side by side; in years."""
    closes = tacit.datasets.load_sp500()
    names = [name for name in closes if name != "date"][: max(n_columns, 10)]
    percent = np.column_stack([100 * np.diff(np.log(closes[name])) for name in names])
    years = [percent[first : first + 250] for first in range(0, len(percent) - 249, 250)]
    parts = [year[:, :n_columns] for year in years]
    if n_columns == 1:
        parts = [year[:, place] for year in years for place in range(10)]
    return halves(parts, {"emissions": "gaussian"})


def rises() -> Case:
    """How many stocks rose and fell by two percent on a day; in quarters of a year."""
    closes = tacit.datasets.load_sp500()
    prices = np.column_stack([closes[name] for name in closes if name != "date"])[:, :50]
    percent = 100 * np.diff(np.log(prices), axis=0)
    counts = np.column_stack([(percent > 2).sum(axis=1), (percent < -2).sum(axis=1)]).astype(float)
    parts = [counts[first : first + 60] for first in range(0, len(counts) - 59, 60)]
    return halves(parts, {"emissions": "poisson"})


def halves(parts: list[Any], arguments: dict[str, Any]) -> Case:
    """Two thirds to learn from, chosen at random; the others to judge on."""
    order = np.random.default_rng(0).permutation(len(parts))
    cut = len(parts) * 2 // 3
    chosen = [parts[place] for place in order]
    return Case(chosen[:cut], chosen[cut:], arguments)


def drawn(emissions: str, n_states: int, seed: int) -> Case:
    """Sequences of a model whose number of states is known."""
    rng = np.random.default_rng(seed)
    stay = 0.5
    transitions = (1 - stay) * rng.dirichlet(np.full(n_states, 0.5), n_states)
    transitions += stay * np.eye(n_states)
    initial, states = rng.dirichlet(np.ones(n_states)), np.empty((N_DRAWN, LENGTH), dtype=int)
    for t in range(LENGTH):
        rows = transitions[states[:, t - 1]] if t else np.tile(initial, (N_DRAWN, 1))
        uniform = rng.random((N_DRAWN, 1))
        states[:, t] = (uniform > np.cumsum(rows, axis=1)[:, :-1]).sum(axis=1)
    if emissions == "categorical":
        tables = np.cumsum(rng.dirichlet(np.full(10, 0.3), n_states), axis=1)[:, :-1]
        values = (rng.random((*states.shape, 1)) > tables[states]).sum(axis=2)
    elif emissions == "gaussian":
        means = 2.0 * rng.normal(size=(n_states, 2))
        values = means[states] + rng.normal(size=(*states.shape, 2))
    else:
        rates = np.exp(rng.normal(1.5, 0.8, size=(n_states, 2)))
        values = rng.poisson(rates[states]).astype(float)
    cut = N_DRAWN * 2 // 3
    return Case(list(values[:cut]), list(values[cut:]), {"emissions": emissions}, n_states)


DRAWN = (
    *(("categorical", n_states, 40 + n_states) for n_states in (2, 4, 6, 8)),
    *(("gaussian", n_states, 40 + n_states) for n_states in (3, 5, 6)),
    *(("poisson", n_states, 40 + n_states) for n_states in (2, 4, 5)),
)
CASES: dict[str, Callable[[], Case]] = {
    "splice EI, all 767": lambda: splice(("EI",), 767),
    "splice EI": lambda: splice(("EI",), 600),
    "splice": lambda: splice(("EI", "IE", "N"), 767),
    "tags": lambda: tags(2000),
    "returns": lambda: returns(1),
    "returns side by side": lambda: returns(3),
    "counts": rises,
    **{
        f"drawn {kind} {n_states}": lambda kind=kind, n_states=n_states, seed=seed: drawn(  # type: ignore[misc]
            kind, n_states, seed
        )
        for kind, n_states, seed in DRAWN
    },
}
QUICK = ("drawn categorical 4", "drawn gaussian 3", "drawn poisson 2")


def all_numbers(case: Case) -> int:
    """The selection of version 0.1."""
    order = np.random.default_rng(0).permutation(len(case.train))
    held_out = set(order[HELD_OUT - 1 :: HELD_OUT].tolist())
    training = [x for place, x in enumerate(case.train) if place not in held_out]
    judged = [x for place, x in enumerate(case.train) if place in held_out]
    most = sum(map(len, training)) // LEAST_POSITIONS
    scores: dict[int, Array] = {}
    waited = 0
    for n_states in ALL_NUMBERS:
        if n_states > most or waited >= PATIENCE:
            break
        model = tacit.HMM(n_states, tol=ROUGH * TOL, n_jobs=1, **case.arguments)
        logs = np.maximum(model.fit(training).score_samples(judged), -1e9)
        before = max((rows.mean() for rows in scores.values()), default=-np.inf)
        waited = 0 if logs.mean() > before else waited + 1
        scores[n_states] = logs
    best = max(scores, key=lambda n_states: float(scores[n_states].mean()))
    return next(k for k in sorted(scores) if not surely_better(scores[best], scores[k], None))


def measured(case: Case) -> dict[str, Any]:
    """Times, numbers of states and scores of a case."""
    clock = time.process_time
    began = clock()
    selected = tacit.HMM(n_jobs=1, **case.arguments).fit(case.train)
    row: dict[str, Any] = {"truth": case.n_states, "selected_seconds": clock() - began}
    began = clock()
    tacit.HMM(selected.n_states_, n_jobs=1, **case.arguments).fit(case.train)
    row |= {"given_seconds": clock() - began, "selected": selected.n_states_}
    row["candidates"] = selected.diagnostics_["candidates"]
    row["skipped"] = selected.diagnostics_.get("skipped", [])
    row["selected_scores"] = per_position(selected, case.test)
    return row


def beside(case: Case) -> dict[str, Any]:
    """The same of the selection of version 0.1."""
    began = time.process_time()
    n_states = all_numbers(case)
    model = tacit.HMM(n_states, n_jobs=1, **case.arguments).fit(case.train)
    seconds = time.process_time() - began
    return {"all": n_states, "all_seconds": seconds, "all_scores": per_position(model, case.test)}


def per_position(model: tacit.HMM, test: Sequence[Any]) -> list[float]:
    """(sequence,) nats, by the mean length."""
    logs = model.score_samples(test) if len(test) else np.zeros(0)
    length = np.mean([len(x) for x in test]) if len(test) else 1.0
    return [float(nats) for nats in logs / length]


def table_of(rows: dict[str, dict[str, Any]]) -> str:
    """A line for each case."""
    lines = [
        (
            "| case | true | selected | all numbers | CPU s | given: CPU s | ratio | all numbers: CPU s | "
            "difference (standard error) |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        cells = [name, row["truth"] or "", row["selected"], row.get("all", "")]
        cells += [f"{row['selected_seconds']:.2f}", f"{row['given_seconds']:.2f}"]
        cells.append(f"{row['selected_seconds'] / row['given_seconds']:.1f}")
        cells.append(f"{row['all_seconds']:.2f}" if "all" in row else "")
        if row.get("all_scores"):
            gain = np.array(row["selected_scores"]) - np.array(row["all_scores"])
            cells.append(f"{gain.mean():+.4f} ({gain.std() / np.sqrt(len(gain)):.4f})")
        else:
            cells.append("")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="three small cases")
    parser.add_argument("--only", help="cases whose names start so")
    parser.add_argument("--alone", action="store_true", help="without the selection of version 0.1")
    parser.add_argument("--out", type=Path, default=Path("out/hmm_states.json"))
    chosen = parser.parse_args()
    names = [name for name in CASES if name.startswith(chosen.only or "")]
    path = chosen.out
    if chosen.quick:
        names, path = list(QUICK), path.with_stem("hmm_states-quick")
    rows: dict[str, dict[str, Any]] = json.loads(path.read_text("utf8")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    for kind in (
        "categorical",
        "gaussian",
        "poisson",
    ):  # loops are compiled before the clock starts
        case = drawn(kind, 2, 0)
        tacit.HMM(3, **case.arguments, max_iter=20).fit(case.train[:50])
    for name in names:
        row = rows.setdefault(name, {})
        try:
            if "selected" not in row:
                row |= measured(CASES[name]())
            if "all" not in row and not chosen.alone:
                row |= beside(CASES[name]())
        except MissingDataError as error:
            print(f"{name}: {error}")
            del rows[name]
            continue
        path.write_text(json.dumps(rows), encoding="utf8")
        print(table_of({name: row}).splitlines()[-1], flush=True)
    text = table_of({name: rows[name] for name in names if name in rows})
    path.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


if __name__ == "__main__":
    main()
