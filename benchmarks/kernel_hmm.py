"""One-step density prediction of series: KernelHMM, a Gaussian AR(1) and Gaussian HMMs of hmmlearn.

    python benchmarks/kernel_hmm.py                     all series (minutes)
    python benchmarks/kernel_hmm.py --series index,JPM  some of them
    python benchmarks/kernel_hmm.py --fresh             others, that no setting was chosen on
    python benchmarks/kernel_hmm.py --quick             two series, fewer states for the peer

Two kinds of series. *bimodal-0*, ...: a hidden chain of two states that stays with 0.95, one emits two modes
at -2 and 2 (standard deviation 0.4), the other a Laplace density with the same mean and the same variance;
4,000 positions to learn from, 10,000 to predict; the truth is printed. *index* and single tickers: daily log
returns of the S&P 500 data (`load_sp500`), index is the mean over all stocks; the first 70 % of the days are
learnt from, the rest is predicted day by day, each given all days before. What ``KernelHMM()`` does by
itself was chosen while looking at these series, so there are as many others (``--fresh``) that were not
looked at.

Everybody learns from the same days. ``KernelHMM()`` has nothing set. The AR(1) is a least-squares fit with
normal errors. The Gaussian HMM is the best of five starts by training likelihood, of 200 steps each, for each
number of states; the number is chosen on the last fifth of the training days, then the model is learnt from
all of them (the series is divided by its standard deviation first, since hmmlearn's priors are for such).
All numbers of states are printed, and so is the best of them by the test days, which nobody could know.
Figures are mean nats per position; differences have the standard error of the paired mean, positions taken
for independent. The report is ``out/kernel_hmm.md``. The peer comes with ``make peers``.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit

Array = NDArray[np.float64]

STARTS = 5
STATES = (2, 3, 4, 5, 6, 7, 8)
TICKERS = ("AAPL", "CAT", "GE", "JNJ", "JPM", "KO", "MSFT", "XOM")
BIMODAL = ("bimodal-0", "bimodal-1", "bimodal-2", "bimodal-3", "bimodal-4")
SERIES = (*BIMODAL, "index", *TICKERS)
FRESH_TICKERS = ("BA", "CVX", "DIS", "HD", "IBM", "INTC", "MCD", "PFE", "PG")
FRESH_BIMODAL = ("bimodal-100", "bimodal-101", "bimodal-102", "bimodal-103", "bimodal-104")
FRESH = (*FRESH_BIMODAL, *FRESH_TICKERS)
STAYS, PLACE, WIDTH = 0.95, 2.0, 0.4


@dataclass(frozen=True, eq=False)
class Task:
    """A series, and how many of its positions may be learnt from."""

    name: str
    values: Array
    n_train: int
    truth: Array | None = None  # (position,) log-densities given the past by what made the series


# -- series -------------------------------------------------------------------------------------------


def bimodal(name: str, n_train: int = 4000, n_test: int = 10_000) -> Task:
    """Two modes, or a Laplace density of the same mean and variance."""
    rng = np.random.default_rng(int(name.split("-")[1]))
    n = n_train + n_test
    flips = rng.random(n) > STAYS
    states = (rng.integers(2) + np.cumsum(flips)) % 2
    scale = math.sqrt((PLACE**2 + WIDTH**2) / 2)
    two_modes = rng.choice([-PLACE, PLACE], n) + rng.normal(0, WIDTH, n)
    values = np.where(states == 0, two_modes, rng.laplace(0, scale, n))
    densities = np.stack(
        [
            0.5 * (normal(values, -PLACE, WIDTH) + normal(values, PLACE, WIDTH)),
            np.exp(-np.abs(values) / scale) / (2 * scale),
        ],
        axis=1,
    )
    transitions = np.array([[STAYS, 1 - STAYS], [1 - STAYS, STAYS]])
    truth = chain_logs(np.full(2, 0.5), transitions, densities)
    return Task(name, values, n_train, truth)


def returns(name: str) -> Task:
    """Daily log returns of a stock, or their mean over all stocks."""
    closes = tacit.datasets.load_sp500()
    del closes["date"]
    chosen = closes if name == "index" else {name: closes[name]}
    values = np.mean([np.diff(np.log(prices)) for prices in chosen.values()], axis=0)
    return Task(name, values, int(0.7 * len(values)))


def load(name: str) -> Task:
    return bimodal(name) if name.startswith("bimodal") else returns(name)


# -- peers --------------------------------------------------------------------------------------------


def normal(x: Array, mean: float, deviation: float) -> Array:
    z = (x - mean) / deviation
    return np.exp(-0.5 * z * z) / (math.sqrt(2 * math.pi) * deviation)


def chain_logs(start: Array, transitions: Array, densities: Array) -> Array:
    """Log-density of each position given those before it."""
    logs, before = np.empty(len(densities)), start
    for t, row in enumerate(densities):
        joint = before * row
        total = joint.sum()
        logs[t] = math.log(max(total, 1e-300))
        before = joint / max(total, 1e-300) @ transitions
    return logs


def autoregression(task: Task) -> Array:
    """Log-densities of a Gaussian AR(1)."""
    x, n = task.values, task.n_train
    design = np.column_stack([np.ones(len(x) - 1), x[:-1]])
    weights = np.linalg.lstsq(design[: n - 1], x[1:n], rcond=None)[0]
    deviation = float(np.std(x[1:n] - design[: n - 1] @ weights))
    errors = x[1:] - design @ weights
    logs = np.log(normal(errors, 0.0, deviation))
    return np.concatenate([[0.0], logs])


def gaussian_hmm(train: Array, n_states: int) -> Any:
    """The best of several starts by training likelihood."""
    from hmmlearn.hmm import GaussianHMM

    models = [
        GaussianHMM(
            n_states, n_iter=200, tol=1e-3, random_state=seed, implementation="scaling"
        ).fit(train[:, None])
        for seed in range(STARTS)
    ]
    return max(models, key=lambda model: model.score(train[:, None]))


def hmm_logs(model: Any, values: Array) -> Array:
    """Log-densities of a Gaussian HMM, checked against hmmlearn's own sum."""
    means, deviations = model.means_[:, 0], np.sqrt(model.covars_.reshape(-1))
    pairs = zip(means, deviations, strict=True)
    densities = np.stack([normal(values, mean, deviation) for mean, deviation in pairs], axis=1)
    logs = chain_logs(model.startprob_, model.transmat_, densities)
    assert math.isclose(logs.sum(), model.score(values[:, None]), rel_tol=1e-6, abs_tol=1e-3)
    return logs


@dataclass(frozen=True, eq=False)
class Peer:
    """Gaussian HMMs of all numbers of states."""

    validation: dict[int, float]
    tests: dict[int, Array]
    seconds: float

    @property
    def chosen(self) -> int:
        return max(self.validation, key=lambda k: self.validation[k])

    @property
    def luckiest(self) -> int:
        return max(self.tests, key=lambda k: self.tests[k].mean())


def gaussian_hmms(task: Task, states: tuple[int, ...]) -> Peer:
    """Numbers of states tried on the last fifth of the training days, then learnt from all of them."""
    begun = time.process_time()
    n, n_fit = task.n_train, int(0.8 * task.n_train)
    scale = float(task.values[:n].std())
    z = task.values / scale
    validation, tests = {}, {}
    for k in states:
        candidate = gaussian_hmm(z[:n_fit], k)
        validation[k] = float(hmm_logs(candidate, z[:n])[n_fit:].mean() - math.log(scale))
        tests[k] = hmm_logs(gaussian_hmm(z[:n], k), z)[n:] - math.log(scale)
    return Peer(validation, tests, time.process_time() - begun)


# -- judging ------------------------------------------------------------------------------------------


def verdict(passed: bool, text: str) -> str:
    return f"- {'yes' if passed else 'NO '}  {text}"


def apart(ours: Array, theirs: Array) -> tuple[float, str]:
    """Mean difference, and as text with its standard error."""
    gaps = ours - theirs
    return float(gaps.mean()), f"{gaps.mean():+.4f} ± {gaps.std() / math.sqrt(len(gaps)):.4f}"


@dataclass(frozen=True, eq=False)
class Result:
    """Log-densities of the test positions by all models of one series."""

    task: Task
    ours: Array
    spectral: Array
    theirs: Array  # of the AR(1)
    peer: Peer
    lines: list[str]  # about the models and how long they took


def measured(task: Task, states: tuple[int, ...]) -> Result:
    """All models learnt, and scored on every test position."""
    n = task.n_train
    rows, logs = [], []
    for learner in ("auto", "spectral"):
        begun = time.process_time()
        model = tacit.KernelHMM(learn=learner).fit(task.values[:n])
        seconds = time.process_time() - begun
        logs.append(model.log_predictive(task.values)[n:])
        diagnostics = model.diagnostics_
        description = (
            f"rank {diagnostics['rank']}" if learner == "spectral" else described(diagnostics)
        )
        gap = "" if learner == "auto" else apart(logs[0], logs[1])[1]
        arguments = "" if learner == "auto" else 'learn="spectral"'
        rows.append(
            f"| KernelHMM({arguments}) ({description}) | {logs[-1].mean():.4f} | {gap} | {seconds:.1f} |"
        )
    theirs = autoregression(task)[n:]
    peer = gaussian_hmms(task, states)
    return Result(task, *logs, theirs, peer, rows)


def described(diagnostics: dict[str, Any]) -> str:
    states, n_basis = ("+".join(map(str, diagnostics[key])) for key in ("n_states", "n_basis"))
    return f"{states} states, {n_basis} densities"


def report(result: Result) -> Iterator[str]:
    """All about one series."""
    task, peer, ours, n = result.task, result.peer, result.ours, result.task.n_train
    yield f"## {task.name}: {n} positions to learn from, {len(task.values) - n} to predict"
    yield ""
    yield "| model | nats per position | KernelHMM less this | CPU s |"
    yield "|---|--:|--:|--:|"
    yield from result.lines
    if task.truth is not None:
        yield f"| the truth | {task.truth[n:].mean():.4f} | {apart(ours, task.truth[n:])[1]} | |"
    yield f"| Gaussian AR(1) | {result.theirs.mean():.4f} | {apart(ours, result.theirs)[1]} | |"
    for k, logs in peer.tests.items():
        mark = " **chosen**" if k == peer.chosen else ""
        name = f"Gaussian HMM, {k} states{mark} (validation {peer.validation[k]:.4f})"
        yield f"| {name} | {logs.mean():.4f} | {apart(ours, logs)[1]} | |"
    if peer.tests:
        yield f"| all Gaussian HMMs | | | {peer.seconds:.1f} |"
    yield ""
    yield from judged(task.name, [result])


def judged(name: str, results: list[Result]) -> Iterator[str]:
    """The targets, for one series or for the mean over several of the same days."""
    ours = np.mean([result.ours for result in results], axis=0)
    rivals = {"the Gaussian AR(1)": [result.theirs for result in results]}
    has_peers = all(result.peer.tests for result in results)
    if has_peers:
        logs = [result.peer.tests[result.peer.chosen] for result in results]
        rivals[f"the best-of-{STARTS} Gaussian HMM"] = logs
    for rival, logs in rivals.items():
        mean, text = apart(ours, np.mean(logs, axis=0))
        yield verdict(mean > 0, f"{name}: above {rival} ({text})")
    if not has_peers:
        return
    lucky = np.mean([result.peer.tests[result.peer.luckiest] for result in results], axis=0)
    mean, text = apart(ours, lucky)
    side = "above" if mean > 0 else "below"
    yield f"- {side} the Gaussian HMM with the number of states that is best on the test part ({text})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--series")
    parser.add_argument("--out", type=Path, default=Path("out/kernel_hmm.md"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    states = STATES[:3] if chosen.quick else STATES
    try:
        import hmmlearn  # noqa: F401
    except ImportError as error:
        print(f"Gaussian HMMs left out: {error} (`make peers` installs hmmlearn)\n")
        states = ()
    names, kind = FRESH if chosen.fresh else SERIES, "-fresh" if chosen.fresh else ""
    if chosen.quick:
        names, kind = ("bimodal-0", "index"), "-quick"
    if chosen.series:
        names = tuple(chosen.series.split(","))
    if strange := [name for name in names if name not in SERIES + FRESH]:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(SERIES + FRESH)}")
    out = chosen.out.with_stem(f"{chosen.out.stem}{kind}")
    out.parent.mkdir(parents=True, exist_ok=True)
    text, results = "", []
    for name in names:
        results.append(measured(load(name), states))
        text += said(report(results[-1]))
        out.write_text(text, encoding="utf8")
    for label, simulated in (("bimodal series", True), ("daily returns", False)):
        group = [result for result in results if (result.task.truth is not None) == simulated]
        if len(group) > 1:
            text += said([f"## all {len(group)} {label}", "", *judged(label, group)])
            out.write_text(text, encoding="utf8")


def said(lines: Iterable[str]) -> str:
    """Lines, printed as they come."""
    printed = []
    for line in lines:
        print(line, flush=True)
        printed.append(line)
    print()
    return "\n".join(printed) + "\n\n"


if __name__ == "__main__":
    main()
