"""The next part of speech told from those before it: sentences, ways of learning, and one judged fit.

After Balle, Carreras, Luque & Quattoni (2014), as the survey tells of it in section 3.3: at every place of a
test sentence the likeliest tag, or end, is told from the tags before, and counted where that is wrong.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.errors import RankError
from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.model.interpolated_ngrams import Ngrams
    from tacit.sequences.moments.prefixes import PrefixTree
    from tacit.sequences.query.automata import Predictor, Told

# Ways of learning.
NGRAMS, EM, HANKEL, WEIGHTED, PROBABILISTIC = "n-grams", "em", "hankel", "weighted", "probabilistic"

# Sentences of the fit that is not timed.
WARM_UP = 100
# A step of EM from a random start ends it where it gains less, in nats of all sentences together.
_GAIN = 1.0


@dataclass(frozen=True)
class TagCase:
    """Which tags, and how many sentences."""

    kind: str = "upos"  # a name for `load_postags`
    n_train: int = 12_544
    n_aside: int = 2001
    n_test: int = 2077

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self)


@dataclass(frozen=True)
class TagRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_states"
    first_result: ClassVar[str] = "wrong"

    kind: str
    n_train: int
    n_aside: int
    n_test: int
    n_states: int  # or rank
    seed: int
    method: str
    settings: str
    version: str
    wrong: float  # share of tags and ends that were told wrongly; inf where nothing was learnt
    wrong_aside: float  # the same on the sentences to choose by
    nats: float  # mean natural-log probability of a tag or end
    seconds: float  # CPU time of the whole fit
    n_steps: int  # of EM, over all restarts
    failure: str  # why nothing was learnt


class TagTrial(GridTrial[TagCase]):
    """One way of learning with one number of states."""

    rows_per_fit = 5

    def run(self) -> TagRun:
        """Learn and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"{self.case.kind}, {self.size} states, {self.method.name}"


class TagSettings(Grid[TagCase]):
    """Every case with every number of states, random start and method."""

    trial = TagTrial
    kind = TagRun


def perform(trial: TagTrial) -> TagRun:
    """Learn from the training sentences and judge on the others."""
    import numpy as np

    tags = tags_of(trial.case)
    _warm_up(trial.case, trial.method)
    begun = time.process_time()
    try:
        learnt = _learnt(trial, tags)
    except (RankError, np.linalg.LinAlgError) as error:
        why = " ".join(str(error).split())
        seconds = time.process_time() - begun
        return TagRun.of(trial.key, math.inf, math.inf, -math.inf, seconds, 0, why)
    seconds = time.process_time() - begun
    aside, _ = judged(learnt.said(tags.aside))
    wrong, nats = judged(learnt.said(tags.test))
    return TagRun.of(trial.key, wrong, aside, nats, seconds, learnt.n_steps, "")


def judged(said: Told) -> tuple[float, float]:
    """The share of tags and ends that were told wrongly, and the mean natural log of their probabilities."""
    tree = said.tree
    best = said.probs.argmax(axis=1)
    deep = tree.parents >= 0
    n_events = tree.ends.sum() + tree.passes[deep].sum()
    right = tree.ends[best == said.probs.shape[1] - 1].sum()
    right += tree.passes[deep][best[tree.parents[deep]] == tree.symbols[deep]].sum()
    return float(1 - right / n_events), float(said.log_likelihood / n_events)


# -- learning -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Learnt:
    predictor: Predictor | Ngrams
    n_steps: int = 0

    def said(self, tree: PrefixTree) -> Told:
        """What is said at every place of some sentences."""
        from tacit.messages.repairs import Repairs
        from tacit.sequences.model.interpolated_ngrams import Ngrams, tree_contexts
        from tacit.sequences.query.automata import Told, told

        found = self.predictor
        if not isinstance(found, Ngrams):
            return told(found, tree)
        return Told(tree, found.tables[tree_contexts(tree, found.order)], Repairs(), 0)


def _learnt(trial: TagTrial, tags: Tags) -> _Learnt:
    """What the trial's method learns from the sentences."""
    from tacit.sequences.model.interpolated_ngrams import Ngrams
    from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
    from tacit.sequences.weighted_automaton import WeightedAutomaton

    method, options = trial.method, dict(trial.method.options)
    if method.learn == NGRAMS:
        return _Learnt(Ngrams.of(tags.tree, **options))
    if method.learn == EM:
        return _em(trial, tags, **options)
    if method.learn == HANKEL:  # one decomposition; predictions are cut off at zero and normalised
        plain: dict[str, Any] = {"statistics": "substring", "scaled": False, "mixing": 0.0}
        weighted = WeightedAutomaton(trial.size, **plain, **options).fit(tags.train)
        return _Learnt(weighted.predictor_)
    model: WeightedAutomaton | ProbabilisticAutomaton
    if method.learn == WEIGHTED:
        model = WeightedAutomaton(trial.size, random_state=trial.seed, **options)
    else:
        model = ProbabilisticAutomaton(trial.size, random_state=trial.seed, **options)
    model.fit(tags.train)
    return _Learnt(model.predictor_, n_steps=int(model.diagnostics_.get("n_steps", 0)))


def _em(trial: TagTrial, tags: Tags, n_restarts: int, max_iter: int) -> _Learnt:
    """EM of automata from random starts; sentences aside stop each and choose among them."""
    import numpy as np

    from tacit.sequences.learn.em.automata import AutomatonPrior, polished_automaton
    from tacit.sequences.learn.starts.automata import random_automaton
    from tacit.sequences.query.mean_automata import MeanAutomaton

    rng = np.random.default_rng([trial.size, trial.seed])
    climbed = [
        polished_automaton(
            random_automaton(tags.train.n_symbols, trial.size, rng, tied=False),
            tags.tree,
            prior=AutomatonPrior(),
            gain=_GAIN,
            max_iter=max_iter,
            held_out=tags.aside,
        )
        for _ in range(n_restarts)
    ]
    best = max(climbed, key=lambda each: each.held_out or -math.inf)
    found = MeanAutomaton((best.tables,), np.ones(1))
    return _Learnt(found, n_steps=sum(each.n_steps for each in climbed))


@lru_cache(maxsize=32)
def _warm_up(case: TagCase, method: Method) -> None:
    """Learn once from few sentences, so that no trial pays for compiling."""
    import contextlib

    import numpy as np

    few = tags_of(case).train.take(np.arange(min(WARM_UP, case.n_train)))
    with contextlib.suppress(RankError):  # so few may not carry the states
        _learnt(TagTrial(case, 2, 0, method), Tags.of(few, few, few))


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tags:
    """Sentences to learn from, to choose by and to judge on."""

    train: Sequences
    tree: PrefixTree  # of the training sentences
    aside: PrefixTree
    test: PrefixTree

    @staticmethod
    def of(train: Sequences, aside: Sequences, test: Sequences) -> Tags:
        """The trees of the sentences' beginnings."""
        from tacit.sequences.moments.prefixes import PrefixTree

        return Tags(train, *(PrefixTree.of(each) for each in (train, aside, test)))


@lru_cache(maxsize=2)
def tags_of(case: TagCase) -> Tags:
    """The sentences of a case: the first ones of each part of the treebank.

    Raises
    ------
    MissingDataError
        The files are not where loaders look.
    """
    from tacit.datasets import load_postags
    from tacit.sequences.data.read_sequences import read_sequences

    train, aside, test = (
        load_postags(case.kind, part)[:n]
        for part, n in (("train", case.n_train), ("dev", case.n_aside), ("test", case.n_test))
    )
    known = read_sequences([*train, *aside, *test]).symbols
    return Tags.of(*(read_sequences(each, symbols=known) for each in (train, aside, test)))
