"""Hidden Markov models of every kind of emissions: one default fit against five starts of plain EM.

    python benchmarks/hmm_emissions.py                       # all kinds; can be stopped and resumed
    python benchmarks/hmm_emissions.py --models 1 --draws 4  # fewer models and sets
    python benchmarks/hmm_emissions.py --only poisson --peer no

For each kind models are drawn, with transitions a fraction `stay` of staying and the rest Dirichlet(0.5), and
from each several sets of sequences of 20 positions: 300 to learn from and 1,000 to score. Plain EM runs from
five starts of random rows, at most 200 iterations each that end below 1e-2 nats in all, and the best by
training likelihood is scored; its M-steps have a prior a hundredth as strong as Tacit's. On the first set of
each model hmmlearn itself runs as well where it has such a model (`implementation="scaling"`, best of five
seeds), and its time is then the one that is compared.

Times are CPU seconds of one thread. Differences are ours less theirs in nats for each position; those of a
model are means over its sets with their standard error, and a model is won or lost by two of these.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain
from tacit.core.em import run_em as run_plain_em
from tacit.sequences.emissions.categorical_density import CategoricalDensity
from tacit.sequences.emissions.gaussian_density import GaussianDensity
from tacit.sequences.emissions.gaussian_mixture import GaussianMixtureDensity
from tacit.sequences.emissions.mixed_density import MixedDensity
from tacit.sequences.emissions.multinomial import MultinomialDensity
from tacit.sequences.emissions.negative_binomial import NegativeBinomialDensity
from tacit.sequences.emissions.poisson import PoissonDensity
from tacit.sequences.emissions.von_mises import VonMisesDensity
from tacit.sequences.hmm import HMM
from tacit.sequences.hmm_settings import settings_of
from tacit.sequences.learn.em.emission_chain import ChainData, em_step
from tacit.sequences.learn.starts.emission_chain import by_rows
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.shapes import Shape

Array = NDArray[np.float64]
Rng = np.random.Generator

STARTS, MOST_STEPS, TOL = 5, 200, 1e-2
WEAK = 1e-2  # pseudo-counts of plain EM
LENGTH, N_TRAIN, N_TEST = 20, 300, 1000


@dataclass(frozen=True)
class Setting:
    """A class of models."""

    name: str
    n_states: int
    stay: float
    density: Callable[[Rng, int], Any]
    arguments: dict[str, Any]  # of `HMM`
    peer: tuple[str, dict[str, Any]] | None = None  # the class of hmmlearn and its arguments


def spreads(rng: Rng, k: int, d: int) -> Array:
    factors = 0.5 * rng.normal(size=(k, d, d))
    return factors @ factors.transpose(0, 2, 1) + 0.3 * np.eye(d)


def spherical(rng: Rng, k: int) -> GaussianDensity:
    variances = rng.uniform(0.3, 2.0, size=(k, 1, 1)) * np.eye(3)
    return GaussianDensity(rng.normal(size=(k, 3)), variances, "spherical")


def tied(rng: Rng, k: int) -> GaussianDensity:
    return GaussianDensity(rng.normal(size=(k, 3)), spreads(rng, 1, 3).repeat(k, axis=0), "tied")


def gaussian_mixture(rng: Rng, k: int) -> GaussianMixtureDensity:
    components = GaussianDensity(1.5 * rng.normal(size=(2 * k, 2)), spreads(rng, 2 * k, 2))
    return GaussianMixtureDensity(rng.dirichlet([3.0, 3.0], k), components)


def poisson(rng: Rng, k: int) -> PoissonDensity:
    return PoissonDensity(rng.gamma(1.5, 4.0, size=(k, 2)) + 0.2)


def negative_binomial(rng: Rng, k: int) -> NegativeBinomialDensity:
    means, sizes = rng.gamma(1.5, 6.0, size=(k, 2)) + 0.5, rng.uniform(1.0, 8.0, size=(k, 2))
    return NegativeBinomialDensity(means, sizes)


def multinomial(rng: Rng, k: int) -> MultinomialDensity:
    return MultinomialDensity(rng.dirichlet(np.full(6, 2.0), k), 8)


def von_mises(rng: Rng, k: int) -> VonMisesDensity:
    return VonMisesDensity(rng.uniform(-np.pi, np.pi, (k, 2)), rng.gamma(2.0, 2.0, (k, 2)) + 0.3)


def mixed(rng: Rng, k: int) -> MixedDensity:
    parts = (
        CategoricalDensity(rng.dirichlet(np.full(4, 0.7), k), ("a", "b", "c", "d")),
        GaussianDensity(rng.normal(size=(k, 1)), spreads(rng, k, 1)),
        PoissonDensity(rng.gamma(1.5, 3.0, size=(k, 1)) + 0.2),
    )
    columns = tuple(np.array([place]) for place in range(3))
    return MixedDensity(parts, columns, ("state", "speed", "clicks"))


KINDS = {"state": "categorical", "speed": "gaussian", "clicks": "poisson"}
SETTINGS = (
    Setting(
        "gaussian spherical",
        5,
        0.5,
        spherical,
        {"emissions": "gaussian", "covariance": "spherical"},
        ("GaussianHMM", {"covariance_type": "spherical"}),
    ),
    Setting(
        "gaussian tied",
        5,
        0.5,
        tied,
        {"emissions": "gaussian", "covariance": "tied"},
        ("GaussianHMM", {"covariance_type": "tied"}),
    ),
    Setting(
        "gaussian-mixture",
        3,
        0.7,
        gaussian_mixture,
        {"emissions": "gaussian-mixture"},
        ("GMMHMM", {"covariance_type": "full", "n_mix": 2}),
    ),
    Setting("poisson", 5, 0.5, poisson, {"emissions": "poisson"}, ("PoissonHMM", {})),
    Setting("negative-binomial", 4, 0.7, negative_binomial, {"emissions": "negative-binomial"}),
    Setting(
        "multinomial",
        4,
        0.5,
        multinomial,
        {"emissions": "multinomial"},
        ("MultinomialHMM", {"n_trials": 8}),
    ),
    Setting("von-mises", 4, 0.5, von_mises, {"emissions": "von-mises"}),
    Setting("mixed", 4, 0.5, mixed, {"emissions": KINDS}),
)


def drawn_model(setting: Setting, seed: int) -> EmissionChain:
    rng, k = np.random.default_rng(seed), setting.n_states
    transitions = (1 - setting.stay) * rng.dirichlet(np.full(k, 0.5), k) + setting.stay * np.eye(k)
    return EmissionChain(rng.dirichlet(np.ones(k)), transitions, setting.density(rng, k))


def as_model(setting: Setting, chain: EmissionChain) -> HMM:
    """A model with given parameters, to sample and to score."""
    model = HMM(setting.n_states, **setting.arguments)
    names = getattr(chain.density, "names", None)
    model.names_ = names or tuple(f"x{column}" for column in range(chain.density.n_columns))
    model.parameters_, model.symbols_, model.diagnostics_ = chain, (), {}
    return model


@dataclass(frozen=True)
class Draw:
    """A true model, sequences to learn from and to score."""

    truth: EmissionChain
    train: Any
    test: Any


def draw(setting: Setting, seed: int, place: int) -> Draw:
    chain, first = drawn_model(setting, seed), seed + 10_000 * place
    model = as_model(setting, chain)
    train = model.sample(N_TRAIN, LENGTH, random_state=first + 1000)
    test = model.sample(N_TEST, LENGTH, random_state=first + 2000)
    return Draw(chain, list(train), list(test))


def ours(setting: Setting, made: Draw) -> HMM:
    return HMM(setting.n_states, n_jobs=1, **setting.arguments).fit(made.train)


def plain(setting: Setting, made: Draw) -> HMM:
    """The best of several starts of plain EM."""
    like = as_model(setting, made.truth)
    emission = like._emission
    series = emission.read(made.train, None)
    model = HMM(setting.n_states, pseudo_counts=WEAK, **setting.arguments)
    rows = emission.bound(series).rows(series.values, settings_of(model))
    data = ChainData(rows, series.ends, Shape.full(setting.n_states))
    ends = []
    for seed in range(STARTS):
        start = by_rows(data, np.random.default_rng(seed))
        step = em_step(data, start, WEAK)
        gain = AbsoluteGain(TOL)
        ends.append((run_plain_em(step, start.flat, gain, max_iter=MOST_STEPS, warn=False), start))
    best, start = max(ends, key=lambda end: end[0].objective)
    chain = start.of_flat(best.values)
    chain = EmissionChain(chain.initial, chain.transitions, rows.finished(chain.density))
    return as_model(setting, chain)


def theirs(setting: Setting, made: Draw) -> HMM:
    """hmmlearn's best of several starts by training likelihood."""
    from hmmlearn import hmm

    assert setting.peer is not None
    name, arguments = setting.peer
    values, lengths = np.concatenate(made.train), [LENGTH] * N_TRAIN
    values = values if setting.arguments["emissions"].startswith("gaussian") else values.astype(int)
    models = [
        getattr(hmm, name)(
            setting.n_states,
            n_iter=MOST_STEPS,
            tol=TOL,
            random_state=seed,
            implementation="scaling",
            **arguments,
        ).fit(values, lengths)
        for seed in range(STARTS)
    ]
    best = max(models, key=lambda model: model.score(values, lengths))
    return as_model(setting, HMM.from_hmmlearn(best).parameters_)


METHODS = {"tacit": ours, "plain": plain, "hmmlearn": theirs}
Key = tuple[str, int, int, str]  # setting, seed, set of sequences, method


def results_of(path: Path) -> dict[Key, dict[str, Any]]:
    """What is in the file."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line]
    return {(row["setting"], row["seed"], row["draw"], row["method"]): row for row in lines}


def timed(work: Any) -> tuple[Any, float]:
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def methods_of(setting: Setting, place: int, *, peer: bool) -> list[str]:
    """Those that learn from a set; hmmlearn from the first alone."""
    return ["tacit", "plain", *(["hmmlearn"] if peer and setting.peer and place == 0 else [])]


def run(path: Path, settings: Sequence[Setting], seeds: range, n_draws: int, *, peer: bool) -> None:
    """Run what is not in the file yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = results_of(path)
    for setting, seed, place in product(settings, seeds, range(n_draws)):
        methods = methods_of(setting, place, peer=peer)
        missing = [name for name in methods if (setting.name, seed, place, name) not in done]
        if not missing:
            continue
        made = draw(setting, seed, place)
        truth = as_model(setting, made.truth).score(made.test) / LENGTH
        for method in missing:
            model, seconds = timed(partial(METHODS[method], setting, made))
            row = {"setting": setting.name, "seed": seed, "draw": place, "method": method}
            row |= {"seconds": seconds, "below": truth - model.score(made.test) / LENGTH}
            row |= {"train": float(model.score_samples(made.train).sum())}
            with path.open("a", encoding="utf8") as out:
                out.write(json.dumps(row) + "\n")
            print(f"{setting.name} seed {seed} set {place}: {method} {seconds:.2f} s", flush=True)


def table_of(
    results: dict[Key, dict[str, Any]], settings: Sequence[Setting], seeds: range, n_draws: int
) -> str:
    """Held-out nats per position below the truth, CPU, and verdicts."""
    lines = [
        "| emissions | seed | tacit | plain EM | difference | | CPU, plain EM's, hmmlearn's | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    marks, ratios = [], []
    for setting, seed in product(settings, seeds):
        keys = [(setting.name, seed, place) for place in range(n_draws)]
        below = {
            method: np.array([results[*key, method]["below"] for key in keys])
            for method in ("tacit", "plain")
        }
        differences = below["plain"] - below["tacit"]
        mean, error = differences.mean(), differences.std(ddof=1) / np.sqrt(n_draws)
        mark = "tied" if abs(mean) <= 2 * error else "won" if mean > 0 else "lost"
        seconds = [
            float(np.mean([results[*key, name]["seconds"] for key in keys]))
            for name in ("tacit", "plain")
        ]
        first = results.get((setting.name, seed, 0, "hmmlearn"))
        if first is not None:
            seconds.append(first["seconds"])
        ratio = seconds[-1] / seconds[0]
        marks.append(mark)
        ratios.append(ratio)
        shown = [f"{below[name].mean():.5f}" for name in ("tacit", "plain")]
        gap, times = f"{mean:+.5f} ({error:.5f})", ", ".join(f"{one:.2f}" for one in seconds)
        cells = [setting.name, str(seed), *shown, gap, mark, times, f"{ratio:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    counts = ", ".join(f"{marks.count(mark)} {mark}" for mark in ("won", "tied", "lost"))
    summary = f"{counts}; {min(ratios):.0f} to {max(ratios):.0f} times the CPU of a default fit"
    return "\n".join([*lines, "", summary]) + "\n"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    names = [setting.name for setting in SETTINGS]
    parser.add_argument("--models", type=int, default=10, help="models of each kind")
    parser.add_argument("--draws", type=int, default=10, help="sets of sequences of each model")
    parser.add_argument("--only", nargs="*", choices=names, help="kinds")
    parser.add_argument("--first", type=int, default=20, help="the first seed")
    parser.add_argument("--peer", choices=("yes", "no"), default="yes", help="run hmmlearn, too")
    parser.add_argument("--out", type=Path, default=Path("out/hmm_emissions.jsonl"))
    chosen = parser.parse_args()
    if chosen.draws < 2:
        parser.error("--draws must be at least 2: differences need a standard error over sets")
    peer = chosen.peer == "yes"
    if peer and find_spec("hmmlearn") is None:
        print("hmmlearn is not installed (make peers); without it", file=sys.stderr)
        peer = False
    warnings.simplefilter("ignore")
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    settings = [setting for setting in SETTINGS if setting.name in (chosen.only or names)]
    seeds = range(chosen.first, chosen.first + chosen.models)
    for setting in settings:  # compile the loops before times are taken
        made = draw(setting, 99, 0)
        ours(setting, Draw(made.truth, made.train[:60], made.test))
    run(chosen.out, settings, seeds, chosen.draws, peer=peer)
    text = table_of(results_of(chosen.out), settings, seeds, chosen.draws)
    chosen.out.with_suffix(".md").write_text(text, encoding="utf8")
    print(text)


if __name__ == "__main__":
    main()
