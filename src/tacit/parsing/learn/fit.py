"""The steps of `LatentPCFG.fit`, in order: rules and lexicon, the plain grammar, then the fine grammars.

"em" starts at random; "spectral" makes tensors from singular vectors of nodes; "auto" makes these, and tables
by EM that starts from clusters of the same vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.threads import n_threads, one_blas_thread
from tacit.parsing.data.treebank import CodedTrees, GrammarSymbols, coded_treebank
from tacit.parsing.learn.grammar_em import Prior, polish, random_tables, tables_from_counts
from tacit.parsing.learn.grammar_start import clustered_states, state_counts
from tacit.parsing.learn.plain_grammar import lexicon_of_trees, plain_grammar
from tacit.parsing.learn.spectral_grammar import (
    NodeVectors,
    Smoothing,
    node_vectors,
    spectral_grammar,
)
from tacit.parsing.model.grammar import GrammarTables, LatentGrammar, Lexicon
from tacit.parsing.moments.given_features import given_features
from tacit.parsing.moments.inside_outside import NodeFeatures
from tacit.parsing.structure.rules import Rules

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.parsing.data.parse_trees import ParseTree

LEARNERS = ("auto", "spectral", "em")
_PRIOR = Prior(5.0, 5.0, 5.0)


@dataclass(frozen=True, slots=True)
class GrammarSettings:
    """How a grammar is learnt; constants were chosen on the last tenth of the training trees (WSJ sample)."""

    n_states: int
    learn: str
    min_count: int
    n_restarts: int
    max_iter: int | None
    seed: int
    n_jobs: int | None
    features: Any = None  # functions of inside and outside trees; None: Tacit's own
    backoff: float = 1.0  # pseudo-count of words of its tag that each label gets
    damping: float = 0.3  # see `node_vectors`
    rules: float = 25.0  # see `Smoothing`
    words: float = 5.0
    prior: Prior = _PRIOR
    em_steps: int = 20
    polish_steps: int = 3


@dataclass(frozen=True, eq=False)
class FittedGrammar:
    """What was learnt from a treebank."""

    symbols: GrammarSymbols
    coarse: LatentGrammar  # with one state
    grammars: tuple[
        LatentGrammar, ...
    ]  # posteriors are averaged; the first gives the scores of trees
    diagnostics: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Treebank:
    """What all learners take: trees in codes, their rules and words, and where to report to."""

    trees: CodedTrees
    symbols: GrammarSymbols
    rules: Rules
    lexicon: Lexicon
    settings: GrammarSettings
    diagnostics: dict[str, Any]  # to be filled
    report: Report


@one_blas_thread()
def fit_grammar(
    trees: Sequence[ParseTree], settings: GrammarSettings, report: Report
) -> FittedGrammar:
    """The plain grammar of a treebank, and grammars with `n_states` states per label."""
    report(0.0, "rules")
    coded, symbols = coded_treebank(trees, min_count=settings.min_count)
    rules = Rules.of(coded, len(symbols.labels))
    lexicon = lexicon_of_trees(
        coded, symbols.tag_of_label, len(symbols.words), backoff=settings.backoff
    )
    coarse = plain_grammar(coded, rules, lexicon).grammar()
    diagnostics: dict[str, Any] = {
        "learn": settings.learn,
        "n_trees": len(trees),
        "n_nodes": len(coded.label),
        "n_labels": len(symbols.labels),
        "n_rules": len(rules),
        "n_words": len(symbols.words),
    }
    bank = _Treebank(coded, symbols, rules, lexicon, settings, diagnostics, report)
    grammars = (coarse,) if settings.n_states == 1 else _fine_grammars(bank)
    return FittedGrammar(symbols, coarse, grammars, diagnostics)


def _fine_grammars(bank: _Treebank) -> tuple[LatentGrammar, ...]:
    if bank.settings.learn == "em":
        return (_em_from_random_starts(bank),)
    vectors = _node_vectors(bank)
    if bank.settings.learn == "spectral":
        return (_spectral(bank, vectors),)
    tensors = _spectral(bank, vectors)
    return _em_from_clusters(bank, vectors), tensors


def _node_vectors(bank: _Treebank) -> NodeVectors:
    """Inside and outside features of all nodes, projected on their singular vectors."""
    settings = bank.settings
    bank.report(0.1, "features of nodes")
    if settings.features is None:
        features = NodeFeatures.of(bank.trees, bank.rules)
    else:
        features = given_features(bank.trees, bank.symbols, settings.features)
    bank.report(0.15, "scaling of features")
    features = features.scaled()
    bank.report(0.2, "singular vectors")
    vectors = node_vectors(
        features, bank.trees, settings.n_states, seed=settings.seed, damping=settings.damping
    )
    bank.diagnostics["n_features"] = [features.inside.shape[1], features.outside.shape[1]]
    bank.diagnostics["n_directions"] = int(sum(len(values) for values in vectors.values))
    return vectors


def _spectral(bank: _Treebank, vectors: NodeVectors) -> LatentGrammar:
    """Tensors of rules as moments of the vectors of nodes."""
    smoothing = Smoothing(bank.settings.rules, bank.settings.words)
    grammar = spectral_grammar(
        *(vectors, bank.trees, bank.rules, bank.lexicon),
        smoothing=smoothing,
        dtype=np.float32,
        report=bank.report,
    )
    bank.diagnostics["n_tensors"] = len(grammar.tensors)
    return grammar


def _em_from_clusters(bank: _Treebank, vectors: NodeVectors) -> LatentGrammar:
    """Tables counted from clusters of nodes, then a few steps of EM."""
    settings = bank.settings
    bank.report(0.4, "clusters of nodes")
    states = clustered_states(vectors, bank.trees, settings.n_states, seed=settings.seed)
    counts = state_counts(states, bank.trees, bank.rules, bank.lexicon, settings.n_states)
    start = tables_from_counts(counts, bank.rules, bank.lexicon, settings.prior)

    def report(done: float, text: str) -> None:
        bank.report(0.5 + 0.5 * done, text)

    tables, log_likelihoods = _em(bank, start, settings.polish_steps, report)
    bank.diagnostics["log_likelihoods"] = log_likelihoods
    return tables.grammar(np.float32)


def _em_from_random_starts(bank: _Treebank) -> LatentGrammar:
    """The tables of the largest likelihood after EM from several random starts."""
    settings = bank.settings
    best: tuple[GrammarTables, list[float]] | None = None
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)
    for restart, seed in enumerate(seeds):

        def report(done: float, text: str, restart: int = restart) -> None:
            bank.report((restart + done) / len(seeds), f"start {restart + 1}, {text}")

        rng = np.random.default_rng(seed)
        start = random_tables(bank.trees, bank.rules, bank.lexicon, settings.n_states, rng)
        candidate = _em(bank, start, settings.em_steps, report)
        if best is None or candidate[1][-1:] > best[1][-1:]:
            best = candidate
    assert best is not None  # there is at least one start
    bank.diagnostics["log_likelihoods"] = best[1]
    return best[0].grammar(np.float32)


def _em(
    bank: _Treebank, start: GrammarTables, default_steps: int, report: Report
) -> tuple[GrammarTables, list[float]]:
    """Tables after `max_iter` steps of EM, and the log-likelihood before each."""
    settings = bank.settings
    return polish(
        start,
        bank.trees,
        n_steps=default_steps if settings.max_iter is None else settings.max_iter,
        prior=settings.prior,
        n_jobs=n_threads(settings.n_jobs) or 1,
        report=report,
    )
