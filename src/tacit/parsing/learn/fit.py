"""Learning latent-variable grammars: the stages, joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.threads import n_threads, one_blas_thread
from tacit.parsing.learn.grammar_em import Prior

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.parsing.data.parse_trees import ParseTree
    from tacit.parsing.data.treebank import CodedTrees, GrammarSymbols
    from tacit.parsing.learn.spectral_grammar import NodeVectors
    from tacit.parsing.model.grammar import GrammarTables, LatentGrammar, Lexicon
    from tacit.parsing.structure.rules import Rules

WAYS = ("auto", "spectral", "em")
_PRIOR = Prior(5.0, 5.0, 5.0)


@dataclass(frozen=True, slots=True)
class GrammarSettings:
    """How a grammar is learnt; numbers were chosen by the last tenth of the training trees (WSJ sample)."""

    n_states: int
    learn: str
    min_count: int
    n_restarts: int
    max_iter: int | None
    seed: int
    n_jobs: int | None
    backoff: float = 1.0  # words of its tag that each label is thought to have had besides
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
    parts: tuple[
        LatentGrammar, ...
    ]  # whose posteriors are averaged; scores of trees are those of the first
    diagnostics: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Job:
    """What all ways of learning need."""

    coded: CodedTrees
    rules: Rules
    lexicon: Lexicon
    settings: GrammarSettings
    diagnostics: dict[str, Any]  # to be filled
    report: Report


@one_blas_thread()
def fit_grammar(
    trees: Sequence[ParseTree], settings: GrammarSettings, report: Report
) -> FittedGrammar:
    """A grammar with one state a label, and one with as many as were asked for."""
    from tacit.parsing.data.treebank import coded_treebank
    from tacit.parsing.model.grammar import Lexicon, plain_grammar
    from tacit.parsing.structure.rules import Rules

    report(0.0, "rules")
    coded, symbols = coded_treebank(trees, min_count=settings.min_count)
    rules = Rules.of(coded, len(symbols.labels))
    lexicon = Lexicon.of(coded, symbols.tag_of_label, len(symbols.words), backoff=settings.backoff)
    coarse = plain_grammar(coded, rules, lexicon).grammar()
    diagnostics: dict[str, Any] = {
        "learn": settings.learn,
        "n_trees": len(trees),
        "n_nodes": len(coded.label),
        "n_labels": len(symbols.labels),
        "n_rules": len(rules),
        "n_words": len(symbols.words),
    }
    if settings.n_states == 1:
        return FittedGrammar(symbols, coarse, (coarse,), diagnostics)
    job = _Job(coded, rules, lexicon, settings, diagnostics, report)
    parts: tuple[LatentGrammar, ...]
    if settings.learn == "em":
        parts = (_by_em(job),)
    else:
        vectors = _vectors(job)
        parts = (_by_tensors(job, vectors),)
        if settings.learn == "auto":
            parts = (_by_clusters(job, vectors), *parts)
    return FittedGrammar(symbols, coarse, parts, diagnostics)


def _vectors(job: _Job) -> NodeVectors:
    from tacit.parsing.learn.spectral_grammar import node_vectors
    from tacit.parsing.moments.inside_outside import NodeFeatures

    settings = job.settings
    job.report(0.1, "features of nodes")
    features = NodeFeatures.of(job.coded, job.rules)
    job.report(0.2, "singular vectors")
    vectors = node_vectors(
        features, job.coded, settings.n_states, seed=settings.seed, damping=settings.damping
    )
    job.diagnostics["n_features"] = [features.inside.shape[1], features.outside.shape[1]]
    job.diagnostics["n_directions"] = int(sum(len(each) for each in vectors.values))
    return vectors


def _by_tensors(job: _Job, vectors: NodeVectors) -> LatentGrammar:
    from tacit.parsing.learn.spectral_grammar import Smoothing, spectral_grammar

    job.report(0.6, "tensors of rules")
    smoothing = Smoothing(job.settings.rules, job.settings.words)
    fine = spectral_grammar(
        vectors, job.coded, job.rules, job.lexicon, smoothing=smoothing, dtype=np.float32
    )
    job.diagnostics["n_tensors"] = len(fine.tensors)
    return fine


def _by_clusters(job: _Job, vectors: NodeVectors) -> LatentGrammar:
    from tacit.parsing.learn.grammar_em import tables_from_counts
    from tacit.parsing.learn.grammar_start import clustered_states, state_counts

    settings = job.settings
    job.report(0.4, "clusters of nodes")
    states = clustered_states(vectors, job.coded, settings.n_states, seed=settings.seed)
    counts = state_counts(states, job.coded, job.rules, job.lexicon, settings.n_states)
    start = tables_from_counts(counts, job.rules, job.lexicon, settings.prior)
    tables, logs = _polished(
        job,
        start,
        settings.polish_steps,
        lambda share, text: job.report(0.5 + 0.5 * share, text),
    )
    job.diagnostics["log_likelihoods"] = logs
    return tables.grammar(np.float32)


def _by_em(job: _Job) -> LatentGrammar:
    from tacit.parsing.learn.grammar_em import random_tables

    settings = job.settings
    best: tuple[GrammarTables, list[float]] | None = None
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)
    for number, seed in enumerate(seeds):

        def told(share: float, text: str, number: int = number) -> None:
            job.report((number + share) / len(seeds), f"start {number + 1}, {text}")

        rng = np.random.default_rng(seed)
        start = random_tables(job.coded, job.rules, job.lexicon, settings.n_states, rng)
        found = _polished(job, start, settings.em_steps, told)
        if best is None or found[1][-1:] > best[1][-1:]:
            best = found
    assert best is not None  # there is at least one start
    job.diagnostics["log_likelihoods"] = best[1]
    return best[0].grammar(np.float32)


def _polished(
    job: _Job, start: GrammarTables, usual_steps: int, report: Report
) -> tuple[GrammarTables, list[float]]:
    """Tables after as many steps of EM as were asked for, and the likelihood before each."""
    from tacit.parsing.learn.grammar_em import polish

    settings = job.settings
    return polish(
        start,
        job.coded,
        n_steps=usual_steps if settings.max_iter is None else settings.max_iter,
        prior=settings.prior,
        n_jobs=n_threads(settings.n_jobs) or 1,
        report=report,
    )
