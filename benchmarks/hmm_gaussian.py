"""Hidden Markov models of normal numbers against hmmlearn's GaussianHMM, best of five starts.

    python benchmarks/hmm_gaussian.py                      # all settings, two models each
    python benchmarks/hmm_gaussian.py --models 1 --peer no # without hmmlearn

For each setting, models are drawn: means normal times `apart`, covariances of random factors, moves a share
`stay` of staying and the rest Dirichlet(0.5). Sequences of 20 positions are drawn from them, 500 to learn
from and 1,000 to score. hmmlearn (`implementation="scaling"`, its own defaults for the rest) runs from five
seeds, at most 200 iterations each with tol 1e-2 nats in all, and the best by training likelihood is scored;
its time is that of all five. Times are CPU seconds of one thread. Differences are ours less theirs in nats
for each position, with twice their standard error over held-out sequences.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from tacit.estimators.hmm import HMM
from tacit.params.gaussian_chain import GaussianChain
from tacit.query.gaussian_chain import drawn_rows, number_evidence
from tacit.query.paths import drawn_states, filtered

Array = NDArray[np.float64]

STARTS, MOST_STEPS, TOL = 5, 200, 1e-2
LENGTH, N_TRAIN, N_TEST = 20, 500, 1000


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
            f"k={self.n_states} d={self.n_columns} {self.covariance:8s} stay={self.stay} "
            f"apart={self.apart}"
        )


SETTINGS = (
    Setting(6, 2, "full", 0.6, 1.5),
    Setting(6, 2, "full", 0.0, 1.5),
    Setting(4, 1, "diagonal", 0.8, 1.5),
    Setting(6, 5, "diagonal", 0.3, 0.7),
)


def drawn_model(setting: Setting, seed: int) -> GaussianChain:
    rng = np.random.default_rng(seed)
    k, d = setting.n_states, setting.n_columns
    moves = (1 - setting.stay) * rng.dirichlet(np.full(k, 0.5), k) + setting.stay * np.eye(k)
    spread = 0.5 * rng.normal(size=(k, d, d))
    covariances = spread @ spread.transpose(0, 2, 1) + 0.3 * np.eye(d)
    diagonal = setting.covariance == "diagonal"
    return GaussianChain(
        rng.dirichlet(np.ones(k)),
        moves,
        setting.apart * rng.normal(size=(k, d)),
        covariances * np.eye(d) if diagonal else covariances,
        diagonal,
    )


def drawn_numbers(chain: GaussianChain, n: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    states = drawn_states(chain, chain.start, (n, LENGTH), rng)
    return drawn_rows(chain, states, rng)


def logs_of(chain: GaussianChain, values: Array) -> Array:
    """Nats for each position, by sequence."""
    ends = np.arange(len(values) + 1, dtype=np.int64) * LENGTH
    rows = values.reshape(-1, values.shape[2])
    return filtered(chain, number_evidence(chain, rows, ends)).log_probs() / LENGTH


def timed(work: Any) -> tuple[Any, float]:
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun


def ours(setting: Setting, train: Array) -> GaussianChain:
    model = HMM(
        setting.n_states, emissions="gaussian", covariance=setting.covariance, n_jobs=1, tol=TOL
    )
    found = model.fit(list(train)).parameters_
    assert isinstance(found, GaussianChain)
    return found


def theirs(setting: Setting, train: Array) -> GaussianChain:
    """hmmlearn's best of several starts by training likelihood."""
    from hmmlearn.hmm import GaussianHMM

    rows, lengths = train.reshape(-1, train.shape[2]), [LENGTH] * len(train)
    kind = "diag" if setting.covariance == "diagonal" else "full"
    models = [
        GaussianHMM(
            setting.n_states,
            kind,
            n_iter=MOST_STEPS,
            tol=TOL,
            random_state=seed,
            implementation="scaling",
        ).fit(rows, lengths)
        for seed in range(STARTS)
    ]
    best = max(models, key=lambda model: model.score(rows, lengths))
    found = HMM.from_hmmlearn(best).parameters_
    assert isinstance(found, GaussianChain)
    return found


def compare(setting: Setting, seed: int, *, peer: bool) -> None:
    truth = drawn_model(setting, seed)
    train, test = (
        drawn_numbers(truth, N_TRAIN, seed + 1000),
        drawn_numbers(truth, N_TEST, seed + 2000),
    )
    model, seconds = timed(lambda: ours(setting, train))
    logs = logs_of(model, test)
    line = f"{setting.name} seed={seed:<3d} truth {logs_of(truth, test).mean():9.5f}  "
    line += f"tacit {logs.mean():9.5f} {seconds:6.2f} s"
    if peer:
        other, others = timed(lambda: theirs(setting, train))
        gap = logs - logs_of(other, test)
        error = 2 * gap.std() / np.sqrt(len(gap))
        line += f"  hmmlearn {logs_of(other, test).mean():9.5f} {others:7.1f} s"
        line += (
            f"  difference {gap.mean():+.5f} +- {error:.5f}  {others / seconds:5.0f} times the CPU"
        )
    print(line, flush=True)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=2, help="models of each setting")
    parser.add_argument("--only", type=int, nargs="*", help="settings, from 0")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--peer", choices=("yes", "no"), default="yes", help="whether hmmlearn runs too"
    )
    arguments = parser.parse_args()
    peer = arguments.peer == "yes"
    try:
        import hmmlearn  # noqa: F401
    except ImportError:
        if peer:
            print("hmmlearn is not installed (make peers); without it", file=sys.stderr)
        peer = False
    small = drawn_numbers(drawn_model(SETTINGS[0], 99), 20, 0)
    for setting in (SETTINGS[0], SETTINGS[3]):  # compiles the loops
        ours(setting, small if setting.n_columns == 2 else np.repeat(small, 5, axis=2)[:, :, :5])
    chosen = range(len(SETTINGS)) if arguments.only is None else arguments.only
    for setting in [SETTINGS[number] for number in chosen]:
        for place in range(arguments.models):
            compare(setting, arguments.first + place, peer=peer)


if __name__ == "__main__":
    main()
