"""What an imputer has learnt, on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.summary import Section, Summary, column_section

if TYPE_CHECKING:
    from tacit.numbers.table_imputer import TableImputer

MOST_SHOWN = 20


def imputer_summary(model: TableImputer) -> Summary:
    """The model behind, how much forests count, and the columns with their gaps."""
    schema, diagnostics = model.schema_, model.diagnostics_
    facts: dict[str, Any] = {
        "rows": diagnostics["n_rows"],
        "model": type(model.model_).__name__,
        "forests": diagnostics.get("forests", ""),
    }
    for name in ("loss_without_forests", "loss_with_forests"):
        if name in diagnostics:
            facts[f"{name.replace('_', ' ')} (of hidden cells)"] = diagnostics[name]
    sections = [Section("fit", facts=facts)]
    if model.forests_ is not None:
        shares = [
            [name, float(share)]
            for name, share in zip(schema.names, model.forests_.shares, strict=True)
        ]
        columns = ("column", "share of its forest")
        sections.append(Section("forests", columns=columns, rows=shares[:MOST_SHOWN]))
    sections.append(column_section(schema.columns, diagnostics.get("gaps")))
    n_gaps = sum(map(bool, diagnostics.get("gaps", [])))
    title = f"{type(model).__name__}: {len(schema)} columns, {n_gaps} with gaps"
    return Summary(title, sections)
