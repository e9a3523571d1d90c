"""`tacit fit kernel-hmm`: a hidden Markov model of sequences of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import learning
from tacit.cli.fit_kernel_tree import Learn
from tacit.cli.options import Data, Json

if TYPE_CHECKING:
    from tacit.cli.sequences import Read


def kernel_hmm(
    data: Data,
    output: learning.Output,
    sequence: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says to which sequence a row belongs; the others are what was seen.",
        ),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="All columns are one sequence, seen together.")
    ] = False,
    learn: Annotated[
        Learn,
        typer.Option(help="auto: states with smooth densities; spectral: moments of kernels."),
    ] = Learn.auto,
    states: Annotated[str, typer.Option(metavar="N|auto", help="Hidden states.")] = "auto",
    components: Annotated[
        str, typer.Option(metavar="N|auto", help="Models that are blended.")
    ] = "auto",
    bandwidth: Annotated[
        str, typer.Option(metavar="X|auto", help="How smooth densities are.")
    ] = "auto",
    bells: Annotated[
        str, typer.Option(metavar="N|auto", help="Bells that densities are made of.")
    ] = "auto",
    validation: learning.SequencesAside = None,
    drop: learning.Drop = None,
    max_iter: learning.MaxIter = 500,
    pseudo_counts: learning.Prior = 1.0,
    seed: learning.Seed = 0,
    jobs: learning.Jobs = None,
    json: Json = False,
) -> None:
    """Learn a model of sequences of numbers from the table DATA, a row for each time.

    Every column is a sequence of its own, unless --sequence or --together says otherwise.

    For example: tacit fit kernel-hmm returns.csv -o model.tacit --drop date
    """
    from tacit import KernelHMM
    from tacit.cli.sequences import LAYOUT
    from tacit.files.models import check_suffix

    check_suffix(output)  # before the work, not after it
    if sequence is not None and together:
        raise typer.BadParameter("give one of the two", param_hint="--sequence, --together")
    model = KernelHMM(
        n_states=learning.number_or_auto(states, int, "--states"),
        learn=learn.value,
        bandwidth=learning.number_or_auto(bandwidth, float, "--bandwidth"),
        n_bells=learning.number_or_auto(bells, int, "--bells"),
        n_components=learning.number_or_auto(components, int, "--components"),
        pseudo_counts=pseudo_counts,
        max_iter=max_iter,
        n_jobs=jobs,
        progress=True,
        random_state=seed,
    )
    read = _read(data, drop, sequence, together=together)
    held_out = None
    if validation is not None:
        held_out = _read(validation, drop, sequence, together=together).series
    model.fit(read.series, validation=held_out)
    model.set_params(progress=None)
    model.diagnostics_[LAYOUT] = read.layout
    model.save(output)
    _tell(model, output, json=json)


def _read(data: Path, drop: list[str] | None, sequence: str | None, *, together: bool) -> Read:
    from tacit.cli.sequences import read_sequences
    from tacit.cli.tables import without

    return read_sequences(without(data, drop or []), label=sequence, together=together)


def _tell(model: Any, output: Path, *, json: bool) -> None:
    from tacit.cli.output import console, print_json

    found = model.diagnostics_
    if json:
        print_json(
            {
                "model": str(output),
                "n_sequences": found["n_sequences"],
                "n_positions": found["n_positions"],
                "columns": model.names_,
                "n_states": model.n_states_,
                "learn": model.learn,
                "candidates": found.get("candidates"),
            }
        )
        return
    n, states = found["n_sequences"], model.n_states_
    console().print(
        f"{n} sequence{'' if n == 1 else 's'}, {found['n_positions']} positions, "
        f"{states} hidden state{'' if states == 1 else 's'}; saved as {output}",
        markup=False,
    )
