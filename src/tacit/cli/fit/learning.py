"""What the sub-commands of `tacit fit` share: options, learning from files, a line about the result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.options import Json


class EffortName(StrEnum):
    """Budgets of what is compared."""

    low = "low"
    default = "default"
    high = "high"


_MODEL_FILE = typer.Option("--output", "-o", metavar="FILE", help="The model file (.tacit).")
Output = Annotated[Path, _MODEL_FILE]
OutputUnlessPlanned = Annotated[Path | None, _MODEL_FILE]
Structure = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE",
        help="auto, a method of `tacit structure`, or a file with a Newick tree over the columns.",
    ),
]
States = Annotated[str, typer.Option(metavar="N|auto", help="States of each hidden variable.")]
HiddenStates = Annotated[str, typer.Option(metavar="N|auto", help="Hidden states.")]
Components = Annotated[
    str, typer.Option(metavar="N|auto", help="Trees whose mixture the model is.")
]
Effort = Annotated[EffortName, typer.Option(help="How much is compared before a model is kept.")]
Validation = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Rows to choose with; without them a part of DATA."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave a column out. May be repeated."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="COLUMN=KIND",
        help="What a column is: category, ordered, count, number, date or ignore. May be repeated.",
    ),
]
HOW_LEARNT = typer.Option(help="How parameters are learnt.")  # from what, each command says
Restarts = Annotated[int, typer.Option(min=1, help="Random starts of em.")]
Tolerance = Annotated[
    str,
    typer.Option("--tol", metavar="X|auto", help="Gain in nats per row at which EM stops."),
]
MaxIter = Annotated[int, typer.Option(min=1, help="Most steps of an iteration.")]
PseudoCounts = Annotated[
    str, typer.Option(metavar="X|auto", help="Pseudo-counts of each row of a table.")
]
SequencesAside = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Sequences to choose with; without them a part of DATA."),
]
Bins = Annotated[int, typer.Option(min=2, help="Bins for a column with many different numbers.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of whatever is drawn.")]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Threads; -1 for all processors.")]


@dataclass(frozen=True)
class Rows:
    """Which cells of a table are looked at."""

    validation: Validation = None
    drop: Drop = None

    def of(self, data: Path) -> Any:
        """The rows of a file, without the columns that are dropped."""
        from tacit.cli.answers.table_files import without

        return without(data, self.drop) if self.drop else data


@dataclass(frozen=True)
class TableRows(Rows):
    """Which cells of a table are looked at, and what its columns are."""

    column: Kinds = None

    def kinds(self) -> dict[str, str] | None:
        """What columns are, by name, as the argument `columns` of estimators; None where nothing is said."""
        return column_kinds(self.column, "age=number") or None


@dataclass(frozen=True)
class Iterating:
    """How tables of categories are learnt."""

    restarts: Restarts = 5
    tol: Tolerance = "auto"
    max_iter: MaxIter = 1000
    pseudo_counts: PseudoCounts = "auto"
    bins: Bins = 5

    def arguments(self) -> dict[str, Any]:
        """As arguments of an estimator."""
        return {
            "n_restarts": self.restarts,
            "tol": number_or_auto(self.tol, float, "--tol"),
            "max_iter": self.max_iter,
            "pseudo_counts": number_or_auto(self.pseudo_counts, float, "--pseudo-counts"),
            "n_bins": self.bins,
        }


@dataclass(frozen=True)
class Running:
    """How the program runs, and in which form it says what was learnt."""

    seed: Seed = 0
    jobs: Jobs = None
    json: Json = False

    def arguments(self) -> dict[str, Any]:
        """As arguments of an estimator."""
        return {"n_jobs": self.jobs, "progress": True, "random_state": self.seed}


def column_kinds(texts: list[str] | None, example: str) -> dict[str, str]:
    """Kinds by column, from texts such as ``age=number``."""
    kinds = {}
    for text in texts or []:
        name, sign, kind = text.rpartition("=")
        if not sign or not name:
            raise typer.BadParameter(
                f"{text!r} is no COLUMN=KIND, such as {example}", param_hint="--column"
            )
        kinds[name] = kind
    return kinds


def number_or_auto(text: str, kind: type[int | float], option: str) -> Any:
    """A number, or the word auto."""
    if text == "auto":
        return text
    try:
        return kind(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is neither a number nor auto", param_hint=option
        ) from error


def learn_and_save(
    model: Any,
    data: Path,
    output: Path,
    rows: Rows,
    *,
    json: bool = False,
    fewest: int = 1,
) -> None:
    """Fit a model of at least some number of columns, save it, and report what was learnt."""
    from tacit.errors import DataError

    held_out = None if rows.validation is None else rows.of(rows.validation)
    model.fit(rows.of(data), validation=held_out)
    if len(model.schema_) < fewest:
        raise DataError(
            f"{data} has n_columns={len(model.schema_)}, and {fewest} or more are needed; give more columns"
        )
    model.set_params(progress=None)
    model.save(output)
    report(model, output, json=json)


def report(model: Any, output: Path, *, json: bool) -> None:
    """What was learnt: in a line, or in JSON."""
    from tacit.cli.answers.trees import hidden_states, trees_of
    from tacit.cli.output import console, print_json
    from tacit.trees.model.components import heaviest

    every = trees_of(model)
    hidden = hidden_states(model)
    diagnostics = model.diagnostics_
    if json:
        record = {
            "model": str(output),
            "n_rows": diagnostics["n_rows"],
            "n_columns": len(model.schema_),
            "n_hidden": len(hidden),
            "n_states": heaviest(every).node_states,
            "weights": [tree.weight for tree in every],
            "learn": model.learn,
            "candidates": diagnostics.get("candidates"),
            "newick": model.topology_.to_newick(),
        }
        if model.can("junction"):
            record |= {"n_states": model.node_states_, "treewidth": model.junction_.treewidth}
        print_json(record)
        return
    known = sorted({count for count in hidden if count is not None})
    span = f"{known[0]} to {known[-1]}" if len(known) > 1 else "".join(map(str, known))
    plural = "" if len(hidden) == 1 else "s"
    between = f"{len(hidden)} hidden variable{plural}" if hidden else "none hidden"
    if known:
        between += f" with {span} states"
    if len(every) > 1:
        between += f" in {len(every)} trees"
    if model.can("junction"):
        between += f", treewidth {model.junction_.treewidth}"
    console().print(
        f"{len(model.schema_)} columns, {diagnostics['n_rows']} rows, {between}; saved as {output}",
        markup=False,
    )
