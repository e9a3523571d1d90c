"""Pages about language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.summary import Section, Summary
from tacit.language.data.vocabulary import SPECIAL, Vocabulary

_N_CLASSES, _N_WORDS = 20, 8  # shown


def text_section(vocabulary: Vocabulary, diagnostics: Mapping[str, Any]) -> Section:
    """The text that a model was fitted to."""
    facts: dict[str, Any] = {"vocabulary": len(vocabulary) - len(SPECIAL)}
    for name, key in (("words", "n_words"), ("lines", "n_lines"), ("<s> before a line", "pads")):
        if key in diagnostics:
            facts[name] = diagnostics[key]
    return Section("text", facts=facts)


def order_section(diagnostics: Mapping[str, Any], heading: str = "n-grams") -> Section:
    """For each order the number of n-grams and the discounts."""
    n_grams = diagnostics["n_grams"]
    if "discounts" not in diagnostics:
        return Section(heading, columns=("order", "n-grams"), rows=list(enumerate(n_grams, 1)))
    rows = [
        (order, number, ", ".join(f"{value:.4f}" for value in values), source)
        for order, (number, values, source) in enumerate(
            zip(n_grams, diagnostics["discounts"], diagnostics["discount_sources"], strict=True), 1
        )
    ]
    columns = ("order", "n-grams", "discounts of counts 1, 2, 3+", "source")
    return Section(heading, columns=columns, rows=rows)


def backoff_summary(
    name: str, order: int, vocabulary: Vocabulary, diagnostics: Mapping[str, Any]
) -> Summary:
    """Order, text, n-grams and discounts."""
    sections = [text_section(vocabulary, diagnostics), order_section(diagnostics)]
    return Summary(f"{name}: order {order}", sections)


def ensemble_summary(order: int, vocabulary: Vocabulary, diagnostics: Mapping[str, Any]) -> Summary:
    """The same, with the low rank parts of each order and what they were chosen among."""
    plans = [
        (at, _numbers(plan["powers"]), _numbers(plan["ranks"]), _numbers(plan["weights"]))
        for at, plan in sorted(diagnostics["plans"].items(), key=lambda item: int(item[0]))
        if plan["ranks"]
    ]
    sections = [text_section(vocabulary, diagnostics), order_section(diagnostics)]
    if plans:
        columns = ("order", "powers", "ranks", "weights")
        sections.append(Section("low rank parts", columns=columns, rows=plans))
    if perplexities := diagnostics.get("validation_perplexities"):
        facts = {
            "perplexity with the first weights": perplexities["before"],
            "perplexity with the chosen weights": perplexities["after"],
        }
        sections.append(Section("validation text", facts=facts))
    if candidates := diagnostics.get("candidates"):
        rows = [
            (
                trial["order"],
                _numbers(trial["ranks"]),
                _numbers(trial["weights"]),
                trial["perplexity"],
            )
            for trial in candidates
        ]
        columns = ("order", "ranks", "weights", "perplexity")
        sections.append(Section("chosen among", columns=columns, rows=rows))
    return Summary(f"PowerLowRankLM: order {order}", sections)


def class_summary(
    order: int,
    vocabulary: Vocabulary,
    classes: NDArray[np.int64],
    word_given_class: NDArray[np.float64],
    diagnostics: Mapping[str, Any],
) -> Summary:
    """The largest classes with their most frequent words; text, n-grams of classes and discounts."""
    sizes = np.bincount(classes)
    sizes[0] = 0  # the markers of lines
    largest = np.argsort(-sizes, kind="stable")[:_N_CLASSES]
    rows = []
    for number in largest[sizes[largest] > 0].tolist():
        members = np.flatnonzero(classes == number)
        best = members[np.argsort(-word_given_class[members], kind="stable")[:_N_WORDS]]
        words = " ".join(f"{vocabulary.words[word]} {word_given_class[word]:.2f}" for word in best)
        rows.append((number, int(sizes[number]), words))
    n_classes = diagnostics["n_classes"]
    shown = "classes" if len(rows) == n_classes else f"the {len(rows)} largest classes"
    facts = {"sweeps": diagnostics["n_sweeps"], "log-likelihood per pair": diagnostics["objective"]}
    sections = [
        Section(shown, columns=("class", "words", "most frequent words"), rows=rows),
        text_section(vocabulary, diagnostics),
        Section("exchange algorithm", facts=facts),
        order_section(diagnostics, "n-grams of classes"),
    ]
    return Summary(f"ClassLM: order {order}, {n_classes} classes", sections)


def mixture_summary(
    models: Sequence[Summary], weights: NDArray[np.float64], diagnostics: Mapping[str, Any]
) -> Summary:
    """The models with their weights, then a page about each."""
    rows = [
        (number, f"{weight:.4f}", model.title)
        for number, (weight, model) in enumerate(zip(weights, models, strict=True))
    ]
    chosen = "n_steps" in diagnostics
    heading = f"models, weights {'chosen by a text' if chosen else 'given'}"
    sections = [Section(heading, columns=("model", "weight", ""), rows=rows)]
    for number, model in enumerate(models):
        sections.append(Section(f"model {number}: {model.title}"))
        sections += model.sections
    return Summary(f"MixedLM: {len(models)} models", sections)


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
