"""What models of numbers have learnt, on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.summary import Section, Summary, column_section

if TYPE_CHECKING:
    from tacit.numbers.gaussian_mixture import GaussianMixtureMoments
    from tacit.numbers.gaussian_tree import GaussianTree

COLUMNS_SHOWN = 5  # of each component
PAIRS_SHOWN = 10


def mixture_summary(model: GaussianMixtureMoments) -> Summary:
    """The components, with the columns whose means differ most from those of all rows."""
    mixture, diagnostics = model.mixture_, model.diagnostics_
    mean = mixture.weights @ mixture.means
    between = mixture.weights @ (mixture.means - mean) ** 2
    scale = np.sqrt(between + mixture.weights @ mixture.variances)
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    components = []
    for number in np.argsort(-mixture.weights, kind="stable"):
        means = mixture.means[number]
        differences = (means - mean) / scale
        first = np.argsort(-np.abs(differences), kind="stable")[:COLUMNS_SHOWN]
        weight, deviation = mixture.weights[number], np.sqrt(mixture.variances[number])
        components.append(
            Section(
                f"component {number}: weight {weight:.3f}, standard deviation {deviation:.3g}",
                columns=["column", "mean", "overall", "difference (sd)"],
                rows=[
                    [names[j], f"{means[j]:.4g}", f"{mean[j]:.4g}", f"{differences[j]:+.2f}"]
                    for j in first
                ],
            )
        )
    facts: dict[str, Any] = {
        "learn": model.learn,
        "steps of EM": model.n_iter_,
        "converged": model.converged_,
        "parameters": model.n_parameters_,
    }
    if "supported_components" in diagnostics:
        facts["components above the noise"] = diagnostics["supported_components"]
    sections = [Section("fit", facts=facts), *components]
    if "starts" in diagnostics:
        starts = sorted(diagnostics["starts"].items(), key=lambda start: -start[1])
        sections.append(
            Section("starts", columns=["start of EM", "held-out log-density"], rows=starts)
        )
    title = f"{type(model).__name__}: {mixture.n_components} components, {len(mean)} columns"
    return Summary(title, sections)


def gaussian_tree_summary(model: GaussianTree) -> Summary:
    """The strongest dependences, the distributions of the columns, candidates and their scores."""
    diagnostics, names = model.diagnostics_, model.scores_.names
    scale = model.gaussian_.scale
    correlation = model.gaussian_.covariance / np.multiply.outer(scale, scale)
    one, other = np.triu_indices(len(names), k=1)
    column = np.repeat(np.arange(len(model.schema_)), model.scores_.widths)
    between = column[one] != column[other]  # indicators of one column depend on each other anyway
    one, other = one[between], other[between]
    first = np.argsort(-np.abs(correlation[one, other]), kind="stable")[:PAIRS_SHOWN]
    pairs = [
        [names[one[k]], names[other[k]], f"{correlation[one[k], other[k]]:+.3f}"] for k in first
    ]
    n_hidden = len(model.topology_.hidden)
    facts: dict[str, Any] = {
        "rows": diagnostics.get("n_rows", ""),
        "margins": model.margins,
        "structure": diagnostics.get("structure", ""),
        "shrinkage": diagnostics.get("shrinkage", ""),
        "hidden nodes": n_hidden,
        "parameters": model.n_parameters_,
        "log-density per row (training)": diagnostics.get("train_score", ""),
    }
    if "held_out_score" in diagnostics:
        facts["log-density per row (held out)"] = diagnostics["held_out_score"]
    sections = [Section("fit", facts=facts)]
    if pairs:
        measure = "of normal scores" if model.margins == "normal-scores" else "of numbers"
        heading = f"strongest dependences (correlations {measure})"
        sections.append(Section(heading, columns=["column", "column", "correlation"], rows=pairs))
    for key, name in (("structures", "structure"), ("shrinkages", "shrinkage")):
        if key in diagnostics:
            # Keys of files are text.
            rows = [[str(candidate), score] for candidate, score in diagnostics[key].items()]
            columns = [name, "held-out log-density"]
            sections.append(Section(f"candidates: {key}", columns=columns, rows=rows))
    sections.append(column_section(model.schema_.columns, diagnostics.get("gaps")))
    n_numbers = len(model.schema_.continuous)
    n_categories = len(model.schema_.categorical)
    title = f"{type(model).__name__}: {n_numbers} columns of numbers, {n_categories} of categories"
    return Summary(title, sections)


def with_experts(summary: Summary, diagnostics: Mapping[str, Any]) -> Summary:
    """The summary of a tree with a section on the experts that it was compared with."""
    if "experts" not in diagnostics:
        return summary
    rows = [
        [str(one["expert"]), f"{one['weight']:.3f}", f"{one['score']:.4f}"]
        for one in diagnostics["experts"]
    ]
    rows.append(["their mixture", "", f"{diagnostics['held_out_mixture']:.4f}"])
    section = Section("experts", columns=["expert", "weight", "held-out log-density"], rows=rows)
    first, *rest = summary.sections
    return Summary(summary.title, [first, section, *rest])
