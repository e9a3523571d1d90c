"""Grammars with hidden states on treebanks: which trees, ways of learning, and one judged fit.

The slides' treebank is not free: the sample of it that NLTK has, and GENIA, stand in for it. The first nine
tenths of the trees are learnt from, the rest is judged on where it has at most 40 words. Tags are given, and
the numbers of states are not chosen. Less is every so-manieth tree.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.latent_pcfg import LatentPCFG

PLAIN, EM, SPECTRAL, AUTO = "plain", "em", "spectral", "auto"
WSJ, GENIA = "wsj_sample", "genia"
TREEBANKS = (WSJ, GENIA)
LONGEST = 40  # words of a sentence that is judged on, punctuation counted
WARM_UP = 50  # trees of the fit that is not timed
EM_STEPS = 20


@dataclass(frozen=True)
class GrammarCase:
    """Which treebank, and how much of it."""

    treebank: str  # a name for `load_treebank`
    every: int = 1  # so-manieth tree is learnt from
    every_held: int = 1  # so-manieth tree is judged on

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self)

    def __str__(self) -> str:
        return self.treebank if self.every == 1 else f"{self.treebank}, 1/{self.every}"


@dataclass(frozen=True)
class GrammarRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_states"
    first_result: ClassVar[str] = "f1"

    treebank: str
    every: int
    every_held: int
    n_states: int
    seed: int
    method: str
    settings: str
    version: str
    f1: float  # per cent, every bracket but the outermost
    evalb: float  # the same by the conventions of that program
    seconds: float  # CPU time from trees to a model
    words: float  # parsed in a second of CPU time
    not_positive: int  # sentences whose score is not
    n_trees: int  # learnt from
    n_sentences: int  # judged on

    @property
    def case(self) -> GrammarCase:
        """The trees of this run."""
        return GrammarCase(self.treebank, self.every, self.every_held)


class GrammarTrial(GridTrial[GrammarCase]):
    """One way of learning one number of states."""

    @property
    def work(self) -> int:
        """How long it takes, about."""
        large = 5 if self.case.treebank == GENIA else 1
        states = 1 if self.method.learn == PLAIN else self.size
        return 1 + 100 * large * (4 + states) // (self.case.every + self.case.every_held)

    def run(self) -> GrammarRun:
        """Learn and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"{self.case}, {self.size} states, {self.method.name}"


class GrammarGrid(Grid[GrammarCase]):
    """Every treebank with every number of states and method."""

    trial = GrammarTrial
    kind = GrammarRun


def perform(trial: GrammarTrial) -> GrammarRun:
    """Learn from the first trees and judge on the last."""
    n_states = 1 if trial.method.learn == PLAIN else trial.size
    return GrammarRun.of(trial.key, *judged(trial.case, n_states, trial.seed, trial.method))


@lru_cache(maxsize=64)  # the plain grammar is the same beside any number of states
def judged(
    case: GrammarCase, n_states: int, seed: int, method: Method
) -> tuple[float, float, float, float, int, int, int]:
    """The results of a line."""
    from tacit.parsing.query.labelled_brackets import labelled_score

    trees = trees_of(case)
    few = trees.train[:WARM_UP]
    learnt(few, min(n_states, 2), seed, method).predict([tree.leaves() for tree in few[:2]])
    begun = time.process_time()
    model = learnt(trees.train, n_states, seed, method)
    seconds = time.process_time() - begun
    sentences = [tree.leaves() for tree in trees.test]
    begun = time.process_time()
    found, repairs = model.predict(sentences, return_repairs=True)
    pace = sum(map(len, sentences)) / (time.process_time() - begun)
    by_both = (labelled_score(trees.test, found, convention=each) for each in ("all", "evalb"))
    f1, evalb = (100 * score.f1 for score in by_both)
    return f1, evalb, seconds, pace, repairs["non_positive"], len(trees.train), len(trees.test)


def learnt(trees: list[ParseTree], n_states: int, seed: int, method: Method) -> LatentPCFG:
    """The grammar that a method learns."""
    from tacit.parsing.latent_pcfg import LatentPCFG

    way = AUTO if method.learn == PLAIN else method.learn
    model = LatentPCFG(n_states, way, random_state=seed, n_jobs=1, **dict(method.options))
    if not method.as_printed:
        return model.fit(trees)
    assert method.learn == SPECTRAL, method
    return _as_printed(model, trees, seed)


def _as_printed(model: LatentPCFG, trees: list[ParseTree], seed: int) -> LatentPCFG:
    """The algorithm of the paper, which divides by singular values as they are.

    How much is smoothed the paper chooses on trees aside; so did Tacit.
    """
    from tacit.core.progress import silent
    from tacit.parsing.learn.fit import GrammarSettings, fit_grammar

    settings = GrammarSettings(
        *(model.n_states, SPECTRAL, model.min_count, 1, None, seed, 1),
        damping=0.0,
    )
    fitted = fit_grammar(trees, settings, silent)
    model.symbols_, model.diagnostics_ = fitted.symbols, fitted.diagnostics
    model.grammars_, model.coarse_ = fitted.grammars, fitted.coarse
    return model


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees to learn from and to judge on."""

    train: list[ParseTree]
    test: list[ParseTree]


@lru_cache(maxsize=2)
def trees_of(case: GrammarCase) -> Trees:
    """The trees of a case.

    Raises
    ------
    MissingDataError
        The file is not where loaders look.
    """
    from tacit.datasets.treebanks import load_treebank
    from tacit.parsing.data.grammar_input import prepared_trees

    trees = prepared_trees(load_treebank(case.treebank))
    cut = len(trees) * 9 // 10
    short = [tree for tree in trees[cut:] if len(tree.leaves()) <= LONGEST]
    return Trees(trees[:cut][:: case.every], short[:: case.every_held])


def all_there() -> None:
    """Raise where a treebank is not where loaders look.

    Raises
    ------
    MissingDataError
    """
    from tacit.datasets.treebanks import treebank_path

    for treebank in TREEBANKS:
        treebank_path(treebank)
