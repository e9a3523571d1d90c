"""`tacit fit hmm`: a hidden Markov model of sequences of symbols, or of numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from tacit.cli import learning
from tacit.cli.options import Json
from tacit.cli.symbols import SequenceColumn, SequenceFile, SymbolColumn


class Learn(StrEnum):
    """Ways of learning."""

    auto = "auto"
    spectral = "spectral"
    tensor = "tensor"
    em = "em"
    online_em = "online-em"


class Emissions(StrEnum):
    """What states show."""

    categorical = "categorical"
    gaussian = "gaussian"


class Covariance(StrEnum):
    """How columns hang together within a state."""

    full = "full"
    diagonal = "diagonal"


def hmm(
    data: SequenceFile,
    output: learning.Output,
    states: Annotated[str, typer.Option(metavar="N|auto", help="Hidden states.")] = "auto",
    learn: Annotated[
        Learn,
        typer.Option(help="auto: states from counts of windows, split and polished by EM."),
    ] = Learn.auto,
    emissions: Annotated[
        Emissions,
        typer.Option(help="What states show: symbols, or normal numbers (DATA is a table then)."),
    ] = Emissions.categorical,
    covariance: Annotated[
        Covariance,
        typer.Option(help="Of gaussian: whether columns depend on each other within a state."),
    ] = Covariance.full,
    sequence: SequenceColumn = None,
    symbol: SymbolColumn = None,
    drop: learning.Drop = None,
    features: Annotated[
        str,
        typer.Option(metavar="N|auto", help="Symbols looked at on either side of a symbol."),
    ] = "auto",
    stationary: Annotated[
        bool, typer.Option("--stationary", help="Sequences start anywhere in a long run.")
    ] = False,
    validation: learning.SequencesAside = None,
    pseudo_counts: learning.Prior = 1.0,
    restarts: learning.Restarts = 5,
    tol: Annotated[float, typer.Option(help="Gain in nats at which em stops.")] = 1e-2,
    max_iter: learning.MaxIter = 300,
    seed: learning.Seed = 0,
    jobs: learning.Jobs = None,
    json: Json = False,
) -> None:
    """Learn a hidden Markov model of the sequences in DATA.

    Where sequences end is not part of the model; for that see `tacit fit automaton`. With --emissions
    gaussian DATA is a table of numbers, a row for each time: one sequence, or several with --sequence COLUMN.

    For example: tacit fit hmm tags.txt -o model.tacit --states 8
    """
    from tacit import HMM
    from tacit.cli import normals, symbols
    from tacit.files.models import check_suffix

    check_suffix(output)  # before the work, not after it
    numbers = emissions is Emissions.gaussian
    if numbers and symbol is not None:
        raise typer.BadParameter(
            "it does not go with --emissions gaussian, where all columns hold numbers; see --drop",
            param_hint="--symbol",
        )
    if not numbers and (drop or covariance is not Covariance.full):
        raise typer.BadParameter(
            "it goes with --emissions gaussian", param_hint="--drop" if drop else "--covariance"
        )
    model = HMM(
        n_states=learning.number_or_auto(states, int, "--states"),
        learn=learn.value,
        emissions=emissions.value,
        covariance=covariance.value,
        features=learning.number_or_auto(features, int, "--features"),
        stationary=stationary,
        pseudo_counts=pseudo_counts,
        n_restarts=restarts,
        tol=tol,
        max_iter=max_iter,
        n_jobs=jobs,
        progress=True,
        random_state=seed,
    )
    more: Any = {"sequence": sequence, "validation": validation, "json": json}
    if numbers:
        normals.learn_and_save(model, data, output, drop=drop, **more)
    else:
        symbols.learn_and_save(model, data, output, symbol=symbol, **more)
