"""`tacit info`: the contents of a model file."""

from __future__ import annotations

from typing import Any

import typer

from tacit.cli.options import Json, Model


def info(model: Model, json: Json = False) -> None:
    """Describe a model: what was learnt, from how much data, and what was chosen among what.

    The text is that of `model.summary()` in Python.
    """
    from tacit import load
    from tacit.cli.output import print_json
    from tacit.core.files.container import read_file

    fitted = load(model)
    if not json:
        typer.echo(str(fitted.summary()))
        return
    header, _ = read_file(model)
    graph = ["graph"] if fitted.can("junction") else []
    names = ["estimator", "version", "format", "arguments", *graph]
    facts = {name: header.get(name) for name in names}
    facts |= {
        "kind": fitted.kind,
        "abilities": sorted(a for a in fitted.abilities if fitted.can(a)),
    }
    print_json({**facts, **_details(fitted), "diagnostics": fitted.diagnostics_})


def _details(fitted: Any) -> dict[str, Any]:
    """Columns, symbols, states and trees."""
    if fitted.can("tree"):
        return _tree_details(fitted)
    if fitted.kind != "sequences":
        return {}
    if fitted.can("numbers"):
        return {"columns": list(fitted.names_), "n_states": fitted.n_states_}
    from tacit.cli.answers.symbol_sequences import size_of

    return {"symbols": [str(symbol) for symbol in fitted.symbols_], **size_of(fitted)}


def _tree_details(fitted: Any) -> dict[str, Any]:
    from tacit.cli.answers.trees import trees_of
    from tacit.trees.model.components import heaviest

    trees = trees_of(fitted)
    heaviest_tree = heaviest(trees)
    facts = {
        "columns": fitted.schema_.to_json(),
        "n_states": heaviest_tree.node_states,
        "newick": heaviest_tree.topology.to_newick(),
        "has_tables": heaviest_tree.tables is not None,
        "components": [
            {
                "weight": tree.weight,
                "n_states": tree.node_states,
                "newick": tree.topology.to_newick(),
            }
            for tree in trees
        ],
    }
    if fitted.can("junction"):
        facts |= {"n_states": fitted.node_states_, "treewidth": fitted.junction_.treewidth}
    return facts
