"""EM for latent-variable grammars: trees are given, only the states of their labels are hidden."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.data.treebank import CodedTrees
from tacit.parsing.learn.plain_grammar import plain_grammar
from tacit.parsing.model.grammar import GrammarTables, Lexicon
from tacit.parsing.structure.rules import Rules

Array = NDArray[Any]
Counts = tuple[Array, Array, Array, Array, Array]
PARTS = 4  # of the trees, whatever the number of threads, so that sums do not depend on it


@dataclass(frozen=True, slots=True)
class Prior:
    """Pseudo-counts of EM: each state is drawn to the average of all states of its label or rule."""

    rules: float = 1.0  # per state of a label, distributed as the rules of all its states
    children: float = 1.0  # per state of a rule, distributed as the child states of all its states
    words: float = 1.0  # per state of a label


def random_tables(
    trees: CodedTrees, rules: Rules, lexicon: Lexicon, n_states: int, rng: Any, noise: float = 1.0
) -> GrammarTables:
    """The plain grammar with random perturbations, so that states differ a little."""
    plain, m = plain_grammar(trees, rules, lexicon), n_states
    n_rules = len(rules)

    def perturbed(shape: tuple[int, ...]) -> Array:
        return np.asarray(1 + noise * rng.uniform(-0.5, 0.5, shape))

    counts = (
        plain.start * perturbed((rules.n_labels, m)) / m,
        plain.rule_given * perturbed((n_rules, m)),
        perturbed((n_rules, m, m)),
        perturbed((n_rules, m, m)),
        plain.word_given * perturbed((len(plain.word_given), m)),
    )
    return tables_from_counts(counts, rules, lexicon, Prior(0.0, 0.0, 0.0))


def tables_from_counts(
    counts: Counts, rules: Rules, lexicon: Lexicon, prior: Prior
) -> GrammarTables:
    """Relative frequencies of (expected) counts with pseudo-counts."""
    starts, rule_counts, left_counts, right_counts, word_counts = counts
    n_labels, parents = rules.n_labels, rules.triples[:, 0]
    rule_counts = _with_pseudo_counts(rule_counts, parents, n_labels, prior.rules)
    word_counts = _with_pseudo_counts(word_counts, lexicon.pair_label, n_labels, prior.words)
    totals = _sums(rule_counts, parents, n_labels) + _sums(
        word_counts, lexicon.pair_label, n_labels
    )
    totals = np.maximum(totals, 1e-30)
    return GrammarTables(
        rules,
        lexicon,
        starts / starts.sum(),
        rule_counts / totals[parents],
        _child_probabilities(left_counts, prior.children),
        _child_probabilities(right_counts, prior.children),
        word_counts / totals[lexicon.pair_label],
    )


def _sums(rows: Array, codes: NDArray[np.integer], n: int) -> Array:
    total = np.zeros((n, rows.shape[1]))
    np.add.at(total, codes, rows)
    return total


def _with_pseudo_counts(
    counts: Array, labels: NDArray[np.integer], n_labels: int, pseudo_count: float
) -> Array:
    """Counts by state, and pseudo-counts distributed as the counts of all states of the label."""
    of_all = counts.sum(axis=1)
    fractions = of_all / np.maximum(np.bincount(labels, of_all, n_labels), 1e-30)[labels]
    return np.asarray(counts + pseudo_count * fractions[:, None])


def _child_probabilities(counts: Array, pseudo_count: float) -> Array:
    """(rule, state, child state) P(child state | rule, state), drawn to the mean over states of the rule."""
    m = counts.shape[1]
    of_all = counts.sum(axis=1, keepdims=True)
    of_all = (of_all + 1e-6 / m) / (of_all.sum(axis=2, keepdims=True) + 1e-6)
    mixed = counts + max(pseudo_count, 1e-6) * of_all
    return np.asarray(mixed / mixed.sum(axis=2, keepdims=True))


def expected_counts(
    tables: GrammarTables, trees: CodedTrees, *, n_jobs: int = 1, dtype: Any = np.float64
) -> tuple[Counts, float]:
    """Expected counts of all tables' entries, and the log-likelihood of the trees.

    Words have their probabilities given label and state; the lexicon's back-off to tags is left out here.
    """
    from tacit.parsing.loops.grammar_em import expect

    names = ("start", "rule_given", "left_given", "right_given", "word_given")
    arrays = tuple(np.ascontiguousarray(getattr(tables, name), dtype) for name in names)
    leaf = trees.left < 0
    pair = np.full(len(leaf), -1, dtype=np.int32)
    pair[leaf] = tables.lexicon.pair_of(trees.label[leaf], trees.word[leaf])
    nodes = (
        *(trees.first, trees.label, trees.left, trees.right),
        *(tables.rules.rule_of(trees), pair, trees.weight),
    )
    largest = int(np.diff(trees.first).max())
    bounds = np.searchsorted(trees.first, np.linspace(0, trees.first[-1], PARTS + 1)[1:-1])
    cuts = [0, *bounds.tolist(), trees.n_trees]

    def part(number: int) -> tuple[list[Array], float]:
        counts = [np.zeros_like(array) for array in arrays]
        buffers = [np.zeros((largest, tables.n_states), dtype) for _ in range(4)]
        log = expect(nodes, arrays, tuple(counts), cuts[number], cuts[number + 1], *buffers)
        return counts, float(log)

    with ThreadPoolExecutor(n_jobs) as pool:
        parts = list(pool.map(part, range(PARTS)))
    starts, rules, lefts, rights, words = (
        np.asarray(np.sum([counts[at] for counts, _ in parts], axis=0, dtype=np.float64))
        for at in range(5)
    )
    lefts *= tables.left_given
    rights *= tables.right_given
    return (starts, rules, lefts, rights, words), float(sum(log for _, log in parts))


def polish(
    tables: GrammarTables,
    trees: CodedTrees,
    *,
    n_steps: int,
    prior: Prior | None = None,
    n_jobs: int = 1,
    dtype: Any = np.float32,
    report: Callable[[float, str], None] | None = None,
) -> tuple[GrammarTables, list[float]]:
    """Tables after some steps of EM, and the log-likelihood of the trees before each."""
    prior = Prior() if prior is None else prior
    logs = []
    for step in range(n_steps):
        counts, log = expected_counts(tables, trees, n_jobs=n_jobs, dtype=dtype)
        tables = tables_from_counts(counts, tables.rules, tables.lexicon, prior)
        logs.append(log)
        if report is not None:
            report((step + 1) / n_steps, f"EM step {step + 1}: {log:.1f} nats")
    return tables, logs
