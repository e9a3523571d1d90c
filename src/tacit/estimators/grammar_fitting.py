"""Learning latent-variable grammars: the stages, joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.loops.threads import n_threads, one_blas_thread
from tacit.polish.grammar import Prior

if TYPE_CHECKING:
    from tacit.data.parse_trees import ParseTree
    from tacit.data.treebank_grammar import CodedTrees, GrammarSymbols
    from tacit.estimators.progress import Report
    from tacit.params.grammar import GrammarTables, LatentGrammar, Lexicon
    from tacit.params.spectral_grammar import NodeVectors
    from tacit.structure.grammar import Rules

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


@one_blas_thread()
def fit_grammar(
    trees: Sequence[ParseTree], settings: GrammarSettings, report: Report
) -> FittedGrammar:
    """A grammar with one state a label, and one with as many as were asked for."""
    from tacit.data.treebank_grammar import coded_treebank
    from tacit.params.grammar import Lexicon, plain_grammar
    from tacit.structure.grammar import Rules

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
    parts: tuple[LatentGrammar, ...]
    if settings.learn == "em":
        parts = (_by_em(coded, rules, lexicon, settings, diagnostics, report),)
    else:
        vectors = _vectors(coded, rules, settings, diagnostics, report)
        parts = (_by_tensors(vectors, coded, rules, lexicon, settings, diagnostics, report),)
        if settings.learn == "auto":
            tables = _by_clusters(vectors, coded, rules, lexicon, settings, diagnostics, report)
            parts = (tables, *parts)
    return FittedGrammar(symbols, coarse, parts, diagnostics)


def _vectors(
    coded: CodedTrees,
    rules: Rules,
    settings: GrammarSettings,
    diagnostics: dict[str, Any],
    report: Report,
) -> NodeVectors:
    from tacit.moments.inside_outside import NodeFeatures
    from tacit.params.spectral_grammar import node_vectors

    report(0.1, "features of nodes")
    features = NodeFeatures.of(coded, rules)
    report(0.2, "singular vectors")
    vectors = node_vectors(
        features, coded, settings.n_states, seed=settings.seed, damping=settings.damping
    )
    diagnostics["n_features"] = [features.inside.shape[1], features.outside.shape[1]]
    diagnostics["n_directions"] = int(sum(len(each) for each in vectors.values))
    return vectors


def _by_tensors(
    vectors: NodeVectors,
    coded: CodedTrees,
    rules: Rules,
    lexicon: Lexicon,
    settings: GrammarSettings,
    diagnostics: dict[str, Any],
    report: Report,
) -> LatentGrammar:
    from tacit.params.spectral_grammar import Smoothing, spectral_grammar

    report(0.6, "tensors of rules")
    smoothing = Smoothing(settings.rules, settings.words)
    fine = spectral_grammar(vectors, coded, rules, lexicon, smoothing=smoothing, dtype=np.float32)
    diagnostics["n_tensors"] = len(fine.tensors)
    return fine


def _by_clusters(
    vectors: NodeVectors,
    coded: CodedTrees,
    rules: Rules,
    lexicon: Lexicon,
    settings: GrammarSettings,
    diagnostics: dict[str, Any],
    report: Report,
) -> LatentGrammar:
    from tacit.params.grammar_start import clustered_states, state_counts
    from tacit.polish.grammar import polish, tables_from_counts

    report(0.4, "clusters of nodes")
    states = clustered_states(vectors, coded, settings.n_states, seed=settings.seed)
    counts = state_counts(states, coded, rules, lexicon, settings.n_states)
    start = tables_from_counts(counts, rules, lexicon, settings.prior)
    steps = settings.polish_steps if settings.max_iter is None else settings.max_iter
    tables, logs = polish(
        start,
        coded,
        n_steps=steps,
        prior=settings.prior,
        n_jobs=n_threads(settings.n_jobs) or 1,
        report=lambda share, text: report(0.5 + 0.5 * share, text),
    )
    diagnostics["log_likelihoods"] = logs
    return tables.grammar(np.float32)


def _by_em(
    coded: CodedTrees,
    rules: Rules,
    lexicon: Lexicon,
    settings: GrammarSettings,
    diagnostics: dict[str, Any],
    report: Report,
) -> LatentGrammar:
    from tacit.polish.grammar import polish, random_tables

    best: tuple[GrammarTables, list[float]] | None = None
    steps = settings.em_steps if settings.max_iter is None else settings.max_iter
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)
    for number, seed in enumerate(seeds):

        def told(share: float, text: str, number: int = number) -> None:
            report((number + share) / len(seeds), f"start {number + 1}, {text}")

        start = random_tables(coded, rules, lexicon, settings.n_states, np.random.default_rng(seed))
        found = polish(
            start,
            coded,
            n_steps=steps,
            prior=settings.prior,
            n_jobs=n_threads(settings.n_jobs) or 1,
            report=told,
        )
        if best is None or found[1][-1:] > best[1][-1:]:
            best = found
    assert best is not None  # there is at least one start
    diagnostics["log_likelihoods"] = best[1]
    return best[0].grammar(np.float32)
