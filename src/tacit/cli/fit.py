"""`tacit fit`: learn a model from a table and save it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.options import Data, Json


class Learn(StrEnum):
    """Ways of learning a tree's parameters."""

    auto = "auto"
    spectral = "spectral"
    hierarchical = "hierarchical"
    mossel_roch = "mossel-roch"
    em = "em"
    online_em = "online-em"


def tree(
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The model file (.tacit).")
    ],
    structure: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="auto, a method of `tacit structure`, or a file with a Newick tree over the columns.",
        ),
    ] = "auto",
    learn: Annotated[Learn, typer.Option(help="How parameters are learnt.")] = Learn.auto,
    states: Annotated[
        str, typer.Option(metavar="N|auto", help="States of each hidden variable.")
    ] = "auto",
    components: Annotated[
        str, typer.Option(metavar="N|auto", help="Trees whose mixture the model is.")
    ] = "auto",
    validation: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to choose with; without them a part of DATA."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Leave a column out. May be repeated."),
    ] = None,
    restarts: Annotated[int, typer.Option(min=1, help="Random starts of em.")] = 5,
    tol: Annotated[float, typer.Option(help="Relative gain at which em stops.")] = 1e-4,
    max_iter: Annotated[int, typer.Option(min=1, help="Most steps of an iteration.")] = 1000,
    pseudo_counts: Annotated[
        str, typer.Option(metavar="X|auto", help="Pseudo-counts of each row of a table.")
    ] = "auto",
    bins: Annotated[
        int, typer.Option(min=2, help="Bins for a column with many different numbers.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of whatever is drawn.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Threads; -1 for all processors.")
    ] = None,
    json: Json = False,
) -> None:
    """Learn a latent tree from the table DATA.

    For example: tacit fit tree train.csv -o model.tacit
    """
    from tacit import LatentTree
    from tacit.cli.tables import without
    from tacit.files.models import check_suffix

    check_suffix(output)  # before the work, not after it
    model = LatentTree(
        n_states=_number(states, int, "--states"),
        structure=structure,
        learn=learn.value,
        n_components=_number(components, int, "--components"),
        n_restarts=restarts,
        tol=tol,
        max_iter=max_iter,
        pseudo_counts=_number(pseudo_counts, float, "--pseudo-counts"),
        n_bins=bins,
        n_jobs=jobs,
        progress=True,
        random_state=seed,
    )
    rows = without(data, drop) if drop else data
    held_out = without(validation, drop) if drop and validation else validation
    model.fit(rows, validation=held_out)
    model.set_params(progress=None)
    model.save(output)
    _tell(model, output, json=json)


def _number(text: str, kind: type[int | float], option: str) -> Any:
    """A number, or the word auto as it is."""
    if text == "auto":
        return text
    try:
        return kind(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is neither a number nor auto", param_hint=option
        ) from error


def _tell(model: Any, output: Path, *, json: bool) -> None:
    from tacit.cli.output import console, print_json
    from tacit.estimators.components import heaviest

    every = model.components_
    n_hidden = sum(len(each.n_states) for each in every)
    states = sorted({count for each in every for count in each.n_states.values()})
    diagnostics = model.diagnostics_
    if json:
        print_json(
            {
                "model": str(output),
                "n_rows": diagnostics["n_rows"],
                "n_columns": len(model.schema_),
                "n_hidden": n_hidden,
                "n_states": heaviest(every).n_states,
                "weights": [each.weight for each in every],
                "learn": model.learn,
                "candidates": diagnostics.get("candidates"),
                "newick": model.topology_.to_newick(),
            }
        )
        return
    span = f"{states[0]} to {states[-1]}" if len(states) > 1 else "".join(map(str, states))
    plural = "" if n_hidden == 1 else "s"
    between = (
        f"{n_hidden} hidden variable{plural} with {span} states" if n_hidden else "none hidden"
    )
    if len(every) > 1:
        between += f" in {len(every)} trees"
    console().print(
        f"{len(model.schema_)} columns, {diagnostics['n_rows']} rows, {between}; saved as {output}",
        markup=False,
    )
