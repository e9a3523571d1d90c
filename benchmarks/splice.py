"""Classification of splice sites in genes: one second-order HMM with two states for each of three classes.

    python benchmarks/splice.py                     ten splits (minutes)
    python benchmarks/splice.py --first-split 10    ten others
    python benchmarks/splice.py --quick             two splits
    python benchmarks/splice.py --homogeneous       the last section alone

Needs the data of `tacit.datasets.load_splice`. A fifth of the sequences are judged, the others learnt from;
no sequence is in both parts, however often it occurs. Letters that stand for several nucleotides are missing
when learning, and sets of nucleotides when judging. A sequence belongs to the class whose model gives it the
highest probability, without and with the class frequencies of the training set. Times are CPU seconds of the
whole training, all three classes, on one thread, after a fit to warm up; garbage is collected before the
clock starts, as `timeit` does. EM is compiled, has five restarts and stops by the thesis' rule; it runs over
all rows, but for the line that says over patterns. That spectral learning looks at single columns, five
against each, was chosen on the first ten splits.

At the end stand homogeneous hidden Markov models (`tacit.HMM`), one for each class as well: the same table of
moves at every place, so they know what junctions are made of, not where they are. Letters that stand for
several nucleotides are missing there when judging, too. Numbers of states were not chosen on anything.
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import time
import warnings

import numpy as np

import tacit
from tacit.core.threads import limit_threads
from tacit.reproduce.junction.fig_5_5 import (
    AUTO,
    EM,
    ONLINE,
    SMOOTHED,
    SPECTRAL,
    STRONG,
    TACIT_SPECTRAL,
)
from tacit.reproduce.runner.trials import Method, Trial
from tacit.reproduce.trees.splice_sites import (
    N_LETTERS,
    STUDY,
    SiteCase,
    class_scores,
    learn_classes,
    split_of,
    with_class_weights,
)
from tacit.reproduce.trees.synthetic import em
from tacit.sequences.data.read_sequences import read_sequences

N_TEST = 638
CASE = SiteCase("splice", order=2, n_states=2, n_test=N_TEST)
GROUPS = Method("Tacit spectral, sets", "spectral")
PATTERNS = em("EM over patterns", 1e-4)
STATES = (2, 4, 8)  # of the homogeneous ones
METHODS = (TACIT_SPECTRAL, GROUPS, SPECTRAL, EM, PATTERNS, STRONG, SMOOTHED, ONLINE, AUTO)


def measured(method: Method, seed: int) -> tuple[float, float, float, float]:
    """Accuracy without and with class priors, held-out log-likelihood and seconds of a split."""
    split = split_of(CASE.data, N_TEST, seed, None)
    trial = Trial(STUDY, CASE, sum(map(len, split.train)), seed, method)
    assert split.tables  # made before the clock starts
    gc.collect()
    gc.disable()
    begun = time.process_time()
    networks, _ = learn_classes(trial, split)
    seconds = time.process_time() - begun
    gc.enable()
    scores, _ = class_scores(networks, split.test, raw=method.as_printed)
    logs, _ = class_scores(networks, split.test, raw=False)
    both = scores, with_class_weights(networks, split)
    right = [np.mean(class_values.argmax(axis=0) == split.answers) for class_values in both]
    likely = float(np.mean(logs[split.answers, np.arange(len(split.answers))]))
    return float(right[0]), float(right[1]), likely, seconds


def homogeneous(learn: str, n_states: int, seed: int) -> tuple[float, float, float, float]:
    """The same of one HMM for each class, whose moves do not change with the place."""
    split = split_of(CASE.data, N_TEST, seed, None)
    letters = tuple(range(N_LETTERS))
    begun = time.process_time()
    models = [
        tacit.HMM(n_states, learn, random_state=seed).fit(
            read_sequences(np.asarray(rows), symbols=letters)
        )
        for rows in split.train
    ]
    seconds = time.process_time() - begun
    test = read_sequences(np.asarray(split.test.codes), symbols=letters)
    logs = np.stack([model.score_samples(test) for model in models])
    log_priors = np.log([len(rows) / sum(map(len, split.train)) for rows in split.train])
    right = [
        float(np.mean(scores.argmax(axis=0) == split.answers))
        for scores in (logs, logs + log_priors[:, None])
    ]
    likely = float(np.mean(logs[split.answers, np.arange(len(split.answers))]))
    return right[0], right[1], likely, seconds


def print_homogeneous(splits: range) -> None:
    """A line for each number of states and learner."""
    print("\nhomogeneous HMMs, one for each class")
    print(f"{'':26}{'accuracy':>9}{'with priors':>13}{'log-likelihood':>16}{'CPU s':>9}")
    for n_states in STATES:
        for learn in ("auto", "em"):
            homogeneous(learn, n_states, splits[0])
            outcomes = [homogeneous(learn, n_states, seed) for seed in splits]
            plain, shared, likely, seconds = map(statistics.fmean, zip(*outcomes, strict=True))
            print(
                f"{f'{learn}, {n_states} states':26}{plain:9.4f}{shared:13.4f}{likely:16.3f}{seconds:9.4f}",
                flush=True,
            )


def paired(ours: list[float], other: list[float]) -> str:
    """The mean difference and its standard error."""
    gaps = [a - b for a, b in zip(ours, other, strict=True)]
    error = statistics.stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
    return f"{statistics.fmean(gaps):+.4f} +- {error:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument("--homogeneous", action="store_true")
    chosen = parser.parse_args()
    n_splits = 2 if chosen.quick else 10
    splits = range(chosen.first_split, chosen.first_split + n_splits)
    warnings.simplefilter("ignore")  # of EM that did not converge
    if chosen.homogeneous:
        with limit_threads(1):
            print_homogeneous(splits)
        return
    by_method: dict[str, list[tuple[float, float, float, float]]] = {}
    with limit_threads(1):
        for method in METHODS:
            measured(method, splits[0])
            by_method[method.name] = [measured(method, seed) for seed in splits]
    print(f"{n_splits} splits, {N_TEST} sequences to judge on")
    print(
        f"{'':26}{'accuracy':>9}{'less EM':>21}{'with priors':>13}{'less EM':>21}"
        f"{'log-likelihood':>16}{'CPU s':>9}{'EM / it':>9}{'EM 1e-5 / it':>14}"
    )
    columns = {name: list(zip(*rows, strict=True)) for name, rows in by_method.items()}
    reference, strong = columns[EM.name], columns[STRONG.name]
    for name, values in columns.items():
        plain, shared, likely, seconds = values
        cells = f"{statistics.fmean(plain):9.4f}{paired(list(plain), list(reference[0])):>21}"
        cells += f"{statistics.fmean(shared):13.4f}{paired(list(shared), list(reference[1])):>21}"
        cells += f"{statistics.fmean(likely):16.3f}{statistics.fmean(seconds):9.4f}"
        for slow, width in ((reference, 9), (strong, 14)):
            cells += f"{statistics.fmean(slow[3]) / statistics.fmean(seconds):{width}.1f}"
        print(f"{name:26}{cells}", flush=True)
    fast = columns[TACIT_SPECTRAL.name]
    by_bayes = {name: statistics.fmean(values[1]) for name, values in columns.items()}
    best = max((EM.name, STRONG.name, SMOOTHED.name), key=by_bayes.__getitem__)
    ratio = statistics.fmean(strong[3]) / statistics.fmean(fast[3])
    print(
        f"\nTacit spectral less EM: {paired(list(fast[0]), list(reference[0]))}; with priors, less the best "
        f"EM ({best}): {paired(list(fast[1]), list(columns[best][1]))}; EM 1e-5 takes {ratio:.0f} "
        f"times as long"
    )
    with limit_threads(1):
        print_homogeneous(splits)


if __name__ == "__main__":
    main()
