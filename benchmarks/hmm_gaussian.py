"""Hidden Markov models of normal numbers against hmmlearn's GaussianHMM, best of five starts.

    python benchmarks/hmm_gaussian.py                      # all settings; can be stopped and resumed
    python benchmarks/hmm_gaussian.py --models 1 --peer no # without hmmlearn
    python benchmarks/hmm_gaussian.py --quick              # one small model

For each setting, models are drawn: means normal times `apart`, covariances of random factors, transitions a
fraction `stay` of staying and the rest Dirichlet(0.5). From each model several sets of sequences of 20
positions are drawn, each of 500 to learn from and 1,000 to score: which of two learners is better on a model
is a matter of the sequences they get, and one set says little of it. Learners that are equally good on a
model, and reach almost the same parameters, differ by more than two standard errors over the 1,000 on one set
in four.

hmmlearn (`implementation="scaling"`, its own defaults for the rest) runs from five seeds, at most 200
iterations each with tol 1e-2 nats in all, and the best by training likelihood is scored; its time is that of
all five. It is run on the first set of each model. On every set its starts are taken from it and its
iterations, with its formulas, are done by Tacit's expected counts: that ends where hmmlearn does, far
sooner, and the table says how far the two are apart on the sets where both run.

Times are CPU seconds of one thread, on the first set. Differences are ours less theirs in nats for each
position; those of a model are means over its sets with their standard error, and a model is won or lost by
two of these. The mean difference of several models comes with its standard error over models. Settings of the
learner were chosen on seeds below 20; the reported ones start at 20.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.hmm import HMM
from tacit.sequences.learn.em.gaussian_hmm import Expected, Rows, expected
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.gaussian_emissions import drawn_rows, number_evidence
from tacit.sequences.query.hidden_states import drawn_states, filtered

Array = NDArray[np.float64]

STARTS, MOST_STEPS, TOL = 5, 200, 1e-2
ADDED = 1e-2  # hmmlearn's `covars_prior`, on top of all numbers of a scatter matrix
LENGTH, N_TRAIN, N_TEST = 20, 500, 1000
NEAR = 0.5  # training nats within which two ends count as the same
TARGET = 20.0  # times our CPU that hmmlearn's should be at least
PARTS = ("start", "moves", "means", "covariances")


@dataclass(frozen=True)
class Setting:
    """A class of models."""

    n_states: int
    n_columns: int
    covariance: str  # of both programs and of the truth
    stay: float
    apart: float

    @property
    def name(self) -> str:
        """For the table."""
        return (
            f"k={self.n_states} d={self.n_columns} {self.covariance} stay={self.stay} "
            f"apart={self.apart}"
        )

    @property
    def shown(self) -> str:
        """The same in a table."""
        return f"{self.n_states}, {self.n_columns}, {self.covariance}, {self.stay}, {self.apart}"


SETTINGS = (
    Setting(6, 2, "full", 0.6, 1.5),
    Setting(6, 2, "full", 0.0, 1.5),
    Setting(4, 1, "diagonal", 0.8, 1.5),
    Setting(6, 5, "diagonal", 0.3, 0.7),
    Setting(5, 3, "full", 0.3, 1.0),
)


def drawn_model(setting: Setting, seed: int) -> GaussianChain:
    rng = np.random.default_rng(seed)
    k, d = setting.n_states, setting.n_columns
    transitions = (1 - setting.stay) * rng.dirichlet(np.full(k, 0.5), k) + setting.stay * np.eye(k)
    spread = 0.5 * rng.normal(size=(k, d, d))
    covariances = spread @ spread.transpose(0, 2, 1) + 0.3 * np.eye(d)
    diagonal = setting.covariance == "diagonal"
    return GaussianChain(
        rng.dirichlet(np.ones(k)),
        transitions,
        setting.apart * rng.normal(size=(k, d)),
        covariances * np.eye(d) if diagonal else covariances,
        diagonal,
    )


def drawn_numbers(chain: GaussianChain, n: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    states = drawn_states(chain, chain.initial, (n, LENGTH), rng)
    return drawn_rows(chain, states, rng)


def logs_of(chain: GaussianChain, values: Array) -> Array:
    """Nats for each position, by sequence."""
    ends = np.arange(len(values) + 1, dtype=np.int64) * LENGTH
    rows = values.reshape(-1, values.shape[2])
    return filtered(chain, number_evidence(chain, rows, ends)).log_probs() / LENGTH


def timed(work: Any) -> tuple[Any, float]:
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def ours(setting: Setting, train: Array) -> GaussianChain:
    model = HMM(setting.n_states, emissions="gaussian", covariance=setting.covariance, n_jobs=1)
    parameters = model.fit(list(train)).parameters_
    assert isinstance(parameters, GaussianChain)
    return parameters


def theirs(setting: Setting, train: Array) -> GaussianChain:
    """hmmlearn's best of several starts by training likelihood."""
    rows = rows_of(train)
    models = [fitted(setting, rows, seed, MOST_STEPS) for seed in range(STARTS)]
    best = max(models, key=lambda model: model.score(rows.values, np.diff(rows.ends)))
    return imported(best)


def fitted(setting: Setting, rows: Rows, seed: int, n_steps: int) -> Any:
    """hmmlearn's model after some iterations; of none, where it starts."""
    from hmmlearn.hmm import GaussianHMM

    return GaussianHMM(
        setting.n_states,
        "diag" if setting.covariance == "diagonal" else "full",
        n_iter=n_steps,
        tol=TOL,
        random_state=seed,
        implementation="scaling",
    ).fit(rows.values, np.diff(rows.ends))


def imported(model: Any) -> GaussianChain:
    parameters = HMM.from_hmmlearn(model).parameters_
    assert isinstance(parameters, GaussianChain)
    return parameters


def rows_of(values: Array) -> Rows:
    ends = np.arange(len(values) + 1, dtype=np.int64) * LENGTH
    return Rows(np.ascontiguousarray(values.reshape(-1, values.shape[2])), ends)


def replayed(setting: Setting, train: Array) -> GaussianChain:
    """Where hmmlearn ends: its starts and its iterations, by our expected counts."""
    rows = rows_of(train)
    ends = [run_em(imported(fitted(setting, rows, seed, 0)), rows) for seed in range(STARTS)]
    return max(ends, key=lambda end: end[1])[0]


def run_em(chain: GaussianChain, rows: Rows) -> tuple[GaussianChain, float]:
    """hmmlearn's iterations from this chain; its end, and how likely the rows are there."""
    last = -np.inf
    for _ in range(MOST_STEPS):
        statistics = expected(chain, rows)
        chain = hmmlearns_step(statistics, diagonal=chain.diagonal)
        if statistics.log_likelihood - last < TOL:
            break
        last = statistics.log_likelihood
    return chain, expected(chain, rows).log_likelihood


def hmmlearns_step(statistics: Expected, *, diagonal: bool) -> GaussianChain:
    """hmmlearn's M-step, with its defaults."""
    visits, firsts, seconds = (
        statistics.visits[:, None],
        statistics.sums.firsts,
        statistics.sums.seconds,
    )
    means = firsts / visits
    if diagonal:
        spreads = (ADDED + seconds - means * firsts) / visits
        covariances = spreads[:, :, None] * np.eye(means.shape[1])
    else:
        spreads = ADDED + seconds - means[:, :, None] * firsts[:, None, :]
        covariances = spreads / visits[:, :, None]
    transitions = statistics.transitions / statistics.transitions.sum(axis=1, keepdims=True)
    initial = statistics.starts / statistics.starts.sum()
    return GaussianChain(initial, transitions, means, covariances, diagonal)


METHODS = {"tacit": ours, "hmmlearn": theirs, "replayed": replayed}


@dataclass(frozen=True)
class Draw:
    """A true model, rows to learn from and rows to judge on."""

    truth: GaussianChain
    train: Array  # (sequence, position, column)
    test: Array


def draw(setting: Setting, seed: int, place: int = 0, n_train: int = N_TRAIN) -> Draw:
    """One of a model's sets of sequences."""
    truth, first = drawn_model(setting, seed), seed + 10_000 * place
    train, test = ((n_train, first + 1000), (N_TEST, first + 2000))
    return Draw(truth, drawn_numbers(truth, *train), drawn_numbers(truth, *test))


@dataclass(frozen=True)
class Plan:
    """What is run: models of some settings, so many sets of sequences of each."""

    settings: Sequence[Setting]
    seeds: range
    n_draws: int
    methods: Sequence[str]

    def methods_of(self, place: int) -> list[str]:
        """Those that learn from a model's set of sequences."""
        return [method for method in self.methods if method != "hmmlearn" or place == 0]


def run(path: Path, plan: Plan) -> None:
    """Run what is not in the file yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = ends_of(path)
    for setting, seed, place in product(plan.settings, plan.seeds, range(plan.n_draws)):
        for method in plan.methods_of(place):
            if (setting.name, seed, place, method) in done:
                continue
            made = draw(setting, seed, place)
            chain, seconds = timed(partial(METHODS[method], setting, made.train))
            row = {"setting": setting.name, "seed": seed, "draw": place, "method": method}
            row |= {"seconds": seconds} | {name: getattr(chain, name).tolist() for name in PARTS}
            with path.open("a", encoding="utf8") as out:
                out.write(json.dumps(row) + "\n")
            print(f"{setting.name} seed {seed} set {place}: {method} {seconds:.2f} s", flush=True)


Key = tuple[str, int, int, str]  # setting, seed, set of sequences, method


def ends_of(path: Path) -> dict[Key, dict[str, Any]]:
    """What is in the file."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line]
    return {(row["setting"], row["seed"], row["draw"], row["method"]): row for row in lines}


def chain_of(row: dict[str, Any], setting: Setting) -> GaussianChain:
    parts = [np.array(row[name]) for name in PARTS]
    return GaussianChain(*parts, setting.covariance == "diagonal")


def mark(mean: float, error: float) -> str:
    """How it went, by two standard errors."""
    return "tied" if abs(mean) <= 2 * error else "won" if mean > 0 else "lost"


def mean_and_error(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True)
class Judged:
    """A model on all its sets of sequences."""

    below: dict[str, Array]  # by method, (set,) nats for each position below the truth
    marks: list[str]  # of sets, by standard errors over the sequences that are scored
    seconds: dict[str, float]  # by method, on the first set
    likelier: list[float]  # of sets, by how many nats the training sequences are likelier with ours
    apart: float  # training nats between hmmlearn's end and what stands for it, where both ran

    @property
    def difference(self) -> tuple[float, float]:
        """Ours less theirs and its standard error over sets."""
        return mean_and_error(self.below["replayed"] - self.below["tacit"])

    @property
    def mark(self) -> str:
        """How the model went."""
        return mark(*self.difference)

    @property
    def ratio(self) -> float:
        """How many times our CPU hmmlearn takes; zero where it was not run."""
        return self.seconds.get("hmmlearn", 0.0) / self.seconds["tacit"]


def judged(ends: dict[Key, dict[str, Any]], plan: Plan, setting: Setting, seed: int) -> Judged:
    below: dict[str, list[float]] = {method: [] for method in plan.methods if method != "hmmlearn"}
    marks: list[str] = []
    likelier: list[float] = []
    seconds, apart = {}, 0.0
    for place in range(plan.n_draws):
        made = draw(setting, seed, place)
        methods = plan.methods_of(place)
        rows = {method: ends[setting.name, seed, place, method] for method in methods}
        chains = {method: chain_of(row, setting) for method, row in rows.items()}
        truth = logs_of(made.truth, made.test)
        logs = {method: logs_of(chains[method], made.test) for method in below}
        for method, nats in logs.items():
            below[method].append(float((truth - nats).mean()))
        if "replayed" in logs:
            marks.append(mark(*mean_and_error(logs["tacit"] - logs["replayed"])))
            likelier.append(nats_between(chains["tacit"], chains["replayed"], made.train))
        if place == 0:
            seconds = {method: row["seconds"] for method, row in rows.items()}
        if "hmmlearn" in chains:
            apart = abs(nats_between(chains["hmmlearn"], chains["replayed"], made.train))
    below_truth = {one_method: np.array(nats) for one_method, nats in below.items()}
    return Judged(below_truth, marks, seconds, likelier, apart)


def nats_between(one: GaussianChain, other: GaussianChain, values: Array) -> float:
    """How much likelier all sequences are with one than with the other."""
    return LENGTH * float((logs_of(one, values) - logs_of(other, values)).sum())


def table_of(ends: dict[Key, dict[str, Any]], plan: Plan) -> str:
    """Held-out nats per position below the truth, CPU, and verdicts by model and by setting."""
    lines = [
        "| states, columns, covariance, stay, apart | seed | tacit | hmmlearn | difference | CPU | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    by_setting: dict[str, list[Judged]] = {}
    for setting, seed in product(plan.settings, plan.seeds):
        one = judged(ends, plan, setting, seed)
        by_setting.setdefault(setting.name, []).append(one)
        shown = [f"{one.below[method].mean():.5f}" for method in one.below]
        gap = "{:+.5f} ({:.5f})".format(*one.difference) if one.marks else ""
        both = [one.seconds[method] for method in ("tacit", "hmmlearn") if method in one.seconds]
        times = [f"{method:.2f}" for method in both]
        cells = [setting.shown, str(seed), *shown, *[""] * (2 - len(shown)), gap, ", ".join(times)]
        cells.append(f"{one.ratio:.0f}" if one.ratio else "")
        lines.append(f"| {' | '.join(cells)} |")
    summaries = [summary_of(name, models) for name, models in by_setting.items() if models[0].marks]
    if summaries:
        every = [one for models in by_setting.values() for one in models]
        summaries += ["", summary_of("all", every), *chances(every, plan.n_draws)]
    return "\n".join([*lines, "", *summaries]) + "\n"


def counts_of(marks: Sequence[str]) -> str:
    return ", ".join(f"{marks.count(mark)} {mark}" for mark in ("won", "tied", "lost"))


def summary_of(name: str, models: Sequence[Judged]) -> str:
    """A line about some models: how many were won, the mean difference, and CPU."""
    means = np.array([one.difference[0] for one in models])
    error = f" ({mean_and_error(means)[1]:.5f})" if len(means) > 1 else ""
    text = f"{name}: {counts_of([one.mark for one in models])}; "
    text += f"mean difference {means.mean():+.5f}{error}, median {np.median(means):+.5f}"
    ratios = [one.ratio for one in models]
    if not min(ratios):
        return text
    overall = sum(one.seconds["hmmlearn"] for one in models) / sum(
        one.seconds["tacit"] for one in models
    )
    met = "met" if min(ratios) >= TARGET else "met in all" if overall >= TARGET else "NOT met"
    return (
        f"{text}; hmmlearn takes {min(ratios):.0f} to {max(ratios):.0f} times the CPU, "
        f"{overall:.0f} in all (target {TARGET:.0f}: {met})"
    )


def chances(models: Sequence[Judged], n_draws: int) -> list[str]:
    """What of all this would come about by chance, and how far hmmlearn is from what stands for it."""
    from scipy.stats import t

    by_chance = len(models) * t.cdf(-2, n_draws - 1)
    marks = [mark for one in models for mark in one.marks]
    summaries = [
        f"Of as many models on which both are equally good {by_chance:.1f} are lost by chance.",
        f"By single sets, with standard errors over their sequences: {counts_of(marks)}.",
    ]
    pairs = [pair for one in models for pair in zip(one.marks, one.likelier, strict=True)]
    if lost := [nats for mark, nats in pairs if mark == "lost"]:
        near = sum(abs(nats) < NEAR for nats in lost)
        summaries.append(
            f"Lost sets that end within {NEAR} training nats of hmmlearn: {near}; "
            f"all of them from {min(lost):+.2f} to {max(lost):+.2f}."
        )
    if any(one.ratio for one in models):
        apart = max(one.apart for one in models)
        times = [one.seconds["hmmlearn"] / one.seconds["replayed"] for one in models]
        summaries.append(
            f"hmmlearn and what stands for it: at most {apart:.1g} training nats apart, "
            f"{min(times):.0f} to {max(times):.0f} times the CPU."
        )
    return summaries


def warm_up() -> None:
    """Compile the loops before times are taken, those of few sequences and those of many."""
    small = drawn_numbers(drawn_model(SETTINGS[0], 99), 100, 0)
    for setting in (SETTINGS[0], SETTINGS[2], SETTINGS[3]):
        for rows in (small[:20], small):
            ours(setting, rows[:, :, np.arange(setting.n_columns) % 2])


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one model of one setting")
    parser.add_argument("--models", type=int, default=5, help="models of each setting")
    parser.add_argument("--only", type=int, nargs="*", help="settings, from 0")
    parser.add_argument(
        "--first", type=int, default=20, help="the first seed; below 20 were tuned on"
    )
    parser.add_argument("--draws", type=int, default=10, help="sets of sequences of each model")
    parser.add_argument(
        "--peer",
        choices=("yes", "replayed", "no"),
        default="yes",
        help="whether hmmlearn runs too, or only what stands for it",
    )
    parser.add_argument("--out", type=Path, default=Path("out/hmm_gaussian.jsonl"))
    chosen = parser.parse_args()
    if chosen.draws < 2:
        parser.error("--draws must be at least 2: differences need a standard error over sets")
    if find_spec("hmmlearn") is None and chosen.peer != "no":
        print("hmmlearn is not installed (make peers); without it", file=sys.stderr)
        chosen.peer = "no"
    beside = {"yes": ("hmmlearn", "replayed"), "replayed": ("replayed",), "no": ()}[chosen.peer]
    warnings.simplefilter("ignore")
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    settings = [SETTINGS[place] for place in chosen.only or range(len(SETTINGS))]
    seeds, path = range(chosen.first, chosen.first + chosen.models), chosen.out
    if chosen.quick:
        settings, seeds, path = [SETTINGS[2]], seeds[:1], path.with_stem("hmm_gaussian-quick")
    plan = Plan(settings, seeds, 2 if chosen.quick else chosen.draws, ("tacit", *beside))
    warm_up()
    run(path, plan)
    text = table_of(ends_of(path), plan)
    path.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


if __name__ == "__main__":
    main()
