"""The next part of speech predicted from those before it: sentences, learners, judged fits.

After Balle, Carreras, Luque & Quattoni (2014), as the survey reports it in section 3.3: at every position
of a test sentence the likeliest tag, or end, is predicted from the tags before it, and wrong ones are
counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    from tacit.sequences.data.sequences import Sequences
    from tacit.sequences.model.interpolated_ngrams import Ngrams
    from tacit.sequences.moments.prefixes import PrefixTree
    from tacit.sequences.query.automata import NodePredictions, Predictor

    Fitted = tuple[Predictor | Ngrams, int]  # and the steps of EM

# Learners.
NGRAMS, EM, HANKEL, WEIGHTED, PROBABILISTIC = "n-grams", "em", "hankel", "weighted", "probabilistic"

# Sentences of the fit that is not timed.
WARM_UP = 100
# EM from a random start stops at a step that gains less, in nats of all sentences together.
_GAIN = 1.0

RESULTS: Results = {
    "wrong": math.inf,  # fraction of tags and ends that were predicted wrongly
    "wrong_aside": math.inf,  # the same on the validation sentences
    "nats": -math.inf,  # mean natural-log probability of a tag or end
    "seconds": 0.0,  # CPU time of the whole fit
    "n_steps": 0,  # of EM, over all restarts
    "failure": "",  # why nothing was learnt
}


@dataclass(frozen=True)
class TagCase(Case):
    """Which tags, and how many sentences."""

    kind: str = "upos"  # a name for `load_postags`
    n_train: int = 12_544
    n_aside: int = 2001  # validation sentences
    n_test: int = 2077


def fit(trial: Trial) -> Fit:
    """What the trial's method learns from the training sentences, and in how many steps."""
    tags = tags_of(trial.case)
    _warm_up(trial.case, trial.method)
    return timed(_learn, trial, tags)


def judge(trial: Trial, fitted: Fitted) -> Results:
    """How often predictions are wrong, on the validation and on the test sentences."""
    model, n_steps = fitted
    tags = tags_of(trial.case)
    wrong_aside, _ = judged(predictions(model, tags.aside))
    wrong, nats = judged(predictions(model, tags.test))
    return {"wrong": wrong, "wrong_aside": wrong_aside, "nats": nats, "n_steps": n_steps}


def judged(predicted: NodePredictions) -> tuple[float, float]:
    """The fraction of tags and ends predicted wrongly, and the mean natural log of their probabilities."""
    tree = predicted.tree
    best = predicted.probs.argmax(axis=1)
    deep = tree.parents >= 0
    n_events = tree.ends.sum() + tree.passes[deep].sum()
    right = tree.ends[best == predicted.probs.shape[1] - 1].sum()
    right += tree.passes[deep][best[tree.parents[deep]] == tree.symbols[deep]].sum()
    return float(1 - right / n_events), float(predicted.log_likelihood / n_events)


def predictions(model: Predictor | Ngrams, tree: PrefixTree) -> NodePredictions:
    """The distribution of the next tag at every position of some sentences."""
    from tacit.messages.repairs import Repairs
    from tacit.sequences.model.interpolated_ngrams import Ngrams, tree_contexts
    from tacit.sequences.query.automata import NodePredictions, node_predictions

    if not isinstance(model, Ngrams):
        return node_predictions(model, tree)
    return NodePredictions(tree, model.tables[tree_contexts(tree, model.order)], Repairs(), 0)


# -- learning -----------------------------------------------------------------------------------------


def _learn(trial: Trial, tags: Tags) -> Fitted:
    from tacit.sequences.model.interpolated_ngrams import Ngrams
    from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
    from tacit.sequences.weighted_automaton import WeightedAutomaton

    method, options = trial.method, dict(trial.method.options)
    if method.learn == NGRAMS:
        return Ngrams.of(tags.tree, **options), 0
    if method.learn == EM:
        return _em(trial, tags, **options)
    if method.learn == HANKEL:  # one decomposition; predictions are cut off at zero and normalised
        plain: dict[str, Any] = {"statistics": "substring", "scaled": False, "mixing": 0.0}
        return WeightedAutomaton(trial.size, **plain, **options).fit(tags.train).predictor_, 0
    kind = WeightedAutomaton if method.learn == WEIGHTED else ProbabilisticAutomaton
    model = kind(trial.size, random_state=trial.seed, **options).fit(tags.train)
    return model.predictor_, int(model.diagnostics_.get("n_steps", 0))


def _em(trial: Trial, tags: Tags, n_restarts: int, max_iter: int) -> Fitted:
    """EM of automata from random starts; validation sentences stop each and choose among them."""
    import numpy as np

    from tacit.sequences.learn.em.automata import AutomatonPrior, polished_automaton
    from tacit.sequences.learn.starts.automata import random_automaton
    from tacit.sequences.query.mean_automata import MeanAutomaton

    rng = np.random.default_rng([trial.size, trial.seed])
    restarts = [
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
    best = max(restarts, key=lambda restart: restart.held_out or -math.inf)
    n_steps = sum(restart.n_steps for restart in restarts)
    return MeanAutomaton((best.tables,), np.ones(1)), n_steps


@lru_cache(maxsize=32)
def _warm_up(case: TagCase, method: Method) -> None:
    """Learn once from few sentences, so that no trial pays for compiling."""
    import numpy as np

    few = tags_of(case).train.take(np.arange(min(WARM_UP, case.n_train)))
    timed(_learn, Trial(STUDY, case, 2, 0, method), Tags.of(few, few, few))


STUDY = Study(
    size="n_states",  # or rank
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="{case.kind}, {size} states, {method.name}",
    work=lambda trial: trial.size + 5,
)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tags:
    """Training, validation and test sentences."""

    train: Sequences
    tree: PrefixTree  # of the training sentences
    aside: PrefixTree
    test: PrefixTree

    @staticmethod
    def of(train: Sequences, aside: Sequences, test: Sequences) -> Tags:
        """The sentences with the trees of their prefixes."""
        from tacit.sequences.moments.prefixes import PrefixTree

        return Tags(train, *(PrefixTree.of(sentences) for sentences in (train, aside, test)))


@lru_cache(maxsize=2)
def tags_of(case: TagCase) -> Tags:
    """The sentences of a case: the first ones of each part of the treebank."""
    from tacit.datasets import load_postags
    from tacit.sequences.data.read_sequences import read_sequences

    train, aside, test = (
        load_postags(case.kind, part)[:n]
        for part, n in (("train", case.n_train), ("dev", case.n_aside), ("test", case.n_test))
    )
    symbols = read_sequences([*train, *aside, *test]).symbols
    return Tags.of(*(read_sequences(part, symbols=symbols) for part in (train, aside, test)))
