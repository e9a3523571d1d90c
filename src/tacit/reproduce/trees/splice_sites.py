"""Signals in DNA: splits of the sequences, a model for each class, and judged fits.

After the thesis, section 5.8.2, and Song et al. (2013), section 6: a model is learnt from the training
sequences of each class; a test sequence belongs to the class whose model gives it the highest probability.
No sequence is in both parts, however often it occurs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed
from tacit.reproduce.trees.synthetic import network_and_steps, with_all_categories

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.messages.evidence import Evidence
    from tacit.messages.network import Network
    from tacit.reproduce.trees.dna_sequences import DnaSequences
    from tacit.trees.structure.topology import Topology

    Networks = tuple[list[Network], int]  # of the classes, and the steps of EM

N_LETTERS = 4

# Sequences of each class in the fit that is not timed.
WARM_UP_ROWS = 40

RESULTS: Results = {
    "wrong": math.inf,  # fraction of the test sequences put into a wrong class
    "wrong_by_bayes": math.inf,  # the same where the classes' fractions of the training set count too
    "not_positive": 1.0,  # fraction of the estimates behind it that were not positive
    "seconds": 0.0,  # CPU time of the fits of all classes
    "n_steps": 0,  # of EM, over all classes and restarts
    "failure": "",  # why nothing was learnt
}


@dataclass(frozen=True)
class SiteCase(Case):
    """The sequences, and what is learnt of each class."""

    data: str  # a name for `dna_sequences`
    order: int  # of the hidden Markov models, which change with the position
    n_states: int
    n_test: int


def split_of_trial(trial: Trial) -> Split:
    """The sequences of a trial, the same for every method."""
    return split_of(trial.case.data, trial.case.n_test, trial.seed, trial.size)


def fit(trial: Trial) -> Fit:
    """What the trial's method learns of every class, and in how many steps."""
    split = split_of_trial(trial)
    _warm_up(trial.case, trial.method)
    assert split.tables  # made before the clock starts
    return timed(learn_classes, trial, split)


def judge(trial: Trial, fitted: Networks) -> Results:
    """How often the classes are wrong."""
    import numpy as np

    networks, n_steps = fitted
    split = split_of_trial(trial)
    scores, not_positive = class_scores(networks, split.test, raw=trial.method.as_printed)
    wrong, wrong_by_bayes = (
        float(np.mean(values.argmax(axis=0) != split.answers))
        for values in (scores, with_class_weights(networks, split))
    )
    return {
        "wrong": wrong,
        "wrong_by_bayes": wrong_by_bayes,
        "not_positive": not_positive,
        "n_steps": n_steps,
    }


def class_scores(
    networks: list[Network], rows: Evidence, *, raw: bool
) -> tuple[NDArray[np.float64], float]:
    """(class, row) Numbers that rise with a row's probability, and the fraction of estimates not positive.

    Raw estimates count as they are, negative ones too; others are floored.
    """
    import numpy as np

    from tacit.messages.conditionals import log_prob
    from tacit.messages.passes import log_values

    sign, log_abs = np.stack([log_values(network, rows) for network in networks], axis=1)
    not_positive = float(np.mean(~(sign > 0)))
    if not raw:
        return np.stack([log_prob(network, rows).values for network in networks]), not_positive
    beyond = np.isnan(sign) | np.isnan(log_abs)
    logs = np.where(beyond, -np.inf, log_abs)
    most = logs.max(axis=0)
    values = sign * np.exp(logs - np.where(np.isfinite(most), most, 0.0))
    return np.where(beyond, -np.inf, values), not_positive


def with_class_weights(networks: list[Network], split: Split) -> NDArray[np.float64]:
    """(class, row) Logarithms of the joint probability of class and row; estimates are floored."""
    import numpy as np

    logs, _ = class_scores(networks, split.test, raw=False)
    sizes = np.array([[len(rows)] for rows in split.train], dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(logs + np.log(sizes / sizes.sum()))


def learn_classes(trial: Trial, split: Split) -> Networks:
    """What the trial's method learns of every class, and in how many steps."""
    fits = [_learn(trial, table) for table in split.tables]
    return [network for network, _ in fits], sum(n_steps for _, n_steps in fits)


def _learn(trial: Trial, table: pa.Table) -> tuple[Network, int]:
    """What the trial's method learns of one class, and in how many steps."""
    model = model_of(trial.case, trial.method, trial.seed, table.num_columns)
    return network_and_steps(model, table)


def model_of(case: SiteCase, method: Method, seed: int, length: int) -> Any:
    """The estimator that learns one class."""
    from tacit.junction.structured_hmms import HigherOrderHMM
    from tacit.trees.latent_tree import LatentTree

    fixed = {"learn": method.learn, "preset": method.preset, "random_state": seed}
    options: dict[str, Any] = {**fixed, **dict(method.options)}
    if case.order == 1:
        return LatentTree(case.n_states, _chain(length), **options)
    return HigherOrderHMM(case.order, case.n_states, **options)


@lru_cache(maxsize=4)
def _chain(length: int) -> Topology:
    from tacit.toy import caterpillar

    return caterpillar(length)


@lru_cache(maxsize=64)
def _warm_up(case: SiteCase, method: Method) -> None:
    """Learn once from few sequences, so that no trial pays for compiling or planning."""
    split = split_of(case.data, case.n_test, 0, None)
    timed(_learn, Trial(STUDY, case, WARM_UP_ROWS, 0, method), split.tables[0][:WARM_UP_ROWS])


STUDY = Study(
    size="n_rows",  # of all classes together
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="split {split}, {size} sequences, {method.name}",
    work=lambda trial: trial.size + 2000,
)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Split:
    """Sequences to learn from, by class, and sequences to judge on."""

    train: tuple[NDArray[np.int16], ...]  # of each class: (row, position)
    test: Evidence
    answers: NDArray[np.int64]  # (row,)  class of each test row

    @cached_property
    def tables(self) -> tuple[pa.Table, ...]:
        """The training sequences of each class as estimators take them."""
        return tuple(with_all_categories(rows, N_LETTERS) for rows in self.train)


@lru_cache(maxsize=2)
def split_of(data: str, n_test: int, seed: int, n_rows: int | None) -> Split:
    """Test sequences and training sequences of a split; smaller training sets are parts of larger ones.

    `n_rows` are training rows of all classes together, None for all.
    """
    import numpy as np

    data_set = _dna_sequences(data)
    rng = np.random.default_rng([n_test, seed])
    test, others = disjoint_rows(data_set.sequence, n_test, rng)
    train = others[:n_rows]
    answers = data_set.classes[train]
    by_class = tuple(
        np.asfortranarray(data_set.codes[train[answers == number]])
        for number in range(len(data_set.names))
    )
    return Split(by_class, data_set.evidence(test), data_set.classes[test])


def disjoint_rows(
    sequence: NDArray[np.int64], n_test: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of test rows and of training rows, in random order, without a sequence that is in both.

    `sequence` says which of the distinct sequences each row has; further copies of test sequences are in
    neither part.
    """
    import numpy as np

    order = rng.permutation(len(sequence))
    test = order[:n_test]
    others = order[n_test:]
    return test, others[~np.isin(sequence[others], sequence[test])]


@lru_cache(maxsize=2)
def _dna_sequences(data: str) -> DnaSequences:
    from tacit.reproduce.trees.dna_sequences import dna_sequences

    return dna_sequences(data)
