"""What models of numbers have learnt, on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.summary import Section, Summary

if TYPE_CHECKING:
    from tacit.numbers.gaussian_mixture import GaussianMixtureMoments

COLUMNS_SHOWN = 5  # of each component


def mixture_summary(model: GaussianMixtureMoments) -> Summary:
    """The components, with the columns whose means differ most from those of all rows."""
    mixture, diagnostics = model.mixture_, model.diagnostics_
    mean = mixture.weights @ mixture.means
    between = mixture.weights @ (mixture.means - mean) ** 2
    scale = np.sqrt(between + mixture.weights @ mixture.variances)
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    components = []
    for number in np.argsort(-mixture.weights, kind="stable"):
        here = mixture.means[number]
        differences = (here - mean) / scale
        first = np.argsort(-np.abs(differences), kind="stable")[:COLUMNS_SHOWN]
        weight, deviation = mixture.weights[number], np.sqrt(mixture.variances[number])
        components.append(
            Section(
                f"component {number}: weight {weight:.3f}, standard deviation {deviation:.3g}",
                columns=["column", "mean", "overall", "difference (sd)"],
                rows=[
                    [names[j], f"{here[j]:.4g}", f"{mean[j]:.4g}", f"{differences[j]:+.2f}"]
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
        tried = sorted(diagnostics["starts"].items(), key=lambda start: -start[1])
        sections.append(
            Section("starts", columns=["start of EM", "held-out log-density"], rows=tried)
        )
    title = f"{type(model).__name__}: {mixture.n_components} components, {len(mean)} columns"
    return Summary(title, sections)
