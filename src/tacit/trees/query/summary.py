"""What a tree model learnt, on a page: structure, choices, fit, and a profile of every hidden state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.summary import Section, Summary, column_section, profile
from tacit.trees.model.components import heaviest

if TYPE_CHECKING:
    from tacit.messages.network import Tables
    from tacit.trees.model.components import Component
    from tacit.trees.tree_model import TreeModel

Array = NDArray[np.float64]

MOST_LINES = 60  # of a drawing
MOST_NODES, MOST_STATES = 12, 12  # with a profile
MOST_LEAVES = 8  # of a star that is drawn
TELLING = 4  # cells that a state is described by
NOTABLE = 0.25  # standard deviations by which the mean of a number in a state differs, to be shown

_FACTS = {
    "n_rows": "rows",
    "learn": "learnt by",
    "held_out_score": "held-out log-likelihood per row",
    "n_parameters": "free parameters",
    "n_steps": "steps of EM",
    "converged": "converged",
}


def tree_summary(
    model: TreeModel,
    numbers: Mapping[int, Array] | None = None,
    often: Mapping[int, Array] | None = None,
) -> Summary:
    """What was learnt, on a page.

    Parameters
    ----------
    model : TreeModel
    numbers : mapping of leaf to (2, feature) array, optional
        The means of each number and of its square within each of its features.
    often : mapping of leaf to (value,) array, optional
        The numbers that have a probability of their own.
    """
    trees = model.trees_
    first = heaviest(trees)
    sections = [
        Section("Fit", facts=_fit(model)),
        *_choices(model.diagnostics_),
        *_weights(trees),
    ]
    if len(first.node_states) != 1 or len(first.topology.observed) <= MOST_LEAVES:
        heading = "Structure" if len(trees) == 1 else "Structure of the heaviest tree"
        sections.append(Section(heading, text=_drawing(first)))
    if first.tables is not None:
        columns = dict(zip(model.schema_.labels, model.schema_.columns, strict=True))
        categories = [column.categories for column in columns.values()]
        names = [str(label) for label in columns]
        sections += _profiles(first.tables, first.node_states, names, categories, numbers or {})
    sections.append(column_section(model.schema_.columns, model.diagnostics_.get("gaps"), often))
    return Summary(f"{type(model).__name__}: {_size(model, trees)}", sections)


def _size(model: TreeModel, trees: Sequence[Component]) -> str:
    n_hidden = sum(len(tree.node_states) for tree in trees)
    parts = [
        f"{len(model.schema_)} columns",
        f"{n_hidden} hidden node{'' if n_hidden == 1 else 's'}",
    ]
    if len(trees) > 1:
        parts.append(f"{len(trees)} trees")
    return ", ".join(parts)


def _fit(model: TreeModel) -> dict[str, Any]:
    arguments = model.get_params(deep=False)
    known = {"learn": arguments.get("learn", "chow-liu"), **model.diagnostics_}
    facts = {text: known[name] for name, text in _FACTS.items() if name in known}
    if model.tables_ is not None or len(model.trees_) > 1:
        facts["free parameters"] = model.n_parameters_
    return facts


def _choices(diagnostics: Mapping[str, Any]) -> list[Section]:
    """What was compared on held-out rows."""
    sections = []
    for key, heading in (
        ("structures", "Structures, by held-out log-likelihood"),
        ("candidates", "Numbers of states, by held-out log-likelihood"),
        ("finalists", "The best of these, by cross-validation"),
    ):
        candidates = diagnostics.get(key, [])
        columns = list(dict.fromkeys(name for candidate in candidates for name in candidate))
        if len(candidates) > 1:
            rows = [[candidate.get(name, "") for name in columns] for candidate in candidates]
            ordered = "order" in columns and heading.startswith("Numbers")
            title = f"Orders and n{heading[1:]}" if ordered else heading
            sections.append(Section(title, columns=columns, rows=rows))
    return sections


def _weights(trees: Sequence[Component]) -> list[Section]:
    if len(trees) == 1:
        return []
    rows = [
        [number, tree.weight, len(tree.node_states), max(tree.node_states.values(), default=0)]
        for number, tree in enumerate(trees)
    ]
    columns = ("tree", "weight", "hidden nodes", "most states")
    return [Section("Trees", columns=columns, rows=rows)]


def _drawing(tree: Component) -> str:
    lines = replace(tree.topology, n_states=tree.node_states).to_text().splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"... ({len(lines) - MOST_LINES} lines more)"]
    return "\n".join(lines)


def _profiles(
    tables: Tables,
    node_states: Mapping[str, int],
    columns: Sequence[str],
    categories: Sequence[Sequence[Any]],
    numbers: Mapping[int, Array],
) -> list[Section]:
    """For each hidden node the probabilities of its states, and the cells that are typical of each state."""
    tree = tables.tree
    priors = state_priors(tables)
    # Leaves of numbers have features and no categories to name; their means are shown.
    leaves = [leaf for leaf in range(tree.n_leaves) if len(categories[leaf]) == priors[leaf].size]
    names = {columns[leaf]: categories[leaf] for leaf in leaves}
    overall = {columns[leaf]: priors[leaf] for leaf in leaves}
    nodes = [node for node in tree.hidden if tree.names[node] in node_states][::-1]
    sections = []
    for node in nodes[:MOST_NODES]:
        conditionals = leaves_given(tables, priors, node)
        states = profile(
            {columns[leaf]: conditionals[leaf] for leaf in leaves},
            overall,
            names,
            priors[node].size,
            most=TELLING,
        )
        cells = [[_telling(*cell) for cell in state] for state in states]
        if numbers:
            means = {columns[leaf]: conditionals[leaf] @ numbers[leaf][0] for leaf in numbers}
            moments = {columns[leaf]: numbers[leaf] @ priors[leaf] for leaf in numbers}
            for state, telling in enumerate(_telling_means(means, moments)):
                cells[state][:0] = telling
        rows = [
            [state, float(priors[node][state]), ", ".join(telling)]
            for state, telling in enumerate(cells[:MOST_STATES])
        ]
        heading = f"Hidden node {tree.names[node]}"
        what = "numbers with their mean" if numbers else ""
        if leaves:
            what += (" and " if what else "") + "cells with their probability"
        columns_ = "state", "probability", f"{what} in the state (and overall)"
        sections.append(Section(heading, columns=columns_, rows=rows))
    if len(nodes) > MOST_NODES:
        sections.append(Section(f"... and {len(nodes) - MOST_NODES} hidden nodes more"))
    return sections


def _telling(column: str, category: Any, within: float, overall: float) -> str:
    return f"{column}={category} {within:.2f} ({overall:.2f})"


def _telling_means(means: Mapping[str, Array], moments: Mapping[str, Array]) -> list[list[str]]:
    """For each state the numbers whose means differ most from the overall ones, in standard deviations."""
    names = list(means)
    within = np.array([means[name] for name in names])  # (number, state)
    overall, squares = np.array([moments[name] for name in names]).T
    deviations = np.sqrt(np.maximum(squares - overall**2, 1e-300))
    differences = np.abs(within - overall[:, None]) / deviations[:, None]
    return [
        [
            f"{names[place]} {within[place, state]:.4g} ({overall[place]:.4g})"
            for place in np.argsort(-differences[:, state], kind="stable")[:TELLING]
            if differences[place, state] >= NOTABLE
        ]
        for state in range(within.shape[1])
    ]


def state_priors(tables: Tables) -> list[Array]:
    """The distribution of every node without evidence."""
    tree = tables.tree
    priors: list[Array] = [np.empty(0)] * tree.n_nodes
    priors[tree.root] = tables.table(tree.root)[0]
    for node in [*reversed(tree.hidden[:-1]), *range(tree.n_leaves)]:
        priors[node] = priors[tree.parent[node]] @ tables.table(node)
    return priors


def leaves_given(tables: Tables, priors: Sequence[Array], node: int) -> dict[int, Array]:
    """P(leaf | state of a hidden node) for every leaf: (state, category)."""
    tree = tables.tree
    conditionals: dict[int, Array] = {node: np.eye(priors[node].size)}
    above = node
    while above != tree.root:  # towards the root by Bayes' rule, then down from there
        parent = int(tree.parent[above])
        joint = tables.table(above) * priors[parent][:, None]  # (parent, above)
        conditionals[parent] = (
            conditionals[above] @ (joint / np.maximum(joint.sum(axis=0), 1e-300)).T
        )
        above = parent
    for below in [*reversed(tree.hidden[:-1]), *range(tree.n_leaves)]:
        if below not in conditionals:
            conditionals[below] = conditionals[int(tree.parent[below])] @ tables.table(below)
    return {leaf: conditionals[leaf] for leaf in range(tree.n_leaves)}
