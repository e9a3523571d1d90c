"""Grammars with hidden states on treebanks: trees, learners, judged fits.

The slides' treebank is not free: the sample of it that NLTK has, and GENIA, replace it. The first nine
tenths of the trees are for training; of the rest, those of at most 40 words are for the test. Tags are
given, and the numbers of states are not chosen. Less is every n-th tree.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.latent_pcfg import LatentPCFG

PLAIN, EM, SPECTRAL, AUTO = "plain", "em", "spectral", "auto"
WSJ, GENIA = "wsj_sample", "genia"
TREEBANKS = (WSJ, GENIA)
LONGEST = 40  # words of a test sentence, punctuation counted
WARM_UP = 50  # trees of the fit that is not timed
EM_STEPS = 20


# Stages of the spectral algorithm by what `LatentPCFG` reports; the slides time the same ones.
STAGES = {
    "features of nodes": "feature",
    "scaling of features": "scaling",
    "singular vectors": "svd",
    "tensors of rules": "rule",
    "vectors of words": "word",
}


RESULTS: Results = {
    "f1": 0.0,  # per cent, every bracket but the outermost
    "evalb": 0.0,  # the same by the conventions of that program
    "seconds": 0.0,  # CPU time from trees to a model
    "words": 0.0,  # parsed in a second of CPU time
    "not_positive": 0,  # sentences whose score is not
    **{f"{stage}_seconds": 0.0 for stage in STAGES.values()},  # of `seconds`, of spectral learners
    "n_trees": 0,  # in training
    "n_sentences": 0,  # in the test
}


@dataclass(frozen=True)
class GrammarCase(Case):
    """Which treebank, and how much of it."""

    treebank: str  # a name for `load_treebank`
    every: int = 1  # uses every n-th training tree
    every_held: int = 1  # uses every n-th test tree

    def __str__(self) -> str:
        return self.treebank if self.every == 1 else f"{self.treebank}, 1/{self.every}"


@lru_cache(maxsize=8)  # the plain grammar is the same beside any number of states
def fit(case: GrammarCase, n_states: int, seed: int, method: Method) -> Fit:
    """The grammar that a method learns."""
    train = trees_of(case).train
    few = train[:WARM_UP]
    learn(few, min(n_states, 2), seed, method).predict([tree.leaves() for tree in few[:2]])
    return timed(learn, train, n_states, seed, method)


@lru_cache(maxsize=8)
def parsed(model: LatentPCFG, case: GrammarCase) -> Fit:
    """The trees that a grammar gives the test sentences, and what had to be repaired."""
    sentences = [tree.leaves() for tree in trees_of(case).test]
    return timed(model.predict, sentences, return_repairs=True)


def judge(trial: Trial, model: LatentPCFG) -> Results:
    """F1 of labelled brackets, and the speed of parsing."""
    from tacit.parsing.query.labelled_brackets import labelled_score

    trees, parsing = trees_of(trial.case), parsed(model, trial.case)
    parses, repairs = parsing.value
    f1, evalb = (
        100 * labelled_score(trees.test, parses, convention=convention).f1
        for convention in ("all", "evalb")
    )
    return {
        "f1": f1,
        "evalb": evalb,
        "words": sum(len(tree.leaves()) for tree in trees.test) / parsing.seconds,
        "not_positive": repairs["non_positive"],
        **{f"{stage}_seconds": seconds for stage, seconds in stages_of(model).items()},
        "n_trees": len(trees.train),
        "n_sentences": len(trees.test),
    }


def _n_states(trial: Trial) -> int:
    return 1 if trial.method.learn == PLAIN else trial.size


def _work(trial: Trial) -> int:
    case: GrammarCase = trial.case
    large = 5 if case.treebank == GENIA else 1
    return 1 + 100 * large * (4 + _n_states(trial)) // (case.every + case.every_held)


STUDY = Study(
    size="n_states",
    results=RESULTS,
    fit=lambda trial: fit(trial.case, _n_states(trial), trial.seed, trial.method),
    judge=judge,
    words="{case}, {size} states, {method.name}",
    work=_work,
)


def learn(trees: list[ParseTree], n_states: int, seed: int, method: Method) -> LatentPCFG:
    """The grammar that a method learns from trees."""
    from tacit.parsing.latent_pcfg import LatentPCFG

    learner = AUTO if method.learn == PLAIN else method.learn
    clock = StageClock()
    model = LatentPCFG(n_states, learner, random_state=seed, n_jobs=1, **dict(method.options))
    if method.as_printed:
        assert method.learn == SPECTRAL, method
        model = _as_printed(model, trees, seed, clock)
    else:
        model = model.set_params(progress=clock).fit(trees).set_params(progress=None)
    model.diagnostics_["seconds"] = clock.stopped()
    return model


def stages_of(model: LatentPCFG) -> dict[str, float]:
    """CPU seconds of each of `STAGES`, as far as they were run."""
    seconds = model.diagnostics_["seconds"]
    return {name: seconds.get(text, 0.0) for text, name in STAGES.items()}


class StageClock:
    """CPU seconds of each stage that a computation reports."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._stage, self._since = "", time.process_time()

    def __call__(self, fraction: float, text: str) -> None:
        """Begin another stage."""
        now = time.process_time()
        self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = text, now

    def stopped(self) -> dict[str, float]:
        """The seconds of all stages, the last one ending now."""
        self(1.0, "")
        return dict(self._seconds)


def _as_printed(model: LatentPCFG, trees: list[ParseTree], seed: int, report: Report) -> LatentPCFG:
    """The algorithm of the paper, which divides by singular values as they are.

    The paper chooses how much is smoothed on validation trees; so did Tacit.
    """
    from tacit.parsing.learn.fit import GrammarSettings, fit_grammar

    settings = GrammarSettings(
        *(model.n_states, SPECTRAL, model.min_count, 1, None, seed, 1),
        damping=0.0,
    )
    grammar = fit_grammar(trees, settings, report)
    model.symbols_, model.diagnostics_ = grammar.symbols, grammar.diagnostics
    model.grammars_, model.coarse_ = grammar.grammars, grammar.coarse
    return model


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trees:
    """Training and test trees."""

    train: list[ParseTree]
    test: list[ParseTree]


@lru_cache(maxsize=2)
def trees_of(case: GrammarCase) -> Trees:
    """The trees of a case."""
    from tacit.datasets.treebanks import load_treebank
    from tacit.parsing.data.grammar_input import prepared_trees

    trees = prepared_trees(load_treebank(case.treebank))
    cut = len(trees) * 9 // 10
    short = [tree for tree in trees[cut:] if len(tree.leaves()) <= LONGEST]
    return Trees(trees[:cut][:: case.every], short[:: case.every_held])


def check_treebanks() -> None:
    """Raise where a treebank is not where loaders look."""
    from tacit.datasets.treebanks import treebank_path

    for treebank in TREEBANKS:
        treebank_path(treebank)
