"""`tacit fit kernel-hmm`: a hidden Markov model of sequences of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.fit.kernel_tree import Learn
from tacit.cli.groups import unfolded
from tacit.cli.options import Data

if TYPE_CHECKING:
    from tacit.cli.answers.number_sequences import Read


SequenceColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says to which sequence a row belongs; the others are what was seen.",
    ),
]
Together = Annotated[
    bool, typer.Option("--together", help="All columns are one sequence, seen together.")
]
Learner = Annotated[
    Learn, typer.Option(help="auto: states with smooth densities; spectral: moments of kernels.")
]
Components = Annotated[str, typer.Option(metavar="N|auto", help="Models that are blended.")]
Bandwidth = Annotated[str, typer.Option(metavar="X|auto", help="How smooth densities are.")]
Basis = Annotated[str, typer.Option(metavar="N|auto", help="Basis densities of a column.")]


@unfolded
def kernel_hmm(
    data: Data,
    output: learning.Output,
    sequence: SequenceColumn = None,
    together: Together = False,
    learn: Learner = Learn.auto,
    states: learning.HiddenStates = "auto",
    components: Components = "auto",
    bandwidth: Bandwidth = "auto",
    basis: Basis = "auto",
    validation: learning.SequencesAside = None,
    drop: learning.Drop = None,
    max_iter: learning.MaxIter = 500,
    pseudo_counts: learning.PseudoCounts = "auto",
    *,
    running: learning.Running,
) -> None:
    """Learn a model of sequences of numbers from the table DATA, a row for each time.

    Every column is a sequence of its own, unless --sequence or --together says otherwise.

    For example: tacit fit kernel-hmm returns.csv -o model.tacit --drop date
    """
    from tacit import KernelHMM
    from tacit.cli.answers.number_sequences import LAYOUT
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    if sequence is not None and together:
        raise typer.BadParameter("give one of the two", param_hint="--sequence, --together")
    model = KernelHMM(
        n_states=learning.number_or_auto(states, int, "--states"),
        learn=learn.value,
        bandwidth=learning.number_or_auto(bandwidth, float, "--bandwidth"),
        n_basis=learning.number_or_auto(basis, int, "--basis"),
        n_components=learning.number_or_auto(components, int, "--components"),
        pseudo_counts=learning.number_or_auto(pseudo_counts, float, "--pseudo-counts"),
        max_iter=max_iter,
        **running.arguments(),
    )
    read = _read(data, drop, sequence, together=together)
    held_out = None
    if validation is not None:
        held_out = _read(validation, drop, sequence, together=together).series
    model.fit(read.series, validation=held_out)
    model.set_params(progress=None)
    model.diagnostics_[LAYOUT] = read.layout
    model.save(output)
    _report(model, output, json=running.json)


def _read(data: Path, drop: list[str] | None, sequence: str | None, *, together: bool) -> Read:
    from tacit.cli.answers.number_sequences import read_sequences
    from tacit.cli.answers.table_files import without

    return read_sequences(without(data, drop or []), label=sequence, together=together)


def _report(model: Any, output: Path, *, json: bool) -> None:
    from tacit.cli.output import console, print_json

    diagnostics = model.diagnostics_
    if json:
        print_json(
            {
                "model": str(output),
                "n_sequences": diagnostics["n_sequences"],
                "n_positions": diagnostics["n_positions"],
                "columns": model.names_,
                "n_states": model.n_states_,
                "learn": model.learn,
                "candidates": diagnostics.get("candidates"),
            }
        )
        return
    n, states = diagnostics["n_sequences"], model.n_states_
    console().print(
        f"{n} sequence{'' if n == 1 else 's'}, {diagnostics['n_positions']} positions, "
        f"{states} hidden state{'' if states == 1 else 's'}; saved as {output}",
        markup=False,
    )
