"""A page about a topic model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.core.summary import Section, Summary
from tacit.topics.model.topics import Topics
from tacit.topics.query.documents import top_words

_N_TOPICS, _N_WORDS = 50, 8  # shown


def topic_summary(topics: Topics, words: Sequence[str], diagnostics: Mapping[str, Any]) -> Summary:
    """Topics with weights and most likely words, the data, and what was chosen."""
    moments = diagnostics.get("moments", {})
    surplus = set(moments.get("surplus", ()))
    best = top_words(topics, _N_WORDS)[:_N_TOPICS]
    rows = [
        (
            number,
            f"{topics.weights[number]:.4f}",
            " ".join(f"{words[word]} {topics.words[number, word]:.3f}" for word in row)
            + (" (surplus)" if number in surplus else ""),
        )
        for number, row in enumerate(best)
    ]
    mixing = f"alpha0 {topics.alpha0:.4g}" if topics.model == "lda" else "one topic per document"
    heading = "topics" if topics.n_topics <= _N_TOPICS else f"topics (the first {_N_TOPICS})"
    sections = [
        Section(heading, columns=("topic", "weight", "most likely words"), rows=rows),
        Section("data", facts=_data(diagnostics)),
        Section("fit", facts=_fit(diagnostics, moments)),
    ]
    if "perplexities" in diagnostics:
        perplexities = [(k, f"{value:.2f}") for k, value in diagnostics["perplexities"].items()]
        heading = "number of topics, chosen by held-out documents"
        sections.append(Section(heading, columns=("topics", "perplexity"), rows=perplexities))
    title = f"TopicModel: {topics.n_topics} topics, {topics.n_words} words, {mixing}"
    return Summary(title, [section for section in sections if section.rows or section.facts])


def _data(diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "documents": "n_documents",
        "words": "n_tokens",
        "distinct words": "n_words",
        "documents without words": "n_empty",
        "documents of fewer than three words": "n_short",
        "passes over the documents": "n_passes",
    }
    return {name: diagnostics[key] for name, key in names.items() if key in diagnostics}


def _fit(diagnostics: Mapping[str, Any], moments: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: diagnostics[name] for name in ("learn", "cap") if name in diagnostics}
    if trace := diagnostics.get("trace"):
        facts |= {"variational steps": len(trace), "objective per word": trace[-1]}
    if moments:
        facts["residual of the tensor of moments"] = moments["residual"]
        above = sum(value > moments["noise"] for value in moments["eigenvalues"])
        facts["eigenvalues of pairs above noise"] = f"{above} of {len(moments['eigenvalues'])}"
        facts["surplus topics"] = len(moments["surplus"])
    return facts
