"""`tacit info`: what a model file holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.cli.options import Json, Model

_SHOWN = 6  # categories of a column


def info(model: Model, json: Json = False) -> None:
    """Describe a model: its tree, columns, hidden variables and how it was learnt."""
    from tacit import load
    from tacit.cli.output import console, print_json
    from tacit.files.models import read_model

    header, _ = read_model(model)
    fitted = load(model)
    states = {name: fitted.n_states_[name] for name in fitted.topology_.hidden}
    if json:
        print_json(
            {
                "estimator": header["estimator"],
                "version": header["version"],
                "format": header["format"],
                "arguments": header.get("arguments", {}),
                "columns": header["schema"],
                "n_states": states,
                "newick": fitted.topology_.to_newick(),
                "has_tables": fitted.tables_ is not None,
                "diagnostics": fitted.diagnostics_,
            }
        )
        return
    out = console()
    topology = replace(fitted.topology_, n_states=states)
    kind = "probability tables" if fitted.tables_ is not None else "operators"
    out.print(
        f"{header['estimator']}: {len(fitted.schema_)} columns, {len(states)} hidden, {kind} "
        f"(written by Tacit {header['version']})\n",
        markup=False,
    )
    out.print(topology.to_text(), markup=False)
    _print_columns(out, fitted)
    _print_diagnostics(out, fitted.diagnostics_)


def _print_columns(out: Any, fitted: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, title=None)
    for heading in ("column", "categories", ""):
        table.add_column(heading, justify="right" if heading == "categories" else "left")
    for column in fitted.schema_.columns:
        shown = ", ".join(str(value) for value in column.categories[:_SHOWN])
        more = ", ..." if len(column.categories) > _SHOWN else ""
        table.add_row(Text(column.name), str(len(column.categories)), Text(shown + more))
    out.print()
    out.print(table)


def _print_diagnostics(out: Any, diagnostics: dict[str, Any]) -> None:
    """Numbers and words as they are; of lists, how long they are; the candidates that were tried."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    for key, value in diagnostics.items():
        if isinstance(value, float):
            table.add_row(Text(key), f"{value:.6g}")
        elif isinstance(value, list):
            table.add_row(Text(key), f"{len(value)} entries")
        elif not isinstance(value, dict):
            table.add_row(Text(key), Text(str(value)))
    out.print()
    out.print(table)
    for tried in diagnostics.get("candidates", []):
        said = f"{tried['score']:.4f}" if "score" in tried else tried.get("refused", "")
        out.print(f"  tried {tried.get('n_states')} states: {said}", markup=False)
