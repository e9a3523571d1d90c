"""What parsers and grammars learnt, on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.summary import Section, Summary

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import GrammarSymbols
    from tacit.parsing.model.grammar import LatentGrammar
    from tacit.parsing.model.span_ratios import SpanRatios
    from tacit.parsing.model.tag_chunks import TagChunker
    from tacit.parsing.model.tag_distances import TagDistances

Array = NDArray[np.float64]
_MOST = 8  # rows of a table
_LABELS = 4  # whose states are shown
_STATES = 6  # of a label
_ENTRIES = 3  # rules or words of a state
_NAMES = {
    "learn": "learn",
    "n_trees": "trees",
    "n_sentences": "sentences",
    "n_words": "words",
    "n_pairs": "pairs of words",
    "n_features": "numbers of a word vector",
    "n_steps": "EM steps",
    "n_nodes": "nodes",
    "n_labels": "labels",
    "n_rules": "rules",
    "n_tensors": "dense tensors",
    "rank": "rank",
}


# -- grammars -----------------------------------------------------------------------------------------


def grammar_summary(
    symbols: GrammarSymbols,
    coarse: LatentGrammar,
    grammars: Sequence[LatentGrammar],
    diagnostics: Mapping[str, Any],
) -> Summary:
    """Labels, states, the most frequent rules, and the likeliest rules and words of states."""
    grammar = grammars[0]
    facts = _fit_facts(diagnostics) | {"tags": len(symbols.tags)}
    if diagnostics.get("log_likelihoods"):
        facts["log-likelihood before the last step"] = float(diagnostics["log_likelihoods"][-1])
    per_tree = label_counts(coarse)
    rule_probs = coarse.parents[:, 0].astype(np.float64)
    names = [str(label) for label in symbols.labels]
    of_rules = per_tree[coarse.rules.triples[:, 0]] * rule_probs
    n_states = grammar.n_states
    sections = [
        Section("fit", facts=facts),
        Section(
            "most frequent rules",
            columns=("rule", "per tree", "probability"),
            rows=[
                (_rule_name(names, coarse, rule), of_rules[rule], rule_probs[rule])
                for rule in np.argsort(-of_rules, kind="stable")[:_MOST]
            ],
        ),
    ]
    if n_states > 1 and grammar.has_tables:
        sections.append(_state_section(symbols, names, grammar, per_tree))
    elif n_states > 1:
        text = (
            "Tensors of rules in a basis of singular vectors: single states have no probabilities."
        )
        sections.append(Section("states", text=text))
    states = "one state" if n_states == 1 else f"{n_states} states"
    return Summary(
        f"LatentPCFG: {len(names)} labels of {states}, {len(coarse.rules)} rules", sections
    )


def label_counts(coarse: LatentGrammar) -> Array:
    """(label,) how often each label is expected in a tree of the grammar of one state."""
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import spsolve

    n_labels, triples = coarse.rules.n_labels, coarse.rules.triples
    weights = np.tile(coarse.parents[:, 0].astype(np.float64), 2)
    places = np.concatenate([triples[:, 1], triples[:, 2]]), np.tile(triples[:, 0], 2)
    children = coo_array((weights, places), shape=(n_labels, n_labels))
    counts = spsolve((eye_array(n_labels) - children).tocsc(), coarse.start[:, 0])
    return np.asarray(counts, dtype=np.float64)


def _state_section(
    symbols: GrammarSymbols, names: Sequence[str], grammar: LatentGrammar, per_tree: Array
) -> Section:
    """The likeliest rules and words of the states of the most frequent labels."""
    n_states, rows = grammar.n_states, []
    rule_probs = grammar.parents.reshape(-1, n_states, n_states).diagonal(axis1=1, axis2=2)
    heads = np.concatenate([grammar.rules.triples[:, 0], grammar.lexicon.pair_label])
    has_choice = np.bincount(heads, minlength=len(names)) > 1
    for label in np.argsort(-per_tree * has_choice, kind="stable")[:_LABELS]:
        rules = np.flatnonzero(grammar.rules.triples[:, 0] == label).tolist()
        pairs = np.flatnonzero(grammar.lexicon.pair_label == label)
        for state in range(min(n_states, _STATES)):
            entries = [
                (float(rule_probs[rule, state]), _children(names, grammar, rule)) for rule in rules
            ] + [
                (float(grammar.words[pair, state]), symbols.words[grammar.lexicon.pair_word[pair]])
                for pair in pairs
            ]
            entries.sort(key=lambda entry: -entry[0])
            likeliest = ", ".join(f"{text} {p:.2f}" for p, text in entries[:_ENTRIES])
            rows.append((names[label] if state == 0 else "", state, likeliest))
    heading = f"likeliest rules and words of the states of the {_LABELS} most frequent labels"
    return Section(heading, columns=("label", "state", "children or words"), rows=rows)


def _children(names: Sequence[str], grammar: LatentGrammar, rule: int) -> str:
    _, left, right = grammar.rules.triples[rule]
    return f"{names[left]} {names[right]}"


def _rule_name(names: Sequence[str], grammar: LatentGrammar, rule: int) -> str:
    return f"{names[grammar.rules.triples[rule, 0]]} -> {_children(names, grammar, rule)}"


# -- parsers ------------------------------------------------------------------------------------------


def span_parser_summary(
    arguments: Mapping[str, Any],
    distances: TagDistances,
    chunker: TagChunker,
    diagnostics: Mapping[str, Any],
) -> Summary:
    """What decides a tree, the learnt distances between neighbours, groups and predicates."""
    prior, top = arguments["prior"], arguments["top"]
    learnt_top = top == "learnt" or (top == "auto" and prior == "learnt")
    uses = {
        "prior": {"units": "groups by rule", "learnt": "learnt groups", None: "none"}[prior],
        "top split": "learnt predicates" if learnt_top else "heuristic" if top == "auto" else top,
        "weight of the metric": 1.0 if prior is None else arguments["metric_weight"],
        "word vectors": arguments["vectors"] if isinstance(arguments["vectors"], str) else "given",
    }
    nearest = distances.table[:, :, 0]
    order = np.argsort(nearest, axis=None, kind="stable")
    pairs = [divmod(int(at), nearest.shape[1]) for at in (*order[:_MOST], order[-1])]
    groups = [
        (name, ", ".join(chunker.tags[at] for at in np.argsort(-row[:-1], kind="stable")[:5]))
        for name, row in zip(("outside groups", "first", "inside"), chunker.emissions, strict=True)
    ]
    sections = [
        Section("what decides a tree", facts=uses),
        Section("fit", facts=_fit_facts(diagnostics)),
        Section(
            "distances of neighbouring tags: the nearest pairs, and the farthest",
            columns=("left", "right", "distance"),
            rows=[(distances.tags[a], distances.tags[b], float(nearest[a, b])) for a, b in pairs],
        ),
        Section(
            "learnt groups and predicates",
            columns=("place", "most frequent tags"),
            rows=[*groups, ("a predicate begins", ", ".join(sorted(chunker.predicates)) or "-")],
        ),
    ]
    return Summary(f"SpanParser: brackets of sentences with {len(chunker.tags)} tags", sections)


def context_model_summary(
    arguments: Mapping[str, Any],
    tags: Sequence[str],
    ratios: SpanRatios,
    diagnostics: Mapping[str, Any],
) -> Summary:
    """Which pairs of tags, and which contexts, most speak for a constituent and against one."""
    from tacit.parsing.moments.tag_spans import SpanTable

    n = len(tags) + 1
    every = [(a, b) for a in range(n - 1) for b in range(n - 1)]
    spans = SpanTable.of(every, n).yields
    at = np.minimum(np.searchsorted(ratios.yields, spans), max(len(ratios.yields) - 1, 0))
    known = [
        (float(ratios.of_yields[place]), f"{tags[a]} {tags[b]}")
        for (a, b), place, span in zip(every, at, spans, strict=True)
        if len(ratios.yields) and ratios.yields[place] == span
    ]
    names = [*tags, "other", "edge"]
    contexts = [
        (float(ratio), f"{names[code // (n + 1)]} _ {names[code % (n + 1)]}")
        for code, ratio in enumerate(ratios.of_contexts)
    ]
    uses = {"tags": arguments["tags"], "longest sentence": arguments["longest"]}
    sections = [
        Section("fit", facts=_fit_facts(diagnostics) | uses),
        _ratio_section("pairs of tags as constituents: log of the ratio of probabilities", known),
        _ratio_section("contexts of constituents: log of the ratio of probabilities", contexts),
    ]
    title = f"ConstituentContextModel: {len(ratios.yields)} sequences of {len(tags)} tags"
    return Summary(title, sections)


def _ratio_section(heading: str, entries: list[tuple[float, str]]) -> Section:
    """The largest ratios, and the smallest beside them."""
    entries = sorted(entries, key=lambda entry: -entry[0])
    half = min(_MOST, (len(entries) + 1) // 2)
    most, least = entries[:half], entries[::-1][:half]
    rows = [(up, high, down, low) for (high, up), (low, down) in zip(most, least, strict=True)]
    return Section(heading, columns=("most", "log ratio", "least", "log ratio"), rows=rows)


def _fit_facts(diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    facts = {
        name: diagnostics[key]
        for key, name in _NAMES.items()
        if isinstance(diagnostics.get(key), str | int | float)
    }
    tags_map = diagnostics.get("tags_map", {})
    if tags_map:
        facts["tags map"] = ", ".join(f"{tag} {meant}" for tag, meant in tags_map.items())
    return facts
