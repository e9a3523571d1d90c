"""EM for latent-variable grammars: trees are given, only the states of their labels are hidden."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.model.grammar import GrammarTables

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees
    from tacit.parsing.model.grammar import Lexicon
    from tacit.parsing.structure.rules import Rules

Array = NDArray[Any]
Counts = tuple[Array, Array, Array, Array, Array]
PARTS = 4  # of the trees, counted apart whatever the number of threads


@dataclass(frozen=True, slots=True)
class Prior:
    """Pseudo-counts of EM's tables.

    Of each state of a label `rules` uses are spread as those of all its states, and of each move `moves` as
    those of all states of its rule; `words` likewise.
    """

    rules: float = 1.0
    moves: float = 1.0
    words: float = 1.0


def random_tables(
    trees: CodedTrees, rules: Rules, lexicon: Lexicon, n_states: int, rng: Any, noise: float = 1.0
) -> GrammarTables:
    """Tables in which all states are nearly alike: the plain grammar, stirred."""
    from tacit.parsing.learn.plain_grammar import plain_grammar

    plain, m = plain_grammar(trees, rules, lexicon), n_states
    n_rules = len(rules)

    def stirred(shape: tuple[int, ...]) -> Array:
        return np.asarray(1 + noise * rng.uniform(-0.5, 0.5, shape))

    counts = (
        plain.start * stirred((rules.n_labels, m)) / m,
        plain.rule_given * stirred((n_rules, m)),
        stirred((n_rules, m, m)),
        stirred((n_rules, m, m)),
        plain.word_given * stirred((len(plain.word_given), m)),
    )
    return tables_from_counts(counts, rules, lexicon, Prior(0.0, 0.0, 0.0))


def tables_from_counts(
    counts: Counts, rules: Rules, lexicon: Lexicon, prior: Prior
) -> GrammarTables:
    """Tables of (expected) counts: shares, drawn to what all states have in common."""
    starts, rule_seen, left_seen, right_seen, word_seen = counts
    label_of_rule = rules.triples[:, 0]
    uses = _drawn(rule_seen, label_of_rule, rules.n_labels, prior.rules)
    words = _drawn(word_seen, lexicon.pair_label, rules.n_labels, prior.words)
    seen = _sums(uses, label_of_rule, rules.n_labels) + _sums(
        words, lexicon.pair_label, rules.n_labels
    )
    seen = np.maximum(seen, 1e-30)
    return GrammarTables(
        rules,
        lexicon,
        starts / starts.sum(),
        uses / seen[label_of_rule],
        _moves(left_seen, prior.moves),
        _moves(right_seen, prior.moves),
        words / seen[lexicon.pair_label],
    )


def _sums(rows: Array, codes: NDArray[np.integer], n: int) -> Array:
    total = np.zeros((n, rows.shape[1]))
    np.add.at(total, codes, rows)
    return total


def _drawn(seen: Array, codes: NDArray[np.integer], n: int, strength: float) -> Array:
    """Counts of states with pseudo-counts spread as the counts of all states of the label."""
    common = seen.sum(axis=1)
    share = common / np.maximum(np.bincount(codes, common, n), 1e-30)[codes]
    return np.asarray(seen + strength * share[:, None])


def _moves(seen: Array, strength: float) -> Array:
    """(rule, state, child state) shares; states of a child are drawn to those of all states of the rule."""
    m = seen.shape[1]
    common = seen.sum(axis=1, keepdims=True)
    common = (common + 1e-6 / m) / (common.sum(axis=2, keepdims=True) + 1e-6)
    mixed = seen + max(strength, 1e-6) * common
    return np.asarray(mixed / mixed.sum(axis=2, keepdims=True))


def expected_counts(
    tables: GrammarTables, trees: CodedTrees, *, n_jobs: int = 1, dtype: Any = np.float64
) -> tuple[Counts, float]:
    """Expected counts of all tables' entries, and the log-likelihood of the trees.

    Words come as often as their pairs were seen: the lexicon's back-off to tags is left out here.
    """
    from tacit.parsing.loops.grammar_em import expect

    given = tuple(
        np.ascontiguousarray(each, dtype)
        for each in (
            *(tables.start, tables.rule_given, tables.left_given),
            *(tables.right_given, tables.word_given),
        )
    )
    leaf = trees.left < 0
    pair = np.full(len(leaf), -1, dtype=np.int32)
    pair[leaf] = tables.lexicon.pair_of(trees.label[leaf], trees.word[leaf])
    nodes = (
        *(trees.first, trees.label, trees.left, trees.right),
        *(tables.rules.rule_of(trees), pair, trees.weight),
    )
    longest = int(np.diff(trees.first).max())
    bounds = np.searchsorted(trees.first, np.linspace(0, trees.first[-1], PARTS + 1)[1:-1])
    cuts = [0, *bounds.tolist(), trees.n_trees]

    def part(number: int) -> tuple[list[Array], float]:
        counts = [np.zeros(each.shape, dtype) for each in given]
        rooms = [np.zeros((longest, tables.n_states), dtype) for _ in range(4)]
        log = expect(nodes, given, tuple(counts), cuts[number], cuts[number + 1], *rooms)
        return counts, float(log)

    with ThreadPoolExecutor(n_jobs) as pool:
        found = list(pool.map(part, range(PARTS)))
    starts, uses, lefts, rights, words = (
        np.asarray(np.sum([counts[at] for counts, _ in found], axis=0, dtype=np.float64))
        for at in range(5)
    )
    lefts *= tables.left_given
    rights *= tables.right_given
    return (starts, uses, lefts, rights, words), float(sum(log for _, log in found))


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
