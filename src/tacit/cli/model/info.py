"""`tacit info`: what a model file holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.cli.options import (
    ComponentNumber,
    Json,
    Model,
    is_grammar,
    is_language_model,
    is_parser,
    is_topic_model,
)

if TYPE_CHECKING:
    from tacit.trees.model.components import Component

_SHOWN = 6  # categories of a column


def info(model: Model, component: ComponentNumber = None, json: Json = False) -> None:
    """Describe a model: its tree, columns, hidden variables and how it was learnt.

    Of a mixture the heaviest tree is shown, or the one asked for.
    """
    from tacit import load
    from tacit.cli.answers import gaussian_hmm as normals
    from tacit.cli.answers import symbol_sequences as symbols
    from tacit.cli.answers.number_sequences import describe, is_chain
    from tacit.cli.answers.trees import trees_of
    from tacit.cli.output import console, print_diagnostics, print_json
    from tacit.core.files.container import read_file
    from tacit.trees.model.components import chosen_component, heaviest

    header, _ = read_file(model)
    fitted = load(model)
    if is_topic_model(fitted):
        from tacit.cli.topics import describe as describe_topics

        describe_topics(header, fitted, json=json)
        return
    if is_language_model(fitted) or is_parser(fitted) or is_grammar(fitted):
        from tacit.cli.lm.queries import describe as describe_words

        describe_words(header, fitted, json=json)
        return
    if hasattr(fitted, "symbols_") or is_chain(fitted):
        tell = describe if is_chain(fitted) else symbols.describe
        if normals.shows_numbers(fitted):
            tell = normals.describe
        tell(header, fitted, json=json)
        return
    every = trees_of(fitted)
    shown = heaviest(every) if component is None else chosen_component(every, component)
    if json:
        print_json(_said(header, fitted, every, shown))
        return
    out = console()
    out.print(f"{_heading(header, fitted, shown)}\n", markup=False)
    if len(every) > 1:
        _print_components(out, every, every.index(shown))
    out.print(replace(shown.topology, n_states=shown.node_states).to_text(), markup=False)
    _print_columns(out, fitted)
    print_diagnostics(out, fitted.diagnostics_)


def _said(
    header: dict[str, Any], fitted: Any, every: Sequence[Component], shown: Component
) -> dict[str, Any]:
    """All of it, for JSON."""
    said = {
        "estimator": header["estimator"],
        "version": header["version"],
        "format": header["format"],
        "arguments": header.get("arguments", {}),
        "columns": header["schema"],
        "n_states": shown.node_states,
        "newick": shown.topology.to_newick(),
        "has_tables": shown.tables is not None,
        "components": [
            {
                "weight": each.weight,
                "n_states": each.node_states,
                "newick": each.topology.to_newick(),
            }
            for each in every
        ],
        "diagnostics": fitted.diagnostics_,
    }
    if hasattr(fitted, "junction_"):
        said |= {"graph": header["graph"], "treewidth": fitted.junction_.treewidth}
        said["n_states"] = fitted.node_states_
    return said


def _heading(header: dict[str, Any], fitted: Any, shown: Component) -> str:
    """The model in one line."""
    from tacit.cli.answers.trees import hidden_states, trees_of

    n_trees = len(trees_of(fitted))
    kind = "probability tables" if shown.tables is not None else "operators"
    if hasattr(fitted, "gaussian_"):
        kind = "Gaussian of numbers"
        if fitted.get_params()["transform"] is not None:
            kind = "Gaussian of normal scores"
    if hasattr(fitted, "junction_"):
        kind = f"treewidth {fitted.junction_.treewidth}, {kind}"
    return (
        f"{header['estimator']}: {len(fitted.schema_)} columns, {len(hidden_states(fitted))} hidden"
        f"{f' in {n_trees} trees' if n_trees > 1 else ''}, {kind} "
        f"(written by Tacit {header['version']})"
    )


def _print_components(out: Any, components: Sequence[Component], shown: int) -> None:
    """The trees of a mixture with their weights; an arrow at the one that is shown."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("component", "weight", "hidden", "states", ""):
        table.add_column(heading, justify="left" if not heading else "right")
    for number, each in enumerate(components):
        states = sorted(set(each.node_states.values()))
        span = f"{states[0]} to {states[-1]}" if len(states) > 1 else "".join(map(str, states))
        arrow = "<- shown below" if number == shown else ""
        table.add_row(str(number), f"{each.weight:.4f}", str(len(each.node_states)), span, arrow)
    out.print(table)
    out.print()


def _print_columns(out: Any, fitted: Any) -> None:
    """Each column with its categories, or with the range of its numbers."""
    from rich.table import Table
    from rich.text import Text

    from tacit.cli.options import holds_numbers

    table = Table(box=None, pad_edge=False, title=None)
    for heading in ("column", "categories", ""):
        table.add_column(heading, justify="right" if heading == "categories" else "left")
    for column in fitted.schema_.columns:
        if holds_numbers(fitted.schema_, column.name):
            table.add_row(Text(column.name), "", f"numbers, {column.low:g} to {column.high:g}")
            continue
        shown = ", ".join(str(value) for value in column.categories[:_SHOWN])
        more = ", ..." if len(column.categories) > _SHOWN else ""
        table.add_row(Text(column.name), str(len(column.categories)), Text(shown + more))
    out.print()
    out.print(table)
